//! What published groups of values stand for, as the certificate says it.

use std::fmt::Write as _;

use serde_json::Value;

use super::text::{count, escape};

/// The table; nothing where no group was made of the data.
pub(super) fn section(legend: &Value) -> String {
    let Some(attributes) = legend.as_array().filter(|all| !all.is_empty()) else { return String::new() };
    let mut out = String::from(
        "<h2>What groups stand for</h2>\n<div class=\"scroll\"><table><thead><tr><th>attribute</th><th>published as</th>\
         <th>stands for</th></tr></thead><tbody>",
    );
    for attribute in attributes {
        let path = attribute["path"].as_str().unwrap_or_default();
        for group in attribute["groups"].as_array().into_iter().flatten() {
            let values = group["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let mut values: Vec<String> = values.map(escape).collect();
            match group["others"].as_u64() {
                None | Some(0) => {}
                Some(1) => values.push("one value of a few people".to_owned()),
                Some(others) => {
                    values.push(format!("{} values of a few people each", count(others as usize)))
                }
            }
            let label = escape(group["label"].as_str().unwrap_or_default());
            let (path, values) = (escape(path), values.join(", "));
            let _ = write!(out, "<tr><td>{path}</td><td>{label}</td><td>{values}</td></tr>");
        }
    }
    out.push_str(
        "</tbody></table></div>\n<p class=\"soft\">These groups were made of the data, and their names say nothing. Values that \
         fewer people have than the guarantee asks for are counted, not named.</p>\n",
    );
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn groups_are_told_with_their_values() {
        let legend = json!([{"path": "town", "groups": [
            {"label": "group-1.1", "values": ["Ulm", "<Bonn>"], "others": 2}]}]);
        let html = super::section(&legend);
        assert!(html.contains(
            "<td>town</td><td>group-1.1</td><td>Ulm, &lt;Bonn&gt;, 2 values of a few people each</td>"
        ));
        assert!(super::section(&serde_json::Value::Null).is_empty());
    }
}
