//! What the labels of a publication give away of the values that they hide.

use std::path::PathBuf;

use bosket_io::{Whereabouts, publication};
use bosket_measure::attack::guess::{Behind, Guessed, Questions, guess as measured, questions};
use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Result};
use serde_json::{Value, json};

use crate::both::{self, Places};
use crate::load::{self, PolicyAt, one_stdin};
use crate::run::{Settings, run};
use crate::warned::Warned;

/// Whose labels are looked behind.
#[derive(Clone, Debug, Default)]
pub struct GuessRequest {
    /// The policy that the publication was made by.
    pub policy: PolicyAt,
    /// The private data; the policy's source if not given.
    pub data: Option<PathBuf>,
    /// The publication; where the policy publishes if not given.
    pub publication: Option<PathBuf>,
    /// Its private mapping; the policy's own if not given.
    pub mapping: Option<PathBuf>,
    /// People who were held out before publishing, in the form of the private data: a control group.
    pub control: Option<PathBuf>,
    /// What every call can be told; `show_values` shows what is hidden.
    pub settings: Settings,
}

/// What labels give away.
#[derive(Debug)]
pub struct GuessedOf {
    /// What messages call the publication.
    pub name: String,
    /// By which model it was made.
    pub model: String,
    /// What was found.
    pub found: Guessed,
    /// How often attacks hit people who are in the publication, and the control group; none without one.
    pub questions: Option<Questions>,
}

impl GuessedOf {
    /// For programs; hidden values only if asked for.
    pub fn to_json(&self, show_values: bool) -> Value {
        let mut found =
            json!({"model": self.model, "data": self.name, "guess": self.found.to_json(show_values)});
        if let Some(questions) = &self.questions {
            found["questions"] = questions.to_json();
        }
        found
    }
}

/// Looks behind the labels of a publication.
pub fn guess(request: &GuessRequest, observer: &dyn Observer) -> Result<Warned<GuessedOf>> {
    run(&request.settings, observer, |run| {
        let policy = Some(&request.policy.path);
        one_stdin([request.data.as_ref(), policy, request.publication.as_ref(), request.control.as_ref()])?;
        let file = request.policy.load(run)?;
        let model = file.policy.need_privacy()?.model.name().to_owned();
        let input = match &request.data {
            Some(path) => Whereabouts::given(&file, path, false)?,
            None => Whereabouts::input(&file)?,
        };
        let publication = match &request.publication {
            Some(path) => path.clone(),
            None => publication::target(&file)?,
        };
        let name = publication::name(&file, &publication);
        let places = Places { input, publication: &publication, mapping: request.mapping.as_deref() };
        let both = both::open(&file, places, run)?;
        let mapping = both.mapping.as_deref().ok_or_else(no_mapping)?;
        let told = Behind {
            policy: &file.policy,
            input: both.input.side(),
            published: both.published(),
            hierarchies: &both.hierarchies,
            mapping,
        };
        let questions = request.control.as_ref().map(|path| {
            let control = load::input(Whereabouts::given(&file, path, false)?, &file.policy, run)?;
            questions(&told, control.side(), run.observer)
        });
        let questions = questions.transpose()?;
        Ok(GuessedOf { name, model, found: measured(&told, run.observer)?, questions })
    })
}

fn no_mapping() -> Failure {
    let what = "what a label hides is not known without the private mapping of the publication";
    let help = "give it with --mapping; `publish.mapping` in the policy has it written";
    Failure::new(Fault::Usage, Diagnostic::error(what).help(help))
}
