//! Parquet in chunks: the same bytes as with all records in memory, whatever the types of its columns turn out to be.

use std::fmt::Write as _;
use std::path::Path;

use bosket_app::verify::VerifyRequest;
use bosket_app::{Settings, verify};
use bosket_generate::students::{self, Kind};
use bosket_generate::{baskets, clinic};
use bosket_io::{Create, Input, Layout, by_name};
use bosket_model::observe::Quiet;
use bosket_testkit::dice::Dice;
use tempfile::TempDir;

use crate::chunked::Chunky;

/// Writes the records of a file into columns; false in a build that has none.
pub(crate) fn columns(from: &Path, to: &Path) -> bool {
    let loaded = bosket_io::read(Input::open(from).expect("a file"), None, &Layout::default());
    let data = loaded.unwrap_or_else(|failure| panic!("{failure}")).data;
    let mut out = std::fs::File::create(to).expect("room");
    let parquet = by_name("parquet").expect("a format");
    match parquet.write(&data, &Layout::default(), &mut out, &Quiet) {
        Ok(()) => true,
        Err(failure) if failure.to_string().contains("reads no Parquet") => false,
        Err(failure) => panic!("{failure}"),
    }
}

fn in_columns(folder: TempDir, data: &str, policy: &str) -> Option<Chunky> {
    let path = folder.path();
    columns(&path.join(data), &path.join("data.parquet")).then(|| {
        let named = |line: &str| match line.trim_start() {
            line if line.starts_with("format") => "format = \"parquet\"".to_owned(),
            line if line.contains(data) => "path = \"data.parquet\"".to_owned(),
            line => line.to_owned(),
        };
        let kept = |line: &&str| {
            !["recoding", "report", "mapping", "path = \"published"]
                .iter()
                .any(|word| line.trim_start().starts_with(word))
        };
        let policy: Vec<String> = policy.lines().filter(kept).map(named).collect();
        Chunky { policy: policy.join("\n"), folder }
    })
}

/// Columns of many types: some are published as they are, some become text where values are made coarser, one has a
/// value in the last record only that its type cannot hold.
fn flat(records: usize) -> Option<Chunky> {
    let mut dice = Dice::new(5);
    let mut text = String::new();
    for record in 0..records {
        let smokes = ["true", "false", "null"][dice.below(3)];
        let _ = writeln!(
            text,
            "{{\"age\":{},\"town\":\"t{}\",\"born\":\"19{}0-01-0{}\",\"smokes\":{smokes},\"ill\":{},\"cost\":{}.{},\
             \"large\":{},\"note\":\"{}\"}}",
            20 + dice.below(9),
            dice.below(5).min(dice.below(5)),
            4 + dice.below(3),
            1 + dice.below(2),
            dice.below(6),
            dice.below(4),
            1 + dice.below(3),
            if record + 1 == records { "18446744073709551615" } else { "7" },
            ["", "a\\u0000b", "a\\u0004", "\\u0001", "a"][dice.below(5)],
        );
    }
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("data.ndjson"), text).expect("written");
    let mut policy = "version = 1\n[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n".to_owned();
    for path in ["age", "town", "born", "smokes"] {
        let _ = writeln!(
            policy,
            "[[attribute]]\npath = \"{path}\"\nrole = \"quasi\"\nhierarchy = {{ build = \"fanout\", fanout = 2 }}"
        );
    }
    for path in ["ill", "cost", "large", "note"] {
        let _ = writeln!(policy, "[[attribute]]\npath = \"{path}\"\nrole = \"sensitive\"");
    }
    policy += "[privacy]\nmodel = \"kmn\"\nk = 9\nm = 2\nn = 0\nroot = \"chain\"\n\
        [method]\nalgorithm = \"gcs\"\ncost = \"lm\"\n[publish]\n";
    in_columns(folder, "data.ndjson", &policy)
}

#[test]
fn flat_columns_are_the_same_bytes_from_chunks() {
    let Some(data) = flat(300) else { return };
    data.same(&[], &[1, 7, 64, 299, 1000]);
}

#[test]
fn nested_columns_are_the_same_bytes_from_chunks() {
    let folder = TempDir::new().expect("a folder");
    clinic::write(folder.path(), 700, 3, Create::default()).expect("written");
    let Some(hospital) = in_columns(folder, "data.ndjson", &clinic::plain_policy()) else { return };
    let sets = ["method.algorithm=gcs", "method.cost=lm", "privacy.root=chain"];
    hospital.same(&sets, &[97, 400]);
    let united: Vec<&str> = sets.into_iter().chain(["publish.rows=united"]).collect();
    hospital.same(&united, &[211]);
}

#[test]
fn lists_of_single_values_are_the_same_bytes_from_chunks() {
    let folder = TempDir::new().expect("a folder");
    baskets::write(folder.path(), 900, 3, Create::default(), &Quiet).expect("written");
    let lines = std::fs::read_to_string(folder.path().join("data.txt")).expect("baskets");
    let mut text = String::new();
    for line in lines.lines() {
        let items: Vec<String> = line.split_whitespace().map(|item| format!("{item:?}")).collect();
        let _ = writeln!(text, "{{\"items\":[{}]}}", items.join(","));
    }
    std::fs::write(folder.path().join("data.ndjson"), text).expect("written");
    let policy = "version = 1\n[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n\
        [[attribute]]\npath = \"items[]\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 4 }\n\
        [privacy]\nmodel = \"km\"\nk = 5\nm = 2\n[method]\nalgorithm = \"aa\"\n[publish]\n";
    let Some(shop) = in_columns(folder, "data.ndjson", policy) else { return };
    shop.same(&[], &[211, 5_000]);
}

#[test]
fn clusters_in_columns_are_the_same_bytes_from_chunks() {
    let folder = TempDir::new().expect("a folder");
    students::write(folder.path(), Kind::School, 500, 7, Create::default(), &Quiet).expect("written");
    let policy = students::document_policy(Kind::School);
    let Some(school) = in_columns(folder, "data.ndjson", &policy) else { return };
    school.same(&["method.cells=3"], &[101, 5_000]);
    let diverse = ["privacy.model=l-diversity", "method.algorithm=ctoff", "privacy.l=2", "method.cells=2"];
    school.same(&diverse, &[97]);
}

/// Whatever byte of a publication is another: what is read in batches is judged as what is read as a whole.
#[test]
fn damaged_columns_are_refused_in_batches_as_in_the_whole_reading() {
    let Some(data) = flat(120) else { return };
    data.publish(&[], "good.parquet", Some(31)).unwrap_or_else(|failure| panic!("{failure}"));
    let good = data.bytes("good.parquet");
    let judged = |bytes: &[u8]| {
        std::fs::write(data.folder.path().join("bad.parquet"), bytes).expect("written");
        [None, Some(31), Some(1_000)].map(|chunk: Option<usize>| {
            let request = VerifyRequest {
                publication: data.folder.path().join("bad.parquet"),
                policy: Some(data.request(&[], "nowhere", None).policy),
                settings: Settings {
                    chunk: chunk.and_then(std::num::NonZeroUsize::new),
                    ..Settings::default()
                },
                ..VerifyRequest::default()
            };
            verify(&request, &Quiet).map(|warned| warned.value.holds()).map_err(|failure| failure.fault)
        })
    };
    assert_eq!(judged(&good), [Ok(true); 3]);
    let mut damaged: Vec<Vec<u8>> = (0..good.len()).step_by(11).map(|at| good[..at].to_vec()).collect();
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        damaged.push(bytes);
    }
    damaged.push([&good[..], b"S"].concat());
    let mut refused = 0;
    for (i, bytes) in damaged.iter().enumerate() {
        let found = judged(bytes);
        assert!(found.iter().all(|other| *other == found[0]), "{i}: {found:?}");
        refused += usize::from(found[0].is_err());
    }
    // Other values are another publication, which may well hold.
    assert!(refused * 2 > damaged.len(), "{refused} of {}", damaged.len());
}

/// Readers look at the mark at the end alone.
#[test]
fn a_mark_at_the_beginning_has_no_room_for_anything_else() {
    let Some(data) = flat(120) else { return };
    data.publish(&[], "good.parquet", Some(31)).unwrap_or_else(|failure| panic!("{failure}"));
    let bytes = [b"SSN7", &data.bytes("good.parquet")[4..]].concat();
    std::fs::write(data.folder.path().join("bad.parquet"), bytes).expect("written");
    let request = VerifyRequest {
        publication: data.folder.path().join("bad.parquet"),
        policy: Some(data.request(&[], "nowhere", None).policy),
        ..VerifyRequest::default()
    };
    let failure = verify(&request, &Quiet).expect_err("refused");
    assert!(failure.to_string().contains("something else than its mark"), "{failure}");
}
