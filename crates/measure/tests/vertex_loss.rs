//! Loss of vertex trees: the worked example, what nothing and everything lost look like.

use std::io::Cursor;

use bosket_io::{Input, Layout};
use bosket_measure::vertices::{Comparison, VertexLoss, lm_of};
use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Build, Hierarchy, build, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_testkit::shared::{shared_json, shared_text};

const POLICY: &str = "version = 1
[[attribute]]
path = 'sid'
role = 'identifying'
[[attribute]]
path = 'gpa'
role = 'sensitive'
[[attribute]]
path = 'takes[].course'
role = 'quasi'
hierarchy = 'c.csv'
[[attribute]]
path = 'takes[].grade'
role = 'sensitive'
[[attribute]]
path = 'takes[].books[].book'
role = 'quasi'
hierarchy = 'b.csv'
";

const PUBLISHED: &str = r#"{"gpa":3.72,"takes":[{"course":"Science","grade":93,"books":[{"book":"Discrete"}]},{"course":"Physics","grade":91,"books":[{"book":"Dyn"}]},{"course":"Social","grade":85}]}
{"gpa":2.34,"takes":[{"course":"Science","grade":78,"books":[{"book":"Discrete"}]},{"course":"Physics","grade":82,"books":[{"book":"Dyn"}]},{"course":"Social","grade":74}]}
{"gpa":2.71,"takes":[{"course":"History","grade":60},{"course":"Religion","grade":66}]}
{"gpa":4.0,"takes":[{"course":"History","grade":98},{"course":"Religion","grade":95}]}
"#;

fn read(text: &str) -> Dataset {
    let input = Input::new("students", Cursor::new(text.as_bytes().to_vec()), None).expect("readable");
    bosket_io::read(input, Some("ndjson"), &Layout::default()).expect("good records").data
}

fn bind(data: &Dataset) -> Binding {
    let (policy, _) = Policy::parse("p", POLICY, &[]).expect("a good policy");
    Binding::new(data.schema(), &policy.attributes, policy.undeclared, "students").expect("all declared")
}

fn students() -> Option<(Dataset, Vec<Option<Hierarchy>>)> {
    let text = shared_text("golden/clusters/students.ndjson")?;
    let hierarchy = |file: &str| {
        let text = shared_text(&format!("golden/clusters/students.{file}.csv"))?;
        Some(csv::parse(file, &text).expect("a good hierarchy"))
    };
    Some((read(&text), vec![None, None, Some(hierarchy("course")?), None, Some(hierarchy("book")?)]))
}

fn loss(input: &Dataset, published: &Dataset, hierarchies: &[Option<Hierarchy>]) -> VertexLoss {
    let (before, after) = (bind(input), bind(published));
    let compared = Comparison {
        input: (input, &before),
        published: (published, &after),
        hierarchies,
        lost_sensitive: 0.0,
    };
    VertexLoss::new(&compared, 100, 7, &Quiet).expect("nobody interrupts")
}

#[test]
fn the_four_students() {
    let Some((input, hierarchies)) = students() else { return };
    let found = loss(&input, &read(PUBLISHED), &hierarchies);
    // Science costs 1/2 and Social 1/4, for two students each; two of sixteen values are gone.
    assert!((found.lm - (2.0 * 0.5 + 2.0 * 0.25 + 2.0) / 16.0).abs() < 1e-12, "{}", found.lm);
    assert_eq!(found.dm, 8);
    assert_eq!((found.sizes.classes, found.sizes.smallest, found.sizes.largest), (2, 2, 2));
    let accuracy = found.accuracy.expect("queries");
    assert!((0.3..1.0).contains(&accuracy), "{accuracy}");
}

#[test]
fn nothing_is_lost_by_the_records_themselves() {
    let Some((input, hierarchies)) = students() else { return };
    let found = loss(&input, &input, &hierarchies);
    assert_eq!((found.lm, found.dm, found.accuracy), (0.0, 4, Some(1.0)));
}

#[test]
fn suppressed_records_look_like_all() {
    let Some((input, hierarchies)) = students() else { return };
    let two: String = PUBLISHED.lines().take(2).map(|l| format!("{l}\n")).collect();
    let found = loss(&input, &read(&two), &hierarchies);
    assert_eq!(found.dm, 4 + 2 * 4);
    // Five values of the others, and Calc of the first.
    assert!((found.lm - (2.0 * 0.5 + 2.0 * 0.25 + 1.0 + 5.0) / 16.0).abs() < 1e-12, "{}", found.lm);
}

#[test]
fn lm_of_courses() {
    let (Some(text), Some(expected)) =
        (shared_text("golden/clusters/course.csv"), shared_json("golden/clusters/expected.json"))
    else {
        return;
    };
    let courses = csv::parse("course.csv", &text).expect("a good hierarchy");
    for (label, value) in expected["lm_prime"].as_object().expect("an object") {
        let node = courses.node(label).expect("a node");
        assert!((lm_of(&courses, node, false) - value.as_f64().expect("a number")).abs() < 1e-12, "{label}");
    }
}

#[test]
fn a_missing_value_is_not_published_as_it_was() {
    let policy = "version = 1\n[[attribute]]\npath = 'born'\nrole = 'quasi'\nhierarchy = 'b.csv'\n[[attribute]]\npath = 'town'\n\
                  role = 'quasi'\nhierarchy = 'b.csv'\n";
    let (policy, _) = Policy::parse("p", policy, &[]).expect("a good policy");
    let input =
        read("{\"born\":\"x\",\"town\":\"x\"}\n{\"town\":\"x\"}\n{\"town\":\"y\"}\n{\"town\":\"y\"}\n");
    let published = read(
        "{\"born\":\"*\",\"town\":\"x\"}\n{\"born\":\"*\",\"town\":\"x\"}\n{\"town\":\"y\"}\n{\"town\":\"y\"}\n",
    );
    let bind = |data: &Dataset| {
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "people").expect("all declared")
    };
    let (before, after) = (bind(&input), bind(&published));
    let letters = csv::parse("b.csv", "x,*\ny,*\n").expect("a good hierarchy");
    let hierarchies = [Some(letters.clone()), Some(letters)];
    let compared = |lost_sensitive: f64| {
        let compared = Comparison {
            input: (&input, &before),
            published: (&published, &after),
            hierarchies: &hierarchies,
            lost_sensitive,
        };
        VertexLoss::new(&compared, 0, 1, &Quiet).expect("nobody interrupts")
    };
    let found = compared(0.0);
    let born = &found.attributes[0];
    assert_eq!((born.values, born.kept, born.generalized, born.left_out()), (1, 0, 1, 0));
    assert!((found.lm - 1.0 / 5.0).abs() < 1e-12, "{}", found.lm);
    // Five lost sensitive values besides.
    assert!((compared(5.0).lm - 6.0 / 10.0).abs() < 1e-12);
}

/// Ranges cost their width; a count takes the numbers in between as equally likely.
#[test]
fn ranges_of_numbers() {
    let policy = "version = 1\n[[attribute]]\npath = 'age'\nrole = 'quasi'\nhierarchy = { build = 'range', min = 0, max = 100 }\n";
    let (policy, _) = Policy::parse("p", policy, &[]).expect("a good policy");
    let input = read("{\"age\":20}\n{\"age\":30}\n{\"age\":40}\n{\"age\":40}\n");
    let published =
        read("{\"age\":\"[20, 30]\"}\n{\"age\":\"[20, 30]\"}\n{\"age\":\"40\"}\n{\"age\":\"40\"}\n");
    let bind = |data: &Dataset| {
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "people").expect("all declared")
    };
    let (before, after) = (bind(&input), bind(&published));
    let hierarchies = [Some(
        build(&Build::Range { min: 0.0, max: 100.0 }, &["20", "30", "40"], None).expect("good bounds"),
    )];
    let compared = Comparison {
        input: (&input, &before),
        published: (&published, &after),
        hierarchies: &hierarchies,
        lost_sensitive: 0.0,
    };
    let found = VertexLoss::new(&compared, 50, 1, &Quiet).expect("nobody interrupts");
    assert!((found.lm - 2.0 * 0.1 / 4.0).abs() < 1e-12, "{}", found.lm);
    assert_eq!((found.sizes.classes, found.sizes.smallest, found.dm), (2, 2, 8));
    // One of two in a range of two numbers is what there is.
    assert_eq!(found.accuracy, Some(1.0));
}
