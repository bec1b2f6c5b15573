//! Rows that say nothing are not published.
//!
//! Labels of each cell's own may leave a row in which every value is `*`: it tells only that it exists. Whoever knows something
//! of such a row finds nobody less without it, as long as the labels that are left are still shown by enough people: where few
//! others show a `*` in the same place, the rows stand. What can be counted of that is counted ([`kmn::may_go`]). Then the verifier
//! looks, which knows the whole promise, and what it finds is put back: the rows of those who showed what its witness knows.
//!
//! ```text
//! k = 5    40 people   drug {code: *, date: *}        left out
//!           2 people   drug {code: *, date: 2010}     stays, but now only 2 show `*` for a code: rows are put back
//!          30 people   drug {code: A, date: *}
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use bosket_engine::{Params, kmn};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::ROOT_LABEL;
use bosket_model::observe::Observer;
use bosket_model::policy::{Missing, Role, Rows, Shape};
use bosket_model::{AttributeId, Dataset, Failure, MISSING, Result};
use bosket_verify::guess::judge;
use bosket_verify::truth::{Comparison, Recoding, Side};

use crate::make::{Made, Product, Work};

/// So often rows of some records are put back, before those of all are.
const ROUNDS: usize = 8;

/// The same without rows that say nothing, as far as the promise holds without them.
pub(crate) fn without_silent(made: Made, work: &Work<'_>, observer: &dyn Observer) -> Result<Made> {
    let privacy = work.policy.need_privacy()?;
    // Only where `*` says no more than a place that is not there, and where rows are not counted.
    let may_go = privacy.model.shape() == Shape::ValueTree
        && work.policy.recodes_locally()
        && privacy.missing == Missing::Counted
        && work.policy.rows() == Rows::Distinct;
    let product = match made.product {
        Product::Vertices { data, binding, records } if may_go => {
            let Params::Kmn(params) = Params::new(work.policy)? else {
                return Err(Failure::defect("value trees are made by k^(m,n)"));
            };
            let gone = kmn::may_go(&data, &binding, &params, data.silent_rows(&binding), observer)?;
            let silent = Silent { data: &data, binding: &binding, gone };
            let left = silent.leave_out(work, &records, observer)?;
            Product::Vertices { data: left.unwrap_or(data), binding, records }
        }
        other => other,
    };
    Ok(Made { product, ..made })
}

/// The rows of a publication that say nothing.
struct Silent<'a> {
    data: &'a Dataset,
    binding: &'a Binding,
    /// Per vertex whether it is left out.
    gone: Vec<bool>,
}

/// Something that a publication without these rows tells: labels by their paths, and where.
struct Broken {
    labels: Vec<(String, Option<String>)>,
}

impl Silent<'_> {
    /// What is left; none if nothing may go.
    fn leave_out(
        mut self,
        work: &Work<'_>,
        records: &[u32],
        observer: &dyn Observer,
    ) -> Result<Option<Dataset>> {
        for round in 0.. {
            if !self.gone.contains(&true) {
                break;
            }
            let left = self.data.without_vertices(&self.with_contained(observer)?);
            if !tells_anything(&left, self.binding) {
                break;
            }
            let Some(broken) = broken(&left, self.binding, work, records, observer)? else {
                return Ok(Some(left));
            };
            self.put_back(&broken, round < ROUNDS);
        }
        Ok(None)
    }

    /// Puts rows back that show what was found, of those who show all of it or of everybody.
    fn put_back(&mut self, broken: &Broken, of_some: bool) {
        let homes = self.homes_of(broken);
        let mut stays =
            self.vertices(|record| !of_some || self.shows(record, broken), |home| homes.contains(&home));
        if !stays.contains(&true) {
            stays = self.vertices(|_| true, |home| homes.contains(&home));
        }
        if !stays.contains(&true) {
            stays = vec![true; self.gone.len()];
        }
        for vertex in (0..self.gone.len()).rev() {
            self.gone[vertex] &= !stays[vertex];
            // What stands below a row needs it.
            if let (false, Some(parent)) = (self.gone[vertex], self.data.parent(vertex)) {
                self.gone[parent] = false;
            }
        }
    }

    /// What is left out, with rows that another one beside them contains once others are gone.
    fn with_contained(&self, observer: &dyn Observer) -> Result<Vec<bool>> {
        let mut gone = self.gone.clone();
        for record in 0..self.data.len() {
            observer.go_on()?;
            let vertices = self.data.vertices(record);
            if self.gone[vertices.clone()].contains(&true) {
                Siblings::of(self.data, self.binding, vertices, &gone).leave_out_contained(&mut gone);
            }
        }
        Ok(gone)
    }

    /// The rows that are left out of some records, of some classes.
    fn vertices(&self, record: impl Fn(usize) -> bool, home: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut found = vec![false; self.gone.len()];
        for of in (0..self.data.len()).filter(|&of| record(of)) {
            for vertex in self.data.vertices(of).filter(|&vertex| self.gone[vertex]) {
                found[vertex] = self.binding.classes[self.data.class(vertex).index()].is_some_and(&home);
            }
        }
        found
    }

    /// The classes of what was found that says nothing; all classes if everything found does say something.
    fn homes_of(&self, broken: &Broken) -> Vec<usize> {
        let silent =
            broken.labels.iter().filter(|(_, label)| label.as_deref().is_none_or(|l| l == ROOT_LABEL));
        let home = |(path, _): &(String, Option<String>)| {
            self.binding.declared.iter().find(|declared| declared.path == *path).map(|declared| declared.home)
        };
        let homes: Vec<usize> = silent.filter_map(home).filter(|&home| home != 0).collect();
        if homes.is_empty() { (0..self.binding.homes.len()).collect() } else { homes }
    }

    /// Whether a record shows all labels that say something.
    fn shows(&self, record: usize, broken: &Broken) -> bool {
        let shown = |path: &str, label: &str| {
            self.data.vertices(record).any(|vertex| {
                let attributes = &self.data.schema().class(self.data.class(vertex)).attributes;
                attributes.iter().zip(self.data.values(vertex)).any(|(&id, &code)| {
                    let declared = self.binding.attributes[id.index()].map(|d| &self.binding.declared[d]);
                    code != MISSING
                        && declared.is_some_and(|declared| declared.path == path)
                        && self.data.dictionary(id).text(code) == label
                })
            })
        };
        broken.labels.iter().all(|(path, label)| match label.as_deref() {
            None | Some(ROOT_LABEL) => true,
            Some(label) => shown(path, label),
        })
    }
}

/// Whether any quasi value is left that could be verified.
fn tells_anything(data: &Dataset, binding: &Binding) -> bool {
    let quasi = |id: AttributeId| binding.role(id) == Some(Role::Quasi);
    data.schema().attributes().any(|(id, _)| quasi(id) && !data.dictionary(id).is_empty())
}

/// The rows of a record that are left.
struct Siblings<'a> {
    data: &'a Dataset,
    /// The record's first vertex.
    first: usize,
    children: Vec<Vec<usize>>,
    /// Per row whether something stands in it, or below, beside quasi values: it is never left out.
    told: Vec<bool>,
}

impl<'a> Siblings<'a> {
    fn of(data: &'a Dataset, binding: &Binding, vertices: Range<usize>, gone: &[bool]) -> Self {
        let first = vertices.start;
        let mut children = vec![Vec::new(); vertices.len()];
        let mut told = vec![false; vertices.len()];
        for vertex in vertices.rev().filter(|&vertex| !gone[vertex]) {
            let attributes = &data.schema().class(data.class(vertex)).attributes;
            let mut there = attributes.iter().zip(data.values(vertex)).filter(|(_, code)| **code != MISSING);
            told[vertex - first] |= there.any(|(&id, _)| binding.role(id) != Some(Role::Quasi));
            if let Some(parent) = data.parent(vertex) {
                told[parent - first] |= told[vertex - first];
                children[parent - first].push(vertex);
            }
        }
        children.iter_mut().for_each(|own: &mut Vec<usize>| own.reverse());
        Siblings { data, first, children, told }
    }

    /// Leaves out rows of which another one beside them says all: whatever is known of them is known of that one.
    fn leave_out_contained(mut self, gone: &mut [bool]) {
        for parent in (0..self.children.len()).rev() {
            let mut alike: BTreeMap<(usize, &[u32]), Vec<usize>> = BTreeMap::new();
            for &row in &self.children[parent] {
                alike.entry((self.data.class(row).index(), self.values(row))).or_default().push(row);
            }
            for mut rows in alike.into_values().filter(|rows| rows.len() > 1) {
                while let Some(at) = (0..rows.len()).find(|&at| self.is_contained(rows[at], &rows)) {
                    self.leave_out(rows.remove(at), gone);
                }
            }
            self.children[parent].retain(|&row| !gone[row]);
        }
    }

    /// Whether a row says nothing that one of the others does not.
    fn is_contained(&self, row: usize, others: &[usize]) -> bool {
        !self.told[row - self.first] && others.iter().any(|&other| other != row && self.contains(other, row))
    }

    fn leave_out(&self, row: usize, gone: &mut [bool]) {
        gone[row] = true;
        self.children[row - self.first].iter().for_each(|&below| self.leave_out(below, gone));
    }

    /// The values of a row, without missing ones at their end, which may be left out.
    fn values(&self, row: usize) -> &'a [u32] {
        let values = self.data.values(row);
        let end = values.iter().rposition(|&code| code != MISSING).map_or(0, |last| last + 1);
        &values[..end]
    }

    /// Whether a row has the values of another one, and everything below it that this one has.
    fn contains(&self, large: usize, small: usize) -> bool {
        let below = |row: usize| &self.children[row - self.first];
        let alike =
            self.data.class(large) == self.data.class(small) && self.values(large) == self.values(small);
        alike && below(small).iter().all(|&row| below(large).iter().any(|&other| self.contains(other, row)))
    }
}

/// What of the promise a publication does not keep; none if it keeps all of it.
fn broken(
    data: &Dataset,
    binding: &Binding,
    work: &Work<'_>,
    records: &[u32],
    observer: &dyn Observer,
) -> Result<Option<Broken>> {
    let witness = bosket_verify::verify(data, binding, work.claim, work.hierarchies, work.memory, observer)?;
    if let Some(witness) = witness {
        let known = witness.values.into_iter().map(|value| (value.path, Some(value.value)));
        return Ok(Some(Broken { labels: known.collect() }));
    }
    let Some(guess) = work.policy.guess() else { return Ok(None) };
    let comparison = Comparison {
        published: Side { data, binding },
        input: Side { data: work.data, binding: work.binding },
        hierarchies: work.hierarchies,
        recoding: Recoding::of(work.policy)?,
        suppress: work.policy.method.flag("suppress").unwrap_or(false),
        mapping: None,
        sensitive: &work.policy.need_privacy()?.sensitive,
    };
    let pairs: Vec<(u32, u32)> = (0..).zip(records.iter().copied()).collect();
    let found = judge(&comparison, &pairs, guess, observer)?;
    let labels: Vec<_> = found.told.into_iter().map(|told| (told.path, None)).collect();
    Ok((!labels.is_empty()).then_some(Broken { labels }))
}
