//! `bosket why`

use bosket_app::why::{PublishedLabels, Why, WhyRequest};
use bosket_model::Result;

use crate::Outcome;
use crate::args;
use crate::output::{count, print, print_json};
use crate::talk::Talk;

pub fn run(args: &args::Why, talk: &Talk) -> Result<Outcome> {
    let request = WhyRequest {
        policy: args.sets.policy(&args.policy)?,
        publication: args.publication.clone(),
        mapping: args.mapping.clone(),
        path: args.path.clone(),
        label: args.label.clone(),
        settings: talk.settings(args.memory, args.show_values),
    };
    let found = talk.told(bosket_app::why(&request, talk)?);
    if args.json {
        print_json(&found.to_json())?;
        return Ok(Outcome::Done);
    }
    match &found {
        Why::NotFiner(found) => print(&format!("{}\n", found.sentence()))?,
        Why::Labels(all) => print(&listed(all))?,
    }
    Ok(Outcome::Done)
}

/// The labels that can be asked about, by attribute.
fn listed(all: &[PublishedLabels]) -> String {
    let mut text = String::new();
    for attribute in all {
        let mut labels = attribute.labels.iter().filter(|label| label.splits).peekable();
        if labels.peek().is_some() {
            text.push_str(&format!("{}\n", attribute.path));
        }
        for label in labels {
            text.push_str(&format!("  {:?} in {} places\n", label.label, count(label.places as usize)));
        }
    }
    match text.is_empty() {
        true => "nothing is coarser than it was: there is no label to split\n".to_owned(),
        false => text,
    }
}
