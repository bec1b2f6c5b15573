//! Clusters of records that do not fit into memory: a sample says how to part them into cells of like records, the records of
//! each cell wait in a private file, and as many cells as there is room for are clustered side by side.
//!
//! What comes out is what `cluster::run` makes in memory of the same number of cells, record by record: cells are worked through in the
//! order of what their records say. Only where the cells of a later round would not fit into memory there are more of them.

use std::collections::BTreeSet;

use bosket_engine::cluster::cells::{self, CellRelease, Facts, MOST_SAMPLED, Round, Splitter, Tally};
use bosket_engine::cluster::{Cells, Params};
use bosket_engine::{Input, Params as AnyParams};
use bosket_io::Chunks;
use bosket_measure::kept::Kept;
use bosket_measure::loss::{Compared, Side};
use bosket_model::binding::Binding;
use bosket_model::dataset::ObjectName;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::{Observer, Silenced};
use bosket_model::partition::{Joined, Survey};
use bosket_model::policy::{AttributePolicy, Policy, Role};
use bosket_model::words::{count, plural};
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, Result};
use rayon::prelude::*;

use crate::chunked::each;
use crate::figures::ClusterFigures;
use crate::make::{invented, placed};
use crate::run::Run;

/// Bytes that a vertex takes while its cell is clustered, about.
const VERTEX: u64 = 512;

/// Times that what is in a private file takes in memory, about.
const UNPACKED: u64 = 6;

/// Fewest records of a sample, however little room there is.
const LEAST_SAMPLED: u64 = 10_000;

/// How often more cells are tried where one is too large.
const TRIES: usize = 6;

/// What is known of all records.
pub(crate) struct Cellular<'p> {
    policy: &'p Policy,
    params: Params,
    binding: &'p Binding,
    own: Binding,
    hierarchies: &'p [Option<Hierarchy>],
    /// Classes and attributes of all chunks, without values.
    frame: Dataset,
    /// The policy's attributes, where the input has them.
    attributes: Vec<AttributePolicy>,
    facts: Facts,
    /// Nested objects that some records do not have, and that must not be made up.
    lacking: BTreeSet<ObjectName>,
}

/// What was made.
pub(crate) struct MadeOfCells {
    /// The published records.
    pub(crate) published: Chunks,
    pub(crate) survey: Survey,
    pub(crate) kept: Kept,
    pub(crate) figures: ClusterFigures,
    pub(crate) cut_short: bool,
}

/// What cells have come to so far.
#[derive(Default)]
struct Sums {
    published: Chunks,
    left: Chunks,
    /// Vertices of those who are left over.
    left_vertices: u64,
    tally: Tally,
    kept: Kept,
    clusters: usize,
    smallest: Option<usize>,
    largest: usize,
    cut_short: bool,
}

/// Records by cell: pieces of one private file.
struct Parted {
    pieces: Chunks,
    of: Vec<Vec<usize>>,
    /// Vertices of the largest cell.
    largest: u64,
}

/// A cell that was clustered.
struct Clustered {
    release: CellRelease,
    left: Dataset,
    kept: Kept,
}

impl<'p> Cellular<'p> {
    /// Counts what a cell must know of the others, and refuses what no cell could be made of.
    pub(crate) fn new(
        policy: &'p Policy,
        (survey, binding): (&Survey, &'p Binding),
        hierarchies: &'p [Option<Hierarchy>],
        chunks: &mut Chunks,
        run: &Run<'_>,
    ) -> Result<Self> {
        let AnyParams::Cluster(params) = AnyParams::new(policy)? else {
            return Err(Failure::defect("cells are for clusters"));
        };
        let mut frame = Joined::new();
        frame.add_values(&survey.frame, |_| false);
        let mut cellular = Cellular {
            policy,
            params,
            binding,
            own: binding.without_companions(),
            hierarchies,
            frame: frame.finish(),
            attributes: placed(policy, binding),
            facts: Facts::default(),
            lacking: BTreeSet::new(),
        };
        let (mut facts, mut lacking, observer) = (Facts::default(), BTreeSet::new(), run.observer);
        let one = |data: Dataset| {
            let data = cellular.aligned(&[data], observer)?;
            cells::refuse_unfit(cellular.input(&data), &cellular.params)?;
            let objects = invented(policy, &data, binding);
            Ok((Facts::count(&data, &cellular.own, observer)?, objects))
        };
        each(chunks, "counting records", run, one, |_, (own, objects)| {
            facts = std::mem::take(&mut facts).merge(own);
            lacking.extend(objects);
            Ok(())
        })?;
        let size = cellular.params.size();
        if facts.records() < size as u64 {
            let there = plural(facts.records() as usize, "record");
            let what = Diagnostic::error(format!("clusters of {size} cannot be made of {there}"));
            return Err(Failure::new(Fault::Unreachable, what.help("ask for a smaller k or l")));
        }
        (cellular.facts, cellular.lacking) = (facts, lacking);
        Ok(cellular)
    }

    fn input<'a>(&'a self, data: &'a Dataset) -> Input<'a> {
        Input { data, binding: &self.own, hierarchies: self.hierarchies }
    }

    /// Records of several chunks under the numbers of all, with their own values only.
    fn aligned(&self, parts: &[Dataset], observer: &dyn Observer) -> Result<Dataset> {
        let mut joined = Joined::over(&self.frame);
        for part in parts {
            joined.add(part, |_| true, |_| true, observer)?;
        }
        Ok(joined.finish())
    }

    /// How records of so many are parted into cells: by a sample of them. Where the usual one takes more than a quarter of the memory, it
    /// is a smaller one.
    fn splitter(&self, from: &mut Chunks, wanted: usize, run: &Run<'_>) -> Result<Splitter> {
        let records = from.records() as u64;
        let each_takes = (UNPACKED * from.size()).div_ceil(records.max(1)).max(1);
        let room = (run.settings.memory() as u64 / 4 / each_takes).clamp(LEAST_SAMPLED, MOST_SAMPLED as u64);
        let told = records.saturating_mul(MOST_SAMPLED as u64) / room;
        let (mut sample, observer) = (Joined::over(&self.frame), run.observer);
        let one = |data: Dataset| {
            let data = self.aligned(&[data], observer)?;
            let chosen = cells::sampled(self.input(&data), told, observer)?;
            Ok(data.subset(&chosen))
        };
        each(from, "a sample of the records", run, one, |_, own| {
            sample.add(&own, |_| true, |_| true, observer)
        })?;
        let sample = sample.finish();
        let watch = &Silenced(run.observer);
        Splitter::new(self.input(&sample), &self.params, &self.facts, wanted, watch)
    }

    /// Puts records into so many cells, or fewer where they cannot be split.
    fn part(&self, from: &mut Chunks, wanted: usize, run: &Run<'_>) -> Result<Parted> {
        let splitter = self.splitter(from, wanted, run)?;
        let (mut counts, observer) = (vec![0u64; splitter.cells()], run.observer);
        let assign = |data: Dataset| {
            let data = self.aligned(&[data], observer)?;
            splitter.assign(self.input(&data), observer)
        };
        each(from, "cells of like records", run, assign, |_, of| {
            of.into_iter().for_each(|cell| counts[cell as usize] += 1);
            Ok(())
        })?;
        let splitter = splitter.joined(&counts, &self.params);
        let mut parted = Parted { pieces: Chunks::new(), of: vec![Vec::new(); splitter.cells()], largest: 0 };
        let mut vertices = vec![0u64; splitter.cells()];
        let take_apart = |data: Dataset| {
            let data = self.aligned(&[data], observer)?;
            let of = splitter.assign(self.input(&data), observer)?;
            let mut records = vec![Vec::new(); splitter.cells()];
            (0u32..).zip(of).for_each(|(record, cell)| records[cell as usize].push(record));
            let own = records.into_iter().enumerate().filter(|(_, own)| !own.is_empty());
            Ok(own.map(|(cell, own)| (cell, data.picked(&own))).collect::<Vec<_>>())
        };
        each(from, "cells of like records", run, take_apart, |_, own| {
            for (cell, data) in own {
                vertices[cell] += data.vertex_count() as u64;
                parted.of[cell].push(parted.pieces.len());
                parted.pieces.push(&data)?;
            }
            Ok(())
        })?;
        parted.largest = vertices.into_iter().max().unwrap_or(0);
        Ok(parted)
    }

    /// Puts records with so many vertices into so many cells, or into more, so that each has room.
    fn fitting(&self, from: &mut Chunks, vertices: u64, wanted: usize, run: &Run<'_>) -> Result<Parted> {
        let room = room(run);
        let mut wanted = wanted.max(vertices.div_ceil(room) as usize);
        let mut parted = self.part(from, wanted, run)?;
        for _ in 0..TRIES {
            if parted.largest <= room {
                break;
            }
            let before = parted.of.len();
            wanted = wanted.max(before) + (wanted.max(before) / 2).max(1);
            parted = self.part(from, wanted, run)?;
            if parted.of.len() <= before {
                break;
            }
        }
        Ok(parted)
    }

    /// The cells of the first round. Where nobody says how many, each has room.
    fn first(&self, chunks: &mut Chunks, run: &Run<'_>) -> Result<Parted> {
        let usual = self.facts.cells(&self.params);
        let parted = match self.params.cells {
            Cells::Auto => self.fitting(chunks, self.facts.vertices(), usual, run)?,
            Cells::Exactly(_) => self.part(chunks, usual, run)?,
        };
        let there = parted.of.len();
        run.observer.decided(&format!("{} of like records", plural(there, "cell")));
        if there > usual {
            let what = format!(
                "records are clustered in {} cells, so that each has room: fewer might have lost less",
                count(there)
            );
            let help = "the promise is kept all the same; allow more memory, or see docs/cells.md";
            run.warn([Diagnostic::warning(what).help(help)]);
        }
        Ok(parted)
    }

    /// Clusters all cells, some side by side.
    fn round(&self, parted: &mut Parted, round: Round, sums: &mut Sums, run: &Run<'_>) -> Result<()> {
        let (memory, observer) = (run.settings.memory(), run.observer);
        let fitting = memory as u64 / 2 / (parted.largest * VERTEX).max(1);
        let side_by_side = (fitting as usize).clamp(1, rayon::current_num_threads().max(1));
        let share = memory / 4 * 3 / side_by_side.min(parted.of.len().max(1));
        run.observer.stage("clustering", parted.of.len() as u64);
        for cells in parted.of.chunks(side_by_side) {
            run.observer.go_on()?;
            let mut texts: Vec<Vec<Vec<u8>>> = Vec::new();
            for cell in cells {
                texts.push(cell.iter().map(|&piece| parted.pieces.bytes(piece)).collect::<Result<_>>()?);
            }
            let one = |texts: Vec<Vec<u8>>| {
                let mut joined = Joined::over(&self.frame);
                for bytes in texts {
                    joined.add(&Dataset::from_bytes(&bytes)?, |_| true, |_| true, observer)?;
                }
                self.cluster(&joined.finish(), round, share, observer)
            };
            let made: Vec<Result<Clustered>> = texts.into_par_iter().with_max_len(1).map(one).collect();
            for made in made {
                sums.add(made?)?;
                run.observer.advance(1);
            }
        }
        Ok(())
    }

    fn cluster(
        &self,
        data: &Dataset,
        round: Round,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Clustered> {
        let params = Params { memory, ..self.params.clone() };
        let mut release =
            cells::anonymize(self.input(data), &params, &self.facts, round, &Silenced(observer))?;
        let binding = self.binding_of(&release.data)?;
        release.data = release.data.without_hollow(&binding, &self.lacking);
        let kept = self.kept(&data.picked(&release.records), &release.data, observer)?;
        Ok(Clustered { left: data.picked(&release.left), release, kept })
    }

    /// What is published of records, in the same order; of those that are suppressed, nothing is.
    fn kept(&self, records: &Dataset, published: &Dataset, observer: &dyn Observer) -> Result<Kept> {
        let binding = self.binding_of(published)?;
        let mapping: Vec<(u32, u32)> = (0..published.len() as u32).map(|record| (record, record)).collect();
        let compared = Compared {
            policy: self.policy,
            input: Side { data: records, binding: self.binding },
            published: Side { data: published, binding: &binding },
            hierarchies: self.hierarchies,
            apart: &[],
            mapping: Some(&mapping),
            mining: false,
        };
        Kept::new(&compared, &Silenced(observer))
    }

    fn binding_of(&self, published: &Dataset) -> Result<Binding> {
        Binding::new(published.schema(), &self.attributes, self.policy.undeclared, "a cell")
    }

    /// Clusters all records.
    pub(crate) fn make(&self, survey: &Survey, chunks: &mut Chunks, run: &Run<'_>) -> Result<MadeOfCells> {
        let mut sums = Sums::default();
        let mut parted = self.first(chunks, run)?;
        let cells = parted.of.len();
        self.round(&mut parted, Round::First, &mut sums, run)?;
        let again = cells::again(sums.left.records() as u64, &self.params, &self.facts, cells);
        if again > 1 || sums.left_vertices > room(run) {
            let mut left = std::mem::take(&mut sums.left);
            let vertices = std::mem::take(&mut sums.left_vertices);
            parted = self.fitting(&mut left, vertices, again, run)?;
            drop(left);
            self.round(&mut parted, Round::Last, &mut sums, run)?;
        }
        drop(parted);
        let over = self.last(&mut sums, run)?;
        if sums.clusters == 0 {
            let what = "no two records can be published together: too many share their sensitive values";
            let what = Diagnostic::error(what).help("ask for a smaller l");
            return Err(Failure::new(Fault::Unreachable, what));
        }
        let suppressed = over.len();
        if suppressed > 0 {
            let all: Vec<u32> = (0..suppressed as u32).collect();
            let input = self.input(&over);
            let watch = &Silenced(run.observer);
            let own = cells::suppressed(input, &all, &self.params, &self.facts, watch)?;
            sums.tally = std::mem::take(&mut sums.tally).merge(own);
            let kept = self.kept(&over, &Joined::over(&self.frame).finish(), run.observer)?;
            sums.kept = std::mem::take(&mut sums.kept).merge(kept);
        }
        sums.tally.texts.extend(cells::ambiguous(&survey.frame, &self.own, self.hierarchies));
        let (published, survey) = self.spelled(&mut sums, run)?;
        let figures = ClusterFigures {
            algorithm: self.params.algorithm.name().to_owned(),
            lm: sums.tally.lm(self.params.lost),
            clusters: sums.clusters,
            smallest: sums.smallest.unwrap_or(0),
            largest: sums.largest,
            suppressed,
            pruned: sums.tally.pruned(),
            cells,
            apart: None,
        };
        let kept = sums.kept.ordered(self.binding);
        Ok(MadeOfCells { published, survey, kept, figures, cut_short: sums.cut_short })
    }

    /// Clusters whoever is left over, as one cell; who is left over by it.
    fn last(&self, sums: &mut Sums, run: &Run<'_>) -> Result<Dataset> {
        let mut left = std::mem::take(&mut sums.left);
        let mut joined = Joined::over(&self.frame);
        if left.is_empty() {
            return Ok(joined.finish());
        }
        for chunk in 0..left.len() {
            run.observer.go_on()?;
            joined.add(&left.read(chunk)?, |_| true, |_| true, run.observer)?;
        }
        drop(left);
        let made =
            self.cluster(&joined.finish(), Round::Last, run.settings.memory() / 4 * 3, run.observer)?;
        sums.add(made)?;
        let mut over = std::mem::take(&mut sums.left);
        let over: Vec<Dataset> = (0..over.len()).map(|chunk| over.read(chunk)).collect::<Result<_>>()?;
        self.aligned(&over, run.observer)
    }

    /// The published records of all cells as they are written next to each other, and what values they have.
    fn spelled(&self, sums: &mut Sums, run: &Run<'_>) -> Result<(Chunks, Survey)> {
        let Sums { published, tally, .. } = sums;
        let (mut all, mut survey) = (Chunks::new(), Survey::default());
        let (tally, observer) = (&*tally, run.observer);
        let one = |data: Dataset| {
            let binding = self.binding_of(&data)?;
            let data = cells::spelled(&data, &binding, self.hierarchies, tally);
            let quasi = |id: AttributeId| binding.role(id) == Some(Role::Quasi);
            let survey = Survey::of(&data, quasi, observer)?;
            Ok((data, survey))
        };
        each(published, "writing records down", run, one, |_, (data, own)| {
            survey = std::mem::take(&mut survey).merge(&own);
            all.push(&data)
        })?;
        Ok((all, survey))
    }
}

/// Vertices that a cell may have.
fn room(run: &Run<'_>) -> u64 {
    (run.settings.memory() as u64 / 2 / VERTEX).max(1)
}

impl Sums {
    fn add(&mut self, Clustered { release, left, kept }: Clustered) -> Result<()> {
        let CellRelease { data, clusters, tally, cut_short, .. } = release;
        if !data.is_empty() {
            self.published.push(&data)?;
        }
        if !left.is_empty() {
            self.left_vertices += left.vertex_count() as u64;
            self.left.push(&left)?;
        }
        self.tally = std::mem::take(&mut self.tally).merge(tally);
        self.kept = std::mem::take(&mut self.kept).merge(kept);
        self.clusters += clusters.len();
        let sizes = clusters.iter().map(Vec::len);
        self.smallest = self.smallest.into_iter().chain(sizes.clone()).min();
        self.largest = self.largest.max(sizes.max().unwrap_or(0));
        self.cut_short |= cut_short;
        Ok(())
    }
}
