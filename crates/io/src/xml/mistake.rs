//! What can be wrong with an XML text.

use std::fmt;

use quick_xml::errors::{Error, IllFormedError, SyntaxError};

/// How deep elements may be nested.
pub(super) const MAX_DEPTH: usize = 128;

/// Why a text is no document that can be read. Nothing after it is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Truncated(&'static str),
    StillOpen(String),
    Mismatch { open: String, closed: String },
    NothingOpen,
    SecondRoot,
    OutsideRoot,
    NoRoot,
    BadName(&'static str),
    Declaration,
    DeclarationLate,
    Version,
    Character,
    CharacterReference,
    Ampersand,
    Undeclared { dtd: bool },
    EntityUsed,
    LessThan,
    EndOfCdata,
    Comment,
    Instruction,
    Markup,
    AttributeSyntax,
    AttributeTwice(String),
    Prefix(String),
    Reserved,
    Namespace(String),
    DefaultNamespace,
    DoctypeLate,
    Doctype,
    ParameterEntity,
    ExternalEntity,
    NestedEntity,
    DefaultValue,
    Nil,
    TooDeep,
}

/// What is wrong, and at which byte of the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) what: What,
    pub(super) at: usize,
}

impl What {
    pub(super) fn at(self, at: usize) -> Mistake {
        Mistake { what: self, at }
    }

    /// What the tokenizer found; none if reading itself failed.
    pub(super) fn of(error: Error) -> Option<What> {
        Some(match error {
            Error::Io(_) | Error::Encoding(_) => return None,
            Error::Syntax(error) => match error {
                SyntaxError::InvalidBangMarkup => What::Markup,
                SyntaxError::UnclosedPI | SyntaxError::UnclosedXmlDecl => What::Truncated("an instruction"),
                SyntaxError::UnclosedComment => What::Truncated("a comment"),
                SyntaxError::UnclosedDoctype => What::Truncated("the DOCTYPE"),
                SyntaxError::UnclosedCData => What::Truncated("a CDATA section"),
                SyntaxError::UnclosedTag => What::Truncated("a tag"),
                SyntaxError::UnclosedSingleQuotedAttributeValue
                | SyntaxError::UnclosedDoubleQuotedAttributeValue => What::Truncated("an attribute's value"),
            },
            Error::IllFormed(error) => match error {
                IllFormedError::MismatchedEndTag { expected, found } => {
                    What::Mismatch { open: expected, closed: found }
                }
                IllFormedError::UnmatchedEndTag(_) => What::NothingOpen,
                IllFormedError::DoubleHyphenInComment => What::Comment,
                IllFormedError::MissingDoctypeName => What::Doctype,
                IllFormedError::UnclosedReference => What::Ampersand,
                _ => What::Declaration,
            },
            _ => What::Markup,
        })
    }

    /// What to do about it.
    pub(super) fn help(&self) -> &'static str {
        match self {
            What::Truncated(_) | What::StillOpen(_) => "the file may have been cut off; write it again",
            What::Mismatch { .. } | What::NothingOpen => "close every element where it was opened",
            What::SecondRoot => "put one element around all others; a document has one root",
            What::OutsideRoot => "remove what stands outside the root element",
            What::NoRoot => "check that it is the right file, and complete",
            What::BadName(_) => "a name starts with a letter; write `&lt;` for a `<` that starts no tag",
            What::Declaration => "write it like <?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            What::DeclarationLate => "move it to the very start of the file; one document per file",
            What::Version => "write the document as XML 1.0",
            What::Character | What::CharacterReference => "remove the character; XML 1.0 cannot hold it",
            What::Ampersand => "write `&amp;` for an ampersand",
            What::Undeclared { dtd: false } | What::EntityUsed => {
                "write the character itself, or a reference such as `&#233;`; known by name are only `&lt;`, \
                 `&gt;`, `&amp;`, `&apos;` and `&quot;`"
            }
            What::Undeclared { dtd: true } => {
                "the DTD is never fetched: write the character itself, or a reference such as `&#233;`"
            }
            What::LessThan => "write `&lt;`",
            What::EndOfCdata => "write `]]&gt;`",
            What::Comment => "write a single hyphen, or remove the comment",
            What::Instruction => "name the instruction otherwise, or remove it",
            What::Markup => "write `&lt;` for a `<` that starts no tag",
            What::AttributeSyntax => "write attributes like name=\"value\", separated by blanks",
            What::AttributeTwice(_) => "keep one of them",
            What::Prefix(_) => "declare it: xmlns:PREFIX=\"…\" in this element or one around it",
            What::Reserved => "choose another prefix or namespace",
            What::Namespace(_) => "use another prefix for one of the two",
            What::DefaultNamespace => "declare the same default namespace for all records, or use prefixes",
            What::DoctypeLate => "move it before the root element, and keep only one",
            What::Doctype => "remove the DOCTYPE; it is not needed",
            What::ParameterEntity | What::ExternalEntity | What::NestedEntity => {
                "remove the declaration; entities are never expanded or fetched"
            }
            What::DefaultValue => "write the attribute into the elements and remove the DOCTYPE",
            What::Nil => "leave out xsi:nil, or the content",
            What::TooDeep => "records this deep are not supported",
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            What::Truncated(inside) => return write!(f, "the XML text ends inside {inside}"),
            What::StillOpen(name) => {
                return write!(f, "the XML text ends before `</{}>`", shortened(name));
            }
            What::Mismatch { open, closed } => {
                return write!(f, "`</{}>` closes `<{}>`", shortened(closed), shortened(open));
            }
            What::NothingOpen => "an end tag without start tag",
            What::SecondRoot => "a second root element",
            What::OutsideRoot => "text outside the root element",
            What::NoRoot => "the document has no element",
            What::BadName(of) => return write!(f, "the name of {of} is no XML name"),
            What::Declaration => "the XML declaration is not well-formed",
            What::DeclarationLate => "an XML declaration that is not at the start",
            What::Version => "the document is not XML 1.0",
            What::Character => "a character that XML does not allow",
            What::CharacterReference => "a reference to a character that XML does not allow",
            What::Ampersand => "an ampersand that starts no reference",
            What::Undeclared { .. } => "a reference to an entity that is not declared",
            What::EntityUsed => "a reference to an entity that the DOCTYPE declares",
            What::LessThan => "a `<` in an attribute's value",
            What::EndOfCdata => "`]]>` outside a CDATA section",
            What::Comment => "`--` inside a comment",
            What::Instruction => "a processing instruction without a proper name",
            What::Markup => "markup that is not XML",
            What::AttributeSyntax => "the attributes of a tag are not well-formed",
            What::AttributeTwice(name) => {
                return write!(f, "an element has the attribute `{}` twice", shortened(name));
            }
            What::Prefix(prefix) => {
                return write!(f, "the namespace prefix `{}` is not declared", shortened(prefix));
            }
            What::Reserved => "a namespace or prefix is used that XML reserves for itself",
            What::Namespace(prefix) => {
                return write!(f, "the prefix `{}` stands for two namespaces", shortened(prefix));
            }
            What::DefaultNamespace => "names without prefix stand for two namespaces",
            What::DoctypeLate => "a DOCTYPE that is not before the root element, or a second one",
            What::Doctype => "the DOCTYPE is not well-formed",
            What::ParameterEntity => "the DOCTYPE declares or uses a parameter entity",
            What::ExternalEntity => "the DOCTYPE declares an external entity",
            What::NestedEntity => "the DOCTYPE declares an entity that refers to others",
            What::DefaultValue => "the DOCTYPE declares a default value for an attribute",
            What::Nil => {
                "an element that says it is nil has content, or its xsi:nil is neither true nor false"
            }
            What::TooDeep => return write!(f, "nested deeper than {MAX_DEPTH} levels"),
        })
    }
}

/// Names from broken files can be long.
fn shortened(name: &str) -> &str {
    name.char_indices().nth(60).map_or(name, |(end, _)| &name[..end])
}
