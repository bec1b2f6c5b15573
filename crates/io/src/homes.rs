//! Where the classes of a publication belong.
//!
//! A publication may hold a class above its home, where disassociation moved it. What is known about an attribute by its
//! path must then be found by the path that it has at home.

use std::collections::BTreeSet;

use bosket_model::binding::Binding;
use bosket_model::path::{AttributePath, Notation, attribute_path, class_path};
use bosket_model::policy::{AttributePolicy, Role, Undeclared};
use bosket_model::{Builder, Schema};

/// A class as the names from the record on.
pub(crate) type HomePath = Vec<Vec<String>>;

/// The classes of a policy's paths, and what is published in each; none where no policy is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Homes {
    classes: BTreeSet<HomePath>,
    /// Attributes that may be published, by their class and their keys in it.
    published: BTreeSet<(HomePath, Vec<String>)>,
    /// Classes that are the entries of a map.
    maps: BTreeSet<HomePath>,
}

impl Homes {
    /// Those of a policy whose paths are written with dots.
    pub fn expected(attributes: &[AttributePolicy]) -> Self {
        let nothing = Builder::new().finish();
        // A path that cannot be read is reported when the policy is bound to the data.
        let Ok(binding) = Binding::new(nothing.schema(), attributes, Undeclared::Drop, "the policy") else {
            return Homes::default();
        };
        let mut homes: Vec<HomePath> = vec![Vec::new()];
        for home in &binding.homes[1..] {
            let mut path = homes[home.parent.unwrap_or(0)].clone();
            path.push(home.name.clone());
            homes.push(path);
        }
        let goes = |role: Role| role.is_left_out() || role == Role::Key;
        let stays = binding.declared.iter().filter(|d| !goes(d.role));
        let published = stays.map(|d| (homes[d.home].clone(), d.name.clone())).collect();
        let classes = homes.into_iter().skip(1).collect();
        let paths = attributes.iter().filter(|a| a.structure.is_none()).map(|a| a.path.as_str());
        Homes { classes, published, maps: maps(paths) }
    }

    /// Nothing is known but that these objects are maps, each as the path of its entries: `scores{}`.
    pub fn of_maps<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        Homes { maps: maps(paths), ..Homes::default() }
    }

    /// The classes that are the entries of a map.
    pub(crate) fn maps(&self) -> &BTreeSet<HomePath> {
        &self.maps
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.published.is_empty()
    }

    /// Whether a publication may have this key in a vertex of a class, be it that nothing stands there: the policy
    /// publishes an attribute or a class at these keys, or further in.
    pub(crate) fn publishes(&self, home: &[Vec<String>], name: &[String]) -> bool {
        let further = |own: &[Vec<String>]| {
            own.len() > home.len() && own.starts_with(home) && own[home.len()].starts_with(name)
        };
        self.published.iter().any(|(own, keys)| own == home && keys.starts_with(name))
            || self.classes.iter().any(|own| further(own))
            || self.contains(&self.home(home, name))
    }

    /// Whether the policy has a class there.
    pub(crate) fn contains(&self, home: &[Vec<String>]) -> bool {
        self.classes.contains(home)
    }

    /// Where a class called `name` belongs that was found in a vertex which belongs to `above`: there, or below, where
    /// the policy has it. This is how [`Binding`] resolves publications.
    fn home(&self, above: &[Vec<String>], name: &[String]) -> Vec<Vec<String>> {
        let mut direct = above.to_vec();
        direct.push(name.to_vec());
        if self.contains(&direct) {
            return direct;
        }
        let below = || self.classes.iter().filter(|h| h.len() > above.len() && h.starts_with(above));
        let joined = |home: &[Vec<String>]| home.iter().map(|n| n.join(".")).collect::<Vec<_>>().join(".");
        if let [name] = name
            && let Some(home) = below().find(|h| joined(&h[above.len()..]) == *name)
        {
            return home.clone();
        }
        let mut named = below().filter(|h| h.last().is_some_and(|n| n == name));
        match (named.next(), named.next()) {
            (Some(home), None) => home.clone(),
            _ => direct,
        }
    }

    /// The homes of all classes of a dataset.
    pub(crate) fn of(&self, schema: &Schema) -> Vec<Vec<Vec<String>>> {
        let mut homes: Vec<Vec<Vec<String>>> = Vec::new();
        for (_, class) in schema.classes() {
            let home = match class.parent {
                None => Vec::new(),
                Some(parent) => self.home(&homes[parent.index()], &class.name),
            };
            homes.push(home);
        }
        homes
    }
}

/// The maps on the way of paths with dots.
fn maps<'p>(paths: impl IntoIterator<Item = &'p str>) -> BTreeSet<HomePath> {
    let mut found = BTreeSet::new();
    for path in paths {
        let Ok((path, maps)) = AttributePath::parse_with_maps(Notation::Dots, path) else { continue };
        for (i, _) in maps.iter().enumerate().filter(|(_, map)| **map) {
            found.insert(path.classes[..=i].to_vec());
        }
    }
    found
}

/// The path of an attribute at home.
pub(crate) fn path(home: &[Vec<String>], name: &[String]) -> String {
    let class = home.iter().fold(String::new(), |path, name| class_path(&path, name));
    attribute_path(&class, name)
}
