//! What the tests of linked tables share.
#![allow(dead_code)] // each test binary uses its own part

use std::path::Path;

use bosket_io::tables::{Tables, TablesForm, Writing};
use bosket_io::{BatchSize, Chunks, Create, PolicyFile, Publication, SourceForm, Whereabouts};
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_model::{Dataset, Diagnostic, MISSING, Result};

/// A policy whose paths start in a folder.
pub(crate) fn policy(folder: &Path, text: &str) -> PolicyFile {
    let (policy, warnings) = Policy::parse("policy.toml", text, &[]).unwrap_or_else(|e| panic!("{e:?}"));
    PolicyFile { policy, folder: folder.to_owned(), warnings, frames: None }
}

/// An attribute of a policy.
pub(crate) fn attribute(path: &str, role: &str) -> String {
    format!("[[attribute]]\npath = \"{path}\"\nrole = \"{role}\"\n")
}

/// Reads the input at once.
pub(crate) fn read_whole(file: &PolicyFile) -> Result<(Dataset, TablesForm)> {
    Tables::input(file)?.read(&Quiet)
}

/// Reads the input, and sees that reading it in batches gives the same, or refuses it with the same words.
pub(crate) fn read_input(file: &PolicyFile) -> Result<(Dataset, TablesForm)> {
    let whole = read_whole(file);
    for records in [2, 1000] {
        let batches = Whereabouts::input(file).and_then(|place| in_batches(place, records));
        match (&whole, batches) {
            (Ok((data, form)), Ok(batches)) => {
                assert_eq!(ordered_batches(&batches.data, records), ordered(data));
                let schemas: Vec<String> = batches.data.iter().map(schema).collect();
                assert!(schemas.iter().all(|found| *found == schema(data)), "{schemas:?}");
                // All that is known of the tables is in it, and what should be known.
                assert_eq!(format!("{:?}", batches.form), format!("{form:?}"));
                assert!(format!("{form:?}").contains(&format!("warnings: {:?}", batches.warnings)));
            }
            (Err(whole), Err(batches)) => {
                // The same is told, what is known before rows are joined first.
                let lines = |failure: &bosket_model::Failure| {
                    let mut lines: Vec<String> = failure.to_string().lines().map(str::to_owned).collect();
                    lines.sort();
                    lines
                };
                assert_eq!((lines(&batches), batches.fault), (lines(whole), whole.fault));
            }
            (whole, batches) => panic!("{:?} but {:?}", whole.is_ok(), batches.map(|_| ())),
        }
    }
    whole
}

/// Reads a publication, and sees that reading it in batches comes to the same.
pub(crate) fn read_published(file: &PolicyFile, at: &Path) -> Result<(Dataset, TablesForm)> {
    let whole = Tables::given(file, at, true)?.read(&Quiet);
    for records in [1, 2] {
        let batches = Whereabouts::given(file, at, true).and_then(|place| in_batches(place, records));
        match (&whole, batches) {
            (Ok((data, _)), Ok(batches)) => {
                assert_eq!(ordered_batches(&batches.data, records), ordered(data));
            }
            (Err(whole), Err(batches)) => assert_eq!(batches.fault, whole.fault, "{whole}\n{batches}"),
            (whole, batches) => panic!("{:?} but {:?}", whole.as_ref().err(), batches.map(|_| ())),
        }
    }
    whole
}

/// What was read in batches.
pub(crate) struct Batches {
    pub(crate) data: Vec<Dataset>,
    pub(crate) form: TablesForm,
    pub(crate) warnings: Vec<Diagnostic>,
}

pub(crate) fn in_batches(place: Whereabouts, records: usize) -> Result<Batches> {
    let (mut data, mut warnings) = (Vec::new(), Vec::new());
    let size = BatchSize { records, bytes: usize::MAX };
    let form = place.batches(size, &Quiet, &mut |opened| {
        data.push(opened.data);
        warnings.extend(opened.warnings);
        Ok(())
    })?;
    let SourceForm::Tables(form) = form else { panic!("linked tables") };
    Ok(Batches { data, form: *form, warnings })
}

/// The records of all batches; all but the last are full.
fn ordered_batches(batches: &[Dataset], records: usize) -> Vec<String> {
    let (last, full) = batches.split_last().expect("a batch");
    assert!(full.iter().all(|data| data.len() == records) && last.len() <= records);
    batches.iter().flat_map(ordered).collect()
}

/// All classes and attributes in their order.
fn schema(data: &Dataset) -> String {
    let schema = data.schema();
    let classes: Vec<&str> = schema.classes().map(|(_, class)| class.path.as_str()).collect();
    let attributes: Vec<&str> = schema.attributes().map(|(_, a)| a.path.as_str()).collect();
    format!("{classes:?} {attributes:?}")
}

/// All records as texts, with everything in the order in which it stands there.
pub(crate) fn ordered(data: &Dataset) -> Vec<String> {
    (0..data.len()).map(|r| vertex(data, data.vertices(r).start, false)).collect()
}

/// What reading the input says is wrong.
#[track_caller]
pub(crate) fn refused(file: &PolicyFile) -> String {
    read_input(file).map(|_| ()).expect_err("must not be accepted").to_string()
}

/// Publishes a dataset and gives what reading it again gave before it was in place. Written from chunks it would be the same
/// bytes.
pub(crate) fn publish(file: &PolicyFile, form: &TablesForm, data: &Dataset) -> Result<Dataset> {
    let again = publish_whole(file, form, data)?;
    let publish = file.policy.publish.as_ref().and_then(|p| p.path.clone());
    if let Some(path) = publish {
        // Beside it, wherever that is.
        let beside = Path::new(&path);
        let name = beside.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let parts = beside.with_file_name(format!("parts-{name}")).to_string_lossy().into_owned();
        let mut other = PolicyFile {
            policy: file.policy.clone(),
            folder: file.folder.clone(),
            warnings: Vec::new(),
            frames: None,
        };
        other.policy.publish.as_mut().expect("a publication").path = Some(parts.clone());
        let found = publish_in_parts(&other, form, data, 2);
        let found: Vec<String> = found.expect("published from chunks").iter().flat_map(ordered).collect();
        assert_eq!(found, ordered(&again));
        let (parts, whole) = (file.folder.join(parts), file.folder.join(path));
        assert!(contents(&parts) == contents(&whole), "other bytes from chunks");
        if parts.is_dir() { std::fs::remove_dir_all(parts) } else { std::fs::remove_file(parts) }
            .expect("there");
    }
    Ok(again)
}

/// The names and bytes of a file, or of all in a folder.
fn contents(at: &Path) -> Vec<(String, Vec<u8>)> {
    if at.is_file() {
        return vec![(String::new(), std::fs::read(at).expect("a file"))];
    }
    let files = std::fs::read_dir(at).expect("a folder").map(|entry| entry.expect("an entry"));
    let name = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut files: Vec<_> =
        files.map(|entry| (name(&entry), std::fs::read(entry.path()).expect("a file"))).collect();
    files.sort();
    files
}

/// The same from chunks of so many records, which come from the last to the first.
pub(crate) fn publish_in_parts(
    file: &PolicyFile,
    form: &TablesForm,
    data: &Dataset,
    records: usize,
) -> Result<Vec<Dataset>> {
    let form = SourceForm::Tables(Box::new(form.clone()));
    let mut publication = Publication::begin(file, &form, Create::default())?;
    publication.refuse_unwritable_in_parts()?;
    let mut chunks = Chunks::new();
    let starts: Vec<usize> = (0..data.len()).step_by(records).collect();
    for from in starts.into_iter().rev() {
        let own = from..data.len().min(from + records);
        let mut joined = bosket_model::partition::Joined::new();
        joined.add(data, |record| own.contains(&record), |_| true, &Quiet)?;
        chunks.push(&joined.finish())?;
    }
    publication.write_parts(&mut chunks, 1 << 12, &Quiet)?;
    let mut again = Vec::new();
    let size = BatchSize { records, bytes: usize::MAX };
    publication.read_again_in_parts(size, &Quiet, &mut |data| {
        again.push(data);
        Ok(())
    })?;
    publication.finish(Vec::new(), &Quiet)?;
    Ok(again)
}

fn publish_whole(file: &PolicyFile, form: &TablesForm, data: &Dataset) -> Result<Dataset> {
    let mut writing = Writing::begin(file, form, Create::default())?;
    writing.write(data, &Quiet)?;
    let again = writing.read_again(&Quiet)?;
    writing.finish(Vec::new(), &Quiet)?;
    Ok(again)
}

/// All records as texts in which order does not count: `table{column=value child{…}}`. The table of a class is the last
/// part of its key. Values of removed columns do not show.
pub(crate) fn canonical(data: &Dataset) -> Vec<String> {
    let mut records: Vec<String> =
        (0..data.len()).map(|r| vertex(data, data.vertices(r).start, true)).collect();
    records.sort();
    records
}

fn vertex(data: &Dataset, v: usize, sorted: bool) -> String {
    let schema = data.schema();
    let class = schema.class(data.class(v));
    let name = class.name.join(".");
    let mut parts: Vec<String> = class
        .attributes
        .iter()
        .filter(|&&a| data.value(v, a) != MISSING)
        .map(|&a| {
            format!("{}={}", schema.attribute(a).name.join("."), data.dictionary(a).text(data.value(v, a)))
        })
        .collect();
    if sorted {
        parts.sort();
    }
    let end = (v + 1..data.vertex_count()).find(|&u| data.parent(u).is_none_or(|p| p < v));
    let children = v + 1..end.unwrap_or(data.vertex_count());
    let mut below: Vec<String> =
        children.filter(|&u| data.parent(u) == Some(v)).map(|u| vertex(data, u, sorted)).collect();
    if sorted {
        below.sort();
    }
    parts.append(&mut below);
    format!("{}{{{}}}", name.rsplit('.').next().unwrap_or_default(), parts.join(" "))
}
