//! Customers of the TPC-H benchmark as trees: customer → orders → items.
//!
//! The records that k^(m,n)-anonymity was first measured on: nation; price and date of up to two orders;
//! quantity, manufacturer and brand of up to three items of each. TPC-H never lets every third customer order; they
//! stay in, as records with a nation only, which makes about 14 values per record. Numbers and dates are cut into
//! ranges. The hierarchies have 276 nodes in all and about five children per inner node.
//!
//! The tables are those of the scale factor that has as many customers as asked for, at least
//! [`SMALLEST_SCALE`] of them; of more orders or items than are kept, those with the lowest numbers are.

mod domains;
mod sales;
mod write;

use std::io::{self, Write};
use std::path::Path;

use bosket_io::tables::NewDatabase;
use bosket_io::{Create, Output};
use bosket_model::Result;
use bosket_model::observe::Observer;

use domains::Domains;
use sales::Sales;
use write::Tables;

/// The policy that goes with `data.ndjson`.
pub const POLICY: &str = include_str!("tpch/policy.toml");

/// The policy that goes with the linked tables in CSV files.
pub const POLICY_CSV: &str = include_str!("tpch/policy-csv.toml");

/// The policy that goes with the linked tables in a database.
pub const POLICY_SQLITE: &str = include_str!("tpch/policy-sqlite.toml");

/// Nodes of all hierarchies together, their roots among them.
pub const HIERARCHY_NODES: usize = 276;

/// Classes on a path: customer, order, item.
pub const VERTEX_DEPTH: usize = 3;

/// Values on a path of a value tree: price, date, quantity, manufacturer, brand.
pub const VALUE_DEPTH: usize = 5;

/// With fewer customers TPC-H has no supplier left for its items.
pub const SMALLEST_SCALE: u64 = 1_500;

/// Scale factor 100. What waits in memory takes a gigabyte there.
pub const LARGEST_SCALE: u64 = 15_000_000;

/// What has been written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Customers, each one record.
    pub customers: u64,
    /// Their orders.
    pub orders: u64,
    /// The items of these.
    pub items: u64,
    /// Nodes of all value trees: equal values under the same parent are one.
    pub nodes: u64,
}

impl Summary {
    /// All values of the quasi attributes.
    pub fn values(&self) -> u64 {
        self.customers + 2 * self.orders + 3 * self.items
    }

    /// Values per record.
    pub fn values_per_record(&self) -> f64 {
        self.values() as f64 / self.customers.max(1) as f64
    }

    /// Nodes per value tree.
    pub fn nodes_per_record(&self) -> f64 {
        self.nodes as f64 / self.customers.max(1) as f64
    }
}

/// Hierarchies by the name of their attribute, in the policies' order, as `leaf;parent;…;*` lines.
pub fn hierarchies() -> Vec<(&'static str, String)> {
    Domains::new().hierarchies()
}

/// Writes the records, one JSON object per line.
pub fn write_records(out: &mut dyn Write, customers: u64, observer: &dyn Observer) -> io::Result<Summary> {
    let domains = Domains::new();
    let mut line = String::new();
    Sales::new(customers, observer).each_customer(observer, |customer| {
        line.clear();
        write::push_json(&mut line, &domains, customer);
        out.write_all(line.as_bytes())
    })
}

/// Writes `data.ndjson` and `policy.toml`, `hierarchies/`, and the same records as linked tables in `tables/`, with
/// `policy-csv.toml` and `policy-sqlite.toml`, into a folder, all or nothing.
pub fn write(folder: &Path, customers: u64, create: Create, observer: &dyn Observer) -> Result<Summary> {
    bosket_io::make_folder(&folder.join("hierarchies"))?;
    bosket_io::make_folder(&folder.join("tables"))?;
    // Every file is begun before the work, so that one that exists is told at once.
    let begin = |name: &str| Output::create(&folder.join(name), create.clone());
    let policies = [
        ("policy.toml", POLICY),
        ("tables/policy-csv.toml", POLICY_CSV),
        ("tables/policy-sqlite.toml", POLICY_SQLITE),
    ];
    let texts: Vec<(Output, String)> = policies
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .into_iter()
        .chain(hierarchies().into_iter().map(|(name, text)| (format!("hierarchies/{name}.csv"), text)))
        .map(|(name, text)| Ok((begin(&name)?, text)))
        .collect::<Result<_>>()?;
    let mut data = begin("data.ndjson")?;
    let tables = ["tables/customer.csv", "tables/orders.csv", "tables/items.csv"];
    let [customer, orders, items] = tables.map(begin);
    let mut tables = Tables { customer: customer?, orders: orders?, items: items? };
    let mut database = NewDatabase::create(&folder.join("tables/tpch.db"), create, write::DATABASE)?;

    let domains = Domains::new();
    let mut line = String::new();
    let mut write_all = || -> io::Result<Summary> {
        tables.write_headers()?;
        Sales::new(customers, observer).each_customer(observer, |customer| {
            line.clear();
            write::push_json(&mut line, &domains, customer);
            data.write_all(line.as_bytes())?;
            tables.write_rows(&mut line, &domains, customer)?;
            write::insert_rows(&mut database, &domains, customer).map_err(io::Error::other)
        })
    };
    let summary = write_all().map_err(bosket_io::write_failure)?;
    let mut files = vec![data, tables.customer, tables.orders, tables.items];
    for (mut file, text) in texts {
        file.write_all(text.as_bytes()).map_err(bosket_io::write_failure)?;
        files.push(file);
    }
    database.finish(files)?;
    Ok(summary)
}
