//! Cuts and their children.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bosket_model::Result;
use rayon::prelude::*;

use super::cost::{Counted, Reuse};
use super::domain::{Node, Step};
use super::losses::{self, Losses};
use super::problem::{Cost, Grouped, Judged, Known, Problem, Solution};
use super::rows::{Change, Group, replace, split, split_some};
use super::structure::{Repair, Repaired, Rule, relate};
use super::values::{self, Sets};
use super::violations::{Concerned, Knowledge, Pair, Related};

/// A cut with everything that its children build on.
pub(super) struct State {
    pub(super) cut: Vec<Node>,
    groups: Vec<Arc<Group>>,
    related: Related,
    violations: Vec<Knowledge>,
    /// Absences are sound as well, which is not monotone: a cut below may be sound again.
    sound: bool,
    rules: Vec<Rule>,
    pub(super) cost: f64,
    /// Steps whose values are not sound here, nor in any cut below.
    pub(super) dead: BTreeSet<u64>,
    /// The nodes that have come in with this cut.
    fresh: Vec<Node>,
    /// What the parent found out about its other steps: sound by values, with these violations.
    pub(super) known: Arc<BTreeMap<u64, Vec<Knowledge>>>,
    /// Its synopsis without rules.
    counted: Option<Counted>,
    /// What its records lose without rules, once a child asks for it.
    losses: Mutex<Option<Arc<Losses>>>,
    /// Per node its groups with its position there, once a child asks for it.
    at: OnceLock<Places>,
}

/// Where nodes stand in groups.
struct Places {
    /// The groups of each node with its position there, node after node.
    all: Vec<(u32, u32)>,
    /// Per node where they begin.
    first: Vec<u32>,
}

impl Places {
    fn new(cut: &[Node], groups: &[Arc<Group>]) -> Self {
        let nodes = cut.last().map_or(0, |&last| last as usize + 1);
        let mut first = vec![0u32; nodes + 1];
        groups.iter().flat_map(|group| group.path.iter()).for_each(|&node| first[node as usize + 1] += 1);
        (1..first.len()).for_each(|node| first[node] += first[node - 1]);
        let mut next = first.clone();
        let mut all = vec![(0, 0); first[nodes] as usize];
        for (g, group) in groups.iter().enumerate() {
            for (j, &node) in group.path.iter().enumerate() {
                all[next[node as usize] as usize] = (g as u32, j as u32);
                next[node as usize] += 1;
            }
        }
        Places { all, first }
    }

    fn of(&self, node: Node) -> &[(u32, u32)] {
        &self.all[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }
}

/// What a step has led to.
pub(super) struct Child {
    pub(super) state: State,
    /// The violations that hold its new nodes.
    pub(super) violations: Vec<Knowledge>,
}

/// Groups in the order of their paths.
type Groups = Vec<Arc<Group>>;

/// A child whose relations are not repaired yet.
pub(super) struct Unrepaired {
    cut: Vec<Node>,
    /// The nodes that have come in.
    new: Vec<Node>,
    groups: Vec<Arc<Group>>,
    related: Related,
    /// The violations that hold a new node.
    own: Vec<Knowledge>,
    /// All violations.
    broken: Vec<Knowledge>,
}

impl Unrepaired {
    pub(super) fn is_violated(&self) -> bool {
        !self.broken.is_empty()
    }

    /// The violations that hold a new node.
    pub(super) fn into_violations(self) -> Vec<Knowledge> {
        self.own
    }
}

/// What is known about a step beforehand.
pub(super) enum Recalled {
    Dead,
    Judged { accepted: bool, violated: bool, solution: Solution },
}

impl Recalled {
    /// The solution, if it is one.
    fn accepted(self) -> Option<Solution> {
        match self {
            Recalled::Judged { accepted: true, solution, .. } => Some(solution),
            _ => None,
        }
    }
}

fn new_nodes(changes: &[Change]) -> Vec<Node> {
    let mut nodes: Vec<Node> = changes.iter().flat_map(|change| change.new.iter().copied()).collect();
    nodes.sort_unstable();
    nodes
}

fn is_gone(changes: &[Change], node: Node) -> bool {
    changes.iter().any(|change| change.old == Some(node))
}

fn child_cut(cut: &[Node], changes: &[Change]) -> Vec<Node> {
    let mut cut: Vec<Node> = cut.iter().copied().filter(|&n| !is_gone(changes, n)).collect();
    cut.extend(new_nodes(changes));
    cut.sort_unstable();
    cut
}

impl State {
    /// A cut of which nothing is known but its groups.
    fn of(cut: Vec<Node>, groups: Vec<Arc<Group>>) -> State {
        State {
            cut,
            groups,
            related: Related::new(),
            violations: Vec::new(),
            sound: true,
            rules: Vec::new(),
            cost: f64::INFINITY,
            dead: BTreeSet::new(),
            fresh: Vec::new(),
            known: Arc::default(),
            counted: None,
            losses: Mutex::default(),
            at: OnceLock::new(),
        }
    }

    pub(super) fn accepted(&self, problem: &Problem<'_>) -> bool {
        self.sound && (problem.repair || self.violations.is_empty())
    }

    /// Whether relations have to be taken apart here.
    pub(super) fn is_violated(&self) -> bool {
        !self.violations.is_empty()
    }

    /// The violations that stay when a node goes.
    pub(super) fn violations_without(&self, node: Node) -> impl Iterator<Item = &Knowledge> {
        self.violations.iter().filter(move |violation| !violation.nodes().contains(&node))
    }

    pub(super) fn groups(&self) -> &[Arc<Group>] {
        &self.groups
    }

    /// Its synopsis without rules, if the cost needs one.
    pub(super) fn counted(&self) -> Option<&Counted> {
        self.counted.as_ref()
    }

    /// The groups that hold a node, in their order, with its position.
    pub(super) fn at(&self, node: Node) -> &[(u32, u32)] {
        self.at.get_or_init(|| Places::new(&self.cut, &self.groups)).of(node)
    }

    pub(super) fn solution(&self) -> Solution {
        Solution { cut: self.cut.clone(), rules: self.rules.clone(), cost: self.cost }
    }
}

impl Problem<'_> {
    pub(super) fn start(&self) -> State {
        let rows: Vec<u32> = (0..self.rows.len() as u32).collect();
        State::of(Vec::new(), vec![Arc::new(Group::new(Vec::new(), rows, &self.rows))])
    }

    /// About how much memory a state takes. What a group falls apart into is kept once per value of its path at most.
    pub(super) fn bytes_of(&self, state: &State) -> usize {
        let group = |g: &Arc<Group>| g.rows.len() * 8 * (1 + g.path.len());
        let groups: usize = state.groups.iter().map(group).sum();
        let related: usize = state.related.values().map(|s| s.bytes()).sum();
        let losses = if self.is_by_losses() { losses::bytes(&self.rows, &self.domain) } else { 0 };
        groups + related + losses
    }

    /// The state of a sound cut of known cost at which no relation has to be taken apart.
    pub(super) fn unrepaired_state(&self, cut: &[Node], cost: f64) -> Result<State> {
        let grouped = self.relations(cut)?;
        let related = match self.range.n {
            0 => Related::new(),
            _ => relate(&grouped.groups, None, self.domain.records, |_| true, self.observer)?,
        };
        let counted = self.unrepaired(&grouped)?;
        Ok(State { related, cost, counted, ..State::of(cut.to_vec(), grouped.groups) })
    }

    /// The steps worth a look.
    pub(super) fn steps(&self, state: &State) -> Vec<Step> {
        let mut steps = self.domain.steps(&state.cut);
        steps.retain(|&step| !state.dead.contains(&self.domain.key(step)));
        steps
    }

    /// Steps that were found dead above lead nowhere from here either; whoever comes by later need not look.
    pub(super) fn remember_dead(&self, state: &State) {
        if !self.shortcuts.memo || state.dead.is_empty() {
            return;
        }
        for step in self.domain.steps(&state.cut) {
            if state.dead.contains(&self.domain.key(step)) {
                self.learn(&self.child_cut(state, step), Judged { dead: true, ..Judged::default() });
            }
        }
    }

    /// The child, unless its values are not sound. `None` says so for all cuts below as well.
    pub(super) fn child(&self, state: &State, step: Step) -> Result<Option<Child>> {
        let key = self.domain.key(step);
        let changes = self.domain.changes(step);
        let known = state.known.get(&key).filter(|_| self.shortcuts.incremental).map(Vec::as_slice);
        if self.is_dead(state, step, &changes, known.is_some())? {
            return Ok(None);
        }
        Ok(Some(self.changed(state, &changes, known)?))
    }

    /// Whether the values of a child are not sound, which is remembered; with `again` the step was sound at the parent.
    pub(super) fn is_dead(&self, state: &State, step: Step, changes: &[Change], again: bool) -> Result<bool> {
        if state.dead.contains(&self.domain.key(step)) {
            return Ok(true);
        }
        let is_dead = self.unsound(state, changes, again)?.is_some();
        if is_dead && self.shortcuts.memo {
            self.learn(&self.child_cut(state, step), Judged { dead: true, ..Judged::default() });
        }
        Ok(is_dead)
    }

    /// Values that are not sound after some changes; with `again` only those that hold a node new in the state are asked for.
    fn unsound(&self, state: &State, changes: &[Change], again: bool) -> Result<Option<Vec<Node>>> {
        let new: Vec<Node> = new_nodes(changes);
        let old: Vec<Node> = state.cut.iter().copied().filter(|&n| !is_gone(changes, n)).collect();
        let fresh = again.then_some(state.fresh.as_slice());
        values::unsound(&self.domain, &Sets { new: &new, fresh, old: &old }, self.range, self.observer)
    }

    /// The cut after changes that are sound by their values.
    pub(super) fn changed(
        &self,
        state: &State,
        changes: &[Change],
        known: Option<&[Knowledge]>,
    ) -> Result<Child> {
        self.repaired(state, changes, self.unrepaired_child(state, changes, known)?)
    }

    /// The same before anything is taken apart.
    pub(super) fn unrepaired_child(
        &self,
        state: &State,
        changes: &[Change],
        known: Option<&[Knowledge]>,
    ) -> Result<Unrepaired> {
        let domain = &self.domain;
        let new = new_nodes(changes);
        let cut = child_cut(&state.cut, changes);
        let (groups, concerned) = self.groups_after(state, changes, &new)?;
        let (mut related, mut own, mut broken) = (Related::new(), Vec::new(), Vec::new());
        if self.range.n > 0 {
            related = self.relations_of(&concerned, &new)?;
            related.extend(
                (state.related.iter())
                    .filter(|((a, b), _)| !is_gone(changes, *a) && !is_gone(changes, *b))
                    .map(|(p, s)| (*p, s.clone())),
            );
            let values = domain.with_absences(&cut);
            let concerned = domain.with_absences(&new);
            let fresh = known.map(|_| domain.with_absences(&state.fresh));
            own = self.violations(&values, &related, &Concerned::Nodes(&concerned, fresh.as_deref()))?;
            // What was violated at the parent and does not hold the node that has gone since is violated still.
            let is_in = |k: &&Knowledge| k.nodes().iter().all(|n| values.binary_search(n).is_ok());
            own.extend(known.into_iter().flatten().filter(is_in).cloned());
            broken.extend(state.violations.iter().filter(is_in).cloned());
            broken.extend(own.iter().cloned());
            broken.sort();
        }
        Ok(Unrepaired { cut, new, groups, related, own, broken })
    }

    /// The groups after some changes, and those of them that hold a new node.
    fn groups_after(&self, state: &State, changes: &[Change], new: &[Node]) -> Result<(Groups, Groups)> {
        if let [change] = changes
            && let Some(old) = change.old.filter(|_| self.is_whole(change) && self.shortcuts.incremental)
        {
            let gone = state.at(old);
            let parts = split_some(&state.groups, gone, change, self)?;
            let parts: Vec<Arc<Group>> = parts.into_iter().map(|part| part.group).collect();
            return Ok((replace(&state.groups, gone, &parts), parts));
        }
        let groups =
            split(&state.groups, changes, &self.rows, &self.domain, self.shortcuts.memo, self.observer)?;
        let is_concerned = |group: &&Arc<Group>| group.path.iter().any(|n| new.binary_search(n).is_ok());
        let concerned = groups.iter().filter(is_concerned).cloned().collect();
        Ok((groups, concerned))
    }

    /// What a child costs by the figure that children are compared by, before anything is taken apart.
    pub(super) fn unrepaired_cost(&self, state: &State, child: &Unrepaired) -> Result<f64> {
        let losses = self.losses_of(state)?;
        let known = Known { reuse: Reuse::Nothing, losses: losses.as_deref() };
        Ok(self.cost(&child.cut, &child.groups, None, known)?.0)
    }

    /// A child with its relations taken apart where they have to be.
    pub(super) fn repaired(&self, state: &State, changes: &[Change], child: Unrepaired) -> Result<Child> {
        let domain = &self.domain;
        let Unrepaired { cut, new, groups, related, own, broken } = child;
        let values = domain.with_absences(&cut);
        let repaired = if broken.is_empty() || !self.repair {
            Repaired::default()
        } else {
            Repair::new(domain, &groups, &values, self.range, self.how, &related, self.observer)
                .run(broken.clone())?
        };
        let above = (!repaired.rules.is_empty()).then_some(repaired.above.as_slice());
        let losses = self.losses_of(state)?;
        let known = Known { reuse: self.reuse(state, changes), losses: losses.as_deref() };
        let (cost, counted) = self.cost(&cut, &groups, above, known)?;
        let absences: Vec<Node> = domain.absences(&cut).collect();
        let sets = Sets { new: &absences, fresh: None, old: &cut };
        let sound = values::unsound(domain, &sets, self.range, self.observer)?.is_none();
        if self.shortcuts.memo {
            let judged = Judged {
                dead: false,
                sound,
                violated: !broken.is_empty(),
                rules: (self.repair || broken.is_empty()).then(|| repaired.rules.as_slice().into()),
                costs: vec![(self.cost, above.is_some(), cost)],
            };
            let unrepaired = counted.as_ref().filter(|_| self.cost == Cost::RpdA && above.is_some());
            let unrepaired = unrepaired.map(|counted| (Cost::RpdA, false, counted.rpd_a(domain)));
            self.learn(
                &cut,
                Judged { costs: judged.costs.iter().copied().chain(unrepaired).collect(), ..judged },
            );
        }
        let state = State {
            sound,
            cut,
            groups,
            related,
            violations: broken,
            rules: repaired.rules,
            cost,
            dead: state.dead.clone(),
            fresh: new,
            known: Arc::default(),
            counted,
            losses: Mutex::default(),
            at: OnceLock::new(),
        };
        Ok(Child { state, violations: own })
    }

    /// What the cost of a changed cut can take over. Where values are left out, or an attribute comes in, other paths than
    /// those with new nodes change as well.
    pub(super) fn reuse<'s>(&self, state: &'s State, changes: &[Change]) -> Reuse<'s> {
        match &state.counted {
            Some(counted) if self.shortcuts.incremental && changes.iter().all(|c| self.is_whole(c)) => {
                Reuse::Above(counted)
            }
            _ => Reuse::Nothing,
        }
    }

    /// Whether a node gives way to all its children.
    pub(super) fn is_whole(&self, change: &Change) -> bool {
        change.old.is_some_and(|old| self.domain.children(old) == change.new)
    }

    fn is_by_losses(&self) -> bool {
        matches!(self.cost, Cost::Rpd | Cost::Sampled)
    }

    /// What records lose at a state, if that is what children are compared by. Whoever asks second waits for the first.
    fn losses_of(&self, state: &State) -> Result<Option<Arc<Losses>>> {
        if !self.is_by_losses() || !self.shortcuts.incremental {
            return Ok(None);
        }
        let mut losses = state.losses.lock().unwrap_or_else(PoisonError::into_inner);
        if losses.is_none() {
            *losses = Some(Arc::new(self.losses(&state.groups, None, self.cost)?));
        }
        Ok(losses.clone())
    }

    pub(super) fn learn(&self, cut: &[Node], judged: Judged) {
        self.judged.learn(cut, judged);
    }

    /// What is known about a cut.
    fn remembered(&self, cut: &[Node]) -> Option<Judged> {
        if !self.shortcuts.memo {
            return None;
        }
        self.judged.get(cut)
    }

    /// What is known about a cut with its cost: none if that is not all, an inner none if it is no solution.
    fn remembered_solution(&self, cut: Vec<Node>) -> Option<Option<Solution>> {
        let judged = self.remembered(&cut)?;
        if judged.dead {
            return Some(None);
        }
        let rules = if self.repair { judged.rules.clone()? } else { Arc::default() };
        let cost = judged.cost(self.cost, !rules.is_empty())?;
        let accepted = judged.sound && (self.repair || !judged.violated);
        Some(accepted.then(|| Solution { cut, rules: rules.to_vec(), cost }))
    }

    /// What a step leads to, as far as that is known without looking at all knowledge again.
    pub(super) fn recall(&self, state: &State, step: Step) -> Result<Option<Recalled>> {
        let cut = self.child_cut(state, step);
        let Some(judged) = self.remembered(&cut) else {
            return Ok(None);
        };
        if judged.dead {
            return Ok(Some(Recalled::Dead));
        }
        let rules = if self.repair { judged.rules.clone() } else { Some(Arc::default()) };
        let Some(rules) = rules else {
            return Ok(None);
        };
        let cost = match judged.cost(self.cost, !rules.is_empty()) {
            Some(cost) => cost,
            None => self.cost_again(state, step, &cut, &rules)?,
        };
        let accepted = judged.sound && (self.repair || !judged.violated);
        let solution = Solution { cut, rules: rules.to_vec(), cost };
        Ok(Some(Recalled::Judged { accepted, violated: judged.violated, solution }))
    }

    /// The cost of a child cut whose rules are known, which is remembered.
    fn cost_again(&self, state: &State, step: Step, cut: &[Node], rules: &[Rule]) -> Result<f64> {
        let changes = self.domain.changes(step);
        let (groups, _) = self.groups_after(state, &changes, &[])?;
        let groups = Grouped { groups };
        let above =
            (!rules.is_empty()).then(|| groups.rewrite(rules, &self.domain, self.observer)).transpose()?;
        let losses = self.losses_of(state)?;
        let known = Known { reuse: self.reuse(state, &changes), losses: losses.as_deref() };
        let (cost, _) = self.cost(cut, &groups.groups, above.as_deref(), known)?;
        let costs = vec![(self.cost, !rules.is_empty(), cost)];
        self.learn(cut, Judged { costs, ..Judged::default() });
        Ok(cost)
    }

    /// The records of all related pairs with one of some nodes, of groups that hold one.
    pub(super) fn relations_of(&self, groups: &[Arc<Group>], some: &[Node]) -> Result<Related> {
        let is_some = |node: Node| some.binary_search(&node).is_ok();
        let mut pairs: BTreeSet<Pair> = BTreeSet::new();
        for group in groups {
            for (j, &b) in group.path.iter().enumerate() {
                let own = group.path[..j].iter().map(|&a| (a, b));
                pairs.extend(own.filter(|&(a, b)| is_some(a) || is_some(b)));
            }
        }
        self.records_of(groups, pairs)
    }

    /// The records of some related pairs, of groups that hold them.
    pub(super) fn records_of(&self, groups: &[Arc<Group>], mut pairs: BTreeSet<Pair>) -> Result<Related> {
        let mut related = Related::new();
        if self.shortcuts.memo {
            related.extend(pairs.iter().filter_map(|&pair| Some((pair, self.pairs.get(pair)?))));
            pairs.retain(|pair| !related.contains_key(pair));
        }
        if pairs.is_empty() {
            return Ok(related);
        }
        let counted = relate(groups, None, self.domain.records, |pair| pairs.contains(&pair), self.observer)?;
        if self.shortcuts.memo {
            self.pairs.keep(&counted);
        }
        related.extend(counted);
        Ok(related)
    }

    pub(super) fn child_cut(&self, state: &State, step: Step) -> Vec<Node> {
        child_cut(&state.cut, &self.domain.changes(step))
    }

    /// The child of a solution that is cheapest.
    pub(super) fn cheapest_child(&self, solution: &Solution) -> Result<Option<Solution>> {
        let observer = self.observer;
        let steps = self.domain.steps(&solution.cut);
        observer.stage("looking for more detail", steps.len() as u64);
        observer.go_on()?;
        let child_of = |step: Step| child_cut(&solution.cut, &self.domain.changes(step));
        // A search that came by has looked at all children already.
        let known: Option<Vec<Option<Solution>>> =
            steps.iter().map(|&step| self.remembered_solution(child_of(step))).collect();
        if let Some(known) = known {
            return Ok(known.into_iter().flatten().min_by_key(Solution::rank));
        }
        let grouped = self.relations(&solution.cut)?;
        let related = relate(&grouped.groups, None, self.domain.records, |_| true, observer)?;
        let cut = solution.cut.clone();
        let values = self.domain.with_absences(&cut);
        let all = Concerned::Nodes(&values, None);
        let violations = self.violations(&values, &related, &all)?;
        let counted = self.unrepaired(&grouped)?;
        let state = State { related, violations, counted, ..State::of(cut, grouped.groups) };
        let children: Result<Vec<Option<Solution>>> = (steps.par_iter())
            .map(|&step| {
                observer.go_on()?;
                observer.advance(1);
                if let Some(recalled) = self.recall(&state, step)? {
                    return Ok(recalled.accepted());
                }
                let child = self.child(&state, step)?.map(|child| child.state);
                Ok(child.filter(|child| child.accepted(self)).map(|child| child.solution()))
            })
            .collect();
        // Of equally good ones the first.
        Ok(children?.into_iter().flatten().min_by_key(Solution::rank))
    }
}
