//! Which row of the input a published row comes from, where every value has a label of its own. Publications are ordered by
//! what they say, so rows are found again by what their labels cover.

use std::ops::Range;

use crate::loss::Side;
use bosket_model::hierarchy::{Hierarchy, Numbers, ROOT_LABEL};
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{MISSING, Result};

/// Per published vertex a vertex of the input that it can come from, each given once; none where there is none. `pairs` are
/// (input record, published record).
pub fn paired(
    input: Side<'_>,
    published: Side<'_>,
    hierarchies: &[Option<Hierarchy>],
    pairs: &[(u32, u32)],
    observer: &dyn Observer,
) -> Result<Vec<Option<usize>>> {
    let mut rows = Rows {
        input,
        published,
        hierarchies,
        leaves: below_values(input, hierarchies, |h, text| h.leaf(text).map(|leaf| h.leaves(leaf))),
        labels: below_values(published, hierarchies, leaves_of_label),
        below_input: below(input),
        below_published: below(published),
        from: vec![None; published.data.vertex_count()],
    };
    for &(from, to) in pairs {
        observer.go_on()?;
        let (from, to) = (input.data.vertices(from as usize), published.data.vertices(to as usize));
        rows.pair(to.start, from.start);
        rows.left_alone(to, from);
    }
    Ok(rows.from)
}

/// The leaves that a published label stands for, by their positions: those below a node, or from one number to another.
pub(crate) fn leaves_of_label(hierarchy: &Hierarchy, label: &str) -> Option<Range<u32>> {
    let range = || {
        let (low, high) = hierarchy.numbers()?.positions(Numbers::parse(label)?)?;
        Some(low..high + 1)
    };
    hierarchy.node(label).map(|node| hierarchy.leaves(node)).or_else(range)
}

/// Per attribute of the data and value the leaves that it stands for.
pub(crate) type Leaves = Vec<Vec<Option<Range<u32>>>>;

pub(crate) fn below_values(
    side: Side<'_>,
    hierarchies: &[Option<Hierarchy>],
    find: impl Fn(&Hierarchy, &str) -> Option<Range<u32>>,
) -> Leaves {
    let of = |id: bosket_model::AttributeId| {
        let own = side.binding.attributes[id.index()];
        let hierarchy = own.and_then(|own| hierarchies.get(own)?.as_ref());
        side.data.dictionary(id).iter().map(|(_, text)| hierarchy.and_then(|h| find(h, text))).collect()
    };
    side.data.schema().attributes().map(|(id, _)| of(id)).collect()
}

fn below(side: Side<'_>) -> Vec<Vec<usize>> {
    let mut below = vec![Vec::new(); side.data.vertex_count()];
    for vertex in 0..below.len() {
        if let Some(parent) = side.data.parent(vertex) {
            below[parent].push(vertex);
        }
    }
    below
}

struct Rows<'a> {
    input: Side<'a>,
    published: Side<'a>,
    hierarchies: &'a [Option<Hierarchy>],
    leaves: Leaves,
    labels: Leaves,
    below_input: Vec<Vec<usize>>,
    below_published: Vec<Vec<usize>>,
    from: Vec<Option<usize>>,
}

impl Rows<'_> {
    /// Whether a published row can come from one of the input, by its own values.
    fn own_fits(&self, row: usize, origin: usize) -> bool {
        let (to, from) = (self.published, self.input);
        let (class, origin_class) = (to.data.class(row), from.data.class(origin));
        let home = to.binding.classes[class.index()];
        if home.is_none() || home != from.binding.classes[origin_class.index()] {
            return false;
        }
        to.data.schema().class(class).attributes.iter().all(|&id| {
            let Some(declared) = to.binding.attributes[id.index()] else { return true };
            let code = to.data.value(row, id);
            if code == MISSING || to.binding.declared[declared].role != Role::Quasi {
                return true;
            }
            let text = to.data.dictionary(id).text(code);
            let mut own = from.data.schema().class(origin_class).attributes.iter();
            let own = own.find(|id| from.binding.attributes[id.index()] == Some(declared));
            let value = own.map(|&id| (id, from.data.value(origin, id))).filter(|&(_, code)| code != MISSING);
            let Some((own, value)) = value else { return text == ROOT_LABEL };
            match self.hierarchies.get(declared).and_then(Option::as_ref) {
                None => text == from.data.dictionary(own).text(value),
                Some(_) => {
                    let label = self.labels[id.index()][code as usize].as_ref();
                    let leaf = self.leaves[own.index()][value as usize].as_ref();
                    label.zip(leaf).is_some_and(|(label, leaf)| label.contains(&leaf.start))
                }
            }
        })
    }

    /// The same with all that hangs below.
    fn fits(&self, row: usize, origin: usize) -> bool {
        self.own_fits(row, origin) && self.placed(row, origin).iter().all(Option::is_some)
    }

    /// For each row below a published one a row of its own below the other, as far as there is one.
    fn placed(&self, row: usize, origin: usize) -> Vec<Option<usize>> {
        let (rows, origins) = (&self.below_published[row], &self.below_input[origin]);
        let fits: Vec<Vec<bool>> = (rows.iter())
            .map(|&row| origins.iter().map(|&origin| self.fits(row, origin)).collect())
            .collect();
        let mut taken: Vec<Option<usize>> = vec![None; origins.len()];
        for at in 0..rows.len() {
            place(at, &fits, &mut taken, &mut vec![false; origins.len()]);
        }
        let mut places = vec![None; rows.len()];
        for (origin, at) in taken.into_iter().enumerate() {
            at.into_iter().for_each(|at| places[at] = Some(origins[origin]));
        }
        places
    }

    /// Pairs a row and what is below it.
    fn pair(&mut self, row: usize, origin: usize) {
        self.from[row] = Some(origin);
        let places = self.placed(row, origin);
        for (at, place) in places.into_iter().enumerate() {
            if let Some(origin) = place {
                self.pair(self.below_published[row][at], origin);
            }
        }
    }

    /// Values that were parted from what was above them stand elsewhere, and come from any row of their class.
    fn left_alone(&mut self, rows: std::ops::Range<usize>, origins: std::ops::Range<usize>) {
        for row in rows {
            if self.from[row].is_none() {
                self.from[row] = origins.clone().find(|&origin| self.own_fits(row, origin));
            }
        }
    }
}

/// Finds an origin of its own for a row, by augmenting paths.
fn place(at: usize, fits: &[Vec<bool>], taken: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for origin in 0..taken.len() {
        if seen[origin] || !fits[at][origin] {
            continue;
        }
        seen[origin] = true;
        if taken[origin].is_none_or(|other| place(other, fits, taken, seen)) {
            taken[origin] = Some(at);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use bosket_model::binding::Binding;
    use bosket_model::hierarchy::csv;
    use bosket_model::observe::Quiet;
    use bosket_model::policy::{Policy, Undeclared};
    use bosket_model::{Builder, ClassId, Dataset, Kind};

    use super::*;

    /// One person per list, with a row per colour.
    fn people(all: &[&[&str]]) -> Dataset {
        let mut builder = Builder::new();
        let class = builder.class(ClassId::ROOT, &["rows".to_owned()]);
        let colour = builder.attribute(class, &["colour".to_owned()]);
        for rows in all {
            builder.begin_record();
            for row in *rows {
                builder.open(class);
                builder.set(colour, Kind::Text, row);
                builder.close();
            }
            builder.end_record().expect("small");
        }
        builder.finish()
    }

    #[test]
    fn rows_are_found_again_by_what_their_labels_cover() {
        let text =
            "version = 1\n[[attribute]]\npath = \"rows[].colour\"\nrole = \"quasi\"\nhierarchy = \"c.csv\"\n";
        let policy = Policy::parse("p.toml", text, &[]).expect("a good policy").0;
        let tree = csv::parse("c.csv", "brown;dark;*\nblue;dark;*\ngreen;light;*\n").expect("a tree");
        let input = people(&[&["brown", "green", "blue"], &["green", "brown"]]);
        // `*` comes first, and must not take the row of `light`.
        let published = people(&[&["*", "dark"], &["*", "dark", "light"]]);
        let bound = |data: &Dataset| {
            Binding::new(data.schema(), &policy.attributes, Undeclared::Drop, "data").expect("it fits")
        };
        let (of_input, of_published) = (bound(&input), bound(&published));
        let from = paired(
            Side { data: &input, binding: &of_input },
            Side { data: &published, binding: &of_published },
            &[Some(tree)],
            &[(0, 1), (1, 0)],
            &Quiet,
        );
        // Vertices: 0 the first person with rows 1 to 3, 4 the second with rows 5 and 6.
        let found = from.expect("nobody interrupts");
        assert_eq!(found[..3], [Some(4), Some(5), Some(6)]);
        assert_eq!((found[3], found[6]), (Some(0), Some(2)));
        let mut dark = [found[4], found[5]];
        dark.sort_unstable();
        assert_eq!(dark, [Some(1), Some(3)]);
    }
}
