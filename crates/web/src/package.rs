//! What is handed over, in one file: for whoever receives a publication, and for whoever answers for it.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use bosket_model::policy::Policy;
use bosket_model::{Failure, Fault};

use crate::Server;
use crate::error::{ApiError, Result};
use crate::places::Places;
use crate::publish::{self, PublishView};
use crate::results::{self, CertificateView};
use crate::shape::shape;
use crate::zip::{LARGEST, Zip};

shape! {
    request
    /// A package of a policy's publication, for the `receiver` or the `officer`.
    pub(crate) struct Packing {
        policy: String,
        audience: String,
    }
}

shape! {
    answer
    /// A package that lies beside the publication.
    pub(crate) struct Packed {
        path: String,
        files: Vec<String>,
    }
}

/// What is in a package: files as they are, and texts that are written for it.
#[derive(Default)]
struct Contents {
    files: Vec<PathBuf>,
    texts: Vec<(&'static str, String)>,
}

/// Packs, and puts the package beside the publication; one that is there is replaced.
pub(crate) fn pack(server: &Server, asked: &Packing) -> Result<Packed> {
    let folder = &server.folder;
    let real = folder.find_policy(&asked.policy)?;
    let text = folder.read_text(&real)?;
    let parsed = Policy::parse(&asked.policy, &text, &[]);
    let (parsed, _) = parsed.map_err(|errors| ApiError::from(Failure::all(Fault::Policy, errors)))?;
    let places = Places::new(folder, &real, &text, &parsed);
    let (Some(publication), Some(certificate)) = (&places.publication, &places.certificate) else {
        return Err(ApiError::bad("what is published in a database is not packed: hand it out as a whole"));
    };
    if !publication.is_file() || !certificate.is_file() {
        return Err(ApiError::bad("there is no published file with its certificate"));
    }
    let view = publish::view(server, &asked.policy)?;
    let told = results::certificate(folder, &folder.name(certificate))?;
    let find = |name: &String| folder.find(name);
    let signature = view.signature.iter().map(find).collect::<Result<Vec<_>>>()?;
    let keys = match signature.is_empty() {
        true => Vec::new(),
        false => view.public_keys.iter().map(find).collect::<Result<Vec<_>>>()?,
    };
    let mut contents = Contents::default();
    let name = match asked.audience.as_str() {
        "receiver" => {
            contents.files.extend([publication.clone(), certificate.clone()]);
            contents.texts.push(("HOW-TO-CHECK.txt", how_to_check(publication, certificate, &keys)));
            "receiver"
        }
        "officer" => {
            contents.files.push(certificate.clone());
            contents.files.extend(places.report.iter().filter(|report| report.is_file()).cloned());
            let page = sign_off(&parsed, &told, &view, &base(publication));
            contents.texts.push(("SIGN-OFF.html", page));
            "officer"
        }
        _ => return Err(ApiError::bad("a package is for the `receiver` or the `officer`")),
    };
    contents.files.extend(signature);
    contents.files.extend(keys);
    let target = publication.with_file_name(format!("{}.{name}.zip", base(publication)));
    let target = folder.place_from(folder.root(), &target.to_string_lossy())?;
    let files = contents.write(&target)?;
    Ok(Packed { path: folder.name(&target), files })
}

fn base(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl Contents {
    /// Writes all of it, or nothing; gives the names inside.
    fn write(self, target: &Path) -> Result<Vec<String>> {
        let sizes = self.files.iter().map(|file| file.metadata().map(|found| found.len()));
        if sizes.sum::<std::io::Result<u64>>()? > LARGEST / 2 {
            return Err(ApiError::bad("the files are too large for one package: hand them out one by one"));
        }
        let half = tempfile::NamedTempFile::new_in(target.parent().unwrap_or(Path::new(".")))?;
        let mut zip = Zip::new(BufWriter::new(half.reopen()?));
        let mut names: Vec<String> = Vec::new();
        for (name, text) in &self.texts {
            zip.add(name, &mut text.as_bytes())?;
            names.push((*name).to_owned());
        }
        for file in &self.files {
            let name = base(file);
            if names.contains(&name) {
                continue;
            }
            zip.add(&name, &mut File::open(file)?)?;
            names.push(name);
        }
        zip.finish()?;
        half.persist(target).map_err(|error| ApiError::from(error.error))?;
        Ok(names)
    }
}

/// How a receiver checks what they got, in three lines.
fn how_to_check(publication: &Path, certificate: &Path, keys: &[PathBuf]) -> String {
    let key = keys.first().map(|key| format!(" --key {}", base(key))).unwrap_or_default();
    let signed = match keys.is_empty() {
        true => "It is not signed: ask the publisher whether the certificate is theirs.",
        false => {
            "It says AS SIGNED, if the key is the publisher's: compare the key with one that you got on another way."
        }
    };
    format!(
        "How to check this publication:\n\n\
         1. Run: bosket verify {} --certificate {}{key}   (or, in a browser: bosket serve --check .)\n\
         2. It says HOLDS and AS CERTIFIED, if the file is what was published and keeps what is promised.\n\
         3. {signed}\n",
        base(publication),
        base(certificate),
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The page that is printed and signed by hand.
fn sign_off(policy: &Policy, told: &CertificateView, view: &PublishView, name: &str) -> String {
    let list = |all: &mut dyn Iterator<Item = String>| {
        let items: String = all.map(|one| format!("<li>{}</li>", escape(&one))).collect();
        if items.is_empty() { "<p>Nothing.</p>".to_owned() } else { format!("<ul>{items}</ul>") }
    };
    let open = view.as_it_is.iter().map(|one| {
        format!("{} ({}): {}", one.path, one.role, one.why.as_deref().unwrap_or("no reason is given"))
    });
    let release = policy.release.as_ref();
    let approvers = release.map(|release| release.approvers.clone()).unwrap_or_default();
    let rows = approvers.iter().map(|who| escape(who)).chain((approvers.is_empty()).then(String::new));
    let rows: String = rows.map(|who| format!("<tr><td>{who}</td><td></td><td></td></tr>")).collect();
    let signed = match &view.signature {
        Some(_) => "The certificate has a signature; the public key is in this package.",
        None => "The certificate is not signed.",
    };
    let verdict = match (told.verified, &told.sentence) {
        (true, Some(sentence)) => format!("Holds: {sentence}."),
        _ => "No guarantee is claimed.".to_owned(),
    };
    let guess = told.guess.as_ref().map_or(String::new(), |guess| {
        format!("<p>What labels tell: {}. Checked {}.</p>", escape(&guess.sentence), escape(&guess.checked))
    });
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sign-off: {name}</title><style>\
         body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; color: #111; background: #fff }} \
         table {{ border-collapse: collapse; width: 100% }} th, td {{ border: 1px solid #555; padding: .5rem; text-align: left; height: 2.5rem }} \
         code {{ overflow-wrap: anywhere }} @media print {{ body {{ margin: 0 }} }}</style></head><body>\n\
         <h1>Sign-off: {name}</h1>\n<h2>What is promised</h2><p><b>{}</b></p>{guess}\n\
         <p>{} records. {signed}</p>\n<p>Digest of the certificate: <code>{}</code></p>\n\
         <h2>What is not promised</h2>{}\n<h2>Published as it is</h2>{}\n\
         <h2>Signatures</h2><table><tr><th>Name</th><th>Date</th><th>Signature</th></tr>{rows}</table>\n</body></html>\n",
        escape(&verdict),
        told.records,
        escape(&told.digest),
        list(&mut told.not_claimed.iter().cloned()),
        list(&mut { open }),
        name = escape(name),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_is_told_to_check_the_key_on_another_way() {
        let (publication, certificate) = (Path::new("a/p.csv"), Path::new("a/p.csv.certificate.json"));
        let text = how_to_check(publication, certificate, &[PathBuf::from("a/own.pub")]);
        assert!(
            text.contains("bosket verify p.csv --certificate p.csv.certificate.json --key own.pub"),
            "{text}"
        );
        assert!(text.contains("on another way"), "{text}");
        assert!(how_to_check(publication, certificate, &[]).contains("not signed"));
    }
}
