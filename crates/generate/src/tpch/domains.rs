//! The values of each attribute, by number, and the hierarchies over them.

use std::fmt::Write as _;

use tpchgen::distribution::Distributions;
use tpchgen::generators::{NationGenerator, RegionGenerator};
use tpchgen::text::TextPool;

use super::Shape;
use super::sales::{Item, Order};

/// Prices in thousands of dollars. Few orders cost more than the last range begins with.
const PRICES: [Ranges; 2] = [
    Ranges { first: 0, width: 3, count: 113, unit: 1_000, open: true },
    Ranges { first: 0, width: 5, count: 91, unit: 1_000, open: true },
];
const QUANTITIES: [Ranges; 2] = [
    Ranges { first: 1, width: 2, count: 25, unit: 1, open: false },
    Ranges { first: 1, width: 1, count: 50, unit: 1, open: false },
];
/// Orders are dated from January 1992 to August 1998.
const FIRST_YEAR: i32 = 1992;
const MONTHS: usize = 80;
const QUARTER: usize = 3;
const MANUFACTURERS: usize = 5;
/// Brands of each manufacturer, and everywhere else the children per node.
const FAN_OUT: usize = 5;

/// Adjacent ranges of equal width.
struct Ranges {
    first: usize,
    width: usize,
    count: usize,
    /// What values are multiples of.
    unit: usize,
    /// The last one has no upper end.
    open: bool,
}

impl Ranges {
    fn number(&self, value: usize) -> usize {
        ((value - self.first) / self.width).min(self.count - 1)
    }

    /// The label of the node over `span` ranges that holds range `i`.
    fn label(&self, i: usize, span: usize) -> String {
        let from = i / span * span;
        let to = (from + span).min(self.count);
        let low = (self.first + from * self.width) * self.unit;
        let high = (self.first + to * self.width) * self.unit - 1;
        if self.open && to == self.count {
            format!("{low}+")
        } else if low == high {
            low.to_string()
        } else {
            format!("{low}-{high}")
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

/// A price in whole thousands of dollars, given in cents.
pub(super) fn thousands(cents: i64) -> u16 {
    // Totals are sums of positive prices, far below the limit.
    (cents / 100_000) as u16
}

/// The number of a date's month; the year counts from 1900, the month from 1.
pub(super) fn month(year: i32, month: i32) -> u8 {
    ((year + 1900 - FIRST_YEAR) * 12 + month - 1) as u8
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

/// The labels of all leaves of one shape, by number.
pub(super) struct Domains {
    pub(super) shape: Shape,
    nation: Vec<String>,
    price: Vec<String>,
    date: Vec<String>,
    quantity: Vec<String>,
    manufacturer: Vec<String>,
    brand: Vec<String>,
    /// Regions with the numbers of their nations.
    regions: Vec<(String, Vec<usize>)>,
}

impl Domains {
    pub(super) fn new(shape: Shape) -> Self {
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
            shape,
            nation,
            price: PRICES[shape as usize].labels(),
            date: match shape {
                Shape::Chain => (0..MONTHS.div_ceil(QUARTER)).map(quarter).collect(),
                Shape::Paper => (0..MONTHS).map(|month| months(month, 1)).collect(),
            },
            quantity: QUANTITIES[shape as usize].labels(),
            manufacturer: (1..=MANUFACTURERS).map(|m| format!("Manufacturer#{m}")).collect(),
            brand: (0..BRANDS).map(|b| format!("Brand#{}", brand_digits(b))).collect(),
            regions,
        }
    }

    pub(super) fn nation(&self, number: usize) -> &str {
        &self.nation[number]
    }

    pub(super) fn price(&self, order: &Order) -> &str {
        &self.price[PRICES[self.shape as usize].number(usize::from(order.thousands))]
    }

    pub(super) fn date(&self, order: &Order) -> &str {
        &self.date[usize::from(order.month) / if self.shape == Shape::Chain { QUARTER } else { 1 }]
    }

    /// Quantity, manufacturer and brand.
    pub(super) fn of_item(&self, item: Item) -> [&str; 3] {
        [
            &self.quantity[QUANTITIES[self.shape as usize].number(usize::from(item.pieces))],
            &self.manufacturer[usize::from(manufacturer(item.brand))],
            &self.brand[usize::from(item.brand)],
        ]
    }

    pub(super) fn hierarchies(&self) -> Vec<(&'static str, String)> {
        let nation = self.regions.iter().flat_map(|(region, nations)| {
            nations.iter().map(move |&n| vec![self.nation[n].clone(), region.clone()])
        });
        let date = (0..self.date.len()).map(|i| match self.shape {
            Shape::Chain => vec![quarter(i), (FIRST_YEAR + i as i32 / 4).to_string()],
            Shape::Paper => [1, FAN_OUT, FAN_OUT * FAN_OUT].map(|span| months(i, span)).to_vec(),
        });
        let brand = (0..BRANDS).map(|b| {
            let of_one = manufacturer(b) * FAN_OUT as u8;
            let (first, last) = (brand_digits(of_one), brand_digits(of_one + FAN_OUT as u8 - 1));
            vec![self.brand[usize::from(b)].clone(), format!("Brand#{first}-{last}")]
        });
        let spans = [1, FAN_OUT, FAN_OUT * FAN_OUT];
        let quantity = &spans[..if self.shape == Shape::Chain { 2 } else { 3 }];
        vec![
            ("nation", lines(nation)),
            ("price", PRICES[self.shape as usize].hierarchy(&spans)),
            ("date", lines(date)),
            ("quantity", QUANTITIES[self.shape as usize].hierarchy(quantity)),
            ("manufacturer", lines(self.manufacturer.iter().map(|m| vec![m.clone()]))),
            ("brand", lines(brand)),
        ]
    }
}

fn quarter(number: usize) -> String {
    format!("{}-Q{}", FIRST_YEAR + number as i32 / 4, number % 4 + 1)
}

/// The node over `span` months that holds a month.
fn months(number: usize, span: usize) -> String {
    let month = |n: usize| format!("{}-{:02}", FIRST_YEAR + n as i32 / 12, n % 12 + 1);
    let from = number / span * span;
    if span == 1 { month(from) } else { format!("{}/{}", month(from), month((from + span).min(MONTHS) - 1)) }
}

/// Text for comments, which nobody reads here: a small pool saves the time and the 300 MB of the usual one. No
/// other column depends on it.
pub(super) fn sales_text() -> TextPool {
    TextPool::new(1 << 16, Distributions::static_default())
}
