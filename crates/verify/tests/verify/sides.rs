//! What stands on which side is the verifier's own decision: a writer that was told something else is found out, whatever
//! the format.

use std::fs;
use std::path::Path;

use bosket_io::apart::{Dissection, PublishedReader};
use bosket_io::{Create, Layout, PolicyFile, Whereabouts, format};
use bosket_model::Fault;
use bosket_model::dissected::{NamedValues, PublishedGroups};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Role, Undeclared};
use bosket_model::sides::{Fate, Fates, SensitivePath};
use bosket_testkit::dice::{Dice, cases};
use bosket_verify::sides::expected;
use bosket_verify::truth::compare_dissected;
use bosket_verify::{JudgedSides, PublishedSide, Verification};
use proptest::prelude::*;
use tempfile::TempDir;

/// Attributes of all roles, by the name that every format has for them.
const ROLES: [(&str, &str, Option<&str>); 7] = [
    ("name", "identifying", None),
    ("ref", "key", None),
    ("age", "quasi", None),
    ("job", "insensitive", None),
    ("ill", "sensitive", None),
    ("told", "insensitive", Some("ill")),
    ("pay", "sensitive", None),
];

/// A source with a path for each attribute.
struct Source {
    format: &'static str,
    file: &'static str,
    /// What follows `[source]` beside format and path.
    rest: &'static str,
    publish: &'static str,
    path: fn(&str) -> String,
}

const PEOPLE: usize = 6;

fn cell(attribute: &str, person: usize) -> String {
    format!("{attribute}{person}")
}

const SOURCES: [Source; 5] = [
    Source { format: "json", file: "in.json", rest: "", publish: "out.json", path: plain },
    Source { format: "xml", file: "in.xml", rest: "record = 'db/person'", publish: "out.xml", path: plain },
    Source { format: "csv", file: "in.csv", rest: "", publish: "out", path: plain },
    Source { format: "parquet", file: "in.parquet", rest: "", publish: "out", path: plain },
    Source {
        format: "sqlite",
        file: "in.db",
        rest: "[[source.table]]\nname = 'person'\nkey = ['row']",
        publish: "out.db",
        path: of_person,
    },
];

fn plain(attribute: &str) -> String {
    attribute.to_owned()
}

fn of_person(attribute: &str) -> String {
    format!("person.{attribute}")
}

impl Source {
    fn policy(&self, folder: &Path) -> PolicyFile {
        let Source { format, file, rest, publish, path } = self;
        let attributes: String = ROLES
            .iter()
            .filter(|(name, ..)| self.has(name))
            .map(|(name, role, follows)| {
                let follows = follows.map_or(String::new(), |f| format!("follows = '{}'\n", path(f)));
                format!("[[attribute]]\npath = '{}'\nrole = '{role}'\n{follows}", path(name))
            })
            .collect();
        let text = format!(
            "version = 1\n[source]\nformat = '{format}'\npath = '{file}'\n{rest}\n{attributes}\
             [privacy]\nmodel = 'none'\n[publish]\npath = '{publish}'\n"
        );
        let (policy, _) = Policy::parse("policy.toml", &text, &[]).unwrap_or_else(|d| panic!("{d:?}"));
        PolicyFile { policy, folder: folder.to_owned(), warnings: Vec::new(), frames: None }
    }

    /// References are columns of linked tables; there they are kept, and emptied.
    fn has(&self, attribute: &str) -> bool {
        attribute != "ref" || self.format != "sqlite"
    }

    fn write(&self, folder: &Path) {
        let names: Vec<&str> = ROLES.iter().map(|(name, ..)| *name).filter(|name| self.has(name)).collect();
        let row = |person: usize| names.iter().map(move |name| (*name, cell(name, person)));
        let to = folder.join(self.file);
        let lines = |person: usize| {
            let members: Vec<String> =
                row(person).map(|(name, value)| format!("\"{name}\":\"{value}\"")).collect();
            format!("{{{}}}", members.join(","))
        };
        let people: Vec<String> = (0..PEOPLE).map(lines).collect();
        match self.format {
            "json" => fs::write(to, format!("[{}]", people.join(","))),
            "xml" => {
                let element = |(name, value): (&str, String)| format!("<{name}>{value}</{name}>");
                let person =
                    |p: usize| format!("<person>{}</person>", row(p).map(element).collect::<String>());
                fs::write(to, format!("<db>{}</db>", (0..PEOPLE).map(person).collect::<String>()))
            }
            "csv" => {
                let cells = |p: usize| row(p).map(|(_, value)| value).collect::<Vec<_>>().join(",") + "\n";
                fs::write(to, names.join(",") + "\n" + &(0..PEOPLE).map(cells).collect::<String>())
            }
            "parquet" => {
                let input = bosket_io::Input::new("lines", std::io::Cursor::new(people.join("\n")), None);
                let read = bosket_io::read(input.expect("text"), Some("ndjson"), &Layout::default());
                let mut bytes = Vec::new();
                let parquet = format::by_name("parquet").expect("known");
                parquet
                    .write(&read.expect("records").data, &Layout::default(), &mut bytes, &Quiet)
                    .expect("writable");
                fs::write(to, bytes)
            }
            _ => {
                let database = rusqlite::Connection::open(to).expect("a database");
                let columns: Vec<String> = names.iter().map(|name| format!("{name} TEXT")).collect();
                let create =
                    format!("CREATE TABLE person (row INTEGER PRIMARY KEY, {});", columns.join(", "));
                database.execute_batch(&create).expect("a table");
                for person in 0..PEOPLE {
                    let values: Vec<String> = row(person).map(|(_, value)| format!("'{value}'")).collect();
                    let insert = format!("INSERT INTO person VALUES ({person}, {});", values.join(", "));
                    database.execute_batch(&insert).expect("a row");
                }
                Ok(())
            }
        }
        .expect("writable");
    }
}

/// What somebody decides who takes one attribute for something else.
fn mistaken(policy: &Policy, declared: usize, role: Role) -> Fates {
    let mut fates = Fates::new(policy).expect("paths");
    fates.of[declared] = match role {
        Role::Quasi => Fate::Quasi,
        Role::Sensitive => Fate::Sensitive(0),
        _ => Fate::Gone,
    };
    fates.sensitive.clear();
    for (declared, fate) in fates.of.iter_mut().enumerate() {
        if let Fate::Sensitive(at) = fate {
            *at = fates.sensitive.len();
            let path = policy.attributes[declared].path.clone();
            fates.sensitive.push(SensitivePath { declared, path, many: false });
        }
    }
    fates
}

/// Publishes with some fates, and judges what was written: before it is in its place, and as a stranger.
fn judged(source: &Source, folder: &Path, file: &PolicyFile, fates: Fates) -> [JudgedSides; 2] {
    let dissection = Dissection::new(file, |_| Ok(fates)).expect("a good policy");
    let place = || Whereabouts::input(file).expect("a source");
    let mut people = dissection.read(place(), &Quiet).unwrap_or_else(|e| panic!("{}: {e}", source.format));
    let group_of: Vec<u32> = (0..PEOPLE as u32).map(|person| person % 2).collect();
    let create = Create { force: true, ..Create::default() };
    let mut drafts = dissection.write(&mut people, (&group_of, 2), create.clone()).expect("writable");
    let reader = PublishedReader::new(file, expected).expect("a good policy");
    let draft = reader.read_drafts(&mut drafts, &Quiet).unwrap_or_else(|e| panic!("{}: {e}", source.format));
    drafts.finish(create, Vec::new()).expect("writable");
    let out = folder.join(source.publish);
    let stranger = reader.read_published(&out, &Quiet).unwrap_or_else(|e| panic!("{}: {e}", source.format));
    [draft, stranger].map(|found| JudgedSides::new(&file.policy, &found).expect("paths"))
}

fn holds(sides: &JudgedSides) -> bool {
    Verification::of_dissected(sides, None, &[], &Quiet).expect("nothing to count").holds()
}

#[test]
fn a_good_writer_puts_everything_where_it_belongs() {
    for source in &SOURCES {
        let folder = TempDir::new().expect("a folder");
        source.write(folder.path());
        let file = source.policy(folder.path());
        let fates = Fates::new(&file.policy).expect("paths");
        for sides in judged(source, folder.path(), &file, fates) {
            assert!(holds(&sides), "{}: {:?} {:?}", source.format, sides.left, sides.misplaced);
            let paths: Vec<&str> = sides.dissected.sensitive.iter().map(|s| s.path.as_str()).collect();
            assert_eq!(paths, ["ill", "pay"].map(source.path), "{}", source.format);
            assert!(sides.dissected.sensitive.iter().all(|s| s.codes.total() == PEOPLE), "{}", source.format);
        }
    }
}

#[test]
fn a_writer_that_takes_an_attribute_for_another_role_is_found_out() {
    use PublishedSide::{Quasi, Sensitive};
    for source in &SOURCES {
        for (name, role, side, reason) in [
            ("ill", Role::Quasi, Some(Quasi), "it is sensitive"),
            ("told", Role::Quasi, Some(Quasi), "it says a sensitive value in other words"),
            ("told", Role::Sensitive, Some(Sensitive), "it says a sensitive value in other words"),
            ("age", Role::Sensitive, Some(Sensitive), "it is not sensitive"),
            ("job", Role::Sensitive, Some(Sensitive), "it is not sensitive"),
            ("name", Role::Quasi, None, ""),
            ("name", Role::Sensitive, Some(Sensitive), "the policy removes it"),
            ("ref", Role::Quasi, None, ""),
            ("ref", Role::Sensitive, Some(Sensitive), "the policy removes it"),
        ] {
            // What identifies somebody is not even read from linked tables.
            if !source.has(name) || (source.format == "sqlite" && (name, role) == ("name", Role::Quasi)) {
                continue;
            }
            let what = format!("{}: {name} as {role:?}", source.format);
            let folder = TempDir::new().expect("a folder");
            source.write(folder.path());
            let file = source.policy(folder.path());
            let path = (source.path)(name);
            let declared = file.policy.attributes.iter().position(|a| a.path == path).expect("declared");
            for sides in judged(source, folder.path(), &file, mistaken(&file.policy, declared, role)) {
                assert!(!holds(&sides), "{what}");
                // A table that no sensitive attribute has is told by its own name.
                let table = format!("sensitive_{name}");
                let is_table = side == Some(Sensitive) && !["json", "xml"].contains(&source.format);
                let (told, reason) =
                    if is_table { (&table, "the policy does not name it") } else { (&path, reason) };
                match side {
                    None => assert_eq!(
                        (sides.left.as_slice(), sides.misplaced.len()),
                        (&[path.clone()][..], 0),
                        "{what}"
                    ),
                    Some(side) => {
                        let found: Vec<_> =
                            (sides.misplaced.iter()).map(|m| (&m.path, m.side, m.reason)).collect();
                        assert_eq!(found, [(told, side, reason)], "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn truth_asks_the_policy_and_not_the_writer() {
    for source in &SOURCES {
        let folder = TempDir::new().expect("a folder");
        source.write(folder.path());
        let file = source.policy(folder.path());
        let reader = PublishedReader::new(&file, expected).expect("a good policy");
        let paths: Vec<String> = reader.expected().sensitive.iter().map(|s| s.path.clone()).collect();
        let untruths = |fates: Fates| {
            judged(source, folder.path(), &file, fates);
            let out = folder.path().join(source.publish);
            let published = reader.published_sides(&out, false, &Quiet).expect("readable");
            let place = Whereabouts::input(&file).expect("a source");
            let private = reader.private_sides(place, None, &Quiet).expect("readable");
            compare_dissected(&published, &private, &paths, false, &Quiet).expect("nobody gives up")
        };
        assert_eq!(untruths(Fates::new(&file.policy).expect("paths")), [], "{}", source.format);
        let age = (source.path)("age");
        let declared = file.policy.attributes.iter().position(|a| a.path == age).expect("declared");
        let told = untruths(mistaken(&file.policy, declared, Role::Identifying));
        assert_eq!(told.len(), 1, "{}: {told:?}", source.format);
        assert!(told[0].message.starts_with("6 records of the publication"), "{}: {told:?}", source.format);
    }
}

/// Of documents only what the policy names was looked at, and only inside the groups.
#[test]
fn a_document_with_more_than_its_groups_was_believed() {
    let source = &SOURCES[1];
    let folder = TempDir::new().expect("a folder");
    source.write(folder.path());
    let mut file = source.policy(folder.path());
    file.policy.undeclared = Undeclared::Drop;
    judged(source, folder.path(), &file, Fates::new(&file.policy).expect("paths"));
    let out = folder.path().join(source.publish);
    let good = fs::read_to_string(&out).expect("published");
    let reader = PublishedReader::new(&file, expected).expect("a good policy");
    for beside in ["Eva", "<who>Eva</who>", "<Group>Eva</Group>"] {
        fs::write(&out, good.replacen("<Group ", &format!("{beside}<Group "), 1)).expect("writable");
        let told = reader.read_published(&out, &Quiet).expect_err(beside).to_string();
        assert!(told.contains("no part of a publication with two sides") && !told.contains("Eva"), "{told}");
    }
    fs::write(&out, good.replacen("<age>", "<who>Eva</who><age>", 1)).expect("writable");
    let found = reader.read_published(&out, &Quiet).expect("readable");
    assert_eq!(JudgedSides::new(&file.policy, &found).expect("paths").left, ["who"]);
    file.policy.undeclared = Undeclared::Refuse;
    let reader = PublishedReader::new(&file, expected).expect("a good policy");
    assert_eq!(reader.read_published(&out, &Quiet).expect_err("refused").fault, Fault::Policy);
}

#[test]
fn a_name_that_nobody_declared_is_left_over_on_either_side() {
    let (policy, _) = Policy::parse("p", "version = 1\n[[attribute]]\npath = 'a.b'\nrole = 'quasi'\n", &[])
        .expect("a good policy");
    let named = |name: &str| NamedValues { name: name.to_owned(), ..NamedValues::default() };
    let found = PublishedGroups {
        names: vec!["1".into()],
        people: vec![2],
        // Written in another way, it is still the same path.
        quasi: vec!["a.b".into(), "a.\"b\"".into(), "c".into()],
        sensitive: vec![named("d")],
    };
    let sides = JudgedSides::new(&policy, &found).expect("paths");
    assert_eq!(sides.left, ["c", "d"]);
    assert_eq!(sides.misplaced.len(), 1);
    let told = sides.refuse_misplaced("out").expect_err("misplaced").to_string();
    assert!(told.contains("`d` stands on the sensitive side, but the policy does not name it"), "{told}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]
    /// Two decisions, written down twice, that must come to the same.
    #[test]
    fn the_verifier_expects_what_makers_decide(seed: u64) {
        let mut dice = Dice::new(seed);
        let mut text = "version = 1\n".to_owned();
        let count = 1 + dice.below(6);
        for at in 0..count {
            let role = dice.of(Role::ALL).name();
            let nested = if dice.one_in(2) { "v[]." } else { "" };
            text += &format!("[[attribute]]\npath = '{nested}a{at}'\nrole = '{role}'\n");
        }
        let (mut policy, _) = Policy::parse("p", &text, &[]).expect("a good policy");
        for at in 1..count {
            if dice.one_in(2) && policy.attributes[0].follows.is_none() {
                policy.attributes[at].follows = Some(policy.attributes[0].path.clone());
            }
        }
        prop_assert_eq!(expected(&policy).expect("paths"), Fates::new(&policy).expect("paths"));
    }
}
