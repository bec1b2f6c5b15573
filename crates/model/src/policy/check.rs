//! Checks a policy against the description of its keys: names, types, ranges, words, what must be there.

use super::describe::{Choice, Key, Section, Type};
use super::duration;
use super::keys::{FROM, GONE, ROOT};
use super::models::Model;
use super::node::{Entry, Kind, Node, Report, Span};
use crate::diag::{Severity, nearest};

/// Reports everything in the tree that the description does not allow.
pub(super) fn check(root: &Node, report: &mut Report) {
    let model = model(root);
    Checker { report, model }.section(&ROOT, root, "");
}

/// The privacy model, if one is readable.
pub(super) fn model(root: &Node) -> Option<Model> {
    root.get("privacy")?.str("model").and_then(Model::from_name)
}

struct Checker<'a> {
    report: &'a mut Report,
    model: Option<Model>,
}

impl Checker<'_> {
    fn section(&mut self, section: &'static Section, node: &Node, path: &str) {
        for entry in node.entries() {
            match section.key(&entry.key) {
                Some(key) => {
                    let path = join(path, key.name);
                    self.scope(key, entry, &path);
                    self.value(&key.kind, &entry.value, &path, key.hint);
                }
                None => self.unknown(section, entry, path, &[]),
            }
        }
        self.missing(section, node, path);
    }

    fn unknown(&mut self, section: &'static Section, entry: &Entry, path: &str, more: &[&'static str]) {
        let names = || section.keys.iter().map(|k| k.name).chain(more.iter().copied());
        let whole = join(path, &entry.key);
        if let Some((_, help)) = GONE.iter().find(|gone| gone.0 == whole) {
            return self.report.error(&entry.key_span, format!("there is no `{whole}` any more"), *help);
        }
        // A key that stands in the wrong section is likelier than a slip that makes another key of it.
        let help = if let Some(home) = home(&entry.key) {
            format!("`{}` belongs in {home}", entry.key)
        } else if let Some(name) = nearest(&entry.key, names()) {
            format!("did you mean `{name}`?")
        } else {
            format!("known here: {}", names().collect::<Vec<_>>().join(", "))
        };
        self.report.error(&entry.key_span, format!("unknown key `{whole}`"), help);
    }

    fn missing(&mut self, section: &'static Section, node: &Node, path: &str) {
        for key in section.keys.iter().filter(|k| node.get(k.name).is_none()) {
            let path = join(path, key.name);
            // An attacker says how much they know.
            let told = ["m", "n"].contains(&key.name) && node.get("attacker").is_some();
            let both = told && (node.get("m").is_some() || node.get("n").is_some());
            if key.required {
                self.report.error(&node.span, format!("`{path}` is missing"), expected(key));
            } else if let Some(model) = self.model.filter(|m| key.is_needed_by(*m) && (!told || both)) {
                let span = node.get("model").map_or(&node.span, |m| &m.span);
                self.report.error(span, format!("model \"{model}\" needs `{path}`"), expected(key));
            }
        }
    }

    /// A key that means nothing under the chosen model.
    fn scope(&mut self, key: &Key, entry: &Entry, path: &str) {
        let (Some(model), Some(scope)) = (self.model, &key.scope) else { return };
        if key.fits(model) {
            return;
        }
        let message = format!("`{path}` has no meaning for model \"{model}\"");
        let models = scope.models.iter().map(|m| m.name()).collect::<Vec<_>>().join(", ");
        match scope.otherwise {
            Severity::Error => self.report.error(
                &entry.key_span,
                message,
                format!("it would promise a protection that is not there; remove it, or use a model that has it: {models}"),
            ),
            Severity::Warning => {
                self.report.warning(&entry.key_span, message, format!("it is ignored; it belongs to {models}"));
            }
        }
    }

    fn value(&mut self, kind: &'static Type, node: &Node, path: &str, hint: &str) {
        match (kind, &node.kind) {
            (Type::Named(_, kind), _) => self.value(kind, node, path, hint),
            (Type::AnyOf(kinds), _) => match kinds.iter().find(|k| accepts(k, node)) {
                Some(kind) => self.value(kind, node, path, hint),
                None => self.wrong_type(kind, node, path),
            },
            _ if !accepts(kind, node) => self.wrong_type(kind, node, path),
            (Type::Text, Kind::Str(text)) if text.is_empty() => {
                self.report.error(&node.span, format!("`{path}` must not be empty"), "");
            }
            (Type::Date, _) if node.text().is_none_or(|t| !is_date(t)) => {
                self.report.error(&node.span, format!("`{path}` must be a date YYYY-MM-DD"), "");
            }
            (Type::Duration, Kind::Str(text)) if duration::parse(text).is_none() => {
                let message = format!("`{path}` must be {}", kind.words());
                self.report.error(&node.span, message, duration::EXPECTED);
            }
            (Type::OneOf(choices), Kind::Str(word)) => self.word(choices, word, node, path),
            (&Type::Int { min, max }, Kind::Int(i)) => self.range(
                (*i < min).then(|| if min == max { format!("{min}") } else { format!("at least {min}") }),
                (*i > max).then(|| if min == max { format!("{max}") } else { format!("at most {max}") }),
                (node, path, hint),
            ),
            (&Type::Number { min, open, max }, _) => {
                let number = node.number().unwrap_or(f64::NAN);
                if !number.is_finite() {
                    return self.report.error(&node.span, format!("`{path}` must be a finite number"), "");
                }
                let low = number < min || (open && number == min);
                let word = if open { "more than" } else { "at least" };
                self.range(
                    low.then(|| format!("{word} {min}")),
                    (number > max).then(|| format!("at most {max}")),
                    (node, path, hint),
                );
            }
            (&Type::List { of, min, max }, Kind::Array(items)) => {
                if items.len() < min || items.len() > max {
                    let message = match (min, items.len()) {
                        (1, 0) => format!("`{path}` must not be empty"),
                        _ if min == max => format!("`{path}` must be {}", kind.words()),
                        _ if items.len() < min => format!("`{path}` needs at least {min} elements"),
                        _ => format!("`{path}` takes at most {max} elements"),
                    };
                    self.report.error(&node.span, message, "");
                }
                for item in items {
                    self.value(of, item, path, hint);
                }
            }
            (Type::Map(of), Kind::Table(entries)) => {
                for entry in entries {
                    self.value(of, &entry.value, &format!("{path}.\"{}\"", entry.key), hint);
                }
            }
            (Type::Table(section), _) => self.section(section, node, path),
            (Type::Tables(section), _) => {
                for item in node.items() {
                    match item.kind {
                        Kind::Table(_) => self.section(section, item, path),
                        _ => self.wrong_type(kind, item, path),
                    }
                }
            }
            (Type::Build(builders), _) => self.builder(builders, node, path),
            _ => {}
        }
    }

    fn range(&mut self, low: Option<String>, high: Option<String>, (node, path, hint): (&Node, &str, &str)) {
        let hint = if low.is_some() { hint } else { "" };
        if let Some(bound) = low.or(high) {
            let given = match node.kind {
                Kind::Float(f) => f.to_string(),
                _ => node.int().unwrap_or_default().to_string(),
            };
            self.report.error(&node.span, format!("`{path}` must be {bound}, not {given}"), hint);
        }
    }

    fn word(&mut self, choices: &'static [Choice], word: &str, node: &Node, path: &str) {
        let fitting = |c: &&Choice| self.model.is_none_or(|m| c.fits(m));
        if let Some(choice) = choices.iter().find(|c| c.name == word) {
            if let Some(model) = self.model
                && !choice.fits(model)
            {
                let others = names(choices.iter().filter(fitting).map(|c| c.name));
                let message = format!("`{path}` cannot be \"{word}\" for model \"{model}\"");
                self.report.error(&node.span, message, format!("one of {others}"));
            }
            return;
        }
        let help = match nearest(word, choices.iter().filter(fitting).map(|c| c.name)) {
            Some(name) => format!("did you mean \"{name}\"?"),
            None => format!("one of {}", names(choices.iter().filter(fitting).map(|c| c.name))),
        };
        self.report.error(&node.span, format!("`{path}` cannot be \"{word}\""), help);
    }

    fn builder(&mut self, builders: &'static [Section], node: &Node, path: &str) {
        let all = || names(builders.iter().map(|b| b.name));
        let implied = node.get(FROM).is_some() && node.get("build").is_none();
        if let Some(section) = builders.iter().find(|b| implied && b.name == FROM) {
            return self.section(section, node, path);
        }
        let Some(build) = node.get("build") else {
            return self.report.error(
                &node.span,
                format!("`{path}.build` is missing"),
                format!("one of {}", all()),
            );
        };
        let Some(name) = build.text() else {
            return self.wrong_type(&Type::Text, build, &join(path, "build"));
        };
        let Some(section) = builders.iter().find(|b| b.name == name) else {
            let help = nearest(name, builders.iter().map(|b| b.name))
                .map_or_else(|| format!("one of {}", all()), |n| format!("did you mean \"{n}\"?"));
            return self.report.error(&build.span, format!("there is no hierarchy builder \"{name}\""), help);
        };
        for entry in node.entries().iter().filter(|e| e.key != "build") {
            match section.key(&entry.key) {
                Some(key) => self.value(&key.kind, &entry.value, &join(path, key.name), key.hint),
                None => self.unknown(section, entry, path, &["build"]),
            }
        }
        self.missing(section, node, path);
    }

    fn wrong_type(&mut self, kind: &Type, node: &Node, path: &str) {
        let help = match kind {
            Type::Tables(section) => format!("write it as {}", section.name),
            _ => String::new(),
        };
        self.report.error(
            &node.span,
            format!("`{path}` must be {}, not {}", kind.words(), node.words()),
            help,
        );
    }
}

/// Whether the kind of TOML value is right; what is in it is looked at later.
fn accepts(kind: &Type, node: &Node) -> bool {
    match kind {
        Type::Text | Type::Value | Type::OneOf(_) | Type::Duration => matches!(node.kind, Kind::Str(_)),
        Type::Date => matches!(node.kind, Kind::Str(_) | Kind::Datetime(_)),
        Type::Bool => matches!(node.kind, Kind::Bool(_)),
        Type::Int { .. } => matches!(node.kind, Kind::Int(_)),
        Type::Number { .. } => matches!(node.kind, Kind::Int(_) | Kind::Float(_)),
        Type::List { .. } | Type::Tables(_) => matches!(node.kind, Kind::Array(_)),
        Type::Map(_) | Type::Table(_) | Type::Build(_) => matches!(node.kind, Kind::Table(_)),
        Type::AnyOf(kinds) => kinds.iter().any(|k| accepts(k, node)),
        Type::Named(_, kind) => accepts(kind, node),
    }
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = bytes.len() == 10
        && bytes
            .iter()
            .enumerate()
            .all(|(i, b)| if i == 4 || i == 7 { *b == b'-' } else { b.is_ascii_digit() });
    let part = |range: std::ops::Range<usize>| text.get(range).and_then(|t| t.parse::<u32>().ok());
    let (true, Some(year), Some(month), Some(day)) = (shape, part(0..4), part(5..7), part(8..10)) else {
        return false;
    };
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn expected(key: &Key) -> String {
    match &key.kind {
        Type::OneOf(choices) => format!("{}: one of {}", key.about, names(choices.iter().map(|c| c.name))),
        kind => format!("{}: {}", key.about, kind.words()),
    }
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", ")
}

pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The sections that have the key: TOML keys easily land in the section above or below.
fn home(key: &str) -> Option<String> {
    let sections = ROOT.keys.iter().filter_map(|k| match k.kind {
        Type::Table(section) | Type::Tables(section) => Some(section),
        _ => None,
    });
    let homes = std::iter::once(&ROOT).chain(sections).filter(|s| s.key(key).is_some());
    let names: Vec<&str> = homes.map(|s| s.name).collect();
    (!names.is_empty()).then(|| names.join(" or "))
}

/// The span of an entry's key.
pub(super) fn key_span<'a>(node: &'a Node, key: &str) -> &'a Span {
    node.entries().iter().find(|e| e.key == key).map_or(&node.span, |e| &e.key_span)
}
