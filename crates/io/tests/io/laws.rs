//! What holds for all data: nothing is lost, order does not show, a second writing changes nothing.

use crate::common::*;
use bosket_io::by_name;
use bosket_model::observe::Quiet;
use bosket_model::{Builder, ClassId, Kind};
use proptest::prelude::*;
use serde_json::{Map, Value};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..3).prop_map(Value::from),
        (-40i32..40).prop_map(|n| Value::from(f64::from(n) / 8.0)),
        "[a-c\"\\\\\n\u{1}é]{0,2}".prop_map(Value::from),
    ]
}

/// What stands under a key follows from the key, so that records fit together.
fn object(depth: u32) -> BoxedStrategy<Value> {
    let mut fields: Vec<(&str, BoxedStrategy<Value>)> = vec![
        ("a", scalar().boxed()),
        ("b", scalar().boxed()),
        ("", scalar().boxed()),
        ("k.\"\n", scalar().boxed()),
        ("tags", prop::collection::vec(scalar(), 0..4).prop_map(Value::from).boxed()),
    ];
    if depth > 0 {
        let inner = object(depth - 1);
        let matrix = prop::collection::vec(prop::collection::vec(scalar(), 0..3), 0..3);
        fields.extend([
            ("one", inner.clone()),
            (
                "many",
                prop::collection::vec(prop_oneof![9 => inner, 1 => Just(Value::Null)], 0..3)
                    .prop_map(Value::from)
                    .boxed(),
            ),
            ("matrix", matrix.prop_map(Value::from).boxed()),
        ]);
    }
    let fields: Vec<_> = fields.into_iter().map(|(k, s)| (Just(k), prop::option::of(s))).collect();
    fields
        .prop_map(|fields| {
            let fields = fields.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?)));
            Value::Object(fields.collect::<Map<_, _>>())
        })
        .boxed()
}

fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().flat_map(|r| format!("{r}\n").into_bytes()).collect()
}

proptest! {
    #[test]
    fn json_keeps_everything_and_shows_no_order(
        records in prop::collection::vec(object(2), 1..6),
        rotation in 0usize..6,
    ) {
        let first = read("ndjson", lines(&records)).expect("records fit together");
        let written = write(&first);
        prop_assert_eq!(canonical_lines(&written), canonical_all(records.clone()));
        let second = read("ndjson", written.clone()).expect("what was written");
        prop_assert_eq!(&write(&second), &written);

        let mut turned = records.clone();
        turned.rotate_left(rotation % records.len());
        let turned = read("ndjson", lines(&turned)).expect("the same records");
        prop_assert_eq!(&write(&turned), &written);

        let layout = layout(Some("x[].\"y.z\".w[]"), None);
        let mut document = Vec::new();
        by_name("json").expect("known").write(&first.data, &layout, &mut document, &Quiet).expect("writable");
        let third = read_as("json", document.clone(), &layout).expect("what was written");
        prop_assert_eq!(&write(&third), &document);
        prop_assert_eq!(third.data.len(), records.len());
    }

    #[test]
    fn tables_keep_every_cell(
        rows in prop::collection::vec(prop::collection::vec("[a,;\"\n\r\té ]{0,3}", 3), 1..6),
        width in 1usize..4,
        separator in prop::sample::select(vec![",", ";", "\t", "|"]),
    ) {
        let mut b = Builder::new();
        let columns: Vec<_> =
            ["x", "a;\"b", "\u{feff}"][..width].iter().map(|n| b.attribute(ClassId::ROOT, &[(*n).to_owned()])).collect();
        for row in &rows {
            b.begin_record();
            for (cell, column) in row.iter().zip(&columns).filter(|(cell, _)| !cell.is_empty()) {
                b.set(*column, Kind::Text, cell);
            }
            b.end_record().expect("nothing twice");
        }
        let csv = by_name("csv").expect("known");
        let layout = layout(None, Some(separator));
        let mut written = Vec::new();
        csv.write(&b.finish(), &layout, &mut written, &Quiet).expect("writable");
        let again = read_as("csv", written.clone(), &layout).expect("what was written");
        prop_assert_eq!(&write(&again), &written);
        let data = &again.data;
        let mut cells: Vec<Vec<String>> = (0..data.len())
            .map(|r| {
                let vertex = data.vertices(r).start;
                data.schema().attributes().map(|(id, _)| match data.value(vertex, id) {
                    bosket_model::MISSING => String::new(),
                    code => data.dictionary(id).text(code).to_owned(),
                }).collect()
            })
            .collect();
        let mut wanted: Vec<Vec<String>> = rows.iter().map(|r| r[..width].to_vec()).collect();
        cells.sort();
        wanted.sort();
        prop_assert_eq!(&cells, &wanted);
        let mut reader = csv::ReaderBuilder::new().delimiter(separator.as_bytes()[0]).from_reader(written.as_slice());
        let mut rival: Vec<Vec<String>> =
            reader.records().map(|r| r.expect("a row").iter().map(Into::into).collect()).collect();
        rival.sort();
        prop_assert_eq!(rival, wanted);
    }

    #[test]
    fn transactions_keep_every_item(
        baskets in prop::collection::vec(prop::collection::vec("[a-c]{1,2}", 0..4), 1..6),
        separator in prop::sample::select(vec![None, Some(";"), Some(", "), Some("\t")]),
    ) {
        let text: String = baskets.iter().map(|b| b.join(separator.unwrap_or("  ")) + "\r\n").collect();
        let layout = layout(None, separator);
        let loaded = read_as("transactions", text, &layout).expect("transactions");
        let written = write(&loaded);
        prop_assert_eq!(write(&read_as("transactions", written.clone(), &layout).expect("written")), written.clone());
        let mut wanted: Vec<String> = baskets
            .into_iter()
            .map(|mut b| { b.sort(); b.join(separator.unwrap_or(" ")) })
            .collect();
        wanted.sort();
        prop_assert_eq!(String::from_utf8(written).expect("UTF-8"), wanted.join("\n") + "\n");
    }
}
