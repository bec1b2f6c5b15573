//! One spelling for all cells. An attribute of which anything is generalized is text, in every record: what a cell does not know of
//! the others is made good here.

use std::collections::BTreeSet;

use bosket_model::binding::Binding;
use bosket_model::dictionary::Dictionary;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::{AttributeId, Builder, Dataset, Diagnostic, Failure, Fault, Kind, MISSING, Result};

use super::tally::Tally;

/// The records of one cell as they are written together with those of all others, whose figures are merged in `all`. The binding is
/// that of the published records.
pub fn spelled(
    published: &Dataset,
    binding: &Binding,
    hierarchies: &[Option<Hierarchy>],
    all: &Tally,
) -> Dataset {
    published.recoded(|attribute| {
        let declared = binding.attributes[attribute.index()].filter(|d| all.texts.contains(d))?;
        let hierarchy = hierarchies[declared].as_ref()?;
        let mut texts = Dictionary::default();
        let codes = published.dictionary(attribute).iter();
        let codes = codes.map(|(_, text)| texts.intern(Kind::Text, label(hierarchy, text))).collect();
        Some((texts, codes))
    })
}

/// What a value is called as text: its leaf's label; what is no leaf is a label already.
fn label<'t>(hierarchy: &'t Hierarchy, text: &'t str) -> &'t str {
    hierarchy.leaf(text).map_or(text, |leaf| hierarchy.label(leaf))
}

/// The quasi attributes, by their places in the policy, of which a leaf stands for values of several kinds or spellings, which only who
/// sees all values knows. They are text as well ([`Tally::texts`]); no record is looked at.
pub fn ambiguous(data: &Dataset, binding: &Binding, hierarchies: &[Option<Hierarchy>]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for (id, _) in data.schema().attributes() {
        let Some(declared) = binding.attributes[id.index()] else { continue };
        let Some(hierarchy) = &hierarchies[declared] else { continue };
        let mut seen = BTreeSet::new();
        let mut leaves = data.dictionary(id).iter().filter_map(|(_, text)| hierarchy.leaf(text));
        if !leaves.all(|leaf| seen.insert(leaf)) {
            found.insert(declared);
        }
    }
    found
}

/// All parts as one. They were written alike, from records of one schema.
pub(super) fn united(
    parts: Vec<(Dataset, Vec<(AttributeId, usize)>)>,
    hierarchies: &[Option<Hierarchy>],
    texts: &BTreeSet<usize>,
) -> Result<Dataset> {
    let Some((first, _)) = parts.first() else { return Ok(Builder::new().finish()) };
    let mut builder = Builder::like(first);
    let records = parts.iter().map(|(part, _)| part.len()).sum();
    builder.reserve(records, parts.iter().map(|(part, _)| part.vertex_count()).sum(), 0);
    for (part, quasi) in parts {
        let spell = |id: AttributeId| {
            let declared = quasi.iter().find(|q| q.0 == id).map(|q| q.1).filter(|d| texts.contains(d))?;
            hierarchies[declared].as_ref()
        };
        let mut codes: Vec<Vec<u32>> = Vec::new();
        for (id, _) in part.schema().attributes() {
            let values = part.dictionary(id).iter();
            let hierarchy = spell(id);
            codes.push(match hierarchy {
                None => values.map(|(kind, text)| builder.code(id, kind, text)).collect(),
                Some(hierarchy) => {
                    values.map(|(_, text)| builder.code(id, Kind::Text, label(hierarchy, text))).collect()
                }
            });
        }
        append(&mut builder, &part, &codes)?;
    }
    Ok(builder.finish())
}

fn append(builder: &mut Builder, part: &Dataset, codes: &[Vec<u32>]) -> Result<()> {
    for record in 0..part.len() {
        let mut open: Vec<usize> = Vec::new();
        for vertex in part.vertices(record) {
            match part.parent(vertex) {
                None => builder.begin_record(),
                Some(parent) => {
                    while open.last().is_some_and(|&above| above != parent) {
                        open.pop();
                        builder.close();
                    }
                    builder.open(part.class(vertex));
                }
            }
            open.push(vertex);
            let own = &part.schema().class(part.class(vertex)).attributes;
            for (&id, &code) in own.iter().zip(part.values(vertex)).filter(|(_, code)| **code != MISSING) {
                builder.set_code(id, codes[id.index()][code as usize]);
            }
        }
        builder.end_record().map_err(|_| {
            let what = "the published records have more values than can be numbered";
            Failure::new(Fault::Unreachable, Diagnostic::error(what).help("publish fewer records at a time"))
        })?;
    }
    Ok(())
}
