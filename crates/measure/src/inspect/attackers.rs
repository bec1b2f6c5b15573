//! Who may look for somebody, as a draft proposes it: a neighbour and a colleague.
//!
//! A neighbour knows all of what is plain to see of a person; which attributes these are follows from the reasons that
//! the suggestions give. A colleague knows little, but of anything, and what belongs together.

use bosket_model::ClassId;
use bosket_model::policy::{Attacker, Role};

use super::profile::{AttributeProfile, Profile};
use super::suggest::Suggestion;
use super::topic::Topic;
use super::{omop, preset};

/// Whoever knows more than that at once is no mere neighbour.
const MOST_KNOWN: usize = 6;

/// What is plain to see of a person: first what everybody sees.
const PLAIN: [Topic; 8] = [
    Topic::Gender,
    Topic::Birth,
    Topic::Age,
    Topic::Place,
    Topic::Postal,
    Topic::Work,
    Topic::Household,
    Topic::Origin,
];

/// Reasons of presets that say the same of a column whose name does not.
const REASONS: [&str; 6] =
    [omop::MET, preset::MET, preset::MAY_HAVE_MET, preset::FAMILY, preset::NEIGHBOURS, preset::REGISTERS];

/// The attackers of a draft, each with a comment.
pub(super) fn proposed(profile: &Profile, suggestions: &[Suggestion]) -> Vec<(Attacker, String)> {
    let known: Vec<(&AttributeProfile, &Suggestion)> = (profile.attributes.iter().zip(suggestions))
        .filter(|(_, s)| s.role == Role::Quasi && s.follows.is_none())
        .collect();
    let neighbour = neighbour(profile, &known);
    neighbour.into_iter().chain([colleague(profile, &known)]).collect()
}

/// Somebody who knows all that is plain to see of a person, and one thing more; nobody where nothing is.
fn neighbour(profile: &Profile, known: &[(&AttributeProfile, &Suggestion)]) -> Option<(Attacker, String)> {
    let mut kinds: Vec<Vec<&AttributeProfile>> = vec![Vec::new(); PLAIN.len() + REASONS.len()];
    for &(attribute, suggestion) in known.iter().filter(|(a, _)| is_single(profile, a)) {
        if let Some(kind) = kind(attribute, suggestion) {
            kinds[kind].push(attribute);
        }
    }
    // Of a kind, what has most values tells most.
    kinds.iter_mut().for_each(|kind| kind.sort_by_key(|a| std::cmp::Reverse(a.distinct)));
    let most = kinds.iter().map(Vec::len).max().unwrap_or(0);
    // One of each kind, then a second one of each.
    let in_turn = (0..most).flat_map(|turn| kinds.iter().filter_map(move |kind| kind.get(turn)));
    let mut chosen: Vec<&AttributeProfile> = in_turn.copied().take(MOST_KNOWN).collect();
    chosen.sort_by_key(|a| a.id);
    let knows: Vec<String> = chosen.iter().map(|a| a.path.clone()).collect();
    let about = "A neighbour knows all of these, and one thing more.".to_owned();
    (!knows.is_empty())
        .then(|| (Attacker { name: "neighbour".to_owned(), knows, m: 1, ..Attacker::default() }, about))
}

/// Somebody who knows two things, whichever they are, and whether they belong together where anything does.
fn colleague(profile: &Profile, known: &[(&AttributeProfile, &Suggestion)]) -> (Attacker, String) {
    let n = u32::from(has_relations(profile, known));
    let about = match n {
        0 => "A colleague knows any two things.",
        _ => "A colleague knows any two things, and whether they belong together.",
    };
    (Attacker { name: "colleague".to_owned(), m: 2, n, ..Attacker::default() }, about.to_owned())
}

/// Whether nobody has two values of it.
fn is_single(profile: &Profile, attribute: &AttributeProfile) -> bool {
    profile.classes[attribute.class.index()].max_per_record <= 1 && attribute.max_per_record <= 1
}

/// Which kind of plain thing it is, by its name or else by the reason of a preset.
fn kind(attribute: &AttributeProfile, suggestion: &Suggestion) -> Option<usize> {
    let topic = Topic::of(&attribute.name);
    let by_name = PLAIN.iter().position(|plain| Some(*plain) == topic);
    by_name.or_else(|| {
        let reason = REASONS.iter().position(|reason| suggestion.reason.starts_with(reason));
        reason.map(|at| PLAIN.len() + at)
    })
}

/// Whether two values of a person can be related: they stand below the record itself, at one place or one below the other.
fn has_relations(profile: &Profile, known: &[(&AttributeProfile, &Suggestion)]) -> bool {
    let above = |class: ClassId| {
        std::iter::successors(Some(class), |class| profile.classes[class.index()].parent)
            .filter(|class| *class != ClassId::ROOT)
    };
    let related = |(i, a): (usize, &AttributeProfile)| {
        let others = known.iter().enumerate().filter(|(j, _)| *j != i);
        others.into_iter().any(|(_, (b, _))| above(a.class).any(|class| class == b.class))
    };
    known.iter().map(|(a, _)| *a).enumerate().any(related)
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;
    use bosket_model::{Builder, Kind};

    use super::super::suggest::suggest;
    use super::*;

    /// Attackers for forty people with these attributes of their own, and with so many vertices of each class below them.
    fn of(own: &[&str], below: &[(&str, usize, &[&str])]) -> Vec<Attacker> {
        let key = |name: &str| vec![name.to_owned()];
        let mut builder = Builder::new();
        let own: Vec<_> = own.iter().map(|name| builder.attribute(ClassId::ROOT, &key(name))).collect();
        let below: Vec<_> = (below.iter())
            .map(|&(name, times, attributes)| {
                let class = builder.class(ClassId::ROOT, &key(name));
                let ids = attributes.iter().map(|a| builder.attribute(class, &key(a))).collect::<Vec<_>>();
                (class, times, ids)
            })
            .collect();
        for person in 0..40 {
            builder.begin_record();
            for (i, id) in own.iter().enumerate() {
                builder.set(*id, Kind::Text, &format!("v{}", person % (i + 2)));
            }
            for (class, times, ids) in &below {
                for time in 0..*times {
                    builder.open(*class);
                    ids.iter().for_each(|id| {
                        builder.set(*id, Kind::Text, &format!("w{}", (person + time) % 7));
                    });
                    builder.close();
                }
            }
            builder.end_record().expect("set once");
        }
        let data = builder.finish();
        let profile = Profile::new(&data, &Quiet).expect("nobody interrupts");
        let suggestions = suggest(&profile, &data, &Quiet).expect("nobody interrupts");
        proposed(&profile, &suggestions).into_iter().map(|(attacker, _)| attacker).collect()
    }

    #[test]
    fn a_neighbour_knows_what_is_plain_and_a_colleague_anything() {
        let all =
            of(&["gender", "favourite", "birth_year", "town"], &[("visits", 2, &["hospital", "reason"])]);
        let [neighbour, colleague] = &all[..] else { panic!("{all:?}") };
        assert_eq!((neighbour.name.as_str(), neighbour.m, neighbour.n), ("neighbour", 1, 0));
        assert_eq!(neighbour.knows, ["gender", "birth_year", "town"]);
        assert_eq!((colleague.name.as_str(), colleague.m, colleague.n), ("colleague", 2, 1));
        assert_eq!((colleague.knows.len(), colleague.among.len()), (0, 0));
    }

    #[test]
    fn at_most_six_are_known_and_one_of_each_kind_comes_first() {
        let own = ["city", "district", "county", "state", "country", "region", "gender", "job", "born"];
        let all = of(&own, &[("visits", 2, &["hospital"])]);
        // `region` and `country` have more values than the places before them.
        assert_eq!(all[0].knows, ["state", "country", "region", "gender", "job", "born"]);
    }

    #[test]
    fn where_nothing_is_plain_there_is_no_neighbour_and_where_nothing_is_related_no_relation() {
        let all = of(&["favourite"], &[("items", 3, &["item"])]);
        let [colleague] = &all[..] else { panic!("{all:?}") };
        assert_eq!((colleague.name.as_str(), colleague.m, colleague.n), ("colleague", 2, 0));
        let all = of(&["gender"], &[("visits", 3, &["town"])]);
        assert_eq!(all[0].knows, ["gender"]);
        assert_eq!(all[1].n, 0);
    }

    #[test]
    fn what_everybody_has_once_below_is_as_plain_as_what_is_their_own() {
        let all = of(&["gender"], &[("address", 1, &["city"]), ("visits", 3, &["year", "hospital"])]);
        assert_eq!(all[0].knows, ["gender", "address[].city"]);
        assert_eq!(all[1].n, 1);
    }
}
