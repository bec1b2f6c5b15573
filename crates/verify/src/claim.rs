//! What a publication is claimed to guarantee.

use serde_json::json;

use bosket_model::binding::Binding;
use bosket_model::policy::{Diversity, Model, Policy, Relations, Role, RootMode, Siblings};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use crate::vertex::Diverse;

/// A guarantee with its numbers.
#[derive(Clone, Debug)]
pub enum Claim {
    /// k^m-anonymity of sets.
    Km {
        /// Fewest people.
        k: u32,
        /// Most known items.
        m: u32,
    },
    /// k^(m,n)-anonymity of trees.
    Kmn {
        /// Fewest people.
        k: u32,
        /// Most known values.
        m: u32,
        /// Most known relations.
        n: u32,
        /// What several relations mean together.
        relations: Relations,
        /// Where the values of the record's top object stand.
        root: RootMode,
        /// Whether relations that can be put together again count.
        guard: bool,
        /// Among the records that match any knowledge no sensitive value has a share over 1/l.
        l: Option<f64>,
    },
    /// k-anonymity of vertex trees.
    KAnonymity {
        /// Fewest records that look alike.
        k: u32,
    },
    /// l-diversity of vertex trees.
    LDiversity {
        /// Fewest records that look alike, if that is claimed too.
        k: Option<u32>,
        /// What is asked of the sensitive values.
        ask: Diverse,
    },
}

impl Claim {
    /// The claim of a policy. What cannot be checked is refused, never passed over.
    pub fn new(policy: &Policy) -> Result<Self> {
        let refuse = |what: String, help: &str| {
            let diagnostic = Diagnostic::error(what).at(Place::source(&policy.name)).help(help);
            Failure::new(Fault::Policy, diagnostic)
        };
        let Some(privacy) = &policy.privacy else {
            return Err(refuse("the policy claims nothing".into(), "add a [privacy] section with a model"));
        };
        let model = privacy.model;
        let number = |value: Option<u32>, key: &str| {
            value.ok_or_else(|| refuse(format!("model `{model}` needs `{key}`"), "add it to [privacy]"))
        };
        if matches!(model, Model::Km | Model::Kmn) {
            let unchecked = [
                ("l", privacy.l.is_some() && model == Model::Km),
                ("buckets", privacy.l.is_some() && policy.attributes.iter().any(|a| a.buckets.is_some())),
                ("sensitive", !privacy.sensitive.is_empty()),
                ("negative", !privacy.negative.is_empty()),
                ("multiset", privacy.multiset),
            ];
            for (key, given) in unchecked {
                if given {
                    return Err(refuse(
                        format!("this version cannot verify `{key}` with model `{model}`"),
                        "take it out to verify the rest of the claim; nothing would be said about it",
                    ));
                }
            }
        }
        match model {
            Model::Km => Ok(Claim::Km { k: number(privacy.k, "k")?, m: number(privacy.m, "m")? }),
            Model::Kmn => Ok(Claim::Kmn {
                k: number(privacy.k, "k")?,
                m: number(privacy.m, "m")?,
                n: number(privacy.n, "n")?,
                relations: privacy.relations,
                root: privacy.root,
                guard: privacy.guard,
                l: privacy.l,
            }),
            Model::KAnonymity => Ok(Claim::KAnonymity { k: number(privacy.k, "k")? }),
            Model::LDiversity => {
                let l =
                    privacy.l.ok_or_else(|| refuse("l-diversity needs `l`".into(), "add it to [privacy]"))?;
                let ask = Diverse {
                    l,
                    diversity: privacy.diversity,
                    siblings: privacy.siblings,
                    distinct_everywhere: privacy.distinct_everywhere.clone(),
                    buckets: policy.attributes.iter().map(|a| a.buckets.clone()).collect(),
                };
                Ok(Claim::LDiversity { k: privacy.k, ask })
            }
            Model::None => Err(refuse(
                "model `none` claims nothing that could be verified".into(),
                "choose a model with a guarantee",
            )),
            Model::Anatomy | Model::Delta => Err(refuse(
                format!("this version cannot verify model `{model}`"),
                "it verifies km, kmn, k-anonymity and l-diversity",
            )),
        }
    }

    /// The claim in one plain sentence.
    pub fn sentence(&self) -> String {
        let others = |k: u32| if k == 2 { "one other".to_owned() } else { format!("{} others", k - 1) };
        let values = |n: u32| if n == 1 { "one value".to_owned() } else { format!("up to {n} values") };
        match self {
            Claim::Km { k, m } => {
                let items = if *m == 1 { "one item".to_owned() } else { format!("up to {m} items") };
                format!("whoever knows {items} of a person finds at least {k} people who have them")
            }
            Claim::Kmn { k, m, n, relations, guard, l, .. } => {
                let known = match n {
                    0 => String::new(),
                    1 => " and one relation between them".to_owned(),
                    n => format!(" and up to {n} relations between them"),
                };
                let reading = match relations {
                    Relations::Embedded if *n > 1 => ", all relations of a value at one place",
                    _ => "",
                };
                let guard = if *guard { ", also where a relation can be put together again" } else { "" };
                let diverse = l.map_or(String::new(), |l| {
                    format!(", among whom no sensitive value has a share over 1/{l}")
                });
                format!(
                    "whoever knows {} of a person{known}{reading}{guard} finds at least {k} people who fit{diverse}",
                    values(*m)
                )
            }
            Claim::KAnonymity { k } => format!("every record looks like at least {}", others(*k)),
            Claim::LDiversity { k, ask } => {
                let alike = k.map_or(String::new(), |k| {
                    format!("every record looks like at least {}, and ", others(k))
                });
                let each = if ask.siblings == Siblings::Each { " anywhere among alike siblings" } else { "" };
                let measure = match ask.diversity {
                    Diversity::Frequency => format!("no sensitive value has a share over 1/{}{each}", ask.l),
                    Diversity::Entropy => {
                        format!("the entropy of sensitive values is at least log {}{each}", ask.l)
                    }
                };
                format!("{alike}among records that look alike {measure}")
            }
        }
    }

    /// The claim as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Claim::Km { k, m } => json!({"model": "km", "k": k, "m": m}),
            Claim::Kmn { k, m, n, relations, root, guard, l } => {
                let mut claim = json!({
                    "model": "kmn", "k": k, "m": m, "n": n,
                    "relations": relations.name(), "root": root.name(), "guard": guard,
                });
                if let Some(l) = l {
                    claim["l"] = json!(l);
                }
                claim
            }
            Claim::KAnonymity { k } => json!({"model": "k-anonymity", "k": k}),
            Claim::LDiversity { k, ask } => {
                let mut claim = json!({
                    "model": "l-diversity", "l": ask.l,
                    "diversity": ask.diversity.name(), "siblings": ask.siblings.name(),
                });
                if let Some(k) = k {
                    claim["k"] = json!(k);
                }
                if !ask.distinct_everywhere.is_empty() {
                    claim["distinct_everywhere"] = json!(ask.distinct_everywhere);
                }
                claim
            }
        }
    }

    /// What a reader of the claim should know about its limits.
    pub fn caveats(&self, binding: &Binding) -> Vec<Diagnostic> {
        let Claim::Kmn { n, relations: Relations::Pair, root, .. } = self else {
            return Vec::new();
        };
        let crowded = (0..binding.homes.len()).filter(|&home| {
            let quasi = binding.declared.iter().filter(|d| d.home == home && d.role == Role::Quasi).count();
            quasi >= 3 && *n >= 2 && (home != 0 || *root == RootMode::Chain)
        });
        crowded
            .map(|home| {
                let first = binding.declared.iter().find(|d| d.home == home && d.role == Role::Quasi);
                Diagnostic::warning("three or more quasi attributes stand in one vertex; only `relations = \"embedded\"` protects their joint knowledge")
                    .at(Place::default().path(first.map_or("", |d| d.path.as_str())))
            })
            .collect()
    }
}
