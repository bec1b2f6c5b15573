//! A first policy.

use bosket_model::policy::{Draft, DraftAttribute, Format, Model, Role, wrapped};

use super::attackers;
use super::builder::Coarsening;
use super::profile::Profile;
use super::suggest::Suggestion;

/// From so many quasi values on, days have few levels, so that there is less to search.
const HUGE: usize = 200_000;

/// Where the data came from, as the policy shall say it.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Form of the input.
    pub format: Format,
    /// The file, or the database's address.
    pub path: String,
    /// Where in a document one person's record is.
    pub record: Option<String>,
    /// What stands between items or cells.
    pub separator: Option<String>,
}

/// The policy that the suggestions make. The guarantee follows the shape of the data: k-anonymity for one table, k^m for
/// transactions, k^(m,n) for trees. Without a quasi attribute there is nothing to guarantee, and the draft leaves that
/// open.
pub fn draft_policy(profile: &Profile, suggestions: &[Suggestion], origin: &Origin) -> Draft {
    let path = |id: bosket_model::AttributeId| profile.attributes[id.index()].path.clone();
    let quasi = profile
        .attributes
        .iter()
        .zip(suggestions)
        .filter(|(_, s)| s.role == Role::Quasi && s.follows.is_none());
    let quasi_values: usize = quasi.map(|(a, _)| a.present).sum();
    let coarse = |h: &Coarsening| if quasi_values > HUGE { h.by_year() } else { h.clone() };
    let attributes: Vec<DraftAttribute> = (profile.attributes.iter().zip(suggestions))
        .map(|(attribute, suggestion)| {
            let hierarchy = suggestion.hierarchy.as_ref().map(coarse);
            let note = hierarchy.as_ref().and_then(|h| h.note.as_deref());
            DraftAttribute {
                path: attribute.path.clone(),
                role: suggestion.role,
                reason: suggestion.reason.clone(),
                note: note.map(wrapped),
                hierarchy: hierarchy.as_ref().map(Coarsening::toml),
                follows: suggestion.follows.map(path),
                repeats: false,
            }
        })
        .collect();
    let keys: &[(&str, &str)] = if !attributes.iter().any(|a| a.role == Role::Quasi) {
        &[]
    } else if origin.format == Format::Transactions {
        &[("model", "km"), ("k", "5"), ("m", "2")]
    } else if profile.classes.len() == 1 {
        &[("model", "k-anonymity"), ("k", "5")]
    } else {
        // How much is known stands with those who know it.
        &[("model", "kmn"), ("k", "5")]
    };
    let is_told = keys.first().is_some_and(|(_, model)| *model == Model::Kmn.name());
    let attackers = if is_told { attackers::proposed(profile, suggestions) } else { Vec::new() };
    Draft {
        source_format: origin.format,
        source_path: origin.path.clone(),
        record: origin.record.clone(),
        person: Vec::new(),
        separator: origin.separator.clone(),
        tables: Vec::new(),
        table_notes: Vec::new(),
        lookups: Vec::new(),
        dropped: Vec::new(),
        unnamed: 0,
        attributes,
        privacy: keys.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
        attackers,
        publish_path: publish_path(origin),
    }
}

/// `published` with the ending of the source, compression left out; a folder for a database file.
fn publish_path(origin: &Origin) -> String {
    let usual: &[&str] = match origin.format {
        Format::Ndjson | Format::FhirR4 | Format::FhirStu3 => &["ndjson", "jsonl"],
        Format::Json => &["json"],
        Format::Xml => &["xml"],
        Format::Csv => &["csv", "tsv"],
        Format::Parquet => &["parquet"],
        Format::Transactions => &["txt", "dat", "basket"],
        Format::Sqlite => return "published".to_owned(),
        Format::Postgres => return origin.path.clone(),
    };
    let lower = origin.path.to_lowercase();
    let plain = lower.strip_suffix(".gz").or_else(|| lower.strip_suffix(".zst")).unwrap_or(&lower);
    let ending = usual.iter().find(|e| plain.ends_with(&format!(".{e}"))).unwrap_or(&usual[0]);
    let published = format!("published.{ending}");
    // The input must not be overwritten.
    if lower.ends_with(&published) { format!("publication.{ending}") } else { published }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_publication_is_named_like_its_source() {
        for (format, path, expected) in [
            (Format::Csv, "data/people.csv", "published.csv"),
            (Format::Csv, "people.TSV.gz", "published.tsv"),
            (Format::Csv, "people.txt", "published.csv"),
            (Format::Ndjson, "p.jsonl.zst", "published.jsonl"),
            (Format::Transactions, "baskets.dat", "published.dat"),
            (Format::Json, "-", "published.json"),
            (Format::Json, "./published.json", "publication.json"),
            (Format::Sqlite, "school.db", "published"),
        ] {
            let origin = Origin { format, path: path.to_owned(), record: None, separator: None };
            assert_eq!(publish_path(&origin), expected, "{path}");
        }
    }
}
