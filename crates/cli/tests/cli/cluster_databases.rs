//! k-anonymity and l-diversity of linked tables that others made, in SQLite and in PostgreSQL: loaded, anonymized inside the
//! database, verified, joined.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;

use bosket_testkit::server::Server;
use bosket_testkit::shared::shared;
use flate2::read::GzDecoder;

use crate::cluster_data::{CUSTOMERS, PATIENTS, STUDENTS};
use crate::util::Dir;

/// People of the large tables: enough to be clustered, few enough for every build.
const PEOPLE: usize = 300;

fn unpacked(path: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(shared(path)?).expect("a file")).read_to_end(&mut bytes).expect("gzip");
    Some(bytes)
}

/// The rows of a CSV table whose column has one of the values, or one of the first so many if none are given; and those
/// values. No cell of these tables has a comma.
fn some_rows(path: &str, column: &str, of: Option<&BTreeSet<String>>) -> Option<(String, BTreeSet<String>)> {
    let text = String::from_utf8(unpacked(path)?).expect("text");
    let mut lines = text.lines();
    let head = lines.next().expect("a head");
    let at = head.split(',').position(|c| c == column).expect("a column");
    let mut kept = of.cloned().unwrap_or_default();
    let mut out = format!("{head}\n");
    for line in lines {
        let cell = line.split(',').nth(at).expect("as many cells as columns");
        if of.is_none() && kept.len() < PEOPLE {
            kept.insert(cell.to_owned());
        }
        if kept.contains(cell) {
            out += line;
            out.push('\n');
        }
    }
    Some((out, kept))
}

/// The same policy for a database: where the tables are, and where they go.
fn moved(policy: &str, source: &str, publish: &str) -> String {
    let tables = policy.lines().filter(|l| !(l.starts_with("path = ") && l.ends_with(".csv.gz\"")));
    let text = tables.collect::<Vec<_>>().join("\n") + "\n";
    let text = text.replace("format = \"csv\"\n", source);
    let text = text.replace("format = \"sqlite\"\npath = \"chinook.db\"\n", source);
    let mapping = "mapping = \"private/mapping.csv\"\n";
    let text = text.replace(mapping, "");
    let publish = format!("[publish]\n{publish}{mapping}");
    let text = text.replace("path = \"out.db\"\n", "path = \"out\"\n");
    text.replace("[publish]\npath = \"out\"\n", &publish)
}

/// A database in both systems, and the policy for each.
struct Both {
    dir: Dir,
    server: Server,
    url: String,
}

impl Both {
    /// Loads tables, or another database, into both. None where PostgreSQL is not installed.
    fn load(dir: Dir, from: &str) -> Option<Both> {
        let server = Server::start("trust")?;
        server.sql("postgres", "CREATE DATABASE one");
        let url = server.url("one");
        if from != "in.db" {
            dir.run(&["convert", from, "in.db"]).exits(0);
        }
        dir.run(&["convert", from, &url, "--schema", "public"]).exits(0);
        Some(Both { dir, server, url })
    }

    /// Anonymizes in both, verifies as a stranger and against the private tables; both publish as many people.
    fn publish(&self, policy: &str, sets: &[&str]) {
        let sets: Vec<&str> = sets.iter().flat_map(|s| ["--set", s]).collect();
        let in_file = moved(policy, "format = \"sqlite\"\npath = \"in.db\"\n", "path = \"out.db\"\n");
        let url = &self.url;
        let in_server = moved(
            policy,
            &format!("format = \"postgres\"\nurl = \"{url}\"\n"),
            &format!("url = \"{url}\"\nschema = \"open\"\n"),
        );
        let mut made = Vec::new();
        for (name, text, published, input) in
            [("a.toml", in_file, "out.db", "in.db"), ("b.toml", in_server, url.as_str(), url.as_str())]
        {
            self.dir.write(name, text);
            let run = self.dir.run(&[&["anonymize", name, "--force", "--json"], &sets[..]].concat());
            let told = run.exits(0).json();
            assert_eq!(told["verified"], true);
            made.push(told["records"].clone());
            let against = ["--against", input, "--mapping", "private/mapping.csv"];
            self.dir
                .run(&[&["verify", published, "--policy", name], &against[..], &sets[..]].concat())
                .exits(0);
        }
        // Rows come in another order, so other clusters may be as good; nobody is left out in either.
        assert_eq!(made[0], made[1]);
    }

    /// The numbers that a query gives in the two publications.
    fn numbers(&self, sql: &str) -> [i64; 2] {
        let file = rusqlite::Connection::open(self.dir.path("out.db")).expect("a database");
        let one: i64 = file.query_row(sql, [], |row| row.get(0)).expect("a number");
        let other = self.server.sql("one", &format!("SET search_path TO open; {sql}"));
        [one, other[0].parse().expect("a number")]
    }
}

#[test]
fn patients_in_databases() {
    let folder = "data/health-synthea-csv-1k";
    let dir = Dir::new();
    let Some((patients, known)) = some_rows(&format!("{folder}/patients.csv.gz"), "ID", None) else { return };
    dir.write("in/patients.csv", patients);
    for table in ["encounters", "conditions"] {
        let rows = some_rows(&format!("{folder}/{table}.csv.gz"), "PATIENT", Some(&known));
        dir.write(&format!("in/{table}.csv"), rows.expect("beside the patients").0);
    }
    let Some(both) = Both::load(dir, "in") else { return };
    both.publish(PATIENTS, &["privacy.k=5"]);
    assert!(both.numbers("SELECT count(*) FROM patients").iter().all(|&n| n > 250));
    assert!(both.numbers("SELECT count(*) FROM encounters").iter().all(|&n| n > 1000));
    let orphans = "SELECT count(*) FROM encounters e LEFT JOIN patients p ON e.\"PATIENT\" = p.\"ID\" WHERE p.\"ID\" IS NULL";
    assert_eq!(both.numbers(orphans), [0, 0]);
    let orphans = "SELECT count(*) FROM conditions c LEFT JOIN encounters e ON c.\"ENCOUNTER\" = e.\"ID\" WHERE e.\"ID\" IS NULL";
    assert_eq!(both.numbers(orphans), [0, 0]);
    both.publish(PATIENTS, &["privacy.model=l-diversity", "privacy.l=2", "method.algorithm=ctoff"]);
}

#[test]
fn students_in_databases() {
    let dir = Dir::new();
    let path = |table: &str| format!("data/rel-oulad/{table}.csv.gz");
    let Some((info, known)) = some_rows(&path("studentInfo"), "id_student", None) else { return };
    let scores =
        some_rows(&path("studentAssessment"), "id_student", Some(&known)).expect("beside the students");
    dir.write("in/info.csv", info).write("in/scores.csv", scores.0);
    let Some(both) = Both::load(dir, "in") else { return };
    let alike = STUDENTS.replace("model = \"l-diversity\"\nl = 2", "model = \"k-anonymity\"\nk = 4");
    both.publish(&alike, &[]);
    let joined =
        "SELECT count(DISTINCT i.id_student) FROM info i JOIN scores s ON s.id_student = i.id_student";
    assert!(both.numbers(joined).iter().all(|&n| n > 100));
    both.publish(STUDENTS, &[]);
}

#[test]
fn customers_in_databases() {
    let Some(bytes) = unpacked("data/rel-chinook/Chinook_Sqlite.sqlite.gz") else { return };
    let dir = Dir::new();
    dir.write("in.db", bytes);
    let Some(both) = Both::load(dir, "in.db") else { return };
    let alike = CUSTOMERS.replace("\"l-diversity\"\nl = 2", "\"k-anonymity\"\nk = 3");
    both.publish(&alike, &[]);
    let orphans = "SELECT count(*) FROM \"Invoice\" i LEFT JOIN \"Customer\" c ON i.\"CustomerId\" = c.\"CustomerId\" WHERE c.\"CustomerId\" IS NULL";
    assert_eq!(both.numbers(orphans), [0, 0]);
    let lines =
        "SELECT count(*) FROM \"InvoiceLine\" l JOIN \"Invoice\" i ON l.\"InvoiceId\" = i.\"InvoiceId\"";
    assert!(both.numbers(lines).iter().all(|&n| n > 500));
    both.publish(CUSTOMERS, &["method.algorithm=ctoff"]);
}

/// SQLite calls a date numeric and keeps texts in its column.
#[test]
fn dates_of_sqlite_were_numbers_to_postgres() {
    let dir = Dir::new();
    let file = rusqlite::Connection::open(dir.path("in.db")).expect("a database");
    file.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, day DATETIME); INSERT INTO t VALUES (1, '1962-02-18 00:00:00');")
        .expect("a table");
    drop(file);
    let Some(server) = Server::start("trust") else { return };
    server.sql("postgres", "CREATE DATABASE one");
    dir.run(&["convert", "in.db", &server.url("one"), "--schema", "public"]).exits(0);
    assert_eq!(server.sql("one", "SELECT day FROM t"), ["1962-02-18 00:00:00"]);
}
