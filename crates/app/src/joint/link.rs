//! Whose record is whose, across releases: by the private mappings, and where the inputs differ by what names a person in
//! both.

use std::path::Path;

use bosket_io::{PolicyFile, Whereabouts};
use bosket_model::policy::{Policy, Role};
use bosket_model::words::{count, plural};
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::both;
use crate::load::{self, Bound};
use crate::run::Run;
use crate::verify::mapping::read_mapping;

/// What a mapping's records are numbered by: the fingerprints of the input and the people that were selected of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbering {
    inputs: Vec<String>,
    selection: Value,
}

impl Numbering {
    /// As it is written beside a mapping; none where there is nothing beside it.
    pub(crate) fn beside(mapping: &Path) -> Option<Self> {
        let text = bosket_io::read_long_text(&mapping.with_extension("json")).ok()?;
        let beside: Value = serde_json::from_str(&text).ok()?;
        let inputs = beside.get("input")?.as_array()?;
        let hashes = inputs.iter().filter_map(|input| Some(input.get("sha256")?.as_str()?.to_owned()));
        let mut inputs: Vec<String> = hashes.collect();
        inputs.sort_unstable();
        Some(Numbering { inputs, selection: beside.get("selection").cloned().unwrap_or_default() })
    }

    /// That of a run.
    pub(crate) fn of_run(policy: &Policy, mut inputs: Vec<String>) -> Self {
        inputs.sort_unstable();
        Numbering { inputs, selection: selection(policy) }
    }

    /// Whether two number the same people in the same way, as far as that can be told.
    fn is_that_of(&self, other: &Numbering) -> bool {
        let unknown = self.inputs.is_empty() || other.inputs.is_empty();
        (unknown || self.inputs == other.inputs) && self.selection == other.selection
    }
}

/// Who of the input a run is about, for comparing; null for everybody.
pub(crate) fn selection(policy: &Policy) -> Value {
    match policy.source.as_ref().filter(|_| policy.selects()) {
        None => Value::Null,
        Some(source) => {
            json!({"where": source.selection.text, "sample": source.selection.sample, "seed": policy.seed})
        }
    }
}

/// Per published record the number of its input record, from 0.
pub(crate) fn numbers(mapping: &Path, published: usize) -> Result<Vec<u32>> {
    let mapping = read_mapping(mapping)?;
    let inputs = mapping.pairs.iter().map(|pair| pair.input as usize + 1).max().unwrap_or(0);
    both::check(&mapping, inputs, published)?;
    let mut numbers = vec![0; published];
    for pair in &mapping.pairs {
        numbers[pair.published as usize] = pair.input;
    }
    Ok(numbers)
}

/// Refuses to link by numbers what was numbered differently.
pub(crate) fn refuse_other(
    own: Option<&Numbering>,
    earlier: Option<&Numbering>,
    mapping: &Path,
) -> Result<()> {
    let (Some(own), Some(earlier)) = (own, earlier) else { return Ok(()) };
    if own.is_that_of(earlier) {
        return Ok(());
    }
    let what = "the mappings number different inputs, or different people of one: nobody can tell by them whose record is whose";
    let what = Diagnostic::error(what).at(Place::source(mapping.display().to_string()));
    let help = "give the private input of the earlier release too (`--with-against`, or `input` in `[[release.earlier]]`): \
                people are then known by what identifies them";
    Err(Failure::new(Fault::Data, what.help(help)))
}

/// Numbers for people by what names them.
pub(crate) struct People {
    link: Option<String>,
    numbers: FxHashMap<String, u32>,
}

impl People {
    /// The people of the policy's own input: they keep the numbers of their records.
    pub(crate) fn new(
        own: &Bound,
        file: &PolicyFile,
        link: Option<&str>,
        name: &str,
        run: &Run<'_>,
    ) -> Result<Self> {
        let (link, texts) = match tables(Whereabouts::input(file)?, link) {
            Some((tables, link)) => {
                let data = load::records(tables, run)?.data;
                let data = load::select(data, &file.policy, name, run)?;
                (Some(link.to_owned()), column(&data, link, name)?)
            }
            None => {
                let id = identifying(own, link, name)?;
                (Some(path(own, id)).filter(|p| !p.is_empty()), texts(&own.data, id, &path(own, id), name)?)
            }
        };
        let numbers = texts.into_iter().zip(0..).collect();
        Ok(People { link, numbers })
    }

    /// The people of an earlier release's input, which is read as the policy's own is, all of it.
    pub(crate) fn of_input(&mut self, file: &PolicyFile, input: &Path, run: &Run<'_>) -> Result<Vec<u32>> {
        let place = Whereabouts::given(file, input, false)?;
        let name = place.name();
        let texts = match tables(Whereabouts::given(file, input, false)?, self.link.as_deref()) {
            Some((tables, link)) => column(&load::records(tables, run)?.data, link, &name)?,
            None => {
                let data = load::records(place, run)?.data;
                let bound = load::bind_input(data, &file.policy, &name, run)?;
                let id = identifying(&bound, self.link.as_deref(), &name)?;
                texts(&bound.data, id, &path(&bound, id), &name)?
            }
        };
        Ok(texts.into_iter().map(|text| self.number(text)).collect())
    }

    /// The number of a person. Who is in no input so far gets one of their own.
    fn number(&mut self, text: String) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(text).or_insert(next)
    }
}

/// Linked tables with all their columns, if a column of theirs names people: what joins rows, or is removed, is not read
/// otherwise.
fn tables(place: Whereabouts, link: Option<&str>) -> Option<(Whereabouts, &str)> {
    match (place, link) {
        (Whereabouts::Tables(tables), Some(link)) => {
            Some((Whereabouts::Tables(Box::new(tables.whole())), link))
        }
        _ => None,
    }
}

/// Per record what stands in a column of the people's own table, be it a key.
fn column(data: &Dataset, link: &str, name: &str) -> Result<Vec<String>> {
    let schema = data.schema();
    let own = |&&id: &&AttributeId| schema.attribute(id).path == link;
    match schema.class(ClassId::ROOT).attributes.iter().find(own) {
        Some(&id) => texts(data, id, link, name),
        None => {
            let what = Diagnostic::error(format!("`{link}` is no column of the table of the people"));
            let help =
                "name one as `table.column`: its key, or another column that names each person differently";
            Err(Failure::new(Fault::Data, what.at(Place::source(name)).help(help)))
        }
    }
}

fn path(bound: &Bound, id: AttributeId) -> String {
    bound.binding.attributes[id.index()].map_or(String::new(), |d| bound.binding.declared[d].path.clone())
}

/// The attribute that names people: the one asked for, or the first identifying one that names everybody differently.
fn identifying(bound: &Bound, link: Option<&str>, name: &str) -> Result<AttributeId> {
    let schema = bound.data.schema();
    let mut own = schema.class(ClassId::ROOT).attributes.iter().copied().filter(|&id| {
        let identifying = bound.binding.role(id) == Some(Role::Identifying);
        identifying && link.is_none_or(|link| path(bound, id) == link)
    });
    let found = match link {
        Some(_) => own.next(),
        None => own.find(|&id| texts(&bound.data, id, &path(bound, id), name).is_ok()),
    };
    found.ok_or_else(|| {
        let what = match link {
            Some(link) => format!("`{link}` is no identifying attribute of the people in the input"),
            None => "no identifying attribute names every person of the input differently".to_owned(),
        };
        let help = "people of different inputs are linked by an identifying attribute of the top object that both have; those \
                    of linked tables by a column of their own table, such as its key: --link TABLE.COLUMN";
        Failure::new(Fault::Data, Diagnostic::error(what).at(Place::source(name)).help(help))
    })
}

/// Per record what names the person; refused where two have the same, or somebody none.
fn texts(data: &Dataset, id: AttributeId, path: &str, name: &str) -> Result<Vec<String>> {
    let mut seen: FxHashMap<u32, usize> = FxHashMap::default();
    let (mut texts, mut wrong) = (Vec::with_capacity(data.len()), 0);
    for record in 0..data.len() {
        let code = data.value(data.vertices(record).start, id);
        if code == MISSING || seen.insert(code, record).is_some() {
            wrong += 1;
            continue;
        }
        texts.push(data.dictionary(id).text(code).to_owned());
    }
    if wrong == 0 {
        return Ok(texts);
    }
    let what = format!(
        "`{path}` cannot link people: {} of {} have none, or one that another has",
        count(wrong),
        plural(data.len(), "record")
    );
    Err(Failure::new(Fault::Data, Diagnostic::error(what).at(Place::source(name))))
}
