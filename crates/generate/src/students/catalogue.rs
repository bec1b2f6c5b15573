//! The courses that can be taken, the books that go with them, and the hierarchies over both.

use std::fmt::Write as _;

use super::Kind;

/// How a course comes into a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Obligatory,
    Core,
    Technical,
    NonTechnical,
}

/// A course.
pub(super) struct Course {
    pub(super) name: String,
    pub(super) group: Group,
    pub(super) books: Vec<String>,
    /// The hierarchy above the course, and that above its books.
    above: [Vec<String>; 2],
    /// The college year in which it is usually taken, from 0.
    pub(super) usual_year: usize,
}

/// Paper 004's 22 courses: department, field, how many.
const SCHOOL: &[(Group, &str, &str, &[&str])] = &[
    (Group::Obligatory, "Turkish", "Language", &["Turkish I", "Turkish II"]),
    (Group::Obligatory, "English", "Language", &["English I", "English II"]),
    (Group::Technical, "Mathematics", "Science", &["Calculus", "Algebra", "Statistics"]),
    (Group::Technical, "Physics", "Science", &["Mechanics", "Optics", "Dynamics"]),
    (Group::Technical, "Computing", "Science", &["Programming", "Databases", "Networks"]),
    (Group::NonTechnical, "History", "Social", &["Ancient History", "Modern History", "History of Art"]),
    (Group::NonTechnical, "Society", "Social", &["Sociology", "Economics", "Law"]),
    (Group::NonTechnical, "Culture", "Social", &["Religion", "Philosophy", "Music"]),
];

/// A computer science program: prefix, hundreds, how many, usual year.
const PROGRAM: &[(Group, &str, usize, usize, usize)] = &[
    (Group::Obligatory, "MATH", 1, 2, 0),
    (Group::Obligatory, "NS", 1, 2, 0),
    (Group::Obligatory, "SPS", 1, 2, 0),
    (Group::Obligatory, "HIST", 1, 2, 0),
    (Group::Obligatory, "CS", 2, 2, 1),
    (Group::Obligatory, "MATH", 2, 2, 1),
    (Group::Core, "CS", 3, 9, 2),
    (Group::Core, "MATH", 3, 3, 2),
    (Group::Technical, "CS", 4, 14, 3),
    (Group::Technical, "EE", 2, 6, 1),
    (Group::Technical, "EE", 4, 5, 3),
    (Group::NonTechnical, "ECON", 2, 4, 1),
    (Group::NonTechnical, "PSY", 3, 4, 2),
    (Group::NonTechnical, "HUM", 2, 4, 1),
];

/// Books to choose from in the program.
const PROGRAM_BOOKS: usize = 3;

/// All courses of a kind.
pub(super) fn courses(kind: Kind) -> Vec<Course> {
    let texts = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    if kind == Kind::School {
        let named = SCHOOL.iter().flat_map(|(group, department, field, names)| {
            names.iter().enumerate().map(move |(i, name)| Course {
                name: (*name).to_owned(),
                group: *group,
                // Two, three or four to choose from.
                books: (0..2 + (i + department.len()) % 3)
                    .map(|b| format!("{name}, book {}", b + 1))
                    .collect(),
                above: [
                    texts(&[department, field]),
                    texts(&[&format!("{department} book"), &format!("{field} book")]),
                ],
                usual_year: 0,
            })
        });
        return named.collect();
    }
    let numbered = PROGRAM.iter().flat_map(|&(group, prefix, hundreds, count, usual_year)| {
        (1..=count).map(move |i| {
            let name = format!("{prefix}{}", hundreds * 100 + i);
            Course {
                books: (0..PROGRAM_BOOKS).map(|b| format!("{name}-{}", char::from(b'a' + b as u8))).collect(),
                above: [
                    texts(&[&format!("{prefix}{hundreds}**"), prefix]),
                    texts(&[
                        &format!("{name} book"),
                        &format!("{prefix}{hundreds}** book"),
                        &format!("{prefix} book"),
                    ]),
                ],
                name,
                group,
                usual_year,
            }
        })
    });
    numbered.collect()
}

/// Hierarchies by the name of their attribute, as `leaf;parent;…;*` lines.
pub(super) fn hierarchies(kind: Kind, courses: &[Course]) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("course", lines(courses.iter().map(|c| (c.name.as_str(), c.above[0].as_slice())))),
        (
            "book",
            lines(courses.iter().flat_map(|c| c.books.iter().map(|b| (b.as_str(), c.above[1].as_slice())))),
        ),
    ];
    if kind != Kind::School {
        let majors: &[(&str, &[&str])] = &[
            ("Engineering", &["Computer Science", "Electronics", "Mechatronics"]),
            ("Arts", &["Economics", "Psychology"]),
        ];
        let mut text = String::new();
        for (faculty, names) in majors {
            // Writing to a String cannot fail.
            for name in *names {
                let _ = writeln!(text, "{name};{faculty};*");
            }
        }
        all.push(("major", text));
    }
    if kind == Kind::SyntheticT {
        let years =
            "freshman;lower years;*\nsophomore;lower years;*\njunior;upper years;*\nsenior;upper years;*\n";
        all.push(("year", years.to_owned()));
    }
    all
}

fn lines<'a>(chains: impl Iterator<Item = (&'a str, &'a [String])>) -> String {
    let mut text = String::new();
    for (leaf, above) in chains {
        let _ = writeln!(text, "{leaf};{};*", above.join(";"));
    }
    text
}
