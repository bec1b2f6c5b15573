//! `bosket why`

use bosket_app::why::{Why, WhyRequest};
use bosket_model::Result;

use crate::Outcome;
use crate::args;
use crate::output::{count, print, print_json};
use crate::talk::Talk;

pub fn run(args: &args::Why, talk: &Talk) -> Result<Outcome> {
    let request = WhyRequest {
        policy: args.sets.policy(&args.policy),
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
        Why::Labels(all) if all.is_empty() => {
            print("nothing is coarser than it was: there is no label to split\n")?;
        }
        Why::Labels(all) => {
            let mut text = String::new();
            for attribute in all {
                text.push_str(&format!("{}\n", attribute.path));
                for (label, places) in &attribute.labels {
                    text.push_str(&format!("  {label:?} in {} places\n", count(*places as usize)));
                }
            }
            print(&text)?;
        }
    }
    Ok(Outcome::Done)
}
