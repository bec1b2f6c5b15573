//! Policies and data for whoever only wants to look at them.

use std::path::Path;

use bosket_io::{Opened, PolicyFile, Whereabouts};
use bosket_model::Result;
use bosket_model::observe::Observer;

use crate::load::{self, PolicyAt, Reading};
use crate::prepare::check_policy;
use crate::run::{Settings, run};
use crate::warned::Warned;

/// Reads a policy.
pub fn policy(at: &PolicyAt, settings: &Settings, observer: &dyn Observer) -> Result<Warned<PolicyFile>> {
    run(settings, observer, |run| at.load(run))
}

/// Reads the records of a policy's source.
pub fn source(file: &PolicyFile, settings: &Settings, observer: &dyn Observer) -> Result<Warned<Opened>> {
    run(settings, observer, |run| load::records(Whereabouts::input(file)?, run))
}

/// Reads records that no policy describes.
pub fn data(
    path: &Path,
    reading: &Reading,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Warned<Opened>> {
    run(settings, observer, |run| load::document(path, reading.format.as_deref(), reading.layout(), run))
}

/// Reads a policy and refuses what a run would refuse before it reads any data.
pub fn checked_policy(
    at: &PolicyAt,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Warned<PolicyFile>> {
    run(settings, observer, |run| {
        let file = at.load(run)?;
        check_policy(&file)?;
        Ok(file)
    })
}
