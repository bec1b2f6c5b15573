//! Several releases together, against what the definition makes of them.

use std::collections::BTreeMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Diversity, Policy, Relations, Rows, Siblings, Undeclared};
use bosket_model::{Builder, ClassId, Dataset, Failure, Kind, Result};
use bosket_testkit::dice::{Dice, cases, permutations};
use bosket_testkit::joint::{
    generalized, hierarchy, joined_paths, joined_sets, meet, published, raised, random_cut, random_paths,
    told_apart,
};
use bosket_testkit::{knowledge, sets, trees};
use bosket_verify::joint::{Joint, Part, Reading, verify_jointly};
use bosket_verify::vertex::Diverse;
use bosket_verify::{Claim, Km, Kmn, verify};
use proptest::prelude::*;

/// A release: records with whose they are, and perhaps which place each vertex is.
type Release = (Dataset, Vec<u32>, Option<Vec<Option<usize>>>);

fn tree(level: &str) -> Option<Hierarchy> {
    csv::parse("h.csv", &hierarchy(level)).ok()
}

fn jointly(policy: &str, claim: &Claim, levels: &[&str], releases: &[Release]) -> Result<Joint> {
    let (policy, _) = Policy::parse("p", policy, &[]).expect("a good policy");
    let bind = |data: &Dataset| Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data");
    let bindings: Vec<Binding> = releases.iter().map(|r| bind(&r.0).expect("all declared")).collect();
    let hierarchies: Vec<Option<Hierarchy>> = levels.iter().map(|level| tree(level)).collect();
    let mut parts: Vec<Part<'_>> = Vec::new();
    for ((data, people, origins), binding) in releases.iter().zip(&bindings) {
        parts.push(Part { name: "a release", data, binding, people, origins: origins.as_deref() });
    }
    let reading = Reading {
        attributes: &policy.attributes,
        undeclared: Undeclared::Refuse,
        claim,
        hierarchies: &hierarchies,
    };
    verify_jointly(&parts, &reading, 1 << 20, &Quiet)
}

/// Which people are in a release: most of them.
fn attending(dice: &mut Dice, people: usize) -> Vec<u32> {
    (0..people as u32).filter(|_| !dice.one_in(6)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]
    /// Rows that are read united, in releases of any labels: the joined records are those of the definition, and so is the
    /// smallest number of people who fit.
    #[test]
    fn trees_agree_with_the_definition(seed: u64, k in 2u32..4, m in 1u32..4, n in 0u32..3, embedded: bool, local: bool) {
        let mut dice = Dice::new(seed);
        let people: Vec<trees::PathRecord> = (0..3 + dice.below(4)).map(|_| random_paths(&mut dice, 3)).collect();
        let mut shown: Vec<Vec<trees::PathRecord>> = vec![Vec::new(); people.len()];
        let (mut releases, mut depths) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let cut = (!local).then(|| random_cut(&mut dice));
            let own = attending(&mut dice, people.len());
            let records: Vec<trees::PathRecord> =
                own.iter().map(|&p| generalized(&mut dice, &people[p as usize], cut.as_ref())).collect();
            own.iter().zip(&records).for_each(|(&p, record)| shown[p as usize].push(record.clone()));
            depths.push(records.iter().flatten().map(Vec::len).max().unwrap_or(0));
            releases.push((published(&records), own, None));
        }
        let expected: Vec<trees::PathRecord> = (shown.iter().filter(|of| !of.is_empty()))
            .map(|of| of[1..].iter().fold(of[0].clone(), |a, b| joined_paths(&a, b, (depths[0], depths[1]))))
            .map(|record| told_apart(&record))
            .collect();
        prop_assume!(!expected.is_empty());
        let relations = if embedded { Relations::Embedded } else { Relations::Pair };
        let claim = Claim::Kmn(Kmn { relations, rows: Rows::United, ..Kmn::new(k, m, n) });
        let found = jointly(trees::ATTRIBUTES, &claim, &trees::LEVELS, &releases).expect("countable");
        let pair = knowledge::smallest_violation(&expected, k as usize, m as usize, n as usize, false);
        // Whoever asks for `embedded` gets both.
        let one = knowledge::smallest_violation(&expected, k as usize, m as usize, n as usize, embedded);
        prop_assert_eq!(found.holds(), pair.is_none() && one.is_none(), "{:?}", expected);
        if let (Some(witness), Some((_, support)), false) = (found.verification.witness(), &pair, embedded) {
            prop_assert_eq!(witness.support, *support);
            prop_assert!(found.sources.iter().all(|from| !from.is_empty()), "{:?}", found);
        }
    }

    /// With the places of the private input, the joined records are the input at the meet of both cuts.
    #[test]
    fn places_of_the_input_give_the_meet_of_two_cuts(seed: u64, k in 2u32..4, n in 0u32..2) {
        let mut dice = Dice::new(seed);
        let people: Vec<trees::PathRecord> = (0..3 + dice.below(4)).map(|_| random_paths(&mut dice, 3)).collect();
        let all: Vec<u32> = (0..people.len() as u32).collect();
        let mut releases = Vec::new();
        let mut meets = people.iter().map(|p| generalized(&mut dice, p, Some(&BTreeMap::new()))).collect::<Vec<_>>();
        for _ in 0..2 {
            let cut = random_cut(&mut dice);
            let records: Vec<trees::PathRecord> =
                people.iter().map(|p| generalized(&mut dice, p, Some(&cut))).collect();
            for (meet_of, record) in meets.iter_mut().flatten().zip(records.iter().flatten()) {
                for (a, b) in meet_of.iter_mut().zip(record) {
                    *a = meet(a, b).expect("both above one leaf");
                }
            }
            let data = published(&records);
            // Every vertex is the place of the same number: nothing was left out or put elsewhere.
            let origins = (0..data.vertex_count()).map(Some).collect();
            releases.push((data, all.clone(), Some(origins)));
        }
        let claim = Claim::Kmn(Kmn::new(k, 2, n));
        let found = jointly(trees::ATTRIBUTES, &claim, &trees::LEVELS, &releases).expect("countable");
        let meets: Vec<trees::PathRecord> = meets.iter().map(told_apart).collect();
        let expected = knowledge::smallest_violation(&meets, k as usize, 2, n as usize, false);
        prop_assert_eq!(found.holds(), expected.is_none(), "{:?}", meets);
        // Without them, whoever has one row cannot be mistaken.
        if people.iter().all(|person| person.len() == 1) {
            releases.iter_mut().for_each(|release| release.2 = None);
            let found = jointly(trees::ATTRIBUTES, &claim, &trees::LEVELS, &releases).expect("countable");
            prop_assert_eq!(found.holds(), expected.is_none());
        }
    }

    #[test]
    fn sets_agree_with_the_definition(seed: u64, k in 2u32..4, m in 1u32..4) {
        let mut dice = Dice::new(seed);
        let item = |dice: &mut Dice| format!("A{}{}", 1 + dice.below(2), 1 + dice.below(2));
        let people: Vec<Vec<String>> =
            (0..3 + dice.below(5)).map(|_| (0..1 + dice.below(3)).map(|_| item(&mut dice)).collect()).collect();
        let mut shown: Vec<Vec<Vec<String>>> = vec![Vec::new(); people.len()];
        let mut releases = Vec::new();
        for _ in 0..2 {
            let own = attending(&mut dice, people.len());
            let records: Vec<Vec<String>> = (own.iter())
                .map(|&p| people[p as usize].iter().map(|leaf| raised(leaf, dice.below(3))).collect())
                .collect();
            own.iter().zip(&records).for_each(|(&p, record)| shown[p as usize].push(record.clone()));
            releases.push((sets::dataset(&records), own, None));
        }
        let expected: Vec<Vec<String>> = (shown.iter().filter(|of| !of.is_empty()))
            .map(|of| of[1..].iter().fold(joined_sets(&of[0], &of[0]), |a, b| joined_sets(&a, b)))
            .collect();
        prop_assume!(!expected.is_empty());
        let claim = Claim::Km(Km { k, m, ..Km::default() });
        let found = jointly(sets::ATTRIBUTES, &claim, &["A"], &releases).expect("countable");
        let expected = sets::smallest_violation(&expected, k as usize, m as usize);
        prop_assert_eq!(found.verification.witness().map(|w| w.support), expected.map(|(_, records)| records.len()));
    }

    /// Rows of one table: the classes are those of the more specific labels, and so are the shares in them.
    #[test]
    fn flat_classes_agree_with_the_definition(seed: u64, k in 2usize..4, l in 0usize..4) {
        let mut dice = Dice::new(seed);
        let leaf = |dice: &mut Dice, level: &str| format!("{level}{}{}", 1 + dice.below(2), 1 + dice.below(2));
        let people: Vec<[String; 3]> = (0..4 + dice.below(8))
            .map(|_| [leaf(&mut dice, "A"), leaf(&mut dice, "B"), ["flu", "cold", "gout"][dice.below(3)].to_owned()])
            .collect();
        let mut shown: Vec<Vec<[String; 2]>> = vec![Vec::new(); people.len()];
        let mut releases = Vec::new();
        for _ in 0..2 {
            let own = attending(&mut dice, people.len());
            let mut builder = Builder::new();
            let name = |name: &str| vec![name.to_owned()];
            let ids = ["a", "b", "s"].map(|n| builder.attribute(ClassId::ROOT, &name(n)));
            for &p in &own {
                let [a, b, s] = &people[p as usize];
                // Coarse labels, or hardly anybody would look like anybody.
                let labels = [a, b].map(|value| raised(value, 2 - usize::from(dice.one_in(3))));
                builder.begin_record();
                builder.set(ids[0], Kind::Text, &labels[0]);
                builder.set(ids[1], Kind::Text, &labels[1]);
                builder.set(ids[2], Kind::Text, s);
                builder.end_record().expect("each once");
                shown[p as usize].push(labels);
            }
            releases.push((builder.finish(), own, None));
        }
        let mut classes: BTreeMap<[String; 2], Vec<&str>> = BTreeMap::new();
        for (person, shown) in people.iter().zip(&shown).filter(|(_, shown)| !shown.is_empty()) {
            let both = shown[1..].iter().fold(shown[0].clone(), |x, y| {
                std::array::from_fn(|i| meet(&x[i], &y[i]).expect("both above one leaf"))
            });
            classes.entry(both).or_default().push(&person[2]);
        }
        prop_assume!(!classes.is_empty());
        let share = |class: &Vec<&str>| {
            ["flu", "cold", "gout"].iter().map(|s| class.iter().filter(|own| *own == s).count()).max().unwrap_or(0)
        };
        let (claim, expected) = match l {
            0 => (Claim::KAnonymity { k: k as u32 }, classes.values().all(|class| class.len() >= k)),
            l => {
                let ask = Diverse {
                    l: l as f64,
                    diversity: Diversity::Frequency,
                    siblings: Siblings::Pooled,
                    distinct_everywhere: Vec::new(),
                    buckets: vec![None; 3],
                };
                let fine = |class: &Vec<&str>| class.len() >= k && share(class) * l <= class.len();
                (Claim::LDiversity { k: Some(k as u32), ask }, classes.values().all(fine))
            }
        };
        let policy = "version = 1\n[[attribute]]\npath = \"a\"\nrole = \"quasi\"\n[[attribute]]\npath = \"b\"\nrole = \"quasi\"\n\
                      [[attribute]]\npath = \"s\"\nrole = \"sensitive\"\n";
        let found = jointly(policy, &claim, &["A", "B"], &releases).expect("countable");
        prop_assert_eq!(found.holds(), expected, "{:?}", classes);
    }

    /// Records of rows: where they are found to look alike, at least k people fit what both releases show of anybody, whichever
    /// row is which.
    #[test]
    fn classes_of_rows_never_hold_in_vain(seed: u64, k in 2usize..4) {
        let mut dice = Dice::new(seed);
        let leaf = |dice: &mut Dice, level: &str| format!("{level}{}{}", 1 + dice.below(2), 1 + dice.below(2));
        let rows = 1 + dice.below(2);
        let people: Vec<trees::PathRecord> = (0..4 + dice.below(5))
            .map(|_| (0..rows).map(|_| vec![leaf(&mut dice, "A"), leaf(&mut dice, "B")]).collect())
            .collect();
        let all: Vec<u32> = (0..people.len() as u32).collect();
        // Few forms, or hardly anybody would look like anybody: every row at one of two pairs of heights.
        let mut shown: Vec<Vec<trees::PathRecord>> = Vec::new();
        for _ in 0..2 {
            let heights: Vec<[usize; 2]> = (0..2).map(|_| [2 - dice.below(2), 2 - dice.below(2)]).collect();
            let mut label = |row: &Vec<String>| {
                let height = *dice.of(&heights);
                vec![raised(&row[0], height[0]), raised(&row[1], height[1])]
            };
            shown.push(people.iter().map(|person| person.iter().map(&mut label).collect()).collect());
        }
        let releases: Vec<Release> = shown.iter().map(|records| (published(records), all.clone(), None)).collect();
        let found = jointly(trees::ATTRIBUTES, &Claim::KAnonymity { k: k as u32 }, &trees::LEVELS, &releases);
        let holds = found.expect("countable").holds();
        // Whether what is shown of somebody could be of a person with these rows.
        let covers = |shown: &trees::PathRecord, truth: &trees::PathRecord| {
            permutations(rows).iter().any(|order| {
                order.iter().zip(shown).all(|(&at, row)| {
                    row.iter().zip(&truth[at]).all(|(label, leaf)| meet(label, leaf).as_ref() == Some(leaf))
                })
            })
        };
        let fitting = |truth: &trees::PathRecord| {
            (0..people.len()).filter(|&q| shown.iter().all(|release| covers(&release[q], truth))).count()
        };
        prop_assert!(!holds || people.iter().all(|truth| fitting(truth) >= k), "{:?}", shown);
        // Records of which both releases show the same always look alike.
        let mut pairs: BTreeMap<Vec<trees::PathRecord>, usize> = BTreeMap::new();
        for at in 0..people.len() {
            let sorted = |release: &Vec<trees::PathRecord>| {
                let mut record = release[at].clone();
                record.sort();
                record
            };
            *pairs.entry(shown.iter().map(sorted).collect()).or_default() += 1;
        }
        prop_assert!(holds || pairs.values().any(|&people| people < k));
    }

    /// A release that is a function of another's labels adds nothing, whatever is promised.
    #[test]
    fn a_function_of_the_labels_adds_nothing(seed: u64, k in 2u32..4, clusters: bool) {
        let mut dice = Dice::new(seed);
        let people: Vec<trees::PathRecord> = (0..3 + dice.below(5)).map(|_| random_paths(&mut dice, 3)).collect();
        let cut = random_cut(&mut dice);
        let fine: Vec<trees::PathRecord> = people.iter().map(|p| generalized(&mut dice, p, Some(&cut))).collect();
        let up: BTreeMap<String, usize> = cut.iter().map(|(leaf, height)| (leaf.clone(), height + 1)).collect();
        let coarse: Vec<trees::PathRecord> = people.iter().map(|p| generalized(&mut dice, p, Some(&up))).collect();
        let all: Vec<u32> = (0..people.len() as u32).collect();
        let claim = if clusters { Claim::KAnonymity { k } } else { Claim::Kmn(Kmn::new(k, 2, 1)) };
        let (policy, _) = Policy::parse("p", trees::ATTRIBUTES, &[]).expect("a good policy");
        let data = published(&fine);
        let binding = Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared");
        let alone = verify(&data, &binding, &claim, &[], 1 << 20, &Quiet).expect("countable");
        let releases = [(published(&coarse), all.clone(), None), (published(&fine), all, None)];
        let found = jointly(trees::ATTRIBUTES, &claim, &trees::LEVELS, &releases).expect("countable");
        prop_assert_eq!(found.holds(), alone.is_none());
    }
}

fn one(labels: &[&[&str]]) -> Dataset {
    let record = |rows: &[&str]| rows.iter().map(|label| vec![(*label).to_owned()]).collect();
    published(&labels.iter().map(|rows| record(rows)).collect::<Vec<_>>())
}

fn refused(found: Result<Joint>) -> String {
    let Failure { diagnostics, .. } = found.expect_err("refused");
    diagnostics.iter().map(|d| d.message.clone()).collect()
}

#[test]
fn what_cannot_be_checked_is_refused_with_a_reason() {
    let two = |a: &[&[&str]], b: &[&[&str]]| [(one(a), vec![0, 1], None), (one(b), vec![0, 1], None)];
    let fine = || two(&[&["A1"], &["A1"]], &[&["A11"], &["A12"]]);
    let kmn = |kmn: Kmn| Claim::Kmn(kmn);
    let check = |claim: &Claim, levels: &[&str]| jointly(trees::ATTRIBUTES, claim, levels, &fine());
    let guard = kmn(Kmn { guard: true, ..Kmn::new(2, 1, 0) });
    assert!(refused(check(&guard, &trees::LEVELS)).contains("guard"));
    let multiset = Claim::Km(Km { k: 2, m: 1, multiset: true, ..Km::default() });
    assert!(refused(check(&multiset, &trees::LEVELS)).contains("multisets"));
    // Without a hierarchy nobody knows which label says more.
    assert!(refused(check(&kmn(Kmn::new(2, 1, 0)), &[])).contains("a[].v"));
    assert!(check(&kmn(Kmn::new(2, 1, 0)), &trees::LEVELS).is_ok_and(|found| !found.holds()));
}

#[test]
fn releases_that_contradict_each_other_are_refused() {
    let flat = |values: [&str; 2]| {
        let mut builder = Builder::new();
        let id = builder.attribute(ClassId::ROOT, &["v".to_owned()]);
        for value in values {
            builder.begin_record();
            builder.set(id, Kind::Text, value);
            builder.end_record().expect("once");
        }
        builder.finish()
    };
    let policy = "version = 1\n[[attribute]]\npath = \"v\"\nrole = \"quasi\"\n";
    let releases = [(flat(["A1", "A2"]), vec![0, 1], None), (flat(["A11", "A11"]), vec![0, 1], None)];
    let claim = Claim::KAnonymity { k: 1 };
    assert!(
        refused(jointly(policy, &claim, &["A"], &releases)).contains("different things about one person")
    );
}

#[test]
fn relations_that_one_release_took_apart_are_refused() {
    let whole = published(&[vec![vec!["A11".to_owned(), "B11".to_owned()]]]);
    let parted = trees::dataset(&[vec![vec!["A11".to_owned()], vec!["B11".to_owned()]]]);
    let releases = [(parted, vec![0], None), (whole, vec![0], None)];
    let claim = Claim::Kmn(Kmn::new(1, 2, 1));
    let why = refused(jointly(trees::ATTRIBUTES, &claim, &trees::LEVELS, &releases));
    assert!(why.contains("taken relations apart"), "{why}");
}

#[test]
fn a_witness_says_which_value_comes_from_which_release() {
    // One release shows the first level, the other the second; each has two of everything.
    let rows = |labels: [[&str; 2]; 4]| -> Vec<trees::PathRecord> {
        labels.iter().map(|row| vec![row.iter().map(|l| (*l).to_owned()).collect()]).collect()
    };
    let first = rows([["A11", "B1"], ["A11", "B1"], ["A12", "B1"], ["A12", "B1"]]);
    let second = rows([["A1", "B11"], ["A1", "B12"], ["A1", "B11"], ["A1", "B12"]]);
    let people = vec![0, 1, 2, 3];
    let releases = [(published(&first), people.clone(), None), (published(&second), people, None)];
    let claim = Claim::Kmn(Kmn::new(2, 2, 1));
    let found = jointly(trees::ATTRIBUTES, &claim, &trees::LEVELS, &releases).expect("countable");
    let witness = found.verification.witness().expect("everybody is alone");
    assert_eq!(witness.support, 1);
    let from: Vec<(&str, &[usize])> = witness
        .values
        .iter()
        .map(|v| v.value.as_str())
        .zip(found.sources.iter().map(Vec::as_slice))
        .collect();
    assert_eq!(from, [("A11", &[0][..]), ("B11", &[1][..])]);
    assert_eq!(found.records, [[Some(0), Some(0)]]);
    assert_eq!(found.to_json()["witness"]["values"][1]["from"][0], "a release");
}
