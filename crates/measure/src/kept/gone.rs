//! Which rows and values of the input nothing published stands for, record by record.

use bosket_model::hierarchy::NodeId;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, MISSING, Result};
use rustc_hash::FxHashMap;

use super::tally::declared_attributes;
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
        let attributes = declared_attributes(compared.input);
        let mut standing = Standing::new(compared);
        for (record, &to) in became.iter().enumerate() {
            observer.go_on()?;
            let known = to.filter(|_| !clustered);
            if to.is_some() && known.is_none() {
                continue;
            }
            if let Some(to) = known {
                standing.look_at(to);
            }
            for v in data.vertices(record) {
                let class = data.class(v).index();
                let Some(home) = binding.classes[class] else { continue };
                let (mut quasi, mut told) = (0, 0);
                for &(a, declared) in &attributes[class] {
                    let code = data.value(v, a);
                    if code == MISSING {
                        continue;
                    }
                    let stands =
                        known.map(|_| standing.stands(declared, standing.input[a.index()][code as usize]));
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

/// A value by numbers: its text's, if it is published at all, and its node's.
type Numbered = (Option<usize>, Option<NodeId>);

/// Finds what stands for a value. Texts are looked at once per value, not once per record.
struct Standing<'a> {
    compared: &'a Compared<'a>,
    /// Per attribute of the class of a published vertex.
    attributes: Vec<Vec<(AttributeId, usize)>>,
    /// Per attribute and code of the input the published text that is the same, and the leaf.
    input: Vec<Vec<Numbered>>,
    /// Per attribute and code of the publication its text and node.
    published: Vec<Vec<Numbered>>,
    /// Per text when it was seen last.
    texts: Vec<usize>,
    /// Per declared attribute and node when it was seen last.
    nodes: Vec<Vec<usize>>,
    /// The published records that were looked at so far.
    now: usize,
}

impl<'a> Standing<'a> {
    fn new(compared: &'a Compared<'a>) -> Self {
        let hierarchy = |declared: usize| compared.hierarchies.get(declared).and_then(Option::as_ref);
        let mut numbers: FxHashMap<(usize, &str), usize> = FxHashMap::default();
        let published = by_code(compared.published, |declared, text| {
            let next = numbers.len();
            let number = *numbers.entry((declared, text)).or_insert(next);
            (Some(number), hierarchy(declared).and_then(|h| h.node(text)))
        });
        let input = by_code(compared.input, |declared, text| {
            (numbers.get(&(declared, text)).copied(), hierarchy(declared).and_then(|h| h.leaf(text)))
        });
        let all = 0..compared.published.binding.declared.len();
        Standing {
            compared,
            attributes: declared_attributes(compared.published),
            input,
            published,
            texts: vec![0; numbers.len()],
            nodes: all.map(|declared| vec![0; hierarchy(declared).map_or(0, |h| h.len())]).collect(),
            now: 0,
        }
    }

    /// Turns to a published record.
    fn look_at(&mut self, record: usize) {
        self.now += 1;
        let data = self.compared.published.data;
        for v in data.vertices(record) {
            for &(a, declared) in &self.attributes[data.class(v).index()] {
                let code = data.value(v, a);
                if code == MISSING {
                    continue;
                }
                let (text, node) = self.published[a.index()][code as usize];
                text.into_iter().for_each(|text| self.texts[text] = self.now);
                node.into_iter().for_each(|node| self.nodes[declared][node.index()] = self.now);
            }
        }
    }

    /// Whether a value of the input, or something more general, is published of its record.
    fn stands(&self, declared: usize, (text, leaf): Numbered) -> bool {
        let hierarchy = self.compared.hierarchies.get(declared).and_then(Option::as_ref);
        let above = hierarchy.zip(leaf);
        text.is_some_and(|text| self.texts[text] == self.now)
            || above.is_some_and(|(h, leaf)| {
                let mut up = std::iter::successors(Some(leaf), |&n| h.parent(n));
                up.any(|node| self.nodes[declared][node.index()] == self.now)
            })
    }
}

/// Something about each value of the declared attributes of one side, by attribute and code.
fn by_code<'a>(side: Side<'a>, mut of: impl FnMut(usize, &'a str) -> Numbered) -> Vec<Vec<Numbered>> {
    let attributes = side.data.schema().attributes();
    attributes
        .map(|(id, _)| match side.binding.attributes[id.index()] {
            Some(declared) => side.data.dictionary(id).iter().map(|(_, text)| of(declared, text)).collect(),
            None => Vec::new(),
        })
        .collect()
}
