//! Records in parts: what is found on kernels of random parts is what is found on all records at once.

use std::collections::BTreeMap;

use bosket_engine::partition::{
    self, Filter, Frequencies, Kernel, NO_LABEL, Passes, Range, Sets, StepCounts, Steps,
};
use bosket_engine::{Params, km, kmn};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::partition::Survey;
use bosket_model::policy::{Algorithm, Payload, Policy, Rows};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Result};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::{sets, trees};
use bosket_verify::{Claim, Verification, verify};
use proptest::prelude::*;

/// Records dealt to parts, some of which may be empty or come twice, each with its number.
fn dealt(data: &Dataset, dice: &mut Dice) -> Vec<(u32, Dataset)> {
    let parts = 1 + dice.below(5);
    let part_of: Vec<usize> = (0..data.len()).map(|_| dice.below(parts)).collect();
    let own = |part: usize| data.subset(&part_of.iter().map(|&p| p == part).collect::<Vec<_>>());
    let mut dealt: Vec<(u32, Dataset)> = (0..parts).map(|part| (part as u32, own(part))).collect();
    if dice.one_in(2) {
        let again = dice.below(parts);
        dealt.push((again as u32, own(again)));
    }
    dice.shuffle(&mut dealt);
    dealt
}

/// One frame for all parts, and the parts laid over it.
fn framed(dealt: &[(u32, Dataset)]) -> (Survey, Vec<(u32, Dataset)>) {
    // A part that comes twice counts once.
    let all: BTreeMap<u32, Survey> = dealt
        .iter()
        .map(|(part, data)| {
            let survey = Survey::whole(data);
            (*part, Survey::from_bytes(&survey.to_bytes()).expect("its own bytes"))
        })
        .collect();
    let survey = all.into_values().fold(Survey::default(), |all, part| all.merge(&part));
    let align = |data: &Dataset| survey.align(data, |_| true, &Quiet).expect("nobody interrupts");
    let parts = dealt.iter().map(|(part, data)| (*part, align(data))).collect();
    (survey, parts)
}

struct World {
    policy: Policy,
    params: Params,
    hierarchies: Vec<Option<Hierarchy>>,
}

impl World {
    fn binding(&self, data: &Dataset) -> Binding {
        Binding::of_input(data.schema(), &self.policy.attributes, self.policy.undeclared, "d")
            .expect("declared")
    }

    fn trees(&self, data: &Dataset) -> ValueTrees {
        let privacy = self.policy.privacy.as_ref().expect("a promise");
        bosket_engine::trees(privacy, data, &self.binding(data), &Quiet).expect("nobody interrupts")
    }

    fn frequencies(&self, parts: &[(u32, Dataset)]) -> Frequencies {
        let mut all: BTreeMap<u32, Frequencies> = BTreeMap::new();
        for (part, data) in parts {
            let own = Frequencies::count(&self.trees(data), &self.hierarchies, &self.params, &Quiet);
            let own = own.expect("counted");
            assert_eq!(Frequencies::from_bytes(&own.to_bytes()).expect("its own bytes"), own);
            all.insert(*part, own);
        }
        all.into_values().try_fold(Frequencies::default(), |sum, own| sum.merge(&own)).expect("one numbering")
    }

    /// The kernels of all parts, merged.
    fn kernel(
        &self,
        frame: &Dataset,
        parts: &[(u32, Dataset)],
        labels: &[u32],
        size: usize,
    ) -> Result<Kernel> {
        let sets = matches!(self.params, Params::Km(_));
        let empty = || if sets { Kernel::of_sets() } else { Kernel::of_records(frame) };
        let mut all = empty();
        for (part, data) in parts {
            let range = partition::range(&self.policy, &self.params, size)?;
            let mut filter = Filter::new(range, labels, 1 << 20);
            let mut own = empty();
            let quasi = (!sets).then_some(data);
            partition::take(&mut own, &mut filter, (*part, &self.trees(data)), quasi, &Quiet)?;
            all = all.merge(Kernel::from_bytes(&own.to_bytes())?, &Quiet)?;
        }
        Ok(all)
    }
}

/// Passes over parts, in which steps down are counted with little memory or much, or not at all.
struct PartPasses<'w> {
    world: &'w World,
    frame: &'w Dataset,
    parts: &'w [(u32, Dataset)],
    memory: Option<usize>,
}

impl PartPasses<'_> {
    /// A part that comes twice is counted once.
    fn once(&self) -> BTreeMap<u32, &Dataset> {
        self.parts.iter().map(|(part, data)| (*part, data)).collect()
    }
}

impl Passes for PartPasses<'_> {
    fn kernel(&mut self, labels: &[u32], size: usize) -> Result<Kernel> {
        let range = partition::range(&self.world.policy, &self.world.params, size)?;
        if self.memory.is_none() {
            return self.world.kernel(self.frame, self.parts, labels, size);
        }
        // One filter for all parts, of sets that are cut down to their labels, the parts in any order.
        let (mut filter, mut kernel) = (Filter::new(range, labels, 1 << 20), Kernel::of_sets());
        for (part, data) in self.once() {
            let sets = Sets::of_trees(&self.world.trees(data), &Quiet)?;
            partition::take_sets(&mut kernel, &mut filter, (part, &sets), &Quiet)?;
        }
        Ok(kernel)
    }

    fn rare_steps(&mut self, steps: &Steps) -> Result<Option<Vec<bool>>> {
        let Some(memory) = self.memory else { return Ok(None) };
        let mut counts = StepCounts::new(steps, memory);
        for data in self.once().into_values() {
            let sets = Sets::of_trees(&self.world.trees(data), &Quiet)?;
            counts.add(&steps.lay_out(&sets, &Quiet)?, &Quiet)?;
        }
        Ok(Some(counts.rare()))
    }
}

fn verified(data: &Dataset, world: &World) -> Option<bosket_verify::Witness> {
    let claim = Claim::new(&world.policy).expect("a claim");
    let binding = Binding::new(data.schema(), &world.policy.attributes, world.policy.undeclared, "p");
    verify(data, &binding.expect("declared"), &claim, &world.hierarchies, 1 << 20, &Quiet).expect("checked")
}

const BASKETS: [&str; 3] = [
    "a;A;X;*\nb;A;X;*\nc;B;X;*\nd;B;X;*\ne;C;Y;*\nf;C;Y;*\ng;D;Y;*\nh;D;Y;*\n",
    "a;A;*\nb;A;*\nc;B;Y;*\nd;C;Y;*\ne;C;Y;*\nf;*\ng;*\nh;B;Y;*\n",
    "a;A;X;*\nb;B;X;*\nc;B;X;*\nd;D;E;F;*\ne;G;*\nf;G;*\ng;H;*\nh;I;J;*\n",
];

fn baskets(dice: &mut Dice, records: usize) -> Vec<Vec<String>> {
    let item = |dice: &mut Dice| {
        // Some are popular.
        let at = dice.below(8).min(dice.below(8));
        char::from(b'a' + at as u8).to_string()
    };
    let one = |dice: &mut Dice| {
        let mut items: Vec<String> = (0..dice.below(5)).map(|_| item(dice)).collect();
        items.sort();
        items.dedup();
        items
    };
    (0..records).map(|_| one(dice)).collect()
}

fn set_world(dice: &mut Dice) -> World {
    let (k, m) = (2 + dice.below(4), 1 + dice.below(4));
    let (suppress, improve) = (dice.one_in(3), !dice.one_in(4));
    let text = format!(
        "{}[privacy]\nmodel = \"km\"\nk = {k}\nm = {m}\n[method]\nalgorithm = \"aa\"\nsuppress = {suppress}\nimprove = {improve}\n",
        sets::ATTRIBUTES
    );
    let (policy, _) = Policy::parse("p", &text, &[]).expect("a good policy");
    let params = Params::new(&policy).expect("an algorithm");
    let hierarchy = csv::parse("h", BASKETS[dice.below(BASKETS.len())]).expect("a hierarchy");
    World { policy, params, hierarchies: vec![Some(hierarchy)] }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(600)))]
    #[test]
    fn aa_finds_the_same_cut_on_kernels_of_any_parts(seed: u64) {
        let mut dice = Dice::new(seed);
        let world = set_world(&mut dice);
        let records = 5 + dice.below(40);
        let transactions = baskets(&mut dice, records);
        let data = sets::dataset(&transactions);
        let Params::Km(params) = &world.params else { panic!("sets") };
        let whole = km::run(&world.trees(&data), &world.hierarchies, params, &Quiet);
        let (survey, parts) = framed(&dealt(&data, &mut dice));
        if transactions.iter().all(Vec::is_empty) {
            return Ok(());
        }
        let all = world.frequencies(&parts);
        prop_assert_eq!(all.records, data.len() as u64);
        let memory = [None, Some(0), Some(40), Some(1 << 20)][dice.below(4)];
        let mut passes = PartPasses { world: &world, frame: &survey.frame, parts: &parts, memory };
        let frame = world.trees(&survey.frame);
        let found = km::search_parts(&frame, &world.hierarchies, params, &all, &mut passes, &Quiet);
        match (whole, found) {
            (Ok(whole), Ok(found)) => {
                let found = km::Found::from_bytes(&found.to_bytes()).expect("its own bytes");
                prop_assert_eq!(&whole.parts[0].cut, &found.part.cut);
                prop_assert_eq!(whole.ncp, found.ncp);
                prop_assert_eq!(whole.repaired, found.repaired);
                prop_assert_eq!(&whole.suppressed, &found.suppressed);
                prop_assert_eq!(whole.suppressed_occurrences, found.suppressed_occurrences);
                // Laid over the frame, the records as they came are published the same.
                let aligned = survey.align(&data, |_| true, &Quiet).expect("nobody interrupts");
                let again = km::recode(&world.trees(&aligned), &world.hierarchies, params, &found, &Quiet);
                prop_assert_eq!(again.expect("recoded"), whole.trees.clone());
                let labels = |record: usize| -> Vec<String> {
                    let item = |node: usize| whole.trees.items()[whole.trees.item(node) as usize].label.clone();
                    whole.trees.nodes(record).map(item).collect()
                };
                let published: Vec<Vec<String>> = (0..whole.trees.len()).map(labels).collect();
                prop_assert!(verified(&sets::dataset(&published), &world).is_none());
            }
            (Err(a), Err(b)) => prop_assert_eq!(a.fault, b.fault),
            (a, b) => prop_assert!(false, "{:?} {:?}", a.map(|r| r.ncp), b.map(|f| f.ncp)),
        }
    }

    /// Of every set of labels, at the kernel's cut and at every coarser one, a kernel has as many records up to k.
    #[test]
    fn kernels_show_supports_up_to_k_at_every_coarser_cut(seed: u64) {
        let mut dice = Dice::new(seed);
        let world = set_world(&mut dice);
        let hierarchy = world.hierarchies[0].as_ref().expect("one");
        let records = 1 + dice.below(40);
        let transactions = baskets(&mut dice, records);
        let data = sets::dataset(&transactions);
        let (survey, parts) = framed(&dealt(&data, &mut dice));
        let items = world.trees(&survey.frame).items().to_vec();
        if items.is_empty() {
            return Ok(());
        }
        let up = |label: &str, steps: usize| {
            let leaf = hierarchy.leaf(label).expect("covered");
            let above = std::iter::successors(Some(leaf), |&n| hierarchy.parent(n)).take(steps + 1).last();
            above.expect("itself at least").0
        };
        let (low, high) = (dice.below(2), dice.below(3));
        let at = |steps: usize| -> Vec<u32> { items.iter().map(|item| up(&item.label, steps)).collect() };
        let published = |labels: Vec<u32>| -> Vec<u32> {
            labels.into_iter().map(|label| if label == 0 { NO_LABEL } else { label }).collect()
        };
        let (fine, coarse) = (published(at(low)), published(at(low + high)));
        let Params::Km(params) = &world.params else { panic!("sets") };
        let (k, m) = (params.k, params.m);
        let kernel = world.kernel(&survey.frame, &parts, &fine, m).expect("a kernel");
        // A filter that counts the sets of coarse labels takes whoever is not enough yet: of the kernel's sets, no more
        // than of all records can be missing.
        let sets_of = |kernel: &Kernel| {
            let bytes = kernel.to_bytes();
            Kernel::from_bytes(&bytes).expect("its own bytes").sets().expect("sets")
        };
        let mut everything = Kernel::of_sets();
        for (part, data) in &parts {
            let mut filter = Filter::new(Range { k: u32::MAX, m, n: 0, embedded: false }, &fine, 1 << 20);
            let mut own = Kernel::of_sets();
            partition::take(&mut own, &mut filter, (*part, &world.trees(data)), None, &Quiet).expect("taken");
            everything = everything.merge(own, &Quiet).expect("sets");
        }
        let support = |sets: &[Vec<u32>], wanted: &[u32]| {
            let has = |set: &&Vec<u32>| {
                wanted.iter().all(|label| set.iter().any(|&item| coarse[item as usize] == *label))
            };
            sets.iter().filter(has).count() as u32
        };
        let (ours, all) = (sets_of(&kernel), sets_of(&everything));
        let mut labels: Vec<u32> = coarse.iter().copied().filter(|&l| l != NO_LABEL).collect();
        labels.sort_unstable();
        labels.dedup();
        for chosen in 1u32..1 << labels.len() {
            if chosen.count_ones() as usize > m {
                continue;
            }
            let wanted: Vec<u32> =
                (0..labels.len()).filter(|i| chosen >> i & 1 == 1).map(|i| labels[i]).collect();
            prop_assert!(support(&ours, &wanted) >= support(&all, &wanted).min(k));
        }
    }
}

const TREES: &str = "[privacy]\nmodel = \"kmn\"\nk = K\nm = M\nn = N\nroot = \"chain\"\nrelations = \"R\"\n\
                     [method]\nalgorithm = \"gcs\"\ncost = \"lm\"\n[publish]\npath = \"out\"\nrows = \"W\"\n";

fn tree_world(dice: &mut Dice, n: usize, relations: &str) -> World {
    let (k, m) = (2 + dice.below(3), 1 + dice.below(3));
    // Several pairs are told apart only where rows are united.
    let united = dice.one_in(2) || (n > 1 && relations == "pair");
    let rows = if united { "united" } else { "distinct" };
    let text = trees::CROWDED_ATTRIBUTES.to_owned() + TREES;
    let text = text.replace("= K", &format!("= {k}")).replace("= M", &format!("= {m}"));
    let text = text.replace("= N", &format!("= {n}")).replace("\"R\"", &format!("\"{relations}\""));
    let text = text.replace("\"W\"", &format!("\"{rows}\""));
    let (policy, _) = Policy::parse("p", &text, &[]).expect("a good policy");
    let params = Params::new(&policy).expect("an algorithm");
    let level = |letter: &str| {
        let text: String = (0..4).map(|i| format!("{letter}{i};{letter}x{};*\n", i / 2)).collect();
        csv::parse("h", &text).expect("a hierarchy")
    };
    let hierarchies = ["A", "B", "C", "R"].map(|letter| Some(level(letter))).to_vec();
    World { policy, params, hierarchies }
}

fn people(dice: &mut Dice) -> Vec<trees::PathRecord> {
    let label = |dice: &mut Dice, letter: &str| format!("{letter}{}", dice.below(4).min(dice.below(4)));
    let path = |dice: &mut Dice| -> Vec<String> {
        let levels: &[&str] = [&["A", "B", "C"][..], &["A", "C"], &["A", "B"], &["A"]][dice.below(4)];
        levels.iter().map(|letter| label(dice, letter)).collect()
    };
    let one = |dice: &mut Dice| {
        let mut record: trees::PathRecord = (0..dice.below(3)).map(|_| path(dice)).collect();
        if !dice.one_in(4) {
            record.push(vec![label(dice, "R")]);
        }
        record
    };
    (0..6 + dice.below(30)).map(|_| one(dice)).collect()
}

fn source_of<'a>(data: &'a Dataset, binding: &'a Binding, world: &World) -> kmn::Source<'a> {
    kmn::Source { data, binding, payload: Payload::Keep, rows: world.policy.rows() }
}

/// Both sides of a run of trees: all records at once, and a kernel of parts.
fn both(seed: u64, n: usize, relations: &str) -> std::result::Result<(), TestCaseError> {
    both_of_many(seed, n, relations, 0)
}

/// The same where half of the records are there so many times more, of which a kernel needs few.
fn both_of_many(
    seed: u64,
    n: usize,
    relations: &str,
    copies: usize,
) -> std::result::Result<(), TestCaseError> {
    let mut dice = Dice::new(seed);
    let world = tree_world(&mut dice, n, relations);
    let mut people = people(&mut dice);
    let common = people[..people.len() / 2].to_vec();
    (0..copies).for_each(|_| people.extend_from_slice(&common));
    let data = trees::crowded_dataset(&people);
    let (survey, parts) = framed(&dealt(&data, &mut dice));
    let Params::Kmn(params) = &world.params else { panic!("trees") };
    prop_assert!(partition::is_exact(&world.policy, &world.params));
    let all = world.frequencies(&parts);
    let frame = world.trees(&survey.frame);
    if frame.items().is_empty() {
        return Ok(());
    }
    let labels = partition::finest(&frame, &world.hierarchies);
    let kernel = world.kernel(&survey.frame, &parts, &labels, params.m).expect("a kernel");
    let aligned = survey.align(&data, |_| true, &Quiet).expect("nobody interrupts");
    let of_kernel = kmn::Params { all: Some(std::sync::Arc::new(all)), ..params.clone() };
    let few = kernel.records().expect("records");
    let united = world.policy.rows() == Rows::United;
    let binding = world.binding(&aligned);
    let keeps = |data: &Dataset| -> Result<kmn::Verdict> {
        let kept = verified(data, &world).is_none();
        Ok(if kept { kmn::Verdict::Kept } else { kmn::Verdict::Broken(Vec::new()) })
    };
    let keeps_trees = |trees: &ValueTrees| keeps(&trees.write_back(&binding));
    let run = |data: &Dataset, params: &kmn::Params| -> Result<(kmn::Recipe, f64, Dataset)> {
        let trees = world.trees(data);
        if united {
            let judge: Option<kmn::Accept<'_>> = if params.beyond { Some(&keeps_trees) } else { None };
            let release = kmn::run(&trees, &world.hierarchies, params, judge, &Quiet)?;
            return Ok((release.recipe, release.cost, release.published.write_back(&binding)));
        }
        let judge: Option<kmn::Accept<'_, Dataset>> = if params.beyond { Some(&keeps) } else { None };
        let release = kmn::run_rows(
            &source_of(data, &binding, &world),
            &trees,
            &world.hierarchies,
            params,
            judge,
            &Quiet,
        )?;
        Ok((release.recipe, release.cost, release.published))
    };
    match (run(&aligned, params), run(few, &of_kernel)) {
        (Ok((recipe, cost, published)), Ok((ours, our_cost, _))) => {
            let ours = kmn::Recipe::from_bytes(&ours.to_bytes()).expect("its own bytes");
            prop_assert_eq!(&recipe, &ours, "cost {} {}", cost, our_cost);
            let trees = world.trees(&aligned);
            let again = match united {
                true => {
                    let made = kmn::recode(&trees, &world.hierarchies, params, &ours, &Quiet);
                    made.expect("recoded").0.write_back(&binding)
                }
                false => {
                    let source = source_of(&aligned, &binding, &world);
                    kmn::recode_rows(&source, &trees, &world.hierarchies, params, &ours, &Quiet)
                        .expect("recoded")
                        .0
                }
            };
            prop_assert_eq!(again.to_bytes(), published.to_bytes());
            prop_assert!(verified(&published, &world).is_none());
        }
        (Err(a), Err(b)) => prop_assert_eq!(a.fault, b.fault),
        (a, b) => prop_assert!(false, "{:?} {:?}", a.map(|r| r.1), b.map(|r| r.1)),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]
    #[test]
    fn gcs_by_lm_finds_the_same_cut_on_a_kernel_of_any_parts(seed: u64, n in 0..2usize) {
        both(seed, n, "pair")?;
    }

    #[test]
    fn gcs_by_lm_finds_the_same_cut_where_relations_are_at_one_place(seed: u64, n in 1..3usize) {
        both(seed, n, "embedded")?;
    }

    /// The verifier's own parts: whatever parts there are, the verdict and the size of the witness are those of all records.
    #[test]
    fn a_verdict_does_not_depend_on_parts(seed: u64, n in 0..3usize, embedded: bool, is_set: bool) {
        let mut dice = Dice::new(seed);
        let relations = if embedded { "embedded" } else { "pair" };
        let (world, data) = match is_set {
            true => {
                let world = set_world(&mut dice);
                let records = dice.below(40);
                (world, sets::dataset(&baskets(&mut dice, records)))
            }
            false => (tree_world(&mut dice, n, relations), trees::crowded_dataset(&people(&mut dice))),
        };
        let claim = Claim::new(&world.policy).expect("a claim");
        let binding = Binding::new(data.schema(), &world.policy.attributes, world.policy.undeclared, "p");
        let whole = Verification::of_records(&data, &binding.expect("declared"), &claim, &[], 1 << 20, &Quiet);
        let whole = whole.expect("checked");
        let dealt = dealt(&data, &mut dice);
        // Trees count empty places, which a part alone may not know of.
        let (survey, _) = framed(&dealt);
        let mut all = bosket_verify::partition::Counted::default();
        for (part, data) in &dealt {
            // With hardly any memory every piece is kept as it is.
            let memory = if dice.one_in(2) { 1 << 20 } else { 1 << 14 };
            let frame = (!is_set || dice.one_in(2)).then_some(&survey.frame);
            let own = bosket_verify::partition::count(&world.policy, &claim, (*part, data), frame, memory, &Quiet);
            let own = own.expect("counted");
            let own = bosket_verify::partition::Counted::from_bytes(&own.to_bytes()).expect("its own bytes");
            all = all.merge(own, &Quiet).expect("merged");
            if dice.one_in(2) {
                all = all.pruned(&world.policy, &claim, 1 << 20, &Quiet).expect("pruned");
            }
        }
        let found = all.finish(&world.policy, &claim, &[], 1 << 20, &Quiet).expect("judged");
        prop_assert_eq!(found.records, data.len());
        prop_assert_eq!(found.holds(), whole.holds());
        let told = |found: &Verification| {
            let witness = found.witness()?;
            Some((witness.values.clone(), witness.relations.clone(), witness.support, witness.records.len()))
        };
        prop_assert_eq!(told(&found), told(&whole));
    }
}

#[test]
fn a_small_kernel_of_many_rows_decides_as_they_do() {
    for seed in 0..6 {
        both_of_many(seed, (seed % 2) as usize, "pair", 2_000).expect("the same cut");
    }
}

#[test]
fn what_parts_cannot_tell_is_refused() {
    let text = sets::ATTRIBUTES.to_owned()
        + "[privacy]\nmodel = \"km\"\nk = 2\nm = 2\n[method]\nalgorithm = \"aa\"\n";
    for (set, refused) in [
        ("seed=1", false),
        ("method.algorithm=da", true),
        ("method.algorithm=lra", true),
        ("method.recoding=local", true),
        ("privacy.negative=[\"a\"]", true),
    ] {
        let (policy, _) = Policy::parse("p", &text, &[set.to_owned()]).expect("a good policy");
        let params = Params::new(&policy).expect("an algorithm");
        assert_eq!(partition::refuse_unmergeable(&policy, &params).is_err(), refused, "{set}");
    }
    assert_eq!(Algorithm::Aa.name(), "aa");
}
