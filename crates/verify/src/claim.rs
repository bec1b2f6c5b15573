//! What a publication is claimed to guarantee.

use serde_json::json;

use bosket_model::binding::Binding;
use bosket_model::policy::{
    Attacker, Diversity, Knower, Missing, Model, Negative, Policy, Privacy, Relations, Role, RootMode, Rows,
    Siblings,
};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use crate::anatomized::Anatomized;
use crate::closeness::{Close, Measure};
use crate::dissect::{Apart, Delta};
use crate::vertex::Diverse;

/// A guarantee with its numbers.
#[derive(Clone, Debug)]
pub enum Claim {
    /// k^m-anonymity of sets.
    Km(Km),
    /// k^(m,n)-anonymity of trees.
    Kmn(Kmn),
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
    /// t-closeness or β-likeness of vertex trees.
    Close {
        /// Fewest records that look alike, if that is claimed too.
        k: Option<u32>,
        /// What is asked of the sensitive values.
        ask: Close,
    },
    /// Anatomy or δ-dependency of a dissected publication.
    Apart(Apart),
    /// k-anonymity, l-diversity, t-closeness or β-likeness of vertex trees, quasi and sensitive values apart.
    Anatomized(Anatomized),
}

/// k^m-anonymity of sets.
#[derive(Clone, Debug, Default)]
pub struct Km {
    /// Fewest people.
    pub k: u32,
    /// Most known items.
    pub m: u32,
    /// Among the records that match any knowledge no sensitive item has a share over 1/l.
    pub l: Option<f64>,
    /// Items that the attacker does not know, as published.
    pub sensitive: Vec<String>,
    /// Items whose absence counts as knowledge.
    pub negative: Vec<Negative>,
    /// An item is a value together with how often it occurs.
    pub multiset: bool,
}

/// k^(m,n)-anonymity of trees.
#[derive(Clone, Debug)]
pub struct Kmn {
    /// Fewest people.
    pub k: u32,
    /// Most known values.
    pub m: u32,
    /// Most known relations.
    pub n: u32,
    /// What several relations mean together.
    pub relations: Relations,
    /// Where the values of the record's top object stand.
    pub root: RootMode,
    /// What was done with rows that look alike.
    pub rows: Rows,
    /// Whether relations that can be put together again count.
    pub guard: bool,
    /// What a value that is not there tells.
    pub missing: Missing,
    /// Among the records that match any knowledge no sensitive value has a share over 1/l.
    pub l: Option<f64>,
    /// Per declared attribute, the bounds between buckets of a numeric sensitive value. May be empty.
    pub buckets: Vec<Option<Vec<f64>>>,
    /// Values, and pairs of related values, whose absence counts as knowledge.
    pub negative: Vec<Negative>,
    /// Who else may look for somebody, told by what they know. With them `m` may be 0: then they are all.
    pub attackers: Vec<Knower>,
    /// Who knows this, if it is the claim about one of them alone (`Kmn::readings`).
    pub knower: Option<Knower>,
}

impl Kmn {
    /// The guarantee with these numbers and nothing beyond.
    pub fn new(k: u32, m: u32, n: u32) -> Self {
        Kmn {
            k,
            m,
            n,
            relations: Relations::Pair,
            root: RootMode::Separate,
            rows: Rows::Distinct,
            guard: false,
            missing: Missing::Nothing,
            l: None,
            buckets: Vec::new(),
            negative: Vec::new(),
            attackers: Vec::new(),
            knower: None,
        }
    }

    /// The claims that this one is made of, each counted for itself: relations one by one where they are promised at one place
    /// (who knows relations need not know that they were), all together, and one claim per attacker.
    pub(crate) fn readings(&self) -> Vec<Kmn> {
        let plain = Kmn { attackers: Vec::new(), ..self.clone() };
        let apart = Kmn { relations: Relations::Pair, ..plain.clone() };
        let at_one_place = self.relations == Relations::Embedded && self.n > 1 && self.m > 1;
        let known = self.attackers.is_empty() || self.m > 0;
        let of = |knower: &Knower| Kmn {
            k: knower.k,
            m: knower.m,
            n: knower.n,
            relations: Relations::Pair,
            knower: Some(knower.clone()),
            ..plain.clone()
        };
        let attackers = self.attackers.iter().map(of);
        at_one_place
            .then_some(apart)
            .into_iter()
            .chain(known.then(|| plain.clone()))
            .chain(attackers)
            .collect()
    }
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
        let buckets = || policy.attributes.iter().map(|a| a.buckets.clone()).collect();
        // Attackers say themselves how much they know.
        let told = (!privacy.attackers.is_empty()).then_some(0);
        if policy.anatomizes() {
            refuse_unseen(policy, privacy)?;
        }
        refuse_unguessed(policy, privacy)?;
        match model {
            Model::Km => {
                if let Some(both) = both_ways(privacy) {
                    return Err(refuse(
                        format!("`{both}` is listed as sensitive and as negative"),
                        "sensitive items are outside the attacker's knowledge; keep it in one of the lists",
                    ));
                }
                Ok(Claim::Km(Km {
                    k: number(privacy.k, "k")?,
                    m: number(privacy.m, "m")?,
                    l: privacy.l,
                    sensitive: privacy.sensitive.clone(),
                    negative: privacy.negative.clone(),
                    multiset: privacy.multiset,
                }))
            }
            Model::Kmn => Ok(Claim::Kmn(Kmn {
                k: number(privacy.k, "k")?,
                m: number(privacy.m.or(told), "m")?,
                n: number(privacy.n.or(told), "n")?,
                attackers: policy.knowers().into_iter().filter(|knower| knower.attacker.is_some()).collect(),
                knower: None,
                relations: privacy.relations,
                root: privacy.root,
                rows: policy.rows(),
                guard: privacy.guard,
                missing: privacy.missing,
                l: privacy.l,
                buckets: buckets(),
                negative: privacy.negative.clone(),
            })),
            Model::KAnonymity => {
                let k = number(privacy.k, "k")?;
                Ok(match policy.anatomizes() {
                    true => Claim::Anatomized(Anatomized { k: Some(k), ask: None, close: None }),
                    false => Claim::KAnonymity { k },
                })
            }
            Model::LDiversity => {
                let l =
                    privacy.l.ok_or_else(|| refuse("l-diversity needs `l`".into(), "add it to [privacy]"))?;
                let ask = Diverse {
                    l,
                    diversity: privacy.diversity,
                    siblings: privacy.siblings,
                    distinct_everywhere: privacy.distinct_everywhere.clone(),
                    buckets: buckets(),
                };
                Ok(match policy.anatomizes() {
                    true => Claim::Anatomized(Anatomized { k: privacy.k, ask: Some(ask), close: None }),
                    false => Claim::LDiversity { k: privacy.k, ask },
                })
            }
            Model::TCloseness | Model::BetaLikeness => {
                let number = |value: Option<f64>, key: &str| {
                    let lacks = || refuse(format!("model `{model}` needs `{key}`"), "add it to [privacy]");
                    value.ok_or_else(lacks)
                };
                let ask = Close {
                    measure: match model {
                        Model::TCloseness => Measure::T(number(privacy.t, "t")?),
                        _ => Measure::Beta(number(privacy.beta, "beta")?),
                    },
                    grounds: policy.attributes.iter().map(|a| a.ground).collect(),
                    buckets: buckets(),
                };
                Ok(match policy.anatomizes() {
                    true => Claim::Anatomized(Anatomized { k: privacy.k, ask: None, close: Some(ask) }),
                    false => Claim::Close { k: privacy.k, ask },
                })
            }
            Model::None => Err(refuse(
                "model `none` claims nothing that could be verified".into(),
                "choose a model with a guarantee",
            )),
            Model::Anatomy => Ok(Claim::Apart(Apart {
                group_size: number(privacy.group_size, "group_size")?,
                l: privacy.l,
                delta: None,
                may_lack: privacy.missing == Missing::None,
            })),
            Model::Delta => Ok(Claim::Apart(Apart {
                group_size: number(privacy.group_size, "group_size")?,
                l: privacy.l,
                delta: Some(Delta {
                    distance: privacy.delta_target.unwrap_or(0),
                    pairwise: privacy.pairwise,
                }),
                may_lack: false,
            })),
        }
    }

    /// What is listed as knowledge by its absence. If there is any, verification needs hierarchies.
    pub fn negative(&self) -> &[Negative] {
        match self {
            Claim::Km(claim) => &claim.negative,
            Claim::Kmn(claim) => &claim.negative,
            Claim::KAnonymity { .. }
            | Claim::LDiversity { .. }
            | Claim::Close { .. }
            | Claim::Apart(_)
            | Claim::Anatomized(_) => &[],
        }
    }

    /// What is asked of the distributions of sensitive values, if that is what is claimed.
    pub fn close(&self) -> Option<&Close> {
        match self {
            Claim::Close { ask, .. } => Some(ask),
            Claim::Anatomized(claim) => claim.close.as_ref(),
            _ => None,
        }
    }

    /// The claim in one plain sentence.
    pub fn sentence(&self) -> String {
        let others = |k: u32| if k == 2 { "one other".to_owned() } else { format!("{} others", k - 1) };
        let up_to = |n: u32, what: &str| match n {
            1 => format!("one {what}"),
            n => format!("up to {n} {what}s"),
        };
        let diverse = |l: Option<f64>, what: &str| {
            l.map_or(String::new(), |l| format!(", among whom no sensitive {what} has a share over 1/{l}"))
        };
        match self {
            Claim::Km(Km { k, m, l, negative, multiset, .. }) => {
                let counted = if *multiset { ", each with how often it occurs," } else { "" };
                let absent = if negative.is_empty() { "" } else { ", or that listed ones are absent," };
                let have = if negative.is_empty() { "have them" } else { "fit" };
                format!(
                    "whoever knows {}{counted} of a person{absent} finds at least {k} people who {have}{}",
                    up_to(*m, "item"),
                    diverse(*l, "item")
                )
            }
            Claim::Kmn(claim) if !claim.attackers.is_empty() => claim.sentences().join("; "),
            Claim::Kmn(Kmn { k, m, n, relations, rows, guard, missing, l, negative, .. }) => {
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
                let absent = if negative.is_empty() { "" } else { ", or that listed ones are absent," };
                let rows = match rows {
                    Rows::Distinct => "",
                    Rows::All => "; how many rows a person has is not covered",
                    Rows::United => "; a row may stand for several",
                };
                let missing = match missing {
                    Missing::Counted => "; missing values are counted as `*`",
                    _ => "; whoever knows a value that the data lacks is not covered",
                };
                format!(
                    "whoever knows {} of a person{known}{reading}{guard}{absent} finds at least {k} people who fit{}{rows}{missing}",
                    up_to(*m, "value"),
                    diverse(*l, "value")
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
                format!("{alike}among records that look alike {measure}; {COUNTED_TOO}")
            }
            Claim::Close { k, ask } => {
                let alike = k.map_or(String::new(), |k| {
                    format!("every record looks like at least {}, and ", others(k))
                });
                format!("{alike}among records that look alike {}", ask.sentence())
            }
            Claim::Anatomized(Anatomized { k, ask, close }) => {
                let alike = k.map_or("all records of a group look alike".to_owned(), |k| {
                    format!("every record looks like at least {} of its group", others(k))
                });
                let measure = ask.as_ref().map_or(String::new(), |ask| match ask.diversity {
                    Diversity::Frequency => {
                        format!(", where none fills more than 1/{} of its places; {COUNTED_TOO}", ask.l)
                    }
                    Diversity::Entropy => {
                        format!(", where their entropy is at least log {}; {COUNTED_TOO}", ask.l)
                    }
                });
                let close = close.as_ref().map_or(String::new(), |ask| format!(", where {}", ask.sentence()));
                format!("{alike}, and sensitive values are linked to groups only{measure}{close}")
            }
            Claim::Apart(Apart { group_size, l, delta, may_lack }) => {
                let shares = l.map_or(f64::from(*group_size), |l| l.max(f64::from(*group_size)));
                let apart = match delta {
                    Some(Delta { distance, pairwise }) if *distance > 0 => {
                        let whom = if *pairwise { "any two values" } else { "its values" };
                        format!(", each at least {distance} edges below what {whom} have in common")
                    }
                    _ => String::new(),
                };
                let lack = if *may_lack { "; that somebody has no value is not protected" } else { "" };
                format!(
                    "sensitive values are linked to groups of at least {group_size} people only, \
                     and no value to more than 1/{shares} of a group{apart}{lack}"
                )
            }
        }
    }

    /// The claim as JSON. Lists of values are told by their length: a claim is handed out with the publication, and
    /// what was listed may say something about somebody.
    pub fn to_json(&self) -> serde_json::Value {
        let mut claim = match self {
            Claim::Km(Km { k, m, l, sensitive, multiset, .. }) => {
                let mut claim = json!({"model": "km", "k": k, "m": m});
                if let Some(l) = l {
                    claim["l"] = json!(l);
                    claim["sensitive_items"] = json!(sensitive.len());
                }
                if *multiset {
                    claim["multiset"] = json!(true);
                }
                claim
            }
            Claim::Kmn(Kmn { k, m, n, relations, root, rows, guard, missing, l, attackers, .. }) => {
                let mut claim = json!({
                    "model": "kmn", "k": k, "m": m, "n": n, "relations": relations.name(),
                    "root": root.name(), "rows": rows.name(), "guard": guard, "missing": missing.name(),
                });
                if let Some(l) = l {
                    claim["l"] = json!(l);
                }
                if !attackers.is_empty() {
                    let told = attackers.iter().filter_map(|knower| knower.attacker.as_ref());
                    claim["attackers"] = told.map(Attacker::to_json).collect();
                }
                claim
            }
            Claim::KAnonymity { k } => json!({"model": "k-anonymity", "k": k}),
            Claim::LDiversity { k, ask } => diverse_json(*k, ask),
            Claim::Close { k, ask } => ask.to_json(*k),
            Claim::Anatomized(Anatomized { k, ask, close }) => {
                let mut claim = match (ask, close) {
                    (_, Some(close)) => close.to_json(*k),
                    (None, None) => json!({"model": "k-anonymity", "k": k}),
                    (Some(ask), None) => diverse_json(*k, ask),
                };
                claim["anatomized"] = json!(true);
                claim
            }
            Claim::Apart(Apart { group_size, l, delta, may_lack }) => {
                let model = if delta.is_some() { "delta" } else { "anatomy" };
                let mut claim = json!({"model": model, "group_size": group_size});
                if let Some(l) = l {
                    claim["l"] = json!(l);
                }
                if let Some(delta) = delta {
                    claim["delta"] = json!(delta.distance);
                    claim["pairwise"] = json!(delta.pairwise);
                }
                if *may_lack {
                    claim["missing"] = json!(Missing::None.name());
                }
                claim
            }
        };
        let negative = self.negative();
        if !negative.is_empty() {
            let pairs = negative.iter().filter(|n| matches!(n, Negative::Pair(..))).count();
            claim["negative"] = json!({"values": negative.len() - pairs, "pairs": pairs});
        }
        claim
    }

    /// What a reader of the claim should know about its limits.
    pub fn caveats(&self, binding: &Binding) -> Vec<Diagnostic> {
        if let Claim::Apart(apart) = self {
            return apart.caveats(binding);
        }
        let Claim::Kmn(Kmn { n, relations: Relations::Pair, root, .. }) = self else {
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

/// How people without a sensitive value count in shares of all.
const COUNTED_TOO: &str = "people without a value count too";

fn diverse_json(k: Option<u32>, ask: &Diverse) -> serde_json::Value {
    let mut claim = json!({
        "model": "l-diversity", "l": ask.l,
        "diversity": ask.diversity.name(), "siblings": ask.siblings.name(),
    });
    if let Some(k) = k {
        claim["k"] = json!(k);
    }
    if !ask.distinct_everywhere.is_empty() {
        claim["distinct_everywhere"] = json!(ask.distinct_everywhere.len());
    }
    claim
}

/// Refuses what the two sides of an anatomized publication would not show.
fn refuse_unseen(policy: &Policy, privacy: &Privacy) -> Result<()> {
    let mut problems = Vec::new();
    let mut refuse = |refused: bool, what: &str, help: &str| {
        if refused {
            problems.push(Diagnostic::error(what).at(Place::source(&policy.name)).help(help));
        }
    };
    refuse(
        !policy.attributes.iter().any(|a| a.role == Role::Sensitive),
        "`publish.anatomize` separates sensitive values, and the policy has none",
        "take it out, or say what is sensitive",
    );
    refuse(
        privacy.model.needs_sensitive() && privacy.siblings == Siblings::Each,
        "`siblings = \"each\"` counts the people who have a value, which an anatomized publication does not show",
        "take `publish.anatomize` out, or let siblings be pooled",
    );
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Policy, problems)) }
}

/// Refuses a `guess` that this version could not count in the publication.
fn refuse_unguessed(policy: &Policy, privacy: &Privacy) -> Result<()> {
    let why = match privacy.guess {
        None => return Ok(()),
        Some(_) if policy.anatomizes() => {
            "`privacy.guess` is not counted where `publish.anatomize` takes sides apart"
        }
        Some(_) if privacy.multiset => "`privacy.guess` is not counted for multisets",
        Some(_) if !privacy.model.generalizes() => {
            "`privacy.guess` is about labels, and this model publishes none"
        }
        Some(_) => return Ok(()),
    };
    let help = "take `guess` out of [privacy], or choose another model";
    Err(Failure::new(Fault::Policy, Diagnostic::error(why).at(Place::source(&policy.name)).help(help)))
}

/// An item that is listed as sensitive and as negative.
fn both_ways(privacy: &Privacy) -> Option<&str> {
    let negative = privacy.negative.iter().filter_map(|n| match n {
        Negative::Value(value) => Some(value),
        Negative::Pair(..) => None,
    });
    negative.map(String::as_str).find(|value| privacy.sensitive.iter().any(|s| s == value))
}
