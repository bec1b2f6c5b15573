//! Local recoding of rows that stand for themselves: every value has a label of its own that covers it.
//!
//! As in `rows`, a published row with all that hangs below it must come from one row of the input, parts of it left out; a
//! value that was parted from what was above it stands alone, and must cover the value of some row below. What a value became
//! cannot be told from the others, so each is compared with the hierarchy.

use bosket_model::Result;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::Payload;

use super::local::{Known, Vertex, VertexTrees, covers};
use super::{Comparison, Untruth, assign};

pub(super) fn compare(c: &Comparison<'_>, payload: Payload, observer: &dyn Observer) -> Result<Vec<Untruth>> {
    let trees = match VertexTrees::new(c, observer)? {
        Ok(trees) => trees,
        Err(untruths) => return Ok(untruths),
    };
    let reading = Reading { hierarchies: c.hierarchies, binding: c.input.binding, payload };
    assign(c, observer, |p, i| reading.record_derives(&trees.published[p], &trees.input[i], observer))
}

struct Reading<'a> {
    hierarchies: &'a [Option<Hierarchy>],
    binding: &'a Binding,
    payload: Payload,
}

impl Reading<'_> {
    fn record_derives(&self, published: &Vertex, input: &Vertex, observer: &dyn Observer) -> Result<bool> {
        // The quickest look first: most pairs differ in the record's own values.
        if !self.own_derives(published, input) {
            return Ok(false);
        }
        let mut more = vec![0i64; self.hierarchies.len()];
        each(published, &mut |row| row.quasi.iter().for_each(|(declared, _)| more[*declared] += 1));
        each(input, &mut |row| {
            row.quasi.iter().for_each(|(declared, _)| more[*declared] -= 1);
            // A place without a value may show that it has one of all.
            row.missing.iter().for_each(|declared| more[*declared] -= 1);
        });
        Ok(more.iter().all(|&more| more <= 0) && self.derives(published, input, observer)?)
    }

    fn covers(&self, (declared, label): &(usize, Known), value: Option<&Known>) -> bool {
        covers(label, value, self.hierarchies[*declared].as_ref())
    }

    fn own_derives(&self, published: &Vertex, input: &Vertex) -> bool {
        let original = |declared: usize| input.quasi.iter().find(|q| q.0 == declared).map(|q| &q.1);
        published.home == input.home
            && published.quasi.iter().all(|label| self.covers(label, original(label.0)))
            && (published.beside.is_empty()
                || (published.beside == input.beside && self.payload == Payload::Keep))
            && published.companions.iter().all(|said| input.companions.contains(said))
    }

    fn derives(&self, published: &Vertex, input: &Vertex, observer: &dyn Observer) -> Result<bool> {
        observer.go_on()?;
        if !self.own_derives(published, input) {
            return Ok(false);
        }
        let is_child =
            |row: &Vertex| self.binding.homes.get(row.home).is_some_and(|h| h.parent == Some(input.home));
        let is_value = |row: &Vertex| {
            row.quasi.len() == 1
                && row.beside.is_empty()
                && row.companions.is_empty()
                && row.children.is_empty()
        };
        let mut rows: Vec<&Vertex> = Vec::new();
        for row in &published.children {
            if !is_value(row) {
                rows.push(row);
                continue;
            }
            let mut there = false;
            let mut look = |below: &Vertex| {
                let value = below.quasi.iter().find(|q| q.0 == row.quasi[0].0).map(|q| &q.1);
                there |= row.home == below.home && self.covers(&row.quasi[0], value);
            };
            match is_child(row) {
                true => input.children.iter().for_each(&mut look),
                false => each(input, &mut look),
            }
            if !there {
                return Ok(false);
            }
        }
        if !rows.iter().all(|row| is_child(row)) {
            return Ok(false);
        }
        let mut taken: Vec<Option<usize>> = vec![None; input.children.len()];
        for at in 0..rows.len() {
            let mut seen = vec![false; input.children.len()];
            if !self.place(at, (&rows, input), &mut taken, &mut seen, observer)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Finds a row of its own for a published one, by augmenting paths.
    fn place(
        &self,
        at: usize,
        (rows, input): (&[&Vertex], &Vertex),
        taken: &mut [Option<usize>],
        seen: &mut [bool],
        observer: &dyn Observer,
    ) -> Result<bool> {
        for i in 0..input.children.len() {
            if seen[i] || !self.derives(rows[at], &input.children[i], observer)? {
                continue;
            }
            seen[i] = true;
            let free = match taken[i] {
                None => true,
                Some(other) => self.place(other, (rows, input), taken, seen, observer)?,
            };
            if free {
                taken[i] = Some(at);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn each(row: &Vertex, then: &mut dyn FnMut(&Vertex)) {
    then(row);
    row.children.iter().for_each(|child| each(child, then));
}
