//! Publications with two sides of records that lie in partitions: people are dealt by their sensitive values, every part is grouped
//! by a worker, whoever is left over goes to the last part, and groups are numbered by the order of their content.
//!
//! ```text
//! survey ─► SidesPlan ─► people(batch), deal ─► [reach(part) ─► δ] ─► make(part) ─► make(last part, left over) ─► sort ─► write(part)
//! write(part) ─► judge(part) ─► verdict
//! ```

use std::path::Path;

use bosket_engine::dissect::{Params, Release, SUPPRESSED, Sensitive, deal_key, reached, run, too_many};
use bosket_io::apart::{PartOfSides, PublishedReader, SidesInParts, Spool, group_texts, spooled};
use bosket_io::parquet::Columns;
use bosket_io::parts::{PartFacts, refuse_disorder};
use bosket_io::{PolicyFile, hierarchies};
use bosket_measure::kept::Kept;
use bosket_model::binding::Binding;
use bosket_model::dissected::SensitiveValues;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::partition::Survey;
use bosket_model::partition::bytes::{Reader, Writer, damaged};
use bosket_model::policy::{Role, Undeclared};
use bosket_model::sides::Fates;
use bosket_model::words::count;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Fingerprint, Place, Result};
use bosket_verify::dissect::Distances;
use bosket_verify::sides::expected;
use bosket_verify::{Claim, Decision, JudgedSides, Recount, Verification};
use serde_json::{Value, json};

use super::plan::{NAME, census};
use super::{PartsVerdict, refuse_unfit};
use crate::checks::{self, Census, travelling};
use crate::prepare::check_policy;
use crate::verify::declared;
use crate::warned::Warned;

const WHAT: [u8; 4] = *b"BkSi";
const VERSION: u8 = 1;

/// What is known of all records before any is grouped.
#[derive(Debug)]
pub struct SidesPlan {
    given: (String, Vec<String>),
    file: PolicyFile,
    fates: Fates,
    params: Params,
    hierarchies: Vec<Option<Hierarchy>>,
    records: u64,
}

/// What became of a part.
#[derive(Debug, Default)]
pub struct Grouped {
    /// Groups, as texts.
    pub groups: Vec<Vec<u8>>,
    /// People who are in none.
    pub left: Vec<Vec<u8>>,
    /// Groups in which one person has more than its share of the values.
    pub telling: usize,
}

/// The groups of a part, if there can be any, with the people whom they were made of, and those who are too many for them.
type Attempted = (Option<(Spool, Release, Vec<usize>)>, Vec<usize>);

/// What there is in a batch, with its sensitive values.
pub fn survey(file: &PolicyFile, batch: &Dataset, observer: &dyn Observer) -> Result<Census> {
    census(file, batch, &|own, id| own.role(id) == Some(Role::Sensitive), observer)
}

/// Refuses values that are too frequent, as a run with all records would.
fn refuse_frequent(survey: &Survey, binding: &Binding, fates: &Fates, params: &Params) -> Result<()> {
    let size = params.group_size as u64;
    let mut problems = Vec::new();
    for (id, _) in survey.frame.schema().attributes() {
        let Some(at) = binding.attributes[id.index()].filter(|_| binding.role(id) == Some(Role::Sensitive))
        else {
            continue;
        };
        let most = survey.counts[id.index()].iter().map(|c| c.0).max().unwrap_or(0);
        let many = fates.sensitive.iter().any(|s| s.declared == at && s.many);
        let none = if many || params.may_lack { 0 } else { survey.records - survey.present[id.index()] };
        let most = most.max(none);
        if most * size > survey.records {
            let path = &binding.declared[at].path;
            let what = format!(
                "a value of `{path}` is that of {} of {} records, so that groups of {size} cannot be made",
                count(most as usize),
                count(survey.records as usize)
            );
            let help = format!("ask for groups of {} or fewer", survey.records / most.max(1));
            problems.push(Diagnostic::error(what).at(Place::source(NAME).path(path)).help(help));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Unreachable, problems)) }
}

impl SidesPlan {
    /// Checks what is asked for against all sensitive values that there are.
    pub fn new(file: &PolicyFile, given: (String, Vec<String>), census: &Census) -> Result<Warned<Self>> {
        check_policy(file)?;
        refuse_unfit(&file.policy)?;
        checks::refuse_undeclared(&file.policy, census, NAME, false)?;
        let warnings = checks::warnings(&file.policy, census, NAME)?;
        let survey = &census.survey;
        let (fates, params) = (Fates::new(&file.policy)?, Params::new(&file.policy)?);
        if survey.records < params.group_size as u64 {
            let what = format!(
                "groups of {} people cannot be made of {} records",
                params.group_size, survey.records
            );
            let what = Diagnostic::error(what).at(Place::source(NAME)).help("ask for smaller groups");
            return Err(Failure::new(Fault::Unreachable, what));
        }
        let schema = survey.frame.schema();
        let binding = Binding::of_input(schema, &file.policy.attributes, Undeclared::Drop, NAME)?;
        refuse_frequent(survey, &binding, &fates, &params)?;
        let mut values: Vec<SensitiveValues> = Vec::new();
        for (id, _) in schema.attributes() {
            let own = binding.attributes[id.index()];
            if let Some(s) = fates.sensitive.iter().find(|s| Some(s.declared) == own) {
                values.push(SensitiveValues {
                    declared: s.declared,
                    path: s.path.clone(),
                    many: s.many,
                    values: survey.frame.dictionary(id).clone(),
                    ..SensitiveValues::default()
                });
            }
        }
        let (hierarchies, _) = hierarchies::of_sensitive(file, &values, NAME, false)?;
        checks::refuse(&file.policy, census, NAME)?;
        checks::refuse_ranges(&file.policy, &hierarchies)?;
        let plan = SidesPlan { given, file: bare(file), fates, params, hierarchies, records: survey.records };
        Ok(Warned { value: plan, warnings })
    }

    /// How many records there are.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Fewest people of a group.
    pub fn group_size(&self) -> usize {
        self.params.group_size
    }

    /// Whether parts have to agree on a distance first.
    pub fn is_to_agree(&self) -> bool {
        self.params.algorithm == bosket_model::policy::Algorithm::Delta && self.params.delta_target.is_none()
    }

    /// The same with a distance that all parts reach.
    pub fn agreed(mut self, delta: u32) -> Self {
        self.params.delta_target = Some(delta);
        self
    }

    /// The plan as bytes. It holds sensitive values where these have hierarchies.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = Writer::new(WHAT, VERSION);
        out.text(&self.given.0);
        out.length(self.given.1.len());
        self.given.1.iter().for_each(|set| out.text(set));
        out.number(self.records);
        out.number(self.params.delta_target.map_or(0, |delta| u64::from(delta) + 1));
        out.length(self.hierarchies.len());
        for hierarchy in &self.hierarchies {
            let form = |h: &Hierarchy| travelling(&self.file.policy, h);
            out.bytes(&hierarchy.as_ref().map(form).transpose()?.unwrap_or_default());
        }
        Ok(out.finish())
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written. No file of the policy is looked at.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let text = from.text()?.to_owned();
        let sets: Vec<String> =
            (0..from.length()?).map(|_| Ok(from.text()?.to_owned())).collect::<Result<_>>()?;
        let file = PolicyFile::parse(Path::new("policy.toml"), &text, &sets)?;
        let (records, delta) = (from.number()?, from.number()?);
        let hierarchies = (0..from.length()?).map(|_| {
            let bytes = from.bytes()?;
            if bytes.is_empty() { Ok(None) } else { Hierarchy::from_bytes(bytes).map(Some) }
        });
        let hierarchies: Vec<Option<Hierarchy>> = hierarchies.collect::<Result<_>>()?;
        from.end()?;
        if hierarchies.len() != file.policy.attributes.len() {
            return Err(damaged());
        }
        let mut params = Params::new(&file.policy)?;
        params.delta_target = delta.checked_sub(1).map(|delta| delta as u32);
        let fates = Fates::new(&file.policy)?;
        Ok(SidesPlan { given: (text, sets), file, fates, params, hierarchies, records })
    }

    /// The columns of both sides of records that look like these.
    pub fn sheet(&self, source: (&Dataset, &Columns)) -> Result<SidesInParts<'_>> {
        SidesInParts::new(&self.file, source)
    }

    /// The people of a batch, each with what it is dealt by.
    pub fn people(&self, batch: &Dataset, columns: &Columns) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let people = self.sheet((batch, columns))?.people(batch, columns)?;
        let spool = self.spooled(&people)?;
        let keyed = people.into_iter().enumerate().map(|(record, person)| {
            let mut digest = [0; 32];
            digest[..8].copy_from_slice(&spool.ties[record].to_be_bytes());
            (deal_key(&spool.sensitive, record, &digest), person)
        });
        Ok(keyed.collect())
    }

    fn spooled(&self, people: &[impl AsRef<[u8]>]) -> Result<Spool> {
        let texts: Vec<&[u8]> = people.iter().map(AsRef::as_ref).collect();
        spooled(&self.fates, self.file.policy.seed, &texts)
    }

    fn sensitive<'a>(&'a self, spool: &'a Spool) -> Vec<Sensitive<'a>> {
        let of = |values: &'a SensitiveValues| Sensitive {
            values,
            hierarchy: self.hierarchies[values.declared].as_ref(),
        };
        spool.sensitive.iter().map(of).collect()
    }

    /// The groups of a part, if there can be any, and its people who are too many for them.
    fn attempted(&self, people: &[Vec<u8>], observer: &dyn Observer) -> Result<Attempted> {
        let spool = self.spooled(people)?;
        let gone = too_many(people.len(), &self.sensitive(&spool), &self.params, observer)?;
        let gone: Vec<usize> = gone.into_iter().map(|record| record as usize).collect();
        let kept: Vec<usize> =
            (0..people.len()).filter(|record| gone.binary_search(record).is_err()).collect();
        let spool = if gone.is_empty() {
            spool
        } else {
            self.spooled(&kept.iter().map(|&record| &people[record]).collect::<Vec<_>>())?
        };
        match run(kept.len(), &self.sensitive(&spool), &spool.ties, &self.params, observer) {
            Ok(made) => Ok((Some((spool, made, kept)), gone)),
            Err(failure) if failure.fault == Fault::Unreachable => Ok((None, (0..people.len()).collect())),
            Err(failure) => Err(failure),
        }
    }

    /// The distance that a part can reach; none if it has no groups, or no two values to compare.
    pub fn reach(&self, people: Vec<Vec<u8>>, observer: &dyn Observer) -> Result<Option<u32>> {
        let (made, _) = self.attempted(&sorted(people), observer)?;
        Ok(made.and_then(|(_, made, _)| reached(&made, &self.params)))
    }

    /// Groups the people of a part.
    pub fn make(&self, people: Vec<Vec<u8>>, observer: &dyn Observer) -> Result<Grouped> {
        let people = sorted(people);
        let (made, gone) = self.attempted(&people, observer)?;
        let mut left: Vec<Vec<u8>> = gone.iter().map(|&record| people[record].clone()).collect();
        let Some((mut spool, made, kept)) = made else { return Ok(Grouped { left, ..Grouped::default() }) };
        let over = kept.iter().zip(&made.group_of).filter(|(_, group)| **group == SUPPRESSED);
        left.extend(over.map(|(&record, _)| people[record].clone()));
        let groups = group_texts(&mut spool, &made.group_of, made.groups)?;
        Ok(Grouped { groups, left, telling: made.telling })
    }

    /// Groups the people of the last part, with those whom the others have left over unless that would cost more than they are.
    pub fn make_last(
        &self,
        last: Vec<Vec<u8>>,
        over: Vec<Vec<u8>>,
        observer: &dyn Observer,
    ) -> Result<Grouped> {
        if over.is_empty() {
            return self.make(last, observer);
        }
        let together = self.make(last.iter().chain(&over).cloned().collect(), observer)?;
        let mut alone = self.make(last, observer)?;
        if together.left.len() <= alone.left.len() + over.len() {
            return Ok(together);
        }
        alone.left.extend(over);
        Ok(alone)
    }
}

/// Tasks get their people in any order.
fn sorted(mut people: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    people.sort_unstable();
    people
}

fn bare(file: &PolicyFile) -> PolicyFile {
    PolicyFile {
        policy: file.policy.clone(),
        folder: file.folder.clone(),
        warnings: Vec::new(),
        frames: None,
    }
}

/// In how many parts both sides lie.
pub fn parts(file: &PolicyFile, folder: &Path) -> Result<usize> {
    PublishedReader::new(file, expected)?.parts_of_sides(folder)
}

fn judged(
    file: &PolicyFile,
    folder: &Path,
    number: usize,
    observer: &dyn Observer,
) -> Result<(PartOfSides, JudgedSides, Verification)> {
    let part = PublishedReader::new(file, expected)?.read_part_of_sides(folder, number, observer)?;
    let sides = JudgedSides::new(&file.policy, &part.found)?;
    let claim = Claim::new(&file.policy)?;
    let name = folder.display().to_string();
    let (hierarchies, _) = hierarchies::of_sensitive(file, &sides.dissected.sensitive, &name, false)?;
    let verification = Verification::of_dissected(&sides, Some(&claim), &hierarchies, observer)?;
    Ok((part, sides, verification))
}

/// Judges a part of both sides from its bytes. Groups are whole in a part, so what holds for every part holds for all.
pub fn judge(file: &PolicyFile, folder: &Path, number: usize, observer: &dyn Observer) -> Result<Vec<u8>> {
    let (part, sides, found) = judged(file, folder, number, observer)?;
    let differs = PublishedReader::new(file, expected)?.form_of_part(folder, number)?;
    let differs = differs.map(|differs| json!([differs.place.source, differs.message]));
    let mut out = Writer::new(WHAT, VERSION);
    out.number(number as u64);
    out.number(part.first);
    out.number(part.facts.records);
    out.bytes(&part.facts.first);
    out.bytes(&part.facts.last);
    out.number(u64::from(part.facts.sorted));
    out.text(&part.facts.columns);
    let files = part.files.iter().map(|f| json!([f.name, f.sha256])).collect::<Vec<_>>();
    let distances = found.distances.iter().map(|(path, d)| json!([path, d.set_wise, d.pairwise]));
    let told = json!({
        "differs": differs, "files": files, "holds": found.holds(), "records": found.records,
        "distances": distances.collect::<Vec<_>>(),
        "values": sides.dissected.sensitive.iter().map(|s| json!([s.path, s.codes.total()])).collect::<Vec<_>>(),
        "recount": found.recount().map(|r| json!([r.pieces, r.records, r.complete, r.not_covered.is_empty()])),
    });
    out.text(&told.to_string());
    Ok(out.finish())
}

/// What is known of one part.
struct Known {
    number: u64,
    first: u64,
    facts: PartFacts,
    told: Told,
}

/// What was found out about one part.
struct Told {
    /// A file that leaves the one form, and where.
    differs: Option<(String, String)>,
    files: Vec<Fingerprint>,
    records: u64,
    distances: Vec<(String, Distances)>,
    /// Per sensitive attribute how many values are published.
    values: Vec<(String, u64)>,
    /// The second count; none if the part does not hold.
    recount: Option<Recount>,
}

impl Told {
    /// Reads what [`judge`] has written; whatever is missing or of another kind is damage.
    fn read(told: &Value) -> Option<Self> {
        let file = |file: &Value| {
            let [name, sha256] = file.as_array()?.as_slice() else { return None };
            Some(Fingerprint { name: name.as_str()?.to_owned(), sha256: sha256.as_str()?.to_owned() })
        };
        let number = |value: &Value| match value {
            Value::Null => Some(None),
            value => Some(Some(u32::try_from(value.as_u64()?).ok()?)),
        };
        let distance = |own: &Value| {
            let [path, set_wise, pairwise] = own.as_array()?.as_slice() else { return None };
            let distances = Distances { set_wise: number(set_wise)?, pairwise: number(pairwise)? };
            Some((path.as_str()?.to_owned(), distances))
        };
        let value = |own: &Value| {
            let [path, values] = own.as_array()?.as_slice() else { return None };
            Some((path.as_str()?.to_owned(), values.as_u64()?))
        };
        let recount = match told.get("recount")? {
            Value::Null => None,
            own => {
                let [pieces, records, complete, covered] = own.as_array()?.as_slice() else { return None };
                let not_covered = if covered.as_bool()? { Vec::new() } else { vec![NOT_ALL] };
                let (pieces, records) = (pieces.as_u64()?, records.as_u64()?);
                Some(Recount { pieces, records, complete: complete.as_bool()?, not_covered })
            }
        };
        // A part that holds was counted twice.
        let holds = told.get("holds")?.as_bool()?;
        let differs = match told.get("differs")? {
            Value::Null => None,
            own => {
                let [file, what] = own.as_array()?.as_slice() else { return None };
                Some((file.as_str()?.to_owned(), what.as_str()?.to_owned()))
            }
        };
        Some(Told {
            differs,
            files: told.get("files")?.as_array()?.iter().map(file).collect::<Option<_>>()?,
            records: told.get("records")?.as_u64()?,
            distances: told.get("distances")?.as_array()?.iter().map(distance).collect::<Option<_>>()?,
            values: told.get("values")?.as_array()?.iter().map(value).collect::<Option<_>>()?,
            recount: if holds { Some(recount?) } else { None },
        })
    }
}

/// What was not counted again where that is so of some part.
const NOT_ALL: &str = "all groups of every part";

fn known(bytes: &[u8]) -> Result<Known> {
    let mut from = Reader::new(bytes, WHAT, VERSION)?;
    let (number, first, records) = (from.number()?, from.number()?, from.number()?);
    let (one, last) = (from.bytes()?.to_vec(), from.bytes()?.to_vec());
    let (sorted, columns) = (from.number()? == 1, from.text()?.to_owned());
    let told = Told::read(&super::cells::parsed(from.text()?)?).ok_or_else(damaged)?;
    from.end()?;
    Ok(Known { number, first, facts: PartFacts { records, first: one, last, sorted, columns }, told })
}

/// The verdict on all parts of a folder. A part that does not hold is read once more, for its witness.
pub fn verdict(
    file: &PolicyFile,
    folder: &Path,
    states: &[Vec<u8>],
    observer: &dyn Observer,
) -> Result<PartsVerdict> {
    let mut all = states.iter().map(|state| known(state)).collect::<Result<Vec<_>>>()?;
    all.sort_by_key(|known| known.number);
    all.dedup_by_key(|known| known.number);
    if !all.iter().map(|k| k.number).eq(0..parts(file, folder)? as u64) {
        return Err(super::changing(folder));
    }
    let size = all.first().map_or(0, |first| first.facts.records);
    for part in &mut all {
        // Numbers go on where those of the part before end.
        part.facts.sorted &= part.first == part.number * size + 1;
    }
    let facts: Vec<PartFacts> = all.iter().map(|known| known.facts.clone()).collect();
    let names = PublishedReader::new(file, expected)?.folders_of_sides()?;
    refuse_disorder(&folder.join(&names[0]), "parquet", &facts)?;
    let claim = Claim::new(&file.policy)?;
    let recounts = all.iter().map(|known| known.told.recount.clone()).collect::<Option<Vec<_>>>();
    let (decision, left, misplaced) = match recounts.and_then(|all| all.into_iter().reduce(Recount::and)) {
        Some(recount) => (Decision::Holds(recount), Vec::new(), Vec::new()),
        None => {
            let broken = all.iter().find(|known| known.told.recount.is_none()).ok_or_else(damaged)?;
            let (_, _, found) = judged(file, folder, broken.number as usize, observer)?;
            if found.holds() {
                return Err(super::changing(folder));
            }
            (found.decision, found.left, found.misplaced)
        }
    };
    let verification = Verification {
        claim: Some(claim.clone()),
        decision,
        left,
        misplaced,
        records: all.iter().map(|known| known.told.records).sum::<u64>() as usize,
        groups: Some(facts.iter().map(|f| f.records).sum::<u64>() as usize),
        distances: weakest(&all),
        farthest: Vec::new(),
    };
    let mut differs = all.iter().filter_map(|known| known.told.differs.as_ref());
    if let (true, Some((path, differs))) = (verification.holds(), differs.next()) {
        super::refuse_other_form(Path::new(path), differs)?;
    }
    let mut files = Vec::new();
    for at in 0..names.len() {
        for known in &all {
            files.push(known.told.files.get(at).ok_or_else(damaged)?.clone());
        }
    }
    Ok(PartsVerdict { verification, caveats: claim.caveats(&declared(file)?), files })
}

/// What a run tells about itself: `loss`, `suppressed`, `kept` and `legend` of its certificate. No value is generalized, so that there
/// is nothing to explain.
pub fn figures(file: &PolicyFile, states: &[Vec<u8>], census: &Census, suppressed: u64) -> Result<Value> {
    let mut all = states.iter().map(|state| known(state)).collect::<Result<Vec<_>>>()?;
    all.sort_by_key(|known| known.number);
    all.dedup_by_key(|known| known.number);
    let survey = &census.survey;
    let schema = survey.frame.schema();
    let binding = Binding::of_input(schema, &file.policy.attributes, Undeclared::Drop, NAME)?;
    let fates = Fates::new(&file.policy)?;
    let own = fates.sensitive.iter().map(|s| {
        let ids = schema.attributes().map(|(id, _)| id.index());
        let ids = ids.filter(|&id| binding.attributes[id] == Some(s.declared));
        let (mut values, mut having) = (0, 0);
        for id in ids {
            values += survey.counts[id].iter().map(|count| count.1).sum::<u64>();
            having += survey.present[id];
        }
        (s.path.clone(), values, having)
    });
    let out = |path: &str| {
        let own = all.iter().flat_map(|known| &known.told.values);
        own.filter(|(known, _)| known == path).map(|(_, values)| values).sum::<u64>()
    };
    let people = all.iter().map(|known| known.told.records).sum();
    let kept = Kept::of_counts(survey.records, own, (people, &out));
    Ok(json!({
        "loss": {}, "suppressed": {"records_suppressed": suppressed},
        "kept": kept.public(&file.policy).to_json(), "legend": null,
    }))
}

/// Per sensitive attribute the distances of the weakest group of all parts.
fn weakest(all: &[Known]) -> Vec<(String, Distances)> {
    let mut found: Vec<(String, Distances)> = Vec::new();
    for (path, own) in all.iter().flat_map(|known| &known.told.distances) {
        let least = |a: Option<u32>, b: Option<u32>| a.into_iter().chain(b).min();
        match found.iter_mut().find(|(known, _)| known == path) {
            None => found.push((path.clone(), *own)),
            Some((_, known)) => {
                known.set_wise = least(known.set_wise, own.set_wise);
                known.pairwise = least(known.pairwise, own.pairwise);
            }
        }
    }
    found
}
