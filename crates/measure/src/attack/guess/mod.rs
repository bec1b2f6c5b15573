//! What published labels give away of the values that they hide.
//!
//! A label stands where its value was rare, and so may tell which value that is. Two figures: what a label tells by itself
//! (`labels`), known to who made the publication and to whoever learns it from them; and what an attacker restores who has
//! nothing but the publication (`learn`, from `context`; scored by `restored`). `cells` says what each cell stands for.
//! `control` asks the three questions of WP 216 of people who are in the publication and of some who are not.

mod cells;
mod context;
mod control;
mod json;
mod labels;
mod learn;
mod restored;

use bosket_model::observe::Observer;
use bosket_model::random::Random;
use bosket_model::{Diagnostic, Failure, Fault, Result};

pub use cells::Behind;
pub use control::{Compared, Questions, Rate, questions};
pub use labels::{Certain, TellingLabel};
pub use restored::Restored;

use super::least;
use cells::{Attribute, Cell, cells};
use context::Context;
use labels::{Below, telling};
use learn::Learner;
use restored::Said;

/// Most cells of an attribute that are attacked; of more a sample is.
const MOST_ATTACKED: usize = 20_000;

/// What is given away of an attribute's values.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeGuess {
    /// Its path in the policy.
    pub path: String,
    /// How many cells are published.
    pub cells: u64,
    /// How many of them as a label that covers more than one value.
    pub generalized: u64,
    /// Those whose label gives the value with a certainty of one half or more.
    pub half: Certain,
    /// The same for nine tenths.
    pub nine_tenths: Certain,
    /// The label that gives its value with the largest share, and more than how common it is; of several the one of most
    /// cells.
    pub largest: Option<TellingLabel>,
    /// How many generalized cells were attacked: all, or a sample.
    pub attacked: u64,
    /// The most of these that an attacker restores with nine in ten right.
    pub restored: Restored,
    /// Those of which the attacker is sure by nine in ten.
    pub sure: Restored,
    /// The most that somebody restores with nine in ten right who knows nothing but how common values are.
    pub by_frequency: Restored,
}

/// What labels give away.
#[derive(Clone, Debug, PartialEq)]
pub struct Guessed {
    /// How many records were looked at.
    pub records: usize,
    /// By attribute, in the policy's order.
    pub attributes: Vec<AttributeGuess>,
    /// The labels that give one value with one half or more, and more than how common it is; those first that tell of most
    /// cells.
    pub labels: Vec<TellingLabel>,
    /// The most cells that an attacker restores with nine in ten right, attribute by attribute or of all together, whichever is
    /// more.
    pub restored: Restored,
    /// Those of which the attacker is sure by nine in ten.
    pub sure: Restored,
    /// The most that somebody restores who knows nothing but how common values are.
    pub by_frequency: Restored,
}

impl Guessed {
    /// A figure summed up over all attributes.
    pub fn sum(&self, of: impl Fn(&AttributeGuess) -> u64) -> u64 {
        self.attributes.iter().map(of).sum()
    }
}

/// What the labels of a publication give away of its input.
pub fn guess(of: &Behind<'_>, observer: &dyn Observer) -> Result<Guessed> {
    let privacy = of.policy.need_privacy()?;
    if !privacy.model.generalizes() {
        let what = format!("model `{}` generalizes nothing: there is no label to see through", privacy.model);
        return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help("leave out --guess")));
    }
    observer.stage("looking behind labels", 0);
    let all = cells(of, observer)?;
    let targets: Vec<Vec<Cell>> = all.iter().map(|own| attacked(own, of.policy.seed)).collect();
    observer.stage("guessing what labels hide", targets.iter().map(|cells| cells.len() as u64).sum());
    let mut context = Context::new(of.published, of.hierarchies);
    let (mut attributes, mut labels) = (Vec::new(), Vec::new());
    let mut pooled: (Vec<Said>, Vec<Said>) = Default::default();
    for (own, targets) in all.iter().zip(&targets) {
        let Some(Some(hierarchy)) = of.hierarchies.get(own.declared) else { continue };
        let path = &of.input.binding.declared[own.declared].path;
        let found = telling(own, path, hierarchy);
        let learner = Learner::new(own, &mut context, least(privacy), observer)?;
        let guesses = learner.guesses(targets, &mut context, observer)?;
        let said = targets.iter().zip(guesses);
        let mut said: Vec<Said> =
            said.map(|(cell, guess)| (guess.certainty, cell.origin == Some(guess.leaf))).collect();
        pooled.0.extend(&said);
        let mut usual = by_frequency(own, targets);
        pooled.1.extend(&usual);
        attributes.push(AttributeGuess {
            path: path.clone(),
            cells: own.cells.len() as u64,
            generalized: own.cells.iter().filter(|cell| is_general(own, cell)).count() as u64,
            half: Certain::by(&found, 50),
            nine_tenths: Certain::by(&found, 90),
            largest: largest(&found),
            attacked: targets.len() as u64,
            restored: Restored::most(&mut said),
            sure: Restored::sure(&said),
            by_frequency: Restored::most(&mut usual),
        });
        labels.extend(found);
    }
    labels.retain(|label| label.is_telling && 2 * label.hiding >= label.cells);
    labels.sort_by(|a, b| b.surplus().total_cmp(&a.surplus()));
    let together = |said: &mut [Said], own: fn(&AttributeGuess) -> Restored| {
        let apart = attributes.iter().map(own).fold(Restored::default(), Restored::and);
        let all = Restored::most(said);
        if all.cells > apart.cells { all } else { apart }
    };
    Ok(Guessed {
        records: of.published.data.len(),
        sure: Restored::sure(&pooled.0),
        restored: together(&mut pooled.0, |own| own.restored),
        by_frequency: together(&mut pooled.1, |own| own.by_frequency),
        attributes,
        labels,
    })
}

fn is_general(own: &Attribute, cell: &Cell) -> bool {
    own.labels[cell.label as usize].is_general()
}

/// The generalized cells, or a sample of them.
fn attacked(own: &Attribute, seed: u64) -> Vec<Cell> {
    let general: Vec<Cell> = own.cells.iter().copied().filter(|cell| is_general(own, cell)).collect();
    if general.len() <= MOST_ATTACKED {
        return general;
    }
    let mut chosen = Random::stream(seed, own.declared as u64).sample(general.len(), MOST_ATTACKED);
    chosen.sort_unstable();
    chosen.into_iter().map(|at| general[at as usize]).collect()
}

/// What somebody says of cells who guesses the commonest value below their labels: how sure, and whether it is right.
fn by_frequency(own: &Attribute, targets: &[Cell]) -> Vec<Said> {
    let below = Below::new(own);
    let commonest = |label: &cells::Label| {
        // Of equally common values the first.
        let leaf = label.leaves.clone().rev().max_by_key(|&leaf| own.common[leaf as usize])?;
        let (count, all) = below.share(label.leaves.clone(), Some(leaf));
        Some((leaf, count as f64 / all.max(1) as f64))
    };
    let by_label: Vec<Option<(u32, f64)>> = own.labels.iter().map(commonest).collect();
    let say =
        |cell: &Cell| by_label[cell.label as usize].map(|(leaf, sure)| (sure, cell.origin == Some(leaf)));
    targets.iter().filter_map(say).collect()
}

/// The label with the largest share of one value; of several the one of most cells, and of these the first.
fn largest(labels: &[TellingLabel]) -> Option<TellingLabel> {
    let telling = labels.iter().rev().filter(|label| label.is_telling);
    let more = |a: &&TellingLabel, b: &&TellingLabel| {
        let shares =
            (u128::from(a.hiding) * u128::from(b.cells)).cmp(&(u128::from(b.hiding) * u128::from(a.cells)));
        shares.then(a.cells.cmp(&b.cells))
    };
    telling.max_by(more).cloned()
}
