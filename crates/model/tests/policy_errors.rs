//! Bad policies, with what is said about them and where.

use bosket_model::policy::Policy;
use bosket_model::{Diagnostic, Severity};

/// A policy without faults, to which a case adds or in which it replaces something.
const GOOD: &str = r#"version = 1
[source]
format = "ndjson"
path = "in.ndjson"
[[attribute]]
path = "visits[].hospital"
role = "quasi"
hierarchy = "h.csv"
[[attribute]]
path = "visits[].disease"
role = "sensitive"
[privacy]
model = "kmn"
k = 5
m = 2
n = 1
[publish]
path = "out.ndjson"
"#;

fn found(text: &str) -> Vec<Diagnostic> {
    match Policy::parse("p.toml", text, &[]) {
        Ok((_, warnings)) => warnings,
        Err(errors) => errors,
    }
}

fn with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from} is not in the policy");
    GOOD.replacen(from, to, 1)
}

/// `place: severity: message (help: …)` of everything found, and that nothing else is.
fn expect(text: &str, expected: &[&str]) {
    let mut found: Vec<String> = found(text).iter().map(ToString::to_string).collect();
    // What the TOML parser says in its own words may change with it.
    for (found, expected) in found.iter_mut().zip(expected) {
        if let Some(start) = expected.strip_suffix('…').filter(|start| found.starts_with(start)) {
            *found = format!("{start}…");
        }
    }
    assert_eq!(found, expected, "\n{text}");
}

#[test]
fn the_good_policy_is_good() {
    expect(GOOD, &[]);
    assert!(Policy::parse("p.toml", GOOD, &[]).is_ok());
}

#[test]
fn names_and_types() {
    expect(
        "",
        &["p.toml:1:1: error: `version` is missing (help: version of the policy language: a whole number)"],
    );
    expect("version = 2\n", &["p.toml:1:11: error: `version` must be 1, not 2"]);
    expect("version = [1\nseed = 3\n", &["p.toml:2:1: error: this is not TOML…"]);
    expect(&with("k = 5", "k = 5\nk = 6"), &["p.toml:15:1: error: this is not TOML…"]);
    expect(
        &with("[privacy]", "[privcy]"),
        &["p.toml:12:2: error: unknown key `privcy` (help: did you mean `privacy`?)"],
    );
    expect(
        &with("hierarchy =", "hierachy ="),
        &["p.toml:8:1: error: unknown key `attribute.hierachy` (help: did you mean `hierarchy`?)"],
    );
    expect(
        &with("version = 1", "version = 1\nmapping = \"m\""),
        &["p.toml:2:1: error: unknown key `mapping` (help: `mapping` belongs in [publish])"],
    );
    expect(
        &with("[publish]", "[method]\nk = 5\n[publish]"),
        &["p.toml:18:1: error: unknown key `method.k` (help: `k` belongs in [privacy])"],
    );
    expect(
        &with("k = 5", "k = 5\nxyzzyx = 1"),
        &[
            "p.toml:15:1: error: unknown key `privacy.xyzzyx` (help: known here: model, k, m, n, attacker, guess, relations, root, l, t, beta, \
         negative, guard, payload, sensitive, multiset, diversity, siblings, distinct_everywhere, missing, \
         group_size, delta_target, pairwise)",
        ],
    );
    expect(
        &with("k = 5", "k = \"5\""),
        &["p.toml:14:5: error: `privacy.k` must be a whole number, not a string"],
    );
    expect(
        &with("m = 2", "m = 2.5"),
        &["p.toml:15:5: error: `privacy.m` must be a whole number, not a decimal number"],
    );
    expect(
        "version = 1\nattribute = 3\n",
        &[
            "p.toml:2:13: error: `attribute` must be a list of tables, not a whole number (help: write it as [[attribute]])",
        ],
    );
    expect(
        "version = 1\n[attribute]\npath = \"a\"\n",
        &[
            "p.toml:2:1: error: `attribute` must be a list of tables, not a table (help: write it as [[attribute]])",
        ],
    );
    expect(&with("\"in.ndjson\"", "\"\""), &["p.toml:4:8: error: `source.path` must not be empty"]);
    expect(
        &with("format = \"ndjson\"\n", ""),
        &[
            "p.toml:2:1: error: `source.format` is missing (help: form of the input: one of \"ndjson\", \"json\", \"xml\", \
         \"csv\", \"parquet\", \"transactions\", \"sqlite\", \"postgres\", \"fhir-r4\", \"fhir-stu3\")",
        ],
    );
    expect(
        &with("\"sensitive\"", "\"sensitive\"\nbuckets = [0, nan]"),
        &["p.toml:12:15: error: `attribute.buckets` must be a finite number"],
    );
}

#[test]
fn ranges_and_words() {
    expect(
        &with("k = 5", "k = 1"),
        &[
            "p.toml:14:5: error: `privacy.k` must be at least 2, not 1 (help: with k = 1 a record may be unique, which \
         is no protection)",
        ],
    );
    expect(&with("m = 2", "m = 0"), &["p.toml:15:5: error: `privacy.m` must be at least 1, not 0"]);
    expect(&with("\nn = 1", "\nn = -1"), &["p.toml:16:5: error: `privacy.n` must be at least 0, not -1"]);
    expect(
        &with("\nn = 1", "\nn = 1\nl = 1.0"),
        &[
            "p.toml:17:5: error: `privacy.l` must be more than 1, not 1 (help: l = 1 allows certainty, which is no \
         protection)",
        ],
    );
    expect(
        &with("k = 5", "k = 99999999999"),
        &["p.toml:14:5: error: `privacy.k` must be at most 4294967295, not 99999999999"],
    );
    expect(
        &with("role = \"quasi\"", "role = \"quazi\""),
        &["p.toml:7:8: error: `attribute.role` cannot be \"quazi\" (help: did you mean \"quasi\"?)"],
    );
    expect(
        &with("role = \"quasi\"", "role = \"secret\""),
        &[
            "p.toml:7:8: error: `attribute.role` cannot be \"secret\" (help: one of \"identifying\", \"quasi\", \
         \"sensitive\", \"insensitive\", \"key\", \"drop\", \"pseudonym\")",
        ],
    );
    expect(
        &with("\"kmn\"", "\"k-anonimity\""),
        &[
            "p.toml:13:9: error: `privacy.model` cannot be \"k-anonimity\" (help: did you mean \"k-anonymity\"?)",
        ],
    );
    expect(
        &with("[publish]", "[method]\nalgorithm = \"gsc\"\n[publish]"),
        &["p.toml:18:13: error: `method.algorithm` cannot be \"gsc\" (help: did you mean \"gcs\"?)"],
    );
    expect(
        &with("[publish]", "[method]\nalgorithm = \"aa\"\n[publish]"),
        &[
            "p.toml:18:13: error: `method.algorithm` cannot be \"aa\" for model \"kmn\" (help: one of \"best\", \"acs\", \
         \"gcs\", \"ocs\")",
        ],
    );
}

#[test]
fn what_a_model_needs_and_refuses() {
    expect(
        &with("m = 2\nn = 1\n", ""),
        &[
            "p.toml:13:9: error: model \"kmn\" needs `privacy.m` (help: how many values an attacker may know: a whole \
         number)",
            "p.toml:13:9: error: model \"kmn\" needs `privacy.n` (help: how many relations between known values an \
         attacker may know: a whole number)",
        ],
    );
    // A protection that is not there is an error, an idle number a warning.
    let text = with("model = \"kmn\"", "model = \"k-anonymity\"\nl = 2\nguard = true");
    expect(
        &text,
        &[
            "p.toml:14:1: error: `privacy.l` has no meaning for model \"k-anonymity\" (help: it would promise a \
         protection that is not there; remove it, or use a model that has it: km, kmn, l-diversity, delta)",
            "p.toml:15:1: error: `privacy.guard` has no meaning for model \"k-anonymity\" (help: it would promise a \
         protection that is not there; remove it, or use a model that has it: kmn)",
            "p.toml:17:1: warning: `privacy.m` has no meaning for model \"k-anonymity\" (help: it is ignored; it \
         belongs to km, kmn)",
            "p.toml:18:1: warning: `privacy.n` has no meaning for model \"k-anonymity\" (help: it is ignored; it \
         belongs to kmn)",
        ],
    );
    expect(
        &with("\nn = 1", "\nn = 1\nl = 2").replace("\"sensitive\"", "\"insensitive\""),
        &[
            "p.toml:17:1: error: `privacy.l` needs an attribute with role \"sensitive\" (help: say what is to be \
         protected)",
        ],
    );
    expect(
        &with("\"quasi\"", "\"key\"").replace("hierarchy = \"h.csv\"\n", ""),
        &[
            "p.toml:12:9: error: model \"kmn\" needs an attribute with role \"quasi\" (help: without one an attacker is \
         supposed to know nothing; say what may be known)",
        ],
    );
    let delta = with("model = \"kmn\"\nk = 5\nm = 2\nn = 1", "model = \"delta\"\ngroup_size = 4");
    expect(
        &delta,
        &[
            "p.toml:10:8: error: model \"delta\" needs a hierarchy on every sensitive attribute (help: distances \
         between values are measured in it)",
        ],
    );
    let km = with("model = \"kmn\"", "model = \"km\"\nl = 2\nnegative = [[\"a\", \"b\"]]")
        .replace("\nn = 1\n", "\n")
        .replace("\"sensitive\"", "\"quasi\"");
    expect(
        &km,
        &[
            "p.toml:10:8: error: model \"km\" takes exactly one quasi attribute (help: its values per record are the \
         transaction; use model \"kmn\" for several)",
            "p.toml:14:5: error: `privacy.l` needs `privacy.sensitive` (help: list the sensitive items)",
            "p.toml:15:13: error: items of a transaction have no relations (help: list single items; pairs belong to \
         model \"kmn\")",
        ],
    );
}

#[test]
fn an_unreadable_role_is_not_also_a_missing_one() {
    expect(
        &with("role = \"quasi\"", "role = \"quazi\""),
        &["p.toml:7:8: error: `attribute.role` cannot be \"quazi\" (help: did you mean \"quasi\"?)"],
    );
}

#[test]
fn attributes_among_each_other() {
    expect(
        &with("visits[].disease", "visits[].hospital"),
        &["p.toml:10:8: error: `visits[].hospital` is declared twice (help: an attribute has one role)"],
    );
    let follow = |target: &str| with("\"sensitive\"", &format!("\"sensitive\"\nfollows = \"{target}\""));
    expect(
        &follow("visits[].hospitol"),
        &["p.toml:12:11: error: `visits[].hospitol` is not a declared attribute (help: did you mean \
         `visits[].hospital`?)"],
    );
    expect(
        &follow("hospital"),
        &[
            "p.toml:12:11: error: `hospital` is not a declared attribute (help: did you mean `visits[].hospital`?)",
        ],
    );
    expect(
        &follow("visits[].disease"),
        &[
            "p.toml:12:11: error: an attribute cannot follow itself (help: name the attribute whose value it repeats)",
        ],
    );
    expect(
        &with("\"sensitive\"", "\"sensitive\"\nbuckets = [0, 2, 1]\nshared = true"),
        &[
            "p.toml:12:18: error: `attribute.buckets` must increase (help: give the bounds from low to high)",
            "p.toml:13:1: warning: `shared` has no effect on an attribute with role \"sensitive\" (help: it \
         belongs to role quasi)",
        ],
    );
    expect(
        &with("[publish]", "[method]\nweights = { \"visits[].hospitals\" = 2 }\n[publish]"),
        &["p.toml:18:13: error: `visits[].hospitals` is not a declared attribute (help: did you mean \
         `visits[].hospital`?)"],
    );
}

#[test]
fn hierarchy_builders() {
    let build = |table: &str| with("\"h.csv\"", table);
    expect(
        &build(r#"{ build = "intervall", min = 1 }"#),
        &[
            "p.toml:8:23: error: there is no hierarchy builder \"intervall\" (help: did you mean \"interval\"?)",
        ],
    );
    expect(
        &build(r#"{ build = "range" }"#),
        &[
            "p.toml:8:13: error: `attribute.hierarchy.min` is missing (help: lowest value: a number)",
            "p.toml:8:13: error: `attribute.hierarchy.max` is missing (help: highest value: a number)",
            "p.toml:8:23: error: the hierarchy builder \"range\" is not for model \"kmn\" (help: k-anonymity and l-diversity \
         recode group by group and can use it; use \"interval\" here)",
        ],
    );
    expect(
        &build("{ min = 1 }"),
        &[
            "p.toml:8:13: error: `attribute.hierarchy.build` is missing (help: one of \"interval\", \"range\", \"date\", \
         \"prefix\", \"fanout\", \"letters\", \"from\", \"icd10\", \"atc\", \"order\")",
        ],
    );
    expect(
        &build(r#"{ build = "interval", min = 10, max = 5, widths = [5, 12], widht = 1 }"#),
        &[
            "p.toml:8:51: error: `max` must be more than `min`, which is 10",
            "p.toml:8:67: error: the width 12 is not a multiple of 5, the one before (help: each level must hold the \
         intervals of the level below as a whole)",
            "p.toml:8:72: error: unknown key `attribute.hierarchy.widht` (help: did you mean `widths`?)",
        ],
    );
    expect(&build(r#"{ build = "interval", min = 0, max = 5, widths = [0.1, 0.3] }"#), &[]);
    expect(
        &build(r#"{ build = "interval", min = 0, max = 5, widths = [] }"#),
        &["p.toml:8:62: error: `attribute.hierarchy.widths` must not be empty"],
    );
    expect(
        &build(r#"{ build = "date", min = 2013-02-29, max = "2012-01-01", levels = ["year", "month"] }"#),
        &["p.toml:8:37: error: this is not TOML…"],
    );
    expect(
        &build(r#"{ build = "date", min = "2013-02-29", max = 2012-01-01, levels = ["year", "month"] }"#),
        &[
            "p.toml:8:37: error: `attribute.hierarchy.min` must be a date YYYY-MM-DD",
            "p.toml:8:57: error: `max` is before `min`, which is 2013-02-29",
            "p.toml:8:87: error: `levels` must go from fine to coarse (help: month, quarter, year, decade)",
        ],
    );
    expect(
        &build(r#"{ build = "order", groups = [["a", "b"], { label = "x", values = ["a", 3] }, []] }"#),
        &[
            "p.toml:8:79: error: \"a\" is in two groups (help: a value has one place)",
            "p.toml:8:84: error: `attribute.hierarchy.groups.values` must be a string or a list of strings or lists or \
         tables or a table, not a whole number",
            "p.toml:8:90: error: `attribute.hierarchy.groups` must not be empty",
        ],
    );
    expect(
        &build(r#"{ build = "fanout", fanout = 1 }"#),
        &["p.toml:8:42: error: `attribute.hierarchy.fanout` must be at least 2, not 1"],
    );
}

#[test]
fn columns_of_tables() {
    let tables = |rest: &str| {
        format!(
            "version = 1\n[source]\nformat = \"sqlite\"\npath = \"x.db\"\n\
             [[source.table]]\nname = \"student\"\nkey = \"sid\"\n\
             [[source.table]]\nname = \"takes\"\nkey = [\"sid\", \"no\"]\nparent = \"student\"\nforeign_key = \"sid\"\n{rest}"
        )
    };
    expect(
        &tables(
            "[[attribute]]\npath = \"take.course\"\nrole = \"quasi\"\n[[attribute]]\npath = \"age\"\nrole = \"quasi\"\n",
        ),
        &[
            "p.toml:14:8: error: `take.course` names no column of a table (help: did you mean `takes.course`?)",
            "p.toml:17:8: error: `age` names no column of a table (help: write `table.column`; there are: student, takes)",
        ],
    );
    expect(
        &tables(
            "[[attribute]]\npath = \"takes.sid\"\nrole = \"quasi\"\n[[attribute]]\npath = \"takes.no\"\nrole = \"quasi\"\n",
        ),
        &[
            "p.toml:14:8: error: `takes.sid` joins tables and cannot be published (help: leave it out, or make it \
          `identifying`: a fresh number takes its place)",
        ],
    );
    expect(
        &tables(
            "[[source.lookup]]\nname = \"course\"\nkey = [\"a\", \"b\"]\ncolumn = \"takes.course\"\nvalue = \"x\"\nas = [\"y\", \"z\"]\n\
             [[source.lookup]]\nname = \"room\"\nkey = \"a\"\ncolumn = \"room\"\nvalue = \"x\"\n",
        ),
        &[
            "p.toml:16:1: error: `column` has 1 columns, `key` has 2 (help: list them in the same order)",
            "p.toml:18:1: error: `as` has 2 columns, `value` has 1 (help: list them in the same order)",
            "p.toml:22:10: error: `column` names no column of a linked table (help: write `table.column`; there are: \
          student, takes)",
        ],
    );
    expect(
        &tables("person = \"x\"\n[[source.table]]\nname = \"lab\"\nperson = \"sid\"\n"),
        &[
            "p.toml:13:10: error: `person` in a table that is not the person table (help: it belongs to the table without \
          `parent`; below it, rows are grouped by their foreign key)",
            "p.toml:15:8: error: two tables have no parent: \"student\" is the person table already (help: say with \
          `parent` and `foreign_key` what it hangs below)",
        ],
    );
}

#[test]
fn tables_form_one_tree() {
    let tables = |rest: &str| format!("version = 1\n[source]\nformat = \"sqlite\"\npath = \"x.db\"\n{rest}");
    let student = "[[source.table]]\nname = \"student\"\nkey = \"sid\"\n";
    expect(
        &tables(&format!(
            "{student}[[source.table]]\nname = \"takes\"\nparent = \"studnet\"\nforeign_key = \"sid\"\n"
        )),
        &["p.toml:10:10: error: there is no table \"studnet\" (help: did you mean \"student\"?)"],
    );
    expect(
        &tables(&format!("{student}[[source.table]]\nname = \"student\"\n")),
        &[
            "p.toml:9:8: error: there are two tables \"student\" (help: list a table once; of two tables it could hang below, choose one)",
            "p.toml:9:8: error: two tables have no parent: \"student\" is the person table already (help: say with \
         `parent` and `foreign_key` what it hangs below)",
        ],
    );
    expect(
        &tables(
            "[[source.table]]\nname = \"a\"\nkey = [\"x\", \"y\"]\nparent = \"b\"\nforeign_key = \"q\"\n\
                    [[source.table]]\nname = \"b\"\nparent = \"a\"\nforeign_key = \"x\"\n",
        ),
        &[
            "p.toml:5:1: error: there is no person table: every table has a parent (help: the table with one row per \
         person has no `parent`)",
            "p.toml:8:10: error: \"b\" has no key to refer to (help: give \"b\" its `key`)",
            "p.toml:8:10: error: the tables hang below each other in a circle: a → b → a (help: one of them must hang \
         below another table, or below none)",
            "p.toml:13:15: error: `foreign_key` has 1 columns, the key of \"a\" has 2 (help: list them in the same order)",
        ],
    );
    expect(
        &with("path = \"in.ndjson\"", "path = \"in.ndjson\"\ntable = []"),
        &[
            "p.toml:5:1: error: format \"ndjson\" has no tables (help: tables come as csv, parquet, sqlite or postgres)",
        ],
    );
}

#[test]
fn nothing_is_overwritten() {
    expect(
        &with("out.ndjson", "./x/../in.ndjson"),
        &[
            "p.toml:18:8: error: `publish.path` is the same file as `source.path` (help: it would be overwritten; choose \
         another name)",
        ],
    );
    expect(
        &with("\"out.ndjson\"", "\"out.ndjson\"\nreport = \"h.csv\"\nmapping = \"out.ndjson\""),
        &[
            "p.toml:19:10: error: `publish.report` is the same file as `attribute.hierarchy` (help: it would be \
         overwritten; choose another name)",
            "p.toml:20:11: error: `publish.mapping` is the same file as `publish.path` (help: it would be overwritten; \
         choose another name)",
        ],
    );
}

#[test]
fn a_password_is_refused_and_not_shown() {
    for url in ["postgres://me:geheim@host/db", "postgres://host/db?user=me&password=geheim"] {
        let text = format!("version = 1\n[source]\nformat = \"postgres\"\nurl = \"{url}\"\n");
        let found = found(&text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].message, "a policy must not hold a password");
        assert!(!format!("{found:?}").contains("geheim"));
    }
    expect("version = 1\n[source]\nformat = \"postgres\"\nurl = \"postgres://me@host:5432/db\"\n", &[]);
}

#[test]
fn transactions_have_no_two_sides() {
    for role in ["quasi", "sensitive"] {
        let text = format!(
            "version = 1\n[source]\nformat = \"transactions\"\npath = \"in.txt\"\n[[attribute]]\npath = \"item\"\n\
             role = \"{role}\"\n[privacy]\nmodel = \"anatomy\"\ngroup_size = 2\n[publish]\npath = \"out.txt\"\n"
        );
        expect(
            &text,
            &[
                "p.toml:9:9: error: model \"anatomy\" separates two sides, but transactions hold only items, with nothing \
               sensitive beside them (help: choose model \"km\", or give each person a record with items and sensitive \
               values, in ndjson or parquet)",
            ],
        );
    }
}

#[test]
fn transactions_have_items_only() {
    let text = with("ndjson", "transactions");
    assert_eq!(
        found(&text)[0].to_string(),
        "p.toml:6:8: error: a transactions source has one attribute only (help: its path is `item`)"
    );
}

#[test]
fn everything_at_once_in_reading_order_with_the_line_marked() {
    let text = with("version = 1", "version = 1\nsed = 3")
        .replace("k = 5", "k = \"five\"")
        .replace("\"out.ndjson\"", "\"in.ndjson\"")
        .replace("\"h.csv\"", "{ build = \"icd9\" }");
    let found = found(&text);
    let lines: Vec<u64> = found.iter().filter_map(|d| d.place.line).collect();
    assert_eq!(lines, [2, 9, 15, 19], "{found:?}");
    assert!(found.iter().all(|d| d.severity == Severity::Error));
    let marked: Vec<String> = found
        .iter()
        .map(|d| {
            let snippet = d.place.snippet.as_ref().expect("the line is shown");
            snippet.text.chars().skip(snippet.start).take(snippet.len).collect()
        })
        .collect();
    assert_eq!(marked, ["sed", "\"icd9\"", "\"five\"", "\"in.ndjson\""]);
}

#[test]
fn a_key_that_is_gone_says_what_to_do_instead() {
    expect(
        &format!("{GOOD}[method]\nneighbours = \"approximate\"\n"),
        &[
            "p.toml:20:1: error: there is no `method.neighbours` any more (help: it lost much and saved little time; take it \
           out, and say with `method.time` how long to search)",
        ],
    );
}

#[test]
fn conditions_and_samples() {
    let named = "[[attribute]]\npath = \"name\"\nrole = \"drop\"\n[privacy]";
    let selecting = |line: &str| {
        with("path = \"in.ndjson\"", &format!("path = \"in.ndjson\"\n{line}")).replacen("[privacy]", named, 1)
    };
    expect(&selecting("where = \"name = 'x' and not (name is missing)\"\nsample = 0.1"), &[]);
    expect(&selecting("sample = { share = 1 }"), &[]);
    expect(
        &selecting("where = \"name ~ 'x'\""),
        &[
            "p.toml:5:15: error: `source.where` cannot be read: one of = != < <= > >=, or `is missing`, is expected here \
           (help: as in: country = 'DE' and (year >= 2010 or year is missing))",
        ],
    );
    expect(
        &selecting("where = \"name = 'x' or nam = 'y'\""),
        &["p.toml:5:10: error: `nam` is not a declared attribute (help: did you mean `name`?)"],
    );
    expect(
        &selecting("where = '`visits[].hospital` = 7'"),
        &[
            "p.toml:5:11: error: a person may have several values of `visits[].hospital` (help: a condition speaks of what a \
           person has once, at the top of the record)",
        ],
    );
    expect(&selecting("sample = 2"), &["p.toml:5:10: error: `source.sample` must be at most 1, not 2"]);
    expect(&selecting("sample = 0"), &["p.toml:5:10: error: `source.sample` must be more than 0, not 0"]);
}

#[test]
fn shifted_dates_and_pseudonyms() {
    let shift = |role: &str| with("\"sensitive\"", &format!("\"{role}\"\nshift = {{ days = 30 }}"));
    expect(&shift("sensitive"), &[]);
    expect(
        &shift("quasi"),
        &[
            "p.toml:12:1: error: `shift` cannot protect a quasi attribute: the guarantee is counted on its labels (help: give \
           it a hierarchy of dates, or make it sensitive or insensitive)",
        ],
    );
    expect(
        &shift("drop"),
        &[
            "p.toml:12:1: error: `shift` has no effect on an attribute with role \"drop\" (help: it belongs to role \
           sensitive, insensitive)",
        ],
    );
    expect(
        &shift("sensitive").replacen(
            "[privacy]",
            "[[attribute]]\npath = \"d\"\nrole = \"sensitive\"\nshift = { days = 31 }\n[privacy]",
            1,
        ),
        &[
            "p.toml:16:1: error: another bound than that of the dates before (help: a person's dates are all shifted by the \
           same number of days, so that intervals stay)",
        ],
    );
    expect(
        &with("\"sensitive\"", "\"sensitive\"\nshift = { days = 0 }"),
        &["p.toml:12:18: error: `attribute.shift.days` must be at least 1, not 0"],
    );
    expect(
        &with("\"sensitive\"", "\"pseudonym\""),
        &[
            "p.toml:10:8: error: a person may have several values of `visits[].disease` (help: a pseudonym stands for the \
           person, once, at the top of the record)",
        ],
    );
    let apart = with("model = \"kmn\"\nk = 5\nm = 2\nn = 1", "model = \"anatomy\"\ngroup_size = 2");
    let apart = apart.replacen("\"sensitive\"", "\"sensitive\"\nshift = { days = 30 }", 1);
    expect(
        &apart,
        &[
            "p.toml:12:1: error: not where the sides of a record are published apart (help: nobody could check afterwards \
           whether it is true; publish whole records, or leave it out)",
        ],
    );
    let named = "[[attribute]]\npath = \"id\"\nrole = \"pseudonym\"\n[[attribute]]\npath = \"name\"\nrole = \"insensitive\"\nfollows = \"id\"\n[privacy]";
    expect(
        &with("[privacy]", named),
        &[
            "p.toml:18:1: error: `follows` does not go with a pseudonym (help: what says the same in other words would tell \
           what the pseudonym hides; drop it)",
        ],
    );
}

#[test]
fn hierarchies_from_other_columns() {
    let named = "[[attribute]]\npath = \"visits[].town\"\nrole = \"drop\"\n[privacy]";
    let from = |table: &str| with("\"h.csv\"", table).replacen("[privacy]", named, 1);
    expect(&from("{ from = \"visits[].town\" }"), &[]);
    expect(&from("{ build = \"from\", from = [\"visits[].town\"] }"), &[]);
    expect(&from("{ build = \"letters\" }"), &[]);
    expect(
        &from("{ from = \"visits[].twon\" }"),
        &[
            "p.toml:8:22: error: `visits[].twon` is not a declared attribute (help: did you mean `visits[].town`?)",
        ],
    );
    expect(
        &from("{ from = \"visits[].hospital\" }"),
        &[
            "p.toml:8:22: error: an attribute cannot be above itself (help: name the attribute that says what it belongs to)",
        ],
    );
    expect(
        &from("{ from = 7 }"),
        &[
            "p.toml:8:22: error: `attribute.hierarchy.from` must be a string or a list of strings, not a whole number",
        ],
    );
    expect(
        &with("\"sensitive\"", "\"sensitive\"\nhierarchy = { from = \"visits[].hospital\" }"),
        &[
            "p.toml:12:22: error: a hierarchy from other columns is for quasi attributes (help: give a file or another \
           builder)",
        ],
    );
}

#[test]
fn what_was_agreed_is_checked_too() {
    let terms = |lines: &str| format!("{GOOD}[release]\n{lines}\n");
    expect(&terms("access = \"contract\"\naccepted_risk = 1"), &[]);
    expect(
        &terms("acces = \"open\"\naccepted_risk = 0\nreviewed_on = \"soon\""),
        &[
            "p.toml:20:1: error: unknown key `release.acces` (help: did you mean `access`?)",
            "p.toml:21:17: error: `release.accepted_risk` must be more than 0, not 0 (help: a risk of 0 cannot be reached by publishing anything)",
            "p.toml:22:15: error: `release.reviewed_on` must be a date YYYY-MM-DD",
        ],
    );
    expect(
        &terms("access = \"closed\"\naccepted_risk = 1.5\ncertify = [\"name\"]\napprovers = []"),
        &[
            "p.toml:20:10: error: `release.access` cannot be \"closed\" (help: one of \"open\", \"contract\", \"secure-environment\")",
            "p.toml:21:17: error: `release.accepted_risk` must be at most 1, not 1.5",
            "p.toml:22:12: error: `release.certify` cannot be \"name\" (help: one of \"recipient\", \"purpose\", \"access\", \"controls\", \"accepted_risk\", \"decided_by\", \"reviewed_on\", \"approvers\", \"why\")",
            "p.toml:23:13: error: `release.approvers` must not be empty",
        ],
    );
}

#[test]
fn security_labels_of_fhir_are_not_published() {
    let policy = |role: &str, format: &str| {
        format!(
            "version = 1\n[source]\nformat = \"{format}\"\npath = \"in\"\n[[attribute]]\n\
             path = \"Encounter[].meta.security[].code\"\nrole = \"{role}\"\n"
        )
    };
    for role in ["quasi", "sensitive", "insensitive"] {
        let said = "p.toml:6:8: error: `Encounter[].meta.security[].code` cannot be published (help: a published resource has one \
                    security label, which says that it is anonymized; make it \"drop\")";
        expect(&policy(role, "fhir-r4"), &[said]);
    }
    expect(&policy("drop", "fhir-stu3"), &[]);
    expect(&policy("insensitive", "ndjson"), &[]);
}

/// The good policy with attackers in place of `m` and `n`.
fn with_attackers(attackers: &str) -> String {
    let person = "[[attribute]]\npath = \"home.town\"\nrole = \"quasi\"\nhierarchy = \"t.csv\"\n";
    with("m = 2\nn = 1\n", attackers).replace("[privacy]", &format!("{person}[privacy]"))
}

#[test]
fn attackers_who_know_what_there_is() {
    let two = "[[privacy.attacker]]\nname = \"neighbour\"\nknows = [\"home.town\"]\nm = 1\n\
               [[privacy.attacker]]\nname = \"colleague\"\nm = 2\nn = 1\namong = [\"visits[]\"]\nk = 10\n";
    let text = with_attackers(two);
    expect(&text, &[]);
    let (policy, _) = Policy::parse("p.toml", &text, &[]).expect("a good policy");
    let knowers = policy.knowers();
    let told: Vec<_> = knowers.iter().map(|a| (a.name(), a.knows.clone(), a.among.clone())).collect();
    // Attributes: hospital, disease, town.
    assert_eq!(told, [(Some("neighbour"), vec![2], vec![0]), (Some("colleague"), vec![], vec![0])]);
    let numbers: Vec<_> = knowers.iter().map(|a| (a.k, a.m, a.n)).collect();
    assert_eq!(numbers, [(5, 1, 0), (10, 2, 1)]);
    let plain = format!("m = 2\nn = 1\n{two}");
    let (policy, _) = Policy::parse("p.toml", &with_attackers(&plain), &[]).expect("a good policy");
    assert_eq!(
        policy.knowers()[0].name(),
        None,
        "m and n stand for somebody who knows nothing in particular"
    );
    assert_eq!(policy.knowers().len(), 3);
}

#[test]
fn attackers_who_know_what_nobody_can() {
    let attacker = |rest: &str| with_attackers(&format!("[[privacy.attacker]]\nname = \"a\"\n{rest}\n"));
    let cases = [
        (
            attacker("knows = [\"visits[].disease\"]"),
            "p.toml:21:10: error: `visits[].disease` is not a quasi attribute (help: what an attacker may know has role \
             \"quasi\": change its role, or take it out here)",
        ),
        (
            attacker("knows = [\"home.twon\"]"),
            "p.toml:21:10: error: `home.twon` is not a declared attribute (help: did you mean `home.town`?)",
        ),
        (
            attacker("knows = [\"home.town\", \"home.town\"]"),
            "p.toml:21:23: error: `home.town` is named twice (help: name each attribute once)",
        ),
        (
            attacker("m = 1\namong = [\"visit[]\"]"),
            "p.toml:22:10: error: `visit[]`: is neither an attribute nor an array or table",
        ),
        (
            attacker("m = 0"),
            "p.toml:21:5: error: this attacker knows nothing (help: say in `knows` what they know, or give `m`, the \
             number of values that they may know)",
        ),
        (
            attacker("m = 1\n[[privacy.attacker]]\nname = \"a\"\nm = 2"),
            "p.toml:23:8: error: two attackers are called `a` (help: give each a name of its own: messages tell them \
             apart by it)",
        ),
        (attacker("m = 3\nn = 2"), "p.toml:22:5: error: `privacy.attacker.n` must be at most 1, not 2"),
    ];
    for (text, expected) in &cases {
        expect(text, &[expected]);
    }
    let many: Vec<String> = (0..65).map(|i| format!("\"a{i}\"")).collect();
    let text = attacker(&format!("knows = [{}]", many.join(", ")));
    assert!(found(&text).iter().any(|d| d.to_string().contains("takes at most 64 elements")), "{text}");
}

#[test]
fn attackers_are_not_mixed_with_what_is_not_counted_for_them() {
    let attacker = "[[privacy.attacker]]\nname = \"a\"\nm = 2\n";
    for (key, line) in [
        ("guard", "guard = true"),
        ("negative", "negative = [\"x\"]"),
        ("l", "l = 2"),
        ("root", "root = \"chain\""),
        ("missing", "missing = \"nothing\""),
    ] {
        let text = with_attackers(&format!("{line}\n{attacker}"));
        let found: Vec<String> = found(&text).iter().map(ToString::to_string).collect();
        assert!(
            found.len() == 1 && found[0].contains("is not counted together with attackers"),
            "{key}: {found:?}"
        );
    }
    let united = with_attackers(attacker).replace("[publish]", "[publish]\nrows = \"united\"");
    assert!(found(&united)[0].to_string().contains("attackers are not counted where rows are united"));
    let clusters = with(
        "model = \"kmn\"\nk = 5\nm = 2\nn = 1\n",
        &format!("model = \"k-anonymity\"\nk = 5\n{attacker}"),
    );
    assert!(found(&clusters)[0].to_string().contains("has no meaning for model"), "{:?}", found(&clusters));
}

#[test]
fn a_guess_about_places_that_are_emptied_and_count_as_nothing() {
    let text = with("m = 2\n", "m = 2\nguess = 0.5\nmissing = \"nothing\"\n")
        .replace("[publish]", "[method]\nsuppress = true\n[publish]");
    let said = "what an emptied place tells is not counted where missing values count as nothing";
    assert!(found(&text).iter().any(|d| d.to_string().contains(said)), "{:?}", found(&text));
    let counted = text.replace("nothing", "counted");
    assert_eq!(found(&counted), []);
    let local =
        text.replace("[method]\n", "[method]\nrecoding = \"local\"\n").replace("suppress = true\n", "");
    assert_eq!(found(&local), []);
}
