//! Anatomy and δ-dependency: groups of people, judged by the definition, by the verifier, and through files.

use bosket_engine::dissect::{Algorithm, Params, SUPPRESSED, Sensitive, run};
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Quiet;
use bosket_testkit::dice::Dice;
use bosket_testkit::{dissect as literal, fixtures};
use bosket_verify::{Apart, Delta};
use serde_json::{Value, json};

use super::values::number;
use super::{Case, files};
use crate::verify::apart::{People, holds};
use crate::{Outcome, dice, refused};

/// One in so many instances goes through files.
const ON_DISK: usize = 128;

/// Groups keep what was asked for, by the definition and by the verifier.
pub fn anonymize_dissect(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    let (text, words) = literal::words(&mut dice, 3, 2);
    let many = dice.one_in(2);
    let person = |dice: &mut Dice| {
        let values = if dice.one_in(8) { 0 } else { 1 + dice.below(1 + usize::from(many)) };
        (0..values).map(|_| dice.of(&words).clone()).collect()
    };
    let people: People = (0..number(&mut dice, 12)).map(|_| person(&mut dice)).collect();
    let asked = Asked {
        size: 2 + dice.below(2),
        far: dice.one_in(2),
        target: dice.one_in(2).then(|| dice.below(3) as u32),
        pairwise: dice.one_in(2),
    };
    if dice.one_in(ON_DISK) {
        return files::run(&on_disk(&mut dice, &text, &people, many, &asked));
    }
    let hierarchy = fixtures::hierarchy(&text);
    grouped(&people, many, &asked, &hierarchy)
}

#[derive(Debug)]
struct Asked {
    size: usize,
    far: bool,
    target: Option<u32>,
    pairwise: bool,
}

fn grouped(people: &People, many: bool, asked: &Asked, hierarchy: &Hierarchy) -> Outcome {
    let algorithm = if asked.far { Algorithm::Delta } else { Algorithm::Anatomy };
    let params = Params {
        delta_target: asked.target.filter(|_| asked.far),
        pairwise: asked.pairwise && asked.far,
        ..Params::plain(algorithm, asked.size)
    };
    let values = literal::sensitive("d", many, people);
    let sensitive = [Sensitive { values: &values, hierarchy: Some(hierarchy) }];
    let ties: Vec<u64> = (0..people.len() as u64).collect();
    let release = match run(people.len(), &sensitive, &ties, &params, &Quiet) {
        Ok(release) => release,
        Err(failure) => return refused(&failure),
    };
    let said = format!("{people:?} {asked:?}");
    let mut groups: Vec<People> = vec![Vec::new(); release.groups];
    for (person, &group) in release.group_of.iter().enumerate().filter(|(_, g)| **g != SUPPRESSED) {
        groups[group as usize].push(people[person].clone());
    }
    let left = release.group_of.iter().filter(|&&group| group == SUPPRESSED).count();
    assert_eq!(left, release.suppressed, "{said}");
    for group in &groups {
        assert!(literal::is_anatomy(group, asked.size), "{group:?} of {said}");
        let (set_wise, pairwise) = literal::degrees(hierarchy, group);
        let reached = if params.pairwise { pairwise } else { set_wise };
        let target = params.delta_target.unwrap_or(0) as usize;
        assert!(reached.is_none_or(|d| d >= target), "{group:?} of {said}");
    }
    let distance = params.delta_target.unwrap_or(0);
    let delta = asked.far.then_some(Delta { distance, pairwise: params.pairwise });
    let claim = Apart { group_size: asked.size as u32, delta, ..Apart::default() };
    assert!(holds(&groups, many, &claim, hierarchy), "{groups:?} of {said}");
    Outcome::Held
}

/// The same people with something that is known of them.
fn on_disk(dice: &mut Dice, tree: &str, people: &People, many: bool, asked: &Asked) -> Case {
    let path = if many { "v[].d" } else { "d" };
    let record = |dice: &mut Dice, values: &Vec<String>| {
        let mut record = json!({"r": dice.below(3), "e": []});
        match many {
            true => record["v"] = values.iter().map(|v| json!({"d": v, "w": dice.below(2)})).collect(),
            false => values.first().into_iter().for_each(|v| record["d"] = Value::from(v.as_str())),
        }
        format!("{record}\n")
    };
    let records = people.iter().map(|values| record(dice, values)).collect();
    let words: Vec<String> = tree.lines().map(nested).collect();
    let hierarchy = format!("{{ build = \"order\", groups = [{}] }}", words.join(", "));
    let model = if asked.far { "delta" } else { "anatomy" };
    let mut privacy = format!("model = \"{model}\"\ngroup_size = {}\n", asked.size);
    if asked.far {
        privacy += &asked.target.map(|t| format!("delta_target = {t}\n")).unwrap_or_default();
        privacy += &format!("pairwise = {}\n", asked.pairwise);
    }
    let known = ["r", "v[].w"].map(|path| format!("[[attribute]]\npath = \"{path}\"\nrole = \"quasi\"\n"));
    let policy = format!(
        "version = 1\nundeclared = \"drop\"\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n{}\
         [[attribute]]\npath = \"{path}\"\nrole = \"sensitive\"\nhierarchy = {hierarchy}\n[privacy]\n{privacy}\
         [publish]\npath = \"out.ndjson\"\n",
        known[..1 + usize::from(many)].concat()
    );
    Case { policy, name: "in.ndjson", records }
}

/// A line `ab;a;*` as a group of the policy.
fn nested(line: &str) -> String {
    line.split(';').next().map(|value| format!("\"{value}\"")).unwrap_or_default()
}
