//! Reads a publication as a stranger would.

use rustc_hash::FxHashMap;

use bosket_model::dissected::{Dissected, Lists, SensitiveValues};
use bosket_model::policy::Policy;
use bosket_model::{Diagnostic, Failure, Fault, Kind, Place, Result};

use crate::apart::{Fates, Found, SensitivePath};
use crate::input::Input;

use super::paths::{ID, Paths};
use super::publish::{ELEMENT, GROUP, QUASI, SENSITIVE, TYPE, root};
use super::read::each_person;
use super::walk::Watch;

/// Groups as they come, by their names.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    numbers: FxHashMap<String, usize>,
    people: Vec<u32>,
    /// Per attribute the group and code of each value.
    codes: Vec<Vec<(u32, u32)>>,
    sensitive: Vec<SensitiveValues>,
}

impl Groups {
    pub(crate) fn new(sensitive: &[SensitivePath]) -> Self {
        let column = |s: &SensitivePath| SensitiveValues {
            declared: s.declared,
            path: s.path.clone(),
            many: s.many,
            ..SensitiveValues::default()
        };
        Groups {
            codes: vec![Vec::new(); sensitive.len()],
            sensitive: sensitive.iter().map(column).collect(),
            ..Groups::default()
        }
    }

    pub(crate) fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        self.people.push(0);
        self.numbers.insert(name.to_owned(), self.people.len() - 1);
        self.people.len() - 1
    }

    pub(crate) fn person(&mut self, group: usize) {
        self.people[group] += 1;
    }

    pub(crate) fn value(&mut self, group: usize, attribute: usize, kind: Kind, text: &str) {
        let code = self.sensitive[attribute].values.intern(kind, text);
        self.codes[attribute].push((group as u32, code));
    }

    /// What was found, and the names of the groups. A group that only one side has is a mistake.
    pub(crate) fn finish(mut self, place: Place) -> Result<(Dissected, Vec<String>)> {
        let orphans = self.people.iter().filter(|p| **p == 0).count();
        if orphans > 0 {
            let what = format!("{orphans} groups have sensitive values and no people");
            let help = "check that the publication is complete";
            return Err(Failure::new(Fault::Data, Diagnostic::error(what).at(place).help(help)));
        }
        for (column, mut codes) in self.sensitive.iter_mut().zip(self.codes) {
            codes.sort_unstable();
            let mut lists = Lists::default();
            let mut at = 0;
            for group in 0..self.people.len() as u32 {
                let end = at + codes[at..].iter().take_while(|c| c.0 == group).count();
                // Numbered when they were read.
                let kept = lists.push(codes[at..end].iter().map(|c| c.1));
                debug_assert!(kept);
                at = end;
            }
            column.codes = lists;
        }
        let mut names = vec![String::new(); self.people.len()];
        self.numbers.into_iter().for_each(|(name, number)| names[number] = name);
        Ok((Dissected { people: self.people, sensitive: self.sensitive }, names))
    }
}

/// Takes the name of a group, the sensitive values that stand somewhere in it, and the text of a person if that is who it
/// is.
pub(crate) type Each<'a> = dyn FnMut(&str, &mut dyn Iterator<Item = (usize, &str)>, Option<&[u8]>) + 'a;

/// Reads a published document. With `each`, the texts of its people and of its values are handed out, as
/// `read_people` writes those of private ones.
pub(crate) fn read_published(
    input: &mut Input,
    policy: &Policy,
    fates: &Fates,
    mut each: Option<&mut Each<'_>>,
) -> Result<Found> {
    let paths = Paths::new(policy, fates, true)?;
    let place = Place::source(input.name());
    let record = [root(policy)?, GROUP, ELEMENT].map(str::to_owned);
    let watch: [Watch; 2] = [(1, TYPE), (2, ID)];
    let mut groups = Groups::new(&fates.sensitive);
    let (mut wrong_side, mut astray, mut nameless) = (0, 0, 0);
    let mut text = Vec::new();
    let mut empty = Vec::new();
    let reading = each_person(input, &paths, &record, policy.undeclared, &watch, |person, watched| {
        let [side, id] = watched else { return Ok(()) };
        nameless += usize::from(id.is_empty());
        let group = groups.number(id);
        text.clear();
        person.write(&paths, &mut text);
        empty.clear();
        empty.extend_from_slice(b"/>");
        match side.as_str() {
            QUASI => {
                wrong_side += usize::from(person.sensitive().len() > 0);
                groups.person(group);
            }
            SENSITIVE => {
                wrong_side += usize::from(text != empty);
                astray += usize::from(person.sensitive().len() != 1);
                for (at, value) in person.sensitive() {
                    groups.value(group, at, Kind::Text, value);
                }
            }
            _ => nameless += 1,
        }
        if let Some(each) = &mut each {
            each(id, &mut person.sensitive(), (side == QUASI).then_some(&text));
        }
        Ok(())
    })?;
    wrong_side +=
        reading.gone.iter().zip(&fates.repeats).filter(|(gone, repeats)| **gone && **repeats).count();
    let problems: Vec<Diagnostic> = [
        (wrong_side, "values stand on the side where they do not belong"),
        (astray, "elements of the sensitive side do not hold exactly one value"),
        (nameless, "elements belong to no group or to no side"),
    ]
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| {
        Diagnostic::error(format!("{count} {what}"))
            .at(place.clone())
            .help("check that policy and publication belong together, and that it is complete")
    })
    .collect();
    if !problems.is_empty() {
        return Err(Failure::all(Fault::Data, problems));
    }
    let (dissected, names) = groups.finish(place)?;
    Ok(Found { dissected, names, gone: reading.gone })
}
