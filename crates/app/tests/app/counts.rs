//! Nothing is lost without a word: rows and values in and out wherever a run is told of.

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::measure::MeasureRequest;
use bosket_app::{PolicyAt, anonymize, measure, prepare};
use bosket_model::Fault;
use bosket_model::observe::Quiet;
use serde_json::Value;
use tempfile::TempDir;

const CLUSTERS: &str = "version = 1
[source]
path = 'data.ndjson'
format = 'ndjson'
[publish]
path = 'out.ndjson'
mapping = 'private/mapping.csv'
report = 'report.html'
[privacy]
model = 'k-anonymity'
k = 2
[[attribute]]
path = 'name'
role = 'identifying'
[[attribute]]
path = 'town'
role = 'quasi'
hierarchy = 'towns.csv'
[[attribute]]
path = 'born'
role = 'quasi'
hierarchy = 'towns.csv'
[[attribute]]
path = 'loans[].amount'
role = 'sensitive'
";

const TREES: &str = "version = 1
[source]
path = 'data.ndjson'
format = 'ndjson'
[publish]
path = 'out.ndjson'
[privacy]
model = 'kmn'
k = 2
m = 2
n = 0
[[attribute]]
path = 'country'
role = 'quasi'
hierarchy = 'countries.csv'
[[attribute]]
path = 'veteran'
role = 'quasi'
hierarchy = 'flag.csv'
[[attribute]]
path = 'town'
role = 'quasi'
hierarchy = 'towns.csv'
";

fn folder(policy: &str, data: &str) -> (TempDir, AnonymizeRequest) {
    let folder = TempDir::new().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("policy.toml", policy);
    write("data.ndjson", data);
    write("towns.csv", "x,*\ny,*\n");
    write("countries.csv", "DE,Europe,*\nFR,Europe,*\nJP,Asia,*\n");
    write("flag.csv", "yes,any,*\n");
    let policy = PolicyAt::new(folder.path().join("policy.toml"));
    (folder, AnonymizeRequest { policy, ..AnonymizeRequest::default() })
}

/// In each town one has two loans and one has one: of six loans two are pruned. One date is known of four.
const LOANS: &str = r#"{"name":"A","town":"x","born":"x","loans":[{"amount":1},{"amount":2}]}
{"name":"B","town":"x","loans":[{"amount":3}]}
{"name":"C","town":"y","loans":[{"amount":4},{"amount":5}]}
{"name":"D","town":"y","loans":[{"amount":6}]}
"#;

fn entry<'v>(kept: &'v Value, of: &str, path: &str) -> &'v Value {
    let all = kept[of].as_array().expect("a list");
    all.iter().find(|e| e["path"] == path).unwrap_or_else(|| panic!("{path} in {kept:#}"))
}

#[test]
fn every_surface_tells_how_many_loans_are_lost() {
    let (folder, request) = folder(CLUSTERS, LOANS);
    let before = prepare(&request, &Quiet).expect("fits").value.to_json();
    assert_eq!(entry(&before["before"], "classes", "loans[]")["rows"], 6);
    assert_eq!(entry(&before["before"], "attributes", "loans[].amount")["values"], 6);

    let release = anonymize(&request, &Quiet).expect("published").value;
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    let certificate: Value = serde_json::from_str(&text("out.ndjson.certificate.json")).expect("JSON");
    let measured = MeasureRequest {
        input: folder.path().join("data.ndjson"),
        publication: folder.path().join("out.ndjson"),
        policy: request.policy.clone(),
        ..MeasureRequest::default()
    };
    let measured = measure(&measured, &Quiet).expect("measured").value;
    for kept in [&release.to_json()["kept"], &certificate["kept"], &measured.to_json()["kept"]] {
        for (of, path, input) in [("classes", "loans[]", "rows"), ("attributes", "loans[].amount", "values")]
        {
            let loans = entry(kept, of, path);
            assert_eq!((&loans[input], &loans["published"]), (&6.into(), &4.into()), "{kept:#}");
            assert_eq!((&loans["pruned"], &loans["suppressed"]), (&2.into(), &0.into()), "{kept:#}");
        }
    }
    // One person alone has a date: its number is not told with its name.
    let named =
        |kept: &Value| kept["attributes"].as_array().expect("a list").iter().any(|e| e["path"] == "born");
    assert!(named(&release.to_json()["kept"]) && !named(&certificate["kept"]));
    assert_eq!(entry(&certificate["kept"], "attributes", "others")["values"], 1);
    assert!(text("report.html").contains("<td>loans[].amount (sensitive)</td><td class=\"n\">6</td>"));

    // The date is not as it was, and towns are not made better by dates that nobody has. Two of six loans are lost.
    let born = measured.attributes.iter().find(|a| a.path == "born").expect("an attribute");
    assert_eq!((born.values, born.kept), (1, Some(0.0)));
    let lm = measured.figure("LM").expect("told");
    assert!((lm - 3.0 / 7.0).abs() < 1e-12, "{lm}");
    let own = release.to_json()["lm"].as_f64().expect("a number");
    assert!((own - lm).abs() < 1e-12, "{own} by the run, {lm} by its measure");
}

#[test]
fn what_all_have_and_what_has_no_alternative_is_published_as_it_is() {
    let line = |i: usize| {
        let town = if i.is_multiple_of(2) { "x" } else { "y" };
        let veteran = if i < 6 { ",\"veteran\":\"yes\"" } else { "" };
        format!("{{\"country\":\"DE\",\"town\":\"{town}\"{veteran}}}\n")
    };
    let (folder, request) = folder(TREES, &(0..12).map(line).collect::<String>());
    let release = anonymize(&request, &Quiet).expect("published").value;
    let text = std::fs::read_to_string(folder.path().join("out.ndjson")).expect("a file");
    assert_eq!(text.matches("DE").count(), 12, "{text}");
    assert_eq!(text.matches("yes").count(), 6, "{text}");
    let countries = release.kept.values("country").expect("an attribute");
    assert_eq!((countries.input, countries.published, countries.anything), (12, 12, 0));
}

#[test]
fn a_dry_run_tells_which_k_or_l_would_do() {
    let policy = CLUSTERS.replace("'k-anonymity'\nk = 2", "'l-diversity'\nk = 5\nl = 3");
    let policy = policy.replace("loans[].amount", "illness").replace("mapping", "#").replace("report", "#");
    let line =
        |i: usize| format!("{{\"town\":\"x\",\"born\":\"y\",\"name\":\"N\",\"illness\":\"i{}\"}}\n", i % 4);
    let (_folder, request) = folder(&policy, &(0..40).map(line).collect::<String>());
    let failure = prepare(&request, &Quiet).expect_err("they exclude each other");
    assert_eq!(failure.fault, Fault::Unreachable);
    assert!(failure.to_string().contains("ask for k = 6, or for l = 2.5"), "{failure}");
}
