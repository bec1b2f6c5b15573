//! Signed certificates: what somebody else has written is refused where a key is asked for, and judged by what the files
//! show where none is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::OnceLock;

use bosket_io::fingerprint;
use bosket_model::Fingerprint;
use bosket_model::observe::Quiet;
use bosket_report::certificate::Certificate;
use serde_json::json;

use crate::certificate::{CLAIMS, marked, policy};
use crate::util::{Dir, Output, attribute};

const CERTIFICATE: &str = "out.ndjson.certificate.json";
const PASSPHRASE: &[u8] = b"four words of nobody\n";

/// A pair of keys, made once: making and opening one takes as long as it should.
fn keys() -> &'static (Vec<u8>, Vec<u8>) {
    static KEYS: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    KEYS.get_or_init(|| {
        let dir = Dir::new();
        dir.run_with(&["certificate", "keygen", "--out", "own.key", "--passphrase-fd", "0"], PASSPHRASE)
            .exits(0)
            .says_nothing()
            .hides(&["four words"]);
        let mode = fs::metadata(dir.path("own.key")).expect("a key").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        (dir.read("own.key"), dir.read("own.pub"))
    })
}

fn with_keys(dir: &Dir) {
    let (secret, public) = keys();
    dir.write("own.key", secret).write("own.pub", public);
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(dir.path("own.key"), mode).expect("it is ours");
}

fn sign(dir: &Dir, certificate: &str) -> Output {
    let args = ["certificate", "sign", certificate, "--key", "own.key", "--passphrase-fd", "0"];
    dir.run_with(&args, PASSPHRASE)
}

/// Debian's own program; without it nothing is compared.
fn minisign(dir: &Dir, args: &[&str], input: &str) -> bool {
    use std::io::Write;
    let mut command = Command::new("minisign");
    command.args(args).current_dir(dir.path("")).stdin(std::process::Stdio::piped());
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn();
    let mut child = child.expect("minisign is installed: apt-get install minisign");
    // Whoever needs no passphrase may have gone already.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends").status.success()
}

fn published(privacy: &str) -> Dir {
    let dir = marked();
    policy(&dir, privacy);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    with_keys(&dir);
    dir
}

#[test]
fn a_signed_publication_is_as_signed() {
    let dir = published(CLAIMS[2].0);
    let before = dir.read(CERTIFICATE);
    sign(&dir, CERTIFICATE).exits(0).prints(&["signed with the key", "out.ndjson.certificate.json.minisig"]);
    assert_eq!(dir.read(CERTIFICATE), before, "what is signed stays as it is");
    let public = String::from_utf8(keys().1.clone()).expect("text");
    let word = public.lines().nth(1).expect("the key").to_owned();
    for key in ["own.pub", &word] {
        let told = dir.run(&["verify", "out.ndjson", "--certificate", CERTIFICATE, "--key", key]).exits(0);
        let first = told.stdout.lines().next().unwrap_or_default();
        assert!(first.starts_with("AS SIGNED with the key ") && first.ends_with(&word), "{}", told.stdout);
        told.prints(&["timestamp:", "file:out.ndjson.certificate.json", "HOLDS", "AS CERTIFIED"]);
    }
    let args = ["verify", "out.ndjson", "--certificate", CERTIFICATE, "--key", "own.pub", "--json"];
    let told = dir.run(&args).exits(0).json();
    assert_eq!((&told["holds"], &told["signature"]["holds"]), (&json!(true), &json!(true)));
    assert_eq!(told["signature"]["public_key"], json!(word));
    assert!(
        public
            .lines()
            .next()
            .unwrap_or_default()
            .ends_with(told["signature"]["key_id"].as_str().expect("an id"))
    );
    let told = dir.run(&["certificate", "verify", CERTIFICATE, "--key", "own.pub", "--json"]).exits(0).json();
    assert_eq!(told["digest"].as_str().map(str::len), Some(64));
    // Nothing is replaced unasked.
    sign(&dir, CERTIFICATE).exits(3).says(&["it exists", "--force"]);
}

#[test]
fn minisign_checks_our_signature_and_signs_with_our_key() {
    let dir = published(CLAIMS[2].0);
    sign(&dir, CERTIFICATE).exits(0);
    let check = ["-V", "-q", "-m", CERTIFICATE, "-p", "own.pub"];
    assert!(minisign(&dir, &check, ""), "minisign takes our signature");
    let again = ["-S", "-s", "own.key", "-m", CERTIFICATE, "-t", "by minisign itself"];
    assert!(minisign(&dir, &again, &String::from_utf8_lossy(PASSPHRASE)), "minisign takes our key");
    dir.run(&["verify", "out.ndjson", "--certificate", CERTIFICATE, "--key", "own.pub"])
        .exits(0)
        .prints(&["AS SIGNED with the key", "by minisign itself"]);
    dir.write(CERTIFICATE, dir.text(CERTIFICATE) + " ");
    assert!(!minisign(&dir, &check, ""), "and refuses another file");
}

#[test]
fn minisigns_own_key_signs_here() {
    let dir = published(CLAIMS[2].0);
    assert!(minisign(&dir, &["-G", "-f", "-p", "its.pub", "-s", "its.key"], "a\na\n"));
    let args = ["certificate", "sign", CERTIFICATE, "--key", "its.key", "--passphrase-fd", "0"];
    dir.run_with(&args, b"a").exits(0);
    assert!(minisign(&dir, &["-V", "-q", "-m", CERTIFICATE, "-p", "its.pub"], ""));
    dir.run(&["certificate", "verify", CERTIFICATE, "--key", "its.pub"]).exits(0).prints(&["AS SIGNED"]);
    dir.run(&["verify", "out.ndjson", "--certificate", CERTIFICATE, "--key", "own.pub"])
        .exits(1)
        .prints(&["NOT AS SIGNED", "it was signed with another key"])
        .hides(&["HOLDS", "AS CERTIFIED", "MARK"]);
}

/// Writes the certificate again with its digest made to fit.
fn forge(dir: &Dir, change: impl FnOnce(&mut Certificate)) {
    let mut certificate = Certificate::read(&dir.text(CERTIFICATE)).expect("a certificate");
    change(&mut certificate);
    certificate.digest = certificate.expected_digest();
    dir.write(CERTIFICATE, certificate.to_text());
}

#[track_caller]
fn refused_with_the_key(dir: &Dir, publication: &str, certificate: &str) {
    let args = ["verify", publication, "--certificate", certificate, "--key", "own.pub"];
    dir.run(&args)
        .exits(1)
        .prints(&["NOT AS SIGNED with the key", "the signature does not fit", "Nothing else was looked at"])
        .hides(&["HOLDS", "\nAS CERTIFIED"]);
    let told = dir.run(&[&args[..], &["--json"]].concat()).exits(1).json();
    assert_eq!((&told["holds"], &told["signature"]["holds"]), (&json!(false), &json!(false)));
    assert_eq!((&told["signature"]["trusted_comment"], &told["certificate"]), (&json!(null), &json!(null)));
}

/// Nobody signs the first line: another beginning says something that nobody has said.
#[test]
fn the_untrusted_comment_said_anything() {
    let dir = published(CLAIMS[2].0);
    sign(&dir, CERTIFICATE).exits(0);
    let place = format!("{CERTIFICATE}.minisig");
    let text = dir.text(&place);
    let (_, rest) = text.split_once('\n').expect("lines");
    dir.write(&place, format!("trusted comment: approved by the board\n{rest}"));
    let args = ["verify", "out.ndjson", "--certificate", CERTIFICATE, "--key", "own.pub"];
    dir.run(&args).exits(1).prints(&["NOT AS SIGNED", "untrusted comment"]);
}

fn without_a_key(dir: &Dir, publication: &str, certificate: &str) -> Output {
    dir.run(&["verify", publication, "--certificate", certificate])
}

#[test]
fn a_forged_k_is_refused() {
    for (k, holds) in [(2, true), (24, false)] {
        let dir = published(CLAIMS[2].0);
        sign(&dir, CERTIFICATE).exits(0);
        forge(&dir, |c| {
            c.policy["privacy"]["k"] = json!(k);
            c.claim["k"] = json!(k);
            c.sentence = bosket_verify::Claim::KAnonymity { k }.sentence();
        });
        refused_with_the_key(&dir, "out.ndjson", CERTIFICATE);
        // Without one the files decide: they keep a weaker promise, and not a stronger one.
        let found = without_a_key(&dir, "out.ndjson", CERTIFICATE);
        if holds {
            found.exits(0).prints(&["HOLDS", "AS CERTIFIED"]);
        } else {
            found.exits(1).prints(&["VIOLATED"]);
        }
    }
}

#[test]
fn forged_roles_are_refused() {
    let dir = published(CLAIMS[2].0);
    sign(&dir, CERTIFICATE).exits(0);
    forge(&dir, |c| {
        let all = c.policy["attribute"].as_array_mut().expect("attributes");
        all.iter_mut().filter(|a| a["path"] == "town").for_each(|a| a["role"] = json!("insensitive"));
    });
    refused_with_the_key(&dir, "out.ndjson", CERTIFICATE);
    // Without one a reader is told, before the verdict, what was called harmless.
    let told = without_a_key(&dir, "out.ndjson", CERTIFICATE).stdout;
    assert!(
        told.starts_with("NOT PROTECTED by the claim:\n  published as they are: town (insensitive)"),
        "{told}"
    );
}

#[test]
fn a_replaced_hierarchy_is_refused() {
    let dir = Dir::new();
    let attributes =
        [attribute("town", "quasi", ""), attribute("code", "sensitive", "hierarchy = \"code.csv\"")].concat();
    dir.write("in.ndjson", (0..24).map(|i| format!("{{\"town\":\"t{}\",\"code\":\"c{}\"}}\n", i % 4, i % 8)).collect::<String>())
        .write("code.csv", (0..8).map(|i| format!("c{i};C{};*\n", i / 2)).collect::<String>())
        .write(
            "policy.toml",
            format!(
                "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n{attributes}\
                 [privacy]\nmodel = \"delta\"\ngroup_size = 2\ndelta_target = 2\n[publish]\npath = \"out.ndjson\"\n"
            ),
        );
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    with_keys(&dir);
    sign(&dir, CERTIFICATE).exits(0);
    // All codes are brothers now: other distances, and a certificate that says so.
    dir.write("code.csv", (0..8).map(|i| format!("c{i};*\n")).collect::<String>());
    let own = without_a_key(&dir, "out.ndjson", CERTIFICATE);
    own.exits(1).prints(&["NOT AS CERTIFIED", "the hierarchy code.csv was changed"]);
    let sha256 = fingerprint::of_file(&dir.path("code.csv"), &Quiet).expect("readable");
    forge(&dir, |c| c.hierarchies[0].sha256.clone_from(&sha256));
    refused_with_the_key(&dir, "out.ndjson", CERTIFICATE);
    // Without one the distances are counted in the hierarchy that is there, and the claim is not kept.
    without_a_key(&dir, "out.ndjson", CERTIFICATE).exits(1).prints(&[
        "VIOLATED",
        "only 1 edges",
        "AS CERTIFIED",
    ]);
}

#[test]
fn an_added_file_is_refused() {
    let dir = Dir::new();
    let people: String = (0..12).map(|i| format!("T{},d{}\n", i % 3, i % 6)).collect();
    let attributes = [attribute("town", "quasi", ""), attribute("disease", "sensitive", "")].concat();
    dir.write("people.csv", format!("town,disease\n{people}")).write(
        "policy.toml",
        format!(
            "version = 1\n[source]\nformat = \"csv\"\npath = \"people.csv\"\n{attributes}\
             [privacy]\nmodel = \"anatomy\"\ngroup_size = 3\n[publish]\npath = \"out\"\n"
        ),
    );
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    with_keys(&dir);
    let certificate = "out.certificate.json";
    sign(&dir, certificate).exits(0);
    dir.run(&["verify", "out", "--certificate", certificate, "--key", "own.pub"]).exits(0);
    dir.write("out/more.csv", "name\nsomebody\n");
    let both = ["verify", "out", "--certificate", certificate, "--key", "own.pub"];
    dir.run(&both).exits(1).prints(&["AS SIGNED", "more.csv is not part of the publication"]);
    let mut forged = Certificate::read(&dir.text(certificate)).expect("a certificate");
    let sha256 = fingerprint::of_file(&dir.path("out/more.csv"), &Quiet).expect("readable");
    forged.files.push(Fingerprint { name: "more.csv".to_owned(), sha256 });
    forged.digest = forged.expected_digest();
    dir.write(certificate, forged.to_text());
    refused_with_the_key(&dir, "out", certificate);
    // Without one the reader of the publication says what does not belong there.
    let found = without_a_key(&dir, "out", certificate);
    assert_ne!(found.code, Some(0), "{}", found.stdout);
}

#[test]
fn what_is_no_signature() {
    let dir = published(CLAIMS[2].0);
    let args = ["verify", "out.ndjson", "--certificate", CERTIFICATE, "--key", "own.pub"];
    dir.run(&args).exits(1).prints(&["NOT AS SIGNED", "there is no signature"]);
    sign(&dir, CERTIFICATE).exits(0);
    let signature = format!("{CERTIFICATE}.minisig");
    let whole = dir.text(&signature);
    let lines: Vec<&str> = whole.lines().collect();
    for text in [
        String::new(),
        "\n\n\n\n".to_owned(),
        "RW".repeat(40),
        lines[..3].join("\n"),
        [lines[0], lines[1], lines[2], "QQ=="].join("\n"),
        [lines[0], "QQ==", lines[2], lines[3]].join("\n"),
    ] {
        dir.write(&signature, text);
        dir.run(&args).exits(1).prints(&["NOT AS SIGNED", "is no signature in minisign's form"]);
    }
    // Neither the words that are signed with it nor the signature can be changed.
    for text in [
        whole.replace("timestamp:", "timestamp:9"),
        [lines[0], lines[1], lines[2], &lines[1][8..]].join("\n"),
    ] {
        dir.write(&signature, text);
        dir.run(&args).exits(1).prints(&["NOT AS SIGNED"]).hides(&["timestamp"]);
    }
    // The first line is nobody's promise.
    dir.write("else/where.sig", whole.replace(lines[0], "untrusted comment: other words"));
    dir.run(&[&args[..], &["--signature", "else/where.sig"]].concat()).exits(0);
    for (key, said) in [("nowhere.pub", "cannot read the public key"), (CERTIFICATE, "no public key")] {
        dir.run(&["certificate", "verify", CERTIFICATE, "--key", key]).exits(3).says(&[said, "keygen"]);
    }
    dir.run(&["verify", "out.ndjson", "--policy", "policy.toml", "--key", "own.pub"]).exits(2);
}

#[test]
fn what_is_not_signed() {
    let dir = published(CLAIMS[2].0);
    let files = dir.files();
    let sign_with = |input: &[u8], more: &[&str]| {
        let args = ["certificate", "sign", CERTIFICATE, "--key", "own.key", "--passphrase-fd", "0"];
        dir.run_with(&[&args[..], more].concat(), input)
    };
    sign_with(b"wrong\n", &[]).exits(2).says(&["the passphrase is not that of this key"]).hides(&["wrong"]);
    sign_with(b"", &[]).exits(2).says(&["the passphrase is empty"]);
    sign_with(PASSPHRASE, &["--comment", "two\nlines"]).exits(2).says(&["one line"]);
    sign_with(PASSPHRASE, &["--out", "own.key", "--force"]).exits(2).says(&["would overwrite"]);
    dir.run(&["certificate", "sign", "policy.toml", "--key", "own.key", "--passphrase-fd", "9"])
        .exits(2)
        .says(&["file descriptor 9 cannot be read"]);
    let whole = dir.text(CERTIFICATE);
    dir.write(CERTIFICATE, whole.replace("\"records\": 24", "\"records\": 25"));
    sign_with(PASSPHRASE, &[]).exits(3).says(&["the certificate is damaged"]);
    dir.write(CERTIFICATE, &whole);
    fs::set_permissions(dir.path("own.key"), fs::Permissions::from_mode(0o640)).expect("it is ours");
    sign_with(PASSPHRASE, &[]).exits(3).says(&["others than you can read the key"]);
    dir.write("own.key", "untrusted comment: x\nRWRTY0Iy\n");
    fs::set_permissions(dir.path("own.key"), fs::Permissions::from_mode(0o600)).expect("it is ours");
    sign_with(PASSPHRASE, &[]).exits(3).says(&["no secret key in minisign's form"]);
    assert_eq!(dir.files(), files, "nothing was left behind");
    // Nobody is asked where there is no terminal.
    let found = dir.bash("setsid -w $BOSKET certificate keygen --out new.key < /dev/null");
    found.exits(2).says(&["there is no terminal", "--passphrase-fd"]);
    // Nor is what is there replaced.
    let args = ["certificate", "keygen", "--out", "own.key", "--passphrase-fd", "0"];
    dir.run_with(&args, PASSPHRASE).exits(3).says(&["it exists"]);
    let args = ["certificate", "keygen", "--out", "own.pub", "--passphrase-fd", "0", "--force"];
    dir.run_with(&args, PASSPHRASE).exits(2).says(&["the same file"]);
}

/// Runs a line on a terminal of its own, and types each answer when its question is there.
fn on_a_terminal(dir: &Dir, line: &str, answers: &[(&str, &str)]) -> String {
    use std::io::{Read, Write};
    let mut command = Command::new("script");
    command.args(["-qec", line, "/dev/null"]).current_dir(dir.path(""));
    command.env("BOSKET", env!("CARGO_BIN_EXE_bosket"));
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("`script` of util-linux starts");
    let (mut keys, mut screen) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    let (mut shown, mut answered, mut bytes) = (Vec::new(), 0, [0; 1024]);
    loop {
        let read = screen.read(&mut bytes).expect("a screen");
        shown.extend_from_slice(&bytes[..read]);
        let text = String::from_utf8_lossy(&shown);
        if let Some((_, answer)) = answers.get(answered).filter(|(question, _)| text.contains(question)) {
            keys.write_all(answer.as_bytes()).expect("it is asking");
            answered += 1;
        }
        if read == 0 {
            break;
        }
    }
    child.wait().expect("it ends");
    String::from_utf8_lossy(&shown).into_owned()
}

/// The passphrase is typed twice and not shown; Ctrl-C leaves nothing, and the terminal as it was.
#[test]
fn the_terminal_is_asked_unseen() {
    let dir = Dir::new();
    let line = "$BOSKET certificate keygen --out own.key; echo code $?; stty -a";
    let (first, again) = ("Passphrase of the key:", "Once more:");
    let shown = on_a_terminal(&dir, line, &[(first, "hidden words\n"), (again, "hidden words\n")]);
    assert!(shown.contains("code 0") && shown.contains(" echo "), "{shown}");
    assert!(!shown.contains("hidden"), "{shown}");
    assert_eq!(dir.files(), ["own.key", "own.pub"]);
    for (answers, code) in [
        (&[(first, "hidden\x03")][..], "code 130"),
        (&[(first, "hidden one\n"), (again, "hidden two\n")], "code 2"),
        (&[(first, "\n"), (again, "\n")], "code 2"),
    ] {
        let dir = Dir::new();
        let shown = on_a_terminal(&dir, line, answers);
        assert!(shown.contains(code) && shown.contains(" echo ") && shown.contains("isig"), "{shown}");
        assert!(!shown.contains("hidden"), "{shown}");
        assert_eq!(dir.files(), Vec::<String>::new());
    }
}

#[test]
fn a_statement_names_the_files() {
    let dir = published(CLAIMS[2].0);
    let told = dir.run(&["certificate", "statement", CERTIFICATE]).exits(0).says_nothing().json();
    let certificate: serde_json::Value = serde_json::from_str(&dir.text(CERTIFICATE)).expect("JSON");
    let sha256 = fingerprint::of_file(&dir.path("out.ndjson"), &Quiet).expect("readable");
    assert_eq!(
        told,
        json!({
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": "out.ndjson", "digest": {"sha256": sha256}}],
            "predicateType": "urn:bosket:certificate:v1",
            "predicate": certificate,
        })
    );
    dir.run(&["certificate", "statement", CERTIFICATE, "--out", "s.json"]).exits(0);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&dir.text("s.json")).expect("JSON"), told);
    dir.run(&["certificate", "statement", CERTIFICATE, "--out", CERTIFICATE, "--force"]).exits(2);
    dir.write(CERTIFICATE, dir.text(CERTIFICATE).replace("\"records\": 24", "\"records\": 25"));
    dir.run(&["certificate", "statement", CERTIFICATE]).exits(3).says(&["the certificate is damaged"]);
}
