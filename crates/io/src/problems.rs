//! All problems of a file at once.

use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

/// How many are shown; the rest are counted.
const SHOWN: usize = 20;

/// The problems found while a file is read to its end.
#[derive(Debug)]
pub(crate) struct Problems {
    source: String,
    shown: Vec<Shown>,
    more: u64,
}

#[derive(Debug)]
struct Shown {
    diagnostic: Diagnostic,
    /// What problems like this one have in common.
    group: Option<String>,
    /// How many there were after this one.
    again: u64,
}

impl Problems {
    pub(crate) fn new(source: &str) -> Self {
        Problems { source: source.to_owned(), shown: Vec::new(), more: 0 }
    }

    fn place(&self) -> Place {
        Place::source(self.source.as_str())
    }

    /// Adds a problem, made from the file's name as the place, if it is going to be shown.
    pub(crate) fn push(&mut self, diagnostic: impl FnOnce(Place) -> Diagnostic) {
        self.push_like(None, diagnostic);
    }

    /// Adds a problem; of those that name the same group only the first is shown.
    pub(crate) fn push_like(&mut self, group: Option<String>, diagnostic: impl FnOnce(Place) -> Diagnostic) {
        if let Some(shown) = self.shown.iter_mut().find(|s| group.is_some() && s.group == group) {
            shown.again += 1;
        } else if self.shown.len() < SHOWN {
            let diagnostic = diagnostic(self.place());
            self.shown.push(Shown { diagnostic, group, again: 0 });
        } else {
            self.more += 1;
        }
    }

    /// Adds the problems of another file.
    pub(crate) fn append(&mut self, other: Problems) {
        for shown in other.shown {
            if self.shown.len() < SHOWN {
                self.shown.push(shown);
            } else {
                self.more += 1 + shown.again;
            }
        }
        self.more += other.more;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// The failure that shows what was found; there must have been something.
    pub(crate) fn failure(self) -> Failure {
        let place = self.place();
        let mut diagnostics: Vec<Diagnostic> = self.shown.into_iter().map(Shown::counted).collect();
        if self.more > 0 {
            let text = format!("{} more problems are not shown", self.more);
            diagnostics.push(Diagnostic::error(text).at(place).help("correct those above and try again"));
        }
        Failure::all(Fault::Data, diagnostics)
    }

    /// The dataset, unless there were problems or it has no record: never a part of it.
    pub(crate) fn check(mut self, data: Dataset) -> Result<Dataset> {
        if self.is_empty() && data.is_empty() {
            self.push(no_record);
        }
        self.settle().map(|()| data)
    }

    /// Nothing, unless there were problems.
    pub(crate) fn settle(self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(self.failure()) }
    }
}

impl Shown {
    fn counted(mut self) -> Diagnostic {
        match self.again {
            0 => {}
            1 => self.diagnostic.message.push_str("; the same in one more record"),
            n => self.diagnostic.message.push_str(&format!("; the same in {n} more records")),
        }
        self.diagnostic
    }
}

/// A file with nothing in it.
pub(crate) fn no_record(place: Place) -> Diagnostic {
    Diagnostic::error("the file holds no record")
        .at(place)
        .help("check that it is the right file, and complete")
}

/// More records than the model can number.
pub(crate) fn too_large(place: Place) -> Diagnostic {
    Diagnostic::error("the data is too large: more than 2^32 values").at(place).help("split the file")
}
