//! Points of dissection: a document read, grouped and written as a stream, and the grouping of generated people.

use bosket_app::Settings;
use bosket_app::trial::TrialPeople;
use bosket_engine::dissect::{Algorithm, Params, Release, Sensitive, run};
use bosket_generate::sensitive_tree::{Shape, hierarchy, values};
use bosket_io::apart::Dissection;
use bosket_io::{PolicyFile, Whereabouts};
use bosket_model::dissected::SensitiveValues;
use bosket_model::hierarchy::csv;
use bosket_model::observe::Quiet;
use bosket_model::random::Random;
use bosket_model::sides::Fates;
use bosket_model::{Dictionary, Failure, Kind};

use super::job::{Answer, Group, Outcome, Policy};
use crate::resources::{cpu, mb, memory, reset_peak, timed};

fn first(failure: Failure) -> String {
    failure.diagnostics.first().map_or_else(|| "it failed".to_owned(), |d| d.message.clone())
}

/// Grouping is repeated for about so many seconds.
const STEADY: f64 = 0.02;

/// A document from its file to the drafts of both sides, which are thrown away.
pub(super) fn document(policy: &Policy) -> Answer {
    let file = PolicyFile::load(&policy.path, &policy.settings).map_err(first)?;
    reset_peak();
    let begun = cpu();
    let (found, time) = timed(|| stream(&file));
    let mut outcome = found.map_err(first)?;
    (outcome.wall, outcome.cpu, outcome.peak) = (time.as_secs_f64(), cpu() - begun, mb(memory().1));
    Ok(outcome)
}

fn stream(file: &PolicyFile) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    if !file.policy.need_privacy()?.model.has_guarantee() {
        let group_size = Params::new(&file.policy)?.group_size;
        let (drafts, ..) =
            Dissection::new(file, Fates::new)?.plain(&Whereabouts::input(file)?, group_size)?;
        outcome.figures.insert("people".to_owned(), drafts.written.people as f64);
        return Ok(outcome);
    }
    let mut people = TrialPeople::read(file, &Settings::default(), &Quiet)?.value;
    // By the clock: it takes less than the steps in which the system counts computing.
    let (release, time) = timed(|| people.group(&Quiet));
    let release = release?;
    outcome.figures.insert("grouping".to_owned(), time.as_secs_f64());
    let written = people.write(&release)?;
    outcome.figures.insert("people".to_owned(), written.people as f64);
    outcome.figures.insert("suppressed".to_owned(), release.suppressed as f64);
    tell(&release, &mut outcome);
    Ok(outcome)
}

fn tell(release: &Release, outcome: &mut Outcome) {
    if let Some(found) = release.degrees.first() {
        let figures = [("degree", found.set_wise), ("pairwise", found.pairwise)];
        let known = figures.into_iter().filter_map(|(name, d)| Some((name.to_owned(), f64::from(d?))));
        outcome.figures.extend(known);
    }
}

/// Groups people of several seeds.
pub(super) fn generated(job: &Group) -> Answer {
    let shape = Shape {
        fanout: job.fanout,
        depth: job.depth,
        levels: job.levels,
        least: 0,
        most: job.most,
        group_size: job.group_size,
    };
    let tree = csv::parse("tree", &hierarchy(&shape)).map_err(|d| format!("{d:?}"))?;
    let algorithm = if job.delta { Algorithm::Delta } else { Algorithm::Anatomy };
    let mut outcome = Outcome::default();
    let (mut degrees, mut people, mut grouped) = (0.0, 0, 0u32);
    reset_peak();
    for seed in 0..job.seeds {
        let mut random = Random::new(seed);
        let mut keep =
            |value: &String| job.bias == 1 || value.starts_with("n1") || random.below(job.bias) == 0;
        let texts: Vec<String> = values(&shape, seed).into_iter().filter(|v| keep(v)).collect();
        let mut dictionary = Dictionary::default();
        let codes = texts.iter().map(|t| [dictionary.intern(Kind::Text, t)]).collect();
        let column =
            SensitiveValues { declared: 0, path: "finding".into(), many: false, values: dictionary, codes };
        let ties: Vec<u64> = (0..texts.len() as u64).collect();
        let sensitive = [Sensitive { values: &column, hierarchy: Some(&tree) }];
        let params = Params::plain(algorithm, job.group_size);
        let group = || run(texts.len(), &sensitive, &ties, &params, &Quiet);
        let (release, time) = timed(group);
        // The system counts computing in steps of milliseconds, and this takes less.
        let times = (STEADY / time.as_secs_f64()).ceil().clamp(1.0, 100.0);
        let begun = cpu();
        let (_, time) = timed(|| (0..times as u32).for_each(|_| drop(group())));
        outcome.cpu += (cpu() - begun) / times;
        outcome.wall += time.as_secs_f64() / times;
        // Values that are too frequent for the group size cannot be grouped; the others' mean is told.
        if let Ok(found) = release
            && let Some(degree) = found.degrees[0].set_wise
        {
            degrees += f64::from(degree);
            people += texts.len();
            grouped += 1;
        }
    }
    if grouped == 0 {
        return Err("values are too frequent for groups of this size".to_owned());
    }
    outcome.peak = mb(memory().1);
    (outcome.wall, outcome.cpu) = (outcome.wall / job.seeds as f64, outcome.cpu / job.seeds as f64);
    outcome.figures.insert("degree".to_owned(), degrees / f64::from(grouped));
    outcome.figures.insert("people".to_owned(), people as f64 / f64::from(grouped));
    outcome.figures.insert("nodes".to_owned(), tree.len() as f64);
    Ok(outcome)
}
