//! What tells whether something is still what was published: the SHA-256 of its bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use bosket_model::observe::Observer;
use bosket_model::{Fingerprint, Result};
use sha2::{Digest, Sha256};

use crate::fault;
use crate::output::Output;
use crate::tables::PgTables;

/// How much of a file is read at once.
const BUFFER: usize = 1 << 17;

/// Makes the certificate that is put in place together with the files that have these fingerprints; none if nobody asks
/// for one, and then nothing is hashed.
pub type Certify<'c> = Option<Box<dyn FnOnce(&[Fingerprint]) -> Result<Output> + 'c>>;

/// The SHA-256 of a file as it lies there, compressed or not.
pub fn of_file(path: &Path, observer: &dyn Observer) -> Result<String> {
    let name = path.to_string_lossy();
    let mut file = File::open(path).map_err(|e| fault::reading(&name, &e))?;
    hash(&mut file, &name, observer).map(hex)
}

/// The hash of everything that is left to read.
pub(crate) fn hash(from: &mut dyn Read, name: &str, observer: &dyn Observer) -> Result<Sha256> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        observer.go_on()?;
        match from.read(&mut buffer) {
            Ok(0) => return Ok(hash),
            Ok(read) => hash.update(&buffer[..read]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(fault::reading(name, &e)),
        }
    }
}

/// The fingerprints of tables of a PostgreSQL database, each of a dump in a fixed order; tables that are not there have
/// none.
pub fn of_database(
    url: &str,
    schema: &str,
    tables: &[&str],
    observer: &dyn Observer,
) -> Result<Vec<Fingerprint>> {
    PgTables::open(url, Some(schema), observer)?.fingerprints(tables, observer)
}

/// The digits of a hash.
pub(crate) fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bosket_model::observe::Quiet;

    #[test]
    fn the_hash_is_the_one_everybody_knows() {
        let dir = tempfile::TempDir::new().expect("a folder");
        let path = dir.path().join("abc");
        std::fs::write(&path, "abc").expect("a file");
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of_file(&path, &Quiet).expect("readable"), known);
        let large = vec![7; 3 * BUFFER + 1];
        std::fs::write(&path, &large).expect("a file");
        let mut whole = Sha256::new();
        whole.update(&large);
        assert_eq!(of_file(&path, &Quiet).expect("readable"), hex(whole));
        assert!(of_file(dir.path(), &Quiet).is_err());
    }
}
