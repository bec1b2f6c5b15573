//! Random records as JSON, and random hierarchies as builders that a policy spells out.

use bosket_testkit::dice::Dice;
use serde_json::{Map, Value, json};

/// Values of quasi attributes. Numbers are sometimes written as text.
const DOMAIN: [&str; 5] = ["1", "2", "p", "q", "r"];
/// Values of sensitive attributes.
const SECRETS: [&str; 5] = ["A", "B", "C", "D", "7"];

/// A hierarchy of all values of the domain.
pub(super) fn hierarchy(dice: &mut Dice) -> String {
    let mut values: Vec<String> = DOMAIN.iter().map(|v| format!("\"{v}\"")).collect();
    dice.shuffle(&mut values);
    let mut groups: Vec<String> = values;
    for number in 0..dice.below(3) {
        let from = dice.below(groups.len() - 1);
        let to = (from + 2 + dice.below(2)).min(groups.len());
        let joined = groups[from..to].join(", ");
        // A group of all is the root under another name.
        if to - from < groups.len() {
            let group = format!("{{ label = \"g{number}\", values = [{joined}] }}");
            groups.splice(from..to, [group]);
        }
    }
    format!("{{ build = \"order\", groups = [{}] }}", groups.join(", "))
}

/// How an attribute's values are thrown.
pub(super) struct Member {
    /// Keys from the record down; `[]` after one marks what occurs many times.
    pub(super) path: &'static str,
    /// Whether it is sensitive.
    pub(super) secret: bool,
}

/// Records with these attributes; many are copies of others, whole or with one value thrown anew.
pub(super) fn records(dice: &mut Dice, members: &[Member], most: usize) -> Vec<Value> {
    let paths: Vec<(Vec<&str>, bool)> =
        members.iter().map(|m| (m.path.split('.').collect(), m.secret)).collect();
    let mut all: Vec<Value> = Vec::new();
    for _ in 0..number(dice, most) {
        if all.is_empty() || dice.one_in(3) {
            let borrowed: Vec<(&[&str], bool)> = paths.iter().map(|(p, s)| (p.as_slice(), *s)).collect();
            all.push(object(dice, &borrowed));
        } else {
            let mut copy = dice.of(&all).clone();
            if dice.one_in(2) {
                disturb(dice, &mut copy);
            }
            all.push(copy);
        }
    }
    all
}

/// Mostly enough to publish something, now and then none or one.
pub(super) fn number(dice: &mut Dice, most: usize) -> usize {
    if dice.one_in(8) { dice.below(3) } else { 3 + dice.below(most - 2) }
}

fn scalar(dice: &mut Dice, secret: bool) -> Value {
    let text = *dice.of(if secret { &SECRETS } else { &DOMAIN });
    match text.parse::<i64>() {
        Ok(number) if dice.one_in(2) => json!(number),
        _ => json!(text),
    }
}

/// What stands under a key follows from the paths that go through it.
fn object(dice: &mut Dice, paths: &[(&[&str], bool)]) -> Value {
    let mut fields = Map::new();
    for (path, _) in paths {
        let key = path[0];
        let name = key.trim_end_matches("[]");
        if fields.contains_key(name) || dice.one_in(6) {
            continue;
        }
        let below: Vec<(&[&str], bool)> =
            paths.iter().filter(|(p, _)| p[0] == key).map(|(p, s)| (&p[1..], *s)).collect();
        let one = |dice: &mut Dice| match below[0].0 {
            [] => scalar(dice, below[0].1),
            _ => object(dice, &below),
        };
        let value = match key.ends_with("[]") {
            _ if dice.one_in(12) => Value::Null,
            true => {
                let mut elements: Vec<Value> = (0..dice.below(3)).map(|_| one(dice)).collect();
                // Equal siblings, and vertices without values.
                if dice.one_in(4) {
                    elements.extend(elements.first().cloned());
                }
                if dice.one_in(6) && !below[0].0.is_empty() {
                    elements.push(json!({}));
                }
                Value::Array(elements)
            }
            false => one(dice),
        };
        fields.insert(name.to_owned(), value);
    }
    Value::Object(fields)
}

/// Throws a value anew or takes something out, somewhere.
fn disturb(dice: &mut Dice, value: &mut Value) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let at = dice.below(fields.len());
            let key = fields.keys().nth(at).cloned().unwrap_or_default();
            match dice.one_in(5) {
                true => _ = fields.remove(&key),
                false => fields.get_mut(&key).into_iter().for_each(|below| disturb(dice, below)),
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            let at = dice.below(elements.len());
            match dice.one_in(5) {
                true => _ = elements.remove(at),
                false => disturb(dice, &mut elements[at]),
            }
        }
        Value::String(text) => {
            let secret = SECRETS.contains(&text.as_str());
            *value = scalar(dice, secret);
        }
        _ => {}
    }
}

/// Transactions over the domain: none, empty, with items twice, and copies.
pub(super) fn transactions(dice: &mut Dice, most: usize) -> String {
    let mut all: Vec<String> = Vec::new();
    for _ in 0..number(dice, most) {
        let items: Vec<&str> = (0..dice.below(5)).map(|_| *dice.of(&DOMAIN)).collect();
        let copy = !all.is_empty() && dice.one_in(2);
        all.push(if copy { dice.of(&all).clone() } else { items.join(" ") + "\n" });
    }
    all.concat()
}

/// Some values of the domain, as a list of TOML.
pub(super) fn some(dice: &mut Dice) -> String {
    let mut some: Vec<String> = DOMAIN.iter().map(|value| format!("\"{value}\"")).collect();
    dice.shuffle(&mut some);
    some.truncate(1 + dice.below(3));
    format!("[{}]", some.join(", "))
}
