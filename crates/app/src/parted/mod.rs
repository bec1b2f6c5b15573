//! Publications in parts, for whoever works on partitions of the data: a part is judged where it lies, what was found is
//! merged, and the verdict is about all of them.
//!
//! ```text
//! of_part(part 0) ─┐         ┌─► recount_part(part 0) ─┐
//! of_part(part 1) ─┼─► merge ┼─► recount_part(part 1) ─┼─► finish: verdict, fingerprints ─► certificate
//! of_part(part 2) ─┘         └─► recount_part(part 2) ─┘
//! ```

pub mod cells;
pub mod overlooked;
pub mod plan;
pub mod shape;
pub mod sides;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bosket_io::parts::{Part, PartFacts, part_files, part_name, read_part, refuse_disorder};
use bosket_io::{PolicyFile, Whereabouts, fingerprint, form};
use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::partition::bytes::{Reader, Writer, damaged};
use bosket_model::policy::{Format, Policy, Role};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Fingerprint, Place, Result};
use bosket_report::certificate::{Certificate, Facts};
use bosket_verify::mergeable::{ClassState, is_counted_again};
use bosket_verify::partition::{self, Counted};
use bosket_verify::recount::parts::{Drawn, Tallied};
use bosket_verify::{Claim, Verification, names};
use serde_json::Value;

use crate::certificate::given;
use crate::classes::is_by_class;

const WHAT: [u8; 4] = *b"BkPp";
const VERSION: u8 = 2;

/// The parts of a publication in this format.
const FORMAT: Format = Format::Parquet;

/// What was found out about some parts of a publication.
#[derive(Clone, Debug, Default)]
pub struct PartsState {
    counted: Judged,
    /// By number.
    parts: BTreeMap<u32, Judgement>,
}

/// What is known of a part beside its counts.
#[derive(Clone, Debug)]
struct Judgement {
    /// Where it belongs in the order of all.
    facts: PartFacts,
    sha256: String,
    /// Where it leaves the one form.
    differs: Option<String>,
}

/// What is counted of records, by what is claimed.
#[derive(Clone, Debug)]
enum Judged {
    /// Pieces of knowledge: a kernel, and what is drawn to be counted over all records.
    Knowledge(Counted, Drawn),
    /// Records that look alike, and which of them are drawn to be counted again, where that is asked for.
    Classes(ClassState, Option<Drawn>),
}

impl Default for Judged {
    fn default() -> Self {
        Judged::Knowledge(Counted::default(), Drawn::default())
    }
}

impl Judged {
    fn of(
        file: &PolicyFile,
        (number, data): (u32, &Dataset),
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (policy, claim) = (&file.policy, Claim::new(&file.policy)?);
        if is_by_class(&claim) {
            let binding = names::bound(data.schema(), &policy.attributes, policy.undeclared, "a part")?;
            let drawn = is_counted_again(&claim).then(|| Drawn::of(&claim, data, &binding, observer));
            let spelled = data.one_spelling();
            let data = spelled.as_ref().unwrap_or(data);
            let counted = ClassState::count(data, &binding, &claim, observer)?;
            return Ok(Judged::Classes(counted, drawn.transpose()?));
        }
        let counted = partition::count(policy, &claim, (number, data), Some(data), memory, observer)?;
        let binding = names::bound(data.schema(), &policy.attributes, policy.undeclared, "a part")?;
        Ok(Judged::Knowledge(counted, Drawn::of(&claim, data, &binding, observer)?))
    }

    fn records(&self) -> u64 {
        match self {
            Judged::Knowledge(counted, _) => counted.records(),
            Judged::Classes(classes, _) => classes.records(),
        }
    }

    fn merge(self, other: Self, file: &PolicyFile, memory: usize, observer: &dyn Observer) -> Result<Self> {
        match (self, other) {
            (Judged::Knowledge(own, drawn), Judged::Knowledge(other, its)) => {
                let merged = own.merge(other, observer)?;
                let claim = Claim::new(&file.policy)?;
                let pruned = merged.pruned(&file.policy, &claim, memory, observer)?;
                Ok(Judged::Knowledge(pruned, drawn.merge(its)))
            }
            (Judged::Classes(own, drawn), Judged::Classes(other, its)) => {
                let drawn = match (drawn, its) {
                    (Some(drawn), Some(its)) => Some(drawn.merge(its)),
                    (None, None) => None,
                    _ => return Err(damaged()),
                };
                Ok(Judged::Classes(own.merge(other), drawn))
            }
            _ => Err(damaged()),
        }
    }
}

/// What became of a publication in parts.
#[derive(Debug)]
pub struct PartsVerdict {
    /// Whether the claim holds.
    pub verification: Verification,
    /// What a reader of the claim should know about its limits.
    pub caveats: Vec<Diagnostic>,
    /// The parts, in their order.
    pub files: Vec<Fingerprint>,
}

/// Refuses what cannot be published in parts, or judged part by part.
pub fn refuse_unfit(policy: &Policy) -> Result<()> {
    let refuse = |what: &str, help: &str| {
        let what = Diagnostic::error(what.to_owned()).at(Place::source(&policy.name));
        Err(Failure::new(Fault::Policy, what.help(help.to_owned())))
    };
    let source = policy.need_source()?;
    if !source.tables.is_empty() {
        return refuse("linked tables are not worked on in partitions", "nest the rows of each person first");
    }
    if !source.person.is_empty() {
        let help = "gather the rows of each person first, such as with collect_list, and leave `person` out";
        return refuse("`person` gathers rows of all partitions", help);
    }
    if policy.selects() {
        let help =
            "filter the data before it is handed over, and leave `where` and `sample` out of the policy";
        return refuse("`where` and `sample` choose among the records of all partitions", help);
    }
    if policy.attributes.iter().any(|a| a.role == Role::Pseudonym || a.shift.is_some()) {
        let help =
            "the private key would travel to every worker: make pseudonyms and shift dates on one machine";
        return refuse("pseudonyms and shifted dates are not made on partitions", help);
    }
    let privacy = policy.need_privacy()?;
    if policy.anatomizes() {
        let help = "publish on one machine, or leave `publish.anatomize` out";
        return refuse("the sides of clusters are not published apart on partitions", help);
    }
    if !privacy.model.has_guarantee() {
        return refuse("there is no guarantee to keep", "choose a model with one");
    }
    crate::partition::refuse_earlier(policy)?;
    crate::partition::refuse_guess(policy)?;
    let claim = Claim::new(policy)?;
    if is_by_class(&claim) || privacy.model.is_apart() {
        Ok(())
    } else {
        partition::refuse_unmergeable(&claim)
    }
}

/// How partitions are worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// One solution for all records is searched on a kernel of them.
    Kernels,
    /// Records that look alike are clustered in cells.
    Cells,
    /// Records are dealt into parts, and grouped there; their sides are published apart.
    Sides,
}

impl Work {
    /// What a policy asks for.
    pub fn of(policy: &Policy) -> Result<Self> {
        Ok(match Claim::new(policy)? {
            claim if is_by_class(&claim) => Work::Cells,
            Claim::Apart(_) => Work::Sides,
            _ => Work::Kernels,
        })
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Work::Kernels => "kernels",
            Work::Cells => "cells",
            Work::Sides => "sides",
        }
    }
}

/// Reads a part as a publication.
fn read(file: &PolicyFile, path: &Path) -> Result<(Part, Binding)> {
    let layout = match Whereabouts::given(file, path, true)? {
        Whereabouts::Document { layout, .. } => *layout,
        _ => return Err(Failure::defect("a publication in parts is a document")),
    };
    let part = read_part(path, &layout)?;
    let name = path.display().to_string();
    let binding = names::bound(part.data.schema(), &file.policy.attributes, file.policy.undeclared, &name)?;
    if !binding.attributes.iter().flatten().any(|&d| binding.declared[d].role == Role::Quasi) {
        let what = Diagnostic::error(
            "none of the policy's quasi attributes is in the file: there is nothing to verify",
        );
        let help = "check that policy and file belong together, and the paths";
        return Err(Failure::new(Fault::Policy, what.at(Place::source(name)).help(help)));
    }
    Ok((part, binding))
}

/// Refuses what holds and is written in another way than Bosket writes it.
fn refuse_other_form(path: &Path, differs: &str) -> Result<()> {
    let place = Place::source(path.display().to_string());
    Err(Failure::new(Fault::Data, Diagnostic::error(differs.to_owned()).at(place).help(form::HELP)))
}

impl PartsState {
    /// Judges a part from its bytes.
    pub fn of_part(
        file: &PolicyFile,
        folder: &Path,
        number: u32,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let path = folder.join(part_name(number as usize, FORMAT.name()));
        let (part, _) = read(file, &path)?;
        let counted = Judged::of(file, (number, &part.data), memory, observer)?;
        let differs = part.form()?.map(|differs| differs.message);
        let sha256 = fingerprint::of_file(&path, observer)?;
        let own = Judgement { facts: part.facts, sha256, differs };
        Ok(PartsState { counted, parts: BTreeMap::from([(number, own)]) })
    }

    /// Judges rows that stand for a part of a publication, and have no bytes yet.
    pub fn of_rows(
        file: &PolicyFile,
        data: &Dataset,
        number: u32,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let counted = Judged::of(file, (number, data), memory, observer)?;
        Ok(PartsState { counted, parts: BTreeMap::new() })
    }

    /// Both together. A part that is in both was judged again, and is the same.
    pub fn merge(
        mut self,
        other: Self,
        file: &PolicyFile,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        if self.counted.records() == 0 {
            return Ok(other);
        }
        self.counted = self.counted.merge(other.counted, file, memory, observer)?;
        self.parts.extend(other.parts);
        Ok(self)
    }

    /// How many records are kept to judge all of them, where that is how it is done.
    pub fn kept(&self) -> Option<usize> {
        match &self.counted {
            Judged::Knowledge(counted, _) => Some(counted.kept()),
            Judged::Classes(..) => None,
        }
    }

    /// What is to be counted over all parts once more; none where the first count has seen all records.
    pub fn drawn(&self) -> Option<&Drawn> {
        match &self.counted {
            Judged::Knowledge(_, drawn) => Some(drawn),
            Judged::Classes(_, drawn) => drawn.as_ref(),
        }
    }

    /// The verdict on rows that have no bytes. `again` is what the second pass has counted.
    pub fn finish_rows(
        &self,
        file: &PolicyFile,
        again: Option<&Tallied>,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Verification> {
        let (policy, claim) = (&file.policy, Claim::new(&file.policy)?);
        if self.counted.records() == 0 {
            return Err(Failure::defect("there is a verdict about parts of which no record was counted"));
        }
        match &self.counted {
            Judged::Knowledge(counted, drawn) => {
                let hierarchies = vec![None; policy.attributes.len()];
                let tallied = again.ok_or_else(|| Failure::defect("nobody has counted a second time"))?;
                counted.confirmed(policy, &claim, (drawn, tallied), &hierarchies, memory, observer)
            }
            Judged::Classes(classes, drawn) => {
                let found = classes.finish(&claim, &crate::verify::declared(file)?)?;
                found.confirmed(drawn.as_ref().zip(again))
            }
        }
    }

    /// The verdict on all parts of a folder. The first is read once more, for its columns.
    pub fn finish(
        self,
        file: &PolicyFile,
        folder: &Path,
        again: Option<&Tallied>,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<PartsVerdict> {
        let claim = Claim::new(&file.policy)?;
        let files = files_of(file, folder)?;
        let numbers = self.parts.keys().copied().eq(0..files.len() as u32);
        if !numbers {
            return Err(changing(folder));
        }
        let (_, binding) = read(file, &files[0])?;
        let facts: Vec<PartFacts> = self.parts.values().map(|part| part.facts.clone()).collect();
        refuse_disorder(folder, FORMAT.name(), &facts)?;
        let verification = self.finish_rows(file, again, memory, observer)?;
        if facts.iter().map(|f| f.records).sum::<u64>() != verification.records as u64 {
            return Err(Failure::defect("not all records of the parts were counted"));
        }
        let mut differs = files.iter().zip(self.parts.values()).filter_map(|(path, part)| {
            let differs = part.differs.as_ref()?;
            Some((path, differs))
        });
        // A broken promise is told before the form.
        if let (true, Some((path, differs))) = (verification.holds(), differs.next()) {
            refuse_other_form(path, differs)?;
        }
        let named = |(number, part): (u32, Judgement)| Fingerprint {
            name: part_name(number as usize, FORMAT.name()),
            sha256: part.sha256,
        };
        let files = self.parts.into_iter().map(named).collect();
        Ok(PartsVerdict { verification, caveats: claim.caveats(&binding), files })
    }

    /// The state as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        match &self.counted {
            Judged::Knowledge(counted, drawn) => {
                out.bytes(&counted.to_bytes());
                out.bytes(&drawn.to_bytes());
            }
            Judged::Classes(classes, drawn) => {
                // No state begins so.
                out.bytes(b"");
                out.text(&classes.to_json().to_string());
                out.bytes(&drawn.as_ref().map(Drawn::to_bytes).unwrap_or_default());
            }
        }
        out.length(self.parts.len());
        for (&number, Judgement { facts, sha256, differs }) in &self.parts {
            out.number(u64::from(number));
            out.number(facts.records);
            out.bytes(&facts.first);
            out.bytes(&facts.last);
            out.number(u64::from(facts.sorted));
            out.text(&facts.columns);
            out.text(sha256);
            out.text(differs.as_deref().unwrap_or_default());
        }
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let counted = match from.bytes()? {
            [] => {
                let classes = ClassState::from_json(&cells::parsed(from.text()?)?)?;
                let drawn = match from.bytes()? {
                    [] => None,
                    bytes => Some(Drawn::from_bytes(bytes)?),
                };
                Judged::Classes(classes, drawn)
            }
            bytes => {
                let counted = Counted::from_bytes(bytes)?;
                Judged::Knowledge(counted, Drawn::from_bytes(from.bytes()?)?)
            }
        };
        let mut parts = BTreeMap::new();
        for _ in 0..from.length()? {
            let (number, records) = (from.small()?, from.number()?);
            let (first, last) = (from.bytes()?.to_vec(), from.bytes()?.to_vec());
            let sorted = match from.number()? {
                0 => false,
                1 => true,
                _ => return Err(damaged()),
            };
            let columns = from.text()?.to_owned();
            let facts = PartFacts { records, first, last, sorted, columns };
            let sha256 = from.text()?.to_owned();
            let differs = Some(from.text()?.to_owned()).filter(|differs| !differs.is_empty());
            parts.insert(number, Judgement { facts, sha256, differs });
        }
        from.end()?;
        Ok(PartsState { counted, parts })
    }
}

/// Counts drawn knowledge over a part, read from its bytes once more.
pub fn recount_part(
    file: &PolicyFile,
    folder: &Path,
    number: u32,
    drawn: &Drawn,
    observer: &dyn Observer,
) -> Result<Tallied> {
    let (part, binding) = read(file, &folder.join(part_name(number as usize, FORMAT.name())))?;
    let tallied = Tallied::of(drawn, &Claim::new(&file.policy)?, &part.data, &binding, observer)?;
    Ok(tallied.of_part(number))
}

/// The same with rows that have no bytes.
pub fn recount_rows(
    file: &PolicyFile,
    data: &Dataset,
    number: u32,
    drawn: &Drawn,
    observer: &dyn Observer,
) -> Result<Tallied> {
    let policy = &file.policy;
    let binding = names::bound(data.schema(), &policy.attributes, policy.undeclared, "a part")?;
    Ok(Tallied::of(drawn, &Claim::new(policy)?, data, &binding, observer)?.of_part(number))
}

/// The parts in a folder, in their order; refuses whatever else lies there but a certificate.
pub fn files_of(file: &PolicyFile, folder: &Path) -> Result<Vec<PathBuf>> {
    match Whereabouts::given(file, folder, true)? {
        Whereabouts::Document { layout, .. } => part_files(folder, FORMAT.name(), &layout.beside),
        _ => Err(Failure::defect("a publication in parts is a document")),
    }
}

fn changing(folder: &Path) -> Failure {
    let what = Diagnostic::error("the folder does not hold the parts that were judged");
    let place = Place::source(folder.display().to_string());
    Failure::new(Fault::Data, what.at(place).help("let nobody else write there meanwhile"))
}

/// The certificate of a publication in parts that holds. `figures` are what the run tells about itself; whatever is missing there is
/// damage, and nothing is certified.
pub fn certify(
    file: &PolicyFile,
    verdict: &PartsVerdict,
    figures: &Value,
    observer: &dyn Observer,
) -> Result<Certificate> {
    if !verdict.verification.holds() {
        return Err(Failure::defect("a publication that does not hold was to be certified"));
    }
    let told = |key: &str| figures.get(key).cloned().ok_or_else(damaged);
    let object = |key: &str| told(key).and_then(|own| if own.is_object() { Ok(own) } else { Err(damaged()) });
    let claim = Claim::new(&file.policy)?;
    let certificate = Certificate::new(Facts {
        policy: &file.policy,
        claim: Some(&claim),
        caveats: verdict.caveats.clone(),
        files: verdict.files.clone(),
        hierarchies: given(file, observer)?,
        records: verdict.verification.records as u64,
        loss: object("loss")?,
        suppressed: object("suppressed")?,
        kept: object("kept")?,
        selected: None,
        legend: told("legend")?,
        joint: Vec::new(),
    });
    Ok(if file.policy.has_two_sides() { certificate } else { certificate.in_parts() })
}
