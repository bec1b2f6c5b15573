//! Drawing people and what was noted about them.

use bosket_model::Result;
use bosket_model::calendar::Civil;
use bosket_model::random::Random;

use super::model::{
    CONCEPT, CONDITION, DEATH, DRUG, LOCATION, MEASUREMENT, OBSERVATION, PERSON, PROCEDURE, VISIT, row,
};
use super::{Size, Summary, Take};

/// A kind of concepts: those of a domain. The first are common, most are rare.
struct Domain {
    name: &'static str,
    vocabulary: &'static str,
    /// The number of its first concept; the others follow.
    first: usize,
    count: usize,
    /// What its codes begin with.
    code: char,
}

const GENDERS: Domain = Domain { name: "Gender", vocabulary: "Gender", first: 8500, count: 3, code: 'G' };
const RACES: Domain = Domain { name: "Race", vocabulary: "Race", first: 8510, count: 6, code: 'R' };
const ETHNICITIES: Domain =
    Domain { name: "Ethnicity", vocabulary: "Ethnicity", first: 38_003_560, count: 2, code: 'E' };
const VISITS: Domain = Domain { name: "Visit", vocabulary: "Visit", first: 9200, count: 5, code: 'V' };
const CONDITIONS: Domain =
    Domain { name: "Condition", vocabulary: "SNOMED", first: 4_000_000, count: 600, code: 'C' };
const DRUGS: Domain = Domain { name: "Drug", vocabulary: "RxNorm", first: 19_000_000, count: 500, code: 'D' };
const PROCEDURES: Domain =
    Domain { name: "Procedure", vocabulary: "SNOMED", first: 4_200_000, count: 250, code: 'P' };
const MEASUREMENTS: Domain =
    Domain { name: "Measurement", vocabulary: "LOINC", first: 3_000_000, count: 150, code: 'M' };
const OBSERVATIONS: Domain =
    Domain { name: "Observation", vocabulary: "SNOMED", first: 4_400_000, count: 120, code: 'O' };
const ANSWERS: Domain =
    Domain { name: "Meas Value", vocabulary: "SNOMED", first: 4_500_000, count: 12, code: 'A' };
const DOMAINS: [&Domain; 10] = [
    &GENDERS,
    &RACES,
    &ETHNICITIES,
    &VISITS,
    &CONDITIONS,
    &DRUGS,
    &PROCEDURES,
    &MEASUREMENTS,
    &OBSERVATIONS,
    &ANSWERS,
];

/// Counties with their towns, larger ones first.
const COUNTIES: [(&str, [&str; 4]); 4] = [
    ("North", ["Harbourside", "Kelp Bay", "Lightholm", "Saltmarsh"]),
    ("East", ["Millbrook", "Orchard Hill", "Windmere", "Stonebridge"]),
    ("South", ["Sunfield", "Vinedale", "Olive Grove", "Redcliff"]),
    ("West", ["Ironford", "Coalpit", "Smithton", "Quarry End"]),
];

/// 2024-12-31, the last day of the database, in days since 1970.
const LAST_DAY: i64 = 20_088;
/// Most rows of one visit, its own included.
const OF_VISIT: usize = 15;

impl Domain {
    fn id(&self, at: usize) -> String {
        (self.first + at).to_string()
    }

    /// Ten codes share their first two signs.
    fn source(&self, at: usize) -> String {
        format!("{}{:02}.{}", self.code, at / 10, at % 10)
    }

    /// One of its concepts: each twice as many as before share the same chance.
    fn draw(&self, random: &mut Random) -> usize {
        let levels = self.count.ilog2() as usize + 1;
        let level = 1usize << random.below(levels);
        (level - 1 + random.below(level)) % self.count
    }
}

/// Adds people one by one.
pub(super) struct People<'t, 'c> {
    size: Size,
    take: &'t mut Take<'c>,
    /// The last number that was given to a row of each table.
    numbers: [u64; 10],
    pub(super) summary: Summary,
}

/// Where a person's events happen.
struct Visit {
    person: String,
    id: String,
    day: i64,
    days: i64,
}

impl<'t, 'c> People<'t, 'c> {
    /// Begins with concepts and places.
    pub(super) fn new(size: Size, take: &'t mut Take<'c>) -> Result<Self> {
        let mut people = People { size, take, numbers: [0; 10], summary: Summary::default() };
        people.tell(
            CONCEPT,
            &[("concept_id", "0".to_owned()), ("concept_name", "No matching concept".to_owned())],
        )?;
        for domain in DOMAINS {
            for at in 0..domain.count {
                let cells = [
                    ("concept_id", domain.id(at)),
                    ("concept_name", format!("{} {}", domain.name, domain.source(at))),
                    ("domain_id", domain.name.to_owned()),
                    ("vocabulary_id", domain.vocabulary.to_owned()),
                    ("concept_class_id", domain.name.to_owned()),
                    ("standard_concept", "S".to_owned()),
                    ("concept_code", domain.source(at)),
                    ("valid_start_date", "1970-01-01".to_owned()),
                    ("valid_end_date", "2099-12-31".to_owned()),
                ];
                people.tell(CONCEPT, &cells)?;
            }
        }
        for (c, (county, towns)) in COUNTIES.iter().enumerate() {
            for (t, town) in towns.iter().enumerate() {
                let cells = [
                    ("location_id", (4 * c + t + 1).to_string()),
                    ("city", (*town).to_owned()),
                    ("zip", format!("{}{}0{}", c + 1, t + 1, c)),
                    ("county", (*county).to_owned()),
                ];
                people.tell(LOCATION, &cells)?;
            }
        }
        Ok(people)
    }

    fn tell(&mut self, table: usize, cells: &[(&str, String)]) -> Result<()> {
        (self.take)(table, &row(table, cells))
    }

    /// A new number for a row of a table.
    fn number(&mut self, table: usize) -> String {
        self.numbers[table] += 1;
        self.numbers[table].to_string()
    }

    /// Adds a person with everything about them.
    pub(super) fn add(&mut self, number: u64) -> Result<()> {
        let random = &mut Random::stream(self.size.seed, number);
        let born = born(random);
        self.person(number, born, random)?;
        let events = events(self.size.events, random);
        let mut left = events;
        let mut days = Vec::new();
        while left > 0 {
            let of_visit = (1 + random.below(OF_VISIT) as u64).min(left);
            days.push((day(born, random), of_visit));
            left -= of_visit;
        }
        days.sort_unstable();
        let mut before = String::new();
        let last = days.last().map_or(LAST_DAY, |&(day, _)| day);
        for (day, of_visit) in days {
            before = self.visit(number, day, before, random)?;
            let visit =
                Visit { person: number.to_string(), id: before.clone(), day, days: random.below(4) as i64 };
            (1..of_visit).try_for_each(|_| self.event(&visit, random))?;
        }
        if random.percent(6) {
            self.death(number, (last + random.below(400) as i64).min(LAST_DAY), random)?;
        }
        self.summary.people += 1;
        self.summary.events += events;
        self.summary.most = self.summary.most.max(events);
        Ok(())
    }

    fn person(&mut self, number: u64, born: i64, random: &mut Random) -> Result<()> {
        let date = date(born);
        let gender = if random.percent(1) { 2 } else { random.below(2) };
        let (race, ethnicity) = (RACES.draw(random), usize::from(random.percent(12)));
        let towns = *random.pick_early(&COUNTIES.map(|(_, towns)| towns));
        let town = *random.pick_early(&towns);
        let place = COUNTIES.iter().flat_map(|(_, towns)| towns).position(|name| *name == town).unwrap_or(0);
        let cells = [
            ("person_id", number.to_string()),
            ("gender_concept_id", GENDERS.id(gender)),
            ("year_of_birth", date[..4].to_owned()),
            ("month_of_birth", date[5..7].to_owned()),
            ("day_of_birth", date[8..].to_owned()),
            ("birth_datetime", format!("{date} 00:00:00")),
            ("race_concept_id", RACES.id(race)),
            ("ethnicity_concept_id", ETHNICITIES.id(ethnicity)),
            ("location_id", (place + 1).to_string()),
            ("person_source_value", format!("MRN{:07}", number * 7919 % 10_000_000)),
            ("gender_source_value", ["F", "M", "X"][gender].to_owned()),
            ("race_source_value", RACES.source(race)),
            ("ethnicity_source_value", ETHNICITIES.source(ethnicity)),
        ];
        self.tell(PERSON, &cells)
    }

    /// Adds a visit and gives its number.
    fn visit(&mut self, person: u64, day: i64, before: String, random: &mut Random) -> Result<String> {
        let (id, kind) = (self.number(VISIT), VISITS.draw(random));
        let end = day + if kind == 0 { 0 } else { random.below(6) as i64 };
        let cells = [
            ("visit_occurrence_id", id.clone()),
            ("person_id", person.to_string()),
            ("visit_concept_id", VISITS.id(kind)),
            ("visit_start_date", date(day)),
            ("visit_start_datetime", format!("{} {}", date(day), hour(random))),
            ("visit_end_date", date(end.min(LAST_DAY))),
            ("visit_end_datetime", format!("{} 23:59:00", date(end.min(LAST_DAY)))),
            ("visit_type_concept_id", "32817".to_owned()),
            ("visit_source_value", VISITS.source(kind)),
            ("preceding_visit_occurrence_id", before),
        ];
        self.tell(VISIT, &cells).map(|()| id)
    }

    /// Adds an event of a visit.
    fn event(&mut self, visit: &Visit, random: &mut Random) -> Result<()> {
        match random.below(20) {
            0..3 => self.condition(visit, random),
            3..8 => self.drug(visit, random),
            8..10 => self.procedure(visit, random),
            10..17 => self.measurement(visit, random),
            _ => self.observation(visit, random),
        }
    }

    fn condition(&mut self, visit: &Visit, random: &mut Random) -> Result<()> {
        let (id, at) = (self.number(CONDITION), CONDITIONS.draw(random));
        let ends = random
            .percent(60)
            .then(|| visit.day + 1 + random.below(60) as i64)
            .filter(|end| *end <= LAST_DAY);
        let cells = [
            ("condition_occurrence_id", id),
            ("person_id", visit.person.clone()),
            ("condition_concept_id", CONDITIONS.id(at)),
            ("condition_start_date", date(visit.day)),
            ("condition_start_datetime", format!("{} 00:00:00", date(visit.day))),
            ("condition_end_date", ends.map(date).unwrap_or_default()),
            ("condition_type_concept_id", "32817".to_owned()),
            ("visit_occurrence_id", visit.id.clone()),
            ("condition_source_value", CONDITIONS.source(at)),
        ];
        self.tell(CONDITION, &cells)
    }

    fn drug(&mut self, visit: &Visit, random: &mut Random) -> Result<()> {
        let (id, at) = (self.number(DRUG), DRUGS.draw(random));
        let supply = *random.pick(&[7, 14, 30, 90]);
        let end = date((visit.day + supply).min(LAST_DAY));
        let cells = [
            ("drug_exposure_id", id),
            ("person_id", visit.person.clone()),
            ("drug_concept_id", DRUGS.id(at)),
            ("drug_exposure_start_date", date(visit.day)),
            ("drug_exposure_start_datetime", format!("{} 00:00:00", date(visit.day))),
            ("drug_exposure_end_date", end.clone()),
            ("verbatim_end_date", end),
            ("drug_type_concept_id", "32838".to_owned()),
            ("refills", random.below(3).to_string()),
            ("quantity", (supply * (1 + random.below(3) as i64)).to_string()),
            ("days_supply", supply.to_string()),
            ("visit_occurrence_id", visit.id.clone()),
            ("drug_source_value", DRUGS.source(at)),
        ];
        self.tell(DRUG, &cells)
    }

    fn procedure(&mut self, visit: &Visit, random: &mut Random) -> Result<()> {
        let (id, at) = (self.number(PROCEDURE), PROCEDURES.draw(random));
        let day = date((visit.day + random.below(1 + visit.days as usize) as i64).min(LAST_DAY));
        let cells = [
            ("procedure_occurrence_id", id),
            ("person_id", visit.person.clone()),
            ("procedure_concept_id", PROCEDURES.id(at)),
            ("procedure_date", day.clone()),
            ("procedure_datetime", format!("{day} {}", hour(random))),
            ("procedure_type_concept_id", "32817".to_owned()),
            ("visit_occurrence_id", visit.id.clone()),
            ("procedure_source_value", PROCEDURES.source(at)),
        ];
        self.tell(PROCEDURE, &cells)
    }

    fn measurement(&mut self, visit: &Visit, random: &mut Random) -> Result<()> {
        let (id, at) = (self.number(MEASUREMENT), MEASUREMENTS.draw(random));
        // One in ten has an answer in place of a number.
        let worded = at % 10 == 9;
        let number = format!("{}.{}", 10 * (at % 12 + 1) + random.below(40), random.below(10));
        let cells = [
            ("measurement_id", id),
            ("person_id", visit.person.clone()),
            ("measurement_concept_id", MEASUREMENTS.id(at)),
            ("measurement_date", date(visit.day)),
            ("measurement_datetime", format!("{} {}", date(visit.day), hour(random))),
            ("measurement_type_concept_id", "32856".to_owned()),
            ("value_as_number", if worded { String::new() } else { number }),
            ("value_as_concept_id", if worded { ANSWERS.id(ANSWERS.draw(random)) } else { String::new() }),
            ("visit_occurrence_id", visit.id.clone()),
            ("measurement_source_value", MEASUREMENTS.source(at)),
        ];
        self.tell(MEASUREMENT, &cells)
    }

    fn observation(&mut self, visit: &Visit, random: &mut Random) -> Result<()> {
        let (id, at) = (self.number(OBSERVATION), OBSERVATIONS.draw(random));
        let cells = [
            ("observation_id", id),
            ("person_id", visit.person.clone()),
            ("observation_concept_id", OBSERVATIONS.id(at)),
            ("observation_date", date(visit.day)),
            ("observation_datetime", format!("{} {}", date(visit.day), hour(random))),
            ("observation_type_concept_id", "32817".to_owned()),
            ("value_as_concept_id", ANSWERS.id(ANSWERS.draw(random))),
            ("visit_occurrence_id", visit.id.clone()),
            ("observation_source_value", OBSERVATIONS.source(at)),
        ];
        self.tell(OBSERVATION, &cells)
    }

    fn death(&mut self, person: u64, day: i64, random: &mut Random) -> Result<()> {
        let at = CONDITIONS.draw(random);
        let cells = [
            ("person_id", person.to_string()),
            ("death_date", date(day)),
            ("death_type_concept_id", "32817".to_owned()),
            ("cause_concept_id", CONDITIONS.id(at)),
            ("cause_source_value", CONDITIONS.source(at)),
        ];
        self.tell(DEATH, &cells)
    }
}

/// A day of birth: most are of working age, a few are over ninety.
fn born(random: &mut Random) -> i64 {
    let years = if random.percent(8) { 75 + random.below(28) } else { 1 + random.below(75) };
    LAST_DAY - 365 * years as i64 - random.below(365) as i64
}

/// How many events a person has: one in fifty has one, one in thirty-three more than three times as many as others.
fn events(usual: u64, random: &mut Random) -> u64 {
    let usual = usual.max(1);
    match random.below(100) {
        0..2 => 1,
        2..5 => usual * 10 / 3,
        _ => (usual / 10 + random.below(1 + usual as usize * 8 / 5) as u64).max(1),
    }
}

/// A day of a visit, not before the birth: four in five of the last five years, a few of decades ago.
fn day(born: i64, random: &mut Random) -> i64 {
    let years = match random.below(100) {
        0..80 => 5,
        80..97 => 20,
        _ => 60,
    };
    (LAST_DAY - random.below(365 * years) as i64).max(born)
}

fn date(day: i64) -> String {
    Civil::from_days(day).map(|day| day.to_string()).unwrap_or_default()
}

fn hour(random: &mut Random) -> String {
    format!("{:02}:{:02}:00", 7 + random.below(12), 5 * random.below(12))
}
