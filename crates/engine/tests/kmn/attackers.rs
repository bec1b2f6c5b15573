//! Attackers who know all of some attributes and a few values elsewhere.

use bosket_engine::kmn::{Algorithm, Cost, Params};
use bosket_model::policy::{Attacker, Knower, Missing, Rows};
use bosket_testkit::dice::{Dice, cases};
use bosket_verify::{Claim, Kmn};

use crate::params;
use crate::rows::Case;

/// Somebody who knows some attributes at once, and a few values among others.
fn knower(dice: &mut Dice, attributes: usize, name: &str) -> Knower {
    let (knows, rest): (Vec<usize>, Vec<usize>) = (0..attributes).partition(|_| dice.one_in(3));
    let all = knows.is_empty() || dice.one_in(2);
    let among: Vec<usize> = rest.into_iter().filter(|_| all || dice.one_in(2)).collect();
    let m = (dice.below(3) as u32).max(u32::from(knows.is_empty()));
    Knower {
        attacker: Some(Attacker { name: name.to_owned(), ..Attacker::default() }),
        m: if among.is_empty() { 0 } else { m },
        n: if m > 1 { dice.below(2) as u32 } else { 0 },
        k: 2 + dice.below(2) as u32,
        knows,
        among,
    }
}

#[test]
fn every_attacker_finds_enough_people() {
    let (mut published, mut tries) = ([0, 0], 0);
    for seed in 0..u64::from(cases(400)) {
        let mut dice = Dice::new(seed);
        let case = Case::new(seed, 4 + dice.below(16), false);
        let attributes = case.hierarchies.iter().flatten().count();
        let knowers: Vec<Knower> =
            (0..1 + dice.below(2)).map(|at| knower(&mut dice, attributes, &format!("a{at}"))).collect();
        let most = |of: fn(&Knower) -> u32| knowers.iter().map(of).max().unwrap_or(0);
        let (k, m, n) = (most(|a| a.k), most(|a| a.m).max(1), most(|a| a.n));
        let kmn = Kmn { missing: Missing::Counted, attackers: knowers.clone(), ..Kmn::new(k, 0, 0) };
        let claim = Claim::Kmn(kmn);
        tries += 1;
        for (local, algorithm) in [(false, Algorithm::Best), (true, Algorithm::Gcs)] {
            let plain = params(attributes, algorithm, k, m as usize, n as usize);
            let own = Params { counted: true, cost: Cost::Lm, knowers: knowers.clone(), ..plain };
            let own = Params { local, beyond: !local, ..own };
            // Judged by the definition, and compared with the input.
            if let Ok(release) = case.publish(&own, Rows::Distinct, &claim) {
                case.check(&release.published, &claim, Rows::Distinct, (false, local));
                published[usize::from(local)] += 1;
            }
        }
    }
    println!("{published:?} of {tries}");
    assert!(published.iter().all(|&n| n * 4 > tries), "published {published:?} of {tries}");
}
