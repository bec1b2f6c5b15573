//! What the match counts of people come to.

/// A share of people, with a 95 % interval where only a sample was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// The share.
    pub value: f64,
    /// Lower end; the share itself if everybody was looked at.
    pub low: f64,
    /// Upper end; the share itself if everybody was looked at.
    pub high: f64,
}

/// People whose fewest matches lie in a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// From so many matches on.
    pub from: usize,
    /// Up to so many; none for all above.
    pub to: Option<usize>,
    /// Share of people.
    pub people: f64,
}

/// The risk from attackers of one strength.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// How many values are known; none for all quasi values and the structure.
    pub m: Option<u32>,
    /// How many relations are known; none for the whole structure.
    pub n: Option<u32>,
    /// How many people were looked at.
    pub people: usize,
    /// Whether these are all.
    pub exhaustive: bool,
    /// Whether all their knowledge was counted; if not, the fewest matches are upper bounds and the risks lower ones.
    pub exact: bool,
    /// Whom some knowledge fits alone.
    pub unique: Share,
    /// Whom some knowledge fits together with fewer than k - 1 others.
    pub below_k: Share,
    /// How many fewest matches people have.
    pub bins: Vec<Bin>,
    /// The largest risk of anybody: one by the fewest matches.
    pub prosecutor: f64,
    /// The mean of that risk: the share of people that an attacker who knows everybody's worst piece expects to find.
    pub marketer: f64,
    /// The share of pieces of knowledge that fit one person alone, on average over people.
    pub random_unique: f64,
    /// One by the matches, on average over pieces of knowledge, then over people.
    pub random_marketer: f64,
    /// The highest share of one sensitive value among matching records, and its mean over people.
    pub confidence: Option<(f64, f64)>,
    /// The risk where matches are counted in the population that the data was drawn from, if its records are at hand.
    pub journalist: Option<Journalist>,
}

/// The risk from attackers of one strength who do not know who is in the data. A person's matches are the records of the
/// population that fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Journalist {
    /// How many records the population has.
    pub population: usize,
    /// How many people were looked at.
    pub people: usize,
    /// Whether these are all.
    pub exhaustive: bool,
    /// Whether all their knowledge was counted; if not, the fewest matches are upper bounds and the risks lower ones.
    pub exact: bool,
    /// Of whom some knowledge fits no record at all: the population does not hold them. They are counted as if one did.
    pub absent: Share,
    /// Whom some knowledge fits alone.
    pub unique: Share,
    /// Whom some knowledge fits together with fewer than k - 1 others.
    pub below_k: Share,
    /// The largest risk of anybody: one by the fewest matches in the population.
    pub highest: f64,
    /// The mean of that risk: marketer risk with a population.
    pub mean: f64,
}

impl Journalist {
    pub(super) fn new(look: Look, people: &[Figure], k: u32, population: usize) -> Self {
        let share = |of: &dyn Fn(u32) -> bool| Share::new(count(people, of), people.len(), look.exhaustive);
        let risks = || people.iter().map(|f| 1.0 / f64::from(f.fewest.max(1)));
        Journalist {
            population,
            people: people.len(),
            exhaustive: look.exhaustive,
            exact: look.exact,
            absent: share(&|fewest| fewest == 0),
            unique: share(&|fewest| fewest <= 1),
            below_k: share(&|fewest| fewest.max(1) < k),
            highest: risks().fold(0.0, f64::max),
            mean: risks().sum::<f64>() / people.len().max(1) as f64,
        }
    }
}

fn count(people: &[Figure], of: &dyn Fn(u32) -> bool) -> usize {
    people.iter().filter(|f| of(f.fewest)).count()
}

/// One person at one point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    pub(super) fewest: u32,
    pub(super) random_unique: f64,
    pub(super) random_inverse: f64,
}

impl Figure {
    /// A person of whom there is one piece of knowledge.
    pub(super) fn one(matches: u32) -> Self {
        Figure {
            fewest: matches,
            random_unique: if matches == 1 { 1.0 } else { 0.0 },
            random_inverse: 1.0 / f64::from(matches.max(1)),
        }
    }
}

/// How a point was looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) m: Option<u32>,
    pub(super) n: Option<u32>,
    pub(super) exhaustive: bool,
    pub(super) exact: bool,
}

impl Point {
    pub(super) fn new(look: Look, people: &[Figure], k: u32) -> Self {
        let count = people.len();
        let share = |hits: usize| Share::new(hits, count, look.exhaustive);
        let mean = |of: &dyn Fn(&Figure) -> f64| people.iter().map(of).sum::<f64>() / count.max(1) as f64;
        let risk = |f: &Figure| 1.0 / f64::from(f.fewest.max(1));
        Point {
            m: look.m,
            n: look.n,
            people: count,
            exhaustive: look.exhaustive,
            exact: look.exact,
            unique: share(people.iter().filter(|f| f.fewest == 1).count()),
            below_k: share(people.iter().filter(|f| f.fewest < k).count()),
            bins: bins(people, k),
            prosecutor: people.iter().map(risk).fold(0.0, f64::max),
            marketer: mean(&risk),
            random_unique: mean(&|f| f.random_unique),
            random_marketer: mean(&|f| f.random_inverse),
            confidence: None,
            journalist: None,
        }
    }
}

/// Where bins begin, besides k.
const BORDERS: [usize; 8] = [1, 2, 3, 5, 10, 20, 50, 100];

fn bins(people: &[Figure], k: u32) -> Vec<Bin> {
    let mut borders = BORDERS.to_vec();
    borders.push((k as usize).max(1));
    borders.sort_unstable();
    borders.dedup();
    (0..borders.len())
        .map(|at| {
            let (from, to) = (borders[at], borders.get(at + 1).map(|next| next - 1));
            let inside = |f: &&Figure| {
                let fewest = f.fewest as usize;
                fewest >= from && to.is_none_or(|to| fewest <= to)
            };
            let hits = people.iter().filter(inside).count();
            Bin { from, to, people: hits as f64 / people.len().max(1) as f64 }
        })
        .collect()
}

/// The 97.5 % point of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

impl Share {
    /// So many of so many, with Wilson's interval unless these are all there are.
    pub(super) fn new(hits: usize, of: usize, all: bool) -> Self {
        let n = of.max(1) as f64;
        let p = hits as f64 / n;
        if all || of == 0 {
            return Share { value: p, low: p, high: p };
        }
        let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        Share { value: p, low: (middle - half).clamp(0.0, p), high: (middle + half).clamp(p, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilsons_interval() {
        let share = Share::new(10, 100, false);
        assert!((share.low - 0.0552).abs() < 5e-4 && (share.high - 0.1744).abs() < 5e-4, "{share:?}");
        assert_eq!(Share::new(10, 100, true), Share { value: 0.1, low: 0.1, high: 0.1 });
        let none = Share::new(0, 50, false);
        assert!(none.low == 0.0 && none.high > 0.05 && none.high < 0.1, "{none:?}");
        assert_eq!(Share::new(0, 0, false).value, 0.0);
    }

    #[test]
    fn k_is_a_border_of_bins() {
        let people: Vec<Figure> = [1, 3, 6, 7, 200].map(Figure::one).to_vec();
        let bins = bins(&people, 7);
        assert!((bins.iter().map(|b| b.people).sum::<f64>() - 1.0).abs() < 1e-12);
        let of = |from| bins.iter().find(|b| b.from == from).expect("a bin");
        assert_eq!((of(5).to, of(5).people), (Some(6), 0.2));
        assert_eq!((of(7).to, of(7).people), (Some(9), 0.2));
        assert_eq!((of(100).to, of(100).people), (None, 0.2));
    }
}
