//! What is kept of some records, as it travels to whoever adds it up.

use bosket_model::partition::bytes::damaged;
use bosket_model::policy::Role;
use bosket_model::{Failure, Result};
use serde_json::{Value, json};

use super::{AttributeKept, ClassKept, Fate, Kept, Lost, Masked};

impl Kept {
    /// All counts, to be read by [`from_state`](Kept::from_state).
    pub fn to_state(&self) -> Value {
        let class = |own: &ClassKept| json!([own.path, fate(&own.rows)]);
        let attribute = |own: &AttributeKept| {
            let masked = own.masked.map(|masked| masked == Masked::Pseudonym);
            json!([own.path, own.class, own.role.name(), masked, own.says_nothing, fate(&own.values)])
        };
        json!([
            self.classes.iter().map(class).collect::<Vec<_>>(),
            self.attributes.iter().map(attribute).collect::<Vec<_>>(),
        ])
    }

    /// Reads what [`to_state`](Kept::to_state) has written; whatever is missing or of another kind is damage.
    pub fn from_state(state: &Value) -> Result<Self> {
        read(state).ok_or_else(|| -> Failure { damaged() })
    }
}

fn fate(fate: &Fate) -> Value {
    let lost = fate.lost.map(|lost| json!([lost.merged, lost.pruned, lost.left_out, lost.suppressed]));
    json!([fate.input, fate.published, fate.moved, fate.anything, fate.people, lost])
}

fn read(state: &Value) -> Option<Kept> {
    let [classes, attributes] = state.as_array()?.as_slice() else { return None };
    let class = |own: &Value| {
        let [path, rows] = own.as_array()?.as_slice() else { return None };
        Some(ClassKept { path: path.as_str()?.to_owned(), rows: read_fate(rows)? })
    };
    let label = |own: &Value| Some(own.as_str()?.to_owned());
    let attribute = |own: &Value| {
        let [path, class, role, masked, says_nothing, values] = own.as_array()?.as_slice() else {
            return None;
        };
        let masked = match masked {
            Value::Null => None,
            masked => Some(if masked.as_bool()? { Masked::Pseudonym } else { Masked::Shifted }),
        };
        Some(AttributeKept {
            path: path.as_str()?.to_owned(),
            class: class.as_str()?.to_owned(),
            role: Role::from_name(role.as_str()?)?,
            masked,
            says_nothing: says_nothing.as_array()?.iter().map(label).collect::<Option<_>>()?,
            values: read_fate(values)?,
        })
    };
    Some(Kept {
        classes: classes.as_array()?.iter().map(class).collect::<Option<_>>()?,
        attributes: attributes.as_array()?.iter().map(attribute).collect::<Option<_>>()?,
    })
}

fn read_fate(state: &Value) -> Option<Fate> {
    let [input, published, moved, anything, people, lost] = state.as_array()?.as_slice() else { return None };
    let lost = match lost {
        Value::Null => None,
        lost => {
            let [merged, pruned, left_out, suppressed] = lost.as_array()?.as_slice() else { return None };
            Some(Lost {
                merged: merged.as_u64()?,
                pruned: pruned.as_u64()?,
                left_out: left_out.as_u64()?,
                suppressed: suppressed.as_u64()?,
            })
        }
    };
    Some(Fate {
        input: input.as_u64()?,
        published: published.as_u64()?,
        moved: moved.as_u64()?,
        anything: anything.as_u64()?,
        people: people.as_u64()?,
        lost,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_damaged_count_is_no_count() {
        let lost = Some(Lost { merged: 1, pruned: 2, left_out: 3, suppressed: 4 });
        let values = Fate { input: 9, published: 5, moved: 1, anything: 2, people: 7, lost };
        let (path, class, role) = ("a[].b".to_owned(), "a[]".to_owned(), Role::Quasi);
        let (masked, says_nothing) = (Some(Masked::Shifted), BTreeSet::from(["Any".to_owned()]));
        let attribute = AttributeKept { path, class, role, masked, says_nothing, values };
        let rows = Fate { lost: None, ..values };
        let kept =
            Kept { classes: vec![ClassKept { path: String::new(), rows }], attributes: vec![attribute] };
        let state = kept.to_state();
        assert_eq!(Kept::from_state(&state).expect("its own"), kept);
        for damaged in
            ["null", "[]", "[[],[[]]]", "[[[\"\",[1,2,3,4,5]]],[]]", "[[[\"\",[1,2,3,4,\"5\",null]]],[]]"]
        {
            let damaged = serde_json::from_str(damaged).expect("JSON");
            assert!(Kept::from_state(&damaged).is_err(), "{damaged}");
        }
    }
}
