//! Parameters from a policy.

use bosket_model::policy::{Diversity, Format, Model, Param, Policy, Siblings, Source};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

/// Which algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Clusters in passes, costly ones dissolved.
    Clustree,
    /// Clusters one after the other.
    Ctoff,
    /// Records stream into open clusters.
    Miracle,
    /// The same, vertices matched without their children.
    Miraclex,
    /// Clusters of two, then merged until diverse.
    Dmiracle,
    /// The single-table baseline.
    Bitmap,
    /// Flat tables: split, clustered, rows moved.
    Blocks,
}

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
    /// `clustree`: step of the cost limit.
    pub s: f64,
    /// `clustree`: last cost limit.
    pub m: f64,
    /// `miracle`: most open clusters.
    pub climit: usize,
    /// `miracle`: a record farther away opens a cluster.
    pub th: f64,
    /// Look only at so many candidates, those with the lowest bound; at all of them if not given.
    pub neighbours: Option<usize>,
    /// A cluster's cost counts its members while it grows.
    pub weighted: bool,
    /// Move and swap records between finished clusters while the cost falls.
    pub improve: bool,
    /// A record that was left over joins a cluster where that costs less than giving it up.
    pub leftovers: bool,
    /// Clusters regardless of sensitive values; those that are not diverse are suppressed.
    pub suppress_violators: bool,
    /// `bitmap`: what absence means.
    pub absent: Absent,
    /// Per declared attribute how much its loss counts.
    pub weights: Vec<f64>,
}

/// The candidates that `neighbours = "approximate"` looks at.
pub const APPROXIMATE: usize = 16;

impl Params {
    /// Parameters with the defaults of everything but the guarantee.
    pub fn plain(algorithm: Algorithm, k: u32, diverse: Option<Diverse>) -> Self {
        Params {
            algorithm,
            matching: usual(algorithm),
            k,
            diverse,
            s: 0.5,
            m: 4.0,
            climit: 150,
            th: 0.1,
            neighbours: None,
            weighted: true,
            improve: false,
            leftovers: true,
            suppress_violators: false,
            absent: Absent::Unknown,
            weights: Vec::new(),
        }
    }

    /// The parameters that a policy asks for. What cannot be done is refused with the whole list.
    pub fn new(policy: &Policy) -> Result<Self> {
        let privacy = policy.need_privacy()?;
        let method = &policy.method;
        let diverse = (privacy.model == Model::LDiversity).then(|| Diverse {
            l: privacy.l.unwrap_or(2.0),
            diversity: privacy.diversity,
            siblings: privacy.siblings,
            distinct_everywhere: privacy.distinct_everywhere.clone(),
            buckets: policy.attributes.iter().map(|a| a.buckets.clone()).collect(),
        });
        let algorithm = match method.algorithm.as_deref() {
            Some("clustree") => Algorithm::Clustree,
            Some("miracle") => Algorithm::Miracle,
            Some("miraclex") => Algorithm::Miraclex,
            Some("dmiracle") => Algorithm::Dmiracle,
            Some("bitmap") => Algorithm::Bitmap,
            Some("blocks") => Algorithm::Blocks,
            None if diverse.is_some() => Algorithm::Clustree,
            None if is_flat(policy) => Algorithm::Blocks,
            _ => Algorithm::Ctoff,
        };
        let mut problems = Vec::new();
        let mut refuse = |asked: bool, what: &str, help: &str| {
            if asked {
                problems.push(Diagnostic::error(what).at(Place::source(&policy.name)).help(help));
            }
        };
        refuse(
            algorithm == Algorithm::Blocks && diverse.is_some(),
            "algorithm `blocks` does not look at sensitive values",
            "use clustree or ctoff, which take flat tables as well",
        );
        refuse(
            algorithm == Algorithm::Dmiracle && diverse.is_none(),
            "algorithm `dmiracle` is for model `l-diversity`",
            "use miracle, or ask for l-diversity",
        );
        refuse(
            algorithm == Algorithm::Miraclex && method.text("matching").is_some_and(|m| m != "x"),
            "algorithm `miraclex` is `miracle` with matching `x`",
            "take `matching` out, or use miracle",
        );
        if !problems.is_empty() {
            return Err(Failure::all(Fault::Policy, problems));
        }
        let plain = Params::plain(algorithm, privacy.k.unwrap_or(1), diverse);
        Ok(Params {
            matching: match method.text("matching").as_deref() {
                Some("lsap") => Matching::Lsap,
                Some("grd") => Matching::Grd,
                Some("x") => Matching::X,
                _ => plain.matching,
            },
            s: method.number("s").unwrap_or(plain.s),
            m: method.number("m").unwrap_or(plain.m),
            climit: method.int("climit").map_or(plain.climit, |n| n as usize),
            th: method.number("th").unwrap_or(plain.th),
            neighbours: match method.param("neighbours") {
                Some(Param::Int(n)) => Some(n as usize),
                Some(Param::Text(_)) => Some(APPROXIMATE),
                _ => None,
            },
            weighted: method.flag("weighted").unwrap_or(plain.weighted),
            improve: method.flag("improve").unwrap_or(plain.improve),
            suppress_violators: method.flag("suppress_violators").unwrap_or(plain.suppress_violators),
            absent: match method.text("absent").as_deref() {
                Some("no") => Absent::No,
                _ => Absent::Unknown,
            },
            weights: policy.attributes.iter().map(|a| a.weight.unwrap_or(1.0)).collect(),
            ..plain
        })
    }

    /// Fewest members of a cluster.
    pub fn size(&self) -> usize {
        let diverse = self.diverse.as_ref().map_or(1.0, |d| (d.l - 1e-9).ceil());
        (self.k as usize).max(diverse as usize).max(2)
    }
}

/// Whether the records are the rows of one table, as far as the policy tells.
fn is_flat(policy: &Policy) -> bool {
    let several = |s: &Source| s.tables.len() > 1 || s.tables.iter().any(|t| !t.person.is_empty());
    let sets = |s: &Source| s.format == Format::Transactions;
    !policy.source.as_ref().is_some_and(|s| several(s) || sets(s))
        && policy.attributes.iter().all(|a| !a.path.contains("[]"))
}

/// The matching of an algorithm, where the policy names none.
fn usual(algorithm: Algorithm) -> Matching {
    match algorithm {
        Algorithm::Clustree | Algorithm::Ctoff | Algorithm::Blocks => Matching::Lsap,
        Algorithm::Miracle | Algorithm::Dmiracle | Algorithm::Bitmap => Matching::Grd,
        Algorithm::Miraclex => Matching::X,
    }
}
