//! From `inspect` to a first publication that says something: at least half of the quasi values that are not free text say
//! more than `*`, by at most five edits.

use serde_json::Value;

use crate::linked_drafts::{database, rental, rows};
use crate::presets::omop;
use crate::util::Dir;

/// The share of quasi values that were published and say more than `*`, in percent.
fn share(dir: &Dir, edits: &[&str]) -> u64 {
    let mut args = vec!["anonymize", "p.toml", "--json", "--force"];
    edits.iter().for_each(|edit| args.extend(["--set", edit]));
    let printed = dir.run(&args).exits(0).stdout;
    let told: Value = serde_json::from_str(&printed).expect("JSON");
    let (mut all, mut said) = (0, 0);
    for attribute in told["kept"]["attributes"].as_array().expect("attributes") {
        let number = |key: &str| attribute[key].as_u64().expect("a number");
        if attribute["role"] == "quasi" {
            all += number("values");
            // What looks alike is there once for all.
            said += number("published") + number("merged") - number("as_anything");
        }
    }
    assert!(all > 0, "{printed}");
    100 * said / all
}

#[test]
fn a_film_rental() {
    let dir = Dir::new();
    database(&dir, "rental.db", &rental(200));
    dir.run(&["inspect", "rental.db", "--draft", "p.toml"]).exits(0);
    let share = share(&dir, &[]);
    assert!(share >= 50, "{share} %");
}

#[test]
fn a_trading_company() {
    let dir = Dir::new();
    let day = |i: usize| format!("199{}-{:02}-{:02}", 6 + i % 3, i % 12 + 1, i * 5 % 28 + 1);
    let sql = "CREATE TABLE categories (category_id INTEGER PRIMARY KEY, category_name TEXT, description TEXT);
        CREATE TABLE products (product_id INTEGER PRIMARY KEY, product_name TEXT,
            category_id INTEGER REFERENCES categories, unit_price REAL);
        CREATE TABLE employees (employee_id INTEGER PRIMARY KEY, last_name TEXT);
        CREATE TABLE customers (customer_id TEXT PRIMARY KEY, company_name TEXT, contact_title TEXT, address TEXT,
            city TEXT, country TEXT);
        CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id TEXT REFERENCES customers,
            employee_id INTEGER REFERENCES employees, order_date TEXT, freight REAL);
        CREATE TABLE order_details (order_id INTEGER REFERENCES orders, product_id INTEGER REFERENCES products,
            quantity INTEGER, discount REAL, PRIMARY KEY (order_id, product_id));\n"
        .to_owned()
        + &rows("categories", (1..=8).map(|i| format!("{i}, 'Category {i}', 'All there is of {i}'")))
        + &rows("products", (1..=40).map(|i| format!("{i}, 'Product {i}', {}, {i}.5", i % 8 + 1)))
        + &rows("employees", (1..=3).map(|i| format!("{i}, 'Quetzal {i}'")))
        + &rows(
            "customers",
            (1..=200).map(|i| {
                let title = ["Owner", "Agent", "Manager"][i % 3];
                format!("'C{i}', 'Company {i}', '{title}', 'Street {i}', 'City {}', 'Land {}'", i % 20, i % 4)
            }),
        )
        + &rows(
            "orders",
            (1..=400).map(|i| format!("{i}, 'C{}', {}, '{}', {}.5", i % 200 + 1, i % 3 + 1, day(i), i * 7 % 90)),
        )
        + &rows(
            "order_details",
            (0..800).map(|i| format!("{}, {}, {}, 0.{}", i / 2 + 1, i * 3 % 40 + 1, i % 30 + 1, i % 2)),
        );
    database(&dir, "trading.db", &sql);
    dir.run(&["inspect", "trading.db", "--draft", "p.toml"]).exits(0).hides(&["Quetzal"]);
    let draft = dir.text("p.toml");
    assert!(draft.contains("hierarchy = { from = \"order_details.category_id\" }"), "{draft}");
    let share = share(&dir, &[]);
    assert!(share >= 50, "{share} %");
}

#[test]
fn an_omop_extract() {
    let dir = Dir::new();
    omop(&dir, 150, true);
    dir.run(&["inspect", "omop", "--preset", "omop", "--draft", "p.toml"]).exits(0);
    let share = share(&dir, &[]);
    assert!(share >= 50, "{share} %");
}

/// Functions, proteins and evidence have names, and are nobody; a number of a record is somebody's.
#[test]
fn names_of_proteins_were_taken_for_those_of_people() {
    let dir = Dir::new();
    let entry = |i: usize| {
        format!(
            "<entry><protein><recommendedName><fullName evidence=\"{}\">Kinase {}</fullName><shortName>K{}</shortName>\
             </recommendedName></protein><function><name>binding {}</name></function><evidence type=\"ECO:000026{}\"/>\
             <curator><surname>C{}</surname></curator></entry>",
            i % 2,
            i % 5,
            i % 5,
            i % 3,
            i % 4,
            i % 7
        )
    };
    dir.write("prot.xml", format!("<uniprot>{}</uniprot>", (0..60).map(entry).collect::<String>()));
    let found = dir.run(&["inspect", "prot.xml", "--json"]).exits(0).json();
    let role = |path: &str| {
        let all = found["attributes"].as_array().expect("attributes");
        let own = all.iter().find(|a| a["path"] == path).unwrap_or_else(|| panic!("{path}: {found}"));
        own["role"].clone()
    };
    let protein = "protein/recommendedName";
    for path in ["fullName", "fullName/@evidence", "shortName"] {
        assert_eq!(role(&format!("{protein}/{path}")), "quasi", "{path}");
    }
    assert_eq!(role("function/name"), "quasi");
    assert_eq!(role("evidence/@type"), "quasi");
    assert_eq!(role("curator/surname"), "identifying");
    let visits: String =
        (0..60).map(|i| format!("{},Patient/{},{},w{}\n", i % 20, i % 20, i % 20, i % 3)).collect();
    dir.write("visits.csv", format!("MRN,patient_ref,record_number,ward\n{visits}"));
    let found = dir.run(&["inspect", "visits.csv", "--json"]).exits(0).json();
    for attribute in found["attributes"].as_array().expect("attributes") {
        let expected = if attribute["path"] == "visits.ward" { "quasi" } else { "identifying" };
        assert_eq!(attribute["role"], expected, "{attribute}");
    }
}
