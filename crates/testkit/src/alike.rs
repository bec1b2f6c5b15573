//! Which records and vertices cannot be told apart, by trying all ways to lay one tree over another.

use std::collections::BTreeSet;

use bosket_model::policy::Role;

use crate::dice::permutations;
use crate::vertices::{Roles, Vertex};

/// A way to lay one record over another: pairs of vertices, numbered with parents first.
pub type Isomorphism = Vec<(usize, usize)>;

/// All ways to lay `a` over `b` so that classes, quasi values and parents are kept.
pub fn isomorphisms(a: &Vertex, b: &Vertex, roles: &Roles) -> Vec<Isomorphism> {
    over(a, 0, b, 0, roles)
}

fn over(a: &Vertex, at_a: usize, b: &Vertex, at_b: usize, roles: &Roles) -> Vec<Isomorphism> {
    let alike = a.class == b.class
        && a.with_role(roles, Role::Quasi) == b.with_role(roles, Role::Quasi)
        && a.children.len() == b.children.len();
    if !alike {
        return Vec::new();
    }
    let mut found = Vec::new();
    for order in permutations(a.children.len()) {
        let mut ways: Vec<Isomorphism> = vec![vec![(at_a, at_b)]];
        for (i, &j) in order.iter().enumerate() {
            let below = over(&a.children[i], number(a, at_a, i), &b.children[j], number(b, at_b, j), roles);
            ways = (ways.iter())
                .flat_map(|way| below.iter().map(|more| way.iter().chain(more).copied().collect()))
                .collect();
        }
        found.extend(ways);
    }
    found
}

/// The number of a vertex's child.
fn number(vertex: &Vertex, at: usize, child: usize) -> usize {
    at + 1 + vertex.children[..child].iter().map(|c| c.all().len()).sum::<usize>()
}

/// Records (from 0) in groups that look alike.
pub fn classes(records: &[Vertex], roles: &Roles) -> Vec<Vec<usize>> {
    let alike = |&i: &usize, &j: &usize| !isomorphisms(&records[i], &records[j], roles).is_empty();
    connected((0..records.len()).collect(), alike)
}

/// The places of a class: vertices, each as (record, number), that some isomorphism lays over each other.
pub fn places(records: &[Vertex], class: &[usize], roles: &Roles) -> Vec<Vec<(usize, usize)>> {
    let mut laid = BTreeSet::new();
    for &i in class {
        for &j in class {
            for way in isomorphisms(&records[i], &records[j], roles) {
                laid.extend(way.into_iter().map(|(x, y)| ((i, x), (j, y))));
            }
        }
    }
    let vertices = class.iter().flat_map(|&r| (0..records[r].all().len()).map(move |v| (r, v)));
    connected(vertices.collect(), |&x, &y| laid.contains(&(x, y)))
}

/// Connected groups, each in the order given.
fn connected<T: Copy + Ord>(all: Vec<T>, linked: impl Fn(&T, &T) -> bool) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for x in all {
        let (mut joined, apart): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(|y| linked(&x, y) || linked(y, &x)));
        joined.push(vec![x]);
        groups = apart;
        let mut group = joined.concat();
        group.sort();
        groups.push(group);
    }
    groups.sort();
    groups
}
