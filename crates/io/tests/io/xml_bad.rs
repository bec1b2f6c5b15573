//! XML that is wrong: where, what, and what to do; nothing is expanded or fetched, and no value is shown.

use crate::common::*;
use bosket_io::by_name;
use bosket_model::observe::Quiet;
use bosket_model::{Builder, ClassId, Failure, Fault, Kind};

fn fails_at(text: impl Into<Vec<u8>>, record: &str) -> Failure {
    let read = read_as("xml", text, &layout(Some(record), None));
    read.map(|_| ()).expect_err("must not be accepted")
}

#[track_caller]
fn assert_fails(text: impl Into<Vec<u8>>, wanted: &[&str]) {
    let failure = fails_at(text, "d/r");
    let found: Vec<String> =
        failure.diagnostics.iter().map(|d| format!("{}: {}", d.place, d.message)).collect();
    assert_eq!(found, wanted);
    assert_eq!(failure.fault, Fault::Data);
    assert!(failure.diagnostics.iter().all(|d| d.help.is_some()));
    assert!(!failure.to_string().contains("Quetzal"), "{failure}");
}

#[test]
fn files_that_are_cut_off() {
    let whole = "<d>\n<r k=\"Quetzal\"><a><!--x--><![CDATA[Quetzal]]>é</a><?p q?></r>\n</d>";
    for cut in (1..whole.len()).filter(|&i| whole.is_char_boundary(i)) {
        let failure = fails_at(&whole[..cut], "d/r");
        let message = &failure.diagnostics[0].message;
        assert!(message.contains("ends ") || message.contains("not XML"), "{cut}: {message}");
        assert!(!failure.to_string().contains("Quetzal"));
    }
    assert_fails("<d>\n<r><a>Quetzal", &["data:2:14, record 1, path a: the XML text ends before `</a>`"]);
    assert_fails(
        "<d>\n<r><a k='Quetz",
        &["data:2:4, record 1: the XML text ends inside an attribute's value"],
    );
    assert_fails("<d>\n<!-- ", &["data:2:1: the XML text ends inside a comment"]);
    assert_fails("<d><r></r>", &["data:1:11: the XML text ends before `</d>`"]);
    assert_fails(b"<d><r>\xc3".as_slice(), &["data:1:7, record 1: not valid UTF-8"]);
}

#[test]
fn tags_that_do_not_match() {
    assert_fails("<d><r><a>Quetzal</b></r></d>", &["data:1:17, record 1, path a: `</b>` closes `<a>`"]);
    assert_fails("<d><r></d></r>", &["data:1:7, record 1: `</d>` closes `<r>`"]);
    assert_fails("<d></d></d>", &["data:1:8: an end tag without start tag"]);
    assert_fails("<d><r/></d>\n<d/>", &["data:2:1: a second root element"]);
    assert_fails("<d><r/></d> Quetzal", &["data:1:12: text outside the root element"]);
    assert_fails("Quetzal<d/>", &["data:1:1: text outside the root element"]);
    assert_fails("<d/>&amp;", &["data:1:5: text outside the root element"]);
    assert_fails("<d/><![CDATA[ ]]>", &["data:1:5: text outside the root element"]);
    assert_fails("", &["data:1:1: the document has no element"]);
    assert_fails("  <!-- -->\n", &["data:2:1: the document has no element"]);
}

#[test]
fn references_that_mean_nothing() {
    assert_fails(
        "<d><r><a>x&Quetzal;</a></r></d>",
        &["data:1:11, record 1, path a: a reference to an entity that is not declared"],
    );
    assert_fails(
        "<d><r a='&nbsp;'/></d>",
        &["data:1:10, record 1: a reference to an entity that is not declared"],
    );
    assert_fails(
        "<d><r><a>Quetzal & Co</a></r></d>",
        &["data:1:18, record 1, path a: an ampersand that starts no reference"],
    );
    assert_fails(
        "<d><r><a>&#1;</a></r></d>",
        &["data:1:10, record 1, path a: a reference to a character that XML does not allow"],
    );
    let failure = fails_at("<!DOCTYPE d SYSTEM 'd.dtd'><d><r><a>&eacute;</a></r></d>", "d/r");
    assert!(failure.to_string().contains("the DTD is never fetched"), "{failure}");
}

#[test]
fn entities_are_never_expanded_or_fetched() {
    let body = "<d><r><a>&x;</a></r></d>";
    for (doctype, wanted) in [
        (
            "<!ENTITY x 'Quetzal'>",
            "data:2:10, record 1, path a: a reference to an entity that the DOCTYPE declares",
        ),
        ("<!ENTITY x SYSTEM 'file:///etc/passwd'>", "data:1:14: the DOCTYPE declares an external entity"),
        (
            "<!ENTITY x PUBLIC 'p' 'http://example.invalid/x'>",
            "data:1:14: the DOCTYPE declares an external entity",
        ),
        ("<!ENTITY % x 'Quetzal'>", "data:1:14: the DOCTYPE declares or uses a parameter entity"),
        ("%x;", "data:1:14: the DOCTYPE declares or uses a parameter entity"),
        (
            "<!ENTITY a 'haha'><!ENTITY x '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>",
            "data:1:32: the DOCTYPE declares an entity that refers to others",
        ),
        ("<!ENTITY x '&x;'>", "data:1:14: the DOCTYPE declares an entity that refers to others"),
        (
            "<!ATTLIST r k CDATA 'Quetzal'>",
            "data:1:14: the DOCTYPE declares a default value for an attribute",
        ),
    ] {
        assert_fails(format!("<!DOCTYPE d [{doctype}]>\n{body}"), &[wanted]);
    }
    let harmless = "<!DOCTYPE d [<!ELEMENT d (r*)><!ENTITY x 'unused'>]><d><r><a>1</a></r></d>";
    assert_eq!(read_as("xml", harmless, &layout(Some("d/r"), None)).expect("fine").data.len(), 1);
}

#[test]
fn billion_laughs() {
    let mut text = "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [\n<!ENTITY lol \"lol\">\n".to_owned();
    for i in 1..10 {
        let inner = if i == 1 { "&lol;".to_owned() } else { format!("&lol{};", i - 1) };
        text.push_str(&format!("<!ENTITY lol{i} \"{}\">\n", inner.repeat(10)));
    }
    text.push_str("]>\n<d><r>&lol9;</r></d>");
    assert_fails(text, &["data:4:1: the DOCTYPE declares an entity that refers to others"]);
}

#[test]
fn doctypes_that_are_none() {
    for (text, wanted) in [
        ("<!DOCTYPE d [<!ENTITY>]><d/>", "data:1:14: the DOCTYPE is not well-formed"),
        ("<!DOCTYPE d [<d/>]><d/>", "data:1:14: the DOCTYPE is not well-formed"),
        ("<!DOCTYPE><d/>", "data:1:1: the DOCTYPE is not well-formed"),
        ("<!doctype d><d/>", "data:1:1: the DOCTYPE is not well-formed"),
        (
            "<!DOCTYPE d><!DOCTYPE d><d/>",
            "data:1:13: a DOCTYPE that is not before the root element, or a second one",
        ),
        ("<d/><!DOCTYPE d>", "data:1:5: a DOCTYPE that is not before the root element, or a second one"),
        ("<!DOCTYPE d [", "data:1:1: the XML text ends inside the DOCTYPE"),
        ("<!ELEMENT d ANY><d/>", "data:1:1: markup that is not XML"),
    ] {
        assert_fails(text, &[wanted]);
    }
}

#[test]
fn records_that_do_not_fit_are_all_named() {
    let text = "<d>
<r><t>Quetzal <b>x</b></t></r>
<r><t><b>x</b> Quetzal</t></r>
<r><p><q><p>x</p></q></p></r>
<r><t>fine</t></r>
<r><r/></r>
<r>Quetzal<a/></r>
</d>";
    assert_fails(
        text,
        &[
            "data:2:15, record 1, path t: an element mixes text and elements; the same in one more record",
            "data:7:11, record 6, path .: an element mixes text and elements",
        ],
    );
    // Text here and elements there are no mixture.
    let choice = "<d><r><a>x</a></r><r><a><b>y</b></a></r></d>";
    let loaded = read_as("xml", choice, &layout(Some("d/r"), None)).expect("a choice");
    assert!(String::from_utf8(write(&loaded)).expect("UTF-8").contains("<r><a>x</a></r>"));
    // Outside the records nothing needs to fit.
    let outside = "<d><x>a<x>b</x></x><r><a>1</a></r></d>";
    assert!(read_as("xml", outside, &layout(Some("d/r"), None)).is_ok());
}

#[test]
fn bytes_that_are_no_text() {
    assert_fails(
        b"<d>\n<r><a>Quetzal\xff</a></r></d>".as_slice(),
        &["data:2:14, record 1, path a: not valid UTF-8"],
    );
    assert_fails(b"<d><r><a k='\xe9'/></r></d>".as_slice(), &["data:1:13, record 1: not valid UTF-8"]);
    assert_fails(b"<d><!-- \xe9 --></d>".as_slice(), &["data:1:9: not valid UTF-8"]);
    let ascii = b"<?xml version='1.0' encoding='us-ascii'?>\n<d><r>\xe9</r></d>".as_slice();
    assert_fails(ascii, &["data:2:7, record 1: not valid US-ASCII"]);
    let shift = b"<?xml version='1.0' encoding='Shift_JIS'?>\n<d><r>\x83</r></d>".as_slice();
    assert_fails(shift, &["data:2:7, record 1: not valid Shift_JIS"]);
    assert_fails(b"\xff\xfe<\0d\0>\0\x00\xdc".as_slice(), &["data:1:4: not valid UTF-16"]);
    assert_fails(
        "<?xml version='1.0' encoding='UTF-16'?><d/>",
        &["data:1:1: the XML declaration says UTF-16, but the file begins as UTF-8"],
    );
    assert_fails(
        "\u{feff}<?xml version='1.0' encoding='latin1'?><d/>",
        &["data:1:1: the XML declaration says ISO-8859-1, but the file begins as UTF-8"],
    );
    assert_fails(
        "<?xml version='1.0' encoding='klingon'?><d/>",
        &["data:1:1: the XML declaration names an encoding that is not known"],
    );
    assert_fails(b"\0\0\xfe\xff\0\0\0<".as_slice(), &["data:1:1: the text is in UTF-32"]);
    assert_fails("<d><r>Quetzal\u{1}</r></d>", &["data:1:14, record 1: a character that XML does not allow"]);
    assert_fails("<d><!--\u{ffff}--></d>", &["data:1:8: a character that XML does not allow"]);
}

#[test]
fn markup_with_mistakes() {
    for (text, wanted) in [
        ("<d>\n <r a='1' b='2' a='3'/></d>", "data:2:17: an element has the attribute `a` twice"),
        ("<d><r a=1/></d>", "data:1:7: the attributes of a tag are not well-formed"),
        ("<d><r a/></d>", "data:1:7: the attributes of a tag are not well-formed"),
        ("<d><r a='1'b='2'/></d>", "data:1:12: the attributes of a tag are not well-formed"),
        ("<d><r a='<'/></d>", "data:1:10, record 1: a `<` in an attribute's value"),
        ("<d><r><1/></r></d>", "data:1:7, record 1: the name of an element is no XML name"),
        ("<d><r>a < b</r></d>", "data:1:9, record 1: the name of an element is no XML name"),
        ("<d><r @a='1'/></d>", "data:1:7: the name of an attribute is no XML name"),
        ("<d><r>]]></r></d>", "data:1:7, record 1: `]]>` outside a CDATA section"),
        ("<d><!-- a--b --></d>", "data:1:4: `--` inside a comment"),
        ("<d><?XML a?></d>", "data:1:4: a processing instruction without a proper name"),
        ("\n<?xml version='1.0'?><d/>", "data:2:1: an XML declaration that is not at the start"),
        ("<?xml version='1.1'?><d/>", "data:1:1: the document is not XML 1.0"),
        ("<?xml encoding='utf-8'?><d/>", "data:1:1: the XML declaration is not well-formed"),
        (
            "<?xml version='1.0' standalone='yes' encoding='utf-8'?><d/>",
            "data:1:1: the XML declaration is not well-formed",
        ),
        ("<d><p:r/></d>", "data:1:4: the namespace prefix `p` is not declared"),
        ("<d><r p:a='1'/></d>", "data:1:7, record 1: the namespace prefix `p` is not declared"),
        ("<d><a:b:c/></d>", "data:1:4: the name of an element is no XML name"),
        (
            "<d xmlns:p='u' xmlns:q='u'><r p:a='1' q:a='2'/></d>",
            "data:1:39, record 1: an element has the attribute `q:a` twice",
        ),
        (
            "<d><r><a xmlns:p='u'/></r><r xmlns:p='v'/></d>",
            "data:1:27: the prefix `p` stands for two namespaces",
        ),
        ("<d><r><a xmlns='u'/></r></d>", "data:1:7, record 1: names without prefix stand for two namespaces"),
        ("<d><r xmlns='u'/><r/></d>", "data:1:18: names without prefix stand for two namespaces"),
        ("<d xmlns:xmlns='u'/>", "data:1:4: a namespace or prefix is used that XML reserves for itself"),
    ] {
        assert_fails(text, &[wanted]);
    }
    let xsi = "xmlns:i='http://www.w3.org/2001/XMLSchema-instance'";
    let failure = fails_at(format!("<d {xsi}><r><a i:nil='true'>x</a></r></d>"), "d/r");
    assert!(failure.to_string().contains("nil has content"), "{failure}");
    let failure = fails_at(format!("<d {xsi}><r><a i:nil='maybe'/></r></d>"), "d/r");
    assert!(failure.to_string().contains("neither true nor false"), "{failure}");
}

#[test]
fn five_thousand_levels_are_refused() {
    let deep = format!("<d><r>{}", (0..5_000).map(|i| format!("<a{i}>")).collect::<String>());
    let failure = fails_at(deep, "d/r");
    assert_eq!(failure.diagnostics[0].message, "nested deeper than 128 levels");
    assert!(failure.diagnostics[0].place.path.as_ref().is_some_and(|p| p.chars().count() == 61));
    // A million, and every one inside another of its name: no more is said than fits on a screen.
    assert!(fails_at(format!("<d><r>{}", "<a>".repeat(1_000_000)), "d/r").diagnostics.len() <= 21);
}

#[test]
fn records_that_are_elsewhere_are_offered() {
    let text = "<db><info/><ward><patient id='1'/><patient id='2'><v/></patient></ward>\
                <staff><nurse id='1'/><nurse id='2'/><nurse id='3'/></staff><w>1</w><w>2</w></db>";
    for record in ["db/patient", "patient", "db/ward/patients", "ward/patient"] {
        let failure = fails_at(text, record);
        assert_eq!(failure.diagnostics[0].message, format!("the document has no record at `{record}`"));
        assert_eq!(
            failure.diagnostics[0].help.as_deref(),
            Some("say where the records are, record = one of db/staff/nurse, db/ward/patient")
        );
    }
    let failure = fails("xml", text);
    assert_eq!(failure.diagnostics[0].message, "nothing says where in the document the records are");
    assert!(fails_at("<a/>", "d/r").diagnostics[0].help.is_some());
    for record in ["", "/", "db/", "/db/patient", "db[]", "db/@id", "db patient", "db/1"] {
        assert_eq!(fails_at(text, record).fault, Fault::Policy, "{record}");
    }
}

#[test]
fn what_xml_cannot_hold_is_not_written() {
    let write = |build: &dyn Fn(&mut Builder)| {
        let mut b = Builder::new();
        build(&mut b);
        let mut out = Vec::new();
        let format = by_name("xml").expect("known");
        let failed =
            format.write(&b.finish(), &layout(Some("d/r"), None), &mut out, &Quiet).expect_err("refused");
        assert!(out.is_empty());
        failed.to_string()
    };
    let keys = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    let value = |b: &mut Builder, names: &[&str], text: &str| {
        let id = b.attribute(ClassId::ROOT, &keys(names));
        b.begin_record();
        b.set(id, Kind::Text, text);
        b.end_record().expect("once");
    };
    assert!(write(&|b| value(b, &["a"], "x\u{1}")).contains("path a: error: a value holds a character"));
    for name in ["a b", "", "1", "a:b:c", "@", "@1"] {
        assert!(write(&|b| value(b, &[name], "x")).contains("cannot be the name"), "{name}");
    }
    assert!(write(&|b| value(b, &["p:a"], "x")).contains("the prefix `p`"));
    let both = |b: &mut Builder| {
        let text = b.attribute(ClassId::ROOT, &keys(&["a"]));
        let inner = b.attribute(ClassId::ROOT, &keys(&["a", "b"]));
        b.begin_record();
        b.set(text, Kind::Text, "x");
        b.set(inner, Kind::Text, "y");
        b.end_record().expect("once");
    };
    assert!(write(&both).contains("both text and elements"));
    let way = |b: &mut Builder| {
        let inner = b.attribute(ClassId::ROOT, &keys(&["a", "b"]));
        let class = b.class(ClassId::ROOT, &keys(&["a"]));
        b.begin_record();
        b.set(inner, Kind::Text, "y");
        b.open(class);
        b.close();
        b.end_record().expect("once");
    };
    assert!(write(&way).contains("cannot hold both this path"));
    let two = read_as("xml", "<d><r/><r/></d>", &layout(Some("d/r"), None)).expect("fine");
    // A document has one root.
    let mut around = Vec::new();
    two.format.write(&two.data, &layout(Some("r"), None), &mut around, &Quiet).expect("writable");
    assert!(
        String::from_utf8(around).expect("UTF-8").ends_with("<publication>\n<r/>\n<r/>\n</publication>\n")
    );
    assert!(two.format.write(&two.data, &layout(None, None), &mut Vec::new(), &Quiet).is_err());
}
