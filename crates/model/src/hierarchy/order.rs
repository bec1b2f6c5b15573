//! Groups that the policy spells out.

use rustc_hash::FxHashSet;

use super::spec::Group;
use super::tree::{Hierarchy, ROOT_LABEL};
use super::tree_builder::{Handle, TreeBuilder};
use crate::diag::Diagnostic;

/// Builds the hierarchy. A group without a label is called `first..last` after its values; a value that is named like
/// the group around it is that group occurring as data.
pub fn order(groups: &[Group]) -> Result<Hierarchy, Vec<Diagnostic>> {
    let mut planter =
        Planter { builder: TreeBuilder::new(), values: FxHashSet::default(), problems: Vec::new() };
    if groups.is_empty() {
        planter.complain("there are no groups", "list the values, and groups of values");
    }
    planter.members(TreeBuilder::ROOT, groups);
    if planter.problems.is_empty() { Ok(planter.builder.finish()) } else { Err(planter.problems) }
}

struct Planter {
    builder: TreeBuilder,
    values: FxHashSet<Handle>,
    problems: Vec<Diagnostic>,
}

impl Planter {
    fn complain(&mut self, message: impl Into<String>, help: &str) {
        self.problems.push(Diagnostic::error(message).help(help));
    }

    fn members(&mut self, parent: Handle, members: &[Group]) {
        for member in members {
            match member {
                Group::Value(value) => self.value(parent, value),
                Group::Group { label, members } => self.group(parent, label.as_deref(), members),
            }
        }
    }

    fn value(&mut self, parent: Handle, value: &str) {
        match self.builder.child(parent, value) {
            Ok(node) if self.values.insert(node) => self.builder.mark_data(node),
            Err(node) if !self.values.contains(&node) => {
                let message = format!("the value `{value}` is named like a group that it is not directly in");
                self.complain(message, "give the group another label, or move the value into it");
            }
            Ok(_) | Err(_) => {
                self.complain(format!("the value `{value}` is listed twice"), "keep it in one group");
            }
        }
    }

    fn group(&mut self, parent: Handle, label: Option<&str>, members: &[Group]) {
        let Some((first, last)) = ends(members) else {
            let name = label.map_or_else(|| "a group".to_owned(), |l| format!("the group `{l}`"));
            self.complain(format!("{name} has no values"), "list its values, or leave it out");
            return;
        };
        let label = match label {
            Some(given) => given.to_owned(),
            None if first == last => first.to_owned(),
            None => format!("{first}..{last}"),
        };
        if label.is_empty() || label == ROOT_LABEL {
            let message = format!("`{label}` cannot be the label of a group");
            self.complain(message, "`*` is the root's label; give another one");
            return;
        }
        let planted = self.builder.len();
        let node = self.builder.place(parent, &label);
        if node.index() < planted && node != parent {
            let message = format!("the label `{label}` is already that of another group or value");
            self.complain(message, "give each group a label of its own");
            return;
        }
        self.members(node, members);
    }
}

/// The first and the last value in a group.
fn ends(members: &[Group]) -> Option<(&str, &str)> {
    Some((members.iter().find_map(first)?, members.iter().rev().find_map(last)?))
}

fn first(group: &Group) -> Option<&str> {
    match group {
        Group::Value(value) => Some(value),
        Group::Group { members, .. } => members.iter().find_map(first),
    }
}

fn last(group: &Group) -> Option<&str> {
    match group {
        Group::Value(value) => Some(value),
        Group::Group { members, .. } => members.iter().rev().find_map(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Group {
        Group::Value(text.to_owned())
    }

    fn group(label: Option<&str>, members: Vec<Group>) -> Group {
        Group::Group { label: label.map(str::to_owned), members }
    }

    fn labels(groups: &[Group]) -> Vec<String> {
        let h = order(groups).unwrap_or_else(|d| panic!("{d:?}"));
        h.nodes().map(|n| h.label(n).to_owned()).collect()
    }

    fn messages(groups: &[Group]) -> Vec<String> {
        order(groups).expect_err("wrong").into_iter().map(|d| d.message).collect()
    }

    #[test]
    fn nested_groups_with_and_without_labels() {
        let low = group(None, vec![value("none"), value("school")]);
        let high = group(Some("degree"), vec![value("BSc"), group(None, vec![value("MSc"), value("PhD")])]);
        let all = group(None, vec![low, high]);
        let expected = [
            "*",
            "none..PhD",
            "none..school",
            "none",
            "school",
            "degree",
            "BSc",
            "MSc..PhD",
            "MSc",
            "PhD",
            "?",
        ];
        assert_eq!(labels(&[all, value("?")]), expected);
    }

    #[test]
    fn a_group_of_one_is_its_value() {
        assert_eq!(labels(&[group(None, vec![value("a")]), value("b")]), ["*", "a", "b"]);
    }

    #[test]
    fn a_value_named_like_its_group() {
        let x = group(Some("x"), vec![value("x"), value("y")]);
        assert_eq!(labels(&[x]), ["*", "x", "x (unspecified)", "y"]);
    }

    #[test]
    fn all_problems_are_told() {
        let groups = [
            group(Some("A"), vec![value("a"), value("b")]),
            group(Some("A"), vec![value("c")]),
            group(Some("B"), vec![value("a"), value("A")]),
            group(Some("E"), vec![group(None, vec![])]),
            group(Some("*"), vec![value("z")]),
        ];
        let expected = [
            "the label `A` is already that of another group or value",
            "the value `a` is listed twice",
            "the value `A` is named like a group that it is not directly in",
            "the group `E` has no values",
            "`*` cannot be the label of a group",
        ];
        assert_eq!(messages(&groups), expected);
        assert_eq!(messages(&[]), ["there are no groups"]);
    }

    #[test]
    fn a_later_group_cannot_take_the_name_of_a_value() {
        let groups = [value("x"), group(Some("x"), vec![value("a"), value("b")])];
        assert_eq!(messages(&groups), ["the label `x` is already that of another group or value"]);
    }
}
