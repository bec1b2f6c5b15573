//! `--set key=value`: changes the tree before anything is checked.

use super::describe;
use super::node::{Entry, Kind, Node, Report, Span, parse};
use super::{Algorithm, Model};
use crate::diag::nearest;
use std::ops::Range;

/// One step of a dotted key.
#[derive(Debug)]
enum Step {
    Key(String),
    /// Element of a list, from 0.
    Number(usize),
    /// Element of a list of tables, by its path or name.
    Name(String),
}

impl Step {
    fn key(&self) -> Option<&str> {
        if let Step::Key(key) = self { Some(key) } else { None }
    }
}

type Steps = Vec<(Step, Range<usize>)>;

/// Applies one argument; `number` is its text in the report.
pub(super) fn apply(root: &mut Node, arg: &str, number: usize, report: &mut Report) {
    let span = |range: Range<usize>| Span { text: number, range };
    let (steps, equals) = match key(arg) {
        Ok(found) => found,
        Err((range, message)) => {
            return report.error(&span(range), message, "write it as key=value, for example privacy.k=10");
        }
    };
    if arg[equals + 1..].trim().is_empty() {
        if !take_out(root, &steps) {
            let names: Vec<&str> = steps.iter().map_while(|(step, _)| step.key()).collect();
            if names.len() < steps.len() || describe::key(&names).is_none() {
                report.error(&span(0..equals), "the policy has no such key to take out", "");
            }
        }
        return;
    }
    let value = match value(arg, equals + 1, number) {
        Ok(value) => value,
        Err((range, message)) => return report.error(&span(range), message, "the value is read as TOML"),
    };
    if let Err((range, message, help)) = put(root, &steps, value, number) {
        report.error(&span(range), message, help);
    }
}

/// Where an argument names the model and the policy's own algorithm is for another one, the model's default takes its place.
pub(super) fn take_usual_algorithm(root: &mut Node, report: &mut Report) {
    let Some((model, algorithm)) = misfit(root) else { return };
    let (name, span) = (algorithm.text().unwrap_or_default().to_owned(), algorithm.span.clone());
    let path = ["method", "algorithm"].map(|key| (Step::Key(key.to_owned()), 0..0));
    take_out(root, &path);
    report.warning(
        &span,
        format!(
            "algorithm `{name}` is not for model `{model}`, which --set names: the default of that is taken"
        ),
        "--set method.algorithm=… names another",
    );
}

/// The model that an argument names, and the algorithm that the policy itself names, if this is none for that.
fn misfit(root: &Node) -> Option<(Model, &Node)> {
    let model = root.get("privacy")?.get("model").filter(|node| node.span.text > 0)?;
    let algorithm = root.get("method")?.get("algorithm").filter(|node| node.span.text == 0)?;
    let model = Model::from_name(model.text()?)?;
    let known = Algorithm::from_name(algorithm.text()?)?;
    (!known.reaches(model)).then_some((model, algorithm))
}

/// `key=` with nothing behind it: as if the policy did not have the key. A list keeps its elements.
/// Whether it was there.
fn take_out(node: &mut Node, steps: &[(Step, Range<usize>)]) -> bool {
    match (steps, &mut node.kind) {
        ([(Step::Key(key), _)], Kind::Table(entries)) => {
            let before = entries.len();
            entries.retain(|entry| entry.key != *key);
            entries.len() < before
        }
        ([(Step::Key(key), _), rest @ ..], Kind::Table(entries)) => {
            entries.iter_mut().find(|entry| entry.key == *key).is_some_and(|e| take_out(&mut e.value, rest))
        }
        ([(Step::Number(at), _), rest @ ..], Kind::Array(items)) => {
            items.get_mut(*at).is_some_and(|item| take_out(item, rest))
        }
        ([(Step::Name(name), _), rest @ ..], Kind::Array(items)) => {
            let named = |item: &&mut Node| [item.str("path"), item.str("name")].contains(&Some(name));
            items.iter_mut().find(named).is_some_and(|item| take_out(item, rest))
        }
        _ => false,
    }
}

/// Reads the key up to `=`; gives its steps and where `=` is.
fn key(arg: &str) -> Result<(Steps, usize), (Range<usize>, String)> {
    let mut steps = Vec::new();
    let mut at = 0;
    loop {
        let rest = &arg[at..];
        let (name, len) = match rest.chars().next() {
            Some('"' | '\'') => {
                quoted(rest).ok_or_else(|| (at..arg.len(), "the quote is not closed".to_owned()))?
            }
            _ => {
                let len =
                    rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(rest.len());
                (rest[..len].to_owned(), len)
            }
        };
        if len == 0 {
            return Err((at..at + 1, "a key is expected here".to_owned()));
        }
        steps.push((Step::Key(name), at..at + len));
        at += len;
        while arg[at..].starts_with('[') {
            let (step, len) =
                index(&arg[at..]).ok_or_else(|| (at..arg.len(), "the bracket is not closed".to_owned()))?;
            steps.push((step, at..at + len));
            at += len;
        }
        match arg[at..].chars().next() {
            Some(' ') if arg[at..].trim_start().starts_with('=') => {
                let blanks = arg[at..].len() - arg[at..].trim_start().len();
                return Ok((steps, at + blanks));
            }
            Some('=') => return Ok((steps, at)),
            Some('.') => at += 1,
            Some(c) => return Err((at..at + c.len_utf8(), format!("`{c}` cannot stand in a key"))),
            None => return Err((0..arg.len(), "the value is missing".to_owned())),
        }
    }
}

/// `[2]`, `["visits[].hospital"]`, or `[visits[].hospital]`, which is what a shell makes of the one before.
fn index(text: &str) -> Option<(Step, usize)> {
    if let Some((name, len)) = quoted(&text[1..]) {
        return text[1 + len..].starts_with(']').then_some((Step::Name(name), len + 2));
    }
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let inner = text[1..i].trim();
            let step = inner.parse().map_or_else(|_| Step::Name(inner.to_owned()), Step::Number);
            return Some((step, i + 1));
        }
    }
    None
}

/// The quoted text at the start, read as TOML, and its length with the quotes.
fn quoted(text: &str) -> Option<(String, usize)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, c)| {
        let closes = c == quote && !escaped;
        escaped = quote == '"' && c == '\\' && !escaped;
        closes
    })?;
    let value: toml_edit::Value = text[..=end.0].parse().ok()?;
    Some((value.as_str()?.to_owned(), end.0 + 1))
}

/// The value: TOML, or the bare text if it is not TOML and does not look as if it were meant to be.
fn value(arg: &str, from: usize, number: usize) -> Result<Node, (Range<usize>, String)> {
    let raw = &arg[from..];
    let text = raw.trim();
    let start = from + (raw.len() - raw.trim_start().len());
    let range = start..start + text.len();
    match toml_value(text, start, number) {
        Ok(node) => Ok(node),
        Err((at, message)) if text.starts_with(['"', '\'', '[', '{']) => {
            Err((at.start.min(arg.len())..at.end.min(arg.len()), message))
        }
        Err(_) => Ok(Node { kind: Kind::Str(text.to_owned()), span: Span { text: number, range } }),
    }
}

/// Reads a text that is one TOML value and nothing else, and that starts at `start` of the argument.
fn toml_value(text: &str, start: usize, number: usize) -> Result<Node, (Range<usize>, String)> {
    const HEAD: &str = "v = ";
    let moved = |r: &Range<usize>| {
        (r.start + start).saturating_sub(HEAD.len())..(r.end + start).saturating_sub(HEAD.len())
    };
    let mut root =
        parse(&format!("{HEAD}{text}"), number).map_err(|(range, message)| (moved(&range), message))?;
    if let Kind::Table(entries) = &mut root.kind
        && let [Entry { value, .. }] = entries.as_mut_slice()
        && value.span.range == (HEAD.len()..HEAD.len() + text.len())
    {
        each_span(value, &|span| span.range = moved(&span.range));
        return Ok(value.clone());
    }
    Err((start..start + text.len(), "this is not one TOML value".to_owned()))
}

/// The text as it has to stand in a TOML file: as it is if it is a value, else quoted.
pub(super) fn as_toml(text: &str) -> String {
    let text = text.trim();
    if toml_value(text, 0, 0).is_ok() { text.to_owned() } else { super::draft::quote(text) }
}

fn each_span(node: &mut Node, change: &dyn Fn(&mut Span)) {
    change(&mut node.span);
    match &mut node.kind {
        Kind::Table(entries) => {
            for entry in entries {
                change(&mut entry.key_span);
                each_span(&mut entry.value, change);
            }
        }
        Kind::Array(items) => items.iter_mut().for_each(|i| each_span(i, change)),
        _ => {}
    }
}

/// Puts the value where the steps lead, creating tables on the way.
fn put(
    root: &mut Node,
    steps: &[(Step, Range<usize>)],
    value: Node,
    number: usize,
) -> Result<(), (Range<usize>, String, String)> {
    let mut node = root;
    let mut parent = String::new();
    for (i, (step, range)) in steps.iter().enumerate() {
        let here = Span { text: number, range: range.clone() };
        let (words, is_list) = (node.words(), matches!(node.kind, Kind::Array(_)));
        let next = steps.get(i + 1).map(|(step, _)| step);
        node = match (step, &mut node.kind) {
            (Step::Key(key), Kind::Table(entries)) => {
                let at = entries.iter().position(|e| e.key == *key);
                if at.is_none() && matches!(next, Some(Step::Number(_) | Step::Name(_))) {
                    return Err((range.clone(), format!("the policy has no `{key}`"), String::new()));
                }
                let at = at.unwrap_or_else(|| {
                    let value = Node { kind: Kind::Table(Vec::new()), span: here.clone() };
                    entries.push(Entry { key: key.clone(), key_span: here.clone(), value });
                    entries.len() - 1
                });
                parent.clone_from(key);
                if next.is_none() {
                    entries[at].key_span = here;
                }
                &mut entries[at].value
            }
            (Step::Number(at), Kind::Array(items)) => {
                let len = items.len();
                items.get_mut(*at).ok_or_else(|| {
                    let help = format!("there are {len}, numbered from 0");
                    (range.clone(), format!("`{parent}` has no element {at}"), help)
                })?
            }
            (Step::Name(name), Kind::Array(items)) => {
                let id = if parent == "attribute" { "path" } else { "name" };
                let known: Vec<String> = items.iter().filter_map(|n| n.str(id)).map(str::to_owned).collect();
                items.iter_mut().find(|n| n.str(id) == Some(name)).ok_or_else(|| {
                    let help = match nearest(name, known.iter().map(String::as_str)) {
                        Some(near) => format!("did you mean \"{near}\"?"),
                        None => format!("there are: {}", known.join(", ")),
                    };
                    (range.clone(), format!("no `{parent}` has the {id} \"{name}\""), help)
                })?
            }
            (Step::Key(_), _) => {
                let help = if is_list {
                    format!("say which one: {parent}[0], or {parent}[\"…\"] by path or name")
                } else {
                    format!("set the whole of `{parent}` instead")
                };
                return Err((range.clone(), format!("`{parent}` is {words}, it has no keys"), help));
            }
            (Step::Number(_) | Step::Name(_), _) => {
                return Err((
                    range.clone(),
                    format!("`{parent}` is not a list in the policy"),
                    String::new(),
                ));
            }
        };
    }
    *node = value;
    Ok(())
}
