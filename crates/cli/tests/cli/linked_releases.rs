//! Releases of linked tables that were made of different inputs: what names the people there.

use crate::linked_drafts::{database, rows};
use crate::util::Dir;

const POLICY: &str = "version = 1
[source]
format = \"sqlite\"
path = \"new.db\"
[[source.table]]
name = \"customer\"
key = \"customer_id\"
[[source.table]]
name = \"visit\"
key = \"visit_id\"
parent = \"customer\"
foreign_key = \"customer_id\"
[[attribute]]
path = \"customer.mail\"
role = \"identifying\"
[[attribute]]
path = \"customer.town\"
role = \"quasi\"
hierarchy = { build = \"fanout\", fanout = 2 }
[[attribute]]
path = \"visit.day\"
role = \"quasi\"
hierarchy = { build = \"fanout\", fanout = 2 }
[privacy]
model = \"k-anonymity\"
k = 2
[publish]
path = \"new-published.db\"
mapping = \"new.csv\"
";

/// A practice with some customers.
fn practice(dir: &Dir, name: &str, people: std::ops::Range<usize>) {
    let sql = "CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, mail TEXT, town TEXT);
        CREATE TABLE visit (visit_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer, day TEXT);\n"
        .to_owned()
        + &rows("customer", people.clone().map(|i| format!("{i}, 'm{i}', 'T{}'", i % 3)))
        + &rows("visit", people.map(|i| format!("{i}, {i}, 'd{}'", i % 2)));
    database(dir, name, &sql);
}

#[test]
fn people_of_linked_tables_could_not_be_named_by_their_key() {
    let dir = Dir::new();
    practice(&dir, "old.db", 0..40);
    practice(&dir, "new.db", 20..60);
    dir.write("p.toml", POLICY);
    let sets = [
        "--set",
        "source.path=old.db",
        "--set",
        "publish.path=old-published.db",
        "--set",
        "publish.mapping=old.csv",
    ];
    dir.run(&[&["anonymize", "p.toml"][..], &sets].concat()).exits(0);
    let with = ["--with", "old-published.db", "--with-mapping", "old.csv", "--with-against", "old.db"];
    let anonymize = |link: &[&str]| dir.run(&[&["anonymize", "p.toml", "--force"][..], &with, link].concat());
    // The keys as well as what is removed.
    for link in ["customer.customer_id", "customer.mail"] {
        anonymize(&["--link", link]).exits(0);
    }
    anonymize(&["--link", "customer.town"])
        .exits(3)
        .says(&["`customer.town` cannot link people", "one that another has"]);
    anonymize(&["--link", "customer.colour"])
        .exits(3)
        .says(&["is no column of the table of the people", "its key"]);
    anonymize(&[]).exits(3).says(&["--link TABLE.COLUMN"]);
}
