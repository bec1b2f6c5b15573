//! Parameters from a policy.

use bosket_model::path::leads_through_class;
use bosket_model::policy::{
    Algorithm, AttributePolicy, Family, Format, Model, Negative, Number, Policy, Role,
};
use bosket_model::{Diagnostic, Result};

use crate::asked::Asked;

/// What a run depends on.
#[derive(Clone, Debug)]
pub struct Params {
    /// Which search.
    pub algorithm: Algorithm,
    /// Fewest records that an itemset may be in.
    pub k: u32,
    /// Most known items.
    pub m: usize,
    /// No sensitive item may have a share over 1/l among the records that have some known items.
    pub l: Option<f64>,
    /// The sensitive items, by label.
    pub sensitive: Vec<String>,
    /// The items whose absence counts as knowledge, by label.
    pub negative: Vec<Negative>,
    /// `lra`, `vpa`: the number of parts.
    pub parts: usize,
    /// `lra`: how far a border may move.
    pub flex: usize,
    /// `vpa`: the level of the classes that stay together, counted from the leaves.
    pub level: u32,
    /// An item may be dropped everywhere where that costs less.
    pub suppress: bool,
    /// Occurrences may have labels of their own.
    pub local: bool,
    /// The largest share that an item may have among the occurrences of a label of their own, unless it is that common anyway.
    pub guess: Option<f64>,
    /// Undo at the end what turned out unnecessary.
    pub improve: bool,
    /// Bytes for counting, about.
    pub memory: usize,
    /// Also count the nodes of the paper's count tree. Slow, and for comparison only.
    pub count_tree: bool,
}

/// Bytes for counting, unless somebody says otherwise.
const MEMORY: usize = 1 << 30;

impl Params {
    /// Parameters with the defaults of everything but the guarantee.
    pub fn plain(algorithm: Algorithm, k: u32, m: usize) -> Self {
        Params {
            algorithm,
            k,
            m,
            l: None,
            sensitive: Vec::new(),
            negative: Vec::new(),
            parts: 3,
            flex: 10,
            level: 1,
            suppress: false,
            local: false,
            guess: None,
            improve: true,
            memory: MEMORY,
            count_tree: false,
        }
    }

    /// The parameters that a policy asks for. What cannot be done is refused with the whole list.
    pub fn new(policy: &Policy) -> Result<Self> {
        let asked = Asked::new(policy, Family::Km)?;
        let Asked { privacy, method, algorithm, .. } = asked;
        let suppress = method.flag("suppress").unwrap_or(false);
        let mut problems = asked.problems();
        problems.refuse(
            privacy.multiset,
            "`privacy.multiset` cannot be kept: records hold each item once",
            "write an item and its count as one item (`milk x2`), with a hierarchy over these, and take `multiset` out",
        );
        problems.refuse(
            suppress && matches!(algorithm, Algorithm::Oa | Algorithm::Partition),
            "`method.suppress` is for algorithms that repair itemsets",
            "take it out, or use aa, da, lra or vpa",
        );
        let local = policy.recodes_locally();
        problems.refuse(
            local && (privacy.l.is_some() || !privacy.negative.is_empty()),
            "`recoding = \"local\"` keeps neither `l` nor `negative` for sets",
            "take it out",
        );
        problems.refuse(
            local && asked.number(privacy.m, Number::M)? as usize > crate::local::MOST,
            "`recoding = \"local\"` is for at most five known items",
            "ask for a smaller m, or take it out",
        );
        problems.refuse(
            !privacy.negative.is_empty() && algorithm == Algorithm::Lra,
            "`privacy.negative` cannot be kept by `lra`: an item may be absent at one level here and at another there",
            "use aa, vpa or partition",
        );
        problems.refuse(
            privacy.negative.iter().any(|n| matches!(n, Negative::Pair(..))),
            "items of a transaction have no relations",
            "list single items; pairs belong to model \"kmn\"",
        );
        problems.extend(many_valued(policy, privacy.model));
        problems.end()?;
        let at_least = |key: &str, least: i64, or: i64| method.int(key).unwrap_or(or).max(least);
        Ok(Params {
            l: privacy.l,
            sensitive: privacy.sensitive.clone(),
            negative: privacy.negative.clone(),
            parts: at_least("parts", 1, 3) as usize,
            flex: at_least("flex", 0, 10) as usize,
            level: at_least("level", 0, 1) as u32,
            suppress,
            local,
            guess: privacy.guess,
            improve: method.flag("improve").unwrap_or(true),
            ..Params::plain(
                algorithm,
                asked.number(privacy.k, Number::K)?,
                asked.number(privacy.m, Number::M)? as usize,
            )
        })
    }
}

/// What keeps the policy's quasi attributes from being one path with many values.
fn many_valued(policy: &Policy, model: Model) -> Vec<Diagnostic> {
    let quasi: Vec<&AttributePolicy> =
        policy.attributes.iter().filter(|a| a.role == Role::Quasi && a.follows.is_none()).collect();
    let mut problems: Vec<Diagnostic> = (quasi.iter().skip(1))
        .map(|a| {
            Diagnostic::error(format!("model `{model}` takes exactly one quasi attribute"))
                .at(a.place.clone())
                .help("give it another role, or use model \"kmn\"")
        })
        .collect();
    let single = |a: &AttributePolicy| match policy.source.as_ref() {
        Some(source) if source.format == Format::Transactions => false,
        Some(source) if !source.tables.is_empty() => {
            let person = source.tables.iter().find(|t| t.parent.is_none());
            person.is_none_or(|t| a.path.split('.').next() == Some(t.name.as_str()) || !a.path.contains('.'))
        }
        Some(_) => !leads_through_class(&a.path),
        None => false,
    };
    problems.extend(quasi.iter().filter(|a| single(a)).map(|a| {
        Diagnostic::error(format!("`{}` has one value per record; model `{model}` takes sets", a.path))
            .at(a.place.clone())
            .help("name a path with many values, or use model \"k-anonymity\"")
    }));
    problems
}
