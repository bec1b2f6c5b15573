//! The records as the algorithms see them.
//!
//! Equal subtrees are one **form**: class, quasi values and children, but not the sensitive values of the subtree's own
//! root, which are its **secret** and decide only whether it may join another one. There are far fewer forms than
//! vertices, so costs are worked out per form.

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result};

use super::cells::Facts;
use super::cost::{Cost, SCALE};
use super::domain::Domain;
use super::kinds::Kinds;
use super::params::{Matching, Params};
use super::rep::Rep;
use super::secrets::Secrets;
use super::shapes::Shapes;

/// What the algorithms know about a class.
#[derive(Debug)]
pub(super) struct Class {
    /// Quasi attributes, each with its domain.
    pub(super) quasi: Vec<(AttributeId, usize)>,
    /// How many sensitive attributes are protected.
    pub(super) sensitive: usize,
    /// Whether any are, here or below.
    pub(super) has_secrets: bool,
    /// The cost of giving up a vertex without what is below it.
    pub(super) own: i64,
}

/// A child: its form and its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Kid {
    pub(super) form: u32,
    pub(super) secret: u32,
}

/// Distinct subtrees; those of one class have adjacent numbers.
#[derive(Debug, Default)]
pub(super) struct Forms {
    /// Per class its first form; one more element at the end.
    pub(super) class_start: Vec<u32>,
    pub(super) class: Vec<u32>,
    values: Vec<u32>,
    value_start: Vec<u32>,
    kids: Vec<Kid>,
    kid_start: Vec<u32>,
    /// The cost of giving up the subtree.
    pub(super) prune: Vec<i64>,
    pub(super) shapes: Shapes,
}

impl Forms {
    /// The nodes of the quasi values.
    #[inline]
    pub(super) fn values(&self, form: u32) -> &[u32] {
        let form = form as usize;
        &self.values[self.value_start[form] as usize..self.value_start[form + 1] as usize]
    }

    /// The children, class by class.
    #[inline]
    pub(super) fn kids(&self, form: u32) -> &[Kid] {
        let form = form as usize;
        &self.kids[self.kid_start[form] as usize..self.kid_start[form + 1] as usize]
    }
}

/// All records.
#[derive(Debug)]
pub(super) struct Forest {
    pub(super) classes: Vec<Class>,
    pub(super) domains: Vec<Domain>,
    /// Per domain the declared attribute.
    pub(super) declared: Vec<usize>,
    /// Per domain whether the data, all of it, misses values.
    pub(super) misses: Vec<bool>,
    pub(super) forms: Forms,
    pub(super) secrets: Secrets,
    /// Per vertex its class.
    pub(super) vertex_class: Vec<u32>,
    /// Per vertex its secret.
    pub(super) secret: Vec<u32>,
    /// Per vertex the nodes of its quasi values.
    values: Vec<u32>,
    value_start: Vec<u32>,
    /// Per vertex its children, class by class.
    below: Vec<u32>,
    below_start: Vec<u32>,
    /// Per record its root vertex.
    pub(super) roots: Vec<u32>,
    /// The children of all records' roots, class by class.
    pub(super) kinds: Kinds,
    kid_start: Vec<u32>,
    /// Per record the nodes of its root's quasi values, side by side: bounds are summed up over all records again and again.
    root_values: Vec<u32>,
    /// Per record the cost of giving it up.
    pub(super) prune: Vec<i64>,
    /// How much a lost sensitive value counts.
    pub(super) lost: f64,
}

impl Forest {
    pub(super) fn new(
        data: &Dataset,
        binding: &Binding,
        hierarchies: &[Option<Hierarchy>],
        params: &Params,
        (facts, cost): (&Facts, &dyn Cost),
        observer: &dyn Observer,
    ) -> Result<Self> {
        let schema = data.schema();
        let kept: Vec<bool> = binding.classes.iter().map(Option::is_some).collect();
        let mut secrets = Secrets::new(data, binding, params.diverse.as_ref())?;
        let mut domains = Vec::new();
        let mut declared = Vec::new();
        let mut misses = Vec::new();
        let mut leaves: Vec<Vec<u32>> = Vec::new();
        let mut classes = Vec::new();
        let mut columns = columns(data, binding, hierarchies)?.into_iter().peekable();
        for (id, _) in schema.classes() {
            let mut quasi = Vec::new();
            while let Some(column) = columns.next_if(|c| schema.attribute(c.attribute).class == id) {
                observer.go_on()?;
                let missing = facts.misses(schema, column.attribute);
                let weight = params.weights.get(column.declared).copied().unwrap_or(1.0);
                quasi.push((column.attribute, domains.len()));
                domains.push(Domain::new(column.hierarchy, column.declared, missing, weight, cost));
                leaves.push(column.leaves);
                declared.push(column.declared);
                misses.push(missing);
            }
            let own: i64 = quasi.iter().map(|&(_, d)| domains[d].full).sum();
            let secret = binding.in_policy_order(schema, id, Role::Sensitive);
            let own = own + facts.secrets(schema, id, &secret, params.lost * SCALE as f64);
            // A vertex without values is still worth keeping.
            let sensitive = secrets.attributes(id);
            classes.push(Class { quasi, sensitive, has_secrets: sensitive > 0, own: own.max(1) });
        }
        // Classes stand behind those that they are below.
        for (id, class) in schema.classes().collect::<Vec<_>>().into_iter().rev() {
            if let Some(above) = class.parent.filter(|_| classes[id.index()].has_secrets) {
                classes[above.index()].has_secrets = true;
            }
        }
        let mut forest = Forest {
            vertex_class: (0..data.vertex_count()).map(|v| data.class(v).0).collect(),
            secret: secrets.of_vertices(data, observer)?,
            classes,
            domains,
            declared,
            misses,
            secrets,
            forms: Forms::default(),
            values: Vec::new(),
            value_start: vec![0],
            below: Vec::new(),
            below_start: vec![0],
            roots: Vec::new(),
            kinds: Kinds::default(),
            kid_start: vec![0],
            root_values: Vec::new(),
            prune: Vec::new(),
            lost: params.lost,
        };
        forest.read_vertices(data, &kept, &leaves, observer)?;
        forest.find_forms(data, params.matching == Matching::Lsap, observer)?;
        Ok(forest)
    }

    fn read_vertices(
        &mut self,
        data: &Dataset,
        kept: &[bool],
        leaves: &[Vec<u32>],
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut below: Vec<Vec<u32>> = Vec::new();
        for record in 0..data.len() {
            observer.go_on()?;
            let vertices = data.vertices(record);
            self.roots.push(vertices.start as u32);
            below.clear();
            below.resize(vertices.len(), Vec::new());
            for v in vertices.clone() {
                let class = data.class(v);
                for &(a, d) in &self.classes[class.index()].quasi {
                    let code = data.value(v, a);
                    let missing = self.domains[d].missing();
                    self.values.push(if code == MISSING { missing } else { leaves[d][code as usize] });
                }
                self.value_start.push(self.values.len() as u32);
                if let Some(parent) = data.parent(v).filter(|_| kept[class.index()]) {
                    below[parent - vertices.start].push(v as u32);
                }
            }
            for list in &mut below {
                list.sort_by_key(|&v| data.class(v as usize));
                self.below.append(list);
                self.below_start.push(self.below.len() as u32);
            }
        }
        Ok(())
    }

    /// Interns all subtrees below the roots. Where the order of children does not matter, forms differ only in which
    /// children they have.
    fn find_forms(&mut self, data: &Dataset, unordered: bool, observer: &dyn Observer) -> Result<()> {
        let mut known: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut keys: Vec<Vec<u32>> = Vec::new();
        let mut form = vec![u32::MAX; data.vertex_count()];
        let mut key = Vec::new();
        let mut kids: Vec<Kid> = Vec::new();
        for v in (0..data.vertex_count()).rev().filter(|&v| data.parent(v).is_some()) {
            observer.go_on()?;
            let below = self.below(v as u32);
            kids.clear();
            kids.extend(
                below.iter().map(|&c| Kid { form: form[c as usize], secret: self.secret[c as usize] }),
            );
            if unordered {
                kids.sort_by_key(|k| (keys[k.form as usize][0], *k));
            }
            key.clear();
            key.push(data.class(v).0);
            key.extend_from_slice(self.values(v as u32));
            key.extend(kids.iter().flat_map(|k| [k.form, k.secret]));
            form[v] = match known.get(&key) {
                Some(&form) => form,
                None => {
                    keys.push(key.clone());
                    known.insert(key.clone(), keys.len() as u32 - 1);
                    keys.len() as u32 - 1
                }
            };
        }
        drop(known);
        let number = self.number_forms(&keys, observer)?;
        self.forms.shapes = Shapes::new(&self.forms, &number, unordered, observer)?;
        let mut kids = Vec::new();
        for record in 0..self.roots.len() {
            observer.go_on()?;
            let root = self.roots[record];
            let mut prune = self.classes[ClassId::ROOT.index()].own;
            for i in self.below_start[root as usize]..self.below_start[root as usize + 1] {
                let child = self.below[i as usize] as usize;
                let kid = Kid { form: number[form[child] as usize], secret: self.secret[child] };
                prune += self.forms.prune[kid.form as usize];
                kids.push(kid);
            }
            self.kid_start.push(kids.len() as u32);
            let values = self.value_start[root as usize]..self.value_start[root as usize + 1];
            self.root_values.extend_from_slice(&self.values[values.start as usize..values.end as usize]);
            self.prune.push(prune);
        }
        self.kinds = Kinds::new(&kids, &self.forms, &self.secrets, observer)?;
        Ok(())
    }

    /// Numbers forms class by class, in order of appearance; gives the new number of each.
    fn number_forms(&mut self, keys: &[Vec<u32>], observer: &dyn Observer) -> Result<Vec<u32>> {
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_by_key(|&f| keys[f as usize][0]);
        let mut number = vec![0; keys.len()];
        order.iter().enumerate().for_each(|(new, &old)| number[old as usize] = new as u32);
        let forms = &mut self.forms;
        forms.value_start.push(0);
        forms.kid_start.push(0);
        forms.prune = vec![0; keys.len()];
        for &old in &order {
            observer.go_on()?;
            let key = &keys[old as usize];
            let class = key[0];
            let quasi = self.classes[class as usize].quasi.len();
            forms.class.push(class);
            forms.values.extend_from_slice(&key[1..1 + quasi]);
            forms.value_start.push(forms.values.len() as u32);
            let kids = key[1 + quasi..].chunks_exact(2);
            forms.kids.extend(kids.map(|k| Kid { form: number[k[0] as usize], secret: k[1] }));
            forms.kid_start.push(forms.kids.len() as u32);
        }
        forms.class_start =
            (0..=self.classes.len() as u32).map(|c| forms.class.partition_point(|&f| f < c) as u32).collect();
        // Subtrees were interned before those that hold them.
        for (old, key) in keys.iter().enumerate() {
            observer.go_on()?;
            let new = number[old];
            let below: i64 = forms.kids(new).iter().map(|k| forms.prune[k.form as usize]).sum();
            forms.prune[new as usize] = self.classes[key[0] as usize].own + below;
        }
        Ok(number)
    }

    /// About how many bytes the records take here, and again as members of clusters.
    pub(super) fn bytes(&self) -> usize {
        let forms = &self.forms;
        let here = 4
            * (self.values.len() + self.below.len() + self.root_values.len() + 2 * self.kinds.of_kid.len())
            + 16 * (self.vertex_class.len() + self.roots.len())
            + 4 * forms.values.len()
            + size_of::<Kid>() * forms.kids.len()
            + 28 * forms.class.len();
        let members = (size_of::<Rep>() + 16) * self.vertex_class.len();
        here + members
    }

    /// How many records there are.
    pub(super) fn len(&self) -> usize {
        self.roots.len()
    }

    /// The nodes of a vertex's quasi values.
    #[inline]
    pub(super) fn values(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.values[self.value_start[v] as usize..self.value_start[v + 1] as usize]
    }

    /// The vertices right below one, class by class.
    pub(super) fn below(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.below[self.below_start[v] as usize..self.below_start[v + 1] as usize]
    }

    /// The nodes of a record's own quasi values.
    #[inline]
    pub(super) fn root_values(&self, record: u32) -> &[u32] {
        let width = self.classes[0].quasi.len();
        &self.root_values[record as usize * width..(record as usize + 1) * width]
    }

    /// Where a record's children stand among those of all records.
    #[inline]
    pub(super) fn kid_range(&self, record: u32) -> std::ops::Range<usize> {
        self.kid_start[record as usize] as usize..self.kid_start[record as usize + 1] as usize
    }

    /// The forms of the children of a record's root, class by class.
    #[inline]
    pub(super) fn kid_forms(&self, record: u32) -> &[u32] {
        &self.kinds.form_of_kid[self.kid_range(record)]
    }

    /// The kinds of the children of a record's root, class by class.
    #[inline]
    pub(super) fn kid_kinds(&self, record: u32) -> &[u32] {
        &self.kinds.of_kid[self.kid_range(record)]
    }
}

/// A quasi attribute of the data in its hierarchy.
pub(super) struct Column<'h> {
    pub(super) attribute: AttributeId,
    pub(super) declared: usize,
    pub(super) hierarchy: &'h Hierarchy,
    /// Per code the leaf.
    pub(super) leaves: Vec<u32>,
}

/// The quasi attributes, class by class. Those whose values are in no hierarchy are refused, all of them.
pub(super) fn columns<'h>(
    data: &Dataset,
    binding: &Binding,
    hierarchies: &'h [Option<Hierarchy>],
) -> Result<Vec<Column<'h>>> {
    let schema = data.schema();
    let mut columns = Vec::new();
    let mut problems = Vec::new();
    for (id, _) in schema.classes().filter(|(id, _)| binding.classes[id.index()].is_some()) {
        for attribute in binding.in_policy_order(schema, id, Role::Quasi) {
            let Some(declared) = binding.attributes[attribute.index()] else { continue };
            let path = &schema.attribute(attribute).path;
            let Some(hierarchy) = &hierarchies[declared] else {
                problems.push(no_hierarchy(path));
                continue;
            };
            let leaf = |text: &str| hierarchy.leaf(text).map(|n| n.0);
            match data.dictionary(attribute).iter().map(|(_, text)| leaf(text)).collect() {
                Some(leaves) => columns.push(Column { attribute, declared, hierarchy, leaves }),
                None => problems.push(uncovered(path)),
            }
        }
    }
    if problems.is_empty() { Ok(columns) } else { Err(Failure::all(Fault::Policy, problems)) }
}

fn no_hierarchy(path: &str) -> Diagnostic {
    Diagnostic::error("a quasi attribute has no hierarchy")
        .at(Place::default().path(path))
        .help("add `hierarchy = …`: a CSV file or a builder")
}

fn uncovered(path: &str) -> Diagnostic {
    Diagnostic::error("the hierarchy does not have all values of the data")
        .at(Place::default().path(path))
        .help("add them to the hierarchy")
}
