//! Rows that are published as they are: each comes from one row of the input, with all that hangs below it.

use std::collections::BTreeMap;

use bosket_engine::kmn::{Accept, Algorithm, Params, Release, Source, Verdict, run_rows};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::{Observer, Quiet};
use bosket_model::policy::{Missing, Payload, Policy, Relations, Role, RootMode, Rows};
use bosket_model::value_tree::{EMPTY_PLACE, TreeView, ValueTrees};
use bosket_model::{Builder, ClassId, Dataset, Kind, MISSING, Result};
use bosket_testkit::dice::{Dice, cases};
use bosket_verify::truth::{Comparison, Mapping, Pair, Recoding, Side, compare};
use bosket_verify::{Claim, Kmn, verify};
use proptest::prelude::*;

use crate::{hierarchies, params};

/// A class: where it hangs, its path, and its attributes by letter; some have none.
pub(crate) struct Class {
    parent: Option<usize>,
    path: String,
    attributes: Vec<char>,
}

/// Some letters for the record's own object, and classes.
fn classes(dice: &mut Dice) -> (Vec<char>, Vec<Class>) {
    let mut classes: Vec<Class> = Vec::new();
    let mut letters = 'A'..;
    let own = letters.by_ref().take(dice.below(3)).collect();
    for i in 0..1 + dice.below(4) {
        let parent = if i == 0 || dice.one_in(4) { None } else { Some(dice.below(i)) };
        let above = parent.map_or(String::new(), |p| format!("{}.", classes[p].path));
        let attributes = letters.by_ref().take(if i == 0 { 1 } else { dice.below(3) }).collect();
        classes.push(Class { parent, path: format!("{above}c{i}[]"), attributes });
    }
    (own, classes)
}

/// All quasi attributes first, so that they are those of the hierarchies; then what stands beside them.
fn policy(own: &[char], classes: &[Class]) -> Policy {
    let mut text = "version = 1\n".to_owned();
    for letter in own {
        text += &format!("[[attribute]]\npath = \"{letter}\"\nrole = \"quasi\"\n");
    }
    for class in classes {
        for letter in &class.attributes {
            text += &format!("[[attribute]]\npath = \"{}.{letter}\"\nrole = \"quasi\"\n", class.path);
        }
    }
    for class in classes {
        text += &format!("[[attribute]]\npath = \"{}.note\"\nrole = \"sensitive\"\n", class.path);
    }
    Policy::parse("p", &text, &[]).expect("a good policy").0
}

struct Filler<'a> {
    dice: &'a mut Dice,
    classes: &'a [Class],
    /// Whether every row has a note of its own, else none has.
    notes: bool,
    builder: Builder,
    row: usize,
}

impl Filler<'_> {
    fn fill(&mut self, above: Option<usize>, class: ClassId) {
        for i in (0..self.classes.len()).filter(|&i| self.classes[i].parent == above) {
            for _ in 0..self.dice.below(4) {
                let own = self.builder.class(class, &[format!("c{i}")]);
                self.builder.open(own);
                for letter in &self.classes[i].attributes {
                    let attribute = self.builder.attribute(own, &[letter.to_string()]);
                    if !self.dice.one_in(4) {
                        let value = format!("{letter}{}", 1 + self.dice.below(4));
                        self.builder.set(attribute, Kind::Text, &value);
                    }
                }
                if self.notes {
                    let note = self.builder.attribute(own, &["note".to_owned()]);
                    self.row += 1;
                    self.builder.set(note, Kind::Text, &format!("n{}", self.row));
                }
                self.fill(Some(i), own);
                self.builder.close();
            }
        }
    }
}

fn dataset(dice: &mut Dice, (own, classes): (&[char], &[Class]), records: usize, notes: bool) -> Dataset {
    let mut filler = Filler { dice, classes, notes, builder: Builder::new(), row: 0 };
    for _ in 0..records {
        filler.builder.begin_record();
        for letter in own {
            let attribute = filler.builder.attribute(ClassId::ROOT, &[letter.to_string()]);
            if !filler.dice.one_in(4) {
                let value = format!("{letter}{}", 1 + filler.dice.below(4));
                filler.builder.set(attribute, Kind::Text, &value);
            }
        }
        filler.fill(None, ClassId::ROOT);
        filler.builder.end_record().expect("one value per attribute");
    }
    filler.builder.finish()
}

/// A case with what it is published as.
pub(crate) struct Case {
    policy: Policy,
    pub(crate) data: Dataset,
    binding: Binding,
    pub(crate) hierarchies: Vec<Option<Hierarchy>>,
}

impl Case {
    pub(crate) fn new(seed: u64, records: usize, notes: bool) -> Self {
        let mut dice = Dice::new(seed);
        let (own, classes) = classes(&mut dice);
        let data = dataset(&mut dice, (&own, &classes), records, notes);
        let policy = policy(&own, &classes);
        let quasi = policy.attributes.iter().filter(|a| a.role == Role::Quasi).count();
        let mut hierarchies = hierarchies(quasi);
        hierarchies.resize_with(policy.attributes.len(), || None);
        let binding = Self::bind(&policy, &data);
        Case { policy, data, binding, hierarchies }
    }

    pub(crate) fn bound(&self, data: &Dataset) -> Binding {
        Self::bind(&self.policy, data)
    }

    fn bind(policy: &Policy, data: &Dataset) -> Binding {
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "d").expect("all declared")
    }

    pub(crate) fn publish(&self, p: &Params, rows: Rows, claim: &Claim) -> Result<Release<Dataset>> {
        self.publish_watched(p, rows, claim, &Quiet)
    }

    /// The same while somebody watches.
    pub(crate) fn publish_watched(
        &self,
        p: &Params,
        rows: Rows,
        claim: &Claim,
        observer: &dyn Observer,
    ) -> Result<Release<Dataset>> {
        let view = TreeView {
            root: RootMode::Separate,
            united: true,
            payload: Payload::Keep,
            missing: p.counted.then_some(EMPTY_PLACE),
        };
        let trees = ValueTrees::viewed(&self.data, &self.binding, &view, &Quiet)?;
        let source = Source { data: &self.data, binding: &self.binding, payload: Payload::Keep, rows };
        let keeps = |data: &Dataset| {
            let binding = Self::bind(&self.policy, data);
            let witness = verify(data, &binding, claim, &[], 1 << 30, &Quiet)?;
            Ok(witness.map_or(Verdict::Kept, |w| {
                let value = |i: usize| {
                    let known = &w.values[i];
                    let declared = binding.declared.iter().position(|d| d.path == known.path)?;
                    Some((declared, known.value.clone()))
                };
                let related = w.relations.iter().filter_map(|&(a, b)| Some((value(a)?, value(b)?)));
                Verdict::Broken(related.collect())
            }))
        };
        let accept: Option<Accept<'_, Dataset>> = if p.beyond || p.counted { Some(&keeps) } else { None };
        run_rows(&source, &trees, &self.hierarchies, p, accept, observer)
    }

    pub(crate) fn check(
        &self,
        published: &Dataset,
        claim: &Claim,
        rows: Rows,
        (emptied, local): (bool, bool),
    ) {
        let binding = Self::bind(&self.policy, published);
        let witness = verify(published, &binding, claim, &[], 1 << 30, &Quiet).expect("countable");
        assert_eq!(witness, None);
        let missing = match claim {
            Claim::Kmn(claim) => claim.missing,
            _ => Missing::Nothing,
        };
        let comparison = Comparison {
            published: Side { data: published, binding: &binding },
            input: Side { data: &self.data, binding: &self.binding },
            hierarchies: &self.hierarchies,
            recoding: match local {
                true => Recoding::LocalRows { payload: Payload::Keep, missing },
                false => {
                    Recoding::GlobalTrees { root: RootMode::Separate, payload: Payload::Keep, rows, missing }
                }
            },
            suppress: emptied,
            mapping: None,
            sensitive: &[],
        };
        assert_eq!(compare(&comparison, &Quiet).expect("comparable"), []);
        let line = |record: u32| Pair { line: 1, input: record, published: record };
        let pairs = (0..published.len() as u32).map(line).collect();
        let mapping = Mapping { name: "m".to_owned(), pairs };
        let mapped = Comparison { mapping: Some(&mapping), ..comparison };
        assert_eq!(compare(&mapped, &Quiet).expect("comparable"), []);
        if !emptied {
            let counted = matches!(claim, Claim::Kmn(claim) if claim.missing == Missing::Counted);
            self.rows_are_where_they_were(published, &binding, counted);
        }
    }

    /// Wherever rows have notes of their own: each stands below the row it stood below, with values that cover its own. Where
    /// empty places count, rows that say nothing go with their notes.
    fn rows_are_where_they_were(&self, published: &Dataset, binding: &Binding, counted: bool) {
        let input = rows(&self.data, &self.binding);
        let output = rows(published, binding);
        assert!(counted || input.keys().eq(output.keys()), "every note is published once");
        assert!(output.keys().all(|note| input.contains_key(note)), "a note that never was");
        for (note, row) in &output {
            let original = &input[note];
            let is_gone = counted && row.parent.is_none();
            assert!(is_gone || row.parent == original.parent, "row {note}");
            // What may be anything says nothing.
            for (declared, label) in row.values.iter().filter(|(_, label)| *label != "*") {
                let hierarchy = self.hierarchies[*declared].as_ref().expect("quasi");
                let value = original.values.get(declared).expect("a value that was there");
                let node = hierarchy.node(label).expect("a label");
                assert!(hierarchy.is_ancestor_or_self(node, hierarchy.leaf(value).expect("a value")));
            }
        }
    }
}

struct NotedRow {
    parent: Option<String>,
    values: BTreeMap<usize, String>,
}

/// The rows that have a note, by it.
fn rows(data: &Dataset, binding: &Binding) -> BTreeMap<String, NotedRow> {
    let texts = |vertex: usize, role: Role| -> BTreeMap<usize, String> {
        let attributes = data.schema().class(data.class(vertex)).attributes.iter();
        let own = attributes.filter(|a| binding.role(**a) == Some(role));
        let set = own.filter(|a| data.value(vertex, **a) != MISSING);
        set.map(|&a| {
            let text = data.dictionary(a).text(data.value(vertex, a)).to_owned();
            (binding.attributes[a.index()].expect("declared"), text)
        })
        .collect()
    };
    let note = |vertex: usize| texts(vertex, Role::Sensitive).into_values().next();
    (0..data.vertex_count())
        .filter_map(|vertex| {
            let parent = data.parent(vertex).and_then(note);
            Some((note(vertex)?, NotedRow { parent, values: texts(vertex, Role::Quasi) }))
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]
    #[test]
    fn a_row_comes_from_one_row(
        seed: u64, records in 1usize..12, notes: bool, all: bool, k in 2u32..5, m in 1usize..4, n in 0usize..3,
    ) {
        let case = Case::new(seed, records, notes);
        let rows = if all { Rows::All } else { Rows::Distinct };
        for (algorithm, local) in [(Algorithm::Gcs, false), (Algorithm::Best, false), (Algorithm::Gcs, true)] {
            let p = Params { local, ..params(case.hierarchies.len(), algorithm, k, m, n) };
            let claim = Claim::Kmn(Kmn { rows, ..Kmn::new(k, m as u32, n as u32) });
            if let Ok(release) = case.publish(&p, rows, &claim) {
                case.check(&release.published, &claim, rows, (false, local));
            }
        }
    }

    #[test]
    fn what_a_reader_can_join_is_counted(seed: u64, records in 1usize..12, notes: bool, k in 2u32..4) {
        let case = Case::new(seed, records, notes);
        let (m, rows) = (3, Rows::Distinct);
        let claim = Claim::Kmn(Kmn { relations: Relations::Embedded, rows, ..Kmn::new(k, m, 2) });
        for local in [false, true] {
            let plain = params(case.hierarchies.len(), Algorithm::Best, k, m as usize, 2);
            let p = Params { beyond: true, local, ..plain };
            if let Ok(release) = case.publish(&p, rows, &claim) {
                case.check(&release.published, &claim, rows, (false, local));
            }
        }
    }
}
