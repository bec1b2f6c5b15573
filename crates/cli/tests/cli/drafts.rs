//! Drafts on small data of the shapes that real data has: `inspect` ends in something that can be worked with.

use bosket_io::Create;
use bosket_io::tables::NewDatabase;

use crate::util::Dir;

#[test]
fn an_optional_parent_that_is_empty_falls_back_to_the_person() {
    let dir = Dir::new();
    dir.write("omop/person.csv", "person_id,gender\n1,f\n2,m\n3,f\n")
        .write("omop/visit.csv", "visit_id,person_id,kind\n10,1,in\n11,2,out\n12,3,out\n")
        .write(
            "omop/condition.csv",
            "condition_id,person_id,visit_id,name\n20,1,10,cold\n21,2,,flu\n22,3,12,cold\n",
        );
    dir.run(&["inspect", "omop", "--draft", "policy.toml"]).exits(0).prints(&[
        "visit (visit_id): below person by person_id",
        "condition (condition_id): below person by person_id",
        "by visit_id 1 row of `condition` belongs to no row of `visit`; it hangs below person",
    ]);
    dir.run(&["anonymize", "policy.toml", "--dry-run", "--set", "privacy.k=2"]).exits(0);
    // Whoever asks for it gets what the rows say.
    dir.run(&["inspect", "omop", "--parent", "condition.visit_id"])
        .exits(3)
        .says(&["condition.csv:3", "its foreign key is empty"]);
}

#[test]
fn an_optional_parent_in_a_database_falls_back_too() {
    let dir = Dir::new();
    let sql = "CREATE TABLE customer (id INTEGER PRIMARY KEY, town TEXT);
        CREATE TABLE rental (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer, day TEXT);
        CREATE TABLE payment (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer,
            rental_id INTEGER REFERENCES rental, amount INTEGER);
        CREATE TABLE tip (rental_id INTEGER REFERENCES rental, amount INTEGER);
        CREATE TABLE lost (x INTEGER);
        CREATE VIEW gone AS SELECT x FROM lost;
        INSERT INTO customer VALUES (1, 'Ulm'), (2, 'Bonn');
        INSERT INTO rental VALUES (1, 1, 'mon'), (2, 2, 'tue');
        INSERT INTO payment VALUES (1, 1, 1, 5), (2, 2, NULL, 6);
        INSERT INTO tip VALUES (1, 5), (NULL, 6);
        DROP TABLE lost;";
    let new = NewDatabase::create(&dir.path("shop.db"), Create::default(), sql).expect("good SQL");
    new.finish(Vec::new()).expect("writable");
    dir.run(&["inspect", "shop.db"]).exits(0).prints(&[
        "payment (id): below customer by customer_id",
        "by rental_id 1 row of `payment` belongs to no row of `rental`; it hangs below customer",
        "left out, for a row must belong to somebody: by rental_id 1 row of `tip` belongs to no row of `rental`",
        "`gone` cannot be read and is left out",
    ]);
}

#[test]
fn tables_that_cannot_be_read_are_listed_and_skipped() {
    let dir = Dir::new();
    dir.write("shop/customers.csv", "id,town\n1,Ulm\n2,Bonn\n3,Ulm\n")
        .write("shop/orders.csv", "order_id,customer_id,day\n10,1,mon\n11,2,tue\n")
        .write("shop/notes.csv", "note_id,customer_id,text\n1,1,Quetzal\n2,2\n")
        .write("shop/odd.csv", b"na\xefve,b\n1,2\n");
    dir.run(&["inspect", "shop"])
        .exits(0)
        .prints(&[
            "2 linked tables",
            "`notes` cannot be read and is left out: line 3: the row has 2 cells, the header 3",
            "`odd` cannot be read and is left out: column 1 of the header is not valid UTF-8",
        ])
        .hides(&["Quetzal"]);
    dir.run(&["inspect", "shop", "--record", "notes"]).exits(3).says(&["`notes` cannot be read: line 3"]);
    // Nothing is left out where all of it was asked for.
    dir.run(&["convert", "shop", "shop.db"]).exits(3).says(&["odd.csv", "not valid UTF-8"]);
}

#[test]
fn endings_do_not_matter_where_the_format_is_said() {
    let dir = Dir::new();
    dir.write("bank/client.asc", "client_id;sex\n1;f\n2;m\n3;m\n")
        .write("bank/account.txt", "account_id;client_id;kind\n1;1;a\n2;2;b\n")
        .write("bank/loan", "loan_id;account_id;years\n1;1;5\n2;2;7\n")
        .write("bank/card.DAT", "card_id;client_id;colour\n1;1;red\n2;3;blue\n")
        .write("bank/README.md", "About the bank.\n");
    dir.run(&["inspect", "bank"]).exits(0).prints(&["4 linked tables", "files left aside: README.md"]);
    dir.run(&["inspect", "bank", "--format", "csv", "--draft", "policy.toml"]).exits(0).prints(&[
        "client (client_id): the person table",
        "card (card_id): below client by client_id",
        "loan (loan_id): below account by account_id",
        "files left aside: README.md",
    ]);
    dir.run(&["anonymize", "policy.toml", "--dry-run", "--set", "privacy.k=2"]).exits(0);
    // Beside files that are called tables, cells have to be separated as there.
    dir.write("bank/client.csv", "client_id,sex\n1,f\n2,m\n3,m\n");
    dir.run(&["inspect", "bank"])
        .exits(0)
        .prints(&["files left aside: README.md, account.txt, card.DAT, client.asc, loan"]);
}

#[test]
fn what_a_reference_stands_for_is_looked_up_and_switched_off_with_one_sign() {
    let dir = Dir::new();
    let customers: String = (1..=30).map(|i| format!("{i},{}\n", i % 3 + 1)).collect();
    let rentals: String = (1..=60).map(|i| format!("{i},{},{}\n", i % 30 + 1, i % 4 + 1)).collect();
    dir.write("shop/customer.csv", format!("customer_id,city_id\n{customers}"))
        .write("shop/city.csv", "city_id,city,country_id\n1,Ulm,7\n2,Bonn,7\n3,Lyon,8\n")
        .write("shop/film.csv", "film_id,length,title\n1,90,Dust\n2,80,Rain\n3,95,Wind\n4,70,Snow\n")
        .write("shop/rental.csv", format!("rental_id,customer_id,film_id\n{rentals}"));
    dir.run(&["inspect", "shop", "--draft", "policy.toml", "--force"]).exits(0).prints(&[
        "Looked up in film: its title stands here in place of a number",
        "Looked up in city: its city stands here in place of a number",
    ]);
    let draft = dir.text("policy.toml");
    let line = "  { name = \"film\", path = \"shop/film.csv\", key = \"film_id\", column = \"rental.film_id\", \
                value = \"title\", as = \"film_id\" },";
    assert!(draft.contains(line), "{draft}");
    let run = ["anonymize", "policy.toml", "--set", "privacy.k=2", "--force"];
    dir.run(&run).exits(0);
    // One sign switches a lookup off, and the policy is still one.
    dir.write("policy.toml", draft.replace(line, &format!("  #{}", &line[2..])));
    dir.run(&run).exits(0);
}

#[test]
fn people_are_counted_where_another_column_names_them_and_repeats() {
    let dir = Dir::new();
    dir.write(
        "shop/customers.csv",
        "customer_id,customer_unique_id,town\nc1,u1,Ulm\nc2,u1,Ulm\nc3,u2,Bonn\nc4,u3,Ulm\n",
    )
    .write("shop/orders.csv", "order_id,customer_id,day\no1,c1,mon\no2,c2,tue\no3,c3,mon\no4,c4,tue\n");
    dir.run(&["inspect", "shop", "--draft", "policy.toml"]).exits(0).prints(&[
        "csv: 3 records, 4 customers[]",
        "people have several rows in `customers`: they are grouped by customer_unique_id",
        "orders (order_id): below customers by customer_id",
    ]);
    assert!(dir.text("policy.toml").contains("= \"customer_unique_id\"\n"));
    dir.run(&["anonymize", "policy.toml", "--dry-run", "--set", "privacy.k=2"]).exits(0);
}

#[test]
fn people_who_count_twice_are_told() {
    let dir = Dir::new();
    let rows: String = (0..40).map(|i| format!("c{i},u{},{}\n", i / 2, ["Ulm", "Bonn"][i / 2 % 2])).collect();
    dir.write("people.csv", format!("customer_id,customer_unique_id,town\n{rows}"));
    let attribute = |path: &str, role: &str| format!("[[attribute]]\npath = '{path}'\nrole = '{role}'\n");
    let policy = [
        "version = 1\n[source]\nformat = 'csv'\npath = 'people.csv'\n",
        &attribute("customer_id", "identifying"),
        &attribute("customer_unique_id", "identifying"),
        &attribute("town", "quasi"),
        "hierarchy = { build = 'fanout', fanout = 5 }\n[privacy]\nmodel = 'k-anonymity'\nk = 5\n[publish]\npath = 'published.csv'\n",
    ];
    dir.write("policy.toml", policy.concat());
    dir.run(&["anonymize", "policy.toml"])
        .exits(0)
        .says(&[
            "`customer_unique_id` is identifying, and 40 of 40 records share its value with another",
            "`person`",
        ])
        .hides(&["u17"]);
}

/// Rows of one file were people, though a column named the people and repeated.
#[test]
fn rows_of_a_file_are_grouped_by_the_people_that_they_name() {
    let row = |i: usize| {
        let (sex, year, ward) = (["f", "m"][i / 3 % 2], 2000 + i % 3, ["north", "south"][i / 9 % 2]);
        format!("P{},{sex},{year},{ward}\n", i / 3)
    };
    let rows: String = (0..120).map(row).collect();
    for person in ["patient_id", "MRN", "ssn"] {
        for file in ["visits.csv", "visits.parquet"] {
            let dir = Dir::new();
            dir.write("visits.csv", format!("{person},sex,year,ward\n{rows}"));
            if file != "visits.csv" {
                dir.run(&["convert", "visits.csv", file]).exits(0);
            }
            let grouped = format!("they are grouped by {person}");
            dir.run(&["inspect", file]).exits(0).prints(&["40 records, 120 visits[]", &grouped]);
            dir.run(&["inspect", file, "--draft", "policy.toml"]).exits(0);
            let draft = dir.text("policy.toml");
            assert!(draft.contains(&format!("person = \"{person}\"")), "{draft}");
            let made = dir.run(&["anonymize", "policy.toml"]).exits(0).prints(&["40 of 40"]);
            made.hides(&["share its value"]);
            dir.run(&["verify", "published", "--policy", "policy.toml"]).exits(0).prints(&["HOLDS"]);
        }
    }
}

/// What names people, repeats, and cannot group the rows: somebody has to say who is counted.
#[test]
fn a_draft_does_not_run_until_somebody_says_who_is_counted() {
    let dir = Dir::new();
    // Not every row has a number.
    let row = |i: usize| {
        let number = if i.is_multiple_of(10) { String::new() } else { format!("S{}", i / 3) };
        format!("{number},{},{}\n", ["f", "m"][i % 2], 2000 + i % 3)
    };
    dir.write("visits.csv", format!("ssn,sex,year\n{}", (0..120).map(row).collect::<String>()));
    dir.run(&["inspect", "visits.csv", "--draft", "policy.toml"]).exits(0);
    let told =
        ["nobody has decided who is counted: several records have the same `ssn`", "`person = \"ssn\"`"];
    dir.run(&["anonymize", "policy.toml"]).exits(2).says(&told).hides(&["S17"]);
    dir.run(&["policy", "check", "policy.toml"]).exits(2).says(&told);
    let draft = dir.text("policy.toml");
    assert!(draft.contains("who is counted?"), "{draft}");
    dir.write("policy.toml", draft.replace("protection = \"undecided\"\n", ""));
    dir.run(&["anonymize", "policy.toml"]).exits(0);
}

#[test]
fn days_written_otherwise_are_drafted_and_published() {
    let dir = Dir::new();
    let rows: String = (0..60)
        .map(|i| format!("93{:02}{:02};{:02}/{:02}/2011\n", i % 12 + 1, i % 28 + 1, i % 12 + 1, i % 28 + 1))
        .collect();
    dir.write("people.csv", format!("opened_date;seen\n{rows}"));
    dir.run(&["inspect", "people.csv", "--draft", "policy.toml"]).exits(0);
    let draft = dir.text("policy.toml");
    assert!(
        draft.contains(r#"min = "1993-01-01", max = "1993-12-31", format = "%y%m%d", clamp = "both""#),
        "{draft}"
    );
    assert!(draft.contains(r#"format = "%m/%d/%Y""#), "{draft}");
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    dir.run(&["verify", "published.csv", "--policy", "policy.toml", "--against", "people.csv"])
        .exits(0)
        .prints(&["HOLDS", "TRUE"]);
}

#[test]
fn a_second_reference_that_names_somebody_else_is_counted() {
    let dir = Dir::new();
    dir.write("shop/customer.csv", "customer_id,town\n1,Ulm\n2,Bonn\n3,Ulm\n")
        .write("shop/rental.csv", "rental_id,customer_id,day\n10,1,mon\n11,2,tue\n12,3,mon\n")
        .write(
            "shop/payment.csv",
            "payment_id,rental_id,customer_id,sum\n1,10,1,5\n2,11,3,6\n3,12,2,5\n4,12,3,5\n",
        );
    dir.run(&["inspect", "shop"]).exits(0).prints(&[
        "payment (payment_id): below rental by rental_id",
        "in 2 rows of `payment` customer_id does not name the row of `customer` above",
    ]);
    dir.write("shop/payment.csv", "payment_id,rental_id,customer_id,sum\n1,10,1,5\n2,11,2,6\n");
    let told = dir.run(&["inspect", "shop"]).exits(0);
    assert!(!told.stdout.contains("does not name"), "{}", told.stdout);
}
