//! Random policies of each family with data that they fit, or nearly so.

use bosket_model::policy::Model;
use bosket_testkit::dice::Dice;
use serde_json::Value;

use super::Case;
use super::values::{Member, hierarchy, records, some, transactions};

/// A policy as it is written down, section by section.
#[derive(Default)]
struct Draft {
    attributes: String,
    privacy: String,
    method: String,
    publish: String,
}

impl Draft {
    fn attribute(&mut self, path: &str, role: &str, more: &str) {
        self.attributes += &format!("[[attribute]]\npath = \"{path}\"\nrole = \"{role}\"\n{more}\n");
    }

    fn privacy(&mut self, key: &str, value: impl std::fmt::Display) {
        self.privacy += &format!("{key} = {value}\n");
    }

    fn method(&mut self, key: &str, value: impl std::fmt::Display) {
        self.method += &format!("{key} = {value}\n");
    }

    /// One of the words, or what holds without one.
    fn choose(&mut self, dice: &mut Dice, key: &str, words: &[&str]) {
        if dice.one_in(3) {
            self.method(key, format!("\"{}\"", dice.of(words)));
        }
    }

    fn algorithm(&mut self, dice: &mut Dice, model: Model, flat: bool) {
        let fit: Vec<&str> =
            (model.algorithms().into_iter()).filter(|a| flat || !a.needs_flat()).map(|a| a.name()).collect();
        self.method("algorithm", format!("\"{}\"", dice.of(&fit)));
    }

    fn finish(self, format: &str, name: &'static str, out: &str, records: String) -> Case {
        let Draft { attributes, privacy, method, publish } = self;
        let policy = format!(
            "version = 1\n[source]\nformat = \"{format}\"\npath = \"{name}\"\n{attributes}[privacy]\n{privacy}\
             [method]\n{method}[publish]\npath = \"{out}\"\nmapping = \"mapping.csv\"\n{publish}"
        );
        Case { policy, name, records }
    }

    fn finish_json(self, dice: &mut Dice, records: &[Value]) -> Case {
        match dice.one_in(3) {
            true => self.finish("json", "in.json", "out.json", Value::from(records.to_vec()).to_string()),
            false => {
                let lines = records.iter().map(|r| format!("{r}\n")).collect();
                self.finish("ndjson", "in.ndjson", "out.ndjson", lines)
            }
        }
    }
}

/// Mostly what can be reached, now and then more than there are records.
fn k(dice: &mut Dice) -> usize {
    if dice.one_in(20) { 50 } else { 2 + dice.below(2) }
}

fn l(dice: &mut Dice) -> f64 {
    *dice.of(&[1.5, 2.0, 2.5, 3.0])
}

/// Where quasi values of trees may stand.
const QUASI: [&str; 7] = ["r", "o.x", "a[].v", "a[].w", "a[].b[].v", "a[].d[].e.v", "f[]"];

fn quasi(dice: &mut Dice, draft: &mut Draft, paths: &[&'static str], most: usize) -> Vec<Member> {
    let mut paths = paths.to_vec();
    dice.shuffle(&mut paths);
    paths.truncate(1 + dice.below(most));
    for path in &paths {
        draft.attribute(path, "quasi", &format!("hierarchy = {}", hierarchy(dice)));
    }
    paths.into_iter().map(|path| Member { path, secret: false }).collect()
}

fn secrets(dice: &mut Dice, draft: &mut Draft, paths: &[&'static str], least: usize) -> Vec<Member> {
    let mut paths = paths.to_vec();
    dice.shuffle(&mut paths);
    paths.truncate(least + dice.below(paths.len() + 1 - least));
    for (at, path) in paths.iter().enumerate() {
        // What is neither known nor secret is published as it is.
        let plain = at >= least && dice.one_in(3);
        let (role, more) = if plain { ("insensitive", "acknowledge = true") } else { ("sensitive", "") };
        draft.attribute(path, role, more);
    }
    paths.into_iter().map(|path| Member { path, secret: true }).collect()
}

pub(super) fn kmn(dice: &mut Dice) -> Case {
    let mut draft = Draft::default();
    let mut members = quasi(dice, &mut draft, &QUASI, 3);
    let diverse = dice.one_in(4);
    members.extend(secrets(dice, &mut draft, &["s", "a[].s"], usize::from(diverse)));
    let records = records(dice, &members, 9);
    draft.privacy("model", "\"kmn\"");
    draft.privacy("k", k(dice));
    draft.privacy("m", 1 + dice.below(3));
    let n = dice.below(3);
    draft.privacy("n", n);
    let rows = *dice.of(&["distinct", "distinct", "all", "united"]);
    draft.publish += &format!("rows = \"{rows}\"\n");
    let readings: &[&str] =
        if rows == "united" || n < 2 { &["\"pair\"", "\"embedded\""] } else { &["\"embedded\""] };
    draft.privacy("relations", dice.of(readings));
    draft.privacy("root", dice.of(&["\"separate\"", "\"chain\""]));
    draft.privacy("payload", dice.of(&["\"keep\"", "\"keep\"", "\"drop\""]));
    draft.privacy("missing", dice.of(&["\"counted\"", "\"nothing\""]));
    if diverse {
        draft.privacy("l", l(dice));
    }
    if dice.one_in(4) {
        draft.privacy("guard", true);
    }
    if dice.one_in(5) {
        draft.privacy("negative", some(dice));
    }
    draft.algorithm(dice, Model::Kmn, true);
    draft.choose(dice, "cost", &["rpd_a", "rpd", "lm"]);
    if rows == "united" {
        draft.choose(dice, "disassociation", &["value", "subtree", "ancestor", "cheapest"]);
    }
    if dice.one_in(3) {
        draft.method("suppress", dice.one_in(2));
    }
    draft.finish_json(dice, &records)
}

pub(super) fn km(dice: &mut Dice) -> Case {
    let mut draft = Draft::default();
    draft.attribute("item", "quasi", &format!("hierarchy = {}", hierarchy(dice)));
    draft.privacy("model", "\"km\"");
    draft.privacy("k", k(dice));
    draft.privacy("m", 1 + dice.below(3));
    match dice.below(6) {
        0 => draft.privacy("negative", some(dice)),
        1 => {
            draft.privacy("l", l(dice));
            draft.privacy("sensitive", some(dice));
        }
        _ => {}
    }
    draft.algorithm(dice, Model::Km, true);
    if dice.one_in(3) {
        draft.method("suppress", dice.one_in(2));
    }
    let lines = transactions(dice, 10);
    draft.finish("transactions", "in.txt", "out.txt", lines)
}

pub(super) fn cluster(dice: &mut Dice) -> Case {
    let mut draft = Draft::default();
    let flat = dice.one_in(4);
    let diverse = dice.one_in(2);
    let (known, hidden): (&[&str], &[&str]) =
        if flat { (&["r", "o.x", "t"], &["s", "z"]) } else { (&QUASI, &["s", "a[].s", "a[].b[].s"]) };
    let mut members = quasi(dice, &mut draft, known, 3);
    members.extend(secrets(dice, &mut draft, hidden, usize::from(diverse)));
    let records = records(dice, &members, 9);
    let model = if diverse { Model::LDiversity } else { Model::KAnonymity };
    draft.privacy("model", format!("\"{model}\""));
    if diverse {
        draft.privacy("l", l(dice));
        draft.privacy("diversity", dice.of(&["\"frequency\"", "\"entropy\""]));
        draft.privacy("siblings", dice.of(&["\"pooled\"", "\"each\""]));
        if dice.one_in(4) {
            draft.privacy("distinct_everywhere", "[\"A\", \"7\"]");
        }
    }
    if !diverse || dice.one_in(2) {
        draft.privacy("k", k(dice));
    }
    draft.algorithm(dice, model, flat);
    draft.choose(dice, "matching", &["lsap", "grd"]);
    draft.choose(dice, "absent", &["unknown", "no"]);
    if dice.one_in(3) {
        draft.method("suppress_violators", dice.one_in(2));
    }
    if diverse && dice.one_in(48) {
        draft.publish += "anatomize = true\n";
    }
    draft.finish_json(dice, &records)
}
