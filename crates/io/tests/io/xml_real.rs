//! Real XML files, read and written again: nothing that the model holds is lost.

use crate::common::*;
use crate::xml_common::{Habits, at, values};
use bosket_io::{Input, Loaded};
use bosket_model::{Dataset, MISSING};
use roxmltree::{Document, ParsingOptions};

/// A file read, and its text as written; writing it once more must change nothing.
fn again(path: &str, record: &str) -> Option<(Loaded, Vec<u8>)> {
    let path = shared(path)?;
    let layout = layout(Some(record), None);
    let loaded = bosket_io::read(Input::open(&path).expect("readable"), None, &layout);
    let loaded = loaded.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(loaded.format.name(), "xml");
    let written = write(&loaded);
    let second = read_as("xml", written.clone(), &layout).expect("what was written");
    assert_eq!(second.data.len(), loaded.data.len());
    assert_eq!(second.data.vertex_count(), loaded.data.vertex_count());
    assert!(write(&second) == written, "{}: written differently the second time", path.display());
    Some((loaded, written))
}

/// The text of a file as another parser wants it.
fn text(path: &str) -> String {
    let path = shared(path).expect("seen before");
    let bytes = Input::open(&path).and_then(|mut i| i.read_all()).expect("readable");
    // Of the files here only one is not UTF-8, and that one is ISO-8859-1.
    String::from_utf8(bytes).unwrap_or_else(|e| e.into_bytes().iter().map(|&b| char::from(b)).collect())
}

fn canonical(text: &str, record: &str, habits: Option<&Habits>) -> (Vec<String>, Habits) {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).expect("another parser reads it");
    let records = at(&document, record);
    let own = Habits::of(&records);
    let habits = habits.unwrap_or(&own);
    let mut canonical: Vec<String> = records.iter().map(|r| habits.canonical(*r)).collect();
    canonical.sort();
    (canonical, own)
}

#[test]
fn small_files() {
    for (path, record, count, attribute) in [
        ("xml-uw-small/mondial-3.0.xml.gz", "mondial/country", 231, "province[]/city[]/population[]/@year"),
        ("xml-uw-small/reed.xml.gz", "root/course", 703, "place/building"),
        ("xml-xmark/auction.xml.gz", "site/people/person", 255, "profile/interest[]/@category"),
        ("xml-xmark/XMarkAuction.xml.gz", "site/people/person", 764, "address/city"),
    ] {
        let Some((loaded, written)) = again(path, record) else {
            continue;
        };
        assert_eq!(loaded.data.len(), count, "{path}");
        let paths: Vec<&str> = loaded.data.schema().attributes().map(|(_, a)| a.path.as_str()).collect();
        assert!(paths.contains(&attribute), "{path}: {paths:?}");
        let (before, habits) = canonical(&text(path), record, None);
        let written = String::from_utf8(written).expect("UTF-8");
        let (after, _) = canonical(&written, record, Some(&habits));
        assert!(before == after, "{path}");
        let second = read_as("xml", written, &loaded.layout).expect("what was written");
        assert!(values(&second.data) == values(&loaded.data), "{path}");
    }
}

/// How many values the attributes of elements have.
fn attribute_values(data: &Dataset) -> usize {
    let schema = data.schema();
    let mut count = 0;
    for v in 0..data.vertex_count() {
        for (id, &code) in schema.class(data.class(v)).attributes.iter().zip(data.values(v)) {
            let name = schema.attribute(*id).name.last();
            count += usize::from(code != MISSING && name.is_some_and(|n| n.starts_with('@')));
        }
    }
    count
}

#[test]
fn a_large_file() {
    let record = "PubmedArticleSet/PubmedArticle";
    let Some((loaded, written)) = again("xml-pubmed/pubmed20n0014.xml.gz", record) else {
        return;
    };
    assert_eq!(loaded.data.len(), 30_000);
    assert_eq!(attribute_values(&loaded.data), 1_447_890);
    let second = read_as("xml", written, &loaded.layout).expect("what was written");
    assert_eq!(attribute_values(&second.data), 1_447_890);
    let path = "MedlineCitation/MeshHeadingList/MeshHeading[]/DescriptorName";
    assert!(loaded.data.schema().find(path).is_some());
}

/// Its letters are entities of a DTD that is not there.
#[test]
fn entities_of_a_dtd_are_named_and_may_be_replaced() {
    let path = "xml-uw-small/SigmodRecord.xml.gz";
    let Some(file) = shared(path) else {
        return;
    };
    let record = "SigmodRecord/issue/articles/article";
    let layout = layout(Some(record), None);
    let failure =
        bosket_io::read(Input::open(&file).expect("readable"), None, &layout).expect_err("entities");
    let found: Vec<String> = failure
        .diagnostics
        .iter()
        .map(|d| format!("{} {}", d.place.path.as_deref().unwrap_or_default(), d.message))
        .collect();
    // Counted in the raw text: articles with a reference by name inside such an element.
    let text = text(path);
    let concerned = |element: &str| {
        let named = |content: &&str| {
            content.split('&').skip(1).any(|after| !after.starts_with("amp;") && !after.starts_with('#'))
        };
        let (start, end) = (format!("<{element}"), format!("</{}>", element.trim_end()));
        let inside = |article: &str| -> bool {
            let parts = article.split(start.as_str()).skip(1);
            parts.filter_map(|p| p.split(end.as_str()).next()).any(|c| named(&c))
        };
        text.split("<article>").skip(1).filter(|a| inside(a)).count()
    };
    let wanted = [("authors/author", concerned("author ")), ("title", concerned("title"))];
    let wanted = wanted.map(|(path, records)| {
        let more = match records - 1 {
            1 => "one more record".to_owned(),
            n => format!("{n} more records"),
        };
        format!("{path} a reference to an entity that is not declared; the same in {more}")
    });
    assert_eq!(found, wanted);

    let mut replaced = String::new();
    let mut pieces = text.split('&');
    replaced.push_str(pieces.next().expect("one at least"));
    for piece in pieces {
        let (name, rest) = piece.split_once(';').expect("a reference");
        replaced.push_str(if matches!(name, "amp") { "&amp;" } else { "é" });
        replaced.push_str(rest);
    }
    let replaced = replaced.replacen("ISO-8859-1", "UTF-8", 1);
    let loaded = read_as("xml", replaced.clone(), &layout).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(loaded.data.len(), 1_504);
    assert!(loaded.data.schema().find("authors/author[]/@position").is_some());
    let (before, habits) = canonical(&replaced, record, None);
    let written = String::from_utf8(write(&loaded)).expect("UTF-8");
    assert!(before == canonical(&written, record, Some(&habits)).0);
}

#[test]
fn texts_with_markup_are_named() {
    for (record, mixed) in [
        ("site/regions/africa/item", "description/parlist/listitem/text"),
        ("site/open_auctions/open_auction", "annotation/description/text"),
    ] {
        let Some(path) = shared("xml-xmark/auction.xml.gz") else {
            return;
        };
        let layout = layout(Some(record), None);
        let failure =
            bosket_io::read(Input::open(&path).expect("readable"), None, &layout).expect_err(record);
        let text = failure.to_string();
        assert!(text.contains(&format!("path {mixed}: error: an element mixes text and elements")), "{text}");
        assert!(failure.diagnostics.iter().all(|d| d.place.line.is_some() && d.place.column.is_some()));
    }
}
