//! The one form of every publication: a file that says the same another way is refused, whatever the trick is.

use serde_json::Value;

use crate::util::{Dir, Output, attribute, policy};

const TOWNS: &str = "Graz;AT;*\nWien;AT;*\nBern;CH;*\n";
const AGES: &str = "1;A;*\n2;A;*\n3;B;*\n";

/// A folder with hierarchies and a policy of this source that publishes into `out`.
fn folder(source: &str, attributes: &[String], privacy: &str, out: &str) -> Dir {
    let dir = Dir::new();
    let places = format!("[source]\n{source}\n[publish]\npath = '{out}'\n");
    dir.write("t.csv", TOWNS).write("h.csv", AGES).write("p.toml", policy(attributes, privacy) + &places);
    dir
}

fn quasi(path: &str, hierarchy: &str) -> String {
    attribute(path, "quasi", &format!("hierarchy = '{hierarchy}'"))
}

const K2: &str = "model = 'k-anonymity'\nk = 2";

fn published(dir: &Dir) {
    dir.run(&["anonymize", "p.toml"]).exits(0);
}

/// Checks a file in the publication's place.
fn checked(dir: &Dir, name: &str, more: &[&str]) -> Output {
    dir.run(&[&["verify", name, "--policy", "p.toml"], more].concat())
}

/// What `anonymize` wrote holds, and every other way to write it is refused with its place, in memory and in batches; as a foreign
/// publication it holds, and what was not looked at is said.
fn only_the_one_form(dir: &Dir, out: &str, batches: bool, others: &[(&str, Vec<u8>)]) {
    let ways: &[&[&str]] = if batches { &[&[], &["--chunk", "2"]] } else { &[&[]] };
    let good = dir.read(out);
    for more in ways {
        checked(dir, out, more).exits(0).prints(&["HOLDS"]).hides(&["FOREIGN"]);
    }
    for (trick, bytes) in others {
        assert_ne!(bytes, &good, "{trick} changes nothing");
        dir.write(out, bytes);
        for more in ways {
            let found = checked(dir, out, more);
            assert_eq!(found.code, Some(3), "{trick} {more:?}\n{}{}", found.stdout, found.stderr);
            assert!(found.stderr.contains("--foreign"), "{trick} {more:?}\n{}", found.stderr);
            assert!(!found.stdout.contains("HOLDS"), "{trick}");
        }
        checked(dir, out, &["--foreign"]).exits(0).prints(&["HOLDS", "FOREIGN"]);
    }
    dir.write(out, good);
}

fn replaced(text: &str, old: &str, new: &str) -> Vec<u8> {
    assert!(text.contains(old), "{old} is not in\n{text}");
    text.replacen(old, new, 1).into_bytes()
}

/// The lines, in another order.
fn turned(text: &str, header: usize) -> Vec<u8> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines[header..].reverse();
    (lines.join("\n") + "\n").into_bytes()
}

const PEOPLE: &str = "{\"a\":1,\"town\":\"Graz\",\"v\":[{\"h\":\"Bern\"},{\"h\":\"Wien\"}]}\n";
const OTHERS: &str =
    "{\"a\":2,\"town\":\"Wien\",\"v\":[{\"h\":\"Bern\"},{\"h\":\"Wien\"}]}\n{\"a\":2,\"town\":\"Wien\"}\n";

fn documents(source: &str, out: &str) -> Dir {
    let attributes = [quasi("a", "h.csv"), quasi("town", "t.csv"), quasi("v[].h", "t.csv")];
    folder(source, &attributes, K2, out)
}

#[test]
fn ndjson_has_one_form() {
    let dir = documents("format = 'ndjson'\npath = 'in.ndjson'", "out.ndjson");
    dir.write("in.ndjson", (PEOPLE.to_owned() + OTHERS).repeat(2));
    published(&dir);
    let good = dir.text("out.ndjson");
    let first = good.lines().next().expect("a record");
    let others = [
        ("order of records", turned(&good, 0)),
        ("a blank", replaced(&good, "\",\"", "\", \"")),
        ("a tab", replaced(&good, ":", ":\t")),
        ("a blank at the end", replaced(&good, "}\n", "} \n")),
        ("a blank line", replaced(&good, "\n", "\n\n")),
        ("CRLF", replaced(&good, "\n", "\r\n")),
        ("no line end at the end", good.trim_end().as_bytes().to_vec()),
        ("two line ends", (good.clone() + "\n").into_bytes()),
        ("a byte order mark", format!("\u{feff}{good}").into_bytes()),
        ("an escape", replaced(&good, "\"Graz\"", "\"\\u0047raz\"")),
        ("an escaped key", replaced(&good, "\"town\"", "\"\\u0074own\"")),
        ("a decimal", replaced(&good, "\"a\":1", "\"a\":1.0")),
        ("an exponent", replaced(&good, "\"a\":1", "\"a\":100000e-5")),
        (
            "order of siblings",
            replaced(&good, "{\"h\":\"Bern\"},{\"h\":\"Wien\"}", "{\"h\":\"Wien\"},{\"h\":\"Bern\"}"),
        ),
        ("an empty array", replaced(&good, "\"town\":\"Wien\"}", "\"town\":\"Wien\",\"v\":[]}")),
        ("null", replaced(&good, "\"town\":\"Wien\"}", "\"town\":\"Wien\",\"v\":null}")),
        ("order of keys", replaced(&good, first, &swapped(first))),
        ("a type of MongoDB", replaced(&good, "\"a\":1", "\"a\":{\"$numberInt\":\"1\"}")),
    ];
    only_the_one_form(&dir, "out.ndjson", false, &others);
}

/// A record with its first two keys in the other order.
fn swapped(line: &str) -> String {
    let found: Value = serde_json::from_str(line).expect("JSON");
    let mut parts: Vec<&str> = line[1..].splitn(3, ',').collect();
    assert!(found.get("a").is_some() && parts.len() > 1, "{line}");
    parts.swap(0, 1);
    let end = if parts[0].ends_with('}') { "}" } else { "" };
    parts[0] = parts[0].trim_end_matches('}');
    format!("{{{}{end}", parts.join(","))
}

#[test]
fn ndjson_in_batches_has_the_same_form() {
    let privacy = "model = 'kmn'\nk = 2\nm = 2\nn = 1";
    let attributes = [quasi("a", "h.csv"), quasi("town", "t.csv"), quasi("v[].h", "t.csv")];
    let dir = folder("format = 'ndjson'\npath = 'in.ndjson'", &attributes, privacy, "out.ndjson");
    dir.write("in.ndjson", (PEOPLE.to_owned() + OTHERS).repeat(3));
    published(&dir);
    let good = dir.text("out.ndjson");
    let first = good.lines().next().expect("a record");
    let others = [
        ("order of records", turned(&good, 0)),
        ("a blank", replaced(&good, "\",\"", "\", \"")),
        ("a blank line", replaced(&good, "\n", "\n\n")),
        ("CRLF", replaced(&good, "\n", "\r\n")),
        ("no line end at the end", good.trim_end().as_bytes().to_vec()),
        ("an escape", replaced(&good, "\"Graz\"", "\"\\u0047raz\"")),
        ("order of keys", replaced(&good, first, &swapped(first))),
    ];
    only_the_one_form(&dir, "out.ndjson", true, &others);
}

#[test]
fn json_has_one_form() {
    let dir = documents("format = 'json'\npath = 'in.json'\nrecord = 'entry[]'", "out.json");
    let records = (PEOPLE.to_owned() + OTHERS).repeat(2);
    let records: Vec<&str> = records.lines().collect();
    dir.write("in.json", format!("{{\"entry\":[{}]}}", records.join(",")));
    published(&dir);
    let good = dir.text("out.json");
    let lines: Vec<&str> = good.lines().collect();
    let mut other_order = lines.clone();
    other_order[1..lines.len() - 1].reverse();
    let other_order = other_order.join("\n").replacen(",\n]", "\n]", 1);
    let last = lines[lines.len() - 2];
    let other_order = other_order.replacen(last, &format!("{last},"), 1);
    let first = lines[1].trim_end_matches(',');
    let other_order = other_order.replacen(&format!("{first},\n]"), &format!("{first}\n]"), 1);
    let others = [
        ("order of records", (other_order + "\n").into_bytes()),
        ("indentation", replaced(&good, "\n{", "\n  {")),
        ("a blank line", replaced(&good, "\n", "\n\n")),
        ("no line ends", good.replace('\n', "").into_bytes()),
        ("a blank around", replaced(&good, "{\"entry\":", "{ \"entry\":")),
        ("a decimal", replaced(&good, "\"a\":1", "\"a\":1.0")),
    ];
    only_the_one_form(&dir, "out.json", false, &others);
}

#[test]
fn csv_has_one_form() {
    for (separator, line) in [(",", ""), (";", "separator = ';'\n")] {
        let attributes = [quasi("a", "h.csv"), quasi("town", "t.csv")];
        let source = format!("format = 'csv'\npath = 'in.csv'\n{line}");
        let dir = folder(&source, &attributes, "model = 'kmn'\nk = 2\nm = 2\nn = 0", "out.csv");
        let rows = "a,town\n1,Graz\n2,Wien\n1,Graz\n2,Wien\n2,\n2,\n";
        dir.write("in.csv", rows.replace(',', separator));
        published(&dir);
        let good = dir.text("out.csv");
        let others = [
            ("order of rows", turned(&good, 1)),
            ("quotes", replaced(&good, "Graz", "\"Graz\"")),
            ("quoted header", replaced(&good, "town", "\"town\"")),
            ("CRLF", good.replace('\n', "\r\n").into_bytes()),
            ("a blank line", replaced(&good, "\n", "\n\n")),
            ("no line end at the end", good.trim_end().as_bytes().to_vec()),
            ("a byte order mark", format!("\u{feff}{good}").into_bytes()),
        ];
        only_the_one_form(&dir, "out.csv", true, &others);
    }
}

#[test]
fn transactions_have_one_form() {
    let source = "format = 'transactions'\npath = 'in.txt'";
    let dir = folder(source, &[quasi("item", "t.csv")], "model = 'km'\nk = 2\nm = 2", "out.txt");
    dir.write("in.txt", "Graz Wien\nWien Graz Graz\nBern\nBern\n\n");
    published(&dir);
    let good = dir.text("out.txt");
    let others = [
        ("order of records", turned(&good, 0)),
        ("order of items", replaced(&good, "Graz Wien", "Wien Graz")),
        ("an item twice", replaced(&good, "Graz Wien", "Graz Graz Wien")),
        ("CRLF", replaced(&good, "\n", "\r\n")),
        ("no line end at the end", good.strip_suffix('\n').expect("one").as_bytes().to_vec()),
    ];
    only_the_one_form(&dir, "out.txt", true, &others);
}

#[test]
fn xml_has_one_form() {
    let attributes = [quasi("a", "h.csv"), quasi("v[]/@h", "t.csv")];
    let dir = folder("format = 'xml'\npath = 'in.xml'\nrecord = 'db/p'", &attributes, K2, "out.xml");
    let record = |a: u8| format!("<p><a>{a}</a><v h=\"Bern\"/><v h=\"Wien\"/></p>");
    dir.write("in.xml", format!("<db>{}{}{}{}</db>", record(1), record(2), record(1), record(2)));
    published(&dir);
    let good = dir.text("out.xml");
    let mut lines: Vec<&str> = good.lines().collect();
    let last = lines.len() - 2;
    lines[2..=last].reverse();
    let others = [
        ("order of records", (lines.join("\n") + "\n").into_bytes()),
        ("a blank", replaced(&good, "</a><v", "</a> <v")),
        ("indentation", replaced(&good, "\n<p>", "\n  <p>")),
        ("single quotes", replaced(&good, "h=\"Bern\"", "h='Bern'")),
        ("a reference", replaced(&good, "h=\"Bern\"", "h=\"&#66;ern\"")),
        (
            "order of siblings",
            replaced(&good, "<v h=\"Bern\"/><v h=\"Wien\"/>", "<v h=\"Wien\"/><v h=\"Bern\"/>"),
        ),
        ("a long empty element", replaced(&good, "<v h=\"Bern\"/>", "<v h=\"Bern\"></v>")),
        ("a blank in a tag", replaced(&good, "h=\"Bern\"/>", "h=\"Bern\" />")),
        ("no declaration", replaced(&good, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", "")),
        ("a byte order mark", format!("\u{feff}{good}").into_bytes()),
        ("CDATA", replaced(&good, "<a>1</a>", "<a><![CDATA[1]]></a>")),
        ("order of elements", replaced(&good, "<a>1</a><v h=\"Bern\"/>", "<v h=\"Bern\"/><a>1</a>")),
    ];
    only_the_one_form(&dir, "out.xml", false, &others);
}

#[test]
fn a_namespace_is_told() {
    let attributes = [quasi("a", "h.csv")];
    let dir = folder("format = 'xml'\npath = 'in.xml'\nrecord = 'db/p'", &attributes, K2, "out.xml");
    dir.write("in.xml", "<db xmlns=\"john-smith-111\"><p><a>1</a></p><p><a>1</a></p></db>");
    published(&dir);
    checked(&dir, "out.xml", &[]).exits(0).says(&["john-smith-111", "not looked at"]);
}

#[test]
fn compressed_files_have_one_form() {
    for ending in ["gz", "zst"] {
        let out = format!("out.ndjson.{ending}");
        let dir = documents("format = 'ndjson'\npath = 'in.ndjson'", &out);
        dir.write("in.ndjson", (PEOPLE.to_owned() + OTHERS).repeat(200));
        published(&dir);
        let pack = if ending == "gz" { "gzip -9n" } else { "zstd -19 -q" };
        let unpack = if ending == "gz" { "gzip -dc" } else { "zstd -dcq" };
        if dir.bash(&format!("command -v {}", pack.split(' ').next().expect("a name"))).code != Some(0) {
            eprintln!("skipped: no {ending} here");
            continue;
        }
        let packed = dir.bash(&format!("{unpack} < {out} | {pack} > other; {unpack} < {out} > out.ndjson"));
        packed.exits(0);
        only_the_one_form(&dir, &out, false, &[("another compressor", dir.read("other"))]);
        checked(&dir, "out.ndjson", &[]).exits(0);
    }
}

#[test]
fn parquet_has_one_form() {
    let dir = documents("format = 'parquet'\npath = 'in.parquet'", "out.parquet");
    dir.write("in.ndjson", (PEOPLE.to_owned() + OTHERS).repeat(2));
    dir.run(&["convert", "in.ndjson", "in.parquet"]).exits(0);
    published(&dir);
    let good = dir.read("out.parquet");
    // The same columns with other records first: the order that another program would have written.
    let mut footer = good.clone();
    let at = footer.len() - 8;
    let length = u32::from_le_bytes(footer[at..at + 4].try_into().expect("four bytes")) as usize;
    // A field that no reader knows, before the end of the footer.
    let unknown = [&[0x58, 0xC8, 0x01][..], &[6], b"secret"].concat();
    footer.splice(at - 1..at - 1, unknown.iter().copied());
    let at = footer.len() - 8;
    let length = u32::try_from(length + unknown.len()).expect("small").to_le_bytes();
    footer[at..at + 4].copy_from_slice(&length);
    dir.write("out.parquet", &footer);
    let found = checked(&dir, "out.parquet", &[]);
    assert_eq!(found.code, Some(3), "{}{}", found.stdout, found.stderr);
    dir.write("out.parquet", &good);
    checked(&dir, "out.parquet", &[]).exits(0);
}

/// Two values of one length, each for the other, wherever they stand.
fn exchanged(bytes: &[u8], a: &str, b: &str) -> Vec<u8> {
    assert_eq!(a.len(), b.len());
    let (mut all, mut at) = (bytes.to_vec(), 0);
    while at + a.len() <= all.len() {
        let other = match &all[at..at + a.len()] {
            own if own == a.as_bytes() => b,
            own if own == b.as_bytes() => a,
            _ => {
                at += 1;
                continue;
            }
        };
        all[at..at + a.len()].copy_from_slice(other.as_bytes());
        at += a.len();
    }
    all
}

/// The rows of a column in another order, in a file that is otherwise as Bosket's writer lays it out.
#[test]
fn parquet_has_one_order_of_rows() {
    let source = "format = 'parquet'\npath = 'in.parquet'";
    let dir = folder(source, &[quasi("town", "t.csv")], K2, "out.parquet");
    dir.write("in.csv", "town\nWien\nGraz\nWien\nGraz\n");
    dir.run(&["convert", "in.csv", "in.parquet"]).exits(0);
    published(&dir);
    let turned = exchanged(&dir.read("out.parquet"), "Graz", "Wien");
    only_the_one_form(&dir, "out.parquet", false, &[("order of rows", turned)]);
}

#[test]
fn fhir_has_one_form() {
    let attributes = [quasi("gender", "g.csv"), quasi("Condition[].code.display", "c.csv")];
    let source = "format = 'fhir-r4'\npath = 'in.ndjson'";
    let dir = folder(source, &attributes, K2, "out.ndjson");
    dir.write("p.toml", dir.text("p.toml").replacen("version = 1", "version = 1\nundeclared = 'drop'", 1))
        .write("g.csv", "uomo;*\nfrau;*\n")
        .write("c.csv", "DX;*\nDY;*\n");
    let condition = |i: usize, code: &str| {
        format!(
            ",{{\"resource\":{{\"resourceType\":\"Condition\",\"id\":\"c{i}{code}\",\"code\":{{\"coding\":\
             [{{\"system\":\"urn:c\",\"code\":\"{code}\",\"display\":\"D{code}\"}}]}},\
             \"subject\":{{\"reference\":\"Patient/p{i}\"}}}}}}"
        )
    };
    let bundle = |i: usize| {
        let gender = ["uomo", "frau"][i % 2];
        format!(
            "{{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"entry\":[{{\"resource\":{{\"resourceType\":\
             \"Patient\",\"id\":\"p{i}\",\"gender\":\"{gender}\"}}}}{}{}]}}\n",
            condition(i, "Y"),
            condition(i, "X")
        )
    };
    dir.write("in.ndjson", (0..8).map(bundle).collect::<String>());
    published(&dir);
    let good = dir.text("out.ndjson");
    let others = [
        ("order of records", exchanged(good.as_bytes(), "uomo", "frau")),
        ("order of siblings", exchanged(good.as_bytes(), "DX", "DY")),
        ("a blank", replaced(&good, "\"gender\":", "\"gender\": ")),
        ("an escape", replaced(&good, "\"uomo\"", "\"\\u0075omo\"")),
        (
            "order of keys",
            replaced(
                &good,
                "\"resourceType\":\"Bundle\",\"type\":\"collection\"",
                "\"type\":\"collection\",\"resourceType\":\"Bundle\"",
            ),
        ),
        ("a blank line", replaced(&good, "\n", "\n\n")),
        ("CRLF", good.replace('\n', "\r\n").into_bytes()),
        ("no line end at the end", good.trim_end().as_bytes().to_vec()),
    ];
    only_the_one_form(&dir, "out.ndjson", false, &others);
}

#[test]
fn rows_that_say_the_same_stand_once() {
    let attributes = [quasi("v[].h", "t.csv")];
    let privacy = "model = 'kmn'\nk = 2\nm = 2\nn = 1";
    let dir = folder("format = 'ndjson'\npath = 'in.ndjson'", &attributes, privacy, "out.ndjson");
    let five = "{\"v\":[{\"h\":\"Graz\"},{\"h\":\"Graz\"},{\"h\":\"Graz\"}]}\n";
    let text = format!("{five}{{\"v\":[{{\"h\":\"Graz\"}}]}}\n");
    dir.write("in.ndjson", &text);
    published(&dir);
    assert_eq!(dir.text("out.ndjson"), "{\"v\":[{\"h\":\"Graz\"}]}\n".repeat(2));
    dir.write("out.ndjson", &text);
    for more in [&[][..], &["--chunk", "1"]] {
        checked(&dir, "out.ndjson", more).exits(3).says(&["v[]", "--foreign"]);
    }
    // Who claims nothing about how many there are has them all.
    checked(&dir, "out.ndjson", &["--set", "publish.rows=all"]).exits(0);
    checked(&dir, "out.ndjson", &["--foreign"]).exits(0).prints(&["FOREIGN"]);
    let told = checked(&dir, "out.ndjson", &["--foreign", "--json"]).exits(0).json();
    assert_eq!(told["foreign"], true);
    assert!(told["not_looked_at"].as_array().is_some_and(|all| !all.is_empty()), "{told}");
}

#[test]
fn a_violated_claim_is_told_before_the_form() {
    let dir = documents("format = 'ndjson'\npath = 'in.ndjson'", "out.ndjson");
    dir.write("x.ndjson", "{ \"a\":1}\n{\"a\":2}\n");
    checked(&dir, "x.ndjson", &[]).exits(1).prints(&["VIOLATED"]);
}

/// Names in blanks were once TRUE.
#[test]
fn names_in_blanks_are_not_true() {
    let dir = documents("format = 'ndjson'\npath = 'in.ndjson'", "out.ndjson");
    dir.write("in.ndjson", (PEOPLE.to_owned() + OTHERS).repeat(2));
    published(&dir);
    let hidden = replaced(&dir.text("out.ndjson"), ",", ", \t \t\t ");
    dir.write("out.ndjson", hidden);
    let against = ["--against", "in.ndjson"];
    checked(&dir, "out.ndjson", &against).exits(3).hides(&["HOLDS", "TRUE"]);
    // A certificate from anybody helps nothing.
    let certificate = ["verify", "out.ndjson", "--certificate", "out.ndjson.certificate.json"];
    let found = dir.run(&certificate);
    assert_ne!(found.code, Some(0), "{}", found.stdout);
}

fn linked(format: &str) -> Dir {
    let dir = Dir::new();
    let tables = format!(
        "[source]\nformat = '{format}'\n[[source.table]]\nname = 'p'\nkey = 'sid'\npath = 'in.{format}'\n\
         [[source.table]]\nname = 'takes'\nkey = 'tid'\nparent = 'p'\nforeign_key = 'sid'\npath = 'takes.{format}'\n\
         [publish]\npath = 'out'\n"
    );
    let attributes = [quasi("p.town", "t.csv"), quasi("takes.h", "t.csv")];
    let privacy = "model = 'kmn'\nk = 2\nm = 2\nn = 1";
    dir.write("t.csv", TOWNS).write("p.toml", policy(&attributes, privacy) + &tables);
    let people: String = (1..=8).map(|i| format!("{i},{}\n", ["Graz", "Wien"][i % 2])).collect();
    let takes: String = (1..=8).map(|i| format!("{i},{i},Bern\n")).collect();
    dir.write("in.csv", format!("sid,town\n{people}")).write("takes.csv", format!("tid,sid,h\n{takes}"));
    if format == "parquet" {
        for table in ["in", "takes"] {
            dir.run(&["convert", &format!("{table}.csv"), &format!("{table}.parquet")]).exits(0);
        }
    }
    published(&dir);
    checked(&dir, "out", &[]).exits(0);
    checked(&dir, "out", &["--chunk", "3"]).exits(0);
    dir
}

#[test]
fn linked_csv_has_one_form() {
    let dir = linked("csv");
    for table in ["in", "takes"] {
        let name = format!("out/{table}.csv");
        let good = dir.text(&name);
        for (trick, bytes) in [
            ("quotes", replaced(&good, "1,", "\"1\",")),
            ("CRLF", good.replace('\n', "\r\n").into_bytes()),
            ("a blank line", replaced(&good, "\n", "\n\n")),
            ("a byte order mark", format!("\u{feff}{good}").into_bytes()),
            ("no line end at the end", good.trim_end().as_bytes().to_vec()),
        ] {
            dir.write(&name, bytes);
            for more in [&[][..], &["--chunk", "3"]] {
                let found = checked(&dir, "out", more);
                assert_eq!(found.code, Some(3), "{trick} {more:?}\n{}{}", found.stdout, found.stderr);
            }
            checked(&dir, "out", &["--foreign"]).exits(0).prints(&["FOREIGN"]);
        }
        dir.write(&name, good);
    }
}

#[test]
fn linked_parquet_has_one_form() {
    linked("parquet");
}

#[test]
fn a_file_called_certificate_is_one() {
    let dir = linked("csv");
    dir.write("out/certificate.json", "{\"raw\": [{\"name\": \"John\", \"town\": \"Graz\"}]}\n");
    checked(&dir, "out", &[]).exits(3).says(&["certificate.json", "take it out"]);
    std::fs::remove_file(dir.path("out/certificate.json")).expect("there");
    dir.write("out/certificate.json.sig", "anything");
    checked(&dir, "out", &[]).exits(3).says(&["certificate.json.sig"]);
    std::fs::remove_file(dir.path("out/certificate.json.sig")).expect("there");
    // Its own certificate may lie there.
    std::fs::copy(dir.path("out.certificate.json"), dir.path("out/certificate.json")).expect("copied");
    checked(&dir, "out", &[]).exits(0).says(&["not looked at"]);
    let changed = replaced(&dir.text("out/certificate.json"), "\"records\": 8", "\"records\":  8");
    dir.write("out/certificate.json", changed);
    checked(&dir, "out", &[]).exits(3);
}

fn sided(format: &str, out: &str) -> Dir {
    let attributes = [
        attribute("town", "quasi", ""),
        attribute("code", "sensitive", ""),
        attribute("name", "identifying", ""),
    ];
    let source = format!("format = '{format}'\npath = 'in.{format}'\n");
    let source = if format == "xml" { source + "record = 'db/p'\n" } else { source };
    let dir = folder(&source, &attributes, "model = 'anatomy'\ngroup_size = 2", out);
    let town = |i: usize| ["Graz", "Wien", "Bern"][i % 3];
    let code = |i: usize| ["A", "B", "C", "D"][i % 4];
    let rows: String = (0..12).map(|i| format!("{},{},N{i}\n", town(i), code(i))).collect();
    dir.write("in.csv", format!("town,code,name\n{rows}"));
    match format {
        "xml" => {
            let one = |i: usize| {
                format!("<p><town>{}</town><code>{}</code><name>N{i}</name></p>", town(i), code(i))
            };
            dir.write("in.xml", format!("<db>{}</db>", (0..12).map(one).collect::<String>()));
        }
        "csv" => {}
        _ => {
            dir.run(&["convert", "in.csv", &format!("in.{format}")]).exits(0);
        }
    }
    published(&dir);
    checked(&dir, out, &[]).exits(0).prints(&["HOLDS"]);
    dir
}

#[test]
fn two_sides_in_json_have_one_form() {
    for format in ["ndjson", "json"] {
        let dir = sided(format, "out.json");
        let good = dir.text("out.json");
        let line = |start: &str| {
            good.lines().find(|l| l.starts_with(start)).expect("a line").trim_end_matches(',').to_owned()
        };
        let one = line("{\"group\":1,\"records\"");
        let people: Vec<&str> = one["{\"group\":1,\"records\":[".len()..one.len() - 2].split("},{").collect();
        let other = format!(
            "{{\"group\":1,\"records\":[{{{}}},{{{}}}]}}",
            people[1].trim_end_matches('}'),
            people[0].trim_start_matches('{')
        );
        let (first, second) = (line("{\"group\":1,\"path\""), line("{\"group\":2,\"path\""));
        let swapped = good.replacen(&first, "@", 1).replacen(&second, &first, 1).replacen('@', &second, 1);
        let mut others = vec![
            ("a blank", replaced(&good, ",\"", ", \"")),
            ("an escape", replaced(&good, "\"Graz\"", "\"\\u0047raz\"")),
            ("a blank line", replaced(&good, "\n", "\n\n")),
            ("order of values", swapped.into_bytes()),
            (
                "order of keys",
                replaced(&good, "\"path\":\"code\",\"value\":\"A\"", "\"value\":\"A\",\"path\":\"code\""),
            ),
        ];
        if people[0].trim_start_matches('{') != people[1].trim_end_matches('}') {
            others.push(("order of people", replaced(&good, &one, &other)));
        }
        only_the_one_form(&dir, "out.json", false, &others);
    }
}

#[test]
fn two_sides_in_xml_have_one_form() {
    let dir = sided("xml", "out.xml");
    let good = dir.text("out.xml");
    let others = [
        ("a blank", replaced(&good, "\n<Group", "\n <Group")),
        ("single quotes", replaced(&good, "Type=\"QI\"", "Type='QI'")),
        ("a reference", replaced(&good, "Graz", "&#71;raz")),
    ];
    only_the_one_form(&dir, "out.xml", false, &others);
}

#[test]
fn two_sides_in_tables_have_one_form() {
    let dir = sided("csv", "out");
    let (people, codes) = (dir.text("out/in.csv"), dir.text("out/sensitive_code.csv"));
    let swap = |text: &str| {
        text.lines()
            .map(|line| match line.split_once(',') {
                Some(("1", rest)) => format!("2,{rest}\n"),
                Some(("2", rest)) => format!("1,{rest}\n"),
                _ => format!("{line}\n"),
            })
            .collect::<String>()
    };
    let sorted = |text: &str| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines[1..].sort_unstable();
        lines.join("\n") + "\n"
    };
    for (trick, quasi, sensitive) in [
        ("order of people", String::from_utf8(turned(&people, 1)).expect("text"), codes.clone()),
        ("quotes", people.replacen("Graz", "\"Graz\"", 1), codes.clone()),
        ("CRLF", people.clone(), codes.replace('\n', "\r\n")),
        ("numbers of groups", sorted(&swap(&people)), sorted(&swap(&codes))),
    ] {
        assert!(quasi != people || sensitive != codes, "{trick} changes nothing");
        dir.write("out/in.csv", &quasi).write("out/sensitive_code.csv", &sensitive);
        let found = checked(&dir, "out", &[]);
        assert_eq!(found.code, Some(3), "{trick}\n{}{}", found.stdout, found.stderr);
        checked(&dir, "out", &["--foreign"]).exits(0).prints(&["FOREIGN"]);
    }
}

#[test]
fn two_sides_in_parquet_have_one_form() {
    sided("parquet", "out");
}
