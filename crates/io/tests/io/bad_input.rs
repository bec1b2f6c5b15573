//! Files that are wrong: all problems at once, each with its place, and never a part of the data.

use std::io::Write;

use crate::common::*;
use bosket_io::{Input, by_name, sniff};
use bosket_model::observe::Quiet;
use bosket_model::{Builder, ClassId, Failure, Fault, Kind, Place};

/// Place and message of every diagnostic.
fn texts(failure: &Failure) -> Vec<String> {
    failure.diagnostics.iter().map(|d| format!("{}: {}", d.place, d.message)).collect()
}

fn assert_fails(format: &str, bytes: impl Into<Vec<u8>>, wanted: &[&str]) {
    let failure = fails(format, bytes);
    assert_eq!(failure.fault, Fault::Data);
    assert_eq!(texts(&failure), wanted);
    assert!(failure.diagnostics.iter().all(|d| d.help.is_some()));
}

#[test]
fn every_unreadable_line_is_named() {
    let lines: [&[u8]; 12] = [
        b"{\"a\": 1}",
        b"",
        b"{\"a\": 2",
        "{\"é\": 01}".as_bytes(),
        b"[1]",
        b"{\"a\": \"\xff\"}",
        b"{\"a\": NaN}",
        b"{\"a\": 1, \"a\": null}",
        b"{\"o\": {\"x\": 1, \"y\": 2, \"x\": 3}}",
        b"{\"a\": 99999999999999999999}",
        b"{} {}",
        b"{\"a\": 4}",
    ];
    assert_fails(
        "ndjson",
        lines.join(&b'\n'),
        &[
            "data:3:8, record 2: the JSON text ends too early",
            "data:4:7, record 3, path é: a number starts with a needless zero",
            "data:5:1, record 4: the record is not a JSON object",
            "data:6:8, record 5, path a: not valid UTF-8",
            "data:7:7, record 6, path a: NaN and Infinity are not JSON",
            "data:8:15, record 7, path a: an object has this key twice",
            "data:9:29, record 8, path o.x: an object has this key twice",
            "data:10:7, record 9, path a: a number does not fit into 64 bits",
            "data:11:4, record 10: more text after the end of the value",
        ],
    );
}

#[test]
fn a_path_must_stay_what_it_is() {
    let text = r#"{"a": {"b": 1}, "v": [{"x": 1}], "s": [1]}
{"a": {}, "v": null, "s": []}
{"a": [1]}
{"a": 5}
{"v": {"x": 1}}
{"v": [{"x": {"y": 1}}]}
{"v": [3]}
{"s": [1, [2]]}
{"a": 6}
{"n": [[1], 2]}
"#;
    assert_fails(
        "ndjson",
        text,
        &[
            "data:3:7, record 3, path a: an array here, but an object in record 1",
            "data:4:7, record 4, path a: a single value here, but an object in record 1; the same in one more record",
            "data:5:7, record 5, path v: an object here, but an array in record 1",
            "data:6:14, record 6, path v[].x: an object here, but a single value in record 1",
            "data:7:8, record 7, path v[]: a single value here, but an object in record 1",
            "data:8:11, record 8, path s[]: an array here, but a single value in record 1",
            "data:10:13, record 10, path n[]: a single value here, but an array before in the same record",
        ],
    );
}

#[test]
fn only_twenty_problems_are_shown() {
    let failure = fails("ndjson", "{\n".repeat(50));
    assert_eq!(failure.diagnostics.len(), 21);
    assert_eq!(failure.diagnostics[20].message, "30 more problems are not shown");
}

#[test]
fn five_thousand_levels_are_refused() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let path = format!("a{}[…", "[]".repeat(29));
    let wanted = format!("data:1:133, record 1, path {path}: nested deeper than 128 levels");
    assert_fails("ndjson", deep.as_str(), &[&wanted]);
    let objects = "{\"a\":".repeat(1_000_000);
    assert_eq!(fails("ndjson", objects).diagnostics[0].message, "nested deeper than 128 levels");
    let document = fails("json", "[".repeat(1_000_000));
    assert_eq!(document.diagnostics[1].message, "nested deeper than 128 levels");
}

#[test]
fn files_without_records() {
    for (format, text) in [
        ("ndjson", ""),
        ("ndjson", "\n  \n"),
        ("json", " \n"),
        ("csv", ""),
        ("csv", "a,b\n"),
        ("transactions", ""),
        ("ndjson", "\u{feff}"),
    ] {
        assert_fails(format, text, &["data: the file holds no record"]);
    }
    assert_fails("json", "[]", &["data: the document is an array without records"]);
    let sniffed = bosket_io::read(input("").expect("open"), None, &layout(None, None));
    assert_eq!(texts(&sniffed.expect_err("empty")), ["data: the file holds no record"]);
}

#[test]
fn a_document_that_is_one_object_offers_its_arrays() {
    let text = r#"{"meta": [1], "groups": [{"members": [{"a": 1}]}], "x.y": {"z": [{}]}}"#;
    let failure = fails("json", text);
    assert_eq!(texts(&failure), ["data:1:1: an array should stand here, on the way to the records"]);
    let help = failure.diagnostics[0].help.as_deref().expect("help");
    assert_eq!(help, r#"say where the records are, record = one of groups[], groups[].members[], "x.y".z[]"#);
    let read = |record| read_as("json", text, &layout(Some(record), None));
    assert_eq!(read("groups[].members[]").expect("there").data.len(), 1);
    for (record, message) in [
        ("group[]", "the document has no record at `group[]`"),
        ("meta[]", "the record is not a JSON object"),
        ("x[]", "the document has no record at `x[]`"),
        ("groups.members[]", "an object should stand here, on the way to the records"),
    ] {
        assert_eq!(read(record).expect_err("not there").diagnostics[0].message, message, "{record}");
    }
    for record in ["groups", "groups[", "", "groups[].members"] {
        assert_eq!(read(record).expect_err("no path").fault, Fault::Policy, "{record}");
    }
}

#[test]
fn a_document_goes_on_after_a_bad_record() {
    let text = "[{\"a\": 1},\n {\"a\": [1, {\"b\": 2}]},\n 7,\n {\"a\": {\"x\": 1}},\n {\"a\": 2} x]";
    assert_fails(
        "json",
        text,
        &[
            "data:2:8, record 2, path a: an array here, but a single value in record 1",
            "data:3:2, record 3: the record is not a JSON object",
            "data:4:8, record 4, path a: an object here, but a single value in record 1",
            "data:5:11: a comma or a closing bracket should stand here",
        ],
    );
    assert_fails("json", b"[{\"a\": 1}]\xff".as_slice(), &["data:1:11: not valid UTF-8"]);
    assert_fails("json", b"[{\"a\": \"\xff\"}]".as_slice(), &["data:1:9, record 1, path a: not valid UTF-8"]);
    assert_fails(
        "json",
        b"[1 2\xff".as_slice(),
        &[
            "data:1:2, record 1: the record is not a JSON object",
            "data:1:4: a comma or a closing bracket should stand here",
        ],
    );
    let twice = read_as("json", r#"{"r": [{}], "r": [{}]}"#, &layout(Some("r[]"), None));
    assert_eq!(texts(&twice.expect_err("twice")), ["data:1:18, path r: an object has this key twice"]);
    // Objects one after the other are records; of what is no object the first mistake is told.
    assert_eq!(read("json", "{\"a\": 1}\n{\"a\": 2}\n").expect("fine").data.len(), 2);
    fails("json", "{\"a\": 1}\n{\"a\": 2}\n]");
}

#[test]
fn tables_with_mistakes() {
    assert_fails(
        "csv",
        b"a,b\r\n1,2\n\n3\n4,5,6\n\"x\ny\",7\n\xff,8\n\"9\"9,\n10,1\r1\n9,\"10\n11,12\n".as_slice(),
        &[
            "data:4, record 2: the row has 1 cells, the header 2",
            "data:5, record 3: the row has 3 cells, the header 2",
            "data:8, record 5, path a: not valid UTF-8",
            "data:9, record 6: text after a closing quote",
            "data:10, record 7: a carriage return outside quotes",
            "data:11, record 8: a quoted cell is not closed",
        ],
    );
    assert_fails(
        "csv",
        "a,,b,a, \n1,2,3,4,5\n",
        &[
            "data:1: column 2 of the header has no name",
            "data:1: column 4 of the header has the name of another column",
            "data:1: column 5 of the header has no name",
        ],
    );
    assert_fails("csv", b"a;\xff\n".as_slice(), &["data:1: column 2 of the header is not valid UTF-8"]);
    let wrong = read_as("csv", "a\n1\n", &layout(None, Some("::"))).expect_err("two characters");
    assert_eq!(wrong.fault, Fault::Policy);
}

/// Written first in the file, it was read as the file's own mark, and the item was gone.
#[test]
fn an_item_that_starts_with_a_byte_order_mark_was_lost() {
    let loaded = read("transactions", "x\n\u{feff}\n").expect("two transactions");
    let written = loaded.format.write(&loaded.data, &loaded.layout, &mut Vec::new(), &Quiet);
    let failure = written.expect_err("would be read as another item");
    assert_eq!(failure.fault, Fault::Data);
    assert!(failure.to_string().contains("byte order mark"), "{failure}");
}

#[test]
fn transactions_with_mistakes() {
    let separator = layout(None, Some(";"));
    let failure = read_as("transactions", b"a;b\n\n\xff\na;;b\nc;\n".as_slice(), &separator);
    assert_eq!(
        texts(&failure.expect_err("mistakes")),
        [
            "data:3, record 3, path item: not valid UTF-8",
            "data:4, record 4, path item: an item is empty",
            "data:5, record 5, path item: an item is empty",
        ]
    );
}

#[test]
fn items_that_would_break_the_file_are_not_written() {
    for (item, separator) in
        [("a b", None), ("", None), ("a\nb", None), ("a;b", Some(";")), (" ", Some(";")), ("a\nb", Some(";"))]
    {
        let mut b = Builder::new();
        let class = b.class(ClassId::ROOT, &["item".to_owned()]);
        let attribute = b.attribute(class, &[]);
        b.begin_record();
        b.open(class);
        b.set(attribute, Kind::Text, item);
        b.close();
        b.end_record().expect("nothing twice");
        let mut out = Vec::new();
        let format = by_name("transactions").expect("known");
        let refused = format.write(&b.finish(), &layout(None, separator), &mut out, &Quiet);
        assert!(refused.expect_err("must be refused").to_string().contains("record 1, path item"));
        assert!(out.is_empty());
    }
}

#[test]
fn nested_records_fit_into_no_table() {
    let nested = read("ndjson", "{\"v\": [{\"a\": 1}]}\n").expect("fine");
    for format in ["csv", "transactions"] {
        let format = by_name(format).expect("known");
        assert!(format.write(&nested.data, &nested.layout, &mut Vec::new(), &Quiet).is_err());
    }
}

#[test]
fn compressed_data_that_is_cut_off_is_refused() {
    let text: String = (0..40_000).map(|i| format!("{{\"a\": {}}}\n", i * 7919 % 10_007)).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).expect("memory");
    let gzip = gzip.finish().expect("memory");
    let zstd = zstd::encode_all(text.as_bytes(), 3).expect("memory");
    for whole in [gzip, zstd] {
        assert_eq!(read("ndjson", whole.clone()).expect("whole").data.len(), 40_000);
        assert_eq!(read("ndjson", [whole.clone(), whole.clone()].concat()).expect("two").data.len(), 80_000);
        for cut in [5, 12, 20, whole.len() / 2, whole.len() - 9, whole.len() - 5, whole.len() - 1] {
            for format in ["ndjson", "json", "csv", "transactions"] {
                let failure = fails(format, &whole[..cut]);
                let message = &failure.diagnostics[0].message;
                assert_eq!(failure.fault, Fault::Data);
                assert!(message.contains("is cut off"), "{format} {cut}: {message}");
            }
        }
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 0x55;
        assert_eq!(fails("ndjson", damaged).fault, Fault::Data);
    }
}

#[test]
fn a_cut_tells_roughly_where() {
    let text: String = (0..40_000).map(|i| format!("{{\"a\": {}}}\n", i * 7919 % 10_007)).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).expect("memory");
    let gzip = gzip.finish().expect("memory");
    let failure = fails("ndjson", &gzip[..gzip.len() * 3 / 4]);
    let line = failure.diagnostics[0].place.line.expect("a line");
    assert!((20_000..40_000).contains(&line), "{failure}");
}

#[test]
fn utf_16_is_named() {
    let failure = input(b"\xff\xfe{\0}\0".as_slice()).map(|_| ()).expect_err("not UTF-8");
    assert_eq!(texts(&failure), ["data: the text is in UTF-16"]);
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in [folder.path().join("nothing.csv"), folder.path().to_owned()] {
        let failure = Input::open(&path).map(|_| ()).expect_err("must fail");
        assert_eq!(failure.fault, Fault::Environment);
        assert_eq!(failure.diagnostics[0].place, Place::source(path.to_string_lossy()));
    }
}

#[test]
fn formats_are_found_by_name_and_content() {
    let wrong = by_name("ndjsn").map(|_| ()).expect_err("no such format");
    assert_eq!(wrong.diagnostics[0].help.as_deref(), Some("did you mean `ndjson`?"));
    for (path, head, format) in [
        ("a.NDJSON.gz", "", Some("ndjson")),
        ("a.jsonl.zst", "", Some("ndjson")),
        ("a.json", "", Some("json")),
        ("a.tsv", "", Some("csv")),
        ("a.txt", "x,y", Some("transactions")),
        ("-", "  [\n", Some("json")),
        ("-", "{\"a\": 1}\r\n{", Some("ndjson")),
        ("-", "{\n \"a\": 1}", Some("json")),
        ("a.data", "x;y\n1;2", Some("csv")),
        ("a", "1 2 3\n4", Some("transactions")),
        ("a.xml", "", Some("xml")),
        ("a", " <a/>", Some("xml")),
        ("a", "<\0a\0/\0>\0", Some("xml")),
        ("a", "SQLite format 3\0", None),
        ("a", "", None),
    ] {
        let found = sniff(path.as_ref(), head.as_bytes()).map(|f| f.name());
        assert_eq!(found, format, "{path} {head}");
    }
}
