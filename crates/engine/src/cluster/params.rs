//! Parameters from a policy.

use std::time::Duration;

use bosket_model::Result;
use bosket_model::policy::{Algorithm, Diversity, Family, Ground, Model, Number, Param, Policy, Siblings};

use crate::asked::Asked;

/// How the children of two vertices are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// At the least total cost.
    Lsap,
    /// Each child of the smaller side takes its cheapest free partner.
    Grd,
    /// The same by the vertices' own values, children not looked at.
    X,
}

/// What absence means to `bitmap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// Nothing: the data is incomplete.
    Unknown,
    /// That it is not there: the data is complete.
    No,
}

/// In how many cells records are clustered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// As many as it takes to be done in time.
    Auto,
    /// So many, where the records can be split into as many.
    Exactly(usize),
}

/// Per declared attribute the bounds between buckets of a number.
pub(super) type Buckets = [Option<Vec<f64>>];

/// What diversity asks for.
#[derive(Clone, Debug)]
pub struct Diverse {
    /// No more than one in l.
    pub l: f64,
    /// How it is measured.
    pub diversity: Diversity,
    /// How alike siblings are judged.
    pub siblings: Siblings,
    /// Values that may stand only once in a class.
    pub distinct_everywhere: Vec<String>,
    /// Per declared attribute the bounds between buckets of a number.
    pub buckets: Vec<Option<Vec<f64>>>,
}

/// What is asked of the distributions of sensitive values.
#[derive(Clone, Debug)]
pub struct Close {
    /// How they are compared.
    pub measure: Measure,
    /// Per declared attribute how far two of its values are from each other.
    pub grounds: Vec<Ground>,
    /// Per declared attribute the bounds between buckets of a number.
    pub buckets: Vec<Option<Vec<f64>>>,
}

impl Close {
    /// How far two values of a declared attribute are from each other.
    pub(super) fn ground(&self, declared: usize) -> Ground {
        match self.measure {
            Measure::T(_) => self.grounds.get(declared).copied().unwrap_or(Ground::Equal),
            Measure::Beta(_) => Ground::Equal,
        }
    }
}

/// How the values of a cluster are compared with those of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// t-closeness: the earth mover's distance is at most t.
    T(f64),
    /// Enhanced β-likeness: no value's share q exceeds its share p by more than min(β, −ln p) · p.
    Beta(f64),
}

impl Measure {
    /// What a policy calls its number, and the number.
    pub(super) fn named(self) -> (&'static str, f64) {
        match self {
            Measure::T(t) => (Number::T.name(), t),
            Measure::Beta(beta) => (Number::Beta.name(), beta),
        }
    }
}

/// What a run depends on.
#[derive(Clone, Debug)]
pub struct Params {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// How children are paired.
    pub matching: Matching,
    /// Fewest records that look alike.
    pub k: u32,
    /// What is asked of sensitive values; none for k-anonymity.
    pub diverse: Option<Diverse>,
    /// The largest share that a value may have among what a label hides, unless it is that common anyway.
    pub guess: Option<f64>,
    /// What is asked of them in comparison with those of all records.
    pub close: Option<Close>,
    /// `clustree`: step of the cost limit.
    pub s: f64,
    /// `clustree`: last cost limit.
    pub m: f64,
    /// `miracle`: most open clusters.
    pub climit: usize,
    /// `miracle`: a record farther away opens a cluster.
    pub th: f64,
    /// A cluster's cost counts its members while it grows.
    pub weighted: bool,
    /// Move and swap records between finished clusters while the cost falls.
    pub improve: bool,
    /// How long to search, if anybody says; whoever watches tells when it is over ([`Observer::out_of_time`]).
    ///
    /// [`Observer::out_of_time`]: bosket_model::observe::Observer::out_of_time
    pub time: Option<Duration>,
    /// A record that was left over joins a cluster where that costs less than giving it up.
    pub leftovers: bool,
    /// Clusters regardless of sensitive values; those that are not diverse are suppressed.
    pub suppress_violators: bool,
    /// `bitmap`: what absence means.
    pub absent: Absent,
    /// How much a lost sensitive value counts; a quasi value that is given up counts 1.
    pub lost: f64,
    /// Per declared attribute how much its loss counts.
    pub weights: Vec<f64>,
    /// In how many cells records are clustered; one unless a policy says so.
    pub cells: Cells,
    /// Bytes that the search may take.
    pub memory: usize,
}

/// Bytes that a search may take, if nobody says.
const MEMORY: usize = 1 << 30;

impl Params {
    /// Parameters with the defaults of everything but the guarantee.
    pub fn plain(algorithm: Algorithm, k: u32, diverse: Option<Diverse>) -> Self {
        Params {
            algorithm,
            matching: usual(algorithm),
            k,
            diverse,
            close: None,
            s: 0.5,
            m: 4.0,
            climit: 150,
            th: 0.1,
            weighted: true,
            improve: false,
            time: None,
            leftovers: true,
            suppress_violators: false,
            absent: Absent::Unknown,
            lost: 1.0,
            guess: None,
            weights: Vec::new(),
            cells: Cells::Exactly(1),
            memory: MEMORY,
        }
    }

    /// The parameters that a policy asks for. What cannot be done is refused with the whole list.
    pub fn new(policy: &Policy) -> Result<Self> {
        let asked = Asked::new(policy, Family::Cluster)?;
        let Asked { privacy, method, algorithm, .. } = asked;
        let mut problems = asked.problems();
        problems.refuse(
            algorithm == Algorithm::Miraclex && method.text("matching").is_some_and(|m| m != "x"),
            "algorithm `miraclex` is `miracle` with matching `x`",
            "take `matching` out, or use miracle",
        );
        let matchings = [("lsap", Matching::Lsap), ("grd", Matching::Grd), ("x", Matching::X)];
        let matching = problems.word(method, "matching", &matchings, usual(algorithm));
        let absences = [("unknown", Absent::Unknown), ("no", Absent::No)];
        let absent = problems.word(method, "absent", &absences, Absent::Unknown);
        let time = method.duration("time");
        problems.refuse(
            time.is_none() && method.param("time").is_some(),
            "`method.time` is no duration",
            "write a whole number with its unit: `500ms`, `60s`, `5m`",
        );
        // What is not known to hold for all cells together where it holds for each is made in one.
        let cells = match (privacy.model.takes_cells(), method.param("cells")) {
            (false, _) => Cells::Exactly(1),
            (true, Some(Param::Int(cells))) => Cells::Exactly(cells.max(1) as usize),
            (true, _) => problems.word(method, "cells", &[("auto", Cells::Auto)], Cells::Auto),
        };
        problems.end()?;
        let buckets = || policy.attributes.iter().map(|a| a.buckets.clone()).collect();
        let measure = match privacy.model {
            Model::TCloseness => Some(Measure::T(asked.number(privacy.t, Number::T)?)),
            Model::BetaLikeness => Some(Measure::Beta(asked.number(privacy.beta, Number::Beta)?)),
            _ => None,
        };
        let close = measure.map(|measure| Close {
            measure,
            grounds: policy.attributes.iter().map(|a| a.ground).collect(),
            buckets: buckets(),
        });
        let diverse = match privacy.model.needs_sensitive() && close.is_none() {
            false => None,
            true => Some(Diverse {
                l: asked.number(privacy.l, Number::L)?,
                diversity: privacy.diversity,
                siblings: privacy.siblings,
                distinct_everywhere: privacy.distinct_everywhere.clone(),
                buckets: buckets(),
            }),
        };
        // Who asks for diversity or closeness may leave k out; then classes are as large as that takes.
        let k = match privacy.model.needs_sensitive() {
            true => privacy.k.unwrap_or(1),
            false => asked.number(privacy.k, Number::K)?,
        };
        let plain = Params::plain(algorithm, k, diverse);
        Ok(Params {
            close,
            matching,
            s: method.number("s").unwrap_or(plain.s),
            m: method.number("m").unwrap_or(plain.m),
            climit: method.int("climit").map_or(plain.climit, |n| n as usize),
            th: method.number("th").unwrap_or(plain.th),
            weighted: method.flag("weighted").unwrap_or(plain.weighted),
            // Time is for making better what has been found.
            improve: method.flag("improve").unwrap_or(time.is_some()),
            time,
            suppress_violators: method.flag("suppress_violators").unwrap_or(plain.suppress_violators),
            absent,
            cells,
            lost: method.number("lost").unwrap_or(plain.lost),
            guess: privacy.guess,
            weights: policy.attributes.iter().map(|a| a.weight.unwrap_or(1.0)).collect(),
            ..plain
        })
    }

    /// How sensitive values are told apart, if they matter: the bounds of buckets per declared attribute, and values that may
    /// stand only once in a class.
    pub(super) fn secrets(&self) -> Option<(&Buckets, &[String])> {
        match (&self.diverse, &self.close) {
            (Some(ask), _) => Some((&ask.buckets, &ask.distinct_everywhere)),
            (None, Some(ask)) => Some((&ask.buckets, &[])),
            (None, None) => None,
        }
    }

    /// Whether clusters are filled with the best of all records. A stream has only its open clusters to choose from: the fewer records
    /// pass by, and the more alike they are, the better.
    pub(super) fn looks_at_all(&self) -> bool {
        !matches!(self.algorithm, Algorithm::Miracle | Algorithm::Miraclex | Algorithm::Dmiracle)
    }

    /// Fewest members of a cluster.
    pub fn size(&self) -> usize {
        size_of(self.k as usize, self.diverse.as_ref().map_or(1.0, |d| d.l))
    }
}

/// Fewest members of a cluster for some k and l.
pub(super) fn size_of(k: usize, l: f64) -> usize {
    k.max((l - 1e-9).ceil() as usize).max(2)
}

/// The matching of an algorithm, where the policy names none.
fn usual(algorithm: Algorithm) -> Matching {
    match algorithm {
        Algorithm::Miracle | Algorithm::Dmiracle | Algorithm::Bitmap => Matching::Grd,
        Algorithm::Miraclex => Matching::X,
        _ => Matching::Lsap,
    }
}
