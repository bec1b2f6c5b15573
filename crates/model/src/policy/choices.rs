//! The words a policy may use, each as an enum that knows its own spelling.
//!
//! Spelling and meaning stand once, here: checking, JSON Schema and reference are all made from them. Models and algorithms
//! have a table of their own, `models`.

use super::describe::Choice;
use super::models::Model;

macro_rules! choices {
    ($(#[$doc:meta])* $name:ident {
        $($variant:ident = $text:literal: $about:literal $([$($model:ident),+])?),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $(#[doc = $about] $variant),+ }

        impl $name {
            /// All of them, in the order of the reference.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            pub(super) const CHOICES: &'static [Choice] =
                &[$(Choice { name: $text, about: $about, models: &[$($(Model::$model),+)?] }),+];

            /// How a policy spells it.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
            /// The one that is spelled so.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|c| c.name() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

choices! {
    /// What an attribute is to an attacker, and hence what happens to it.
    Role {
        Identifying = "identifying": "removed before anything else",
        Quasi = "quasi": "may be known to an attacker; generalized, moved or suppressed",
        Sensitive = "sensitive": "not known to an attacker, never altered; what diversity protects",
        Insensitive = "insensitive": "published as it is; refused if too many of its values are rare",
        Key = "key": "joins vertices; replaced by a fresh surrogate",
        Drop = "drop": "left out by choice; nothing is said about why",
        Pseudonym = "pseudonym": "published as a code by a private key, the same in every release; links releases",
    }
}

impl Role {
    /// Whether nothing of it may stand in a publication.
    pub const fn is_left_out(self) -> bool {
        matches!(self, Role::Identifying | Role::Drop)
    }
}

choices! {
    /// What protects a sensitive attribute, as somebody has decided.
    Protection {
        Undecided = "undecided": "nobody has decided yet, and nothing is published until somebody does; drafts say so",
        Diversity = "l": "`privacy.l`: nobody learns a value with more than 1/l",
        Closeness = "t": "`privacy.t`: its values are distributed in every class as in all, but for t",
        Likeness = "beta": "`privacy.beta`: no value is much likelier in a class than in all",
        Groups = "groups": "it is published apart, and only groups join the two sides",
        Nothing = "nothing": "nothing: it is published as it is, and somebody answers for that",
    }
}

choices! {
    /// What happens to attributes that the data has and the policy does not name.
    Undeclared {
        Refuse = "refuse": "the run stops and lists them",
        Drop = "drop": "they are left out",
    }
}

choices! {
    /// How whoever gets a publication gets at it.
    Access {
        Open = "open": "anybody can have it",
        Contract = "contract": "those who have signed for what they do with it",
        SecureEnvironment = "secure-environment": "it is looked at in a place that it does not leave",
    }
}

choices! {
    /// What of `[release]`, and of the attributes' reasons, a certificate shows.
    Certified {
        Recipient = "recipient": "who gets it",
        Purpose = "purpose": "for what",
        Access = "access": "how",
        Controls = "controls": "what else protects it",
        AcceptedRisk = "accepted_risk": "the agreed risk",
        DecidedBy = "decided_by": "who has decided",
        ReviewedOn = "reviewed_on": "when that was looked at",
        Approvers = "approvers": "who has agreed",
        Why = "why": "why each attribute has its role",
    }
}

choices! {
    /// The form of the input; the publication has the same.
    Format {
        Ndjson = "ndjson": "one JSON object per line",
        Json = "json": "one JSON document",
        Xml = "xml": "one XML document",
        Csv = "csv": "one flat table, or several linked ones",
        Parquet = "parquet": "one file of records, or several linked tables",
        Transactions = "transactions": "one set of items per line",
        Sqlite = "sqlite": "linked tables of a SQLite file",
        Postgres = "postgres": "linked tables of a PostgreSQL database",
        FhirR4 = "fhir-r4": "FHIR R4, one bundle per patient: a file with a bundle per line, or a folder",
        FhirStu3 = "fhir-stu3": "the same in FHIR STU-3",
    }
}

impl Format {
    /// Whether the input is made of tables.
    pub const fn is_tables(self) -> bool {
        matches!(self, Format::Csv | Format::Parquet | Format::Sqlite | Format::Postgres)
    }
}

choices! {
    /// What several known relations mean together.
    Relations {
        Pair = "pair": "each relation holds on some path of the record",
        Embedded = "embedded": "one node per known value carries all its relations (stronger)",
    }
}

choices! {
    /// Where the values of a record's top object stand in its value tree.
    RootMode {
        Separate = "separate": "related to nothing",
        Chain = "chain": "above everything else",
    }
}

choices! {
    /// What happens to rows of a value tree that come to look alike.
    Rows {
        Distinct = "distinct": "a row is left out where a look-alike beside it says all that it says",
        All = "all": "every row is published; how many there are is not protected",
        United = "united": "rows that look alike are one, with all that hangs below them (the papers' reading)",
    }
}

choices! {
    /// What happens to the sensitive and insensitive attributes of merged vertices.
    Payload {
        Keep = "keep": "published as a sorted multiset",
        Drop = "drop": "left out",
    }
}

choices! {
    /// How the sensitive values of a class are judged.
    Diversity {
        Frequency = "frequency": "no value has a share over 1/l",
        Entropy = "entropy": "the entropy is at least log l",
    }
}

choices! {
    /// How far two values of a sensitive attribute are from each other.
    Ground {
        Equal = "equal": "any two are as far from each other as can be",
        Ordered = "ordered": "numbers: by how many of the values that occur lie between them",
        Hierarchical = "hierarchical": "by the height of what is above both in the hierarchy",
    }
}

choices! {
    /// What it means that a value is not there.
    Missing {
        Value = "value": "a value like any other: at most one person without stands in a group" [Anatomy],
        None = "none": "nothing: people without value fill groups, and who has none is not protected" [Anatomy],
        Counted = "counted": "it may be anything: where one value can stand, a missing one counts as `*`" [Kmn],
        Nothing = "nothing": "nothing: whoever knows a value that the data lacks is not covered" [Kmn],
    }
}

impl Missing {
    /// What it means where a policy does not say.
    pub const fn default_of(model: Model) -> Self {
        match model {
            Model::Kmn => Missing::Counted,
            _ => Missing::Value,
        }
    }
}

choices! {
    /// How siblings that cannot be told apart are judged.
    Siblings {
        Pooled = "pooled": "over all their places in the class no value fills more than 1/l",
        Each = "each": "at most 1/l of the records have the value anywhere among them (stronger)",
    }
}
