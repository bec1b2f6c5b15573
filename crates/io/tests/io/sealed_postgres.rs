//! Publications in PostgreSQL with something in their schema that no guarantee looks at.

use std::path::Path;

use crate::tables_common::*;
use bosket_io::PolicyFile;
use bosket_io::tables::Writing;
use bosket_io::{Create, Pending};
use bosket_testkit::server::Server;

const TABLES: &str = "
CREATE TABLE student (sid text PRIMARY KEY, town text);
CREATE TABLE takes (sid text REFERENCES student, course text);
INSERT INTO student VALUES ('SSN-9', 'B'), ('SSN-1', 'A'), ('SSN-5', 'A');
INSERT INTO takes VALUES ('SSN-9', 'db'), ('SSN-9', 'ai'), ('SSN-1', 'os');
";

fn school(server: &Server) -> PolicyFile {
    server.sql("postgres", "CREATE DATABASE source");
    server.sql("postgres", "CREATE DATABASE target");
    server.sql("source", TABLES);
    let text = format!(
        "version = 1\n[source]\nformat = \"postgres\"\nurl = \"{}\"\n[[source.table]]\nname = \"student\"\nkey = \"sid\"\n\
         [[source.table]]\nname = \"takes\"\nparent = \"student\"\nforeign_key = \"sid\"\n\
         [publish]\nurl = \"{}\"\nschema = \"open\"\n",
        server.url("source"),
        server.url("target")
    );
    policy(Path::new(""), &(text + &attribute("student.town", "quasi") + &attribute("takes.course", "quasi")))
}

fn told(server: &Server, file: &PolicyFile) -> String {
    let failure =
        read_published(file, Path::new(&server.url("target"))).map(|_| ()).expect_err("not accepted");
    assert_eq!(failure.fault, bosket_model::Fault::Data, "{failure}");
    failure.to_string()
}

#[test]
fn whatever_else_a_schema_holds_is_refused() {
    let Some(server) = Server::start("trust") else { return };
    let file = school(&server);
    let (data, form) = read_input(&file).expect("tables");
    publish(&file, &form, &data).expect("published");
    let at = server.url("target");
    for (make, undo, what) in [
        ("CREATE TABLE open.raw AS SELECT 'SSN-1'::text AS ssn", "DROP TABLE open.raw", "table `raw`"),
        ("CREATE VIEW open.old AS SELECT 'SSN-1'::text AS ssn", "DROP VIEW open.old", "view `old`"),
        (
            "CREATE MATERIALIZED VIEW open.old AS SELECT 'SSN-1'::text AS ssn",
            "DROP MATERIALIZED VIEW open.old",
            "view `old`",
        ),
        ("CREATE SEQUENCE open.count START 111222333", "DROP SEQUENCE open.count", "sequence `count`"),
        ("CREATE INDEX towns ON open.student (town)", "DROP INDEX open.towns", "index `towns`"),
        ("CREATE TYPE open.who AS ENUM ('SSN-1')", "DROP TYPE open.who", "type `who`"),
        (
            "CREATE FUNCTION open.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; -- SSN-1\nEND'",
            "DROP FUNCTION open.f",
            "function `f`",
        ),
        (
            "CREATE TRIGGER t BEFORE UPDATE ON open.student FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
            "DROP TRIGGER t ON open.student",
            "trigger `t`",
        ),
        (
            "CREATE RULE r AS ON DELETE TO open.student DO ALSO SELECT 'SSN-1'",
            "DROP RULE r ON open.student",
            "rule `r`",
        ),
        (
            "COMMENT ON TABLE open.student IS 'SSN-1'",
            "COMMENT ON TABLE open.student IS NULL",
            "comment on `student`",
        ),
        (
            "COMMENT ON COLUMN open.student.town IS 'SSN-1'",
            "COMMENT ON COLUMN open.student.town IS NULL",
            "comment on `student`",
        ),
        (
            "COMMENT ON INDEX open.student_pkey IS 'SSN-1'",
            "COMMENT ON INDEX open.student_pkey IS NULL",
            "comment on `student_pkey`",
        ),
        (
            "COMMENT ON CONSTRAINT student_pkey ON open.student IS 'SSN-1'",
            "COMMENT ON CONSTRAINT student_pkey ON open.student IS NULL",
            "comment on constraint `student_pkey`",
        ),
        (
            "COMMENT ON CONSTRAINT takes_sid_fkey ON open.takes IS 'SSN-1'",
            "COMMENT ON CONSTRAINT takes_sid_fkey ON open.takes IS NULL",
            "comment on constraint `takes_sid_fkey`",
        ),
        (
            "COMMENT ON TYPE open.student IS 'SSN-1'",
            "COMMENT ON TYPE open.student IS NULL",
            "comment on type `student`",
        ),
        (
            "CREATE POLICY p ON open.student USING (town <> 'SSN-1')",
            "DROP POLICY p ON open.student",
            "policy `p`",
        ),
        ("COMMENT ON SCHEMA open IS 'SSN-1'", "COMMENT ON SCHEMA open IS NULL", "comment on schema `open`"),
        (
            "ALTER TABLE open.student ALTER town SET DEFAULT 'SSN-1'",
            "ALTER TABLE open.student ALTER town DROP DEFAULT",
            "column default `town`",
        ),
        (
            "ALTER TABLE open.student ADD CONSTRAINT c CHECK (town <> 'SSN-1')",
            "ALTER TABLE open.student DROP CONSTRAINT c",
            "check `c`",
        ),
        ("CREATE TABLE public.sub () INHERITS (open.takes)", "DROP TABLE public.sub", "table that inherits"),
    ] {
        server.sql("target", make);
        let told = told(&server, &file);
        assert!(told.contains(what) && !told.contains("SSN"), "{make}: {told}");
        server.sql("target", undo);
        read_published(&file, Path::new(&at)).expect("accepted as it was written");
    }
    // What a column held that was dropped stays in the rows.
    server.sql("target", "ALTER TABLE open.takes ADD ssn text; ALTER TABLE open.takes DROP ssn");
    assert!(told(&server, &file).contains("dropped column"));
}

/// Without a provider nobody can give a label by `SECURITY LABEL`; the catalogue takes one from its owner.
#[test]
fn security_labels_are_refused() {
    let Some(server) = Server::start("trust") else { return };
    let file = school(&server);
    let (data, form) = read_input(&file).expect("tables");
    publish(&file, &form, &data).expect("published");
    for (class, object, column, what) in [
        ("pg_class", "'open.student'::regclass", 0, "security label on `open.student`"),
        ("pg_class", "'open.student'::regclass", 2, "security label on `open.student`"),
        ("pg_namespace", "'open'::regnamespace", 0, "security label on schema `open`"),
    ] {
        let change = |sql: &str| server.sql("target", &format!("SET allow_system_table_mods = on; {sql}"));
        change(&format!(
            "INSERT INTO pg_seclabel VALUES ({object}, '{class}'::regclass, {column}, 'nobody', 'SSN-1')"
        ));
        let told = told(&server, &file);
        assert!(told.contains(what) && !told.contains("SSN"), "{told}");
        change("DELETE FROM pg_seclabel");
        read_published(&file, Path::new(&server.url("target"))).expect("accepted as it was written");
    }
}

#[test]
fn raw_keys_and_orders_of_postgres_are_refused() {
    let Some(server) = Server::start("trust") else { return };
    let file = school(&server);
    let (data, form) = read_input(&file).expect("tables");
    publish(&file, &form, &data).expect("published");
    // Without a key of its own, `takes` has only the order in which its rows lie there.
    server.sql("target", "UPDATE open.takes SET course = course WHERE course = 'os'");
    let said = told(&server, &file);
    assert!(said.contains("of `takes` is not where what it says puts it"), "{said}");
    server.sql("target", "UPDATE open.takes SET course = course WHERE course <> 'os'");
    server.sql("target", "ALTER TABLE open.takes DROP CONSTRAINT takes_sid_fkey");
    server.sql("target", "UPDATE open.student SET sid = 111222333 WHERE sid = 3");
    let said = told(&server, &file);
    assert!(said.contains("a key in `student` is no surrogate"), "{said}");
}

#[test]
fn a_schema_with_tables_of_others_is_refused_before_the_work() {
    let Some(server) = Server::start("trust") else { return };
    let file = school(&server);
    let (_, form) = read_input(&file).expect("tables");
    server.sql("target", "CREATE SCHEMA open; CREATE TABLE open.raw (ssn text)");
    let create = Create { force: true, private: false, pending: Pending::default() };
    let told = Writing::begin(&file, &form, create).map(|_| ()).expect_err("occupied").to_string();
    assert!(told.contains("the schema has a table `raw`"), "{told}");
}
