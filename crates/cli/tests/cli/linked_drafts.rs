//! Drafts of linked tables: lookups that go on along foreign keys, and tables between people and what they have.

use bosket_io::Create;
use bosket_io::tables::NewDatabase;

use crate::util::Dir;

/// Makes a SQLite file.
pub fn database(dir: &Dir, name: &str, sql: &str) {
    let new = NewDatabase::create(&dir.path(name), Create::default(), sql).expect("good SQL");
    new.finish(Vec::new()).expect("writable");
}

/// Rows as SQL.
pub fn rows(table: &str, all: impl IntoIterator<Item = String>) -> String {
    let all: Vec<String> = all.into_iter().map(|row| format!("({row})")).collect();
    format!("INSERT INTO {table} VALUES {};\n", all.join(", "))
}

/// A film rental of some customers: places of customers, kinds of films.
pub fn rental(people: usize) -> String {
    let mut sql = String::from(
        "CREATE TABLE country (country_id INTEGER PRIMARY KEY, country TEXT);
         CREATE TABLE city (city_id INTEGER PRIMARY KEY, city TEXT, country_id INTEGER REFERENCES country);
         CREATE TABLE address (address_id INTEGER PRIMARY KEY, address TEXT, phone TEXT, postal_code TEXT,
            city_id INTEGER REFERENCES city, last_update TEXT);
         CREATE TABLE category (category_id INTEGER PRIMARY KEY, name TEXT);
         CREATE TABLE film (film_id INTEGER PRIMARY KEY, title TEXT, description TEXT, rating TEXT, length INTEGER);
         CREATE TABLE film_category (film_id INTEGER REFERENCES film, category_id INTEGER REFERENCES category,
            PRIMARY KEY (film_id, category_id));
         CREATE TABLE staff (staff_id INTEGER PRIMARY KEY, first_name TEXT);
         CREATE TABLE inventory (inventory_id INTEGER PRIMARY KEY, film_id INTEGER REFERENCES film);
         CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, last_name TEXT, birth_date TEXT,
            address_id INTEGER REFERENCES address);
         CREATE TABLE rental (rental_id INTEGER PRIMARY KEY, rental_date TEXT,
            inventory_id INTEGER REFERENCES inventory, customer_id INTEGER REFERENCES customer,
            staff_id INTEGER REFERENCES staff);
         CREATE TABLE payment (payment_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer,
            rental_id INTEGER REFERENCES rental, amount REAL);\n",
    );
    let day = |i: usize| format!("{:02}-{:02}", i % 12 + 1, i * 7 % 28 + 1);
    sql += &rows("country", (1..=4).map(|i| format!("{i}, 'Land {i}'")));
    sql += &rows("city", (1..=20).map(|i| format!("{i}, 'City {i}', {}", i % 4 + 1)));
    sql += &rows(
        "address",
        (1..=people).map(|i| {
            format!("{i}, '{i} Main Street', '{i}', '{}', {}, '2006-02-15'", 10_000 + i * 37, i % 20 + 1)
        }),
    );
    sql += &rows("category", (1..=5).map(|i| format!("{i}, 'Kind {i}'")));
    let text = "A long story about somebody who finds something that nobody had ever been looking for";
    let film = |i: usize| format!("{i}, 'Film {i}', '{text} {i}', '{}', {}", ["G", "PG", "R"][i % 3], 60 + i);
    sql += &rows("film", (1..=30).map(film));
    sql += &rows("film_category", (1..=30).map(|i| format!("{i}, {}", i % 5 + 1)));
    sql += &rows("staff", (1..=2).map(|i| format!("{i}, 'Quetzal {i}'")));
    sql += &rows("inventory", (1..=60).map(|i| format!("{i}, {}", i % 30 + 1)));
    let customer = |i: usize| format!("{i}, 'Quetzal', '{}-{}', {i}", 1940 + i * 13 % 60, day(i));
    sql += &rows("customer", (1..=people).map(customer));
    let rented = |i: usize| {
        format!("{i}, '2005-{}', {}, {}, {}", day(i * 5), i * 17 % 60 + 1, i % people + 1, i % 2 + 1)
    };
    sql += &rows("rental", (1..=people * 2).map(rented));
    let paid = |i: usize| format!("{i}, {}, {i}, {}.99", i % people + 1, i * 3 % 7);
    sql + &rows("payment", (1..=people * 2).map(paid))
}

#[test]
fn lookups_go_on_along_foreign_keys() {
    let dir = Dir::new();
    database(&dir, "rental.db", &rental(60));
    dir.run(&["inspect", "rental.db", "--draft", "p.toml"])
        .exits(0)
        .prints(&["rental.category_id", "Looked up in country: its country stands here in place of a number"])
        .hides(&["Quetzal", "Main Street"]);
    let draft = dir.text("p.toml");
    for part in [
        "  # customer.address_id: address, then city, then country. A line needs",
        "column = \"customer.address_id\", value = [\"postal_code\", \"city_id\"], as = [\"postal_code\", \"city_id\"] },",
        "column = \"customer.city_id\", value = [\"city\", \"country_id\"], as = [\"city_id\", \"country_id\"] },",
        "column = \"rental.inventory_id\", value = \"film_id\", as = \"film_id\" },",
        "{ name = \"film_category\", key = \"film_id\", column = \"rental.film_id\", value = [\"film_id\", \"category_id\"]",
        "column = \"rental.film_id\", value = [\"title\", \"rating\"], as = [\"film_id\", \"rating\"] },",
        "path      = \"customer.city_id\"\nrole      = \"quasi\"\nhierarchy = { from = \"customer.country_id\" }",
        "path = \"customer.country_id\"\nrole = \"drop\"",
        "path      = \"rental.film_id\"\nrole      = \"quasi\"\nhierarchy = { from = \"rental.category_id\" }",
        "path = \"rental.staff_id\"\nrole = \"key\"",
    ] {
        assert!(draft.contains(part), "{part}\n{draft}");
    }
    let run = ["anonymize", "p.toml", "--set", "privacy.k=2", "--force"];
    dir.run(&run).exits(0);
    dir.run(&[
        "verify",
        "published/rental.db",
        "--policy",
        "p.toml",
        "--set",
        "privacy.k=2",
        "--against",
        "rental.db",
    ])
    .exits(0)
    .prints(&["HOLDS", "TRUE"]);
    // The last of each chain goes with one sign.
    let off: String = draft
        .lines()
        .map(|l| {
            let last = l.starts_with("  { name = \"country\"") || l.starts_with("  { name = \"category\"");
            format!("{}{l}\n", if last { "#" } else { "" })
        })
        .collect();
    assert_ne!(off, draft);
    dir.write("p.toml", off);
    dir.run(&run).exits(0);
}

#[test]
fn a_film_of_two_kinds_is_not_looked_up_from_the_other_side() {
    let dir = Dir::new();
    let two = format!("{}INSERT INTO film_category VALUES (3, 1);", rental(60));
    database(&dir, "rental.db", &two);
    dir.run(&["inspect", "rental.db", "--draft", "p.toml"]).exits(0).hides(&["rental.category_id"]);
    assert!(dir.text("p.toml").contains("path      = \"rental.film_id\"\nrole      = \"quasi\"\n"));
    // So is one that has none.
    let none = format!("{}DELETE FROM film_category WHERE film_id = 3;", rental(60));
    database(&dir, "less.db", &none);
    dir.run(&["inspect", "less.db"]).exits(0).hides(&["rental.category_id"]);
}

#[test]
fn two_cities_of_one_name_have_no_country_above_them() {
    let dir = Dir::new();
    let sql = format!("{}UPDATE city SET city = 'City 1' WHERE city_id = 2;", rental(60));
    database(&dir, "rental.db", &sql);
    dir.run(&["inspect", "rental.db", "--draft", "p.toml"]).exits(0);
    let draft = dir.text("p.toml");
    assert!(!draft.contains("from = \"customer.country_id\""), "{draft}");
    assert!(draft.contains("path      = \"customer.country_id\"\nrole      = \"quasi\""), "{draft}");
    dir.run(&["anonymize", "p.toml", "--dry-run", "--set", "privacy.k=2"]).exits(0);
}

/// A bank in which clients have accounts through dispositions.
fn bank(dir: &Dir, dispositions: &str) {
    let lines = |header: &str, line: &dyn Fn(usize) -> String, n: usize| {
        format!("{header}\n{}", (1..=n).map(|i| line(i) + "\n").collect::<String>())
    };
    dir.write("bank/client.csv", lines("client_id,gender", &|i| format!("{i},{}", ["f", "m"][i % 2]), 30))
        .write(
            "bank/disposition.csv",
            lines(
                "disposition_id,client_id,account_id,type",
                &|i| format!("{},{i},{},owner", i + 100, i + 500),
                30,
            ) + dispositions,
        )
        .write(
            "bank/account.csv",
            lines("account_id,frequency", &|i| format!("{},{}", i + 500, ["weekly", "monthly"][i % 2]), 30),
        )
        .write(
            "bank/loan.csv",
            lines("loan_id,account_id,years", &|i| format!("{i},{},{}", i % 30 + 501, i % 3 + 1), 20),
        );
}

#[test]
fn what_a_bridge_table_names_once_hangs_below_it() {
    let dir = Dir::new();
    bank(&dir, "");
    dir.run(&["inspect", "bank", "--draft", "p.toml"]).exits(0).prints(&[
        "disposition (account_id): below client by client_id",
        "account (account_id): below disposition by account_id",
        "loan (loan_id): below account by account_id",
    ]);
    dir.run(&["anonymize", "p.toml", "--set", "privacy.k=2"]).exits(0);
    dir.run(&["verify", "published", "--policy", "p.toml", "--set", "privacy.k=2", "--against", "bank"])
        .exits(0)
        .prints(&["HOLDS", "TRUE"]);
    assert_eq!(dir.text("published/loan.csv").lines().count(), 21);
}

#[test]
fn below_a_bridge_table_others_may_hang_too() {
    let dir = Dir::new();
    bank(&dir, "");
    let cards: String = (1..=10).map(|i| format!("{i},{},{}\n", i + 100, ["red", "blue"][i % 2])).collect();
    dir.write("bank/card.csv", format!("card_id,disposition_id,colour\n{cards}"));
    dir.run(&["inspect", "bank", "--draft", "p.toml"]).exits(0).prints(&[
        "disposition (disposition_id): below client by client_id",
        "card (card_id): below disposition by disposition_id",
        "account (account_id): below disposition by disposition_id",
        "loan (loan_id): below account by account_id",
    ]);
    dir.run(&["anonymize", "p.toml", "--set", "privacy.k=2"]).exits(0);
    dir.run(&["verify", "published", "--policy", "p.toml", "--set", "privacy.k=2", "--against", "bank"])
        .exits(0)
        .prints(&["HOLDS", "TRUE"]);
    assert_eq!(dir.text("published/loan.csv").lines().count(), 21);
}

#[test]
fn an_account_of_two_people_is_told() {
    let dir = Dir::new();
    bank(&dir, "131,7,501,user\n132,8,502,user\n");
    dir.run(&["inspect", "bank"]).exits(0).prints(&[
        "`account` and what refers to it are left out: 2 rows of `disposition` name a row of it by account_id that another \
         row names too",
        "not below client, so not read: account, loan",
    ]);
}

#[test]
fn enrolments_hang_below_students_with_their_courses_looked_up() {
    let dir = Dir::new();
    let sql = "CREATE TABLE student (student_id INTEGER PRIMARY KEY, age INTEGER);
        CREATE TABLE course (course_id INTEGER PRIMARY KEY, title TEXT, level TEXT);
        CREATE TABLE enrolment (student_id INTEGER REFERENCES student, course_id INTEGER REFERENCES course, term TEXT,
            PRIMARY KEY (student_id, course_id));\n"
        .to_owned()
        + &rows("student", (1..=40).map(|i| format!("{i}, {}", 18 + i % 5)))
        + &rows("course", (1..=6).map(|i| format!("{i}, 'Course {i}', '{}'", ["a", "b"][i % 2])))
        + &rows("enrolment", (0..80).map(|i| format!("{}, {}, 't{}'", i / 2 + 1, i % 6 + 1, i % 2)));
    database(&dir, "school.db", &sql);
    dir.run(&["inspect", "school.db", "--draft", "p.toml"]).exits(0).prints(&[
        "enrolment (no key): below student by student_id",
        "Looked up in course: its title stands here in place of a number",
    ]);
    dir.run(&["anonymize", "p.toml", "--set", "privacy.k=2"]).exits(0);
    dir.run(&[
        "verify",
        "published/school.db",
        "--policy",
        "p.toml",
        "--set",
        "privacy.k=2",
        "--against",
        "school.db",
    ])
    .exits(0)
    .prints(&["HOLDS", "TRUE"]);
}
