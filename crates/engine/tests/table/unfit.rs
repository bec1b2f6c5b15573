//! What a run would give up on before it searches is found before it: a dry run can tell.

use bosket_engine::{Params, cluster};
use bosket_model::hierarchy::csv;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Algorithm, Model, Shape};
use bosket_model::{Failure, Fault};
use bosket_testkit::dice::Dice;
use bosket_testkit::sets;

use super::{Case, policy, visits};

fn unfit(case: &Case, fault: Fault) -> String {
    let failure: Failure = case.refuse_unfit().expect_err("unfit");
    assert_eq!(failure.fault, fault, "{failure}");
    failure.to_string()
}

fn case(model: Model, records: usize) -> Case {
    let usual = model.usual_algorithm(false).expect("a usual one");
    Case::new(model, usual, &mut Dice::new(3), records)
}

#[test]
fn fit_data_is_not_refused() {
    for &model in Model::ALL {
        case(model, 48).refuse_unfit().unwrap_or_else(|failure| panic!("{model}: {failure}"));
    }
}

#[test]
fn too_few_records_are_told_before_the_search() {
    for &model in Model::ALL.iter().filter(|m| m.shape() != Shape::ValueTree && m.has_guarantee()) {
        unfit(&case(model, 1), Fault::Unreachable);
    }
}

#[test]
fn blocks_of_nested_records_are_told_before_the_search() {
    let mut case = case(Model::KAnonymity, 24);
    case.policy.method.algorithm = Some(Algorithm::Blocks.name().to_owned());
    assert!(unfit(&case, Fault::Policy).contains("algorithm `blocks` is for flat tables"));
    let Params::Cluster(params) = Params::new(&case.policy).expect("fine") else { panic!("clusters") };
    let run = cluster::run(&case.data, &case.binding, &case.hierarchies, &params, &Quiet);
    assert_eq!(run.expect_err("nested").fault, Fault::Policy, "a run refuses it as well");
    let flat = Case::of(policy(Model::KAnonymity, true), visits(&mut Dice::new(3), 24, true));
    flat.refuse_unfit().expect("rows of one table");
}

#[test]
fn clusters_without_hierarchies_are_told_before_the_search() {
    let mut case = case(Model::KAnonymity, 24);
    case.hierarchies.iter_mut().for_each(|h| *h = None);
    assert_eq!(unfit(&case, Fault::Policy).matches("has no hierarchy").count(), 2);
    let short = csv::parse("h", "p;*\nq;*\n").expect("a hierarchy");
    case.hierarchies.iter_mut().for_each(|h| *h = Some(short.clone()));
    assert_eq!(unfit(&case, Fault::Policy).matches("does not have all values").count(), 2);
}

#[test]
fn buckets_of_what_is_no_number_are_told_before_the_search() {
    let mut case = case(Model::LDiversity, 24);
    case.policy.attributes.iter_mut().for_each(|a| a.buckets = Some(vec![1.0, 2.0]));
    assert!(unfit(&case, Fault::Data).contains("are not numbers"));
}

#[test]
fn shared_cuts_of_different_hierarchies_are_told_before_the_search() {
    let mut case = case(Model::Kmn, 24);
    case.policy.attributes[..2].iter_mut().for_each(|a| a.shared = true);
    case.refuse_unfit().expect("the same hierarchy");
    case.hierarchies[1] = Some(csv::parse("h", "p;*\nq;*\nr;*\ns;*\nt;*\n").expect("a hierarchy"));
    assert!(unfit(&case, Fault::Policy).contains("share a cut, but their hierarchies differ"));
}

#[test]
fn more_cuts_than_can_be_looked_at_are_told_before_the_search() {
    let items: Vec<String> = (0..64).map(|i| format!("i{i:02}")).collect();
    let tree: String =
        items.iter().enumerate().map(|(i, item)| format!("{item};g{:02};*\n", i / 2)).collect();
    let mut case = Case::of(policy(Model::Km, false), sets::dataset(&vec![items; 3]));
    case.hierarchies = vec![Some(csv::parse("h", &tree).expect("a hierarchy"))];
    case.refuse_unfit().expect("no search through all cuts");
    case.policy.method.algorithm = Some(Algorithm::Oa.name().to_owned());
    assert!(unfit(&case, Fault::Unreachable).contains("too many to look at"));
}

#[test]
fn sensitive_items_that_there_are_not_or_too_many_of_are_told_before_the_search() {
    let mut case = case(Model::Km, 24);
    let privacy = case.policy.privacy.as_mut().expect("a model");
    (privacy.l, privacy.sensitive) = (Some(2.0), vec!["z".to_owned()]);
    assert!(unfit(&case, Fault::Policy).contains("which is not in the hierarchy"));
    let privacy = case.policy.privacy.as_mut().expect("a model");
    (privacy.l, privacy.sensitive) = (Some(1000.0), vec!["p".to_owned()]);
    assert!(unfit(&case, Fault::Unreachable).contains("of all records"));
}

#[test]
fn values_too_common_for_l_are_told_before_the_search() {
    let mut case = case(Model::Kmn, 24);
    case.policy.privacy.as_mut().expect("a model").l = Some(20.0);
    let told = unfit(&case, Fault::Unreachable);
    assert!(told.contains("more than 1/20") && told.contains("no l over"), "{told}");
}

#[test]
fn values_too_frequent_for_groups_are_told_before_the_search() {
    for model in [Model::Anatomy, Model::Delta] {
        let mut case = case(model, 24);
        case.policy.privacy.as_mut().expect("a model").group_size = Some(20);
        let told = unfit(&case, Fault::Unreachable);
        assert!(told.contains("groups of 20 allow no more than 1") && !told.contains('A'), "{told}");
    }
}

#[test]
fn a_distance_deeper_than_the_hierarchy_is_told_before_the_search() {
    let mut case = case(Model::Delta, 24);
    case.policy.privacy.as_mut().expect("a model").delta_target = Some(9);
    assert!(unfit(&case, Fault::Unreachable).contains("`delta_target` = 9 cannot be reached"));
}
