//! What several releases tell together, in words.

use bosket_verify::Claim;
use bosket_verify::joint::Joint;

use crate::output::{count, plural};

/// Values of a class that are shown at most.
const VALUES: usize = 20;

/// People of a witness that are shown at most.
const SHOWN: usize = 10;

/// The verdict about all of them together.
pub fn text(joint: &Joint) -> String {
    let claim = joint.verification.claim.as_ref().map_or(String::new(), Claim::sentence);
    let names = joint.releases[1..].join(", ");
    let linked = format!("{} of {}", count(joint.linked), plural(joint.verification.records, "person"));
    let linked = linked.replace("persons", "people");
    let unclear = match joint.unclear {
        0 => String::new(),
        n => format!(
            "         Rows of {} could go together in ways that look different; they stand side by side.\n",
            plural(n, "person").replace("persons", "people")
        ),
    };
    let mut out = if joint.holds() {
        return format!(
            "JOINTLY with {names}\n  HOLDS: {claim}.\n         {linked} are in more than one of the releases.\n{unclear}"
        );
    } else {
        format!(
            "JOINTLY with {names}\n  VIOLATED: {claim}.\n         {linked} are in more than one of the releases.\n{unclear}"
        )
    };
    if !joint.verification.left.is_empty() {
        let left = joint.verification.left.join(", ");
        out.push_str(&format!("  The policy removes {left}, but one of them has it.\n"));
    }
    let Some(witness) = joint.verification.witness() else { return out };
    let people = match witness.support {
        1 => "only one person fits".to_owned(),
        n => format!("only {} people fit", count(n)),
    };
    match &witness.sensitive {
        None => out.push_str(&format!("\nWitness: {people} this knowledge:\n")),
        Some(s) => out.push_str(&format!(
            "\nWitness: {} = {} has a share of {:.1} % among the {} people who look like this:\n",
            s.path,
            s.value,
            s.share * 100.0,
            count(witness.support)
        )),
    }
    let paths = witness.values.iter().map(|value| value.path.chars().count()).max().unwrap_or(0);
    let texts = witness.values.iter().map(|value| value.text().chars().count()).max().unwrap_or(0);
    for (at, (value, from)) in witness.values.iter().zip(&joint.sources).enumerate().take(VALUES) {
        let from: Vec<&str> = from.iter().map(|&at| joint.releases[at].as_str()).collect();
        let from = if from.is_empty() { String::new() } else { format!("from {}", from.join(", ")) };
        let line = format!("  {:>2}  {:paths$}  {:texts$}  {from}", at + 1, value.path, value.text());
        out.push_str(line.trim_end());
        out.push('\n');
    }
    if witness.values.len() > VALUES {
        out.push_str(&format!("      and {} more\n", witness.values.len() - VALUES));
    } else if !witness.relations.is_empty() {
        let pairs: Vec<String> =
            witness.relations.iter().map(|(a, b)| format!("{} above {}", a + 1, b + 1)).collect();
        out.push_str(&format!("  related: {}\n", pairs.join(", ")));
    }
    for (release, name) in joint.releases.iter().enumerate() {
        let numbers = joint.records.iter().filter_map(|of| of[release]);
        let shown: Vec<String> = numbers.clone().take(SHOWN).map(|n| count(n as usize + 1)).collect();
        let more = numbers.count().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {} more", count(more)) } else { String::new() };
        out.push_str(&format!("  records of {name}: {}{more}\n", shown.join(" ")));
    }
    out
}
