//! The benchmark's tables, joined: what each customer bought.
//!
//! Orders come in the order of their keys, not of their customers, so what is kept of them waits in memory, in 64
//! bytes per customer.

use std::io;

use bosket_model::observe::Observer;
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, OrderGenerator, PartBrandName, PartGenerator,
};
use tpchgen::text::TextPool;

use super::domains::{self, BRANDS, Domains, brand_digits};
use super::{SMALLEST_SCALE, Shape, Summary};

const ORDERS: usize = 2;
const ITEMS: usize = 3;
/// Customers of scale factor 1.
const SCALE_BASE: f64 = 150_000.0;
/// How often progress is told.
const STEP: usize = 1 << 14;

/// An item.
#[derive(Clone, Copy, Default)]
pub(super) struct Item {
    pub(super) pieces: u8,
    /// By its number.
    pub(super) brand: u8,
}

/// An order, in more detail than any shape has.
#[derive(Clone, Copy)]
pub(super) struct Order {
    pub(super) key: i64,
    /// Its price.
    pub(super) thousands: u16,
    /// Its date, by number.
    pub(super) month: u8,
    count: u8,
    items: [Item; ITEMS],
}

impl Order {
    pub(super) fn items(&self) -> &[Item] {
        &self.items[..usize::from(self.count)]
    }
}

/// What is kept of a customer's orders.
type Basket = [Option<Order>; ORDERS];

/// A customer with everything the record tells.
pub(super) struct Customer<'a> {
    pub(super) key: i64,
    pub(super) nation: usize,
    basket: &'a Basket,
}

impl Customer<'_> {
    pub(super) fn orders(&self) -> impl Iterator<Item = &Order> {
        self.basket.iter().flatten()
    }

    /// Nodes of the value tree: the nation, and every beginning of a path from an order to a leaf once.
    fn nodes(&self, domains: &Domains) -> u64 {
        let mut paths: Vec<Vec<&str>> = Vec::new();
        for order in self.orders() {
            let (price, date) = (domains.price(order), domains.date(order));
            let above = match domains.shape {
                Shape::Chain => vec![price, date],
                Shape::Paper => {
                    // A level of its own, lest a price be taken for a quantity.
                    paths.push(vec![date, "", price]);
                    vec![date]
                }
            };
            paths.extend(order.items().iter().map(|item| [&above[..], &domains.of_item(*item)].concat()));
        }
        paths.sort_unstable();
        let shared = |a: &[&str], b: &[&str]| a.iter().zip(b).take_while(|(x, y)| x == y).count();
        let repeated: usize = paths.windows(2).map(|pair| shared(&pair[0], &pair[1])).sum();
        let values: usize = paths.iter().map(Vec::len).sum();
        // The level of prices is not there.
        let mut levels: Vec<&str> = paths.iter().filter(|p| p[1].is_empty()).map(|p| p[0]).collect();
        levels.dedup();
        (1 + values - repeated - levels.len()) as u64
    }
}

/// All that was sold.
pub(super) struct Sales {
    scale: f64,
    text: TextPool,
    baskets: Vec<Basket>,
}

impl Sales {
    pub(super) fn new(customers: u64, observer: &dyn Observer) -> Self {
        // The generator multiplies and cuts off what follows the point: a little more, lest a customer be lost.
        let scale = (customers.max(SMALLEST_SCALE) as f64 + 0.01) / SCALE_BASE;
        let text = domains::sales_text();
        let mut baskets = vec![[None; ORDERS]; customers as usize];
        fill(&mut baskets, scale, &text, observer);
        Sales { scale, text, baskets }
    }

    /// Hands out the customers in the order of their keys.
    pub(super) fn each_customer(
        &self,
        domains: &Domains,
        observer: &dyn Observer,
        mut each: impl FnMut(&Customer<'_>) -> io::Result<()>,
    ) -> io::Result<Summary> {
        let distributions = Distributions::static_default();
        observer.stage("writing customers", self.baskets.len() as u64);
        let mut summary = Summary::default();
        let customers = CustomerGenerator::new_with_distributions_and_text_pool(
            self.scale,
            1,
            1,
            distributions,
            &self.text,
        );
        for (i, (row, basket)) in customers.iter().zip(&self.baskets).enumerate() {
            let customer = Customer { key: row.c_custkey, nation: row.c_nationkey as usize, basket };
            each(&customer)?;
            summary.customers += 1;
            summary.orders += customer.orders().count() as u64;
            summary.items += customer.orders().map(|o| u64::from(o.count)).sum::<u64>();
            summary.nodes += customer.nodes(domains);
            if (i + 1).is_multiple_of(STEP) {
                observer.advance(STEP as u64);
            }
        }
        Ok(summary)
    }
}

fn fill(baskets: &mut [Basket], scale: f64, text: &TextPool, observer: &dyn Observer) {
    let distributions = Distributions::static_default();
    let brands = brands(scale, text);
    observer.stage("making orders", OrderGenerator::calculate_row_count(scale, 1, 1) as u64);
    let orders = OrderGenerator::new_with_distributions_and_text_pool(scale, 1, 1, distributions, text);
    let lines = LineItemGenerator::new_with_distributions_and_text_pool(scale, 1, 1, distributions, text);
    // Both come in the order of the orders' keys.
    let mut lines = lines.iter().peekable();
    for (i, row) in orders.iter().enumerate() {
        let (year, month, _) = row.o_orderdate.to_ymd();
        let mut order = Order {
            key: row.o_orderkey,
            thousands: domains::thousands(row.o_totalprice.0),
            month: domains::month(year, month),
            count: 0,
            items: [Item::default(); ITEMS],
        };
        while let Some(line) = lines.next_if(|line| line.l_orderkey == row.o_orderkey) {
            if let Some(item) = order.items.get_mut(usize::from(order.count)) {
                let brand = brands[line.l_partkey as usize - 1];
                *item = Item { pieces: line.l_quantity as u8, brand };
                order.count += 1;
            }
        }
        let basket = baskets.get_mut(row.o_custkey as usize - 1);
        if let Some(free) = basket.and_then(|b| b.iter_mut().find(|o| o.is_none())) {
            *free = Some(order);
        }
        if (i + 1).is_multiple_of(STEP) {
            observer.advance(STEP as u64);
        }
    }
}

/// The brands of all parts, by the parts' keys less one.
fn brands(scale: f64, text: &TextPool) -> Vec<u8> {
    let names: Vec<PartBrandName> = (0..BRANDS).map(|b| PartBrandName::new(brand_digits(b))).collect();
    PartGenerator::new_with_distributions_and_text_pool(scale, 1, 1, Distributions::static_default(), text)
        .iter()
        .map(|part| {
            let brand = names.iter().position(|name| *name == part.p_brand);
            brand.expect("TPC-H has five brands of each of five manufacturers") as u8
        })
        .collect()
}
