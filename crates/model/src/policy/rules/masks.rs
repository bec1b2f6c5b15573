//! Whether dates can be shifted and pseudonyms be given where the policy asks for it.

use super::{Attribute, selection::is_nested};
use crate::policy::check::{key_span, model};
use crate::policy::choices::{Format, Role};
use crate::policy::node::{Node, Report, Span};

/// Reports what is wrong with shifted dates and pseudonyms.
pub(super) fn check(root: &Node, attributes: &[Attribute<'_>], report: &mut Report) {
    let shifted = attributes.iter().filter(|a| a.node.get("shift").is_some());
    shifted.clone().for_each(|attribute| shift(attribute, report));
    let days = |a: &&Attribute<'_>| a.node.get("shift").and_then(|s| s.get("days")).and_then(Node::int);
    let first = shifted.clone().find_map(|a| days(&a));
    for other in shifted.clone().filter(|a| days(a).is_some() && days(a) != first) {
        let help = "a person's dates are all shifted by the same number of days, so that intervals stay";
        report.error(key_span(other.node, "shift"), "another bound than that of the dates before", help);
    }
    let pseudonyms = attributes.iter().filter(|a| a.role == Some(Role::Pseudonym));
    for attribute in pseudonyms.clone() {
        pseudonym(root, attribute, attributes, report);
    }
    if two_sides(root) {
        let at = |a: &Attribute<'_>, key: &str| key_span(a.node, key).clone();
        let places: Vec<Span> =
            shifted.map(|a| at(a, "shift")).chain(pseudonyms.map(|a| at(a, "role"))).collect();
        for place in places {
            let help =
                "nobody could check afterwards whether it is true; publish whole records, or leave it out";
            report.error(&place, "not where the sides of a record are published apart", help);
        }
    }
}

fn shift(attribute: &Attribute<'_>, report: &mut Report) {
    let at = key_span(attribute.node, "shift");
    match attribute.role {
        Some(Role::Quasi) => {
            let help = "give it a hierarchy of dates, or make it sensitive or insensitive";
            let message = "`shift` cannot protect a quasi attribute: the guarantee is counted on its labels";
            report.error(at, message, help);
        }
        Some(Role::Sensitive | Role::Insensitive) | None => {}
        Some(role) => {
            let message = format!("`shift` has no effect on an attribute with role \"{role}\"");
            report.error(at, message, "it belongs to role sensitive, insensitive");
        }
    }
    if attribute.follows.is_some() {
        let help = "shift the attribute that it follows as well, and let it follow none";
        report.error(at, "`shift` does not go with `follows`", help);
    }
}

fn pseudonym(root: &Node, own: &Attribute<'_>, attributes: &[Attribute<'_>], report: &mut Report) {
    let Some(path) = own.path else { return };
    let Some(source) = root.get("source") else { return };
    let format = source.str("format").and_then(Format::from_name);
    if format == Some(Format::Transactions) || is_nested(path, source) {
        let help = "a pseudonym stands for the person, once, at the top of the record";
        report.error(own.path_span(), format!("a person may have several values of `{path}`"), help);
    }
    for follower in attributes.iter().filter(|a| a.follows == Some(path)).chain(own.follows.map(|_| own)) {
        let help = "what says the same in other words would tell what the pseudonym hides; drop it";
        report.error(key_span(follower.node, "follows"), "`follows` does not go with a pseudonym", help);
    }
}

fn two_sides(root: &Node) -> bool {
    let anatomize = root.get("publish").and_then(|p| p.get("anatomize")).and_then(Node::bool);
    model(root).is_some_and(|m| m.is_apart() || (m.makes_clusters() && anatomize == Some(true)))
}
