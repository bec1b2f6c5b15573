//! Attackers who know all of some things and a few of others: a neighbour knows gender, year of birth and town together, and
//! perhaps one visit.
//!
//! Records that show the same labels wherever the attacker knows all are a **class**. A class of fewer than k records is a
//! witness by itself; within each class the further values are counted as ever. All classes are counted at once: an item
//! of a record is numbered together with the record's class, so that records of two classes have nothing in common.
//!
//! ```text
//! record   gender  town    visits          class          further items, numbered by class
//! 0        f       Alton   flu, cold       {f, Alton}     0 = cold, 1 = flu
//! 1        f       Alton   flu             {f, Alton}     1
//! 2        m       Alton   flu             {m, Alton}     2 = flu
//! ```
//!
//! With k = 2 and m = 1 the third record is alone in its class: {m, Alton} is the witness. Without it, `cold` is shown by one
//! record of the first class, and {f, Alton, cold} is.

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::Knower;
use bosket_model::{Dataset, Failure, Result};

use crate::claim::{Claim, Kmn};
use crate::knowledge::{self, Knowledge, Known, Range, Records, largest_m};
use crate::witness::{Value, Witness};

/// The smallest knowledge of an attacker that fits too few records: a class that is too small, or else what is smallest within the
/// classes.
pub(crate) fn smallest(
    data: &Dataset,
    binding: &Binding,
    (claim, knower): (&Kmn, &Knower),
    memory: usize,
    observer: &dyn Observer,
) -> Result<Option<Witness>> {
    let records = Records::read(data, binding, &crate::view_of(claim), observer)?;
    let (within, classes) = records.within_classes(knower, observer)?;
    let named = |witness: Witness| Witness { attacker: knower.name().map(str::to_owned), ..witness };
    // That somebody is among all is no knowledge of them.
    let small = if knower.knows.is_empty() { None } else { classes.smaller_than(claim.k) };
    if let Some((known, members)) = small {
        let values = known.iter().map(|&item| value(binding, records.known(item))).collect();
        let support = members.len();
        return Ok(Some(named(Witness { values, support, records: members, ..Witness::default() })));
    }
    let m = (claim.m as usize).min(within.longest());
    if m == 0 {
        return Ok(None);
    }
    let n = (claim.n as usize).min(knowledge::pair_count(m));
    if n > 0 && m > largest_m(&within) {
        return Err(crate::too_large(m, largest_m(&within), within.item_count()));
    }
    let Some(found) = knowledge::smallest_violation(&within, Range { k: claim.k, m, n, memory }, observer)?
    else {
        return Ok(None);
    };
    let Knowledge { records: members, .. } = &found;
    let Some(&first) = members.first() else {
        return Err(Failure::defect("a witness that fits nobody"));
    };
    let mut witness = crate::witness(&within, binding, &found);
    let known = classes.known_of(first);
    for (above, below) in &mut witness.relations {
        *above += known.len();
        *below += known.len();
    }
    witness.values.splice(0..0, known.iter().map(|&item| value(binding, records.known(item))));
    Ok(Some(named(witness)))
}

fn value(binding: &Binding, known: &Known) -> Value {
    Value {
        path: binding.declared[known.declared].path.clone(),
        value: known.label.clone(),
        ..Value::default()
    }
}

impl Claim {
    /// The claim in sentences: one per attacker, and what is said of all of them; else the one that there is.
    pub fn sentences(&self) -> Vec<String> {
        match self {
            Claim::Kmn(claim) if !claim.attackers.is_empty() => claim.sentences(),
            other => vec![other.sentence()],
        }
    }

    /// The sentence about the attacker of this name; none if the claim names nobody so.
    pub fn sentence_about(&self, name: &str) -> Option<String> {
        let Claim::Kmn(claim) = self else { return None };
        let is_it = |own: &Kmn| own.knower.as_ref().and_then(Knower::name) == Some(name);
        claim.readings().iter().find(|own| is_it(own)).map(Kmn::own_sentence)
    }
}

impl Kmn {
    /// One sentence per attacker, and what is said of all of them.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let missing = "missing values are counted as `*`".to_owned();
        self.readings().iter().map(Kmn::own_sentence).chain([missing]).collect()
    }

    /// The claim about one attacker alone, or about somebody who knows nothing in particular.
    fn own_sentence(&self) -> String {
        let finds = format!("finds at least {} people who fit", self.k);
        match self.knower.as_ref().and_then(|knower| Some((knower, knower.attacker.as_ref()?))) {
            Some((knower, attacker)) => {
                format!("{}, who knows {}, {finds}", attacker.called(), knower.words())
            }
            None => format!("whoever knows {} of a person {finds}", nobody_in_particular(self).words()),
        }
    }
}

fn nobody_in_particular(claim: &Kmn) -> Knower {
    Knower { attacker: None, knows: Vec::new(), among: Vec::new(), k: claim.k, m: claim.m, n: claim.n }
}
