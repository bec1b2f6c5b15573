//! Two opinions on what the attributes of a publication are, on random policies and publications.

use bosket_model::binding::Binding;
use bosket_model::policy::{AttributePolicy, Policy, Role, Undeclared};
use bosket_model::{Builder, ClassId, Dataset, Fault, Kind};
use bosket_testkit::dice::{Dice, cases};
use bosket_verify::names::{bound, refuse_other};
use proptest::prelude::*;

const ROLES: [&str; 6] = ["quasi", "sensitive", "insensitive", "identifying", "drop", "key"];

fn key(dice: &mut Dice) -> String {
    ["a", "b", "c", "a.b"][dice.below(4)].to_owned()
}

/// A policy of a few paths, some of which follow others.
fn policy(dice: &mut Dice) -> Option<Policy> {
    let mut paths: Vec<String> = (0..2 + dice.below(5))
        .map(|_| {
            let classes: String =
                (0..dice.below(3)).map(|_| format!("{}[].", ["a", "b", "c"][dice.below(3)])).collect();
            format!("{classes}{}", ["v", "w", "a"][dice.below(3)])
        })
        .collect();
    paths.sort();
    paths.dedup();
    let mut text = String::from("version = 1\n");
    for (at, path) in paths.iter().enumerate() {
        let role = ROLES[dice.below(ROLES.len())];
        let follows = match at {
            0 => String::new(),
            _ if dice.one_in(4) => format!("follows = \"{}\"\n", paths[dice.below(at)]),
            _ => String::new(),
        };
        text += &format!("[[attribute]]\npath = \"{path}\"\nrole = \"{role}\"\n{follows}");
    }
    Policy::parse("p", &text, &[]).ok().map(|parsed| parsed.0)
}

/// A publication with classes at their homes, above them, and elsewhere.
fn publication(dice: &mut Dice, attributes: &[AttributePolicy]) -> Dataset {
    let mut builder = Builder::new();
    let mut classes = vec![ClassId::ROOT];
    let nothing = Builder::new().finish();
    let homes = Binding::new(nothing.schema(), attributes, Undeclared::Drop, "p").expect("good paths");
    let mut of_home = vec![None; homes.homes.len()];
    of_home[0] = Some(ClassId::ROOT);
    for home in 1..homes.homes.len() {
        // At home, or moved up to an ancestor.
        let mut above = homes.homes[home].parent.expect("not the record");
        while dice.one_in(3) && homes.homes[above].parent.is_some() {
            above = homes.homes[above].parent.expect("just seen");
        }
        if let Some(parent) = of_home[above] {
            let class = builder.class(parent, &homes.key_under(above, home));
            of_home[home] = Some(class);
            classes.push(class);
        }
    }
    for _ in 0..dice.below(3) {
        let parent = classes[dice.below(classes.len())];
        let name = [key(dice)];
        classes.push(builder.class(parent, &name));
    }
    let mut ids = Vec::new();
    for &class in &classes {
        for name in ["v", "w", "a", "x"] {
            if dice.one_in(2) {
                ids.push(builder.attribute(class, &[name.to_owned()]));
            }
        }
    }
    builder.begin_record();
    for id in ids {
        if builder.schema().attribute(id).class == ClassId::ROOT {
            builder.set(id, Kind::Text, "x");
        }
    }
    builder.end_record().expect("set once");
    builder.finish()
}

/// The same with one thing changed.
fn manipulated(dice: &mut Dice, binding: &Binding) -> Binding {
    let mut binding = binding.clone();
    let declared = dice.below(binding.declared.len());
    match dice.below(5) {
        0 => {
            let role = binding.declared[declared].role;
            let other = if role == Role::Quasi { Role::Insensitive } else { Role::Quasi };
            binding.declared[declared].role = other;
        }
        1 if !binding.attributes.is_empty() => {
            let at = dice.below(binding.attributes.len());
            binding.attributes[at] = match binding.attributes[at] {
                None => Some(declared),
                Some(_) => None,
            };
        }
        2 => {
            let at = dice.below(binding.classes.len());
            binding.classes[at] = match binding.classes[at] {
                None => Some(0),
                Some(_) => None,
            };
        }
        3 => binding.declared[declared].name.push("elsewhere".to_owned()),
        _ => binding.declared[declared].pseudonym ^= true,
    }
    binding
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2000)))]
    #[test]
    fn both_opinions_agree_and_a_manipulated_one_is_caught(seed: u64) {
        let mut dice = Dice::new(seed);
        let Some(policy) = policy(&mut dice) else { return Ok(()) };
        let data = publication(&mut dice, &policy.attributes);
        let schema = data.schema();
        let binding = bound(schema, &policy.attributes, Undeclared::Drop, "data");
        let binding = binding.unwrap_or_else(|failure| panic!("{failure}"));
        let false_one = manipulated(&mut dice, &binding);
        let caught = refuse_other(&policy.attributes, schema, &false_one).expect_err("manipulated");
        prop_assert_eq!(caught.fault, Fault::Defect);
    }
}

#[test]
fn a_role_that_only_the_binding_has_is_caught() {
    let text = "version = 1\n[[attribute]]\npath = \"name\"\nrole = \"identifying\"\n";
    let (policy, _) = Policy::parse("p", text, &[]).expect("a good policy");
    let mut builder = Builder::new();
    let name = builder.attribute(ClassId::ROOT, &["name".to_owned()]);
    builder.begin_record();
    builder.set(name, Kind::Text, "Ann");
    builder.end_record().expect("set once");
    let data = builder.finish();
    let mut binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared");
    assert!(refuse_other(&policy.attributes, data.schema(), &binding).is_ok());
    binding.declared[0].role = Role::Insensitive;
    assert!(refuse_other(&policy.attributes, data.schema(), &binding).is_err());
}
