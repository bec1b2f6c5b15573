//! `privacy.guess`: what labels tell of the values that they hide, reached, checked before publishing and by `verify --against`.

use std::fmt::Write;

use crate::util::Dir;

/// People of whom few are diverse, with one illness each; local recoding hides the few.
fn people(privacy: &str, method: &str) -> Dir {
    let dir = Dir::new();
    let mut data = String::from("gender,illness\n");
    for i in 0..120 {
        let gender = match i % 24 {
            0 => "diverse",
            own if own % 2 == 0 => "female",
            _ => "male",
        };
        let illness = ["flu", "cold", "gout"][i % 3];
        writeln!(data, "{gender},{illness}").expect("text");
    }
    dir.write("in.csv", data);
    dir.write("gender.csv", "female;*\nmale;*\ndiverse;*\n");
    dir.write("illness.csv", "flu;lungs;*\ncold;lungs;*\ngout;joints;*\n");
    dir.write(
        "p.toml",
        format!(
            "version = 1\n[source]\nformat = \"csv\"\npath = \"in.csv\"\n\
             [[attribute]]\npath = \"gender\"\nrole = \"quasi\"\nhierarchy = \"gender.csv\"\n\
             [[attribute]]\npath = \"illness\"\nrole = \"quasi\"\nhierarchy = \"illness.csv\"\n\
             [privacy]\n{privacy}\n[method]\n{method}\n[publish]\npath = \"out.csv\"\nmapping = \"map.csv\"\n"
        ),
    );
    dir
}

const LOCAL: &str = "recoding = \"local\"";
const KMN: &str = "model = \"kmn\"\nk = 6\nm = 2\nn = 0";
const AGAINST: [&str; 8] =
    ["verify", "out.csv", "--policy", "p.toml", "--against", "in.csv", "--mapping", "map.csv"];

#[test]
fn local_recoding_covers_what_labels_would_tell() {
    let told = people(KMN, LOCAL);
    told.run(&["anonymize", "p.toml"]).exits(0);
    let asked = ["--set", "privacy.guess=0.5"];
    let found = told.run(&[&AGAINST[..], &asked].concat()).exits(1);
    found.hides(&["diverse"]).prints(&[
        "GUESSED: it is not so that nobody can say",
        "gender: of 6 cells published as `*`, 5 (83.3 %)",
    ]);
    let found = told.run(&[&AGAINST[..], &asked, &["--show-values"]].concat()).exits(1);
    found.prints(&["5 (83.3 %) are `diverse`; of all below it 4.2 % have it"]);

    let covered = people(&format!("{KMN}\nguess = 0.5"), LOCAL);
    let found = covered.run(&["anonymize", "p.toml"]).exits(0);
    found.prints(&[
        "what labels tell: nobody can say from a published label alone with more than 50 % certainty",
        "checked with the input",
    ]);
    covered.run(&AGAINST).exits(0).prints(&["UNGUESSED: nobody can say", "Checked with the input."]);
    // Female and male are still there.
    assert!(covered.text("out.csv").contains("female") && covered.text("out.csv").contains("male"));
    let json = covered.run(&[&AGAINST[..], &["--json"]].concat()).exits(0).json();
    assert_eq!((&json["guess"]["holds"], &json["guess"]["told"]), (&true.into(), &serde_json::json!([])));

    let certificate = covered.certified("out.csv", "out.csv.certificate.json");
    assert_eq!(certificate["guess"]["share"], 0.5);
    assert_eq!(certificate["guess"]["checked"], "with the input");
}

#[test]
fn without_the_input_it_is_said_that_nobody_checked() {
    let dir = people(&format!("{KMN}\nguess = 0.5"), LOCAL);
    dir.run(&["anonymize", "p.toml"]).exits(0);
    let found = dir.run(&["verify", "out.csv", "--policy", "p.toml"]).exits(0);
    found.prints(&[
        "not checked: whether nobody can say from a published label alone",
        "(`privacy.guess`)",
        "--against",
    ]);
    let certified = dir.run(&["verify", "out.csv", "--certificate", "out.csv.certificate.json"]).exits(0);
    certified.prints(&["not checked: whether nobody can say"]);
}

/// Another program has hidden the few alone.
#[test]
fn a_planted_label_is_a_witness_without_its_value() {
    let dir = people(&format!("{KMN}\nguess = 0.5").replace("k = 6", "k = 5"), LOCAL);
    dir.write("out.csv", dir.text("in.csv").replace("diverse", "*"));
    let args = ["verify", "out.csv", "--policy", "p.toml", "--against", "in.csv", "--foreign"];
    let found = dir.run(&args).exits(1);
    found.hides(&["diverse"]).prints(&[
        "TRUE: ",
        "GUESSED: ",
        "gender: of 5 cells published as `*`, 5 (100.0 %) have the same value",
    ]);
    let json = dir.run(&[&args[..], &["--json"]].concat()).exits(1).json();
    let told = &json["guess"]["told"][0];
    assert_eq!((&json["holds"], &json["guess"]["holds"]), (&false.into(), &false.into()));
    assert_eq!((told["path"].as_str(), told["label"].as_str()), (Some("gender"), Some("*")));
    assert_eq!(
        (&told["cells"], &told["share"], &told["value"]),
        (&5.into(), &1.0.into(), &serde_json::Value::Null)
    );
}

/// Three values below one label; people who look alike are hidden by it. Nothing is raised where closeness is asked for.
fn close(more: &str) -> Dir {
    let dir = Dir::new();
    dir.write("in.csv", "v,s\na1,x\na1,y\na1,x\na1,y\na2,x\na3,y\nb1,x\nb1,y\n");
    dir.write("v.csv", "a1;a;*\na2;a;*\na3;a;*\nb1;b;*\n");
    dir.write(
        "p.toml",
        format!(
            "version = 1\n[source]\nformat = \"csv\"\npath = \"in.csv\"\n\
             [[attribute]]\npath = \"v\"\nrole = \"quasi\"\nhierarchy = \"v.csv\"\n\
             [[attribute]]\npath = \"s\"\nrole = \"sensitive\"\n\
             [privacy]\nmodel = \"t-closeness\"\nk = 2\nt = 0.5\n{more}\n[publish]\npath = \"out.csv\"\n"
        ),
    );
    dir
}

#[test]
fn what_does_not_reach_it_is_refused_with_the_smallest_that_can_be() {
    let dir = close("guess = 0.4");
    let found = dir.run(&["anonymize", "p.toml"]).exits(4);
    found.hides(&["a2", "a3"]).says(&[
        "guess = 0.4 is not reached: of 2 cells published as `a`, 50.0 % hide one and the same value",
        " --> path v",
        "nothing was published; the smallest `guess` that this result keeps is 0.5",
    ]);
    assert_eq!(dir.files(), ["in.csv", "p.toml", "v.csv"]);
    let found = dir.run(&["anonymize", "p.toml", "--set", "privacy.guess=0.5"]).exits(0);
    found.prints(&["what labels tell: "]);
}

/// Sets in parts, sets item by item, and clusters: what is published is what `verify` finds to be kept, and most of it is published.
#[test]
fn whatever_is_published_of_sets_keeps_it() {
    let mut published = 0;
    let methods = ["method.algorithm=lra", "method.algorithm=partition", "method.recoding=local"];
    for (seed, method) in ["1", "2"].into_iter().flat_map(|seed| methods.map(|method| (seed, method))) {
        let dir = Dir::new();
        dir.run(&["generate", "baskets", "--transactions", "300", "--seed", seed, "--out", "d"]).exits(0);
        let set = [
            "--set",
            method,
            "--set",
            "privacy.guess=0.5",
            "--set",
            "privacy.m=2",
            "--set",
            "publish.mapping=map.csv",
        ];
        let made = dir.run(&[&["anonymize", "d/policy.toml"][..], &set].concat());
        if made.code == Some(4) {
            made.says(&["guess = 0.5 is not reached"]);
            continue;
        }
        made.exits(0);
        published += 1;
        let against = ["verify", "d/published.txt", "--policy", "d/policy.toml", "--against", "d/data.txt"];
        let found = dir.run(&[&against[..], &set, &["--mapping", "d/map.csv"]].concat()).exits(0);
        found.prints(&["HOLDS: ", "TRUE: ", "UNGUESSED: "]);
        // Without the mapping records may be paired otherwise; then nobody can say.
        let found = dir.run(&[&against[..], &set].concat()).exits(0);
        let is_open = found.stdout.contains("records can be paired in several ways");
        assert!(is_open != found.stdout.contains("UNGUESSED: "), "{}", found.stdout);
    }
    assert!(published >= 4, "{published} of 6");
}

#[test]
fn clusters_come_up_together() {
    let dir = people("model = \"k-anonymity\"\nk = 6\nguess = 0.5", "");
    let alone = people("model = \"k-anonymity\"\nk = 6", "");
    for (dir, code) in [(&dir, 0), (&alone, 1)] {
        dir.run(&["anonymize", "p.toml"]).exits(0);
        dir.run(&[&AGAINST[..], &["--set", "privacy.guess=0.5"]].concat()).exits(code);
    }
    assert!(dir.text("out.csv").contains("female"));
}

#[test]
fn one_cut_for_all_keeps_any_guess() {
    let dir = people(&format!("{KMN}\nguess = 0.01"), "");
    dir.run(&["anonymize", "p.toml"]).exits(0).prints(&["checked by one cut for all"]);
    dir.run(&AGAINST).exits(0).prints(&["UNGUESSED: "]);
    dir.run(&AGAINST[..6]).exits(0).prints(&["UNGUESSED: "]);
}

#[test]
fn what_cannot_be_counted_is_refused_before_anything_runs() {
    let people = people("model = \"k-anonymity\"\nk = 6\nguess = 0.5", "");
    let before = people.files();
    let alone = people.text("p.toml");
    // What writes no mapping could be made in chunks.
    people.write("p.toml", alone.replace("mapping = \"map.csv\"", ""));
    let found = people.run(&["anonymize", "p.toml", "--chunk", "2"]).exits(2);
    found.says(&["what labels tell (`privacy.guess`) is counted with all records at hand"]);
    let sides =
        alone.replace("path = \"illness\"\nrole = \"quasi\"", "path = \"illness\"\nrole = \"sensitive\"");
    people.write("p.toml", sides.replace("path = \"out.csv\"", "path = \"out\"\nanatomize = true"));
    let found = people.run(&["anonymize", "p.toml"]).exits(2);
    found.says(&["`privacy.guess` is not counted where `publish.anatomize`"]);
    assert_eq!(people.files(), before);
}
