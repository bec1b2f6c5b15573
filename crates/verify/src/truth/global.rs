//! Global recoding: one cut for all records.
//!
//! The cut is recovered from the published labels: they must be nodes of the hierarchies, none above another, and
//! every value of the input must lie under exactly one. Recoding the input with it must give the published values,
//! record by record; relations may have been taken apart, but none may be new. That holds for payloads and what they
//! belong to as well. Where rows stand for themselves, each must come from one row of the input (`rows`).
//!
//! With `suppress` all values of a person may be left out, or a value everywhere, even if a published one covers it
//! (`left_out`). Where a missing value counts as `*`, `*` says no more than an empty place, and is not compared; rows of which
//! no quasi value is published may be left out with what stands beside these, all of their class.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use bosket_model::Result;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::NodeId;
use bosket_model::observe::Observer;
use bosket_model::policy::{Payload, Role, RootMode, Rows};

use super::beside::{Hung, Numbers, companions, unchanged};
use super::rows::{Row, RowReader, false_link, record_derives};
use super::{
    Comparison, MOST_MATCHED, Untruth, astray, counted, left_out, matching, too_many, unknown_values,
};
use crate::columns::{ANYTHING, Emptiness, Item, may_be_left_out};
use crate::trees::Trees;

/// A record as it should be, or is, published.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RecodedRecord {
    items: Vec<u32>,
    payload: Vec<u32>,
    /// What may get lost, but not be added: related items, and companion values beside one of the marks below.
    loose: Vec<(u32, u32)>,
    /// The payload with the items above, which may get lost too.
    hung: Vec<Hung>,
    /// How its rows look, where these stand for themselves.
    look: u32,
}

/// What of a record says how its values belong together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Nothing does.
    Sets,
    /// Pairs of values, one above the other.
    United,
    /// Each of its rows.
    Rows(Payload, Rows),
}

/// Stands where an item would, beside a companion that is an item.
const COMPANION_ITEM: u32 = u32::MAX;
/// Stands where an item would, beside a companion that is payload.
const COMPANION_PAYLOAD: u32 = u32::MAX - 1;

pub(super) fn compare(
    c: &Comparison<'_>,
    trees: Option<(RootMode, Rows, bool)>,
    payload: Payload,
    observer: &dyn Observer,
) -> Result<Vec<Untruth>> {
    let (mode, counted) = trees.map_or((RootMode::Separate, false), |(root, _, counted)| (root, counted));
    let published =
        Trees::new(c.published.data, c.published.binding, mode, payload, Emptiness::Nothing, observer)?;
    let input = Trees::new(c.input.data, c.input.binding, mode, payload, Emptiness::Nothing, observer)?;
    let gone = if counted { gone_with_their_rows(c, &published) } else { Vec::new() };
    let input = input.without_beside(|home| gone.contains(&home));
    let mut untruths = if payload == Payload::Drop { kept(c) } else { Vec::new() };
    let says_nothing =
        |item: &Item| counted && item.label == ANYTHING && !c.published.binding.is_item(item.declared);
    let same: Vec<Option<u32>> = (0..published.items().len() as u32)
        .map(|item| Some(item).filter(|&item| !says_nothing(&published.items()[item as usize])))
        .collect();
    let recode = recover_cut(c, &published, &same, &input, &mut untruths);
    if !untruths.is_empty() {
        return Ok(untruths);
    }
    let reading = match trees {
        None => Reading::Sets,
        Some((_, Rows::United, _)) => Reading::United,
        Some((_, rows, _)) => Reading::Rows(payload, rows),
    };
    let reading = &(reading, gone);
    let first = assess(c, (&published, &same), (&input, &recode), reading, observer)?;
    if !c.suppress || counted || first.is_empty() {
        return Ok(first);
    }
    for recode in left_out::ways(c, (&published, &same), (&input, recode), observer)? {
        let untruths = assess(c, (&published, &same), (&input, &recode), reading, observer)?;
        if untruths.is_empty() {
            return Ok(untruths);
        }
    }
    Ok(first)
}

/// The homes of which nothing is published beside quasi values, as their rows would be seen to be empty.
fn gone_with_their_rows(c: &Comparison<'_>, published: &Trees) -> Vec<usize> {
    let there = published.homes_beside();
    let may_be = may_be_left_out(c.published.binding);
    (0..may_be.len()).filter(|home| may_be[*home] && !there.contains(home)).collect()
}

/// Whether all values of a person were left out: nothing is there but the record's own object.
fn is_emptied(c: &Comparison<'_>, record: usize, made: &RecodedRecord) -> bool {
    made.items.is_empty() && left_out::may_be_emptied(c, record)
}

/// What stands beside the values of a record's own object, companions aside.
fn own_payload<'t>(trees: &'t Trees, binding: &Binding, record: usize) -> Vec<&'t (usize, String)> {
    let own = trees.beside(record).iter().filter(|beside| beside.home == 0);
    own.flat_map(|own| &own.values).filter(|(d, _)| binding.declared[*d].follows.is_none()).collect()
}

/// How many records there are on either side by what stands beside the values of their own object, and how many of them say
/// more than that; emptied people did.
#[derive(Default)]
struct Told {
    published: i64,
    input: i64,
    published_more: i64,
    input_more: i64,
}

fn told<'t>(
    c: &Comparison<'_>,
    (published, out): (&'t Trees, &[RecodedRecord]),
    (input, expected): (&'t Trees, &[RecodedRecord]),
) -> BTreeMap<Vec<&'t (usize, String)>, Told> {
    let binding = c.input.binding;
    let mut all: BTreeMap<_, Told> = BTreeMap::new();
    for (p, made) in out.iter().enumerate() {
        let told = all.entry(own_payload(published, binding, p)).or_default();
        told.published += 1;
        told.published_more += i64::from(!made.items.is_empty() || is_emptied(c, p, made));
    }
    for (i, made) in expected.iter().enumerate() {
        let told = all.entry(own_payload(input, binding, i)).or_default();
        told.input += 1;
        told.input_more += i64::from(!made.items.is_empty());
    }
    all
}

/// All records of one side.
fn made(
    maker: &mut RecordMaker<'_>,
    trees: &Trees,
    recode: &[Option<u32>],
    observer: &dyn Observer,
) -> Result<Vec<RecodedRecord>> {
    (0..trees.len())
        .map(|record| {
            observer.go_on()?;
            Ok(maker.record(trees, record, recode))
        })
        .collect()
}

/// Compares the publication with the input recoded item by item.
fn assess(
    c: &Comparison<'_>,
    (published, same): (&Trees, &[Option<u32>]),
    (input, recode): (&Trees, &[Option<u32>]),
    (reading, gone): &(Reading, Vec<usize>),
    observer: &dyn Observer,
) -> Result<Vec<Untruth>> {
    let mut untruths = Vec::new();
    let reading = *reading;
    let mut maker = RecordMaker { c, published, reading, numbers: Numbers::default() };
    let mut out: Vec<RecodedRecord> = made(&mut maker, published, same, observer)?;
    let mut expected: Vec<RecodedRecord> = made(&mut maker, input, recode, observer)?;
    // What was taken apart everywhere asks nothing of any pair; without it most records are simply equal.
    let left: FxHashSet<(u32, u32)> = out.iter().flat_map(|f| f.loose.iter().copied()).collect();
    expected.iter_mut().for_each(|f| f.loose.retain(|pair| left.contains(pair)));
    let rows = match reading {
        Reading::Rows(payload, rows) => {
            let mut reader = RowReader::new(payload, rows, gone);
            let shown = shown(published, same, observer)?;
            let published = reader.published(&c.published, same, observer)?;
            let parted = reader.input(&c.input, recode, Some(&shown), observer)?;
            out.iter_mut().zip(&published).for_each(|(record, row)| record.look = row.look());
            expected.iter_mut().zip(&parted).for_each(|(record, row)| record.look = row.look());
            Some((published, reader.input(&c.input, recode, None, observer)?))
        }
        Reading::Sets | Reading::United => None,
    };
    let fits = |p: usize, i: usize| {
        let own = (&out[p], &expected[i]);
        if is_emptied(c, p, own.0) {
            let binding = c.input.binding;
            return Ok(own_payload(published, binding, p) == own_payload(input, binding, i));
        }
        Ok(own.0.items == own.1.items
            && own.0.payload == own.1.payload
            && own.0.loose.iter().all(|pair| own.1.loose.binary_search(pair).is_ok())
            && (own.0.hung == own.1.hung || unchanged(&own.0.hung, &own.1.hung, |a, b| a == b, observer)?)
            && match &rows {
                None => true,
                Some((published, input)) => {
                    record_derives(&published[p], &input[i], c.input.binding, observer)?
                }
            })
    };
    let told = told(c, (published, &out), (input, &expected));
    let lonely = match c.mapping {
        Some(mapping) => mapping.unfit(fits, observer)?,
        None => {
            let all = 0..out.len() as u32;
            let (emptied, others): (Vec<u32>, Vec<u32>) =
                all.partition(|&record| is_emptied(c, record as usize, &out[record as usize]));
            let mut lonely = unmatched((&out, &others), &expected, fits, observer)?;
            // Whoever says no more comes from any record that is left with the same beside its own values.
            if told.values().any(|told| told.published > told.input) {
                lonely.extend(emptied);
                lonely.sort_unstable();
            }
            lonely
        }
    };
    if let Some((published, input)) = &rows {
        untruths.extend(false_links(c, (&out, published), (&expected, input), &lonely));
    }
    untruths.extend(astray(c, lonely));
    let missing: i64 = match c.mapping {
        Some(mapping) => {
            let mut left: Vec<bool> = expected.iter().map(|made| !made.items.is_empty()).collect();
            mapping.pairs.iter().for_each(|pair| left[pair.input as usize] = false);
            left.iter().filter(|left| **left).count() as i64
        }
        None if c.suppress => told.values().map(|told| (told.input_more - told.published_more).max(0)).sum(),
        None => told.values().map(|told| told.input_more - told.published_more).sum(),
    };
    if missing > 0 {
        let what = counted(missing as usize, "input record is missing", "input records are missing");
        untruths.push(Untruth::new(format!("{what} from the publication")));
    }
    Ok(untruths)
}

/// The pairs of values that any published record shows one above the other.
fn shown(published: &Trees, same: &[Option<u32>], observer: &dyn Observer) -> Result<FxHashSet<(u32, u32)>> {
    let mut shown = FxHashSet::default();
    for record in 0..published.len() {
        observer.go_on()?;
        for node in published.nodes(record) {
            let item = |node: usize| same[published.item(node) as usize];
            let above = published.above(node).filter_map(item);
            shown.extend(above.zip(std::iter::repeat(item(node))).filter_map(|(a, b)| Some((a, b?))));
        }
    }
    Ok(shown)
}

/// Rows that hang below others that they do not belong to, by classes, as far as one record of the input tells.
fn false_links(
    c: &Comparison<'_>,
    (out, published): (&[RecodedRecord], &[Row]),
    (expected, input): (&[RecodedRecord], &[Row]),
    lonely: &[u32],
) -> Vec<Untruth> {
    let mut links: BTreeMap<(usize, usize), Vec<u32>> = BTreeMap::new();
    for &record in lonely {
        let own = &out[record as usize];
        let mapped = c.mapping.and_then(|mapping| mapping.pairs.iter().find(|pair| pair.published == record));
        let from = match mapped {
            Some(pair) => Some(pair.input as usize),
            None => expected.iter().position(|e| (&e.items, &e.payload) == (&own.items, &own.payload)),
        };
        let link =
            from.and_then(|from| false_link(&published[record as usize], &input[from], c.input.binding));
        link.into_iter().for_each(|link| links.entry(link).or_default().push(record));
    }
    let binding = c.input.binding;
    let untruth = |((upper, lower), records)| {
        let (upper, lower) = (class_name(binding, upper), class_name(binding, lower));
        let what = format!("rows of `{lower}` hang below rows of `{upper}` that they do not belong to");
        Untruth::new(what).path(&lower).records(records)
    };
    links.into_iter().map(untruth).collect()
}

/// What the policy calls a class: the path of one of its attributes without its name.
fn class_name(binding: &Binding, home: usize) -> String {
    let own = binding.declared.iter().find(|declared| declared.home == home);
    let names = own.map_or_else(String::new, |declared| declared.path.clone());
    match names.rsplit_once(['.', '/']) {
        Some((class, _)) => class.to_owned(),
        None if home == 0 => "the record".to_owned(),
        None => names,
    }
}

/// Payloads that are published although the policy drops them.
fn kept(c: &Comparison<'_>) -> Vec<Untruth> {
    let (data, binding) = (c.published.data, c.published.binding);
    (data.schema().attributes())
        .filter(|(id, _)| {
            matches!(binding.role(*id), Some(Role::Sensitive | Role::Insensitive))
                && !data.dictionary(*id).is_empty()
        })
        .map(|(_, a)| {
            Untruth::new("the policy drops payloads, but this attribute is published").path(&a.path)
        })
        .collect()
}

/// For each item of the input the published item it went to; none if its attribute or itself is not published.
fn recover_cut(
    c: &Comparison<'_>,
    published: &Trees,
    same: &[Option<u32>],
    input: &Trees,
    untruths: &mut Vec<Untruth>,
) -> Vec<Option<u32>> {
    let paths: Vec<&str> = c.input.binding.declared.iter().map(|d| d.path.as_str()).collect();
    let mut nodes: Vec<FxHashMap<NodeId, u32>> = vec![FxHashMap::default(); paths.len()];
    let mut labels: FxHashMap<(usize, &str), u32> = FxHashMap::default();
    let kept = c.kept();
    let mut unknown = Vec::new();
    let mut is_published = vec![false; paths.len()];
    for (i, item) in published.items().iter().enumerate() {
        let Some(same) = same[i] else { continue };
        let node = c.hierarchies[item.declared].as_ref().map(|h| h.node(&item.label));
        // What stays as it is says nothing about the others: all of them may be at the root, and not there.
        is_published[item.declared] |= !matches!(node, Some(Some(n)) if kept.contains(&(item.declared, n)));
        match node {
            Some(Some(node)) => drop(nodes[item.declared].insert(node, same)),
            Some(None) => unknown.push(item.declared),
            None => drop(labels.insert((item.declared, &item.label), same)),
        }
    }
    untruths.extend(unknown_values(c, unknown));
    let mut left_out: BTreeMap<usize, usize> = BTreeMap::default();
    let mut nested: BTreeMap<usize, usize> = BTreeMap::default();
    let recode = (input.items().iter())
        .map(|item| {
            let declared = item.declared;
            let mut found = Vec::new();
            match &c.hierarchies[declared] {
                None => found.extend(labels.get(&(declared, item.label.as_str()))),
                Some(hierarchy) => {
                    let mut at = hierarchy.leaf(&item.label);
                    while let Some(node) = at {
                        found.extend(nodes[declared].get(&node));
                        at = hierarchy.parent(node).filter(|_| !kept.contains(&(declared, node)));
                    }
                }
            }
            if found.len() > 1 {
                *nested.entry(declared).or_default() += 1;
            }
            let may_go = c.suppress || c.input.binding.declared[declared].follows.is_some();
            if found.is_empty() && is_published[declared] && !may_go {
                *left_out.entry(declared).or_default() += 1;
            }
            found.first().copied()
        })
        .collect();
    for (declared, count) in nested {
        let what = counted(count, "value of the input lies", "values of the input lie");
        let what = format!("{what} under several published values: this is no cut");
        untruths.push(Untruth::new(what).path(paths[declared]));
    }
    for (declared, count) in left_out {
        let what = counted(count, "value of the input is", "values of the input are");
        let what = format!("{what} left out, and the policy does not say `suppress`");
        untruths.push(Untruth::new(what).path(paths[declared]));
    }
    recode
}

/// Makes records that can be compared across the two sides.
struct RecordMaker<'a> {
    c: &'a Comparison<'a>,
    published: &'a Trees,
    reading: Reading,
    numbers: Numbers,
}

impl RecordMaker<'_> {
    fn follows(&self, declared: usize) -> Option<usize> {
        self.c.input.binding.declared[declared].follows
    }

    fn record(&mut self, trees: &Trees, record: usize, recode: &[Option<u32>]) -> RecodedRecord {
        let binding = self.c.input.binding;
        let hung = self.numbers.hung(trees, binding, record, |item| recode[item as usize]);
        let payload = hung.iter().map(|h| h.what).collect();
        let hung = if matches!(self.reading, Reading::Rows(..)) { Vec::new() } else { hung };
        let mut made = RecodedRecord { items: Vec::new(), payload, loose: Vec::new(), hung, look: 0 };
        for node in trees.nodes(record) {
            let Some(item) = recode[trees.item(node) as usize] else {
                continue;
            };
            if self.follows(self.published.items()[item as usize].declared).is_some() {
                made.loose.push((COMPANION_ITEM, item));
            } else {
                made.items.push(item);
            }
            if self.reading == Reading::United {
                let above = trees.above(node).filter_map(|above| recode[trees.item(above) as usize]);
                made.loose.extend(above.map(|above| (above, item)));
            }
        }
        for (declared, text) in companions(trees, binding, record) {
            let repeats = self.follows(declared).is_some_and(|f| self.repeats(&made.items, f, text));
            if !repeats {
                made.loose.push((COMPANION_PAYLOAD, self.numbers.of_companion(declared, text)));
            }
        }
        made.items.sort_unstable();
        made.items.dedup();
        made.loose.sort_unstable();
        made.loose.dedup();
        made
    }

    /// Whether a companion's text is the label that the record's `followed` attribute is published with.
    fn repeats(&self, items: &[u32], followed: usize, text: &str) -> bool {
        let item = |i: &u32| &self.published.items()[*i as usize];
        items.iter().map(item).any(|item| item.declared == followed && item.label == text)
    }
}

/// Those of some published records for which no expected record is left. Equal ones are paired first, which costs no match as
/// long as they are equal in all that is compared: whoever could take the partner instead can take what the pair's other side
/// would have got. As rows that are repeated may be left out, it can cost one; then all are matched.
fn unmatched(
    (out, records): (&[RecodedRecord], &[u32]),
    expected: &[RecodedRecord],
    fits: impl Fn(usize, usize) -> Result<bool> + Sync,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    /// Published and expected records with the same values and payload.
    type Groups<'a> = BTreeMap<(&'a [u32], &'a [u32]), (Vec<u32>, Vec<u32>)>;
    let mut groups = Groups::new();
    for &i in records {
        let f = &out[i as usize];
        groups.entry((&f.items, &f.payload)).or_default().0.push(i);
    }
    for (i, f) in expected.iter().enumerate() {
        groups.entry((&f.items, &f.payload)).or_default().1.push(i as u32);
    }
    let mut lonely = Vec::new();
    for (mut left, mut right) in groups.into_values() {
        observer.go_on()?;
        left.sort_by(|&a, &b| out[a as usize].cmp(&out[b as usize]));
        right.sort_by(|&a, &b| expected[a as usize].cmp(&expected[b as usize]));
        let (mut l, mut r, mut equal) = (0, 0, true);
        let (mut left_over, mut right_over) = (Vec::new(), Vec::new());
        while l < left.len() && r < right.len() {
            match out[left[l] as usize].cmp(&expected[right[r] as usize]) {
                std::cmp::Ordering::Less => {
                    left_over.push(left[l]);
                    l += 1;
                }
                std::cmp::Ordering::Greater => {
                    right_over.push(right[r]);
                    r += 1;
                }
                std::cmp::Ordering::Equal => {
                    // Rows that are repeated look the same as often as there are any.
                    if !fits(left[l] as usize, right[r] as usize)? {
                        equal = false;
                        break;
                    }
                    l += 1;
                    r += 1;
                }
            }
        }
        if equal {
            left_over.extend(&left[l..]);
            right_over.extend(&right[r..]);
        } else {
            (left_over, right_over) = (left.clone(), right.clone());
        }
        if left_over.len().min(right_over.len()) > MOST_MATCHED {
            return Err(too_many("records of which relations were taken apart are"));
        }
        let alone = |left: &[u32], right: &[u32]| -> Result<Vec<u32>> {
            let fits = |l: usize, r: usize| fits(left[l] as usize, right[r] as usize);
            let alone = matching::unmatched(left.len(), right.len(), fits, observer)?;
            Ok(alone.iter().map(|&l| left[l as usize]).collect())
        };
        let mut last = alone(&left_over, &right_over)?;
        if !last.is_empty() && left_over.len() < left.len() && left.len().min(right.len()) <= MOST_MATCHED {
            last = alone(&left, &right)?;
        }
        lonely.extend(last);
    }
    lonely.sort_unstable();
    Ok(lonely)
}
