//! Attackers who know all of some places and a few values elsewhere, against the definition taken literally.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Undeclared};
use bosket_model::{Builder, ClassId, Dataset, Kind};
use bosket_testkit::dice::{Dice, cases};
use bosket_verify::partition::Counter;
use bosket_verify::recount::parts::{Drawn, Tallied};
use bosket_verify::{Claim, Verification, Witness};
use proptest::prelude::*;

/// A value at a place.
type Item = (&'static str, String);

#[derive(Clone, Debug, Default)]
struct Visit {
    hospital: Option<String>,
    disease: Option<String>,
    treatments: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct Person {
    gender: Option<String>,
    town: Option<String>,
    visits: Vec<Visit>,
}

const ATTRIBUTES: [&str; 5] =
    ["gender", "town", "visits[].hospital", "visits[].disease", "visits[].treatments[].name"];

fn shown(value: &Option<String>) -> String {
    value.clone().unwrap_or_else(|| "*".to_owned())
}

impl Person {
    /// What the record shows: its rows from the top, each a chain of values.
    fn chains(&self) -> Vec<Vec<Item>> {
        let mut chains =
            vec![vec![(ATTRIBUTES[0], shown(&self.gender))], vec![(ATTRIBUTES[1], shown(&self.town))]];
        for visit in &self.visits {
            let row = vec![(ATTRIBUTES[2], shown(&visit.hospital)), (ATTRIBUTES[3], shown(&visit.disease))];
            for name in &visit.treatments {
                chains.push(row.iter().cloned().chain([(ATTRIBUTES[4], name.clone())]).collect());
            }
            chains.push(row);
        }
        chains
    }

    fn items(&self, at: impl Fn(&str) -> bool) -> BTreeSet<Item> {
        self.chains().into_iter().flatten().filter(|item| at(item.0)).collect()
    }

    fn is_above(&self, a: &Item, b: &Item) -> bool {
        let above = |chain: &Vec<Item>| {
            let place = |item| chain.iter().position(|own| own == item);
            matches!((place(a), place(b)), (Some(a), Some(b)) if a < b)
        };
        self.chains().iter().skip(2).any(above)
    }
}

fn dataset(people: &[Person]) -> Dataset {
    let mut builder = Builder::new();
    let name = |name: &str| vec![name.to_owned()];
    let (gender, town) =
        (builder.attribute(ClassId::ROOT, &name("gender")), builder.attribute(ClassId::ROOT, &name("town")));
    let visits = builder.class(ClassId::ROOT, &name("visits"));
    let (hospital, disease) =
        (builder.attribute(visits, &name("hospital")), builder.attribute(visits, &name("disease")));
    let treatments = builder.class(visits, &name("treatments"));
    let treatment = builder.attribute(treatments, &name("name"));
    for person in people {
        builder.begin_record();
        for (attribute, value) in [(gender, &person.gender), (town, &person.town)] {
            value.iter().for_each(|text| builder.set(attribute, Kind::Text, text));
        }
        for visit in &person.visits {
            builder.open(visits);
            for (attribute, value) in [(hospital, &visit.hospital), (disease, &visit.disease)] {
                value.iter().for_each(|text| builder.set(attribute, Kind::Text, text));
            }
            for text in &visit.treatments {
                builder.open(treatments);
                builder.set(treatment, Kind::Text, text);
                builder.close();
            }
            builder.close();
        }
        builder.end_record().expect("one value per place");
    }
    builder.finish()
}

#[derive(Clone, Debug)]
struct Attacker {
    knows: Vec<&'static str>,
    among: Option<Vec<&'static str>>,
    k: usize,
    m: usize,
    n: usize,
}

/// What somebody knows: all of some places, a few values elsewhere, and perhaps that one stands above another.
type Piece = (BTreeSet<Item>, Vec<Item>, Option<(Item, Item)>);

impl Attacker {
    fn pieces(&self, person: &Person) -> BTreeSet<Piece> {
        let class = person.items(|path| self.knows.contains(&path));
        let further = person.items(|path| match &self.among {
            Some(among) => among.contains(&path),
            None => !self.knows.contains(&path),
        });
        let further: Vec<Item> = further.into_iter().collect();
        let mut found = BTreeSet::new();
        for mask in 0u32..1 << further.len() {
            if mask.count_ones() as usize > self.m || (mask == 0 && self.knows.is_empty()) {
                continue;
            }
            let some: Vec<Item> =
                (0..further.len()).filter(|at| mask >> at & 1 == 1).map(|at| further[at].clone()).collect();
            found.insert((class.clone(), some.clone(), None));
            for a in some.iter().filter(|_| self.n > 0) {
                for b in some.iter().filter(|b| person.is_above(a, b)) {
                    found.insert((class.clone(), some.clone(), Some((a.clone(), b.clone()))));
                }
            }
        }
        found
    }

    /// The fewest people whom anything that the attacker may know fits.
    fn fewest(&self, people: &[Person]) -> Option<usize> {
        let mut counts: BTreeMap<Piece, usize> = BTreeMap::new();
        people.iter().flat_map(|person| self.pieces(person)).for_each(|piece| {
            *counts.entry(piece).or_default() += 1;
        });
        counts.into_values().min()
    }

    fn holds(&self, people: &[Person]) -> bool {
        self.fewest(people).is_none_or(|fewest| fewest >= self.k)
    }

    fn toml(&self, name: &str) -> String {
        let list = |paths: &[&str]| format!("{paths:?}");
        let knows =
            if self.knows.is_empty() { String::new() } else { format!("knows = {}\n", list(&self.knows)) };
        let among = self.among.as_ref().map_or(String::new(), |among| format!("among = {}\n", list(among)));
        format!(
            "[[privacy.attacker]]\nname = \"{name}\"\n{knows}{among}k = {}\nm = {}\nn = {}\n",
            self.k, self.m, self.n
        )
    }
}

fn some_of(dice: &mut Dice, from: &[&'static str]) -> Vec<&'static str> {
    from.iter().copied().filter(|_| dice.one_in(2)).collect()
}

fn attacker(dice: &mut Dice) -> Attacker {
    let knows = some_of(dice, &ATTRIBUTES);
    let m = dice.below(3);
    let rest: Vec<&'static str> = ATTRIBUTES.into_iter().filter(|path| !knows.contains(path)).collect();
    let among = Some(some_of(dice, &rest)).filter(|among| m > 0 && !among.is_empty());
    let m = if knows.is_empty() { m.max(1) } else { m };
    let among = among.filter(|_| m > 0);
    Attacker { knows, among, k: 2 + dice.below(2), m, n: dice.below(2) }
}

fn person(dice: &mut Dice) -> Person {
    let value = |dice: &mut Dice, name: &str| (!dice.one_in(5)).then(|| format!("{name}{}", dice.below(2)));
    let visit = |dice: &mut Dice| Visit {
        hospital: value(dice, "H"),
        disease: value(dice, "D"),
        treatments: (0..dice.below(2)).map(|_| format!("T{}", dice.below(2))).collect(),
    };
    let (gender, town) = (value(dice, "g"), value(dice, "t"));
    Person { gender, town, visits: (0..dice.below(3)).map(|_| visit(dice)).collect() }
}

fn people(dice: &mut Dice) -> Vec<Person> {
    let mut all = Vec::new();
    for _ in 0..1 + dice.below(4) {
        let one = person(dice);
        (0..1 + dice.below(4)).for_each(|_| all.push(one.clone()));
    }
    all
}

fn policy(attackers: &[Attacker], plain: &str) -> Policy {
    let attributes: String = ATTRIBUTES
        .iter()
        .map(|path| format!("[[attribute]]\npath = \"{path}\"\nrole = \"quasi\"\n"))
        .collect();
    let attackers: String = attackers.iter().enumerate().map(|(at, a)| a.toml(&format!("a{at}"))).collect();
    let text = format!("version = 1\n{attributes}[privacy]\nmodel = \"kmn\"\nk = 2\n{plain}{attackers}");
    Policy::parse("p", &text, &[]).unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).0
}

fn bound(data: &Dataset, policy: &Policy) -> Binding {
    Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared")
}

fn judged(people: &[Person], policy: &Policy, memory: usize) -> Verification {
    let (data, claim) = (dataset(people), Claim::new(policy).expect("a claim"));
    let binding = bound(&data, policy);
    Verification::of_records(&data, &binding, &claim, &[], memory, &Quiet).expect("countable")
}

/// A witness is what its attacker may know, and fits as many people as it says.
fn is_true(witness: &Witness, people: &[Person], attackers: &[Attacker]) -> bool {
    let at: usize = witness.attacker.as_deref().and_then(|name| name[1..].parse().ok()).expect("a name");
    let attacker = &attackers[at];
    let said: BTreeSet<(&str, &str)> =
        witness.values.iter().map(|v| (v.path.as_str(), v.value.as_str())).collect();
    let fits = |person: &&Person| {
        attacker.pieces(person).iter().any(|(class, further, related)| {
            let all = class.iter().chain(further).map(|item| (item.0, item.1.as_str())).collect();
            let pair = related.as_ref().map(|(a, b)| [(a.0, a.1.as_str()), (b.0, b.1.as_str())]);
            let told = witness.relations.first().map(|&(a, b)| {
                let value = |at: usize| (witness.values[at].path.as_str(), witness.values[at].value.as_str());
                [value(a), value(b)]
            });
            said == all && pair == told
        })
    };
    let count = people.iter().filter(fits).count();
    count == witness.support && count == witness.records.len() && count < attacker.k
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(500)))]

    #[test]
    fn attackers_find_whom_the_definition_lets_them_find(seed: u64, tight: bool) {
        let mut dice = Dice::new(seed);
        let people = people(&mut dice);
        let attackers: Vec<Attacker> = (0..1 + dice.below(2)).map(|_| attacker(&mut dice)).collect();
        let policy = policy(&attackers, "");
        let found = judged(&people, &policy, if tight { 1 } else { 1 << 30 });
        prop_assert_eq!(found.holds(), attackers.iter().all(|a| a.holds(&people)), "{:?} {:?}", attackers, people);
        if let Some(witness) = found.witness() {
            prop_assert!(is_true(witness, &people, &attackers), "{witness:?} {attackers:?} {people:?}");
        }
        if let Some(recount) = found.recount() {
            prop_assert!(recount.complete && recount.not_covered.is_empty());
        }
    }

    #[test]
    fn an_attacker_who_knows_nothing_in_particular_is_the_plain_claim(seed: u64, m in 1u32..3, n in 0u32..2) {
        let mut dice = Dice::new(seed);
        let people = people(&mut dice);
        let nobody = Attacker { knows: Vec::new(), among: None, k: 2, m: m as usize, n: n as usize };
        let told = judged(&people, &policy(&[nobody], ""), 1 << 30);
        let plain = judged(&people, &policy(&[], &format!("m = {m}\nn = {n}\n")), 1 << 30);
        prop_assert_eq!(told.holds(), plain.holds());
        let unnamed = told.witness().map(|witness| Witness { attacker: None, ..witness.clone() });
        prop_assert_eq!(unnamed.as_ref(), plain.witness());
        prop_assert_eq!(told.recount(), plain.recount());
    }

    #[test]
    fn attackers_of_parts_find_whom_those_of_the_whole_find(seed: u64) {
        let mut dice = Dice::new(seed);
        let people = people(&mut dice);
        let attackers: Vec<Attacker> = (0..1 + dice.below(2)).map(|_| attacker(&mut dice)).collect();
        let plain = if dice.one_in(3) { "m = 1\nn = 0\n" } else { "" };
        let policy = policy(&attackers, plain);
        let whole = judged(&people, &policy, 1 << 30);
        let claim = Claim::new(&policy).expect("a claim");
        // All parts are laid over one frame: their data has the attributes of all.
        let parts: Vec<Vec<Person>> = people.chunks(1 + dice.below(4)).map(<[Person]>::to_vec).collect();
        let frame = dataset(&people);
        let aligned = |part: &[Person]| {
            let mut joined = bosket_model::partition::Joined::over(&frame);
            joined.add(&dataset(part), |_| true, |_| true, &Quiet).expect("small");
            joined.finish()
        };
        let parts: Vec<Dataset> = parts.iter().map(|part| aligned(part)).collect();
        let mut counter = Counter::new(&policy, &claim, 1 << 24).expect("mergeable");
        let mut drawn = Drawn::default();
        for (number, part) in (0..).zip(&parts) {
            counter.add(number, part, &Quiet).expect("room");
            drawn = drawn.merge(Drawn::of(&claim, part, &bound(part, &policy), &Quiet).expect("small"));
        }
        let mut tallied = Tallied::default();
        for (number, part) in (0..).zip(&parts) {
            let own = Tallied::of(&drawn, &claim, part, &bound(part, &policy), &Quiet).expect("small");
            tallied = tallied.merge(own.of_part(number)).expect("once each");
        }
        let counted = counter.finish();
        let found = counted.confirmed(&policy, &claim, (&drawn, &tallied), &[], 1 << 24, &Quiet).expect("agrees");
        prop_assert_eq!(found.holds(), whole.holds());
        let support = |found: &Verification| found.witness().map(|w| (w.values.clone(), w.support, w.attacker.clone()));
        prop_assert_eq!(support(&found), support(&whole));
        if let Some(recount) = found.recount() {
            prop_assert!(recount.complete);
        }
    }
}

#[test]
fn a_neighbour_reads_what_two_values_do_not_give_away() {
    let of = |gender: &str, town: &str, disease: &str| Person {
        gender: Some(gender.to_owned()),
        town: Some(town.to_owned()),
        visits: vec![Visit {
            hospital: Some("H".to_owned()),
            disease: Some(disease.to_owned()),
            ..Visit::default()
        }],
    };
    // Any two values are shown by two people, all three together by one.
    let people = [
        of("f", "Alton", "flu"),
        of("f", "Alton", "cold"),
        of("f", "Beston", "flu"),
        of("f", "Beston", "cold"),
        of("m", "Alton", "flu"),
        of("m", "Alton", "cold"),
        of("m", "Beston", "flu"),
        of("m", "Beston", "cold"),
    ];
    assert!(judged(&people, &policy(&[], "m = 2\nn = 1\n"), 1 << 30).holds());
    let neighbour = Attacker { knows: vec!["gender", "town"], among: None, k: 2, m: 1, n: 0 };
    let found = judged(&people, &policy(&[neighbour], ""), 1 << 30);
    let witness = found.witness().expect("everybody is alone");
    assert_eq!(witness.attacker.as_deref(), Some("a0"));
    let told: Vec<&str> = witness.values.iter().map(|v| v.value.as_str()).collect();
    assert_eq!((told, witness.support), (vec!["f", "Alton", "cold"], 1));
    let claim = found.claim.expect("claimed");
    assert_eq!(
        claim.sentence(),
        "an a0, who knows gender and town and one more value, finds at least 2 people who fit; missing values are counted \
         as `*`"
    );
    assert_eq!(claim.to_json()["attackers"][0]["knows"], serde_json::json!(["gender", "town"]));
}
