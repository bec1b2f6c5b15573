//! The distinct children of records' roots: shape and secret together.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::forest::{Forms, Kid};
use super::secrets::{Secrets, UNKNOWN};

/// All kinds, class by class and shape by shape.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    /// A form of its shape.
    pub(super) form: Vec<u32>,
    /// The place of the secret among those of the class.
    pub(super) local: Vec<u32>,
    /// Per class its first kind; one more element at the end.
    pub(super) class_start: Vec<u32>,
    /// Per class the secrets that occur.
    pub(super) secrets: Vec<Vec<u32>>,
    /// Per class, sensitive attribute and label the places of the secrets that have it.
    having: Vec<FxHashMap<(u32, u32), Vec<u32>>>,
    /// Per child of a record's root its kind, in the order of the children.
    pub(super) of_kid: Vec<u32>,
    /// Per child of a record's root its form.
    pub(super) form_of_kid: Vec<u32>,
    /// The kinds in half the room, if there are few enough kinds.
    pub(super) short: Vec<u16>,
}

impl Kinds {
    pub(super) fn new(
        kids: &[Kid],
        forms: &Forms,
        secrets: &Secrets,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let classes = forms.class_start.len() - 1;
        let same = |kid: &Kid| {
            let form = forms.shapes.same(forms.class[kid.form as usize], kid.form);
            Kid { form, ..*kid }
        };
        let mut all: Vec<Kid> = kids.iter().map(same).collect();
        all.sort_unstable();
        all.dedup();
        let mut kinds = Kinds {
            secrets: vec![Vec::new(); classes],
            having: vec![FxHashMap::default(); classes],
            class_start: forms
                .class_start
                .iter()
                .map(|&f| all.partition_point(|k| k.form < f) as u32)
                .collect(),
            ..Kinds::default()
        };
        let mut locals: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut number: FxHashMap<Kid, u32> = FxHashMap::default();
        for kid in all {
            observer.go_on()?;
            let class = forms.class[kid.form as usize];
            let of_class = &mut kinds.secrets[class as usize];
            let local = *locals.entry((class, kid.secret)).or_insert_with(|| {
                of_class.push(kid.secret);
                let local = of_class.len() as u32 - 1;
                for (i, &label) in secrets.labels(kid.secret).iter().enumerate() {
                    if label != UNKNOWN {
                        let having = kinds.having[class as usize].entry((i as u32, label)).or_default();
                        having.push(local);
                    }
                }
                local
            });
            number.insert(kid, kinds.form.len() as u32);
            kinds.form.push(kid.form);
            kinds.local.push(local);
        }
        for kid in kids {
            observer.go_on()?;
            kinds.of_kid.push(number[&same(kid)]);
            kinds.form_of_kid.push(kid.form);
        }
        if kinds.form.len() <= usize::from(u16::MAX) {
            kinds.short = kinds.of_kid.iter().map(|&kind| kind as u16).collect();
        }
        Ok(kinds)
    }

    /// The places of the secrets of a class that have a label.
    pub(super) fn having(&self, class: u32, attribute: usize, label: u32) -> &[u32] {
        self.having[class as usize].get(&(attribute as u32, label)).map_or(&[], Vec::as_slice)
    }
}
