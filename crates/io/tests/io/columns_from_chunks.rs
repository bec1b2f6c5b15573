//! Parquet from chunks: the bytes that all records in memory would have been written as, over several row groups.

use std::fs::File;
use std::path::Path;

use crate::tables_common::policy;
use bosket_io::{BatchSize, Chunks, Create, Input, Layout, Publication, SourceForm, Whereabouts, by_name};
use bosket_model::observe::Quiet;
use bosket_model::{Builder, ClassId, Dataset, Kind};
use parquet::file::reader::{FileReader, SerializedFileReader};
use tempfile::TempDir;

/// Whole numbers, texts and lists; the last record has numbers that the others' types do not hold.
fn records(count: usize) -> Dataset {
    let mut builder = Builder::new();
    let names = ["whole", "price", "name"].map(|name| vec![name.to_owned()]);
    let [whole, price, name] = names.map(|name| builder.attribute(ClassId::ROOT, &name));
    let list = builder.class(ClassId::ROOT, &["list".to_owned()]);
    let item = builder.attribute(list, &[]);
    for record in 0..count {
        let last = record + 1 == count;
        builder.begin_record();
        let number =
            if last { "18446744073709551615".to_owned() } else { (record * 7919 % count).to_string() };
        builder.set(whole, Kind::Number, &number);
        let number = if last { "0.1234567890123456789012" } else { ["1.5", "2", "-3.25"][record % 3] };
        builder.set(price, Kind::Number, number);
        if record % 5 > 0 {
            builder.set(name, Kind::Text, ["", "a\0b", "\u{1}", "b"][record % 4]);
        }
        for i in 0..record % 3 {
            builder.open(list);
            builder.set(item, Kind::Text, ["x", "y\u{4}"][(record + i) % 2]);
            builder.close();
        }
        builder.end_record().expect("room");
    }
    builder.finish()
}

/// Publishes what a policy reads, at once or in chunks, and gives how many records were read again.
fn publish(folder: &Path, out: &str, chunk: Option<usize>) -> usize {
    let text = format!(
        "version = 1\n[source]\nformat = \"parquet\"\npath = \"data.parquet\"\n\
         [[attribute]]\npath = \"name\"\nrole = \"insensitive\"\n[publish]\npath = \"{out}\"\n"
    );
    let file = policy(folder, &text);
    let mut again = 0;
    let Some(records) = chunk else {
        let input = Input::open(&folder.join("data.parquet")).expect("a file");
        let loaded = bosket_io::read(input, None, &Layout::default()).expect("readable");
        let form = SourceForm::Document { format: loaded.format, layout: Box::new(loaded.layout) };
        let mut publication = Publication::begin(&file, &form, Create::default()).expect("room");
        publication.write(&loaded.data, &Quiet).expect("written");
        again += publication.read_again(&Quiet).expect("readable").len();
        publication.finish(Vec::new(), &Quiet).expect("published");
        return again;
    };
    let (mut chunks, size) = (Chunks::new(), BatchSize { records, bytes: usize::MAX });
    let place = Whereabouts::input(&file).expect("a source");
    let form = place.batches(size, &Quiet, &mut |opened| chunks.push(&opened.data)).expect("readable");
    assert_eq!(chunks.len(), chunks.records().div_ceil(records), "chunks are as large as asked for");
    let mut publication = Publication::begin(&file, &form, Create::default()).expect("room");
    publication.refuse_unwritable_in_parts().expect("writable");
    publication.write_parts(&mut chunks, 1 << 16, &Quiet).expect("written");
    let read = publication.read_again_in_parts(size, &Quiet, &mut |data| {
        assert!(data.len() <= records);
        again += data.len();
        Ok(())
    });
    read.expect("readable");
    publication.finish(Vec::new(), &Quiet).expect("published");
    again
}

#[test]
fn row_groups_do_not_follow_chunks() {
    let dir = TempDir::new().expect("a folder");
    let count = 70_000;
    let mut data = File::create(dir.path().join("data.parquet")).expect("room");
    let parquet = by_name("parquet").expect("a format");
    parquet.write(&records(count), &Layout::default(), &mut data, &Quiet).expect("written");
    let bytes = |name: &str| std::fs::read(dir.path().join(name)).expect("a file");
    assert_eq!(publish(dir.path(), "whole.parquet", None), count);
    let file = File::open(dir.path().join("whole.parquet")).expect("a file");
    let reader = SerializedFileReader::new(file).expect("columns");
    assert!(reader.num_row_groups() > 1);
    for chunk in [9_999, 70_000] {
        let out = format!("chunks{chunk}.parquet");
        assert_eq!(publish(dir.path(), &out, Some(chunk)), count);
        assert!(bytes(&out) == bytes("whole.parquet"), "chunks of {chunk} differ");
    }
}

/// A number and the text of it are published alike: which is which must not show in the order of records either.
#[test]
fn a_number_and_its_text_are_in_no_order() {
    let mut texts = Vec::new();
    for kinds in [[Kind::Number, Kind::Text], [Kind::Text, Kind::Number]] {
        let mut builder = Builder::new();
        let [first, second] = ["a", "b"].map(|name| builder.attribute(ClassId::ROOT, &[name.to_owned()]));
        for (kind, text) in kinds.into_iter().zip(["x", "y"]) {
            builder.begin_record();
            builder.set(first, kind, "1");
            builder.set(second, Kind::Text, text);
            builder.end_record().expect("room");
        }
        let mut text = Vec::new();
        let parquet = by_name("parquet").expect("a format");
        parquet.write(&builder.finish(), &Layout::default(), &mut text, &Quiet).expect("written");
        texts.push(text);
    }
    assert!(texts[0] == texts[1]);
}
