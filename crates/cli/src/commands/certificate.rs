//! `bosket certificate`: keys, signatures, statements, the form of certificates.

use bosket_app::sign::{KeygenRequest, Keys, SignRequest, SignatureRequest, Signed, StatementRequest};
use bosket_model::Result;
use serde_json::json;

use crate::Outcome;
use crate::args::CertificateCommand;
use crate::commands::verify::signature;
use crate::next;
use crate::output::{print, print_json};
use crate::talk::Talk;

pub fn run(args: &CertificateCommand, talk: &Talk) -> Result<Outcome> {
    let settings = talk.settings(None, false);
    match args {
        CertificateCommand::Keygen { out, public, passphrase, force, json } => {
            let request = KeygenRequest {
                secret: out.clone(),
                public: public.clone(),
                passphrase: passphrase.read(true)?,
                force: *force,
                settings,
            };
            let keys = talk.told(bosket_app::sign::keygen(&request, talk)?);
            if *json { print_json(&keys.to_json())? } else { print(&of_keys(&keys))? }
        }
        CertificateCommand::Sign { certificate, key, comment, out, passphrase, force, json } => {
            let request = SignRequest {
                certificate: certificate.clone(),
                key: key.clone(),
                passphrase: passphrase.read(false)?,
                comment: comment.clone(),
                out: out.clone(),
                force: *force,
                settings,
            };
            let signed = talk.told(bosket_app::sign::sign(&request, talk)?);
            if *json {
                print_json(&signed.to_json())?
            } else {
                print(&of_signed(&signed))?;
                // A signature that lies elsewhere is not found by itself.
                if out.is_none() {
                    print(&next::check_certificate(certificate, Some(&signed.public_key)))?;
                }
            }
        }
        CertificateCommand::Verify { certificate, key, signature: at, json } => {
            let request = SignatureRequest {
                certificate: certificate.clone(),
                key: key.clone(),
                signature: at.clone(),
                settings,
            };
            let found = talk.told(bosket_app::sign::signature(&request, talk)?);
            if *json {
                let (holds, told) = (found.holds(), found.to_json());
                print_json(&json!({"holds": holds, "signature": told, "digest": found.digest}))?;
            } else {
                print(&signature(&found))?;
                if found.holds() && at.is_none() {
                    print(&next::check_certificate(certificate, Some(key)))?;
                }
            }
            return Ok(if found.holds() { Outcome::Done } else { Outcome::Violated });
        }
        CertificateCommand::Statement { certificate, out, force } => {
            let request = StatementRequest {
                certificate: certificate.clone(),
                out: out.clone(),
                force: *force,
                settings,
            };
            let made = talk.told(bosket_app::sign::statement(&request, talk)?);
            match out {
                Some(out) => {
                    print(&format!("wrote the statement to {}\n", out.display()))?;
                    print(&next::check_certificate(certificate, None))?
                }
                None => print_json(&made)?,
            }
        }
        CertificateCommand::Schema => print_json(&bosket_report::certificate::json_schema())?,
    }
    Ok(Outcome::Done)
}

fn of_keys(keys: &Keys) -> String {
    format!(
        "secret key: {}\n  keep it and its passphrase; nobody can make either again\npublic key: {}\n  {}\n  hand it out by a \
         way that others trust: who has another one takes somebody else's signatures for yours\nkey id: {}\n",
        keys.secret.display(),
        keys.public.display(),
        keys.public_key,
        keys.key_id
    )
}

fn of_signed(signed: &Signed) -> String {
    format!("signed with the key {}: {}\n", signed.key_id, signed.signature.display())
}
