//! k^m-anonymity of sets: plain, as multisets, with sensitive items, with absence as knowledge.

use bosket_model::policy::Negative;
use bosket_testkit::dice::Dice;
use bosket_testkit::{fixtures, sets};
use bosket_verify::{Claim, Km, Witness};

use super::{Published, few, memory, outcome};
use crate::{Outcome, dice};

const ITEMS: [&str; 6] = ["1", "12", "2", "3", "4", "5"];
const TREE: &str = "1;12;*\n2;12;*\n3;*\n4;*\n5;*\n";

/// What is listed as sensitive: items on their own, items with a sibling that is none, nodes.
fn secret(dice: &mut Dice) -> Vec<&'static str> {
    let lists: [&[&str]; 7] = [&["4", "5"], &["1"], &["1", "4"], &["12"], &["1", "2"], &["12", "5"], &["3"]];
    (*dice.of(&lists)).to_vec()
}

/// The items that a list means: a node means what is below it.
fn spelled_out(listed: &[&'static str]) -> Vec<&'static str> {
    let below = |item: &&'static str| if *item == "12" { vec!["12", "1", "2"] } else { vec![*item] };
    listed.iter().flat_map(below).collect()
}

/// The witness and its records are those of the definition.
pub fn verify_km(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    let transactions = transactions(&mut dice);
    let claim = Km { k: few(&mut dice), m: 1 + dice.below(5) as u32, ..Km::default() };
    let hierarchies = [Some(fixtures::hierarchy(TREE))];
    let data = sets::dataset(&transactions);
    let published = Published { data: &data, attributes: sets::ATTRIBUTES, hierarchies: &hierarchies };
    let (k, m) = (claim.k as usize, claim.m as usize);
    match dice.below(4) {
        0 => {
            let double_l = 3 + dice.below(4);
            let listed = secret(&mut dice);
            // Items may be listed as knowledge by their absence that are beside, or below the same node as, sensitive ones.
            let free = |item: &&str| !spelled_out(&listed).contains(item) && *item != "12";
            let absent: Vec<&str> = ITEMS.into_iter().filter(free).filter(|_| dice.one_in(4)).collect();
            let negative = absent.iter().map(|i| Negative::Value((*i).to_owned())).collect();
            let sensitive: Vec<String> = spelled_out(&listed).into_iter().map(str::to_owned).collect();
            let listed: Vec<String> = listed.into_iter().map(str::to_owned).collect();
            let l = Some(double_l as f64 / 2.0);
            let claim = Claim::Km(Km { l, sensitive: listed.clone(), negative, ..claim });
            let found = published.witness(&claim, memory(&mut dice));
            let transactions = with_absent(&transactions, &absent, &sensitive);
            let known = |t: &Vec<String>| t.iter().filter(|i| !sensitive.contains(i)).cloned().collect();
            let quasi: Vec<Vec<String>> = transactions.iter().map(known).collect();
            let few = sets::smallest_violation(&quasi, k, m).map(|(itemset, _)| itemset);
            let told = found.as_ref().is_some_and(|w| w.sensitive.is_some());
            assert_eq!(told, found.is_some() && few.is_none(), "{transactions:?} {listed:?} {absent:?}");
            let expected = few.or_else(|| sets::smallest_uniform(&transactions, &sensitive, m, double_l));
            let mark = |v: &bosket_verify::Value| format!("{}{}", if v.absent { "~" } else { "" }, v.value);
            let own = found.as_ref().map(|w| w.values.iter().map(mark).collect::<Vec<String>>());
            // With absences, several smallest ones may be named: the order of `~` is another.
            match absent.is_empty() {
                true => assert_eq!(own, expected, "{transactions:?} {listed:?}"),
                false => assert_eq!(
                    own.map(|known| known.len()),
                    expected.map(|known| known.len()),
                    "{transactions:?} {listed:?} {absent:?}"
                ),
            }
            outcome(&found)
        }
        1 => {
            let times = |t: &Vec<String>, i: &String| t.iter().filter(|j| *j == i).count();
            let counted = |t: &Vec<String>| t.iter().map(|i| format!("{i} {}", times(t, i))).collect();
            let counted: Vec<Vec<String>> = transactions.iter().map(counted).collect();
            let found = published.witness(&Claim::Km(Km { multiset: true, ..claim }), memory(&mut dice));
            let item = |v: &bosket_verify::Value| format!("{} {}", v.value, v.count.expect("a count"));
            let told = found.as_ref().map(|w| (w.values.iter().map(item).collect(), w.records.clone()));
            // Items with a blank and a number sort otherwise than their labels.
            let expected = sets::smallest_violation(&counted, k, m);
            let size = |(values, _): &(Vec<String>, Vec<u32>)| values.len();
            assert_eq!(told.as_ref().map(size), expected.as_ref().map(size), "{transactions:?}");
            if let Some((values, records)) = &told {
                let having = |t: &Vec<String>| values.iter().all(|v| t.contains(v));
                let fit = (0..).zip(&counted).filter(|(_, t)| having(t)).map(|(at, _)| at);
                assert_eq!(*records, fit.collect::<Vec<u32>>(), "{transactions:?}");
            }
            outcome(&found)
        }
        2 => {
            let listed: Vec<&str> = ITEMS.into_iter().filter(|i| *i != "12" && dice.one_in(2)).collect();
            let negative = listed.iter().map(|i| Negative::Value((*i).to_owned())).collect();
            let found = published.witness(&Claim::Km(Km { negative, ..claim }), memory(&mut dice));
            let expected = sets::smallest_violation(&with_absent(&transactions, &listed, &[]), k, m);
            let mark = |absent: bool| if absent { "~" } else { "" };
            let label = |v: &bosket_verify::Value| format!("{}{}", mark(v.absent), v.value);
            let told = found.as_ref().map(|w| (w.values.iter().map(label).collect(), w.records.clone()));
            assert_eq!(told, expected, "{transactions:?} {listed:?}");
            outcome(&found)
        }
        _ => {
            let found = published.witness(&Claim::Km(claim), memory(&mut dice));
            let told = found.as_ref().map(|w| (labels(w), w.records.clone()));
            assert_eq!(told, sets::smallest_violation(&transactions, k, m), "{transactions:?}");
            outcome(&found)
        }
    }
}

/// Transactions that may be none, be empty, hold an item twice, and come several times.
fn transactions(dice: &mut Dice) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for _ in 0..dice.below(8) {
        let copy = !all.is_empty() && !dice.one_in(3);
        let mut transaction = if copy { dice.of(&all).clone() } else { Vec::new() };
        if !copy || dice.one_in(3) {
            transaction.extend((0..dice.below(4)).map(|_| (*dice.of(&ITEMS)).to_owned()));
        }
        all.push(transaction);
    }
    all
}

fn labels(witness: &Witness) -> Vec<String> {
    witness.values.iter().map(|v| v.value.clone()).collect()
}

/// An item counts by its absence if all its leaves are listed and somebody has it. Sensitive ones are published as they are, so
/// that none above stands for them.
fn with_absent(transactions: &[Vec<String>], listed: &[&str], sensitive: &[String]) -> Vec<Vec<String>> {
    let leaves = |item: &str| if item == "12" { vec!["1", "2"] } else { vec![ITEMS[place(item)]] };
    let counts = |item: &&str| {
        let is_secret = |item: &str| sensitive.iter().any(|secret| secret == item);
        leaves(item).iter().all(|leaf| listed.contains(leaf) || is_secret(leaf))
            && leaves(item).iter().any(|leaf| listed.contains(leaf))
            && !is_secret(item)
            && transactions.iter().flatten().any(|i| i == item)
    };
    let counted: Vec<&str> = ITEMS.into_iter().filter(counts).collect();
    let missing = |t: &Vec<String>| -> Vec<String> {
        let absent = counted.iter().filter(|c| !t.iter().any(|i| i == *c));
        t.iter().cloned().chain(absent.map(|c| format!("~{c}"))).collect()
    };
    transactions.iter().map(missing).collect()
}

fn place(item: &str) -> usize {
    ITEMS.iter().position(|i| *i == item).expect("an item")
}
