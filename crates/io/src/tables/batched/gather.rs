//! Reads the tables, each once, and finds out to whom every row belongs.

use bosket_model::observe::Observer;
use bosket_model::policy::Source;
use bosket_model::{Failure, Result};

use super::cells::{Taking, put_cells, put_text};
use super::joining::{Above, Deferred, Index, Wrong, index, put, take};
use super::sealed::RowsInOrder;
use crate::apart::{Merged, Sorter};
use crate::tables::assemble::{is_number, plans, seal_tables, table_at};
use crate::tables::backend::{Backend, Beside, Row};
use crate::tables::columns::{Mode, Reading};
use crate::tables::keys::pack;
use crate::tables::lookup::LookupTable;
use crate::tables::repeating::SecondWays;
use crate::tables::shape::Shape;
use crate::tables::trouble::{RowTrouble, Trouble};

/// All rows, ordered by the person that they belong to, their table and their place in it.
pub(in crate::tables) struct Gathered {
    pub(super) rows: Merged,
    pub(super) readings: Vec<Reading>,
    pub(super) mode: Mode,
    pub(super) second: SecondWays,
    /// How many rows each table has.
    pub(super) counts: Vec<usize>,
    /// The rows of a publication as they are found.
    pub(super) found: Option<RowsInOrder>,
    /// What messages call each table's place.
    pub(super) places: Vec<String>,
}

/// The rows of a publication that holds nothing else but what may stand beside them.
pub(in crate::tables) fn gather_sealed(
    backend: &mut dyn Backend,
    source: &Source,
    shape: &Shape,
    beside: &Beside,
    sorting: usize,
    observer: &dyn Observer,
) -> Result<Gathered> {
    seal_tables(backend, source, beside, observer)?;
    gather(backend, source, shape, Mode::Publication, sorting, observer)
}

/// The rows of linked tables. Sorting takes about as many bytes as told, a few times.
pub(in crate::tables) fn gather(
    backend: &mut dyn Backend,
    source: &Source,
    shape: &Shape,
    mode: Mode,
    sorting: usize,
    observer: &dyn Observer,
) -> Result<Gathered> {
    let readings = plans(backend, source, shape, mode)?;
    let mut trouble = Trouble::default();
    let mut gatherer = Gatherer {
        shape,
        readings: &readings,
        mode,
        sorting,
        rows: Sorter::within(sorting),
        indexes: readings.iter().map(|_| None).collect(),
        second: SecondWays::new(&readings),
        counts: vec![0; readings.len()],
        found: (mode == Mode::Publication).then(|| RowsInOrder::create(readings.len())).transpose()?,
        people: 0,
        buffer: Vec::new(),
        text: Vec::new(),
    };
    for node in 0..readings.len() {
        gatherer.read(backend, source, node, observer, &mut trouble)?;
    }
    trouble.check()?;
    let Gatherer { rows, second, counts, found, .. } = gatherer;
    let place = |node: usize| backend.place(&table_at(source, shape, node));
    let places = (0..readings.len()).map(place).collect();
    Ok(Gathered { rows: rows.finish()?, readings, mode, second, counts, found, places })
}

struct Gatherer<'a> {
    shape: &'a Shape,
    readings: &'a [Reading],
    mode: Mode,
    sorting: usize,
    rows: Sorter,
    /// Per table the keys of its rows, if others refer to them.
    indexes: Vec<Option<Index>>,
    second: SecondWays,
    counts: Vec<usize>,
    found: Option<RowsInOrder>,
    /// The largest number of a person that a grouped publication has told so far.
    people: usize,
    buffer: Vec<u8>,
    text: Vec<u8>,
}

/// The rows of one table until it is read.
struct Reader {
    /// Rows that wait for a row of another table.
    waiting: Vec<(usize, Sorter)>,
    keys: Sorter,
    wrong: Deferred,
    /// The rows so far.
    place: u64,
}

/// A row that only names a person.
const NAME: u8 = 1;
const ROW: u8 = 0;

impl Gatherer<'_> {
    fn read(
        &mut self,
        backend: &mut dyn Backend,
        source: &Source,
        node: usize,
        observer: &dyn Observer,
        trouble: &mut Trouble,
    ) -> Result<()> {
        if self.shape.nodes[node].table.is_none() {
            return Ok(());
        }
        let reading = &self.readings[node];
        let at = table_at(source, self.shape, node);
        let mut problems = trouble.rows(&*backend, &at);
        let mut lookups = Vec::new();
        for step in &reading.steps {
            let lookup = &source.lookups[step.lookup];
            lookups.push(LookupTable::read(backend, lookup, &step.table, observer, trouble)?);
        }
        let mut reader = Reader {
            waiting: Vec::new(),
            keys: Sorter::within(self.sorting),
            wrong: Deferred::new(self.sorting),
            place: 0,
        };
        let mut failed: Option<Failure> = None;
        backend.read(&at, &reading.wanted, &reading.order, observer, &mut |number, row| {
            let row = match row {
                Ok(row) => row,
                Err(bad) => return problems.bad(number, bad),
            };
            for (step, found) in reading.steps.iter().zip(&mut lookups) {
                if found.push(row, &step.cells).is_err() {
                    problems.not_found(number, at.name, &source.lookups[step.lookup].name);
                    return true;
                }
            }
            failed = self.take(node, number, row, &mut reader, &mut problems).err();
            failed.is_none()
        })?;
        drop(lookups);
        if let Some(failure) = failed {
            return Err(failure);
        }
        self.join(node, reader, observer, &mut problems)?;
        trouble.close(problems);
        Ok(())
    }

    /// Puts a row where it waits for the row above, and tells what is wrong with it by itself.
    fn take(
        &mut self,
        node: usize,
        number: u64,
        row: &Row,
        reader: &mut Reader,
        problems: &mut RowTrouble,
    ) -> Result<()> {
        let reading = &self.readings[node];
        let name = &self.shape.nodes[node].name;
        let grouped = self.shape.grouped() == Some(node);
        let publication = self.mode == Mode::Publication;
        if let Some(found) = &mut self.found {
            found.push(node, row, reading)?;
        }
        let place = reader.place;
        reader.place += 1;
        let names = grouped
            && publication
            && !reading.key.is_empty()
            && reading.key.iter().all(|&c| row.cell(c).is_none());
        if grouped && publication && !self.names_next_person(row, &reading.link) {
            problems.no_surrogate(number, name);
        }
        let mut key = Vec::new();
        if !reading.key.is_empty() && !names {
            if publication && !is_number(row, &reading.key, self.counts[node] + 1) {
                problems.no_surrogate(number, name);
            }
            if pack(row, &reading.key, &mut key).is_none() {
                problems.keyless(number, name);
                return Ok(());
            }
        }
        if !names {
            self.counts[node] += 1;
            for (column, _) in reading.empty.iter().filter(|(_, cell)| row.cell(*cell).is_some()) {
                problems.not_empty(number, name, column);
            }
            if publication {
                self.second.published_row(node, row, reading);
            }
        }
        self.text.clear();
        self.text.push(if names { NAME } else { ROW });
        put_text(&key, &mut self.text);
        put_cells(row, reading.attributes.iter().filter_map(|a| a.cell), &mut self.text);
        put_cells(row, reading.second.iter().map(|(_, cell)| *cell), &mut self.text);
        let Some(parent) = self.shape.nodes[node].parent else {
            let above = Above { place: 0, person: place };
            return self.joined(node, reader, (place, number), node, above);
        };
        let moved = |(_, cells): &&(usize, Vec<usize>)| cells.iter().any(|&c| row.cell(c).is_some());
        let elsewhere: Vec<&(usize, Vec<usize>)> = reading.moved.iter().filter(moved).collect();
        let linked = reading.link.iter().any(|&c| row.cell(c).is_some());
        let mut link = Vec::new();
        let lost = match elsewhere.as_slice() {
            [] => match pack(row, &reading.link, &mut link) {
                Some(()) => return self.wait(reader, parent, &link, (place, number)),
                None => Wrong::Nobodys,
            },
            [(ancestor, cells)] if !linked => match pack(row, cells, &mut link) {
                Some(()) => return self.wait(reader, *ancestor, &link, (place, number)),
                None => Wrong::Orphan(*ancestor),
            },
            _ => Wrong::TwoPlaces,
        };
        reader.wrong.push(place, number, lost)?;
        if names { Ok(()) } else { self.keep_key(node, reader, &key, (place, number), 0) }
    }

    /// Whether a row of a grouped publication names a person by a number that is known, or the next one.
    fn names_next_person(&mut self, row: &Row, link: &[usize]) -> bool {
        let texts: Option<Vec<&str>> = link.iter().map(|&c| row.cell(c).map(|(_, text)| text)).collect();
        let Some(texts) = texts else { return is_number(row, link, 0) };
        let told = texts.first().and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
        let known = (1..=self.people + 1).contains(&told) && is_number(row, link, told);
        self.people = self.people.max(if known { told } else { 0 });
        known
    }

    fn wait(
        &mut self,
        reader: &mut Reader,
        on: usize,
        key: &[u8],
        (place, number): (u64, u64),
    ) -> Result<()> {
        put(key, place, number, &self.text, &mut self.buffer);
        let at = match reader.waiting.iter().position(|(node, _)| *node == on) {
            Some(at) => at,
            None => {
                reader.waiting.push((on, Sorter::within(self.sorting)));
                reader.waiting.len() - 1
            }
        };
        reader.waiting[at].1.push(&self.buffer)
    }

    /// Keeps the key of a row, so that others find the row, and that no other row has it.
    fn keep_key(
        &mut self,
        node: usize,
        reader: &mut Reader,
        key: &[u8],
        (place, number): (u64, u64),
        person: u64,
    ) -> Result<()> {
        if self.readings[node].key.is_empty() {
            return Ok(());
        }
        put(key, place, number, &person.to_be_bytes(), &mut self.buffer);
        reader.keys.push(&self.buffer)
    }

    /// Takes the row in `text`, now that it is known to whom it belongs: to a row of a table, or to nobody but itself.
    fn joined(
        &mut self,
        node: usize,
        reader: &mut Reader,
        (place, number): (u64, u64),
        on: usize,
        above: Above,
    ) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        let mut taking = Taking(&text);
        let _ = taking.byte()?;
        let key = taking.text()?;
        self.keep_key(node, reader, key, (place, number), above.person)?;
        // The person's key is compared with what other rows call the person.
        let key = if node == 0 && self.second.asked() { Some(key) } else { None };
        self.push_row((above.person, node, place), (on, above.place), key, taking.0)?;
        self.text = text;
        Ok(())
    }

    fn push_row(
        &mut self,
        (person, node, place): (u64, usize, u64),
        (on, above): (usize, u64),
        key: Option<&[u8]>,
        cells: &[u8],
    ) -> Result<()> {
        let short = |node: usize| u16::try_from(node).map_err(|_| Failure::defect("too many tables"));
        let row = &mut self.buffer;
        row.clear();
        row.extend_from_slice(&person.to_be_bytes());
        row.extend_from_slice(&short(node)?.to_be_bytes());
        row.extend_from_slice(&place.to_be_bytes());
        row.extend_from_slice(&short(on)?.to_be_bytes());
        row.extend_from_slice(&above.to_be_bytes());
        if let Some(key) = key {
            put_text(key, row);
        }
        row.extend_from_slice(cells);
        self.rows.push(row)
    }

    /// Joins the rows that wait with those that they wait for.
    fn join(
        &mut self,
        node: usize,
        mut reader: Reader,
        observer: &dyn Observer,
        problems: &mut RowTrouble,
    ) -> Result<()> {
        let mut step = 0u32;
        for (on, waiting) in std::mem::take(&mut reader.waiting) {
            let mut waiting = waiting.finish()?;
            let grouped = self.shape.grouped() == Some(node) && on == 0;
            let mut index = match self.indexes[on].take() {
                Some(mut index) => {
                    index.rewind()?;
                    index
                }
                None => Index::create()?,
            };
            let mut person: Option<(Vec<u8>, Above)> = None;
            while let Some(text) = waiting.next()? {
                step = step.wrapping_add(1);
                if step.is_multiple_of(1024) {
                    observer.go_on()?;
                }
                let row = take(text)?;
                let above = match &person {
                    Some((key, above)) if grouped && key == row.key => Some(*above),
                    _ if grouped => {
                        // Somebody new, known by the first row.
                        let above = Above { place: row.place, person: row.place };
                        index.push(row.key, above)?;
                        let key = self.second.asked().then(|| &row.key[8..]);
                        self.push_row((above.person, 0, above.place), (0, 0), key, &[])?;
                        person = Some((row.key.to_vec(), above));
                        Some(above)
                    }
                    _ => index.find(row.key)?,
                };
                let named = row.rest.first() == Some(&NAME);
                self.text.clear();
                self.text.extend_from_slice(row.rest);
                let at = (row.place, row.number);
                match above {
                    Some(_) if named => {}
                    Some(above) => self.joined(node, &mut reader, at, on, above)?,
                    None => {
                        reader.wrong.push(row.place, row.number, Wrong::Orphan(on))?;
                        let key = Taking(&row.rest[1..]).text()?.to_vec();
                        self.keep_key(node, &mut reader, &key, at, 0)?;
                    }
                }
            }
            self.indexes[on] = Some(index);
        }
        let asked = (0..self.shape.nodes.len())
            .any(|n| self.shape.nodes[n].parent == Some(node) || self.shape.beyond(n).contains(&node));
        let Reader { keys, mut wrong, .. } = reader;
        self.indexes[node] =
            index(keys.finish()?, asked, &mut |place, number| wrong.push(place, number, Wrong::Duplicate))?;
        let nodes = &self.shape.nodes;
        let (name, above) = (&nodes[node].name, nodes[node].parent.map_or("", |p| &nodes[p].name));
        wrong.tell(&mut |number, wrong| match wrong {
            Wrong::Duplicate => problems.duplicate(number, name),
            Wrong::TwoPlaces => problems.two_places(number, name),
            Wrong::Nobodys => problems.orphan(number, name, above, true),
            Wrong::Orphan(table) => problems.orphan(number, name, &nodes[table].name, false),
        })
    }
}
