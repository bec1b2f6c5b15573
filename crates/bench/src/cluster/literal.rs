//! The literal algorithm against the fast one: the same clusters, how much faster.

use bosket_engine::cluster::{Params, SCALE, Solver, run};
use bosket_generate::students::Kind;
use bosket_model::observe::Quiet;
use bosket_testkit::cluster::{How, Literal, lost, missing};

use super::{Students, policy, texts};
use crate::resources::timed;

fn solve(rows: usize, columns: usize, cost: &[i64]) -> Vec<usize> {
    let mut solver = Solver::default();
    solver.solve(rows, columns, cost, i64::MAX / 4, &Quiet).expect("nobody interrupts");
    (0..rows).map(|row| solver.column_of(row)).collect()
}

pub(super) fn compare(number: u64) {
    // Buckets are left to the fast one: grades decide here.
    let mut students = Students::new(Kind::SyntheticS, number);
    let gpa = students.binding.declared.iter().position(|d| d.path == "gpa").expect("declared");
    students.binding.declared[gpa].role = bosket_model::policy::Role::Insensitive;
    let settings = texts(&["method.algorithm=ctoff", "method.matching=lsap", "privacy.l=3"]);
    let params =
        Params { leftovers: false, ..Params::new(&policy(students.kind, &settings)).expect("possible") };
    let literal = Literal {
        data: &students.data,
        binding: &students.binding,
        hierarchies: &students.hierarchies,
        scale: SCALE,
        how: How::Lsap,
        most: Some(1),
        weighted: true,
        assign: &solve,
        missing: missing(&students.data, &students.binding),
        lost: lost(&students.data, &students.binding, SCALE as f64),
    };
    let ((clusters, _), slow) = timed(|| literal.ctoff(3));
    let (release, fast) = timed(|| {
        run(&students.data, &students.binding, &students.hierarchies, &params, &Quiet).expect("reachable")
    });
    assert_eq!(release.clusters, clusters, "other clusters than the literal ones");
    println!(
        "  {number} students, ctoff with lsap, l = 3: literal {:.2} s, ours {:.3} s, {:.0} times faster, the same clusters",
        slow.as_secs_f64(),
        fast.as_secs_f64(),
        slow.as_secs_f64() / fast.as_secs_f64()
    );
}
