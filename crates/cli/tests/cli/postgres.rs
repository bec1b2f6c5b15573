//! Linked tables on a server, from the draft to the attack on what was published.

use bosket_testkit::server::Server;

use crate::util::Dir;

fn school() -> Option<(Dir, Server, String)> {
    let server = Server::start("trust")?;
    server.sql("postgres", "CREATE DATABASE school");
    server.sql(
        "school",
        "CREATE TABLE student (student_id int PRIMARY KEY, town text); \
         CREATE TABLE takes (student_id int REFERENCES student, course text)",
    );
    for i in 0..20 {
        let (town, course) = (["Ulm", "Bonn"][i % 2], ["db", "ai"][i / 2 % 2]);
        server.sql(
            "school",
            &format!(
                "INSERT INTO student VALUES ({i}, '{town}'); INSERT INTO takes VALUES ({i}, '{course}')"
            ),
        );
    }
    let url = server.url("school");
    Some((Dir::new(), server, url))
}

#[test]
fn the_drafted_address_had_lost_a_slash() {
    let Some((dir, _server, url)) = school() else { return };
    for (scheme, name) in [("postgres://", "a.toml"), ("postgresql://", "b.toml")] {
        let url = url.replacen("postgres://", "postgresql://", 1).replacen("postgresql://", scheme, 1);
        dir.run(&["inspect", &url, "--draft", name]).exits(0);
        let draft = dir.text(name);
        assert!(draft.contains(&format!("= \"{url}\"")), "{draft}");
    }
    for name in ["a.toml", "b.toml"] {
        let published = dir.run(&["anonymize", name, "--set", "privacy.k=2", "--force"]).exits(0);
        published.prints(&["published 20 records to", ", schema published"]);
    }
}

#[test]
fn an_attack_did_not_find_the_publication_on_its_server() {
    let Some((dir, server, url)) = school() else { return };
    dir.run(&["inspect", &url, "--draft", "p.toml"]).exits(0);
    let policy = dir.text("p.toml").replace("k     = 5", "k     = 2");
    dir.write("p.toml", policy);
    dir.run(&["attack", &url, "--policy", "p.toml"])
        .exits(0)
        .says(&["there is no publication at", ", schema published yet"]);
    dir.run(&["anonymize", "p.toml"]).exits(0);
    let told = dir.run(&["attack", &url, "--policy", "p.toml"]).exits(0);
    told.says(&["attacking the policy's publication", ", schema published too"]);
    let found = dir.run(&["attack", &url, "--policy", "p.toml", "--json"]).exits(0).json();
    assert!(
        found["after"]["data"].as_str().is_some_and(|name| name.ends_with(", schema published")),
        "{found}"
    );
    // What is wrong there is said with the schema.
    server.sql("school", "CREATE TABLE published.raw (ssn text)");
    dir.run(&["verify", &url, "--policy", "p.toml"]).exits(3).says(&["schema published", "table `raw`"]);
}

#[test]
fn errors_about_an_address_name_the_policy_and_the_line() {
    let Some((dir, server, url)) = school() else { return };
    dir.run(&["inspect", &url, "--draft", "p.toml"]).exits(0);
    let draft = dir.text("p.toml");
    let line = |text: &str, from: usize| {
        let lines = text.lines().enumerate().skip(from);
        lines
            .into_iter()
            .find(|(_, l)| l.trim_start().starts_with("url"))
            .map(|(i, _)| i + 1)
            .expect("an address")
    };
    let (source, publish) = (line(&draft, 0), line(&draft, line(&draft, 0)));
    let changed = |at: usize, from: &str, to: &str| {
        let lines = draft.lines().enumerate();
        let lines = lines.map(|(i, l)| if i + 1 == at { l.replacen(from, to, 1) } else { l.to_owned() });
        dir.write("bad.toml", lines.collect::<Vec<_>>().join("\n") + "\n");
    };
    for at in [source, publish] {
        let place = format!("bad.toml:{at}:");
        changed(at, "://", ":/");
        dir.run(&["anonymize", "bad.toml"]).exits(2).says(&["this is not the address of a database", &place]);
        changed(at, "/school", "/nowhere");
        let told = dir.run(&["anonymize", "bad.toml"]).exits(3);
        told.says(&[&place, &format!("postgres://localhost:{}/nowhere", server.port())]);
        changed(at, "/school", "/school?sslmode=odd");
        dir.run(&["anonymize", "bad.toml"]).exits(2).says(&["`sslmode=odd` is not known", &place]);
    }
}
