//! What no run could do is refused without any data, also of policies that were written in code.

use bosket_engine::{Params, check, cluster, dissect, km, kmn};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Algorithm, Family, Model, Negative, Number, Param, Policy};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Failure, Fault};
use bosket_testkit::dice::Dice;

use super::{Case, policy};

fn refused(policy: &Policy) -> Failure {
    let failure = check(policy).expect_err("refused");
    assert_eq!(failure.fault, Fault::Policy, "{failure}");
    assert!(failure.diagnostics.iter().all(|d| d.help.is_some()), "{failure}");
    failure
}

/// A policy of the model that names an algorithm.
fn with(model: Model, algorithm: Algorithm) -> Policy {
    let mut policy = policy(model, algorithm.needs_flat());
    policy.method.algorithm = Some(algorithm.name().to_owned());
    policy
}

fn set(policy: &mut Policy, key: &str, value: Param) {
    policy.method.params.push((key.to_owned(), value));
}

#[test]
fn an_unknown_algorithm_is_refused_not_replaced() {
    for &model in Model::ALL {
        let mut policy = policy(model, false);
        policy.method.algorithm = Some("fastest".to_owned());
        assert!(refused(&policy).to_string().contains("there is no algorithm `fastest`"));
    }
}

#[test]
fn an_algorithm_of_another_model_is_refused() {
    for &model in Model::ALL {
        for &algorithm in Algorithm::ALL {
            let policy = with(model, algorithm);
            match algorithm.reaches(model) {
                true => assert_eq!(Params::new(&policy).expect("fine").algorithm(), algorithm),
                false => assert!(refused(&policy).to_string().contains(algorithm.name())),
            }
        }
    }
}

#[test]
fn every_missing_number_is_refused_all_at_once() {
    for &model in Model::ALL {
        let mut policy = policy(model, false);
        let privacy = policy.privacy.as_mut().expect("a model");
        (privacy.k, privacy.m, privacy.n, privacy.l, privacy.group_size) = (None, None, None, None, None);
        (privacy.t, privacy.beta) = (None, None);
        if model.needs().is_empty() {
            check(&policy).expect("needs nothing");
            continue;
        }
        let failure = refused(&policy);
        let told: Vec<String> = failure.diagnostics.iter().map(|d| d.message.clone()).collect();
        let needs = |n: &Number| format!("model `{model}` needs `{}`", n.name());
        assert_eq!(told, model.needs().iter().map(needs).collect::<Vec<_>>());
    }
}

#[test]
fn a_policy_without_a_guarantee_is_refused() {
    let policy = Policy { privacy: None, ..policy(Model::Km, false) };
    assert_eq!(check(&policy).expect_err("nothing asked").fault, Fault::Policy);
}

#[test]
fn a_model_of_another_family_is_refused() {
    for &model in Model::ALL {
        let policy = policy(model, false);
        let family = model.family();
        assert_eq!(kmn::Params::new(&policy).is_ok(), family == Family::Kmn, "{model}");
        assert_eq!(km::Params::new(&policy).is_ok(), family == Family::Km, "{model}");
        assert_eq!(cluster::Params::new(&policy).is_ok(), family == Family::Cluster, "{model}");
        assert_eq!(dissect::Params::new(&policy).is_ok(), family == Family::Dissect, "{model}");
    }
}

#[test]
fn sets_with_counts_cannot_be_made() {
    let mut policy = policy(Model::Km, false);
    policy.privacy.as_mut().expect("a model").multiset = true;
    assert!(refused(&policy).to_string().contains("`privacy.multiset` cannot be kept"));
}

#[test]
fn absence_cannot_be_kept_by_parts_with_cuts_of_their_own() {
    for algorithm in Model::Km.algorithms() {
        let mut policy = with(Model::Km, algorithm);
        policy.privacy.as_mut().expect("a model").negative = vec![Negative::Value("p".to_owned())];
        assert_eq!(check(&policy).is_err(), algorithm == Algorithm::Lra, "{algorithm}");
    }
}

#[test]
fn items_have_no_relations_that_could_be_absent() {
    let mut policy = policy(Model::Km, false);
    let pair = Negative::Pair("p".to_owned(), "q".to_owned());
    policy.privacy.as_mut().expect("a model").negative = vec![pair];
    assert!(refused(&policy).to_string().contains("items of a transaction have no relations"));
}

#[test]
fn what_does_not_repair_cannot_suppress() {
    for algorithm in Model::Km.algorithms() {
        let mut policy = with(Model::Km, algorithm);
        set(&mut policy, "suppress", Param::Bool(true));
        let repairs = !matches!(algorithm, Algorithm::Oa | Algorithm::Partition);
        assert_eq!(check(&policy).is_ok(), repairs, "{algorithm}");
    }
}

#[test]
fn miraclex_has_a_matching_of_its_own() {
    let mut policy = with(Model::KAnonymity, Algorithm::Miraclex);
    set(&mut policy, "matching", Param::Text("lsap".to_owned()));
    assert!(refused(&policy).to_string().contains("`miracle` with matching `x`"));
}

#[test]
fn unknown_words_are_refused_not_replaced() {
    let words = [
        (Model::Kmn, "cost"),
        (Model::Kmn, "disassociation"),
        (Model::KAnonymity, "matching"),
        (Model::KAnonymity, "absent"),
    ];
    for (model, key) in words {
        let mut policy = policy(model, false);
        set(&mut policy, key, Param::Text("whatever".to_owned()));
        let failure = refused(&policy).to_string();
        assert!(failure.contains(&format!("`method.{key}` has no such value")), "{failure}");
    }
}

#[test]
fn a_time_that_is_no_duration_is_refused() {
    for time in [Param::Text("soon".to_owned()), Param::Int(60)] {
        let mut policy = policy(Model::KAnonymity, false);
        set(&mut policy, "time", time);
        let failure = refused(&policy).to_string();
        assert!(failure.contains("`method.time` is no duration"), "{failure}");
    }
}

#[test]
fn an_attribute_that_shares_its_cut_with_nobody_is_refused() {
    let mut policy = policy(Model::Kmn, false);
    policy.attributes[0].shared = true;
    assert!(refused(&policy).to_string().contains("no other attribute shares its hierarchy"));
}

#[test]
fn parameters_with_an_algorithm_of_another_family_have_no_function() {
    let sets = Case::new(Model::Km, Algorithm::Aa, &mut Dice::new(1), 12);
    let trees = |case: &Case| {
        let privacy = case.policy.privacy.as_ref().expect("a model");
        ValueTrees::new(&case.data, &case.binding, privacy.root, privacy.payload)
    };
    let params = km::Params::plain(Algorithm::Best, 2, 2);
    let failure = km::run(&trees(&sets), &sets.hierarchies, &params, &Quiet).expect_err("no function");
    assert_eq!(failure.fault, Fault::Defect);
    let tree = Case::new(Model::Kmn, Algorithm::Best, &mut Dice::new(1), 12);
    let params = kmn::Params::new(&tree.policy).expect("fine");
    let params = kmn::Params { algorithm: Algorithm::Aa, ..params };
    let failure = kmn::run(&trees(&tree), &tree.hierarchies, &params, None, &Quiet).expect_err("no function");
    assert_eq!(failure.fault, Fault::Defect);
    let params = cluster::Params::plain(Algorithm::Plain, 2, None);
    let failure = cluster::run(&tree.data, &tree.binding, &tree.hierarchies, &params, &Quiet);
    assert_eq!(failure.expect_err("no function").fault, Fault::Defect);
    let params = dissect::Params::plain(Algorithm::Ctoff, 2);
    let failure = dissect::run(12, &[], &[0; 12], &params, &Quiet).expect_err("no function");
    assert_eq!(failure.fault, Fault::Defect);
}

#[test]
fn a_promise_beyond_the_search_is_refused_where_nobody_judges_it() {
    let mut case = Case::new(Model::Kmn, Algorithm::Best, &mut Dice::new(1), 24);
    case.policy.privacy.as_mut().expect("a model").guard = true;
    let params = kmn::Params::new(&case.policy).expect("fine");
    assert!(params.beyond);
    let privacy = case.policy.privacy.as_ref().expect("a model");
    let trees = ValueTrees::new(&case.data, &case.binding, privacy.root, privacy.payload);
    let run = |accept| kmn::run(&trees, &case.hierarchies, &params, accept, &Quiet);
    let failure = run(None).expect_err("nobody judges");
    assert_eq!(failure.fault, Fault::Defect);
    assert!(failure.to_string().contains("nobody to judge it"), "{failure}");
    run(Some(&|_| Ok(kmn::Verdict::Kept))).expect("somebody judges");
}
