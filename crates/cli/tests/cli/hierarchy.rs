//! `bosket hierarchy build | show | check`

use crate::util::Dir;

/// Builds to standard output.
#[track_caller]
fn built(dir: &Dir, args: &str) -> String {
    let args: Vec<&str> = ["hierarchy", "build"].into_iter().chain(args.split(' ')).collect();
    let out = dir.run(&args).exits(0).says_nothing().stdout;
    // Whatever is built can be read again.
    dir.write("built.csv", &out);
    dir.run(&["hierarchy", "check", "built.csv"]).exits(0).says_nothing();
    out
}

#[test]
fn every_builder() {
    let dir = Dir::new();
    assert_eq!(built(&dir, "interval --min 0 --max 3 --widths 2"), "0;0-1;*\n1;0-1;*\n2;2-3;*\n3;2-3;*\n");
    assert_eq!(
        built(&dir, "interval --min -2 --max 1 --widths 2"),
        "-2;[-2,0);*\n-1;[-2,0);*\n0;[0,2);*\n1;[0,2);*\n"
    );
    let days = built(&dir, "date --min 2019-12-31 --max 2020-01-01");
    assert_eq!(days, "2019-12-31;2019-12;2019-Q4;2019;2010s;*\n2020-01-01;2020-01;2020-Q1;2020;2020s;*\n");
    let days = built(&dir, "date --min 2019-12-31 --max 2020-01-01 --levels month,decade");
    assert_eq!(days, "2019-12-31;2019-12;2010s;*\n2020-01-01;2020-01;2020s;*\n");
    dir.write("values", "10115\n10117\n80331\n");
    assert_eq!(
        built(&dir, "prefix --values values").lines().next(),
        Some("10115;1011*;101**;10***;1****;*****;*")
    );
    dir.write("values", "d\na\nc\nb\na\n\n");
    assert_eq!(
        built(&dir, "fanout --fanout 2 --values values"),
        "a;group-1;*\nb;group-1;*\nc;group-2;*\nd;group-2;*\n"
    );
    dir.write("values", "J06.9\nE11\n");
    assert_eq!(built(&dir, "icd10 --values values"), "E11;E08-E13;E00-E89;*\nJ06.9;J06;J00-J06;J00-J99;*\n");
    dir.write("table.csv", "code,parent\nX,\nX1,X\nX2,X\n");
    assert_eq!(built(&dir, "icd10 --table table.csv"), "X1;X;*\nX2;X;*\n");
    let groups = r#"order --groups [{"label":"low","values":["a","b"]},["c","d"],"e"]"#;
    assert_eq!(built(&dir, groups), "a;low;*\nb;low;*\nc;c..d;*\nd;c..d;*\ne;*\n");
}

#[test]
fn builders_over_data() {
    let dir = Dir::new();
    dir.write("data.ndjson", "{\"v\":[{\"x\":0.25},{\"x\":3}]}\n{\"v\":[{\"x\":0.75}]}\n");
    let data = "--data data.ndjson --path v[].x";
    let text = built(&dir, &format!("interval --min 0 --max 5 --widths 0.5,1 {data}"));
    assert_eq!(text, "0.25;[0,0.5);[0,1);*\n0.75;[0.5,1);[0,1);*\n3;[3,3.5);[3,4);*\n");
    assert!(
        built(&dir, &format!("interval --min 0 --max 2 --widths 0.5 --clamp top {data}"))
            .ends_with("3;>2;*\n")
    );
    assert_eq!(built(&dir, &format!("fanout --fanout 2 {data}")), "0.25;group-1;*\n0.75;group-1;*\n3;*\n");
    let found =
        dir.run(&["hierarchy", "build", "prefix", "--data", "data.ndjson", "--path", "v[].y"]).exits(2);
    found.says(&[
        "the data has no such attribute",
        " --> data.ndjson, path v[].y",
        "help: did you mean `v[].x`?",
    ]);
}

#[test]
fn builders_with_wrong_arguments() {
    let dir = Dir::new();
    let wrong = [
        ("interval --min 0 --widths 5", "this builder needs --max"),
        ("interval --min 0 --max 9", "this builder needs --widths"),
        ("interval --min x --max 9 --widths 5", "--min must be a number"),
        ("interval --min 9 --max 0 --widths 5", "min = 9 is above max = 0"),
        ("interval --min 0 --max 9 --widths 2,5", "the width 5 is no multiple of the one before, 2"),
        ("interval --min 0 --max 9 --widths 5 --clamp up", "--clamp is none, top, bottom or both"),
        ("date --min 2020-02-30 --max 2020-03-01", "is no date"),
        ("date --min 2020-01-01 --max 2020-01-02 --levels week", "`week` is no level of dates"),
        ("order --groups x", "--groups must be a JSON array"),
        ("order", "this builder needs --groups"),
        ("prefix", "this builder needs the values"),
        ("fanout", "this builder needs the values"),
        ("icd10", "this builder needs the values"),
    ];
    for (args, part) in wrong {
        let args: Vec<&str> = ["hierarchy", "build"].into_iter().chain(args.split(' ')).collect();
        let found = dir.run(&args).exits(2).says(&[part, "help: "]);
        assert_eq!(found.stdout, "", "{args:?}");
    }
}

#[test]
fn an_interval_of_decimals_without_values_was_an_empty_tree() {
    let dir = Dir::new();
    for widths in ["0.5", "1000"] {
        let args = ["hierarchy", "build", "interval", "--min", "0", "--max", "1000000", "--widths", widths];
        let found = dir.run(&[&args[..], &["-o", "h.csv"]].concat()).exits(2);
        found.says(&[
            "this builder needs the values",
            "help: give them with --values FILE, or --data FILE --path PATH",
        ]);
    }
    assert!(dir.files().is_empty());
}

#[test]
fn values_that_a_builder_cannot_place_were_left_out_silently() {
    let dir = Dir::new();
    dir.write("values", "J06.9\nQuetzal\nI10\n\nZanzibar\n");
    let build = ["hierarchy", "build", "icd10", "--values", "values", "-o", "h.csv"];
    let found = dir.run(&build).exits(3).hides(&["Quetzal", "Zanzibar"]);
    assert_eq!(found.errors(), 2);
    found.says(&[
        "the builder has no place for this value",
        " --> values:2",
        " --> values:5",
        "help: see it with --show-values",
    ]);
    let found = dir.run(&[&build[..], &["--show-values"]].concat()).exits(3);
    found.says(&["this value: `Quetzal`", "this value: `Zanzibar`"]);
    assert_eq!(dir.files(), ["values"]);
}

#[test]
fn show_values_was_offered_but_not_taken() {
    let dir = Dir::new();
    dir.write("data.csv", "year\n1950\n4711\n");
    let build = [
        "hierarchy",
        "build",
        "interval",
        "--min",
        "1900",
        "--max",
        "2000",
        "--widths",
        "10",
        "--data",
        "data.csv",
        "--path",
        "year",
    ];
    let found = dir.run(&build).exits(3).hides(&["4711"]);
    found.says(&["a value is not in the hierarchy", " --> data.csv, record 2, path year", "--show-values"]);
    dir.run(&[&build[..], &["--show-values"]].concat()).exits(3).says(&["not in the hierarchy: `4711`"]);
}

fn towns() -> Dir {
    let dir = Dir::new();
    dir.write("town.csv", "a;A;*\nb;A;*\nc;C;*\n");
    dir.write("data.csv", "town,n\na,1\na,2\nc,3\n,4\nC,5\n");
    dir
}

#[test]
fn show_draws_the_tree_with_counts() {
    let dir = towns();
    let tree = dir.run(&["hierarchy", "show", "town.csv"]).exits(0).says_nothing().stdout;
    assert_eq!(
        tree.replace(' ', ""),
        "*3leaves\n├─A2leaves\n│├─a\n│└─b\n└─C1leaf\n└─c\n3leavesunder3innernodes,2levelsdeep\nnext:boskethierarchychecktown.csv\n"
    );
    let data = ["--data", "data.csv", "--path", "town"];
    let tree =
        dir.run(&[&["hierarchy", "show", "town.csv"], &data[..]].concat()).exits(0).says_nothing().stdout;
    let counts: Vec<(&str, &str)> =
        (tree.lines().filter(|l| !l.contains("under") && !l.starts_with("next:")))
            .map(|l| {
                (
                    l.trim_start_matches([' ', '│', '├', '└', '─']).split("  ").next().expect("a label"),
                    l.rsplit(' ').next().expect("a count"),
                )
            })
            .collect();
    assert_eq!(
        counts,
        [("*", "4"), ("A", "2"), ("a", "2"), ("b", "0"), ("C", "2"), ("C (unspecified)", "1"), ("c", "1")]
    );
    let json = dir.run(&[&["hierarchy", "show", "town.csv", "--json"], &data[..]].concat()).exits(0).json();
    assert_eq!((&json["count"], &json["leaves"]), (&4.into(), &4.into()));
    assert_eq!(
        json["children"][0]["children"][1],
        serde_json::json!({"label": "b", "leaves": 1, "count": 0})
    );
}

#[test]
fn show_cuts_large_trees_short() {
    let dir = Dir::new();
    let args = [
        "hierarchy",
        "build",
        "interval",
        "--min",
        "0",
        "--max",
        "9999",
        "--widths",
        "10,100",
        "-o",
        "h.csv",
    ];
    dir.run(&args).exits(0);
    let found = dir.run(&["hierarchy", "show", "h.csv", "--depth", "1", "--children", "3"]).exits(0);
    assert!(found.stdout.lines().count() < 8, "{}", found.stdout);
    found.prints(&["0-99", "10,000 leaves under 1,101 inner nodes, 3 levels deep"]).hides(&["0-9 "]);
}

#[test]
fn the_hierarchy_of_a_policy() {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "80", "--out", "c"]).exits(0);
    let found =
        dir.run(&["hierarchy", "show", "--policy", "c/policy.toml", "--path", "birth_year", "--depth", "1"]);
    found.exits(0).says_nothing().prints(&["1920-1959", "  80\n", "110 leaves"]);
    let check = ["hierarchy", "check", "--policy", "c/policy.toml", "--path"];
    let found = dir.run(&[&check[..], &["visits[].hospital", "--json"]].concat()).exits(0).json();
    assert_eq!((&found["valid"], &found["leaves"]), (&true.into(), &10.into()));
    let found = dir.run(&[&check[..], &["visits[].hopsital"]].concat()).exits(2);
    found.says(&[
        "the policy has no attribute `visits[].hopsital`",
        "help: did you mean `visits[].hospital`?",
    ]);
    let found = dir.run(&[&check[..], &["name"]].concat()).exits(2);
    found.says(&["this attribute has no hierarchy", " --> c/policy.toml:"]);
}

#[test]
fn an_exactly_repeated_line_was_refused() {
    let dir = towns();
    let town = dir.text("town.csv");
    let first = town.lines().next().expect("a line");
    dir.write("town.csv", format!("{town}{first}\n"));
    let line = town.lines().count() + 1;
    let told = [format!("line {line} says what line 1 says"), "each counts once".to_owned()];
    let told = told.each_ref().map(String::as_str);
    dir.run(&["hierarchy", "check", "town.csv"]).exits(0).says(&told).prints(&["ok: 3 leaves"]);
    dir.write(
        "p.toml",
        "version = 1\nundeclared = \"drop\"\n[source]\nformat = \"csv\"\npath = \"data.csv\"\n[[attribute]]\npath = \"town\"\n\
         role = \"quasi\"\nhierarchy = \"town.csv\"\n[privacy]\nmodel = \"k-anonymity\"\nk = 2\n[publish]\n\
         path = \"pub.csv\"\n",
    );
    dir.run(&["anonymize", "p.toml"]).exits(0).says(&told);
}

#[test]
fn check_lists_all_problems_at_once() {
    let dir = towns();
    dir.run(&["hierarchy", "check", "town.csv"])
        .exits(0)
        .says_nothing()
        .prints(&["ok: 3 leaves under 3 inner nodes"]);
    let args = ["hierarchy", "check", "town.csv", "--data", "data.csv", "--path", "town"];
    dir.run(&args).exits(0).prints(&["covers all 3 values of the data"]);
    dir.write("bad.csv", "a;b;*\na;c;*\nd;e;*\nf;e;g;*\n;x;*\nx;y;*\ny;x;*\n");
    let found = dir.run(&["hierarchy", "check", "bad.csv"]).exits(3);
    assert!(found.errors() >= 4, "{}", found.stderr);
    found.says(&[
        "the value `a` is already on line 1\n --> bad.csv:2:1",
        "`e` is below `g` here, but below `*` on line 3\n --> bad.csv:4:3",
        "a label is empty\n --> bad.csv:5:1",
        "`y` is below `x` here, but above it on line 6\n --> bad.csv:7:1",
        "help: keep one of the two lines",
    ]);
    dir.write("empty.csv", "");
    dir.run(&["hierarchy", "check", "empty.csv"]).exits(3).says(&[" --> empty.csv", "help: "]);
    dir.write("latin.csv", b"a;\xe9;*\n");
    dir.run(&["hierarchy", "check", "latin.csv"]).exits(3).says(&[
        "not UTF-8",
        " --> latin.csv:1",
        "help: convert",
    ]);
}
