//! Makes the files of the benchmark.

use std::io::{self, Write};
use std::path::Path;

use bosket_io::tables::NewDatabase;
use bosket_io::{Create, Output};
use bosket_model::Result;
use bosket_model::observe::Observer;

use super::domains::Domains;
use super::sales::Sales;
use super::write::{self, Tables};
use super::{POLICY, POLICY_CSV, POLICY_SQLITE, Summary};

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
