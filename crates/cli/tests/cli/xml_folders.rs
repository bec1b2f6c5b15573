//! Folders of XML, one document per person.

use crate::util::Dir;

/// Documents of people: what is known of them, and what is secret.
fn folder(dir: &Dir) {
    for i in 0..12 {
        let visits: String = (0..i % 3).map(|v| format!("<v>d{}</v>", (i + v) % 6)).collect();
        dir.write(&format!("d/{i:02}.xml"), format!("<P><a>{}</a><s>v{}</s>{visits}</P>", i % 2, i % 6));
    }
    dir.write("d/notes.json", "{}");
}

fn policy(dir: &Dir, privacy: &str) {
    let h: String = (0..6).map(|i| format!("v{i};g{};*\n", i % 3)).collect();
    dir.write("s.csv", h);
    dir.write(
        "p.toml",
        format!(
            "version = 1\n[source]\nformat = \"xml\"\npath = \"d\"\nrecord = \"P\"\n\
             [[attribute]]\npath = \"a\"\nrole = \"quasi\"\n[[attribute]]\npath = \"v[]\"\nrole = \"quasi\"\n\
             [[attribute]]\npath = \"s\"\nrole = \"sensitive\"\n{privacy}\n[publish]\npath = \"pub.xml\"\n"
        ),
    );
}

#[test]
fn the_sides_of_a_folder_of_documents_were_never_taken_apart() {
    let dir = Dir::new();
    folder(&dir);
    for privacy in [
        "[privacy]\nmodel = \"anatomy\"\ngroup_size = 2",
        "hierarchy = \"s.csv\"\n[privacy]\nmodel = \"delta\"\ngroup_size = 2",
    ] {
        policy(&dir, privacy);
        dir.run(&["anonymize", "p.toml", "--dry-run"]).exits(0);
        dir.run(&["anonymize", "p.toml", "--force"]).exits(0);
        let published = dir.text("pub.xml");
        assert_eq!(published.matches("<GroupElement").count(), 12 + 12, "{published}");
        dir.run(&["verify", "pub.xml", "--policy", "p.toml", "--against", "d"])
            .exits(0)
            .prints(&["HOLDS", "TRUE"]);
        // A value that nobody has.
        dir.write("false.xml", published.replacen("<s>v5</s>", "<s>v4</s>", 1));
        dir.run(&["verify", "false.xml", "--policy", "p.toml", "--against", "d"]).exits(1);
    }
}

#[test]
fn a_folder_and_one_document_of_the_same_people_are_published_alike() {
    let dir = Dir::new();
    folder(&dir);
    policy(&dir, "[privacy]\nmodel = \"anatomy\"\ngroup_size = 2");
    dir.run(&["anonymize", "p.toml"]).exits(0);
    let all: String = (0..12).map(|i| dir.text(&format!("d/{i:02}.xml"))).collect();
    dir.write("all.xml", format!("<all>{all}</all>"));
    let sets =
        ["--set", "source.path=all.xml", "--set", "source.record=all/P", "--set", "publish.path=one.xml"];
    dir.run(&[&["anonymize", "p.toml"][..], &sets].concat()).exits(0);
    assert_eq!(dir.text("pub.xml"), dir.text("one.xml"));
}

#[test]
fn a_plain_dissection_and_a_schema_of_a_folder() {
    let dir = Dir::new();
    folder(&dir);
    policy(&dir, "[privacy]\nmodel = \"none\"");
    dir.run(&["anonymize", "p.toml"]).exits(0);
    assert_eq!(dir.text("pub.xml").matches("<GroupElement").count(), 12 + 12);
    std::fs::remove_file(dir.path("d/notes.json")).expect("it was there");
    dir.run(&["inspect", "d", "--xsd", "d.xsd"]).exits(0);
    assert!(dir.text("d.xsd").contains("name=\"v\""));
}

#[test]
fn a_draft_in_its_own_folder_named_no_source() {
    let dir = Dir::new();
    folder(&dir);
    let path = |draft: &str| {
        let line = draft.lines().find(|line| line.starts_with("path   = ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("no source: {draft}"))
    };
    let inside = |args: &str| dir.bash(&format!("cd d && \"$BOSKET\" inspect . --draft {args}")).exits(0);
    inside("draft.toml");
    let draft = dir.text("d/draft.toml");
    assert_eq!(path(&draft), "path   = \".\"");
    // Beside the folder: the next run would read it there.
    assert!(draft.contains("[publish]\npath = \"../published.xml\""), "{draft}");
    dir.run(&["anonymize", "d/draft.toml", "--set", "privacy.k=2"]).exits(0);
    assert!(dir.files().contains(&"published.xml".to_owned()), "{:?}", dir.files());
    inside("../above.toml");
    assert_eq!(path(&dir.text("above.toml")), "path   = \"d\"");
    dir.run(&["anonymize", "above.toml", "--set", "privacy.k=2", "--force"]).exits(0);
    dir.write("e/x", "");
    inside("../e/beside.toml");
    assert_eq!(path(&dir.text("e/beside.toml")), "path   = \"../d\"");
}
