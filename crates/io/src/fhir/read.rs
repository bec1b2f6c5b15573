//! Bundles into records: lines, documents and folders.

use std::collections::BTreeMap;

use bosket_model::words::plural;
use bosket_model::{Dataset, Diagnostic, Kind, Place, Result};
use rustc_hash::FxHashMap;

use super::bulk::Bulk;
use super::bundle::{Arranged, Bundle, Link};
use super::entry::surrogate;
use super::forms::{Forms, is_date, position};
use super::names::{Resource, Version, moved};
use super::problem::{Fault, Problem};
use super::resource::{Reader, is_marked};
use super::xml;
use crate::homes::Homes;
use crate::input::Input;
use crate::json::document::locate;
use crate::json::error::{Error, ErrorKind};
use crate::json::parser::{Parser, utf8};
use crate::json::record;
use crate::json::shape::Shape;
use crate::json::whereabouts::path_of_mistake;
use crate::problems::Problems;
use crate::xml::tree::tree;

/// Types of resources that are named when they are left out; the rest are added up.
const NAMED: usize = 8;

/// Reads all bundles.
pub(super) fn read(version: Version, input: &mut Input, homes: &Homes) -> Result<(Dataset, Forms)> {
    let mut people = People {
        version,
        reader: Reader::new(input.is_published()),
        bundle: Bundle::default(),
        patients: FxHashMap::default(),
        others: BTreeMap::new(),
        problems: Problems::new(input.name()),
        sealed: input.is_published(),
        bulk: Bulk::default(),
    };
    match input.files() {
        None => people.file(input)?,
        Some(files) => {
            for file in files {
                people.file(&mut input.part(&file)?)?;
            }
        }
    }
    if let Some(astray) = people.gather() {
        input.warn(astray.at(Place::source(input.name())));
    }
    if input.is_published() {
        people.refuse_left(homes);
    } else {
        for warning in people.warnings(input.name()) {
            input.warn(warning);
        }
    }
    let People { reader, problems, .. } = people;
    let found = FhirWays::new(&reader);
    let data = problems.check(reader.builder.finish())?;
    let forms = found.forms(&data, homes);
    Ok((data, forms))
}

struct People {
    version: Version,
    reader: Reader,
    bundle: Bundle,
    /// Names of patients, and the record that had them.
    patients: FxHashMap<String, u64>,
    /// Resources of types that are not read.
    others: BTreeMap<String, u64>,
    problems: Problems,
    /// Whether this is a publication, in which nothing may be left out.
    sealed: bool,
    /// Resources that came one by one.
    bulk: Bulk,
}

impl People {
    /// Reads a file: a bundle per line if its first line is one, else bundles of any layout, one after the other.
    fn file(&mut self, input: &mut Input) -> Result<()> {
        // Publications are JSON, whatever they are made of.
        if !self.sealed && input.head().trim_ascii_start().starts_with(b"<") {
            let text = xml::bundle(&tree(input)?, self.version);
            self.document(input, text.as_bytes(), false);
            return input.stop().go_on();
        }
        let mut bytes = Vec::new();
        let mut line = 0;
        while input.read_line(&mut bytes)? {
            line += 1;
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            if !is_cut_off(&bytes) {
                self.any_line(input.name(), &bytes, line);
                break;
            }
            // The lines before were blank, but count.
            let mut text = vec![b'\n'; line as usize - 1];
            text.append(&mut bytes);
            let rest = input.read_all()?;
            if !rest.is_empty() {
                text.push(b'\n');
                text.extend(rest);
            }
            self.document(input, &text, true);
            return input.stop().go_on();
        }
        while input.read_line(&mut bytes)? {
            line += 1;
            if !bytes.trim_ascii().is_empty() {
                self.any_line(input.name(), &bytes, line);
            }
        }
        Ok(())
    }

    /// Reads a bundle, or keeps a resource until all are known. A publication has bundles only.
    fn any_line(&mut self, source: &str, bytes: &[u8], line: u64) {
        if self.sealed || !self.bulk.take(source, line, bytes) {
            self.line(source, bytes, line);
        }
    }

    /// Reads the bundles of resources that came one by one; says what belongs to nobody.
    fn gather(&mut self) -> Option<Diagnostic> {
        let mut bulk = std::mem::take(&mut self.bulk);
        for (kind, count) in std::mem::take(&mut bulk.others) {
            *self.others.entry(kind).or_default() += count;
        }
        let (bundles, astray) = bulk.bundles();
        self.bundle.partial = true;
        for bundle in bundles {
            self.line(&bundle.source, bundle.text.as_bytes(), bundle.line);
        }
        (astray > 0).then(|| {
            let what = format!(
                "{} left out: no Patient is there that they refer to",
                plural(astray as usize, "resource")
            );
            Diagnostic::warning(what).help("add the file of patients that they belong to")
        })
    }

    fn line(&mut self, source: &str, bytes: &[u8], line: u64) {
        let scanned = utf8(bytes).map_err(Problem::from).and_then(|text| {
            let mut parser = Parser::new(text);
            self.bundle.scan(&mut parser)?;
            let passed = parser.passed();
            parser.finish()?;
            self.sealed_to(passed)?;
            Ok(text)
        });
        let read = self.begun(scanned).and_then(|text| self.record(text, 0));
        let Err(problem) = read else { return };
        let record = self.reader.shape.record;
        self.problems.push_like(problem.group(), |_| {
            let column = String::from_utf8_lossy(&bytes[..problem.at()]).chars().count() as u64 + 1;
            let mut place = Place::source(source).line(line).column(column).record(record);
            if let Problem::Json(record::Problem::Syntax(error)) = &problem {
                let text = utf8(bytes).or_else(|_| utf8(&bytes[..error.at]));
                place.path = path_of_mistake(text.unwrap_or_default());
            }
            problem.diagnostic(place)
        });
    }

    /// Reads bundles of any layout; `written` says that the text is the one in the file, whose lines can be named.
    fn document(&mut self, input: &Input, bytes: &[u8], written: bool) {
        let source = input.name();
        let (text, broken) = match utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => (utf8(&bytes[..error.at]).unwrap_or_default(), Some(error)),
        };
        let mut parser = Parser::new(text);
        loop {
            let at = parser.position();
            if at == text.len() || input.stop().is_set() {
                break;
            }
            let scanned = self.bundle.scan(&mut parser).and_then(|()| self.sealed_to(parser.passed()));
            let read = self.begun(scanned).and_then(|()| self.record(text, at));
            let Err(mut problem) = read else { continue };
            let syntax = matches!(problem, Problem::Json(record::Problem::Syntax(_)));
            if let Some(broken) = broken.filter(|_| syntax && problem.at() == text.len()) {
                problem = broken.into();
            }
            let record = self.reader.shape.record;
            self.problems.push_like(problem.group(), |_| {
                let place = Place::source(source);
                let place = if written { locate(place, text, problem.at()) } else { place };
                let mut place = place.record(record);
                if syntax {
                    place.path = path_of_mistake(&text[at..]);
                }
                problem.diagnostic(place)
            });
            parser.rewind(at, 0);
            if syntax || parser.skip().is_err() {
                return;
            }
        }
        if let Some(error) = broken {
            let problem = Problem::from(error);
            self.problems.push(|_| problem.diagnostic(locate(Place::source(source), text, text.len())));
        }
    }

    /// Counts a bundle that could not be scanned: it may have been a record.
    fn begun<T>(&mut self, scanned: Result<T, Problem>) -> Result<T, Problem> {
        self.reader.shape.record += u64::from(scanned.is_err());
        scanned
    }

    /// Reads the bundle that has just been scanned; `at` is where it starts.
    fn record(&mut self, text: &str, at: usize) -> Result<(), Problem> {
        let arranged = self.bundle.arrange(text, self.version);
        if !matches!(arranged, Ok(None)) {
            self.reader.shape.record += 1;
        }
        let arranged = arranged?;
        for entry in self.bundle.entries.iter().filter(|e| e.resource.is_none() && !e.used) {
            // Not every type has to be one of FHIR's, but there are few.
            match self.others.get_mut(&entry.kind) {
                Some(count) => *count += 1,
                None => drop(self.others.insert(entry.kind.clone(), 1)),
            }
        }
        let Some(arranged) = arranged else { return Ok(()) };
        self.check_surrogates()?;
        if let Some(name) = &arranged.name {
            let record = self.reader.shape.record;
            let before = *self.patients.entry(name.clone()).or_insert(record);
            if before != record {
                let patient = &self.bundle.entries[arranged.patient];
                return Err(Problem::bundle(patient.at, Fault::SamePatient(before)));
            }
        }
        self.reader.builder.begin_record();
        self.resource(text, &arranged, arranged.patient, Shape::ROOT)?;
        for &(entry, masked) in &arranged.loose {
            let resource = self.bundle.entries[entry].resource.unwrap_or(Resource::Condition);
            let name = if masked { moved(resource) } else { resource.name().to_owned() };
            self.below(text, &arranged, entry, Shape::ROOT, &name)?;
            self.reader.builder.close();
        }
        let mut nested = arranged.nested.as_slice();
        for &encounter in &arranged.encounters {
            let node = self.below(text, &arranged, encounter, Shape::ROOT, Resource::Encounter.name())?;
            let from = nested.partition_point(|n| n.0 < encounter);
            let to = nested.partition_point(|n| n.0 <= encounter);
            for &(_, entry) in &nested[from..to] {
                let resource = self.bundle.entries[entry].resource.unwrap_or(Resource::Condition);
                self.below(text, &arranged, entry, node, resource.name())?;
                self.reader.builder.close();
            }
            nested = &nested[to..];
            self.reader.builder.close();
        }
        self.reader.end(at)
    }

    /// Refuses what was passed over in a publication.
    fn sealed_to(&self, passed: Option<usize>) -> Result<(), Problem> {
        match passed.filter(|_| self.sealed) {
            Some(at) => Err(Problem::bundle(at, Fault::Outside)),
            None => Ok(()),
        }
    }

    /// Refuses ids and references of a publication that are no fresh ones, and what else is no resource of the model.
    fn check_surrogates(&self) -> Result<(), Problem> {
        if !self.sealed {
            return Ok(());
        }
        let record = self.reader.shape.record;
        let entries = &self.bundle.entries;
        let address = |number: u64| format!("urn:uuid:{}", surrogate(record as u32, number));
        let addresses: Vec<String> = (1..=entries.len() as u64).map(address).collect();
        for (i, entry) in entries.iter().enumerate() {
            if entry.resource.is_none() || !matches!(entry.medication, Link::Absent) {
                return Err(Problem::bundle(entry.at, Fault::Outside));
            }
            if !entry.is_surrogate(record, i + 1, &addresses) {
                return Err(Problem::bundle(entry.at, Fault::NoSurrogate));
            }
        }
        Ok(())
    }

    /// Opens a vertex for a resource and reads it; gives its position.
    fn below(
        &mut self,
        text: &str,
        arranged: &Arranged,
        entry: usize,
        above: u32,
        name: &str,
    ) -> Result<u32, Problem> {
        let (class, node) = self.reader.class(above, name)?;
        self.reader.builder.open(class);
        self.resource(text, arranged, entry, node)?;
        Ok(node)
    }

    fn resource(&mut self, text: &str, arranged: &Arranged, entry: usize, node: u32) -> Result<(), Problem> {
        let found = &self.bundle.entries[entry];
        let at = |at: usize| {
            let mut parser = Parser::new(text);
            parser.rewind(at, 0);
            parser
        };
        let resource = found.resource.unwrap_or(Resource::Patient);
        let mut parser = at(found.at);
        self.reader.resource(&mut parser, node, resource)?;
        self.sealed_to(parser.passed())?;
        if let Some(&medication) = arranged.medications.get(&entry) {
            self.reader.medication(&mut at(medication), node)?;
        } else if let Link::Words(Some(words)) = &found.medication {
            self.reader.medication_in_words(node, words, found.at)?;
        }
        Ok(())
    }

    /// Refuses a publication in which something was left out, or is mentioned that the policy does not publish.
    fn refuse_left(&mut self, homes: &Homes) {
        let help = "`verify` cannot judge it, so it must not be handed out; publish again";
        let mut said: Vec<Diagnostic> = (self.warnings("").into_iter())
            .map(|left| Diagnostic::error(left.message.replace("left out", "passed over")))
            .collect();
        if self.reader.left.renderings > 0 {
            said.push(Diagnostic::error("values are told a second time in words"));
        }
        for diagnostic in said {
            self.problems.push(|place| diagnostic.at(place).help(help));
        }
        for path in self.reader.hollow(homes) {
            let what = "a key stands here that the policy does not publish, though without a value";
            self.problems.push(|place| Diagnostic::error(what).at(place.path(path)).help(help));
        }
    }

    /// What was left out.
    fn warnings(&self, source: &str) -> Vec<Diagnostic> {
        let mut said = Vec::new();
        if !self.others.is_empty() {
            let mut kinds: Vec<(&str, u64)> = self.others.iter().map(|(k, n)| (k.as_str(), *n)).collect();
            kinds.sort_by_key(|&(kind, count)| (std::cmp::Reverse(count), kind));
            let rest: u64 = kinds.iter().skip(NAMED).map(|k| k.1).sum();
            let mut named: Vec<String> =
                kinds.iter().take(NAMED).map(|(kind, n)| format!("{n} {kind}")).collect();
            named.extend((rest > 0).then(|| format!("{rest} of other types")));
            said.push(format!(
                "resources that are not read were left out: {}; read are Patient, Encounter, Condition, Procedure, \
                 MedicationRequest and Immunization",
                named.join(", ")
            ));
        }
        let left = &self.reader.left;
        let counted = [
            (left.references, "references to other resources than patient, encounter and medication"),
            (left.codings, "codings after the first of a concept, or parts of codings"),
            (left.extensions, "extensions after the first of their kind, or without a value to be named"),
            (left.contained, "contained resources"),
        ];
        said.extend(
            counted.iter().filter(|c| c.0 > 0).map(|(count, what)| format!("{what} were left out: {count}")),
        );
        said.into_iter().map(|text| Diagnostic::warning(text).at(Place::source(source))).collect()
    }
}

/// Whether a line is only the beginning of a document.
fn is_cut_off(bytes: &[u8]) -> bool {
    let cut = |e: Error| e.kind == ErrorKind::Truncated;
    utf8(bytes).is_ok_and(|text| Parser::new(text).skip().is_err_and(cut))
}

/// Which attributes are written in FHIR's own ways, by class and name.
struct FhirWays {
    parts: bool,
    concepts: Vec<(String, Vec<String>)>,
    labelled: Vec<(String, Vec<String>)>,
}

impl FhirWays {
    fn new(reader: &Reader) -> Self {
        let marked = |marks: &[bool]| -> Vec<(String, Vec<String>)> {
            (0..marks.len() as u32)
                .filter(|&node| is_marked(marks, node))
                .map(|node| {
                    let class = reader.builder.schema().class(reader.shape.class(node));
                    (class.path.clone(), reader.shape.name(node).to_vec())
                })
                .collect()
        };
        FhirWays {
            parts: reader.parts,
            concepts: marked(&reader.concepts),
            labelled: marked(&reader.labelled),
        }
    }

    fn forms(self, data: &Dataset, homes: &Homes) -> Forms {
        let schema = data.schema();
        let mut forms = Forms { parts: self.parts, ..Forms::default() };
        let homes = homes.of(schema);
        let positions = |found: &[(String, Vec<String>)]| -> Vec<String> {
            (found.iter())
                .filter_map(|(class, name)| {
                    let (id, _) = schema.classes().find(|(_, c)| c.path == *class)?;
                    Some(position(&homes[id.index()], name))
                })
                .collect()
        };
        forms.concepts.extend(positions(&self.concepts));
        forms.dates.extend(positions(&self.labelled));
        for (id, attribute) in schema.attributes() {
            let place = position(&homes[attribute.class.index()], &attribute.name);
            let dictionary = data.dictionary(id);
            if dictionary.is_empty() || forms.concepts.contains(&place) {
                continue;
            }
            if dictionary.iter().all(|(kind, _)| kind != Kind::Text) {
                forms.numbers.insert(place);
            } else if dictionary.iter().all(|(kind, text)| kind == Kind::Text && is_date(text))
                && dictionary.iter().any(|(_, text)| text.contains('-'))
            {
                forms.dates.insert(place);
            }
        }
        forms
    }
}
