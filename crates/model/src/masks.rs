//! Values that are published as something else, by a private key: dates shifted by one number of days per person, and
//! pseudonyms. Neither is anonymity: what a guarantee is counted on is never masked.

use crate::binding::Binding;
use crate::calendar::Civil;
use crate::dataset::Dataset;
use crate::diag::{Diagnostic, Failure, Fault, Place, Result};
use crate::dictionary::Kind;
use crate::hmac::hmac_sha256;
use crate::policy::{AttributePolicy, Policy, Role};
use crate::schema::AttributeId;
use crate::selection::Digests;
use crate::words::count;

/// Hexadecimal digits of a pseudonym.
pub const DIGITS: usize = 32;

/// What a policy masks, by declared attribute.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    /// Per declared attribute by how many days its dates may be shifted.
    pub shifts: Vec<Option<u32>>,
    /// Per declared attribute whether it is published as a pseudonym.
    pub pseudonyms: Vec<bool>,
}

impl Masks {
    /// What a policy masks.
    pub fn of(policy: &Policy) -> Self {
        Masks {
            shifts: policy.attributes.iter().map(|a| a.shift).collect(),
            pseudonyms: policy.attributes.iter().map(|a| a.role == Role::Pseudonym).collect(),
        }
    }

    /// Whether anything is masked.
    pub fn any(&self) -> bool {
        self.shifted() || self.pseudonyms.contains(&true)
    }

    /// Whether dates are shifted.
    pub fn shifted(&self) -> bool {
        self.days().is_some()
    }

    /// By how many days a person's dates may be shifted: the same for all of them.
    pub fn days(&self) -> Option<u32> {
        self.shifts.iter().flatten().next().copied()
    }

    /// The records with everything masked that the policy asks for.
    pub fn apply(
        &self,
        data: &Dataset,
        binding: &Binding,
        attributes: &[AttributePolicy],
        key: &[u8],
        name: &str,
    ) -> Result<Dataset> {
        self.refuse_unfit(data, binding, attributes, name)?;
        let digests = Digests::new(data);
        let mut offset = (usize::MAX, 0);
        let days = self.days().unwrap_or(0);
        Ok(data.rewritten(|record, id, kind, text| {
            let Some(declared) = binding.attributes[id.index()] else { return Some((kind, text.to_owned())) };
            if self.pseudonyms[declared] {
                return Some((Kind::Text, pseudonym(key, &attributes[declared].path, text)));
            }
            if self.shifts[declared].is_none() {
                return Some((kind, text.to_owned()));
            }
            if offset.0 != record {
                offset = (record, offset_of(key, &digests.of(record), days));
            }
            let (day, rest) = date(text).expect("looked at before");
            let shifted = Civil::from_days(day + offset.1).expect("looked at before");
            Some((kind, format!("{shifted}{rest}")))
        }))
    }

    /// Refuses what is no date, or would not be one after it was shifted.
    fn refuse_unfit(
        &self,
        data: &Dataset,
        binding: &Binding,
        attributes: &[AttributePolicy],
        name: &str,
    ) -> Result<()> {
        let mut problems = Vec::new();
        for (id, _) in data.schema().attributes() {
            let Some(declared) = binding.attributes[id.index()] else { continue };
            let Some(days) = self.shifts[declared].map(i64::from) else { continue };
            let fits = |text: &str| {
                date(text).is_some_and(|(day, _)| {
                    Civil::from_days(day - days).is_some() && Civil::from_days(day + days).is_some()
                })
            };
            let unfit = data.dictionary(id).iter().filter(|(_, text)| !fits(text)).count();
            if unfit > 0 {
                let what = format!(
                    "`{}` is to be shifted, but {} of its {} different values are no dates",
                    attributes[declared].path,
                    count(unfit),
                    count(data.dictionary(id).len())
                );
                let help = "dates are written YYYY-MM-DD, with or without a time behind `T` or a blank";
                let place = Place::source(name).path(&attributes[declared].path);
                problems.push(Diagnostic::error(what).at(place).help(help));
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Data, problems)) }
    }
}

/// The days of a date since 1970, and the time behind it as it is written.
pub fn date(text: &str) -> Option<(i64, &str)> {
    let (day, rest) = text.split_at_checked(10)?;
    let day = Civil::parse(day).filter(|_| rest.is_empty() || rest.starts_with(['T', ' ']))?;
    Some((day.days(), rest))
}

/// Whether a text can be a pseudonym.
pub fn is_pseudonym(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// A value of an attribute as only who has the key can compute it.
pub fn pseudonym(key: &[u8], path: &str, text: &str) -> String {
    let mut message = b"bosket pseudonym".to_vec();
    message.extend((path.len() as u64).to_be_bytes());
    message.extend(path.as_bytes());
    message.extend(text.as_bytes());
    let code = hmac_sha256(key, &message);
    code[..DIGITS / 2].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// By how many days the dates of a record are shifted.
fn offset_of(key: &[u8], digest: &[u8; 32], days: u32) -> i64 {
    let code = hmac_sha256(key, &[b"bosket shift", &digest[..]].concat());
    let drawn = u64::from_be_bytes(code[..8].try_into().expect("8 bytes"));
    (drawn % (2 * u64::from(days) + 1)) as i64 - i64::from(days)
}

impl Dataset {
    /// The same records with each value as `change` wants it, by its record and attribute; without it where it wants none.
    pub fn rewritten(
        &self,
        mut change: impl FnMut(usize, AttributeId, Kind, &str) -> Option<(Kind, String)>,
    ) -> Dataset {
        self.copied(&vec![true; self.len()], |builder, record, id, code| {
            let dictionary = self.dictionary(id);
            if let Some((kind, text)) = change(record, id, dictionary.kind(code), dictionary.text(code)) {
                builder.set(id, kind, &text);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pseudonyms_are_told_by_their_form() {
        let code = pseudonym(&[7; 32], "id", "4711");
        assert!(is_pseudonym(&code));
        assert_eq!(code, pseudonym(&[7; 32], "id", "4711"));
        let others = [pseudonym(&[8; 32], "id", "4711"), pseudonym(&[7; 32], "i", "d4711")];
        assert!(!others.contains(&code));
        for text in ["", "4711", &code.to_uppercase(), &code[1..], &format!("{code}0")] {
            assert!(!is_pseudonym(text), "{text}");
        }
    }

    #[test]
    fn offsets_keep_to_the_bound_and_reach_it() {
        let offsets: Vec<i64> = (0..=255u8).map(|i| offset_of(&[1; 32], &[i; 32], 3)).collect();
        assert_eq!((offsets.iter().min(), offsets.iter().max()), (Some(&-3), Some(&3)));
    }

    #[test]
    fn dates_may_have_times() {
        let day = Civil::new(2020, 2, 29).map(Civil::days).expect("a day");
        assert_eq!(date("2020-02-29"), Some((day, "")));
        assert_eq!(date("2020-02-29T10:00:00Z"), Some((day, "T10:00:00Z")));
        for text in ["2020", "2020-02-30", "20200229", "2020-02-291", ""] {
            assert_eq!(date(text), None, "{text}");
        }
    }
}
