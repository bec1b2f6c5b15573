//! Records of any shape: one to five classes below each other or side by side, with one or two attributes each.

use bosket_engine::kmn::{Algorithm, Disassociation, Params, run};
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Missing, Payload, Policy, RootMode, Rows};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Builder, ClassId, Dataset, Kind};
use bosket_testkit::dice::Dice;
use bosket_verify::truth::{Comparison, Recoding, Side, compare};
use bosket_verify::{Claim, Kmn, verify};
use proptest::prelude::*;

use crate::{hierarchies, params};

/// A class: where it hangs, its path, and its attributes by letter.
struct Class {
    parent: Option<usize>,
    path: String,
    attributes: Vec<char>,
}

/// Classes below each other or side by side.
fn classes(dice: &mut Dice, number: usize) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    let mut letters = 'A'..;
    for i in 0..number {
        let parent = if i == 0 || dice.one_in(3) { None } else { Some(dice.below(i)) };
        let above = parent.map_or(String::new(), |p| format!("{}.", classes[p].path));
        let attributes = letters.by_ref().take(1 + usize::from(dice.one_in(3))).collect();
        classes.push(Class { parent, path: format!("{above}c{i}[]"), attributes });
    }
    classes
}

fn policy(classes: &[Class]) -> Policy {
    let attributes = classes.iter().flat_map(|class| {
        let path = &class.path;
        (class.attributes.iter())
            .map(move |l| format!("[[attribute]]\npath = \"{path}.{l}\"\nrole = \"quasi\"\n"))
    });
    let text = format!("version = 1\n{}", attributes.collect::<String>());
    Policy::parse("p", &text, &[]).expect("a good policy").0
}

fn dataset(dice: &mut Dice, classes: &[Class], records: usize) -> Dataset {
    let mut builder = Builder::new();
    for _ in 0..records {
        builder.begin_record();
        fill(dice, classes, None, ClassId::ROOT, &mut builder);
        builder.end_record().expect("one value per attribute");
    }
    builder.finish()
}

fn fill(dice: &mut Dice, classes: &[Class], above: Option<usize>, class: ClassId, builder: &mut Builder) {
    for i in (0..classes.len()).filter(|&i| classes[i].parent == above) {
        for _ in 0..dice.below(3) {
            let own = builder.class(class, &[format!("c{i}")]);
            builder.open(own);
            for letter in &classes[i].attributes {
                let attribute = builder.attribute(own, &[letter.to_string()]);
                if !dice.one_in(4) {
                    builder.set(attribute, Kind::Text, &format!("{letter}{}", 1 + dice.below(4)));
                }
            }
            fill(dice, classes, Some(i), own, builder);
            builder.close();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn forests_are_published_soundly(
        seed: u64,
        number in 1usize..6,
        records in 1usize..14,
        k in 2u32..5,
        m in 1usize..5,
        n in 0usize..4,
    ) {
        let mut dice = Dice::new(seed);
        let classes = classes(&mut dice, number);
        let data = dataset(&mut dice, &classes, records);
        let policy = policy(&classes);
        let bind = |data: &Dataset| {
            Binding::new(data.schema(), &policy.attributes, policy.undeclared, "d").expect("all declared")
        };
        let binding = bind(&data);
        let hierarchies = hierarchies(policy.attributes.len());
        let trees = ValueTrees::new(&data, &binding, RootMode::Separate, Payload::Keep);
        let ways = [
            (Algorithm::Gcs, Disassociation::Value, false),
            (Algorithm::Ocs, Disassociation::Value, false),
            (Algorithm::Best, Disassociation::Value, true),
            (Algorithm::Best, Disassociation::Cheapest, false),
        ];
        for (algorithm, disassociation, suppress) in ways {
            let p = Params { disassociation, suppress, ..params(hierarchies.len(), algorithm, k, m, n) };
            let Ok(release) = run(&trees, &hierarchies, &p, None, &Quiet) else { continue };
            let published = release.published.write_back(&binding);
            let again = bind(&published);
            let claim = Claim::Kmn(Kmn::new(k, m as u32, n as u32));
            let witness = verify(&published, &again, &claim, &[], 1 << 30, &Quiet).expect("countable");
            prop_assert_eq!(witness, None);
            let comparison = Comparison {
                published: Side { data: &published, binding: &again },
                input: Side { data: &data, binding: &binding },
                hierarchies: &hierarchies,
                recoding: Recoding::GlobalTrees { root: RootMode::Separate, payload: Payload::Keep, rows: Rows::United, missing: Missing::Nothing },
                suppress,
                mapping: None,
                sensitive: &[],
            };
            prop_assert_eq!(compare(&comparison, &Quiet).expect("comparable"), []);
        }
    }
}
