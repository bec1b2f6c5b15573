//! Wide records: drafts of real databases as they come, without an edit, and of a generated hospital.

use std::path::{Path, PathBuf};

use bosket_generate::hospital::Size;

use super::data::SEED;
use super::job::{Anonymize, Answer, Job, Policy};
use super::result::{Axis, Suite};
use super::sweep::{Bench, Sweep};

/// Its name.
pub(super) const NAME: &str = "wide";

/// For comparison with releases before there were attackers in drafts: any two values and a relation.
const PLAIN: &str = "k = 5, m = 2, n = 1";
/// As it comes.
const DRAFTED: &str = "the drafted attackers";

/// Data beside the repository: what it is called, where it is, and in what preset.
const BESIDE: [(&str, &str); 6] = [
    ("Synthea", "health-synthea-csv-1k"),
    ("Chinook", "rel-chinook/Chinook_Sqlite.sqlite.gz"),
    ("OULAD", "rel-oulad"),
    ("INFORMS", "rt-informs"),
    ("EU-SILC", "rel-eusilc/eusilc.csv.gz"),
    ("legislators", "json-congress-legislators/legislators-current.json.gz"),
];

/// Runs the suite.
pub(super) fn run(bench: &Bench) -> Result<Suite, String> {
    let people: &[u64] = bench.pick(&[60], &[1_000], &[1_000, 10_000]);
    let events = bench.pick(10, 300, 300);
    let mut sets: Vec<(String, Result<PathBuf, String>)> = Vec::new();
    for &people in people {
        let size = Size { people, events, seed: SEED };
        sets.push((format!("hospital, {people} people"), bench.data.hospital(size)));
    }
    let beside = bench.pick(&BESIDE[..0], &BESIDE, &BESIDE);
    sets.extend(beside.iter().map(|(name, path)| ((*name).to_owned(), bench.data.drafted(name, path))));
    let sweep = Sweep {
        suite: NAME,
        id: "drafts",
        title: "Drafts as they come; what is sensitive is published as it is",
        axis: Axis::named("data"),
        lines: vec![PLAIN, DRAFTED],
        measures: &["NCP", "mostly *", "quasi attributes", "people", "rows", "cpu", "peak"],
    };
    let mut table = sweep.empty();
    for (at, (name, policy)) in sets.iter().enumerate() {
        let answers: Vec<Answer> = (sweep.lines.iter())
            .map(|line| point(bench, name, policy.as_ref().map_err(Clone::clone)?, line))
            .collect();
        table.push(at as f64, name, &answers);
    }
    let notes = vec![
        "Nothing is edited in a draft but this: whoever publishes has to say of each sensitive attribute what protects it, and here that is nothing. `mostly *` counts the quasi attributes of which more than half of the values are `*` or left out. Each publication is verified; one that does not hold has no figures.".to_owned(),
    ];
    let title = "Wide records".to_owned();
    Ok(Suite { name: NAME.to_owned(), title, seconds: 0.0, tables: vec![table], notes, claims: Vec::new() })
}

fn point(bench: &Bench, name: &str, policy: &Path, line: &str) -> Answer {
    let path = if line == PLAIN { without_attackers(policy)? } else { policy.to_owned() };
    let job = Anonymize { policy: Policy { path, settings: Vec::new() }, ..Anonymize::default() };
    bench.measure(&format!("{NAME} {name}, {line}"), &Job::Anonymize(job))
}

/// The same policy beside it against somebody who knows any two values and a relation. A flat table stays as it is.
fn without_attackers(policy: &Path) -> Result<PathBuf, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", policy.display());
    let text = std::fs::read_to_string(policy).map_err(failed)?;
    let plain = policy.with_extension("plain.toml");
    std::fs::write(&plain, plainly(&text)).map_err(failed)?;
    Ok(plain)
}

fn plainly(text: &str) -> String {
    let blocks: Vec<&str> = text.split("\n\n").collect();
    let is_privacy = |block: &str| block.lines().any(|line| line == "[privacy]");
    let of_tree = blocks.iter().any(|b| is_privacy(b) && b.contains("\"kmn\""));
    let known = |block: &str| match is_privacy(block) && of_tree {
        true => {
            let kept = block.lines().filter(|line| !line.starts_with("guess") && !line.starts_with('#'));
            kept.chain(["m = 2", "n = 1"]).collect::<Vec<_>>().join("\n")
        }
        false => block.to_owned(),
    };
    let others = blocks.iter().filter(|block| !block.contains("[[privacy.attacker]]"));
    others.map(|block| known(block)).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::plainly;

    #[test]
    fn attackers_are_taken_out_of_a_draft() {
        let draft = "version = 1\n\n# More under [privacy].\n[[attribute]]\npath = \"a\"\n\n# About guesses.\n[privacy]\nmodel = \"kmn\"\nk     = 5\nguess = 0.5\n\n# They know.\n\
            [[privacy.attacker]]\nname = \"neighbour\"\nm = 1\n\n[publish]\npath = \"out\"\n";
        let plain = "version = 1\n\n# More under [privacy].\n[[attribute]]\npath = \"a\"\n\n[privacy]\nmodel = \"kmn\"\nk     = 5\nm = 2\nn = 1\n\n[publish]\npath = \"out\"\n";
        assert_eq!(plainly(draft), plain);
        let flat = "[privacy]\nmodel = \"k-anonymity\"\nk = 5\n\n[publish]\npath = \"out\"\n";
        assert_eq!(plainly(flat), flat);
    }
}
