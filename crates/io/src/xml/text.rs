//! The text of an element, put together from its pieces.
//!
//! Blanks around it belong to the layout of the document, not to the value, unless they are written as references or in
//! a CDATA section.

use super::names::{all_blank, is_blank};
use super::reference::push_lines;

#[derive(Debug, Default)]
pub(super) struct Text {
    buffer: String,
    /// From the first to the last piece that counts.
    solid: Option<(usize, usize)>,
}

impl Text {
    #[inline]
    pub(super) fn clear(&mut self) {
        self.buffer.clear();
        self.solid = None;
    }

    /// The text, if there is any.
    #[inline]
    pub(super) fn value(&self) -> Option<&str> {
        self.solid.map(|(start, end)| &self.buffer[start..end])
    }

    /// Adds literal text; `plain`: its line ends need no change.
    #[inline]
    pub(super) fn push(&mut self, text: &str, plain: bool) {
        if self.solid.is_none() && all_blank(text) {
            return;
        }
        let at = self.buffer.len();
        if plain {
            self.buffer.push_str(text);
        } else {
            push_lines(&mut self.buffer, text);
        }
        let new = &self.buffer.as_bytes()[at..];
        if let Some(first) = new.iter().position(|&b| !is_blank(b)) {
            let last = new.iter().rposition(|&b| !is_blank(b)).unwrap_or(first);
            self.extend_to(at + first, at + last + 1);
        }
    }

    /// Adds a character that was referred to.
    pub(super) fn push_char(&mut self, c: char) {
        let at = self.buffer.len();
        self.buffer.push(c);
        self.extend_to(at, self.buffer.len());
    }

    /// Adds the content of a CDATA section.
    pub(super) fn push_section(&mut self, text: &str) {
        let at = self.buffer.len();
        push_lines(&mut self.buffer, text);
        if self.buffer.len() > at {
            self.extend_to(at, self.buffer.len());
        }
    }

    #[inline]
    fn extend_to(&mut self, start: usize, end: usize) {
        self.solid = Some((self.solid.map_or(start, |(first, _)| first), end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_around_are_layout() {
        let mut text = Text::default();
        assert_eq!(text.value(), None);
        text.push("\n  \t", true);
        assert_eq!(text.value(), None);
        text.push(" a b\r\n", false);
        assert_eq!(text.value(), Some("a b"));
        text.push("  ", true);
        text.push_char('&');
        text.push("c ", true);
        assert_eq!(text.value(), Some("a b\n  &c"));
        text.clear();
        text.push(" ", true);
        text.push_section("");
        assert_eq!(text.value(), None);
        text.push_char(' ');
        text.push("x ", true);
        text.push_section("\r\n");
        text.push(" ", true);
        assert_eq!(text.value(), Some(" x \n"));
    }
}
