//! Reading: a dataset from NDJSON, against the same bytes parsed into JSON values.

use std::io::Cursor;

use bosket_generate::clinic;
use bosket_io::{Input, Layout};
use bosket_model::{Dataset, MISSING};

use crate::resources::{mb, memory, timed};

pub(crate) fn run(people: u64) {
    let mut text = Vec::new();
    clinic::write_records(&mut text, people, 0).expect("writing to memory");
    println!("read: {people} people of the clinic, {:.1} MB of NDJSON", mb(text.len() as u64));

    let mut serde_best = f64::MAX;
    let mut ours_best = f64::MAX;
    for _ in 0..3 {
        let (count, time) = timed(|| {
            let lines = text.split(|&b| b == b'\n').filter(|l| !l.is_empty());
            lines
                .map(|line| serde_json::from_slice::<serde_json::Value>(line).expect("valid JSON"))
                .filter(|v| v.is_object())
                .count()
        });
        assert_eq!(count as u64, people);
        serde_best = serde_best.min(time.as_secs_f64());
        let (data, time) = timed(|| read(&text));
        assert_eq!(data.len() as u64, people);
        ours_best = ours_best.min(time.as_secs_f64());
    }
    println!("  serde_json into Values  {serde_best:8.3} s");
    println!("  bosket into a Dataset   {ours_best:8.3} s, {:.2} times as long", ours_best / serde_best);

    // What the dataset itself takes: the rise from before to after, the text being there at both times.
    let (before, _) = memory();
    let data = read(&text);
    let (after, _) = memory();
    let values: usize =
        (0..data.vertex_count()).map(|v| data.values(v).iter().filter(|&&c| c != MISSING).count()).sum();
    println!(
        "  memory of the dataset   {:8.1} MB for {:.1} values and {:.1} vertices per record",
        mb(after.saturating_sub(before)),
        values as f64 / data.len() as f64,
        data.vertex_count() as f64 / data.len() as f64,
    );
}

pub(crate) fn read(text: &[u8]) -> Dataset {
    // Reading wants to own its source; the copy is what a file's page cache would be.
    let input = Input::new("clinic", Cursor::new(text.to_vec()), None).expect("readable");
    bosket_io::read(input, Some("ndjson"), &Layout::default()).expect("valid records").data
}
