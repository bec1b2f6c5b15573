//! Forms without what is sensitive in them.
//!
//! Forms that differ in nothing but sensitive values cost a cluster the same, unless values clash. Where values are sensitive
//! deep down, almost every form is one of a kind, but there are as few shapes as if nothing were sensitive.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::forest::Forms;

/// Distinct subtrees as far as they can be seen, class by class.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    /// Per form the place of its shape among those of its class.
    pub(super) of_form: Vec<u32>,
    /// Per class and shape the first form that has it.
    pub(super) first: Vec<Vec<u32>>,
}

impl Shapes {
    /// The shapes of all forms; `inner_first` has those that are below others before these.
    pub(super) fn new(
        forms: &Forms,
        inner_first: &[u32],
        unordered: bool,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut shapes = Shapes {
            of_form: vec![0; forms.class.len()],
            first: vec![Vec::new(); forms.class_start.len() - 1],
        };
        let mut known: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        for &form in inner_first {
            observer.go_on()?;
            let class = forms.class[form as usize];
            let shape = |form: u32| [forms.class[form as usize], shapes.of_form[form as usize]];
            let mut kids: Vec<[u32; 2]> = forms.kids(form).iter().map(|kid| shape(kid.form)).collect();
            if unordered {
                kids.sort_unstable();
            }
            let mut key = vec![class];
            key.extend_from_slice(forms.values(form));
            key.extend(kids.into_iter().flatten());
            let own = &mut shapes.first[class as usize];
            let next = own.len() as u32;
            let shape = *known.entry(key).or_insert(next);
            if shape == next {
                own.push(form);
            }
            shapes.of_form[form as usize] = shape;
        }
        Ok(shapes)
    }

    /// A form of the same shape, the same one for all of them.
    #[inline]
    pub(super) fn same(&self, class: u32, form: u32) -> u32 {
        self.first[class as usize][self.of_form[form as usize] as usize]
    }
}
