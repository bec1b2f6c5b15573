//! Reports that go with a publication.

use bosket_app::report::ReportRequest;
use bosket_app::{anonymize, report};
use bosket_model::observe::Quiet;

use crate::util::{families, plain_clinic};

/// It is made from what is in memory, and says what a reader of the files finds.
#[test]
fn the_report_of_a_run_is_the_one_that_its_files_give() {
    for example in families() {
        // Enough is left of every attribute. A run tries what would help where little is, a later report does not.
        let example = if example.name == "clinic" { plain_clinic(250) } else { example };
        let request = example.request(&["publish.report=own.html", "publish.mapping=private/mapping.csv"]);
        let release = anonymize(&request, &Quiet).expect("published").value;
        let own = release.report.expect("a report");
        let later = example.folder.path().join("later.html");
        let again = ReportRequest {
            policy: request.policy.clone(),
            out: Some(later.clone()),
            ..ReportRequest::default()
        };
        let reported = report(&again, &Quiet).expect("reported").value;
        assert!(reported.holds(), "{}", example.name);
        let text = |path| std::fs::read_to_string(path).expect("a report");
        assert_eq!(text(own), text(later), "{}", example.name);
    }
}
