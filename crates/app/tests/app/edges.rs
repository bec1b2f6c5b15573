//! Small data at the edges of what is promised, from the file to the verdict.

use std::path::{Path, PathBuf};

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::verify::VerifyRequest;
use bosket_app::{PolicyAt, Verified, anonymize, verify};
use bosket_model::Fault;
use bosket_model::observe::Quiet;
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

fn policy(folder: &Path, sets: &[&str]) -> PolicyAt {
    PolicyAt {
        path: folder.join("p.toml"),
        sets: sets.iter().map(ToString::to_string).collect(),
        ..PolicyAt::default()
    }
}

fn look(folder: &Path, publication: &str, sets: &[&str], against: Option<PathBuf>) -> Verified {
    let request = VerifyRequest {
        publication: folder.join(publication),
        policy: Some(policy(folder, sets)),
        against,
        ..VerifyRequest::default()
    };
    verify(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value
}

#[test]
fn a_publication_without_any_quasi_value_is_refused() {
    let folder = folder(&[
        (
            "p.toml",
            "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n\
             [[attribute]]\npath = \"u[].c\"\nrole = \"quasi\"\nhierarchy = \"h.csv\"\n\
             [[attribute]]\npath = \"u[].v[].o.b\"\nrole = \"quasi\"\nhierarchy = \"h.csv\"\n\
             [privacy]\nmodel = \"k-anonymity\"\nk = 2\n[method]\nalgorithm = \"clustree\"\n\
             [publish]\npath = \"out.ndjson\"\n",
        ),
        ("h.csv", "a;*\nb;*\nc;*\n"),
        (
            "in.ndjson",
            "{\"u\":[{\"c\":\"b\",\"v\":[{\"o\":{\"b\":\"a\"}}]}]}\n{\"u\":[{\"c\":\"a\",\"v\":[{\"o\":{\"b\":\"c\"}}]}]}\n\
             {}\n{}\n{\"u\":null}\n",
        ),
    ]);
    let request = AnonymizeRequest { policy: policy(folder.path(), &[]), ..AnonymizeRequest::default() };
    let failure = anonymize(&request, &Quiet).expect_err("nothing would be left");
    assert_eq!(failure.fault, Fault::Unreachable, "{failure}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 3, "no file was left behind");
}

#[test]
fn a_flat_table_without_any_quasi_value_broke_the_blocks() {
    let folder = folder(&[
        (
            "p.toml",
            "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n\
             [[attribute]]\npath = \"t\"\nrole = \"quasi\"\nhierarchy = \"h.csv\"\n\
             [[attribute]]\npath = \"s\"\nrole = \"sensitive\"\n\
             [privacy]\nmodel = \"k-anonymity\"\nk = 2\n[method]\nalgorithm = \"blocks\"\n\
             [publish]\npath = \"out.ndjson\"\n",
        ),
        ("h.csv", "a;*\nb;*\n"),
        ("in.ndjson", "{\"s\":\"A\"}\n{}\n{\"s\":\"B\",\"t\":null}\n"),
    ]);
    let request = AnonymizeRequest { policy: policy(folder.path(), &[]), ..AnonymizeRequest::default() };
    let failure = anonymize(&request, &Quiet).expect_err("nobody has a quasi value");
    assert!(failure.fault != Fault::Defect, "{failure}");
}

const TRANSACTIONS: &str = "version = 1\n[source]\nformat = \"transactions\"\npath = \"in.txt\"\n\
    [[attribute]]\npath = \"item\"\nrole = \"quasi\"\nhierarchy = \"h.csv\"\n\
    [privacy]\nmodel = \"km\"\nk = 2\nm = 1\n[publish]\npath = \"out.txt\"\n";

#[test]
fn an_inner_label_stands_for_the_absence_of_all_its_leaves() {
    let folder = folder(&[
        ("p.toml", TRANSACTIONS),
        ("h.csv", "beef;Meat;*\nham;Meat;*\nbread;*\n"),
        ("pub.txt", "Meat bread\nMeat bread\nbread\n"),
        ("in.txt", "beef bread\nham bread\nbread\nbread\nMeat bread\n"),
    ]);
    for (at, list) in
        ["[\"Meat\"]", "[\"beef\",\"ham\"]", "[\"Meat\",\"ham\"]", "[\"*\"]"].into_iter().enumerate()
    {
        let set = format!("privacy.negative={list}");
        assert!(!look(folder.path(), "pub.txt", &[&set], None).holds(), "{list}");
        let request = AnonymizeRequest {
            policy: policy(folder.path(), &[&set, &format!("publish.path=out{at}.txt")]),
            ..AnonymizeRequest::default()
        };
        if let Err(failure) = anonymize(&request, &Quiet) {
            assert_eq!(failure.fault, Fault::Unreachable, "{list}: {failure}");
        }
    }
    assert!(look(folder.path(), "pub.txt", &[], None).holds());
}

#[test]
fn own_publications_are_true_to_their_input() {
    let secret = &["privacy.l=3", "privacy.sensitive=[\"2\"]", "method.algorithm=aa"][..];
    let kmn = &["privacy.model=kmn", "privacy.n=1", "method.algorithm=gcs", "source.separator=;"][..];
    for (tree, input, sets) in [
        ("1;*\n2;A;*\n3;A;*\n4;*\n5;A;*\n", "1 5 4 4\n5 3 1 3 2\n1 5 4 4\n1 5 4 4\n", secret),
        ("a;x;*\nb;*\nc;x;*\n", "x\nx\na\na\nc\nc\nx\nx\n", kmn),
        ("a;x;*\nb;*\nc;x;*\n", "x\nx\na\na\nc\nc\n*\n*\n", &["source.separator=;"]),
    ] {
        let folder = folder(&[("p.toml", TRANSACTIONS), ("h.csv", tree), ("in.txt", input)]);
        let request = AnonymizeRequest { policy: policy(folder.path(), sets), ..AnonymizeRequest::default() };
        drop(anonymize(&request, &Quiet).unwrap_or_else(|failure| panic!("{sets:?}: {failure}")));
        let verified = look(folder.path(), "out.txt", sets, Some(folder.path().join("in.txt")));
        assert!(verified.holds(), "{sets:?}: {:?}", verified.untruths);
    }
}

#[test]
fn people_without_value_are_counted_where_one_may_have_several() {
    for path in ["s", "v[].s"] {
        let text = format!(
            "version = 1\n[source]\nformat = \"json\"\npath = \"in.json\"\n\
             [[attribute]]\npath = \"q\"\nrole = \"quasi\"\n\
             [[attribute]]\npath = \"{path}\"\nrole = \"sensitive\"\nhierarchy = \"h.csv\"\n\
             [privacy]\nmodel = \"delta\"\ngroup_size = 4\ndelta_target = 2\npairwise = true\n\
             [publish]\npath = \"out.json\"\n"
        );
        let published = format!(
            "{{\"quasi\":[{{\"group\":1,\"records\":[{{\"q\":\"a\"}},{{\"q\":\"b\"}},{{\"q\":\"c\"}},{{\"q\":\"d\"}}]}}],\
             \"sensitive\":[{{\"group\":1,\"path\":\"{path}\",\"value\":\"x\"}}]}}"
        );
        let folder = folder(&[("p.toml", &text), ("h.csv", "x;A;*\ny;B;*\n"), ("pub.json", &published)]);
        assert!(!look(folder.path(), "pub.json", &[], None).holds(), "{path}");
    }
}

#[test]
fn a_search_that_was_cut_short_is_told() {
    let people: String = (0..600)
        .map(|i| {
            let item = |n: usize| format!("{{\"b\":\"{}\"}}", ["a", "b", "c", "d"][(i * n + i / 7) % 4]);
            format!("{{\"a\":\"{}\",\"u\":[{},{},{}]}}\n", ["a", "b", "c"][i % 3], item(1), item(3), item(5))
        })
        .collect();
    let folder = folder(&[
        (
            "p.toml",
            "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n\
             [[attribute]]\npath = \"a\"\nrole = \"quasi\"\nhierarchy = \"h.csv\"\n\
             [[attribute]]\npath = \"u[].b\"\nrole = \"quasi\"\nhierarchy = \"h.csv\"\n\
             [privacy]\nmodel = \"k-anonymity\"\nk = 7\n[publish]\npath = \"out.ndjson\"\n",
        ),
        ("h.csv", "a;ab;*\nb;ab;*\nc;cd;*\nd;cd;*\n"),
        ("in.ndjson", &people),
    ]);
    let run = |sets: &[&str]| {
        let policy = policy(folder.path(), sets);
        let request = AnonymizeRequest { policy, force: true, ..AnonymizeRequest::default() };
        let done = anonymize(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(look(folder.path(), "out.ndjson", &[], None).holds());
        done.warnings.iter().any(|w| w.message.contains("cut short"))
    };
    assert!(run(&["method.time=1ms"]));
    assert!(!run(&["method.time=1h"]));
    assert!(!run(&[]));
}
