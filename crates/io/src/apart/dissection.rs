//! From a policy's source to the two sides, whatever the format.

use std::path::{Path, PathBuf};

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::{Format, Policy};
use bosket_model::selection::select;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

use super::batched::{self, BatchedRecords};
use super::columns;
use super::draft::{Draft, Drafts, Written};
use super::json;
use super::records::{Empty, fill, quasi_side};
use super::scratch::Scratch;
use super::spool::Spool;
use super::tables;
use crate::atomic::Create;
use crate::format::{Format as _, Layout};
use crate::frames::Frame;
use crate::input::Input;
use crate::json::write::record_texts;
use crate::policy_file::PolicyFile;
use crate::publication::target;
use crate::source::{Opened, SourceForm, Whereabouts};
use crate::tables::is_linked;
use crate::xml::apart::{self as xml, Plain, PrivateSchema, infer, published_xsd};
use crate::xml::{Namespaces, Xml};
use bosket_model::sides::Fates;

/// People who were read, and what is to be known to write them.
#[derive(Debug)]
pub struct People {
    /// The people.
    pub spool: Spool,
    /// What should be known about how they were read.
    pub warnings: Vec<Diagnostic>,
    pub(super) namespaces: Namespaces,
    pub(super) beside: Beside,
}

/// What a format needs beside the texts of the people to write them.
#[derive(Debug)]
pub(super) enum Beside {
    Nothing,
    /// Tables stay in memory until they are written.
    Tables(Box<KeptRecords>),
    /// Or in a private file.
    Batches(Box<BatchedRecords>),
    Columns(Box<columns::Sides>),
}

/// Records as they were read.
#[derive(Debug)]
pub(super) struct KeptRecords {
    pub(super) data: Dataset,
    pub(super) binding: Binding,
    pub(super) form: SourceForm,
}

/// How a source is dissected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// An XML document.
    Xml,
    /// A JSON document, or lines of JSON.
    Json,
    /// Linked tables, or a flat one.
    Tables,
    /// A Parquet file of nested records.
    Columns,
}

impl Way {
    /// The way of a policy's source.
    pub(super) fn of(file: &PolicyFile) -> Result<Self> {
        let source = file.policy.need_source()?;
        let way = match source.format {
            Format::Xml => Some(Way::Xml),
            Format::Json | Format::Ndjson => Some(Way::Json),
            Format::Parquet if !is_linked(source) => Some(Way::Columns),
            Format::Csv | Format::Parquet | Format::Sqlite | Format::Postgres => Some(Way::Tables),
            _ => None,
        };
        let refuse = |what: String, help: &str| {
            let what = Diagnostic::error(what).at(Place::source(&file.policy.name)).help(help);
            Failure::new(Fault::Policy, what)
        };
        let Some(way) = way else {
            let what = format!("format \"{}\" cannot be dissected in this version", source.format);
            let help = "dissected are xml, json, ndjson, csv, parquet, sqlite and postgres";
            return Err(refuse(what, help));
        };
        if file.policy.anatomizes() && matches!(source.format, Format::Xml | Format::Parquet) {
            let what =
                format!("clusters of format \"{}\" cannot be anatomized in this version", source.format);
            let help =
                "anatomized are json, ndjson, csv, sqlite and postgres; `bosket convert` makes one of them";
            return Err(refuse(what, help));
        }
        Ok(way)
    }
}

/// What a policy dissects: from its source to the two sides.
#[derive(Debug)]
pub struct Dissection<'p> {
    pub(super) file: &'p PolicyFile,
    pub(super) fates: Fates,
    pub(super) way: Way,
}

impl<'p> Dissection<'p> {
    /// The dissection that a policy asks for. `decide` says which side each attribute goes to, such as [`Fates::new`].
    pub fn new(file: &'p PolicyFile, decide: impl FnOnce(&Policy) -> Result<Fates>) -> Result<Self> {
        let way = Way::of(file)?;
        let fates = decide(&file.policy)?;
        if matches!(way, Way::Tables | Way::Columns) {
            tables::quasi_policy(file, &fates)?;
        }
        Ok(Dissection { file, fates, way })
    }

    /// The fates of the policy's attributes.
    pub fn fates(&self) -> &Fates {
        &self.fates
    }

    /// The files that it writes into a folder; none where it writes a single file or a database.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        tables::files(self.file, &self.fates)
    }

    /// What becomes of vertices without quasi values: people of a class have the same ones.
    pub(super) fn empty(&self) -> Empty {
        if self.file.policy.anatomizes() { Empty::Kept } else { Empty::Gone }
    }

    fn layout(place: &Whereabouts) -> Layout {
        match place {
            Whereabouts::Document { layout, .. } | Whereabouts::Frame { layout, .. } => Layout::clone(layout),
            Whereabouts::Tables(_) => Layout::default(),
        }
    }

    /// Reads the people of a source.
    pub fn read(&self, place: Whereabouts, observer: &dyn Observer) -> Result<People> {
        let policy = &self.file.policy;
        let mut spool = Spool::new(&self.fates.sensitive, policy.seed)?;
        let layout = Self::layout(&place);
        match &place {
            Whereabouts::Document { path, .. } if self.way == Way::Xml => {
                let mut input = open_xml(path)?;
                input.limit(observer.limits().record);
                observer.stage(&format!("reading {}", path.display()), 0);
                let found = xml::read_people(&mut input, policy, &self.fates, &layout, |values, text| {
                    for (at, value) in values {
                        spool.value(at, bosket_model::Kind::Text, value);
                    }
                    spool.person(text)
                })?;
                let mut warnings = input.warnings();
                warnings.extend(found.warnings);
                Ok(People { spool, warnings, namespaces: found.namespaces, beside: Beside::Nothing })
            }
            Whereabouts::Document { path, .. } if self.way == Way::Columns => {
                let mut input = Input::open(path)?;
                input.limit(observer.limits().record);
                observer.stage(&format!("reading {}", path.display()), 0);
                let sides = columns::read_people(&mut input, policy, &self.fates, &mut spool)?;
                let beside = Beside::Columns(Box::new(sides));
                Ok(People { spool, warnings: input.warnings(), namespaces: Namespaces::default(), beside })
            }
            Whereabouts::Frame { frames, .. } if self.way == Way::Columns => {
                let Frame { name, data, columns, .. } = frames.take()?;
                let sides = columns::people_of(&name, (data, &columns), policy, &self.fates, &mut spool)?;
                let beside = Beside::Columns(Box::new(sides));
                Ok(People { spool, warnings: Vec::new(), namespaces: Namespaces::default(), beside })
            }
            _ if batched::is_wanted(&place, policy, observer) => {
                observer.decided("people are read in batches");
                let (mut records, warnings) = BatchedRecords::read(place, policy, observer)?;
                records.fill(&mut spool, &self.fates, observer)?;
                let beside = match self.way {
                    Way::Tables => Beside::Batches(Box::new(records)),
                    _ => Beside::Nothing,
                };
                Ok(People { spool, warnings, namespaces: Namespaces::default(), beside })
            }
            _ => {
                let name = place.name();
                let mut opened = place.open(observer)?;
                opened.data = select(opened.data, policy, &name)?;
                let schema = opened.data.schema();
                let binding = Binding::of_input(schema, &policy.attributes, policy.undeclared, &name)?;
                let quasi = quasi_side(&opened.data, &binding, &self.fates, None, self.empty())?;
                let texts = record_texts(&quasi, &Layout::default(), observer)?;
                fill(&mut spool, &opened.data, &binding, &self.fates, &texts)?;
                let Opened { data, form, warnings, .. } = opened;
                let beside = match self.way {
                    Way::Tables => Beside::Tables(Box::new(KeptRecords { data, binding, form })),
                    _ => Beside::Nothing,
                };
                Ok(People { spool, warnings, namespaces: Namespaces::default(), beside })
            }
        }
    }

    /// Writes groups of people: per person its group, and how many there are.
    pub fn write(&self, people: &mut People, groups: (&[u32], usize), create: Create) -> Result<Drafts> {
        let People { spool, beside, .. } = people;
        match beside {
            Beside::Nothing => {}
            Beside::Tables(kept) => {
                let kept = tables::Kept::Whole(kept, self.empty());
                return tables::publish(spool, groups, self.file, &self.fates, kept, create);
            }
            Beside::Batches(records) => {
                let kept = tables::Kept::Batches(records);
                return tables::publish(spool, groups, self.file, &self.fates, kept, create);
            }
            Beside::Columns(sides) => {
                return columns::publish(spool, groups, self.file, &self.fates, sides);
            }
        }
        let mut draft = Draft::create()?;
        let written = if self.way == Way::Xml {
            let policy = &self.file.policy;
            xml::publish(&mut people.spool, groups, policy, &self.fates, &people.namespaces, &mut draft)?
        } else {
            json::publish(&mut people.spool, groups, &self.fates, &mut draft)?
        };
        Ok(Drafts { files: vec![(target(self.file)?, draft)], written, ..Drafts::default() })
    }

    /// Separates the sides of an XML document without looking at the values, in groups of so many as they come, or in one
    /// (0). Only texts that are sorted are in memory.
    pub fn plain(&self, place: &Whereabouts, size: usize) -> Result<(Drafts, Namespaces, Vec<Diagnostic>)> {
        let Whereabouts::Document { path, layout, .. } = place else {
            let what = Diagnostic::error("linked tables are not one document");
            return Err(Failure::new(Fault::Usage, what));
        };
        let policy = &self.file.policy;
        let mut input = open_xml(path)?;
        let mut plain = Plain::new(policy, &self.fates, size)?;
        let take = |values: &mut dyn Iterator<Item = (usize, &str)>, text: &[u8]| plain.person(values, text);
        let found = xml::read_people(&mut input, policy, &self.fates, layout, take)?;
        let mut draft = Draft::create()?;
        let written = plain.finish(&found.namespaces, &mut draft)?;
        let mut warnings = input.warnings();
        warnings.extend(found.warnings);
        Ok((
            Drafts { files: vec![(target(self.file)?, draft)], written, ..Drafts::default() },
            found.namespaces,
            warnings,
        ))
    }

    /// The same in one group and in the order of the input, which must never be published: for measuring only.
    pub fn unsorted(&self, place: &Whereabouts) -> Result<Written> {
        let Whereabouts::Document { path, layout, .. } = place else {
            return Ok(Written::default());
        };
        let policy = &self.file.policy;
        let mut written = Written { groups: 1, ..Written::default() };
        let (mut quasi, mut sensitive) = (Scratch::create()?, Scratch::create()?);
        let mut fragments = xml::Fragments::new(policy, &self.fates)?;
        let take = |values: &mut dyn Iterator<Item = (usize, &str)>, text: &[u8]| {
            for (at, value) in values {
                sensitive.write(fragments.of(at, value))?;
                written.values += 1;
            }
            written.people += 1;
            quasi.write(text)
        };
        xml::read_people(&mut open_xml(path)?, policy, &self.fates, layout, take)?;
        Ok(written)
    }

    /// Why people are never read in batches of as many as somebody asks for; none if they can be.
    pub fn unbatched(&self, place: &Whereabouts) -> Option<String> {
        if matches!(self.way, Way::Xml | Way::Columns) {
            let why = "texts of people whose sides are taken apart wait in private files anyway";
            return Some(why.to_owned());
        }
        batched::unbatched(place, &self.file.policy)
    }

    /// Whether a format is read as a stream.
    pub fn is_stream(&self) -> bool {
        self.way == Way::Xml
    }

    /// The XSD of an XML publication, from the private one that the policy names, or that the source shows.
    pub fn schema(&self, place: &Whereabouts, namespaces: &Namespaces) -> Result<Option<String>> {
        let Whereabouts::Document { path, layout, .. } = place else {
            return Ok(None);
        };
        if self.way != Way::Xml {
            return Ok(None);
        }
        let given = self.file.policy.source.as_ref().and_then(|s| s.schema.as_deref());
        let private = match given {
            Some(given) => Some(PrivateSchema::given(&self.file.resolve(given))?),
            // Standard input can be read only once; then the policy's own words have to do.
            None if path == Path::new("-") => None,
            None => Some(infer(&mut open_xml(path)?)?),
        };
        published_xsd(&self.file.policy, &self.fates, layout, namespaces, private.as_ref()).map(Some)
    }
}

/// Opens an XML document, or a folder of them.
pub(super) fn open_xml(path: &Path) -> Result<Input> {
    let mut input = Input::open_records(path)?;
    input.keep_files(Xml.extensions_in_folders());
    Ok(input)
}

impl People {
    /// The namespaces of XML names.
    pub fn namespaces(&self) -> &Namespaces {
        &self.namespaces
    }
}
