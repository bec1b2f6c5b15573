//! k^m- and k^(m,n)-anonymity of records that come in parts: counted part by part, merged, judged at the end.
//!
//! What is kept of a part is a **kernel**: records of it such that every piece of knowledge that matches s of its records
//! matches at least min(s, k) of those kept. A record is kept if one of its pieces has been kept fewer than k times; else
//! nothing about it can be rare. Kernels of parts together are a kernel of all records, and so is a kernel of a kernel. A
//! piece that matches any but fewer than k of all records matches the same ones of the kernel, and no others can be a
//! witness: the verdict and the smallest witness are those of all records.
//!
//! Diversity is about shares of all who match, absence and the guard about what records do not say: of that a kernel keeps
//! nothing, so such claims are refused here.

mod cells;

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::partition::Joined;
use bosket_model::partition::bytes::{Reader, Writer, damaged};
use bosket_model::policy::{Knower, Missing, Policy, Role};
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, Result};
use rayon::prelude::*;

use crate::claim::{Claim, Kmn};
use crate::knowledge::{Known, Numbering, Records, View};
use crate::names;
use crate::recount::parts::{Drawn, Tallied, Totals};
use crate::verification::{Decision, Verification};
use cells::Cells;

const WHAT: [u8; 4] = *b"BkVc";
const VERSION: u8 = 1;

/// Refuses a claim that cannot be judged from parts.
pub fn refuse_unmergeable(claim: &Claim) -> Result<()> {
    let (diverse, negative, guard, multiset) = match claim {
        Claim::Km(km) => (km.l.is_some(), !km.negative.is_empty(), false, km.multiset),
        Claim::Kmn(kmn) => (kmn.l.is_some(), !kmn.negative.is_empty(), kmn.guard, false),
        _ => return Err(refused("this model is not counted by knowledge")),
    };
    for (asked, what) in [
        (diverse, "`l` is about shares of all who match, which parts of the records do not tell"),
        (negative, "`negative` is about what records do not hold, which parts of the records do not tell"),
        (guard, "`guard` is about what could have been together, which parts of the records do not tell"),
        (multiset, "`multiset` numbers items by how often they occur in all records"),
    ] {
        if asked {
            return Err(refused(what));
        }
    }
    Ok(())
}

fn refused(what: &str) -> Failure {
    let what = format!("this claim cannot be checked part by part: {what}");
    Failure::new(Fault::Policy, Diagnostic::error(what).help("allow more memory, so that all records fit"))
}

/// What was found out about some parts.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Records by part.
    parts: BTreeMap<u32, u64>,
    /// The kernel.
    data: Dataset,
    /// Part and place there of each record of the kernel.
    ids: Vec<(u32, u32)>,
    /// Attributes that the policy removes and that are there.
    left: BTreeSet<String>,
}

impl Default for Counted {
    fn default() -> Self {
        let data = Joined::new().finish();
        Counted { parts: BTreeMap::new(), data, ids: Vec::new(), left: BTreeSet::new() }
    }
}

/// Counts one part. Where missing values count, `frame` must have the attributes of all parts: a place that is empty in all
/// records of a part is one.
pub fn count(
    policy: &Policy,
    claim: &Claim,
    (part, data): (u32, &Dataset),
    frame: Option<&Dataset>,
    memory: usize,
    observer: &dyn Observer,
) -> Result<Counted> {
    let mut counter = Counter::new(policy, claim, memory)?;
    match frame {
        Some(frame) => {
            let mut joined = Joined::over(frame);
            joined.add(data, |_| true, |_| true, observer)?;
            let joined = joined.finish();
            Totals::of(&joined, |_| true).refuse_other(Totals::of(data, |_| true))?;
            let mut counted = {
                counter.add(part, &joined, observer)?;
                counter.finish()
            };
            let binding = names::bound(data.schema(), &policy.attributes, policy.undeclared, "a part")?;
            counted.left = crate::left_over(data, &binding).into_iter().collect();
            Ok(counted)
        }
        None => {
            if let Claim::Kmn(Kmn { missing: Missing::Counted, .. }) = claim {
                return Err(Failure::defect("where missing values count, parts need the attributes of all"));
            }
            counter.add(part, data, observer)?;
            Ok(counter.finish())
        }
    }
}

/// Counts parts one after the other, all laid over one frame.
#[derive(Debug)]
pub struct Counter<'a> {
    policy: &'a Policy,
    memory: usize,
    readings: Vec<Reading<'a>>,
    kept: Joined,
    counted: Counted,
}

/// One of the claims that a claim is made of, with its counters.
struct Reading<'a> {
    view: View<'a>,
    k: u32,
    m: usize,
    n: usize,
    /// Who knows it, with the numbers of their classes, if that is not somebody who knows nothing in particular.
    knower: Option<(Knower, Numbering)>,
    /// Known once there is a part.
    known: Option<(Vec<Known>, Cells)>,
}

impl<'a> Reading<'a> {
    fn of(view: View<'a>, (k, m, n): (u32, u32, u32)) -> Self {
        Reading { view, k, m: m as usize, n: n as usize, knower: None, known: None }
    }

    fn of_trees(claim: Kmn) -> Self {
        let numbers = (claim.k, claim.m, claim.n);
        let reading = Reading::of(crate::view_of(&claim), numbers);
        Reading { knower: claim.knower.map(|knower| (knower, Numbering::default())), ..reading }
    }
}

impl std::fmt::Debug for Reading<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reading").field("items", &self.known.as_ref().map(|k| k.0.len())).finish()
    }
}

impl<'a> Counter<'a> {
    /// Nothing is counted yet.
    pub fn new(policy: &'a Policy, claim: &'a Claim, memory: usize) -> Result<Self> {
        refuse_unmergeable(claim)?;
        let readings = match claim {
            Claim::Km(km) => vec![Reading::of(View::default(), (km.k, km.m, 0))],
            Claim::Kmn(kmn) => kmn.readings().into_iter().map(Reading::of_trees).collect(),
            _ => return Err(Failure::defect("a claim that is not counted by knowledge")),
        };
        Ok(Counter { policy, memory, readings, kept: Joined::new(), counted: Counted::default() })
    }

    /// Counts a part.
    pub fn add(&mut self, part: u32, data: &Dataset, observer: &dyn Observer) -> Result<()> {
        let spelled = data.one_spelling();
        let data = spelled.as_ref().unwrap_or(data);
        let binding = names::bound(data.schema(), &self.policy.attributes, self.policy.undeclared, "a part")?;
        self.counted.left.extend(crate::left_over(data, &binding));
        if self.counted.parts.insert(part, data.len() as u64).is_some() {
            return Err(Failure::defect("a part was counted twice"));
        }
        let keep = self.chosen(data, &binding, observer)?;
        let quasi = |id: AttributeId| binding.role(id) == Some(Role::Quasi);
        self.kept.add(data, |record| keep[record], quasi, observer)?;
        let own = (0..data.len() as u32).filter(|&record| keep[record as usize]);
        self.counted.ids.extend(own.map(|record| (part, record)));
        Ok(())
    }

    /// Which records are kept.
    fn chosen(&mut self, data: &Dataset, binding: &Binding, observer: &dyn Observer) -> Result<Vec<bool>> {
        let mut keep = vec![false; data.len()];
        let share = self.memory / self.readings.len();
        for reading in &mut self.readings {
            let Reading { view, k, m, n, knower, known } = reading;
            let (m, n) = (*m, *n);
            let records = Records::read(data, binding, view, observer)?;
            let items = records.item_count();
            let own: Vec<Known> = (0..items as u32).map(|item| records.known(item).clone()).collect();
            let related = view.relations.is_some();
            let new = || match knower {
                // How many items all classes will have is not known.
                Some(_) => Cells::of_pieces(*k, m, share),
                None => Cells::new(*k, m, items, related, share),
            };
            let (known, cells) = known.get_or_insert_with(|| (own.clone(), new()));
            if *known != own {
                return Err(Failure::defect("parts that are counted together do not have one numbering"));
            }
            let (records, classes) = match knower {
                Some((knower, numbering)) => {
                    let (records, classes) = records.within(knower, numbering, observer)?;
                    (records, if knower.knows.is_empty() { Vec::new() } else { classes })
                }
                None => (records, Vec::new()),
            };
            // Counters only grow: whoever is not open now will not be when its turn comes.
            let closed: Vec<bool> = match related || !classes.is_empty() {
                true => Vec::new(),
                false => (0..records.len())
                    .into_par_iter()
                    .map(|record| {
                        observer.go_on()?;
                        Ok(cells.has_open(records.items(record), m) == Some(false))
                    })
                    .collect::<Result<_>>()?,
            };
            let classes = &classes;
            let mut walk =
                Walk { records: &records, classes, cells, m, n, masks: Vec::new(), positions: Vec::new() };
            for (record, keep) in keep.iter_mut().enumerate() {
                observer.go_on()?;
                if closed.get(record) == Some(&true) {
                    continue;
                }
                if walk.is_open(record, observer)? {
                    walk.count(record, observer)?;
                    *keep = true;
                }
            }
        }
        Ok(keep)
    }

    /// What was counted.
    pub fn finish(self) -> Counted {
        Counted { data: self.kept.finish(), ..self.counted }
    }
}

/// No item: what follows is the number of a class.
const A_CLASS: u32 = u32::MAX;

/// Takes a piece, its items and relations; says whether to go on.
type Then<'t> = &'t mut dyn FnMut(&mut Cells, &[u32], u64) -> Result<bool>;

/// Goes through the pieces of knowledge of a record.
struct Walk<'w> {
    records: &'w Records,
    /// Per record its class, which is a piece by itself where an attacker knows it; empty for nobody in particular.
    classes: &'w [u32],
    cells: &'w mut Cells,
    m: usize,
    n: usize,
    masks: Vec<u64>,
    positions: Vec<u32>,
}

impl Walk<'_> {
    /// Whether a piece of the record has been kept fewer than k times.
    fn is_open(&mut self, record: usize, observer: &dyn Observer) -> Result<bool> {
        if self.n == 0
            && let Some(open) = self.cells.has_open(self.records.items(record), self.m)
        {
            return Ok(open);
        }
        let mut open = false;
        self.each(record, observer, &mut |cells, items, relations| {
            open = cells.is_open(items, relations);
            Ok(!open)
        })?;
        Ok(open)
    }

    fn count(&mut self, record: usize, observer: &dyn Observer) -> Result<()> {
        self.each(record, observer, &mut |cells, items, relations| {
            cells.count(items, relations)?;
            Ok(true)
        })
    }

    /// Hands out each piece at least once, until `then` says stop.
    fn each(&mut self, record: usize, observer: &dyn Observer, then: Then<'_>) -> Result<()> {
        if let Some(&class) = self.classes.get(record)
            && !then(self.cells, &[A_CLASS, class], 0)?
        {
            return Ok(());
        }
        let items = self.records.items(record).to_vec();
        let mut set: Vec<u32> = Vec::with_capacity(self.m);
        self.positions.clear();
        // The next position to try at each depth.
        let mut next = vec![0usize];
        while let Some(at) = next.last_mut() {
            if *at == items.len() || self.positions.len() == self.m {
                next.pop();
                self.positions.pop();
                set.pop();
                continue;
            }
            let position = *at;
            *at += 1;
            self.positions.push(position as u32);
            set.push(items[position]);
            if !self.relations(record, &set, observer, then)? {
                return Ok(());
            }
            next.push(position + 1);
        }
        Ok(())
    }

    /// The pieces of one set of items.
    fn relations(
        &mut self,
        record: usize,
        set: &[u32],
        observer: &dyn Observer,
        then: Then<'_>,
    ) -> Result<bool> {
        if !then(self.cells, set, 0)? {
            return Ok(false);
        }
        if self.n == 0 || set.len() < 2 {
            return Ok(true);
        }
        let mut masks = std::mem::take(&mut self.masks);
        self.records.relation_sets(record, &self.positions, &mut masks, observer)?;
        let mut goes_on = true;
        'all: for &mask in &masks {
            // All parts of the mask but the empty one.
            let mut part = mask;
            while part != 0 {
                if part.count_ones() as usize <= self.n && !then(self.cells, set, part)? {
                    goes_on = false;
                    break 'all;
                }
                part = (part - 1) & mask;
            }
        }
        self.masks = masks;
        Ok(goes_on)
    }
}

impl Counted {
    /// How many records were counted.
    pub fn records(&self) -> u64 {
        self.parts.values().sum()
    }

    /// How many of them are kept.
    pub fn kept(&self) -> usize {
        self.data.len()
    }

    /// Both together. A part that is in both is the other's alone: it was counted again.
    pub fn merge(self, other: Counted, observer: &dyn Observer) -> Result<Counted> {
        let again = |part: u32| other.parts.contains_key(&part);
        let mut joined = Joined::new();
        joined.add(&self.data, |record| !again(self.ids[record].0), |_| true, observer)?;
        joined.add(&other.data, |_| true, |_| true, observer)?;
        let mut ids: Vec<(u32, u32)> = self.ids.iter().copied().filter(|id| !again(id.0)).collect();
        ids.extend(&other.ids);
        let mut parts = self.parts;
        parts.extend(&other.parts);
        let left = self.left.union(&other.left).cloned().collect();
        Ok(Counted { parts, data: joined.finish(), ids, left })
    }

    /// The same with no more records than needed: a kernel of the kernel.
    pub fn pruned(
        self,
        policy: &Policy,
        claim: &Claim,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Counted> {
        let mut counter = Counter::new(policy, claim, memory)?;
        let binding = names::bound(self.data.schema(), &policy.attributes, policy.undeclared, "parts")?;
        let keep = counter.chosen(&self.data, &binding, observer)?;
        let mut joined = Joined::over(&self.data);
        joined.add(&self.data, |record| keep[record], |_| true, observer)?;
        let ids = self.ids.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(id, _)| *id).collect();
        Ok(Counted { data: joined.finish(), ids, ..self })
    }

    /// What holds of the records that are kept, and so of all; a witness's records are numbered among those kept.
    fn judged(
        &self,
        policy: &Policy,
        claim: &Claim,
        hierarchies: &[Option<Hierarchy>],
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Verification> {
        refuse_unmergeable(claim)?;
        let binding = names::bound(self.data.schema(), &policy.attributes, policy.undeclared, "parts")?;
        Verification::of_records(&self.data, &binding, claim, hierarchies, memory, observer)
    }

    /// The verdict, once what holds by the kernel was counted over all records a second time.
    pub fn confirmed(
        &self,
        policy: &Policy,
        claim: &Claim,
        (drawn, tallied): (&Drawn, &Tallied),
        hierarchies: &[Option<Hierarchy>],
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Verification> {
        let mut found = self.finish(policy, claim, hierarchies, memory, observer)?;
        if let Decision::Holds(recount) = &mut found.decision {
            *recount = tallied.judged(drawn, claim, self.records())?;
        }
        Ok(found)
    }

    /// The verdict by the kernel alone, whose second count sees no other records: for proposals. A witness's records are numbered
    /// through all parts.
    pub fn finish(
        &self,
        policy: &Policy,
        claim: &Claim,
        hierarchies: &[Option<Hierarchy>],
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Verification> {
        if self.parts.is_empty() {
            return Err(Failure::defect("there is a verdict about records of which none was counted"));
        }
        let mut found = self.judged(policy, claim, hierarchies, memory, observer)?;
        let mut before: BTreeMap<u32, u64> = BTreeMap::new();
        let mut all = 0;
        for (&part, &records) in &self.parts {
            before.insert(part, all);
            all += records;
        }
        if let Decision::Violated(witness) = &mut found.decision {
            let number = |&record: &u32| {
                let (part, place) = self.ids[record as usize];
                u32::try_from(before[&part] + u64::from(place)).ok()
            };
            witness.records = witness.records.iter().filter_map(number).collect();
            witness.records.sort_unstable();
        }
        found.records = usize::try_from(all).map_err(|_| Failure::defect("more records than numbers"))?;
        found.left = self.left.iter().cloned().collect();
        Ok(found)
    }

    /// Part and place of each record that is kept.
    pub fn ids(&self) -> &[(u32, u32)] {
        &self.ids
    }

    /// Part and place of each record that the smallest witness matches; none where nobody is found.
    pub fn witnesses(
        &self,
        policy: &Policy,
        claim: &Claim,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Vec<(u32, u32)>> {
        let found = self.judged(policy, claim, &[], memory, observer)?;
        let records = found.witness().map_or_else(Vec::new, |witness| witness.records.clone());
        Ok(records.into_iter().map(|record| self.ids[record as usize]).collect())
    }

    /// The state as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.length(self.parts.len());
        for (&part, &records) in &self.parts {
            out.number(u64::from(part));
            out.number(records);
        }
        out.bytes(&self.data.to_bytes());
        for &(part, place) in &self.ids {
            out.number(u64::from(part));
            out.number(u64::from(place));
        }
        out.length(self.left.len());
        self.left.iter().for_each(|path| out.text(path));
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Counted> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let length = from.length()?;
        let mut parts = BTreeMap::new();
        for _ in 0..length {
            parts.insert(from.small()?, from.number()?);
        }
        let data = Dataset::from_bytes(from.bytes()?)?;
        let mut ids = Vec::with_capacity(data.len());
        for _ in 0..data.len() {
            let id = (from.small()?, from.small()?);
            // A record of a part that was not counted would count for nobody.
            if parts.get(&id.0).is_none_or(|&records| u64::from(id.1) >= records) {
                return Err(damaged());
            }
            ids.push(id);
        }
        let length = from.length()?;
        let left = (0..length).map(|_| Ok(from.text()?.to_owned())).collect::<Result<_>>()?;
        from.end()?;
        Ok(Counted { parts, data, ids, left })
    }
}
