//! The private key by which dates are shifted and pseudonyms made. It is read, used and forgotten: nothing of it, not even
//! its hash, is written anywhere.

use std::io::Read;
use std::path::Path;

use bosket_model::masks::Masks;
use bosket_model::policy::Policy;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

/// Bytes that a key has at least; random ones cannot be guessed.
const LEAST: usize = 32;

/// Bytes that a key has at most: more is another file than was meant.
const MOST: u64 = 4096;

const HELP: &str = "make one with: head -c 32 /dev/urandom > key; chmod 600 key";

/// A key that nobody prints.
pub(crate) struct Key(Vec<u8>);

impl Key {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The key that a policy needs; none if it masks nothing.
pub(crate) fn read(policy: &Policy, path: Option<&Path>) -> Result<Option<Key>> {
    let refuse = |fault, what: String| {
        let place = path.map_or_else(|| policy.name.clone(), |path| path.display().to_string());
        Failure::new(fault, Diagnostic::error(what).at(Place::source(place)).help(HELP))
    };
    match (Masks::of(policy).any(), path) {
        (false, None) => Ok(None),
        (false, Some(_)) => {
            let what = "`--key` is given, but the policy neither shifts dates nor has a pseudonym";
            Err(Failure::new(Fault::Usage, Diagnostic::error(what).help("leave it out, or see `shift`")))
        }
        (true, None) => {
            let what =
                "the policy shifts dates or has a pseudonym, which needs a private key: give it with --key";
            Err(refuse(Fault::Usage, what.to_owned()))
        }
        (true, Some(path)) => {
            let unreadable =
                |e: std::io::Error| refuse(Fault::Environment, format!("cannot read the key: {e}"));
            let file = std::fs::File::open(path).map_err(unreadable)?;
            if is_open_to_others(&file.metadata().map_err(unreadable)?) {
                return Err(refuse(Fault::Environment, "others than you can read the key".to_owned()));
            }
            let mut bytes = Vec::new();
            file.take(MOST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
            if bytes.len() < LEAST || bytes.len() as u64 > MOST {
                let what = format!("a key has at least {LEAST} bytes, and at most {MOST}");
                return Err(refuse(Fault::Environment, what));
            }
            Ok(Some(Key(bytes)))
        }
    }
}

/// Whether the system lets others read a file.
#[cfg(unix)]
pub(crate) fn is_open_to_others(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 != 0
}

/// Elsewhere the system has no such bits to ask.
#[cfg(not(unix))]
pub(crate) fn is_open_to_others(_: &std::fs::Metadata) -> bool {
    false
}
