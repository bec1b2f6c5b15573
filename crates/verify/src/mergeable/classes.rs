//! Records that look alike, counted so that counts add up: k-anonymity and l-diversity.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::selection::Digests;
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, MISSING, Result};

use super::forms::{Forms, Reader, number};
use super::judge::{Tally, too_common};
use crate::buckets;
use crate::claim::Claim;
use crate::recount::Recount;
use crate::recount::parts::{Drawn, Tallied};
use crate::verification::{Decision, Verification};
use crate::vertex::Diverse;
use crate::witness::Witness;

/// A class of records that look alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) records: u64,
    /// Places, each by the one above it and its form. Alike vertices with alike parents are one.
    places: BTreeMap<(u32, u32), u32>,
    /// Per place its vertices. Each has room for a value of every attribute, also of one that nobody in its part has.
    pub(super) vertices: Vec<u64>,
    /// What is counted at a place of a sensitive attribute.
    pub(super) tallies: BTreeMap<(u32, u32), Tally>,
    /// How often values stand here that may stand once, by text, with an attribute that has them.
    pub(super) listed: BTreeMap<u32, (u64, u32)>,
}

/// Above the root.
const NOWHERE: u32 = u32::MAX;

/// What was counted of some parts of a publication of records.
#[derive(Clone, Debug, Default)]
pub struct ClassState {
    forms: Forms,
    classes: BTreeMap<u32, Class>,
    records: u64,
    /// How many records say the same, counted a second time by a digest of their quasi values.
    digests: BTreeMap<[u8; 32], u64>,
    /// Attributes that the policy removes and that are there.
    left: BTreeSet<String>,
}

impl ClassState {
    /// Counts a part. The claim is one of k-anonymity or l-diversity.
    pub fn count(data: &Dataset, binding: &Binding, claim: &Claim, observer: &dyn Observer) -> Result<Self> {
        let (_, ask) = asked(claim)?;
        let mut state = ClassState {
            records: data.len() as u64,
            left: crate::left_over(data, binding).into_iter().collect(),
            ..ClassState::default()
        };
        let secrets = match ask {
            None => None,
            Some(ask) => Some(Secrets::new(data, binding, ask, &mut state.forms)?),
        };
        let reader = Reader::new(data, binding, &mut state.forms);
        let digests = Digests::about(data, |attribute| binding.role(attribute) == Some(Role::Quasi));
        for record in 0..data.len() {
            observer.go_on()?;
            let of = reader.read(record, &mut state.forms);
            *state.digests.entry(digests.of(record)).or_default() += 1;
            let class = state.classes.entry(of[0]).or_default();
            class.records += 1;
            if let Some(secrets) = &secrets {
                secrets.count(record, &of, class);
            }
        }
        Ok(state)
    }

    /// The counts of both.
    #[must_use]
    pub fn merge(self, other: ClassState) -> ClassState {
        let (mut large, small) =
            if self.forms.is_larger(&other.forms) { (self, other) } else { (other, self) };
        let moved = large.forms.take(&small.forms);
        for (form, class) in small.classes {
            let own = large.classes.entry(moved.forms[form as usize]).or_default();
            own.add(class, &|form| moved.forms[form as usize], &|text| moved.texts[text as usize]);
        }
        large.records += small.records;
        for (digest, n) in small.digests {
            *large.digests.entry(digest).or_default() += n;
        }
        large.left.extend(small.left);
        large
    }

    /// How many records were counted.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The smallest witness against a claim, if it does not hold. It names no records: these are in many parts.
    pub fn witness(&self, claim: &Claim, binding: &Binding) -> Result<Option<Witness>> {
        let (k, ask) = asked(claim)?;
        let paths: Vec<String> = binding.declared.iter().map(|d| d.path.clone()).collect();
        if self.forms.declared() > paths.len() {
            return Err(foreign());
        }
        let told = |form: u32, class: &Class| Witness {
            support: class.records as usize,
            ..self.forms.witness(form, &paths)
        };
        let few = self.classes.iter().filter(|(_, class)| k.is_some_and(|k| class.records < u64::from(k)));
        // What two witnesses say may be the same: then what their records look like decides.
        let smaller = |a: &(Witness, u32), b: &(Witness, u32)| {
            let alike = || self.forms.written(a.1).cmp(&self.forms.written(b.1));
            Witness::order(&a.0, &b.0).then_with(alike)
        };
        let few = few.map(|(&form, class)| (told(form, class), form)).min_by(smaller).map(|few| few.0);
        let Some(ask) = ask.filter(|_| few.is_none()) else { return Ok(few) };
        let clear = self.classes.iter().filter_map(|(&form, class)| {
            let sensitive = Some(too_common(class, ask, &self.forms, &paths)?);
            Some((Witness { sensitive, ..told(form, class) }, form))
        });
        Ok(clear.min_by(smaller).map(|clear| clear.0))
    }

    /// The verdict of the first count.
    pub fn finish(&self, claim: &Claim, binding: &Binding) -> Result<FirstVerdict> {
        let witness = self.witness(claim, binding)?;
        Ok(FirstVerdict(Verification {
            claim: Some(claim.clone()),
            decision: Decision::of(witness, || self.recount())?,
            left: self.left.iter().cloned().collect(),
            misplaced: Vec::new(),
            records: self.records as usize,
            groups: None,
            distances: Vec::new(),
            farthest: Vec::new(),
        }))
    }

    /// Compares the sizes of classes with those of the second count, which tells records by digests.
    fn recount(&self) -> Result<Recount> {
        let mut sizes: Vec<u64> = self.classes.values().map(|class| class.records).collect();
        let mut again: Vec<u64> = self.digests.values().copied().collect();
        sizes.sort_unstable();
        again.sort_unstable();
        if sizes != again {
            let what = "the claim was found to hold, but a second count disagrees: classes have other sizes";
            return Err(Failure::defect(what));
        }
        let (pieces, records) = (sizes.len() as u64, self.records);
        Ok(Recount { pieces, records, complete: true, not_covered: Vec::new() })
    }

    /// The JSON form. Published values only.
    pub fn to_json(&self) -> Value {
        let hex = |digest: &[u8; 32]| digest.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let digests = self.digests.iter().map(|(digest, n)| json!([hex(digest), n]));
        json!({
            "forms": self.forms.to_json(),
            "classes": self.classes.iter().map(|(form, class)| json!([form, class.to_json()])).collect::<Vec<_>>(),
            "records": self.records,
            "digests": digests.collect::<Vec<_>>(),
            "left": self.left,
        })
    }

    /// Reads the JSON form.
    pub fn from_json(value: &Value) -> Result<Self> {
        let read = || {
            let forms = Forms::from_json(value.get("forms")?)?;
            let mut classes = BTreeMap::new();
            for entry in value.get("classes")?.as_array()? {
                let [form, class] = entry.as_array()?.as_slice() else { return None };
                let before = classes.insert(forms.known_form(form)?, Class::from_json(class, &forms)?);
                before.is_none().then_some(())?;
            }
            let mut digests = BTreeMap::new();
            for entry in value.get("digests")?.as_array()? {
                let [digest, n] = entry.as_array()?.as_slice() else { return None };
                digests.insert(from_hex(digest.as_str()?)?, n.as_u64()?);
            }
            let left = value.get("left")?.as_array()?.iter().map(|l| Some(l.as_str()?.to_owned()));
            let left = left.collect::<Option<_>>()?;
            let records = value.get("records")?.as_u64()?;
            let counted: u64 = classes.values().map(|class: &Class| class.records).sum();
            let again: u64 = digests.values().sum();
            (counted == records && again == records).then_some(ClassState {
                forms,
                classes,
                records,
                digests,
                left,
            })
        };
        read().ok_or_else(foreign)
    }
}

/// Whether a claim is about what classes say of sensitive values, which take a second count of their own.
pub fn is_counted_again(claim: &Claim) -> bool {
    matches!(claim, Claim::LDiversity { .. })
}

/// A verdict for which only the sizes of classes were counted twice.
#[derive(Debug)]
pub struct FirstVerdict(Verification);

impl FirstVerdict {
    /// The verdict, once what classes say of sensitive values was counted again over all parts. Fails with a defect if
    /// that was not done, or tells otherwise.
    pub fn confirmed(self, again: Option<(&Drawn, &Tallied)>) -> Result<Verification> {
        let FirstVerdict(mut found) = self;
        if let (Some(claim), Decision::Holds(_)) = (&found.claim, &found.decision)
            && is_counted_again(claim)
        {
            let (drawn, tallied) =
                again.ok_or_else(|| Failure::defect("nobody has counted a second time"))?;
            found.decision = Decision::Holds(tallied.judged(drawn, claim, found.records as u64)?);
        }
        Ok(found)
    }
}

/// The verdict about parts of a publication that have no class in common, each of which was judged alone; none if there is no part.
pub fn united(verdicts: impl IntoIterator<Item = FirstVerdict>) -> Option<FirstVerdict> {
    let verdicts = verdicts.into_iter().map(|verdict| verdict.0);
    let all = verdicts.reduce(|mut all, other| {
        all.decision = decided(all.decision, other.decision);
        all.records += other.records;
        all.left.extend(other.left);
        all.left.sort_unstable();
        all.left.dedup();
        all
    });
    all.map(FirstVerdict)
}

/// What was decided about both together: the smaller of two witnesses, and a second count of both only where both hold.
fn decided(all: Decision, other: Decision) -> Decision {
    // Too few who look alike come before what is known of them.
    let smaller = |a: &Witness, b: &Witness| {
        a.sensitive.is_some().cmp(&b.sensitive.is_some()).then_with(|| Witness::order(a, b)).is_le()
    };
    match (all, other) {
        (Decision::Violated(a), Decision::Violated(b)) => {
            Decision::Violated(if smaller(&a, &b) { a } else { b })
        }
        (Decision::Violated(witness), _) | (_, Decision::Violated(witness)) => Decision::Violated(witness),
        (Decision::Holds(own), Decision::Holds(other)) => Decision::Holds(own.and(other)),
        // Whoever claims something in one part only has not counted the same claim.
        (Decision::NothingClaimed, _) | (_, Decision::NothingClaimed) => Decision::NothingClaimed,
    }
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let bytes: Option<Vec<u8>> =
        (0..32).map(|i| u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()).collect();
    bytes?.try_into().ok().filter(|_| text.len() == 64)
}

/// A state that was not counted for this, or was altered on its way.
fn foreign() -> Failure {
    let what = Diagnostic::error("these are no counts of a publication under this policy");
    Failure::new(Fault::Data, what.help("hand on what was counted as it is, and finish with the same policy"))
}

/// What a claim asks of classes.
pub(super) fn asked(claim: &Claim) -> Result<(Option<u32>, Option<&Diverse>)> {
    match claim {
        Claim::KAnonymity { k } => Ok((Some(*k), None)),
        Claim::LDiversity { k, ask } => Ok((*k, Some(ask))),
        _ => {
            let what = Diagnostic::error("this claim is not about classes of records that look alike");
            Err(Failure::new(Fault::Usage, what.help("count it by its own state")))
        }
    }
}

impl Class {
    /// Adds what another one has counted, whose forms and texts are called differently.
    fn add(&mut self, other: Class, form: &dyn Fn(u32) -> u32, text: &dyn Fn(u32) -> u32) {
        self.records += other.records;
        let mut places: Vec<((u32, u32), u32)> = other.places.into_iter().collect();
        // A place is numbered behind the one above it.
        places.sort_unstable_by_key(|place| place.1);
        let mut moved = Vec::with_capacity(places.len());
        for ((above, own), at) in places {
            let above = if above == NOWHERE { NOWHERE } else { moved[above as usize] };
            let place = self.place(above, form(own));
            self.vertices[place as usize] += other.vertices[at as usize];
            moved.push(place);
        }
        for ((place, declared), tally) in other.tallies {
            self.tallies.entry((moved[place as usize], declared)).or_default().add(tally, text);
        }
        for (value, (n, declared)) in other.listed {
            let own = self.listed.entry(text(value)).or_insert((0, declared));
            *own = (own.0 + n, own.1.min(declared));
        }
    }

    fn place(&mut self, above: u32, form: u32) -> u32 {
        let next = self.places.len() as u32;
        let place = *self.places.entry((above, form)).or_insert(next);
        self.vertices.resize(self.places.len(), 0);
        place
    }

    fn to_json(&self) -> Value {
        let mut places: Vec<_> = self.places.iter().map(|(key, at)| (*at, *key)).collect();
        places.sort_unstable();
        let tallies = self.tallies.iter().map(|((place, declared), tally)| {
            let values: Vec<Value> = tally.values.iter().map(|(v, (f, h))| json!([v, f, h])).collect();
            json!([place, declared, values])
        });
        let listed = self.listed.iter().map(|(value, (n, declared))| json!([value, n, declared]));
        json!({
            "records": self.records,
            "places": places.into_iter().map(|(_, key)| key).collect::<Vec<_>>(),
            "vertices": self.vertices,
            "tallies": tallies.collect::<Vec<_>>(),
            "listed": listed.collect::<Vec<_>>(),
        })
    }

    fn from_json(value: &Value, forms: &Forms) -> Option<Class> {
        let mut class = Class { records: value.get("records")?.as_u64()?, ..Class::default() };
        for (at, place) in value.get("places")?.as_array()?.iter().enumerate() {
            let [above, form] = place.as_array()?.as_slice() else { return None };
            let above = number(above).filter(|&above| above == NOWHERE || (above as usize) < at)?;
            (class.place(above, forms.known_form(form)?) as usize == at).then_some(())?;
        }
        let vertices: Option<Vec<u64>> =
            value.get("vertices")?.as_array()?.iter().map(Value::as_u64).collect();
        class.vertices = vertices.filter(|vertices| vertices.len() == class.places.len())?;
        for tally in value.get("tallies")?.as_array()? {
            let [place, declared, values] = tally.as_array()?.as_slice() else { return None };
            let place = number(place).filter(|&place| (place as usize) < class.places.len())?;
            let mut own = Tally::default();
            for value in values.as_array()? {
                let [value, fills, holders] = value.as_array()?.as_slice() else { return None };
                own.values.insert(forms.known_text(value)?, (fills.as_u64()?, holders.as_u64()?));
            }
            let filled: u64 = own.values.values().map(|v| v.0).sum();
            (filled <= class.vertices[place as usize]).then_some(())?;
            class.tallies.insert((place, number(declared)?), own);
        }
        for listed in value.get("listed")?.as_array()? {
            let [value, n, declared] = listed.as_array()?.as_slice() else { return None };
            class.listed.insert(forms.known_text(value)?, (n.as_u64()?, number(declared)?));
        }
        Some(class)
    }
}

/// The sensitive values of a batch as they are compared: by text, or by bucket.
struct Secrets<'d> {
    data: &'d Dataset,
    /// Per class its sensitive attributes, with the declared ones.
    attributes: Vec<Vec<(AttributeId, u32)>>,
    /// Per attribute and code the text, and whether it may stand only once.
    labels: Vec<Vec<(u32, bool)>>,
}

impl<'d> Secrets<'d> {
    fn new(data: &'d Dataset, binding: &Binding, ask: &Diverse, forms: &mut Forms) -> Result<Self> {
        let schema = data.schema();
        let declared = |a: AttributeId| binding.attributes[a.index()].map(|d| (a, d as u32));
        let of_class = |class| binding.in_policy_order(schema, class, Role::Sensitive).into_iter();
        let attributes: Vec<Vec<(AttributeId, u32)>> =
            schema.classes().map(|(id, _)| of_class(id).filter_map(declared).collect()).collect();
        let mut labels = vec![Vec::new(); schema.attributes().len()];
        let mut problems = Vec::new();
        for &(id, declared) in attributes.iter().flatten() {
            let bounds = ask.buckets.get(declared as usize).and_then(Option::as_deref);
            let mut unreadable = 0;
            for (_, text) in data.dictionary(id).iter() {
                let label = buckets::label(bounds, text);
                unreadable += usize::from(label.is_none());
                let label = label.unwrap_or_default();
                labels[id.index()].push((forms.text(&label), ask.distinct_everywhere.contains(&label)));
            }
            if unreadable > 0 {
                problems.push(buckets::unreadable(unreadable, &schema.attribute(id).path));
            }
        }
        match problems.is_empty() {
            true => Ok(Secrets { data, attributes, labels }),
            false => Err(Failure::all(Fault::Data, problems)),
        }
    }

    /// Counts the values of a record, whose vertices have these forms.
    fn count(&self, record: usize, of: &[u32], class: &mut Class) {
        let vertices = self.data.vertices(record);
        let mut places = Vec::with_capacity(of.len());
        let mut seen: BTreeSet<(u32, u32, u32)> = BTreeSet::new();
        for v in vertices.clone() {
            let above = self.data.parent(v).map_or(NOWHERE, |parent| places[parent - vertices.start]);
            let place = class.place(above, of[v - vertices.start]);
            places.push(place);
            class.vertices[place as usize] += 1;
            for &(a, declared) in &self.attributes[self.data.class(v).index()] {
                let tally = class.tallies.entry((place, declared)).or_default();
                let code = self.data.value(v, a);
                if code == MISSING {
                    continue;
                }
                let (label, once) = self.labels[a.index()][code as usize];
                let (fills, holders) = tally.values.entry(label).or_default();
                *fills += 1;
                *holders += u64::from(seen.insert((place, declared, label)));
                if once {
                    let listed = class.listed.entry(label).or_insert((0, declared));
                    *listed = (listed.0 + 1, listed.1.min(declared));
                }
            }
        }
    }
}
