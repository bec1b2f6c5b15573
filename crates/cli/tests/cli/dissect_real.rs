//! Dissection of real data with real hierarchies, where they lie beside the repository.

use std::collections::{BTreeMap, BTreeSet};

use bosket_testkit::shared::shared;

use crate::util::{Dir, attribute};

/// The codes of a tree with their depths below its root.
fn codes(tree: &str) -> Vec<(String, usize)> {
    let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for line in tree.lines().skip(1) {
        let cells: Vec<&str> = line.splitn(4, ',').collect();
        // Parents stand above their children in these files.
        let depth = depths.get(cells[2]).copied().unwrap_or(0) + 1;
        depths.insert(cells[0], depth);
        all.push((cells[0].to_owned(), depth));
    }
    all
}

#[test]
fn full_trees_of_icd10_with_inner_codes_and_both_spellings() {
    for (name, edition) in [
        ("hierarchy-icd10-who/icd10-who-2019-tree.csv.gz", "who"),
        ("hierarchy-icd10cm/icd10cm-tree.csv.gz", "cm"),
    ] {
        let Some(path) = shared(&format!("data/{name}")) else { continue };
        let tree = bosket_io::read_text(&path).expect("readable");
        let codes = codes(&tree);
        for shallowest in [3, 2] {
            let dir = Dir::new();
            // Every depth from the shallowest down: blocks, categories, codes.
            let usable: Vec<&String> =
                codes.iter().filter(|(_, depth)| *depth >= shallowest).map(|(code, _)| code).collect();
            let step = usable.len() / 1000;
            let mut people = String::new();
            let mut inner = BTreeSet::new();
            for (i, code) in usable.iter().step_by(step).enumerate() {
                let code = if i % 2 == 0 { code.replace('.', "") } else { (*code).clone() };
                people.push_str(&format!("{{\"town\":\"T{}\",\"code\":\"{code}\"}}\n", i % 7));
                inner.extend((code.len() == 3 || code.contains('-')).then_some(code));
            }
            assert!(inner.len() > 10, "{edition}: {inner:?}");
            dir.write("data.ndjson", people).write("tree.csv", &tree);
            let attributes = [
                attribute("town", "quasi", ""),
                attribute("code", "sensitive", "hierarchy = { build = 'icd10', table = 'tree.csv' }"),
            ];
            dir.write(
                "policy.toml",
                format!(
                    "version = 1\n[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n{}\
                     [privacy]\nmodel = \"delta\"\ngroup_size = 4\n[publish]\npath = \"out.json\"\n",
                    attributes.concat()
                ),
            );
            let told = dir.run(&["anonymize", "policy.toml", "--json"]).exits(0).json();
            assert_eq!(told["degrees"][0]["set_wise"], shallowest, "{edition}: {told}");
            assert_eq!(told["suppressed"], 0, "{edition}: {told}");
            let asked = format!("--set=privacy.delta_target={shallowest}");
            let verify =
                ["verify", "out.json", "--policy", "policy.toml", &asked, "--against", "data.ndjson"];
            dir.run(&verify).exits(0).prints(&["HOLDS", "TRUE"]);
        }
    }
}

/// Substances that articles of PubMed are about: up to dozens, or none.
#[test]
fn several_values_per_article_of_pubmed() {
    let Some(path) = shared("data/xml-pubmed/pubmed20n0014.xml.gz") else { return };
    let dir = Dir::new();
    let attributes = [
        attribute("MedlineCitation/Article/Journal/JournalIssue/PubDate/Year", "quasi", ""),
        attribute("MedlineCitation/Article/Language[]", "quasi", ""),
        attribute("MedlineCitation/ChemicalList/Chemical[]/NameOfSubstance/@UI", "sensitive", ""),
    ];
    dir.write(
        "policy.toml",
        format!(
            "version = 1\nundeclared = \"drop\"\n[source]\nformat = \"xml\"\npath = '{}'\n\
             record = \"PubmedArticleSet/PubmedArticle\"\n{}\
             [privacy]\nmodel = \"anatomy\"\ngroup_size = 2\n[publish]\npath = \"out.xml\"\n",
            path.display(),
            attributes.concat()
        ),
    );
    let told = dir.run(&["anonymize", "policy.toml", "--json"]).exits(0).json();
    let (records, suppressed) = (told["records"].as_u64(), told["suppressed"].as_u64());
    assert_eq!(records.zip(suppressed).map(|(r, s)| r + s), Some(30_000), "{told}");
    assert!(suppressed.is_some_and(|s| s < 300), "{told}");
    let verify =
        ["verify", "out.xml", "--policy", "policy.toml", "--against", path.to_str().expect("a path")];
    dir.run(&verify).exits(0).prints(&["HOLDS", "TRUE"]);
    // The headings themselves cannot be kept apart: most articles are about humans.
    let text = dir.text("policy.toml").replace("ChemicalList/Chemical[]/NameOfSubstance", HEADING);
    dir.write("headings.toml", text.replace("out.xml", "headings.xml"));
    dir.run(&["anonymize", "headings.toml"]).exits(4).says(&["17609 of 30000 records", "DescriptorName/@UI"]);
}

const HEADING: &str = "MeshHeadingList/MeshHeading[]/DescriptorName";

/// Diagnoses of the people of MEPS in two tables, with a hierarchy.
#[test]
fn several_diagnoses_per_person_in_linked_tables() {
    let Some(folder) = shared("data/rt-informs") else { return };
    let dir = Dir::new();
    let attributes = [
        attribute("person.DOBYY", "quasi", ""),
        attribute("person.SEX", "quasi", ""),
        attribute("person.EDUCYEAR", "quasi", ""),
        attribute("condition.ICD9CODX", "sensitive", "hierarchy = 'icd9.csv'"),
    ];
    let hierarchy = bosket_io::read_text(&folder.join("informs_ICD9.txt")).expect("readable");
    dir.write("icd9.csv", hierarchy);
    for name in ["demographics05test", "conditions05"] {
        let text = bosket_io::read_text(&folder.join(format!("{name}.csv.gz"))).expect("readable");
        dir.write(&format!("{name}.csv"), text);
    }
    dir.write(
        "policy.toml",
        format!(
            "version = 1\nundeclared = \"drop\"\n[source]\nformat = \"csv\"\n\
             [[source.table]]\nname = \"person\"\npath = \"demographics05test.csv\"\nkey = \"DUPERSID\"\n\
             [[source.table]]\nname = \"condition\"\npath = \"conditions05.csv\"\nparent = \"person\"\nforeign_key = \"DUPERSID\"\n\
             {}[privacy]\nmodel = \"anatomy\"\ngroup_size = 3\n[publish]\npath = \"out\"\n",
            attributes.concat()
        ),
    );
    let told = dir.run(&["anonymize", "policy.toml", "--json"]).exits(0).json();
    let (records, suppressed) = (told["records"].as_u64(), told["suppressed"].as_u64());
    assert_eq!(records.zip(suppressed).map(|(r, s)| r + s), Some(33_961), "{told}");
    assert!(suppressed.is_some_and(|s| s < 3400), "{told}");
    let verify = ["verify", "out", "--policy", "policy.toml", "--against", "."];
    dir.run(&verify).exits(0).prints(&["HOLDS", "TRUE"]);
}
