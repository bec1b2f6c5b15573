//! What can be wrong with a JSON text.

use std::fmt;

/// How deep arrays and objects may be nested.
pub const MAX_DEPTH: u32 = 128;

/// What is wrong with a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text ends inside a value.
    Truncated,
    /// Something else should stand here.
    Unexpected(&'static str),
    /// The bytes are not UTF-8.
    NotUtf8,
    /// A backslash with something unknown behind it.
    BadEscape,
    /// Half of a surrogate pair.
    LoneSurrogate,
    /// An unescaped control character in a string.
    ControlCharacter,
    /// `NaN` or `Infinity`.
    NotANumber,
    /// A number like `007`.
    LeadingZero,
    /// A comma before a closing bracket.
    TrailingComma,
    /// More text after the value.
    TrailingText,
    /// Deeper than [`MAX_DEPTH`].
    TooDeep,
    /// An integer that 64 bits do not hold, or a decimal beyond the range of a double.
    NumberTooLarge,
}

/// What is wrong, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Offset in bytes from the start of the text.
    pub at: usize,
}

impl ErrorKind {
    /// What to do about it.
    pub fn help(self) -> &'static str {
        match self {
            ErrorKind::Truncated => "the file may have been cut off; write it again",
            ErrorKind::Unexpected(_) | ErrorKind::TrailingText => "correct the JSON at this place",
            ErrorKind::NotUtf8 => "convert the file to UTF-8",
            ErrorKind::BadEscape => {
                r#"write \\ for a backslash; \" \/ \b \f \n \r \t \uXXXX are the escapes"#
            }
            ErrorKind::LoneSurrogate => "write the character itself, or both halves of the pair",
            ErrorKind::ControlCharacter => r"write it as \n, \t or \u00XX",
            ErrorKind::NotANumber => "JSON has no such number; write null or a string",
            ErrorKind::LeadingZero => "leave out the zeros, or write a string",
            ErrorKind::TrailingComma => "remove the comma",
            ErrorKind::TooDeep => "records this deep are not supported",
            ErrorKind::NumberTooLarge => "write it as a string",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Truncated => f.write_str("the JSON text ends too early"),
            ErrorKind::Unexpected(wanted) => write!(f, "{wanted} should stand here"),
            ErrorKind::NotUtf8 => f.write_str("not valid UTF-8"),
            ErrorKind::BadEscape => f.write_str("unknown escape in a string"),
            ErrorKind::LoneSurrogate => {
                f.write_str(r"half of a surrogate pair (\uD800 to \uDFFF) in a string")
            }
            ErrorKind::ControlCharacter => f.write_str("unescaped control character in a string"),
            ErrorKind::NotANumber => f.write_str("NaN and Infinity are not JSON"),
            ErrorKind::LeadingZero => f.write_str("a number starts with a needless zero"),
            ErrorKind::TrailingComma => f.write_str("a comma with nothing after it"),
            ErrorKind::TrailingText => f.write_str("more text after the end of the value"),
            ErrorKind::TooDeep => write!(f, "nested deeper than {MAX_DEPTH} levels"),
            ErrorKind::NumberTooLarge => f.write_str("a number does not fit into 64 bits"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {})", self.kind, self.at)
    }
}

impl std::error::Error for Error {}
