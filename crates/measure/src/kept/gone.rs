//! Which rows and values of the input nothing published stands for, record by record.

use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, MISSING, Result};
use rustc_hash::FxHashSet;

use crate::loss::{Compared, Side};

/// How many are gone, and how.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GoneCount {
    /// With their record.
    pub(super) suppressed: u64,
    /// Nothing of the published record stands for them. Not counted in clusters, where all that is gone is pruned.
    pub(super) left_out: u64,
}

/// Those of all homes and declared attributes.
pub(super) struct Gone {
    pub(super) homes: Vec<GoneCount>,
    pub(super) values: Vec<GoneCount>,
}

impl Gone {
    /// None if it is not known which record became which and that matters.
    pub(super) fn of(
        compared: &Compared<'_>,
        clustered: bool,
        observer: &dyn Observer,
    ) -> Result<Option<Self>> {
        let Compared { input: Side { data, binding }, published, mapping, .. } = *compared;
        let mut gone = Gone {
            homes: vec![GoneCount::default(); binding.homes.len()],
            values: vec![GoneCount::default(); binding.declared.len()],
        };
        let Some(mapping) = mapping else {
            return Ok((clustered && published.data.len() == data.len()).then_some(gone));
        };
        let mut became = vec![None; data.len()];
        mapping.iter().for_each(|&(from, to)| became[from as usize] = Some(to as usize));
        let standing = Standing { compared };
        for (record, &to) in became.iter().enumerate() {
            observer.go_on()?;
            let known = to.filter(|_| !clustered).map(|to| standing.of_record(to));
            if to.is_some() && known.is_none() {
                continue;
            }
            for v in data.vertices(record) {
                let class = data.class(v);
                let Some(home) = binding.classes[class.index()] else { continue };
                let (mut quasi, mut told) = (0, 0);
                for &a in &data.schema().class(class).attributes {
                    let Some(declared) = binding.attributes[a.index()] else { continue };
                    let code = data.value(v, a);
                    if code == MISSING {
                        continue;
                    }
                    let stands = known.as_ref().map(|known| standing.stands(known, declared, a, code));
                    let own = &mut gone.values[declared];
                    own.suppressed += u64::from(stands.is_none());
                    own.left_out += u64::from(stands == Some(false));
                    if binding.declared[declared].role == Role::Quasi {
                        quasi += 1;
                        told += u64::from(stands == Some(true));
                    }
                }
                gone.homes[home].suppressed += u64::from(known.is_none());
                gone.homes[home].left_out += u64::from(known.is_some() && quasi > 0 && told == 0);
            }
        }
        Ok(Some(gone))
    }
}

/// What is published of a record: nodes of hierarchies, and texts.
struct Known<'a> {
    nodes: FxHashSet<(usize, NodeId)>,
    texts: FxHashSet<(usize, &'a str)>,
}

/// Finds what stands for a value.
struct Standing<'a> {
    compared: &'a Compared<'a>,
}

impl<'a> Standing<'a> {
    fn hierarchy(&self, declared: usize) -> Option<&'a Hierarchy> {
        self.compared.hierarchies[declared].as_ref()
    }

    fn of_record(&self, record: usize) -> Known<'a> {
        let Side { data, binding } = self.compared.published;
        let mut known = Known { nodes: FxHashSet::default(), texts: FxHashSet::default() };
        for v in data.vertices(record) {
            for &a in &data.schema().class(data.class(v)).attributes {
                let Some(declared) = binding.attributes[a.index()] else { continue };
                let code = data.value(v, a);
                if code == MISSING {
                    continue;
                }
                let text = data.dictionary(a).text(code);
                known.texts.insert((declared, text));
                let node = self.hierarchy(declared).and_then(|h| h.node(text));
                known.nodes.extend(node.map(|node| (declared, node)));
            }
        }
        known
    }

    /// Whether a value of the input, or something more general, is published of its record.
    fn stands(&self, known: &Known<'_>, declared: usize, attribute: AttributeId, code: u32) -> bool {
        let text = self.compared.input.data.dictionary(attribute).text(code);
        let hierarchy = self.hierarchy(declared);
        let above = hierarchy.and_then(|h| Some((h, h.leaf(text)?)));
        known.texts.contains(&(declared, text))
            || above.is_some_and(|(h, leaf)| {
                let mut up = std::iter::successors(Some(leaf), |&n| h.parent(n));
                up.any(|node| known.nodes.contains(&(declared, node)))
            })
    }
}
