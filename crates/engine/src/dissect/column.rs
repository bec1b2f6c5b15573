//! One sensitive attribute, ready to be grouped.

use bosket_model::dissected::SensitiveValues;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

/// A sensitive attribute with its hierarchy, where it has one.
#[derive(Clone, Copy, Debug)]
pub struct Sensitive<'a> {
    /// Its values, per record.
    pub values: &'a SensitiveValues,
    /// Where they stand; inner nodes stand for themselves.
    pub hierarchy: Option<&'a Hierarchy>,
}

/// Which values may not meet in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Equal ones.
    Values,
    /// Those below one node of this depth; higher values only meet themselves.
    Depth(u32),
}

/// A sensitive attribute with what has been found out about its values.
pub(super) struct Column<'a> {
    pub(super) path: &'a str,
    pub(super) values: &'a SensitiveValues,
    pub(super) hierarchy: Option<&'a Hierarchy>,
    /// Per code its node.
    pub(super) nodes: Vec<NodeId>,
    /// Per code its place among all values by text: codes depend on the order of the records.
    rank: Vec<u32>,
    /// The depth of the shallowest value that occurs.
    pub(super) shallowest: u32,
}

impl<'a> Column<'a> {
    pub(super) fn new(given: Sensitive<'a>, needs_nodes: bool) -> Result<Self> {
        let Sensitive { values, hierarchy } = given;
        let texts = || values.values.iter().map(|(_, text)| text);
        let mut order: Vec<u32> = (0..values.values.len() as u32).collect();
        order.sort_unstable_by_key(|&c| (values.values.text(c), values.values.kind(c)));
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &code)| rank[code as usize] = at as u32);
        let mut nodes = Vec::new();
        if let Some(hierarchy) = hierarchy {
            nodes.extend(texts().map_while(|text| hierarchy.node(text)));
        }
        if nodes.len() < order.len() && (needs_nodes || hierarchy.is_some()) {
            let what = "a sensitive value is in no hierarchy, so its distance from others is not known";
            let what = Diagnostic::error(what).at(Place::default().path(&values.path));
            return Err(Failure::new(
                Fault::Policy,
                what.help("give the attribute a hierarchy that covers it"),
            ));
        }
        let depths = nodes.iter().filter_map(|&n| hierarchy.map(|h| h.depth(n)));
        let shallowest = depths.min().unwrap_or(0);
        Ok(Column { path: &values.path, values, hierarchy, nodes, rank, shallowest })
    }

    /// Per code a number that those have in common which may not meet, and how many numbers there could be.
    pub(super) fn buckets(&self, level: Level) -> (Vec<u32>, usize) {
        match (level, self.hierarchy) {
            (Level::Depth(depth), Some(hierarchy)) => {
                let above = |&node: &NodeId| {
                    let mut node = node;
                    while hierarchy.depth(node) > depth {
                        let Some(parent) = hierarchy.parent(node) else { break };
                        node = parent;
                    }
                    node.0
                };
                (self.nodes.iter().map(above).collect(), hierarchy.len())
            }
            // Texts of one node are spellings of one value.
            (Level::Values, Some(hierarchy)) => (self.nodes.iter().map(|n| n.0).collect(), hierarchy.len()),
            _ => (self.rank.clone(), self.rank.len()),
        }
    }

    /// What a bucket is called: a label of the hierarchy, or a value of the data.
    pub(super) fn label(&self, bucket: u32) -> Option<String> {
        match self.hierarchy {
            Some(hierarchy) => Some(hierarchy.label(NodeId(bucket)).to_owned()),
            None => {
                let code = self.rank.iter().position(|&r| r == bucket)?;
                Some(self.values.values.text(code as u32).to_owned())
            }
        }
    }
}
