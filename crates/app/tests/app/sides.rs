//! Publications with two sides of people who are read in batches: the same bytes as with all of them in memory, and the same
//! verdict, whatever the batches.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::verify::VerifyRequest;
use bosket_app::{PolicyAt, Settings, anonymize, verify};
use bosket_io::Create;
use bosket_io::tables::NewDatabase;
use bosket_model::observe::Quiet;
use bosket_model::{Failure, Fault, Result};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::server::Server;
use tempfile::TempDir;

use crate::chunked_tables::in_columns;
use crate::util::Impatient;

/// People in some form, and the policy to take their sides apart.
pub(crate) struct Sided {
    pub(crate) folder: TempDir,
    policy: String,
    /// How the publication is called.
    pub(crate) suffix: &'static str,
    /// What it is read from again, and true to.
    against: Option<PathBuf>,
}

const ANATOMY: &str = "[privacy]\nmodel = \"anatomy\"\ngroup_size = 3\n[publish]\n";

fn attribute(path: &str, role: &str) -> String {
    format!("[[attribute]]\npath = \"{path}\"\nrole = \"{role}\"\n")
}

/// Texts that have to be written in quotes, or with escapes, or are no ASCII.
fn town(dice: &mut Dice) -> String {
    let odd =
        ["Ulm", "Bad Ems", "Köln", "a,b", "say \\\"x\\\"", "tab\\there", "{[]}", "\\u00e9t\\u00e9", "𝄞"];
    if dice.one_in(4) { (*dice.of(&odd)).to_owned() } else { format!("t{}", dice.below(40)) }
}

/// Nested records; some keys come late and rarely, and which batch they come in must not be seen.
pub(crate) fn ndjson(people: usize, seed: u64) -> Sided {
    let mut dice = Dice::new(seed);
    let mut text = String::new();
    for i in 0..people {
        let late = if i > people / 2 && dice.one_in(7) { "\"late\":{\"b\":true}," } else { "" };
        let age = ["", "\"age\":41,", "\"age\":\"41\",", "\"age\":7.50,"][dice.below(4)];
        // Hardly anybody is without a value.
        let visits: Vec<String> = (0..1 + dice.below(2))
            .map(|visit| match if visit == 0 { dice.below(2) } else { dice.below(3) } {
                0 => format!("{{\"ward\":\"w{}\",\"found\":\"f{}\"}}", dice.below(5), dice.below(60)),
                1 => format!("{{\"found\":\"f{}\"}}", dice.below(60)),
                _ => format!("{{\"ward\":\"w{}\"}}", dice.below(5)),
            })
            .collect();
        let ill = if dice.one_in(30) { String::new() } else { format!("\"ill\":\"i{}\",", dice.below(50)) };
        let town = town(&mut dice);
        let _ = writeln!(text, "{{{late}{ill}{age}\"town\":\"{town}\",\"visits\":[{}]}}", visits.join(","));
    }
    let roles = [("age", "quasi"), ("town", "quasi"), ("late.b", "insensitive"), ("visits[].ward", "quasi")];
    let quasi: String = roles.map(|(path, role)| attribute(path, role)).concat();
    // A key that few people have names nobody here.
    let quasi = quasi.replace("path = \"late.b\"\n", "path = \"late.b\"\nacknowledge = true\n");
    let hierarchy = "hierarchy = { build = \"fanout\", fanout = 4 }\n";
    let policy = format!(
        "version = 1\n[source]\nformat = \"ndjson\"\npath = \"data\"\n{quasi}{}{hierarchy}{}{hierarchy}{ANATOMY}",
        attribute("ill", "sensitive"),
        attribute("visits[].found", "sensitive")
    );
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("data"), text).expect("written");
    let against = Some(folder.path().join("data"));
    Sided { folder, policy, suffix: ".json", against }
}

/// One table.
pub(crate) fn table(people: usize, seed: u64) -> Sided {
    let mut dice = Dice::new(seed);
    let mut text = "name;town;ill;age\n".to_owned();
    for i in 0..people {
        let town = town(&mut dice).replace("\\\"", "\"\"").replace("\\t", "\n");
        let age = if dice.one_in(9) { String::new() } else { dice.below(5).to_string() };
        let ill = if dice.one_in(40) { String::new() } else { format!("i{}", dice.below(40)) };
        let _ = writeln!(text, "N{i};\"{town}\";{ill};{age}");
    }
    let roles = [("name", "identifying"), ("town", "quasi"), ("age", "quasi"), ("ill", "sensitive")];
    let attributes: String = roles.map(|(path, role)| attribute(path, role)).concat();
    let policy = format!(
        "version = 1\n[source]\nformat = \"csv\"\npath = \"data.csv\"\nseparator = \";\"\n{attributes}{ANATOMY}"
    );
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("data.csv"), text).expect("written");
    let against = Some(folder.path().join("data.csv"));
    Sided { folder, policy, suffix: "", against }
}

const TABLES: &str = "CREATE TABLE patient (id INTEGER, sex TEXT, born INTEGER, ill TEXT);\n\
    CREATE TABLE visit (patient INTEGER, ward TEXT, found TEXT);\n";

/// Rows per table, those of one person far apart.
fn rows(people: usize, seed: u64) -> Vec<(&'static str, Vec<String>)> {
    let mut dice = Dice::new(seed);
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for person in 0..people {
        let key = (person * 7919 % 100_003).to_string();
        let (sex, born) = (["f", "m"][dice.below(2)], 1940 + dice.below(6) * 10);
        let ill = format!("i{}", dice.below(50));
        rows.push(("patient", vec![key.clone(), sex.to_owned(), born.to_string(), ill]));
        for _ in 0..1 + dice.below(2) {
            let (ward, found) = (["a", "b", "c"][dice.below(3)], format!("f{}", dice.below(70)));
            rows.push(("visit", vec![key.clone(), ward.to_owned(), found]));
        }
    }
    dice.shuffle(&mut rows);
    rows
}

fn linked(source: &str, paths: bool) -> String {
    let path = |table: &str| if paths { format!("path = \"{table}.csv\"\n") } else { String::new() };
    let roles = [("patient.sex", "quasi"), ("patient.born", "quasi"), ("visit.ward", "quasi")];
    let quasi: String = roles.map(|(path, role)| attribute(path, role)).concat();
    format!(
        "version = 1\n[source]\n{source}\n[[source.table]]\nname = \"patient\"\n{}key = \"id\"\n\
         [[source.table]]\nname = \"visit\"\n{}parent = \"patient\"\nforeign_key = \"patient\"\n{quasi}{}{}{ANATOMY}",
        path("patient"),
        path("visit"),
        attribute("patient.ill", "sensitive"),
        attribute("visit.found", "sensitive"),
    )
}

pub(crate) fn sqlite(people: usize, seed: u64) -> Sided {
    let folder = TempDir::new().expect("a folder");
    let place = folder.path().join("data.db");
    let mut database = NewDatabase::create(&place, Create::default(), TABLES).expect("a database");
    for (table, cells) in rows(people, seed) {
        let marks = vec!["?"; cells.len()].join(",");
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        database.insert(&format!("INSERT INTO {table} VALUES ({marks})"), &cells).expect("a row");
    }
    database.finish(Vec::new()).expect("written");
    let policy = linked("format = \"sqlite\"\npath = \"data.db\"", false);
    Sided { folder, policy, suffix: ".db", against: Some(place) }
}

/// The same tables as files.
pub(crate) fn files(people: usize, seed: u64) -> Sided {
    let folder = TempDir::new().expect("a folder");
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    texts.insert("patient", "id,sex,born,ill\n".to_owned());
    texts.insert("visit", "patient,ward,found\n".to_owned());
    for (table, cells) in rows(people, seed) {
        *texts.get_mut(table).expect("a table") += &(cells.join(",") + "\n");
    }
    for (name, text) in texts {
        std::fs::write(folder.path().join(format!("{name}.csv")), text).expect("written");
    }
    let against = Some(folder.path().to_owned());
    Sided { policy: linked("format = \"csv\"", true), folder, suffix: "", against }
}

/// The same in columns, of numbers where they are; none in a build that has no columns.
fn parquet(people: usize, seed: u64) -> Option<Sided> {
    let data = files(people, seed);
    in_columns(data.folder.path(), &["patient", "visit"]).then(|| {
        let policy = data.policy.replace("\"csv\"", "\"parquet\"").replace(".csv\"", ".parquet\"");
        Sided { policy, ..data }
    })
}

impl Sided {
    fn settings(chunk: Option<usize>) -> Settings {
        Settings { chunk: chunk.and_then(NonZeroUsize::new), ..Settings::default() }
    }

    fn policy(&self, sets: &[&str]) -> PolicyAt {
        PolicyAt {
            path: self.folder.path().join("p.toml"),
            text: Some(self.policy.clone()),
            sets: sets.iter().map(ToString::to_string).collect(),
            ..PolicyAt::default()
        }
    }

    fn request(&self, sets: &[&str], chunk: Option<usize>) -> AnonymizeRequest {
        let (policy, settings) = (self.policy(sets), Self::settings(chunk));
        AnonymizeRequest { policy, settings, ..AnonymizeRequest::default() }
    }

    /// Publishes without a warning of what has no effect, and hands out where.
    pub(crate) fn publish(&self, sets: &[&str], name: &str, chunk: Option<usize>) -> PathBuf {
        let path = format!("publish.path={name}{}", self.suffix);
        let sets: Vec<&str> = sets.iter().copied().chain([path.as_str()]).collect();
        let told =
            anonymize(&self.request(&sets, chunk), &Quiet).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(told.warnings.iter().all(|w| !w.message.contains("no effect")), "{:?}", told.warnings);
        self.folder.path().join(format!("{name}{}", self.suffix))
    }

    /// What is found out about a publication.
    pub(crate) fn judged(&self, sets: &[&str], at: &Path, chunk: Option<usize>) -> Result<String> {
        let request = VerifyRequest {
            publication: at.to_owned(),
            policy: Some(self.policy(sets)),
            settings: Self::settings(chunk),
            against: self.against.clone(),
            ..VerifyRequest::default()
        };
        let found = verify(&request, &Quiet)?.value;
        Ok(format!("{} {:?} {:?}", found.holds(), found.verification, found.untruths))
    }

    /// Publishes and verifies at once and in batches, and compares bytes and verdicts.
    fn same(&self, sets: &[&str], chunks: &[usize]) {
        let whole = self.publish(sets, "whole", None);
        let judged = self.judged(sets, &whole, None).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(judged.starts_with("true"), "{judged}");
        for chunk in chunks {
            let place = self.publish(sets, &format!("chunks{chunk}"), Some(*chunk));
            assert!(contents(&place) == contents(&whole), "{sets:?}: batches of {chunk} differ");
            let again = self.judged(sets, &place, Some(*chunk)).unwrap_or_else(|failure| panic!("{failure}"));
            assert_eq!(again, judged, "{sets:?} {chunk}");
        }
    }
}

/// The names and bytes of what was published, but for certificates.
pub(crate) fn contents(at: &Path) -> Vec<(String, Vec<u8>)> {
    if at.is_file() {
        return vec![(String::new(), std::fs::read(at).expect("a file"))];
    }
    let files = std::fs::read_dir(at).expect("a folder").map(|entry| entry.expect("an entry").path());
    let tables = files.filter(|path| path.extension().is_some_and(|e| e == "csv" || e == "parquet"));
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let mut all: Vec<_> = tables.map(|path| (name(&path), std::fs::read(&path).expect("a file"))).collect();
    all.sort();
    assert!(all.len() > 1);
    all
}

const DELTA: [&str; 2] = ["privacy.model=delta", "privacy.group_size=2"];

#[test]
fn lines_of_json_are_taken_apart_alike_in_batches() {
    for seed in 0..u64::from(cases(4)) {
        let data = ndjson(60 + 50 * seed as usize, seed);
        data.same(&[], &[1, 7, 64, 100_000]);
    }
    ndjson(150, 9).same(&DELTA, &[1, 40]);
}

#[test]
fn a_table_is_taken_apart_alike_in_batches() {
    for seed in 0..u64::from(cases(4)) {
        table(60 + 50 * seed as usize, seed).same(&[], &[1, 7, 64, 100_000]);
    }
}

#[test]
fn linked_files_are_taken_apart_alike_in_batches() {
    for seed in 0..u64::from(cases(2)) {
        files(80 + 60 * seed as usize, seed).same(&[], &[1, 37, 100_000]);
    }
}

#[test]
fn linked_columns_are_taken_apart_alike_in_batches() {
    for seed in 0..u64::from(cases(2)) {
        let Some(data) = parquet(80 + 60 * seed as usize, seed) else { return };
        data.same(&[], &[1, 37, 100_000]);
    }
}

#[test]
fn a_database_is_taken_apart_alike_in_batches() {
    for seed in 0..u64::from(cases(2)) {
        sqlite(80 + 60 * seed as usize, seed).same(&[], &[1, 37, 100_000]);
    }
}

#[test]
fn a_database_on_a_server_is_taken_apart_alike_in_batches() {
    let Some(server) = Server::start("trust") else { return };
    for database in ["source", "whole", "chunks"] {
        server.sql("postgres", &format!("CREATE DATABASE {database}"));
    }
    let inserts = rows(200, 3).into_iter().fold(TABLES.to_owned(), |text, (table, cells)| {
        format!("{text}INSERT INTO {table} VALUES ('{}');\n", cells.join("','"))
    });
    server.sql("source", &inserts);
    let source = server.url("source");
    let policy = linked(&format!("format = \"postgres\"\nurl = \"{source}\""), false);
    let folder = TempDir::new().expect("a folder");
    let data = Sided { folder, policy, suffix: "", against: Some(PathBuf::from(source)) };
    let (mut tables, mut verdicts) = (Vec::new(), Vec::new());
    for (database, chunk) in [("whole", None), ("chunks", Some(17))] {
        let url = server.url(database);
        let certificate = format!("publish.certificate={database}.json");
        let own = [format!("publish.url={url}"), "publish.schema=two".to_owned(), certificate];
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        match anonymize(&data.request(&own, chunk), &Quiet) {
            Ok(_) => {}
            Err(failure) if failure.to_string().contains("reads no PostgreSQL") => {
                eprintln!("skipped: built without PostgreSQL");
                return;
            }
            Err(failure) => panic!("{failure}"),
        }
        for size in [None, Some(1), Some(53)] {
            let judged = data.judged(&own, Path::new(&url), size);
            verdicts.push(judged.unwrap_or_else(|failure| panic!("{failure}")));
        }
        for table in ["patient", "visit", "sensitive_ill", "sensitive_found"] {
            tables.push(server.sql(database, &format!("SELECT * FROM two.{table} ORDER BY ctid")));
        }
    }
    let (whole, chunks) = tables.split_at(4);
    assert!(whole == chunks, "batches differ");
    assert!(whole.iter().all(|rows| !rows.is_empty()));
    assert!(
        verdicts.iter().all(|verdict| *verdict == verdicts[0] && verdict.starts_with("true")),
        "{verdicts:?}"
    );
    // Values in another order could tell whose they are, in batches as well.
    let moved = "WITH gone AS (DELETE FROM two.sensitive_ill WHERE group_id = 1 RETURNING *) \
                 INSERT INTO two.sensitive_ill SELECT * FROM gone";
    server.sql("chunks", moved);
    let url = server.url("chunks");
    let own = [format!("publish.url={url}"), "publish.schema=two".to_owned()];
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let told = [None, Some(5)].map(|chunk| {
        let failure = data.judged(&own, Path::new(&url), chunk).expect_err("refused");
        assert!(failure.to_string().contains("not in the order of groups and values"), "{failure}");
        failure.to_string()
    });
    assert_eq!(told[0], told[1]);
}

#[test]
fn people_in_little_memory_are_taken_apart_in_batches() {
    let columns = parquet(900, 5);
    for data in [ndjson(900, 5), table(900, 5), sqlite(900, 5), files(900, 5)].into_iter().chain(columns) {
        let whole = data.publish(&[], "whole", None);
        let path = format!("publish.path=little{}", data.suffix);
        let mut request = data.request(&[&path], None);
        request.settings.memory = Some(1 << 15);
        let told = anonymize(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(told.warnings.iter().all(|w| !w.message.contains("memory")), "{:?}", told.warnings);
        assert!(contents(&data.folder.path().join(format!("little{}", data.suffix))) == contents(&whole));
    }
}

#[test]
fn an_interrupted_run_in_batches_leaves_nothing() {
    for data in [ndjson(60, 1), table(60, 1), sqlite(60, 1)] {
        let path = format!("publish.path=out{}", data.suffix);
        let request = data.request(&[&path], Some(9));
        let before = std::fs::read_dir(data.folder.path()).expect("a folder").count();
        let (mut asks, mut interrupted) = (0, 0);
        while let Err(Failure { fault, .. }) = anonymize(&request, &Impatient::after(asks)) {
            assert_eq!(fault, Fault::Interrupted);
            let files = std::fs::read_dir(data.folder.path()).expect("a folder").count();
            assert_eq!(files, before, "after {asks} asks");
            interrupted += 1;
            asks = asks * 2 + 1;
        }
        assert!(interrupted > 3);
    }
}
