//! The attacker against the definition, on random small data.

use bosket_measure::attack::{Options, Point, Risk, risk};
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Role, Undeclared};
use bosket_model::{Builder, ClassId, Dataset, Kind};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::knowledge::{self, Attacked};
use bosket_testkit::{alike, diversity, sets, trees, vertices};
use proptest::prelude::*;

fn parse(attributes: &str, privacy: &str) -> Policy {
    // The definition that is tried here reads rows that look alike as one.
    let rows = if privacy.contains("\"kmn\"") { "[publish]\nrows = \"united\"\n" } else { "" };
    let text = format!("{attributes}\n[privacy]\n{privacy}\n{rows}");
    Policy::parse("p", &text, &[]).expect("a good policy").0
}

fn attack(data: &Dataset, policy: &Policy, options: &Options) -> Risk {
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared");
    risk(data, &binding, policy, options, &Quiet).expect("countable")
}

/// Everything that a point says about whom.
fn agree(point: &Point, expected: &[Attacked], k: usize) -> Result<(), TestCaseError> {
    let people = expected.len() as f64;
    let share = |of: &dyn Fn(&Attacked) -> bool| expected.iter().filter(|a| of(a)).count() as f64 / people;
    let mean = |of: &dyn Fn(&Attacked) -> f64| expected.iter().map(of).sum::<f64>() / people;
    let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
    prop_assert!(point.exhaustive && point.exact);
    prop_assert_eq!(point.people, expected.len());
    prop_assert!(near(point.unique.value, share(&|a| a.fewest == 1)), "{:?} {:?}", point, expected);
    prop_assert!(near(point.below_k.value, share(&|a| a.fewest < k)), "{:?} {:?}", point, expected);
    prop_assert_eq!((point.unique.low, point.unique.high), (point.unique.value, point.unique.value));
    for bin in &point.bins {
        let inside = |a: &Attacked| a.fewest >= bin.from && bin.to.is_none_or(|to| a.fewest <= to);
        prop_assert!(near(bin.people, share(&inside)), "{:?} {:?}", bin, expected);
    }
    let highest = expected.iter().map(|a| 1.0 / a.fewest as f64).fold(0.0, f64::max);
    prop_assert!(near(point.prosecutor, highest));
    prop_assert!(near(point.marketer, mean(&|a| 1.0 / a.fewest as f64)), "{:?} {:?}", point, expected);
    prop_assert!(near(point.random_unique, mean(&|a| a.unique)), "{:?} {:?}", point, expected);
    prop_assert!(near(point.random_marketer, mean(&|a| a.inverse)), "{:?} {:?}", point, expected);
    Ok(())
}

/// Random records: paths that may skip levels, so that values float.
fn records() -> impl Strategy<Value = Vec<trees::PathRecord>> {
    let path = (0..3usize, 0..3usize, 0..3usize).prop_map(|(a, b, c)| {
        let mut path = Vec::new();
        for (level, n) in [("A", a), ("B", b), ("C", c)] {
            if n > 0 {
                path.push(format!("{level}{n}"));
            }
        }
        path
    });
    prop::collection::vec(prop::collection::vec(path, 0..4), 1..7)
}

fn options(m: u32, n: u32) -> Options {
    Options { m: (1..=m).collect(), n: vec![0, n], budget: 1 << 40, sample: None, worst: 3, seed: 1 }
}

fn point(points: &[Point], m: u32, n: u32) -> &Point {
    points.iter().find(|p| p.m == Some(m) && p.n == Some(n)).expect("asked for")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn trees_agree_with_the_definition(
        records in records(), k in 2u32..4, m in 1u32..5, n in 0u32..4, embedded: bool, one_by_one: bool,
    ) {
        prop_assume!(records.iter().any(|r| r.iter().any(|p| !p.is_empty())));
        let reading = if embedded { "embedded" } else { "pair" };
        let privacy = format!("model = \"kmn\"\nk = {k}\nm = {m}\nn = {n}\nrelations = \"{reading}\"");
        let mut options = options(m, n);
        if one_by_one {
            // A sample of everybody: each person's knowledge is counted apart from all others'.
            options.sample = Some(records.len());
        }
        let data = trees::dataset(&records);
        let found = attack(&data, &parse(trees::ATTRIBUTES, &privacy), &options);
        prop_assert_eq!((found.records, found.k), (records.len(), k));
        for at in 1..=m {
            for n in [0, n] {
                let expected = knowledge::attack(&records, at as usize, n as usize, embedded);
                agree(point(&found.points, at, n), &expected, k as usize)?;
            }
        }
        prop_assert_eq!(found.embedded.is_some(), n > 0 && !embedded);
        if let Some(points) = &found.embedded {
            let expected = knowledge::attack(&records, m as usize, n as usize, true);
            agree(point(points, m, n), &expected, k as usize)?;
        }
    }

    /// The worst-off are those with the fewest matches, and the knowledge that is shown is the smallest that does it.
    #[test]
    fn the_worst_off_are_found_by_what_is_shown(records in records(), m in 1u32..4, n in 0u32..3, embedded: bool) {
        prop_assume!(records.iter().any(|r| r.iter().any(|p| !p.is_empty())));
        let reading = if embedded { "embedded" } else { "pair" };
        let privacy = format!("model = \"kmn\"\nk = 2\nm = {m}\nn = {n}\nrelations = \"{reading}\"");
        let found = attack(&trees::dataset(&records), &parse(trees::ATTRIBUTES, &privacy), &options(m, n));
        let expected = knowledge::attack(&records, m as usize, n as usize, embedded);
        let mut fewest: Vec<usize> = expected.iter().map(|a| a.fewest).collect();
        for worst in &found.worst {
            prop_assert_eq!(worst.matches, expected[worst.record].fewest);
        }
        fewest.sort_unstable();
        let shown: Vec<usize> = found.worst.iter().map(|w| w.matches).collect();
        prop_assert_eq!(&shown[..], &fewest[..records.len().min(3)]);
        for worst in &found.worst {
            let values: Vec<String> = worst.known.iter().map(|k| k.value.clone()).collect();
            let known = (values, worst.relations.clone());
            if !known.0.is_empty() {
                prop_assert_eq!(knowledge::support(&records, &known, embedded), worst.matches);
            }
            // Nothing smaller matches as few.
            let smaller = knowledge::size_of_smallest(
                &records, worst.record, (m as usize, n as usize), embedded, worst.matches,
            );
            prop_assert_eq!((worst.relations.len(), worst.known.len()), smaller);
        }
    }

    /// Values of one vertex are a chain; those of the top object stand apart, or above everything.
    #[test]
    fn the_top_object_stands_apart_or_above(seed: u64, m in 1u32..4, n in 0u32..3, chain: bool) {
        let mut dice = Dice::new(seed);
        let mut records: Vec<trees::PathRecord> = Vec::new();
        for _ in 0..1 + dice.below(5) {
            let mut record: trees::PathRecord = (0..1 + dice.below(2))
                .map(|_| ["A", "B", "C"].iter().map(|l| format!("{l}{}", dice.below(2))).collect())
                .collect();
            record.push(vec![format!("R{}", dice.below(2))]);
            records.push(record);
        }
        let root = if chain { "chain" } else { "separate" };
        let privacy = format!("model = \"kmn\"\nk = 2\nm = {m}\nn = {n}\nroot = \"{root}\"");
        let found = attack(&trees::crowded_dataset(&records), &parse(trees::CROWDED_ATTRIBUTES, &privacy), &options(m, n));
        if chain {
            for record in &mut records {
                let top = record.pop().expect("a top value");
                *record = record.iter().map(|path| top.iter().chain(path).cloned().collect()).collect();
            }
        }
        let expected = knowledge::attack(&records, m as usize, n as usize, false);
        agree(point(&found.points, m, n), &expected, 2)?;
    }
}

/// Transactions that may be empty, hold an item twice, and come several times.
fn transactions() -> impl Strategy<Value = Vec<Vec<String>>> {
    let transaction = prop::collection::vec((0..6u32).prop_map(|i| format!("i{i}")), 0..6);
    prop::collection::vec((transaction, 1..4usize), 1..6)
        .prop_map(|list| list.into_iter().flat_map(|(t, times)| vec![t; times]).collect())
}

/// Sets as trees of depth one.
fn as_trees(transactions: &[Vec<String>]) -> Vec<trees::PathRecord> {
    transactions.iter().map(|t| t.iter().map(|item| vec![item.clone()]).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    #[test]
    fn sets_agree_with_the_definition(
        transactions in transactions(), k in 2u32..4, m in 1u32..5, multiset: bool, one_by_one: bool,
    ) {
        prop_assume!(transactions.iter().any(|t| !t.is_empty()));
        let privacy = format!("model = \"km\"\nk = {k}\nm = {m}\nmultiset = {multiset}");
        let mut options = options(m, 0);
        options.sample = one_by_one.then_some(transactions.len());
        let found = attack(&sets::dataset(&transactions), &parse(sets::ATTRIBUTES, &privacy), &options);
        let mut known = transactions.clone();
        if multiset {
            for t in &mut known {
                let times = |i: &String| t.iter().filter(|j| *j == i).count();
                *t = t.iter().map(|i| format!("{i} {}", times(i))).collect();
            }
        }
        for at in 1..=m {
            let expected = knowledge::attack(&as_trees(&known), at as usize, 0, false);
            agree(point(&found.points, at, 0), &expected, k as usize)?;
        }
    }

    /// Sensitive items are not known, and their highest share is what can be concluded.
    #[test]
    fn sensitive_items_are_learnt_not_known(transactions in transactions(), m in 1u32..4) {
        let sensitive = ["i4".to_owned(), "i5".to_owned()];
        let known = |t: &Vec<String>| t.iter().filter(|i| !sensitive.contains(i)).cloned().collect::<Vec<_>>();
        let quasi: Vec<Vec<String>> = transactions.iter().map(known).collect();
        prop_assume!(transactions.iter().any(|t| !t.is_empty()));
        let privacy = format!("model = \"km\"\nk = 2\nm = {m}\nl = 2\nsensitive = [\"i4\", \"i5\"]");
        let found = attack(&sets::dataset(&transactions), &parse(sets::ATTRIBUTES, &privacy), &options(m, 0));
        let expected = knowledge::attack(&as_trees(&quasi), m as usize, 0, false);
        agree(point(&found.points, m, 0), &expected, 2)?;
        let has_any = transactions.iter().any(|t| t.iter().any(|i| sensitive.contains(i)));
        let confidence = point(&found.points, m, 0).confidence;
        prop_assert_eq!(confidence.is_some(), has_any);
        if let Some((highest, mean)) = confidence {
            let shares = sets::confidence(&transactions, &sensitive, m as usize);
            let expected_highest = shares.iter().copied().fold(0.0, f64::max);
            let expected_mean = shares.iter().sum::<f64>() / shares.len() as f64;
            prop_assert!((highest - expected_highest).abs() < 1e-9, "{highest} {shares:?}");
            prop_assert!((mean - expected_mean).abs() < 1e-9, "{mean} {shares:?}");
        }
    }

    /// Vertex trees: whoever looks alike matches.
    #[test]
    fn vertex_trees_agree_with_the_definition(seed: u64) {
        let mut dice = Dice::new(seed);
        let quasi = [Role::Quasi, Role::Insensitive, Role::Insensitive, Role::Sensitive];
        let roles = [quasi; 4];
        let mut people = Vec::new();
        for _ in 0..1 + dice.below(6) {
            let mut record = vertices::random_shape(&mut dice, 2);
            vertices::throw_values(&mut dice, &mut record, 0, &["x", "y"]);
            vertices::throw_values(&mut dice, &mut record, 3, &["s", "t", "u"]);
            people.push(record);
            if dice.one_in(2) {
                let mut again = people[dice.below(people.len())].clone();
                again.shuffle(&mut dice);
                vertices::throw_values(&mut dice, &mut again, 3, &["s", "t", "u"]);
                people.push(again);
            }
        }
        let data = vertices::dataset(&people);
        let policy = parse(&vertices::policy(&roles), "model = \"l-diversity\"\nk = 2\nl = 2");
        let has_quasi = data.schema().attributes().any(|(_, a)| a.path.ends_with('a'));
        prop_assume!(has_quasi);
        let found = attack(&data, &policy, &Options::of(&policy));
        let classes = alike::classes(&people, &roles);
        let expected: Vec<Attacked> = (0..people.len())
            .map(|r| classes.iter().find(|c| c.contains(&r)).expect("a class").len())
            .map(|n| Attacked { fewest: n, unique: if n == 1 { 1.0 } else { 0.0 }, inverse: 1.0 / n as f64 })
            .collect();
        prop_assert_eq!((found.points[0].m, found.points[0].n), (None, None));
        agree(&found.points[0], &expected, 2)?;
        prop_assert!(found.worst.iter().all(|w| w.matches == expected[w.record].fewest));
        // Asked for more than anything can give, the definition names the most common value of every place.
        let ask = diversity::DiversityRule { double_l: 1 << 32, entropy: false, each: false, listed: Vec::new(), bounds: None };
        let shares = diversity::too_common(&people, &roles, &ask);
        let of_class = |class: &Vec<usize>| {
            shares.iter().filter(|s| s.class == *class).map(|s| s.share).fold(0.0, f64::max)
        };
        let highest = shares.iter().map(|s| s.share).fold(0.0, f64::max);
        let mean = classes.iter().map(|c| of_class(c) * c.len() as f64).sum::<f64>() / people.len() as f64;
        if let Some(found) = found.points[0].confidence {
            prop_assert!((found.0 - highest).abs() < 1e-9 && (found.1 - mean).abs() < 1e-9, "{found:?} {shares:?}");
        }
    }
}

/// The sweep's samples: what a sample says holds for all, within its interval.
#[test]
fn an_interval_holds_the_share_of_all() {
    let mut dice = Dice::new(5);
    let mut builder = Builder::new();
    let class = builder.class(ClassId::ROOT, &["item".to_owned()]);
    let item = builder.attribute(class, &[]);
    builder.rename(item, "item");
    for _ in 0..3000 {
        builder.begin_record();
        for _ in 0..2 + dice.below(6) {
            builder.open(class);
            let common = 1 + dice.below(40);
            let text = format!("i{}", dice.below(common));
            builder.set(item, Kind::Text, &text);
            builder.close();
        }
        builder.end_record().expect("one value per vertex");
    }
    let data = builder.finish();
    let policy = parse(sets::ATTRIBUTES, "model = \"km\"\nk = 5\nm = 3");
    let all = attack(&data, &policy, &Options::of(&policy));
    let sampled = attack(&data, &policy, &Options { sample: Some(400), ..Options::of(&policy) });
    let poor = attack(&data, &policy, &Options { budget: 1000, ..Options::of(&policy) });
    for m in 1..=4 {
        let (all, sampled, poor) =
            (point(&all.points, m, 0), point(&sampled.points, m, 0), point(&poor.points, m, 0));
        assert!(all.exhaustive && all.exact && all.people == 3000);
        assert!(!sampled.exhaustive && sampled.exact && sampled.people == 400, "{sampled:?}");
        for (all, sampled) in [(all.unique, sampled.unique), (all.below_k, sampled.below_k)] {
            assert!(sampled.low <= all.value && all.value <= sampled.high, "{m}: {all:?} {sampled:?}");
            assert!(sampled.low < sampled.high);
        }
        assert!((all.random_marketer - sampled.random_marketer).abs() < 0.1, "{all:?} {sampled:?}");
        // Knowledge that is drawn misses some: the risk is a lower bound, up to the interval.
        assert!(!poor.exact && !poor.exhaustive && poor.people >= 1000, "{poor:?}");
        assert!(poor.unique.low <= all.unique.value);
        assert!((all.random_marketer - poor.random_marketer).abs() < 0.1, "{all:?} {poor:?}");
    }
}

/// People with many visits: the first attribute differs from visit to visit, the others have two values each.
fn visitors(people: usize, visits: usize) -> (Dataset, String) {
    let mut dice = Dice::new(3);
    let mut builder = Builder::new();
    let class = builder.class(ClassId::ROOT, &["visit".to_owned()]);
    let names = ["a", "b", "c", "d", "e"];
    let ids = names.map(|name| builder.attribute(class, &[name.to_owned()]));
    for _ in 0..people {
        builder.begin_record();
        for visit in 0..visits {
            builder.open(class);
            for (at, &id) in ids.iter().enumerate() {
                let value = if at == 0 { visit } else { dice.below(2) };
                builder.set(id, Kind::Text, &format!("{}{value}", names[at]));
            }
            builder.close();
        }
        builder.end_record().expect("one value per vertex");
    }
    let attributes =
        names.map(|name| format!("[[attribute]]\npath = \"visit[].{name}\"\nrole = \"quasi\"\n"));
    (builder.finish(), format!("version = 1\n{}", attributes.concat()))
}

#[test]
fn places_of_values_were_multiplied_without_end() {
    let (data, attributes) = visitors(30, 50);
    for reading in ["pair", "embedded"] {
        let privacy = format!("model = \"kmn\"\nk = 2\nm = 3\nn = 2\nrelations = \"{reading}\"");
        let policy = parse(&attributes, &privacy);
        let all = attack(&data, &policy, &Options { m: vec![1, 2, 3], ..Options::of(&policy) });
        let points = all.embedded.as_ref().unwrap_or(&all.points);
        assert!(points.iter().all(|p| p.exhaustive && p.exact && p.people == 30));
        // Less of a budget is kept to as well, and so it is where more is known than can be gone through.
        for (m, budget) in [(3, 100_000), (8, 10_000_000), (11, 10_000_000)] {
            let options = Options { m: vec![m], budget, ..Options::of(&policy) };
            let some = attack(&data, &policy, &options);
            let points = some.embedded.as_ref().unwrap_or(&some.points);
            let drawn = point(points, m, 2);
            assert!(!drawn.exact && drawn.people == 30, "{drawn:?}");
            if m == 3 {
                let whole = point(all.embedded.as_ref().unwrap_or(&all.points), 3, 2);
                assert!(drawn.unique.value <= whole.unique.value, "{drawn:?} {whole:?}");
            }
        }
    }
}

#[test]
fn nobody_can_be_found_where_there_is_nobody() {
    let policy = parse(sets::ATTRIBUTES, "model = \"km\"\nk = 5\nm = 2");
    let mut builder = Builder::new();
    let class = builder.class(ClassId::ROOT, &["item".to_owned()]);
    let item = builder.attribute(class, &[]);
    builder.rename(item, "item");
    let found = attack(&builder.finish(), &policy, &Options::of(&policy));
    assert!(found.points.iter().all(|p| p.people == 0 && p.unique.value == 0.0 && p.prosecutor == 0.0));
    assert!(found.worst.is_empty());
}

#[test]
fn values_are_shown_only_when_asked_for() {
    let policy = parse(sets::ATTRIBUTES, "model = \"km\"\nk = 2\nm = 2");
    let found =
        attack(&sets::dataset(&[vec!["secret1".into()], vec!["b".into()]]), &policy, &Options::of(&policy));
    assert!(!found.to_json(false).to_string().contains("secret1"));
    assert!(found.to_json(true).to_string().contains("secret1"));
    assert_eq!(found.to_json(false)["worst"][0]["record"], 1);
}
