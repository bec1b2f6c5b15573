//! Records that come in parts, counted again over all of them.
//!
//! The first count of parts keeps a kernel of them and is right if the kernel is. So this one knows nothing of kernels: in a
//! first pass pieces of knowledge are drawn from the records of every part, in a second one they are counted over every part.
//! Of all pieces that anybody comes by those are taken that have the smallest hashes, so that what is drawn depends neither on
//! the parts nor on their order, and a piece of one person is drawn as easily as one of thousands. Where there are few pieces,
//! these are all of them. Where the claim is about records that look alike, their looks are drawn instead.
//!
//! ```text
//! Drawn::of(part 0) ─┐                  ┌─► Tallied::of(part 0) ─┐
//! Drawn::of(part 1) ─┴─► merge ─► Drawn ┴─► Tallied::of(part 1) ─┴─► merge ─► judged: a Recount, or a defect
//! ```

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::partition::Survey;
use bosket_model::partition::bytes::{Reader as Bytes, Writer, damaged};
use bosket_model::policy::{Missing, Relations, Role, RootMode, Rows};
use bosket_model::{AttributeId, Dataset, Failure, MISSING, Result};

use super::knowledge::Asked;
use super::looks::{Looks, Seen};
use super::person::{CLASS, Known, PRESENT, Piece};
use super::record::Reader;
use super::sample::{Budget, Choices};
use super::{Recount, STEPS, disagreement};
use crate::claim::Claim;
use crate::vertex::Diverse;

const WHAT: [u8; 4] = *b"BkDr";
const WHAT_TALLIED: [u8; 4] = *b"BkTl";
const VERSION: u8 = 2;

/// Pieces that are drawn of all parts together, at most.
const MOST: usize = 4096;
/// Pieces of a record up to which all are looked at; of one with more, some are drawn.
const FEW: usize = 256;
const SOME: usize = 24;
/// Steps that drawing from a part may take.
const DRAWING: u64 = STEPS / 20;

/// A place, and what is said there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Said {
    place: String,
    text: String,
}

/// A piece of knowledge in words, by which the records of all parts understand it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Worded {
    /// By which way of reading relations it is known.
    way: u32,
    said: Vec<Said>,
    related: Vec<(u32, u32)>,
}

/// What the name of a vertex without a place begins with, and no path.
const SECTION: char = '\u{2}';
/// The place of all that an attacker knows in any case, and what stands between its words.
const CLASS_MARK: char = '\u{3}';

/// How much there is of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Records.
    pub records: u64,
    /// Vertices of them.
    pub vertices: u64,
    /// Values of the attributes that are looked at.
    pub values: u64,
}

impl Totals {
    /// Counts what stands in records.
    pub fn of(data: &Dataset, wanted: impl Fn(AttributeId) -> bool) -> Self {
        let schema = data.schema();
        let wanted: Vec<bool> = schema.attributes().map(|(id, _)| wanted(id)).collect();
        let mut totals = Totals { records: data.len() as u64, ..Totals::default() };
        for record in 0..data.len() {
            for vertex in data.vertices(record) {
                totals.vertices += 1;
                let own = schema.class(data.class(vertex)).attributes.iter().zip(data.values(vertex));
                totals.values +=
                    own.filter(|(id, code)| **code != MISSING && wanted[id.index()]).count() as u64;
            }
        }
        totals
    }

    /// The same of the values that a claim is about.
    fn of_claim(claim: &Claim, data: &Dataset, binding: &Binding) -> Self {
        let sensitive = by_class(claim).is_some();
        Totals::of(data, |id| match binding.role(id) {
            Some(Role::Quasi) => true,
            Some(Role::Sensitive) => sensitive,
            _ => false,
        })
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Totals) -> Self {
        Totals {
            records: self.records + other.records,
            vertices: self.vertices + other.vertices,
            values: self.values + other.values,
        }
    }

    /// Refuses records that were put together from others and are not as many, or do not say as much.
    pub fn refuse_other(self, read: Totals) -> Result<()> {
        if self == read {
            return Ok(());
        }
        let what = "parts were put together with other records, vertices or values than were read";
        Err(Failure::defect(what))
    }

    /// Refuses a survey of the same attributes that has seen other records or values.
    pub fn refuse_survey(self, survey: &Survey) -> Result<()> {
        let values: u64 = survey.counts.iter().flatten().map(|count| count.1).sum();
        self.refuse_other(Totals { records: survey.records, values, ..self })
    }

    fn write(self, out: &mut Writer) {
        [self.records, self.vertices, self.values].into_iter().for_each(|number| out.number(number));
    }

    fn read(from: &mut Bytes<'_>) -> Result<Self> {
        Ok(Totals { records: from.number()?, vertices: from.number()?, values: from.number()? })
    }
}

/// What is claimed of records that look alike, where that is it.
fn by_class(claim: &Claim) -> Option<(Option<u32>, Option<&Diverse>)> {
    match claim {
        Claim::KAnonymity { k } => Some((Some(*k), None)),
        Claim::LDiversity { k, ask } => Some((*k, Some(ask))),
        _ => None,
    }
}

/// Pieces of knowledge, or looks, drawn from the records of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Those with the smallest hashes.
    pieces: BTreeSet<(u64, Worded)>,
    /// Records that pieces were taken from.
    from: u64,
    /// Whether these are all pieces that there are.
    complete: bool,
    /// Classes in which somebody has a quasi value.
    placed: BTreeSet<String>,
    looks: Looks,
    totals: Totals,
}

impl Default for Drawn {
    fn default() -> Self {
        let (pieces, placed) = (BTreeSet::new(), BTreeSet::new());
        let looks = Looks::default();
        Drawn { pieces, from: 0, complete: true, placed, looks, totals: Totals::default() }
    }
}

/// Ways to read relations: as the claim says, and each for itself where that is claimed besides.
fn ways(claim: &Claim) -> Result<Vec<Claim>> {
    match claim {
        Claim::Km(_) => Ok(vec![claim.clone()]),
        Claim::Kmn(kmn) => Ok(kmn.readings().into_iter().map(Claim::Kmn).collect()),
        _ => Err(Failure::defect("a claim that is not counted by knowledge")),
    }
}

/// The records of a part, as one way of reading has them.
struct Read<'a> {
    asked: Asked<'a>,
    reader: Reader<'a>,
    binding: &'a Binding,
    /// The hash of each item that was met.
    hashes: Vec<u64>,
}

impl<'a> Read<'a> {
    fn new(data: &'a Dataset, binding: &'a Binding, way: &'a Claim) -> Result<Self> {
        let asked = |k: u32, m: u32, n: u32, embedded: bool| Asked {
            data,
            binding,
            k: k as usize,
            m: m as usize,
            n: if m > 1 { n as usize } else { 0 },
            embedded,
            multiset: false,
            guarded: None,
            absent: Vec::new(),
            diverse: None,
            knower: None,
        };
        let (asked, reader) = match way {
            Claim::Km(km) => {
                let reader = Reader::new(data, binding, (RootMode::Separate, false), &km.sensitive);
                (asked(km.k, km.m, 0, false), reader)
            }
            Claim::Kmn(kmn) => {
                let united = kmn.rows == Rows::United;
                let embedded = kmn.relations == Relations::Embedded;
                let sections = embedded && kmn.n > 1 && kmn.m > 2 && !united;
                let reader = Reader::new(data, binding, (kmn.root, united), &[]);
                let reader = reader.showing_empty(kmn.missing == Missing::Counted, sections);
                let knower = kmn.knower.as_ref();
                (Asked { knower, ..asked(kmn.k, kmn.m, kmn.n, embedded) }, reader)
            }
            _ => return Err(Failure::defect("a claim that is not counted by knowledge")),
        };
        Ok(Read { asked, reader, binding, hashes: Vec::new() })
    }

    /// What is known in words, and where: of all that an attacker knows in any case at once.
    fn said(&self, (item, times): Known) -> Said {
        if times == CLASS {
            let mut all: Vec<Said> =
                self.reader.items_of_class(item).iter().map(|&item| self.said((item, PRESENT))).collect();
            all.sort_unstable();
            let words = all.iter().map(|said| format!("{}{CLASS_MARK}{}", said.place, said.text));
            let text = words.collect::<Vec<_>>().join(&CLASS_MARK.to_string());
            return Said { place: CLASS_MARK.to_string(), text };
        }
        let place = place(self.binding, self.reader.declared(item));
        Said { place, text: self.reader.text(item).to_owned() }
    }

    /// The hash of what is known: the same in every part.
    fn hash(&mut self, (item, times): Known) -> u64 {
        if times == CLASS {
            return hash_of(&self.said((item, CLASS)));
        }
        while self.hashes.len() <= item as usize {
            let said = self.said((self.hashes.len() as u32, PRESENT));
            self.hashes.push(hash_of(&said));
        }
        self.hashes[item as usize]
    }

    /// A piece by the hashes of its items, in their order, and its own hash.
    fn canonical(&mut self, piece: &Piece) -> (u64, Vec<Known>, Vec<(u32, u32)>) {
        let mut order: Vec<(u64, usize)> =
            piece.known.iter().enumerate().map(|(at, &known)| (self.hash(known), at)).collect();
        order.sort_unstable();
        let at = |old: usize| order.iter().position(|own| own.1 == old).unwrap_or_default() as u32;
        let pair = |&(a, b): &(usize, usize)| (at(a).min(at(b)), at(a).max(at(b)));
        let mut related: Vec<(u32, u32)> = piece.related.iter().map(pair).collect();
        related.sort_unstable();
        let all = order.iter().map(|own| own.0);
        let all = all.chain(related.iter().map(|&(a, b)| u64::from(a) << 32 | u64::from(b)));
        let hash = all.fold(0, |sum, next| mixed(sum ^ next));
        (hash, order.iter().map(|own| piece.known[own.1]).collect(), related)
    }
}

/// What a place is called: an attribute by its path, a vertex without a place by the keys of its classes.
fn place(binding: &Binding, declared: usize) -> String {
    if let Some(own) = binding.declared.get(declared) {
        return own.path.clone();
    }
    let home = declared - binding.declared.len();
    let up = std::iter::successors(Some(home), |&home| binding.homes[home].parent);
    let mut names: Vec<String> = up.map(|home| binding.homes[home].name.join("\u{1}")).collect();
    names.reverse();
    format!("{SECTION}{}", names.join("\u{2}"))
}

fn hash_of(said: &Said) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    let bytes = said.place.bytes().chain([0]).chain(said.text.bytes());
    mixed(bytes.fold(0xCBF2_9CE4_8422_2325, step))
}

/// A number in which every bit depends on all of another's.
fn mixed(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Records in an order that goes through all parts of them early.
fn spread(records: usize) -> impl Iterator<Item = usize> {
    let common = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let near = (records as f64 * 0.618) as usize;
    let step = (near.max(1)..).find(|&step| common(step, records.max(1)) == 1).unwrap_or(1);
    (0..records).map(move |at| (at as u128 * step as u128 % records as u128) as usize)
}

impl Drawn {
    /// Draws from the records of a part.
    pub fn of(claim: &Claim, data: &Dataset, binding: &Binding, observer: &dyn Observer) -> Result<Self> {
        let totals = Totals::of_claim(claim, data, binding);
        if by_class(claim).is_some() {
            let spelled = data.one_spelling();
            let looks = Looks::of(spelled.as_ref().unwrap_or(data), binding, observer)?;
            return Ok(Drawn { looks, totals, ..Drawn::default() });
        }
        let is_named =
            |id: AttributeId| binding.role(id) == Some(Role::Quasi) && !data.dictionary(id).is_empty();
        let quasi = data.schema().attributes().filter(|(id, _)| is_named(*id));
        let homes = quasi.filter_map(|(_, attribute)| binding.classes[attribute.class.index()]);
        let placed = homes.map(|home| place(binding, binding.declared.len() + home)).collect();
        let mut drawn = Drawn { totals, placed, ..Drawn::default() };
        let spelled = data.one_spelling();
        let data = spelled.as_ref().unwrap_or(data);
        for (number, way) in ways(claim)?.iter().enumerate() {
            drawn.draw(number as u32, &mut Read::new(data, binding, way)?, observer)?;
        }
        Ok(drawn)
    }

    fn draw(&mut self, way: u32, read: &mut Read<'_>, observer: &dyn Observer) -> Result<()> {
        let records = read.asked.data.len();
        let (mut budget, mut choices) = (Budget::of(DRAWING), Choices::new(records));
        for record in spread(records) {
            observer.go_on()?;
            if !budget.take(20 + read.asked.cost(record)) {
                self.complete = false;
                break;
            }
            self.from += u64::from(way == 0);
            let person = read.asked.person(&mut read.reader, record);
            let mut found: Vec<Piece> = Vec::new();
            let all = read.asked.each_piece(&person, &mut |piece| {
                found.push(piece.clone());
                Ok(found.len() < FEW)
            })?;
            let large = read.asked.n > 0 && read.asked.is_large(record);
            self.complete &= all && !large;
            if !all {
                let mut some = || read.asked.some_piece(&person, &mut choices);
                found.extend(std::iter::repeat_with(&mut some).take(SOME).flatten());
            }
            if !budget.take(4 * found.len()) {
                self.complete = false;
            }
            found.iter().for_each(|piece| self.add(way, piece, read));
        }
        Ok(())
    }

    fn add(&mut self, way: u32, piece: &Piece, read: &mut Read<'_>) {
        let (hash, items, related) = read.canonical(piece);
        let hash = mixed(hash ^ u64::from(way));
        if self.pieces.len() >= MOST && self.pieces.last().is_some_and(|last| last.0 < hash) {
            self.complete = false;
            return;
        }
        let said = items.into_iter().map(|known| read.said(known)).collect();
        self.pieces.insert((hash, Worded { way, said, related }));
        self.prune();
    }

    fn prune(&mut self) {
        while self.pieces.len() > MOST {
            self.pieces.pop_last();
            self.complete = false;
        }
    }

    /// Both together.
    #[must_use]
    pub fn merge(mut self, other: Drawn) -> Self {
        self.pieces.extend(other.pieces);
        self.from += other.from;
        self.complete &= other.complete;
        self.placed.extend(other.placed);
        self.looks = self.looks.merge(other.looks);
        self.totals = self.totals.and(other.totals);
        self.prune();
        self
    }

    /// How much there is of the records that pieces were drawn from.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// How many pieces there are.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether a piece is knowledge of all records: a vertex that shows by itself that it is there has no value in any part. A
    /// part alone cannot tell.
    fn is_known(&self, piece: &Worded) -> bool {
        let is_placed = |said: &Said| said.place.contains(SECTION) && self.placed.contains(&said.place);
        !piece.said.iter().any(is_placed)
    }

    /// The pieces as bytes. They hold published values only.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.number(self.from);
        out.number(u64::from(self.complete));
        self.totals.write(&mut out);
        out.length(self.placed.len());
        self.placed.iter().for_each(|home| out.text(home));
        self.looks.write(&mut out);
        out.length(self.pieces.len());
        for (hash, piece) in &self.pieces {
            out.number(*hash);
            out.number(u64::from(piece.way));
            out.length(piece.said.len());
            for said in &piece.said {
                out.text(&said.place);
                out.text(&said.text);
            }
            out.length(piece.related.len());
            for &(a, b) in &piece.related {
                out.number(u64::from(a));
                out.number(u64::from(b));
            }
        }
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Bytes::new(bytes, WHAT, VERSION)?;
        let (records, complete) = (from.number()?, from.number()?);
        let totals = Totals::read(&mut from)?;
        let placed = (0..from.length()?).map(|_| Ok(from.text()?.to_owned())).collect::<Result<_>>()?;
        let looks = Looks::read(&mut from)?;
        let mut pieces = BTreeSet::new();
        for _ in 0..from.length()? {
            let (hash, way) = (from.number()?, from.small()?);
            let mut said = Vec::new();
            for _ in 0..from.length()? {
                said.push(Said { place: from.text()?.to_owned(), text: from.text()?.to_owned() });
            }
            let mut related = Vec::new();
            for _ in 0..from.length()? {
                let (a, b) = (from.small()?, from.small()?);
                if a >= b || b as usize >= said.len() {
                    return Err(damaged());
                }
                related.push((a, b));
            }
            pieces.insert((hash, Worded { way, said, related }));
        }
        from.end()?;
        if complete > 1 {
            return Err(damaged());
        }
        Ok(Drawn { pieces, from: records, complete: complete == 1, placed, looks, totals })
    }
}

/// How many records drawn pieces fit, or who has drawn looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tallied {
    /// By the order of the pieces; from k on, no more may be counted.
    counts: Vec<u64>,
    /// Pieces of which it cannot be told whether some record fits.
    unclear: Vec<bool>,
    seen: Seen,
    parts: BTreeSet<u32>,
    totals: Totals,
}

/// The pieces of one way, by the hash of the item that the fewest of them have.
struct Anchored<'d> {
    pieces: FxHashMap<u64, Vec<Numbered<'d>>>,
}

/// A piece with its number and the hashes of its items.
type Numbered<'d> = (usize, Vec<u64>, &'d Worded);

impl<'d> Anchored<'d> {
    fn new(drawn: &'d Drawn, way: u32) -> Self {
        let own = drawn.pieces.iter().enumerate().filter(|(_, (_, piece))| piece.way == way);
        let own: Vec<Numbered<'d>> = own
            .map(|(number, (_, piece))| (number, piece.said.iter().map(hash_of).collect(), piece))
            .collect();
        let mut often: FxHashMap<u64, usize> = FxHashMap::default();
        own.iter().flat_map(|(_, items, _)| items).for_each(|&item| *often.entry(item).or_default() += 1);
        let mut pieces: FxHashMap<u64, Vec<Numbered<'d>>> = FxHashMap::default();
        for piece in own {
            let anchor = piece.1.iter().copied().min_by_key(|item| (often[item], *item));
            pieces.entry(anchor.unwrap_or(0)).or_default().push(piece);
        }
        Anchored { pieces }
    }
}

impl Tallied {
    /// Counts a part.
    pub fn of(
        drawn: &Drawn,
        claim: &Claim,
        data: &Dataset,
        binding: &Binding,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let number = drawn.pieces.len();
        let totals = Totals::of_claim(claim, data, binding);
        let (counts, unclear) = (vec![0; number], vec![false; number]);
        let mut tallied = Tallied { counts, unclear, totals, ..Tallied::default() };
        let spelled = data.one_spelling();
        let data = spelled.as_ref().unwrap_or(data);
        if let Some((_, ask)) = by_class(claim) {
            tallied.seen = Seen::of(&drawn.looks, data, binding, ask, observer)?;
            return Ok(tallied);
        }
        for (number, way) in ways(claim)?.iter().enumerate() {
            let anchored = Anchored::new(drawn, number as u32);
            tallied.count(anchored, &mut Read::new(data, binding, way)?, observer)?;
        }
        Ok(tallied)
    }

    fn count(
        &mut self,
        mut anchored: Anchored<'_>,
        read: &mut Read<'_>,
        observer: &dyn Observer,
    ) -> Result<()> {
        let enough = read.asked.k.max(1) as u64;
        let mut own: Vec<(u64, Known)> = Vec::new();
        for record in 0..read.asked.data.len() {
            observer.go_on()?;
            let items = read.reader.items(record).to_vec();
            own.clear();
            own.extend(items.into_iter().map(|item| (read.hash((item, PRESENT)), (item, PRESENT))));
            if let Some(knower) = read.asked.knower.filter(|knower| !knower.knows.is_empty()) {
                let class = (read.reader.class(record, &knower.knows), CLASS);
                own.push((read.hash(class), class));
            }
            own.sort_unstable();
            own.dedup();
            let mut person = None;
            for (anchor, _) in &own {
                let Some(pieces) = anchored.pieces.get_mut(anchor) else { continue };
                pieces.retain(|(number, hashes, piece)| {
                    let item =
                        |hash: &u64| own.binary_search_by_key(hash, |own| own.0).ok().map(|at| own[at].1);
                    let Some(known) = hashes.iter().map(item).collect::<Option<Vec<Known>>>() else {
                        return true;
                    };
                    if !piece.related.is_empty() && read.asked.is_large(record) {
                        self.unclear[*number] = true;
                        return true;
                    }
                    let related = piece.related.iter().map(|&(a, b)| (a as usize, b as usize)).collect();
                    let fits = piece.related.is_empty() || {
                        let own = person.get_or_insert_with(|| read.asked.person(&mut read.reader, record));
                        read.asked.fits(own, &Piece { known, related })
                    };
                    self.counts[*number] += u64::from(fits);
                    self.counts[*number] < enough
                });
            }
        }
        Ok(())
    }

    /// The same as the counts of the part with a number.
    #[must_use]
    pub fn of_part(self, part: u32) -> Self {
        Tallied { parts: BTreeSet::from([part]), ..self }
    }

    /// Both together, of parts that were counted once each.
    pub fn merge(mut self, other: Tallied) -> Result<Self> {
        if self.parts.is_empty() {
            return Ok(other);
        }
        if self.counts.len() != other.counts.len() || !self.parts.is_disjoint(&other.parts) {
            return Err(Failure::defect("a part was counted again twice, or by other pieces"));
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, its)| *own += its);
        self.unclear.iter_mut().zip(&other.unclear).for_each(|(own, its)| *own |= its);
        self.seen = self.seen.merge(other.seen);
        self.parts.extend(&other.parts);
        self.totals = self.totals.and(other.totals);
        Ok(self)
    }

    /// What was counted again of a claim that was found to hold for so many records. Fails with a defect if it does not.
    pub(crate) fn judged(&self, drawn: &Drawn, claim: &Claim, records: u64) -> Result<Recount> {
        if drawn.totals.records != records || self.counts.len() != drawn.pieces.len() {
            return Err(disagreement("not all records were counted a second time"));
        }
        self.totals.refuse_other(drawn.totals)?;
        if let Some(asked) = by_class(claim) {
            return self.seen.judged(&drawn.looks, asked, records);
        }
        let k = |claim: &Claim| match claim {
            Claim::Km(km) => Ok(u64::from(km.k)),
            Claim::Kmn(kmn) => Ok(u64::from(kmn.k)),
            _ => Err(Failure::defect("a claim that is not counted by knowledge")),
        };
        let k = ways(claim)?.iter().map(k).collect::<Result<Vec<u64>>>()?;
        let known = drawn.pieces.iter().zip(&self.counts).zip(&self.unclear);
        let mut known = known.filter(|((piece, _), unclear)| !**unclear && drawn.is_known(&piece.1));
        if known.any(|(((_, piece), &count), _)| k.get(piece.way as usize).is_none_or(|&k| count < k)) {
            return Err(disagreement("some knowledge fits fewer of all records than claimed"));
        }
        let complete = drawn.complete && !self.unclear.contains(&true);
        let pieces = drawn.pieces.len() as u64;
        Ok(Recount { pieces, records: drawn.from, complete, not_covered: Vec::new() })
    }

    /// The counts as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT_TALLIED, VERSION);
        out.numbers(self.counts.iter().copied());
        out.numbers(self.unclear.iter().map(|&unclear| u64::from(unclear)));
        out.numbers(self.parts.iter().map(|&part| u64::from(part)).collect::<Vec<_>>().into_iter());
        self.seen.write(&mut out);
        self.totals.write(&mut out);
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Bytes::new(bytes, WHAT_TALLIED, VERSION)?;
        let (counts, unclear, parts) = (from.numbers()?, from.numbers()?, from.numbers()?);
        let seen = Seen::read(&mut from)?;
        let totals = Totals::read(&mut from)?;
        from.end()?;
        let parts = parts.into_iter().map(u32::try_from).collect::<std::result::Result<_, _>>();
        let parts = parts.map_err(|_| damaged())?;
        if unclear.len() != counts.len() || unclear.iter().any(|&unclear| unclear > 1) {
            return Err(damaged());
        }
        let unclear = unclear.iter().map(|&unclear| unclear == 1).collect();
        Ok(Tallied { counts, unclear, seen, parts, totals })
    }
}
