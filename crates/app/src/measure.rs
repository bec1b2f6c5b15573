//! What a publication lost, by every metric that applies.

use std::path::{Path, PathBuf};

use bosket_io::{Output, Whereabouts};
use bosket_measure::loss::{Compared, Loss};
use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Result};
use bosket_report::losses::by_attribute;

use crate::both::{self, Places};
use crate::load::PolicyAt;
use crate::places;
use crate::run::{Run, Settings, run};
use crate::warned::Warned;

/// What is to be compared.
#[derive(Clone, Debug, Default)]
pub struct MeasureRequest {
    /// The private input.
    pub input: PathBuf,
    /// The publication.
    pub publication: PathBuf,
    /// The policy that it was made by.
    pub policy: PolicyAt,
    /// The private mapping; the policy's own if not given and if it is there.
    pub mapping: Option<PathBuf>,
    /// Draw what became of each attribute, as SVG.
    pub plot: Option<PathBuf>,
    /// Replace the picture if it exists.
    pub force: bool,
    /// What every call can be told.
    pub settings: Settings,
}

/// Says what a publication lost.
pub fn measure(request: &MeasureRequest, observer: &dyn Observer) -> Result<Warned<Loss>> {
    run(&request.settings, observer, |run| {
        let file = request.policy.load(run)?;
        if file.policy.need_privacy()?.model.is_apart() {
            let what = "a dissected publication changes no value: there is no loss to measure";
            let help =
                "`bosket anonymize` says what was suppressed, `bosket verify` how far apart values are";
            return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
        }
        let places = Places {
            input: match &file.frames {
                Some(_) => Whereabouts::input(&file)?,
                None => Whereabouts::given(&file, &request.input, false)?,
            },
            publication: &request.publication,
            mapping: request.mapping.as_deref(),
        };
        let own = vec![request.input.clone(), request.publication.clone()];
        let mut read = places::inputs(&file, &request.policy.path, own);
        read.extend(request.mapping.clone());
        read.extend(places::private(&file));
        let picture = picture(request.plot.as_deref(), request.force, &read, run)?;
        let both = both::open(&file, places, run)?;
        let compared = Compared {
            policy: &file.policy,
            input: both.input.side(),
            published: both.published(),
            hierarchies: &both.hierarchies,
            apart: both.aside(),
            mapping: both.mapping.as_deref(),
            mining: true,
        };
        let loss = Loss::new(&compared, run.observer)?;
        if let Some(picture) = picture {
            places::write(picture, &by_attribute(&loss).svg())?;
        }
        Ok(loss)
    })
}

/// Takes the place of a picture before the work.
pub(crate) fn picture(
    path: Option<&Path>,
    force: bool,
    read: &[PathBuf],
    run: &Run<'_>,
) -> Result<Option<Output>> {
    let Some(path) = path else { return Ok(None) };
    places::refuse(&[path.to_owned()], read)?;
    Output::create(path, run.settings.create(force, false)).map(Some)
}
