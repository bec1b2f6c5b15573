//! What labels tell of the values that they hide, against a count of every cell by hand.

use std::collections::BTreeMap;

use bosket_model::Dataset;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::masks::Masks;
use bosket_model::observe::Quiet;
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::fixtures::{bound, hierarchy};
use bosket_testkit::sets::dataset;
use bosket_verify::guess::{Guessed, judge};
use bosket_verify::truth::{Comparison, Mapping, Pair, Recoding, Side, compare_masked};
use proptest::prelude::*;

const POLICY: &str = "version = 1\n[[attribute]]\npath = \"item\"\nrole = \"quasi\"\n";

/// Eight values below four labels, two and one.
fn eight() -> Hierarchy {
    hierarchy("a1;a;ab;*\na2;a;ab;*\nb1;b;ab;*\nb2;b;ab;*\nc1;c;cd;*\nc2;c;cd;*\nd1;d;cd;*\nd2;d;cd;*\n")
}

/// One value each, and what it is published as.
type Cells = [(String, String)];

struct Publication {
    published: Dataset,
    input: Dataset,
    hierarchies: Vec<Option<Hierarchy>>,
}

impl Publication {
    /// The publication has the records in the order that `at` gives.
    fn new(cells: &Cells, at: &[usize]) -> Self {
        let one = |text: &String| vec![text.clone()];
        Publication {
            published: dataset(&at.iter().map(|&i| one(&cells[i].1)).collect::<Vec<_>>()),
            input: dataset(&cells.iter().map(|(value, _)| one(value)).collect::<Vec<_>>()),
            hierarchies: vec![Some(eight())],
        }
    }

    fn compared<T>(&self, mapping: Option<&Mapping>, with: impl Fn(&Comparison<'_>) -> T) -> T {
        let (_, published) = bound(&self.published, POLICY);
        let (_, input) = bound(&self.input, POLICY);
        with(&Comparison {
            published: Side { data: &self.published, binding: &published },
            input: Side { data: &self.input, binding: &input },
            hierarchies: &self.hierarchies,
            recoding: Recoding::LocalTrees,
            suppress: false,
            mapping,
            sensitive: &[],
        })
    }

    /// Counts what its labels tell, by these pairs.
    fn judged(&self, at: &[usize], guess: f64) -> Guessed {
        let pairs: Vec<(u32, u32)> =
            at.iter().zip(0..).map(|(&input, published)| (published, input as u32)).collect();
        self.compared(None, |c| judge(c, &pairs, guess, &Quiet).expect("nobody interrupts"))
    }

    /// The same by all that `verify --against` does.
    fn against(&self, mapping: Option<&Mapping>, guess: f64) -> Guessed {
        let (policy, _) = bound(&self.input, POLICY);
        self.compared(mapping, |c| {
            let found =
                compare_masked(c, &Masks::of(&policy), None, Some(guess), &Quiet).expect("comparable");
            assert_eq!(found.untruths, []);
            found.guessed.expect("it was asked for")
        })
    }
}

/// Per label that tells too much, its cells and those of the value that it tells.
fn by_hand(cells: &Cells, tree: &Hierarchy, guess: f64) -> BTreeMap<String, (u64, u64)> {
    let is_below = |value: &str, label: &str| {
        tree.is_ancestor_or_self(tree.node(label).expect("a label"), tree.node(value).expect("a value"))
    };
    let count = |of: &dyn Fn(&(String, String)) -> bool| cells.iter().filter(|cell| of(cell)).count() as u64;
    let mut told = BTreeMap::new();
    for (_, label) in cells {
        let (hidden, below) = (count(&|c| c.1 == *label), count(&|c| is_below(&c.0, label)));
        for (value, _) in cells.iter().filter(|c| c.1 == *label) {
            let hits = count(&|c| c.1 == *label && c.0 == *value);
            let usual = count(&|c| c.0 == *value);
            let too_often = hits as f64 > guess * hidden as f64 && hits * below > usual * hidden;
            let known = told.get(label).map_or(0, |&(_, hits): &(u64, u64)| hits);
            if hidden < below && too_often && hits > known {
                told.insert(label.clone(), (hidden, hits));
            }
        }
    }
    told
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]
    #[test]
    fn shares_are_those_that_are_counted_by_hand(seed: u64, guess in prop::sample::select(vec![0.1, 0.3, 0.5, 0.75, 1.0])) {
        let mut dice = Dice::new(seed);
        let values = ["a1", "a1", "a1", "a1", "a2", "b1", "b1", "b2", "c1", "d1", "d2"];
        let chain = |value: &str| [value.to_owned(), value[..1].to_owned(), if value < "c" { "ab" } else { "cd" }.to_owned(), "*".to_owned()];
        let cells: Vec<(String, String)> = (0..1 + dice.below(40))
            .map(|_| {
                let value = *dice.of(&values);
                (value.to_owned(), dice.of(&chain(value)).clone())
            })
            .collect();
        let mut at: Vec<usize> = (0..cells.len()).collect();
        dice.shuffle(&mut at);
        let found = Publication::new(&cells, &at).judged(&at, guess);
        let told: BTreeMap<String, (u64, u64)> = found.told.iter().map(|told| (told.label.clone(), (told.cells, told.hits))).collect();
        prop_assert_eq!(told, by_hand(&cells, &eight(), guess));
    }

    /// A rare value that a wide label hides, with others of a smaller share: found with and without a mapping.
    #[test]
    fn a_planted_value_is_found(seed: u64, rare in 3usize..20, others in 0usize..3, common in 30usize..60) {
        let mut dice = Dice::new(seed);
        let as_it_is = |value: &str| (value.to_owned(), value.to_owned());
        let mut cells: Vec<(String, String)> = (0..common).map(|i| as_it_is(["a1", "b1", "c1"][i % 3])).collect();
        cells.extend((0..rare).map(|_| ("d2".to_owned(), "*".to_owned())));
        cells.extend((0..others).map(|_| ("a1".to_owned(), "*".to_owned())));
        dice.shuffle(&mut cells);
        let mut at: Vec<usize> = (0..cells.len()).collect();
        dice.shuffle(&mut at);
        let publication = Publication::new(&cells, &at);
        let pairs = at.iter().zip(0..).map(|(&input, published)| Pair { line: 1, input: input as u32, published });
        let mapping = Mapping { name: "mapping".to_owned(), pairs: pairs.collect() };
        for mapping in [None, Some(&mapping)] {
            let found = publication.against(mapping, 0.5);
            prop_assert!(!found.holds());
            let told = &found.told[0];
            let seen = (told.label.as_str(), told.value.as_deref(), told.cells, told.hits);
            prop_assert_eq!(seen, ("*", Some("d2"), (rare + others) as u64, rare as u64));
        }
    }
}

/// Under one cut for all a label hides what everybody would guess, however common that is.
#[test]
fn one_cut_tells_nothing() {
    let cells: Vec<(String, String)> =
        ["a1", "a1", "a1", "a2"].map(|value| (value.to_owned(), "a".to_owned())).to_vec();
    let all = Publication::new(&cells, &[0, 1, 2, 3]);
    assert_eq!(all.judged(&[0, 1, 2, 3], 0.1).told, []);
    // Who is left out with a value of their own lets the label tell the others'.
    let some = Publication::new(&cells, &[0, 1, 2]).judged(&[0, 1, 2], 0.1).told;
    let [told] = &some[..] else { panic!("{some:?}") };
    assert_eq!((told.label.as_str(), told.cells, told.hits, told.usual), ("a", 3, 3, 0.75));
}

#[test]
fn values_are_told_on_demand_only() {
    let cells = [("d2", "*"), ("d2", "*"), ("a1", "a1")].map(|(v, l)| (v.to_owned(), l.to_owned()));
    let found = Publication::new(&cells, &[0, 1, 2]).judged(&[0, 1, 2], 0.5);
    let (silent, telling) = (found.to_json(false), found.to_json(true));
    assert!(!silent.to_string().contains("d2"), "{silent}");
    assert_eq!(telling["told"][0]["value"], "d2");
    assert_eq!((&silent["holds"], &silent["told"][0]["share"]), (&false.into(), &1.0.into()));
}
