//! `bosket measure`, `bosket sweep` and `bosket demo`.

use serde_json::Value;

use crate::util::Dir;

fn clinic(people: &str) -> Dir {
    let dir = Dir::new();
    assert_eq!(dir.run(&["generate", "clinic", "--people", people, "--out", "."]).code, Some(0));
    dir
}

fn json(dir: &Dir, args: &[&str]) -> Value {
    let run = dir.run(args);
    assert_eq!(run.code, Some(0), "{args:?}: {}", run.stderr);
    serde_json::from_str(&run.stdout).expect("JSON")
}

#[test]
fn measure_agrees_with_the_run_that_made_it() {
    let dir = clinic("300");
    dir.forget_attackers("policy.toml");
    // Of labels that are finer than a cut the run tells no RPD.
    // Where nothing is left of some rows, they are not published, of which the cut's RPD does not know.
    let sets = ["--set", "method.recoding=global", "--set", "privacy.m=1", "--set", "privacy.k=3"];
    let made = json(&dir, &[&["anonymize", "policy.toml", "--json"], &sets[..]].concat());
    let measured =
        json(&dir, &["measure", "data.ndjson", "published.ndjson", "--policy", "policy.toml", "--json"]);
    let rpd = |v: &Value| v.as_f64().expect("a number");
    assert!((rpd(&made["rpd"]) - rpd(&measured["figures"]["RPD"]["value"])).abs() < 1e-9, "{measured}");
    assert_eq!(measured["published_records"], 300);
    for a in measured["attributes"].as_array().expect("a list") {
        let share = |key: &str| a[key].as_f64().expect("told, as there is a mapping");
        assert!((share("kept") + share("generalized") + share("left_out") - 1.0).abs() < 1e-9, "{a}");
        let published =
            made["attributes"].as_array().expect("a list").iter().find(|m| m["path"] == a["path"]);
        assert_eq!(published.map(|m| &m["published_values"]), Some(&a["published_distinct"]), "{a}");
    }
}

#[test]
fn data_that_is_published_as_it_is_loses_nothing() {
    let dir = clinic("100");
    let policy = ["--policy", "policy.toml", "--json"];
    let same = json(&dir, &[&["measure", "data.ndjson", "data.ndjson"], &policy[..]].concat());
    for figure in ["NCP", "ML2", "dML2"] {
        assert_eq!(same["figures"][figure]["value"], 0.0, "{figure}");
    }
    assert_eq!(same["relations_kept"], 1.0);
}

#[test]
fn measure_draws_and_does_not_replace() {
    let dir = clinic("100");
    let args = ["measure", "data.ndjson", "data.ndjson", "--policy", "policy.toml", "--plot", "loss.svg"];
    let run = dir.run(&args);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("visits[].hospital") && dir.text("loss.svg").starts_with("<svg"));
    assert_eq!(dir.run(&args).code, Some(3));
}

#[test]
fn vertex_trees_and_sets_are_measured_too() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["generate", "students", "--students", "60", "--out", "."]).code, Some(0));
    let made = json(&dir, &["anonymize", "policy.toml", "--json"]);
    let data = made["published"].as_str().expect("a path");
    let loss = json(&dir, &["measure", "data.ndjson", data, "--policy", "policy.toml", "--json"]);
    let (told, found) = (made["lm"].as_f64(), loss["figures"]["LM"]["value"].as_f64());
    assert!((told.expect("told") - found.expect("found")).abs() < 1e-6, "{told:?} {found:?}");

    let dir = Dir::new();
    assert_eq!(dir.run(&["generate", "baskets", "--transactions", "500", "--out", "."]).code, Some(0));
    let made = json(&dir, &["anonymize", "policy.toml", "--json"]);
    let data = made["published"].as_str().expect("a path");
    let policy = dir.text("policy.toml");
    let source =
        policy.lines().find_map(|l| l.strip_prefix("path = \"")?.strip_suffix('"')).expect("a source");
    let loss = json(&dir, &["measure", source, data, "--policy", "policy.toml", "--json"]);
    assert_eq!(loss["published_records"], 500);
}

#[test]
fn more_privacy_costs_more_in_a_sweep() {
    let dir = clinic("300");
    dir.forget_attackers("policy.toml");
    let rows =
        json(&dir, &["sweep", "policy.toml", "--k", "2,20", "--m", "1..2", "--plot", "s.svg", "--json"]);
    let rows = rows.as_array().expect("rows");
    assert_eq!(rows.len(), 4);
    let loss = |row: &Value| row["loss"]["figures"]["NCP"]["value"].as_f64().expect("a number");
    assert!(loss(&rows[0]) <= loss(&rows[1]) && loss(&rows[0]) < loss(&rows[3]), "{rows:?}");
    assert_eq!(rows[3]["setting"]["privacy.k"], 20.0);
    assert!(rows.iter().all(|r| r["reached"] == true));
    // Nothing is published, and the picture is there.
    assert!(!dir.path("published.ndjson").exists() && dir.text("s.svg").contains("m = 2"));
}

/// m = 1, k = 2 looked safest: it was measured against whoever knows one value.
#[test]
fn the_weakest_guarantee_looked_safest_because_its_own_attacker_was_the_weakest() {
    let dir = clinic("300");
    dir.forget_attackers("policy.toml");
    let swept = ["sweep", "policy.toml", "--k", "2,20", "--m", "1,3", "--set", "method.recoding=global"];
    let rows = json(&dir, &[&swept[..], &["--json"]].concat());
    let rows = rows.as_array().expect("rows");
    for row in rows {
        assert_eq!(
            (&row["attacker"]["m"], &row["attacker"]["n"]),
            (&Value::from(3), &Value::from(1)),
            "{row}"
        );
        let points = row["risk"]["points"].as_array().expect("points");
        assert!(points.iter().all(|point| point["m"] == 3 && point["n"] == 1), "{row}");
    }
    let risk = |row: &Value| row["attacker"]["marketer"].as_f64().expect("a number");
    assert!(risk(&rows[0]) > risk(&rows[3]), "m = 1, k = 2 against m = 3, k = 20: {rows:?}");
    let text = dir.run(&swept).exits(0).stdout;
    assert!(
        text.contains("the attacker: somebody who knows up to 3 values of a person and 1 relation"),
        "{text}"
    );
}

#[test]
fn a_sweep_over_transactions_did_not_find_its_items() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["generate", "baskets", "--transactions", "300", "--out", "."]).code, Some(0));
    let rows = json(
        &dir,
        &["sweep", "policy.toml", "--k", "2,5", "--algorithm", "aa,da", "--plot", "s.svg", "--json"],
    );
    assert_eq!(rows.as_array().map(Vec::len), Some(4));
}

#[test]
fn a_publication_with_more_records_than_its_input_is_refused() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["generate", "students", "--students", "60", "--out", "."]).code, Some(0));
    let data = dir.text("data.ndjson");
    dir.write("twice.ndjson", format!("{data}{data}"));
    let run = dir.run(&["measure", "data.ndjson", "twice.ndjson", "--policy", "policy.toml"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("the input comes first"), "{}", run.stderr);
}

#[test]
fn pictures_replaced_what_they_were_made_from() {
    let dir = clinic("100");
    let run = dir.run(&["sweep", "policy.toml", "--k", "2,5", "--plot", "policy.toml", "--force"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    let args = [
        "measure",
        "data.ndjson",
        "data.ndjson",
        "--policy",
        "policy.toml",
        "--plot",
        "data.ndjson",
        "--force",
    ];
    assert_eq!(dir.run(&args).code, Some(2));
}

#[test]
fn what_a_run_writes_took_the_place_of_what_it_reads_or_writes() {
    let dir = clinic("100");
    std::os::unix::fs::symlink("data.ndjson", dir.path("link.html")).expect("a link");
    let data = dir.text("data.ndjson");
    for set in [
        "publish.report=\"policy.toml\"",
        "publish.report=\"link.html\"",
        "publish.report=\"published.ndjson.certificate.json\"",
        "publish.report=\"private/mapping.json\"",
        "publish.mapping=\"published.ndjson\"",
        "publish.mapping=\"private/mapping.json\"",
        "publish.certificate=\"hierarchies/town.csv\"",
    ] {
        let run = dir.run(&["anonymize", "policy.toml", "--force", "--set", set]);
        assert_eq!(run.code, Some(2), "{set}: {}{}", run.stdout, run.stderr);
    }
    // The file beside the mapping has a name of its own.
    let beside = ["--set", "publish.path=\"out.json\"", "--set", "publish.mapping=\"out.csv\"", "--force"];
    let run = dir.run(&[&["anonymize", "policy.toml"], &beside[..]].concat());
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert_eq!(dir.text("data.ndjson"), data);
}

#[test]
fn a_mapping_lay_in_the_folder_that_is_handed_out() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["generate", "students", "--students", "60", "--out", "."]).code, Some(0));
    let inside = ["--set", "publish.mapping=\"published/mapping.csv\""];
    let run = dir.run(&[&["anonymize", "tables/policy-csv.toml"], &inside[..]].concat());
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("handed out"), "{}", run.stderr);
}

#[test]
fn a_guarantee_that_cannot_be_reached_is_a_row_of_its_own() {
    let dir = clinic("30");
    let rows = json(&dir, &["sweep", "policy.toml", "--k", "2,1000", "--json"]);
    assert_eq!(
        (&rows[0]["reached"], &rows[1]["reached"]),
        (&Value::Bool(true), &Value::Bool(false)),
        "{rows}"
    );
}

/// 85 people of a rare gender forced `*` on all 2,000.
#[test]
fn local_recoding_loses_less_and_is_true() {
    let dir = clinic("600");
    dir.forget_attackers("policy.toml");
    let ncp = |recoding: &str| {
        let set = format!("method.recoding={recoding}");
        dir.run(&["anonymize", "policy.toml", "--force", "--set", &set]).exits(0);
        let verify = ["verify", "published.ndjson", "--policy", "policy.toml", "--set", &set];
        dir.run(&[&verify[..], &["--against", "data.ndjson"]].concat()).exits(0).prints(&["HOLDS", "TRUE"]);
        dir.certified("published.ndjson", "published.ndjson.certificate.json");
        let measure = ["measure", "data.ndjson", "published.ndjson", "--policy", "policy.toml", "--json"];
        json(&dir, &measure)["figures"]["NCP"]["value"].as_f64().expect("a number")
    };
    let (global, local) = (ncp("global"), ncp("local"));
    assert!(local < 0.7 * global, "{local} {global}");
    let certificate = dir.text("published.ndjson.certificate.json");
    assert!(certificate.contains("combinatorial refinement"), "{certificate}");
    // Labels of several levels are no cut, and untrue of one.
    let cut = ["--set", "method.recoding=global", "--against", "data.ndjson"];
    dir.run(&[&["verify", "published.ndjson", "--policy", "policy.toml"], &cut[..]].concat()).exits(1);
    dir.run(&["anonymize", "policy.toml", "--set", "method.recoding=local", "--set", "publish.rows=united"])
        .exits(2)
        .says(&["publishes rows as they are"]);
}

#[test]
fn sets_are_recoded_locally() {
    let dir = Dir::new();
    dir.run(&["generate", "baskets", "--transactions", "600", "--out", "."]).exits(0);
    let run = |recoding: &str| {
        let set = format!("method.recoding={recoding}");
        let made = json(
            &dir,
            &["anonymize", "policy.toml", "--force", "--json", "--set", &set, "--set", "privacy.m=2"],
        );
        let verify =
            ["verify", "published.txt", "--policy", "policy.toml", "--set", &set, "--set", "privacy.m=2"];
        dir.run(&[&verify[..], &["--against", "data.txt"]].concat()).exits(0).prints(&["HOLDS", "TRUE"]);
        made["ncp"].as_f64().expect("a number")
    };
    let (global, local) = (run("global"), run("local"));
    assert!(local < 0.9 * global, "{local} {global}");
}

#[test]
fn a_sweep_compares_models_and_any_key() {
    let dir = clinic("200");
    dir.forget_attackers("policy.toml");
    let rows = json(
        &dir,
        &[
            "sweep",
            "policy.toml",
            "--model",
            "kmn,k-anonymity",
            "--m",
            "1,2",
            "--set-each",
            "method.suppress=true,false",
            "--json",
        ],
    );
    let settings: Vec<String> =
        rows.as_array().expect("a list").iter().map(|row| row["setting"].to_string()).collect();
    let kmn = |m, s| format!(r#"{{"method.suppress":"{s}","privacy.model":"kmn","privacy.m":{m}.0}}"#);
    let expected = [
        kmn(1, true),
        kmn(2, true),
        r#"{"privacy.model":"k-anonymity"}"#.to_owned(),
        kmn(1, false),
        kmn(2, false),
    ];
    assert_eq!(settings, expected, "m and suppress mean nothing for clusters, so they are tried once");
    assert!(rows.as_array().expect("a list").iter().all(|row| row["reached"] == true), "{rows}");
    let run = dir.run(&["sweep", "policy.toml", "--model", "kmn,k-anonymity"]);
    assert!(
        run.stdout.contains("detail lost") && !run.stderr.contains("no meaning"),
        "{}{}",
        run.stdout,
        run.stderr
    );
    let run = dir.run(&["sweep", "policy.toml", "--model", "kmn,k-anonymity", "--set", "privacy.guard=true"]);
    assert!(run.stdout.contains("`privacy.guard` has no meaning for model"), "{}", run.stdout);
    let run = dir.run(&["sweep", "policy.toml", "--model", "kmn,anatomy"]);
    assert_eq!(run.code, Some(2), "{}", run.stdout);
}

#[test]
fn a_sweep_over_nothing_is_refused() {
    let dir = clinic("30");
    for args in [&["sweep", "policy.toml"][..], &["sweep", "policy.toml", "--k", "a..b"]] {
        let run = dir.run(args);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
    }
}

#[test]
fn the_demo_leaves_a_publication_a_certificate_and_reports() {
    let dir = Dir::new();
    let run = dir.run(&["demo", "--people", "300"]);
    assert_eq!(run.code, Some(0), "{}\n{}", run.stdout, run.stderr);
    for file in [
        "published.ndjson",
        "published.ndjson.certificate.json",
        "report.html",
        "private/report.html",
        "policy.toml",
    ] {
        assert!(dir.path("bosket-demo").join(file).is_file(), "{file}");
    }
    for said in [
        "VIOLATED",
        "HOLDS: a neighbour, who knows gender, birth_year and home.town and one more value, finds at least 5 people",
        "a colleague, who knows up to 2 values and one relation between them, finds at least 5 people",
        "TRUE",
        "beyond the promise: ",
        "bosket sweep",
        "report.html",
    ] {
        assert!(run.stdout.contains(said), "{said}");
    }
    let last = run.stdout.trim_end().lines().last().unwrap_or_default();
    assert!(last.contains("bosket serve bosket-demo"), "{last}");
    // Once more only with --force.
    assert_eq!(dir.run(&["demo", "--people", "300"]).code, Some(3));
    assert_eq!(dir.run(&["demo", "--people", "300", "--force"]).code, Some(0));
}

#[test]
fn rows_of_linked_tables_were_counted_by_paths_that_no_table_has() {
    let dir = Dir::new();
    dir.run(&["generate", "tpch", "--customers", "100", "--out", "d"]).exits(0);
    let told = dir.run(&["anonymize", "d/tables/policy-csv.toml", "--set", "privacy.k=5"]).exits(0);
    told.prints(&["\norders: ", "\nitems: "]).hides(&["orders[]"]);
    let certificate: Value =
        serde_json::from_str(&dir.text("d/tables/published.certificate.json")).expect("JSON");
    let classes = certificate["kept"]["classes"].as_array().expect("a list");
    let paths: Vec<&str> = classes.iter().filter_map(|c| c["path"].as_str()).collect();
    assert_eq!(paths, ["", "orders", "items"]);
    dir.certified("d/tables/published", "d/tables/published.certificate.json");
    // A tree keeps its paths.
    let told = dir.run(&["anonymize", "d/policy.toml", "--set", "privacy.k=5"]).exits(0);
    told.prints(&["\norders[]: ", "\norders[].items[]: "]);
}
