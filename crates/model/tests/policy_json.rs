//! A policy written as JSON is read again as the same policy.

use bosket_model::policy::Policy;
use bosket_model::{Fault, Place};
use serde_json::json;

/// Policies that together have every key.
const POLICIES: [&str; 8] = [
    r#"
version = 1
seed = 9223372036854775807
undeclared = "drop"
[source]
format = "json"
path = "in \"quoted\"\n\\.json"
record = "entry[]"
where = "free = 'it''s' and (pay >= 2.5 or not free is missing)"
sample = 0.25
[[attribute]]
path = "id"
role = "pseudonym"
[[attribute]]
path = "town"
role = "quasi"
why = "neighbours \"know\" it"
hierarchy = { from = ["county", "free"] }
[[attribute]]
path = "street"
role = "quasi"
hierarchy = { build = "letters" }
[[attribute]]
path = "county"
role = "drop"
[[attribute]]
path = "seen"
role = "insensitive"
shift = { days = 180 }
[[attribute]]
path = "visits[].hospital"
role = "quasi"
hierarchy = "hierarchies/hospital.csv"
shared = true
weight = 2.5
[[attribute]]
path = "year"
role = "quasi"
hierarchy = { build = "interval", min = -1.5, max = 2030, widths = [0.5, 10], clamp = "both" }
[[attribute]]
path = "day"
role = "quasi"
hierarchy = { build = "date", min = 2012-01-01, max = "2013-01-01", levels = ["month", "decade"] }
[[attribute]]
path = "code"
role = "quasi"
hierarchy = { build = "icd10", table = "icd.csv" }
[[attribute]]
path = "text"
role = "identifying"
follows = "code"
[[attribute]]
path = "pay"
role = "sensitive"
buckets = [1, 2.5, 1e20]
[[attribute]]
path = "free"
role = "insensitive"
acknowledge = true
[privacy]
model = "kmn"
k = 5
m = 2
n = 1
relations = "embedded"
root = "chain"
l = 2.5
negative = ["a", ["b", "c \u00e9"]]
guard = true
payload = "drop"
[method]
algorithm = "gcs"
g = 3
cost = "lm"
improve = false
[method.weights]
"year" = 3
[publish]
path = "out.json"
certificate = "c.json"
report = "r.html"
mapping = "m.csv"
[release]
recipient = "the university's clinic"
purpose = "how wards are used"
access = "secure-environment"
controls = ["nobody takes it out", "deleted after \"the\" study"]
accepted_risk = 0.2
decided_by = "the board"
reviewed_on = 2026-11-18
approvers = ["A. B.", "C. D."]
certify = ["purpose", "access", "why"]
"#,
    r#"
version = 1
[source]
format = "transactions"
path = "in.txt"
separator = " ; "
[[attribute]]
path = "item"
role = "quasi"
hierarchy = { build = "order", groups = ["a", ["b", ["c"]], { label = "D", values = ["d", ["e"]] }] }
[privacy]
model = "km"
k = 2
m = 3
l = 2
sensitive = ["a", ""]
negative = ["b"]
multiset = true
[publish]
path = "out.txt"
"#,
    r#"
version = 1
[source]
format = "csv"
[[source.table]]
name = "student"
path = "private/student.csv"
key = ["a", "b"]
[[source.table]]
name = "takes"
path = "takes.csv"
key = "id"
parent = "student"
foreign_key = ["a", "b"]
[[source.lookup]]
name = "room"
path = "room.csv"
key = "id"
column = "takes.room"
value = ["house", "floor"]
as = ["h", "f"]
[[attribute]]
path = "takes.course"
role = "quasi"
hierarchy = { build = "fanout", fanout = 4 }
[[attribute]]
path = "student.grade"
role = "sensitive"
[privacy]
model = "l-diversity"
l = 2
k = 3
diversity = "entropy"
siblings = "each"
distinct_everywhere = ["F"]
[method]
algorithm = "miracle"
th = 0.25
climit = 7
time = "90s"
s = 1
[publish]
path = "out"
anatomize = true
"#,
    r#"
version = 1
[source]
format = "postgres"
url = "postgres://a@b/c"
[[source.table]]
name = "visits"
person = "who"
[[attribute]]
path = "visits.zip"
role = "quasi"
hierarchy = { build = "prefix" }
[privacy]
model = "k-anonymity"
k = 2
[publish]
url = "postgres://a@b/c"
schema = "open"
"#,
    r#"
version = 1
[source]
format = "xml"
path = "in.xml"
record = "db/patient"
schema = "in.xsd"
[[attribute]]
path = "visit[]/@day"
role = "quasi"
[[attribute]]
path = "visit[]/disease"
role = "sensitive"
hierarchy = "d.csv"
[privacy]
model = "delta"
group_size = 3
l = 4.5
delta_target = 2
pairwise = true
[publish]
path = "out.xml"
root = "open"
schema = "out.xsd"
"#,
    "version = 1\n[[attribute]]\npath = 'a'\nrole = 'quasi'\n[[attribute]]\npath = 'b'\nrole = 'sensitive'\n[privacy]\nmodel = 'anatomy'\ngroup_size = 2\n",
    "version = 1\n[privacy]\nmodel = 'none'\n",
    "version = 1\n",
];

/// Where something is written is not part of what is said.
fn placeless(mut policy: Policy) -> Policy {
    policy.attributes.iter_mut().for_each(|a| a.place = Place::default());
    policy.source.iter_mut().for_each(|source| source.url_place = Place::default());
    policy.publish.iter_mut().for_each(|publish| publish.url_place = Place::default());
    policy
}

#[test]
fn every_policy_comes_back() {
    for text in POLICIES {
        let (policy, _) = Policy::parse("p", text, &[]).unwrap_or_else(|e| panic!("{text}\n{e:#?}"));
        let json = policy.to_json();
        let again = Policy::from_json("p", &json).unwrap_or_else(|e| panic!("{json:#}\n{e:#?}"));
        assert_eq!(placeless(again.clone()), placeless(policy), "{json:#}");
        assert_eq!(again.to_json(), json);
    }
}

#[test]
fn what_the_command_line_sets_is_in_it() {
    let sets = ["privacy.k=7".to_owned(), "seed=3".to_owned()];
    let (policy, _) = Policy::parse("p", POLICIES[3], &sets).expect("a policy");
    let json = policy.to_json();
    assert_eq!((&json["privacy"]["k"], &json["seed"]), (&json!(7), &json!(3)));
}

#[test]
fn what_is_no_policy_is_refused_like_any_text() {
    for bad in [
        json!({"version": 1, "nonsense": 2}),
        json!({"version": null}),
        json!([]),
        json!({"version": [{}, null]}),
    ] {
        let failure = Policy::from_json("p", &bad).expect_err("not a policy");
        assert_eq!(failure.fault, Fault::Policy);
    }
}
