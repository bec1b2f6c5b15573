//! Verification: every level of knowledge counted, as when a claim holds.

use bosket_generate::clinic;
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Payload, Policy, Relations, RootMode};
use bosket_model::value_tree::ValueTrees;
use bosket_verify::knowledge::{Inferred, Range, Records, smallest_violation};

use crate::read::read;
use crate::resources::{mb, memory, timed};

const PEOPLE: u64 = 100_000;

pub(crate) fn run() {
    let mut text = Vec::new();
    clinic::write_records(&mut text, PEOPLE, 0).expect("writing to memory");
    let data = read(&text);
    drop(text);
    let (policy, _) = Policy::parse("clinic", clinic::POLICY, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "clinic").expect("all declared");
    let (trees, time) = timed(|| ValueTrees::new(&data, &binding, RootMode::Separate, Payload::Drop));
    let nodes: usize = (0..trees.len()).map(|r| trees.nodes(r).len()).sum();
    println!(
        "verify: {PEOPLE} people of the clinic, {:.1} values each, {} distinct, {} threads; value trees {:.3} s",
        nodes as f64 / trees.len() as f64,
        trees.items().len(),
        rayon::current_num_threads(),
        time.as_secs_f64()
    );
    for relations in [Relations::Pair, Relations::Embedded] {
        for (m, n) in [(2, 1), (3, 0), (3, 2), (4, 2)] {
            for memory_limit in [2usize << 30, 1 << 20] {
                let records = Records::new(&trees, n > 0, relations, Inferred::default());
                // No knowledge has a support below 1, so nothing ends the counting early.
                let range = Range { k: 1, m, n, memory: memory_limit };
                let (found, time) = timed(|| smallest_violation(&records, range, &Quiet));
                assert!(found.is_none());
                println!(
                    "  {relations:8} m={m} n={n} --memory {:>5} MB  {:8.3} s  (peak {:.0} MB)",
                    memory_limit >> 20,
                    time.as_secs_f64(),
                    mb(memory().1)
                );
            }
        }
    }
}
