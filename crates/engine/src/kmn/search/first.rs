//! A solution at once, for those who have little time.
//!
//! A beam comes by its first solutions at the top, where nearly nothing is published yet: whoever stops it there is left with
//! one attribute and none of the tables. So before a search that may be cut short all attributes are published as their root,
//! and then, depth by depth, as fine as they can all be together. That takes about as long as looking at a few cuts.
//!
//! Say k = 2, and one person of many has a visit with a note. `*` for the note would be hers alone: notes are left out. The others
//! stay, and if all towns and years can be told at the level below `*`, they are.

use bosket_model::Result;

use crate::kmn::domain::Node;
use crate::kmn::problem::{Problem, Solution};

/// So many attributes are tried one by one however little time there is: a first solution that says nothing is of no use.
const AT_ANY_RATE: usize = 16;

impl Problem<'_> {
    /// The solution with all attributes that can be published together; none if none can. Where all of them cannot be finer
    /// at once, they are tried `one_by_one`, if that is wanted.
    pub(crate) fn first_solution(&self, one_by_one: bool) -> Result<Option<Solution>> {
        // More detail may make absences fit, so that no depth says anything about the next.
        if self.domain.has_absences() {
            return Ok(None);
        }
        let Some(mut cut) = self.roots()? else { return Ok(None) };
        loop {
            self.observer.go_on()?;
            let finer = self.finer(&cut, |_| true);
            if finer == cut || !self.is_sound(&finer)? {
                break;
            }
            cut = finer;
        }
        if one_by_one {
            self.refine_one_by_one(&mut cut)?;
        }
        let cost = self.judge(&cut, &[])?;
        Ok(Some(Solution { cut, rules: Vec::new(), cost }))
    }

    /// Takes one step down with each attribute that allows it.
    fn refine_one_by_one(&self, cut: &mut Vec<Node>) -> Result<()> {
        for (tried, step) in self.domain.steps(cut).into_iter().enumerate() {
            self.observer.go_on()?;
            if tried >= AT_ANY_RATE && self.observer.out_of_time() {
                return Ok(());
            }
            let changes = self.domain.changes(step);
            // What was left out at the roots is too rare.
            let Some(old) = changes.iter().map(|change| change.old).collect::<Option<Vec<Node>>>() else {
                continue;
            };
            let finer = self.finer(cut, |node| old.contains(&node));
            if finer != *cut && self.is_sound(&finer)? {
                *cut = finer;
            }
        }
        Ok(())
    }

    /// The roots of all attributes but those that too few people have. Of a set of values that is too rare, the rarest one goes.
    fn roots(&self) -> Result<Option<Vec<Node>>> {
        let mut steps = self.domain.steps(&[]);
        while !steps.is_empty() {
            self.observer.go_on()?;
            let changes = |step| self.domain.changes(step).into_iter().flat_map(|change| change.new);
            let mut cut: Vec<Node> = steps.iter().flat_map(|&step| changes(step)).collect();
            cut.sort_unstable();
            let Some(rare) = self.rare_set(&cut)? else { return Ok(Some(cut)) };
            let rarest = rare.into_iter().min_by_key(|&node| (self.domain.set(node).len(), node));
            steps.retain(|&step| !changes(step).any(|node| Some(node) == rarest));
        }
        Ok(None)
    }

    /// A cut with its children in the place of some of its nodes.
    fn finer(&self, cut: &[Node], goes: impl Fn(Node) -> bool) -> Vec<Node> {
        let mut finer: Vec<Node> = (cut.iter())
            .flat_map(|&node| match self.domain.children(node) {
                below if below.is_empty() || !goes(node) => vec![node],
                below => below,
            })
            .collect();
        finer.sort_unstable();
        finer
    }

    fn is_sound(&self, cut: &[Node]) -> Result<bool> {
        Ok(self.are_values_sound(cut)? && !self.needs_repair(cut)?)
    }
}
