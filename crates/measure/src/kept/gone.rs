//! Which rows and values of the input nothing published stands for, record by record.

use bosket_model::hierarchy::NodeId;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, ClassId, MISSING, Result, Sets};
use rustc_hash::FxHashMap;

use super::tally::{Column, declared_attributes, path_of, says_nothing};
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
        let is_quasi: Vec<bool> = binding.declared.iter().map(|d| d.role == Role::Quasi).collect();
        let mut standing = Standing::new(compared);
        if !clustered && let (Some(own), Some(others)) = (data.sets(), published.data.sets()) {
            gone.add_sets(compared, (own, others), &became, &mut standing, observer)?;
            return Ok(Some(gone));
        }
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
                let values = data.values(v);
                let there = || {
                    let codes = attributes[class].iter().map(|column| (column, column.code(values)));
                    codes.filter(|(_, code)| *code != MISSING)
                };
                let quasi = || there().filter(|(column, _)| is_quasi[column.declared]);
                let is_for = |seen: &Seen| quasi().any(|(column, code)| standing.is_for(seen, *column, code));
                // A row of which nothing is told stands where the record has one that tells nothing, too.
                let row_stands = known.is_some()
                    && (is_for(&standing.telling) || (standing.silent[home] && is_for(&standing.any)));
                let row_is_gone = known.is_some() && quasi().next().is_some() && !row_stands;
                for (column, code) in there() {
                    let with_row = row_is_gone && is_quasi[column.declared];
                    let stands = known.map(|_| !with_row && standing.is_for(&standing.any, *column, code));
                    let own = &mut gone.values[column.declared];
                    own.suppressed += u64::from(stands.is_none());
                    own.left_out += u64::from(stands == Some(false));
                }
                gone.homes[home].suppressed += u64::from(known.is_none());
                gone.homes[home].left_out += u64::from(row_is_gone);
            }
        }
        Ok(Some(gone))
    }

    /// The same where both sides are sets.
    fn add_sets(
        &mut self,
        compared: &Compared<'_>,
        (own, others): (Sets<'_>, Sets<'_>),
        became: &[Option<usize>],
        standing: &mut Standing<'_>,
        observer: &dyn Observer,
    ) -> Result<()> {
        let binding = compared.input.binding;
        let attribute = own.attribute();
        let class = compared.input.data.schema().attribute(attribute).class;
        let declared = binding.attributes[attribute.index()];
        let is_quasi = declared.is_some_and(|declared| binding.declared[declared].role == Role::Quasi);
        let (mut rows, mut values, mut people) = (GoneCount::default(), GoneCount::default(), 0);
        for (record, to) in became.iter().enumerate() {
            observer.go_on()?;
            let codes = own.codes(record);
            let present = codes.iter().filter(|&&code| code != MISSING);
            let Some(to) = *to else {
                people += 1;
                rows.suppressed += codes.len() as u64;
                values.suppressed += present.count() as u64;
                continue;
            };
            let Some(declared) = declared else { continue };
            standing.look_at_set(others, to);
            let left_out =
                present.filter(|&&code| !standing.stands(attribute, declared, code)).count() as u64;
            values.left_out += left_out;
            rows.left_out += if is_quasi { left_out } else { 0 };
        }
        if let Some(home) = binding.classes[ClassId::ROOT.index()] {
            self.homes[home].suppressed += people;
        }
        if let Some(home) = binding.classes[class.index()] {
            self.homes[home] = rows;
            declared.into_iter().for_each(|declared| self.values[declared] = values);
        }
        Ok(())
    }
}

/// A published value by numbers: its text's and its node's; and whether it tells anything.
type Numbered = (usize, Option<NodeId>, bool);

/// The published text that is the same as a value of the input, and the published nodes above its leaf. Most values have one
/// of both, however deep their hierarchy is.
#[derive(Clone, Debug, Default)]
struct Standbys {
    text: Option<usize>,
    nodes: Vec<NodeId>,
}

/// When values were seen last.
#[derive(Clone, Debug)]
struct Seen {
    /// By text.
    texts: Vec<usize>,
    /// By declared attribute and node.
    nodes: Vec<Vec<usize>>,
}

impl Seen {
    fn see(&mut self, declared: usize, (text, node, _): Numbered, now: usize) {
        self.texts[text] = now;
        if let Some(node) = node {
            self.nodes[declared][node.index()] = now;
        }
    }
}

/// Finds what stands for a value. Texts are looked at once per value, not once per record.
struct Standing<'a> {
    compared: &'a Compared<'a>,
    /// Per attribute of the class of a published vertex.
    attributes: Vec<Vec<Column>>,
    /// Per attribute and code of the input what would stand for it if it is published of a record.
    input: Vec<Vec<Standbys>>,
    /// Per attribute and code of the publication its text and node.
    published: Vec<Vec<Numbered>>,
    /// What was seen.
    any: Seen,
    /// The same, of what tells something.
    telling: Seen,
    /// Per home of the publication the one of the input.
    homes: Vec<Option<usize>>,
    /// Per home of the input whether the record has a row that tells nothing.
    silent: Vec<bool>,
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
            let node = hierarchy(declared).and_then(|h| Some((h, h.node(text)?)));
            (number, node.map(|(_, node)| node), node.is_none_or(|(h, node)| !says_nothing(h, node)))
        });
        let all = 0..compared.published.binding.declared.len();
        let mut shown: Vec<Vec<bool>> =
            all.clone().map(|declared| vec![false; hierarchy(declared).map_or(0, |h| h.len())]).collect();
        for (id, _) in compared.published.data.schema().attributes() {
            let Some(declared) = compared.published.binding.attributes[id.index()] else { continue };
            let nodes = published[id.index()].iter().filter_map(|&(_, node, _)| node);
            nodes.for_each(|node| shown[declared][node.index()] = true);
        }
        let input = by_code(compared.input, |declared, text| {
            let leaf = hierarchy(declared).and_then(|h| Some((h, h.leaf(text)?)));
            let nodes = leaf.map(|(h, leaf)| {
                let up = std::iter::successors(Some(leaf), |&node| h.parent(node));
                up.filter(|node| shown[declared][node.index()]).collect()
            });
            Standbys { text: numbers.get(&(declared, text)).copied(), nodes: nodes.unwrap_or_default() }
        });
        let any = Seen {
            texts: vec![0; numbers.len()],
            nodes: all.map(|declared| vec![0; hierarchy(declared).map_or(0, |h| h.len())]).collect(),
        };
        let (ours, theirs) = (compared.input.binding, compared.published.binding);
        let home = |path: String| (0..ours.homes.len()).find(|&home| path_of(ours, home) == path);
        Standing {
            homes: (0..theirs.homes.len()).map(|own| home(path_of(theirs, own))).collect(),
            compared,
            attributes: declared_attributes(compared.published),
            input,
            published,
            telling: any.clone(),
            any,
            silent: vec![false; compared.input.binding.homes.len()],
            now: 0,
        }
    }

    /// Turns to a published record.
    fn look_at(&mut self, record: usize) {
        self.now += 1;
        self.silent.fill(false);
        let Side { data, binding } = self.compared.published;
        for v in data.vertices(record) {
            let values = data.values(v);
            let mut tells_any = false;
            for column in &self.attributes[data.class(v).index()] {
                let code = column.code(values);
                if code == MISSING {
                    continue;
                }
                let value = self.published[column.attribute.index()][code as usize];
                self.any.see(column.declared, value, self.now);
                if value.2 {
                    tells_any = true;
                    self.telling.see(column.declared, value, self.now);
                }
            }
            let home = binding.classes[data.class(v).index()].filter(|_| !tells_any);
            let home = home.and_then(|home| self.homes[home]);
            home.into_iter().for_each(|home| self.silent[home] = true);
        }
    }

    /// The same for a set.
    fn look_at_set(&mut self, sets: Sets<'_>, record: usize) {
        self.now += 1;
        let attribute = sets.attribute().index();
        let Some(declared) = self.compared.published.binding.attributes[attribute] else { return };
        for &code in sets.codes(record).iter().filter(|&&code| code != MISSING) {
            self.any.see(declared, self.published[attribute][code as usize], self.now);
        }
    }

    /// Whether a value of the input, or something more general, is published of its record.
    #[inline]
    fn stands(&self, attribute: AttributeId, declared: usize, code: u32) -> bool {
        self.is_among(&self.any, attribute, declared, code)
    }

    /// The same by what is seen.
    fn is_for(&self, seen: &Seen, column: Column, code: u32) -> bool {
        self.is_among(seen, column.attribute, column.declared, code)
    }

    #[inline]
    fn is_among(&self, seen: &Seen, attribute: AttributeId, declared: usize, code: u32) -> bool {
        let standbys = &self.input[attribute.index()][code as usize];
        let nodes = &seen.nodes[declared];
        standbys.text.is_some_and(|text| seen.texts[text] == self.now)
            || standbys.nodes.iter().any(|node| nodes[node.index()] == self.now)
    }
}

/// Something about each value of the declared attributes of one side, by attribute and code.
fn by_code<'a, T>(side: Side<'a>, mut of: impl FnMut(usize, &'a str) -> T) -> Vec<Vec<T>> {
    let attributes = side.data.schema().attributes();
    attributes
        .map(|(id, _)| match side.binding.attributes[id.index()] {
            Some(declared) => side.data.dictionary(id).iter().map(|(_, text)| of(declared, text)).collect(),
            None => Vec::new(),
        })
        .collect()
}
