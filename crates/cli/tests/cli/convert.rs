//! `bosket convert`: everything or nothing, from any format to any whose shape fits.

use bosket_testkit::server::{PASSWORD, Server};

use crate::util::Dir;

const PEOPLE: &str = concat!(
    "{\"age\":41,\"home\":{\"town\":\"Quetzal\"},\"ok\":true,\"visits\":[{\"day\":\"mon\",\"codes\":[\"a\",\"b\"]},{\"day\":\"tue\"}]}\n",
    "{\"age\":7.5,\"home\":{\"town\":\"\"}}\n",
);

#[test]
fn documents_come_back_through_every_format() {
    let dir = Dir::new();
    dir.write("a.ndjson", PEOPLE);
    let steps = ["a.json", "a.parquet", "b.ndjson"];
    let mut from = "a.ndjson";
    for to in steps {
        dir.run(&["convert", from, to])
            .exits(0)
            .prints(&[&format!("wrote 2 records to {to}, read again and found the same")])
            .says(&["nothing is anonymized"])
            .hides(&["Quetzal"]);
        from = to;
    }
    assert_eq!(dir.text("b.ndjson"), PEOPLE);
    // XML has no types, which is said.
    dir.run(&["convert", "a.parquet", "a.xml"]).exits(0).says(&["xml has no types"]);
    dir.run(&["convert", "a.xml", "c.ndjson", "--record", "records/record"]).exits(0);
    let text = dir.text("c.ndjson");
    assert!(text.contains("\"age\":\"7.5\"") && text.contains("\"town\":\"\""), "{text}");
    dir.run(&["convert", "a.ndjson", "d.xml", "--to-record", "db/person"]).exits(0);
    assert!(dir.text("d.xml").contains("<db>\n<person>"));
    // Within a format, records stay where they are.
    dir.run(&["convert", "d.xml", "e.xml.gz", "--record", "db/person"]).exits(0);
    dir.run(&["convert", "e.xml.gz", "e.xml", "--record", "db/person"]).exits(0);
    assert_eq!(dir.text("e.xml"), dir.text("d.xml"));
    // A file that cannot be read in parts.
    let piped = dir.run_with(&["convert", "-", "-", "--to", "ndjson"], &dir.read("a.parquet")).exits(0);
    assert_eq!(piped.stdout, PEOPLE);
    let out = dir.run_with(&["convert", "-", "-", "--to", "json"], PEOPLE.as_bytes()).exits(0);
    assert_eq!(out.json().as_array().map(Vec::len), Some(2));
}

#[test]
fn transactions_are_records_with_one_list() {
    let dir = Dir::new();
    dir.write("a.txt", "bread milk\n\nmilk\n");
    dir.run(&["convert", "a.txt", "a.ndjson"]).exits(0);
    assert_eq!(dir.text("a.ndjson"), "{\"item\":[\"bread\",\"milk\"]}\n{\"item\":[\"milk\"]}\n{}\n");
    dir.run(&["convert", "a.ndjson", "b.txt"]).exits(0);
    assert_eq!(dir.text("b.txt"), "\nbread milk\nmilk\n");
    // With a blank in it an item would be two.
    dir.write("c.ndjson", "{\"item\":[\"rye bread\"]}\n");
    dir.run(&["convert", "c.ndjson", "c.txt"]).exits(3).says(&["contains the separator"]).hides(&["rye"]);
    dir.run(&["convert", "c.ndjson", "c.txt", "--to-separator", ";"]).exits(0);
    dir.write("d.ndjson", PEOPLE);
    let said = dir.run(&["convert", "d.ndjson", "d.txt"]).exits(3).hides(&["Quetzal"]);
    said.says(&["only sets of items", "home.town", "visits[].day"]);
}

#[test]
fn what_does_not_fit_is_named_and_nothing_is_written() {
    let dir = Dir::new();
    let secrets = &["Quetzal", "41"];
    dir.write("a.ndjson", PEOPLE);
    dir.run(&["convert", "a.ndjson", "a.csv"])
        .exits(3)
        .says(&["nested records", "home.town", "visits[]", "visits[].codes[]"])
        .hides(secrets);
    dir.run(&["convert", "a.ndjson", "a.db"])
        .exits(3)
        .says(&["sqlite cannot hold this without loss", "home.town", "visits[]"])
        .hides(secrets);
    dir.write("names.ndjson", "{\"1st\":\"Quetzal\",\"a b\":1,\"fine\":2}\n");
    dir.run(&["convert", "names.ndjson", "a.xml"])
        .exits(3)
        .says(&["cannot be the name of an XML element", "1st", "a b"])
        .hides(secrets);
    dir.write("matrix.ndjson", "{\"m\":[[1],[2]]}\n");
    dir.run(&["convert", "matrix.ndjson", "a.xml"]).exits(3).says(&["m[][]"]);
    // An empty text is a value; in CSV it would be missing.
    dir.write("empty.ndjson", "{\"a\":\"Quetzal\",\"b\":\"x\"}\n{\"a\":\"\",\"b\":\"y\"}\n");
    dir.run(&["convert", "empty.ndjson", "a.csv"])
        .exits(3)
        .says(&["csv cannot hold this without loss", "1 empty text would be missing", " --> path a"])
        .hides(secrets);
    // A column of Parquet has one type.
    dir.write("mixed.ndjson", "{\"a\":41}\n{\"a\":\"41\"}\n");
    dir.run(&["convert", "mixed.ndjson", "a.parquet"])
        .exits(3)
        .says(&["of another type", " --> path a"])
        .hides(secrets);
    dir.run(&["convert", "mixed.ndjson", "a.csv"]).exits(3).says(&["would be written alike"]).hides(secrets);
    let left: Vec<String> = dir.files().into_iter().filter(|f| !f.ends_with(".ndjson")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn tables_are_copied_row_by_row() {
    let dir = Dir::new();
    dir.write("shop/people.csv", "id;name\n2;Ann, B.\n1;\n")
        .write("shop/buys.csv", "id;who;what\n7;1;\"nut\n\"\n8;1;\n");
    dir.run(&["convert", "shop", "shop.db"]).exits(0).prints(&["4 rows in 2 tables"]);
    let said = dir.run(&["convert", "shop.db", "pq", "--to", "parquet", "--json"]).exits(0).json();
    assert_eq!((&said["rows"], &said["tables"]), (&4.into(), &2.into()), "{said}");
    dir.run(&["convert", "pq", "csv/", "--to", "csv", "--to-separator", ";"]).exits(0);
    for name in ["people", "buys"] {
        assert_eq!(dir.text(&format!("csv/{name}.csv")), dir.text(&format!("shop/{name}.csv")));
    }
    dir.run(&["convert", "shop", "other"]).exits(2).says(&["--to csv or --to parquet"]);
    dir.run(&["convert", "shop", "shop.db"]).exits(3).says(&["it exists", "--force"]);
    dir.run(&["convert", "shop", "shop.db", "--force"]).exits(0);
    dir.run(&["convert", "shop", "shop/", "--to", "csv", "--force"]).exits(2).says(&["would overwrite"]);
    // A flat file is one table.
    dir.run(&["convert", "shop/people.csv", "flat.db"]).exits(0).prints(&["2 rows in 1 table"]);
    dir.run(&["convert", "flat.db", "flat/", "--to", "csv", "--to-separator", ";"]).exits(0);
    assert_eq!(dir.text("flat/people.csv"), dir.text("shop/people.csv"));
}

#[test]
fn what_a_table_of_another_kind_cannot_hold() {
    let dir = Dir::new();
    let db = rusqlite::Connection::open(dir.path("a.db")).expect("a database");
    db.execute_batch(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT, photo BLOB); INSERT INTO t VALUES (1, 'Quetzal', NULL), (2, '', NULL);
         CREATE TABLE u (t_id INTEGER REFERENCES t(id), x REAL); INSERT INTO u VALUES (1, 0.5), (1, 2);",
    )
    .expect("tables");
    dir.run(&["convert", "a.db", "a/", "--to", "csv"]).exits(3).says(&["`t.photo` has the type BLOB"]);
    db.execute_batch("ALTER TABLE t DROP COLUMN photo").expect("altered");
    let said = dir.run(&["convert", "a.db", "a/", "--to", "csv"]).exits(3).hides(&["Quetzal"]);
    said.says(&["csv cannot hold this without loss", "1 empty text would be missing", "t.note"]);
    dir.run(&["convert", "a.db", "a/", "--to", "parquet"]).exits(0);
    dir.run(&["convert", "a/", "b.db"]).exits(0);
    dir.run(&["convert", "a.db", "c.db"]).exits(0);
    let keys: i64 = rusqlite::Connection::open(dir.path("c.db"))
        .and_then(|c| c.query_row("SELECT count(*) FROM pragma_foreign_key_list('u')", [], |r| r.get(0)))
        .expect("keys");
    assert_eq!(keys, 1, "declared keys stay declared");
    // Nested, the key of the row above is not repeated.
    dir.run(&["convert", "a.db", "a.ndjson"]).exits(0);
    assert_eq!(
        dir.text("a.ndjson"),
        "{\"id\":1,\"note\":\"Quetzal\",\"u\":[{\"x\":0.5},{\"x\":2}]}\n{\"id\":2,\"note\":\"\"}\n"
    );
    db.execute_batch("CREATE TABLE alone (x); INSERT INTO alone VALUES (1)").expect("a table");
    dir.run(&["convert", "a.db", "b.ndjson"]).exits(3).says(&["`alone` does not hang below `t`"]);
}

#[test]
fn a_policy_says_how_tables_are_nested() {
    let dir = Dir::new();
    dir.write("p.csv", "who,term,age\n1,a,20\n1,b,21\n2,a,30\n").write("m.csv", "who,mark\n1,x\n2,y\n");
    dir.write(
        "policy.toml",
        "version = 1\n[source]\nformat = \"csv\"\n\
         [[source.table]]\nname = \"p\"\npath = \"p.csv\"\nkey = [\"who\", \"term\"]\nperson = \"who\"\n\
         [[source.table]]\nname = \"m\"\npath = \"m.csv\"\nperson = \"who\"\n",
    );
    dir.run(&["convert", "policy.toml", "a.json"]).exits(0).prints(&["wrote 2 records"]);
    let text = dir.text("a.json");
    assert!(text.contains("{\"who\":\"1\",\"term\":\"a\",\"age\":\"20\"}"), "{text}");
    dir.run(&["convert", "policy.toml", "a.db"]).exits(0).prints(&["5 rows in 2 tables"]);
}

#[test]
fn formats_that_are_not_known_or_not_said() {
    let dir = Dir::new();
    dir.write("a.ndjson", "{\"a\":1}\n");
    dir.run(&["convert", "a.ndjson", "b.bin"]).exits(2).says(&["--to: ndjson, json, xml, csv, parquet"]);
    dir.run(&["convert", "a.ndjson", "b", "--to", "parqet"]).exits(2).says(&["did you mean `parquet`?"]);
    dir.run(&["convert", "a.ndjson", "b", "--to", "postgres"]).exits(2).says(&["postgres://"]);
    dir.run(&["convert", "a.ndjson", "a.ndjson", "--force"]).exits(2).says(&["would overwrite"]);
    dir.run(&["convert", "no.ndjson", "b.json"]).exits(3).says(&["there is no such file"]);
    dir.run(&["convert", "--help"]).exits(0).prints(&["Nothing is anonymized"]);
}

#[test]
fn databases_of_a_server_too() {
    let Some(server) = Server::start("scram-sha-256") else { return };
    let dir = Dir::new();
    server.sql("postgres", "CREATE DATABASE one");
    dir.write("shop/people.csv", "id,name\n1,Ann\n2,\"B\\,\t\"\n")
        .write("shop/buys.csv", "id,who\n7,1\n8,\n");
    dir.run(&["convert", "shop", "pq/", "--to", "parquet"]).exits(0);
    let url = server.url("one");
    let run = |args: &[&str]| {
        let output = dir.command(args).env("PGPASSWORD", PASSWORD).output().expect("the command runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run(&["convert", "pq", &url, "--schema", "there"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(server.sql("one", "SELECT count(*) FROM there.buys"), ["2"]);
    let (code, said) = run(&["convert", "pq", &url, "--schema", "there"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("there is a table"), "{said}");
    let (code, said) = run(&["convert", &url, "back", "--to", "csv"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(dir.text("back/there.people.csv"), dir.text("shop/people.csv"));
}
