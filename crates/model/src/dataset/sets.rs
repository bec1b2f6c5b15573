//! Records that are sets of values of one attribute: baskets, clicks, lists of codes.
//!
//! Their values stand in one column without a gap, since no root has any: those of record r begin r places before its vertices do. Whoever
//! goes through them as slices is spared a look at classes and places for every single value.

use super::Dataset;
use crate::schema::{AttributeId, ClassId};

/// A dataset whose records hold nothing but the values of one attribute, each in a vertex of its own below the root.
#[derive(Clone, Copy, Debug)]
pub struct Sets<'a> {
    data: &'a Dataset,
    attribute: AttributeId,
}

impl Dataset {
    /// The records as sets, if that is all they are.
    pub fn sets(&self) -> Option<Sets<'_>> {
        let mut classes = self.schema.classes();
        let (Some((_, root)), Some((_, class)), None) = (classes.next(), classes.next(), classes.next())
        else {
            return None;
        };
        let ([], [attribute], Some(ClassId::ROOT)) =
            (&root.attributes[..], &class.attributes[..], class.parent)
        else {
            return None;
        };
        // Vertices that came before the attribute have no place for it.
        let whole = self.values.len() == self.class.len() - self.len();
        whole.then_some(Sets { data: self, attribute: *attribute })
    }
}

impl<'a> Sets<'a> {
    /// The attribute.
    pub fn attribute(&self) -> AttributeId {
        self.attribute
    }

    /// The codes of a record, some of which may be missing.
    #[inline]
    pub fn codes(&self, record: usize) -> &'a [u32] {
        let vertices = self.data.vertices(record);
        &self.data.values[vertices.start - record..vertices.end - record - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Builder;
    use crate::dictionary::{Kind, MISSING};
    use crate::schema::ClassId;

    #[test]
    fn codes_are_those_of_the_vertices() {
        let mut b = Builder::new();
        let class = b.class(ClassId::ROOT, &["items".to_owned()]);
        let item = b.attribute(class, &[]);
        let codes = ["x", "y", "z"].map(|text| b.code(item, Kind::Text, text));
        let records: [&[u32]; 4] = [&codes[..2], &[], &codes, &[codes[2], MISSING]];
        for record in records {
            b.add_set(item, record).expect("there is room");
        }
        let data = b.finish();
        let sets = data.sets().expect("they are sets");
        assert_eq!(sets.attribute(), item);
        for (record, codes) in records.into_iter().enumerate() {
            let own: Vec<u32> = data.vertices(record).skip(1).map(|v| data.value(v, item)).collect();
            assert_eq!((sets.codes(record), &own[..]), (codes, codes));
        }
    }

    #[test]
    fn what_holds_more_is_no_set() {
        // An attribute of the root, a second attribute, a second class, and one that came after its vertices.
        for kind in 0..4 {
            let mut b = Builder::new();
            let class = b.class(ClassId::ROOT, &["items".to_owned()]);
            if kind == 3 {
                b.begin_record();
                b.open(class);
                b.close();
                b.end_record().expect("nothing twice");
            }
            let item = b.attribute(class, &[]);
            match kind {
                0 => {
                    b.attribute(ClassId::ROOT, &["age".to_owned()]);
                }
                1 => {
                    b.attribute(class, &["price".to_owned()]);
                }
                2 => {
                    b.class(class, &["parts".to_owned()]);
                }
                _ => {}
            }
            let code = b.code(item, Kind::Text, "x");
            b.add_set(item, &[code]).expect("there is room");
            assert!(b.finish().sets().is_none(), "{kind}");
        }
    }
}
