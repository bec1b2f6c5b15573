//! `bosket policy`

use std::path::Path;

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::{Warned, open, prepare};
use bosket_io::PolicyFile;
use bosket_model::Result;
use serde_json::json;

use crate::Outcome;
use crate::args::{PolicyCommand, Sets};
use crate::next;
use crate::output::{plural, print, print_invalid, print_json};
use crate::talk::Talk;

pub fn run(args: &PolicyCommand, talk: &Talk) -> Result<Outcome> {
    match args {
        PolicyCommand::Schema => print_json(&bosket_model::policy::json_schema())?,
        PolicyCommand::Check { policy, sets, data, json } => {
            let file = match check(policy, sets, *data, talk) {
                Err(failure) if *json => return Err(print_invalid(failure)?),
                checked => checked?,
            };
            let warnings: Vec<String> = file.warnings.iter().map(ToString::to_string).collect();
            let file = talk.told(file);
            let attributes = file.policy.attributes.len();
            let model = file.policy.privacy.as_ref().map(|p| p.model.name());
            if *json {
                print_json(
                    &json!({"valid": true, "attributes": attributes, "model": model, "warnings": warnings}),
                )?;
            } else {
                let model = model.map_or("no guarantee".to_owned(), |m| format!("model {m}"));
                let fits = if *data { ", fits its data" } else { "" };
                let attributes = plural(attributes, "attribute");
                print(&format!("{}: {attributes}, {model}{fits}\n", policy.display()))?;
                if file.policy.privacy.is_some() && file.policy.publish.is_some() {
                    let more: &[&str] = if *data { &[] } else { &["--dry-run"] };
                    print(&next::about(&["anonymize"], policy, sets, more))?;
                }
            }
        }
    }
    Ok(Outcome::Done)
}

/// Reads a policy and refuses what a run would refuse before it searches, with or without its data.
fn check(policy: &Path, sets: &Sets, data: bool, talk: &Talk) -> Result<Warned<PolicyFile>> {
    let (policy, settings) = (sets.policy(policy)?, talk.settings(None, false));
    if !data {
        return open::checked_policy(&policy, &settings, talk);
    }
    let request = AnonymizeRequest { policy, settings, ..AnonymizeRequest::default() };
    Ok(prepare(&request, talk)?.map(|prepared| prepared.into_policy()))
}
