//! `bosket certificate`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// `bosket certificate`
#[derive(Debug, Subcommand)]
pub enum CertificateCommand {
    /// Make a pair of keys: a secret one that signs, under a passphrase, and a public one that checks
    #[command(after_help = FORM)]
    Keygen {
        /// Where the secret key goes; the public one goes beside it, with the ending `.pub`
        #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        out: PathBuf,
        /// Where the public key goes
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        public: Option<PathBuf>,
        /// Whence the passphrase comes
        #[command(flatten)]
        passphrase: PassphraseFrom,
        /// Replace keys that exist; what the old ones have signed cannot be signed again
        #[arg(long)]
        force: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Sign a certificate, and with it all files that it names
    #[command(after_help = FORM)]
    Sign {
        /// The certificate
        #[arg(value_hint = ValueHint::FilePath)]
        certificate: PathBuf,
        /// The secret key
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        key: PathBuf,
        /// What is signed with it and shown to whoever checks [default: the time and the file's name]
        #[arg(long, value_name = "TEXT")]
        comment: Option<String>,
        /// Where the signature goes [default: beside the certificate, with `.minisig` behind its name]
        #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        out: Option<PathBuf>,
        /// Whence the passphrase comes
        #[command(flatten)]
        passphrase: PassphraseFrom,
        /// Replace a signature that exists
        #[arg(long)]
        force: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the signature of a certificate; `bosket verify --key` also checks the publication
    Verify {
        /// The certificate
        #[arg(value_hint = ValueHint::FilePath)]
        certificate: PathBuf,
        /// The public key: its file, or the key itself
        #[arg(long, value_name = "KEY")]
        key: String,
        /// The signature [default: the one beside the certificate, with `.minisig` behind its name]
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        signature: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a certificate as an in-toto statement (v1): its subjects are the published files
    Statement {
        /// The certificate
        #[arg(value_hint = ValueHint::FilePath)]
        certificate: PathBuf,
        /// Where to write [default: standard output]
        #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        out: Option<PathBuf>,
        /// Replace a statement that exists
        #[arg(long)]
        force: bool,
    },
    /// Print the JSON Schema of certificates, which every run of `anonymize` writes
    Schema,
}

const FORM: &str = "Keys and signatures are minisign's: `minisign -Vm CERTIFICATE -p KEY.pub` checks them too. The passphrase is \
never taken from arguments or the environment, where others could read it.";

/// Whence a passphrase comes.
#[derive(Clone, Debug, Args)]
pub struct PassphraseFrom {
    /// Read the passphrase from this file descriptor, up to the end of its first line, rather than from the terminal
    #[arg(long = "passphrase-fd", value_name = "N", value_parser = clap::value_parser!(u32).range(0..=65535))]
    pub descriptor: Option<u32>,
}
