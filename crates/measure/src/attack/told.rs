//! The attackers whom a policy names, each with what they know: as promised, and with one value more.
//!
//! Who knows all of some places is told apart by what a record shows there, its class. A value is numbered together with
//! the class of its record, and the class counts as a value that everybody in it has: so all classes are counted at once.

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::{Knower, Policy, Privacy};
use bosket_model::{Dataset, Result};
use rustc_hash::FxHashMap;

use super::figures::Point;
use super::levels::Plan;
use super::raw::{NO_NODE, Raw};
use super::records::{MOST_VALUES, Records, Value};
use super::{Options, least};

/// What an attacker of the policy finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// What the policy calls them; none for somebody who knows nothing in particular.
    pub name: Option<String>,
    /// What they know, as in "who knows {…}".
    pub knows: String,
    /// How many matches are enough.
    pub k: u32,
    /// What they find.
    pub promised: Point,
    /// What they find who know one value more.
    pub one_more: Point,
}

/// What everybody finds against whom the publication has to hold; empty where no values are counted.
pub fn attackers(
    data: &Dataset,
    binding: &Binding,
    policy: &Policy,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Vec<Told>> {
    let privacy = policy.need_privacy()?;
    if !privacy.model.counts_values() {
        return Ok(Vec::new());
    }
    let one = |knower: Knower| {
        let k = if knower.k > 0 { knower.k } else { least(privacy) };
        let look = Look { data, binding, privacy, options, observer };
        let promised = look.point(&knower, knower.m, k)?;
        let one_more = look.point(&knower, knower.m + 1, k)?;
        let name = knower.name().map(str::to_owned);
        Ok(Told { name, knows: knower.words(), k, promised, one_more })
    };
    policy.knowers().into_iter().map(one).collect()
}

struct Look<'a> {
    data: &'a Dataset,
    binding: &'a Binding,
    privacy: &'a Privacy,
    options: &'a Options,
    observer: &'a dyn Observer,
}

impl Look<'_> {
    /// What somebody finds who knows up to so many further values.
    fn point(&self, knower: &Knower, m: u32, k: u32) -> Result<Point> {
        let mut raw = Raw::read(self.data, self.binding, self.privacy, self.observer)?;
        within_classes(&mut raw, knower, m > 0, self.observer)?;
        let n = if m > 1 { knower.n as usize } else { 0 };
        let records = Records::of_raw(raw, (n > 0, false), self.observer)?;
        let sizes = vec![m.clamp(1, MOST_VALUES as u32)];
        let options = Options { m: sizes, n: vec![n as u32], ..self.options.clone() };
        let plan = Plan { records: &records, options: &options, relations: &[n], observer: self.observer };
        let levels = plan.levels()?;
        let mut points = plan.points(&levels, k);
        let point = points.pop().map(|point| Point { m: Some(m), ..point });
        point.ok_or_else(|| bosket_model::Failure::defect("attackers of one strength gave no figures"))
    }
}

/// Numbers values by the class of their record, and adds the class to each record; without `further` values that is all.
fn within_classes(raw: &mut Raw, knower: &Knower, further: bool, observer: &dyn Observer) -> Result<()> {
    let mut classes: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut values: Vec<Value> = Vec::new();
    for own in &mut raw.records {
        observer.go_on()?;
        let mut shown: Vec<u32> = own
            .iter()
            .map(|node| node.0)
            .filter(|&value| knower.knows.contains(&raw.values[value as usize].declared))
            .collect();
        shown.sort_unstable();
        shown.dedup();
        let next = classes.len() as u32;
        let class = *classes.entry(shown).or_insert(next);
        own.retain(|node| further && knower.may_know(raw.values[node.0 as usize].declared));
        let mut number = |value: u32, like: Option<&Value>| {
            *numbers.entry((class, value)).or_insert_with(|| {
                let order = values.len() as u32;
                values.push(match like {
                    Some(value) => Value { order, ..value.clone() },
                    None => Value {
                        declared: usize::MAX,
                        label: String::new(),
                        item: u32::MAX,
                        count: None,
                        order,
                    },
                });
                order
            })
        };
        own.iter_mut().for_each(|node| node.0 = number(node.0, Some(&raw.values[node.0 as usize])));
        if !knower.knows.is_empty() {
            own.push((number(u32::MAX, None), NO_NODE, NO_NODE));
        }
    }
    raw.values = values;
    Ok(())
}
