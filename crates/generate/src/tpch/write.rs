//! The records as JSON and as rows of linked tables. No label needs quoting in either.

use std::fmt::Write as _;
use std::io::{self, Write};

use bosket_io::tables::NewDatabase;
use bosket_model::Result;

use super::Shape;
use super::domains::Domains;
use super::sales::Customer;

/// Adds a record and the end of its line.
pub(super) fn push_json(line: &mut String, domains: &Domains, customer: &Customer<'_>) {
    let nation = domains.nation(customer.nation);
    // Writing to a String cannot fail.
    let _ = write!(line, r#"{{"customer":{},"nation":"{nation}","orders":["#, customer.key);
    for (i, order) in customer.orders().enumerate() {
        let (price, date) = (domains.price(order), domains.date(order));
        let comma = if i > 0 { "," } else { "" };
        let _ = match domains.shape {
            Shape::Chain => write!(line, r#"{comma}{{"price":"{price}","date":"{date}","items":["#),
            Shape::Paper => write!(line, r#"{comma}{{"date":"{date}","price":["{price}"],"items":["#),
        };
        for (i, item) in order.items().iter().enumerate() {
            let [quantity, manufacturer, brand] = domains.of_item(*item);
            let comma = if i > 0 { "," } else { "" };
            let _ = write!(
                line,
                r#"{comma}{{"quantity":"{quantity}","manufacturer":"{manufacturer}","brand":"{brand}"}}"#
            );
        }
        line.push_str("]}");
    }
    line.push_str("]}\n");
}

/// The linked tables.
pub(super) struct Tables<W> {
    pub(super) customer: W,
    pub(super) orders: W,
    pub(super) items: W,
}

impl<W: Write> Tables<W> {
    pub(super) fn write_headers(&mut self) -> io::Result<()> {
        self.customer.write_all(b"custkey,nation\n")?;
        self.orders.write_all(b"orderkey,custkey,price,date\n")?;
        self.items.write_all(b"orderkey,quantity,manufacturer,brand\n")
    }

    /// Writes a customer's rows; `rows` is scratch space.
    pub(super) fn write_rows(
        &mut self,
        rows: &mut String,
        domains: &Domains,
        customer: &Customer<'_>,
    ) -> io::Result<()> {
        writeln!(self.customer, "{},{}", customer.key, domains.nation(customer.nation))?;
        rows.clear();
        for order in customer.orders() {
            let (price, date) = (domains.price(order), domains.date(order));
            let _ = writeln!(rows, "{},{},{price},{date}", order.key, customer.key);
        }
        self.orders.write_all(rows.as_bytes())?;
        rows.clear();
        for order in customer.orders() {
            for item in order.items() {
                let [quantity, manufacturer, brand] = domains.of_item(*item);
                let _ = writeln!(rows, "{},{quantity},{manufacturer},{brand}", order.key);
            }
        }
        self.items.write_all(rows.as_bytes())
    }
}

/// The linked tables as a database.
pub(super) const DATABASE: &str = "
CREATE TABLE customer (custkey INTEGER PRIMARY KEY, nation TEXT NOT NULL);
CREATE TABLE orders (
  orderkey INTEGER PRIMARY KEY,
  custkey INTEGER NOT NULL REFERENCES customer (custkey),
  price TEXT NOT NULL,
  date TEXT NOT NULL
);
CREATE TABLE items (
  orderkey INTEGER NOT NULL REFERENCES orders (orderkey),
  quantity TEXT NOT NULL,
  manufacturer TEXT NOT NULL,
  brand TEXT NOT NULL
);
";

/// Adds a customer's rows to the database.
pub(super) fn insert_rows(
    database: &mut NewDatabase,
    domains: &Domains,
    customer: &Customer<'_>,
) -> Result<()> {
    let key = customer.key.to_string();
    database.insert("INSERT INTO customer VALUES (?, ?)", &[&key, domains.nation(customer.nation)])?;
    for order in customer.orders() {
        let (price, date) = (domains.price(order), domains.date(order));
        let order_key = order.key.to_string();
        database.insert("INSERT INTO orders VALUES (?, ?, ?, ?)", &[&order_key, &key, price, date])?;
        for item in order.items() {
            let [quantity, manufacturer, brand] = domains.of_item(*item);
            let cells = [order_key.as_str(), quantity, manufacturer, brand];
            database.insert("INSERT INTO items VALUES (?, ?, ?, ?)", &cells)?;
        }
    }
    Ok(())
}
