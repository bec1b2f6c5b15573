//! What went wrong, where, and what to do about it.
//!
//! Functions that check something collect [`Diagnostic`]s and report them all at once; whoever gives up
//! returns a [`Failure`], which says whose fault it is. The command line turns that into an exit code.

use std::fmt;

/// Whose fault a failure is; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The command line asks for something that cannot be.
    Usage,
    /// The policy is wrong, or does not fit the data.
    Policy,
    /// The data cannot be read or is not what it should be.
    Data,
    /// The machine: a missing file, a full disk, no permission.
    Environment,
    /// The guarantee cannot be reached within the limits.
    Unreachable,
    /// Whoever waited has told the work to stop.
    Interrupted,
    /// Ours: a result that our own verifier refuses, or a state that cannot be.
    Defect,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The work stops.
    Error,
    /// The work goes on.
    Warning,
}

/// The line of text a diagnostic points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The whole line, without its end.
    pub text: String,
    /// Where the marked part starts, in characters from 0.
    pub start: usize,
    /// How many characters are marked.
    pub len: usize,
}

/// Where something is. Every part may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// File name, `-` for standard input, or the command-line argument.
    pub source: Option<String>,
    /// Line, from 1.
    pub line: Option<u64>,
    /// Column in characters, from 1.
    pub column: Option<u64>,
    /// Record number, from 1.
    pub record: Option<u64>,
    /// Path of the attribute or class.
    pub path: Option<String>,
    /// The text itself; only for policies and hierarchies, never for data.
    pub snippet: Option<Snippet>,
}

impl Place {
    /// A place in a file.
    pub fn source(name: impl Into<String>) -> Self {
        Place { source: Some(name.into()), ..Place::default() }
    }
    /// The same place, with a line.
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }
    /// The same place, with a column.
    #[must_use]
    pub fn column(mut self, column: u64) -> Self {
        self.column = Some(column);
        self
    }
    /// The same place, with a record number (from 1).
    #[must_use]
    pub fn record(mut self, record: u64) -> Self {
        self.record = Some(record);
        self
    }
    /// The same place, with an attribute path.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
    /// The place of the bytes `span` in `text`, with the line marked.
    pub fn in_text(name: &str, text: &str, span: std::ops::Range<usize>) -> Self {
        let before = &text.as_bytes()[..span.start.min(text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        Self::in_line(name, text, span, line)
    }

    /// The same for whoever knows in which line the part begins.
    pub(crate) fn in_line(name: &str, text: &str, span: std::ops::Range<usize>, number: u64) -> Self {
        let at = floor_boundary(text, span.start.min(text.len()));
        let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
        let line = text[start..end].trim_end_matches('\r');
        let column = text[start..at].chars().count();
        let to = floor_boundary(text, span.end.clamp(at, start + line.len().max(at - start)));
        Place {
            source: Some(name.to_owned()),
            line: Some(number),
            column: Some(column as u64 + 1),
            snippet: Some(Snippet {
                text: line.to_owned(),
                start: column,
                len: text[at..to].chars().count().max(1),
            }),
            ..Place::default()
        }
    }
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = false;
        if let Some(source) = &self.source {
            f.write_str(source)?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
                if let Some(column) = self.column {
                    write!(f, ":{column}")?;
                }
            }
            rest = true;
        }
        let mut part = |f: &mut fmt::Formatter<'_>, name: &str, value: &dyn fmt::Display| {
            let comma = if std::mem::replace(&mut rest, true) { ", " } else { "" };
            write!(f, "{comma}{name} {value}")
        };
        if self.source.is_none()
            && let Some(line) = self.line
        {
            part(f, "line", &line)?;
        }
        if let Some(record) = self.record {
            part(f, "record", &record)?;
        }
        if let Some(path) = &self.path {
            part(f, "path", path)?;
        }
        Ok(())
    }
}

/// One message: what, where, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one line, without values of the data.
    pub message: String,
    /// Where.
    pub place: Place,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Error, message: message.into(), place: Place::default(), help: None }
    }
    /// A warning.
    pub fn warning(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message) }
    }
    /// The same, at a place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }
    /// The same, with advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The plain rendering: `place: error: message (help)`. The command line draws a nicer one.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.to_string();
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        f.write_str(match self.severity {
            Severity::Error => "error: ",
            Severity::Warning => "warning: ",
        })?;
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " (help: {help})"),
            None => Ok(()),
        }
    }
}

/// Why the work stopped: all that was found, and whose fault it is.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Whose fault.
    pub fault: Fault,
    /// At least one error.
    pub diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// A failure with one message.
    pub fn new(fault: Fault, diagnostic: Diagnostic) -> Self {
        Failure { fault, diagnostics: vec![diagnostic] }
    }
    /// An error of ours. What it was found in is not handed out.
    pub fn defect(what: impl Into<String>) -> Self {
        let help = "nothing was published; this is an error of Bosket itself: please report it";
        Failure::new(Fault::Defect, Diagnostic::error(what).help(help))
    }
    /// The work was told to stop.
    pub fn interrupted() -> Self {
        Failure::new(Fault::Interrupted, Diagnostic::error("interrupted"))
    }
    /// A failure with all of them.
    pub fn all(fault: Fault, diagnostics: Vec<Diagnostic>) -> Self {
        Failure { fault, diagnostics }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.diagnostics.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{d}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// The result of anything that can give up.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// A diagnostic with its place, the marked text and the advice.
pub fn render(diagnostic: &Diagnostic, colour: bool) -> String {
    let paint =
        |code: &str, text: &str| if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() };
    let (word, code) = match diagnostic.severity {
        Severity::Error => ("error", "1;31"),
        Severity::Warning => ("warning", "1;33"),
    };
    let mut out = format!("{}{}", paint(code, word), paint("1", &format!(": {}", diagnostic.message)));
    let place = diagnostic.place.to_string();
    if !place.is_empty() {
        out.push_str(&format!("\n {} {place}", paint("1;34", "-->")));
    }
    if let Some(snippet) = &diagnostic.place.snippet {
        let number = diagnostic.place.line.map_or(String::new(), |l| l.to_string());
        let margin = " ".repeat(number.len());
        let bar = paint("1;34", "|");
        // Tabs would shift the marks against the text.
        let text = snippet.text.replace('\t', " ");
        let marks = format!("{}{}", " ".repeat(snippet.start), "^".repeat(snippet.len));
        out.push_str(&format!(
            "\n{margin} {bar}\n{} {bar} {text}\n{margin} {bar} {}",
            paint("1;34", &number),
            paint(code, &marks)
        ));
    }
    if let Some(help) = &diagnostic.help {
        out.push_str(&format!("\n {} {help}", paint("1;34", "help:")));
    }
    out
}

/// The candidate most like `word`, if any is close enough to be what was meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (strsim::osa_distance(&lower, &c.to_lowercase()), c))
        .filter(|&(distance, c)| distance <= 1 + c.chars().count().max(3) / 4)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_counts_characters_not_bytes() {
        let text = "a = 1\nbé = [ x ]\n";
        let at = text.find('x').expect("x is there");
        let place = Place::in_text("p.toml", text, at..at + 1);
        assert_eq!(place.to_string(), "p.toml:2:8");
        let snippet = place.snippet.expect("in_text marks the line");
        assert_eq!((snippet.text.as_str(), snippet.start, snippet.len), ("bé = [ x ]", 7, 1));
    }

    #[test]
    fn place_at_the_end_of_an_empty_text() {
        assert_eq!(Place::in_text("p", "", 0..3).to_string(), "p:1:1");
    }

    #[test]
    fn nearest_is_not_too_eager() {
        assert_eq!(nearest("widht", ["widths", "min"]), Some("widths"));
        assert_eq!(nearest("zebra", ["widths", "min"]), None);
    }
}
