//! Truth by its definition: is there any assignment of published to input records under which each is what the
//! declared operations make of it?

use std::collections::BTreeSet;

use bosket_model::hierarchy::ROOT_LABEL;
use bosket_model::policy::Role;

use crate::knowledge::subsets;
use crate::labels::LabelTree;
use crate::vertices::{CLASSES, NAMES, PERSON, Roles, Vertex};

/// Per class and attribute its hierarchy.
pub type LabelTrees = Vec<Vec<Option<LabelTree>>>;

/// A quasi value: class, attribute, label.
type Item = (usize, usize, String);

/// What a record says in the view of k^(m,n)-anonymity.
#[derive(Clone, Debug)]
struct View {
    items: BTreeSet<Item>,
    /// Ancestor and descendant.
    relations: BTreeSet<(Item, Item)>,
    payloads: Vec<Payload>,
}

/// What stands beside the quasi values of one vertex, and the quasi values it belongs to.
#[derive(Clone, Debug)]
struct Payload {
    class: usize,
    values: Vec<(usize, String)>,
    above: BTreeSet<Item>,
}

impl View {
    fn new(record: &Vertex, roles: &Roles, chain: bool) -> Self {
        let mut view = View { items: BTreeSet::new(), relations: BTreeSet::new(), payloads: Vec::new() };
        view.add(record, &[], roles, chain);
        view
    }

    fn add(&mut self, vertex: &Vertex, above: &[Item], roles: &Roles, chain: bool) {
        let mut above = above.to_vec();
        for (a, value) in vertex.with_role(roles, Role::Quasi) {
            let Some(value) = value else {
                continue;
            };
            let item = (vertex.class, a, value.to_owned());
            self.relations.extend(above.iter().map(|x| (x.clone(), item.clone())));
            self.items.insert(item.clone());
            if vertex.class != PERSON || chain {
                above.push(item);
            }
        }
        let beside = [Role::Sensitive, Role::Insensitive];
        let values = beside.iter().flat_map(|role| vertex.with_role(roles, *role));
        let values: Vec<(usize, String)> = values.filter_map(|(a, v)| Some((a, v?.to_owned()))).collect();
        if !values.is_empty() {
            self.payloads.push(Payload {
                class: vertex.class,
                values,
                above: above.iter().cloned().collect(),
            });
        }
        vertex.children.iter().for_each(|child| self.add(child, &above, roles, chain));
    }

    fn recode(&self, recode: &dyn Fn(&Item) -> Option<Item>) -> View {
        let pair = |(a, b): &(Item, Item)| Some((recode(a)?, recode(b)?));
        View {
            items: self.items.iter().filter_map(recode).collect(),
            relations: self.relations.iter().filter_map(pair).collect(),
            payloads: (self.payloads.iter())
                .map(|p| Payload { above: p.above.iter().filter_map(recode).collect(), ..p.clone() })
                .collect(),
        }
    }

    /// Whether this says what `whole` says, relations aside: of these none may be new.
    fn tells(&self, whole: &View) -> bool {
        self.items == whole.items
            && self.relations.is_subset(&whole.relations)
            && self.payloads.len() == whole.payloads.len()
            && assignable(self.payloads.len(), whole.payloads.len(), &|_| false, &|p, i| {
                let (p, i) = (&self.payloads[p], &whole.payloads[i]);
                p.class == i.class && p.values == i.values && p.above.is_subset(&i.above)
            })
    }
}

/// Whether every one on the left finds one of its own on the right, with only such left over as may be.
pub fn assignable(
    left: usize,
    right: usize,
    may_be_left: &dyn Fn(usize) -> bool,
    fits: &dyn Fn(usize, usize) -> bool,
) -> bool {
    fn from(
        l: usize,
        left: usize,
        taken: &mut [bool],
        end: &dyn Fn(usize) -> bool,
        fits: &dyn Fn(usize, usize) -> bool,
    ) -> bool {
        if l == left {
            return (0..taken.len()).all(|r| taken[r] || end(r));
        }
        (0..taken.len()).any(|r| {
            if taken[r] || !fits(l, r) {
                return false;
            }
            taken[r] = true;
            let found = from(l + 1, left, taken, end, fits);
            taken[r] = false;
            found
        })
    }
    from(0, left, &mut vec![false; right], may_be_left, fits)
}

/// What a publication with one cut for all is measured by.
pub struct Global<'a> {
    /// Roles of the attributes.
    pub roles: &'a Roles,
    /// Their hierarchies.
    pub trees: &'a LabelTrees,
    /// Whether the values of the record's top object are the first chain.
    pub chain: bool,
    /// Whether payloads are published.
    pub keep: bool,
    /// Whether values may be left out.
    pub suppress: bool,
    /// Whether all values of a person may be.
    pub emptied: bool,
}

impl Global<'_> {
    /// Whether some cuts and some assignment turn the input into the publication. `pairs` gives the assignment.
    pub fn is_true(&self, published: &[Vertex], input: &[Vertex], pairs: Option<&[(usize, usize)]>) -> bool {
        let view = |record: &Vertex| View::new(record, self.roles, self.chain);
        let out: Vec<View> = published.iter().map(view).collect();
        let mut input: Vec<View> = input.iter().map(view).collect();
        if !self.keep {
            input.iter_mut().for_each(|view| view.payloads.clear());
        }
        let mut choices: Vec<Vec<(Item, Option<Item>)>> = vec![Vec::new()];
        for class in 0..CLASSES.len() {
            for a in 0..NAMES.len() {
                let ways = self.ways(class, a, &out, &input);
                choices = (choices.iter())
                    .flat_map(|c| ways.iter().map(|w| c.iter().chain(w).cloned().collect()))
                    .collect();
            }
        }
        choices.iter().any(|choice| {
            let recode =
                |item: &Item| choice.iter().find(|(from, _)| from == item).and_then(|(_, to)| to.clone());
            let whole: Vec<View> = input.iter().map(|view| view.recode(&recode)).collect();
            let may_be_left = |i: usize| whole[i].items.is_empty();
            // Of whom nothing is told but what stands beside the person's own values.
            let empties = |p: usize, i: usize| {
                let is_bare = self.emptied && out[p].items.is_empty() && published[p].children.is_empty();
                let own = |view: &View| -> Vec<Vec<(usize, String)>> {
                    let person = view.payloads.iter().filter(|payload| payload.class == PERSON);
                    person.map(|payload| payload.values.clone()).collect()
                };
                is_bare && own(&out[p]) == own(&whole[i])
            };
            assignable(out.len(), whole.len(), &may_be_left, &|p, i| {
                pairs.is_none_or(|pairs| pairs.contains(&(i, p)))
                    && (out[p].tells(&whole[i]) || empties(p, i))
            })
        })
    }

    /// What the input's values of an attribute may have become: nothing at all, or by one cut. Only such ways are
    /// given as leave exactly the labels that are published.
    fn ways(
        &self,
        class: usize,
        a: usize,
        out: &[View],
        input: &[View],
    ) -> BTreeSet<Vec<(Item, Option<Item>)>> {
        let own = |views: &[View]| -> BTreeSet<Item> {
            let items = views.iter().flat_map(|v| v.items.iter());
            items.filter(|i| (i.0, i.1) == (class, a)).cloned().collect()
        };
        let (from, to) = (own(input), own(out));
        let unpublished = from.iter().map(|item| (item.clone(), None)).collect();
        let mut ways: Vec<Vec<(Item, Option<Item>)>> = vec![unpublished];
        match &self.trees[class][a] {
            None => {
                let kept = |item: &Item| !self.suppress || to.contains(item);
                ways.push(from.iter().map(|i| (i.clone(), Some(i.clone()).filter(kept))).collect());
            }
            // What is left out stays out of what its neighbours become.
            Some(tree) => {
                let left_out = if self.suppress { subsets(from.len(), from.len()) } else { Vec::new() };
                for left_out in left_out.iter().chain([&Vec::new()]) {
                    ways.extend(tree.cuts(self.suppress).iter().map(|cut| {
                        let recode = |item: &Item| tree.recode(&item.2, cut).map(|label| (class, a, label));
                        let recoded = from.iter().enumerate().map(|(at, item)| {
                            (item.clone(), recode(item).filter(|_| !left_out.contains(&at)))
                        });
                        recoded.collect()
                    }));
                }
            }
        }
        let leaves_exactly = |way: &Vec<(Item, Option<Item>)>| {
            way.iter().filter_map(|(_, label)| label.clone()).collect::<BTreeSet<Item>>() == to
        };
        ways.into_iter().filter(leaves_exactly).collect()
    }
}

/// Whether a vertex is another one with values generalized and subtrees pruned.
pub fn derives(published: &Vertex, input: &Vertex, roles: &Roles, trees: &LabelTrees) -> bool {
    let value_derives = |a: usize| {
        let (out, original) = (&published.values[a], &input.values[a]);
        let tree = trees[input.class][a].as_ref().filter(|_| roles[input.class][a] == Role::Quasi);
        match (tree, out, original) {
            (Some(tree), Some(label), Some(value)) => tree.chain(value).contains(label),
            (Some(_), Some(label), None) => label == ROOT_LABEL,
            (_, out, original) => out == original,
        }
    };
    published.class == input.class
        && (0..NAMES.len()).all(value_derives)
        && assignable(published.children.len(), input.children.len(), &|_| true, &|p, i| {
            derives(&published.children[p], &input.children[i], roles, trees)
        })
}

/// Whether a set is what some cut of its own makes of another. Nothing left is the root's cut.
pub fn set_derives(
    published: &BTreeSet<String>,
    input: &BTreeSet<String>,
    tree: &LabelTree,
    suppress: bool,
) -> bool {
    let by =
        |cut: &BTreeSet<String>| input.iter().filter_map(|v| tree.recode(v, cut)).collect::<BTreeSet<_>>();
    published.is_empty() || tree.cuts(suppress).iter().any(|cut| by(cut) == *published)
}
