//! What catalogues ask about a publication, in two of their forms. Everything stands in the certificate, or was said by whoever
//! publishes: no value of the data, and nothing of the input.

mod croissant;
mod dcat;
mod fields;

use serde_json::Value;

use crate::certificate::Certificate;

/// A form of metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Croissant 1.1, which tools for machine learning read.
    #[default]
    Croissant,
    /// DCAT-AP 3, which catalogues of open data read.
    Dcat,
}

/// What only the publisher knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// What the publication is called.
    pub name: Option<String>,
    /// What is in it.
    pub description: Option<String>,
    /// The address of its licence.
    pub license: Option<String>,
    /// Where it can be had: the files lie below.
    pub url: Option<String>,
    /// Who publishes it.
    pub creator: Option<String>,
    /// When, as YYYY-MM-DD.
    pub date: Option<String>,
}

/// A published file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name within the publication.
    pub name: String,
    /// In hexadecimal digits.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}

/// What metadata is made of.
#[derive(Clone, Debug)]
pub struct Exported<'a> {
    /// The certificate of the publication.
    pub certificate: &'a Certificate,
    /// Its files, as they are.
    pub files: &'a [File],
    /// What only the publisher knows.
    pub about: &'a About,
}

impl Exported<'_> {
    /// The metadata as JSON-LD.
    pub fn to_json(&self, form: Form) -> Value {
        match form {
            Form::Croissant => croissant::of(self),
            Form::Dcat => dcat::of(self),
        }
    }

    /// What the form asks for and nobody has said; what it cannot do without comes first, as `true`.
    pub fn lacking(&self, form: Form) -> Vec<(&'static str, bool)> {
        let about = self.about;
        let of = |key, said: &Option<String>, must| said.is_none().then_some((key, must));
        let dcat = form == Form::Dcat;
        let mut all: Vec<_> = [
            of("url", &about.url, dcat),
            of("license", &about.license, false),
            of("creator", &about.creator, false),
            of("date", &about.date, false),
        ]
        .into_iter()
        .flatten()
        .collect();
        all.sort_by_key(|(_, must)| !must);
        all
    }

    fn name(&self) -> String {
        let first = || self.files.first().map_or("publication", |file| file.name.as_str());
        self.about
            .name
            .clone()
            .unwrap_or_else(|| first().split('.').next().unwrap_or("publication").to_owned())
    }

    /// What is in it, and what is promised about the people in it.
    fn description(&self) -> String {
        let own = self.about.description.clone();
        let own = own.unwrap_or_else(|| format!("{} records about people", self.certificate.records));
        let promise = match self.certificate.claim.is_null() {
            true => "Nothing is guaranteed about who can be found in it.".to_owned(),
            false => format!("Verified by {}: {}.", self.certificate.verifier, self.certificate.sentence),
        };
        format!("{}. {promise}", own.trim_end_matches('.'))
    }

    /// Where a file can be had; its name alone if nobody has said.
    fn address(&self, file: &File) -> String {
        match &self.about.url {
            Some(url) => format!("{}/{}", url.trim_end_matches('/'), encoded(&file.name)),
            None => file.name.clone(),
        }
    }
}

/// The name of a file as a part of an address.
fn encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let one = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(one).collect()
}

/// What a file is by its name, compression left out: the word for tools, and the one for people.
fn media_type(name: &str) -> &'static str {
    let bare = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    match bare.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "ndjson" | "jsonl" => "application/jsonlines",
        "json" => "application/json",
        "csv" => "text/csv",
        "tsv" => "text/tab-separated-values",
        "xml" | "xsd" => "application/xml",
        "parquet" => "application/x-parquet",
        "db" | "sqlite" | "sqlite3" => "application/vnd.sqlite3",
        "txt" | "dat" | "basket" => "text/plain",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_addresses() {
        assert_eq!(encoded("a b/é.csv"), "a%20b/%C3%A9.csv");
        assert_eq!(media_type("p.ndjson.gz"), "application/jsonlines");
        assert_eq!(media_type("p"), "application/octet-stream");
    }
}
