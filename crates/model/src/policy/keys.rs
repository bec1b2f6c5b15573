//! Every section and key of a policy.

use super::choices::{
    Diversity, Format, Ground, Missing, Payload, Protection, Relations, Role, RootMode, Rows, Siblings,
    Undeclared,
};
use super::describe::{Choice, Key, Literal, Section, Type};
use super::models::Model::{
    Anatomy, BetaLikeness, Delta, KAnonymity, Km, Kmn, LDiversity, None as Plain, TCloseness,
};
use super::models::{Algorithm, CLUSTERS, Model, UNITING};
use super::release::RELEASE;

const TEXTS: Type = Type::List { of: &Type::Text, min: 1, max: usize::MAX };
const VALUES: Type = Type::List { of: &Type::Value, min: 1, max: usize::MAX };
static COLUMNS: [Type; 2] = [Type::Text, TEXTS];

/// The whole file.
pub(super) static ROOT: Section = Section {
    name: "top level",
    about: "Stands before the first section.",
    keys: &[
        Key::new("version", Type::Int { min: 1, max: 1 }, "version of the policy language").required(),
        Key::new(
            "seed",
            Type::Int { min: 0, max: i64::MAX },
            "breaks ties; never decides what is revealed or in which order",
        )
        .default(Literal::Int(0)),
        Key::new(
            "undeclared",
            Type::OneOf(Undeclared::CHOICES),
            "attributes that the data has and the policy does not name",
        )
        .default(Literal::Text("refuse")),
        Key::new("source", Type::Table(&SOURCE), "where the records are"),
        Key::new("attribute", Type::Tables(&ATTRIBUTE), "one per attribute of the data"),
        Key::new("privacy", Type::Table(&PRIVACY), "the guarantee"),
        Key::new("method", Type::Table(&METHOD), "how it is reached"),
        Key::new("publish", Type::Table(&PUBLISH), "where the result goes"),
        Key::new("release", Type::Table(&RELEASE), "what was agreed about handing it out"),
    ],
};

pub(super) static SOURCE: Section = Section {
    name: "[source]",
    about: "Where the records are. File names are relative to the policy's folder.",
    keys: &[
        Key::new("format", Type::OneOf(Format::CHOICES), "form of the input").required(),
        Key::new("path", Type::Text, "the file; linked csv and parquet tables have their own").file(),
        Key::new("url", Type::Text, "postgres: `postgres://user@host/database`, without a password")
            .database(),
        Key::new("record", Type::Text, "json, xml: where one person's record is (`entry[]`, `db/patient`)"),
        Key::new(
            "person",
            Type::AnyOf(&COLUMNS),
            "json, ndjson, xml: path, or paths, of what names the person, if one person has several documents; each is a \
             `document[]` of theirs",
        ),
        Key::new("schema", Type::Text, "xml: XSD of the private documents (found out if not given)").file(),
        Key::new(
            "separator",
            Type::Text,
            "transactions: between items (blanks if not given); csv: between cells",
        ),
        Key::new(
            "where",
            Type::Text,
            "whom it is about: `country = 'DE' and year >= 2010`; everybody in the publication meets it",
        ),
        Key::new("sample", Type::AnyOf(&SAMPLE), "the share of these people that is drawn, by the seed"),
        Key::new("table", Type::Tables(&TABLE), "csv, parquet, sqlite, postgres: the tables"),
        Key::new("lookup", Type::Tables(&LOOKUP), "tables that columns are looked up in"),
    ],
};

static SAMPLE: [Type; 2] = [Type::Number { min: 0.0, open: true, max: 1.0 }, Type::Table(&SAMPLE_TABLE)];
static SAMPLE_TABLE: Section = Section {
    name: "sample",
    about: "A share of the people.",
    keys: &[Key::new("share", Type::Number { min: 0.0, open: true, max: 1.0 }, "the share").required()],
};

pub(super) static TABLE: Section = Section {
    name: "[[source.table]]",
    about: "Exactly one table has no parent: the person table. The others hang below it. Where one person has several \
            rows, `person` takes the place of `parent`, in as many tables as are grouped by person.",
    keys: &[
        Key::new("name", Type::Text, "name of the table").required(),
        Key::new("path", Type::Text, "csv, parquet: the table's file").file(),
        Key::new("key", Type::AnyOf(&COLUMNS), "column, or columns, that name a row"),
        Key::new("parent", Type::Text, "the table it hangs below"),
        Key::new("foreign_key", Type::AnyOf(&COLUMNS), "column, or columns, that hold the parent's key"),
        Key::new(
            "person",
            Type::AnyOf(&COLUMNS),
            "in place of `parent`: column, or columns, that name the person, if one person has several rows",
        ),
    ],
};

pub(super) static LOOKUP: Section = Section {
    name: "[[source.lookup]]",
    about: "A table that says what a column of a linked table stands for. The column is replaced by what is found \
            there; a later lookup may look up what an earlier one has found.",
    keys: &[
        Key::new("name", Type::Text, "name of the table").required(),
        Key::new("path", Type::Text, "csv, parquet: the table's file").file(),
        Key::new("key", Type::AnyOf(&COLUMNS), "column, or columns, that name a row").required(),
        Key::new(
            "column",
            Type::AnyOf(&COLUMNS),
            "what is looked up: `table.column`, or several, in the order of the key",
        )
        .required(),
        Key::new("value", Type::AnyOf(&COLUMNS), "column, or columns, that take its place").required(),
        Key::new("as", Type::AnyOf(&COLUMNS), "what these are called then (as they are if not given)"),
    ],
};

static HIERARCHY: [Type; 2] = [Type::Text, Type::Build(&BUILDERS)];

pub(super) static ATTRIBUTE: Section = Section {
    name: "[[attribute]]",
    about: "What an attribute of the data is, and how it may be coarsened.",
    keys: &[
        Key::new(
            "path",
            Type::Text,
            "`visits[].hospital`, `takes.course`, `visit[]/@rate`; transactions: `item`",
        )
        .required(),
        Key::new("role", Type::OneOf(Role::CHOICES), "what it is to an attacker").required(),
        Key::new("why", Type::Text, "why it has this role, for those who look at it later"),
        Key::new(
            "protection",
            Type::OneOf(Protection::CHOICES),
            "what protects a sensitive attribute; checked against `[privacy]`",
        ),
        Key::new("hierarchy", Type::AnyOf(&HIERARCHY), "a CSV file, or a builder (below)").file(),
        Key::new("follows", Type::Text, "path of the attribute whose value this one repeats in other words"),
        Key::new(
            "shared",
            Type::Bool,
            "shares one cut with the other shared attributes of the same hierarchy",
        )
        .default(Literal::Bool(false)),
        Key::new(
            "acknowledge",
            Type::Bool,
            "publish an insensitive attribute although many of its values are rare, or any whose key a handful of people have",
        )
        .default(Literal::Bool(false)),
        Key::new(
            "buckets",
            Type::List { of: &Type::ANY_NUMBER, min: 2, max: usize::MAX },
            "bounds between which a sensitive number counts as one value, increasing",
        ),
        Key::new("ground", Type::OneOf(Ground::CHOICES), "how far two values of a sensitive attribute are from each other")
            .default(Literal::Text("equal"))
            .only(&[TCloseness]),
        Key::new(
            "shift",
            Type::Table(&SHIFT),
            "dates that are not quasi: each person's are moved by a secret number of days; not anonymity",
        ),
        Key::new("weight", Type::POSITIVE, "how much its loss counts").default(Literal::Number(1.0)),
    ],
};

static SHIFT: Section = Section {
    name: "shift",
    about: "Dates moved per person, by a private key.",
    keys: &[
        Key::new("days", Type::Int { min: 1, max: 36_500 }, "at most so many days, either way").required()
    ],
};

const fn level(name: &'static str, about: &'static str) -> Choice {
    Choice { name, about, models: &[] }
}
pub(super) static CLAMP: [Choice; 4] = [
    level("none", "a value outside is an error"),
    level("top", "values above `max` share one leaf"),
    level("bottom", "values below `min` share one leaf"),
    level("both", "both"),
];
static DATE_LEVEL: Type =
    Type::OneOf(&[level("month", ""), level("quarter", ""), level("year", ""), level("decade", "")]);
static WIDTH: Type = Type::POSITIVE;
/// Values and groups of them, which hold values and groups again.
static GROUPS: Type = Type::List { of: &GROUP, min: 1, max: usize::MAX };
static GROUP: Type = Type::AnyOf(&GROUP_FORMS);
static GROUP_FORMS: [Type; 3] = [Type::Value, Type::Named("groups", &GROUPS), Type::Table(&GROUP_TABLE)];
static GROUP_TABLE: Section = Section {
    name: "group",
    about: "A group with a label of its own.",
    keys: &[
        Key::new("label", Type::Text, "what is published for the group"),
        Key::new("values", Type::Named("groups", &GROUPS), "its values and groups").required(),
    ],
};

/// The builder that is told by its key alone.
pub(super) const FROM: &str = "from";

/// The hierarchy builders; `build` itself is not among their keys.
pub(super) static BUILDERS: [Section; 10] = [
    Section {
        name: "interval",
        about: "Numbers: nested intervals, aligned at `min`.",
        keys: &[
            Key::new("min", Type::ANY_NUMBER, "lowest value").required(),
            Key::new("max", Type::ANY_NUMBER, "highest value").required(),
            Key::new(
                "widths",
                Type::List { of: &WIDTH, min: 1, max: usize::MAX },
                "width per level, finest first; each a multiple of the one before",
            )
            .required(),
            Key::new("clamp", Type::OneOf(&CLAMP), "what happens to values outside")
                .default(Literal::Text("none")),
        ],
    },
    Section {
        name: "range",
        about: "Numbers: the tight range of each group, for local recoding; it reveals the extremes of the group.",
        keys: &[
            Key::new("min", Type::ANY_NUMBER, "lowest value").required(),
            Key::new("max", Type::ANY_NUMBER, "highest value").required(),
        ],
    },
    Section {
        name: "date",
        about: "Days: month, quarter, year, decade.",
        keys: &[
            Key::new("min", Type::Date, "first day").required(),
            Key::new("max", Type::Date, "last day").required(),
            Key::new(
                "levels",
                Type::List { of: &DATE_LEVEL, min: 1, max: 4 },
                "levels above the day, finest first (all if not given)",
            ),
            Key::new(
                "format",
                Type::Text,
                "how the data writes days, as in `%y%m%d` or `%d.%m.%Y` (`%Y-%m-%d` if not given); years of two digits are \
                 the last that are not after `max`",
            ),
            Key::new("clamp", Type::OneOf(&CLAMP), "what happens to days outside")
                .default(Literal::Text("none")),
        ],
    },
    Section { name: "prefix", about: "Text: one more character masked from the right per level.", keys: &[] },
    Section {
        name: "fanout",
        about: "A balanced tree over the sorted values.",
        keys: &[Key::new("fanout", Type::at_least(2), "children per node").required()],
    },
    Section {
        name: "letters",
        about: "Names by their first letters, where nothing else is known about them: `Mueller`, `M…`.",
        keys: &[],
    },
    Section {
        name: FROM,
        about: "What stands in other columns of the same records: a city below its country. `build` may be left out.",
        keys: &[Key::new(
            "from",
            Type::AnyOf(&COLUMNS),
            "path of the attribute that is above, or several, nearest first; declared, if only with role `drop`",
        )
        .required()],
    },
    Section {
        name: "icd10",
        about: "ICD-10 codes: chapter, block, category, code.",
        keys: &[Key::new("table", Type::Text, "file of another edition (ICD-10-CM if not given)").file()],
    },
    Section {
        name: "atc",
        about: "ATC codes of medicines: main group, therapeutic, pharmacological, chemical group, substance.",
        keys: &[],
    },
    Section {
        name: "order",
        about: "Groups written down here.",
        keys: &[Key::new(
            "groups",
            Type::Named("groups", &GROUPS),
            "values, lists of them, or `{ label, values }`; nested as needed",
        )
        .required()],
    },
];

static NEGATIVE: Type = Type::AnyOf(&NEGATIVE_FORMS);
static NEGATIVE_FORMS: [Type; 2] = [Type::Value, Type::List { of: &Type::Value, min: 2, max: 2 }];

pub(super) static ATTACKER: Section = Section {
    name: "[[privacy.attacker]]",
    about: "Somebody who may look for a person in the publication, told by what they know. It must hold against each of \
            them. With attackers, `privacy.m` and `privacy.n` may be left out; where they are given, they stand for \
            somebody who knows nothing in particular. See [attackers](attackers.md).",
    keys: &[
        Key::new("name", Type::Text, "what messages, certificate and report call them, such as `neighbour`")
            .required(),
        Key::new(
            "knows",
            Type::List { of: &Type::Text, min: 1, max: 64 },
            "paths of quasi attributes: they know the value of each, all at once",
        ),
        Key::new("m", Type::at_least(0), "how many values they may know besides").default(Literal::Int(0)),
        Key::new(
            "n",
            Type::Int { min: 0, max: 1 },
            "how many relations between these further values they may know",
        )
        .hint("more relations, as of values that stand at one place, are for `privacy.n` without attackers")
        .default(Literal::Int(0)),
        Key::new(
            "among",
            TEXTS,
            "where the further values stand: paths of quasi attributes, or of arrays and tables with all that hangs below \
             them (every quasi attribute not in `knows` if not given)",
        ),
        Key::new(
            "k",
            Type::at_least(2),
            "how many people must fit what they know (`privacy.k` if not given)",
        )
        .hint("with k = 1 a record may be unique, which is no protection"),
    ],
};

pub(super) static PRIVACY: Section = Section {
    name: "[privacy]",
    about: "The guarantee. What it depends on is said here, never assumed: the numbers have no defaults.",
    keys: &[
        Key::new("model", Type::OneOf(Model::CHOICES), "the guarantee").required(),
        Key::new("k", Type::at_least(2), "how many people any known piece of knowledge must fit")
            .hint("with k = 1 a record may be unique, which is no protection")
            .protects(&[Km, Kmn, KAnonymity, LDiversity, TCloseness, BetaLikeness])
            .needed(),
        Key::new("m", Type::at_least(1), "how many values an attacker may know").only(&[Km, Kmn]).needed(),
        Key::new("n", Type::at_least(0), "how many relations between known values an attacker may know")
            .only(&[Kmn])
            .needed(),
        Key::new("attacker", Type::Tables(&ATTACKER), "who may look for a person, by what they know")
            .protects(&[Kmn]),
        Key::new(
            "guess",
            Type::Number { min: 0.0, open: true, max: 1.0 },
            "with labels of each cell's own: the largest share that a value may have among the cells that a label hides, \
             unless it is that common anyway",
        )
        .hint("a share of 0 would ask that labels hide nothing")
        .protects(&[Km, Kmn, KAnonymity, LDiversity, TCloseness, BetaLikeness]),
        Key::new(
            "relations",
            Type::OneOf(Relations::CHOICES),
            "what several relations mean together; from n = 2 on `embedded` unless rows are united",
        )
        .default(Literal::Text("pair"))
        .only(&[Kmn]),
        Key::new("root", Type::OneOf(RootMode::CHOICES), "where the values of the record's top object stand")
            .default(Literal::Text("separate"))
            .only(&[Kmn]),
        Key::new(
            "l",
            Type::Number { min: 1.0, open: true, max: u32::MAX as f64 },
            "no sensitive value may be inferred with more than 1/l",
        )
        .hint("l = 1 allows certainty, which is no protection")
        .protects(&[Km, Kmn, LDiversity, Delta])
        .needed(),
        Key::new(
            "t",
            Type::Number { min: 1e-6, open: false, max: 0.999_999 },
            "how far the distribution of sensitive values in a class may be from that in the whole publication",
        )
        .hint("t = 0 would ask every class to be all records in small; it is read to twelve decimals")
        .protects(&[TCloseness])
        .needed(),
        Key::new(
            "beta",
            Type::Number { min: 1e-6, open: false, max: 1e6 },
            "by how much of itself the share of a sensitive value may be larger in a class than in the whole publication",
        )
        .hint("beta = 0 would ask every class to be all records in small; it is read to twelve decimals")
        .protects(&[BetaLikeness])
        .needed(),
        Key::new(
            "negative",
            Type::List { of: &NEGATIVE, min: 1, max: usize::MAX },
            "values, or pairs of related values (kmn), whose absence counts as knowledge",
        )
        .protects(&[Km, Kmn]),
        Key::new("guard", Type::Bool, "relations that a reader could put together again count as published")
            .default(Literal::Bool(false))
            .protects(&[Kmn]),
        Key::new(
            "payload",
            Type::OneOf(Payload::CHOICES),
            "sensitive and insensitive parts of merged vertices",
        )
        .default(Literal::Text("keep"))
        .only(&[Kmn]),
        Key::new("sensitive", VALUES, "items that are sensitive; needs `l`").protects(&[Km]),
        Key::new("multiset", Type::Bool, "an item together with how often it occurs is an item")
            .default(Literal::Bool(false))
            .only(&[Km]),
        Key::new(
            "diversity",
            Type::OneOf(Diversity::CHOICES),
            "how the sensitive values of a class are judged",
        )
        .default(Literal::Text("frequency"))
        .protects(&[LDiversity]),
        Key::new("siblings", Type::OneOf(Siblings::CHOICES), "how siblings that look alike are judged")
            .default(Literal::Text("pooled"))
            .protects(&[LDiversity]),
        Key::new("distinct_everywhere", VALUES, "sensitive values that may not recur anywhere in a class")
            .protects(&[LDiversity]),
        Key::new(
            "missing",
            Type::OneOf(Missing::CHOICES),
            "what it means that a value is not there: a sensitive one (anatomy; `value` if not given) or a quasi one \
             (kmn; `counted` if not given)",
        )
        .protects(&[Anatomy, Kmn]),
        Key::new(
            "group_size",
            Type::at_least(2),
            "distinct sensitive values per group; none: people per group",
        )
        .protects(&[Anatomy, Delta, Plain])
        .needed(),
        Key::new(
            "delta_target",
            Type::at_least(0),
            "the distance to reach (the highest possible if not given)",
        )
        .protects(&[Delta]),
        Key::new("pairwise", Type::Bool, "the distance holds for every pair of a group (stronger)")
            .default(Literal::Bool(false))
            .protects(&[Delta]),
    ],
};

static COST: [Choice; 3] = [
    level("rpd_a", "on the synopsis of all records"),
    level("rpd", "record by record (slower)"),
    level(
        "lm",
        "detail lost per value and relations lost, all alike; keeps deep values from being given up for shallow ones",
    ),
];
static DISASSOCIATION: [Choice; 4] = [
    level("value", "the lower value moves up, its children stay"),
    level("subtree", "the lower value moves up with all below it"),
    level("ancestor", "the upper value is taken out of the path"),
    level("cheapest", "of these, rule by rule, what takes the fewest relations away"),
];
static MATCHING: [Choice; 3] = [
    level("lsap", "least total cost"),
    level("grd", "each takes its cheapest free partner"),
    level("x", "by the vertices' own values, children not looked at"),
];

static EFFORT: [Choice; 3] = [
    level("quick", "a few seconds of computing for the cut"),
    level(
        "normal",
        "enough for a good start where values have labels of their own; with one cut for everybody, to the end",
    ),
    level("thorough", "to the end, however long that takes"),
];

static RECODING: [Choice; 2] = [
    level("global", "one cut per hierarchy, the same in all records"),
    level("local", "every cell its own label, never coarser than the cut; loses less"),
];

static ABSENT: [Choice; 2] = [
    level("unknown", "nothing: the data is incomplete"),
    level("no", "that it is not there: the data is complete"),
];

static CELLS: [Type; 2] = [
    Type::Int { min: 1, max: 1_000_000 },
    Type::OneOf(&[level(
        "auto",
        "one up to 200,000 records, then one per 100,000, or more where records are large",
    )]),
];

/// Keys that there were, by their paths, with what to do instead.
pub(super) static GONE: [(&str, &str); 1] = [(
    "method.neighbours",
    "it lost much and saved little time; take it out, and say with `method.time` how long to search",
)];

pub(super) static METHOD: Section = Section {
    name: "[method]",
    about: "How the guarantee is reached. Nothing here weakens it.",
    keys: &[
        Key::new("algorithm", Type::OneOf(Algorithm::CHOICES), "the algorithm (the model's default if not given)"),
        Key::new("g", Type::at_least(1), "gcs, ocs: cuts kept per level")
            .default(Literal::Int(2))
            .only(&[Kmn]),
        Key::new("cost", Type::OneOf(&COST), "the loss by which cuts are compared")
            .default(Literal::Text("rpd_a"))
            .only(&[Kmn]),
        Key::new("disassociation", Type::OneOf(&DISASSOCIATION), "how two values are parted")
            .default(Literal::Text("value"))
            .only(&[Kmn]),
        Key::new("max_cuts", Type::at_least(1), "give up after so many cuts").only(&[Kmn]),
        Key::new("improve", Type::Bool, "undo at the end what turned out unnecessary")
            .only(&[Km, Kmn, KAnonymity, LDiversity, TCloseness, BetaLikeness]),
        Key::new(
            "time",
            Type::Duration,
            "how long to search for something better: `60s`, `500ms`, `5m`; what comes out then depends on the machine",
        )
        .only(&[Km, Kmn, KAnonymity, LDiversity, TCloseness, BetaLikeness]),
        Key::new(
            "effort",
            Type::OneOf(&EFFORT),
            "how much to search for a cut, counted in steps: what comes out is the same on every machine",
        )
        .default(Literal::Text("normal"))
        .only(&[Kmn]),
        Key::new("recoding", Type::OneOf(&RECODING), "whether a value is published alike everywhere")
            .default(Literal::Text("global"))
            .only(&[Km, Kmn]),
        Key::new("suppress", Type::Bool, "values may be dropped where that costs less: of km one everywhere, of kmn all of a few people")
            .only(&[Km, Kmn]),
        Key::new("weights", Type::Map(&WIDTH), "how much an attribute's loss counts, by its path, or that of a whole level, by the path or table above its attributes")
            .only(&[Kmn, KAnonymity, LDiversity, TCloseness, BetaLikeness]),
        Key::new("parts", Type::at_least(1), "lra, vpa: number of parts")
            .default(Literal::Int(3))
            .only(&[Km]),
        Key::new("flex", Type::at_least(0), "lra: how far a border may move")
            .default(Literal::Int(10))
            .only(&[Km]),
        Key::new("level", Type::at_least(1), "vpa: hierarchy level of the regions")
            .default(Literal::Int(1))
            .only(&[Km]),
        Key::new(
            "matching",
            Type::OneOf(&MATCHING),
            "how children are matched (the algorithm's own if not given)",
        )
        .only(CLUSTERS),
        Key::new(
            "cells",
            Type::AnyOf(&CELLS),
            "parts of like records that are clustered each for itself: so many, or `auto`, from 200,000 records on",
        )
        .default(Literal::Text("auto"))
        .only(UNITING),
        Key::new("s", Type::POSITIVE, "clustree: step of the cost limit")
            .default(Literal::Number(0.5))
            .only(CLUSTERS),
        Key::new("m", Type::POSITIVE, "clustree: last cost limit")
            .default(Literal::Number(4.0))
            .only(CLUSTERS),
        Key::new("climit", Type::at_least(1), "miracle: open clusters")
            .default(Literal::Int(150))
            .only(CLUSTERS),
        Key::new(
            "th",
            Type::Number { min: 0.0, open: false, max: 1.0 },
            "miracle: a record farther away opens a cluster",
        )
        .default(Literal::Number(0.1))
        .only(CLUSTERS),
        Key::new("weighted", Type::Bool, "a cluster's cost counts its members")
            .default(Literal::Bool(true))
            .only(CLUSTERS),
        Key::new(
            "lost",
            Type::Number { min: 0.0, open: false, max: 1e6 },
            "how much a lost sensitive value counts, a lost quasi value counting 1",
        )
        .default(Literal::Number(1.0))
        .only(CLUSTERS),
        Key::new(
            "absent",
            Type::OneOf(&ABSENT),
            "bitmap: what follows from a vertex that a record does not have",
        )
        .default(Literal::Text("unknown"))
        .only(CLUSTERS),
        Key::new("suppress_violators", Type::Bool, "suppress what is not diverse, or not close, instead of merging on")
            .default(Literal::Bool(false))
            .only(CLUSTERS),
    ],
};

pub(super) static PUBLISH: Section = Section {
    name: "[publish]",
    about: "Where the result goes. File names are relative to the policy's folder.",
    keys: &[
        Key::new("path", Type::Text, "the publication; a folder for tables").file(),
        Key::new("url", Type::Text, "postgres: the database, without a password").database(),
        Key::new("schema", Type::Text, "xml: the published XSD; postgres: the schema to write").file(),
        Key::new("root", Type::Text, "xml: name of the root element of a dissected document"),
        Key::new("certificate", Type::Text, "`<path>.certificate.json` if not given").file(),
        Key::new("report", Type::Text, "a public HTML report").file(),
        Key::new("mapping", Type::Text, "private: which input record became which published one").file(),
        Key::new("anatomize", Type::Bool, "separate quasi and sensitive values of each class")
            .default(Literal::Bool(false))
            .only(CLUSTERS),
        Key::new("rows", Type::OneOf(Rows::CHOICES), "what happens to rows that come to look alike")
            .default(Literal::Text("distinct"))
            .only(&[Kmn]),
    ],
};
