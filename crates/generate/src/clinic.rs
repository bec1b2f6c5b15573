//! A clinic group: patients → visits → diagnoses → treatments.
//!
//! Invented people. Diseases follow age, treatments follow diseases, hospitals follow the town, so that the data
//! has the dependencies that make real records stand out.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use bosket_io::{Create, Output, finish_all};
use bosket_model::Result;

use bosket_model::random::Random;

const FIRST: &[&str] = &[
    "Ada", "Bela", "Cosmo", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jule", "Kai", "Lena", "Milo",
    "Nora", "Oskar", "Pia", "Quin", "Rosa", "Sven", "Tilda", "Udo", "Vera", "Wim", "Xenia", "Yves", "Zora",
];
const LAST: &[&str] = &[
    "Ahorn", "Birke", "Cedar", "Dorn", "Eibe", "Ficht", "Ginster", "Hasel", "Ilex", "Juniper", "Kiefer",
    "Linde", "Maple", "Nuss", "Oak", "Pappel", "Quitte", "Rowan", "Spruce", "Tanne", "Ulme", "Vine", "Weide",
    "Yew",
];

/// Region and its towns, larger towns first.
const REGIONS: &[(&str, &[&str])] = &[
    ("North", &["Harbourside", "Kelp Bay", "Lightholm", "Saltmarsh"]),
    ("East", &["Millbrook", "Orchard Hill", "Windmere", "Stonebridge"]),
    ("South", &["Sunfield", "Vinedale", "Olive Grove", "Redcliff"]),
    ("West", &["Ironford", "Coalpit", "Smithton", "Quarry End"]),
];

/// Kind and its hospitals; the i-th hospital of a kind serves the i-th region first.
const HOSPITALS: &[(&str, &[&str])] = &[
    ("General hospital", &["North General", "East General", "South General", "West General"]),
    ("Clinic", &["Harbour Clinic", "Mill Clinic", "Sun Clinic", "Iron Clinic"]),
    ("University hospital", &["St. Linnaeus", "St. Mendel"]),
];

/// Group of diseases; each disease with its code, youngest usual age and treatments.
type Disease = (&'static str, i64, &'static [&'static str]);
const DISEASES: &[(&str, &[Disease])] = &[
    (
        "Respiratory",
        &[
            ("J06.9", 0, &["Pain killer", "Rest"]),
            ("J45.9", 5, &["Inhaler", "Breathing therapy"]),
            ("J20.9", 0, &["Antibiotics", "Rest"]),
            ("J44.9", 50, &["Inhaler", "Oxygen"]),
        ],
    ),
    (
        "Digestive",
        &[
            ("K29.7", 20, &["Acid blocker", "Diet"]),
            ("K21.9", 30, &["Acid blocker"]),
            ("K80.2", 40, &["Surgery", "Pain killer"]),
        ],
    ),
    (
        "Circulatory",
        &[
            ("I10", 40, &["Beta blocker", "Diet", "Exercise"]),
            ("I25.1", 50, &["Beta blocker", "Surgery"]),
            ("I48.9", 60, &["Anticoagulant"]),
        ],
    ),
    (
        "Endocrine",
        &[
            ("E11.9", 40, &["Metformin", "Diet", "Insulin"]),
            ("E03.9", 20, &["Thyroxine"]),
            ("E66.9", 15, &["Diet", "Exercise"]),
        ],
    ),
    (
        "Musculoskeletal",
        &[
            ("M54.5", 20, &["Physiotherapy", "Pain killer"]),
            ("M17.9", 55, &["Physiotherapy", "Surgery"]),
            ("M81.0", 60, &["Exercise", "Vitamin D"]),
        ],
    ),
    (
        "Mental",
        &[("F32.9", 15, &["Psychotherapy", "Antidepressant"]), ("F41.1", 15, &["Psychotherapy", "Exercise"])],
    ),
];

/// Kind and its treatments.
const TREATMENTS: &[(&str, &[&str])] = &[
    (
        "Drug",
        &[
            "Pain killer",
            "Antibiotics",
            "Inhaler",
            "Acid blocker",
            "Beta blocker",
            "Anticoagulant",
            "Metformin",
            "Insulin",
            "Thyroxine",
            "Antidepressant",
            "Vitamin D",
            "Oxygen",
        ],
    ),
    ("Therapy", &["Physiotherapy", "Psychotherapy", "Breathing therapy"]),
    ("Lifestyle", &["Rest", "Diet", "Exercise"]),
    ("Operation", &["Surgery"]),
];

/// The policy that goes with the data.
pub const POLICY: &str = r#"# What may leave the clinic group, and under which guarantee.
version = 1

[source]
format = "ndjson"
path = "data.ndjson"

[[attribute]]
path = "patient_id"
role = "identifying"

[[attribute]]
path = "name"
role = "identifying"

[[attribute]]
path = "gender"
role = "quasi"
hierarchy = { build = "order", groups = ["female", "male", "diverse"] }

[[attribute]]
path = "birth_year"
role = "quasi"
hierarchy = { build = "interval", min = 1920, max = 2029, widths = [20, 40] }

[[attribute]]
path = "home.town"
role = "quasi"
hierarchy = "hierarchies/town.csv"

[[attribute]]
path = "visits[].hospital"
role = "quasi"
hierarchy = "hierarchies/hospital.csv"

[[attribute]]
path = "visits[].year"
role = "quasi"
hierarchy = { build = "interval", min = 2020, max = 2025, widths = [2] }

[[attribute]]
path = "visits[].diagnoses[].disease"
role = "quasi"
hierarchy = "hierarchies/disease.csv"

[[attribute]]
path = "visits[].diagnoses[].treatments[]"
role = "quasi"
hierarchy = "hierarchies/treatment.csv"

# At least k people fit what anybody knows.
[privacy]
model = "kmn"
k = 5
# Nobody says from a published label alone with more than this certainty which value it hides.
guess = 0.5

# Who may look for somebody, and what they know. The publication holds against each of them.
# Delete whom there is not, and add whom there is.

# A neighbour knows all of these, and one thing more: a hospital, a disease, the year of a visit.
[[privacy.attacker]]
name = "neighbour"
knows = ["gender", "birth_year", "home.town"]
m = 1

# A colleague knows any two things, and whether they belong together: a disease, and the hospital that treated it.
[[privacy.attacker]]
name = "colleague"
m = 2
n = 1

[method]
algorithm = "best"
cost = "lm"
# Every value has the finest label that keeps the promise, whatever others have.
recoding = "local"

[publish]
path = "published.ndjson"
report = "report.html"
mapping = "private/mapping.csv"
"#;

/// The same policy without attackers and without a bound on guesses: for somebody who knows any two values, and whether they
/// belong together.
pub fn plain_policy() -> String {
    let (before, rest) = POLICY.split_once("# Nobody says").unwrap_or((POLICY, ""));
    let (_, method) = rest.split_once("[method]").unwrap_or_default();
    format!("{}\nm = 2\nn = 1\n\n[method]{method}", before.trim_end())
}

/// Writes the records, one JSON object per line.
pub fn write_records(out: &mut dyn Write, people: u64, seed: u64) -> std::io::Result<()> {
    let mut random = Random::new(seed);
    let mut line = String::new();
    for person in 1..=people {
        line.clear();
        push_person(&mut line, person, &mut random);
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

fn push_person(line: &mut String, person: u64, random: &mut Random) {
    let name = format!("{} {}", random.pick(FIRST), random.pick(LAST));
    let gender = if random.percent(4) { "diverse" } else { ["female", "male"][random.below(2)] };
    let age = random.below(50) + random.below(46);
    let region = random.below(REGIONS.len());
    let town = random.pick_early(REGIONS[region].1);
    // Writing to a String cannot fail.
    let _ = write!(
        line,
        r#"{{"patient_id":"P{person:07}","name":"{name}","gender":"{gender}","birth_year":{},"home":{{"town":"{town}"}},"visits":["#,
        2025 - age as i64
    );
    let visits = 1 + usize::from(random.percent(45)) + usize::from(random.percent(15));
    // People come back with what they have: most diagnoses are of one group.
    let usual = random.pick_early(DISEASES);
    for visit in 0..visits {
        let (_, hospitals) = random.pick_early(HOSPITALS);
        let hospital =
            if random.percent(85) { hospitals[region % hospitals.len()] } else { random.pick(hospitals) };
        let comma = if visit > 0 { "," } else { "" };
        let year = 2020 + random.below(6);
        let _ = write!(line, r#"{comma}{{"hospital":"{hospital}","year":{year},"diagnoses":["#);
        for diagnosis in 0..1 + usize::from(random.percent(35)) {
            push_diagnosis(line, diagnosis, age as i64, usual, random);
        }
        line.push_str("]}");
    }
    line.push_str("]}");
}

fn push_diagnosis(
    line: &mut String,
    number: usize,
    age: i64,
    usual: &(&str, &[Disease]),
    random: &mut Random,
) {
    let (_, diseases) = if random.percent(75) { usual } else { random.pick(DISEASES) };
    let fitting: Vec<&Disease> = diseases.iter().filter(|d| d.1 <= age + 5).collect();
    let (code, _, treatments) =
        if fitting.is_empty() { &DISEASES[0].1[0] } else { *random.pick_early(&fitting) };
    let comma = if number > 0 { "," } else { "" };
    let _ = write!(line, r#"{comma}{{"disease":"{code}""#);
    if random.percent(80) {
        let first = random.pick_early(treatments);
        let _ = write!(line, r#","treatments":["{first}""#);
        let second = random.pick(treatments);
        if second != first && random.percent(40) {
            let _ = write!(line, r#","{second}""#);
        }
        line.push(']');
    }
    line.push('}');
}

fn two_levels<'a>(groups: impl IntoIterator<Item = (&'a str, Vec<&'a str>)>) -> String {
    let mut csv = String::new();
    for (group, members) in groups {
        for member in members {
            let _ = writeln!(csv, "{member};{group};*");
        }
    }
    csv
}

/// Writes `data.ndjson`, `policy.toml` and `hierarchies/` into a folder, all or nothing.
pub fn write(folder: &Path, people: u64, seed: u64, create: Create) -> Result<()> {
    let plain = |groups: &'static [(&str, &[&str])]| two_levels(groups.iter().map(|(g, m)| (*g, m.to_vec())));
    let diseases = two_levels(DISEASES.iter().map(|(g, m)| (*g, m.iter().map(|d| d.0).collect())));
    let texts = [
        ("hierarchies/town.csv", plain(REGIONS)),
        ("hierarchies/hospital.csv", plain(HOSPITALS)),
        ("hierarchies/disease.csv", diseases),
        ("hierarchies/treatment.csv", plain(TREATMENTS)),
        ("policy.toml", POLICY.to_owned()),
    ];
    bosket_io::make_folder(&folder.join("hierarchies"))?;
    let mut data = Output::create(&folder.join("data.ndjson"), create.clone())?;
    write_records(&mut data, people, seed).map_err(bosket_io::write_failure)?;
    let mut files = vec![data];
    for (name, text) in texts {
        let mut file = Output::create(&folder.join(name), create.clone())?;
        file.write_all(text.as_bytes()).map_err(bosket_io::write_failure)?;
        files.push(file);
    }
    finish_all(files)
}

#[cfg(test)]
mod tests {
    use bosket_model::policy::Policy;

    use super::*;

    fn read(text: &str) -> Policy {
        let (policy, warnings) =
            Policy::parse("p.toml", text, &[]).unwrap_or_else(|e| panic!("{text}\n{e:#?}"));
        assert_eq!(warnings, [], "{text}");
        policy
    }

    #[test]
    fn the_policy_names_attackers_and_without_them_asks_for_two_values() {
        let told = read(POLICY).privacy.expect("a promise");
        let names: Vec<&str> = told.attackers.iter().map(|attacker| attacker.name.as_str()).collect();
        assert_eq!((names, told.most_known()), (vec!["neighbour", "colleague"], Some((2, 1))));
        let plain = read(&plain_policy());
        let own = plain.privacy.as_ref().expect("a promise");
        assert_eq!((own.attackers.len(), own.k, own.most_known()), (0, Some(5), Some((2, 1))));
        assert_eq!((plain.attributes.len(), plain.recodes_locally()), (9, true));
    }
}
