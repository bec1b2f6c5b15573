//! Records of four levels with many children: empty ones, some without values, some with several kinds of children.

use bosket_engine::cluster::{Algorithm, Matching, Params};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::csv;
use bosket_model::policy::{Policy, Role};
use bosket_model::{Builder, ClassId, Fault, Kind};
use bosket_testkit::dice::{Dice, cases};
use proptest::prelude::*;

use super::promises::{check, random_params};
use super::{Case, QUASI, diverse, literal};

/// Per class its name and those below it. The last stands at two places.
const SHAPE: [(&str, &[usize]); 5] = [("", &[1, 4]), ("w", &[2]), ("x", &[3, 4]), ("y", &[]), ("z", &[])];

/// The paths of the classes.
const PATHS: [&str; 6] = ["", "w[].", "w[].x[].", "w[].x[].y[].", "w[].x[].z[].", "z[]."];

fn fill(dice: &mut Dice, builder: &mut Builder, class: ClassId, at: usize, most: usize) {
    for (name, values) in [("q", &QUASI), ("s", &["A", "B", "C", "D", "E"])] {
        if !dice.one_in(3) {
            let attribute = builder.attribute(class, &[name.to_owned()]);
            builder.set(attribute, Kind::Text, dice.of::<&str>(values));
        }
    }
    for &below in SHAPE[at].1 {
        let own = builder.class(class, &[SHAPE[below].0.to_owned()]);
        let kids = if dice.one_in(3) { 0 } else { dice.below(most + 1) };
        for _ in 0..kids {
            builder.open(own);
            // A third is empty.
            if !dice.one_in(3) {
                fill(dice, builder, own, below, most);
            }
            builder.close();
        }
    }
}

impl Case {
    fn deep(dice: &mut Dice, records: usize, most: usize) -> Case {
        let mut builder = Builder::new();
        for _ in 0..records {
            builder.begin_record();
            fill(dice, &mut builder, ClassId::ROOT, 0, most);
            builder.end_record().expect("each value once");
        }
        let data = builder.finish();
        let mut text = "version = 1\n".to_owned();
        for class in PATHS {
            for (name, role) in [("q", "quasi"), ("s", "sensitive")] {
                // Without anything sensitive at the top most records fit together.
                let role = if class.is_empty() { "quasi" } else { role };
                text += &format!("[[attribute]]\npath = \"{class}{name}\"\nrole = \"{role}\"\n");
            }
        }
        let (policy, _) = Policy::parse("p", &text, &[]).expect("a good policy");
        let binding =
            Binding::new(data.schema(), &policy.attributes, policy.undeclared, "data").expect("all declared");
        let tree = csv::parse("h", "p;pq;*\nq;pq;*\nr;rs;pqrs;*\ns;rs;pqrs;*\nt;*\n").expect("a hierarchy");
        let secret = csv::parse("h", "A;*\nB;*\nC;*\nD;*\nE;*\n").expect("a hierarchy");
        let hierarchies = (policy.attributes.iter().enumerate())
            .map(|(i, a)| (a.role == Role::Quasi).then(|| if i == 1 { &secret } else { &tree }.clone()))
            .collect();
        Case { roles: [[Role::Insensitive; 4]; 4], data, policy, binding, hierarchies }
    }
}

fn params(dice: &mut Dice) -> Params {
    let algorithm = *dice.of(&[Algorithm::Ctoff, Algorithm::Clustree]);
    let ask = [None, Some(diverse(2.0)), Some(diverse(1.5))][dice.below(3)].clone();
    Params {
        matching: *dice.of(&[Matching::Lsap, Matching::Lsap, Matching::Grd, Matching::X]),
        leftovers: false,
        ..Params::plain(algorithm, 2 + dice.below(3) as u32, ask)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(60)))]
    /// Costs of a subtree were taken for those of another whose children stand in another order.
    #[test]
    fn clusters_of_deep_records_are_the_literal_ones(seed: u64, records in 4usize..14) {
        let mut dice = Dice::new(seed);
        let case = Case::deep(&mut dice, records, 4);
        literal::same(&case, &params(&mut dice));
    }

    #[test]
    fn deep_records_keep_their_promise(seed: u64, records in 4usize..24) {
        let mut dice = Dice::new(seed);
        let case = Case::deep(&mut dice, records, 4);
        let params = random_params(&mut dice);
        if let Ok(release) = case.run(&params) {
            check(&case, &params, &release);
        }
    }

    /// When there was no room for more costs, one subtree got the number of another.
    #[test]
    fn little_memory_changes_nothing(seed: u64, records in 8usize..30) {
        let mut dice = Dice::new(seed);
        let case = Case::deep(&mut dice, records, 3);
        let plenty = Params { leftovers: true, improve: dice.one_in(2), ..params(&mut dice) };
        let little = Params { memory: 1 << (14 + dice.below(7)), ..plenty.clone() };
        match (case.run(&plenty), case.run(&little)) {
            (Ok(plenty), Ok(little)) => {
                prop_assert_eq!(plenty.clusters, little.clusters);
                prop_assert_eq!(plenty.suppressed, little.suppressed);
            }
            (_, Err(failure)) => prop_assert_eq!(failure.fault, Fault::Unreachable),
            (Err(failure), Ok(_)) => prop_assert!(false, "{:?}", failure),
        }
    }
}

#[test]
fn records_that_do_not_fit_into_memory_are_refused() {
    let case = Case::deep(&mut Dice::new(1), 40, 3);
    let params = Params { memory: 1 << 10, ..Params::plain(Algorithm::Ctoff, 2, None) };
    let failure = case.run(&params).expect_err("too little");
    assert_eq!(failure.fault, Fault::Unreachable);
}
