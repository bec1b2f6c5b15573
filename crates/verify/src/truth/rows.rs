//! Rows that stand for themselves: a published row, with all that hangs below it, must come from one row of the input.
//!
//! A published row derives from a row of the input if it is of the same class, its values are some of what these have become,
//! what stands beside them is the same or not there, and each row below it derives from a row of its own below the other.
//! A value that was parted from what was above it stands alone: it must be the value of some row below, and takes a place
//! there that nothing else takes (`one_to_one`).

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use bosket_model::Result;
use bosket_model::binding::Binding;
use bosket_model::dataset::ObjectName;
use bosket_model::observe::Observer;
use bosket_model::policy::{Payload, Role, Rows};
use bosket_model::{ClassId, Dataset, MISSING};

use super::Side;
use super::one_to_one::{self, derives};
use crate::columns::{Columns, Emptiness};

/// Pairs of items, upper and lower, of which a publication shows the relation.
type ShownPairs = FxHashSet<(u32, u32)>;

/// A row: its class, its values by number, what stands beside them by number, and the rows below.
#[derive(Debug)]
pub(super) struct Row {
    home: usize,
    items: Vec<u32>,
    beside: Option<u32>,
    /// The nested objects that it has, by number.
    objects: Vec<u32>,
    below: Vec<Row>,
    /// What rows have in common that say the same, themselves and below.
    look: u32,
    /// Whether neither it nor anything below it says anything.
    hollow: bool,
}

impl Row {
    fn new(home: usize) -> Self {
        Row {
            home,
            items: Vec::new(),
            beside: None,
            objects: Vec::new(),
            below: Vec::new(),
            look: 0,
            hollow: false,
        }
    }

    /// Whether it is one value and nothing else.
    fn is_value(&self) -> bool {
        self.items.len() == 1 && self.beside.is_none() && self.below.is_empty()
    }

    /// What tells rows apart.
    pub(super) fn look(&self) -> u32 {
        self.look
    }

    fn each<'a>(&'a self, then: &mut dyn FnMut(&'a Row)) {
        then(self);
        self.below.iter().for_each(|row| row.each(then));
    }
}

/// Home, values, what stands beside them, and the looks of what is below.
type Look = (usize, Vec<u32>, Option<u32>, Vec<u32>);

/// Reads rows of both sides with the same numbers.
pub(super) struct RowReader {
    payload: Payload,
    /// Whether rows that say the same are each published.
    repeated: bool,
    beside: FxHashMap<Vec<(usize, String)>, u32>,
    objects: FxHashMap<ObjectName, u32>,
    looks: FxHashMap<Look, u32>,
    /// The classes of which hollow rows are published.
    hollow: FxHashSet<usize>,
    /// The classes of which nothing beside quasi values is compared.
    gone: Vec<usize>,
}

impl RowReader {
    pub(super) fn new(payload: Payload, rows: Rows, gone: &[usize]) -> Self {
        RowReader {
            payload,
            repeated: rows == Rows::All,
            beside: FxHashMap::default(),
            objects: FxHashMap::default(),
            looks: FxHashMap::default(),
            hollow: FxHashSet::default(),
            gone: gone.to_vec(),
        }
    }

    /// The records of the publication, to be read before those of the input.
    pub(super) fn published(
        &mut self,
        side: &Side<'_>,
        same: &[Option<u32>],
        observer: &dyn Observer,
    ) -> Result<Vec<Row>> {
        let mut records = self.records(side, same, None, observer)?;
        let hollow = &mut self.hollow;
        records.iter().for_each(|root| root.each(&mut |row| hollow.extend(row.hollow.then_some(row.home))));
        records.iter_mut().for_each(|root| self.number(root));
        Ok(records)
    }

    /// The records of the input; `recode` gives the published number of each item. With `shown` values stand alone that are
    /// below another one which no published record shows above them.
    pub(super) fn input(
        &mut self,
        side: &Side<'_>,
        recode: &[Option<u32>],
        shown: Option<&FxHashSet<(u32, u32)>>,
        observer: &dyn Observer,
    ) -> Result<Vec<Row>> {
        let mut records = self.records(side, recode, shown, observer)?;
        records.iter_mut().for_each(|root| self.number(root));
        Ok(records)
    }

    fn records(
        &mut self,
        side: &Side<'_>,
        recode: &[Option<u32>],
        shown: Option<&FxHashSet<(u32, u32)>>,
        observer: &dyn Observer,
    ) -> Result<Vec<Row>> {
        let columns = Columns::new(side.data, side.binding, Emptiness::Nothing);
        let objects = self.objects(side);
        let leads: Vec<bool> =
            columns.items.iter().map(|item| side.binding.declared[item.declared].follows.is_none()).collect();
        (0..side.data.len())
            .map(|record| {
                observer.go_on()?;
                let recoded = |item: u32| recode[item as usize].filter(|_| leads[item as usize]);
                Ok(self.record(side, &columns, record, &recoded, (shown, &objects)))
            })
            .collect()
    }

    fn record(
        &mut self,
        side: &Side<'_>,
        columns: &Columns,
        record: usize,
        recoded: &dyn Fn(u32) -> Option<u32>,
        (shown, objects): (Option<&ShownPairs>, &[Vec<u32>]),
    ) -> Row {
        let data: &Dataset = side.data;
        let mut open: Vec<OpenRow> = Vec::new();
        for vertex in data.vertices(record) {
            while open.last().is_some_and(|last| data.parent(vertex) != Some(last.vertex)) {
                close(&mut open);
            }
            let class = data.class(vertex);
            let mut row = Row::new(side.binding.classes[class.index()].unwrap_or(usize::MAX));
            row.beside = self.beside(side, vertex);
            row.objects.clone_from(&objects[vertex]);
            let mut own = Vec::new();
            columns.of_vertex(data, vertex, |item| own.extend(recoded(item)));
            for item in own {
                // The record's own values are above nothing that could be parted from them.
                let is_parted = |above: &u32| shown.is_some_and(|shown| !shown.contains(&(*above, item)));
                let parted_from = (open.iter().enumerate().skip(1))
                    .find(|(_, above)| above.row.items.iter().any(is_parted))
                    .map(|(at, _)| at);
                let own_row = class != ClassId::ROOT && row.items.iter().any(is_parted);
                match parted_from.or(own_row.then_some(open.len())) {
                    None => row.items.push(item),
                    Some(at) => {
                        let mut alone = Row::new(row.home);
                        alone.items.push(item);
                        open[at - 1].row.below.push(alone);
                    }
                }
            }
            open.push(OpenRow { vertex, row });
        }
        while open.len() > 1 {
            close(&mut open);
        }
        open.pop().map_or(Row::new(0), |root| root.row)
    }

    /// Per vertex the numbers of the nested objects that it has.
    fn objects(&mut self, side: &Side<'_>) -> Vec<Vec<u32>> {
        let mut number = |object: ObjectName| {
            let next = self.objects.len() as u32;
            *self.objects.entry(object).or_insert(next)
        };
        let all = side.data.objects_of_vertices(side.binding).into_iter();
        all.map(|own| own.into_iter().map(&mut number).collect()).collect()
    }

    /// The number of what stands beside a vertex's quasi values, without companions.
    fn beside(&mut self, side: &Side<'_>, vertex: usize) -> Option<u32> {
        let Side { data, binding } = *side;
        let mut values: Vec<(usize, String)> = Vec::new();
        for &attribute in &data.schema().class(data.class(vertex)).attributes {
            let is_beside = matches!(binding.role(attribute), Some(Role::Sensitive | Role::Insensitive));
            let declared = binding.attributes[attribute.index()].filter(|_| is_beside);
            let declared = declared.filter(|&d| binding.declared[d].follows.is_none());
            match (declared, data.value(vertex, attribute)) {
                (None, _) | (_, MISSING) => {}
                (Some(declared), code) => {
                    values.push((declared, data.dictionary(attribute).text(code).to_owned()))
                }
            }
        }
        let is_gone =
            binding.classes[data.class(vertex).index()].is_some_and(|home| self.gone.contains(&home));
        if values.is_empty() || self.payload == Payload::Drop || is_gone {
            return None;
        }
        values.sort();
        let next = self.beside.len() as u32;
        Some(*self.beside.entry(values).or_insert(next))
    }

    fn number(&mut self, row: &mut Row) {
        row.items.sort_unstable();
        row.below.iter_mut().for_each(|below| self.number(below));
        // What says nothing is rarely published; where it is, it has to come from somewhere as well.
        let is_told = |below: &&Row| !below.hollow || self.hollow.contains(&below.home);
        let mut below: Vec<u32> = row.below.iter().filter(is_told).map(|below| below.look).collect();
        below.sort_unstable();
        if !self.repeated {
            below.dedup();
        }
        let next = self.looks.len() as u32;
        row.look = *self.looks.entry((row.home, row.items.clone(), row.beside, below)).or_insert(next);
    }
}

struct OpenRow {
    vertex: usize,
    row: Row,
}

/// Hangs the row that was opened last below its parent.
fn close(open: &mut Vec<OpenRow>) {
    if let (Some(mut done), Some(above)) = (open.pop(), open.last_mut()) {
        let row = &done.row;
        done.row.hollow =
            row.items.is_empty() && row.beside.is_none() && row.below.iter().all(|below| below.hollow);
        above.row.below.push(done.row);
    }
}

/// Whether a published record derives from a record of the input.
pub(super) fn record_derives(
    published: &Row,
    input: &Row,
    binding: &Binding,
    observer: &dyn Observer,
) -> Result<bool> {
    let mut times: BTreeMap<(usize, u32), i64> = BTreeMap::new();
    let mut count = |row: &Row, step: i64| {
        row.items.iter().for_each(|&item| *times.entry((row.home, item)).or_default() += step);
    };
    published.each(&mut |row| count(row, 1));
    input.each(&mut |row| count(row, -1));
    Ok(times.values().all(|&more| more <= 0) && derives(published, input, &Reading { binding }, observer)?)
}

fn own_derives(published: &Row, input: &Row) -> bool {
    published.home == input.home
        && published.items.iter().all(|item| input.items.binary_search(item).is_ok())
        && (published.beside.is_none() || published.beside == input.beside)
        && invents_nothing(published, input)
}

/// Whether a row has no nested object that another does not have.
fn invents_nothing(published: &Row, input: &Row) -> bool {
    published.objects.iter().all(|object| input.objects.contains(object))
}

/// Rows are compared by what has become of the input's values: one number each.
struct Reading<'a> {
    binding: &'a Binding,
}

impl one_to_one::Row for Row {
    fn home(&self) -> usize {
        self.home
    }
    fn below(&self) -> &[Self] {
        &self.below
    }
}

impl one_to_one::Reading<Row> for Reading<'_> {
    fn own_derives(&self, published: &Row, input: &Row) -> bool {
        own_derives(published, input)
    }

    fn takes(&self, published: &Row) -> Vec<u32> {
        published.items.clone()
    }

    fn only_value(&self, row: &Row) -> Option<u32> {
        row.is_value().then(|| row.items[0])
    }

    fn covers(&self, published: &Row, key: u32, input: &Row) -> bool {
        input.items.contains(&key) && invents_nothing(published, input)
    }

    fn is_child(&self, home: usize, above: usize) -> bool {
        self.binding.homes.get(home).is_some_and(|home| home.parent == Some(above))
    }

    fn same(&self, published: &Row, input: &Row) -> bool {
        published.look == input.look
    }
}

/// Two classes of a published record of which rows hang together that no row of the input has so: the upper and the lower.
pub(super) fn false_link(published: &Row, input: &Row, binding: &Binding) -> Option<(usize, usize)> {
    let mut found = None;
    published.each(&mut |upper| {
        for lower in &upper.below {
            // What has moved up claims no more than that it was somewhere below.
            let home = binding.homes.get(lower.home);
            let mut is_true = home.is_none_or(|home| home.parent != Some(upper.home));
            input.each(&mut |row| {
                is_true |= own_derives(upper, row) && row.below.iter().any(|below| own_derives(lower, below));
            });
            if !is_true && found.is_none() {
                found = Some((upper.home, lower.home));
            }
        }
    });
    found
}
