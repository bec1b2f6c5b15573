//! Groups made part by part, each part alone.
//!
//! What holds in every group of every part holds for all of them. Whether groups can be made depends on how frequent values are, so records
//! are **dealt** by their sensitive values, like cards: sorted by value, the i-th goes to part i mod P, and a value has the same share
//! in every part but for one record. Where that one is too many, it goes on to the last part, as does whoever fits into no group.
//! `delta` is promised for all groups: all parts keep to the distance that each of them can reach.

use bosket_model::dissected::SensitiveValues;
use bosket_model::observe::{Observer, Silenced};
use bosket_model::{Fault, Result};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::column::{Column, Level, Sensitive};
use super::degree::Degrees;
use super::params::Params;
use super::rows::Rows;
use super::{Algorithm, Release, SUPPRESSED, columns, run};

/// What records are sorted by before they are dealt: all sensitive values of a record, and what else it says.
pub fn deal_key(values: &[SensitiveValues], record: usize, digest: &[u8; 32]) -> Vec<u8> {
    let mut key = Vec::new();
    for column in values {
        let mut texts: Vec<&str> =
            column.codes.of(record).iter().map(|&code| column.values.text(code)).collect();
        texts.sort_unstable();
        for text in texts {
            key.extend_from_slice(text.as_bytes());
            key.push(0);
        }
        key.push(1);
    }
    key.extend_from_slice(digest);
    key
}

/// The distance that a release keeps in all its groups, as `params` ask for it; none if there are no two values to compare.
pub fn reached(release: &Release, params: &Params) -> Option<u32> {
    let of = |degrees: &Degrees| if params.pairwise { degrees.pairwise } else { degrees.set_wise };
    release.degrees.iter().filter_map(of).min()
}

/// The records of a part that are too many: while a value has a share over one in the size of a group, one record with it. They are
/// told by their numbers in the part.
pub fn too_many(
    records: usize,
    sensitive: &[Sensitive<'_>],
    params: &Params,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    if records < params.group_size.max(1) {
        return Ok((0..records as u32).collect());
    }
    let columns = columns(records, sensitive, params)?;
    let rows = rows(records, &columns, params, observer)?;
    let mut counts = rows.counts.clone();
    let mut of_bucket: Vec<Vec<u32>> = vec![Vec::new(); counts.len()];
    let frequent: Vec<u32> = {
        // Only what is close to its share can come to be over it.
        let close = |&id: &u32| counts[id as usize] as usize * params.group_size * 2 > records;
        (0..counts.len() as u32).filter(close).collect()
    };
    for record in 0..records as u32 {
        let own = rows.of(record).iter().filter(|id| frequent.binary_search(id).is_ok());
        own.for_each(|&id| of_bucket[id as usize].push(record));
    }
    let mut gone = vec![false; records];
    let mut left = records;
    let over = |counts: &[u32], left: usize| {
        frequent.iter().copied().find(|&id| counts[id as usize] as usize * params.group_size > left)
    };
    while let Some(id) = over(&counts, left) {
        observer.go_on()?;
        let Some(record) = of_bucket[id as usize].pop() else { break };
        if !std::mem::replace(&mut gone[record as usize], true) {
            rows.of(record).iter().for_each(|&id| counts[id as usize] -= 1);
            left -= 1;
        }
    }
    Ok((0..records as u32).filter(|&record| gone[record as usize]).collect())
}

fn rows(records: usize, columns: &[Column<'_>], params: &Params, observer: &dyn Observer) -> Result<Rows> {
    Rows::new(records, columns, &vec![Level::Values; columns.len()], params.may_lack, observer)
}

/// Groups records in so many parts. `digests` (one per record, from its content) decide between records that are alike in their values.
pub fn run_in_parts(
    sensitive: &[Sensitive<'_>],
    digests: &[[u8; 32]],
    params: &Params,
    parts: usize,
    observer: &dyn Observer,
) -> Result<Release> {
    let dealt = dealt(sensitive, digests, parts);
    let params = &common(sensitive, digests, &dealt, params, observer)?;
    let mut release = Release {
        group_of: vec![SUPPRESSED; digests.len()],
        groups: 0,
        suppressed: 0,
        degrees: vec![Degrees::default(); sensitive.len()],
        telling: 0,
    };
    let Some((last, others)) = dealt.split_last() else { return Ok(release) };
    let made: Result<Vec<(Option<Release>, Vec<u32>)>> = (others.par_iter())
        .map(|part| attempted(sensitive, digests, part, params, &Silenced(observer)))
        .collect();
    let mut over = last.clone();
    for (part, (made, gone)) in others.iter().zip(made?) {
        over.extend(gone.iter().copied());
        if let Some(made) = made {
            over.extend(release.add(part, &gone, made));
        }
    }
    over.sort_unstable_by_key(|&record| digests[record as usize]);
    let (made, gone) = attempted(sensitive, digests, &over, params, observer)?;
    let mut left = gone.len();
    if let Some(made) = made {
        left += release.add(&over, &gone, made).len();
    }
    if release.groups == 0 {
        // Says why.
        return run(digests.len(), sensitive, &ties(digests), params, observer);
    }
    release.suppressed = left;
    Ok(release)
}

/// Per part its records.
fn dealt(sensitive: &[Sensitive<'_>], digests: &[[u8; 32]], parts: usize) -> Vec<Vec<u32>> {
    let values: Vec<SensitiveValues> = sensitive.iter().map(|s| s.values.clone()).collect();
    let mut order: Vec<(Vec<u8>, u32)> =
        (0..digests.len()).map(|r| (deal_key(&values, r, &digests[r]), r as u32)).collect();
    order.par_sort_unstable();
    let mut dealt = vec![Vec::new(); parts.clamp(1, digests.len().max(1))];
    let parts = dealt.len();
    order.iter().enumerate().for_each(|(at, (_, record))| dealt[at % parts].push(*record));
    dealt
}

fn ties(digests: &[[u8; 32]]) -> Vec<u64> {
    let head = |digest: &[u8; 32]| digest[..8].iter().fold(0, |head, &byte| head << 8 | u64::from(byte));
    digests.iter().map(head).collect()
}

/// The same parameters with a distance that every part can reach, where the policy names none.
fn common(
    sensitive: &[Sensitive<'_>],
    digests: &[[u8; 32]],
    dealt: &[Vec<u32>],
    params: &Params,
    observer: &dyn Observer,
) -> Result<Params> {
    if params.algorithm != Algorithm::Delta || params.delta_target.is_some() || dealt.len() < 2 {
        return Ok(params.clone());
    }
    let reached: Result<Vec<Option<u32>>> = (dealt.par_iter())
        .map(|part| {
            let (made, _) = attempted(sensitive, digests, part, params, &Silenced(observer))?;
            Ok(made.and_then(|made| reached(&made, params)))
        })
        .collect();
    Ok(Params { delta_target: Some(reached?.into_iter().flatten().min().unwrap_or(0)), ..params.clone() })
}

/// The groups of a part, if there can be any, and its records that are too many for them.
fn attempted(
    sensitive: &[Sensitive<'_>],
    digests: &[[u8; 32]],
    part: &[u32],
    params: &Params,
    observer: &dyn Observer,
) -> Result<(Option<Release>, Vec<u32>)> {
    let own = picked(sensitive, part);
    let all: Vec<Sensitive<'_>> = joined(&own, sensitive);
    let gone: Vec<u32> = too_many(part.len(), &all, params, observer)?;
    let mut stays = vec![true; part.len()];
    gone.iter().for_each(|&record| stays[record as usize] = false);
    let gone: Vec<u32> = gone.iter().map(|&record| part[record as usize]).collect();
    let kept: Vec<u32> = part.iter().zip(stays).filter(|(_, stays)| *stays).map(|(r, _)| *r).collect();
    let own = picked(sensitive, &kept);
    let digests: Vec<[u8; 32]> = kept.iter().map(|&record| digests[record as usize]).collect();
    match run(kept.len(), &joined(&own, sensitive), &ties(&digests), params, observer) {
        Ok(made) => Ok((Some(made), gone)),
        Err(failure) if failure.fault == Fault::Unreachable => Ok((None, part.to_vec())),
        Err(failure) => Err(failure),
    }
}

fn picked(sensitive: &[Sensitive<'_>], records: &[u32]) -> Vec<SensitiveValues> {
    let one = |s: &Sensitive<'_>| SensitiveValues {
        codes: records.iter().map(|&r| s.values.codes.of(r as usize).to_vec()).collect(),
        declared: s.values.declared,
        path: s.values.path.clone(),
        many: s.values.many,
        values: s.values.values.clone(),
    };
    sensitive.iter().map(one).collect()
}

fn joined<'a>(own: &'a [SensitiveValues], sensitive: &[Sensitive<'a>]) -> Vec<Sensitive<'a>> {
    own.iter().zip(sensitive).map(|(values, s)| Sensitive { values, hierarchy: s.hierarchy }).collect()
}

impl Release {
    /// Adds the groups of a part without some of its records; gives those that are in none of them.
    fn add(&mut self, part: &[u32], gone: &[u32], made: Release) -> Vec<u32> {
        let mut left = Vec::new();
        let gone: FxHashSet<u32> = gone.iter().copied().collect();
        let kept = part.iter().filter(|record| !gone.contains(record));
        for (&record, &group) in kept.zip(&made.group_of) {
            match group {
                SUPPRESSED => left.push(record),
                group => self.group_of[record as usize] = self.groups as u32 + group,
            }
        }
        self.groups += made.groups;
        self.telling += made.telling;
        for (own, weakest) in self.degrees.iter_mut().zip(made.degrees) {
            *own = own.and(weakest);
        }
        left
    }
}
