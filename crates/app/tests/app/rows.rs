//! Rows that look alike, from the file to the verdict: what a reader joins was joined before.

use crate::util::{Case, untruths};

/// Five people, two orders each on the same day, one payment each.
fn orders() -> Case {
    let mut tables =
        (String::from("pid,sex\n"), String::from("oid,pid,day,note\n"), String::from("payid,oid,amount\n"));
    for p in 1..=5 {
        tables.0 += &format!("{p},f\n");
        for o in 1..=2 {
            tables.1 += &format!("{p}{o},{p},Mon,n{p}{o}\n");
            tables.2 += &format!("{p}0{o},{p}{o},{p}{o}.50\n");
        }
    }
    let table = |name: &str, key: &str, parent: &str| {
        format!("[[source.table]]\nname = \"{name}\"\npath = \"{name}.csv\"\nkey = \"{key}\"\n{parent}")
    };
    let policy = [
        "version = 1\n[source]\nformat = \"csv\"\n".to_owned(),
        table("p", "pid", ""),
        table("o", "oid", "parent = \"p\"\nforeign_key = \"pid\"\n"),
        table("pay", "payid", "parent = \"o\"\nforeign_key = \"oid\"\n"),
        "[[attribute]]\npath = \"p.sex\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 5 }\n"
            .to_owned(),
        "[[attribute]]\npath = \"o.day\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 5 }\n"
            .to_owned(),
        "[[attribute]]\npath = \"o.note\"\nrole = \"insensitive\"\nacknowledge = true\n".to_owned(),
        "[[attribute]]\npath = \"pay.amount\"\nrole = \"sensitive\"\n".to_owned(),
        "[privacy]\nmodel = \"kmn\"\nk = 5\nm = 2\nn = 1\n[publish]\npath = \"pub\"\n".to_owned(),
    ];
    Case::new(&[
        ("p.csv", &tables.0),
        ("o.csv", &tables.1),
        ("pay.csv", &tables.2),
        ("p.toml", &policy.concat()),
    ])
}

/// Which note's order each amount is published below.
fn joined(case: &Case) -> Vec<(String, String)> {
    let rows = |name: &str| -> Vec<Vec<String>> {
        let text = case.text(name);
        text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let orders = rows("pub/o.csv");
    let note = |oid: &str| orders.iter().find(|row| row[0] == oid).expect("an order")[3].clone();
    rows("pub/pay.csv").into_iter().map(|row| (note(&row[1]), row[2].clone())).collect()
}

#[test]
fn payments_stay_with_the_order_that_they_paid() {
    let case = orders();
    case.publish(&[]).unwrap_or_else(|failure| panic!("{failure}"));
    let joined = joined(&case);
    assert_eq!(joined.len(), 10);
    assert!(joined.iter().all(|(note, amount)| format!("{}.50", &note[1..]) == *amount), "{joined:?}");
    let verified = case.look("pub", &[], ".");
    assert!(verified.verification.as_ref().is_some_and(|found| found.holds()));
    assert_eq!(untruths(&verified), [""; 0]);
}

#[test]
fn a_link_that_never_was_is_named_with_both_places() {
    let case = orders();
    case.publish(&["publish.rows=united"]).unwrap_or_else(|failure| panic!("{failure}"));
    // United, all payments of a day hang below its first order.
    assert!(joined(&case).iter().any(|(note, amount)| format!("{}.50", &note[1..]) != *amount));
    assert_eq!(untruths(&case.look("pub", &["publish.rows=united"], ".")), [""; 0]);
    let untruths = untruths(&case.look("pub", &[], "."));
    assert!(untruths.iter().any(|what| what.contains("`pay`") && what.contains("`o`")), "{untruths:?}");
}

const VISITS: &str = "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n\
    [[attribute]]\npath = \"visits[].cost\"\nrole = \"sensitive\"\n\
    [[attribute]]\npath = \"visits[].diags[].d\"\nrole = \"quasi\"\nhierarchy = \"h.csv\"\n\
    [privacy]\nmodel = \"kmn\"\nk = 5\nm = 2\nn = 1\n[publish]\npath = \"out.ndjson\"\n";

fn visits(records: &[String]) -> Case {
    let hierarchy = "a;x;*\nb;x;*\nc;y;*\nd;y;*\n";
    Case::new(&[("p.toml", VISITS), ("h.csv", hierarchy), ("in.ndjson", &records.concat())])
}

#[test]
fn visits_without_a_value_of_their_own_were_split() {
    let record = |p: usize| {
        format!(
            "{{\"visits\":[{{\"cost\":{p}00,\"diags\":[{{\"d\":\"a\"}},{{\"d\":\"b\"}},{{\"d\":\"c\"}}]}},\
             {{\"cost\":{p}50,\"diags\":[{{\"d\":\"d\"}}]}},{{\"cost\":{p}90,\"diags\":[]}}]}}\n"
        )
    };
    let case = visits(&(1..=5).map(record).collect::<Vec<_>>());
    case.publish(&[]).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(
        case.text("out.ndjson").replace(",\"diags\":[]", ""),
        case.text("in.ndjson").replace(",\"diags\":[]", "")
    );
    assert_eq!(untruths(&case.look("out.ndjson", &[], "in.ndjson")), [""; 0]);
    // Two visits that have changed their diagnoses, everything else as it was.
    let swapped = case.text("out.ndjson").replacen(
        "\"cost\":100,\"diags\":[{\"d\":\"a\"},{\"d\":\"b\"},{\"d\":\"c\"}]},{\"cost\":150,\"diags\":[{\"d\":\"d\"}]",
        "\"cost\":100,\"diags\":[{\"d\":\"d\"}]},{\"cost\":150,\"diags\":[{\"d\":\"a\"},{\"d\":\"b\"},{\"d\":\"c\"}]",
        1,
    );
    assert_ne!(swapped, case.text("out.ndjson"));
    case.write("forged.ndjson", &swapped);
    let untruths = untruths(&case.look("forged.ndjson", &[], "in.ndjson"));
    assert!(untruths.iter().any(|what| what.contains("`visits[].diags[]`")), "{untruths:?}");
}

#[test]
fn rows_that_say_nothing_more_are_left_out_unless_all_are_wanted() {
    let record = "{\"visits\":[{\"diags\":[{\"d\":\"a\"},{\"d\":\"a\"}]},{\"diags\":[{\"d\":\"a\"}]},{\"diags\":[{\"d\":\"b\"}]}]}\n";
    let case = visits(&vec![record.to_owned(); 5]);
    case.publish(&[]).unwrap_or_else(|failure| panic!("{failure}"));
    let distinct = "{\"visits\":[{\"diags\":[{\"d\":\"a\"}]},{\"diags\":[{\"d\":\"b\"}]}]}\n".repeat(5);
    assert_eq!(case.text("out.ndjson"), distinct);
    assert_eq!(untruths(&case.look("out.ndjson", &[], "in.ndjson")), [""; 0]);
    case.publish(&["publish.rows=all", "publish.path=all.ndjson"])
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(case.text("all.ndjson").matches("\"a\"").count(), 15);
    assert_eq!(untruths(&case.look("all.ndjson", &["publish.rows=all"], "in.ndjson")), [""; 0]);
    // A row that says nothing never was either.
    case.write("empty.ndjson", &distinct.replace("\"visits\":[", "\"visits\":[{},{},"));
    assert!(!untruths(&case.look("empty.ndjson", &[], "in.ndjson")).is_empty());
    // More rows than there were.
    case.write("more.ndjson", &distinct.replace("[{\"d\":\"b\"}]", "[{\"d\":\"b\"},{\"d\":\"b\"}]"));
    assert!(!untruths(&case.look("more.ndjson", &["publish.rows=all"], "in.ndjson")).is_empty());
}

#[test]
fn pairs_of_relations_need_rows_that_are_united() {
    let record = "{\"visits\":[{\"diags\":[{\"d\":\"a\"}]}]}\n";
    let case = visits(&vec![record.to_owned(); 5]);
    let pairs = ["privacy.n=2", "privacy.relations=pair"];
    let failure = case.publish(&pairs).expect_err("refused").to_string();
    assert!(failure.contains("rows = \"united\""), "{failure}");
    case.publish(&[pairs[0], pairs[1], "publish.rows=united"]).unwrap_or_else(|failure| panic!("{failure}"));
}
