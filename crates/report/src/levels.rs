//! At which levels of its hierarchy an attribute is published: one everywhere, or several where every value has a label of
//! its own.

use bosket_measure::kept::says_nothing;
use bosket_measure::loss::Side;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::policy::Role;
use bosket_model::{Dataset, MISSING};

/// How many published values of an attribute stand at each level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The attribute.
    pub path: String,
    /// Values as they were, at the bottom of the hierarchy.
    pub exact: usize,
    /// Values at the levels between, from the lowest up to the one below `*`. Ranges of numbers are one level.
    pub between: Vec<usize>,
    /// Values that could be anything.
    pub anything: usize,
}

impl Levels {
    /// All published values.
    pub fn all(&self) -> usize {
        self.exact + self.between.iter().sum::<usize>() + self.anything
    }

    /// The share of a number of values; 0 of none.
    pub fn share(&self, values: usize) -> f64 {
        if self.all() == 0 { 0.0 } else { values as f64 / self.all() as f64 }
    }
}

/// The level of a label.
#[derive(Clone, Copy)]
enum Level {
    Exact,
    /// Levels below `*`, less one.
    Between(usize),
    Anything,
}

/// The levels of all quasi attributes that have a hierarchy, in the policy's order. Read from the publication alone.
pub fn levels(published: Side<'_>, hierarchies: &[Option<Hierarchy>]) -> Vec<Levels> {
    let declared = published.binding.declared.iter().enumerate();
    let quasi = declared.filter(|(_, d)| d.role == Role::Quasi && d.follows.is_none());
    let all = quasi.filter_map(|(i, d)| {
        let hierarchy = hierarchies.get(i)?.as_ref()?;
        Some(of_attribute(published, i, &d.path, hierarchy))
    });
    all.filter(|levels| levels.all() > 0).collect()
}

fn of_attribute(published: Side<'_>, declared: usize, path: &str, hierarchy: &Hierarchy) -> Levels {
    let data: &Dataset = published.data;
    // Leaves are values as they were, at whatever depth they are.
    let inner = match hierarchy.numbers() {
        Some(_) => 1,
        None => {
            let depths = hierarchy.nodes().filter(|&n| !hierarchy.is_leaf(n)).map(|n| hierarchy.depth(n));
            depths.max().unwrap_or(0) as usize
        }
    };
    let mut found = Levels { path: path.to_owned(), exact: 0, between: vec![0; inner], anything: 0 };
    let own = data.schema().attributes();
    for (id, attribute) in own.filter(|(id, _)| published.binding.attributes[id.index()] == Some(declared)) {
        let level: Vec<Level> =
            data.dictionary(id).iter().map(|(_, text)| level(hierarchy, text, inner)).collect();
        for v in (0..data.vertex_count()).filter(|&v| data.class(v) == attribute.class) {
            let code = data.value(v, id);
            if code == MISSING {
                continue;
            }
            match level[code as usize] {
                Level::Exact => found.exact += 1,
                Level::Between(depth) => found.between[inner - 1 - depth] += 1,
                Level::Anything => found.anything += 1,
            }
        }
    }
    found
}

fn level(hierarchy: &Hierarchy, label: &str, inner: usize) -> Level {
    match hierarchy.node(label) {
        Some(node) if hierarchy.is_leaf(node) => Level::Exact,
        Some(node) if says_nothing(hierarchy, node) => Level::Anything,
        Some(node) => Level::Between((hierarchy.depth(node) as usize).clamp(1, inner) - 1),
        // A range of numbers is no node; anything else that is none has been left as it was.
        None if hierarchy.numbers().is_some() => Level::Between(0),
        None => Level::Exact,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bosket_model::Builder;
    use bosket_model::binding::Binding;
    use bosket_model::policy::Policy;

    #[test]
    fn labels_of_several_levels_in_one_column_are_counted_each() {
        let hierarchy =
            bosket_model::hierarchy::csv::parse("towns", "Ulm;South;*\nBonn;West;*\n").expect("good");
        let mut builder = Builder::new();
        let town = builder.attribute(bosket_model::ClassId::ROOT, &["town".to_owned()]);
        for label in ["Ulm", "Ulm", "South", "*", "West", "Bonn", "*", "*"] {
            builder.begin_record();
            builder.set(town, bosket_model::Kind::Text, label);
            builder.end_record().expect("small");
        }
        let data = builder.finish();
        let text = "version = 1\n[[attribute]]\npath = \"town\"\nrole = \"quasi\"\n";
        let policy = Policy::parse("p.toml", text, &[]).expect("good").0;
        let binding =
            Binding::new(data.schema(), &policy.attributes, policy.undeclared, "test").expect("good");
        let found = levels(Side { data: &data, binding: &binding }, &[Some(hierarchy)]);
        let expected = Levels { path: "town".to_owned(), exact: 3, between: vec![2], anything: 3 };
        assert_eq!(found, [expected]);
        assert_eq!(found[0].share(found[0].between[0]), 0.25);
    }
}
