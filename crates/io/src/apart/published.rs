//! A publication with two sides as a stranger reads it. What stands where is told by the names that are found, whoever
//! wrote it and whatever they thought; who judges it is somebody else.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::dissected::{PublishedClusters, PublishedGroups};
use bosket_model::observe::Observer;
use bosket_model::policy::Policy;
use bosket_model::sides::Fates;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use super::dissection::Way;
use super::draft::{Drafts, open_named};
use super::groups::Numbered;
use super::tables::{SENSITIVE, file_name, quasi_policy, sensitive_name};
use super::tables_read::Published;
use super::{columns, json, json_read, tables_read};
use crate::batches::BatchSize;
use crate::input::Input;
use crate::policy_file::PolicyFile;
use crate::tables::certificate_files;
use crate::xml::apart as xml;

/// Files that are named when they should not be there.
const SHOWN: usize = 20;

/// Reads the publications of a policy.
#[derive(Debug)]
pub struct PublishedReader<'p> {
    pub(super) file: &'p PolicyFile,
    /// Where the reader expects each attribute. It says which tables and columns join the sides and in which order
    /// values are compared; what else is there is read all the same.
    pub(super) expected: Fates,
    pub(super) way: Way,
}

impl<'p> PublishedReader<'p> {
    /// A reader of a policy's publications. Where it expects attributes must be the verifier's own decision
    /// (`bosket_verify::sides::expected`), not the writer's.
    pub fn new(file: &'p PolicyFile, decide: impl FnOnce(&Policy) -> Result<Fates>) -> Result<Self> {
        let way = Way::of(file)?;
        let expected = decide(&file.policy)?;
        if matches!(way, Way::Tables | Way::Columns) {
            quasi_policy(file, &expected)?;
        }
        Ok(PublishedReader { file, expected, way })
    }

    /// Where attributes are expected.
    pub fn expected(&self) -> &Fates {
        &self.expected
    }

    /// Reads a publication.
    pub fn read_published(&self, at: &Path, observer: &dyn Observer) -> Result<PublishedGroups> {
        match self.way {
            Way::Tables => {
                let size = tables_read::batched(at, self, observer)?;
                tables_read::read(Published::At(at), self, size, observer, &mut |_, _| Ok(()))
            }
            Way::Columns => self.columns_at(at, &mut |_, _| Ok(())),
            _ => self.document(&mut reopened(at)?, observer),
        }
    }

    /// The same with a folder of two sides in Parquet, part by part.
    pub(super) fn columns_at(&self, at: &Path, each: &mut columns::Each<'_>) -> Result<PublishedGroups> {
        if at.join(file_name(self.file)?).is_dir() {
            return self.read_parts_of_sides(at, each);
        }
        refuse_other_files(at, self.file)?;
        let names = tables_in(at, self.file)?;
        let open: &columns::Open<'_> = &|name| Ok(vec![Input::open(&at.join(name))?]);
        columns::read(open, &names, self, None, Numbered::Somehow, each)
    }

    /// The same with one that is not in its place yet.
    pub fn read_drafts(&self, drafts: &mut Drafts, observer: &dyn Observer) -> Result<PublishedGroups> {
        match self.way {
            Way::Tables => {
                let size = drafts.batched.then(|| BatchSize::of(observer.limits()));
                tables_read::read(Published::Drafts(drafts), self, size, observer, &mut |_, _| Ok(()))
            }
            Way::Columns => {
                let open: &columns::Open<'_> = &|name| Ok(vec![open_named(&drafts.files, name)?]);
                let tables = drafts.sensitive_tables();
                columns::read(open, &tables, self, None, Numbered::Somehow, &mut |_, _| Ok(()))
            }
            _ => match drafts.files.first() {
                Some((_, draft)) => self.document(&mut || draft.open(), observer),
                None => Ok(PublishedGroups::default()),
            },
        }
    }

    fn document(
        &self,
        open: &mut dyn FnMut() -> Result<Input>,
        observer: &dyn Observer,
    ) -> Result<PublishedGroups> {
        match self.way {
            Way::Xml => {
                xml::read_published(&mut open()?.published(), &self.file.policy, &self.expected.paths, None)
            }
            _ => self.sides_of_json(open, observer, &mut |_, _| Ok(())),
        }
    }

    /// The two sides of a JSON document, and its people, part by part.
    pub(super) fn sides_of_json(
        &self,
        open: &mut dyn FnMut() -> Result<Input>,
        observer: &dyn Observer,
        each: &mut json_read::EachPeople<'_>,
    ) -> Result<PublishedGroups> {
        let size = BatchSize::of(observer.limits());
        json_read::read(open, &self.file.policy, size, observer, each)
    }

    /// Reads a publication of clusters.
    pub fn read_clusters(&self, at: &Path, observer: &dyn Observer) -> Result<PublishedClusters> {
        let name = at.display().to_string();
        if self.way == Way::Tables {
            return self.clusters_of_tables(Published::At(at), &name, observer);
        }
        self.clusters_of_json(&mut reopened(at)?, &name, observer)
    }

    /// The same with one that is not in its place yet.
    pub fn read_clusters_again(
        &self,
        drafts: &mut Drafts,
        observer: &dyn Observer,
    ) -> Result<PublishedClusters> {
        let name = "the publication";
        if self.way == Way::Tables {
            return self.clusters_of_tables(Published::Drafts(drafts), name, observer);
        }
        let Some((_, draft)) = drafts.files.first() else {
            return Err(torn(name));
        };
        self.clusters_of_json(&mut || draft.open(), name, observer)
    }

    fn clusters_of_json(
        &self,
        open: &mut dyn FnMut() -> Result<Input>,
        name: &str,
        observer: &dyn Observer,
    ) -> Result<PublishedClusters> {
        let policy = &self.file.policy;
        let found = self.sides_of_json(open, observer, &mut |_, _| Ok(()))?;
        let (people, binding) = json::people(open, policy)?;
        let numbers: FxHashMap<&str, u32> = found.names.iter().map(String::as_str).zip(0..).collect();
        let names = json::groups(open)?;
        let groups: Option<Vec<u32>> = names.iter().map(|name| numbers.get(name.as_str()).copied()).collect();
        let groups = groups.filter(|groups| groups.len() == people.len()).ok_or_else(|| torn(name))?;
        Ok(PublishedClusters { people, binding, groups, found })
    }

    fn clusters_of_tables(
        &self,
        published: Published<'_>,
        name: &str,
        observer: &dyn Observer,
    ) -> Result<PublishedClusters> {
        // People who look alike are compared with each other: all of them are in memory.
        let mut people = None;
        let found = tables_read::read(published, self, None, observer, &mut |quasi, groups| {
            people = Some((quasi, groups));
            Ok(())
        })?;
        let (quasi, groups) = people.ok_or_else(|| torn(name))?;
        let policy = &self.file.policy;
        // The group is declared like a column of the data, so that others that nobody declared are refused.
        let mut attributes = policy.attributes.clone();
        let own = attributes.len();
        attributes.extend(quasi_policy(self.file, &self.expected)?.policy.attributes.pop());
        let mut binding = Binding::new(quasi.schema(), &attributes, policy.undeclared, name)?;
        binding.declared.truncate(own);
        for declared in &mut binding.attributes {
            *declared = declared.filter(|&d| d < own);
        }
        let groups = groups.into_iter().map(|group| group as u32).collect();
        Ok(PublishedClusters { people: quasi, binding, groups, found })
    }
}

/// The tables of sensitive values in a folder, expected or not.
pub(crate) fn tables_in(folder: &Path, file: &PolicyFile) -> Result<Vec<String>> {
    let ending = format!(".{}", file.policy.need_source()?.format);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut tables: Vec<String> = names
        .filter_map(|name| name.strip_suffix(ending.as_str()).map(str::to_owned))
        .filter(|name| name.starts_with(SENSITIVE))
        .collect();
    tables.sort_unstable();
    Ok(tables)
}

/// Refuses files in a folder that are neither the people nor a table of sensitive values nor the certificate of both: they
/// would be handed out without being looked at.
pub(crate) fn refuse_other_files(folder: &Path, file: &PolicyFile) -> Result<()> {
    let tables = tables_in(folder, file)?;
    let mut known = vec![file_name(file)?];
    known.extend(certificate_files(&file.policy));
    for table in &tables {
        known.push(sensitive_name(file, table)?);
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut others: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !known.contains(name))
        .collect();
    others.sort_unstable();
    let told = |name: &String| {
        let place = Place::source(folder.join(name).display().to_string());
        let help = "`verify` cannot judge it, so it must not be handed out with the others; take it out of the folder";
        Diagnostic::error("this file is no part of the publication").at(place).help(help)
    };
    match others.as_slice() {
        [] => Ok(()),
        others => Err(Failure::all(Fault::Data, others.iter().take(SHOWN).map(told).collect())),
    }
}

/// Opens a file as often as it is needed; standard input, which can be read only once, is kept.
fn reopened(at: &Path) -> Result<impl FnMut() -> Result<Input>> {
    let kept: Option<Arc<[u8]>> =
        if at == Path::new("-") { Some(Input::open(at)?.read_all()?.into()) } else { None };
    let at = at.to_owned();
    Ok(move || match &kept {
        Some(bytes) => Input::new("-", Cursor::new(Arc::clone(bytes)), None),
        None => Input::open(&at),
    })
}

fn torn(name: &str) -> Failure {
    let what = Diagnostic::error("people and groups of the quasi side do not go together");
    let help = "check that the publication is complete";
    Failure::new(Fault::Data, what.at(Place::source(name)).help(help))
}
