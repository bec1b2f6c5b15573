//! A scratch folder to run `bosket` in.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bosket_report::certificate::json_schema;
use bosket_testkit::json_schema::valid;
use bosket_testkit::shared::shared;
use serde_json::Value;
use tempfile::TempDir;

/// A folder that is gone when the test ends.
pub struct Dir(TempDir);

/// How a run ended and what it said.
#[derive(Debug)]
pub struct Output {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Dir {
    pub fn new() -> Self {
        Dir(TempDir::new().expect("a scratch folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
        self
    }

    /// Takes the attackers out of the example's policy: it is then about whoever knows any two values and one relation.
    pub fn forget_attackers(&self, policy: &str) -> &Self {
        let text = self.text(policy);
        let (before, rest) = text.split_once("# Nobody says").expect("a guess, and attackers");
        let (_, method) = rest.split_once("[method]").expect("a method");
        self.write(policy, format!("{}\nm = 2\nn = 1\n\n[method]{method}", before.trim_end()))
    }

    /// Writes a file through the tool's own writer, which compresses by name.
    pub fn write_compressed(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let mut out =
            bosket_io::Output::create(&self.path(name), bosket_io::Create::default()).expect("a file");
        out.write_all(content.as_ref()).expect("room");
        out.finish().expect("room");
        self
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    /// All files below the folder, hidden ones too, sorted.
    pub fn files(&self) -> Vec<String> {
        fn collect(folder: &Path, root: &Path, out: &mut Vec<String>) {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    collect(&path, root, out);
                } else {
                    out.push(path.strip_prefix(root).expect("below").to_string_lossy().into_owned());
                }
            }
        }
        let mut out = Vec::new();
        collect(self.0.path(), self.0.path(), &mut out);
        out.sort();
        out
    }

    /// The command, to be run in this folder.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bosket"));
        command.args(args).current_dir(self.0.path());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.run_with(args, b"")
    }

    /// Runs with something on standard input.
    pub fn run_with(&self, args: &[&str], input: &[u8]) -> Output {
        finish(self.command(args), input)
    }

    /// Checks that a publication has a certificate of the published form, by which alone it can be verified.
    #[track_caller]
    pub fn certified(&self, publication: &str, certificate: &str) -> Value {
        let found: Value = serde_json::from_str(&self.text(certificate)).expect("JSON");
        let schema = json_schema();
        assert!(valid(&schema, &schema, &found), "{found:#}");
        let told = self.run(&["verify", publication, "--certificate", certificate, "--json"]).exits(0).json();
        assert_eq!(told["certificate"]["problems"], serde_json::json!([]));
        found
    }

    /// Runs a line of bash in which `$BOSKET` is the command.
    pub fn bash(&self, line: &str) -> Output {
        let mut command = Command::new("bash");
        command.args(["-c", line]).current_dir(self.0.path()).env("BOSKET", env!("CARGO_BIN_EXE_bosket"));
        finish(command, b"")
    }
}

fn finish(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    // Whoever needs no input may have gone already.
    let _ = child.stdin.take().expect("piped").write_all(input);
    let output = child.wait_with_output().expect("the command ends");
    Output {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

impl Output {
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\n{}\n{}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Standard error holds all of these.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "not said: {part}\n{}", self.stderr);
        }
        self
    }

    /// Standard output holds all of these.
    #[track_caller]
    pub fn prints(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stdout.contains(part), "not printed: {part}\n{}", self.stdout);
        }
        self
    }

    /// Neither output holds any of these.
    #[track_caller]
    pub fn hides(self, secrets: &[&str]) -> Self {
        for secret in secrets {
            assert!(!self.stdout.contains(secret), "printed: {secret}\n{}", self.stdout);
            assert!(!self.stderr.contains(secret), "said: {secret}\n{}", self.stderr);
        }
        self
    }

    /// Standard error is empty.
    #[track_caller]
    pub fn says_nothing(self) -> Self {
        assert_eq!(self.stderr, "");
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}\n{}\n{}", self.stdout, self.stderr))
    }

    /// How many errors were reported.
    pub fn errors(&self) -> usize {
        self.stderr.lines().filter(|l| l.starts_with("error: ")).count()
    }
}

/// A worked example beside the repository, as an argument.
pub fn golden(path: &str) -> Option<String> {
    shared(&format!("golden/{path}")).map(|p| p.to_string_lossy().into_owned())
}

/// An attribute of a policy; `more` may be a hierarchy.
pub fn attribute(path: &str, role: &str, more: &str) -> String {
    format!("[[attribute]]\npath = '{path}'\nrole = \"{role}\"\n{more}\n")
}

/// A policy with these attributes and this [privacy] section.
pub fn policy(attributes: &[String], privacy: &str) -> String {
    format!("version = 1\n{}[privacy]\n{privacy}\n", attributes.concat())
}
