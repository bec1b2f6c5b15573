//! `bosket export`: metadata of a publication for catalogues.

use bosket_app::export::{ExportRequest, Form};
use bosket_model::Result;

use crate::Outcome;
use crate::args::Export;
use crate::output::{print, print_json};
use crate::talk::Talk;

pub fn run(args: &Export, talk: &Talk) -> Result<Outcome> {
    let (form, own) = match args {
        Export::Croissant(own) => (Form::Croissant, own),
        Export::Dcat(own) => (Form::Dcat, own),
    };
    let request = ExportRequest {
        publication: own.publication.clone(),
        certificate: own.certificate.clone(),
        form,
        about: own.about(),
        out: own.out.clone(),
        force: own.force,
        settings: talk.settings(None, false),
    };
    let made = talk.told(bosket_app::export(&request, talk)?);
    match &own.out {
        Some(out) => print(&format!("wrote the metadata to {}\n", out.display()))?,
        None => print_json(&made)?,
    }
    Ok(Outcome::Done)
}
