//! Linked tables in PostgreSQL: read in one snapshot, published in one transaction, nothing visible if it fails.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::tables_common::*;
use bosket_io::tables::{Tables, Writing};
use bosket_io::{Create, PolicyFile, Whereabouts};
use bosket_model::observe::{Observer, Quiet};
use bosket_model::{Builder, ClassId, Dataset, Kind};
use bosket_testkit::server::Server;

const SCHOOL: &str = r#"version = 1
[source]
format = "postgres"
url = "SOURCE"
[[source.table]]
name = "student"
key = "sid"
[[source.table]]
name = "school.takes"
key = "scid"
parent = "student"
foreign_key = "sid"
[[source.table]]
name = "book"
key = ["scid", "no"]
parent = "school.takes"
foreign_key = "scid"
[publish]
url = "TARGET"
schema = "published"
[[attribute]]
path = "student.name"
role = "identifying"
[[attribute]]
path = "student.photo"
role = "identifying"
[[attribute]]
path = "student.born"
role = "quasi"
[[attribute]]
path = "student.height"
role = "sensitive"
[[attribute]]
path = "student.enrolled"
role = "insensitive"
[[attribute]]
path = "school.takes.course"
role = "quasi"
[[attribute]]
path = "school.takes.grade"
role = "sensitive"
[[attribute]]
path = "book.title"
role = "quasi"
"#;

const TABLES: &str = "
CREATE SCHEMA school;
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE DOMAIN grade AS numeric(3,1) CHECK (VALUE >= 0);
CREATE TABLE student (sid uuid PRIMARY KEY, name text NOT NULL, born date, height double precision, enrolled boolean, photo bytea);
CREATE TABLE school.takes (scid bigint PRIMARY KEY, sid uuid NOT NULL REFERENCES student, course varchar(20), grade grade);
CREATE TABLE book (scid bigint REFERENCES school.takes, no int, title text, PRIMARY KEY (scid, no));
INSERT INTO student VALUES
  ('00000000-0000-0000-0000-000000000007', 'Ann', '2001-02-03', 1.75, true, '\\x00'),
  ('00000000-0000-0000-0000-000000000001', 'Bob', '2001-02-03', 1e-7, false, NULL),
  ('00000000-0000-0000-0000-000000000005', 'Cy', NULL, NULL, NULL, NULL);
INSERT INTO school.takes VALUES
  (30, '00000000-0000-0000-0000-000000000001', 'db', 1.0),
  (20, '00000000-0000-0000-0000-000000000007', E'o\\\\s\\t\\n', 2.5),
  (10, '00000000-0000-0000-0000-000000000001', 'os', NULL);
INSERT INTO book VALUES (30, 1, 'Codd'), (30, 2, ''), (20, 1, 'Tanenbaum');
";

fn school(server: &Server) -> PolicyFile {
    server.sql("postgres", "CREATE DATABASE source");
    server.sql("postgres", "CREATE DATABASE target");
    server.sql("source", TABLES);
    policy_to(server, "target")
}

fn policy_to(server: &Server, target: &str) -> PolicyFile {
    let text = SCHOOL.replace("SOURCE", &server.url("source")).replace("TARGET", &server.url(target));
    policy(Path::new(""), &text)
}

fn published(file: &PolicyFile) -> Dataset {
    let url = file.policy.publish.as_ref().and_then(|p| p.url.clone()).expect("an address");
    Tables::given(file, Path::new(&url), true).expect("tables").read(&Quiet).expect("readable").0
}

const RECORDS: [&str; 3] = [
    "{born=2001-02-03 enrolled=false height=1e-7 school.takes{course=db grade=1 book{title=Codd} book{title=}} school.takes{course=os}}",
    "{born=2001-02-03 enrolled=true height=1.75 school.takes{course=o\\s\t\n grade=2.5 book{title=Tanenbaum}}}",
    "{}",
];

/// The same, with the short names that the comparison uses.
fn records() -> Vec<String> {
    RECORDS.iter().map(|r| r.replace("school.takes", "takes")).collect()
}

#[test]
fn a_publication_appears_whole_with_keys_that_hold() {
    let Some(server) = Server::start("trust") else { return };
    let file = school(&server);
    let (data, form) = read_input(&file).expect("tables");
    assert_eq!(canonical(&data), records());

    let mut writing = Writing::begin(&file, &form, Create::default()).expect("room");
    writing.write(&data, &Quiet).expect("writable");
    assert_eq!(canonical(&writing.read_again(&Quiet).expect("readable")), records());
    let there = "SELECT count(*) FROM pg_namespace WHERE nspname = 'published'";
    assert_eq!(server.sql("target", there), ["0"], "nobody sees it yet");
    writing.finish(Vec::new(), &Quiet).expect("published");
    assert_eq!(canonical(&published(&file)), records());

    let sql = |sql: &str| server.sql("target", sql);
    assert_eq!(
        sql("SELECT * FROM published.student ORDER BY sid"),
        ["1|||", "2|2001-02-03|1.75|t", "3|2001-02-03|1e-07|f"]
    );
    assert_eq!(
        sql("SELECT scid, sid, grade FROM published.takes ORDER BY scid"),
        ["1|2|2.5", "2|3|1.0", "3|3|"]
    );
    assert_eq!(
        sql("SELECT scid, no, title FROM published.book ORDER BY no"),
        ["1|1|Tanenbaum", "2|2|", "2|3|Codd"]
    );
    assert_eq!(
        sql(
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'published' \
             AND table_name = 'student' ORDER BY ordinal_position"
        ),
        ["sid|bigint", "born|text", "height|double precision", "enrolled|boolean"]
    );
    assert_eq!(
        sql("SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint \
             WHERE connamespace = 'published'::regnamespace ORDER BY conrelid::regclass::text, contype"),
        [
            "published.book|FOREIGN KEY (scid) REFERENCES published.takes(scid)",
            "published.book|PRIMARY KEY (scid, no)",
            "published.student|PRIMARY KEY (sid)",
            "published.takes|FOREIGN KEY (sid) REFERENCES published.student(sid)",
            "published.takes|PRIMARY KEY (scid)",
        ]
    );

    let refused = Writing::begin(&file, &form, Create::default()).expect_err("it exists").to_string();
    assert!(refused.contains("there is a table `student` already"), "{refused}");
    let forced = Create { force: true, ..Create::default() };
    let mut writing = Writing::begin(&file, &form, forced).expect("forced");
    writing.write(&data, &Quiet).expect("writable");
    drop(writing);
    assert_eq!(canonical(&published(&file)), records(), "an abandoned run leaves the old publication");
}

/// Views and partitioned tables take no room of their own on disk: what the server expects of their rows counts.
#[test]
fn views_weigh_about_what_their_rows_would() {
    let Some(server) = Server::start("trust") else { return };
    server.sql("postgres", "CREATE DATABASE sizes");
    server.sql(
        "sizes",
        "CREATE TABLE person AS SELECT i AS id, 'town ' || i % 500 AS town FROM generate_series(1, 30000) i; \
         CREATE VIEW seen AS SELECT * FROM person; \
         CREATE VIEW few AS SELECT * FROM person WHERE id <= 300; \
         CREATE MATERIALIZED VIEW kept AS SELECT * FROM person; \
         CREATE TABLE parted (id int, town text) PARTITION BY RANGE (id); \
         CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (40000); \
         INSERT INTO parted SELECT * FROM person; ANALYZE",
    );
    let weight = |table: &str| {
        let text = format!(
            "version = 1\n[source]\nformat = \"postgres\"\nurl = \"{}\"\n[[source.table]]\nname = \"{table}\"\n\
             key = \"id\"\n[[attribute]]\npath = \"{table}.town\"\nrole = \"quasi\"\n",
            server.url("sizes")
        );
        let file = policy(Path::new(""), &text);
        Whereabouts::input(&file).expect("a source").weight().0
    };
    let table = weight("person");
    assert!(table > 30_000 * 40);
    for view in ["seen", "kept", "parted"] {
        assert!((table / 2..table * 2).contains(&weight(view)), "{view}: {} of {table}", weight(view));
    }
    assert!((1..table / 20).contains(&weight("few")), "{}", weight("few"));
    assert_eq!(weight("nobody"), 0);
}

#[test]
fn the_source_is_never_replaced() {
    let Some(server) = Server::start("trust") else { return };
    school(&server);
    let forced = Create { force: true, ..Create::default() };
    for schema in ["public", "school"] {
        let text = SCHOOL.replace("SOURCE", &server.url("source")).replace("TARGET", &server.url("source"));
        let other = policy(Path::new(""), &text.replace("\"published\"", &format!("{schema:?}")));
        let (_, form) = read_input(&other).expect("tables");
        let refused = Writing::begin(&other, &form, forced.clone()).expect_err("the source").to_string();
        assert!(refused.contains("take the place of the tables it is made from"), "{refused}");
    }
    // Another schema of the same database is fine.
    let same = policy_to(&server, "source");
    let (data, form) = read_input(&same).expect("tables");
    publish(&same, &form, &data).expect("published");
    assert_eq!(canonical(&published(&same)), records());
    assert_eq!(server.sql("source", "SELECT count(*) FROM public.student"), ["3"]);
}

#[test]
fn moved_rows_and_old_publications_of_other_shapes() {
    let Some(server) = Server::start("trust") else { return };
    let file = school(&server);
    let (_, form) = read_input(&file).expect("tables");
    let keys = |name: &str| vec![name.to_owned()];
    let mut b = Builder::new();
    let takes = b.class(ClassId::ROOT, &keys("school.takes"));
    let course = b.attribute(takes, &keys("course"));
    let moved = b.class(ClassId::ROOT, &keys("book"));
    let title = b.attribute(moved, &keys("title"));
    b.begin_record();
    b.open(takes);
    b.set(course, Kind::Text, "*");
    b.close();
    b.open(moved);
    b.set(title, Kind::Text, "Codd");
    b.close();
    b.end_record().expect("nothing twice");
    let again = publish(&file, &form, &b.finish()).expect("published");
    assert_eq!(canonical(&again), ["{book{title=Codd} takes{course=*}}"]);
    assert_eq!(
        server.sql("target", "SELECT scid, no, title, student_sid FROM published.book"),
        ["|1|Codd|1"]
    );
    assert_eq!(
        server.sql("target", "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'published.book'::regclass ORDER BY 1"),
        [
            "FOREIGN KEY (scid) REFERENCES published.takes(scid)",
            "FOREIGN KEY (student_sid) REFERENCES published.student(sid)",
            "PRIMARY KEY (no)"
        ]
    );
}

#[test]
fn a_server_killed_in_the_middle_shows_nothing_of_it() {
    let Some(mut server) = Server::start("trust") else { return };
    let file = school(&server);
    let (data, form) = read_input(&file).expect("tables");
    let mut writing = Writing::begin(&file, &form, Create::default()).expect("room");
    writing.write(&data, &Quiet).expect("writable");
    server.kill();
    let failed = writing.finish(Vec::new(), &Quiet).expect_err("the server is gone");
    assert_eq!(failed.fault, bosket_model::Fault::Environment);
    assert!(failed.to_string().contains("the connection was lost"), "{failed}");
    server.run(&[]);
    assert_eq!(server.sql("target", "SELECT count(*) FROM pg_namespace WHERE nspname = 'published'"), ["0"]);
    publish(&file, &form, &data).expect("a second attempt");
    assert_eq!(canonical(&published(&file)), records());
}

/// Changes the source as soon as its first table has been read.
struct Meddler<'s>(&'s Server);

impl Observer for Meddler<'_> {
    fn stage(&self, name: &str, _: u64) {
        if name == "reading school.takes" {
            self.0.sql(
                "source",
                "INSERT INTO school.takes VALUES (99, '00000000-0000-0000-0000-000000000005', 'x', 1)",
            );
            self.0.sql("source", "DELETE FROM book");
        }
    }
    fn advance(&self, _: u64) {}
}

#[test]
fn all_tables_are_read_as_they_were_at_one_moment() {
    let Some(server) = Server::start("trust") else { return };
    let file = school(&server);
    let (data, _) = Tables::input(&file).expect("tables").read(&Meddler(&server)).expect("readable");
    assert_eq!(canonical(&data), records());
    let (data, _) = read_input(&file).expect("tables");
    assert_ne!(canonical(&data), records(), "the next run sees the change");
}

/// Throws whoever reads out when the last table's turn comes.
struct Bouncer<'s>(&'s Server);

impl Observer for Bouncer<'_> {
    fn stage(&self, name: &str, _: u64) {
        if name == "reading book" {
            let sql =
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bosket'";
            self.0.sql("source", sql);
        }
    }
    fn advance(&self, _: u64) {}
}

#[test]
fn a_connection_that_is_lost_while_reading() {
    let Some(server) = Server::start("trust") else { return };
    let file = school(&server);
    let lost = Tables::input(&file).expect("tables").read(&Bouncer(&server)).map(|_| ()).expect_err("lost");
    assert_eq!(lost.fault, bosket_model::Fault::Environment);
    assert!(lost.to_string().contains("the connection was lost"), "{lost}");
}

#[test]
fn bad_input_and_bad_targets() {
    let Some(server) = Server::start("trust") else { return };
    let file = school(&server);
    let text = SCHOOL.replace("SOURCE", &server.url("source")).replace("TARGET", &server.url("target"));
    let says = |text: &str| refused(&policy(Path::new(""), text));
    let photo = text.replace(
        "path = \"student.photo\"\nrole = \"identifying\"",
        "path = \"student.photo\"\nrole = \"quasi\"",
    );
    assert!(says(&photo).contains("`student.photo` has the type bytea, which no attribute can hold"));
    assert!(
        says(&text.replace("\"book\"", "\"bok\"").replace("book.", "bok.")).contains("did you mean `book`?")
    );
    assert!(says(&text.replace("localhost", "no.such.host.invalid")).contains("cannot talk to the server"));
    assert!(says(&text.replace("/source", "/sauce")).contains("there is no such database"));
    assert!(says(&text.replace(&server.port().to_string(), "1")).contains("cannot talk to the server"));

    let (data, form) = read_input(&file).expect("tables");
    server.sql("postgres", "CREATE ROLE guest LOGIN");
    let begin = |url: &str| {
        let file = policy(Path::new(""), &text.replace(&server.url("target"), url));
        Writing::begin(&file, &form, Create::default()).expect_err("no room").to_string()
    };
    assert!(begin(&server.url_of("guest", "target")).contains("may not create tables there"));
    assert!(begin(&server.url_of("nobody_knows", "target")).contains("does not let this user in"));
    server.sql("postgres", "ALTER ROLE guest SET default_transaction_read_only = on");
    assert!(begin(&server.url_of("guest", "target")).contains("the database is read-only"));

    server.sql(
        "source",
        "INSERT INTO student VALUES ('00000000-0000-0000-0000-000000000009', 'D', NULL, 'NaN', NULL, NULL)",
    );
    let said = refused(&file);
    assert!(said.contains("row 4: column `height` holds a value that is no finite number"), "{said}");
    server.sql(
        "source",
        "ALTER TABLE book DROP CONSTRAINT book_scid_fkey; INSERT INTO book VALUES (77, 1, 'x')",
    );
    assert!(refused(&file).contains("row 4: a row of `book` belongs to nobody"));
    server.sql("source", "ALTER TABLE school.takes DROP COLUMN grade");
    assert!(refused(&file).contains("the table has no column `grade`"));
    drop(data);
}

/// A certificate authority and a server's certificate for `localhost`.
fn certificates(server: &Server) -> bool {
    let openssl = |args: &str| {
        let run = Command::new("openssl").args(args.split(' ')).current_dir(server.path("")).output();
        run.is_ok_and(|o| o.status.success())
    };
    let made = openssl("req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=test -days 2")
        && openssl(
            "req -newkey rsa:2048 -nodes -keyout own.key -out own.csr -subj /CN=localhost -addext subjectAltName=DNS:localhost",
        )
        && openssl(
            "x509 -req -in own.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out own.crt -days 2 -copy_extensions copy",
        );
    if made {
        for name in ["own.key", "own.crt"] {
            let text = fs::read(server.path(name)).expect("made");
            server.give(&format!("data/{name}"), |path| {
                fs::write(path, &text).expect("a file");
                fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
                    .expect("permissions");
            });
        }
    } else {
        eprintln!("skipped: openssl is not installed");
    }
    made
}

#[test]
fn tls_on_request_with_the_certificate_checked() {
    let Some(mut server) = Server::start("trust") else { return };
    if !certificates(&server) {
        return;
    }
    server.kill();
    server.run(&["ssl=on", "ssl_cert_file=own.crt", "ssl_key_file=own.key"]);
    school(&server);
    server.give("data/pg_hba.conf", |path| fs::write(path, "hostssl all all all trust\n").expect("a file"));
    server.kill();
    server.run(&["ssl=on", "ssl_cert_file=own.crt", "ssl_key_file=own.key"]);
    let text = SCHOOL.replace("TARGET", &server.url("target"));
    let with = |query: &str| {
        policy(Path::new(""), &text.replace("SOURCE", &format!("{}{query}", server.url("source"))))
    };
    let said = refused(&with(""));
    assert!(said.contains("?sslmode=require"), "{said}");
    let ca = server.path("ca.crt");
    let trusted = with(&format!("?sslmode=verify-full&sslrootcert={}", ca.display()));
    assert_eq!(canonical(&read_input(&trusted).expect("tables").0), records());
    assert!(
        refused(&with(&format!("?sslmode=require&sslrootcert={}", server.path("own.key").display())))
            .contains("certificate")
    );
    let elsewhere = text.replace("SOURCE", &server.url("source").replace("localhost", "127.0.0.1"));
    let elsewhere =
        elsewhere.replace("/source", &format!("/source?sslmode=require&sslrootcert={}", ca.display()));
    let said = refused(&policy(Path::new(""), &elsewhere));
    assert!(said.contains("certificate"), "a certificate for another name: {said}");
}
