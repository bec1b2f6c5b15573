//! What a person would do next: a line after each command, to be typed as it stands.

use std::path::Path;

use bosket_io::PolicyFile;

use crate::args::{Inspect, Sets};

/// The line for a command with these arguments.
pub fn next<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| quoted(word.as_ref())).collect();
    format!("next: bosket {}\n", words.join(" "))
}

/// The same for a command about a policy, with what overrides it.
pub fn about(command: &[&str], policy: &Path, sets: &Sets, more: &[&str]) -> String {
    // What came through a pipe cannot be read again.
    if policy == Path::new("-") {
        return String::new();
    }
    let mut words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    words.push(policy.display().to_string());
    words.extend(more.iter().map(|word| (*word).to_owned()));
    words.extend(overrides(sets));
    next(words)
}

/// After a look: the same with a draft.
pub fn after_look(args: &Inspect) -> String {
    if args.data == Path::new("-") {
        return String::new();
    }
    let reading = &args.reading;
    let options = [
        ("--format", &reading.format),
        ("--record", &reading.record),
        ("--separator", &reading.separator),
        ("--preset", &args.preset),
    ];
    let mut words = vec!["inspect".to_owned(), args.data.display().to_string()];
    for (option, value) in options {
        words.extend(value.iter().flat_map(|value| [option.to_owned(), value.clone()]));
    }
    words.extend(args.parent.iter().flat_map(|parent| ["--parent".to_owned(), parent.clone()]));
    words.extend(["--draft".to_owned(), "policy.toml".to_owned()]);
    next(words)
}

/// After a publication: whether it keeps its promise and is true to its source.
pub fn after_publication(policy: &Path, sets: &Sets, publication: &str, key: Option<&Path>) -> String {
    let source = PolicyFile::load(policy, &sets.sets).ok().filter(|_| policy != Path::new("-"));
    let Some(file) = source.filter(|_| sets.policy_copy.is_none()) else { return String::new() };
    let mut words = ["verify", publication, "--policy"].map(str::to_owned).to_vec();
    words.push(policy.display().to_string());
    let source = file.policy.source.as_ref().and_then(|s| s.path.as_deref()).filter(|path| *path != "-");
    if let Some(path) = source {
        words.extend(["--against".to_owned(), file.resolve(path).display().to_string()]);
        words.extend(key.iter().flat_map(|key| ["--mask-key".to_owned(), key.display().to_string()]));
        // What labels tell is counted by which record became which.
        let mapping = file.policy.publish.as_ref().and_then(|publish| publish.mapping.as_deref());
        if let Some(mapping) = mapping.filter(|_| file.policy.guess().is_some()) {
            words.extend(["--mapping".to_owned(), file.resolve(mapping).display().to_string()]);
        }
    }
    words.extend(overrides(sets));
    next(words)
}

fn overrides(sets: &Sets) -> impl Iterator<Item = String> + '_ {
    sets.sets.iter().flat_map(|set| ["--set".to_owned(), set.clone()])
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_./:@%+=,-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, expected) in [
            ("data.csv", "data.csv"),
            ("my data.csv", "'my data.csv'"),
            ("it's", r"'it'\''s'"),
            ("a[]", "'a[]'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
        }
        assert_eq!(next(["inspect", "a b"]), "next: bosket inspect 'a b'\n");
    }
}
