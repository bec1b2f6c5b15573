//! What is complete and has no name yet: the very bytes that will lie there or be sent, compressed if they will be.

use std::fs::File;
use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::Arc;

use bosket_model::Result;
use bosket_model::observe::Observer;
use sha2::{Digest, Sha256};

use crate::fault;
use crate::fingerprint::hash;
use crate::input::Input;

/// Where such bytes are.
#[derive(Clone, Debug)]
pub(crate) enum Hidden {
    /// In a hidden file beside the place that it is going to have.
    File(PathBuf),
    /// In memory: a stream has no file, and nothing is sent before it was read again.
    Memory(Held),
}

/// Bytes that are read while they are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held(Arc<Vec<u8>>);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Held {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        Arc::make_mut(&mut self.0).extend_from_slice(bytes);
    }

    pub(crate) fn copy_to(&self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&self.0).and_then(|()| out.flush())
    }
}

impl Hidden {
    /// Opens it as somebody opens it who finds it in its place; messages use another name than it has now.
    pub(crate) fn open(&self, name: &str) -> Result<Input> {
        match self {
            Hidden::File(path) => Input::open_as(path, name),
            Hidden::Memory(held) => Input::new(name, Cursor::new(held.clone()), Some(held.0.len() as u64)),
        }
    }

    /// The SHA-256 of it.
    pub(crate) fn hash(&self, name: &str, observer: &dyn Observer) -> Result<Sha256> {
        match self {
            Hidden::File(path) => {
                hash(&mut File::open(path).map_err(|e| fault::reading(name, &e))?, name, observer)
            }
            Hidden::Memory(held) => Ok(Sha256::new().chain_update(held)),
        }
    }
}
