//! Every algorithm of the table runs for every model that it reaches, and the verifier accepts what it makes.

use bosket_engine::dissect::{SUPPRESSED, Sensitive, sensitive_values};
use bosket_engine::{Params, cluster, dissect, km, kmn};
use bosket_model::dissected::{Dissected, Lists, SensitiveValues};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Algorithm, Model};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Fault, Result};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::sets;
use bosket_verify::truth::{Comparison, Mapping, Pair, Recoding, Side, compare};
use bosket_verify::{Claim, verify, verify_apart};

use super::{Case, bind};

/// What came out.
enum Release {
    /// Records, and which input record each is, where that is known.
    Records(Dataset, Option<Vec<u32>>),
    /// Two sides.
    Groups(Dissected),
}

fn run(case: &Case) -> Result<Release> {
    let Case { policy, data, binding, hierarchies } = case;
    let privacy = policy.need_privacy()?;
    let trees = || ValueTrees::new(data, binding, privacy.root, privacy.payload);
    case.refuse_unfit()?;
    Ok(match Params::new(policy)? {
        Params::Kmn(params) => {
            let release = kmn::run(&trees(), hierarchies, &params, None, &Quiet)?;
            Release::Records(release.published.write_back(binding), None)
        }
        Params::Km(params) => {
            let release = km::run(&trees(), hierarchies, &params, &Quiet)?;
            Release::Records(transactions(&release.trees), None)
        }
        Params::Cluster(params) => {
            let release = cluster::run(data, binding, hierarchies, &params, &Quiet)?;
            Release::Records(release.data, Some(release.records))
        }
        Params::Dissect(params) => {
            let values = sensitive_values(data, binding);
            let sensitive: Vec<Sensitive<'_>> = (values.iter())
                .map(|values| Sensitive { values, hierarchy: hierarchies[values.declared].as_ref() })
                .collect();
            let ties: Vec<u64> = (0..data.len() as u64).collect();
            let release = dissect::run(data.len(), &sensitive, &ties, &params, &Quiet)?;
            Release::Groups(sides(&release, &values))
        }
    })
}

/// Sets as a file of transactions holds them.
fn transactions(trees: &ValueTrees) -> Dataset {
    let label = |n: usize| trees.items()[trees.item(n) as usize].label.clone();
    sets::dataset(&(0..trees.len()).map(|r| trees.nodes(r).map(label).collect()).collect::<Vec<_>>())
}

/// What a reader of the two sides sees.
fn sides(release: &dissect::Release, values: &[SensitiveValues]) -> Dissected {
    let members = |group: usize| {
        let of_group = move |(_, g): &(usize, &u32)| **g != SUPPRESSED && **g as usize == group;
        release.group_of.iter().enumerate().filter(of_group).map(|(record, _)| record)
    };
    let of_group = |column: &SensitiveValues| -> Lists {
        let own = |group| members(group).flat_map(|r| column.codes.of(r).to_vec()).collect::<Vec<_>>();
        (0..release.groups).map(own).collect()
    };
    Dissected {
        people: (0..release.groups).map(|g| members(g).count() as u32).collect(),
        sensitive: values.iter().map(|c| SensitiveValues { codes: of_group(c), ..c.clone() }).collect(),
    }
}

/// Reads what came out as a stranger would.
fn check(case: &Case, release: &Release, what: &str) {
    let model = case.policy.privacy.as_ref().expect("a model").model;
    if !model.has_guarantee() {
        assert!(Claim::new(&case.policy).is_err(), "{what}: nothing is claimed");
    }
    match release {
        Release::Groups(found) => {
            let people: u32 = found.people.iter().sum();
            assert!(people > 0 && people as usize <= case.data.len(), "{what}");
            if model.has_guarantee() {
                let Claim::Apart(claim) = Claim::new(&case.policy).expect("a claim") else {
                    panic!("{what}: another claim");
                };
                let verdict = verify_apart(found, &claim, &case.hierarchies, &Quiet).expect("checkable");
                assert_eq!(verdict.witness, None, "{what}");
            }
        }
        Release::Records(published, records) => {
            let claim = Claim::new(&case.policy).expect("a claim");
            let binding = bind(&case.policy, published);
            let witness = verify(published, &binding, &claim, &case.hierarchies, 1 << 24, &Quiet);
            assert_eq!(witness.expect("countable"), None, "{what}");
            let mapping = records.as_ref().map(|records| {
                let pair = |(at, &input): (usize, &u32)| Pair { line: 1, input, published: at as u32 };
                Mapping { name: "m".to_owned(), pairs: records.iter().enumerate().map(pair).collect() }
            });
            let comparison = Comparison {
                published: Side { data: published, binding: &binding },
                input: Side { data: &case.data, binding: &case.binding },
                hierarchies: &case.hierarchies,
                recoding: Recoding::of(&case.policy).expect("comparable"),
                suppress: false,
                mapping: mapping.as_ref(),
                sensitive: &[],
            };
            assert_eq!(compare(&comparison, &Quiet).expect("comparable"), [], "{what}");
        }
    }
}

/// Every algorithm with every model that it reaches.
fn rows() -> impl Iterator<Item = (Algorithm, Model)> {
    let models = |&a: &Algorithm| Model::ALL.iter().filter(move |m| a.reaches(**m)).map(move |&m| (a, m));
    Algorithm::ALL.iter().flat_map(models)
}

#[test]
fn every_algorithm_has_its_function() {
    for (algorithm, model) in rows() {
        let what = format!("{algorithm} for {model}");
        let case = Case::new(model, algorithm, &mut Dice::new(3), 48);
        let release = run(&case).unwrap_or_else(|failure| panic!("{what}: {failure}"));
        check(&case, &release, &what);
    }
}

#[test]
fn every_algorithm_keeps_its_promise_on_random_data() {
    for seed in 0..u64::from(cases(40)) {
        for (algorithm, model) in rows() {
            let what = format!("{algorithm} for {model}, seed {seed}");
            let mut dice = Dice::new(seed);
            let records = 1 + dice.below(20);
            let case = Case::new(model, algorithm, &mut dice, records);
            match run(&case) {
                Ok(release) => check(&case, &release, &what),
                Err(failure) => assert_eq!(failure.fault, Fault::Unreachable, "{what}: {failure}"),
            }
        }
    }
}

#[test]
fn the_usual_algorithm_runs_where_none_is_named() {
    for &model in Model::ALL {
        let usual = model.usual_algorithm(false).expect("a usual one");
        let mut case = Case::new(model, usual, &mut Dice::new(3), 48);
        case.policy.method.algorithm = None;
        assert_eq!(Params::new(&case.policy).expect("fine").algorithm(), usual);
        check(&case, &run(&case).expect("reachable"), model.name());
    }
}
