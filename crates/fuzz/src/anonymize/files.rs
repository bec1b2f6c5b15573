//! A run as a command line does it: files in a folder, `anonymize`, `verify` with the input, `verify` by the certificate.

use std::fs;
use std::path::Path;

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::verify::VerifyRequest;
use bosket_app::{PolicyAt, anonymize, verify};
use bosket_model::Fault;
use bosket_model::observe::Quiet;
use tempfile::TempDir;

use super::Case;
use super::memory::settings;
use crate::{Outcome, refused};

pub(super) fn run(case: &Case) -> Outcome {
    let folder = TempDir::new().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("policy.toml"), &case.policy).expect("written");
    fs::write(at(case.name), &case.records).expect("written");
    let policy = PolicyAt::new(at("policy.toml"));
    let request =
        AnonymizeRequest { policy: policy.clone(), settings: settings(), ..AnonymizeRequest::default() };
    if let Err(failure) = anonymize(&request, &Quiet) {
        let said = format!("{failure}\n{}\n{}", case.policy, case.records);
        assert!(failure.fault != Fault::Defect, "an error of ours: {said}");
        assert_eq!(files(folder.path()), 2, "something was left behind: {said}");
        return refused(&failure);
    }
    let out = at(&case.name.replace("in.", "out."));
    let mapping = Some(at("mapping.csv")).filter(|path| path.exists());
    let asked = VerifyRequest { publication: out.clone(), settings: settings(), ..VerifyRequest::default() };
    let policy = Some(policy);
    let certificate = out.file_name().map(|n| at(&format!("{}.certificate.json", n.to_string_lossy())));
    let requests = [
        VerifyRequest { policy: policy.clone(), against: Some(at(case.name)), ..asked.clone() },
        VerifyRequest { policy, against: Some(at(case.name)), mapping, ..asked.clone() },
        VerifyRequest { certificate, ..asked },
    ];
    for request in &requests {
        let said = |what: &str| format!("{what}\n{}\n{}", case.policy, case.records);
        match verify(request, &Quiet) {
            Ok(verified) => {
                assert!(verified.value.holds(), "{}", said(&verified.value.to_json().to_string()))
            }
            // Some publications cannot be compared without their mapping, or judged without files of hierarchies.
            Err(failure) => assert!(failure.fault != Fault::Defect, "{}", said(&failure.to_string())),
        }
    }
    Outcome::Held
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).expect("a folder").count()
}
