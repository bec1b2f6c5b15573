//! What XML documents mean, and what is written.

use crate::common::*;
use bosket_io::Loaded;
use bosket_model::{Dataset, MISSING};

fn read_xml(text: impl Into<Vec<u8>>, record: &str) -> Loaded {
    read_as("xml", text, &layout(Some(record), None)).unwrap_or_else(|e| panic!("{e}"))
}

/// Every value with its path, per record; elements that repeat are in brackets.
fn values(data: &Dataset) -> Vec<String> {
    fn vertex(data: &Dataset, v: usize, end: usize, out: &mut String) {
        for &id in &data.schema().class(data.class(v)).attributes {
            let code = data.value(v, id);
            if code != MISSING {
                let value = data.dictionary(id).text(code);
                out.push_str(&format!("{}={value:?} ", data.schema().attribute(id).path));
            }
        }
        for child in (v + 1..end).filter(|&c| data.parent(c) == Some(v)) {
            out.push('[');
            vertex(data, child, end, out);
            out.push(']');
        }
    }
    (0..data.len())
        .map(|r| {
            let range = data.vertices(r);
            let mut out = String::new();
            vertex(data, range.start, range.end, &mut out);
            out.trim_end().to_owned()
        })
        .collect()
}

fn paths(data: &Dataset) -> Vec<&str> {
    data.schema().attributes().map(|(_, a)| a.path.as_str()).collect()
}

const CLINIC: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE medicalDB PUBLIC "-//x//EN" "http://example.invalid/never-fetched.dtd">
<!-- made by hand -->
<medicalDB xmlns:h="urn:hospital" exported="yesterday">
  <meta>Quetzal</meta>
  <medicalDBmessage id="p2">
    <name>Ann &amp; Bob</name>
    <bio born="1970"><town>  Köln
    </town></bio>
    <visits>
      <visit rate="3"><h:hospital>H2</h:hospital><code>E10</code><code>E11</code></visit>
      <visit><h:hospital><![CDATA[H<1>]]></h:hospital></visit>
    </visits>
    <note/>
  </medicalDBmessage>
  <?target content?>
  <medicalDBmessage id="p1"><name>C&#233;c&#x69;le</name>
    <visits><visit><code>J45</code></visit></visits>
  </medicalDBmessage>
</medicalDB>
"#;

#[test]
fn elements_and_attributes_have_their_places() {
    let loaded = read_xml(CLINIC, "medicalDB/medicalDBmessage");
    assert_eq!(
        paths(&loaded.data),
        [
            "@id",
            "name",
            "bio/@born",
            "bio/town",
            "visits/visit[]/@rate",
            "visits/visit[]/h:hospital",
            "visits/visit[]/code[]",
            "note",
        ]
    );
    assert_eq!(
        values(&loaded.data),
        [
            "@id=\"p2\" name=\"Ann & Bob\" bio/@born=\"1970\" bio/town=\"Köln\" note=\"\" \
             [visits/visit[]/@rate=\"3\" visits/visit[]/h:hospital=\"H2\" \
             [visits/visit[]/code[]=\"E10\" ][visits/visit[]/code[]=\"E11\" ]]\
             [visits/visit[]/h:hospital=\"H<1>\" ]",
            "@id=\"p1\" name=\"Cécile\" [[visits/visit[]/code[]=\"J45\" ]]",
        ]
    );
    assert_eq!(
        String::from_utf8(write(&loaded)).expect("UTF-8"),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<medicalDB xmlns:h=\"urn:hospital\">\n\
         <medicalDBmessage id=\"p1\"><name>Cécile</name><visits><visit><code>J45</code></visit></visits>\
         </medicalDBmessage>\n\
         <medicalDBmessage id=\"p2\"><name>Ann &amp; Bob</name><bio born=\"1970\"><town>Köln</town></bio>\
         <visits><visit rate=\"3\"><h:hospital>H2</h:hospital><code>E10</code><code>E11</code></visit>\
         <visit><h:hospital>H&lt;1&gt;</h:hospital></visit></visits><note/></medicalDBmessage>\n\
         </medicalDB>\n"
    );
}

#[test]
fn what_lies_outside_the_records_is_left_out_and_named() {
    let loaded = read_xml(CLINIC, "medicalDB/medicalDBmessage");
    let warning = loaded.warnings[0].to_string();
    assert_eq!(loaded.warnings.len(), 1);
    assert!(warning.starts_with(
        "data: warning: left out, since it lies outside the records `medicalDB/medicalDBmessage`: \
         `medicalDB/@exported`, `medicalDB/meta` ("
    ));
    let written = String::from_utf8(write(&loaded)).expect("UTF-8");
    for secret in ["Quetzal", "yesterday", "made by hand", "target", "DOCTYPE"] {
        assert!(!written.contains(secret), "{secret}");
        assert!(!warning.contains("Quetzal") && !warning.contains("yesterday"));
    }
    assert!(read_as("xml", written, &loaded.layout).expect("written").warnings.is_empty());
    let text = read_xml("<a><b><r x='1'/>stray</b><c/></a>", "a/b/r");
    assert!(text.warnings[0].message.ends_with("`a/c`, the text of `a/b`"), "{}", text.warnings[0]);
    assert!(read_xml("<a><b><r x='1'/></b></a>", "a/b/r").warnings.is_empty());
}

#[test]
fn an_element_that_repeats_once_repeats_everywhere() {
    let loaded = read_xml("<d><r><t>1</t></r><r/><r><t>2</t><t>3</t></r></d>", "d/r");
    assert_eq!(paths(&loaded.data), ["t[]"]);
    assert_eq!(values(&loaded.data), ["[t[]=\"1\" ]", "", "[t[]=\"2\" ][t[]=\"3\" ]"]);
    // Not even if the records with several come last, or the elements do not stand together.
    let late = format!("<d>{}<r><t>2</t><u/><t>3</t></r></d>", "<r><t>1</t></r>".repeat(1000));
    assert_eq!(paths(&read_xml(late, "d/r").data), ["t[]", "u"]);
    // The same name elsewhere is another element.
    let loaded = read_xml("<d><r><a><t>1</t></a><b><t>2</t><t>3</t></b></r></d>", "d/r");
    assert_eq!(paths(&loaded.data), ["a/t", "b/t[]"]);
}

#[test]
fn empty_is_a_value_and_missing_is_none() {
    let text = "<d><r><a/><b></b><c>  </c></r><r><a>x</a></r><r><e><f/></e><s><v/><v/></s></r></d>";
    let loaded = read_xml(text, "d/r");
    assert_eq!(
        values(&loaded.data),
        ["a=\"\" b=\"\" c=\"\"", "a=\"x\"", "e/f=\"\" [s/v[]=\"\" ][s/v[]=\"\" ]",]
    );
    // An element with structure elsewhere has no text when it is empty, and keeps its place where it repeats.
    let text = "<d><r><v><h>1</h></v><v/></r><r><e><f>1</f></e></r><r><e/></r></d>";
    let loaded = read_xml(text, "d/r");
    assert_eq!(values(&loaded.data), ["[v[]/h=\"1\" ][]", "e/f=\"1\"", ""]);
    assert!(String::from_utf8(write(&loaded)).expect("UTF-8").contains("<r><v/><v><h>1</h></v></r>"));
    // Text and attributes beside each other.
    let text = "<d><r><p c='EUR'>5</p></r><r><p c='USD'/></r><r><p>6</p></r></d>";
    let loaded = read_xml(text, "d/r");
    assert_eq!(values(&loaded.data), ["p=\"5\" p/@c=\"EUR\"", "p=\"\" p/@c=\"USD\"", "p=\"6\""]);
    // The record's own text is called `.`.
    let loaded = read_xml("<d><r k='1'>x</r><r>y</r></d>", "d/r");
    assert_eq!(values(&loaded.data), [".=\"x\" @k=\"1\"", ".=\"y\""]);
}

#[test]
fn nil_is_missing() {
    let xsi = "xmlns:i='http://www.w3.org/2001/XMLSchema-instance'";
    let text = format!("<d {xsi}><r><a i:nil='true'/><b>1</b></r><r><a i:nil=' 0 '/></r><r><a/></r></d>");
    let loaded = read_xml(text, "d/r");
    assert_eq!(values(&loaded.data), ["b=\"1\"", "a=\"\"", "a=\"\""]);
    let text = format!("<d {xsi}><r><a c='1' i:nil='1'/></r><r><a>x</a></r><r><t i:nil='true'/><t/></r></d>");
    let loaded = read_xml(text, "d/r");
    assert_eq!(values(&loaded.data), ["a/@c=\"1\"", "a=\"x\"", "[][t[]=\"\" ]"]);
    let written = String::from_utf8(write(&loaded)).expect("UTF-8");
    assert!(written.contains("<a c=\"1\" i:nil=\"true\"/>"), "{written}");
    assert!(written.contains("<t i:nil=\"true\"/><t/>"), "{written}");
    let again = read_as("xml", written, &loaded.layout).expect("written");
    assert_eq!(values(&again.data), ["a/@c=\"1\"", "a=\"x\"", "[][t[]=\"\" ]"]);
}

#[test]
fn blanks_around_text_are_layout_unless_they_are_written_out() {
    let text = "<d><r><a>\n  x  y\r\n z \n</a><b>&#32;x<![CDATA[ ]]></b><c k=' x\n\ty '/></r></d>";
    let loaded = read_xml(text, "d/r");
    assert_eq!(values(&loaded.data), ["a=\"x  y\\n z\" b=\" x \" c/@k=\" x  y \""]);
    let written = String::from_utf8(write(&loaded)).expect("UTF-8");
    assert!(written.contains("<b>&#32;x&#32;</b>"), "{written}");
    assert_eq!(values(&read_as("xml", written, &loaded.layout).expect("written").data), values(&loaded.data));
}

#[test]
fn elements_keep_their_order_whatever_the_order_of_records() {
    let records =
        ["<r><z>1</z><m>1</m><a>1</a></r>", "<r><q>1</q><m>2</m><m>2</m></r>", "<r><a>3</a><b>3</b></r>"];
    let document = |order: [usize; 3]| {
        let records: String = order.iter().map(|&i| records[i]).collect();
        write(&read_xml(format!("<d>{records}</d>"), "d/r"))
    };
    let written = document([0, 1, 2]);
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        assert_eq!(document(order), written);
    }
    let text = String::from_utf8(written).expect("UTF-8");
    assert!(text.contains(records[0]) && text.contains(records[1]) && text.contains(records[2]), "{text}");
}

#[test]
fn namespaces_are_kept() {
    // Around the records, on the records, and inside of them.
    let text = "<d xmlns='urn:d' xmlns:u='urn:unused'>\
                <r xmlns='urn:r'><p:a xmlns:p='urn:p' p:k='1'>x</p:a></r>\
                <r xmlns='urn:r' xmlns:q='urn:q&amp;'><b xml:lang='de'>y</b></r></d>";
    let loaded = read_xml(text, "d/r");
    assert_eq!(paths(&loaded.data), ["b", "b/@xml:lang", "p:a", "p:a/@p:k"]);
    let written = String::from_utf8(write(&loaded)).expect("UTF-8");
    // A prefix that no name uses stays there, wherever it is declared.
    assert_eq!(
        written,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <d xmlns=\"urn:d\" xmlns:p=\"urn:p\">\n\
         <r xmlns=\"urn:r\"><b xml:lang=\"de\">y</b></r>\n\
         <r xmlns=\"urn:r\"><p:a p:k=\"1\">x</p:a></r>\n</d>\n"
    );
    let again = read_as("xml", written.clone(), &loaded.layout).expect("written");
    assert_eq!(String::from_utf8(write(&again)).expect("UTF-8"), written);
}

#[test]
fn prefixed_records() {
    let text = "<s:d xmlns:s='urn:s'><s:r><s:a>1</s:a></s:r></s:d>";
    let loaded = read_xml(text, "s:d/s:r");
    assert_eq!(values(&loaded.data), ["s:a=\"1\""]);
    assert!(write(&loaded).ends_with(b"<s:d xmlns:s=\"urn:s\">\n<s:r><s:a>1</s:a></s:r>\n</s:d>\n"));
}

#[test]
fn a_root_can_be_the_record() {
    let loaded = read_xml("<p:r xmlns:p='urn:p' xmlns='urn:x'><a>1</a></p:r>", "p:r");
    let written = String::from_utf8(write(&loaded)).expect("UTF-8");
    assert!(written.ends_with("<p:r xmlns=\"urn:x\" xmlns:p=\"urn:p\"><a>1</a></p:r>\n"), "{written}");
    assert_eq!(values(&read_as("xml", written, &loaded.layout).expect("written").data), ["a=\"1\""]);
}

#[test]
fn encodings_and_marks() {
    let body = "<d><r><a>é€😀</a></r></d>";
    let sixteen = |text: &str, little: bool| -> Vec<u8> {
        let units = text.encode_utf16();
        units.flat_map(|u| if little { u.to_le_bytes() } else { u.to_be_bytes() }).collect()
    };
    let declared = |encoding: &str| format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?>\n{body}");
    for bytes in [
        body.as_bytes().to_vec(),
        format!("\u{feff}{body}").into_bytes(),
        format!("\u{feff}{}", declared("utf-8")).into_bytes(),
        sixteen(&format!("\u{feff}{body}"), true),
        sixteen(&format!("\u{feff}{}", declared("UTF-16")), false),
        sixteen(&declared("UTF-16LE"), true),
    ] {
        for named in [true, false] {
            let layout = layout(Some("d/r"), None);
            let input = input(bytes.clone()).expect("readable");
            let loaded =
                bosket_io::read(input, named.then_some("xml"), &layout).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(values(&loaded.data), ["a=\"é€😀\""]);
            assert!(write(&loaded).starts_with(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
        }
    }
    let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><d><r><\xe9>\xfc</\xe9></r></d>".as_slice();
    assert_eq!(values(&read_xml(latin, "d/r").data), ["é=\"ü\""]);
}

#[test]
fn long_texts_cross_the_pieces_in_which_a_file_is_read() {
    let long = "é&amp;ü ".repeat(60_000);
    let text = format!("<d><r><a>{long}.</a><b k='{long}'/></r></d>");
    let wanted = "é&ü ".repeat(60_000);
    for bytes in [text.clone().into_bytes(), text.encode_utf16().flat_map(u16::to_be_bytes).collect()] {
        let bytes = if bytes[0] == 0 { [b"\xfe\xff".as_slice(), &bytes].concat() } else { bytes };
        let loaded = read_xml(bytes, "d/r");
        let data = &loaded.data;
        let value = |path: &str| {
            let id = data.schema().find(path).expect(path);
            data.dictionary(id).text(data.value(0, id))
        };
        assert!(value("a") == format!("{wanted}."));
        assert!(value("b/@k") == wanted);
    }
}
