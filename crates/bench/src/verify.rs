//! Verification: every level of knowledge counted, as when a claim holds.

use bosket_engine::kmn::{self, Params};
use bosket_generate::clinic;
use bosket_generate::tpch::Shape;
use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Relations};
use bosket_verify::knowledge::{Range, Records, View, smallest_violation};

use crate::kmn::{customers, hierarchies, of_the_paper};
use crate::read::read;
use crate::resources::{mb, memory, timed};

const PEOPLE: u64 = 100_000;

/// Times are the best of so many.
const RUNS: usize = 3;

pub(crate) fn run() {
    let mut text = Vec::new();
    clinic::write_records(&mut text, PEOPLE / 2, 0).expect("writing to memory");
    // With everybody there twice nothing is violated, and nothing ends the counting early.
    text.extend_from_within(..);
    let (policy, _) = Policy::parse("clinic", clinic::POLICY, &[]).expect("a good policy");
    println!("verify: {PEOPLE} people of the clinic, each twice");
    let data = read(&text);
    for relations in [Relations::Pair, Relations::Embedded] {
        for (m, n) in [(2, 1), (3, 0), (3, 2), (4, 2)] {
            for memory in [2usize << 30, 1 << 20] {
                count(&data, &policy, relations, Range { k: 2, m, n, memory });
            }
        }
    }
    drop(data);
    publication();
}

/// The publication of TPC-H customers, as its claim says.
fn publication() {
    let (trees, binding) = customers(Shape::Chain, PEOPLE);
    let (policy, _) = Policy::parse("tpch", &of_the_paper(Shape::Chain), &[]).expect("a good policy");
    let params = Params::new(&policy).expect("possible");
    let release =
        kmn::run(&trees, &hierarchies(Shape::Chain, &policy), &params, None, &Quiet).expect("reachable");
    let privacy = policy.privacy.as_ref().expect("a claim");
    let number = |n: Option<u32>| n.expect("the claim's number");
    let (k, m, n) = (number(privacy.k), number(privacy.m) as usize, number(privacy.n) as usize);
    println!("  published with k={k}:");
    let published = release.published.write_back(&binding);
    count(&published, &policy, privacy.relations, Range { k, m, n, memory: 2 << 30 });
}

fn count(data: &Dataset, policy: &Policy, relations: Relations, range: Range) {
    let binding =
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "bench").expect("all declared");
    let view = View { relations: (range.n > 0).then_some(relations), ..View::default() };
    let mut best = (f64::MAX, f64::MAX);
    let mut items = 0;
    for _ in 0..RUNS {
        let (records, reading) = timed(|| Records::read(data, &binding, &view, &Quiet).expect("readable"));
        let (found, counting) =
            timed(|| smallest_violation(&records, range, &Quiet).expect("nobody gives up"));
        assert!(found.is_none());
        items = records.item_count();
        best = (best.0.min(reading.as_secs_f64()), best.1.min(counting.as_secs_f64()));
    }
    println!(
        "  {relations:8} m={} n={} --memory {:>5} MB, {items} values: reading {:.3} s, counting {:.3} s  (peak {:.0} MB)",
        range.m,
        range.n,
        range.memory >> 20,
        best.0,
        best.1,
        mb(memory().1)
    );
}
