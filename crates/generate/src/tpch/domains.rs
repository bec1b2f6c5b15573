//! The values of each attribute, by number, and the hierarchies over them.

use std::fmt::Write as _;

use tpchgen::distribution::Distributions;
use tpchgen::generators::{NationGenerator, RegionGenerator};
use tpchgen::text::TextPool;

/// Prices in whole dollars. Few orders cost more than the last range begins with.
const PRICE: Ranges = Ranges { first: 0, width: 3_000, count: 113, open: true };
const QUANTITY: Ranges = Ranges { first: 1, width: 2, count: 25, open: false };
/// Orders are dated from January 1992 to August 1998.
const FIRST_YEAR: i32 = 1992;
const QUARTERS: usize = 27;
const MANUFACTURERS: usize = 5;
/// Brands of each manufacturer, and everywhere else the children per node.
const FAN_OUT: usize = 5;

/// Adjacent ranges of equal width.
struct Ranges {
    first: u32,
    width: u32,
    count: usize,
    /// The last one has no upper end.
    open: bool,
}

impl Ranges {
    fn number(&self, value: u32) -> u8 {
        // Fewer than 256 ranges.
        (((value - self.first) / self.width) as usize).min(self.count - 1) as u8
    }

    /// The label of the node over `span` ranges that holds range `i`.
    fn label(&self, i: usize, span: usize) -> String {
        let from = i / span * span;
        let to = (from + span).min(self.count);
        let low = self.first + from as u32 * self.width;
        if self.open && to == self.count {
            format!("{low}+")
        } else {
            format!("{low}-{}", self.first + to as u32 * self.width - 1)
        }
    }

    fn labels(&self) -> Vec<String> {
        (0..self.count).map(|i| self.label(i, 1)).collect()
    }

    fn hierarchy(&self, spans: &[usize]) -> String {
        lines((0..self.count).map(|i| spans.iter().map(|&span| self.label(i, span)).collect()))
    }
}

fn lines(chains: impl Iterator<Item = Vec<String>>) -> String {
    let mut csv = String::new();
    for chain in chains {
        // Writing to a String cannot fail.
        let _ = writeln!(csv, "{};*", chain.join(";"));
    }
    csv
}

/// The number of a price, given in cents.
pub(super) fn price(cents: i64) -> u8 {
    // Totals are sums of positive prices, far below the limit.
    PRICE.number((cents / 100) as u32)
}

/// The number of a quantity, 1 to 50.
pub(super) fn quantity(pieces: i64) -> u8 {
    QUANTITY.number(pieces as u32)
}

/// The number of a date's quarter; the year counts from 1900, the month from 1.
pub(super) fn date(year: i32, month: i32) -> u8 {
    ((year + 1900 - FIRST_YEAR) * 4 + (month - 1) / 3) as u8
}

/// The digits of a brand's name: its manufacturer's and its own.
pub(super) fn brand_digits(brand: u8) -> i32 {
    (i32::from(brand) / FAN_OUT as i32 + 1) * 10 + i32::from(brand) % FAN_OUT as i32 + 1
}

/// How many brands there are.
pub(super) const BRANDS: u8 = (MANUFACTURERS * FAN_OUT) as u8;

/// The manufacturer of a brand.
pub(super) fn manufacturer(brand: u8) -> u8 {
    brand / FAN_OUT as u8
}

/// The labels of all leaves, by number.
pub(super) struct Domains {
    pub(super) nation: Vec<String>,
    pub(super) price: Vec<String>,
    pub(super) date: Vec<String>,
    pub(super) quantity: Vec<String>,
    pub(super) manufacturer: Vec<String>,
    pub(super) brand: Vec<String>,
    /// Regions with the numbers of their nations.
    regions: Vec<(String, Vec<usize>)>,
}

impl Domains {
    pub(super) fn new() -> Self {
        let distributions = Distributions::static_default();
        let text = sales_text();
        let mut nation = Vec::new();
        let mut regions: Vec<(String, Vec<usize>)> =
            RegionGenerator::new_with_distributions_and_text_pool(distributions, &text)
                .iter()
                .map(|r| (r.r_name.to_owned(), Vec::new()))
                .collect();
        for n in NationGenerator::new_with_distributions_and_text_pool(distributions, &text) {
            regions[n.n_regionkey as usize].1.push(nation.len());
            nation.push(n.n_name.to_owned());
        }
        Domains {
            nation,
            price: PRICE.labels(),
            date: (0..QUARTERS).map(quarter).collect(),
            quantity: QUANTITY.labels(),
            manufacturer: (1..=MANUFACTURERS).map(|m| format!("Manufacturer#{m}")).collect(),
            brand: (0..BRANDS).map(|b| format!("Brand#{}", brand_digits(b))).collect(),
            regions,
        }
    }

    pub(super) fn hierarchies(&self) -> Vec<(&'static str, String)> {
        let nation = self.regions.iter().flat_map(|(region, nations)| {
            nations.iter().map(move |&n| vec![self.nation[n].clone(), region.clone()])
        });
        let date = (0..QUARTERS).map(|q| vec![quarter(q), (FIRST_YEAR + q as i32 / 4).to_string()]);
        let brand = (0..BRANDS).map(|b| {
            let of_one = manufacturer(b) * FAN_OUT as u8;
            let (first, last) = (brand_digits(of_one), brand_digits(of_one + FAN_OUT as u8 - 1));
            vec![self.brand[usize::from(b)].clone(), format!("Brand#{first}-{last}")]
        });
        vec![
            ("nation", lines(nation)),
            ("price", PRICE.hierarchy(&[1, FAN_OUT, FAN_OUT * FAN_OUT])),
            ("date", lines(date)),
            ("quantity", QUANTITY.hierarchy(&[1, FAN_OUT])),
            ("manufacturer", lines(self.manufacturer.iter().map(|m| vec![m.clone()]))),
            ("brand", lines(brand)),
        ]
    }
}

fn quarter(number: usize) -> String {
    format!("{}-Q{}", FIRST_YEAR + number as i32 / 4, number % 4 + 1)
}

/// Text for comments, which nobody reads here: a small pool saves the time and the 300 MB of the usual one. No
/// other column depends on it.
pub(super) fn sales_text() -> TextPool {
    TextPool::new(1 << 16, Distributions::static_default())
}
