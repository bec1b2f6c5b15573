//! Journalist risk against the definition, on random small populations.

use bosket_measure::attack::{Journalist, Options, Point, Population, Risk, Side, journalist, risk};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Build, Hierarchy, build, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Role, Undeclared};
use bosket_model::{Dataset, Failure};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::trees::PathRecord;
use bosket_testkit::{alike, population, sets, trees, vertices};
use proptest::prelude::*;

fn parse(attributes: &str, privacy: &str) -> Policy {
    // The definition that is tried here reads rows that look alike as one.
    let rows = if privacy.contains("\"kmn\"") { "[publish]\nrows = \"united\"\n" } else { "" };
    let text = format!("{attributes}\n[privacy]\n{privacy}\n{rows}");
    Policy::parse("p", &text, &[]).expect("a good policy").0
}

/// What is attacked, before or after, and with what.
#[derive(Clone, Copy)]
struct Case<'a> {
    people: &'a Dataset,
    published: bool,
    population: &'a Dataset,
    hierarchies: &'a [Option<Hierarchy>],
    policy: &'a Policy,
}

impl Case<'_> {
    fn attack(&self, options: &Options) -> Result<Risk, Failure> {
        self.attack_made_with(self.hierarchies, options)
    }

    /// The same where the publication was made with hierarchies over the values of the data alone.
    fn attack_made_with(&self, made_with: &[Option<Hierarchy>], options: &Options) -> Result<Risk, Failure> {
        let attributes = &self.policy.attributes;
        let bind = |data: &Dataset| {
            Binding::new(data.schema(), attributes, Undeclared::Refuse, "data").expect("all declared")
        };
        let (own, other) = (bind(self.people), bind(self.population));
        let mut found = risk(self.people, &own, self.policy, options, &Quiet)?;
        let side = Side { name: "data", data: self.people, binding: &own, published: self.published };
        let population = Population {
            name: "register",
            data: self.population,
            binding: &other,
            hierarchies: self.hierarchies,
            own: made_with,
        };
        journalist(&mut found, side, population, self.policy, options, &Quiet)?;
        Ok(found)
    }
}

fn options(m: u32, n: u32) -> Options {
    Options { m: (1..=m).collect(), n: vec![0, n], budget: 1 << 40, sample: None, worst: 1, seed: 1 }
}

fn point(points: &[Point], m: u32, n: u32) -> &Point {
    points.iter().find(|p| p.m == Some(m) && p.n == Some(n)).expect("asked for")
}

/// Everything that is said about people whose fewest matches are these.
fn agree(
    found: Option<Journalist>,
    fewest: &[usize],
    k: usize,
    population: usize,
) -> Result<(), TestCaseError> {
    let found = found.expect("computed");
    let people = fewest.len() as f64;
    let share = |of: &dyn Fn(usize) -> bool| fewest.iter().filter(|f| of(**f)).count() as f64 / people;
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    prop_assert!(found.exhaustive && found.exact && found.people == fewest.len());
    prop_assert_eq!(found.population, population);
    prop_assert!(near(found.absent.value, share(&|f| f == 0)), "{:?} {:?}", found, fewest);
    prop_assert!(near(found.unique.value, share(&|f| f <= 1)), "{:?} {:?}", found, fewest);
    prop_assert!(near(found.below_k.value, share(&|f| f < k)), "{:?} {:?}", found, fewest);
    let risks = || fewest.iter().map(|&f| 1.0 / f.max(1) as f64);
    prop_assert!(near(found.highest, risks().fold(0.0, f64::max)), "{:?} {:?}", found, fewest);
    prop_assert!(near(found.mean, risks().sum::<f64>() / people), "{:?} {:?}", found, fewest);
    Ok(())
}

/// The same as the prosecutor's.
fn is_prosecutors(point: &Point) -> Result<(), TestCaseError> {
    let found = point.journalist.expect("computed");
    prop_assert_eq!(found.absent.value, 0.0);
    prop_assert_eq!((found.unique, found.below_k), (point.unique, point.below_k));
    prop_assert_eq!((found.highest, found.mean), (point.prosecutor, point.marketer));
    Ok(())
}

fn is_no_riskier(more: &Point, less: &Point) -> Result<(), TestCaseError> {
    let (more, less) = (more.journalist.expect("computed"), less.journalist.expect("computed"));
    prop_assert!(more.absent.value <= less.absent.value && more.unique.value <= less.unique.value);
    prop_assert!(more.below_k.value <= less.below_k.value);
    prop_assert!(more.highest <= less.highest && more.mean <= less.mean, "{:?} {:?}", more, less);
    Ok(())
}

/// Labels of four leaves in groups thrown at random: each leaf is in group x or y, or right under the root.
fn thrown(dice: &mut Dice, level: &str) -> Hierarchy {
    let lines: String = (1..=4)
        .map(|leaf| match dice.below(3) {
            0 => format!("{level}{leaf};{level}x;*\n"),
            1 => format!("{level}{leaf};{level}y;*\n"),
            _ => format!("{level}{leaf};*\n"),
        })
        .collect();
    csv::parse("h", &lines).expect("a good hierarchy")
}

fn covers(hierarchy: &Hierarchy, published: &str, original: &str) -> bool {
    match (hierarchy.node(published), hierarchy.leaf(original)) {
        (Some(node), Some(leaf)) => hierarchy.is_ancestor_or_self(node, leaf),
        _ => false,
    }
}

/// A label that covers another: itself or its group.
fn generalized(dice: &mut Dice, hierarchy: &Hierarchy, label: &str) -> String {
    let leaf = hierarchy.leaf(label).expect("a leaf");
    let group = hierarchy.parent(leaf).filter(|g| *g != hierarchy.root()).unwrap_or(leaf);
    hierarchy.label(if dice.one_in(2) { leaf } else { group }).to_owned()
}

fn tree(dice: &mut Dice) -> PathRecord {
    (0..dice.below(4))
        .map(|_| {
            let mut path: Vec<String> =
                ["A", "B", "C"].iter().map(|l| format!("{l}{}", 1 + dice.below(4))).collect();
            path.retain(|_| !dice.one_in(4));
            path
        })
        .collect()
}

fn forest(dice: &mut Dice, most: usize) -> Vec<PathRecord> {
    let mut all: Vec<PathRecord> = (0..1 + dice.below(most)).map(|_| tree(dice)).collect();
    // A register has all attributes.
    all.push(vec![["A1", "B1", "C1"].map(String::from).to_vec()]);
    all
}

fn privacy(k: u32, (m, n): (u32, u32), embedded: bool) -> String {
    let reading = if embedded { "embedded" } else { "pair" };
    format!("model = \"kmn\"\nk = {k}\nm = {m}\nn = {n}\nrelations = \"{reading}\"")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    /// Recoded globally or locally, moved, left out; in the population or not.
    #[test]
    fn trees_agree_with_the_definition(
        seed: u64, k in 2u32..4, m in 1u32..4, n in 0u32..3, embedded: bool, one_by_one: bool, strangers: bool,
    ) {
        let mut dice = Dice::new(seed);
        let levels = ["A", "B", "C"].map(|level| thrown(&mut dice, level));
        let of = |label: &str| &levels[["A", "B", "C"].iter().position(|l| label.starts_with(l)).expect("a level")];
        let population = forest(&mut dice, 8);
        let mut people = population.clone();
        people.retain(|_| !dice.one_in(2));
        if strangers {
            people.push(tree(&mut dice));
        }
        for label in people.iter_mut().flatten().flatten() {
            *label = generalized(&mut dice, of(label), label);
        }
        prop_assume!(people.iter().flatten().any(|path| !path.is_empty()));
        let hierarchies: Vec<Option<Hierarchy>> = levels.iter().cloned().map(Some).collect();
        let case = Case {
            people: &trees::dataset(&people),
            published: true,
            population: &trees::dataset(&population),
            hierarchies: &hierarchies,
            policy: &parse(trees::ATTRIBUTES, &privacy(k, (m, n), embedded)),
        };
        let mut options = options(m, n);
        options.sample = one_by_one.then_some(people.len());
        let found = case.attack(&options).expect("countable");
        let covers = |published: &str, original: &str| covers(of(published), published, original);
        let fewest = |m: u32, n: u32, embedded: bool| {
            population::fewest(&people, &population, &covers, (m as usize, n as usize), embedded)
        };
        for at in 1..=m {
            for n in [0, n] {
                let found = point(&found.points, at, n).journalist;
                agree(found, &fewest(at, n, embedded), k as usize, population.len())?;
            }
        }
        if let Some(points) = &found.embedded {
            agree(point(points, m, n).journalist, &fewest(m, n, true), k as usize, population.len())?;
        }
    }

    /// If everybody is in the data, a journalist is a prosecutor; with more people around, nobody is found more easily.
    #[test]
    fn a_population_only_hides(seed: u64, m in 1u32..4, n in 0u32..3, embedded: bool) {
        let mut dice = Dice::new(seed);
        let levels: Vec<Option<Hierarchy>> = ["A", "B", "C"].map(|level| Some(thrown(&mut dice, level))).to_vec();
        let people = forest(&mut dice, 6);
        let data = trees::dataset(&people);
        let policy = parse(trees::ATTRIBUTES, &privacy(2, (m, n), embedded));
        let case = Case { people: &data, published: false, population: &data, hierarchies: &levels, policy: &policy };
        let alone = case.attack(&options(m, n)).expect("countable");
        for point in alone.points.iter().chain(alone.embedded.iter().flatten()) {
            is_prosecutors(point)?;
        }
        let crowd: Vec<PathRecord> = people.iter().cloned().chain(forest(&mut dice, 6)).collect();
        let crowd = trees::dataset(&crowd);
        let hidden = Case { population: &crowd, ..case }.attack(&options(m, n)).expect("countable");
        for (more, less) in hidden.points.iter().zip(&alone.points) {
            is_no_riskier(more, less)?;
        }
    }

    /// Sets, also with how often an item is there, with sensitive items that nobody knows, and with roots.
    #[test]
    fn sets_agree_with_the_definition(seed: u64, m in 1u32..4, multiset: bool, hides: bool) {
        let mut dice = Dice::new(seed);
        let hierarchy = thrown(&mut dice, "i");
        let set = |dice: &mut Dice| -> Vec<String> {
            (0..dice.below(5)).map(|_| format!("i{}", 1 + dice.below(4))).collect()
        };
        let mut population: Vec<Vec<String>> = (0..1 + dice.below(8)).map(|_| set(&mut dice)).collect();
        population.push(vec!["i1".to_owned()]);
        let mut people: Vec<Vec<String>> = population.clone();
        people.retain(|_| !dice.one_in(2));
        let hidden = |item: &String| hides && item == "i4";
        for own in &mut people {
            // One cut for all items of a set, so that counts of a group are those of all its items.
            let (groups, roots) = (dice.one_in(2), dice.one_in(3));
            for item in own.iter_mut().filter(|item| !hidden(item)) {
                let leaf = hierarchy.leaf(item).expect("a leaf");
                let group = hierarchy.parent(leaf).expect("not the root");
                if groups && (roots || group != hierarchy.root()) {
                    *item = hierarchy.label(group).to_owned();
                }
            }
        }
        prop_assume!(people.iter().flatten().any(|item| !hidden(item)));
        let sensitive = if hides { "l = 2\nsensitive = [\"i4\"]\n" } else { "" };
        let privacy = format!("model = \"km\"\nk = 2\nm = {m}\nmultiset = {multiset}\n{sensitive}");
        let case = Case {
            people: &sets::dataset(&people),
            published: true,
            population: &sets::dataset(&population),
            hierarchies: &[Some(hierarchy.clone())],
            policy: &parse(sets::ATTRIBUTES, &privacy),
        };
        let found = case.attack(&options(m, 0)).expect("countable");
        let known = |own: &[String]| -> Vec<String> { own.iter().filter(|i| !hidden(i)).cloned().collect() };
        let under = |own: &[String], label: &str| {
            own.iter().filter(|item| covers(&hierarchy, label, item)).count()
        };
        // A value with its count is told apart from the same with another; the population has all that it covers.
        let mut labels: Vec<String> = people.iter().flat_map(|own| known(own)).collect();
        labels.sort();
        labels.dedup();
        let counted = |own: &[String], count: &dyn Fn(&[String], &str) -> usize| -> PathRecord {
            let own = known(own);
            let there = labels.iter().map(|label| (label, count(&own, label))).filter(|(_, times)| *times > 0);
            there.map(|(label, times)| vec![if multiset { format!("{label} {times}") } else { label.clone() }]).collect()
        };
        let exactly = |own: &[String], label: &str| own.iter().filter(|item| *item == label).count();
        let people: Vec<PathRecord> = people.iter().map(|own| counted(own, &exactly)).collect();
        let others: Vec<PathRecord> = population.iter().map(|own| counted(own, &under)).collect();
        let fewest = population::fewest(&people, &others, &|a, b| a == b, (m as usize, 0), false);
        agree(point(&found.points, m, 0).journalist, &fewest, 2, population.len())?;
    }

    /// Vertex trees, before and after: alike, or what a record may have been made of.
    #[test]
    fn vertex_trees_agree_with_the_definition(seed: u64, published: bool) {
        let mut dice = Dice::new(seed);
        let hierarchy = thrown(&mut dice, "v");
        let roles = [[Role::Quasi, Role::Insensitive, Role::Insensitive, Role::Sensitive]; 4];
        let mut population = Vec::new();
        for _ in 0..1 + dice.below(8) {
            let mut record = vertices::random_shape(&mut dice, 2);
            let values = 1 + dice.below(4);
            vertices::throw_values(&mut dice, &mut record, 0, &["v1", "v2", "v3", "v4"][..values]);
            population.push(record);
        }
        // A register has all attributes, and people in it may lack any.
        let mut whole = vertices::random_shape(&mut Dice::new(0), 2);
        while whole.all().iter().map(|v| v.class).collect::<std::collections::BTreeSet<_>>().len() < 4 {
            whole = vertices::random_shape(&mut dice, 2);
        }
        whole.each(&mut |v| v.values[0] = Some("v1".to_owned()));
        population.push(whole);
        let mut people = population.clone();
        people.retain(|_| !dice.one_in(2));
        for person in &mut people {
            person.shuffle(&mut dice);
            vertices::throw_values(&mut dice, person, 3, &["s", "t"]);
            if published {
                person.each(&mut |v| {
                    v.children.retain(|_| !dice.one_in(4));
                    let value = v.values[0].as_deref().map(|value| generalized(&mut dice, &hierarchy, value));
                    v.values[0] = if dice.one_in(4) { Some("*".to_owned()) } else { value };
                });
            }
        }
        let data = vertices::dataset(&people);
        prop_assume!(data.schema().attributes().any(|(_, a)| a.path.ends_with('a')));
        let hierarchies: Vec<Option<Hierarchy>> =
            (0..16).map(|at| (at % 4 == 0).then(|| hierarchy.clone())).collect();
        let case = Case {
            people: &data,
            published,
            population: &vertices::dataset(&population),
            hierarchies: &hierarchies,
            policy: &parse(&vertices::policy(&roles), "model = \"l-diversity\"\nk = 2\nl = 2"),
        };
        let found = case.attack(&options(1, 0)).expect("countable");
        let covers = |label: &str, value: &str| covers(&hierarchy, label, value);
        let fits = |p: &vertices::Vertex, q: &vertices::Vertex| {
            if published {
                population::may_come_from(p, q, &covers)
            } else {
                !alike::isomorphisms(p, q, &roles).is_empty()
            }
        };
        let fewest: Vec<usize> =
            people.iter().map(|p| population.iter().filter(|q| fits(p, q)).count()).collect();
        agree(found.points[0].journalist, &fewest, 2, population.len())?;
        if published {
            // Everybody in the data is in the population as well.
            prop_assert_eq!(found.points[0].journalist.expect("computed").absent.value, 0.0);
        }
    }
}

fn texts(records: &[&[&str]]) -> Vec<Vec<String>> {
    records.iter().map(|own| own.iter().map(|&text| text.to_owned()).collect()).collect()
}

/// The highest risk of one-item sets.
fn highest(people: &[&[&str]], population: &[&[&str]], own: &Hierarchy, all: &Hierarchy) -> f64 {
    let case = Case {
        people: &sets::dataset(&texts(people)),
        published: true,
        population: &sets::dataset(&texts(population)),
        hierarchies: &[Some(all.clone())],
        policy: &parse(sets::ATTRIBUTES, "model = \"km\"\nk = 2\nm = 1"),
    };
    let found = case.attack_made_with(&[Some(own.clone())], &options(1, 0)).expect("countable");
    found.points[0].journalist.expect("computed").highest
}

#[test]
fn a_code_took_in_those_that_only_the_population_has_below_it() {
    let own = csv::parse("h", "J10;J;*\nJ11;J;*\n").expect("good");
    let all = csv::parse("h", "J10.1;J10;J;*\nJ11;J;*\n").expect("good");
    let (all, _) = all.bind(["J10", "J10.1", "J11"]).expect("covered");
    let population: &[&[&str]] = &[&["J10"], &["J10.1"], &["J10.1"], &["J11"]];
    assert_eq!(highest(&[&["J10"]], population, &own, &all), 1.0);
    assert_eq!(highest(&[&["J"]], population, &own, &all), 0.25);
}

#[test]
fn a_published_range_takes_in_all_between() {
    let spec = Build::Range { min: 0.0, max: 100.0 };
    let own = build(&spec, &["17", "25"], None).expect("good");
    let all = build(&spec, &["16", "17", "18.5", "25", "26"], None).expect("good");
    let population: &[&[&str]] = &[&["16"], &["17"], &["18.5"], &["18.5"], &["25"], &["26"]];
    assert_eq!(highest(&[&["[17, 25]"]], population, &own, &all), 0.25);
}

#[test]
fn what_does_not_fit_the_budget_is_a_lower_bound() {
    let mut dice = Dice::new(3);
    let mut set = || -> Vec<String> { (0..5).map(|_| format!("i{}", dice.below(12))).collect() };
    let population: Vec<Vec<String>> = (0..2000).map(|_| set()).collect();
    let people = sets::dataset(&population[..300]);
    let population = sets::dataset(&population);
    let policy = parse(sets::ATTRIBUTES, "model = \"km\"\nk = 5\nm = 3");
    let case = Case {
        people: &people,
        published: false,
        population: &population,
        hierarchies: &[None],
        policy: &policy,
    };
    let of = |options: Options| point(&case.attack(&options).expect("countable").points, 3, 0).journalist;
    let all = of(options(3, 0)).expect("computed");
    let poor = of(Options { budget: 20_000, ..options(3, 0) }).expect("computed");
    assert!(all.exhaustive && all.exact && all.people == 300, "{all:?}");
    assert!(!poor.exact && !poor.exhaustive && poor.people >= 30, "{poor:?}");
    assert!(poor.unique.low <= all.unique.value && poor.below_k.low <= all.below_k.value, "{all:?} {poor:?}");
    let some = of(Options { sample: Some(100), ..options(3, 0) }).expect("computed");
    assert!(some.exact && some.people == 100 && some.unique.low < some.unique.high, "{some:?}");
    assert!(
        some.below_k.low <= all.below_k.value && all.below_k.value <= some.below_k.high,
        "{all:?} {some:?}"
    );
}

#[test]
fn what_nobody_can_be_compared_by_is_told_at_once() {
    let policy = parse(
        "version = 1\n[[attribute]]\npath = \"item\"\nrole = \"quasi\"\n[[attribute]]\npath = \"other\"\nrole = \"quasi\"\n",
        "model = \"kmn\"\nk = 2\nm = 1\nn = 0",
    );
    let hierarchy = csv::parse("h", "a;*\nb;*\n").expect("good");
    let people = sets::dataset(&texts(&[&["a"], &["secret1"]]));
    let mut builder = bosket_model::Builder::new();
    let other = builder.attribute(bosket_model::ClassId::ROOT, &["other".to_owned()]);
    builder.begin_record();
    builder.set(other, bosket_model::Kind::Text, "secret2");
    builder.end_record().expect("one value");
    let population = builder.finish();
    let case = Case {
        people: &people,
        published: true,
        population: &population,
        hierarchies: &[Some(hierarchy.clone()), Some(hierarchy)],
        policy: &policy,
    };
    let failure = case.attack(&options(1, 0)).expect_err("three problems");
    let said: Vec<String> = failure.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[0].contains("does not have this quasi attribute"), "{said:?}");
    assert!(said[1..].iter().all(|what| what.contains("not in the hierarchy")), "{said:?}");
    assert!(!said.concat().contains("secret"), "{said:?}");
}
