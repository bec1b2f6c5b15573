//! What may come before the data, and between it, without being part of it.

use quick_xml::events::{BytesDecl, BytesPI};

use super::mistake::{Mistake, What};
use super::names::is_plain;
use super::reference::check;
use super::tag::{self, Span};

/// Checks the XML declaration.
pub(super) fn declaration(event: &BytesDecl<'_>, spans: &mut Vec<Span>) -> Result<(), Mistake> {
    let text: &str = event;
    tag::attributes(text, "xml".len(), spans)?;
    let mut names = spans.iter().map(|s| &text[s.name.clone()]).peekable();
    let version = spans.first().map(|s| &text[s.value.clone()]);
    if names.next() != Some("version") {
        return Err(What::Declaration.at(0));
    }
    names.next_if_eq(&"encoding");
    names.next_if_eq(&"standalone");
    if names.next().is_some() {
        return Err(What::Declaration.at(0));
    }
    if version == Some("1.0") { Ok(()) } else { Err(What::Version.at(0)) }
}

/// Checks a processing instruction.
pub(super) fn instruction(event: &BytesPI<'_>) -> Result<(), Mistake> {
    let target: &str = event.target();
    if !is_plain(target) || target.eq_ignore_ascii_case("xml") {
        return Err(What::Instruction.at(0));
    }
    ignored(event.content(), "<?".len() + target.len())
}

/// Checks text that is not part of the data and starts so many bytes after its markup.
pub(super) fn ignored(text: &str, markup: usize) -> Result<(), Mistake> {
    check(text, false).map(|_| ()).map_err(|(what, at)| what.at(at + markup))
}
