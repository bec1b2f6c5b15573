//! The one table of models and algorithms, with what is true of each.
//!
//! Everybody else asks (`model.is_apart()`, `algorithm.is_local()`: `facts` has the questions); nobody lists names.
//!
//! **A new algorithm** is one file in its family's folder of the engine, with the arm that calls it, and one row below. A row
//! says what differs from `USUAL`; `turn` is its place among its family where people are told what there is. Then
//! `crates/engine/tests/table` fails until the algorithm runs and is verified, its page in `docs/` names it, and a test with
//! random data does.
//!
//! **A new model** is one row, one arm of `Claim::new` in the verifier, and a row for each of its algorithms. If no folder of
//! the engine has the like, it is a new `Family`.
//!
//! Rows stand in the order of the reference.

use super::choices::Role;
use super::describe::Choice;
use super::facts::{AlgorithmFacts, Except, Family, ModelFacts, Number, Paper, Shape, USUAL};
use Model::{Anatomy, Delta, KAnonymity, Km, Kmn, LDiversity, None as Plain};

/// An enum in which every variant stands with its spelling, what it is in one line, and its row.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident: $facts:ident { $($variant:ident = $text:literal: $about:literal => $row:expr;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $(#[doc = $about] $variant),+ }

        impl $name {
            /// All of them, in the order of the reference.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            const ROWS: &'static [$facts] = &[$($row),+];
            pub(super) const CHOICES: &'static [Choice] =
                &[$($name::$variant.facts().choice($text, $about)),+];

            pub(super) const fn facts(self) -> &'static $facts {
                &Self::ROWS[self as usize]
            }
            /// How a policy spells it.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
            /// What it is, in one line.
            pub const fn about(self) -> &'static str {
                match self { $($name::$variant => $about),+ }
            }
            /// The one that is spelled so.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|c| c.name() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

const TERROVITIS_2011: Paper = Paper {
    authors: "Terrovitis, Mamoulis, Kalnis",
    title: "Local and global recoding methods for anonymizing set-valued data",
    published: "VLDB Journal 20 (2011)",
};
const HE_2009: Paper = Paper {
    authors: "He, Naughton",
    title: "Anonymization of set-valued data via top-down, local generalization",
    published: "VLDB (2009)",
};
const GKOUNTOUNA_2015: Paper = Paper {
    authors: "Gkountouna, Terrovitis",
    title: "Anonymizing collections of tree-structured data",
    published: "IEEE TKDE 27 (2015)",
};
const NERGIZ_2009: Paper = Paper {
    authors: "Nergiz, Clifton, Nergiz",
    title: "Multirelational k-anonymity",
    published: "IEEE TKDE 21 (2009)",
};
const OZALP_2016: Paper = Paper {
    authors: "Ozalp, Gursoy, Nergiz, Saygin",
    title: "Privacy-preserving publishing of hierarchical data",
    published: "ACM TOPS 19 (2016)",
};
const XIAO_2006: Paper = Paper {
    authors: "Xiao, Tao",
    title: "Anatomy: simple and effective privacy preservation",
    published: "VLDB (2006)",
};
const LANDBERG_2014: Paper = Paper {
    authors: "Landberg, Nguyen, Pardede, Rahayu",
    title: "δ-Dependency for privacy-preserving XML data publishing",
    published: "J. Biomed. Inform. 50 (2014)",
};

table! {
    /// The guarantee.
    Model: ModelFacts {
        Km = "km": "any m items of a person fit at least k people" => ModelFacts {
            title: "k^m-anonymity of sets",
            paper: Some(TERROVITIS_2011),
            page: "km.md",
            family: Family::Km,
            shape: Shape::Set,
            guarantee: true,
            generalizes: true,
            apart: false,
            clusters: false,
            counts_values: true,
            counts_relations: false,
            needs_sensitive: false,
            hierarchies: &[Role::Quasi],
            needs: &[Number::K, Number::M],
        };
        Kmn = "kmn": "any m values and n relations between them fit at least k people" => ModelFacts {
            title: "k^(m,n)-anonymity of trees",
            paper: Some(GKOUNTOUNA_2015),
            page: "kmn.md",
            family: Family::Kmn,
            shape: Shape::ValueTree,
            guarantee: true,
            generalizes: true,
            apart: false,
            clusters: false,
            counts_values: true,
            counts_relations: true,
            needs_sensitive: false,
            hierarchies: &[Role::Quasi],
            needs: &[Number::K, Number::M, Number::N],
        };
        KAnonymity = "k-anonymity": "every record looks like at least k - 1 others" => ModelFacts {
            title: "k-anonymity of records with all that hangs below them",
            paper: Some(NERGIZ_2009),
            page: "clusters.md",
            family: Family::Cluster,
            shape: Shape::VertexTree,
            guarantee: true,
            generalizes: true,
            apart: false,
            clusters: true,
            counts_values: false,
            counts_relations: false,
            needs_sensitive: false,
            hierarchies: &[Role::Quasi],
            needs: &[Number::K],
        };
        LDiversity = "l-diversity": "no sensitive value has a share over 1/l among records that look alike" => ModelFacts {
            title: "l-diversity of records with all that hangs below them",
            paper: Some(OZALP_2016),
            page: "clusters.md",
            family: Family::Cluster,
            shape: Shape::VertexTree,
            guarantee: true,
            generalizes: true,
            apart: false,
            clusters: true,
            counts_values: false,
            counts_relations: false,
            needs_sensitive: true,
            hierarchies: &[Role::Quasi],
            needs: &[Number::L],
        };
        Anatomy = "anatomy": "quasi and sensitive parts separated, groups of distinct sensitive values" => ModelFacts {
            title: "Anatomy: quasi and sensitive values in groups",
            paper: Some(XIAO_2006),
            page: "dissect.md",
            family: Family::Dissect,
            shape: Shape::VertexTree,
            guarantee: true,
            generalizes: false,
            apart: true,
            clusters: false,
            counts_values: false,
            counts_relations: false,
            needs_sensitive: true,
            hierarchies: &[],
            needs: &[Number::GroupSize],
        };
        Delta = "delta": "as anatomy, the values of a group far apart in their hierarchy" => ModelFacts {
            title: "δ-dependency: groups of sensitive values that are far apart",
            paper: Some(LANDBERG_2014),
            page: "dissect.md",
            family: Family::Dissect,
            shape: Shape::VertexTree,
            guarantee: true,
            generalizes: false,
            apart: true,
            clusters: false,
            counts_values: false,
            counts_relations: false,
            needs_sensitive: true,
            hierarchies: &[Role::Sensitive],
            needs: &[Number::GroupSize],
        };
        None = "none": "plain dissection, no guarantee" => ModelFacts {
            title: "dissection without a guarantee",
            paper: None,
            page: "dissect.md",
            family: Family::Dissect,
            shape: Shape::VertexTree,
            guarantee: false,
            generalizes: false,
            apart: true,
            clusters: false,
            counts_values: false,
            counts_relations: false,
            needs_sensitive: false,
            hierarchies: &[],
            needs: &[],
        };
    }
}

/// The models that make clusters.
pub(super) const CLUSTERS: &[Model] = &[KAnonymity, LDiversity];

/// The models that can be reached cell by cell: what keeps its promise in every cell keeps it in all of them together. A model
/// that measures classes against all records is none of these until its cells know what all records are like.
pub(super) const UNITING: &[Model] = &[KAnonymity, LDiversity];

const OF_KMN: AlgorithmFacts = AlgorithmFacts { models: &[Kmn], paper: Some(GKOUNTOUNA_2015), ..USUAL };
const OF_KM: AlgorithmFacts = AlgorithmFacts { models: &[Km], paper: Some(TERROVITIS_2011), ..USUAL };
const OF_CLUSTERS: AlgorithmFacts =
    AlgorithmFacts { models: CLUSTERS, paper: Some(NERGIZ_2009), local: true, ..USUAL };
const OF_DISSECTION: AlgorithmFacts = AlgorithmFacts { reference: "follows the model", turn: 1, ..USUAL };

table! {
    /// How a guarantee is reached.
    Algorithm: AlgorithmFacts {
        Best = "best": "several searches, judged by exact RPD" => AlgorithmFacts {
            reference: "the default",
            usual_for: &[Kmn],
            turn: 1,
            paper: None,
            ..OF_KMN
        };
        Acs = "acs": "AllCutSearch: every cut; for small hierarchies" => AlgorithmFacts {
            reference: "every cut",
            turn: 4,
            ..OF_KMN
        };
        Gcs = "gcs": "GreedyCutSearch: a beam over cuts, relations taken apart where they give people away" => AlgorithmFacts {
            reference: "a beam of the `g` cheapest cuts",
            turn: 2,
            ..OF_KMN
        };
        Ocs = "ocs": "OnlyCutSearch: a beam over cuts that need no disassociation" => AlgorithmFacts {
            reference: "gcs without disassociation",
            turn: 3,
            ..OF_KMN
        };
        Aa = "aa": "apriori: rare itemsets repaired by growing size" => AlgorithmFacts {
            reference: "the default: repairs by growing itemset size",
            usual_for: &[Km],
            turn: 1,
            ..OF_KM
        };
        Oa = "oa": "the cheapest of all cuts; for small domains" => AlgorithmFacts {
            reference: "optimal, for small domains",
            turn: 3,
            ..OF_KM
        };
        Da = "da": "direct: rare itemsets of all sizes repaired in one walk" => AlgorithmFacts {
            reference: "repairs all sizes in one pass",
            turn: 2,
            ..OF_KM
        };
        Lra = "lra": "local recoding: similar sets together, a cut per part" => AlgorithmFacts {
            reference: "local recoding in `parts` parts",
            turn: 4,
            local: true,
            ..OF_KM
        };
        Vpa = "vpa": "the domain in regions, then all of it" => AlgorithmFacts {
            reference: "the domain in `parts` regions",
            turn: 5,
            ..OF_KM
        };
        Partition = "partition": "top-down to groups of equal sets" => AlgorithmFacts {
            reference: "top-down local recoding to k-anonymity of sets",
            turn: 6,
            paper: Some(HE_2009),
            local: true,
            ..OF_KM
        };
        Clustree = "clustree": "clusters in passes, costly ones dissolved" => AlgorithmFacts {
            reference: "clusters in passes, costly ones dissolved",
            turn: 2,
            paper: Some(OZALP_2016),
            ..OF_CLUSTERS
        };
        Ctoff = "ctoff": "clusters one after the other, each with its cheapest records" => AlgorithmFacts {
            reference: "clusters one after the other; default for trees, and for l-diversity",
            usual_for: &[KAnonymity, LDiversity],
            turn: 1,
            paper: Some(OZALP_2016),
            ..OF_CLUSTERS
        };
        Miracle = "miracle": "records stream into open clusters" => AlgorithmFacts {
            reference: "streaming clusters",
            turn: 3,
            ..OF_CLUSTERS
        };
        Miraclex = "miraclex": "miracle, vertices matched without their children" => AlgorithmFacts {
            reference: "miracle, vertices matched without their children",
            turn: 4,
            ..OF_CLUSTERS
        };
        Dmiracle = "dmiracle": "miracle with pairs, then merged until diverse" => AlgorithmFacts {
            reference: "miracle, then merging until diverse",
            except: Some(Except {
                model: KAnonymity,
                what: "algorithm `dmiracle` is for model `l-diversity`",
                help: "use miracle, or ask for l-diversity",
            }),
            turn: 5,
            ..OF_CLUSTERS
        };
        Bitmap = "bitmap": "the single-table baseline: what all members have" => AlgorithmFacts {
            reference: "the single-table baseline",
            turn: 7,
            ..OF_CLUSTERS
        };
        Blocks = "blocks": "flat tables: split top-down, clustered bottom-up, rows moved" => AlgorithmFacts {
            reference: "default for flat tables",
            usual_for: &[KAnonymity],
            turn: 6,
            paper: None,
            flat: true,
            ..OF_CLUSTERS
        };
        Anatomy = "anatomy": "groups of distinct sensitive values, the most frequent first" => AlgorithmFacts {
            models: &[Anatomy],
            usual_for: &[Anatomy],
            paper: Some(XIAO_2006),
            ..OF_DISSECTION
        };
        Delta = "delta": "groups of values far apart in their hierarchy, as far as can be reached" => AlgorithmFacts {
            models: &[Delta],
            usual_for: &[Delta],
            paper: Some(LANDBERG_2014),
            ..OF_DISSECTION
        };
        Plain = "plain": "quasi and sensitive parts separated, nothing claimed" => AlgorithmFacts {
            models: &[Plain],
            usual_for: &[Plain],
            ..OF_DISSECTION
        };
    }
}
