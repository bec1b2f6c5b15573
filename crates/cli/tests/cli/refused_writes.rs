//! Places that cannot be written, per format: a reason, and nothing left behind.

use std::process::Command;

use bosket_testkit::server::Server;

use crate::util::{Dir, Output};

/// Customers with their orders: a tree, and linked tables in CSV, SQLite and Parquet, with a policy each.
fn customers() -> (Dir, [&'static str; 4]) {
    let dir = Dir::new();
    dir.run(&["generate", "tpch", "--customers", "100", "--out", "d"]).exits(0);
    dir.run(&["convert", "d/tables/policy-csv.toml", "d/tables/parquet", "--to", "parquet"]).exits(0);
    let text = dir.text("d/tables/policy-csv.toml").replace("\"csv\"", "\"parquet\"");
    let text = ["customer", "orders", "items"].iter().fold(text, |text, table| {
        text.replace(&format!("\"{table}.csv\""), &format!("\"parquet/{table}.parquet\""))
    });
    dir.write("d/tables/policy-parquet.toml", text);
    let tables = |format: &str| format!("d/tables/policy-{format}.toml");
    assert!(dir.path(&tables("sqlite")).exists());
    let policies = [
        "d/policy.toml",
        "d/tables/policy-csv.toml",
        "d/tables/policy-sqlite.toml",
        "d/tables/policy-parquet.toml",
    ];
    (dir, policies)
}

#[test]
fn a_disk_that_fills_while_parquet_is_written() {
    let (dir, policies) = customers();
    dir.run(&["convert", "d/data.ndjson", "d/data.parquet"]).exits(0);
    let whole = "--set source.format=parquet --set source.path=data.parquet --set publish.path=out.parquet";
    for policy in [policies[3], &format!("d/policy.toml {whole}")] {
        let before = dir.files();
        let told = dir.bash(&format!("ulimit -f 1; $BOSKET anonymize {policy}")).exits(3);
        told.says(&["cannot write the file: the file grew larger than allowed", "ulimit -f"]);
        assert_eq!(dir.files(), before, "{policy}");
        dir.bash(&format!("$BOSKET anonymize {policy}")).exits(0);
    }
}

/// Runs a command line while nobody may write into `d`; none where that cannot be had.
fn read_only(dir: &Dir, line: &str) -> Option<Output> {
    let mount = "mount --bind d d && mount -o remount,ro,bind d";
    let inside = |line: &str| format!("unshare -m bash -c '{mount} && {line}'");
    if dir.bash(&inside("true")).code == Some(0) {
        return Some(dir.bash(&inside(line)));
    }
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    let other = if root { "setpriv --reuid=65534 --regid=65534 --clear-groups" } else { "" };
    // Everybody may read the folder, nobody but its owner write.
    dir.bash("chmod 711 . && chmod -R a+rX d");
    let guard = "chmod -R a-w d";
    if dir.bash(&format!("{guard} && ! {other} touch d/x")).code != Some(0) {
        eprintln!("skipped: there is no way to make a folder read-only here");
        return None;
    }
    let found = dir.bash(&format!("{guard} && {other} {line}"));
    dir.bash("chmod -R u+w d");
    Some(found)
}

#[test]
fn a_folder_that_cannot_be_written() {
    let (dir, policies) = customers();
    let before = dir.files();
    for policy in policies {
        let Some(found) = read_only(&dir, &format!("$BOSKET anonymize {policy}")) else { return };
        assert_eq!(found.code, Some(3), "{policy}: {}{}", found.stdout, found.stderr);
        assert!(found.stdout.is_empty(), "{}", found.stdout);
        let told = found.says(&["error: ", "help: "]);
        assert!(told.stderr.contains("cannot") && told.stderr.contains("d/"), "{policy}: {}", told.stderr);
        assert_eq!(dir.files(), before, "{policy}");
    }
}

/// A run that gets no more memory ends by itself or is ended; what it leaves behind is gone after the next run.
#[test]
fn memory_that_the_system_refuses() {
    let (dir, policies) = customers();
    for policy in policies {
        let before = dir.files();
        let mut ends = Vec::new();
        for kilobytes in [40_000, 80_000, 120_000, 180_000, 260_000, 400_000] {
            let line =
                format!("ulimit -c 0; ulimit -v {kilobytes}; $BOSKET --threads 2 anonymize {policy} --force");
            let found = dir.bash(&line);
            assert!(!found.stderr.contains("panicked"), "{policy}, {kilobytes}: {}", found.stderr);
            match found.code {
                Some(0) => break,
                Some(3) => assert!(dir.files() == before, "{policy}, {kilobytes}: {:?}", dir.files()),
                // The system's own words.
                _ => assert!(!found.stderr.is_empty(), "{policy}, {kilobytes}: no reason"),
            }
            ends.push(found.code);
        }
        assert!(!ends.is_empty(), "{policy} needs hardly any memory");
        dir.run(&["anonymize", policy, "--force"]).exits(0);
        let left: Vec<String> = dir.files().into_iter().filter(|name| name.contains("/.")).collect();
        assert_eq!(left, [""; 0], "{policy}: {ends:?}");
    }
}

#[test]
fn a_server_that_refuses_to_be_written() {
    let Some(server) = Server::start("trust") else { return };
    let dir = Dir::new();
    server.sql("postgres", "CREATE DATABASE source");
    server.sql("postgres", "CREATE DATABASE target");
    server.sql(
        "source",
        "CREATE TABLE student (sid int PRIMARY KEY, town text); \
         INSERT INTO student VALUES (1, 'A'), (2, 'A'), (3, 'B'), (4, 'B')",
    );
    let roles = "CREATE ROLE reader LOGIN; CREATE ROLE frozen SUPERUSER LOGIN; \
                 ALTER ROLE frozen SET default_transaction_read_only = on";
    server.sql("postgres", roles);
    let (source, target) = (server.url("source"), server.url("target"));
    dir.write("t.csv", "A;*\nB;*\n");
    let policy = |to: &str, schema: &str| {
        dir.write(
            "p.toml",
            format!(
                "version = 1\n[source]\nformat = 'postgres'\nurl = '{source}'\n[[source.table]]\nname = 'student'\n\
                 key = 'sid'\n[[attribute]]\npath = 'student.town'\nrole = 'quasi'\nhierarchy = 't.csv'\n\
                 [privacy]\nmodel = 'k-anonymity'\nk = 2\n[publish]\nurl = '{to}'\nschema = '{schema}'\n"
            ),
        );
    };
    let schemas = "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1";
    let tables = "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace > 16383";
    server.sql("target", "CREATE SCHEMA kept");
    let before = (server.sql("target", schemas), server.sql("target", tables), dir.files());
    for (user, schema) in [("reader", "new"), ("reader", "kept"), ("frozen", "new"), ("frozen", "kept")] {
        let to = target.replacen("bosket@", &format!("{user}@"), 1);
        assert_ne!(to, target);
        policy(&to, schema);
        let found = dir.run(&["anonymize", "p.toml"]).exits(3);
        found.says(&["error: ", "help: ", &format!("schema {schema}")]).hides(&["'A'"]);
        let mut now = (server.sql("target", schemas), server.sql("target", tables), dir.files());
        now.2.retain(|name| name != "p.toml");
        assert_eq!(now, before, "{user} {schema}");
    }
    policy(&target, "new");
    dir.run(&["anonymize", "p.toml"]).exits(0);
    dir.run(&["verify", &target, "--policy", "p.toml"]).exits(0);
}
