//! Work that nobody waits for any more stops soon, in every family and algorithm, and hands out nothing.

use bosket_engine::{cluster, dissect, km, kmn};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::hierarchy::fanout::fanout;
use bosket_model::observe::Observer;
use bosket_model::policy::{Diversity, Role, Siblings};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Result};
use bosket_testkit::dice::Dice;
use bosket_testkit::fixtures::{bound, hierarchy, value_trees};
use bosket_testkit::interrupt::{asks_in_stage, stops_when_told};
use bosket_testkit::vertices::{self, PERSON, Vertex};
use bosket_testkit::{dissect as people, large, sets, trees};

/// Sets with their hierarchy.
type Baskets = (ValueTrees, [Option<Hierarchy>; 1]);

fn baskets(records: usize, items: usize, hierarchy: impl Fn(&[&str]) -> Hierarchy) -> Baskets {
    let items = large::names("", items);
    let data = sets::dataset(&large::baskets(records, &items));
    let (_, binding) = bound(&data, sets::ATTRIBUTES);
    (value_trees(&data, &binding), [Some(hierarchy(&texts(&items)))])
}

fn texts(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

fn stops_km((trees, hierarchies): &Baskets, params: &km::Params) {
    let what = format!("{:?}", params.algorithm);
    stops_when_told(&what, |observer| km::run(trees, hierarchies, params, observer));
}

#[test]
fn searches_for_cuts_of_sets_stop() {
    use km::Algorithm::{Aa, Da, Lra, Partition, Vpa};
    let tree = |names: &[&str]| fanout(5, names).expect("a hierarchy");
    let (many, few) = (baskets(80_000, 2000, tree), baskets(500, 200, tree));
    for algorithm in [Aa, Da, Lra, Vpa] {
        stops_km(&many, &km::Params::plain(algorithm, 20, 3));
    }
    let tight = km::Params { memory: 1 << 16, ..km::Params::plain(Aa, 20, 3) };
    stops_km(&many, &tight);
    stops_km(&many, &km::Params::plain(Partition, 5, 2));
    let (trees, hierarchies) = &few;
    let params = km::Params::plain(Aa, 20, 2);
    let work = |observer: &dyn Observer| km::run(trees, hierarchies, &params, observer);
    asks_in_stage("km", "re-specialising", work);
}

#[test]
fn a_look_at_all_cuts_stops() {
    // Pairs of items, of which each is generalized or not: nothing but the root is good enough.
    let pairs = |names: &[&str]| {
        let pair = |pair: &[&str]| pair.iter().map(|name| format!("{name};{}-;*\n", pair[0])).collect();
        hierarchy(&names.chunks(2).map(pair).collect::<Vec<String>>().concat())
    };
    stops_km(&baskets(400, 38, pairs), &km::Params::plain(km::Algorithm::Oa, 399, 2));
}

fn forests(records: usize, values: usize) -> (ValueTrees, Vec<Option<Hierarchy>>) {
    let levels = large::forest_values(values);
    let data = trees::dataset(&large::forests(records, &levels));
    let (_, binding) = bound(&data, trees::ATTRIBUTES);
    let hierarchy = |names: &Vec<String>| Some(fanout(4, &texts(names)).expect("a hierarchy"));
    (value_trees(&data, &binding), levels.iter().map(hierarchy).collect())
}

#[test]
fn searches_for_cuts_of_trees_stop() {
    use kmn::Algorithm::{Acs, Best, Gcs, Ocs};
    let (trees, hierarchies) = forests(20_000, 64);
    for (algorithm, n) in [(Gcs, 2), (Ocs, 2), (Best, 1), (Acs, 1)] {
        let params = plain_kmn(algorithm, n);
        let what = format!("{algorithm:?}");
        stops_when_told(&what, |observer| kmn::run(&trees, &hierarchies, &params, None, observer));
    }
    let (trees, hierarchies) = forests(200, 16);
    let params = plain_kmn(Gcs, 2);
    let work = |observer: &dyn Observer| kmn::run(&trees, &hierarchies, &params, None, observer);
    asks_in_stage("kmn", "looking for more detail", work);
}

fn plain_kmn(algorithm: kmn::Algorithm, n: usize) -> kmn::Params {
    kmn::Params {
        algorithm,
        k: 5,
        m: 2,
        n,
        g: 2,
        cost: kmn::Cost::RpdA,
        max_cuts: 1 << 30,
        effort: u64::MAX,
        weights: vec![1.0; 3],
        beyond: false,
        disassociate: true,
        disassociation: kmn::Disassociation::Value,
        suppress: false,
        knowers: Vec::new(),
        guess: None,
        told: Vec::new(),
        local: false,
        root: bosket_model::policy::RootMode::Separate,
        counted: false,
        shared: (0..3).collect(),
        negative: Vec::new(),
        memory: 1 << 30,
        improve: true,
        sample: 4_096,
        shortcuts: kmn::Shortcuts::default(),
        all: None,
    }
}

/// Vertex trees with what they are anonymized by.
struct Records {
    data: Dataset,
    binding: Binding,
    hierarchies: Vec<Option<Hierarchy>>,
}

impl Records {
    fn new(records: &[Vertex], roles: &vertices::Roles, values: &[&str]) -> Self {
        let data = vertices::dataset(records);
        let (_, binding) = bound(&data, &vertices::policy(roles));
        let tree = fanout(3, values).expect("a hierarchy");
        let quasi = roles.iter().flatten().map(|&role| (role == Role::Quasi).then(|| tree.clone()));
        Records { data, binding, hierarchies: quasi.collect() }
    }

    fn run(&self, params: &cluster::Params, observer: &dyn Observer) -> Result<cluster::Release> {
        cluster::run(&self.data, &self.binding, &self.hierarchies, params, observer)
    }

    fn stops(&self, params: &cluster::Params) {
        stops_when_told(&format!("{:?}", params.algorithm), |observer| self.run(params, observer));
    }
}

#[test]
fn clustering_of_trees_stops() {
    use cluster::Algorithm::{Bitmap, Clustree, Ctoff, Dmiracle, Miracle, Miraclex};
    let values = large::names("", 27);
    let all = large::people(4000, &texts(&values));
    let mut roles = [[Role::Insensitive; 4]; 4];
    roles.iter_mut().for_each(|own| own[..2].fill(Role::Quasi));
    roles.iter_mut().skip(1).for_each(|own| own[2] = Role::Sensitive);
    let records = Records::new(&all, &roles, &texts(&values));
    for algorithm in [Ctoff, Clustree, Miracle, Miraclex] {
        records.stops(&cluster::Params::plain(algorithm, 5, None));
    }
    records.stops(&cluster::Params { climit: 1000, ..cluster::Params::plain(Bitmap, 5, None) });
    let diverse = cluster::Diverse {
        l: 3.0,
        diversity: Diversity::Frequency,
        siblings: Siblings::Pooled,
        distinct_everywhere: Vec::new(),
        buckets: vec![None; 16],
    };
    for algorithm in [Clustree, Dmiracle] {
        records.stops(&cluster::Params::plain(algorithm, 1, Some(diverse.clone())));
    }
    let improved = cluster::Params { improve: true, climit: 20, ..cluster::Params::plain(Miraclex, 5, None) };
    let work = |observer: &dyn Observer| records.run(&improved, observer);
    asks_in_stage("clusters", "improving clusters", work);
}

#[test]
fn clustering_of_tables_stops() {
    let values = large::names("", 200);
    let all = large::rows(8000, &texts(&values));
    let mut roles = [[Role::Insensitive; 4]; 4];
    roles[PERSON] = [Role::Quasi; 4];
    let records = Records::new(&all, &roles, &texts(&values));
    records.stops(&cluster::Params::plain(cluster::Algorithm::Blocks, 5, None));
}

#[test]
fn grouping_of_people_stops() {
    let mut dice = Dice::new(5);
    let (text, words) = people::words(&mut dice, 6, 4);
    let h = hierarchy(&text);
    let deep: Vec<&String> = words.iter().filter(|w| w.len() > 2).collect();
    let all: Vec<Vec<String>> =
        (0..500_000).map(|_| (0..3).map(|_| (*dice.of(&deep)).clone()).collect()).collect();
    let values = people::sensitive("v", true, &all);
    let ties: Vec<u64> = (0..all.len() as u64).collect();
    let sensitive = [dissect::Sensitive { values: &values, hierarchy: Some(&h) }];
    for algorithm in [dissect::Algorithm::Anatomy, dissect::Algorithm::Delta] {
        let params = dissect::Params::plain(algorithm, 5);
        stops_when_told(&format!("{algorithm:?}"), |observer| {
            dissect::run(all.len(), &sensitive, &ties, &params, observer)
        });
    }
}
