//! What can be asked about a model or an algorithm. The answers stand in the table, `models`.

use std::fmt;

use super::choices::Role;
use super::describe::{self, Choice, Section};
use super::keys::{METHOD, PRIVACY, PUBLISH};
use super::models::{Algorithm, Model};

/// A paper that a model or an algorithm is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    /// Who wrote it, by last name.
    pub authors: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// Where and when it was published.
    pub published: &'static str,
}

impl fmt::Display for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, {}", self.authors, self.title, self.published)
    }
}

/// Algorithms that share their parameters and their result: a folder of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Cuts and disassociations of value trees.
    Kmn,
    /// Cuts of sets of items.
    Km,
    /// Clusters of vertex trees.
    Cluster,
    /// Groups that join two sides.
    Dissect,
}

/// What a record is to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A set of items.
    Set,
    /// A tree in which every node is one quasi value.
    ValueTree,
    /// A tree of vertices, each with all its values.
    VertexTree,
}

/// A number of a guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// How many people any known piece of knowledge must fit.
    K,
    /// How many values an attacker may know.
    M,
    /// How many relations an attacker may know.
    N,
    /// No sensitive value may be inferred with more than 1/l.
    L,
    /// Distinct sensitive values per group.
    GroupSize,
}

impl Number {
    /// Its key in `[privacy]`.
    pub const fn name(self) -> &'static str {
        match self {
            Number::K => "k",
            Number::M => "m",
            Number::N => "n",
            Number::L => "l",
            Number::GroupSize => "group_size",
        }
    }
}

/// The row of a model.
#[derive(Debug)]
pub(super) struct ModelFacts {
    /// In a heading, for somebody who signs.
    pub(super) title: &'static str,
    /// None where it is nobody's.
    pub(super) paper: Option<Paper>,
    /// The file in `docs/`.
    pub(super) page: &'static str,
    pub(super) family: Family,
    pub(super) shape: Shape,
    /// Something is promised that can be verified.
    pub(super) guarantee: bool,
    pub(super) generalizes: bool,
    /// Published in two sides that only groups join.
    pub(super) apart: bool,
    /// Clusters of records are made to look alike, each in its own way.
    pub(super) clusters: bool,
    /// The attacker knows up to m values.
    pub(super) counts_values: bool,
    /// And up to n relations between them.
    pub(super) counts_relations: bool,
    /// Nothing is protected without an attribute of role sensitive.
    pub(super) needs_sensitive: bool,
    /// The roles whose attributes must have hierarchies.
    pub(super) hierarchies: &'static [Role],
    /// What a policy must say.
    pub(super) needs: &'static [Number],
}

impl ModelFacts {
    pub(super) const fn choice(&self, name: &'static str, about: &'static str) -> Choice {
        Choice { name, about, models: &[] }
    }
}

impl Model {
    /// What it is called in a heading, for somebody who signs.
    pub const fn title(self) -> &'static str {
        self.facts().title
    }
    /// The paper that it is from; none where nobody is to be cited.
    pub const fn paper(self) -> Option<Paper> {
        self.facts().paper
    }
    /// Its page: the name of a file in `docs/`.
    pub const fn page(self) -> &'static str {
        self.facts().page
    }
    /// The folder of the engine that holds its algorithms.
    pub const fn family(self) -> Family {
        self.facts().family
    }
    /// What a record is to it.
    pub const fn shape(self) -> Shape {
        self.facts().shape
    }
    /// Whether it promises anything that can be verified.
    pub const fn has_guarantee(self) -> bool {
        self.facts().guarantee
    }
    /// Whether quasi values are replaced by more general ones.
    pub const fn generalizes(self) -> bool {
        self.facts().generalizes
    }
    /// Whether quasi and sensitive values are always published on two sides, which only groups join.
    pub const fn is_apart(self) -> bool {
        self.facts().apart
    }
    /// Whether clusters of records are made to look alike, each recoded by itself. Such clusters can have tight ranges, and
    /// can be published in two sides.
    pub const fn makes_clusters(self) -> bool {
        self.facts().clusters
    }
    /// Whether it guards against who knows up to m values, rather than all of a record.
    pub const fn counts_values(self) -> bool {
        self.facts().counts_values
    }
    /// Whether it guards against who knows relations between values as well.
    pub const fn counts_relations(self) -> bool {
        self.facts().counts_relations
    }
    /// Whether it protects nothing without an attribute of role sensitive.
    pub const fn needs_sensitive(self) -> bool {
        self.facts().needs_sensitive
    }
    /// Whether every attribute of the role must have a hierarchy.
    pub fn needs_hierarchies(self, role: Role) -> bool {
        self.facts().hierarchies.contains(&role)
    }
    /// Whether its promise can be kept cell by cell.
    pub fn takes_cells(self) -> bool {
        describe::key(&["method", "cells"]).is_some_and(|key| key.fits(self))
    }
    /// The numbers that a policy must give.
    pub const fn needs(self) -> &'static [Number] {
        self.facts().needs
    }
    /// Whether a key, such as `method.g`, means something under it.
    pub fn takes(self, key: &str) -> bool {
        describe::key(&key.split('.').collect::<Vec<_>>()).is_some_and(|key| key.fits(self))
    }
    /// Keys that mean nothing under it, and promise nothing either.
    pub fn ignores(self) -> Vec<String> {
        let of = |name: &'static str, section: &'static Section| {
            let ignored = section.keys.iter().filter(move |key| key.is_ignored_by(self));
            ignored.map(move |key| format!("{name}.{}", key.name))
        };
        of("privacy", &PRIVACY).chain(of("method", &METHOD)).chain(of("publish", &PUBLISH)).collect()
    }
    /// The algorithms that reach it, in the order in which to try them: the usual one first.
    pub fn algorithms(self) -> Vec<Algorithm> {
        let mut all: Vec<Algorithm> = Algorithm::ALL.iter().copied().filter(|a| a.reaches(self)).collect();
        all.sort_by_key(|a| (!a.is_usual_for(self) || a.needs_flat(), a.facts().turn));
        all
    }
    /// The algorithm of a policy that names none. `flat`: the records are the rows of one table.
    pub fn usual_algorithm(self, flat: bool) -> Option<Algorithm> {
        let usual = self.algorithms().into_iter().filter(|a| a.is_usual_for(self));
        usual.filter(|a| flat || !a.needs_flat()).max_by_key(|a| a.needs_flat())
    }
}

/// The row of an algorithm.
#[derive(Debug)]
pub(super) struct AlgorithmFacts {
    /// What the reference of the policy says about it.
    pub(super) reference: &'static str,
    /// The models under which a policy may name it.
    pub(super) models: &'static [Model],
    /// One of these that it cannot reach.
    pub(super) except: Option<Except>,
    /// The models for which it is taken where the policy names none.
    pub(super) usual_for: &'static [Model],
    /// Its turn among the algorithms of its family, as they are told to people.
    pub(super) turn: u8,
    /// None where it is from no paper.
    pub(super) paper: Option<Paper>,
    /// What a value becomes may differ from one part of the records to another.
    pub(super) local: bool,
    /// Takes nothing but rows of one table.
    pub(super) flat: bool,
}

/// A model that an algorithm cannot reach although it is one of its family.
#[derive(Clone, Copy, Debug)]
pub(super) struct Except {
    pub(super) model: Model,
    /// What is said to who asks for it.
    pub(super) what: &'static str,
    /// And what to do instead.
    pub(super) help: &'static str,
}

/// What holds where a row says nothing.
pub(super) const USUAL: AlgorithmFacts = AlgorithmFacts {
    reference: "",
    models: &[],
    except: None,
    usual_for: &[],
    turn: 0,
    paper: None,
    local: false,
    flat: false,
};

impl AlgorithmFacts {
    pub(super) const fn choice(&self, name: &'static str, _about: &'static str) -> Choice {
        Choice { name, about: self.reference, models: self.models }
    }
}

impl Algorithm {
    /// Whether what a value becomes may differ from one part of the records to another.
    pub const fn is_local(self) -> bool {
        self.facts().local
    }
    /// Whether it takes nothing but rows of one table.
    pub const fn needs_flat(self) -> bool {
        self.facts().flat
    }
    /// The models under which a policy may name it.
    pub const fn models(self) -> &'static [Model] {
        self.facts().models
    }
    /// Whether it can keep the model's promise.
    pub fn reaches(self, model: Model) -> bool {
        self.models().contains(&model) && self.facts().except.is_none_or(|e| e.model != model)
    }
    /// Whether it is taken where a policy of the model names none.
    pub fn is_usual_for(self, model: Model) -> bool {
        self.facts().usual_for.contains(&model)
    }
    /// The folder of the engine that holds it.
    pub const fn family(self) -> Family {
        self.models()[0].family()
    }
    /// The paper that it is from; none where it is from none.
    pub const fn paper(self) -> Option<Paper> {
        self.facts().paper
    }
    /// Its page: the name of a file in `docs/`.
    pub const fn page(self) -> &'static str {
        self.models()[0].page()
    }
}
