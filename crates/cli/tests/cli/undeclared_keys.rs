//! Databases that declare no keys: links are guessed as for files, and what is not read is told.

use crate::linked_drafts::{database, rental};
use crate::util::Dir;

/// A film rental whose database declares nothing.
fn bare(people: usize) -> String {
    let mut sql = rental(people).replace(" PRIMARY KEY,", ",").replace(" PRIMARY KEY)", ")");
    for table in
        ["country", "city", "address", "category", "film", "staff", "inventory", "customer", "rental"]
    {
        sql = sql.replace(&format!(" REFERENCES {table}"), "");
    }
    let start = sql.find("PRIMARY KEY (film_id").expect("the last key");
    let comma = sql[..start].rfind(',').expect("a comma");
    let end = start + sql[start..].find(')').expect("its end") + 1;
    sql.replace_range(comma..end, "");
    assert!(!sql.contains("PRIMARY") && !sql.contains("REFERENCES"), "{sql}");
    sql
}

#[test]
fn all_tables_but_one_were_left_out_without_a_word() {
    let dir = Dir::new();
    database(&dir, "rental.db", &bare(60));
    let found = dir.run(&["inspect", "rental.db", "--json", "--risk"]).exits(0).json();
    let tables = found["linked"]["tables"].as_array().expect("tables");
    let below = |name: &str| {
        let table =
            tables.iter().find(|table| table["name"] == name).unwrap_or_else(|| panic!("{name}: {found}"));
        table["parent"].as_str().map(str::to_owned)
    };
    assert_eq!(below("customer"), None);
    assert_eq!(below("rental").as_deref(), Some("customer"));
    assert_eq!(below("payment").as_deref(), Some("rental"));
    assert_eq!(found["linked"]["guessed"], true);
    assert!(found["risk"].is_object() && found["uncounted"].is_null(), "{found}");
    dir.run(&["inspect", "rental.db"]).exits(0).prints(&["keys guessed from names and values"]);
    dir.run(&["inspect", "rental.db", "--draft", "p.toml"]).exits(0);
    let drafted = dir.text("p.toml");
    assert!(drafted.contains("name        = \"payment\""), "{drafted}");
}

#[test]
fn a_guess_agrees_with_what_another_database_declares() {
    let dir = Dir::new();
    database(&dir, "declared.db", &rental(60));
    database(&dir, "bare.db", &bare(60));
    let tables = |name: &str| {
        let found = dir.run(&["inspect", name, "--json"]).exits(0).json();
        let tables = found["linked"]["tables"].as_array().expect("tables").clone();
        tables.iter().map(|t| (t["name"].clone(), t["parent"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(tables("bare.db"), tables("declared.db"));
}

#[test]
fn the_risk_of_people_alone_was_none_where_nothing_else_was_read() {
    let dir = Dir::new();
    let sql = "CREATE TABLE customer (customer_id INTEGER, kind TEXT);
        CREATE TABLE bought (buyer INTEGER, thing TEXT, day TEXT);
        INSERT INTO customer VALUES (1, 'a'), (2, 'a'), (3, 'a'), (4, 'a'), (5, 'a');
        INSERT INTO bought VALUES (1, 'x', 'mon'), (2, 'y', 'tue'), (3, 'z', 'wed');";
    database(&dir, "shop.db", sql);
    let found = dir.run(&["inspect", "shop.db", "--json", "--risk"]).exits(0).json();
    assert!(found["risk"].is_null(), "{found}");
    let why = found["uncounted"].as_str().expect("a reason");
    assert!(why.contains("was not read: bought"), "{why}");
    let notes = found["linked"]["notes"].to_string();
    assert!(notes.contains("not below customer, so not read: bought"), "{notes}");
    dir.run(&["inspect", "shop.db", "--risk"]).exits(0).prints(&["the risk was not counted"]);
}

#[test]
fn what_is_declared_is_not_doubted_and_what_is_not_is_said() {
    let dir = Dir::new();
    let sql = "CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, town TEXT);
        CREATE TABLE visit (visit_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer, day TEXT);
        CREATE TABLE parking (customer_id INTEGER, place TEXT);
        CREATE VIEW customer_list AS SELECT customer_id, town FROM customer;
        INSERT INTO customer VALUES (1, 'Ulm'), (2, 'Bonn'), (3, 'Ulm');
        INSERT INTO visit VALUES (1, 1, 'mon'), (2, 3, 'tue');
        INSERT INTO parking VALUES (1, 'a'), (1, 'b'), (2, 'a');";
    database(&dir, "shop.db", sql);
    dir.run(&["inspect", "shop.db"]).exits(0).prints(&[
        "keys from the database's catalogue",
        "visit (visit_id): below customer by customer_id",
        "parking (no key): below customer by customer_id",
        "nobody has declared that `parking` belongs to `customer` by customer_id: names and values say so",
    ]);
}
