//! `[release]`: what was agreed about handing a publication out. Nothing of it changes what is published; it is for those
//! who decide, and for those who ask them later.

use serde_json::{Map, Value, json};

use super::choices::{Access, Certified};
use super::describe::{Key, Section, Type};
use super::node::Node;

const TEXTS: Type = Type::List { of: &Type::Text, min: 1, max: usize::MAX };
static CERTIFIED: Type = Type::OneOf(Certified::CHOICES);

pub(super) static RELEASE: Section = Section {
    name: "[release]",
    about: "Who gets the publication, for what, and what was agreed about it. It changes nothing that is published: the \
            report's annex shows it, and holds the agreed risk against the measured one. Nothing of it stands in the \
            certificate unless `certify` says so.",
    keys: &[
        Key::new("recipient", Type::Text, "who gets it"),
        Key::new("purpose", Type::Text, "for what"),
        Key::new("access", Type::OneOf(Access::CHOICES), "how they get it"),
        Key::new("controls", TEXTS, "what else protects it: contracts, training, logging, deletion"),
        Key::new(
            "accepted_risk",
            Type::Number { min: 0.0, open: true, max: 1.0 },
            "the largest share of people, or chance for one of them, that was agreed",
        )
        .hint("a risk of 0 cannot be reached by publishing anything"),
        Key::new("decided_by", Type::Text, "who has decided"),
        Key::new("reviewed_on", Type::Date, "when that was last looked at"),
        Key::new("approvers", TEXTS, "who has agreed"),
        Key::new(
            "certify",
            Type::List { of: &CERTIFIED, min: 1, max: usize::MAX },
            "keys of this block, and `why`, that the certificate shows to everybody (none if not given)",
        ),
        Key::new("earlier", Type::Tables(&EARLIER), "releases about the same people that are out already"),
    ],
};

pub(super) static EARLIER: Section = Section {
    name: "[[release.earlier]]",
    about: "A release about the same people that is out already. What is published must keep its promise together with all \
            of them: whoever has several can tell which records belong to one person. See [releases](releases.md).",
    keys: &[
        Key::new("publication", Type::Text, "the file or folder").required().file(),
        Key::new("certificate", Type::Text, "its certificate, by which it is known (beside it if not given)")
            .file(),
        Key::new("mapping", Type::Text, "its private mapping: whose record is whose").required().file(),
        Key::new(
            "input",
            Type::Text,
            "its private input, where that is another than the policy's: people are then known by `link`",
        )
        .file(),
        Key::new(
            "link",
            Type::Text,
            "the identifying attribute that both inputs have (the first one that names everybody if not given)",
        ),
    ],
};

/// A release about the same people that is out already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierRelease {
    /// The file or folder.
    pub publication: String,
    /// Its certificate.
    pub certificate: Option<String>,
    /// Its private mapping.
    pub mapping: Option<String>,
    /// Its private input, where that is another.
    pub input: Option<String>,
    /// The identifying attribute that both inputs have.
    pub link: Option<String>,
}

impl EarlierRelease {
    fn read(node: &Node) -> Option<Self> {
        let text = |key: &str| node.str(key).map(str::to_owned);
        Some(EarlierRelease {
            publication: text("publication")?,
            certificate: text("certificate"),
            mapping: text("mapping"),
            input: text("input"),
            link: text("link"),
        })
    }

    fn to_json(&self) -> Value {
        let keys = [
            ("publication", Some(&self.publication)),
            ("certificate", self.certificate.as_ref()),
            ("mapping", self.mapping.as_ref()),
            ("input", self.input.as_ref()),
            ("link", self.link.as_ref()),
        ];
        let keys = keys.into_iter().filter_map(|(key, value)| Some((key.to_owned(), json!(value?))));
        Value::Object(keys.collect::<Map<_, _>>())
    }
}

/// What was agreed about handing a publication out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReleaseTerms {
    /// Who gets it.
    pub recipient: Option<String>,
    /// For what.
    pub purpose: Option<String>,
    /// How they get it.
    pub access: Option<Access>,
    /// What else protects it.
    pub controls: Vec<String>,
    /// The largest share of people, or chance for one of them, that was agreed.
    pub accepted_risk: Option<f64>,
    /// Who has decided.
    pub decided_by: Option<String>,
    /// When that was last looked at.
    pub reviewed_on: Option<String>,
    /// Who has agreed.
    pub approvers: Vec<String>,
    /// What of this the certificate shows.
    pub certify: Vec<Certified>,
    /// Releases about the same people that are out already.
    pub earlier: Vec<EarlierRelease>,
}

impl ReleaseTerms {
    pub(super) fn read(node: &Node) -> Self {
        let text = |key: &str| node.str(key).map(str::to_owned);
        let word = |item: &Node| item.text().and_then(Certified::from_name);
        ReleaseTerms {
            recipient: text("recipient"),
            purpose: text("purpose"),
            access: node.str("access").and_then(Access::from_name),
            controls: node.strings("controls"),
            accepted_risk: node.get("accepted_risk").and_then(Node::number),
            decided_by: text("decided_by"),
            reviewed_on: node.get("reviewed_on").and_then(Node::text).map(str::to_owned),
            approvers: node.strings("approvers"),
            certify: node.list("certify").iter().filter_map(word).collect(),
            earlier: node.list("earlier").iter().filter_map(EarlierRelease::read).collect(),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let list = |items: &[String]| (!items.is_empty()).then(|| json!(items));
        let certify: Vec<&str> = self.certify.iter().map(|key| key.name()).collect();
        let keys = [
            ("recipient", self.recipient.as_ref().map(|t| json!(t))),
            ("purpose", self.purpose.as_ref().map(|t| json!(t))),
            ("access", self.access.map(|access| json!(access.name()))),
            ("controls", list(&self.controls)),
            ("accepted_risk", self.accepted_risk.map(super::write::number)),
            ("decided_by", self.decided_by.as_ref().map(|t| json!(t))),
            ("reviewed_on", self.reviewed_on.as_ref().map(|t| json!(t))),
            ("approvers", list(&self.approvers)),
            ("certify", (!certify.is_empty()).then(|| json!(certify))),
            (
                "earlier",
                (!self.earlier.is_empty())
                    .then(|| self.earlier.iter().map(EarlierRelease::to_json).collect()),
            ),
        ];
        let keys = keys.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        Value::Object(keys.collect::<Map<_, _>>())
    }

    /// Whether the certificate shows this.
    pub fn certifies(&self, key: Certified) -> bool {
        self.certify.contains(&key)
    }
}
