//! Records by classes of those that look alike to an attacker who knows all of some places.

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::policy::Knower;
use rustc_hash::FxHashMap;

use super::records::{Known, Records, Relations};

/// Which records show the same wherever an attacker knows all.
pub(crate) struct Classes {
    /// Per record its class.
    of: Vec<u32>,
    /// Per class the items that its records show there, ascending; classes are in the order of these.
    known: Vec<Vec<u32>>,
    /// Per class how many records it has.
    sizes: Vec<u32>,
}

impl Classes {
    /// The first class that has fewer than k records: what these show, and which they are.
    pub(crate) fn smaller_than(&self, k: u32) -> Option<(&[u32], Vec<u32>)> {
        let class = self.sizes.iter().position(|&size| size < k)? as u32;
        let members = (0..self.of.len() as u32).filter(|&record| self.of[record as usize] == class).collect();
        Some((&self.known[class as usize], members))
    }

    /// The items that a record shows where the attacker knows all.
    pub(crate) fn known_of(&self, record: u32) -> &[u32] {
        &self.known[self.of[record as usize] as usize]
    }
}

/// Numbers of classes, and of items within classes. Records that are read later may bring more.
#[derive(Default)]
pub(crate) struct Numbering {
    classes: FxHashMap<Vec<u32>, u32>,
    items: FxHashMap<(u32, u32), u32>,
}

impl Numbering {
    fn class(&mut self, shown: Vec<u32>) -> u32 {
        let next = self.classes.len() as u32;
        *self.classes.entry(shown).or_insert(next)
    }

    fn item(&mut self, class: u32, item: u32) -> u32 {
        let next = self.items.len() as u32;
        *self.items.entry((class, item)).or_insert(next)
    }
}

impl Records {
    /// The same records with what an attacker may know besides, items numbered by class, then by item; and the classes.
    pub(crate) fn within_classes(
        &self,
        knower: &Knower,
        observer: &dyn Observer,
    ) -> Result<(Records, Classes)> {
        let (mut numbering, classes) = (Numbering::default(), self.classes(knower, observer)?);
        classes.known.iter().for_each(|shown| {
            numbering.class(shown.clone());
        });
        let may_know = self.which(|declared| knower.may_know(declared));
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (record, &class) in classes.of.iter().enumerate() {
            observer.go_on()?;
            let further = self.items(record).iter().filter(|item| may_know[**item as usize]);
            pairs.extend(further.map(|&item| (class, item)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs.iter().for_each(|&(class, item)| {
            numbering.item(class, item);
        });
        let (within, _) = self.within(knower, &mut numbering, observer)?;
        let known: Vec<Known> = pairs.iter().map(|&(_, item)| self.known(item).clone()).collect();
        Ok((Records { known, ..within }, classes))
    }

    /// The same records with what an attacker may know besides, by some numbering, and per record its class. What items stand for
    /// is left open.
    pub(crate) fn within(
        &self,
        knower: &Knower,
        numbering: &mut Numbering,
        observer: &dyn Observer,
    ) -> Result<(Records, Vec<u32>)> {
        let knows = self.which(|declared| knower.knows.contains(&declared));
        let may_know = self.which(|declared| knower.may_know(declared));
        let relations = self.relations.as_ref().map(|_| Relations::none());
        let mut within = Records { first: vec![0], items: Vec::new(), relations, known: Vec::new() };
        let mut classes = Vec::with_capacity(self.len());
        for record in 0..self.len() {
            observer.go_on()?;
            let own = self.items(record);
            let class = numbering.class(own.iter().copied().filter(|&item| knows[item as usize]).collect());
            let places: Vec<usize> = (0..own.len()).filter(|&at| may_know[own[at] as usize]).collect();
            within.items.extend(places.iter().map(|&at| numbering.item(class, own[at])));
            within.first.push(within.items.len());
            if let Some(relations) = &mut within.relations {
                relations.push(&self.pairs(record), &places);
            }
            classes.push(class);
        }
        Ok((within, classes))
    }

    /// Per item whether its place is one of some.
    fn which(&self, is: impl Fn(usize) -> bool) -> Vec<bool> {
        self.known.iter().map(|item| is(item.declared)).collect()
    }

    fn classes(&self, knower: &Knower, observer: &dyn Observer) -> Result<Classes> {
        let knows = self.which(|declared| knower.knows.contains(&declared));
        let shown = |record: usize| -> Vec<u32> {
            self.items(record).iter().copied().filter(|&item| knows[item as usize]).collect()
        };
        let mut order: Vec<(Vec<u32>, u32)> = Vec::with_capacity(self.len());
        for record in 0..self.len() {
            observer.go_on()?;
            order.push((shown(record), record as u32));
        }
        order.sort_unstable();
        let mut classes = Classes { of: vec![0; self.len()], known: Vec::new(), sizes: Vec::new() };
        for alike in order.chunk_by(|a, b| a.0 == b.0) {
            alike.iter().for_each(|(_, record)| classes.of[*record as usize] = classes.known.len() as u32);
            classes.sizes.push(alike.len() as u32);
            classes.known.push(alike[0].0.clone());
        }
        Ok(classes)
    }
}
