//! By what a file is known.

/// A published file or table, and the SHA-256 of what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The file's name within the publication; a table's in a database.
    pub name: String,
    /// In hexadecimal digits.
    pub sha256: String,
}
