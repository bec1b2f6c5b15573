//! What an attribute is about, by its name.

use super::words::{Name, is};

/// What a name speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    PersonName,
    Contact,
    Web,
    Document,
    FreeText,
    Identifier,
    Money,
    Grade,
    Intimate,
    Postal,
    Place,
    Gender,
    Age,
    Birth,
    Origin,
    Household,
    Work,
    Institution,
    Health,
    When,
}

/// Phrases for each topic: words that must all be in a name, in this order but not side by side. The first topic with
/// a phrase that fits decides, so what singles out most comes first.
const RULES: &[(Topic, &str)] = &[
    (
        Topic::Document,
        "ssn, social security, national insurance, passport, licence, license, drivers, mrn, medical \
         record, record number, record no, record nr, record id, chart number, nhs, account, iban, card number, creditcard, tax id, tin, vin, plate, policy number, member number, \
         case number, file number, serial number, registration number, employee number, student number, \
         customer number, patient number, fingerprint, photo, signature, imei",
    ),
    (
        Topic::Contact,
        "email, mail, phone, telephone, tel, mobile, fax, address, addr, street, house number, contact",
    ),
    (
        Topic::Web,
        "url, uri, website, homepage, rss, twitter, facebook, instagram, youtube, linkedin, mastodon, \
         wikipedia, wikidata, ballotpedia, orcid, skype, handle, ip",
    ),
    (
        Topic::PersonName,
        "firstname, lastname, middlename, fullname, surname, forename, nickname, maiden, username, \
         login, first name, last name, middle name, given name, family name, full name, nick name, user \
         name",
    ),
    (Topic::FreeText, "note, comment, remark, narrative, memo, freetext, free text"),
    (
        Topic::Intimate,
        "religion, religious, faith, hiv, aids, sexual, orientation, abortion, psychiatric, addiction, \
         genetic, criminal, conviction, offence, offense",
    ),
    (
        Topic::Money,
        "salary, income, wage, earning, pay, compensation, bonus, debt, wealth, poverty, capital gain, capital \
         loss, net worth",
    ),
    (Topic::Grade, "grade, score, mark, result, gpa"),
    (Topic::Postal, "zip, zipcode, postal, postcode, plz"),
    (
        Topic::Place,
        "city, town, village, municipality, county, district, state, province, region, country, \
         birthplace, location, latitude, longitude, lat, lon",
    ),
    (Topic::Gender, "gender, sex"),
    (Topic::Age, "age"),
    (Topic::Birth, "birth, birthday, birthdate, birthyear, born, dob, death, deathdate, died"),
    (Topic::Origin, "race, ethnicity, ethnic, ancestry, nationality, nation, citizenship, language"),
    (
        Topic::Household,
        "marital, married, marry, spouse, relationship, household, householder, child, children, home, housing",
    ),
    (
        Topic::Work,
        "occupation, job, profession, employer, employment, workclass, education, degree, school, \
         university, party, title, position, designation",
    ),
    (
        Topic::Institution,
        "hospital, clinic, doctor, physician, provider, department, ward, affiliation, organization, \
         organisation, company, office",
    ),
    (
        Topic::Health,
        "diagnosis, diagnoses, disease, condition, disorder, illness, symptom, medication, medicine, \
         drug, prescription, procedure, treatment, therapy, surgery, allergy, immunization, vaccine, \
         vaccination, injury, icd, atc",
    ),
    (
        Topic::When,
        "date, time, datetime, timestamp, day, month, year, start, end, onset, admission, discharge",
    ),
];

/// A name that ends so speaks of a property of the thing, not of the thing itself: `phone_type`.
const PROPERTIES: &[&str] = &[
    "type", "kind", "status", "class", "category", "count", "flag", "rank", "group", "level", "system", "use",
];

/// Whoever has a name that is personal.
const PEOPLE: &[&str] = &[
    "patient",
    "person",
    "people",
    "customer",
    "client",
    "employee",
    "student",
    "doctor",
    "physician",
    "author",
    "contact",
    "parent",
    "mother",
    "father",
    "child",
    "children",
    "spouse",
    "partner",
    "sibling",
    "guardian",
    "relative",
    "family",
    "user",
    "member",
    "teacher",
    "owner",
    "name",
];

/// What has a name that is nobody's: `displayName`, `codeSystemName`, `job_name`.
const THINGS: &[&str] = &[
    "display", "code", "system", "function", "job", "role", "title", "type", "class", "category", "product",
    "brand", "file", "table", "field", "test", "drug",
];

/// What nature and science give names to: `protein/recommendedName/fullName`, `geneName`.
const SUBSTANCES: &[&str] = &[
    "protein",
    "peptide",
    "enzyme",
    "receptor",
    "antibody",
    "gene",
    "genome",
    "allele",
    "variant",
    "organism",
    "species",
    "taxon",
    "strain",
    "tissue",
    "cell",
    "compound",
    "chemical",
    "molecule",
    "substance",
    "ingredient",
    "pathway",
    "reaction",
    "ontology",
    "function",
    "evidence",
    "keyword",
    "drug",
    "medication",
    "medicine",
    "vaccine",
    "procedure",
    "test",
];

/// Whoever the records are about.
const SUBJECTS: &[&str] = &[
    "patient",
    "person",
    "customer",
    "client",
    "employee",
    "student",
    "user",
    "member",
    "subject",
    "participant",
    "respondent",
];

/// Parts of a name, where the keys above say that it is one.
const NAME_PARTS: &[&str] =
    &["first", "last", "middle", "given", "family", "full", "official", "suffix", "prefix", "nick"];

impl Topic {
    /// What a name speaks of: its last key first, then all of them, then, for health, the class it stands in.
    pub(super) fn of(name: &Name) -> Option<Topic> {
        let property = ends_with(&name.last, PROPERTIES);
        let fits = |t: &Topic| *t != Topic::PersonName || !names_a_substance(name);
        let found = first_rule(&name.last, fits)
            .filter(|t| t.singles_out())
            .or_else(|| names_a_person(name).then_some(Topic::Document))
            .or_else(|| is_person_name(name).then_some(Topic::PersonName).filter(fits))
            .or_else(|| is_identifier(name).then_some(Topic::Identifier))
            .or_else(|| first_rule(&name.last, fits))
            .or_else(|| first_rule(&name.own, fits))
            .filter(|&t| !(property && (t.singles_out() || t == Topic::When)));
        found.or_else(|| rule(&name.class).filter(|&t| t == Topic::Health))
    }

    /// Whether it is about one person only.
    pub(super) fn singles_out(self) -> bool {
        matches!(
            self,
            Topic::PersonName
                | Topic::Contact
                | Topic::Web
                | Topic::Document
                | Topic::FreeText
                | Topic::Identifier
        )
    }

    /// In words.
    pub(super) fn phrase(self) -> &'static str {
        match self {
            Topic::PersonName => "a person's name",
            Topic::Contact => "a way to reach a person",
            Topic::Web => "an address on the net that leads to a person",
            Topic::Document => "a number or mark that other files know a person by",
            Topic::FreeText => "free text: what it gives away about a person cannot be checked",
            Topic::Identifier => "an identifier",
            Topic::Money => "money",
            Topic::Grade => "a grade or result",
            Topic::Intimate => "something intimate",
            Topic::Postal => "a postal code",
            Topic::Place => "a place",
            Topic::Gender => "a gender",
            Topic::Age => "an age",
            Topic::Birth => "about birth or death",
            Topic::Origin => "an origin or language",
            Topic::Household => "about family or household",
            Topic::Work => "about work, education or membership",
            Topic::Institution => "an institution or its staff",
            Topic::Health => "about health",
            Topic::When => "a time",
        }
    }
}

fn rule(words: &[String]) -> Option<Topic> {
    first_rule(words, |_| true)
}

/// The first topic of some that words speak of.
fn first_rule(words: &[String], may_be: impl Fn(&Topic) -> bool) -> Option<Topic> {
    let fits = |phrase: &str| {
        let mut rest = words.iter();
        phrase.split(' ').all(|wanted| rest.any(|word| is(word, wanted)))
    };
    let found = RULES.iter().find(|(topic, phrases)| phrases.split(", ").any(fits) && may_be(topic));
    found.map(|(topic, _)| *topic)
}

fn ends_with(words: &[String], any: &[&str]) -> bool {
    words.last().is_some_and(|last| any.iter().any(|wanted| is(last, wanted)))
}

fn mentions(words: &[String], any: &[&str]) -> bool {
    words.iter().any(|word| any.iter().any(|wanted| is(word, wanted)))
}

fn is_person_name(name: &Name) -> bool {
    if matches!(name.object.as_slice(), [only] if is(only, "name")) {
        return true;
    }
    if ends_with(&name.last, &["name"]) {
        if mentions(&name.last, THINGS) {
            return false;
        }
        let before = &name.own[..name.own.len() - 1];
        return match before {
            [] => name.class.is_empty() || mentions(&name.class, PEOPLE),
            _ => mentions(before, PEOPLE),
        };
    }
    let above = &name.own[..name.own.len().saturating_sub(name.last.len())];
    name_part(name).is_some() && (mentions(&name.class, &["name"]) || mentions(above, &["name"]))
}

/// Whether it is nearer to something that is nobody than to any person: `protein/recommendedName/fullName`, and not
/// `drug/prescriber/person/fullName`.
fn names_a_substance(name: &Name) -> bool {
    let is_any = |word: &String, any: &[&str]| any.iter().any(|wanted| is(word, wanted));
    let person = |word: &String| word != "name" && is_any(word, PEOPLE);
    let mut nearest = name.class.iter().chain(&name.own).rev();
    nearest.find(|word| person(word) || is_any(word, SUBSTANCES)).is_some_and(|word| !person(word))
}

/// The part of a name that an attribute would be if it stood among other parts: `first`, beside `last`.
pub(super) fn name_part(name: &Name) -> Option<&'static str> {
    let [only] = name.last.as_slice() else {
        return None;
    };
    NAME_PARTS.iter().copied().find(|part| part == only)
}

/// Whether it is the number of a person, or refers to one.
fn names_a_person(name: &Name) -> bool {
    let refers = ends_with(&name.own, &["reference", "ref"]) && mentions(&name.own, SUBJECTS);
    let numbered = is_identifier(name) || ends_with(&name.last, &["no", "nr", "num"]);
    refers || (numbered && mentions(&name.last, SUBJECTS))
}

fn is_identifier(name: &Name) -> bool {
    const WORDS: &[&str] = &["id", "uuid", "guid", "identifier"];
    let object = matches!(name.object.as_slice(), [only] if WORDS.iter().any(|w| is(only, w)));
    let first = name.last.first().is_some_and(|word| WORDS.contains(&word.as_str()));
    object || first || ends_with(&name.last, WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_what_they_speak_of() {
        for (path, expected) in [
            ("name", Some(Topic::PersonName)),
            ("name.first", Some(Topic::PersonName)),
            ("name.suffix", Some(Topic::PersonName)),
            ("firstName", Some(Topic::PersonName)),
            ("LAST_NAME", Some(Topic::PersonName)),
            ("surname", Some(Topic::PersonName)),
            ("other_names[].last", Some(Topic::PersonName)),
            ("family[].name", Some(Topic::PersonName)),
            ("spouse_name", Some(Topic::PersonName)),
            ("visits[].doctor_name", Some(Topic::PersonName)),
            ("hospital_id", Some(Topic::Identifier)),
            ("prizes[].affiliations[].name", None),
            ("hospital_name", Some(Topic::Institution)),
            ("state_name", Some(Topic::Place)),
            ("patient_id", Some(Topic::Document)),
            ("patientID", Some(Topic::Document)),
            ("patient/reference/@value", Some(Topic::Document)),
            ("visits[].subject.reference", Some(Topic::Document)),
            ("encounter/reference/@value", None),
            ("id_student", Some(Topic::Document)),
            ("ID", Some(Topic::Identifier)),
            ("first", None),
            ("id.bioguide", Some(Topic::Identifier)),
            ("id.fec[]", Some(Topic::Identifier)),
            ("id.wikipedia", Some(Topic::Web)),
            ("encounters[].encounter_id", Some(Topic::Identifier)),
            ("tax_id", Some(Topic::Document)),
            ("valid", None),
            ("terms[].phone", Some(Topic::Contact)),
            ("phone_type", None),
            ("account-status", None),
            ("address.line", Some(Topic::Contact)),
            ("address.city", Some(Topic::Place)),
            ("address.postalCode", Some(Topic::Postal)),
            ("email_address", Some(Topic::Contact)),
            ("salary-class", Some(Topic::Money)),
            ("eqIncome", Some(Topic::Money)),
            ("takes[].grade", Some(Topic::Grade)),
            ("religion", Some(Topic::Intimate)),
            ("sex", Some(Topic::Gender)),
            ("age_at_death", Some(Topic::Age)),
            ("page", None),
            ("bio.birthday", Some(Topic::Birth)),
            ("bornCountryCode", Some(Topic::Place)),
            ("ethnic classification", Some(Topic::Origin)),
            ("marital-status", Some(Topic::Household)),
            ("number of children", Some(Topic::Household)),
            ("native-country", Some(Topic::Place)),
            ("visits[].diagnoses[].disease", Some(Topic::Health)),
            ("encounters[].conditions[].code.code", Some(Topic::Health)),
            ("encounters[].conditions[].onset", Some(Topic::When)),
            ("prizes[].year", Some(Topic::When)),
            ("terms[].end-type", None),
            ("visits[].notes", Some(Topic::FreeText)),
            ("share", None),
            ("patient/name/family/@value", Some(Topic::PersonName)),
            ("patient/name/given[]/@value", Some(Topic::PersonName)),
            ("role/patient/name/given", Some(Topic::PersonName)),
            ("id/@extension", Some(Topic::Identifier)),
            ("patient/raceCode/@displayName", Some(Topic::Origin)),
            ("patient/raceCode/@codeSystemName", Some(Topic::Origin)),
            ("author/function/@displayName", None),
            ("employee_job_name", Some(Topic::Work)),
            ("protein/recommendedName/fullName", None),
            ("protein/recommendedName/fullName/@evidence", None),
            ("protein/recommendedName/shortName", None),
            ("protein.fullName", None),
            ("enzyme_full_name", None),
            ("gene/name", None),
            ("function/name", None),
            ("evidence[]/@type", None),
            ("evidence_code", None),
            ("medication_full_name", Some(Topic::Health)),
            ("drug/prescriber/person/fullName", Some(Topic::PersonName)),
            ("genes[].author.fullName", Some(Topic::PersonName)),
            ("MRN", Some(Topic::Document)),
            ("record_number", Some(Topic::Document)),
            ("patient/reference", Some(Topic::Document)),
            ("patient_ref", Some(Topic::Document)),
            ("PatientNo", Some(Topic::Document)),
            ("job_title", Some(Topic::Work)),
            ("title", Some(Topic::Work)),
        ] {
            assert_eq!(Topic::of(&Name::of(path)), expected, "{path}");
        }
    }
}
