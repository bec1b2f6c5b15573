//! Customers of the TPC-H benchmark as trees: customer → orders → items.
//!
//! The records that k^(m,n)-anonymity was first measured on: nation; price and date of up to two orders;
//! quantity, manufacturer and brand of up to three items of each. TPC-H never lets every third customer order; they
//! stay in, as records with a nation only, which makes about 14 values per record. Numbers and dates are cut into
//! ranges, about five children per inner node. The paper gives a domain of 276 values and a depth of four and leaves open how
//! they come about, so there are two [`Shape`]s.
//!
//! The tables are those of the scale factor that has as many customers as asked for, at least
//! [`SMALLEST_SCALE`] of them; of more orders or items than are kept, those with the lowest numbers are.

#[cfg(not(feature = "tpch"))]
mod absent;
#[cfg(feature = "tpch")]
mod domains;
#[cfg(feature = "tpch")]
mod make;
#[cfg(feature = "tpch")]
mod sales;
#[cfg(feature = "tpch")]
mod write;

#[cfg(not(feature = "tpch"))]
pub use absent::write;
#[cfg(feature = "tpch")]
pub use make::{hierarchies, write, write_records};

/// How records are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Price above date above items. The hierarchies have 276 nodes.
    #[default]
    Chain,
    /// Prices beside items, both below the date: paths of four values. The hierarchies have 276 leaves.
    Paper,
}

impl Shape {
    /// The policy that goes with `data.ndjson`.
    pub fn policy(self) -> &'static str {
        match self {
            Shape::Chain => include_str!("tpch/policy.toml"),
            Shape::Paper => include_str!("tpch/policy-paper.toml"),
        }
    }

    /// Nodes of all hierarchies together, their roots among them.
    pub fn hierarchy_nodes(self) -> usize {
        match self {
            Shape::Chain => 276,
            Shape::Paper => 345,
        }
    }

    /// Values on the longest path of a value tree.
    pub fn value_depth(self) -> usize {
        match self {
            Shape::Chain => 5,
            Shape::Paper => 4,
        }
    }
}

/// The policy that goes with the linked tables in CSV files.
pub const POLICY_CSV: &str = include_str!("tpch/policy-csv.toml");

/// The policy that goes with the linked tables in a database.
pub const POLICY_SQLITE: &str = include_str!("tpch/policy-sqlite.toml");

/// Classes on a path: customer, order, item.
pub const VERTEX_DEPTH: usize = 3;

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
