//! What a run on partitions tells about itself: the same whatever the partitions, and certified only as it was told.

use std::path::Path;

use bosket_app::Census;
use bosket_app::parted::plan::{Frequencies, Kernel, Plan, survey};
use bosket_app::parted::shape::Shape;
use bosket_app::parted::{PartsState, PartsVerdict, certify, recount_rows};
use bosket_io::PolicyFile;
use bosket_io::parquet::Columns;
use bosket_model::observe::Quiet;
use bosket_model::{Dataset, Fault, Fingerprint, Result};
use bosket_testkit::trees::{PathRecord, crowded_dataset};
use bosket_verify::recount::parts::Tallied;
use serde_json::{Value, json};

use crate::overlooked::policy;

const MEMORY: usize = 1 << 24;

/// Everybody is there four times but one, whose values have to be generalized.
fn people() -> Vec<PathRecord> {
    let row = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
    let some = [vec![row("A0 B0 C1"), row("A2 B2")], vec![row("A1 B1 C0")], vec![row("A4 B4")]];
    let mut people: Vec<PathRecord> = some.iter().flat_map(|person| vec![person.clone(); 4]).collect();
    people.push(vec![row("A5 B5")]);
    people
}

/// The verdict on all parts, and what the run tells.
fn run(parts: &[Vec<PathRecord>]) -> Result<(PolicyFile, PartsVerdict, Value)> {
    let text = policy();
    let file = PolicyFile::parse(Path::new("p.toml"), &text, &[])?;
    let parts: Vec<(u32, Dataset)> =
        (0..).zip(parts).map(|(number, part)| (number, crowded_dataset(part))).collect();
    let mut all = Census::default();
    for (_, part) in &parts {
        all = all.merge(&survey(&file, part, &Quiet)?);
    }
    let plan = Plan::new(&file, (text, Vec::new()), all)?.value;
    let mut sums = Frequencies::default();
    for (_, part) in &parts {
        sums = sums.merge(&plan.frequencies(part, &Quiet)?)?;
    }
    let mut kernels = |labels: &[u32], size: usize| -> Result<Kernel> {
        let one =
            |(number, part): &(u32, Dataset)| plan.kernel((*number, part), (labels, size), MEMORY, &Quiet);
        plan.merged(parts.iter().map(one).collect::<Result<_>>()?, (labels, size), MEMORY, &Quiet)
    };
    let found = plan.search(sums, (false, None), &mut kernels, MEMORY, &Quiet)?;
    let (mut judged, mut shape) = (PartsState::default(), Shape::default());
    for (number, part) in &parts {
        let (published, _) = plan.recode(part, &found, &Quiet)?;
        let own = PartsState::of_rows(&file, &published, *number, MEMORY, &Quiet)?;
        judged = judged.merge(own, &file, MEMORY, &Quiet)?;
        shape = shape.merge(&plan.shape(part, &Columns::default(), &found, &Quiet)?);
    }
    let mut again = Tallied::default();
    for (number, part) in &parts {
        let (published, _) = plan.recode(part, &found, &Quiet)?;
        let drawn = judged.drawn().expect("knowledge is counted");
        again = again.merge(recount_rows(&file, &published, *number, drawn, &Quiet)?)?;
    }
    let verification = judged.finish_rows(&file, Some(&again), MEMORY, &Quiet)?;
    let files = vec![Fingerprint { name: "part-00000.parquet".to_owned(), sha256: "0".repeat(64) }];
    let figures = plan.figures(&found, &shape)?;
    Ok((file, PartsVerdict { verification, caveats: Vec::new(), files }, figures))
}

fn dealt(people: &[PathRecord], parts: usize) -> Vec<Vec<PathRecord>> {
    (0..parts).map(|part| people.iter().skip(part).step_by(parts).cloned().collect()).collect()
}

#[test]
fn figures_do_not_depend_on_partitions() {
    let people = people();
    let (_, whole, figures) = run(&dealt(&people, 1)).expect("a solution");
    assert!(whole.verification.holds());
    let kept = &figures["kept"];
    assert_eq!(
        (&kept["classes"][0]["rows"], &kept["classes"][0]["published"]),
        (&json!(13), &json!(13)),
        "{kept}"
    );
    // Four people have two rows, nine have one.
    assert_eq!(kept["attributes"][0]["values"], 17, "{kept}");
    for parts in [2, 3, 5] {
        let (_, verdict, others) = run(&dealt(&people, parts)).expect("a solution");
        assert!(verdict.verification.holds());
        assert_eq!(others, figures, "in {parts} parts");
    }
}

#[test]
fn damaged_figures_are_not_certified() {
    let (file, verdict, figures) = run(&dealt(&people(), 3)).expect("a solution");
    let certificate = certify(&file, &verdict, &figures, &Quiet).expect("certified");
    assert_eq!((&certificate.kept, &certificate.loss), (&figures["kept"], &figures["loss"]));
    assert_eq!(certificate.legend, figures["legend"]);
    let refused = |figures: &Value, what: &str| {
        let failure = certify(&file, &verdict, figures, &Quiet).expect_err(what);
        assert_eq!(failure.fault, Fault::Data, "{what}: {failure}");
    };
    for key in ["loss", "suppressed", "kept", "legend"] {
        let mut without = figures.clone();
        without.as_object_mut().expect("an object").remove(key);
        refused(&without, key);
    }
    for key in ["loss", "suppressed", "kept"] {
        for damaged in [Value::Null, json!("much"), json!([1]), json!(0.5)] {
            let mut other = figures.clone();
            other[key] = damaged;
            refused(&other, key);
        }
    }
    refused(&Value::Null, "nothing is told");
}
