//! The attackers of a policy, as pages show and change them. They come and go as a whole list; comments above those that stay
//! stay, too.

use bosket_verify::Claim;
use serde_json::{Map, Value as Json};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

use crate::error::{ApiError, Result};
use crate::policy::toml_of;
use crate::shape::shape;

/// Where they stand.
pub(crate) const KEY: &str = "privacy.attacker";

shape! {
    answer
    /// Somebody who may look for a person.
    pub(crate) struct AttackerView {
        name: String,
        knows: Vec<String>,
        m: Option<u32>,
        n: Option<u32>,
        among: Vec<String>,
        k: Option<u32>,
        /// What they find if the claim holds; none while the policy has errors.
        sentence: Option<String>,
    }
}

/// The attackers, also of a policy with errors, so that it can be mended.
pub(crate) fn of(document: &DocumentMut, claim: Option<&Claim>) -> Vec<AttackerView> {
    let all = document.get("privacy").and_then(Item::as_table_like).and_then(|table| table.get("attacker"));
    let written = all.and_then(Item::as_array_of_tables).into_iter().flatten();
    let written = written.map(|table| table as &dyn TableLike);
    let inline = all.and_then(Item::as_array).into_iter().flatten();
    let inline = inline.filter_map(|value| Some(value.as_inline_table()? as &dyn TableLike));
    written.chain(inline).map(|table| view(table, claim)).collect()
}

fn view(table: &dyn TableLike, claim: Option<&Claim>) -> AttackerView {
    let list = |key: &str| {
        let items = table.get(key).and_then(Item::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let number = |key: &str| table.get(key).and_then(Item::as_integer).and_then(|n| n.try_into().ok());
    let name = table.get("name").and_then(Item::as_str).unwrap_or_default().to_owned();
    AttackerView {
        knows: list("knows"),
        m: number("m"),
        n: number("n"),
        among: list("among"),
        k: number("k"),
        sentence: claim.and_then(|claim| claim.sentence_about(&name)),
        name,
    }
}

/// Writes these attackers and no others.
pub(crate) fn write(privacy: &mut dyn TableLike, told: Option<&Json>) -> Result<()> {
    let told = match told {
        None => Vec::new(),
        Some(Json::Array(all)) => all.iter().map(keys).collect::<Result<Vec<_>>>()?,
        Some(_) => return Err(ApiError::bad("attackers are a list")),
    };
    if told.is_empty() {
        privacy.remove("attacker");
        return Ok(());
    }
    match privacy.get("attacker") {
        // Somebody has written them into a line; there they stay.
        Some(Item::Value(_)) => {
            let all = Json::Array(told.into_iter().cloned().map(Json::Object).collect());
            privacy.insert("attacker", Item::Value(toml_of(&all)?));
        }
        before => {
            let before = before.and_then(Item::as_array_of_tables).cloned().unwrap_or_default();
            privacy.insert("attacker", Item::ArrayOfTables(tables(&before, &told)?));
        }
    }
    Ok(())
}

fn keys(attacker: &Json) -> Result<&Map<String, Json>> {
    attacker.as_object().ok_or_else(|| ApiError::bad("an attacker is a table"))
}

/// Each in the table that it had, with the comment above that; of as many as before, who has a new name stands where they stood.
fn tables(before: &ArrayOfTables, told: &[&Map<String, Json>]) -> Result<ArrayOfTables> {
    let name_of = |table: &Table| table.get("name").and_then(Item::as_str).map(str::to_owned);
    let mut all = ArrayOfTables::new();
    for (at, keys) in told.iter().enumerate() {
        let name = keys.get("name").and_then(Json::as_str).map(str::to_owned);
        let own = before.iter().find(|table| name_of(table) == name);
        let renamed = || before.get(at).filter(|_| before.len() == told.len());
        let mut table = own.or_else(renamed).cloned().unwrap_or_else(Table::new);
        let gone: Vec<String> =
            table.iter().map(|(key, _)| key.to_owned()).filter(|key| !keys.contains_key(key)).collect();
        gone.iter().for_each(|key| drop(table.remove(key)));
        for (key, value) in *keys {
            crate::policy::put(&mut table, key, value)?;
        }
        all.push(table);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "[privacy]\nmodel = \"kmn\"\nk = 5\n\n# Lives next door.\n[[privacy.attacker]]\nname = \"neighbour\"\n\
                        knows = [\"a\"] # all\nm = 1\n\n# Works there.\n[[privacy.attacker]]\nname = \"colleague\"\nm = 2\n\n\
                        # How.\n[method]\ncost = \"lm\"\n";

    fn written(text: &str, told: Json) -> String {
        let mut document: DocumentMut = text.parse().expect("TOML");
        let privacy = document.get_mut("privacy").and_then(Item::as_table_like_mut).expect("there");
        write(privacy, Some(&told)).expect("written");
        document.to_string()
    }

    #[test]
    fn what_is_not_changed_stays_as_it_is_written() {
        let same = json!([{"name": "neighbour", "knows": ["a"], "m": 1}, {"name": "colleague", "m": 2}]);
        assert_eq!(written(TEXT, same), TEXT);
    }

    #[test]
    fn one_is_changed_renamed_deleted_and_added() {
        let changed = json!([{"name": "neighbour", "knows": ["a", "b"], "m": 2}, {"name": "colleague", "m": 2, "n": 1}]);
        let text = written(TEXT, changed);
        assert!(text.contains("knows = [\"a\", \"b\"] # all\nm = 2\n"), "{text}");
        assert!(text.contains("m = 2\nn = 1\n\n# How."), "{text}");
        let renamed = json!([{"name": "neighbour", "knows": ["a"], "m": 1}, {"name": "insurer", "m": 2}]);
        assert_eq!(written(TEXT, renamed), TEXT.replace("colleague", "insurer"));
        let text = written(TEXT, json!([{"name": "colleague", "m": 2}]));
        assert!(
            !text.contains("next door") && text.contains("# Works there.\n[[privacy.attacker]]"),
            "{text}"
        );
        let added = json!([{"name": "neighbour", "knows": ["a"], "m": 1}, {"name": "colleague", "m": 2}, {"name": "friend", "m": 3}]);
        let text = written(TEXT, added);
        let (before, after) = text.split_once("name = \"friend\"").expect("added");
        assert!(before.ends_with("\n[[privacy.attacker]]\n") && after.contains("# How.\n[method]"), "{text}");
        assert!(before.find("colleague") < before.rfind("[[privacy.attacker]]"), "{text}");
        assert!(!written(TEXT, json!([])).contains("attacker"));
    }

    #[test]
    fn the_first_one_stands_below_the_guarantee() {
        let text = written("[privacy]\nk = 5\n\n[method]\ncost = \"lm\"\n", json!([{"name": "a", "m": 1}]));
        assert_eq!(
            text,
            "[privacy]\nk = 5\n\n[[privacy.attacker]]\nname = \"a\"\nm = 1\n\n[method]\ncost = \"lm\"\n"
        );
    }

    #[test]
    fn in_a_line_they_are_shown_and_changed_too() {
        let text = "[privacy]\nattacker = [{ name = 'a', knows = ['x'], m = 1 }]\n";
        let shown = of(&text.parse().expect("TOML"), None);
        assert_eq!((shown[0].name.as_str(), shown[0].m), ("a", Some(1)));
        assert!(
            written(text, json!([{"name": "a", "m": 2}])).contains("attacker = [{ name = \"a\", m = 2 }]")
        );
    }
}
