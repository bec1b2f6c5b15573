//! What is promised, and against whom.

use super::Label;
use super::pieces::estimate;

/// One attacker: what they know, and how many people must fit.
///
/// ```text
/// nobody in particular   knows nothing at once; any m values, n relations
/// neighbour              knows gender, birth year and town at once; one further value
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Knower {
    pub(crate) k: u32,
    /// Most further values.
    pub(crate) m: usize,
    /// Most relations between these.
    pub(crate) n: usize,
    /// Per attribute whether all its labels are known at once.
    pub(crate) knows: Vec<bool>,
    /// Per attribute whether a further value may be one of its labels.
    pub(crate) among: Vec<bool>,
}

impl Knower {
    /// Somebody who knows nothing in particular.
    pub(crate) fn of_anything(k: u32, m: usize, n: usize, attributes: usize) -> Self {
        Knower { k, m, n, knows: vec![false; attributes], among: vec![true; attributes] }
    }

    /// Whether there are attributes that they know at once.
    pub(super) fn knows_at_once(&self) -> bool {
        self.knows.contains(&true)
    }

    /// Whether all that they know is told by labels alone, without a class.
    fn is_of_anything(&self) -> bool {
        !self.knows_at_once() && !self.among.contains(&false)
    }
}

/// Every piece of knowledge of every attacker is shown by at least k records, or by none.
#[derive(Clone, Debug)]
pub(crate) struct Promise {
    pub(crate) knowers: Vec<Knower>,
    /// Per attacker whether their pieces hold a number for the class of the record: what is known at once. The first one who
    /// knows nothing in particular needs none.
    pub(super) has_class: Vec<bool>,
}

impl Promise {
    pub(crate) fn new(knowers: Vec<Knower>) -> Self {
        let plain = knowers.iter().position(Knower::is_of_anything);
        let has_class = (0..knowers.len()).map(|at| plain != Some(at)).collect();
        Promise { knowers, has_class }
    }

    /// Of somebody who knows nothing in particular.
    pub(crate) fn of_anything((k, m, n): (u32, usize, usize), attributes: usize) -> Self {
        Promise::new(vec![Knower::of_anything(k, m, n, attributes)])
    }

    /// The fewest people who must ever fit.
    pub(super) fn least(&self) -> u32 {
        self.knowers.iter().map(|knower| knower.k).min().unwrap_or(0)
    }

    /// The most people who must ever fit.
    pub(super) fn most(&self) -> u32 {
        self.knowers.iter().map(|knower| knower.k).max().unwrap_or(0)
    }

    /// Most relations that anybody knows.
    pub(super) fn relations(&self) -> usize {
        self.knowers.iter().map(|knower| if knower.m > 1 { knower.n } else { 0 }).max().unwrap_or(0)
    }

    /// Whether somebody knows all of an attribute at once.
    pub(super) fn is_known_at_once(&self, attribute: u32) -> bool {
        self.knowers.iter().any(|knower| knower.knows[attribute as usize])
    }

    /// Whether somebody knows anything at once.
    pub(super) fn knows_at_once(&self) -> bool {
        self.knowers.iter().any(Knower::knows_at_once)
    }

    /// About how many pieces a record with so many labels has that hold a given one.
    pub(super) fn estimate(&self, labels: usize) -> u64 {
        self.knowers.iter().fold(0, |all, knower| {
            let m = knower.m + usize::from(knower.knows_at_once());
            all.saturating_add(estimate(labels, (m, knower.n)))
        })
    }

    /// About how many pieces a record with so many labels has.
    pub(super) fn estimate_all(&self, labels: usize) -> u64 {
        self.knowers.iter().fold(0, |all, knower| {
            all.saturating_add(estimate(labels, (knower.m, knower.n)).saturating_mul(labels as u64))
        })
    }
}

/// What a rare piece says: labels of which one has to rise.
pub(super) type Rare = Vec<Label>;
