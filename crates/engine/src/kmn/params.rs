//! Parameters from a policy.

use std::sync::Arc;

use bosket_model::policy::{
    Algorithm, Family, Knower, Missing, Negative, Number, Policy, Relations, RootMode, Rows,
};
use bosket_model::{Diagnostic, Result};

use super::{Cost, Shortcuts};
use crate::asked::{Asked, Problems};
use crate::partition::Frequencies;

/// How a value is parted from one above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disassociation {
    /// The lower value moves up, its children stay: the paper's.
    Value,
    /// The lower value moves up with all below it.
    Subtree,
    /// The upper value is taken out of the path.
    Ancestor,
    /// Whichever of these takes the fewest relations away, rule by rule.
    Cheapest,
}

/// What a run depends on.
#[derive(Clone, Debug)]
pub struct Params {
    /// Which search.
    pub algorithm: Algorithm,
    /// Fewest records that knowledge may match.
    pub k: u32,
    /// Most known values.
    pub m: usize,
    /// Most known relations.
    pub n: usize,
    /// Everybody against whom the publication must hold, where the policy names attackers; empty where k, m and n say all.
    pub knowers: Vec<Knower>,
    /// Width of the beam.
    pub g: usize,
    /// By which figure cuts are compared.
    pub cost: Cost,
    /// Most cuts to examine.
    pub max_cuts: u64,
    /// How much the search for a cut may do, in records that are looked at for pairs of nodes.
    pub effort: u64,
    /// Per declared attribute, how much its detail counts.
    pub weights: Vec<f64>,
    /// Relations may be taken apart. With the top object's values as a chain they may not: the record has one top object,
    /// which could not hold values that are not related.
    pub disassociate: bool,
    /// How relations are taken apart.
    pub disassociation: Disassociation,
    /// Values that would keep their siblings from being published may be left out everywhere.
    pub suppress: bool,
    /// Empty places that can hold one value count as `*`. The trees have nodes for them
    /// ([`EMPTY_PLACE`](bosket_model::value_tree::EMPTY_PLACE)).
    pub counted: bool,
    /// Per declared attribute the first one that shares its cut; itself if none does.
    pub shared: Vec<usize>,
    /// Values whose absence counts as knowledge.
    pub negative: Vec<String>,
    /// Bytes that the search may take for what it remembers.
    pub memory: usize,
    /// The promise goes beyond what the search counts: solutions must be accepted one by one.
    pub beyond: bool,
    /// Cells may have labels of their own.
    pub local: bool,
    /// The largest share that a value may have among the cells of a label of their own, unless it is that common anyway.
    pub guess: Option<f64>,
    /// Labels, with their attributes, that told too much in earlier attempts, once for each of them.
    pub told: Vec<(usize, String)>,
    /// Where the values of the record's top object stand.
    pub root: RootMode,
    /// Look at the winner once more, for needless rules and more detail by exact RPD.
    pub improve: bool,
    /// About so many records are compared by RPD in the searches of `best`; solutions are judged by all.
    pub sample: usize,
    /// What makes the search fast; only tests switch it off.
    pub shortcuts: Shortcuts,
    /// The sums over all records, where those that are searched are a kernel of them.
    pub all: Option<Arc<Frequencies>>,
}

/// Cuts examined at most, unless the policy says otherwise.
const MAX_CUTS: u64 = 1_000_000;

/// What a quick search for a cut may do: seconds of computing.
const QUICK: u64 = 500_000_000;

/// What a usual one may do whose cut is only where labels begin.
const NORMAL: u64 = 4_000_000_000;

/// How much a search may do. One cut for everybody is all that is published: the search for it goes to its end.
fn effort(asked: Option<&str>, local: bool) -> u64 {
    match asked {
        Some("quick") => QUICK,
        Some("thorough") => u64::MAX,
        _ if local => NORMAL,
        _ => u64::MAX,
    }
}

/// Records that RPD is estimated on: enough to rank cuts that differ by less than a hundredth.
const SAMPLE: usize = 4_096;

/// Memory for the search, unless told otherwise.
const MEMORY: usize = 2 << 30;

impl Params {
    /// The parameters that a policy asks for. What cannot be done is refused with the whole list.
    pub fn new(policy: &Policy) -> Result<Self> {
        let asked = Asked::new(policy, Family::Kmn)?;
        let Asked { privacy, method, algorithm, .. } = asked;
        let mut problems = asked.problems();
        let costs = [("rpd_a", Cost::RpdA), ("rpd", Cost::Rpd), ("lm", Cost::Lm)];
        let ways = [
            ("value", Disassociation::Value),
            ("subtree", Disassociation::Subtree),
            ("ancestor", Disassociation::Ancestor),
            ("cheapest", Disassociation::Cheapest),
        ];
        let cost = problems.word(method, "cost", &costs, Cost::RpdA);
        let disassociation = problems.word(method, "disassociation", &ways, Disassociation::Value);
        let shared = shared(policy, &mut problems);
        let knowers = policy.knowers();
        let named = !privacy.attackers.is_empty();
        let local = policy.recodes_locally();
        problems.refuse(
            local && policy.rows() == Rows::United,
            "`recoding = \"local\"` publishes rows as they are",
            "take `rows = \"united\"` out, or recode globally",
        );
        problems.refuse(
            local && most_labels(&knowers) > crate::local::MOST,
            "`recoding = \"local\"` is for at most five known values, and for attackers who know some at once for four besides",
            "ask for a smaller m, or take it out",
        );
        problems.end()?;
        // The search for a cut keeps what holds for whoever knows as many values, any of them: at the widest labels of what is known
        // at once that is enough.
        let [k, m, n] = match named {
            true => strongest(&knowers),
            false => [
                asked.number(privacy.k, Number::K)?,
                asked.number(privacy.m, Number::M)?,
                asked.number(privacy.n, Number::N)?,
            ],
        };
        let separate = privacy.root == RootMode::Separate;
        let negative = privacy.negative.iter().filter_map(|n| match n {
            Negative::Value(value) => Some(value.clone()),
            Negative::Pair(..) => None,
        });
        Ok(Params {
            algorithm,
            k,
            m: m as usize,
            n: n as usize,
            knowers: if named { knowers } else { Vec::new() },
            g: method.int("g").unwrap_or(2) as usize,
            cost,
            effort: effort(method.text("effort").as_deref(), local),
            max_cuts: method.int("max_cuts").map_or(MAX_CUTS, |n| n as u64),
            weights: policy.attributes.iter().map(|a| a.weight.unwrap_or(1.0)).collect(),
            disassociation,
            suppress: method.flag("suppress") == Some(true),
            counted: privacy.missing == Missing::Counted,
            shared,
            negative: negative.collect(),
            memory: MEMORY,
            beyond: (named && !local)
                || privacy.guard
                || privacy.l.is_some()
                || privacy.negative.iter().any(|n| matches!(n, Negative::Pair(..)))
                || (privacy.relations == Relations::Embedded && n > 1),
            disassociate: separate,
            local,
            guess: privacy.guess,
            told: Vec::new(),
            root: privacy.root,
            // The plain searches stay as the paper has them unless the policy says otherwise.
            improve: method.flag("improve").unwrap_or(algorithm == Algorithm::Best),
            sample: SAMPLE,
            shortcuts: Shortcuts::default(),
            all: None,
        })
    }
}

impl Params {
    /// Whether there are attackers, whose knowledge is small enough to be counted piece by piece.
    pub(super) fn are_counted_by_pieces(&self) -> bool {
        !self.knowers.is_empty() && most_labels(&self.knowers) <= crate::local::MOST
    }
}

/// The most labels of a piece of knowledge, where what is known at once is one more.
fn most_labels(knowers: &[Knower]) -> usize {
    knowers.iter().map(|knower| knower.m as usize + usize::from(knower.attacker.is_some())).max().unwrap_or(0)
}

/// k, m and n that no attacker goes beyond.
fn strongest(knowers: &[Knower]) -> [u32; 3] {
    let most = |of: fn(&Knower) -> u32| knowers.iter().map(of).max().unwrap_or(0);
    [most(|knower| knower.k), most(|knower| knower.m).max(1), most(|knower| knower.n)]
}

/// Per attribute the first one that shares its cut. Attributes share one if the policy says so and they name one hierarchy.
fn shared(policy: &Policy, problems: &mut Problems<'_>) -> Vec<usize> {
    let all = &policy.attributes;
    let first = (0..all.len()).map(|i| {
        let with = |j: &usize| all[*j].shared && all[*j].hierarchy == all[i].hierarchy;
        if !all[i].shared {
            return i;
        }
        if (0..all.len()).filter(with).count() == 1 {
            let what =
                format!("`{}` is to share its cut, but no other attribute shares its hierarchy", all[i].path);
            let help = "give both `shared = true` and the same `hierarchy`";
            problems.extend([Diagnostic::error(what).at(all[i].place.clone()).help(help)]);
        }
        (0..all.len()).find(with).unwrap_or(i)
    });
    first.collect()
}
