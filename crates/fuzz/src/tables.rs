//! Linked tables in a SQLite file that nobody has looked at before.

use std::fs;
use std::path::Path;

use bosket_io::tables::{Tables, TablesForm, Writing};
use bosket_io::{Create, PolicyFile};
use bosket_model::observe::Quiet;
use bosket_model::{Dataset, Failure, Fault, Result};
use bosket_testkit::fixtures;
use tempfile::TempDir;

use crate::records::canonical_texts;
use crate::{Outcome, refused};

/// What the files of the corpus have. Nothing is removed, so that what is published is all that was read.
const POLICY: &str = r#"version = 1
[source]
format = "sqlite"
path = "in.db"
[[source.table]]
name = "student"
key = "sid"
[[source.table]]
name = "takes"
key = "scid"
parent = "student"
foreign_key = "sid"
[[source.table]]
name = "book"
parent = "takes"
foreign_key = "scid"
[publish]
path = "out.db"
[[attribute]]
path = "student.age"
role = "quasi"
[[attribute]]
path = "takes.course"
role = "quasi"
[[attribute]]
path = "takes.grade"
role = "sensitive"
[[attribute]]
path = "book.title"
role = "quasi"
"#;

/// A SQLite file with the tables of a school.
pub fn sqlite(data: &[u8]) -> Outcome {
    let folder = TempDir::new().expect("a folder");
    let file = PolicyFile {
        policy: fixtures::policy(POLICY),
        folder: folder.path().to_owned(),
        warnings: Vec::new(),
        frames: None,
    };
    let place = folder.path().join("in.db");
    fs::write(&place, data).expect("a file");
    let published = given(&file, &place);
    let (records, form) = match Tables::input(&file).and_then(|tables| tables.read(&Quiet)) {
        Ok(read) => read,
        Err(failure) => {
            assert!(published.is_err(), "a publication may have less in it than private data");
            return refused(&failure);
        }
    };
    match &published {
        Ok((data, _)) => {
            assert_eq!(canonical_texts(data), canonical_texts(&records), "read as a publication")
        }
        Err(failure) => _ = refused(failure),
    }
    match publish(&file, &form, &records) {
        Ok(again) => assert_eq!(canonical_texts(&again), canonical_texts(&records), "before it is in place"),
        // Only what cannot be published at all is refused, and before it is read again.
        Err(failure) => return refused(&failure),
    }
    let (again, _) = given(&file, &folder.path().join("out.db"))
        .unwrap_or_else(|failure| panic!("what was written is refused: {failure}"));
    assert_eq!(canonical_texts(&again), canonical_texts(&records), "written and read again");
    Outcome::Held
}

fn given(file: &PolicyFile, at: &Path) -> Result<(Dataset, TablesForm)> {
    Tables::given(file, at, true)?.read(&Quiet)
}

fn publish(file: &PolicyFile, form: &TablesForm, data: &Dataset) -> Result<Dataset> {
    let mut writing = Writing::begin(file, form, Create::default())?;
    writing.write(data, &Quiet)?;
    let broken = |failure: Failure| Failure { fault: Fault::Defect, ..failure };
    let again = writing.read_again(&Quiet).map_err(broken)?;
    writing.finish(Vec::new(), &Quiet)?;
    Ok(again)
}
