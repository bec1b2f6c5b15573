//! Makes the files of the benchmark.

use std::io::{self, Write};
use std::path::Path;

use bosket_io::tables::NewDatabase;
use bosket_io::{Create, Output};
use bosket_model::Result;
use bosket_model::observe::Observer;

use super::domains::Domains;
use super::sales::{Customer, Sales};
use super::write::{self, Tables};
use super::{POLICY_CSV, POLICY_SQLITE, Shape, Summary};

/// Hierarchies by the name of their attribute, in the policies' order, as `leaf;parent;…;*` lines.
pub fn hierarchies(shape: Shape) -> Vec<(&'static str, String)> {
    Domains::new(shape).hierarchies()
}

/// Writes the records, one JSON object per line.
pub fn write_records(
    out: &mut dyn Write,
    shape: Shape,
    customers: u64,
    observer: &dyn Observer,
) -> io::Result<Summary> {
    let domains = Domains::new(shape);
    let mut line = String::new();
    Sales::new(customers, observer).each_customer(&domains, observer, |customer| {
        line.clear();
        write::push_json(&mut line, &domains, customer);
        out.write_all(line.as_bytes())
    })
}

/// Writes `data.ndjson`, `policy.toml` and `hierarchies/` into a folder, all or nothing. With [`Shape::Chain`] also the same
/// records as linked tables in `tables/`, with `policy-csv.toml` and `policy-sqlite.toml`.
pub fn write(
    folder: &Path,
    shape: Shape,
    customers: u64,
    create: Create,
    observer: &dyn Observer,
) -> Result<Summary> {
    bosket_io::make_folder(&folder.join("hierarchies"))?;
    // Every file is begun before the work, so that one that exists is told at once.
    let begin = |name: &str| Output::create(&folder.join(name), create.clone());
    let mut texts = vec![("policy.toml".to_owned(), shape.policy().to_owned())];
    texts
        .extend(hierarchies(shape).into_iter().map(|(name, text)| (format!("hierarchies/{name}.csv"), text)));
    if shape == Shape::Chain {
        bosket_io::make_folder(&folder.join("tables"))?;
        texts.push(("tables/policy-csv.toml".to_owned(), POLICY_CSV.to_owned()));
        texts.push(("tables/policy-sqlite.toml".to_owned(), POLICY_SQLITE.to_owned()));
    }
    let texts: Vec<(Output, String)> =
        texts.into_iter().map(|(name, text)| Ok((begin(&name)?, text))).collect::<Result<_>>()?;
    let mut data = begin("data.ndjson")?;
    let mut linked = (shape == Shape::Chain).then(|| Linked::begin(folder, create.clone())).transpose()?;

    let domains = Domains::new(shape);
    let mut line = String::new();
    let mut write_all = || -> io::Result<Summary> {
        Sales::new(customers, observer).each_customer(&domains, observer, |customer| {
            line.clear();
            write::push_json(&mut line, &domains, customer);
            data.write_all(line.as_bytes())?;
            linked.as_mut().map_or(Ok(()), |linked| linked.write(&mut line, &domains, customer))
        })
    };
    let summary = write_all().map_err(bosket_io::write_failure)?;
    let mut files = vec![data];
    for (mut file, text) in texts {
        file.write_all(text.as_bytes()).map_err(bosket_io::write_failure)?;
        files.push(file);
    }
    match linked {
        None => bosket_io::finish_all(files)?,
        Some(Linked { tables, database }) => {
            files.extend([tables.customer, tables.orders, tables.items]);
            database.finish(files)?;
        }
    }
    Ok(summary)
}

/// The same records as linked tables, twice.
struct Linked {
    tables: Tables<Output>,
    database: NewDatabase,
}

impl Linked {
    fn begin(folder: &Path, create: Create) -> Result<Self> {
        let names = ["tables/customer.csv", "tables/orders.csv", "tables/items.csv"];
        let [customer, orders, items] = names.map(|name| Output::create(&folder.join(name), create.clone()));
        let mut tables = Tables { customer: customer?, orders: orders?, items: items? };
        tables.write_headers().map_err(bosket_io::write_failure)?;
        let database = NewDatabase::create(&folder.join("tables/tpch.db"), create, write::DATABASE)?;
        Ok(Linked { tables, database })
    }

    fn write(&mut self, line: &mut String, domains: &Domains, customer: &Customer<'_>) -> io::Result<()> {
        self.tables.write_rows(line, domains, customer)?;
        write::insert_rows(&mut self.database, domains, customer).map_err(io::Error::other)
    }
}
