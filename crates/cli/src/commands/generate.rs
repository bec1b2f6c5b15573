//! `bosket generate`

use std::path::Path;

use bosket_generate::{baskets, clinic, hospital, sensitive_tree, students, tpch};
use bosket_model::Failure;

use crate::Outcome;
use crate::args::{Generate, StudentKind, TpchShape};
use crate::next;
use crate::output::{count, plural, print};
use crate::talk::Talk;

pub fn run(args: &Generate, talk: &Talk) -> Result<Outcome, Failure> {
    match args {
        Generate::Clinic { people, seed, out, force } => {
            clinic::write(out, *people, *seed, talk.create(*force))?;
            let out = out.display();
            print(&format!(
                "wrote {} invented patients to {out}/data.ndjson, with {out}/policy.toml and {out}/hierarchies\n",
                count(*people as usize)
            ))?;
        }
        Generate::Hospital { people, events_per_person, seed, out, force } => {
            let size = hospital::Size { people: *people, events: *events_per_person, seed: *seed };
            let written = hospital::write(out, size, talk.create(*force), talk);
            talk.quiet();
            print(&describe_hospital(out, &written?))?;
        }
        Generate::Tpch { customers, shape, out, force } => {
            let shape = match shape {
                TpchShape::Chain => tpch::Shape::Chain,
                TpchShape::Paper => tpch::Shape::Paper,
            };
            let written = tpch::write(out, shape, *customers, talk.create(*force), talk);
            talk.quiet();
            print(&describe_tpch(out, shape, &written?))?;
        }
        Generate::Students { students, kind, seed, out, force } => {
            let create = talk.create(*force);
            let kind = match kind {
                StudentKind::School => students::Kind::School,
                StudentKind::SyntheticS => students::Kind::SyntheticS,
                StudentKind::SyntheticT => students::Kind::SyntheticT,
            };
            let written = students::write(out, kind, *students, *seed, create, talk);
            talk.quiet();
            print(&describe_students(out, &written?))?;
        }
        Generate::Baskets { transactions, seed, out, force } => {
            let create = talk.create(*force);
            let written = baskets::write(out, *transactions, *seed, create, talk);
            talk.quiet();
            print(&describe_baskets(out, &written?))?;
        }
        Generate::SensitiveTree { fanout, depth, levels, least, most, group_size, seed, out, force } => {
            let shape = sensitive_tree::Shape {
                fanout: *fanout,
                depth: *depth,
                levels: *levels,
                least: *least,
                most: *most,
                group_size: *group_size,
            };
            let written = sensitive_tree::write(out, &shape, *seed, talk.create(*force))?;
            let out = out.display();
            print(&format!(
                "wrote {} to {out}/data.ndjson and {out}/data.xml, with {out}/policy.toml, {out}/policy-xml.toml and \
                 {out}/hierarchies; the hierarchy has {}\n",
                plural(written.people, "invented record"),
                plural(written.nodes + 1, "node"),
            ))?;
        }
    }
    let policy = match args {
        Generate::Hospital { .. } => "policy-csv.toml",
        _ => "policy.toml",
    };
    print(&next::next(["policy", "check", &args.out().join(policy).display().to_string()]))?;
    Ok(Outcome::Done)
}

fn describe_hospital(out: &Path, written: &hospital::Summary) -> String {
    let out = out.display();
    format!(
        "wrote {} with {} to {out}/tables and {out}/hospital.db, with {out}/policy-csv.toml and {out}/policy-sqlite.toml\n\
         a person has {:.1} events on average, at most {}; `bosket inspect --preset omop {out}/tables` drafts a policy for all tables\n",
        plural(written.people as usize, "invented patient"),
        plural(written.events as usize, "event"),
        written.events as f64 / written.people.max(1) as f64,
        count(written.most as usize),
    )
}

fn describe_tpch(out: &Path, shape: tpch::Shape, written: &tpch::Summary) -> String {
    let out = out.display();
    let tables = match shape {
        tpch::Shape::Chain => format!(
            ", and as linked tables to {out}/tables, with policy-csv.toml and policy-sqlite.toml there"
        ),
        tpch::Shape::Paper => String::new(),
    };
    format!(
        "wrote {} with {} of {} to {out}/data.ndjson, with {out}/policy.toml and {out}/hierarchies{tables}\n\
         a record has {:.1} values on average, {:.1} where equal ones under the same parent are merged; \
         depth {} in vertices, {} in values; the hierarchies have {} nodes\n",
        plural(written.customers as usize, "customer"),
        plural(written.orders as usize, "order"),
        plural(written.items as usize, "item"),
        written.values_per_record(),
        written.nodes_per_record(),
        tpch::VERTEX_DEPTH,
        shape.value_depth(),
        shape.hierarchy_nodes(),
    )
}

fn describe_students(out: &Path, written: &students::Summary) -> String {
    let out = out.display();
    let average = |n: u64| n as f64 / written.students.max(1) as f64;
    format!(
        "wrote {} to {out}/data.ndjson, with {out}/policy.toml and {out}/hierarchies, \
         and as linked tables to {out}/tables, with policy-csv.toml and policy-sqlite.toml there\n\
         a student has {:.1} courses and {:.1} vertices on average\n",
        plural(written.students as usize, "student"),
        average(written.courses),
        average(written.vertices),
    )
}

fn describe_baskets(out: &Path, written: &baskets::Summary) -> String {
    let out = out.display();
    format!(
        "wrote {} to {out}/data.txt, with {out}/policy.toml and {out}/hierarchies\n\
         a basket has {:.1} of {} on average, the largest {}\n",
        plural(written.transactions as usize, "basket"),
        written.average(),
        plural(written.items, "article"),
        count(written.longest),
    )
}
