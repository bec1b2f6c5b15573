//! k^m- and k^(m,n)-anonymity counted again: whatever can be known of a record is written down, and who it fits is counted.

use rustc_hash::{FxHashMap, FxHashSet};

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::{Negative, Relations, RootMode};
use bosket_model::{Dataset, Result};

use super::absent;
use super::record::{Guarded, NodePath, Reader, on_one_path};
use super::sample::{Budget, Choices};
use super::secrets::Secrets;
use super::{Recount, STEPS, disagreement, is_over};
use crate::claim::{Km, Kmn};

/// Pieces of knowledge, each as often as a record has it, up to which all are counted: each takes about ten steps.
const ALL_PIECES: u64 = STEPS / 10;

/// Draws in a row that bring nothing new before no more are made.
const MOST_KNOWN: usize = 1000;

/// Something that can be known of a record: an item, and how often it occurs where that counts.
type Known = (u32, u32);

/// An item that is there, however often.
const PRESENT: u32 = 0;
/// An item that is not there.
const ABSENT: u32 = u32::MAX;

/// What is known, and which pairs of it are known to be related, by their places in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Piece {
    known: Vec<Known>,
    related: Vec<(usize, usize)>,
}

/// A record, taken apart.
struct Person {
    /// All that can be known of it, ascending.
    known: Vec<Known>,
    nodes: Vec<NodePath>,
    /// Pairs of nodes that a reader may put together.
    inferred: Vec<(usize, usize)>,
}

/// What is asked for.
struct Asked<'a> {
    data: &'a Dataset,
    binding: &'a Binding,
    k: usize,
    m: usize,
    n: usize,
    embedded: bool,
    multiset: bool,
    guarded: Option<Guarded>,
    absent: Vec<u32>,
    diverse: Option<(f64, Secrets<'a>)>,
}

/// Counts knowledge of sets again.
pub(super) fn of_sets(
    data: &Dataset,
    binding: &Binding,
    claim: &Km,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<Recount> {
    let mut reader = Reader::new(data, binding, RootMode::Separate, &claim.sensitive);
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
        diverse: claim.l.map(|l| (l, Secrets::Listed(&claim.sensitive))),
    };
    asked.run(&mut reader, (&claim.negative, hierarchies), Vec::new(), observer)
}

/// Counts knowledge of trees again.
pub(super) fn of_trees(
    data: &Dataset,
    binding: &Binding,
    claim: &Kmn,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<Recount> {
    let mut reader = Reader::new(data, binding, claim.root, &[]);
    let mut left_out = Vec::new();
    let mut n = if claim.m > 1 { claim.n as usize } else { 0 };
    let mut guarded = None;
    if claim.guard && n > 0 {
        if data.vertex_count() as u64 <= ALL_PIECES / 10 {
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

    fn person(&self, reader: &mut Reader<'_>, record: usize) -> Person {
        let mut items = reader.items(record);
        items.sort_unstable();
        let mut known: Vec<Known> = (items.chunk_by(|a, b| a == b))
            .map(|run| (run[0], if self.multiset { run.len() as u32 } else { PRESENT }))
            .collect();
        known.extend(self.absent.iter().filter(|item| !items.contains(item)).map(|&item| (item, ABSENT)));
        known.sort_unstable();
        let nodes = if self.n > 0 { reader.nodes(record) } else { Vec::new() };
        let inferred = self.guarded.as_ref().map_or(Vec::new(), |g| g.inferred(&nodes, reader));
        Person { known, nodes, inferred }
    }

    /// Whether a person fits some knowledge.
    fn fits(&self, person: &Person, piece: &Piece) -> bool {
        piece.known.iter().all(|known| person.known.contains(known))
            && match self.embedded {
                true => person.places(piece, &mut Vec::new()),
                false => piece.related.iter().all(|&(a, b)| person.relates(piece, a, b)),
            }
    }

    /// Goes through all knowledge of a person, until somebody has had enough.
    fn each_piece(&self, person: &Person, take: &mut dyn FnMut(&Piece) -> Result<bool>) -> Result<bool> {
        let mut chosen = Vec::new();
        self.choose(person, 0, &mut chosen, take)
    }

    fn choose(
        &self,
        person: &Person,
        from: usize,
        chosen: &mut Vec<Known>,
        take: &mut dyn FnMut(&Piece) -> Result<bool>,
    ) -> Result<bool> {
        for at in from..person.known.len() {
            chosen.push(person.known[at]);
            let piece = Piece { known: chosen.clone(), related: Vec::new() };
            let pairs = person.pairs(&piece);
            let go_on = self.relate(person, piece, &pairs, take)?
                && (chosen.len() == self.m || self.choose(person, at + 1, chosen, take)?);
            chosen.pop();
            if !go_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A piece, and the same with each set of further relations that the person shows together.
    fn relate(
        &self,
        person: &Person,
        piece: Piece,
        pairs: &[(usize, usize)],
        take: &mut dyn FnMut(&Piece) -> Result<bool>,
    ) -> Result<bool> {
        if !self.fits(person, &piece) {
            return Ok(true);
        }
        if !take(&piece)? {
            return Ok(false);
        }
        for at in 0..if piece.related.len() < self.n { pairs.len() } else { 0 } {
            let mut more = piece.clone();
            more.related.push(pairs[at]);
            if !self.relate(person, more, &pairs[at + 1..], take)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the sets of known values alone, which are there with relations or without, are few enough. Numbers tell that
    /// in a fraction of the time that writing them down takes.
    fn can_count_all(&self, reader: &mut Reader<'_>, observer: &dyn Observer) -> Result<bool> {
        let mut budget = Budget::of(ALL_PIECES);
        for record in 0..self.data.len() {
            observer.go_on()?;
            let mut items = reader.items(record);
            items.sort_unstable();
            items.dedup();
            let known = items.len() + self.absent.iter().filter(|item| !items.contains(item)).count();
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

    /// Counts all knowledge of all records; none if there is too much of it.
    fn count_all(&self, reader: &mut Reader<'_>, observer: &dyn Observer) -> Result<Option<Recount>> {
        if !self.can_count_all(reader, observer)? {
            return Ok(None);
        }
        let mut budget = Budget::of(ALL_PIECES);
        let mut people: FxHashMap<Piece, Vec<u32>> = FxHashMap::default();
        for record in 0..self.data.len() {
            observer.go_on()?;
            let person = self.person(reader, record);
            // A tree of many nodes costs more to look at than its items show.
            if !budget.take(1 + person.nodes.len()) {
                return Ok(None);
            }
            let finished = self.each_piece(&person, &mut |piece| {
                observer.go_on()?;
                match people.get_mut(piece) {
                    Some(fitting) => fitting.push(record as u32),
                    None => drop(people.insert(piece.clone(), vec![record as u32])),
                }
                Ok(budget.take(1 + 2 * piece.related.len()))
            })?;
            if !finished {
                return Ok(None);
            }
        }
        if people.values().any(|fitting| fitting.len() < self.k) {
            return Err(disagreement("some knowledge fits fewer records than claimed"));
        }
        if let Some((l, secrets)) = &self.diverse {
            let of: Vec<Vec<(usize, String)>> =
                (0..self.data.len()).map(|record| secrets.of(self.data, self.binding, record)).collect();
            let everybody: Vec<u32> = (0..self.data.len() as u32).collect();
            for fitting in people.values().chain([&everybody]) {
                observer.go_on()?;
                if says_too_much(fitting.iter().map(|&record| of[record as usize].as_slice()), *l) {
                    return Err(disagreement(
                        "some knowledge says more about a sensitive value than claimed",
                    ));
                }
            }
        }
        Ok(Some(Recount {
            pieces: people.len() as u64,
            records: self.data.len() as u64,
            complete: true,
            not_covered: Vec::new(),
        }))
    }

    /// Counts random knowledge of random records.
    fn count_some(&self, reader: &mut Reader<'_>, observer: &dyn Observer) -> Result<Recount> {
        let mut choices = Choices::new(self.data.len());
        let mut counted: FxHashSet<Piece> = FxHashSet::default();
        let mut from: FxHashSet<usize> = FxHashSet::default();
        let mut budget = Budget::of(STEPS * 3 / 4);
        let mut known = 0;
        while let Some((record, piece)) = self.draw(reader, &mut choices, &mut budget) {
            observer.go_on()?;
            if counted.contains(&piece) {
                known += 1;
                // Hardly anything is left that was not drawn yet.
                if known == MOST_KNOWN {
                    break;
                }
                continue;
            }
            known = 0;
            let enough = Some(self.k.max(1));
            let Some(fitting) = self.fitting(reader, &piece, (record, enough), &mut budget, observer)? else {
                break;
            };
            if fitting.len() < self.k {
                return Err(disagreement("some knowledge fits fewer records than claimed"));
            }
            counted.insert(piece);
            from.insert(record);
        }
        let mut recount = Recount { complete: false, ..Recount::default() };
        if let Some((l, secrets)) = &self.diverse {
            let mut looked_at = 0;
            let mut budget = Budget::of(STEPS / 4);
            while let Some((record, piece)) = self.draw(reader, &mut choices, &mut budget) {
                let all = self.fitting(reader, &piece, (record, None), &mut budget, observer)?;
                let Some(fitting) = all.filter(|fitting| budget.take(100 * fitting.len())) else {
                    break;
                };
                let of: Vec<_> = fitting.iter().map(|&r| secrets.of(self.data, self.binding, r)).collect();
                if says_too_much(of.iter().map(Vec::as_slice), *l) {
                    return Err(disagreement(
                        "some knowledge says more about a sensitive value than claimed",
                    ));
                }
                looked_at += 1;
            }
            if looked_at == 0 {
                recount.not_covered.push("what knowledge says about sensitive values");
            }
        }
        (recount.pieces, recount.records) = (counted.len() as u64, from.len() as u64);
        Ok(recount)
    }

    /// Random knowledge of a random record; none if there are no steps left.
    fn draw(
        &self,
        reader: &mut Reader<'_>,
        choices: &mut Choices,
        budget: &mut Budget,
    ) -> Option<(usize, Piece)> {
        loop {
            let record = choices.below(self.data.len().max(1));
            let each = if self.n > 0 { 80 } else { 20 };
            if record >= self.data.len() || !budget.take(20 + each * self.data.vertices(record).len()) {
                return None;
            }
            let person = self.person(reader, record);
            let most = self.m.min(person.known.len());
            if most == 0 {
                continue;
            }
            let size = 1 + choices.below(most);
            let known = choices.some_of(person.known.len(), size).into_iter().map(|at| person.known[at]);
            let mut piece = Piece { known: known.collect(), related: Vec::new() };
            let pairs = person.pairs(&piece);
            let wanted = choices.below(self.n.min(pairs.len()) + 1);
            for at in choices.some_of(pairs.len(), wanted) {
                piece.related.push(pairs[at]);
                if !self.fits(&person, &piece) {
                    piece.related.pop();
                }
            }
            return Some((record, piece));
        }
    }

    /// The records that some knowledge fits, from one on and round to it, up to as many as are enough; none if there are no
    /// steps left before that is known.
    fn fitting(
        &self,
        reader: &mut Reader<'_>,
        piece: &Piece,
        (first, enough): (usize, Option<usize>),
        budget: &mut Budget,
        observer: &dyn Observer,
    ) -> Result<Option<Vec<usize>>> {
        let mut found = Vec::new();
        for record in (first..self.data.len()).chain(0..first) {
            observer.go_on()?;
            if !budget.take(1 + 3 * self.data.vertices(record).len()) {
                return Ok(None);
            }
            // Most records do not even have the values.
            let items = reader.items(record);
            let has = |&(item, times): &Known| items.contains(&item) == (times != ABSENT);
            if !piece.known.iter().all(has) {
                continue;
            }
            let person = self.person(reader, record);
            if !budget.take(10 * person.known.len() + 60 * person.nodes.len()) {
                return Ok(None);
            }
            if self.fits(&person, piece) {
                found.push(record);
                if enough == Some(found.len()) {
                    break;
                }
            }
        }
        Ok(Some(found))
    }
}

impl Person {
    /// Pairs of known items of which some nodes are related.
    fn pairs(&self, piece: &Piece) -> Vec<(usize, usize)> {
        if self.nodes.is_empty() {
            return Vec::new();
        }
        let all = (0..piece.known.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        all.filter(|&(a, b)| self.relates(piece, a, b)).collect()
    }

    fn nodes_of(&self, known: Known) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(move |&at| known.1 != ABSENT && self.nodes[at].last() == Some(&known.0))
    }

    fn related(&self, a: usize, b: usize) -> bool {
        on_one_path(&self.nodes[a], &self.nodes[b])
            || self.inferred.contains(&(a, b))
            || self.inferred.contains(&(b, a))
    }

    /// Whether some nodes of two known items are related.
    fn relates(&self, piece: &Piece, a: usize, b: usize) -> bool {
        self.nodes_of(piece.known[a]).any(|x| self.nodes_of(piece.known[b]).any(|y| self.related(x, y)))
    }

    /// Whether one node can be found for each known item so that all relations hold between these: tried one by one.
    fn places(&self, piece: &Piece, chosen: &mut Vec<usize>) -> bool {
        let at = chosen.len();
        if at == piece.known.len() || piece.related.is_empty() {
            return true;
        }
        if piece.related.iter().all(|&(a, b)| a != at && b != at) {
            chosen.push(usize::MAX);
            let found = self.places(piece, chosen);
            chosen.pop();
            return found;
        }
        self.nodes_of(piece.known[at]).any(|node| {
            let holds = |&(a, b): &(usize, usize)| b != at || self.related(chosen[a], node);
            if !piece.related.iter().all(holds) {
                return false;
            }
            chosen.push(node);
            let found = self.places(piece, chosen);
            chosen.pop();
            found
        })
    }
}

/// Whether a sensitive value is in more than one in l of some records.
fn says_too_much<'a>(of: impl Iterator<Item = &'a [(usize, String)]>, l: f64) -> bool {
    let mut counts: FxHashMap<&(usize, String), usize> = FxHashMap::default();
    let mut records = 0;
    for values in of {
        records += 1;
        values.iter().for_each(|value| *counts.entry(value).or_default() += 1);
    }
    counts.values().any(|&count| is_over(count, records, l))
}
