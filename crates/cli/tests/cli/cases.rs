//! Small cases that went wrong once, as they lie beside the repository: every folder of them is run, and none is forgotten.

use std::collections::BTreeSet;

use bosket_testkit::shared::shared;

use crate::util::Dir;

/// A command in a copy of the folder, its exit code, and what it prints or says.
type Step = (&'static str, i32, &'static [&'static str]);

/// What becomes of each folder.
const CASES: &[(&str, &[Step])] = &[
    (
        "against-rows-local",
        &[
            ("verify pub.ndjson --policy p.toml --against in.ndjson", 1, &["NOT TRUE"]),
            ("verify pub.ndjson --policy p.toml --against in.ndjson --mapping m.csv", 1, &["NOT TRUE"]),
        ],
    ),
    // What its script changes is changed by `free_fields_of_a_certificate_said_anything`.
    (
        "certificate-free-fields",
        &[
            ("generate clinic --people 60 --out c", 0, &[]),
            ("anonymize c/policy.toml", 0, &[]),
            (
                "verify c/published.ndjson --certificate c/published.ndjson.certificate.json",
                0,
                &["AS CERTIFIED"],
            ),
        ],
    ),
    ("closeness-missing", &[("anonymize tc.toml", 0, &["who has one is not protected"])]),
    (
        "draft-no-path",
        &[
            ("inspect d --draft new.toml", 0, &[]),
            ("anonymize new.toml --dry-run", 0, &["policy and data fit together"]),
        ],
    ),
    ("empty-publication", &[("anonymize p.toml --force", 4, &["nothing would be left to verify"])]),
    ("fars-duplicate-line", &[("hierarchy check h.csv", 0, &["line 100 says what line 99 says", "ok: "])]),
    (
        "folder-certificate",
        &[("verify f2 --policy pcsv.toml", 3, &["called like a certificate and is none"])],
    ),
    ("folder-dissect", &[("anonymize p.toml", 0, &["verified"])]),
    (
        "invented",
        &[
            ("anonymize s.toml", 0, &[]),
            ("verify ps.ndjson --policy s.toml --against s.ndjson", 0, &["HOLDS", "TRUE"]),
            ("anonymize s2.toml", 0, &[]),
            ("verify ps2.ndjson --policy s2.toml --against s2.ndjson", 0, &["HOLDS", "TRUE"]),
            ("anonymize s3.toml", 0, &[]),
            ("verify ps3.ndjson --policy s3.toml --against s3.ndjson", 0, &["HOLDS", "TRUE"]),
        ],
    ),
    (
        "invented-patient",
        &[
            ("verify pub.xml --policy p.toml --against in.xml", 1, &["NOT TRUE"]),
            ("anonymize p.toml --force", 0, &[]),
            ("verify pub.xml --policy p.toml --against in.xml", 0, &["HOLDS", "TRUE"]),
        ],
    ),
    (
        "joint-drop",
        &[(
            "verify o2.ndjson --policy p2.toml --mapping m2/m.csv --with o1.ndjson --with-mapping m1/m.csv",
            0,
            &["JOINTLY", "HOLDS"],
        )],
    ),
    (
        "key",
        &[
            ("verify in.ndjson --policy p.toml", 1, &["VIOLATED", "ssn, visits[].id"]),
            ("verify in.ndjson --policy p2.toml", 1, &["VIOLATED", "ssn, visits[].id"]),
            ("verify out.ndjson --policy p.toml", 0, &["HOLDS"]),
        ],
    ),
    (
        "kinds",
        &[
            ("verify pub.ndjson --policy p.toml", 1, &["VIOLATED"]),
            ("verify pub-text.ndjson --policy p.toml", 1, &["VIOLATED"]),
        ],
    ),
    ("km-against-l", &[("verify out.txt --policy p.toml --against in.txt", 0, &["HOLDS", "TRUE"])]),
    (
        "kmn-inner-label",
        &[
            // A label that is also a value stands for anything below; the value itself has a spelling of its own.
            ("verify out.ndjson --policy p.toml --against in.ndjson", 1, &["NOT TRUE"]),
            ("anonymize p.toml --force", 0, &[]),
            ("verify out.ndjson --policy p.toml --against in.ndjson", 0, &["HOLDS", "TRUE"]),
        ],
    ),
    (
        "layout-channels",
        &[
            ("verify f1.ndjson --policy p.toml", 3, &["both as a number"]),
            ("verify f2.ndjson --policy p.toml", 3, &[FORM]),
            ("verify f5.ndjson --policy p.toml", 3, &[FORM]),
            ("verify f6.ndjson --policy p.toml", 3, &[FORM]),
            ("verify f7.ndjson --policy p.toml", 3, &[FORM]),
            ("verify f8.ndjson --policy p.toml", 3, &[FORM]),
            ("verify f13.ndjson --policy p.toml", 3, &[FORM]),
            ("verify f14.ndjson --policy p.toml", 3, &[FORM]),
            ("verify f27.ndjson --policy p.toml", 3, &[FORM]),
            ("verify f28.ndjson --policy p.toml", 3, &[FORM]),
            ("verify f31.ndjson --policy p.toml", 3, &[FORM]),
            ("verify f32.ndjson --policy p.toml", 3, &[FORM]),
            ("verify x.csv --policy pc.toml", 3, &[FORM]),
            ("verify x.xml --policy px.toml", 3, &[FORM]),
            ("verify x.txt --policy pt.toml", 3, &[FORM]),
        ],
    ),
    (
        "left-out-place",
        &[
            ("verify pub.ndjson --policy p.toml", 1, &["VIOLATED"]),
            ("verify star.ndjson --policy p.toml", 1, &["VIOLATED"]),
            ("verify one.ndjson --policy p.toml", 1, &["VIOLATED"]),
            ("verify pub-s.ndjson --policy ps.toml", 1, &["VIOLATED"]),
            ("anonymize p.toml --set publish.path=\"new.ndjson\"", 0, &["verified"]),
            ("verify new.ndjson --policy p.toml --against in.ndjson", 0, &["HOLDS", "TRUE"]),
        ],
    ),
    (
        "linked-false",
        &[
            ("verify pub --policy policy.toml --against .", 1, &["NOT TRUE"]),
            ("anonymize policy.toml --set publish.path=\"new\"", 0, &["verified"]),
            ("verify new --policy policy.toml --against .", 0, &["HOLDS", "TRUE"]),
        ],
    ),
    (
        "missing-many",
        &[
            ("verify pub.json --policy p.toml", 1, &["VIOLATED"]),
            ("verify pub1.json --policy p1.toml", 1, &["VIOLATED"]),
        ],
    ),
    (
        "neg-inner2",
        &[
            ("verify pub.txt --policy p.toml", 1, &["VIOLATED"]),
            ("verify pub.txt --policy p.toml --set privacy.negative=[\"beef\",\"ham\"]", 1, &["VIOLATED"]),
        ],
    ),
    (
        "outside-the-model",
        &[
            ("verify b.json --policy p.toml", 3, &["beside the records"]),
            ("verify xml/c.xml --policy xml/p.toml", 3, &["a comment stands in the publication"]),
            ("verify sqlite/pub.db --policy sqlite/p.toml", 3, &["`raw`, no part of the publication"]),
            ("verify nullkey/nullkey.ndjson --policy nullkey/p.toml", 3, &["though without a value"]),
            ("verify nullkey/emptyarr.ndjson --policy nullkey/p.toml", 3, &["though without a value"]),
            ("verify fhir/a.ndjson --policy fhir/p.toml", 3, &["says nothing about"]),
            ("verify fhir/b.ndjson --policy fhir/p.toml", 3, &["says nothing about"]),
            ("verify csvkeys/raw --policy csvkeys/p.toml", 3, &["is no surrogate"]),
            ("verify csvkeys/published --policy csvkeys/p.toml", 0, &["HOLDS"]),
        ],
    ),
    (
        "panic",
        &[
            ("anonymize p.toml", 0, &["verified"]),
            ("verify o.ndjson --policy p.toml --against d.ndjson", 0, &["HOLDS", "TRUE"]),
        ],
    ),
    (
        "parquet-footer",
        &[
            ("verify out.parquet --policy ppq.toml", 0, &["HOLDS"]),
            ("verify u.parquet --policy ppq.toml", 3, &["a field that no reader knows"]),
        ],
    ),
    (
        "pseudonym-hex",
        &[
            ("verify ps.hex.ndjson --policy ps.toml", 3, &[FORM]),
            (
                "verify ps.hex.ndjson --foreign --policy ps.toml --against ps.in.ndjson",
                0,
                &["not checked: where the pseudonyms of name come from"],
            ),
        ],
    ),
    (
        "rows-distinct-not-checked",
        &[("verify rd.ndjson --policy rd.toml", 3, &["says the same as another one beside it"])],
    ),
    (
        "transactions-duplicates",
        &[
            ("verify x.txt --policy pt.toml", 3, &["says the same as another one beside it"]),
            ("verify xmlns.xml --foreign --policy px.toml", 0, &["FOREIGN", "namespaces"]),
        ],
    ),
    ("xml-levels", &[("anonymize deep.toml --dry-run --memory 300MB", 0, &["policy and data fit together"])]),
];

const FORM: &str = "this is not the form in which Bosket publishes";

/// What `deep.py 22 0` writes: twenty tiny records of 22 levels, and a policy for them.
fn deep(dir: &Dir) {
    let levels = 1..=22;
    let record = |i: usize| {
        let open: String = levels.clone().map(|level| format!("<e{level} a=\"{}\">", i % 3)).collect();
        let close: String = levels.clone().rev().map(|level| format!("</e{level}>")).collect();
        format!("<r x=\"{}\">{open}{close}</r>\n", i % 2)
    };
    let attribute = |path: String| {
        format!(
            "[[attribute]]\npath = \"{path}\"\nrole = \"quasi\"\nhierarchy = {{ build = \"fanout\", fanout = 5 }}\n"
        )
    };
    let path = |level: usize| (1..=level).map(|at| format!("e{at}[]/")).collect::<String>() + "@a";
    let attributes: String = levels.clone().map(path).map(attribute).collect();
    dir.write("deep.xml", format!("<db>{}</db>", (0..20).map(record).collect::<String>())).write(
        "deep.toml",
        format!(
            "version = 1\n[source]\nformat = \"xml\"\npath = \"deep.xml\"\nrecord = \"db/r\"\n{}{attributes}\
             [privacy]\nmodel = \"kmn\"\nk = 2\nm = 2\nn = 1\n[publish]\npath = \"out.xml\"\n",
            attribute("@x".to_owned())
        ),
    );
}

/// A copy of a folder, in which files may be written.
fn copy(from: &std::path::Path, dir: &Dir, to: &str) {
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = format!("{to}{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => copy(&entry.path(), dir, &format!("{name}/")),
            false => _ = dir.write(&name, std::fs::read(entry.path()).expect("readable")),
        }
    }
}

#[test]
fn every_case_ends_as_it_should() {
    for (case, steps) in CASES {
        let Some(folder) = shared(&format!("cases/{case}")) else { continue };
        let dir = Dir::new();
        copy(&folder, &dir, "");
        if *case == "xml-levels" {
            deep(&dir);
        }
        for (line, code, told) in *steps {
            let found = dir.run(&line.split(' ').collect::<Vec<_>>());
            assert_eq!(found.code, Some(*code), "{case}: {line}\n{}{}", found.stdout, found.stderr);
            assert!(!found.stderr.contains("panicked"), "{case}: {line}\n{}", found.stderr);
            for part in *told {
                let all = [&found.stdout[..], &found.stderr].concat();
                assert!(all.contains(part), "{case}: {line} does not tell {part}\n{all}");
            }
        }
    }
}

#[test]
fn no_case_is_forgotten() {
    let Some(folder) = shared("cases") else { return };
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let folders = entries.filter(|entry| entry.path().is_dir());
    let there: BTreeSet<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let run: BTreeSet<String> = CASES.iter().map(|(case, _)| (*case).to_owned()).collect();
    assert_eq!(there, run);
}
