//! `bosket policy`

use bosket_model::Failure;
use serde_json::json;

use crate::Outcome;
use crate::args::PolicyCommand;
use crate::load;
use crate::output::{plural, print, print_invalid, print_json};
use crate::talk::Talk;

pub fn run(args: &PolicyCommand, talk: &Talk) -> Result<Outcome, Failure> {
    match args {
        PolicyCommand::Schema => print_json(&bosket_model::policy::json_schema())?,
        PolicyCommand::Check { policy, sets, json } => {
            let file = match load::policy(policy, sets, talk) {
                Err(failure) if *json => return Err(print_invalid(failure)?),
                checked => checked?,
            };
            let attributes = file.policy.attributes.len();
            let model = file.policy.privacy.as_ref().map(|p| p.model.name());
            if *json {
                let warnings: Vec<String> = file.warnings.iter().map(ToString::to_string).collect();
                print_json(
                    &json!({"valid": true, "attributes": attributes, "model": model, "warnings": warnings}),
                )?;
            } else {
                let model = model.map_or("no guarantee".to_owned(), |m| format!("model {m}"));
                print(&format!("{}: {}, {model}\n", policy.display(), plural(attributes, "attribute")))?;
            }
        }
    }
    Ok(Outcome::Done)
}
