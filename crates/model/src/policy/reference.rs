//! The key tables of the manual.

use super::describe::{Key, Literal, Section, Type};
use super::keys::{ATTACKER, ATTRIBUTE, BUILDERS, LOOKUP, METHOD, PRIVACY, PUBLISH, ROOT, SOURCE, TABLE};
use super::release::{EARLIER, RELEASE};
use std::fmt::Write;

/// All sections and keys as Markdown.
pub fn reference() -> String {
    let mut out = String::new();
    for section in [&ROOT, &SOURCE, &TABLE, &LOOKUP, &ATTRIBUTE] {
        let title =
            if section.name.starts_with('[') { format!("`{}`", section.name) } else { capital(section.name) };
        table(&mut out, &format!("### {title}"), section);
    }
    out.push_str("### Hierarchy builders\n\n");
    for builder in &BUILDERS {
        table(&mut out, &format!("#### `build = \"{}\"`", builder.name), builder);
    }
    for section in [&PRIVACY, &ATTACKER, &METHOD, &PUBLISH, &RELEASE, &EARLIER] {
        table(&mut out, &format!("### `{}`", section.name), section);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn table(out: &mut String, title: &str, section: &Section) {
    let scoped = section.keys.iter().any(|k| k.scope.is_some());
    let keys = || section.keys.iter().filter(|k| !matches!(k.kind, Type::Table(_) | Type::Tables(_)));
    push(out, format_args!("{title}\n\n{}\n\n", section.about));
    if keys().next().is_none() {
        return;
    }
    let (head, rule) = if scoped { (" models |", " --- |") } else { ("", "") };
    push(out, format_args!("| key | value | default |{head} meaning |\n| --- | --- | --- |{rule} --- |\n"));
    for key in keys() {
        push(out, format_args!("| `{}` | {} | {} |", key.name, value(&key.kind), default(key)));
        if scoped {
            push(out, format_args!(" {} |", models(key)));
        }
        push(out, format_args!(" {} |\n", key.about));
    }
    out.push('\n');
    let mut listed = false;
    for key in keys() {
        if let Type::OneOf(choices) = &key.kind
            && choices.iter().any(|c| !c.about.is_empty())
        {
            push(out, format_args!("- `{}`:\n", key.name));
            for choice in *choices {
                let models = choice.models.iter().map(|m| m.name()).collect::<Vec<_>>().join(", ");
                let under = if models.is_empty() { models } else { format!(" ({models})") };
                push(out, format_args!("  - `{}`{under}: {}\n", choice.name, choice.about));
            }
            listed = true;
        }
    }
    if listed {
        out.push('\n');
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

fn value(kind: &Type) -> String {
    match kind {
        Type::OneOf(choices) if choices.len() <= 4 => {
            choices.iter().map(|c| format!("`{}`", c.name)).collect::<Vec<_>>().join(", ")
        }
        Type::OneOf(_) => "a word, see below".to_owned(),
        &Type::Int { min, max } if min == max => format!("`{min}`"),
        Type::Int { min, .. } => format!("a whole number, at least {min}"),
        &Type::Number { min, open, max } => {
            let low = match (min.is_finite(), open) {
                (true, true) => format!(", more than {min}"),
                (true, false) => format!(", at least {min}"),
                (false, _) => String::new(),
            };
            // The largest that fits is a limit of the machine, not of the meaning.
            let high = if max < f64::from(u32::MAX) { format!(", at most {max}") } else { String::new() };
            format!("a number{low}{high}")
        }
        kind => kind.words(),
    }
}

fn default(key: &Key) -> String {
    match key.default {
        _ if key.required => "required".to_owned(),
        None => String::new(),
        Some(Literal::Bool(b)) => format!("`{b}`"),
        Some(Literal::Int(i)) => format!("`{i}`"),
        Some(Literal::Number(n)) => format!("`{n}`"),
        Some(Literal::Text(t)) => format!("`\"{t}\"`"),
    }
}

fn models(key: &Key) -> String {
    let Some(scope) = &key.scope else { return "all".to_owned() };
    let name = |m: &super::Model| {
        let must = if key.is_needed_by(*m) { " (required)" } else { "" };
        format!("{m}{must}")
    };
    scope.models.iter().map(name).collect::<Vec<_>>().join(", ")
}
