//! What a run refuses, and what it warns of, by what its data says: the same wherever the records are.
//!
//! A [`Census`] is what one pass over the records finds out. Records in memory have one, and so have batches of a file and
//! partitions of a cluster, whose censuses are merged. All that is decided is decided here, once all records were seen, with
//! the same thresholds and in the same words.

use std::collections::BTreeSet;

use bosket_io::{BatchSize, PolicyFile, Whereabouts};
use bosket_measure::inspect::{Identifiers, KeyCounts, Shared};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::partition::Survey;
use bosket_model::partition::bytes::{Reader, Writer};
use bosket_model::policy::{Format, Model, Policy, Role, Undeclared};
use bosket_model::schema::Schema;
use bosket_model::words::{count, plural};
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, Place, Result};

use crate::load;
use crate::run::Run;

const WHAT: [u8; 4] = *b"BkCs";
const VERSION: u8 = 1;

/// What one pass over some records finds out. Censuses of parts are merged.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Attributes, values, and how many records have them.
    pub survey: Survey,
    /// Who has which key of which object, where keys may be data.
    keys: KeyCounts,
    /// How often what names a person occurs.
    identifiers: Identifiers,
}

impl Census {
    /// Looks at records as they were read: at their keys, and at what names a person.
    pub(crate) fn of(policy: &Policy, read: &Dataset, name: &str, observer: &dyn Observer) -> Result<Self> {
        let binding = Binding::of_input(read.schema(), &policy.attributes, Undeclared::Drop, name)?;
        let keys = match has_keys(policy) {
            true => KeyCounts::of(read, observer)?,
            false => KeyCounts::default(),
        };
        let all = read.schema().attributes().map(|(id, _)| id);
        let identifying = all.filter(|id| {
            let declared = binding.attributes[id.index()];
            declared.is_some_and(|at| policy.attributes[at].role == Role::Identifying)
        });
        let identifiers = Identifiers::of(read, identifying, observer)?;
        Ok(Census { survey: Survey::default(), keys, identifiers })
    }

    /// The same with a survey of the records as they are going to be worked on.
    pub(crate) fn with(self, survey: Survey) -> Self {
        Census { survey, ..self }
    }

    /// Both together.
    #[must_use]
    pub fn merge(self, other: &Census) -> Self {
        Census {
            survey: self.survey.merge(&other.survey),
            keys: self.keys.merge(&other.keys),
            identifiers: self.identifiers.merge(&other.identifiers),
        }
    }

    /// The census as bytes. It holds values, and keys, of the records.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.bytes(&self.survey.to_bytes());
        out.bytes(&self.keys.to_bytes());
        out.bytes(&self.identifiers.to_bytes());
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let survey = Survey::from_bytes(from.bytes()?)?;
        let keys = KeyCounts::from_bytes(from.bytes()?)?;
        let identifiers = Identifiers::from_bytes(from.bytes()?)?;
        from.end()?;
        Ok(Census { survey, keys, identifiers })
    }
}

/// Whether keys of the data may be data themselves: those of tables and of typed files are columns.
fn has_keys(policy: &Policy) -> bool {
    let format = policy.source.as_ref().map(|source| source.format);
    matches!(format, Some(Format::Json | Format::Ndjson))
}

/// Whether values of an attribute are looked at to see whether they give anybody away.
pub(crate) fn may_reveal(policy: &Policy, binding: &Binding, id: AttributeId) -> bool {
    let Some(declared) = binding.attributes[id.index()] else { return false };
    let said = &policy.attributes[declared];
    // That everybody has a pseudonym of their own is what it is for; it is told as a risk, not as harmless.
    let harmless = said.acknowledge || said.role == Role::Pseudonym;
    binding.declared[declared].role == Role::Insensitive && !harmless
}

/// What somebody should know about the data of a run.
pub(crate) fn warnings(policy: &Policy, census: &Census, name: &str) -> Result<Vec<Diagnostic>> {
    let binding = bound(policy, census, name)?;
    let absent = binding.absent().map(|declared| {
        let path = &binding.declared[declared].path;
        let what = Diagnostic::warning(format!("the data has no attribute `{path}`"));
        what.at(policy.attributes[declared].place.clone())
    });
    let mut all: Vec<Diagnostic> = absent.collect();
    all.extend(counted_twice(policy, census, &binding));
    Ok(all)
}

/// Refuses data that no publication under the policy can be made of without giving somebody away.
pub(crate) fn refuse(policy: &Policy, census: &Census, name: &str) -> Result<()> {
    let binding = bound(policy, census, name)?;
    refuse_too_few(policy, census.survey.records, name)?;
    refuse_revealing(policy, &census.survey, &binding)?;
    refuse_rare_keys(policy, census, &binding)
}

fn bound(policy: &Policy, census: &Census, name: &str) -> Result<Binding> {
    Binding::of_input(census.survey.frame.schema(), &policy.attributes, Undeclared::Drop, name)
}

/// Refuses a k that there are not enough records for.
fn refuse_too_few(policy: &Policy, records: u64, name: &str) -> Result<()> {
    let k = policy.need_privacy()?.k.unwrap_or(0);
    if u64::from(k) <= records {
        return Ok(());
    }
    let there = plural(usize::try_from(records).unwrap_or(usize::MAX), "record");
    let what = Diagnostic::error(format!("k = {k} exceeds the {there} of the data"));
    Err(Failure::new(Fault::Unreachable, what.at(Place::source(name)).help("ask for a smaller k")))
}

/// How many people a published value must have, so that it does not give them away.
fn fewest(policy: &Policy) -> Result<u64> {
    let privacy = policy.need_privacy()?;
    let alike = match privacy.model {
        Model::LDiversity => privacy.l.map_or(0.0, f64::ceil) as u64,
        // Without k, clusters are still of two at least.
        Model::TCloseness | Model::BetaLikeness => 2,
        _ => 0,
    };
    Ok(u64::from(privacy.k.unwrap_or(0)).max(alike))
}

/// An attribute published as it is must not give people away: at most 5 % of it may be values that fewer than k have. Where sides
/// are taken apart, all quasi values are published as they are, and this one is no other.
fn refuse_revealing(policy: &Policy, survey: &Survey, binding: &Binding) -> Result<()> {
    if policy.need_privacy()?.model.is_apart() {
        return Ok(());
    }
    let k = fewest(policy)?;
    let mut problems = Vec::new();
    for (id, _) in survey.frame.schema().attributes().filter(|(id, _)| may_reveal(policy, binding, *id)) {
        let Some(declared) = binding.attributes[id.index()] else { continue };
        let counts = &survey.counts[id.index()];
        let all: u64 = counts.iter().map(|c| c.1).sum();
        let rare: u64 = counts.iter().filter(|c| c.0 < k).map(|c| c.1).sum();
        if rare * 20 > all {
            let said = &policy.attributes[declared];
            let what = format!(
                "`{}` is called insensitive, but {} of its {} values are ones that fewer than {k} people have",
                said.path,
                count(rare as usize),
                count(all as usize)
            );
            let help = "make it quasi or identifying, or say `acknowledge = true` if it gives nobody away";
            problems.push(Diagnostic::error(what).at(said.place.clone()).help(help));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Policy, problems)) }
}

/// Attributes with a key that some people have, but only a handful.
fn rare(census: &Census, schema: &Schema) -> BTreeSet<AttributeId> {
    census.keys.found(schema).rare
}

/// Certificates and reports name what the policy declares. A key that only a handful of people have may name somebody.
fn refuse_rare_keys(policy: &Policy, census: &Census, binding: &Binding) -> Result<()> {
    let schema = census.survey.frame.schema();
    let mut rare = rare(census, schema);
    // Of what nobody has, nobody is named.
    rare.retain(|&id| census.keys.holders(schema, id) > 0);
    let declared: BTreeSet<usize> = rare.iter().filter_map(|id| binding.attributes[id.index()]).collect();
    let named = declared.iter().map(|&d| &policy.attributes[d]).filter(|a| !a.acknowledge);
    let problems: Vec<Diagnostic> = named
        .map(|attribute| {
            let what = format!(
                "`{}` has a key that fewer than five people have, and that certificate and report would name",
                attribute.path
            );
            Diagnostic::error(what).at(attribute.place.clone()).help(
                "write `x{}` in paths where the keys of `x` are data, leave it out with `undeclared = \"drop\"`, or say \
                 `acknowledge = true` if the key names nobody",
            )
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Policy, problems)) }
}

/// What names a person and stands in several records: k counts records, and these may be one person's.
fn counted_twice(policy: &Policy, census: &Census, binding: &Binding) -> Vec<Diagnostic> {
    let schema = census.survey.frame.schema();
    let warning = |Shared { path, records, exact }: Shared| {
        let (id, _) = schema.attributes().find(|(_, attribute)| attribute.path == path)?;
        let attribute = &policy.attributes[binding.attributes[id.index()]?];
        let what = format!(
            "`{}` is identifying, and {}{} of {} share its value with another",
            attribute.path,
            if exact { "" } else { "about " },
            count(records as usize),
            plural(census.survey.records as usize, "record")
        );
        let help = "if it names a person, one person counts several times for the guarantee: gather their documents or rows \
                    with `person`";
        Some(Diagnostic::warning(what).at(attribute.place.clone()).help(help))
    };
    census.identifiers.shared().into_iter().filter_map(warning).collect()
}

/// Refuses attributes that the policy does not name, once all records were seen: keys that only a handful of people have are counted
/// and not named, unless somebody may see values.
pub(crate) fn refuse_undeclared(
    policy: &Policy,
    census: &Census,
    name: &str,
    show_values: bool,
) -> Result<()> {
    let binding = bound(policy, census, name)?;
    let schema = census.survey.frame.schema();
    refuse_unnamed(policy, (schema, &binding), &|| Ok(rare(census, schema)), name, show_values)
}

/// The same by a schema; rare keys are only looked for where something is refused.
pub(crate) fn refuse_unnamed(
    policy: &Policy,
    (schema, binding): (&Schema, &Binding),
    rare: &dyn Fn() -> Result<BTreeSet<AttributeId>>,
    name: &str,
    show_values: bool,
) -> Result<()> {
    let all = schema.attributes().map(|(id, _)| id);
    let undeclared: Vec<AttributeId> = all.filter(|id| binding.attributes[id.index()].is_none()).collect();
    if policy.undeclared == Undeclared::Drop || undeclared.is_empty() {
        return Ok(());
    }
    let keys = if has_keys(policy) && !show_values { rare()? } else { BTreeSet::new() };
    let (rare, common): (Vec<_>, Vec<_>) = undeclared.into_iter().partition(|id| keys.contains(id));
    let paths: Vec<&str> = common.iter().map(|&id| schema.attribute(id).path.as_str()).collect();
    let mut failure = binding.refuse(&paths, name);
    if !rare.is_empty() {
        let rare = plural(rare.len(), "attribute");
        let what = format!("the policy does not declare {rare} with keys that fewer than five people have");
        failure.diagnostics.push(Diagnostic::error(what).at(Place::source(name)).help(
            "they are not named, for a rare key may name somebody: write `x{}` in paths where the keys of `x` are data, set \
             `undeclared = \"drop\"`, or see their names with --show-values",
        ));
    }
    Err(failure)
}

/// Refuses hierarchies that workers could not be sent.
pub(crate) fn refuse_ranges(policy: &Policy, hierarchies: &[Option<Hierarchy>]) -> Result<()> {
    hierarchies.iter().flatten().try_for_each(|hierarchy| travelling(policy, hierarchy).map(|_| ()))
}

/// A hierarchy as bytes, which one of ranges does not have.
pub(crate) fn travelling(policy: &Policy, hierarchy: &Hierarchy) -> Result<Vec<u8>> {
    let what = || {
        let what = Diagnostic::error("a hierarchy of ranges cannot be sent to others");
        let what = what.at(Place::source(&policy.name)).help("write the hierarchy as a file");
        Failure::new(Fault::Policy, what)
    };
    hierarchy.to_bytes().ok_or_else(what)
}

/// Records of a batch, where people whose sides are taken apart are looked at before.
const BATCH: BatchSize = BatchSize { records: 100_000, bytes: 16 << 20 };

/// Times its bytes that a text takes in memory, at most about.
const GROWTH: u64 = 8;

/// Where people whose sides are taken apart are looked at, before they are read for that: they go through as texts, so that a pass
/// of its own looks at them. None where there is nothing to look for.
pub(crate) fn place_of_people(file: &PolicyFile) -> Result<Option<Whereabouts>> {
    let identifying = file.policy.attributes.iter().any(|a| a.role == Role::Identifying);
    let is_wanted = identifying || has_keys(&file.policy);
    is_wanted.then(|| Whereabouts::input(file).map(Whereabouts::again)).transpose()
}

/// The same for people whose sides are taken apart.
pub(crate) fn of_people(file: &PolicyFile, place: Option<Whereabouts>, run: &Run<'_>) -> Result<()> {
    let (policy, Some(place)) = (&file.policy, place) else { return Ok(()) };
    let name = place.name();
    let in_batches = place.unbatched().is_none() && !policy.selects();
    let (weight, _) = place.weight();
    if place.paths().iter().any(|path| path.as_os_str() == "-")
        || (!in_batches && weight.saturating_mul(GROWTH) > run.settings.memory() as u64)
    {
        let what =
            "nobody has looked whether one person stands in several records, or whether keys name people";
        let why = "standard input, and a document that would not fit into memory, are read only once here";
        run.warn([Diagnostic::warning(what).at(Place::source(name)).help(why)]);
        return Ok(());
    }
    let mut census = Census::default();
    let mut look = |read: &Dataset| {
        let own = Census::of(policy, read, &name, run.observer)?;
        census = std::mem::take(&mut census).merge(&own.with(Survey::of(read, |_| false, run.observer)?));
        Ok(())
    };
    if in_batches {
        place.batches(BATCH, run.observer, &mut |opened| look(&opened.data))?;
    } else {
        look(&load::select(place.open(run.observer)?.data, policy, &name, run)?)?;
    }
    let binding = bound(policy, &census, &name)?;
    run.warn(counted_twice(policy, &census, &binding));
    refuse_rare_keys(policy, &census, &binding)
}
