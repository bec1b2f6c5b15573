//! Published numbers that look like keys are keys: other references to the person, and parts of composite keys.

use crate::util::Dir;

const PEOPLE: usize = 8;

/// A film rental: payments name the rental and the customer. `wrong` payments name another customer.
fn rental(wrong: usize) -> Dir {
    let dir = Dir::new();
    let people = |row: &dyn Fn(usize) -> String| (0..PEOPLE).map(row).collect::<String>();
    let town = |i: usize| ["Ulm", "Bonn"][i % 2];
    let payer = |i: usize| if i < wrong { (i + 1) % PEOPLE } else { i };
    dir.write("in/customer.csv", format!("customer_id,town\n{}", people(&|i| format!("c{i},{}\n", town(i)))))
        .write(
            "in/rental.csv",
            format!(
                "rental_id,customer_id,day\n{}",
                people(&|i| format!("r{i},c{i},{}\n", ["mon", "tue"][i / 2 % 2]))
            ),
        )
        .write(
            "in/payment.csv",
            format!(
                "payment_id,rental_id,customer_id,staff_id,amount\n{}",
                people(&|i| format!("p{i},r{i},c{},s{},{}\n", payer(i), i % 3, i % 2))
            ),
        )
        .write("t.csv", "Ulm;*\nBonn;*\n")
        .write("d.csv", "mon;*\ntue;*\n")
        .write("p.toml", policy("csv", ""));
    dir
}

fn policy(format: &str, database: &str) -> String {
    let path = |table: &str| match format {
        "sqlite" => String::new(),
        _ => format!("path = 'in/{table}.{format}'\n"),
    };
    let (customer, rental, payment) = (path("customer"), path("rental"), path("payment"));
    format!(
        "version = 1\n[source]\nformat = '{format}'\n{database}\
         [[source.table]]\nname = 'customer'\n{customer}key = 'customer_id'\n\
         [[source.table]]\nname = 'rental'\n{rental}key = 'rental_id'\nparent = 'customer'\nforeign_key = 'customer_id'\n\
         [[source.table]]\nname = 'payment'\n{payment}key = 'payment_id'\nparent = 'rental'\nforeign_key = 'rental_id'\n\
         [[attribute]]\npath = 'customer.town'\nrole = 'quasi'\nhierarchy = 't.csv'\n\
         [[attribute]]\npath = 'rental.day'\nrole = 'quasi'\nhierarchy = 'd.csv'\n\
         [[attribute]]\npath = 'payment.customer_id'\nrole = 'key'\n\
         [[attribute]]\npath = 'payment.staff_id'\nrole = 'key'\n\
         [[attribute]]\npath = 'payment.amount'\nrole = 'insensitive'\n\
         [privacy]\nmodel = 'k-anonymity'\nk = 2\n[publish]\npath = 'out'\n"
    )
}

/// The rows of a published file, without the header.
fn rows(dir: &Dir, name: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| line.split(',').map(str::to_owned).collect();
    dir.text(name).lines().skip(1).map(cells).collect()
}

#[test]
fn a_second_reference_to_the_person_was_published_empty() {
    let dir = rental(0);
    dir.run(&["anonymize", "p.toml"]).exits(0).hides(&["does not name"]);
    dir.run(&["verify", "out", "--policy", "p.toml", "--against", "in"]).exits(0).prints(&["HOLDS", "TRUE"]);
    let rentals = rows(&dir, "out/rental.csv");
    let payments = rows(&dir, "out/payment.csv");
    assert_eq!(payments.len(), PEOPLE);
    for payment in &payments {
        let rental = rentals.iter().find(|r| r[0] == payment[1]).expect("its rental");
        assert_eq!(rental[1], payment[2], "both ways lead to the same customer: {payment:?}");
        assert_eq!(payment[3], "", "nobody counts what other references tell");
    }
    // Whatever else stands there is refused.
    let good = dir.text("out/payment.csv");
    let first = &payments[0];
    let (is, was) = (&first[2], payments[PEOPLE - 1][2].clone());
    assert_ne!(*is, was);
    for other in [was.as_str(), "", "c1"] {
        let row = |c: &str| format!("\n{},{},{c},,", first[0], first[1]);
        let bad = good.replacen(&row(is), &row(other), 1);
        assert_ne!(bad, good);
        dir.write("out/payment.csv", bad);
        dir.run(&["verify", "out", "--policy", "p.toml"])
            .exits(3)
            .says(&["of `payment` is not where what it says"]);
    }
    // Empty everywhere is what older publications have.
    let emptied = good.lines().enumerate().fold(String::new(), |text, (i, line)| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if i > 0 {
            cells[2] = "";
        }
        text + &cells.join(",") + "\n"
    });
    dir.write("out/payment.csv", emptied);
    dir.run(&["verify", "out", "--policy", "p.toml"]).exits(0).prints(&["HOLDS"]);
}

#[test]
fn a_second_reference_in_databases_and_parquet() {
    let dir = rental(0);
    dir.run(&["convert", "p.toml", "in.db", "--to", "sqlite"]).exits(0);
    dir.run(&["convert", "p.toml", "parquet", "--to", "parquet"]).exits(0);
    for table in ["customer", "rental", "payment"] {
        dir.write(&format!("in/{table}.parquet"), dir.read(&format!("parquet/{table}.parquet")));
    }
    for (format, database) in [("sqlite", "path = 'in.db'\n"), ("parquet", "")] {
        let name = format!("{format}.toml");
        dir.write(&name, policy(format, database).replace("'out'", &format!("'out-{format}'")));
        dir.run(&["anonymize", &name]).exits(0);
        let out = format!("out-{format}");
        dir.run(&["verify", &out, "--policy", &name]).exits(0).prints(&["HOLDS"]);
        let text = format!("text-{format}");
        let out = if format == "sqlite" { format!("{out}/in.db") } else { out };
        dir.run(&["convert", &out, &text, "--to", "csv"]).exits(0);
        let payments = rows(&dir, &format!("{text}/payment.csv"));
        assert!(payments.iter().all(|p| !p[2].is_empty()), "{format}: {payments:?}");
    }
}

#[test]
fn a_second_reference_that_contradicts_the_first_is_empty_and_said() {
    let dir = rental(3);
    let told = dir.run(&["anonymize", "p.toml"]).exits(0);
    told.says(&["in 3 rows `payment.customer_id` does not name the row of `customer`", "published empty"])
        .hides(&["staff_id", "c1"]);
    assert!(rows(&dir, "out/payment.csv").iter().all(|payment| payment[2].is_empty()));
    dir.run(&["verify", "out", "--policy", "p.toml"]).exits(0).prints(&["HOLDS"]);
    let drafted = dir.run(&["inspect", "in", "--draft", "draft.toml"]).exits(0);
    drafted.prints(&["in 3 rows of `payment` customer_id does not name the row of `customer` above"]);
    assert!(dir.text("draft.toml").contains("refers to customer; published empty"));
    let dir = rental(0);
    dir.run(&["inspect", "in", "--draft", "draft.toml"]).exits(0).hides(&["does not name"]);
    let draft = dir.text("draft.toml");
    assert!(
        draft.contains("refers to the same row of customer again; published as the same number"),
        "{draft}"
    );
}

#[test]
fn the_report_called_empty_columns_fresh_numbers() {
    let dir = rental(0);
    let more = "[[attribute]]\npath = 'rental.rental_id'\nrole = 'key'\n[privacy]";
    dir.write("p.toml", dir.text("p.toml").replace("[privacy]", more));
    dir.run(&["anonymize", "p.toml"]).exits(0);
    dir.run(&["report", "p.toml", "--out", "r.html"]).exits(0);
    let report = dir.text("r.html");
    assert!(
        report.contains("<dt>Joins tables, published as fresh numbers</dt><dd>rental.rental_id</dd>"),
        "{report}"
    );
    let words = "as the person&#39;s number where it always names that person, else empty</dt><dd>payment.customer_id, payment.staff_id</dd>";
    let plain = words.replace("&#39;", "'");
    assert!(report.contains(words) || report.contains(&plain), "{report}");
    assert!(rows(&dir, "out/rental.csv").iter().all(|r| r[0].parse::<usize>().is_ok()));
}

/// An order's items are named by order and product; notes refer to items by both. Products are not published.
fn shop(notes: bool) -> Dir {
    let dir = Dir::new();
    let db = rusqlite::Connection::open(dir.path("shop.db")).expect("a database");
    db.execute_batch(
        "CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, town TEXT);
         CREATE TABLE product (product_id INTEGER PRIMARY KEY, name TEXT);
         CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer, day TEXT);
         CREATE TABLE item (order_id INTEGER REFERENCES orders, product_id INTEGER REFERENCES product, count INTEGER,
                            PRIMARY KEY (order_id, product_id));
         INSERT INTO product VALUES (700, 'tea'), (701, 'jam'), (702, 'rye');",
    )
    .expect("tables");
    if notes {
        db.execute_batch(
            "CREATE TABLE remark (order_id INTEGER, product_id INTEGER, word TEXT,
                                  FOREIGN KEY (order_id, product_id) REFERENCES item (order_id, product_id));",
        )
        .expect("a table");
    }
    for i in 0..12 {
        db.execute_batch(&format!(
            "INSERT INTO customer VALUES ({i}, '{}'); INSERT INTO orders VALUES ({}, {i}, 'mon');
             INSERT INTO item VALUES ({}, {}, 1);",
            ["Ulm", "Bonn"][i % 2],
            100 + i,
            100 + i,
            700 + i % 3
        ))
        .expect("rows");
        if notes {
            db.execute_batch(&format!("INSERT INTO remark VALUES ({}, {}, 'ok')", 100 + i, 700 + i % 3))
                .expect("rows");
        }
    }
    dir
}

#[test]
fn a_part_of_a_key_that_refers_elsewhere_became_the_number_of_a_row() {
    // Nobody refers to items: they need no key, and the product is looked up.
    let dir = shop(false);
    dir.run(&["inspect", "shop.db", "--draft", "p.toml"]).exits(0);
    let draft = dir.text("p.toml");
    assert!(draft.contains("column = \"item.product_id\", value = \"name\""), "{draft}");
    assert!(!draft.contains("[\"order_id\", \"product_id\"]"), "{draft}");
    dir.run(&["anonymize", "p.toml", "--set", "privacy.k=2"]).exits(0);
    // Remarks refer to items: the product is a value, and a row of its own numbers the items.
    let dir = shop(true);
    dir.run(&["inspect", "shop.db", "--draft", "p.toml"]).exits(0);
    let draft = dir.text("p.toml");
    assert!(draft.contains("\nkey         = [\"order_id\", \"product_id\"]"), "{draft}");
    let attribute =
        draft.split("[[attribute]]").find(|a| a.contains("\"item.product_id\"")).expect("drafted");
    assert!(attribute.contains("= \"quasi\""), "{draft}");
    dir.run(&["anonymize", "p.toml", "--set", "privacy.k=2", "--set", "publish.path=out.db"]).exits(0);
    let db = rusqlite::Connection::open(dir.path("out.db")).expect("a database");
    let numbers: i64 = db
        .query_row("SELECT count(*) FROM item WHERE CAST(product_id AS INTEGER) BETWEEN 1 AND 100", [], |r| {
            r.get(0)
        })
        .expect("a count");
    assert_eq!(numbers, 0, "no product is called by the number of a row");
    dir.run(&["verify", "out.db", "--policy", "p.toml", "--set", "privacy.k=2"]).exits(0);
}
