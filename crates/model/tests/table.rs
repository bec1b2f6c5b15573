//! The table of models and algorithms: it agrees with itself, with the README and with the policies that name them.

use bosket_model::policy::{Algorithm, Family, Model, Number, Policy, Role, Shape};
use bosket_model::{Failure, Fault};

/// A number that a policy may have.
fn number(number: Number) -> f64 {
    if number == Number::T { 0.5 } else { 2.0 }
}

/// A policy of the model that the reader accepts.
fn policy(model: Model) -> Policy {
    let numbers: String = model.needs().iter().map(|n| format!("{} = {}\n", n.name(), number(*n))).collect();
    let text = format!(
        "version = 1\n[[attribute]]\npath = \"a[].b\"\nrole = \"quasi\"\n\
         [[attribute]]\npath = \"c\"\nrole = \"sensitive\"\nhierarchy = \"c.csv\"\n\
         [privacy]\nmodel = \"{model}\"\n{numbers}"
    );
    Policy::parse("p.toml", &text, &[]).unwrap_or_else(|e| panic!("{e:?}")).0
}

fn refusal(model: Model, algorithm: &str) -> Failure {
    let mut policy = policy(model);
    policy.method.algorithm = Some(algorithm.to_owned());
    let failure = policy.algorithm().expect_err("refused");
    assert_eq!(failure.fault, Fault::Policy);
    failure
}

#[test]
fn what_rows_say_fits_together() {
    for &model in Model::ALL {
        assert_eq!(model.needs_hierarchies(Role::Quasi), model.generalizes(), "{model}");
        assert!(!model.is_apart() || !model.generalizes(), "{model}");
        assert_eq!(model.makes_clusters(), model.family() == Family::Cluster, "{model}");
        assert_eq!(model.is_apart(), model.family() == Family::Dissect, "{model}");
        assert!(model.counts_values() || !model.counts_relations(), "{model}");
        assert_eq!(model.counts_values(), model.shape() != Shape::VertexTree, "{model}");
        assert_eq!(model.paper().is_some(), model.has_guarantee(), "{model}");
        let local = model.algorithms().iter().filter(|a| a.is_local()).count();
        assert!(!model.makes_clusters() || local == model.algorithms().len(), "{model}");
        assert!(!model.is_apart() || local == 0, "{model}");
    }
    for &algorithm in Algorithm::ALL {
        let families: Vec<Family> = algorithm.models().iter().map(|m| m.family()).collect();
        assert!(families.iter().all(|f| *f == algorithm.family()), "{algorithm} is of one family");
        assert!(Model::ALL.iter().any(|m| algorithm.reaches(*m)), "{algorithm} reaches something");
        assert!(!algorithm.about().is_empty(), "{algorithm}");
    }
}

#[test]
fn every_model_has_one_usual_algorithm() {
    for &model in Model::ALL {
        let usual = |flat: bool| {
            let all = model.algorithms();
            all.iter().filter(|a| a.is_usual_for(model) && a.needs_flat() == flat).count()
        };
        assert_eq!(usual(false), 1, "{model}");
        assert!(usual(true) <= 1, "{model}");
        assert_eq!(
            policy(model).algorithm().expect("usual"),
            model.algorithms()[0],
            "the first is the usual one"
        );
    }
    let mut flat = policy(Model::KAnonymity);
    flat.attributes[0].path = "a".to_owned();
    assert_eq!(flat.algorithm().expect("usual"), Algorithm::Blocks);
    assert_eq!(Model::LDiversity.usual_algorithm(true), Some(Algorithm::Ctoff));
}

#[test]
fn the_numbers_that_a_model_needs_are_those_that_the_reader_asks_for() {
    for &model in Model::ALL {
        let text = format!("version = 1\n[privacy]\nmodel = \"{model}\"\n");
        let errors = Policy::parse("p", &text, &[]).err().unwrap_or_default();
        for number in model.needs() {
            let wanted = format!("needs `privacy.{}`", number.name());
            assert!(errors.iter().any(|e| e.message.contains(&wanted)), "{model}: {errors:?}");
        }
        assert_eq!(
            errors.iter().filter(|e| e.message.contains("needs `privacy.")).count(),
            model.needs().len()
        );
        assert_eq!(policy(model).privacy.expect("given").lacking(), []);
    }
}

#[test]
fn an_unknown_algorithm_is_refused_not_replaced() {
    for &model in Model::ALL {
        let failure = refusal(model, "no such thing");
        assert!(
            failure.to_string().contains("p.toml: error: there is no algorithm `no such thing`"),
            "{failure}"
        );
    }
    assert!(refusal(Model::Kmn, "bestt").to_string().contains("did you mean `best`?"));
}

#[test]
fn an_algorithm_of_another_model_is_refused() {
    for &model in Model::ALL {
        for &algorithm in Algorithm::ALL {
            let mut policy = policy(model);
            policy.method.algorithm = Some(algorithm.name().to_owned());
            match policy.algorithm() {
                Ok(found) => assert!(found == algorithm && algorithm.reaches(model)),
                Err(failure) => {
                    assert!(!algorithm.reaches(model), "{failure}");
                    assert_eq!(failure.fault, Fault::Policy);
                }
            }
        }
    }
    let failure = refusal(Model::Km, "ctoff").to_string();
    assert!(
        failure.contains("algorithm `ctoff` is not for model `km` (help: one of `aa`, `da`"),
        "{failure}"
    );
    let failure = refusal(Model::KAnonymity, "dmiracle").to_string();
    assert!(failure.contains("is for model `l-diversity` (help: use miracle"), "{failure}");
}

#[test]
fn the_readme_tells_what_the_table_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let text = std::fs::read_to_string(path).expect("README.md is there");
    for &model in Model::ALL.iter().filter(|m| m.has_guarantee()) {
        let row = text.lines().find(|line| line.starts_with(&format!("| `{model}` |"))).expect("a row");
        let cells: Vec<&str> = row.split(" | ").collect();
        let named: Vec<&str> = cells[3].split('`').skip(1).step_by(2).collect();
        let wanted: Vec<&str> = model.algorithms().iter().map(|a| a.name()).collect();
        assert_eq!(named, wanted, "algorithms of {model}");
        let paper = model.paper().expect("a guarantee is somebody's");
        let cited = format!("{}: *{}*, {} |", paper.authors, paper.title, paper.published);
        assert_eq!(cells[4], cited, "what {model} is from");
        assert_eq!(paper.to_string(), cited.replace('*', "").replace(" |", ""));
    }
}
