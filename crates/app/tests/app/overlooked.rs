//! Partitions whose kernels are only a proposal: whoever a kernel overlooks joins it, until what is found holds for all records.

use std::path::Path;

use bosket_app::Census;
use bosket_app::parted::overlooked::Overlooked;
use bosket_app::parted::plan::{Frequencies, Kernel, Plan, survey};
use bosket_app::parted::shape::Shape;
use bosket_app::parted::{PartsState, recount_rows};
use bosket_io::PolicyFile;
use bosket_io::parquet::Columns;
use bosket_model::observe::Quiet;
use bosket_model::{Dataset, Result};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::trees::{PathRecord, crowded_dataset};
use bosket_verify::recount::parts::{Drawn, Tallied};

const MEMORY: usize = 1 << 24;

pub(crate) fn policy() -> String {
    let attribute = |(path, letter): (&str, char)| {
        let group = |i: usize| {
            let (a, b) = (2 * i, 2 * i + 1);
            format!("{{ label = \"{letter}x{i}\", values = [\"{letter}{a}\", \"{letter}{b}\"] }}")
        };
        let hierarchy =
            format!("{{ build = \"order\", groups = [{}, {}, {}] }}", group(0), group(1), group(2));
        format!("{{ path = \"{path}\", role = \"quasi\", hierarchy = {hierarchy} }},\n")
    };
    let attributes = [("a[].v", 'A'), ("a[].w", 'B'), ("a[].c[].v", 'C')].map(attribute).concat();
    format!(
        "version = 1\nsource = {{ format = \"parquet\", path = \"in.parquet\" }}\nattribute = [\n{attributes}]\n\
         privacy = {{ model = \"kmn\", k = 2, m = 3, n = 2, root = \"chain\", relations = \"pair\" }}\n\
         method = {{ algorithm = \"gcs\", recoding = \"global\", cost = \"lm\" }}\n\
         publish = {{ path = \"published\", rows = \"united\" }}\n"
    )
}

/// Of the last one, every three values with their relations are those of two others: a kernel can do without them. The two before
/// make B0 and B1 one label, and then nobody else has A0 beside it in one row and C0 in another.
fn people() -> Vec<PathRecord> {
    let row = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
    let (one, other) = ("A0 B0 C1", "A1 B1 C0");
    let some = [
        [one, "A2 B2 C0"],
        [one, "A1 B2 C2"],
        [one, "A2 B1 C2"],
        [other, "A0 B2 C2"],
        [other, "A2 B0 C2"],
        [other, "A2 B2 C1"],
    ];
    let some = some.map(|rows| rows.map(row).to_vec());
    let mut people: Vec<PathRecord> = [some.clone(), some].concat();
    people.extend([vec![row("A4 B0")], vec![row("A4 B1")], vec![row(one), row(other)]]);
    people
}

/// The loop of a driver, until the promise is kept: how often somebody was overlooked. Whoever looks for those that were gets
/// the rows of every partition in another order.
fn rounds(mut parts: Vec<Vec<PathRecord>>, dice: &mut Dice) -> Result<usize> {
    let text = policy();
    let file = PolicyFile::parse(Path::new("p.toml"), &text, &[])?;
    let read = |parts: &[Vec<PathRecord>]| -> Vec<(u32, Dataset)> {
        parts.iter().enumerate().map(|(number, part)| (number as u32, crowded_dataset(part))).collect()
    };
    let mut all = Census::default();
    for (_, part) in read(&parts) {
        all = all.merge(&survey(&file, &part, &Quiet)?);
    }
    let plan = Plan::new(&file, (text, Vec::new()), all)?.value;
    let plan = Plan::from_bytes(&plan.to_bytes()?)?;
    assert!(!plan.is_exact());
    let mut sums = Frequencies::default();
    for (_, part) in read(&parts) {
        sums = sums.merge(&plan.frequencies(&part, &Quiet)?)?;
    }
    let mut more: Option<Kernel> = None;
    let now = read(&parts);
    for rounds in 0.. {
        let mut kernels = |labels: &[u32], size: usize| -> Result<Kernel> {
            let one = |(number, part): &(u32, Dataset)| {
                plan.kernel((*number, part), (labels, size), MEMORY, &Quiet)
            };
            plan.merged(now.iter().map(one).collect::<Result<_>>()?, (labels, size), MEMORY, &Quiet)
        };
        let found = plan.search(sums.clone(), (false, more.as_ref()), &mut kernels, MEMORY, &Quiet)?;
        let (mut judged, mut shape) = (PartsState::default(), Shape::default());
        for (number, part) in &now {
            let (published, lost) = plan.recode(part, &found, &Quiet)?;
            judged = judged.merge(
                PartsState::of_rows(&file, &published, *number, MEMORY, &Quiet)?,
                &file,
                MEMORY,
                &Quiet,
            )?;
            shape = shape.merge(&Shape::of(&published, &Columns::default(), lost)?);
        }
        let mut again = Tallied::default();
        let drawn = Drawn::from_bytes(&judged.drawn().expect("knowledge is counted").to_bytes())?;
        for (number, part) in &now {
            let (published, _) = plan.recode(part, &found, &Quiet)?;
            let own = recount_rows(&file, &published, *number, &drawn, &Quiet)?;
            again = again.merge(Tallied::from_bytes(&own.to_bytes())?)?;
        }
        if judged.finish_rows(&file, Some(&again), MEMORY, &Quiet)?.holds() {
            return Ok(rounds);
        }
        assert!(rounds < 16, "the search does not end");
        parts.iter_mut().for_each(|part| dice.shuffle(part));
        let mut all: Option<Overlooked> = None;
        for (number, part) in read(&parts) {
            let own = Overlooked::of(&plan, (number, &part), (&found, &shape), MEMORY, &Quiet)?;
            let own = Overlooked::from_bytes(&own.to_bytes())?;
            all = Some(match all {
                None => own,
                Some(all) => all.merge(own, &plan, MEMORY, &Quiet)?,
            });
        }
        let own = all.expect("there are parts").records(&plan, MEMORY, &Quiet)?;
        assert!(!own.is_empty(), "somebody was found, and nobody is to blame");
        more = Some(match more {
            None => own,
            Some(before) => before.with(&own, &Quiet)?,
        });
    }
    unreachable!("rounds end")
}

fn dealt(people: &[PathRecord], parts: usize, dice: &mut Dice) -> Vec<Vec<PathRecord>> {
    let mut dealt = vec![Vec::new(); parts];
    people.iter().for_each(|person| dealt[dice.below(parts)].push(person.clone()));
    dealt.retain(|part| !part.is_empty());
    dealt
}

#[test]
fn records_that_a_kernel_overlooks_join_it() {
    assert_eq!(rounds(vec![people()], &mut Dice::new(1)).expect("a solution"), 1);
}

/// Whoever is overlooked depends on partitions; that the promise is kept does not.
#[test]
fn the_promise_is_kept_whatever_the_partitions() {
    let mut overlooked = 0;
    for seed in 0..u64::from(cases(60)) {
        let mut dice = Dice::new(seed);
        let mut people = people();
        // Some are there more often.
        for _ in 0..dice.below(6) {
            people.push(people[dice.below(people.len())].clone());
        }
        dice.shuffle(&mut people);
        let parts = 1 + dice.below(4);
        overlooked += rounds(dealt(&people, parts, &mut dice), &mut dice).expect("a solution").min(1);
    }
    assert!(overlooked > 0, "nobody was overlooked");
}
