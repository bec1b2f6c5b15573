//! Policies of t-closeness and β-likeness: their numbers, and how far values are from each other.

use bosket_model::policy::{Ground, Model, Policy};

fn parse(secret: &str, privacy: &str) -> Result<(Policy, Vec<String>), Vec<String>> {
    let text = format!(
        "version = 1\n[[attribute]]\npath = \"a\"\nrole = \"quasi\"\n\
         [[attribute]]\npath = \"c\"\nrole = \"sensitive\"\n{secret}\n[privacy]\n{privacy}\n"
    );
    let told = |all: Vec<bosket_model::Diagnostic>| all.iter().map(ToString::to_string).collect::<Vec<_>>();
    Policy::parse("p.toml", &text, &[]).map(|(policy, warnings)| (policy, told(warnings))).map_err(told)
}

#[test]
fn the_numbers_and_the_ground_are_read_and_written() {
    let (policy, warnings) =
        parse("ground = \"ordered\"", "model = \"t-closeness\"\nt = 0.2\nk = 5").expect("good");
    let privacy = policy.privacy.as_ref().expect("a model");
    assert_eq!((privacy.model, privacy.t, privacy.k), (Model::TCloseness, Some(0.2), Some(5)));
    assert_eq!(policy.attributes[1].ground, Ground::Ordered);
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(policy.to_json()["attribute"][1]["ground"], "ordered");
    assert_eq!(policy.to_json()["privacy"]["t"], 0.2);
    let (policy, _) = parse("", "model = \"beta-likeness\"\nbeta = 1").expect("good");
    assert_eq!(policy.privacy.expect("a model").beta, Some(1.0));
}

#[test]
fn numbers_that_promise_nothing_are_refused() {
    for (number, what) in [("t = 1", "at most"), ("t = 0", "at least"), ("t = 1.5", "at most")] {
        let told = parse("", &format!("model = \"t-closeness\"\n{number}")).expect_err("no promise").concat();
        assert!(told.contains("`privacy.t` must be") && told.contains(what), "{told}");
    }
    let told = parse("", "model = \"beta-likeness\"\nbeta = 0").expect_err("no promise").concat();
    assert!(told.contains("`privacy.beta` must be at least"), "{told}");
    let told = parse("", "model = \"l-diversity\"\nl = 2\nt = 0.2").expect_err("not there").concat();
    assert!(told.contains("would promise a protection that is not there"), "{told}");
    let told = parse("", "model = \"t-closeness\"\nt = 0.2\nl = 2").expect_err("not there").concat();
    assert!(told.contains("`privacy.l` has no meaning for model \"t-closeness\""), "{told}");
}

#[test]
fn a_hierarchy_in_which_distances_are_measured_must_not_depend_on_the_data() {
    let model = "model = \"t-closeness\"\nt = 0.2";
    let hierarchical = |hierarchy: &str| parse(&format!("ground = \"hierarchical\"\n{hierarchy}"), model);
    hierarchical("hierarchy = \"c.csv\"").expect("a file");
    hierarchical("hierarchy = { build = \"order\", groups = [[\"x\", \"y\"], \"z\"] }").expect("spelled out");
    let told = hierarchical("").expect_err("none").concat();
    assert!(told.contains("needs a hierarchy"), "{told}");
    let told = hierarchical("hierarchy = { build = \"prefix\" }").expect_err("built").concat();
    assert!(told.contains("built over the values of the data"), "{told}");
    let told = hierarchical("hierarchy = \"c.csv\"\nbuckets = [1, 2]").expect_err("buckets").concat();
    assert!(told.contains("does not know buckets"), "{told}");
}

#[test]
fn a_ground_that_nobody_asks_for_is_pointed_out() {
    let (_, warnings) = parse("ground = \"ordered\"", "model = \"k-anonymity\"\nk = 2").expect("good");
    assert!(warnings.concat().contains("`attribute.ground` has no meaning"), "{warnings:?}");
}
