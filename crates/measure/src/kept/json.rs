//! What is kept, for programs and for everybody.

use bosket_model::policy::Policy;
use serde_json::{Map, Value, json};

use super::{Fate, Kept, Lost};

/// What stands for all that too few people have to be named.
pub const OTHERS: &str = "others";

/// The key of the labels besides `*` that say nothing.
pub(super) const SAYS_NOTHING: &str = "says_nothing";

impl Kept {
    /// For programs. Holds no value of the data.
    pub fn to_json(&self) -> Value {
        let classes = self.classes.iter().map(|c| {
            let mut all = Map::from_iter([("path".to_owned(), json!(c.path))]);
            all.extend(c.rows.to_json("rows"));
            Value::Object(all)
        });
        let attributes = self.attributes.iter().map(|a| {
            let name =
                [("path", &a.path[..]), ("role", if a.path == OTHERS { OTHERS } else { a.role.name() })];
            let mut all: Map<String, Value> =
                name.into_iter().map(|(k, v)| (k.to_owned(), json!(v))).collect();
            all.extend(a.values.to_json("values"));
            if !a.says_nothing.is_empty() {
                all.insert(SAYS_NOTHING.to_owned(), json!(a.says_nothing));
            }
            Value::Object(all)
        });
        json!({"classes": classes.collect::<Vec<_>>(), "attributes": attributes.collect::<Vec<_>>()})
    }

    /// The same for everybody: what fewer people have than may be told apart is counted together and not named.
    #[must_use]
    pub fn public(&self, policy: &Policy) -> Kept {
        let few = |fate: &Fate| fate.people < fewest(policy);
        let mut kept = self.clone();
        kept.classes.retain(|c| c.path.is_empty() || !few(&c.rows));
        kept.attributes.retain(|a| !few(&a.values));
        let rare = self.classes.iter().filter(|c| !c.path.is_empty() && few(&c.rows));
        let together = rare.clone().fold(Fate::none(), |sum, c| sum.and(&c.rows));
        if let Some(first) = rare.clone().next() {
            let mut others = first.clone();
            (others.path, others.rows) = (OTHERS.to_owned(), together);
            kept.classes.push(others);
        }
        let rare = self.attributes.iter().filter(|a| few(&a.values));
        let together = rare.clone().fold(Fate::none(), |sum, a| sum.and(&a.values));
        if let Some(first) = rare.clone().next() {
            let mut others = first.clone();
            (others.path, others.class, others.values) = (OTHERS.to_owned(), OTHERS.to_owned(), together);
            others.says_nothing.clear();
            kept.attributes.push(others);
        }
        kept
    }
}

/// How many people somebody has to be among.
fn fewest(policy: &Policy) -> u64 {
    let Some(privacy) = &policy.privacy else { return 2 };
    let l = privacy.l.map_or(0, |l| l.ceil() as u64);
    let numbers = [privacy.k.map_or(0, u64::from), privacy.group_size.map_or(0, u64::from), l, 2];
    numbers.into_iter().max().unwrap_or(2)
}

impl Fate {
    /// Nothing, of which everything is known.
    fn none() -> Fate {
        Fate { lost: Some(Lost::default()), ..Fate::default() }
    }

    fn and(self, other: &Fate) -> Fate {
        let both = |a: Lost, b: Lost| Lost {
            merged: a.merged + b.merged,
            pruned: a.pruned + b.pruned,
            left_out: a.left_out + b.left_out,
            suppressed: a.suppressed + b.suppressed,
        };
        Fate {
            input: self.input + other.input,
            published: self.published + other.published,
            moved: self.moved + other.moved,
            anything: self.anything + other.anything,
            lost: self.lost.zip(other.lost).map(|(a, b)| both(a, b)),
            people: self.people + other.people,
        }
    }

    fn to_json(self, what: &str) -> Map<String, Value> {
        let lost = |of: fn(&Lost) -> u64| json!(self.lost.as_ref().map(of));
        let all = [
            (what, json!(self.input)),
            ("published", json!(self.published)),
            ("moved", json!(self.moved)),
            ("as_anything", json!(self.anything)),
            ("merged", lost(|l| l.merged)),
            ("pruned", lost(|l| l.pruned)),
            ("left_out", lost(|l| l.left_out)),
            ("suppressed", lost(|l| l.suppressed)),
        ];
        all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
