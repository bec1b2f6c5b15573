//! Records that are XML, but do not fit the model: all are named, since reading can go on.

use bosket_model::{Diagnostic, Place};

use super::mistake::What;

/// Something that makes a record unfit for the model, though it is XML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    Mixed(String),
    /// A reference to something that is not expanded.
    Reference(What, String),
}

impl Unfit {
    /// What it has in common with others that need not be shown again.
    pub(super) fn group(&self) -> String {
        match self {
            Unfit::Mixed(path) => format!("mixed {path}"),
            Unfit::Reference(what, path) => format!("{what} {path}"),
        }
    }

    pub(super) fn diagnostic(&self, place: Place) -> Diagnostic {
        match self {
            Unfit::Mixed(path) => Diagnostic::error("an element mixes text and elements")
                .at(place.path(path.as_str()))
                .help("put the text into an element of its own, declare nothing in it, or make it `identifying`"),
            Unfit::Reference(what, path) => {
                Diagnostic::error(what.to_string()).at(place.path(path.as_str())).help(what.help())
            }
        }
    }
}
