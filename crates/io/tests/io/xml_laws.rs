//! What holds for all XML: nothing is lost, order does not show, a second writing changes nothing.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::*;
use crate::xml_common::{Habits, at, values};
use bosket_io::{Layout, Loaded, by_name};
use bosket_model::observe::Quiet;
use bosket_model::path::Notation;
use bosket_model::{Builder, ClassId, Dataset, Kind, MISSING};
use proptest::prelude::*;
use roxmltree::Document;

/// An element with attributes, and either text or elements.
#[derive(Clone, Debug)]
struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Text(String, u8),
    Elements(Vec<Element>),
}

/// Names differ from level to level, so that nothing contains itself.
const NAMES: [[&str; 4]; 3] = [["a", "b", "é.x", "d"], ["e", "f", "g", "h"], ["i", "j", "k", "l"]];

fn text() -> impl Strategy<Value = String> {
    "([ab<&\"'>é\\]😀]([ab \n\t]{0,2}[ab<&>])?)?"
}

fn element(depth: usize) -> BoxedStrategy<Element> {
    let name = prop::sample::select(NAMES[2 - depth].to_vec());
    let attribute = prop::option::weighted(0.3, "[ab<&\"'\t\n \r]{0,3}");
    let text = (text(), 0u8..4).prop_map(|(text, style)| Content::Text(text, style));
    let content = if depth == 0 {
        text.boxed()
    } else {
        let inner = prop::collection::vec(element(depth - 1), 0..4).prop_map(Content::Elements);
        prop_oneof![text, inner].boxed()
    };
    (name, attribute.clone(), attribute, content)
        .prop_map(|(name, k, z, content)| {
            let attributes = [("z", z), ("k", k)].into_iter().filter_map(|(n, v)| Some((n, v?)));
            Element { name, attributes: attributes.collect(), content }
        })
        .boxed()
}

fn record() -> impl Strategy<Value = Element> {
    prop::collection::vec(element(2), 0..5).prop_map(|elements| Element {
        name: "r",
        attributes: Vec::new(),
        content: Content::Elements(elements),
    })
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Element {
    fn print(&self, out: &mut String) {
        out.push_str(&format!("<{}", self.name));
        for (name, value) in &self.attributes {
            let value = escape(value).replace('\n', "&#xA;").replace('\t', "&#9;").replace('\r', "&#13;");
            out.push_str(&format!("\n {name} = \"{value}\""));
        }
        match &self.content {
            Content::Text(text, _) if text.is_empty() => out.push_str(" />"),
            Content::Text(text, style) => {
                let text = match style {
                    0 => format!("\n  {}\t", escape(text)),
                    1 => format!("<![CDATA[{}]]>", text.replace("]]>", "]]]]><![CDATA[>")),
                    2 => text.chars().map(|c| format!("&#{};", c as u32)).collect(),
                    _ => format!("{}<!-- <x/> -->", escape(text)),
                };
                out.push_str(&format!(">{text}</{}>", self.name));
            }
            Content::Elements(elements) => {
                out.push_str(">\n ");
                for element in elements {
                    element.print(out);
                    out.push_str(" \n");
                }
                out.push_str(&format!("</{} >", self.name));
            }
        }
    }
}

fn document(records: &[Element]) -> String {
    let mut out = "<?xml version=\"1.0\"?>\n<d>".to_owned();
    records.iter().for_each(|r| r.print(&mut out));
    out + "</d>"
}

fn canonical(text: &str, habits: &Habits) -> Vec<String> {
    let document = Document::parse(text).expect("another parser reads it");
    let mut records: Vec<String> = at(&document, "d/r").iter().map(|r| habits.canonical(*r)).collect();
    records.sort();
    records
}

fn read_xml(text: &str, layout: &Layout) -> Loaded {
    read_as("xml", text, layout).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn write_xml(data: &Dataset, layout: &Layout) -> String {
    let mut out = Vec::new();
    by_name("xml").expect("known").write(data, layout, &mut out, &Quiet).unwrap_or_else(|e| panic!("{e}"));
    String::from_utf8(out).expect("UTF-8")
}

/// The same data without the values and vertices that `drop` picks, in a schema of its own making.
fn thinned(data: &Dataset, mut drop: impl FnMut() -> bool) -> Dataset {
    let schema = data.schema();
    let mut b = Builder::in_notation(schema.notation());
    let mut classes = vec![ClassId::ROOT];
    for (_, class) in schema.classes().skip(1) {
        let parent = classes[class.parent.expect("not the root").index()];
        classes.push(b.class(parent, &class.name));
    }
    for record in 0..data.len() {
        b.begin_record();
        let mut open: Vec<usize> = vec![data.vertices(record).start];
        let mut dropped: Option<usize> = None;
        for v in data.vertices(record) {
            if let Some(parent) = data.parent(v) {
                if let Some(top) = dropped {
                    let mut above = Some(v);
                    while let Some(a) = above.filter(|&a| a > top) {
                        above = data.parent(a);
                    }
                    if above == Some(top) {
                        continue;
                    }
                    dropped = None;
                }
                while open.last() != Some(&parent) {
                    open.pop();
                    b.close();
                }
                if drop() && drop() {
                    dropped = Some(v);
                    continue;
                }
                open.push(v);
                b.open(classes[data.class(v).index()]);
            }
            for &id in &schema.class(data.class(v)).attributes {
                let code = data.value(v, id);
                if code != MISSING && !drop() {
                    let new = b.attribute(classes[data.class(v).index()], &schema.attribute(id).name);
                    b.set(new, Kind::Text, data.dictionary(id).text(code));
                }
            }
        }
        b.end_record().expect("once");
    }
    b.finish()
}

proptest! {
    #[test]
    fn xml_keeps_everything_and_shows_no_order(
        records in prop::collection::vec(record(), 1..6),
        rotation in 0usize..6,
    ) {
        let text = document(&records);
        let first = read_xml(&text, &layout(Some("d/r"), None));
        prop_assert_eq!(first.data.len(), records.len());
        let written = write_xml(&first.data, &first.layout);
        {
            let parsed = Document::parse(&text).expect("another parser reads it");
            let habits = Habits::of(&at(&parsed, "d/r"));
            prop_assert_eq!(canonical(&written, &habits), canonical(&text, &habits), "{}", written);
        }
        let second = read_xml(&written, &first.layout);
        prop_assert_eq!(values(&second.data), values(&first.data), "{}", written);
        prop_assert_eq!(&write_xml(&second.data, &second.layout), &written);

        // What was found out about the order is found again by a reader who knows nothing.
        let stranger = read_xml(&written, &layout(Some("d/r"), None));
        prop_assert_eq!(&write_xml(&stranger.data, &stranger.layout), &written);

        let mut turned = records.clone();
        turned.rotate_left(rotation % records.len());
        let turned = read_xml(&document(&turned), &layout(Some("d/r"), None));
        prop_assert_eq!(&write_xml(&turned.data, &turned.layout), &written);
    }

    #[test]
    fn whatever_is_taken_away_the_rest_is_read_again(
        records in prop::collection::vec(record(), 1..6),
        drops in prop::collection::vec(any::<bool>(), 64),
    ) {
        let first = read_xml(&document(&records), &layout(Some("d/r"), None));
        let mut turn = 0;
        let rest = thinned(&first.data, || { turn += 1; drops[turn * 7 % drops.len()] });
        let written = write_xml(&rest, &first.layout);
        let again = read_xml(&written, &first.layout);
        prop_assert_eq!(values(&again.data), values(&rest), "{}", written);
        prop_assert_eq!(&write_xml(&again.data, &again.layout), &written);
    }

    #[test]
    fn any_text_survives(texts in prop::collection::vec("\\PC{0,4}[ \t\n\r]{0,2}", 1..4)) {
        let mut b = Builder::in_notation(Notation::Slashes);
        let text = b.attribute(ClassId::ROOT, &["a".to_owned()]);
        let value = b.attribute(ClassId::ROOT, &["a".to_owned(), "@k".to_owned()]);
        for t in &texts {
            b.begin_record();
            b.set(text, Kind::Text, t);
            b.set(value, Kind::Text, t);
            b.end_record().expect("once");
        }
        let data = b.finish();
        let layout = layout(Some("x/y/r"), None);
        let written = write_xml(&data, &layout);
        let again = read_xml(&written, &layout);
        prop_assert_eq!(values(&again.data), values(&data), "{}", written);
    }

    #[test]
    fn no_bytes_bring_the_reader_down(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "<d>", "</d>", "<r>", "</r>", "<r/>", "<a k='1'>", "</a>", "<a", " k=", "'", "\"", ">", "/>", "&amp;",
                "&#65;", "&x;", "&", ";", "<!--", "-->", "<![CDATA[", "]]>", "<?p ?>", "<!DOCTYPE d [", "]>",
                "<!ENTITY x 'y'>", "text", " ", "\n", "é", "\u{1}", "xmlns:p='u'", "<p:a/>", "<?xml version='1.0'?>",
            ]),
            0..24,
        ),
        cut in 0usize..200,
    ) {
        let text = format!("<d><r>{}</r></d>", pieces.concat()).into_bytes();
        let text = text[..text.len() - cut.min(text.len()).saturating_sub(150)].to_vec();
        if let Ok(loaded) = read_as("xml", text.clone(), &layout(Some("d/r"), None)) {
            // Whatever is accepted, another parser accepts too.
            let text = String::from_utf8(text).expect("accepted, so text");
            let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
            prop_assert!(Document::parse_with_options(&text, options).is_ok(), "{}", text);
            let written = write_xml(&loaded.data, &loaded.layout);
            prop_assert_eq!(values(&read_xml(&written, &loaded.layout).data), values(&loaded.data));
        }
    }
}

#[test]
fn libxml_finds_no_fault() {
    let lint = |text: &str| -> Option<bool> {
        let mut child = Command::new("xmllint")
            .args(["--noout", "-"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        child.stdin.take()?.write_all(text.as_bytes()).ok()?;
        let output = child.wait_with_output().ok()?;
        Some(output.status.success() && output.stderr.is_empty())
    };
    if lint("<a/>").is_none() {
        eprintln!("skipped: xmllint is not installed");
        return;
    }
    assert_eq!(lint("<a>"), Some(false));
    let text = "<s:d xmlns:s='urn:s' xmlns='urn:d'><x/><s:r xmlns=''><a k='&lt;&#10;&quot;'>]]&gt;&#32;</a><t/><t>1</t>\
                <q:b xmlns:q='urn:q' q:k='é'><q:c/></q:b></s:r><s:r xmlns=''><t><u>2</u></t></s:r></s:d>";
    let loaded = read_xml(text, &layout(Some("s:d/s:r"), None));
    let mut turn = 0;
    let thin = thinned(&loaded.data, || {
        turn += 1;
        turn % 3 == 0
    });
    for data in [&loaded.data, &thin] {
        let written = write_xml(data, &loaded.layout);
        assert_eq!(lint(&written), Some(true), "{written}");
    }
}
