//! Publications with two sides that were meddled with: refused in batches as at once, with the same words.

use std::path::Path;

use crate::sides::{Sided, files, ndjson, sqlite, table};

const CHUNKS: [usize; 3] = [1, 6, 100_000];

/// Judges a publication at once and in batches; the same comes out, and what it is.
fn alike(data: &Sided, at: &Path, what: &str) -> String {
    let judged = |chunk| data.judged(&[], at, chunk).map_err(|failure| (failure.fault, failure.to_string()));
    let whole = judged(None);
    for chunk in CHUNKS {
        let batches = judged(Some(chunk));
        match (&whole, &batches) {
            // A batch of lines counts them from where it begins, and of rows that are out of order it names the first that it
            // meets.
            (Err((fault, _)), Err((other, told)))
                if told.contains("lines counted from") || told.contains("where what it says") =>
            {
                assert_eq!(fault, other);
            }
            // Or the order is looked at first, or the names.
            (Err((fault, told)), Err((other, _))) if told.contains("where what it says") => {
                assert_eq!(fault, other)
            }
            _ => assert_eq!(batches, whole, "{what} in batches of {chunk}"),
        }
    }
    whole.unwrap_or_else(|(_, told)| told)
}

fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

/// The same near the end of the text, which is in another batch.
fn replaced_late(text: &str, from: &str, to: &str) -> String {
    let at = text.rfind(from).unwrap_or_else(|| panic!("{from}"));
    format!("{}{to}{}", &text[..at], &text[at + from.len()..])
}

#[test]
fn damaged_json_is_refused_alike() {
    let data = ndjson(90, 2);
    let place = data.publish(&[], "out", None);
    let good = std::fs::read_to_string(&place).expect("a file");
    assert!(alike(&data, &place, "as it was").starts_with("true"));
    let last_group = |text: &str| text.matches("\"records\"").count();
    let last = format!("{{\"group\":{},\"records\"", last_group(&good));
    let sensitive = good.find("\"sensitive\"").expect("a side");
    let swapped = format!(
        "{{{},{}}}",
        good[sensitive..].trim_end().trim_end_matches('}'),
        good[1..sensitive].trim_end_matches(',')
    );
    let damages: Vec<(&str, String, &str)> = vec![
        ("sides in another order", swapped, "not the form in which Bosket publishes"),
        ("cut off", good[..good.len() / 2].to_owned(), "ends too early"),
        ("cut off in the first entry", good[..40].to_owned(), "ends too early"),
        ("empty", String::new(), "ends too early"),
        ("blank", " \n ".to_owned(), "ends too early"),
        ("no object", format!("[{good}]"), "no part of a publication"),
        ("a text", "\"quasi\"".to_owned(), "no part of a publication"),
        ("more text", format!("{good} {{}}"), "more text"),
        ("a key beside", replaced(&good, "{\"quasi\"", "{\"raw\":[\"Eva\"],\"quasi\""), "no part of"),
        ("a key behind", replaced_late(&good, "]}", "],\"raw\":{\"Eva\":[{}]}}"), "no part of"),
        ("a side twice", replaced_late(&good, "]}", "],\"quasi\":[]}"), "no part of"),
        ("no side", replaced(&good, "\"sensitive\"", "\"secret\""), "`sensitive` is missing"),
        ("a side that is none", format!("{}null}}", &good[..sensitive + 12]), "no part of"),
        (
            "a key in an entry",
            replaced_late(&good, "{\"group\":1,\"records\"", "{\"Eva\":1,\"group\":1,\"records\""),
            "no part of",
        ),
        ("a key in the last", replaced(&good, &last, &replaced(&last, "{", "{\"Eva\":null,")), "no part of"),
        ("a key twice", replaced(&good, &last, &replaced(&last, "{", "{\"group\":1,")), "no part of"),
        ("an entry that is none", replaced(&good, &last, &format!("7,{last}")), "no part of"),
        (
            "a person that is none",
            replaced_late(&good, "\"records\":[", "\"records\":[\"Eva\","),
            "no part of",
        ),
        (
            "people that are none",
            replaced_late(&good, "\"records\":[", "\"records\":{},\"x\":["),
            "no part of",
        ),
        ("a value that is none", replaced_late(&good, "\"value\":", "\"value\":{},\"x\":"), "no part of"),
        ("no group", replaced(&good, &last, "{\"group\":null,\"records\""), "has no group"),
        ("no value", replaced_late(&good, "\"value\":", "\"value\":null,\"path\":"), "no part of"),
        (
            "no path",
            replaced_late(&good, "\"path\":\"", "\"value\":\"x\"},{\"group\":1,\"path\":\""),
            "lacks group",
        ),
        ("another name", replaced(&good, &last, "{\"group\":\"Eva\",\"records\""), "called by other"),
        ("another number", replaced(&good, &last, "{\"group\":9999,\"records\""), "called by other"),
        (
            "a group too many",
            replaced_late(&good, "]}", ",{\"group\":9999,\"path\":\"ill\",\"value\":\"i1\"}]}"),
            "called by other",
        ),
        ("a trailing comma", replaced_late(&good, "]}", ",]}"), "nothing after it"),
        ("a comma too few", replaced_late(&good, "},", "}"), "should stand here"),
        ("a broken escape", replaced_late(&good, "\"town\":\"", "\"town\":\"\\x"), "unknown escape"),
        (
            "half a character",
            replaced_late(&good, "\"town\":\"", "\"town\":\"\\ud834"),
            "half of a surrogate",
        ),
        ("a control character", replaced_late(&good, "\"town\":\"", "\"town\":\"\u{1}"), "control character"),
        (
            "a number too large",
            replaced_late(&good, "\"value\":", "\"value\":123456789012345678901234,\"x\":"),
            "64 bits",
        ),
        ("a key that nobody knows", replaced_late(&good, "\"town\":", "\"Eva\":1,\"town\":"), "Eva"),
        ("one without value", replaced_late(&good, "\"town\":", "\"Eva\":null,\"town\":"), "Eva"),
        ("an array without value", replaced_late(&good, "\"town\":", "\"Eva\":[{}],\"town\":"), "Eva"),
        ("a key of a person twice", replaced_late(&good, "\"town\":", "\"town\":1,\"town\":"), "twice"),
        (
            "another kind",
            replaced_late(&good, "\"town\":", "\"town\":[1],\"x\":"),
            "a single value in record",
        ),
        (
            "too deep",
            replaced_late(
                &good,
                "\"town\":",
                &format!("\"x\":{}1{},\"town\":", "[".repeat(130), "]".repeat(130)),
            ),
            "deeper",
        ),
        (
            "a sensitive value among people",
            replaced_late(&good, "\"town\":", "\"ill\":\"i1\",\"town\":"),
            "it is sensitive",
        ),
        (
            "a quasi value on the other side",
            replaced_late(&good, "\"path\":\"ill\"", "\"path\":\"town\""),
            "it is not sensitive",
        ),
        (
            "a name on the other side",
            replaced_late(&good, "\"path\":\"ill\"", "\"path\":\"Eva\""),
            "does not name it",
        ),
        ("nobody", "{\"quasi\":[],\"sensitive\":[]}".to_owned(), "no record at"),
    ];
    for (what, text, word) in damages {
        std::fs::write(&place, text).expect("written");
        let told = alike(&data, &place, what);
        assert!(told.contains(word) && (word == "true" || !told.starts_with("true")), "{what}: {told}");
    }
    // A value that somebody else of the group has is a verdict, with a witness.
    let first = |entry: &str| {
        good[sensitive..].lines().find(|line| line.contains(entry)).expect("a value").to_owned()
    };
    let value = |line: &str| {
        line.split("\"value\":").nth(1).expect("a value").trim_end_matches(['}', ',']).to_owned()
    };
    let own = value(&first("\"path\":\"ill\""));
    let all = good[sensitive..].lines().map(|line| match line.contains("\"path\":\"ill\"") {
        true => line.replace(&value(line), &own),
        false => line.to_owned(),
    });
    std::fs::write(&place, format!("{}{}", &good[..sensitive], all.collect::<Vec<_>>().join("\n")))
        .expect("written");
    let told = alike(&data, &place, "one value for all");
    assert!(told.starts_with("false") && told.contains("Witness"), "{told}");
    // What is no text is told with its place.
    let mut bytes = good.clone().into_bytes();
    let at = bytes.len() - 60;
    bytes[at] = 0xFF;
    std::fs::write(&place, bytes).expect("written");
    assert!(alike(&data, &place, "no text").contains("not valid UTF-8"));
}

/// What is changed, how, and a word of what is told about it.
type Damage<'a> = (&'a str, &'a dyn Fn(&str) -> String, &'a str);

/// Changes a file of a publication, and puts it back.
fn damaged(data: &Sided, at: &Path, name: &str, damages: &[Damage<'_>]) {
    let good = std::fs::read_to_string(at.join(name)).expect("a file");
    for (what, change, word) in damages {
        let bad = change(&good);
        assert_ne!(bad, good, "{what}");
        std::fs::write(at.join(name), bad).expect("written");
        let told = alike(data, at, what);
        assert!(told.contains(word) && !told.starts_with("true"), "{what}: {told}");
    }
    std::fs::write(at.join(name), good).expect("written");
    assert!(alike(data, at, "as it was").starts_with("true"));
}

/// The text with its last two rows in the other order.
fn last_two(text: &str) -> String {
    let mut rows: Vec<&str> = text.split_inclusive('\n').collect();
    let end = rows.len();
    rows.swap(end - 1, end - 2);
    rows.concat()
}

#[test]
fn a_damaged_table_is_refused_alike() {
    let data = table(80, 4);
    let place = data.publish(&[], "out", None);
    let wider = |text: &str| text.lines().map(|line| format!("{line};1\n")).collect::<String>();
    damaged(
        &data,
        &place,
        "data.csv",
        &[
            ("no group", &|t| replaced_late(t, "\n9;", "\n;"), "has no group"),
            ("another name", &|t| replaced_late(t, "\n9;", "\nEva;"), "called by other"),
            (
                "a column too many",
                &|t| wider(&replaced(t, "age\n", "age\n")).replacen(";1\n", ";Eva\n", 1),
                "Eva",
            ),
            ("a cell too many", &|t| format!("{t}9;x;y;z;a\n"), "cells"),
            ("no column of groups", &|t| replaced(t, "group_id", "number"), "no column `group_id`"),
            ("a sensitive column", &|t| replaced(t, ";age", ";ill"), "it is sensitive"),
            ("open quotes", &|t| format!("{t}9;\"x;1\n"), ""),
            ("nobody", &|t| t.lines().next().expect("a header").to_owned() + "\n", "no record"),
        ],
    );
    damaged(
        &data,
        &place,
        "sensitive_ill.csv",
        &[
            ("another order", &last_two, "not in the order of groups and values"),
            ("another order at the start", &|t| replaced_late(t, "\n9;", "\n1;"), "not in the order"),
            ("no group", &|t| replaced(t, "\n1;", "\n;"), "has no group"),
            ("another name", &|t| format!("{t}9999;i1\n"), "called by other"),
            ("other columns", &|t| replaced(t, ";value", ";secret"), "other columns"),
            ("more columns", &wider, "other columns"),
            (
                "a value for all",
                &|t| {
                    let row = |line: &str| line.split_once(';').map(|(group, _)| format!("{group};i1\n"));
                    let rows: String = t.lines().skip(1).filter_map(row).collect();
                    format!("group_id;value\n{rows}")
                },
                "Witness",
            ),
            ("nothing", &|_| "group_id;value\n".to_owned(), ""),
        ],
    );
    std::fs::write(place.join("raw.csv"), "Eva").expect("written");
    assert!(alike(&data, &place, "a file beside").contains("no part of the publication"));
    std::fs::remove_file(place.join("raw.csv")).expect("removed");
    std::fs::write(place.join("sensitive_age.csv"), "group_id;value\n1;2\n").expect("written");
    assert!(alike(&data, &place, "a table beside").contains("does not name it"));
}

#[test]
fn damaged_linked_files_are_refused_alike() {
    let data = files(80, 4);
    let place = data.publish(&[], "out", None);
    let wider = |text: &str| text.lines().map(|line| format!("{line},1\n")).collect::<String>();
    damaged(
        &data,
        &place,
        "patient.csv",
        &[
            ("people in another order", &last_two, ""),
            ("a column too many", &|t| wider(t).replacen(",1\n", ",Eva\n", 1), "Eva"),
            ("no column of groups", &|t| replaced(t, "group_id", "number"), ""),
        ],
    );
    damaged(
        &data,
        &place,
        "visit.csv",
        &[("visits in another order", &|t| replaced(t, "\n1,a\n1,b\n", "\n1,b\n1,a\n"), "")],
    );
    damaged(
        &data,
        &place,
        "sensitive_found.csv",
        &[
            ("another order", &last_two, "not in the order of groups and values"),
            ("no group", &|t| replaced(t, "\n1,", "\n,"), "has no group"),
            ("another name", &|t| format!("{t}9999,f1\n"), "called by other"),
            ("more columns", &wider, "other columns"),
        ],
    );
}

#[test]
fn a_damaged_database_is_refused_alike() {
    let data = sqlite(80, 4);
    let place = data.publish(&[], "out", None);
    let good = std::fs::read(&place).expect("a file");
    // A file that anybody has written to is refused as such, before or after its rows are.
    for sql in [
        "UPDATE patient SET group_id = 9999 WHERE rowid = 3",
        "UPDATE patient SET group_id = NULL WHERE rowid = (SELECT max(rowid) FROM patient)",
        "UPDATE patient SET sex = 'x' WHERE rowid = 1",
        "DELETE FROM visit WHERE rowid = (SELECT max(rowid) FROM visit)",
        "UPDATE sensitive_ill SET value = 'i1'",
        "UPDATE sensitive_ill SET group_id = NULL WHERE rowid = 7",
        "UPDATE sensitive_ill SET group_id = 1 WHERE rowid = (SELECT max(rowid) FROM sensitive_ill)",
        "ALTER TABLE sensitive_ill ADD COLUMN eva TEXT",
        "CREATE TABLE raw (eva TEXT)",
        "CREATE TABLE sensitive_sex (group_id INTEGER, value TEXT)",
    ] {
        std::fs::write(&place, &good).expect("written");
        let database = rusqlite::Connection::open(&place).expect("a database");
        database.execute_batch(sql).expect("changed");
        database.close().expect("closed");
        let told = alike(&data, &place, sql);
        assert!(!told.starts_with("true"), "{sql}: {told}");
    }
    std::fs::write(&place, &good).expect("written");
    assert!(alike(&data, &place, "as it was").starts_with("true"));
}
