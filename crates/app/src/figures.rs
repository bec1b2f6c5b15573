//! What a run tells about itself in numbers, one form per family.

use bosket_verify::dissect::Distances;
use serde_json::{Map, Value, json};

/// The figures of a run.
#[derive(Clone, Debug)]
pub enum Figures {
    /// Trees by k^(m,n)-anonymity.
    Kmn(KmnFigures),
    /// Sets by k^m-anonymity.
    Km(KmFigures),
    /// Clusters of records.
    Clusters(ClusterFigures),
    /// Dissected data.
    Dissected(DissectedFigures),
}

/// What generalizing trees took.
#[derive(Clone, Debug)]
pub struct KmnFigures {
    /// Which search found the solution.
    pub route: String,
    /// Cuts that were looked at.
    pub cuts_examined: u64,
    /// What the search minimised by.
    pub cost: f64,
    /// The relative path difference of the cut.
    pub rpd: f64,
    /// Values with labels of their own, finer than the cut; where there are any, less is lost than its figure says.
    pub values_lowered: usize,
    /// Whether the cut leaves rows of which nothing is left and that are not published; where there are any, more is lost than its
    /// figure says.
    pub rows_silent: bool,
    /// Kinds of relation that were taken apart.
    pub disassociations: usize,
    /// People of whom no quasi value is published.
    pub people_emptied: usize,
}

/// What generalizing sets took.
#[derive(Clone, Debug)]
pub struct KmFigures {
    /// The algorithm as policies spell it.
    pub algorithm: String,
    /// The normalized certainty penalty.
    pub ncp: f64,
    /// Parts with a cut of their own.
    pub parts: usize,
    /// Itemsets that were too rare.
    pub itemsets_repaired: u64,
    /// Items that are left out everywhere.
    pub items_left_out: usize,
    /// How often these occurred.
    pub occurrences_left_out: u64,
}

/// What clustering took.
#[derive(Clone, Debug)]
pub struct ClusterFigures {
    /// The algorithm as policies spell it.
    pub algorithm: String,
    /// The loss metric.
    pub lm: f64,
    /// Clusters.
    pub clusters: usize,
    /// Records of the smallest one.
    pub smallest: usize,
    /// Records of the largest one.
    pub largest: usize,
    /// Records that fit nowhere.
    pub suppressed: usize,
    /// Vertices of the others that were left out.
    pub pruned: u64,
    /// Cells that records were clustered in, each for itself.
    pub cells: usize,
    /// Groups and sensitive values, where these are published apart.
    pub apart: Option<(usize, usize)>,
}

/// What dissecting took.
#[derive(Clone, Debug, Default)]
pub struct DissectedFigures {
    /// Groups.
    pub groups: u64,
    /// Values on the sensitive side.
    pub sensitive_values: u64,
    /// Records that fit into no group.
    pub suppressed: usize,
    /// Groups in which one person has more than its share of the values.
    pub telling_groups: usize,
    /// Per sensitive path how far the values of a group are apart.
    pub degrees: Vec<(String, Distances)>,
}

impl Figures {
    /// The figures for programs.
    pub fn to_json(&self) -> Value {
        match self {
            Figures::Kmn(f) => json!({
                "route": f.route,
                "cuts_examined": f.cuts_examined,
                "rpd": (f.values_lowered == 0 && !f.rows_silent).then_some(f.rpd),
                "rpd_of_cut": f.rpd,
                "values_lowered": f.values_lowered,
                "disassociations": f.disassociations,
                "people_emptied": f.people_emptied,
            }),
            Figures::Km(f) => json!({
                "algorithm": f.algorithm,
                "ncp": f.ncp,
                "parts": f.parts,
                "itemsets_repaired": f.itemsets_repaired,
                "items_left_out": f.items_left_out,
                "occurrences_left_out": f.occurrences_left_out,
            }),
            Figures::Clusters(f) => {
                let mut all = json!({
                    "algorithm": f.algorithm,
                    "lm": f.lm,
                    "clusters": f.clusters,
                    "smallest_cluster": f.smallest,
                    "largest_cluster": f.largest,
                    "records_suppressed": f.suppressed,
                    "vertices_pruned": f.pruned,
                });
                if f.cells > 1 {
                    all["cells"] = json!(f.cells);
                }
                if let Some((groups, values)) = f.apart {
                    all["groups"] = json!(groups);
                    all["sensitive_values"] = json!(values);
                }
                all
            }
            Figures::Dissected(f) => json!({
                "groups": f.groups,
                "sensitive_values": f.sensitive_values,
                "suppressed": f.suppressed,
                "telling_groups": f.telling_groups,
                "degrees": degrees_json(&f.degrees),
            }),
        }
    }

    /// Those that say what was lost, for the certificate.
    pub(crate) fn loss(&self) -> Map<String, Value> {
        let (name, value) = match self {
            // Of a cut that was not published as it is, nothing is claimed.
            Figures::Kmn(f) if f.values_lowered > 0 => return Map::new(),
            Figures::Kmn(f) => ("rpd", f.rpd),
            Figures::Km(f) => ("ncp", f.ncp),
            Figures::Clusters(f) => ("lm", f.lm),
            Figures::Dissected(_) => return Map::new(),
        };
        Map::from_iter([(name.to_owned(), json!(value))])
    }

    /// Those that say what was suppressed, for the certificate.
    pub(crate) fn suppressed(&self) -> Map<String, Value> {
        let all = match self {
            Figures::Kmn(f) => vec![
                ("disassociations", json!(f.disassociations)),
                ("people_emptied", json!(f.people_emptied)),
            ],
            Figures::Km(f) => vec![
                ("items_left_out", json!(f.items_left_out)),
                ("occurrences_left_out", json!(f.occurrences_left_out)),
            ],
            Figures::Clusters(f) => {
                vec![("records_suppressed", json!(f.suppressed)), ("vertices_pruned", json!(f.pruned))]
            }
            Figures::Dissected(f) => vec![("records_suppressed", json!(f.suppressed))],
        };
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Distances by path, for programs.
pub(crate) fn degrees_json(degrees: &[(String, Distances)]) -> Value {
    let one = |(path, found): &(String, Distances)| json!({"path": path, "set_wise": found.set_wise, "pairwise": found.pairwise});
    degrees.iter().map(one).collect()
}
