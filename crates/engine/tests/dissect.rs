//! Dissection against the definitions.

use bosket_engine::dissect::{
    Algorithm, Degrees, Params, Release, SUPPRESSED, Sensitive, deal_key, degrees, run, too_many,
};
use bosket_model::dissected::SensitiveValues;
use bosket_model::hierarchy::{Hierarchy, NodeId, csv};
use bosket_model::observe::Quiet;
use bosket_model::{Fault, Result};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::dissect as literal;
use bosket_testkit::shared::{shared_json, shared_text};

type People = Vec<Vec<String>>;

fn group(attributes: &[(&SensitiveValues, Option<&Hierarchy>)], params: &Params) -> Result<Release> {
    let sensitive: Vec<Sensitive<'_>> =
        attributes.iter().map(|&(values, hierarchy)| Sensitive { values, hierarchy }).collect();
    let records = attributes[0].0.codes.len();
    let ties: Vec<u64> = (0..records as u64).collect();
    run(records, &sensitive, &ties, params, &Quiet)
}

/// The values of the people in each group.
fn groups(release: &Release, people: &People) -> Vec<People> {
    let mut groups = vec![Vec::new(); release.groups];
    for (record, &group) in release.group_of.iter().enumerate().filter(|(_, g)| **g != SUPPRESSED) {
        groups[group as usize].push(people[record].clone());
    }
    groups
}

fn hierarchy(text: &str) -> Hierarchy {
    csv::parse("h.csv", text).unwrap_or_else(|d| panic!("{d:?}"))
}

fn single(values: &[(&str, usize)]) -> People {
    values.iter().flat_map(|(v, n)| std::iter::repeat_n(vec![(*v).to_owned()], *n)).collect()
}

/// The excerpt of ICD-10 with the counts of the paper's table 2.
fn excerpt() -> Option<(Hierarchy, People)> {
    let text = shared_text("golden/dissect/icd_excerpt.csv")?;
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|l| l.split(';').collect()).collect();
    let line = |row: &Vec<&str>| {
        let mut path = vec![row[0]];
        let mut parent = row[1];
        while let Some(above) = rows.iter().find(|r| r[0] == parent) {
            path.push(parent);
            parent = above[1];
        }
        path.join(";") + ";*\n"
    };
    let hierarchy = hierarchy(&rows.iter().map(line).collect::<String>());
    let counts: Vec<(&str, usize)> = rows.iter().map(|r| (r[0], r[3].parse().expect("a count"))).collect();
    Some((hierarchy, single(&counts)))
}

#[test]
fn degrees_of_the_worked_example() {
    let (Some((h, _)), Some(expected)) = (excerpt(), shared_json("golden/dissect/expected.json")) else {
        return;
    };
    for case in expected["delta"].as_array().expect("cases") {
        let values: Vec<&str> =
            case["values"].as_array().expect("values").iter().filter_map(|v| v.as_str()).collect();
        let nodes: Vec<[NodeId; 1]> = values.iter().map(|v| [h.node(v).expect("a node")]).collect();
        let found = degrees(&h, &nodes.iter().map(<[_; 1]>::as_slice).collect::<Vec<_>>());
        assert_eq!(u64::from(found.set_wise.expect("two")), case["delta"], "{case}");
        assert_eq!(u64::from(found.pairwise.expect("two")), case["pairwise"], "{case}");
    }
}

#[test]
fn the_first_group_of_the_worked_example() {
    let (Some((h, people)), Some(expected)) = (excerpt(), shared_json("golden/dissect/expected.json")) else {
        return;
    };
    let values = literal::sensitive("icd", false, &people);
    let release = group(&[(&values, Some(&h))], &Params::plain(Algorithm::Delta, 4)).expect("groups");
    assert_eq!((release.groups, release.suppressed), (10, 0));
    assert_eq!(release.degrees[0].set_wise, Some(2));
    let block = |value: &String| {
        let mut node = h.node(value).expect("a node");
        while h.depth(node) > 2 {
            node = h.parent(node).expect("a parent");
        }
        h.label(node).to_owned()
    };
    // Two of 42 records are over, and joined groups where they keep the distance.
    let first: Vec<String> = groups(&release, &people)[0].iter().map(|p| block(&p[0])).collect();
    let wanted = expected["first_group"].as_array().expect("a list").iter().filter_map(|v| v.as_str());
    for block in wanted {
        assert!(first.iter().any(|b| b == block), "{block} is not among {first:?}");
    }

    // Three branches are too few for four values that are pairwise two edges apart.
    let pairwise = Params { pairwise: true, ..Params::plain(Algorithm::Delta, 4) };
    let found = group(&[(&values, Some(&h))], &pairwise).expect("groups");
    assert_eq!(found.degrees[0].pairwise, Some(1));
    let asked = Params { delta_target: Some(2), ..pairwise };
    let refused = group(&[(&values, Some(&h))], &asked).expect_err("three branches");
    assert_eq!(refused.fault, Fault::Unreachable);
    // Anatomy looks at values only.
    let anatomy = group(&[(&values, Some(&h))], &Params::plain(Algorithm::Anatomy, 4)).expect("groups");
    assert!(groups(&anatomy, &people).iter().all(|g| literal::is_anatomy(g, 4)));
}

#[test]
fn a_too_frequent_value_is_refused_by_path_and_shown_when_asked() {
    let people = single(&[("flu", 6), ("cold", 2), ("burn", 2)]);
    let values = literal::sensitive("disease", false, &people);
    let params = Params::plain(Algorithm::Anatomy, 2);
    let refused = group(&[(&values, None)], &params).expect_err("six of ten");
    let text = refused.to_string();
    assert_eq!(refused.fault, Fault::Unreachable);
    assert!(text.contains("disease") && text.contains("6 of 10") && !text.contains("flu"), "{text}");
    assert!(text.contains("no groups are small enough"), "{text}");
    let shown = group(&[(&values, None)], &Params { show_values: true, ..params }).expect_err("six of ten");
    assert!(shown.to_string().contains("`flu`"), "{shown}");
    let none: People = (0..10).map(|i| if i < 6 { vec![] } else { vec![format!("v{i}")] }).collect();
    let values = literal::sensitive("disease", false, &none);
    let refused = group(&[(&values, None)], &Params::plain(Algorithm::Anatomy, 2)).expect_err("six without");
    assert!(refused.to_string().contains("no value at all"), "{refused}");
}

/// Ten values over the bound were ten messages, each with the same two numbers.
#[test]
fn what_is_too_frequent_is_said_once_with_the_size_that_works() {
    let values = literal::sensitive("disease", false, &single(&[("flu", 30), ("cold", 28), ("burn", 42)]));
    let refused = group(&[(&values, None)], &Params::plain(Algorithm::Anatomy, 5)).expect_err("42 of 100");
    assert_eq!(refused.diagnostics.len(), 1, "{refused}");
    let text = refused.to_string();
    for part in
        ["42 of 100", "no more than 20", "(2 more of its values", "the largest `group_size` that works is 2"]
    {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn plain_takes_records_as_they_come() {
    let values = literal::sensitive("d", false, &single(&[("a", 7)]));
    let release = group(&[(&values, None)], &Params::plain(Algorithm::Plain, 3)).expect("anything");
    assert_eq!(release.group_of, [0, 0, 0, 1, 1, 1, 1]);
    let release = group(&[(&values, None)], &Params::plain(Algorithm::Plain, 0)).expect("anything");
    assert_eq!((release.groups, release.group_of), (1, vec![0; 7]));
}

#[test]
fn plain_groups_have_their_size_and_lose_nobody() {
    for seed in 0..u64::from(cases(200)) {
        let mut dice = Dice::new(seed);
        let (records, size) = (1 + dice.below(40), dice.below(7));
        let values = literal::sensitive("d", false, &single(&[("a", records)]));
        let release = group(&[(&values, None)], &Params::plain(Algorithm::Plain, size)).expect("anything");
        let mut sizes = vec![0; release.groups];
        release.group_of.iter().for_each(|&g| sizes[g as usize] += 1);
        assert_eq!((sizes.iter().sum::<usize>(), release.suppressed), (records, 0), "seed {seed}");
        assert!(sizes.iter().all(|&s| s >= size.min(records)), "seed {seed}: {sizes:?}");
    }
}

#[test]
fn a_value_that_one_person_has_twice_needs_twice_the_people() {
    let mut people = single(&[("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1)]);
    people.push(vec!["x".to_owned(), "x".to_owned()]);
    let values = literal::sensitive("d[]", true, &people);
    let release = group(&[(&values, None)], &Params::plain(Algorithm::Anatomy, 2)).expect("groups");
    assert!(groups(&release, &people).iter().all(|g| literal::is_anatomy(g, 2)), "{release:?}");
    assert_eq!(release.suppressed, 0);
}

/// Groups were counted for everybody, then filled with those only who have no value twice: most stayed too small.
#[test]
fn people_with_doubled_values_do_not_starve_the_groups_of_others() {
    let mut dice = Dice::new(1);
    let people: People = (0..900)
        .map(|i| {
            let value = format!("v{}", dice.below(200));
            let times = if i % 7 == 0 { 2 + i % 2 } else { 1 };
            let mut own = vec![value; times];
            own.push(format!("w{}", dice.below(200)));
            own
        })
        .collect();
    let values = literal::sensitive("d[]", true, &people);
    let release = group(&[(&values, None)], &Params::plain(Algorithm::Anatomy, 3)).expect("groups");
    assert!(groups(&release, &people).iter().all(|g| literal::is_anatomy(g, 3)));
    assert_eq!(release.suppressed, 0);
}

fn people(dice: &mut Dice, values: &[String], several: bool) -> People {
    let n = 4 + dice.below(14);
    (0..n)
        .map(|_| {
            let count = if dice.one_in(9) { 0 } else { 1 + if several { dice.below(3) } else { 0 } };
            (0..count).map(|_| dice.of(values).clone()).collect()
        })
        .collect()
}

#[test]
fn degrees_are_those_of_every_choice() {
    for seed in 0..u64::from(cases(2000)) {
        let mut dice = Dice::new(seed);
        let (text, words) = literal::words(&mut dice, 3, 4);
        let h = hierarchy(&text);
        let mut people = people(&mut dice, &words, true);
        people.truncate(4);
        let nodes: Vec<Vec<NodeId>> =
            people.iter().map(|p| p.iter().map(|v| h.node(v).expect("a node")).collect()).collect();
        let found = degrees(&h, &nodes.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let number = |d: Option<usize>| d.map(|d| d as u32);
        let (set_wise, pairwise) = literal::degrees(&h, &people);
        let expected = Degrees { set_wise: number(set_wise), pairwise: number(pairwise) };
        assert_eq!(found, expected, "seed {seed}: {people:?}");
    }
}

#[test]
fn groups_keep_what_they_promise() {
    let (mut made, mut refused, mut far) = (0, 0, 0);
    for seed in 0..u64::from(cases(3000)) {
        let mut dice = Dice::new(seed);
        let depth = 2 + dice.below(3);
        let (text, words) = literal::words(&mut dice, 3, depth);
        let h = hierarchy(&text);
        let several = dice.one_in(2);
        let people = people(&mut dice, &words, several);
        let second: People = people.iter().map(|_| vec![dice.of(&words).clone()]).collect();
        let values = literal::sensitive("a", several, &people);
        let other = literal::sensitive("b", false, &second);
        let size = 2 + dice.below(3);
        let mut params =
            Params::plain(if dice.one_in(3) { Algorithm::Anatomy } else { Algorithm::Delta }, size);
        params.pairwise = dice.one_in(2);
        params.delta_target = dice.one_in(3).then(|| dice.below(4) as u32);
        let both = dice.one_in(3);
        let mut attributes = vec![(&values, Some(&h))];
        attributes.extend(both.then_some((&other, Some(&h))));
        let release = match group(&attributes, &params) {
            Ok(release) => release,
            Err(failure) => {
                assert_eq!(failure.fault, Fault::Unreachable, "seed {seed}: {failure}");
                refused += 1;
                continue;
            }
        };
        made += 1;
        let out = release.group_of.iter().filter(|g| **g == SUPPRESSED).count();
        assert_eq!(out, release.suppressed);
        for (at, people) in [&people, &second].into_iter().take(attributes.len()).enumerate() {
            let groups = groups(&release, people);
            assert!(groups.iter().all(|g| literal::is_anatomy(g, size)), "seed {seed}: {groups:?}");
            let found = groups.iter().map(|g| literal::degrees(&h, g));
            let set_wise = found.clone().filter_map(|d| d.0).min().map(|d| d as u32);
            let pairwise = found.filter_map(|d| d.1).min().map(|d| d as u32);
            assert_eq!(release.degrees[at], Degrees { set_wise, pairwise }, "seed {seed}");
            if let Some(target) = params.delta_target.filter(|_| params.algorithm == Algorithm::Delta) {
                let reached = if params.pairwise { pairwise } else { set_wise };
                assert!(reached.is_none_or(|d| d >= target), "seed {seed}: {reached:?} < {target}");
                far += usize::from(target > 1);
            }
        }
    }
    assert!(made > 100 && refused > 100 && far > 5, "{made} made, {refused} refused, {far} far apart");
}

/// Where all values can be told apart high enough, fewer than a group is left out, and with one value each nobody is.
#[test]
fn eligible_records_are_all_published() {
    for seed in 0..u64::from(cases(500)) {
        let mut dice = Dice::new(seed);
        let size = 2 + dice.below(4);
        let n = size * (2 + dice.below(20)) + dice.below(size);
        let most = n / size;
        let mut people: People = Vec::new();
        while people.len() < n {
            let count = (1 + dice.below(most)).min(n - people.len());
            let value = format!("v{}", people.len());
            people.extend(std::iter::repeat_n(vec![value], count));
        }
        dice.shuffle(&mut people);
        let values = literal::sensitive("v", false, &people);
        let release = group(&[(&values, None)], &Params::plain(Algorithm::Anatomy, size)).expect("eligible");
        assert_eq!(release.suppressed, 0, "seed {seed}");
    }
}

/// Most people of a registry have none of the rare diseases: with `missing = "none"` they fill the groups.
#[test]
fn people_without_value_fill_groups() {
    for seed in 0..u64::from(cases(500)) {
        let mut dice = Dice::new(seed);
        let size = 2 + dice.below(4);
        let n = size * (1 + dice.below(12)) + dice.below(size);
        let mut left = vec![n / size; 1 + dice.below(6)];
        let people: People = (0..n)
            .map(|_| {
                let value = dice.below(left.len());
                if dice.one_in(2) || left[value] == 0 {
                    return Vec::new();
                }
                left[value] -= 1;
                vec![format!("v{value}")]
            })
            .collect();
        let values = literal::sensitive("v", false, &people);
        let params = Params { may_lack: true, ..Params::plain(Algorithm::Anatomy, size) };
        let release = group(&[(&values, None)], &params).expect("nothing is too frequent");
        assert_eq!(release.suppressed, 0, "seed {seed}: {people:?}");
        for group in groups(&release, &people) {
            let mut values: Vec<&String> = group.iter().flatten().collect();
            let all = values.len();
            values.sort();
            values.dedup();
            assert!(group.len() >= size && values.len() == all, "seed {seed}: {group:?}");
        }
    }
}

/// A value that half of the people have is too frequent by chance in one half of any two random halves.
#[test]
fn dealt_records_are_eligible_where_all_are() {
    let people = single(&[("flu", 500), ("cold", 300), ("burn", 200)]);
    let values = [literal::sensitive("d", false, &people)];
    let key = |record: usize| deal_key(&values, record, &[(record as u32 * 7 % 251) as u8; 32]);
    let mut order: Vec<usize> = (0..people.len()).collect();
    order.sort_by_cached_key(|&record| key(record));
    let params = Params::plain(Algorithm::Anatomy, 2);
    for parts in [1, 3, 7, 20] {
        for part in 0..parts {
            let own: People = order.iter().skip(part).step_by(parts).map(|&r| people[r].clone()).collect();
            let values = literal::sensitive("d", false, &own);
            let sensitive = [Sensitive { values: &values, hierarchy: None }];
            // Half of them is all that there may be: a part may have one too many, and no more.
            let gone = too_many(own.len(), &sensitive, &params, &Quiet).expect("countable");
            assert!(gone.len() <= 1, "part {part} of {parts}: {gone:?}");
            let left = own.iter().enumerate().filter(|(r, _)| !gone.contains(&(*r as u32)));
            let left: People = left.map(|(_, person)| person.clone()).collect();
            let release = group(&[(&literal::sensitive("d", false, &left), None)], &params).expect("groups");
            assert!(release.suppressed <= 1, "part {part} of {parts}: {}", release.suppressed);
        }
    }
}
