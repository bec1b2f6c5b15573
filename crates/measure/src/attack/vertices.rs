//! Attackers who know everything quasi about a person, and how it hangs together: whoever looks alike matches.

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::{Policy, Privacy, Role, Siblings};
use bosket_model::{AttributeId, Dataset, MISSING, Result};

use super::figures::{Figure, Look, Point};
use super::secrets::Labels;
use super::{Known, Worst};

/// Records that cannot be told apart.
pub(super) struct Alike {
    /// Per vertex its form: alike vertices have the same class, the same quasi values and alike children.
    form: Vec<u32>,
    /// The records of each class, by their first.
    classes: Vec<Vec<u32>>,
    /// Per record its class.
    class_of: Vec<u32>,
}

impl Alike {
    pub(super) fn new(data: &Dataset, binding: &Binding, observer: &dyn Observer) -> Result<Self> {
        let schema = data.schema();
        let quasi: Vec<Vec<AttributeId>> =
            schema.classes().map(|(id, _)| binding.in_policy_order(schema, id, Role::Quasi)).collect();
        let mut form = vec![0u32; data.vertex_count()];
        let mut known: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        let (mut classes, mut class_of): (Vec<Vec<u32>>, Vec<u32>) = (Vec::new(), Vec::new());
        for record in 0..data.len() {
            observer.go_on()?;
            let vertices = data.vertices(record);
            let first = vertices.start;
            let mut below: Vec<Vec<u32>> = vec![Vec::new(); vertices.len()];
            // From the last vertex to the first, children come before their parents.
            for v in vertices.rev() {
                let class = data.class(v);
                let mut key = vec![class.0];
                key.extend(quasi[class.index()].iter().map(|&a| data.value(v, a)));
                let mut children = std::mem::take(&mut below[v - first]);
                children.sort_unstable();
                key.extend(children);
                let next = known.len() as u32;
                form[v] = *known.entry(key).or_insert(next);
                if let Some(parent) = data.parent(v) {
                    below[parent - first].push(form[v]);
                }
            }
            let next = classes.len() as u32;
            let class = *numbers.entry(form[first]).or_insert(next);
            if class == next {
                classes.push(Vec::new());
            }
            classes[class as usize].push(record as u32);
            class_of.push(class);
        }
        Ok(Alike { form, classes, class_of })
    }

    fn matches(&self, record: usize) -> u32 {
        self.classes[self.class_of[record] as usize].len() as u32
    }

    /// What somebody who knows all quasi values finds.
    pub(super) fn point(&self, k: u32) -> Point {
        let people: Vec<Figure> = (0..self.class_of.len()).map(|r| Figure::one(self.matches(r))).collect();
        Point::new(Look { m: None, n: None, exhaustive: true, exact: true }, &people, k)
    }

    /// The records that look like the fewest others.
    pub(super) fn worst(&self, data: &Dataset, binding: &Binding, most: usize) -> Vec<Worst> {
        let mut ranked: Vec<(u32, u32)> =
            (0..self.class_of.len()).map(|r| (self.matches(r), r as u32)).collect();
        ranked.sort_unstable();
        ranked.truncate(most);
        ranked.into_iter().map(|(matches, record)| told(data, binding, record as usize, matches)).collect()
    }

    /// The highest share of a sensitive value anywhere in a class, and its mean over people. None if no attribute is
    /// sensitive.
    pub(super) fn confidence(
        &self,
        data: &Dataset,
        binding: &Binding,
        policy: &Policy,
        privacy: &Privacy,
        observer: &dyn Observer,
    ) -> Result<Option<(f64, f64)>> {
        let labels = Labels::new(data, binding, policy)?;
        if labels.attributes.iter().all(Vec::is_empty) || data.is_empty() {
            return Ok(None);
        }
        let (mut highest, mut sum) = (0.0, 0.0);
        for class in &self.classes {
            let share = self.share(data, class, &labels, privacy.siblings, observer)?;
            highest = f64::max(highest, share);
            sum += share * class.len() as f64;
        }
        Ok(Some((highest, sum / data.len() as f64)))
    }

    /// The highest share of a sensitive value at one place of a class: vertices that are alike and have alike parents up
    /// to the root cannot be told apart.
    fn share(
        &self,
        data: &Dataset,
        class: &[u32],
        labels: &Labels,
        siblings: Siblings,
        observer: &dyn Observer,
    ) -> Result<f64> {
        let mut place_of: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut filled: FxHashMap<(u32, AttributeId), u32> = FxHashMap::default();
        let mut counts: FxHashMap<(u32, AttributeId, u32), (u32, u32)> = FxHashMap::default();
        let mut highest: f64 = 0.0;
        let mut places: Vec<u32> = Vec::new();
        for &record in class {
            observer.go_on()?;
            let vertices = data.vertices(record as usize);
            places.clear();
            for v in vertices.clone() {
                let above = data.parent(v).map_or(u32::MAX, |p| places[p - vertices.start]);
                let next = place_of.len() as u32;
                let place = *place_of.entry((above, self.form[v])).or_insert(next);
                places.push(place);
                for &a in &labels.attributes[data.class(v).index()] {
                    *filled.entry((place, a)).or_default() += 1;
                    let code = data.value(v, a);
                    if code == MISSING {
                        continue;
                    }
                    let value = labels.of[a.index()][code as usize];
                    let count = counts.entry((place, a, value)).or_insert((0, u32::MAX));
                    if siblings == Siblings::Pooled || count.1 != record {
                        *count = (count.0 + 1, record);
                    }
                }
            }
        }
        // The highest of all is the same in whatever order they come.
        #[allow(clippy::iter_over_hash_type, reason = "a maximum does not depend on the order")]
        for (&(place, a, _), &(count, _)) in &counts {
            let of = match siblings {
                Siblings::Pooled => filled[&(place, a)],
                Siblings::Each => class.len() as u32,
            };
            highest = highest.max(f64::from(count) / f64::from(of));
        }
        Ok(highest)
    }
}

/// A record's quasi values, each below the last one above it.
fn told(data: &Dataset, binding: &Binding, record: usize, matches: u32) -> Worst {
    let mut worst = Worst { record, matches: matches as usize, known: Vec::new(), relations: Vec::new() };
    let vertices = data.vertices(record);
    let mut last: Vec<Option<usize>> = Vec::new();
    for v in vertices.clone() {
        let mut above = data.parent(v).and_then(|p| last[p - vertices.start]);
        for a in binding.in_policy_order(data.schema(), data.class(v), Role::Quasi) {
            let code = data.value(v, a);
            if code == MISSING {
                continue;
            }
            let at = worst.known.len();
            let path = data.schema().attribute(a).path.clone();
            worst.known.push(Known { path, value: data.dictionary(a).text(code).to_owned() });
            worst.relations.extend(above.map(|above| (above, at)));
            above = Some(at);
        }
        last.push(above);
    }
    worst
}
