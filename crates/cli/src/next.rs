//! What a person would do next: a line after each command, to be typed as it stands.

use std::path::{Path, PathBuf};

use bosket_io::PolicyFile;
use bosket_io::tables::is_address;

use crate::args::{Inspect, Reading, Sets, WhichHierarchy};

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
    let mut more: Vec<String> = args.preset.iter().flat_map(|p| ["--preset".to_owned(), p.clone()]).collect();
    more.extend(args.parent.iter().flat_map(|parent| ["--parent".to_owned(), parent.clone()]));
    drafted(&args.data, &args.reading, more)
}

/// A draft for data that is read so; nothing for a stream, which cannot be read again.
pub fn draft(data: &Path, reading: &Reading) -> String {
    if data == Path::new("-") { String::new() } else { drafted(data, reading, Vec::new()) }
}

fn drafted(data: &Path, reading: &Reading, more: Vec<String>) -> String {
    let mut words = vec!["inspect".to_owned(), data.display().to_string()];
    words.extend(read_so(reading));
    words.extend(more);
    words.extend(["--draft".to_owned(), "policy.toml".to_owned()]);
    next(words)
}

fn read_so(reading: &Reading) -> impl Iterator<Item = String> {
    let options =
        [("--format", &reading.format), ("--record", &reading.record), ("--separator", &reading.separator)];
    options
        .into_iter()
        .flat_map(|(option, value)| value.iter().flat_map(move |value| [option.to_owned(), value.clone()]))
}

/// After a hierarchy was shown: whether it covers its data.
pub fn check_hierarchy(which: &WhichHierarchy) -> String {
    let column = &which.column;
    let streams = [&which.file, &which.policy, &column.data];
    if streams.into_iter().flatten().any(|path| path == Path::new("-")) {
        return String::new();
    }
    let mut words = vec!["hierarchy".to_owned(), "check".to_owned()];
    words.extend(which.file.iter().map(|file| file.display().to_string()));
    let named = [("--policy", &which.policy), ("--data", &column.data)];
    for (option, path) in named {
        words.extend(path.iter().flat_map(|path| [option.to_owned(), path.display().to_string()]));
    }
    words.extend(column.path.iter().flat_map(|path| ["--path".to_owned(), path.clone()]));
    words.extend(read_so(&column.reading));
    words.extend(overrides(&which.sets));
    next(words)
}

/// Whether a publication is what its certificate says, for whoever got both.
pub fn check(publication: &Path, certificate: &Path, key: Option<&str>) -> String {
    // An address may hold a password.
    let is_url = publication.to_str().is_some_and(is_address);
    if is_url || [publication, certificate].contains(&Path::new("-")) {
        return String::new();
    }
    let (publication, certificate) = (publication.display().to_string(), certificate.display().to_string());
    let key = key.iter().flat_map(|key| ["--key", key]);
    next(["verify", &publication, "--certificate", &certificate].into_iter().chain(key))
}

/// The same where only the certificate is named: with the publication that it lies beside; nothing if there is none.
pub fn check_certificate(certificate: &Path, key: Option<&str>) -> String {
    publication_of(certificate).map_or(String::new(), |publication| check(&publication, certificate, key))
}

/// The publication beside a certificate, or around it, if it is there.
fn publication_of(certificate: &Path) -> Option<PathBuf> {
    let name = certificate.file_name()?.to_str()?;
    let found = match name.strip_suffix(".certificate.json") {
        Some(publication) => certificate.with_file_name(publication),
        None if name == "certificate.json" => match certificate.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        },
        None => return None,
    };
    found.exists().then_some(found)
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
