//! `bosket attack`

use bosket_app::attack::{AttackRequest, OwnPublication};
use bosket_app::guess::GuessRequest;
use bosket_model::Result;

use crate::Outcome;
use crate::args::Attack;
use crate::commands::{attack_text, guess_text};
use crate::next;
use crate::output::{print, print_json};
use crate::talk::Talk;

pub fn run(args: &Attack, talk: &Talk) -> Result<Outcome> {
    if args.guess {
        return guess(args, talk);
    }
    let request = AttackRequest {
        policy: args.sets.policy(&args.policy)?,
        data: args.data.clone(),
        publication: args.publication.clone(),
        mapping: args.mapping.clone(),
        with: args.with.earlier()?,
        population: args.population.clone(),
        m: args.m.as_ref().map(|m| m.0.clone()),
        n: args.n.as_ref().map(|n| n.0.clone()),
        budget: args.budget,
        sample: args.sample.map(|s| s as usize),
        worst: args.worst,
        settings: talk.settings(None, args.show_values),
    };
    let found = talk.told(bosket_app::attack(&request, talk)?);
    match &found.own {
        None => {}
        Some(OwnPublication::Missing(name)) => talk.line(&format!(
            "bosket: there is no publication at {name} yet; only the private data is attacked"
        )),
        Some(OwnPublication::Attacked(name)) => {
            talk.line(&format!("bosket: attacking the policy's publication {name} too"));
        }
    }
    if args.json {
        print_json(&found.to_json(args.show_values))?;
    } else {
        print(&attack_text::report(&found, args.show_values))?;
        match &found.own {
            Some(OwnPublication::Missing(_)) => {
                print(&next::about(&["anonymize"], &args.policy, &args.sets, &[]))?;
            }
            Some(OwnPublication::Attacked(_)) => {
                print(&next::about(&["report"], &args.policy, &args.sets, &[]))?;
            }
            None => {}
        }
    }
    Ok(Outcome::Done)
}

/// What labels give away.
fn guess(args: &Attack, talk: &Talk) -> Result<Outcome> {
    let request = GuessRequest {
        policy: args.sets.policy(&args.policy)?,
        data: args.data.clone(),
        publication: args.publication.clone(),
        mapping: args.mapping.clone(),
        control: args.control.clone(),
        settings: talk.settings(None, args.show_values),
    };
    let found = talk.told(bosket_app::guess::guess(&request, talk)?);
    match args.json {
        true => print_json(&found.to_json(args.show_values))?,
        false => print(&guess_text::report(&found, args.worst, args.show_values))?,
    }
    Ok(Outcome::Done)
}
