//! `--set key=value`.

use bosket_model::hierarchy::spec::{Build, HierarchySpec};
use bosket_model::policy::{Model, Param, Policy, Role};

const POLICY: &str = r#"version = 1
[source]
format = "csv"
[[source.table]]
name = "student"
path = "student.csv"
key = "sid"
[[source.table]]
name = "takes"
path = "takes.csv"
parent = "student"
foreign_key = "sid"
[[attribute]]
path = "takes.course"
role = "quasi"
hierarchy = "course.csv"
[[attribute]]
path = "takes.visits[].hospital"
role = "insensitive"
[privacy]
model = "k-anonymity"
k = 5
"#;

fn parse(sets: &[&str]) -> Result<Policy, Vec<String>> {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    match Policy::parse("p.toml", POLICY, &sets) {
        Ok((policy, _)) => Ok(policy),
        Err(errors) => Err(errors.iter().map(ToString::to_string).collect()),
    }
}

fn good(set: &str) -> Policy {
    parse(&[set]).unwrap_or_else(|e| panic!("{set}: {e:?}"))
}

#[test]
fn values_are_toml_or_bare_words() {
    assert_eq!(good("privacy.k=10").privacy.and_then(|p| p.k), Some(10));
    assert_eq!(
        good("privacy.k = 10").privacy.and_then(|p| p.k),
        Some(10),
        "blanks around the value do not count"
    );
    let km = parse(&["privacy.model=km", "privacy.m=2"]).expect("a bare word");
    assert_eq!(km.privacy.map(|p| p.model), Some(Model::Km));
    assert_eq!(good("publish.path=x.ndjson").publish.and_then(|p| p.path).as_deref(), Some("x.ndjson"));
    assert_eq!(good("publish.path=\"a b\"").publish.and_then(|p| p.path).as_deref(), Some("a b"));
    assert_eq!(good("publish.path=out=2.csv").publish.and_then(|p| p.path).as_deref(), Some("out=2.csv"));
    assert_eq!(good("publish.path=1 # 2").publish.and_then(|p| p.path).as_deref(), Some("1 # 2"));
    assert_eq!(good("seed=7").seed, 7);
    assert_eq!(good("method.weighted=false").method.flag("weighted"), Some(false));
}

#[test]
fn whole_tables_and_what_was_not_there() {
    let policy = good("method.weights={\"takes.course\"=3}");
    assert_eq!(policy.attribute("takes.course").and_then(|a| a.weight), Some(3.0));
    let policy = good("method.weights={\"takes\"=2,\"takes.course\"=3}");
    assert_eq!(policy.attribute("takes.course").and_then(|a| a.weight), Some(6.0), "a level counts as well");
    let policy = good("method.weights.takes=0.5");
    assert_eq!(policy.attribute("takes.course").and_then(|a| a.weight), Some(0.5));
    let policy = good("method.weights.\"takes.course\"=4");
    assert_eq!(policy.attribute("takes.course").and_then(|a| a.weight), Some(4.0));
    assert_eq!(good("method.th=0.5").method.params, [("th".to_owned(), Param::Number(0.5))]);
    let policy = good("attribute[0].hierarchy={ build = \"fanout\", fanout = 4 }");
    assert_eq!(policy.attributes[0].hierarchy, Some(HierarchySpec::Build(Build::Fanout { fanout: 4 })));
}

#[test]
fn elements_by_number_path_and_name() {
    assert_eq!(good("attribute[1].role=sensitive").attributes[1].role, Role::Sensitive);
    for set in [
        "attribute[\"takes.visits[].hospital\"].role=key",
        "attribute['takes.visits[].hospital'].role=key",
        // The shell took the quotes.
        "attribute[takes.visits[].hospital].role=key",
    ] {
        assert_eq!(good(set).attributes[1].role, Role::Key, "{set}");
    }
    let tables = good("source.table[\"takes\"].key=scid").source.expect("there is one").tables;
    assert_eq!(tables[1].key, ["scid"]);
    let tables = good("source.table[takes].key=[\"a\", \"b\"]").source.expect("there is one").tables;
    assert_eq!(tables[1].key, ["a", "b"]);
}

#[test]
fn later_arguments_win() {
    let policy = parse(&["privacy.k=7", "privacy.k=9"]).expect("both are fine");
    assert_eq!(policy.privacy.and_then(|p| p.k), Some(9));
}

#[test]
fn errors_point_into_the_argument() {
    let cases: &[(&str, &str)] = &[
        (
            "privacy.k=1",
            "--set:1:11: error: `privacy.k` must be at least 2, not 1 (help: with k = 1 a record may be unique, \
             which is no protection)",
        ),
        ("privacy.kk=3", "--set:1:9: error: unknown key `privacy.kk` (help: did you mean `k`?)"),
        (
            "attribute[takes.cuorse].role=key",
            "--set:1:10: error: no `attribute` has the path \"takes.cuorse\" (help: did you mean \"takes.course\"?)",
        ),
        (
            "source.table[person].key=x",
            "--set:1:13: error: no `table` has the name \"person\" (help: there are: student, takes)",
        ),
        (
            "attribute[2].role=quasi",
            "--set:1:10: error: `attribute` has no element 2 (help: there are 2, numbered from 0)",
        ),
        (
            "attribute.role=quasi",
            "--set:1:11: error: `attribute` is a list, it has no keys (help: say which one: attribute[0], or \
             attribute[\"…\"] by path or name)",
        ),
        (
            "attribute[0].hierarchy.build=prefix",
            "--set:1:24: error: `hierarchy` is a string, it has no keys (help: set the whole of `hierarchy` instead)",
        ),
        ("method[0].g=1", "--set:1:1: error: the policy has no `method`"),
        ("privacy[0]=1", "--set:1:8: error: `privacy` is not a list in the policy"),
        (
            "privacy.k",
            "--set:1:1: error: the value is missing (help: write it as key=value, for example privacy.k=10)",
        ),
        (
            "=3",
            "--set:1:1: error: a key is expected here (help: write it as key=value, for example privacy.k=10)",
        ),
        (
            "attribute[0.role=key",
            "--set:1:10: error: the bracket is not closed (help: write it as key=value, for example privacy.k=10)",
        ),
        (
            "pri vacy=1",
            "--set:1:4: error: ` ` cannot stand in a key (help: write it as key=value, for example privacy.k=10)",
        ),
        (
            "attribute[0].hierarchy={ build = \"interval\", min = 1, max = 9, widths = [2, 5] }",
            "--set:1:77: error: the width 5 is not a multiple of 2, the one before (help: each level must hold the \
             intervals of the level below as a whole)",
        ),
    ];
    for (set, expected) in cases {
        assert_eq!(parse(&[set]).expect_err(set), [*expected], "{set}");
    }
}

#[test]
fn a_broken_value_is_not_taken_for_a_word() {
    let errors = parse(&["method.weights={a=1"]).expect_err("the brace is not closed");
    assert!(errors[0].starts_with("--set:1:20: error: "), "{errors:?}");
    let errors = parse(&["publish.path=\"x"]).expect_err("the quote is not closed");
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn file_and_argument_errors_come_together() {
    let errors = parse(&["privacy.k=1", "sed=4"]).expect_err("two mistakes");
    assert_eq!(errors.len(), 2, "{errors:?}");
}

#[test]
fn nothing_behind_the_equals_sign_takes_the_key_out() {
    let given = parse(&["publish.path=x", "publish.path="]).expect("as if it were not there");
    assert_eq!(given.publish.and_then(|p| p.path), None);
    assert_eq!(good("attribute[takes.course].hierarchy=").attributes[0].hierarchy, None);
    good("method.g="); // is not there, and need not be
    assert_eq!(
        parse(&["privacy.kk="]).map(drop),
        Err(vec!["--set:1:1: error: the policy has no such key to take out".to_owned()])
    );
}
