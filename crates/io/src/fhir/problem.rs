//! What can be wrong with a bundle.

use bosket_model::{Diagnostic, Place};

use crate::json::error::Error;
use crate::json::record;

/// Why a bundle could not be taken, and at which byte.
#[derive(Debug)]
pub(super) enum Problem {
    /// As in any JSON.
    Json(record::Problem),
    /// The text is JSON, but no bundle of one patient.
    Bundle { at: usize, fault: Fault },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// No object with `resourceType` "Bundle".
    NotABundle,
    /// An entry or resource is not an object, or a resource does not say its type.
    NotAResource,
    NoPatient,
    SeveralPatients,
    /// Another bundle has the same patient.
    SamePatient(u64),
    /// Two resources go by the same name.
    SameName(&'static str),
    /// A resource of this type does not say whom it is about.
    NoSubject(&'static str, &'static str),
    /// The key of a resource refers to nothing in the bundle.
    Unresolved(&'static str, &'static str),
    /// The key of a resource refers to something else than the bundle's patient.
    NotThePatient(&'static str, &'static str),
    /// A publication has something that is no value of a record.
    Outside,
    /// An id or a reference of a publication is not the one that it gives.
    NoSurrogate,
    /// A published resource is labelled otherwise than as anonymized.
    OtherLabel,
    /// The key belongs to another edition, whose format is named.
    OtherVersion(&'static str, &'static str, &'static str),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Problem::Json(error.into())
    }
}

impl From<record::Problem> for Problem {
    fn from(problem: record::Problem) -> Self {
        Problem::Json(problem)
    }
}

impl Problem {
    pub(super) fn bundle(at: usize, fault: Fault) -> Self {
        Problem::Bundle { at, fault }
    }

    pub(super) fn at(&self) -> usize {
        match self {
            Problem::Json(problem) => problem.at(),
            Problem::Bundle { at, .. } => *at,
        }
    }

    /// What the problem has in common with others that need not be shown again.
    pub(super) fn group(&self) -> Option<String> {
        match self {
            Problem::Json(problem) => problem.group(),
            Problem::Bundle { fault: Fault::SamePatient(_), .. } => Some("same patient".to_owned()),
            Problem::Bundle { fault, .. } => Some(format!("{fault:?}")),
        }
    }

    pub(super) fn diagnostic(&self, place: Place) -> Diagnostic {
        match self {
            Problem::Json(problem) => problem.diagnostic(place),
            Problem::Bundle { fault, .. } => {
                let (what, help) = fault.words();
                Diagnostic::error(what).at(place).help(help)
            }
        }
    }
}

impl Fault {
    fn words(&self) -> (String, String) {
        match self {
            Fault::NotABundle => (
                "this is no FHIR Bundle: it has no `\"resourceType\": \"Bundle\"`".to_owned(),
                "write one Bundle per patient, one per line or one per file; single resources are format `ndjson`".to_owned(),
            ),
            Fault::NotAResource => (
                "an entry of the bundle holds no resource with a `resourceType`".to_owned(),
                "put a resource into every entry, or leave the entry out".to_owned(),
            ),
            Fault::NoPatient => (
                "the bundle has resources of a patient, but no Patient".to_owned(),
                "put the Patient into the same bundle".to_owned(),
            ),
            Fault::SeveralPatients => (
                "the bundle has more than one Patient".to_owned(),
                "write one bundle per patient: a record is one person's".to_owned(),
            ),
            Fault::SamePatient(record) => (
                format!("the bundle is about the same patient as that of record {record}"),
                "put everything about a patient into one bundle: a record is one person's".to_owned(),
            ),
            Fault::SameName(kind) => (
                format!("two resources of the bundle have the same fullUrl or id; this is the second, of type {kind}"),
                "give every resource an id of its own, or leave older versions out".to_owned(),
            ),
            Fault::NoSubject(kind, key) => (
                format!("the {kind} does not say whom it is about: `{key}` has no reference"),
                format!("let `{key}` refer to the Patient of the bundle"),
            ),
            Fault::Unresolved(kind, key) => (
                format!("`{key}` of the {kind} refers to nothing in the bundle"),
                "put the resource into the same bundle, or leave the reference out; searches (`Type?…`) and other servers are not asked".to_owned(),
            ),
            Fault::NotThePatient(kind, key) => (
                format!("`{key}` of the {kind} refers to something else than the bundle's Patient"),
                "write one bundle per patient, without resources of others".to_owned(),
            ),
            Fault::Outside => (
                "something stands here in the publication that the claim says nothing about".to_owned(),
                "`verify` cannot judge it, so it must not be handed out; publish again".to_owned(),
            ),
            Fault::NoSurrogate => (
                "the ids and references of this entry are not the fresh ones of a publication".to_owned(),
                "what they say cannot be judged; publish again: entries are numbered in the order in which they stand".to_owned(),
            ),
            Fault::OtherLabel => (
                "`meta.security` of a published resource says something else than that it is anonymized (ANONYED)".to_owned(),
                "what it says cannot be judged; publish again".to_owned(),
            ),
            Fault::OtherVersion(kind, key, format) => (
                format!("the {kind} has `{key}`, which this edition of FHIR does not know"),
                format!("say format = \"{format}\" if that is what the bundles are"),
            ),
        }
    }
}
