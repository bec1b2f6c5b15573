//! k^m- and k^(m,n)-anonymity counted again: whatever can be known of a record is written down, and who it fits is counted.

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::{Knower, Missing, Negative, Relations, RootMode, Rows};
use bosket_model::{Dataset, Failure, Result};

use super::absent;
use super::person::{ABSENT, CLASS, Known, PRESENT, Person, Piece};
use super::record::{Guarded, Reader};
use super::sample::Budget;
use super::secrets::{Secrets, all_listed};
use super::{Recount, STEPS, disagreement, is_over};
use crate::claim::{Km, Kmn};

/// Pieces of knowledge, each as often as a record has it, up to which all are counted: each takes about ten steps.
const ALL_PIECES: u64 = STEPS / 10;

/// Pieces of a record after which it is asked whether to go on.
const ASKED_EVERY: u32 = 256;

/// Vertices of a record up to which its relations are looked at, each with each.
pub(super) const RELATED: usize = 100;

/// What is asked for.
pub(super) struct Asked<'a> {
    pub(super) data: &'a Dataset,
    pub(super) binding: &'a Binding,
    pub(super) k: usize,
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) embedded: bool,
    pub(super) multiset: bool,
    pub(super) guarded: Option<Guarded>,
    pub(super) absent: Vec<u32>,
    pub(super) diverse: Option<(f64, Secrets<'a>)>,
    /// Who knows it, if that is not somebody who knows nothing in particular.
    pub(super) knower: Option<&'a Knower>,
}

/// Counts knowledge of sets again.
pub(super) fn of_sets(
    data: &Dataset,
    binding: &Binding,
    claim: &Km,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<Recount> {
    let sensitive = all_listed(&claim.sensitive, hierarchies);
    let mut reader = Reader::new(data, binding, (RootMode::Separate, false), &sensitive);
    let asked = Asked {
        data,
        binding,
        k: claim.k as usize,
        m: claim.m as usize,
        n: 0,
        embedded: false,
        multiset: claim.multiset,
        guarded: None,
        absent: Vec::new(),
        diverse: claim.l.map(|l| (l, Secrets::Listed(&sensitive))),
        knower: None,
    };
    asked.run(&mut reader, (&claim.negative, hierarchies), Vec::new(), observer)
}

/// Counts knowledge of trees again: relations that are promised at one place each for itself as well, and every attacker.
pub(super) fn of_trees(
    data: &Dataset,
    binding: &Binding,
    claim: &Kmn,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<Recount> {
    let mut recount: Option<Recount> = None;
    for reading in claim.readings() {
        let other = of_reading(data, binding, &reading, hierarchies, observer)?;
        recount = Some(match recount {
            Some(recount) => recount.and_of_the_same(other),
            None => other,
        });
    }
    recount.ok_or_else(|| Failure::defect("a claim of which nothing is counted"))
}

fn of_reading(
    data: &Dataset,
    binding: &Binding,
    claim: &Kmn,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<Recount> {
    let united = claim.rows == Rows::United;
    let counted = claim.missing == Missing::Counted;
    let sections = claim.relations == Relations::Embedded && claim.n > 1 && claim.m > 2 && !united;
    let mut reader = Reader::new(data, binding, (claim.root, united), &[]).showing_empty(counted, sections);
    let mut left_out = Vec::new();
    let mut n = if claim.m > 1 { claim.n as usize } else { 0 };
    let mut guarded = None;
    if claim.guard && n > 0 {
        let small = (0..data.len()).all(|record| data.vertices(record).len() <= RELATED);
        if small && data.vertex_count() as u64 <= ALL_PIECES / 10 {
            let mut all = Guarded::new(binding, claim.root);
            for record in 0..data.len() {
                observer.go_on()?;
                all.show(&reader.nodes(record));
            }
            guarded = Some(all);
        } else {
            // Others may have the relation by inference only: who fits it cannot be told without.
            n = 0;
            left_out.push("relations, since those that can be put together again were not looked for");
        }
    }
    let asked = Asked {
        data,
        binding,
        k: claim.k as usize,
        m: claim.m as usize,
        n,
        embedded: claim.relations == Relations::Embedded,
        multiset: false,
        guarded,
        absent: Vec::new(),
        diverse: claim.l.map(|l| (l, Secrets::OfAttributes(&claim.buckets))),
        knower: claim.knower.as_ref(),
    };
    asked.run(&mut reader, (&claim.negative, hierarchies), left_out, observer)
}

impl Asked<'_> {
    fn run(
        mut self,
        reader: &mut Reader<'_>,
        (negative, hierarchies): (&[Negative], &[Option<Hierarchy>]),
        mut left_out: Vec<&'static str>,
        observer: &dyn Observer,
    ) -> Result<Recount> {
        if negative.iter().any(|n| matches!(n, Negative::Value(_))) {
            let means = (&mut *reader, &mut Budget::of(ALL_PIECES));
            match absent::items(self.data, self.binding, negative, hierarchies, means) {
                Some(items) => self.absent = items,
                None => left_out.push("values that are known to be absent"),
            }
        }
        if self.n > 0 && negative.iter().any(|n| matches!(n, Negative::Pair(..))) {
            left_out.push("pairs of values that are known not to be related");
        }
        let mut recount = match self.count_all(reader, observer)? {
            Some(all) => all,
            None => self.count_some(reader, observer)?,
        };
        recount.not_covered.extend(left_out);
        Ok(recount)
    }

    pub(super) fn person(&self, reader: &mut Reader<'_>, record: usize) -> Person {
        let mut items = reader.items(record).to_vec();
        items.sort_unstable();
        let knows_all = self.knower.filter(|knower| !knower.knows.is_empty());
        let class = knows_all.map(|knower| (reader.class(record, &knower.knows), CLASS));
        if let Some(knower) = self.knower {
            items.retain(|&item| knower.may_know(reader.declared(item)));
        }
        let mut known: Vec<Known> = (items.chunk_by(|a, b| a == b))
            .map(|run| (run[0], if self.multiset { run.len() as u32 } else { PRESENT }))
            .collect();
        known.extend(
            self.absent.iter().filter(|item| items.binary_search(item).is_err()).map(|&item| (item, ABSENT)),
        );
        known.sort_unstable();
        let shown = self.n > 0 && !self.is_large(record);
        let nodes = if shown { reader.nodes(record) } else { Vec::new() };
        let inferred = self.guarded.as_ref().map_or(Vec::new(), |g| g.inferred(&nodes, reader));
        Person { class, known, nodes, inferred }
    }

    /// Whether a record has too many vertices to look at its relations.
    pub(super) fn is_large(&self, record: usize) -> bool {
        self.data.vertices(record).len() > RELATED
    }

    /// Whether a person fits some knowledge.
    pub(super) fn fits(&self, person: &Person, piece: &Piece) -> bool {
        let has = |known: &Known| person.class == Some(*known) || person.known.contains(known);
        piece.known.iter().all(has)
            && match self.embedded {
                true => person.places(piece, &mut Vec::new()),
                false => piece.related.iter().all(|&(a, b)| person.relates(piece, a, b)),
            }
    }

    /// Goes through all knowledge of a person, until somebody has had enough.
    pub(super) fn each_piece(
        &self,
        person: &Person,
        take: &mut dyn FnMut(&Piece) -> Result<bool>,
    ) -> Result<bool> {
        let mut piece = Piece::default();
        piece.known.extend(person.class);
        let go_on = person.class.is_none() || take(&piece)?;
        Ok(go_on && (self.m == 0 || self.choose(person, 0, &mut piece, take)?))
    }

    /// How many values a piece of a person may hold: what an attacker knows in any case is one more.
    fn most(&self, person: &Person) -> usize {
        self.m + usize::from(person.class.is_some())
    }

    /// Goes through what adds values of a person, from one on, to a piece without relations.
    fn choose(
        &self,
        person: &Person,
        from: usize,
        piece: &mut Piece,
        take: &mut dyn FnMut(&Piece) -> Result<bool>,
    ) -> Result<bool> {
        for at in from..person.known.len() {
            piece.known.push(person.known[at]);
            let pairs = person.pairs(piece);
            let go_on = self.relate(person, piece, &pairs, take)?
                && (piece.known.len() == self.most(person) || self.choose(person, at + 1, piece, take)?);
            piece.known.pop();
            if !go_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A piece, and the same with each set of further relations that the person shows together. Values alone were taken from
    /// the person itself.
    fn relate(
        &self,
        person: &Person,
        piece: &mut Piece,
        pairs: &[(usize, usize)],
        take: &mut dyn FnMut(&Piece) -> Result<bool>,
    ) -> Result<bool> {
        if !piece.related.is_empty() && !self.fits(person, piece) {
            return Ok(true);
        }
        if !take(piece)? {
            return Ok(false);
        }
        for at in 0..if piece.related.len() < self.n { pairs.len() } else { 0 } {
            piece.related.push(pairs[at]);
            let go_on = self.relate(person, piece, &pairs[at + 1..], take)?;
            piece.related.pop();
            if !go_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the sets of known values alone, which are there with relations or without, are few enough. Numbers tell that
    /// in a fraction of the time that writing them down takes.
    fn can_count_all(&self, reader: &mut Reader<'_>, observer: &dyn Observer) -> Result<bool> {
        let mut budget = Budget::of(ALL_PIECES);
        let mut items = Vec::new();
        for record in 0..self.data.len() {
            observer.go_on()?;
            items.clear();
            items.extend_from_slice(reader.items(record));
            items.sort_unstable();
            items.dedup();
            let known =
                items.len() + self.absent.iter().filter(|item| items.binary_search(item).is_err()).count();
            let mut sets = 1;
            let mut all = 0;
            for size in 1..=self.m.min(known) {
                // Saturated is too many in any case.
                sets = usize::saturating_mul(sets, known + 1 - size) / size;
                all = usize::saturating_add(all, sets);
            }
            if !budget.take(all.saturating_add(1)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// How many records from one on have the same items, and so the same knowledge, unless relations or names count: publications
    /// are in the order of what they say, so most who look alike follow each other.
    fn alike(&self, reader: &mut Reader<'_>, record: usize) -> u32 {
        if self.n > 0 || self.diverse.is_some() {
            return 1;
        }
        let items = reader.items(record).to_vec();
        let same = (record + 1..self.data.len()).take_while(|&other| reader.items(other) == items);
        1 + same.count() as u32
    }

    /// Counts all knowledge of all records; none if there is too much of it.
    fn count_all(&self, reader: &mut Reader<'_>, observer: &dyn Observer) -> Result<Option<Recount>> {
        let large = self.n > 0 && (0..self.data.len()).any(|record| self.is_large(record));
        if large || !self.can_count_all(reader, observer)? {
            return Ok(None);
        }
        let mut budget = Budget::of(ALL_PIECES);
        // Per piece its own number; and per number whom it fits, by count and by name where that is asked.
        let mut numbers = Numbers::default();
        let (mut fitting, mut people): (Vec<u32>, Vec<Vec<u32>>) = (Vec::new(), Vec::new());
        let mut record = 0;
        while record < self.data.len() {
            observer.go_on()?;
            let person = self.person(reader, record);
            let alike = self.alike(reader, record);
            // A tree of many nodes costs more to look at than its items show.
            if !budget.take(1 + person.nodes.len()) {
                return Ok(None);
            }
            let mut looked_at = 0u32;
            let finished = self.each_piece(&person, &mut |piece| {
                looked_at += 1;
                if looked_at.is_multiple_of(ASKED_EVERY) {
                    observer.go_on()?;
                }
                let number = numbers.of(piece, fitting.len());
                if number == fitting.len() {
                    fitting.push(0);
                }
                fitting[number] += alike;
                if self.diverse.is_some() {
                    people.resize(fitting.len(), Vec::new());
                    people[number].push(record as u32);
                }
                Ok(budget.take(1 + 2 * piece.related.len()))
            })?;
            if !finished {
                return Ok(None);
            }
            record += alike as usize;
        }
        if fitting.iter().any(|&records| (records as usize) < self.k) {
            return Err(disagreement("some knowledge fits fewer records than claimed"));
        }
        if let Some((l, secrets)) = &self.diverse {
            let of: Vec<Vec<(usize, String)>> =
                (0..self.data.len()).map(|record| secrets.of(self.data, self.binding, record)).collect();
            let everybody: Vec<u32> = (0..self.data.len() as u32).collect();
            for fitting in people.iter().chain([&everybody]) {
                observer.go_on()?;
                if says_too_much(fitting.iter().map(|&record| of[record as usize].as_slice()), *l) {
                    return Err(disagreement(
                        "some knowledge says more about a sensitive value than claimed",
                    ));
                }
            }
        }
        Ok(Some(Recount {
            pieces: fitting.len() as u64,
            records: self.data.len() as u64,
            complete: true,
            not_covered: Vec::new(),
        }))
    }
}

/// The numbers of pieces that a person is gone through by: values are added to what was met just before, relations to the same values.
#[derive(Default)]
struct Numbers {
    /// Pieces without relations by the number of what they add their last value to, and this value.
    values: FxHashMap<(u32, Known), u32>,
    /// Pieces with relations, written down.
    related: FxHashMap<Box<[u32]>, u32>,
    /// The numbers of the first value of the piece at hand, of the first two, and so on.
    so_far: Vec<u32>,
    written: Vec<u32>,
}

/// What the first value is added to.
const NOTHING: u32 = u32::MAX;

impl Numbers {
    /// The number of a piece; `next` if it is a new one.
    fn of(&mut self, piece: &Piece, next: usize) -> usize {
        let next = next as u32;
        let number = if piece.related.is_empty() {
            self.so_far.truncate(piece.known.len() - 1);
            let before = self.so_far.last().copied().unwrap_or(NOTHING);
            let number = *self.values.entry((before, piece.known[piece.known.len() - 1])).or_insert(next);
            self.so_far.push(number);
            number
        } else {
            piece.write(&mut self.written);
            match self.related.get(self.written.as_slice()) {
                Some(&number) => number,
                None => *self.related.entry(self.written.as_slice().into()).or_insert(next),
            }
        };
        number as usize
    }
}

/// Whether a sensitive value is in more than one in l of some records.
pub(super) fn says_too_much<'a>(of: impl Iterator<Item = &'a [(usize, String)]>, l: f64) -> bool {
    let mut counts: FxHashMap<&(usize, String), usize> = FxHashMap::default();
    let mut records = 0;
    for values in of {
        records += 1;
        values.iter().for_each(|value| *counts.entry(value).or_default() += 1);
    }
    counts.values().any(|&count| is_over(count, records, l))
}
