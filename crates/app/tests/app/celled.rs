//! Clusters of records in chunks: the same bytes as in memory with as many cells, whatever the chunks.

use std::fmt::Write as _;

use bosket_app::verify::VerifyRequest;
use bosket_app::{Settings, anonymize, verify};
use bosket_generate::students::{self, Kind};
use bosket_io::Create;
use bosket_model::Fault;
use bosket_model::observe::Quiet;
use bosket_testkit::dice::Dice;
use serde_json::Value;
use tempfile::TempDir;

use crate::chunked::Chunky;
use crate::util::Impatient;

fn school(people: u64) -> Chunky {
    let folder = TempDir::new().expect("a folder");
    students::write(folder.path(), Kind::School, people, 7, Create::default(), &Quiet).expect("written");
    let policy = students::document_policy(Kind::School).replace("path = \"published.ndjson\"\n", "");
    Chunky { policy, folder }
}

const DIVERSE: [&str; 2] = ["privacy.model=l-diversity", "method.algorithm=ctoff"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    DIVERSE.into_iter().chain(more.iter().copied()).collect()
}

/// Who is left over in so many cells is put into several again.
#[test]
fn clusters_in_many_cells_are_the_same_bytes_from_chunks() {
    let school = school(2_000);
    let sets = with(&["privacy.l=2", "privacy.k=2", "method.cells=48"]);
    school.same(&sets, &[700]);
    let released = school.publish(&sets, "many.ndjson", None).expect("published");
    assert!(released.figures.to_json()["cells"].as_u64() > Some(36));
}

/// Cells of 125 records: with a second round in cells of the same size it was more than a tenth.
#[test]
fn sixteen_cells_lose_little_more_than_one() {
    let school = school(2_000);
    let lm = |cells: &str| {
        let release = school.publish(&with(&["privacy.l=3", cells]), &format!("{cells}.ndjson"), None);
        release.expect("published").figures.to_json()["lm"].as_f64().expect("a number")
    };
    let (one, sixteen) = (lm("method.cells=1"), lm("method.cells=16"));
    assert!(sixteen < one * 1.05, "{sixteen} is much more than {one}");
}

#[test]
fn clusters_in_cells_are_the_same_bytes_from_chunks() {
    let school = school(600);
    school.same(&["method.cells=3"], &[101, 5_000]);
    school.same(&with(&["privacy.l=3", "method.cells=4"]), &[97, 400]);
    school.same(&with(&["privacy.l=2", "privacy.diversity=entropy", "method.cells=3"]), &[250]);
    school.same(&with(&["privacy.l=2", "privacy.siblings=each", "method.cells=2"]), &[211]);
}

/// Rows of a table, with values that are missing, of several kinds, and the same under another spelling.
#[test]
fn random_tables_in_cells_are_the_same_bytes_from_chunks() {
    for seed in 0..6 {
        let mut dice = Dice::new(seed);
        let mut text = String::new();
        for _ in 0..150 + dice.below(200) {
            let age = 20 + dice.below(30);
            // What stands for a missing value is told cell by cell, and adds up to another figure.
            let missing = if seed % 2 == 0 { "" } else { "\"age\":20," };
            let age = [missing, &format!("\"age\":{age},"), &format!("\"age\":\"{age}\",")][dice.below(3)]
                .to_owned();
            let visits: Vec<String> = (0..dice.below(3))
                .map(|_| format!("{{\"ward\":\"w{}\",\"found\":\"f{}\"}}", dice.below(6), dice.below(4)))
                .collect();
            let _ = writeln!(
                text,
                "{{{age}\"town\":\"t{}\",\"ill\":\"i{}\",\"visits\":[{}]}}",
                dice.below(9).min(dice.below(9)),
                dice.below(8),
                visits.join(",")
            );
        }
        let policy = "version = 1\n[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n\
            [[attribute]]\npath = \"age\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 3 }\n\
            [[attribute]]\npath = \"town\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 2 }\n\
            [[attribute]]\npath = \"visits[].ward\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 2 }\n\
            [[attribute]]\npath = \"visits[].found\"\nrole = \"sensitive\"\n\
            [[attribute]]\npath = \"ill\"\nrole = \"sensitive\"\n\
            [privacy]\nmodel = \"l-diversity\"\nl = 2\nk = 3\n[method]\nalgorithm = \"ctoff\"\n[publish]\n";
        let folder = TempDir::new().expect("a folder");
        std::fs::write(folder.path().join("data.ndjson"), text).expect("written");
        let cells = format!("method.cells={}", 2 + dice.below(3));
        let chunk = 1 + dice.below(120);
        Chunky { folder, policy: policy.to_owned() }.same_bytes(&[&cells], &[chunk, 37], seed % 2 == 1);
    }
}

/// One cell is worked through in the order of what its records say, not of the input: whatever the chunks, the bytes are the same, but they may
/// be others than in memory.
#[test]
fn one_cell_from_chunks_does_not_depend_on_them() {
    let school = school(400);
    let sets = with(&["privacy.l=3"]);
    let mut found = Vec::new();
    for (i, chunk) in [57, 399, 1_000].into_iter().enumerate() {
        let out = format!("out{i}.ndjson");
        let release = school.publish(&sets, &out, Some(chunk)).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(release.records > 100);
        assert!(school.verify(&sets, &out, None).holds());
        assert!(school.verify(&sets, &out, Some(41)).holds());
        found.push(school.bytes(&out));
    }
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_class_that_is_too_small_is_found_in_chunks() {
    let school = school(300);
    for sets in [vec![], with(&["privacy.l=3"]), with(&["privacy.l=2", "privacy.k=7"])] {
        let found =
            [None, Some(53), Some(1_000)].map(|chunk| school.verify(&sets, "data.ndjson", chunk).to_json());
        assert_eq!(found[0]["holds"], false, "{sets:?}");
        // Of several that are as small, another may be shown; it is the same one whatever the chunks.
        assert_eq!(found[1]["witness"], found[2]["witness"]);
        for other in &found[1..] {
            let size = |of: &Value| of["witness"]["values"].as_array().map(Vec::len);
            assert_eq!(size(&found[0]), size(other), "{sets:?}");
            assert_eq!(found[0]["witness"]["sensitive"].is_null(), other["witness"]["sensitive"].is_null());
            assert_eq!(found[0]["records"], other["records"]);
            assert_eq!(found[0]["left_over"], other["left_over"]);
        }
    }
}

/// With little memory there are more cells, and classes are counted in several files.
#[test]
fn little_memory_is_enough_for_cells_and_their_classes() {
    let school = school(800);
    let sets = with(&["privacy.l=2"]);
    let mut request = school.request(&sets, "small.ndjson", Some(90));
    request.settings.memory = Some(4 << 20);
    let released = anonymize(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(released.warnings.iter().any(|warning| warning.to_string().contains("cells")));
    let cells = released.value.figures.to_json()["cells"].as_u64().expect("several");
    assert!(cells > 1);
    // In memory who is left over is one cell, which has no room here; but it does not depend on the chunks in how many they are put.
    let mut other = school.request(&sets, "other.ndjson", Some(333));
    other.settings.memory = request.settings.memory;
    let other = anonymize(&other, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value;
    assert_eq!(other.figures.to_json()["cells"], cells);
    assert!(school.bytes("small.ndjson") == school.bytes("other.ndjson"));
    let verdict = |name: &str, memory: usize| {
        let request = VerifyRequest {
            publication: school.folder.path().join(name),
            policy: Some(request.policy.clone()),
            settings: Settings { memory: Some(memory), ..request.settings.clone() },
            ..VerifyRequest::default()
        };
        verify(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value.to_json()
    };
    for (name, holds) in [("small.ndjson", true), ("data.ndjson", false)] {
        let found = [1 << 16, 1 << 18, 1 << 28].map(|memory| verdict(name, memory));
        assert_eq!(found[0]["holds"], holds);
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0], found[2]);
    }
}

#[test]
fn clusters_that_need_all_records_are_refused_in_chunks_with_the_reason() {
    let school = school(100);
    let close = ["privacy.model=t-closeness", "privacy.t=0.4"];
    let diverse = with(&["privacy.l=2"]);
    for (sets, set, word) in [
        (&close[..], "method.algorithm=ctoff", "against all records"),
        (&diverse, "privacy.distinct_everywhere=[\"F\"]", "distinct_everywhere"),
        (&diverse, "publish.anatomize=true", "anatomize"),
        (&diverse, "publish.mapping=m.csv", "mapping"),
        (&diverse, "publish.report=r.html", "report"),
        (&diverse, "source.sample=0.5", "sample"),
        (&diverse, "method.time=10s", "time"),
        (&[], "method.algorithm=blocks", "flat"),
    ] {
        let sets: Vec<&str> = sets.iter().copied().chain([set]).collect();
        let failure = school.publish(&sets, "x.ndjson", Some(10)).err().unwrap_or_else(|| panic!("{set}"));
        assert!(failure.to_string().contains(word), "{set}: {failure}");
        assert!(!school.folder.path().join("x.ndjson").exists());
    }
}

#[test]
fn clusters_from_chunks_that_are_interrupted_leave_no_file() {
    let school = school(90);
    let files = || std::fs::read_dir(school.folder.path()).expect("a folder").count();
    let before = files();
    let request = school.request(&["method.cells=2"], "x.ndjson", Some(31));
    let (mut asks, mut interrupted) = (0, 0);
    while let Err(failure) = anonymize(&request, &Impatient::after(asks)) {
        assert_eq!(failure.fault, Fault::Interrupted, "{failure}");
        assert_eq!(files(), before, "after {asks} asks");
        interrupted += 1;
        asks = asks * 2 + 1;
    }
    assert!(interrupted > 4);
}

/// Lines of people whose sides are taken apart are read in batches where they would not fit; the groups are the same.
#[test]
fn lines_are_taken_apart_with_little_memory_as_with_much() {
    let mut dice = Dice::new(11);
    let mut text = String::new();
    for person in 0..6_000 {
        // Some keys come up late, and not for everybody.
        let late = if person > 3_000 && dice.below(3) == 0 { "\"late\":{\"b\":\"x\"}," } else { "" };
        let age = 20 + dice.below(60);
        let _ = writeln!(
            text,
            "{{{late}\"ill\":\"i{}\",\"age\":{age},\"town\":\"t{}\"}}",
            dice.below(30),
            dice.below(90)
        );
    }
    let quasi = |path: &str| format!("[[attribute]]\npath = \"{path}\"\nrole = \"quasi\"\n");
    let policy = format!(
        "version = 1\n[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n{}{}{}\
         [[attribute]]\npath = \"ill\"\nrole = \"sensitive\"\n\
         [privacy]\nmodel = \"anatomy\"\ngroup_size = 4\n[publish]\n",
        quasi("age"),
        quasi("town"),
        quasi("late.b")
    );
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("data.ndjson"), text).expect("written");
    let data = Chunky { folder, policy };
    data.publish(&[], "much.json", None).unwrap_or_else(|failure| panic!("{failure}"));
    let mut request = data.request(&[], "little.json", None);
    request.settings.memory = Some(1 << 17);
    let _ = anonymize(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(data.bytes("much.json") == data.bytes("little.json"));
    assert!(data.verify(&[], "little.json", None).holds());
    let told = anonymize(&data.request(&[], "asked.json", Some(500)), &Quiet);
    let told = told.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(told.warnings.iter().all(|w| !w.message.contains("no effect")), "{:?}", told.warnings);
    assert!(data.bytes("much.json") == data.bytes("asked.json"));
}
