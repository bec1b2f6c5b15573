//! Hierarchies that are CSV files: labels are renamed and nodes moved, the file is rewritten whole or not at all, and never
//! over somebody else's change.

use std::path::PathBuf;

use axum::http::StatusCode;
use bosket_model::hierarchy::{Hierarchy, HierarchySpec, NodeId, ROOT_LABEL, TreeBuilder, csv};
use bosket_model::policy::Policy;
use bosket_model::{Failure, Fault};

use crate::error::{ApiError, Result};
use crate::folder::Folder;
use crate::policy::{files, is_policy_name, version, write};
use crate::shape::shape;

shape! {
    answer
    /// A hierarchy file as pages need it.
    pub(crate) struct HierarchyView {
        path: String,
        /// What an edit has to name, so that it does not undo another.
        version: String,
        /// The edit that takes the last one back.
        undo: Option<TreeEdit>,
    }
}

shape! {
    either ""
    /// A change of the tree.
    #[derive(serde::Serialize)]
    pub(crate) enum TreeEdit {
        /// Another label for an inner node.
        Rename { label: String, to: String },
        /// Another place for a node with all below it.
        Move { label: String, under: String },
    }
}

/// The file that a policy names for an attribute.
fn file(folder: &Folder, policy: &str, attribute: &str) -> Result<PathBuf> {
    let real = folder.find_policy(policy)?;
    let text = folder.read_text(&real)?;
    let parsed = Policy::parse(policy, &text, &[]);
    let (parsed, _) = parsed.map_err(|errors| ApiError::from(Failure::all(Fault::Policy, errors)))?;
    let own = parsed.attribute(attribute).and_then(|attribute| attribute.hierarchy.as_ref());
    match own {
        Some(HierarchySpec::File(path)) => {
            let from = real.parent().unwrap_or(folder.root());
            let file = folder.find_from(from, path)?;
            // A table looks like a hierarchy; nobody wants to see it rewritten.
            let data =
                files(&text).iter().any(|other| folder.find_from(from, other).is_ok_and(|it| it == file));
            if data || is_policy_name(&file) {
                return Err(ApiError::bad("this file is data of the policy, not only a hierarchy"));
            }
            Ok(file)
        }
        _ => Err(ApiError::missing("the hierarchy of this attribute is no file")),
    }
}

pub(crate) fn view(folder: &Folder, policy: &str, attribute: &str) -> Result<HierarchyView> {
    let real = file(folder, policy, attribute)?;
    let text = folder.read_long_text(&real)?;
    Ok(HierarchyView { path: folder.name(&real), version: version(&text), undo: None })
}

/// Changes the tree, if it is still the one that was looked at.
pub(crate) fn edit(
    folder: &Folder,
    (policy, attribute): (&str, &str),
    before: &str,
    edit: &TreeEdit,
) -> Result<HierarchyView> {
    let real = file(folder, policy, attribute)?;
    let text = folder.read_long_text(&real)?;
    if version(&text) != before {
        let what = "somebody else changed this hierarchy in the meantime: load it again";
        return Err(ApiError::new(StatusCode::CONFLICT, what));
    }
    let path = folder.name(&real);
    let tree = csv::parse(&path, &text).map_err(|errors| Failure::all(Fault::Data, errors))?;
    let (changed, undo) = changed(&tree, edit)?;
    let text = csv::write(&changed);
    write(&real, &text)?;
    Ok(HierarchyView { path, version: version(&text), undo: Some(undo) })
}

fn changed(tree: &Hierarchy, edit: &TreeEdit) -> Result<(Hierarchy, TreeEdit)> {
    let find = |label: &str| {
        let node = tree.node(label).filter(|&node| tree.label(node) == label);
        node.ok_or_else(|| ApiError::missing("no node has this label"))
    };
    match edit {
        TreeEdit::Rename { label, to } => {
            let node = find(label)?;
            if node == NodeId::ROOT || tree.is_leaf(node) || tree.own_leaf(node).is_some() {
                return Err(ApiError::bad(
                    "only labels above values can be renamed: a value is what the data says",
                ));
            }
            let to = to.trim();
            if to.is_empty() || to == ROOT_LABEL || tree.node(to).is_some() {
                return Err(ApiError::bad("the new label is empty, or another node has it"));
            }
            let changed = planted(tree, Some((node, to)), None);
            Ok((changed, TreeEdit::Rename { label: to.to_owned(), to: label.clone() }))
        }
        TreeEdit::Move { label, under } => {
            let (node, under) = (find(label)?, find(under)?);
            let Some(parent) = tree.parent(node) else {
                return Err(ApiError::bad("the root stays where it is"));
            };
            if tree.own_leaf(parent) == Some(node) {
                return Err(ApiError::bad("this value belongs to the label above it"));
            }
            if tree.is_ancestor_or_self(node, under) {
                return Err(ApiError::bad("a node cannot stand below itself"));
            }
            if tree.is_leaf(under) {
                return Err(ApiError::bad("a value cannot have others below it"));
            }
            if parent != under && tree.children(parent).count() == 1 {
                return Err(ApiError::bad("nothing would be left below its label: move that label instead"));
            }
            let changed = planted(tree, None, Some((node, under)));
            Ok((changed, TreeEdit::Move { label: label.clone(), under: tree.label(parent).to_owned() }))
        }
    }
}

/// The tree with another label or another place for a node.
fn planted(tree: &Hierarchy, renamed: Option<(NodeId, &str)>, moved: Option<(NodeId, NodeId)>) -> Hierarchy {
    let mut builder = TreeBuilder::new();
    let mut open = vec![(NodeId::ROOT, TreeBuilder::ROOT)];
    // Depth first, children in their order: what is taken from the end of the list is planted first.
    while let Some((node, at)) = open.pop() {
        let mut below: Vec<NodeId> =
            tree.children(node).filter(|&child| moved.is_none_or(|(moved, _)| moved != child)).collect();
        below.extend(moved.filter(|&(_, under)| under == node).map(|(moved, _)| moved));
        let label = |child: NodeId| match renamed {
            Some((node, to)) if node == child => to,
            _ => tree.label(child),
        };
        let planted: Vec<_> = below.iter().map(|&child| (child, builder.place(at, label(child)))).collect();
        open.extend(planted.into_iter().rev());
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Hierarchy {
        csv::parse("h.csv", text).expect("a tree")
    }

    fn renamed(label: &str, to: &str) -> TreeEdit {
        TreeEdit::Rename { label: label.to_owned(), to: to.to_owned() }
    }

    fn moved(label: &str, under: &str) -> TreeEdit {
        TreeEdit::Move { label: label.to_owned(), under: under.to_owned() }
    }

    const TEXT: &str = "a;A;*\nb;A;*\nc;B;*\nd;B;*\n";

    #[test]
    fn a_label_is_renamed_and_a_node_moved_and_both_taken_back() {
        let before = tree(TEXT);
        let (named, undo) = changed(&before, &renamed("A", "first; ones")).expect("renamed");
        assert_eq!(csv::write(&named), "a;\"first; ones\";*\nb;\"first; ones\";*\nc;B;*\nd;B;*\n");
        assert_eq!(csv::write(&changed(&named, &undo).expect("taken back").0), TEXT);
        let (elsewhere, undo) = changed(&before, &moved("b", "B")).expect("moved");
        assert_eq!(csv::write(&elsewhere), "a;A;*\nc;B;*\nd;B;*\nb;B;*\n");
        assert_eq!(csv::write(&changed(&elsewhere, &undo).expect("taken back").0), TEXT);
        let (below, _) = changed(&before, &moved("B", "A")).expect("moved");
        assert_eq!(csv::write(&below), "a;A;*\nb;A;*\nc;B;A;*\nd;B;A;*\n");
    }

    #[test]
    fn what_would_lose_a_value_is_refused() {
        let before = tree("a;A;*\nb;A;*\nc;B;*\nA;A;*\n");
        let wrong = [
            renamed("a", "x"),
            renamed("*", "x"),
            renamed("B", "A"),
            renamed("B", " "),
            renamed("A", "x"),
            renamed("none", "x"),
            moved("A", "A"),
            moved("*", "A"),
            moved("a", "b"),
            moved("c", "A"),
            moved("A (unspecified)", "B"),
        ];
        for edit in &wrong {
            assert!(changed(&before, edit).is_err());
        }
    }
}
