//! What FHIR calls things: resources, the keys that link them, extensions.

/// The edition of FHIR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Release 3.
    Stu3,
    /// Release 4, and 4B.
    R4,
}

/// A type of resource that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Resource {
    Patient,
    Encounter,
    Condition,
    Procedure,
    MedicationRequest,
    Immunization,
}

impl Resource {
    const ALL: [Resource; 6] = [
        Resource::Patient,
        Resource::Encounter,
        Resource::Condition,
        Resource::Procedure,
        Resource::MedicationRequest,
        Resource::Immunization,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Resource::Patient => "Patient",
            Resource::Encounter => "Encounter",
            Resource::Condition => "Condition",
            Resource::Procedure => "Procedure",
            Resource::MedicationRequest => "MedicationRequest",
            Resource::Immunization => "Immunization",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }

    /// The key of the patient whom a resource is about.
    pub(super) fn subject(self) -> Option<&'static str> {
        match self {
            Resource::Patient => None,
            Resource::Immunization => Some("patient"),
            _ => Some("subject"),
        }
    }

    /// The key of the encounter that a resource belongs to.
    pub(super) fn encounter(self, version: Version) -> Option<&'static str> {
        match (self, version) {
            (Resource::Patient | Resource::Encounter, _) => None,
            (Resource::Immunization, _) | (_, Version::R4) => Some("encounter"),
            (_, Version::Stu3) => Some("context"),
        }
    }

    /// The key that the other edition has in place of [`encounter`](Self::encounter).
    pub(super) fn foreign_encounter(self, version: Version) -> Option<&'static str> {
        match (self, version) {
            (Resource::Patient | Resource::Encounter | Resource::Immunization, _) => None,
            (_, Version::R4) => Some("context"),
            (_, Version::Stu3) => Some("encounter"),
        }
    }
}

/// The name of the class of resources that belong to an encounter which a publication does not tell, where the policy
/// also knows resources that have none.
pub(super) fn moved(resource: Resource) -> String {
    format!("{}.{}", Resource::Encounter.name(), resource.name())
}

/// The resource whose class is called so, and whether its encounter is not told.
pub(super) fn by_class(name: &str) -> Option<(Resource, bool)> {
    let (name, masked) = match name.split_once('.') {
        Some(("Encounter", name)) => (name, true),
        _ => (name, false),
    };
    let resource = Resource::from_name(name).filter(|r| *r != Resource::Patient)?;
    (!masked || resource != Resource::Encounter).then_some((resource, masked))
}

/// Objects that have a `text` and are no CodeableConcept: names, addresses, notes, dosages.
pub(super) fn has_own_text(key: &str) -> bool {
    matches!(
        key,
        "name"
            | "address"
            | "note"
            | "dosage"
            | "dosageInstruction"
            | "valueHumanName"
            | "valueAddress"
            | "valueAnnotation"
            | "valueDosage"
    )
}

/// What paths call the medication of a request, be it told by a concept or by reference.
pub(super) const MEDICATION: &str = "medication";

/// Where a resource speaks of itself.
pub(super) const META: &str = "meta";

/// What a coding has besides its code.
pub(super) const CODING: [&str; 4] = ["display", "system", "userSelected", "version"];

/// Says that something is not told.
pub(super) const ABSENT: &str = "http://hl7.org/fhir/StructureDefinition/data-absent-reason";
/// Tells a value in words where its type does not allow it.
pub(super) const RENDERED: &str = "http://hl7.org/fhir/StructureDefinition/rendered-value";

/// What every published resource says of itself in `meta`: that it is anonymized, by HL7's code for that.
pub(super) const LABEL: [(&str, &str); 3] = [
    ("system", "http://terminology.hl7.org/CodeSystem/v3-ObservationValue"),
    ("code", "ANONYED"),
    ("display", "anonymized"),
];

const CORE: &str = "http://hl7.org/fhir/StructureDefinition/";
const US_CORE: &str = "http://hl7.org/fhir/us/core/StructureDefinition/";

/// The extensions of patients that have a name of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Race,
    Ethnicity,
    Birthsex,
}

impl Known {
    pub(super) const ALL: [Known; 3] = [Known::Birthsex, Known::Ethnicity, Known::Race];

    pub(super) fn name(self) -> &'static str {
        match self {
            Known::Race => "race",
            Known::Ethnicity => "ethnicity",
            Known::Birthsex => "birthsex",
        }
    }

    pub(super) fn url(self) -> String {
        format!("{US_CORE}us-core-{}", self.name())
    }

    pub(super) fn from_url(url: &str) -> Option<Self> {
        let name = url.strip_prefix(US_CORE)?.strip_prefix("us-core-")?;
        Self::ALL.into_iter().find(|k| k.name() == name)
    }
}

/// What paths call an extension: what HL7 has published without its address, the parts of another extension as they
/// are, everything else by its address.
pub(super) fn extension_name(url: &str, inner: bool) -> &str {
    if inner {
        return url;
    }
    match (url.strip_prefix(CORE), url.strip_prefix(US_CORE)) {
        (Some(name), _) if !name.contains(['/', ':']) && !name.starts_with("us-core-") => name,
        (_, Some(name)) if !name.contains(['/', ':']) && name.starts_with("us-core-") => name,
        _ => url,
    }
}

/// The address of an extension that paths call so.
pub(super) fn extension_url(name: &str, inner: bool) -> String {
    match name {
        _ if inner || name.contains(['/', ':']) => name.to_owned(),
        _ if name.starts_with("us-core-") => format!("{US_CORE}{name}"),
        _ => format!("{CORE}{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_keep_their_address() {
        for (url, inner, name) in [
            ("http://hl7.org/fhir/StructureDefinition/birthPlace", false, "birthPlace"),
            ("http://hl7.org/fhir/us/core/StructureDefinition/us-core-sex", false, "us-core-sex"),
            (
                "http://hl7.org/fhir/StructureDefinition/us-core-x",
                false,
                "http://hl7.org/fhir/StructureDefinition/us-core-x",
            ),
            (
                "http://hl7.org/fhir/StructureDefinition/a/b",
                false,
                "http://hl7.org/fhir/StructureDefinition/a/b",
            ),
            ("http://example.org/x", false, "http://example.org/x"),
            ("urn:oid:1.2", false, "urn:oid:1.2"),
            ("latitude", true, "latitude"),
            (
                "http://hl7.org/fhir/StructureDefinition/birthPlace",
                true,
                "http://hl7.org/fhir/StructureDefinition/birthPlace",
            ),
        ] {
            assert_eq!(extension_name(url, inner), name);
            assert_eq!(extension_url(name, inner), url);
        }
        for known in Known::ALL {
            assert_eq!(Known::from_url(&known.url()), Some(known));
        }
    }

    #[test]
    fn classes_of_resources() {
        assert_eq!(by_class("Condition"), Some((Resource::Condition, false)));
        assert_eq!(by_class(&moved(Resource::Procedure)), Some((Resource::Procedure, true)));
        assert_eq!(by_class("Patient"), None);
        assert_eq!(by_class("Encounter.Encounter"), None);
        assert_eq!(by_class("Encounter.type"), None);
        assert_eq!(by_class("type"), None);
    }
}
