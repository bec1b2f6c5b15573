//! A run without files: prepared, made, judged, and compared with its input.

use std::io::Cursor;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use bosket_app::Settings;
use bosket_app::trial::{Trial, TrialData, Tried};
use bosket_engine::Params;
use bosket_io::{Input, Layout, PolicyFile, read};
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_model::{Failure, Fault, Result};
use bosket_verify::truth::{Comparison, Mapping, Pair, Recoding, Side, compare};

use super::Case;
use crate::{Outcome, refused};

/// What every call is told: instances run side by side already.
pub(super) fn settings() -> Settings {
    Settings { threads: NonZeroUsize::new(1), memory: Some(1 << 26), ..Settings::default() }
}

pub(super) fn run(case: &Case) -> Outcome {
    match tried(case) {
        Ok(()) => Outcome::Held,
        Err(failure) => {
            assert!(
                failure.fault != Fault::Defect,
                "an error of ours: {failure}\n{}\n{}",
                case.policy,
                case.records
            );
            refused(&failure)
        }
    }
}

fn tried(case: &Case) -> Result<()> {
    let (policy, warnings) = Policy::parse("policy.toml", &case.policy, &[])
        .map_err(|problems| Failure::all(Fault::Policy, problems))?;
    let file = PolicyFile { policy, folder: PathBuf::new(), warnings, frames: None };
    let params = Params::new(&file.policy)?;
    let input = Input::new(case.name, Cursor::new(case.records.clone().into_bytes()), None)?;
    let format = file.policy.need_source()?.format.name();
    let loaded = read(input, Some(format), &Layout::default())?;
    let settings = settings();
    let data = TrialData::new(&file, loaded.data, case.name, &settings, &Quiet)?.value;
    let fit =
        bosket_engine::Input { data: data.data(), binding: data.binding(), hierarchies: data.hierarchies() };
    bosket_engine::refuse_unfit(&file.policy, &params, fit, &Quiet)?;
    let trial = Trial::new(&file, &data, &settings)?;
    let made = trial.make(&Quiet)?;
    let tried = trial.judge(&made, &Quiet)?;
    let found = &tried.verification;
    assert!(found.holds(), "{:?} {:?}\n{}\n{}", found.witness(), found.left, case.policy, case.records);
    is_true(case, &file.policy, &data, &tried)
}

/// Compares with the mapping and without.
fn is_true(case: &Case, policy: &Policy, data: &TrialData, tried: &Tried) -> Result<()> {
    let pair = |&(input, published): &(u32, u32)| Pair { line: 1, input, published };
    let mapping = Mapping { name: "mapping".to_owned(), pairs: tried.mapping.iter().map(pair).collect() };
    let published = tried.side();
    for mapping in [None, Some(&mapping)] {
        let comparison = Comparison {
            published: Side { data: published.data, binding: published.binding },
            input: Side { data: data.data(), binding: data.binding() },
            hierarchies: data.hierarchies(),
            recoding: Recoding::of(policy)?,
            suppress: policy.method.flag("suppress").unwrap_or(false),
            mapping,
            sensitive: policy.privacy.as_ref().map_or(&[], |privacy| &privacy.sensitive),
        };
        let untrue = compare(&comparison, &Quiet)?;
        let with = if mapping.is_some() { "with" } else { "without" };
        assert!(untrue.is_empty(), "{with} mapping: {untrue:?}\n{}\n{}", case.policy, case.records);
    }
    Ok(())
}
