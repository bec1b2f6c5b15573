//! Measures that nobody waits for any more stop soon and hand out nothing.

use bosket_measure::attack::{self, Options, Population, Risk};
use bosket_measure::inspect::{Profile, suggest};
use bosket_measure::loss::{Compared, Loss, Side};
use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::dissected::Dissected;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::hierarchy::fanout::fanout;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Role};
use bosket_testkit::fixtures::bound;
use bosket_testkit::interrupt::{asks_in_stage, asks_whether_to_go_on, stops_when_told};
use bosket_testkit::{dissect, large, sets, trees, vertices};

/// Data with its policy and hierarchies.
struct Case {
    data: Dataset,
    policy: Policy,
    binding: Binding,
    hierarchies: Vec<Option<Hierarchy>>,
}

impl Case {
    fn new(data: Dataset, attributes: &str, privacy: &str, hierarchies: Vec<Option<Hierarchy>>) -> Self {
        let (policy, binding) = bound(&data, &format!("{attributes}\n[privacy]\n{privacy}\n"));
        Case { data, policy, binding, hierarchies }
    }

    fn sets() -> Self {
        let items = large::names("", 400);
        let data = sets::dataset(&large::baskets(40_000, &items));
        Case::new(data, sets::ATTRIBUTES, "model = \"km\"\nk = 5\nm = 3", vec![tree(&items)])
    }

    fn trees(records: usize) -> Self {
        let levels = large::forest_values(64);
        let data = trees::dataset(&large::forests(records, &levels));
        let privacy = "model = \"kmn\"\nk = 5\nm = 3\nn = 2";
        Case::new(data, trees::ATTRIBUTES, privacy, levels.iter().map(|names| tree(names)).collect())
    }

    fn vertices() -> Self {
        let values = large::names("", 27);
        let texts: Vec<&str> = values.iter().map(String::as_str).collect();
        let data = vertices::dataset(&large::people(6000, &texts));
        let mut roles = [[Role::Insensitive; 4]; 4];
        roles.iter_mut().for_each(|own| own[..2].fill(Role::Quasi));
        roles.iter_mut().for_each(|own| own[2] = Role::Sensitive);
        let quasi = roles.iter().flatten().map(|&role| (role == Role::Quasi).then(|| tree(&values)));
        let hierarchies = quasi.map(Option::flatten).collect();
        Case::new(data, &vertices::policy(&roles), "model = \"l-diversity\"\nl = 3\nk = 5", hierarchies)
    }

    /// What was lost by publishing everything as it is.
    fn compared(&self) -> Compared<'_> {
        let side = Side { data: &self.data, binding: &self.binding };
        let (policy, hierarchies) = (&self.policy, &self.hierarchies);
        Compared {
            policy,
            input: side,
            published: side,
            hierarchies,
            apart: &[],
            mapping: None,
            mining: true,
        }
    }

    fn options(&self) -> Options {
        Options { budget: 1 << 40, ..Options::of(&self.policy) }
    }
}

fn tree(names: &[String]) -> Option<Hierarchy> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Some(fanout(4, &names).expect("a hierarchy"))
}

#[test]
fn measures_of_loss_stop() {
    let (sets, trees, vertices) = (Case::sets(), Case::trees(20_000), Case::vertices());
    for (what, case) in [("loss of sets", &sets), ("loss of trees", &trees), ("loss of vertices", &vertices)]
    {
        stops_when_told(what, |observer| Loss::new(&case.compared(), observer));
    }
    asks_in_stage("sets", "mining frequent itemsets", |observer| Loss::new(&sets.compared(), observer));
    asks_in_stage("trees", "mining frequent subtrees", |observer| Loss::new(&trees.compared(), observer));
}

#[test]
fn attacks_stop() {
    let (sets, trees, vertices) = (Case::sets(), Case::trees(20_000), Case::vertices());
    for (what, case) in [("attack on sets", &sets), ("on trees", &trees), ("on vertices", &vertices)] {
        let sampled = Options { sample: Some(5000), ..case.options() };
        for options in [case.options(), sampled] {
            stops_when_told(what, |observer| {
                attack::risk(&case.data, &case.binding, &case.policy, &options, observer)
            });
        }
    }
}

#[test]
fn attacks_with_a_register_stop() {
    for case in [Case::trees(5000), Case::vertices()] {
        let quick = Options { budget: 1, sample: Some(1), ..case.options() };
        let risk: Risk =
            attack::risk(&case.data, &case.binding, &case.policy, &quick, &Quiet).expect("countable");
        let (data, binding) = (&case.data, &case.binding);
        let side = attack::Side { name: "data", data, binding, published: true };
        let own = &case.hierarchies;
        let register = Population { name: "register", data, binding, hierarchies: own, own };
        stops_when_told("journalist", |observer| {
            let mut risk = risk.clone();
            attack::journalist(&mut risk, side, register, &case.policy, &case.options(), observer)
        });
    }
}

#[test]
fn looks_at_data_ask_whether_to_go_on() {
    let case = Case::trees(1000);
    asks_whether_to_go_on("profile", |observer| Profile::new(&case.data, observer));
    let profile = Profile::new(&case.data, &Quiet).expect("nobody interrupts");
    asks_whether_to_go_on("suggestions", |observer| suggest(&profile, &case.data, observer));
    let people = vec![vec!["x".to_owned()]; 4];
    let published =
        Dissected { people: vec![1; 4], sensitive: vec![dissect::sensitive("s", false, &people)] };
    asks_whether_to_go_on("attack on groups", |observer| {
        attack::risk_apart(&published, &case.policy, observer)
    });
}
