//! Shopping baskets: sets of article numbers, in the measures of BMS-POS.
//!
//! BMS-POS, an electronics retailer's till over several years, is the set-valued data that k^m-anonymity was first
//! measured on and cannot be had freely. These baskets have its numbers: 1,657 articles, 6.5 per basket on average,
//! at most 164. Popularity follows Zipf's law: the article on place r is drawn with weight 1/r. Its number says nothing
//! about its place, so neighbours in the hierarchy are as different as in a shop; the shop is the same for all seeds.
//! Lengths follow a law with a heavy tail, so that a few baskets hold a large part of all combinations.
//!
//! Weights are made by additions, multiplications and divisions alone, which give the same bits on every machine.

use std::io::{self, Write};
use std::path::Path;

use bosket_io::{Create, Output, finish_all};
use bosket_model::Result;
use bosket_model::observe::Observer;

use bosket_model::random::Random;

/// How many articles there are.
pub const ITEMS: usize = 1_657;

/// The most articles in a basket.
pub const LONGEST: usize = 164;

/// How many baskets BMS-POS has.
pub const TRANSACTIONS: u64 = 515_597;

/// Children per inner node of the hierarchy.
pub const FANOUT: usize = 5;

/// Lengths up to this are drawn; those above [`LONGEST`] are cut to it, so that some baskets have it.
const LENGTHS: usize = 220;

/// How far the law of lengths is shifted; fitted to 6.5 articles per basket.
const SHIFT: f64 = 29.405;

/// Decides which article has which number.
const SHOP: u64 = 1_657;

/// Steps of progress are this many baskets.
const STEP: u64 = 1 << 16;

/// The policy that goes with the data.
pub const POLICY: &str = r#"# Baskets of a shop: whoever knows three articles of a basket must not recognise it.
version = 1

[source]
format = "transactions"
path = "data.txt"

[[attribute]]
path = "item"
role = "quasi"
hierarchy = "hierarchies/item.csv"

[privacy]
model = "km"
k = 5
m = 3

[publish]
path = "published.txt"
"#;

/// What has been written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Baskets, each one record.
    pub transactions: u64,
    /// Articles in all of them, an article counted in each basket that has it.
    pub occurrences: u64,
    /// Different articles.
    pub items: usize,
    /// The most articles in one basket.
    pub longest: usize,
}

impl Summary {
    /// Articles per basket.
    pub fn average(&self) -> f64 {
        self.occurrences as f64 / self.transactions.max(1) as f64
    }
}

/// Choices with weights, each drawn in constant time: Walker's alias method.
struct Weighted {
    /// Per place the chance, in 2⁻⁵³, that it stands for itself.
    own: Vec<u64>,
    alias: Vec<usize>,
}

impl Weighted {
    fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let unit = (1u64 << 53) as f64;
        let mut share: Vec<f64> = weights.iter().map(|w| w / total * weights.len() as f64).collect();
        let mut own = vec![1u64 << 53; weights.len()];
        let mut alias: Vec<usize> = (0..weights.len()).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&place| share[place] < 1.0);
        // What a small place leaves free is filled by a large one, which may become small by that.
        while let (Some(&from), Some(place)) = (large.last(), small.pop()) {
            own[place] = (share[place] * unit) as u64;
            alias[place] = from;
            share[from] -= 1.0 - share[place];
            if share[from] < 1.0 {
                small.extend(large.pop());
            }
        }
        Weighted { own, alias }
    }

    fn draw(&self, random: &mut Random) -> usize {
        let place = random.below(self.own.len());
        if random.next_u64() >> 11 < self.own[place] { place } else { self.alias[place] }
    }
}

/// The weight of each length, from 1: 1 / (length + shift)⁷.
fn lengths() -> Weighted {
    let weight = |length: usize| {
        let inverse = 1.0 / (length as f64 + SHIFT);
        let cube = inverse * inverse * inverse;
        cube * cube * inverse
    };
    Weighted::new(&(1..=LENGTHS).map(weight).collect::<Vec<_>>())
}

/// The article, from 0, on each place of popularity.
fn numbers() -> Vec<usize> {
    let mut random = Random::new(SHOP);
    let mut numbers: Vec<usize> = (0..ITEMS).collect();
    for i in (1..ITEMS).rev() {
        numbers.swap(i, random.below(i + 1));
    }
    numbers
}

/// Writes the baskets, one per line, their articles ascending.
pub fn write_records(
    out: &mut dyn Write,
    transactions: u64,
    seed: u64,
    observer: &dyn Observer,
) -> io::Result<Summary> {
    observer.stage("baskets", transactions);
    let mut random = Random::new(seed);
    let lengths = lengths();
    let popularity = Weighted::new(&(1..=ITEMS).map(|rank| 1.0 / rank as f64).collect::<Vec<_>>());
    let number_of = numbers();
    let texts: Vec<String> = (1..=ITEMS).map(|item| item.to_string()).collect();
    let mut summary = Summary { transactions, ..Summary::default() };
    // The last basket, from 1, that has an article.
    let mut last = vec![0u64; ITEMS];
    let mut basket: Vec<usize> = Vec::with_capacity(LONGEST);
    let mut line: Vec<u8> = Vec::new();
    for number in 1..=transactions {
        let length = (1 + lengths.draw(&mut random)).min(LONGEST);
        basket.clear();
        while basket.len() < length {
            let item = number_of[popularity.draw(&mut random)];
            if std::mem::replace(&mut last[item], number) != number {
                basket.push(item);
            }
        }
        basket.sort_unstable();
        line.clear();
        for &item in &basket {
            line.extend_from_slice(texts[item].as_bytes());
            line.push(b' ');
        }
        if let Some(end) = line.last_mut() {
            *end = b'\n';
        }
        out.write_all(&line)?;
        summary.occurrences += length as u64;
        summary.longest = summary.longest.max(length);
        if number % STEP == 0 {
            observer.advance(STEP);
        }
    }
    summary.items = last.iter().filter(|&&number| number > 0).count();
    Ok(summary)
}

/// The articles' hierarchy as `leaf;parent;…;*` lines: neighbours by fives, labelled by the numbers they span.
pub fn hierarchy() -> String {
    let mut text = String::new();
    for item in 1..=ITEMS {
        text.push_str(&item.to_string());
        let mut last = (item, item);
        let mut width = FANOUT;
        while width < ITEMS {
            let from = (item - 1) / width * width + 1;
            let span = (from, (from + width - 1).min(ITEMS));
            // What is left over at the end may be alone on several levels.
            if span != last {
                text.push_str(&format!(";{}-{}", span.0, span.1));
            }
            last = span;
            width *= FANOUT;
        }
        text.push_str(";*\n");
    }
    text
}

/// Writes `data.txt`, `policy.toml` and `hierarchies/item.csv` into a folder, all or nothing.
pub fn write(
    folder: &Path,
    transactions: u64,
    seed: u64,
    create: Create,
    observer: &dyn Observer,
) -> Result<Summary> {
    bosket_io::make_folder(&folder.join("hierarchies"))?;
    // Every file is begun before the work, so that one that exists is told at once.
    let begin = |name: &str| Output::create(&folder.join(name), create.clone());
    let mut data = begin("data.txt")?;
    let mut policy = begin("policy.toml")?;
    let mut item = begin("hierarchies/item.csv")?;
    let summary = write_records(&mut data, transactions, seed, observer).map_err(bosket_io::write_failure)?;
    policy.write_all(POLICY.as_bytes()).map_err(bosket_io::write_failure)?;
    item.write_all(hierarchy().as_bytes()).map_err(bosket_io::write_failure)?;
    finish_all(vec![data, policy, item])?;
    Ok(summary)
}
