//! Which role an attribute probably has, and why.
//!
//! Names come first, then what the values are like. In doubt an attribute is `quasi`: an attacker may know it. What is
//! wrongly quasi costs detail, what is wrongly insensitive costs a person's privacy. `key` is never suggested: it
//! belongs to the columns that link tables, and those are told by the tables' description.

use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, ClassId, Dataset, Result};

use super::builder::{Coarsening, coarsening, in_order};
use super::codes::Code;
use super::companion::{Follows, NEAR, companions};
use super::profile::{AttributeProfile, Profile, share};
use super::shape::ValueType;
use super::topic::{Topic, name_part};

/// From this share on, nearly every value belongs to one record.
const NEARLY_ALL: f64 = 0.9;
/// From this share on, whom an attribute singles out is worth a word.
const WORTH_A_WORD: f64 = 0.05;
/// With fewer values it is chance that they differ.
const ENOUGH: usize = 20;
/// So many amounts do not all differ.
const LATER: usize = 100;
/// Longer texts that mostly differ are written freely.
const FREE_TEXT: f64 = 40.0;
/// A value that all of fewer records have is no constant yet.
const CONSTANT: usize = 5;

/// Where at most one of so many values is rare, the rare ones may be mistakes.
const SOME_RARE: usize = 4;

/// What is suggested for an attribute.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// Its role.
    pub role: Role,
    /// Why, in plain words and without values of the data.
    pub reason: String,
    /// How it may be coarsened; for quasi attributes that follow no other.
    pub hierarchy: Option<Coarsening>,
    /// The attribute that it repeats in other words.
    pub follows: Option<AttributeId>,
}

/// A role before companions are known.
struct Opinion {
    role: Role,
    reason: String,
    /// The name alone says that it must go.
    certain: bool,
}

/// What is suggested for each attribute, in the schema's order.
pub fn suggest(profile: &Profile, data: &Dataset, observer: &dyn Observer) -> Result<Vec<Suggestion>> {
    let attributes = &profile.attributes;
    if let [item] = &attributes[..]
        && item.class != ClassId::ROOT
    {
        return Ok(vec![items(item)]);
    }
    let topics = topics(attributes);
    let opinions: Vec<Opinion> = attributes.iter().zip(&topics).map(|(a, &t)| opinion(a, t)).collect();
    let follows = companions(
        data,
        attributes,
        |leader| matches!(opinions[leader].role, Role::Quasi | Role::Sensitive),
        |follower| !opinions[follower].certain && opinions[follower].role != Role::Insensitive,
        observer,
    )?;
    let suggestion = |(i, opinion): (usize, &Opinion)| {
        observer.go_on()?;
        Ok(match follows[i] {
            Some(Follows { leader, is_end }) => Suggestion {
                role: opinions[leader].role,
                reason: match is_end {
                    false => {
                        format!(
                            "Says what {} says, in other words, and goes where that goes.",
                            attributes[leader].path
                        )
                    }
                    true => format!(
                        "At most {NEAR} days after {}, and left out with what it adds to that; take `follows` out to publish both.",
                        attributes[leader].path
                    ),
                },
                hierarchy: None,
                follows: Some(attributes[leader].id),
            },
            None => Suggestion {
                role: opinion.role,
                reason: opinion.reason.clone(),
                hierarchy: (opinion.role == Role::Quasi).then(|| coarsening(data, &attributes[i], topics[i])),
                follows: None,
            },
        })
    };
    opinions.iter().enumerate().map(suggestion).collect()
}

/// What each attribute is about. Parts of a name are told by their company: `first` is one beside `last`, `suffix`
/// beside `first_name`.
fn topics(attributes: &[AttributeProfile]) -> Vec<Option<Topic>> {
    let part = |a: &AttributeProfile| name_part(&a.name).filter(|_| a.value_type == ValueType::Text);
    let by_name: Vec<Option<Topic>> = attributes.iter().map(|a| Topic::of(&a.name)).collect();
    // Few attributes are parts of a name or a name: only they are company.
    let company: Vec<(&AttributeProfile, Option<&str>, bool)> = (attributes.iter().zip(&by_name))
        .map(|(a, topic)| (a, part(a), *topic == Some(Topic::PersonName)))
        .filter(|(_, part, named)| part.is_some() || *named)
        .collect();
    let in_company = |a: &AttributeProfile, own: &str| {
        let wanted = if matches!(own, "first" | "given") { ["last", "family"] } else { ["first", "given"] };
        (company.iter().filter(|(b, ..)| b.class == a.class && b.id != a.id))
            .any(|(_, part, named)| part.is_some_and(|p| wanted.contains(&p)) || *named)
    };
    let topic = |(a, &topic): (&AttributeProfile, &Option<Topic>)| match part(a) {
        Some(own) if in_company(a, own) => Some(Topic::PersonName),
        _ if topic.is_none_or(|t| !t.singles_out()) && is_about_health(a) => Some(Topic::Health),
        _ => topic,
    };
    attributes.iter().zip(&by_name).map(topic).collect()
}

/// Whether the values are codes of diagnoses, findings or medicines, whatever the attribute is called.
fn is_about_health(attribute: &AttributeProfile) -> bool {
    attribute.shape.code.is_some_and(Code::is_health)
}

/// How the topic of an attribute is known.
fn known_by(attribute: &AttributeProfile, topic: Topic) -> String {
    match attribute.shape.code {
        Some(code) if code.is_health() => {
            format!("By their form, {}, and so {}", code.phrase(), topic.phrase())
        }
        _ => format!("By its name, {}", topic.phrase()),
    }
}

/// Records that are sets of items have nothing else that could be known, and items are names even if they are numbers.
fn items(item: &AttributeProfile) -> Suggestion {
    let Opinion { role, reason, .. } = quasi(item, "Items of a set: others may know some of them.");
    Suggestion { role, reason, hierarchy: Some(in_order(item)), follows: None }
}

fn opinion(attribute: &AttributeProfile, topic: Option<Topic>) -> Opinion {
    let is_time = matches!(attribute.value_type, ValueType::Date | ValueType::DateTime | ValueType::Year);
    let nested = attribute.class != ClassId::ROOT;
    if let Some(topic) = topic.filter(|t| t.singles_out() && *t != Topic::Identifier) {
        return certain(format!("By its name, {}.", topic.phrase()));
    }
    if topic == Some(Topic::Identifier) && (lonely(attribute) >= NEARLY_ALL || attribute.distinct == 0) {
        return certain(if nested {
            "By its name, an identifier, and nearly every one belongs to one person.".to_owned()
        } else {
            "By its name, an identifier, and nearly everyone has their own.".to_owned()
        });
    }
    if attribute.distinct == 0 {
        return insensitive("It has no value anywhere.");
    }
    if attribute.shape.uuids == attribute.distinct {
        return by_values("Its values are UUIDs, which are made to tell one thing from all others.");
    }
    if let Some(code) = attribute.shape.code.filter(|code| code.singles_out()) {
        return certain(format!("By their form, {}: they lead to a person.", code.phrase()));
    }
    if attribute.distinct == 1
        && attribute.present == attribute.vertices
        && attribute.records_with >= CONSTANT
    {
        return insensitive("The same value everywhere: it says nothing about anyone.");
    }
    if attribute.path.ends_with("{}.{key}") && 2 * attribute.rare_values > attribute.distinct {
        return by_values(
            "Keys of a map, most of which a few people have: they name somebody, or a thing of theirs.",
        );
    }
    if singles_out(attribute, topic) {
        return by_values("Nearly every value belongs to one person, as those of an identifier do.");
    }
    if is_free_text(attribute) {
        return by_values("Free text: what it gives away about a person cannot be checked.");
    }
    match topic {
        Some(t @ (Topic::Money | Topic::Grade | Topic::Intimate)) if !is_time => sensitive(attribute, t),
        Some(Topic::Health) if !is_time && !nested => sensitive(attribute, Topic::Health),
        Some(Topic::Health) if !is_time => {
            let known = known_by(attribute, Topic::Health);
            let known = if is_about_health(attribute) { known } else { "About health".to_owned() };
            quasi(attribute, &format!("{known}: part of it may be known to colleagues or neighbours."))
        }
        Some(Topic::Identifier) => {
            quasi(attribute, "By its name, an identifier, but of something that people share.")
        }
        Some(t) => quasi(attribute, &format!("{}: others may know it.", known_by(attribute, t))),
        None if attribute.shape.code == Some(Code::Postal) => {
            quasi(attribute, "By their form, postal codes: others may know it.")
        }
        None if is_time => quasi(attribute, "A time: others may know it."),
        None => quasi(attribute, "An attacker may know it: the safe assumption."),
    }
}

/// The share of its occurrences whose value no other record has.
fn lonely(attribute: &AttributeProfile) -> f64 {
    share(attribute.unique_present, attribute.present)
}

/// Whether the values are a person's own without being measurements: numbers only if they mean nothing else and never
/// recur, since running numbers do not and amounts sooner or later do. Postal codes can be shortened instead.
fn singles_out(attribute: &AttributeProfile, topic: Option<Topic>) -> bool {
    // Titles, names of jobs and codes are many people's, even where few data have many of them.
    let shared = matches!(topic, Some(Topic::Postal | Topic::Work)) || attribute.shape.code.is_some();
    if attribute.records_with < ENOUGH || shared {
        return false;
    }
    match attribute.value_type {
        ValueType::Text | ValueType::Mixed => {
            let mostly_times = 2 * (attribute.shape.dates + attribute.shape.times) > attribute.distinct;
            lonely(attribute) >= NEARLY_ALL && !mostly_times
        }
        ValueType::Integer => {
            topic.is_none() && attribute.records_with >= LATER && attribute.distinct == attribute.present
        }
        _ => false,
    }
}

fn is_free_text(attribute: &AttributeProfile) -> bool {
    attribute.value_type == ValueType::Text
        && attribute.average_length >= FREE_TEXT
        && attribute.records_with >= ENOUGH
        && 2 * attribute.distinct >= attribute.present
}

fn certain(reason: String) -> Opinion {
    Opinion { role: Role::Identifying, reason, certain: true }
}

fn by_values(reason: &str) -> Opinion {
    Opinion { role: Role::Identifying, reason: reason.to_owned(), certain: false }
}

fn insensitive(reason: &str) -> Opinion {
    Opinion { role: Role::Insensitive, reason: reason.to_owned(), certain: false }
}

fn sensitive(attribute: &AttributeProfile, topic: Topic) -> Opinion {
    let mut reason = format!("{}: rarely known to others, and to be protected.", known_by(attribute, topic));
    if attribute.uniqueness() >= WORTH_A_WORD {
        reason += &format!(
            " Published as it is, it singles out {} of the records for whoever does know it: then make it quasi.",
            percent(attribute.uniqueness())
        );
    }
    Opinion { role: Role::Sensitive, reason, certain: false }
}

fn quasi(attribute: &AttributeProfile, reason: &str) -> Opinion {
    let mut reason = reason.to_owned();
    if attribute.uniqueness() >= WORTH_A_WORD {
        reason += &format!(" It singles out {} of the records.", percent(attribute.uniqueness()));
    }
    let (rare, all) = (attribute.rare_values, attribute.distinct);
    if attribute.value_type == ValueType::Text && rare > 0 && SOME_RARE * rare <= all {
        reason += &format!(
            " Of its {all} values {rare} {} of fewer than 5 people: correct them if they are mistakes, or group them in a \
             hierarchy file.",
            if rare == 1 { "is that" } else { "are those" }
        );
    }
    Opinion { role: Role::Quasi, reason, certain: false }
}

/// Rounded, but all only if it is all.
fn percent(share: f64) -> String {
    let rounded = (100.0 * share).round();
    if rounded >= 100.0 && share < 1.0 { "over 99 %".to_owned() } else { format!("{rounded} %") }
}

#[cfg(test)]
mod tests;
