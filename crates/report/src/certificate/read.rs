//! Reads a certificate, and tells whether it is still as it was written.

use bosket_model::{Diagnostic, Failure, Fault, Fingerprint, Result};
use serde_json::{Map, Value};

use super::{Certificate, FORMAT, Form, GivenHierarchy};

impl Certificate {
    /// Reads a certificate, or says everything that keeps it from being one.
    pub fn read(text: &str) -> Result<Certificate> {
        let json: Value =
            serde_json::from_str(text).map_err(|e| refuse(vec![format!("this is not JSON: {e}")]))?;
        let mut keys = Keys {
            of: json.as_object().cloned().unwrap_or_default(),
            at: String::new(),
            problems: Vec::new(),
        };
        let format = keys.number("certificate");
        if format != FORMAT {
            let what =
                format!("this is not a certificate of form {FORMAT}, the only one that this version knows");
            return Err(refuse(vec![what]));
        }
        let mut publication = keys.object("publication");
        let form = publication.text("form");
        let known = Form::ALL.into_iter().find(|f| f.name() == form);
        if known.is_none() {
            publication.problems.push("`publication.form` is none that this version knows".to_owned());
        }
        let mut certificate = Certificate {
            tool: keys.text("tool"),
            policy: Value::Object(keys.object("policy").of),
            seed: keys.number("seed"),
            records: keys.number("records"),
            claim: keys.take("claim").unwrap_or_default(),
            sentence: keys.text("sentence"),
            verified: keys.flag("verified"),
            verifier: keys.text("verifier"),
            form: known.unwrap_or(Form::Document),
            files: Vec::new(),
            hierarchies: Vec::new(),
            loss: Value::Object(keys.object("loss").of),
            suppressed: Value::Object(keys.object("suppressed").of),
            kept: if keys.of.contains_key("kept") {
                Value::Object(keys.object("kept").of)
            } else {
                Value::Null
            },
            selected: keys.of.contains_key("selected").then(|| keys.number("selected")),
            legend: if keys.of.contains_key("legend") {
                keys.one("legend", "a list", |value| value.is_array().then_some(value)).unwrap_or_default()
            } else {
                Value::Null
            },
            joint: Vec::new(),
            guess: if keys.of.contains_key("guess") {
                keys.one("guess", "an object", |value| value.is_object().then_some(value)).unwrap_or_default()
            } else {
                Value::Null
            },
            not_claimed: keys.texts("not_claimed"),
            digest: keys.text("digest"),
        };
        for mut file in publication.objects("files") {
            certificate.files.push(Fingerprint { name: file.text("name"), sha256: file.text("sha256") });
            keys.problems.append(&mut file.rest());
        }
        if keys.of.contains_key("joint") {
            for mut release in keys.objects("joint") {
                let mut files = Vec::new();
                for mut file in release.objects("files") {
                    files.push(Fingerprint { name: file.text("name"), sha256: file.text("sha256") });
                    keys.problems.append(&mut file.rest());
                }
                if files.is_empty() {
                    release.problems.push("`joint.files` must name at least one".to_owned());
                }
                certificate.joint.push(files);
                keys.problems.append(&mut release.rest());
            }
            if certificate.joint.is_empty() {
                keys.wrong("joint", "must name at least one release");
            }
        }
        for mut hierarchy in keys.objects("hierarchies") {
            certificate.hierarchies.push(GivenHierarchy {
                path: hierarchy.text("path"),
                sha256: hierarchy.text("sha256"),
                attributes: hierarchy.texts("attributes"),
            });
            keys.problems.append(&mut hierarchy.rest());
        }
        keys.problems.append(&mut publication.rest());
        let mut problems = keys.rest();
        // What could not be read need not be judged.
        if problems.is_empty() {
            problems = certificate.impossible();
        }
        if problems.is_empty() { Ok(certificate) } else { Err(refuse(problems)) }
    }

    /// What has happened to a certificate since it was written, judged by its text; nothing if it is untouched.
    pub fn damage(&self, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        if self.digest != self.expected_digest() {
            found.push("its digest does not fit: something in it was changed".to_owned());
        } else if text != self.to_text() {
            found.push("it says what it said, but is not written as it was".to_owned());
        }
        found
    }
}

fn refuse(problems: Vec<String>) -> Failure {
    let help =
        "take the file that `bosket anonymize` has written; `bosket certificate schema` says what is in it";
    let told = problems.into_iter().map(|problem| Diagnostic::error(problem).help(help));
    Failure::all(Fault::Data, told.collect())
}

/// The keys of an object that nobody has read yet, and what is wrong with those that were.
struct Keys {
    of: Map<String, Value>,
    at: String,
    problems: Vec<String>,
}

impl Keys {
    fn take(&mut self, key: &str) -> Option<Value> {
        let found = self.of.shift_remove(key);
        if found.is_none() {
            self.wrong(key, "is missing");
        }
        found
    }

    fn wrong(&mut self, key: &str, what: &str) {
        self.problems.push(format!("`{}{key}` {what}", self.at));
    }

    fn one<T>(&mut self, key: &str, what: &str, read: impl FnOnce(Value) -> Option<T>) -> Option<T> {
        let value = self.take(key)?;
        let read = read(value);
        if read.is_none() {
            self.wrong(key, &format!("must be {what}"));
        }
        read
    }

    fn text(&mut self, key: &str) -> String {
        let read = |value: Value| value.as_str().map(str::to_owned);
        self.one(key, "a text", read).unwrap_or_default()
    }

    fn number(&mut self, key: &str) -> u64 {
        self.one(key, "a whole number", |value| value.as_u64()).unwrap_or_default()
    }

    fn flag(&mut self, key: &str) -> bool {
        self.one(key, "true or false", |value| value.as_bool()).unwrap_or_default()
    }

    fn texts(&mut self, key: &str) -> Vec<String> {
        let read = |value: Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        };
        self.one(key, "a list of texts", read).unwrap_or_default()
    }

    fn object(&mut self, key: &str) -> Keys {
        let read = |value: Value| match value {
            Value::Object(of) => Some(of),
            _ => None,
        };
        let of = self.one(key, "an object", read).unwrap_or_default();
        Keys { of, at: format!("{}{key}.", self.at), problems: Vec::new() }
    }

    fn objects(&mut self, key: &str) -> Vec<Keys> {
        let read = |value: Value| -> Option<Vec<Map<String, Value>>> {
            value.as_array()?.iter().map(|item| item.as_object().cloned()).collect()
        };
        let found = self.one(key, "a list of objects", read).unwrap_or_default();
        let at = format!("{}{key}.", self.at);
        found.into_iter().map(|of| Keys { of, at: at.clone(), problems: Vec::new() }).collect()
    }

    /// Everything that is wrong, keys that nobody knows too.
    fn rest(mut self) -> Vec<String> {
        let unknown: Vec<String> = self.of.keys().cloned().collect();
        unknown.iter().for_each(|key| self.wrong(key, "is not known"));
        self.problems
    }
}
