//! Students drawn at random.

use super::Kind;
use super::catalogue::{Course, Group};
use bosket_model::random::Random;

/// Letter grades, best first.
const GRADES: [&str; 11] = ["A", "A-", "B+", "B", "B-", "C+", "C", "C-", "D+", "D", "F"];

/// College years.
pub(super) const YEARS: [&str; 4] = ["freshman", "sophomore", "junior", "senior"];

/// A course as a student took it.
pub(super) struct Taken {
    pub(super) course: usize,
    pub(super) grade: &'static str,
    /// Numbers of the books bought.
    pub(super) books: Vec<usize>,
    /// The college year, from 0.
    pub(super) year: usize,
}

/// A student.
pub(super) struct Student {
    pub(super) born: usize,
    /// In hundredths.
    pub(super) gpa: usize,
    pub(super) taken: Vec<Taken>,
}

/// Draws a student.
pub(super) fn student(kind: Kind, courses: &[Course], random: &mut Random) -> Student {
    // Twelve uniform numbers make a bell that is the same on every machine.
    let bell = (0..12).map(|_| random.below(1000) as i64).sum::<i64>() - 5_994;
    let gpa = (300 + 45 * bell / 1000).clamp(100, 400) as usize;
    let born = 1985 + random.below(12);
    let groups: &[(Group, usize, usize)] = match kind {
        Kind::School => &[(Group::Obligatory, 1, 1), (Group::Technical, 2, 3), (Group::NonTechnical, 2, 3)],
        _ => &[
            (Group::Obligatory, 12, 12),
            (Group::Core, 4, 4),
            (Group::Technical, 2, 4),
            (Group::NonTechnical, 1, 2),
        ],
    };
    let mut taken = Vec::new();
    for &(group, least, most) in groups {
        let mut open: Vec<usize> = (0..courses.len()).filter(|&c| courses[c].group == group).collect();
        for _ in 0..least + random.below(most - least + 1) {
            // Popular courses stand first; whoever takes all takes them in order.
            let at = if open.len() == 1 || group == Group::Obligatory && most > 1 {
                0
            } else {
                let places: Vec<usize> = (0..open.len()).collect();
                *random.pick_early(&places)
            };
            let course = open.remove(at);
            taken.push(take(course, &courses[course], gpa, random));
        }
    }
    Student { born, gpa, taken }
}

fn take(number: usize, course: &Course, gpa: usize, random: &mut Random) -> Taken {
    // Most do better in what everybody has to take.
    let ease = if course.group == Group::Obligatory { 15 } else { 0 };
    let points = gpa as i64 + ease + random.below(81) as i64 + random.below(81) as i64 - 80;
    let grade = ((400 - points).max(0) * 10 / 300).min(10) as usize;
    let mut books: Vec<usize> = (0..course.books.len()).collect();
    let bought = random.below(3);
    while books.len() > bought {
        books.remove(random.below(books.len()));
    }
    let shift = random.below(10);
    let year = match shift {
        0 if course.usual_year > 0 => course.usual_year - 1,
        1 | 2 if course.usual_year < 3 => course.usual_year + 1,
        _ => course.usual_year,
    };
    Taken { course: number, grade: GRADES[grade], books, year }
}
