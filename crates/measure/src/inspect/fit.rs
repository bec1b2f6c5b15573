//! What of a deep document a draft begins with: more values below each other than a search can handle would end every run.

use bosket_model::policy::Role;
use bosket_model::{ClassId, Dataset, MISSING};

use super::profile::{AttributeProfile, Profile};
use super::suggest::Suggestion;
use super::topic::Topic;
use super::words::is;

/// How many quasi values below each other a search can handle, on the way from a record to its innermost vertex.
const DEEPEST: usize = 62;
/// How many attributes are left there if there are more: with fewer the search also ends soon.
const MOST: usize = 40;

/// Words of what says something about the document, and nothing about the person.
const DOCUMENT: &[&str] = &[
    "template",
    "version",
    "root",
    "author",
    "custodian",
    "authenticator",
    "informant",
    "narrative",
    "text",
    "realm",
    "confidentiality",
    "schema",
    "profile",
    "meta",
    "mood",
    "null",
    "flavor",
    "flavour",
    "original",
    "xsi",
    "system",
    "signature",
    "software",
    "assigned",
    "set",
];

/// Words of what a finding consists of.
const FINDINGS: &[&str] = &["code", "value", "unit", "display", "effective", "low", "high", "quantity"];

/// Leaves out what does not fit where classes lie in classes, what says least about people first.
pub fn fit_paths(profile: &Profile, data: &Dataset, suggestions: &mut [Suggestion]) {
    if deepest(data, suggestions) <= DEEPEST {
        return;
    }
    let schema = data.schema();
    let above = |class: ClassId| std::iter::successors(Some(class), |&c| schema.class(c).parent);
    let ways: Vec<Vec<ClassId>> = schema.classes().map(|(id, _)| above(id).collect()).collect();
    let mut taken = vec![0usize; profile.classes.len()];
    let mut order: Vec<usize> =
        (0..profile.attributes.len()).filter(|&i| is_searched(&suggestions[i])).collect();
    order.sort_by_key(|&i| {
        let attribute = &profile.attributes[i];
        (rank(attribute), std::cmp::Reverse(attribute.records_with), i)
    });
    for i in order {
        let class = profile.attributes[i].class;
        let through = || ways.iter().filter(|way| way.contains(&class));
        let on = |way: &Vec<ClassId>| way.iter().map(|c| taken[c.index()]).sum::<usize>();
        if rank(&profile.attributes[i]) == DOCUMENTS_OWN {
            leave_out(profile, i, suggestions, "It speaks of the document rather than of a person");
        } else if through().all(|way| on(way) < MOST) {
            taken[class.index()] += 1;
        } else {
            let why = format!(
                "A draft begins with {MOST} attributes below each other, and others say more about people"
            );
            leave_out(profile, i, suggestions, &why);
        }
    }
}

/// The most quasi values below each other that a record has.
fn deepest(data: &Dataset, suggestions: &[Suggestion]) -> usize {
    let searched: Vec<Vec<bool>> = (data.schema().classes())
        .map(|(_, class)| class.attributes.iter().map(|a| is_searched(&suggestions[a.index()])).collect())
        .collect();
    let mut depths: Vec<usize> = Vec::with_capacity(data.vertex_count());
    // A vertex comes after the one above it.
    for vertex in 0..data.vertex_count() {
        let cells = data.values(vertex).iter().zip(&searched[data.class(vertex).index()]);
        let own = cells.filter(|(code, searched)| **searched && **code != MISSING).count();
        depths.push(own + data.parent(vertex).map_or(0, |above| depths[above]));
    }
    depths.into_iter().max().unwrap_or(0)
}

/// Whether labels are searched for an attribute.
fn is_searched(suggestion: &Suggestion) -> bool {
    suggestion.role == Role::Quasi && suggestion.follows.is_none()
}

fn leave_out(profile: &Profile, attribute: usize, suggestions: &mut [Suggestion], why: &str) {
    let own = profile.attributes[attribute].id;
    let dropped = || Suggestion {
        role: Role::Drop,
        reason: format!(
            "Left out: there is more below each other than a search can handle. {why}. Make it quasi, and something else drop, \
             to publish it."
        ),
        hierarchy: None,
        follows: None,
    };
    let followers: Vec<usize> =
        (0..suggestions.len()).filter(|&i| suggestions[i].follows == Some(own)).collect();
    suggestions[attribute] = dropped();
    followers.into_iter().for_each(|i| suggestions[i] = dropped());
}

/// The rank of what is about the document.
const DOCUMENTS_OWN: usize = 3;

/// What is about people comes first, what is about the document last.
fn rank(attribute: &AttributeProfile) -> usize {
    let words = || attribute.name.own.iter().chain(&attribute.name.class);
    let any = |wanted: &[&str]| words().any(|word| wanted.iter().any(|w| is(word, w)));
    let about_people = Topic::of(&attribute.name).is_some_and(|topic| topic != Topic::Identifier);
    match (any(DOCUMENT), about_people || attribute.shape.code.is_some(), any(FINDINGS)) {
        (false, true, _) => 0,
        (false, false, true) => 1,
        (false, false, false) => 2,
        (true, ..) => DOCUMENTS_OWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::suggest;
    use bosket_model::observe::Quiet;
    use bosket_model::{Builder, Kind};

    #[test]
    fn what_says_most_about_people_fits_first() {
        let mut builder = Builder::new();
        let entry = builder.class(ClassId::ROOT, &["entry".to_owned()]);
        let part = builder.class(entry, &["part".to_owned()]);
        let sex = builder.attribute(ClassId::ROOT, &["gender".to_owned()]);
        let names = |stem: &str| (0..45).map(|i| format!("{stem}{i}")).collect::<Vec<_>>();
        let outer: Vec<_> = names("templateVersion")
            .iter()
            .map(|n| builder.attribute(entry, std::slice::from_ref(n)))
            .collect();
        let inner: Vec<_> =
            names("diagnosis").iter().map(|n| builder.attribute(part, std::slice::from_ref(n))).collect();
        for i in 0..8 {
            builder.begin_record();
            builder.set(sex, Kind::Text, ["f", "m"][i % 2]);
            builder.open(entry);
            outer.iter().for_each(|id| builder.set(*id, Kind::Text, ["a", "b"][i % 2]));
            builder.open(part);
            inner
                .iter()
                .enumerate()
                .for_each(|(j, id)| builder.set(*id, Kind::Text, ["a", "b", "c"][(i + j) % 3]));
            builder.close();
            builder.close();
            builder.end_record().expect("set once");
        }
        let data = builder.finish();
        let profile = Profile::new(&data, &Quiet).expect("nobody interrupts");
        let mut found = suggest(&profile, &data, &Quiet).expect("nobody interrupts");
        // Each for itself, whatever repeats what.
        for suggestion in &mut found {
            (suggestion.role, suggestion.follows) = (Role::Quasi, None);
        }
        fit_paths(&profile, &data, &mut found);
        let kept = |stem: &str| {
            let all = profile.attributes.iter().zip(&found);
            all.filter(|(a, s)| a.path.contains(stem) && s.role == Role::Quasi).count()
        };
        assert_eq!((kept("gender"), kept("diagnosis"), kept("templateVersion")), (1, MOST - 1, 0));
    }
}
