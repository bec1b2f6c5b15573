//! Secret keys. They are minisign's, encrypted by what scrypt makes of a passphrase; with more work for whoever guesses than
//! the library's own default, and as much as can be waited for.

use std::fmt;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use minisign::{KeyPair, PublicKey, SecretKey, SecretKeyBox};

/// What protects a key. It is shown nowhere.
#[derive(Clone)]
pub struct Passphrase(String);

/// Bytes of a passphrase at most, as minisign has it.
const LONGEST: usize = 1024;

impl Passphrase {
    /// A passphrase that is one.
    pub fn new(text: String) -> Result<Self> {
        let refuse = |what: &str| {
            let help = "give it on the terminal, or on a file descriptor with --passphrase-fd";
            Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)))
        };
        match text.len() {
            0 => refuse("the passphrase is empty: it would protect nothing"),
            n if n > LONGEST => refuse("the passphrase is longer than 1,024 bytes"),
            _ => Ok(Passphrase(text)),
        }
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase")
    }
}

/// Where things stand in a key: two letters each for the signature, for scrypt and for the checksum, the salt, how much work
/// and memory scrypt takes, then what is encrypted.
const KDF: std::ops::Range<usize> = 2..4;
const SALT: std::ops::Range<usize> = 6..38;
const WORK: std::ops::Range<usize> = 38..46;
const MEMORY: std::ops::Range<usize> = 46..54;
const ENCRYPTED: std::ops::RangeFrom<usize> = 54..;

/// 128 MiB and one pass: what libsodium, and so minisign, takes N = 2^17, r = 8, p = 1 for.
const BYTES: u64 = 1 << 27;
const STEPS: u64 = 1 << 22;
const LOG_N: u8 = 17;

/// A pair of keys as files have it.
pub(super) struct Made {
    pub(super) secret: String,
    pub(super) public: String,
    pub(super) key_id: String,
    pub(super) public_key: String,
}

pub(super) fn make(passphrase: &Passphrase) -> Result<Made> {
    let failed = |what: String| Failure::new(Fault::Environment, Diagnostic::error(what));
    let pair = KeyPair::generate_unencrypted_keypair()
        .map_err(|e| failed(format!("the system gives no random bytes: {e}")))?;
    let mut bytes = pair.sk.to_bytes();
    let mut salt = [0; 32];
    getrandom::fill(&mut salt).map_err(|e| failed(format!("the system gives no random bytes: {e}")))?;
    bytes[KDF].copy_from_slice(b"Sc");
    bytes[SALT].copy_from_slice(&salt);
    bytes[WORK].copy_from_slice(&STEPS.to_le_bytes());
    bytes[MEMORY].copy_from_slice(&BYTES.to_le_bytes());
    let mut stream = vec![0; bytes[ENCRYPTED].len()];
    let params = scrypt::Params::new(LOG_N, 8, 1, scrypt::Params::RECOMMENDED_LEN)
        .map_err(|e| Failure::defect(format!("scrypt takes no such parameters: {e}")))?;
    scrypt::scrypt(passphrase.0.as_bytes(), &salt, &params, &mut stream)
        .map_err(|e| Failure::defect(format!("scrypt gives no such key: {e}")))?;
    bytes[ENCRYPTED].iter_mut().zip(&stream).for_each(|(byte, mask)| *byte ^= mask);
    let defect = |e: minisign::PError| Failure::defect(format!("the key cannot be written: {e}"));
    let secret = SecretKey::from_bytes(&bytes).map_err(defect)?;
    let secret = secret.to_box(Some("minisign encrypted secret key")).map_err(defect)?.into_string();
    let key_id = id(pair.pk.keynum());
    let public_key = pair.pk.to_base64();
    let public = format!("untrusted comment: minisign public key {key_id}\n{public_key}\n");
    Ok(Made { secret, public, key_id, public_key })
}

/// How minisign writes the number of a key.
pub(super) fn id(number: &[u8]) -> String {
    number.iter().rev().map(|byte| format!("{byte:02X}")).collect()
}

/// A key that can sign.
pub(super) struct Key {
    secret: SecretKey,
    public: PublicKey,
    pub(super) key_id: String,
    pub(super) public_key: String,
}

/// Bytes of a key's file at most: more is another file than was meant.
const MOST: u64 = 4096;

pub(super) fn open(path: &Path, passphrase: &Passphrase) -> Result<Key> {
    let refuse = |fault, what: String, help: &str| {
        let place = Place::source(path.display().to_string());
        Failure::new(fault, Diagnostic::error(what).at(place).help(help))
    };
    let unreadable = |e: std::io::Error| refuse(Fault::Environment, format!("cannot read the key: {e}"), "");
    let file = File::open(path).map_err(unreadable)?;
    if crate::key::is_open_to_others(&file.metadata().map_err(unreadable)?) {
        let what = "others than you can read the key".to_owned();
        return Err(refuse(Fault::Environment, what, "chmod 600 takes that from them; was it read already?"));
    }
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text).map_err(unreadable)?;
    let own = || SecretKeyBox::from(text.clone());
    if own().into_unencrypted_secret_key().is_ok() {
        let what = "the key has no passphrase: whoever gets the file can sign".to_owned();
        return Err(refuse(Fault::Environment, what, "make one with `bosket certificate keygen`"));
    }
    let secret = own().into_secret_key(Some(passphrase.0.clone())).map_err(|e| match e.kind() {
        minisign::ErrorKind::Verify => {
            refuse(Fault::Usage, "the passphrase is not that of this key".to_owned(), "")
        }
        _ => {
            let help = "`bosket certificate keygen` makes one, and so does `minisign -G`";
            refuse(Fault::Data, "this is no secret key in minisign's form".to_owned(), help)
        }
    })?;
    let public = PublicKey::from_secret_key(&secret)
        .map_err(|e| Failure::defect(format!("a secret key has no public one: {e}")))?;
    let (key_id, public_key) = (id(public.keynum()), public.to_base64());
    Ok(Key { secret, public, key_id, public_key })
}

impl Key {
    /// The signature of some bytes, as its file has it.
    pub(super) fn sign(&self, bytes: &[u8], comment: &str) -> Result<String> {
        let untrusted = format!("signature from minisign secret key {}", self.key_id);
        // With the public key at hand, what was made is checked.
        let made = minisign::sign(
            Some(&self.public),
            &self.secret,
            Cursor::new(bytes),
            Some(comment),
            Some(&untrusted),
        );
        let made = made.map_err(|e| Failure::defect(format!("the signature could not be made: {e}")))?;
        Ok(made.into_string())
    }
}
