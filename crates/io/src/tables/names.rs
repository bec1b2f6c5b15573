//! What names of tables and columns say: which are keys, which are about people.

/// Words for people, as names of tables have them.
const PEOPLE: [&str; 15] = [
    "patient",
    "customer",
    "person",
    "people",
    "student",
    "user",
    "member",
    "client",
    "employee",
    "citizen",
    "individual",
    "subject",
    "participant",
    "inhabitant",
    "borrower",
];

/// Words for what names a thing.
pub(super) const IDS: [&str; 6] = ["id", "key", "no", "nr", "number", "code"];

/// Words for there being one of each.
const ONE: [&str; 4] = ["unique", "global", "master", "universal"];

/// A name in small letters, without what separates its words.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words of a name, in small letters: `id_student`, `StudentID`, `IDunit`.
pub(super) fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut found: Vec<String> = vec![String::new()];
    let mut run = 0;
    for (i, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            found.push(String::new());
            run = 0;
            continue;
        }
        let next_small = chars.get(i + 1).is_some_and(|n| n.is_lowercase());
        // A capital begins a word after a small letter, and as the last of several before one: `XMLFile`. Of two capitals
        // both belong together, as in `IDunit`.
        let begins = c.is_uppercase() && (run == 0 || (run >= 2 && next_small));
        let ends = c.is_lowercase() && run == 2;
        if begins || ends {
            found.push(String::new());
        }
        run = if c.is_uppercase() { run + 1 } else { 0 };
        found.last_mut().expect("never empty").extend(c.to_lowercase());
    }
    found.retain(|word| !word.is_empty());
    found
}

fn people(word: &str) -> bool {
    PEOPLE.contains(&word) || word.strip_suffix('s').is_some_and(|one| PEOPLE.contains(&one))
}

/// Whether a table is called like people, and nothing else.
pub(super) fn names_people(table: &str) -> bool {
    let bare = table.rsplit('.').next().unwrap_or(table).to_lowercase();
    people(&bare)
}

/// Whether a table's name has a word for people in it.
pub(super) fn is_about_people(table: &str) -> bool {
    words(table).iter().any(|word| people(word))
}

/// Whether a column's name says that it names a person: `id_student`, `PatientNo`, `patient`, `customer_unique_id`.
pub(crate) fn names_a_person(column: &str) -> bool {
    let mut words = words(column);
    words.retain(|word| !ONE.contains(&word.as_str()));
    let rest = words.iter().filter(|word| !people(word));
    words.iter().any(|word| people(word))
        && rest.clone().count() <= 1
        && rest.into_iter().all(|w| IDS.contains(&w.as_str()))
}

/// How well a column says in words what a row is, by its name: `name`, `film_title`, or the name of its table; less is
/// better.
pub(super) fn name_rank(column: &str, table: &str) -> Option<u32> {
    let last = words(column).pop().unwrap_or_default();
    let bare = table.rsplit('.').next().unwrap_or(table);
    match last.as_str() {
        "name" | "title" | "label" | "display" => Some(0),
        _ if plain(column) == singular(bare) || plain(column) == plain(bare) => Some(1),
        "description" | "text" => Some(2),
        _ => None,
    }
}

/// Words for what leads to one person or house, or says things freely.
const PRIVATE: [&str; 31] = [
    "address",
    "street",
    "house",
    "phone",
    "telephone",
    "tel",
    "mobile",
    "fax",
    "email",
    "mail",
    "url",
    "web",
    "website",
    "homepage",
    "password",
    "username",
    "login",
    "contact",
    "note",
    "notes",
    "comment",
    "remark",
    "surname",
    "firstname",
    "lastname",
    "picture",
    "photo",
    "image",
    "iban",
    "birth",
    "salary",
];

/// Whether a column of a table that is looked up leads to one person or house, or says things freely.
pub(super) fn is_private(column: &str) -> bool {
    let words = words(column);
    let part =
        |word: &String| ["first", "last", "given", "family", "middle", "full"].contains(&word.as_str());
    let name = words.last().is_some_and(|word| word == "name") && words.iter().any(part);
    name || words.iter().any(|word| PRIVATE.contains(&word.as_str()) || people(word))
}

/// Whether a column is a postal code.
pub(super) fn is_postal(column: &str) -> bool {
    let words = words(column);
    words.iter().any(|w| ["zip", "postal", "postcode", "zipcode", "plz"].contains(&w.as_str()))
}

/// Words for those whom people deal with.
const STAFF: [&str; 13] = [
    "staff",
    "doctor",
    "physician",
    "provider",
    "nurse",
    "teacher",
    "lecturer",
    "instructor",
    "agent",
    "manager",
    "salesperson",
    "rep",
    "clerk",
];

/// Whether a table holds people, of whatever side.
pub(super) fn holds_people(table: &str) -> bool {
    let staff = |word: &String| {
        STAFF.contains(&word.as_str()) || word.strip_suffix('s').is_some_and(|one| STAFF.contains(&one))
    };
    is_about_people(table) || words(table).iter().any(staff)
}

/// Whether a table or column sorts others into a few kinds.
pub(super) fn is_a_kind(name: &str) -> bool {
    const KINDS: [&str; 12] = [
        "category",
        "genre",
        "type",
        "kind",
        "class",
        "group",
        "country",
        "region",
        "state",
        "continent",
        "domain",
        "sector",
    ];
    words(name).iter().any(|word| KINDS.contains(&singular(word).as_str()))
}

/// Whether a column could be part of a key by its name.
pub(super) fn is_part_of_a_key(column: &str) -> bool {
    let words = words(column);
    let ends = |word: Option<&String>| word.is_some_and(|w| IDS.contains(&w.as_str()));
    ends(words.first()) || ends(words.last()) || names_a_person(column)
}

/// A name of a table in the singular, as columns that refer to it have it.
pub(super) fn singular(table: &str) -> String {
    let plain = plain(table);
    let cut = |ending: &str, instead: &str| plain.strip_suffix(ending).map(|s| format!("{s}{instead}"));
    cut("ies", "y").or_else(|| cut("ses", "s")).or_else(|| cut("s", "")).unwrap_or(plain.clone())
}

/// A name that no key would have.
pub(super) const UNSUITABLE: u32 = 3;

/// How well a name suits the key of a table; less is better.
pub(super) fn rank(column: &str, table: &str) -> u32 {
    let (last, column, one, many) = (words(column).pop(), plain(column), singular(table), plain(table));
    let called =
        |name: &str| IDS.iter().any(|id| column == format!("{name}{id}") || column == format!("{id}{name}"));
    if called(&one) || called(&many) {
        0
    } else if column == "id" || column == "key" {
        1
    } else if last.is_some_and(|word| IDS.iter().any(|id| word.ends_with(id))) {
        2
    } else {
        UNSUITABLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_names() {
        for (name, parts) in [
            ("id_student", "id student"),
            ("StudentID", "student id"),
            ("IDunit", "id unit"),
            ("XMLFile", "xml file"),
            ("hoursPaid", "hours paid"),
            ("PATIENT", "patient"),
            ("studentInfo", "student info"),
            ("custkey", "custkey"),
            ("code.module-2", "code module 2"),
            ("", ""),
        ] {
            assert_eq!(words(name).join(" "), parts, "{name}");
        }
    }

    #[test]
    fn who_is_meant() {
        for name in ["id_student", "PatientNo", "PATIENT", "customer_id", "userId", "customer_unique_id"] {
            assert!(names_a_person(name), "{name}");
        }
        for name in ["id", "code_module", "students_per_class", "student_name", "username", "id_student_no"] {
            assert!(!names_a_person(name), "{name}");
        }
        assert!(names_people("students") && names_people("public.Customer") && !names_people("studentInfo"));
        assert!(is_about_people("studentInfo") && !is_about_people("courses"));
    }
}
