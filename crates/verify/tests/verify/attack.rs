//! A claim holds exactly where an attacker of its strength finds nobody.

use bosket_measure::attack::{Options, risk};
use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Role, Undeclared};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::{sets, trees, vertices};
use bosket_verify::{Claim, verify};
use proptest::prelude::*;

/// Whether the claim holds, and whether attackers of its strength find nobody and nothing out. Relations that are promised
/// at one place are promised each for itself as well.
fn both(data: &Dataset, attributes: &str, privacy: &str, size: (Option<u32>, Option<u32>)) -> (bool, bool) {
    let rows = if privacy.contains("\"kmn\"") { "[publish]\nrows = \"united\"\n" } else { "" };
    let of_reading = |privacy: &str| {
        let text = format!("{attributes}\n[privacy]\n{privacy}\n{rows}");
        let (policy, _) = Policy::parse("p", &text, &[]).expect("a good policy");
        let binding =
            Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("declared");
        let claim = Claim::new(&policy).expect("a claim");
        let witness = verify(data, &binding, &claim, &[], 1 << 30, &Quiet).expect("countable");
        let found = risk(data, &binding, &policy, &Options::of(&policy), &Quiet).expect("countable");
        let point = found.points.into_iter().find(|p| (p.m, p.n) == size).expect("the claim's strength");
        let unsure = point.confidence.is_none_or(|c| c.0 <= 0.5);
        (witness, unsure && point.below_k.value == 0.0, found.worst)
    };
    let apart = of_reading(&privacy.replace("embedded", "pair"));
    if let (Some(witness), Some(worst)) = (&apart.0, apart.2.first()) {
        assert!(worst.matches <= witness.support, "{witness:?} {worst:?}");
    }
    let own = of_reading(privacy);
    (own.0.is_none(), own.1 && apart.1)
}

fn records() -> impl Strategy<Value = Vec<trees::PathRecord>> {
    let path = (1..3usize, 0..3usize, 0..2usize).prop_map(|(a, b, c)| {
        let levels = [("A", a), ("B", b), ("C", c)];
        levels.iter().filter(|l| l.1 > 0).map(|(level, n)| format!("{level}{n}")).collect()
    });
    let record = prop::collection::vec(path, 1..3);
    prop::collection::vec((record, 1..4usize), 1..4)
        .prop_map(|list| list.into_iter().flat_map(|(r, times)| vec![r; times]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    #[test]
    fn of_trees(records in records(), k in 2u32..4, m in 1u32..4, n in 0u32..3, embedded: bool, chain: bool) {
        let reading = if embedded { "embedded" } else { "pair" };
        let root = if chain { "chain" } else { "separate" };
        let privacy =
            format!("model = \"kmn\"\nk = {k}\nm = {m}\nn = {n}\nrelations = \"{reading}\"\nroot = \"{root}\"");
        let (holds, safe) = both(&trees::dataset(&records), trees::ATTRIBUTES, &privacy, (Some(m), Some(n)));
        prop_assert_eq!(holds, safe);
    }

    #[test]
    fn of_sets(
        kinds in prop::collection::vec((prop::collection::vec(0..5u32, 1..5), 1..4usize), 1..5),
        k in 2u32..4, m in 1u32..4, multiset: bool,
    ) {
        let transactions: Vec<Vec<String>> = (kinds.iter())
            .flat_map(|(t, times)| vec![t.iter().map(|i| format!("i{i}")).collect(); *times])
            .collect();
        let privacy = format!("model = \"km\"\nk = {k}\nm = {m}\nmultiset = {multiset}");
        let (holds, safe) = both(&sets::dataset(&transactions), sets::ATTRIBUTES, &privacy, (Some(m), Some(0)));
        prop_assert_eq!(holds, safe);
    }

    #[test]
    fn of_vertex_trees(records in records(), k in 2u32..4) {
        let privacy = format!("model = \"k-anonymity\"\nk = {k}");
        let (holds, safe) = both(&trees::dataset(&records), trees::ATTRIBUTES, &privacy, (None, None));
        prop_assert_eq!(holds, safe);
    }

    /// Where sensitive items are too common for nobody, no attacker concludes more.
    #[test]
    fn of_diversity(
        kinds in prop::collection::vec((prop::collection::vec(0..5u32, 1..5), 1..4usize), 1..5), m in 1u32..4,
    ) {
        let transactions: Vec<Vec<String>> = (kinds.iter())
            .flat_map(|(t, times)| vec![t.iter().map(|i| format!("i{i}")).collect(); *times])
            .collect();
        let privacy = format!("model = \"km\"\nk = 2\nm = {m}\nl = 2\nsensitive = [\"i4\"]");
        let (holds, safe) = both(&sets::dataset(&transactions), sets::ATTRIBUTES, &privacy, (Some(m), Some(0)));
        prop_assert_eq!(holds, safe);
    }

    /// The same where values are related, and some are sensitive.
    #[test]
    fn of_diversity_of_trees(seed: u64, m in 1u32..4, n in 0u32..3, embedded: bool) {
        let mut dice = Dice::new(seed);
        let roles = [[Role::Quasi, Role::Insensitive, Role::Insensitive, Role::Sensitive]; 4];
        let mut people = Vec::new();
        for _ in 0..1 + dice.below(2) {
            let mut person = vertices::random_shape(&mut dice, 1);
            vertices::throw_values(&mut dice, &mut person, 0, &["x", "y"]);
            for _ in 0..2 + dice.below(2) {
                vertices::throw_values(&mut dice, &mut person, 3, &["s", "t", "u"]);
                people.push(person.clone());
            }
        }
        let data = vertices::dataset(&people);
        prop_assume!(data.schema().attributes().any(|(_, a)| a.path.ends_with('a')));
        let reading = if embedded { "embedded" } else { "pair" };
        let privacy = format!("model = \"kmn\"\nk = 2\nm = {m}\nn = {n}\nl = 2\nrelations = \"{reading}\"");
        let (holds, safe) = both(&data, &vertices::policy(&roles), &privacy, (Some(m), Some(n)));
        prop_assert_eq!(holds, safe);
    }
}
