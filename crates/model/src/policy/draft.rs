//! Writes a first policy for a person to go through: every attribute with the reason for its role.

use super::keys::METHOD;
use super::protection::{counted, ways};
use super::set::as_toml;
use super::{Algorithm, Attacker, Format, Lookup, Model, Protection, Role, Shape, Table, Undeclared};
use crate::words::plural;

/// What is known when a policy is drafted.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Form of the input.
    pub source_format: Format,
    /// The input, as it shall stand in the policy; the database's address for PostgreSQL.
    pub source_path: String,
    /// Where in a document one person's record is.
    pub record: Option<String>,
    /// What names the person, where several documents are one person's.
    pub person: Vec<String>,
    /// What stands between items or cells.
    pub separator: Option<String>,
    /// Linked tables; with files of their own they need no `source_path`.
    pub tables: Vec<Table>,
    /// What to know about tables: the name of one, and a comment. Must not hold values of the data.
    pub table_notes: Vec<(String, String)>,
    /// Tables that columns are looked up in, each in a line of its own that one `#` switches off.
    pub lookups: Vec<Lookup>,
    /// Paths of attributes that are left out because they are not declared; none where all are.
    pub dropped: Vec<String>,
    /// How many keys are left out and not named, because only a handful of records have them.
    pub unnamed: usize,
    /// The attributes, in order.
    pub attributes: Vec<DraftAttribute>,
    /// Keys of `[privacy]` with their values: TOML, or a bare word.
    pub privacy: Vec<(String, String)>,
    /// Who may look for a person, each with a comment. Must not hold values of the data.
    pub attackers: Vec<(Attacker, String)>,
    /// Where the result shall go; the database's address for PostgreSQL.
    pub publish_path: String,
}

/// An attribute of a draft.
#[derive(Clone, Debug)]
pub struct DraftAttribute {
    /// Its path.
    pub path: String,
    /// The role proposed for it.
    pub role: Role,
    /// Why; becomes a comment, for it is the machine's opinion: `why` is for people. Must not hold values of the data.
    pub reason: String,
    /// What else to know about it; becomes a comment. Must not hold values of the data.
    pub note: Option<String>,
    /// A builder as an inline table, or the name of a file.
    pub hierarchy: Option<String>,
    /// Path of the attribute it repeats.
    pub follows: Option<String>,
    /// It names a person, and several records have the same: somebody has to say who is counted.
    pub repeats: bool,
}

/// The draft as a commented policy file.
pub fn draft(draft: &Draft) -> String {
    let address = if draft.source_format == Format::Postgres { "url" } else { "path" };
    let mut out = String::from(
        "# A draft. Go through the roles: what an attacker may know is a judgement that no program can make.\n\
         # What you do not want to publish, for whatever reason, gets role \"drop\".\n\
         # The comments are the program's. `why = \"…\"` beside an attribute is for your own reason.\n\n",
    );
    let drops = !draft.dropped.is_empty() || draft.unnamed > 0;
    let drop = drops.then(|| quote(Undeclared::Drop.name()));
    if draft.unnamed > 0 {
        let keys = plural(draft.unnamed, "rare key");
        out.push_str(&comment(&format!(
            "Whatever is not declared here is left out of the publication: {keys} that fewer than five people have each.\n\
             They are not named, for a rare key may name somebody; `bosket inspect --show-values` does."
        )));
    }
    if !draft.dropped.is_empty() {
        out.push_str("# Whatever is not declared here is left out of the publication. The data also has\n");
        draft.dropped.iter().for_each(|path| out.push_str(&comment(&format!("  {path}"))));
    }
    block(&mut out, "", &[("version", Some("1".to_owned())), ("undeclared", drop)]);
    block(
        &mut out,
        "[source]",
        &[
            ("format", Some(quote(draft.source_format.name()))),
            (address, (!draft.source_path.is_empty()).then(|| quote(&draft.source_path))),
            ("record", draft.record.as_deref().map(quote)),
            ("person", columns(&draft.person)),
            ("separator", draft.separator.as_deref().map(quote)),
            ("lookup", (!draft.lookups.is_empty()).then(|| lookups(&draft.lookups))),
        ],
    );
    for table in &draft.tables {
        let notes = draft.table_notes.iter().filter(|(name, _)| *name == table.name);
        notes.for_each(|(_, note)| out.push_str(&comment(note)));
        let keys = [
            ("name", Some(quote(&table.name))),
            ("path", table.path.as_deref().map(quote)),
            ("key", columns(&table.key)),
            ("parent", table.parent.as_deref().map(quote)),
            ("foreign_key", columns(&table.foreign_key)),
            ("person", columns(&table.person)),
        ];
        block(&mut out, "[[source.table]]", &keys);
    }
    let model = model(draft);
    for attribute in &draft.attributes {
        // What follows another is protected, or not, like that.
        let open = attribute.role == Role::Sensitive && attribute.follows.is_none();
        out.push_str(&comment(&wrapped(attribute.reason.trim())));
        out.push_str(&comment(attribute.note.as_deref().unwrap_or_default()));
        if open {
            let what =
                format!("What protects it? Nothing is published until you say. Write {}.", ways(model));
            out.push_str(&comment(&wrapped(&what)));
        }
        if attribute.repeats {
            let what = format!(
                "Several records have the same: who is counted? Nothing is published until you say. Write {}.",
                counted(Some(draft.source_format), &attribute.path)
            );
            out.push_str(&comment(&wrapped(&what)));
        }
        let waits = open || attribute.repeats;
        let keys = [
            ("path", Some(quote(&attribute.path))),
            ("role", Some(quote(attribute.role.name()))),
            ("protection", waits.then(|| quote(Protection::Undecided.name()))),
            ("hierarchy", attribute.hierarchy.as_deref().map(as_toml)),
            ("follows", attribute.follows.as_deref().map(quote)),
        ];
        block(&mut out, "[[attribute]]", &keys);
    }
    if !draft.privacy.is_empty() {
        if !draft.attackers.is_empty() {
            out.push_str(&comment(&wrapped(
                "With `guess = 0.5` below, nobody says from a published label alone with more than that certainty which value it \
                 hides. Not all data allow it.",
            )));
        }
        let keys: Vec<(&str, Option<String>)> =
            draft.privacy.iter().map(|(key, value)| (key.as_str(), Some(as_toml(value)))).collect();
        block(&mut out, "[privacy]", &keys);
        out.push_str(&attackers(draft));
    }
    if let Some(model) = model {
        out.push_str(&method(draft, model));
    }
    let schema = (draft.source_format == Format::Postgres).then(|| quote("published"));
    block(&mut out, "[publish]", &[(address, Some(quote(&draft.publish_path))), ("schema", schema)]);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// Who may look for a person, each with what they know.
fn attackers(draft: &Draft) -> String {
    if draft.attackers.is_empty() {
        return String::new();
    }
    let mut out = comment(
        "Who may look for somebody, and what they know. The publication holds against each of them.\n\
         Delete whom there is not, and add whom there is.",
    );
    out.push('\n');
    for (attacker, about) in &draft.attackers {
        out.push_str(&comment(&wrapped(about)));
        let known: Vec<String> = attacker.knows.iter().map(|path| quote(path)).collect();
        let keys = [
            ("name", Some(quote(&attacker.name))),
            ("knows", (!known.is_empty()).then(|| format!("[{}]", known.join(", ")))),
            ("m", Some(attacker.m.to_string())),
            ("n", (attacker.n > 0).then(|| attacker.n.to_string())),
        ];
        block(&mut out, "[[privacy.attacker]]", &keys);
    }
    out
}

/// The guarantee that the draft asks for.
fn model(draft: &Draft) -> Option<Model> {
    draft.privacy.iter().find(|(key, _)| key == "model").and_then(|(_, value)| Model::from_name(value))
}

/// Characters in a line of a comment.
const LINE: usize = 100;

/// The text in lines of a readable length.
pub fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + word.chars().count() < LINE => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// How to search, with the reason of each line; nothing for models whose defaults are the best there is.
fn method(draft: &Draft, model: Model) -> String {
    let fits = |key: &str| METHOD.key(key).is_some_and(|key| key.fits(model));
    let mut out = String::new();
    let by_detail = fits("cost");
    if by_detail {
        out.push_str("# Detail lost, all values alike; the default cost favours the top of the record.\n");
    }
    let quasi = draft.attributes.iter().filter(|a| a.role == Role::Quasi).count();
    let cheap = by_detail && quasi > MANY_QUASI;
    if cheap {
        out.push_str(
            "# One search, since there are many attributes: `best` tries several and takes far longer.\n",
        );
    }
    let local = fits("recoding") && is_local(draft, model);
    if local {
        out.push_str(
            "# Every value has the finest label that keeps the promise, whatever others have: one cut for everybody loses far\n\
             # more. A column then holds labels of several levels; with \"global\" it does not.\n",
        );
    }
    let keys = [
        ("algorithm", cheap.then(|| quote(Algorithm::Gcs.name()))),
        ("cost", by_detail.then(|| quote("lm"))),
        ("recoding", local.then(|| quote("local"))),
    ];
    if keys.iter().any(|(_, value)| value.is_some()) {
        block(&mut out, "[method]", &keys);
    }
    out
}

/// The most known values that labels can be fitted to one by one.
const MOST_KNOWN: u32 = 5;

/// Whether values can have labels of their own under what the draft promises.
fn is_local(draft: &Draft, model: Model) -> bool {
    let given = |key: &str| draft.privacy.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let own = given("m").and_then(|m| m.parse::<u32>().ok());
    let most = draft.attackers.iter().map(|(attacker, _)| attacker.m).chain(own).max();
    let few = most.is_some_and(|m| m <= MOST_KNOWN);
    let more = model.shape() == Shape::Set && (given("l").is_some() || given("negative").is_some());
    few && !more
}

/// With more quasi attributes than this a draft begins with a cheap search: the default looks at tens of thousands of cuts
/// however few people there are, for hardly any less loss.
const MANY_QUASI: usize = 20;

/// Lookups as a list of inline tables, one per line.
fn lookups(all: &[Lookup]) -> String {
    let line = |lookup: &Lookup| {
        let looked_up: Vec<String> =
            lookup.columns.iter().map(|column| format!("{}.{column}", lookup.table)).collect();
        let keys = [
            ("name", Some(quote(&lookup.name))),
            ("path", lookup.path.as_deref().map(quote)),
            ("key", columns(&lookup.key)),
            ("column", columns(&looked_up)),
            ("value", columns(&lookup.values)),
            ("as", columns(&lookup.names)),
        ];
        let keys = keys.into_iter().filter_map(|(key, value)| Some(format!("{key} = {}", value?)));
        format!("  {{ {} }},\n", keys.collect::<Vec<_>>().join(", "))
    };
    let mut out = String::from("[\n");
    let mut rest = all;
    while let Some(first) = rest.first() {
        // A line that looks up what one before has brought needs that.
        let brought = |i: usize| {
            let needs =
                |l: &Lookup| l.table == rest[i].table && rest[i].columns.iter().any(|c| l.names.contains(c));
            rest[..i].iter().any(needs)
        };
        let end = (1..rest.len()).find(|&i| !brought(i)).unwrap_or(rest.len());
        if end > 1 {
            let names: Vec<&str> = rest[..end].iter().map(|l| l.name.as_str()).collect();
            out.push_str(&format!(
                "  # {}.{}: {}. A line needs the ones before it that bring what it looks up: they go together.\n",
                first.table,
                first.columns.join(", "),
                names.join(", then "),
            ));
        }
        rest[..end].iter().for_each(|lookup| out.push_str(&line(lookup)));
        rest = &rest[end..];
    }
    out + "]"
}

/// One column as a text, several as a list.
fn columns(names: &[String]) -> Option<String> {
    match names {
        [] => None,
        [name] => Some(quote(name)),
        names => Some(format!("[{}]", names.iter().map(|n| quote(n)).collect::<Vec<_>>().join(", "))),
    }
}

fn block(out: &mut String, header: &str, keys: &[(&str, Option<String>)]) {
    if !header.is_empty() {
        out.push_str(header);
        out.push('\n');
    }
    let present = || keys.iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
    let width = present().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
    for (key, value) in present() {
        out.push_str(&format!("{key:width$} = {value}\n"));
    }
    out.push('\n');
}

fn comment(text: &str) -> String {
    let plain = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>();
    text.lines().map(|line| format!("# {}", plain(line)).trim_end().to_owned() + "\n").collect()
}

/// A TOML string on one line.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
