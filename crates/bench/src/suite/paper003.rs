//! Landberg, Nguyen, Pardede, Rahayu: δ-dependency for privacy-preserving XML data publishing (2014). The distance reached, time
//! and memory over the group size, quasi elements, and the hierarchy's depth and fan-out; dissection, Anatomy and delta.

use super::data::QUASI;
use super::job::{Group, Job, Policy};
use super::result::{Axis, Claim, Holds, Suite, Table};
use super::rules::{LESS, Verdict, at_most, below, falls, pairs, rises, steady};
use super::sweep::{Bench, Sweep};

/// Its name.
pub(super) const NAME: &str = "paper-003";

const TITLE: &str = "Dissection of XML and δ-dependency (Landberg, Nguyen, Pardede, Rahayu 2014)";

const MODELS: [&str; 3] = ["dissection", "anatomy", "delta"];
const COSTS: &[&str] = &["wall", "cpu", "peak"];

fn sweep<'a>(
    id: &'a str,
    title: &'a str,
    axis: Axis,
    lines: &[&'a str],
    measures: &'a [&'a str],
) -> Sweep<'a> {
    Sweep { suite: NAME, id, title, axis, lines: lines.to_vec(), measures }
}

/// Runs the suite.
pub(super) fn run(bench: &Bench) -> Result<Suite, String> {
    let mut tables = generated(bench);
    let articles = bench.pick(300, 30_000, 30_000);
    tables.extend(documents(bench, articles));
    let claims = claims(&tables);
    let notes = vec![
        format!("The paper's documents (nasa, treebank, protein, dblp) cannot be had. PubMed takes their place: {articles} articles, journals as sensitive values in a balanced tree of fan-out 5, {} quasi elements.", QUASI.len()),
        "Generated people follow the paper's table 4: fan-out 3, depth 5, two populated levels, up to 5 occurrences, groups of 5; figures are means over five datasets. The distance δ is that of the weakest group.".to_owned(),
        "Time on documents is from file to file: reading, grouping and writing both sides. `grouping` alone is what figure 8b compares.".to_owned(),
        "What the paper calls the distance reached by Anatomy by chance is that of its weakest group here; the paper takes the mean over runs.".to_owned(),
    ];
    Ok(Suite { name: NAME.to_owned(), title: TITLE.to_owned(), seconds: 0.0, tables, notes, claims })
}

/// Figures 9 and 10.
fn generated(bench: &Bench) -> Vec<Table> {
    let seeds = bench.pick(2, 5, 5);
    let depths: &[usize] = bench.pick(&[4][..], &[4, 5, 6], &[4, 5, 6]);
    let shapes: Vec<(String, usize, usize)> = (depths.iter())
        .flat_map(|depth| {
            [3, 4, 5].map(|fanout| (format!("depth {depth}, fan-out {fanout}"), *depth, fanout))
        })
        .collect();
    let lines: Vec<&str> = shapes.iter().map(|s| s.0.as_str()).collect();
    let shape = |line: &str| {
        let found = shapes.iter().find(|s| s.0 == line);
        found.map_or(Group::default(), |s| Group { depth: s.1, fanout: s.2, seeds, ..Group::default() })
    };
    let figure = |id, title, label: &str, points: &[u32], with: &dyn Fn(Group, usize) -> Group| {
        sweep(id, title, Axis::linear(label), &lines, &["degree", "cpu", "peak"]).run(
            bench,
            points,
            |x, line| Ok(Job::Group(with(shape(line), x as usize))),
        )
    };
    let sizes = bench.pick(&[5, 6][..], &[5, 6, 7, 8, 9, 10], &[5, 6, 7, 8, 9, 10]);
    let few = bench.pick(&[1, 2][..], &[1, 3, 5], &[1, 2, 3, 4, 5]);
    let most = bench.pick(&[5][..], &[5, 15, 25], &[5, 10, 15, 20, 25]);
    let mut tables = vec![
        figure(
            "group-size",
            "δ over the group size, generated (figure 10b)",
            "group size",
            sizes,
            &|g, x| Group { group_size: x, ..g },
        ),
        figure(
            "levels",
            "δ over the populated levels, from the lowest up (figure 9a)",
            "levels",
            few,
            &|g, x| Group { levels: x.min(g.depth - 1), ..g },
        ),
        figure(
            "bias",
            "δ over how much the values concentrate on one branch (figure 9b)",
            "bias",
            few,
            &|g, x| Group { bias: x, ..g },
        ),
        figure(
            "occurrences",
            "δ over the most occurrences of a value (figure 10a)",
            "occurrences",
            most,
            &|g, x| Group { most: x, ..g },
        ),
    ];
    let models = &["delta", "anatomy"];
    let model = |line: &str| Group { delta: line == "delta", seeds, ..Group::default() };
    let depths = bench.pick(&[4u32, 5][..], &[4, 5, 6, 7, 8], &[4, 5, 6, 7, 8, 9]);
    let measures = &["degree", "cpu", "peak", "people"];
    tables.push(
        sweep(
            "depth",
            "depth of the hierarchy, fan-out 3, groups of 5",
            Axis::linear("depth"),
            models,
            measures,
        )
        .run(bench, depths, |x, line| Ok(Job::Group(Group { depth: x as usize, ..model(line) }))),
    );
    let fanouts = bench.pick(&[3u32, 4][..], &[3, 4, 5, 6, 8], &[3, 4, 5, 6, 7, 8]);
    tables.push(
        sweep(
            "fanout",
            "fan-out of the hierarchy, depth 5, groups of 5",
            Axis::linear("fan-out"),
            models,
            measures,
        )
        .run(bench, fanouts, |x, line| Ok(Job::Group(Group { fanout: x as usize, ..model(line) }))),
    );
    tables
}

/// Figures 8 and 11 to 14.
fn documents(bench: &Bench, articles: usize) -> Vec<Table> {
    let job = |quasi: usize, size: u32, line: &str| -> Result<Job, String> {
        let path = bench.data.pubmed(articles, quasi)?;
        let model = if line == "dissection" { "none" } else { line };
        let settings = vec![format!("privacy.model={model}"), format!("privacy.group_size={size}")];
        Ok(Job::Dissect(Policy { path, settings }))
    };
    let sizes = bench.pick(&[5][..], &[5, 10, 20], &[5, 6, 7, 8, 9, 10, 20]);
    let title = "distance and grouping over the group size, PubMed (figure 8)";
    let first = sweep(
        "degree",
        title,
        Axis::linear("group size"),
        &["delta", "anatomy"],
        &["degree", "pairwise", "grouping", "suppressed"],
    )
    .run(bench, sizes, |size, line| job(QUASI.len(), size, line));
    let quasi = bench.pick(&[1, 2][..], &[1, 5], &[1, 2, 3, 4, 5]);
    let title = "time and memory over quasi elements, PubMed, groups of 10 (figures 11a to 14a)";
    let second = sweep("quasi", title, Axis::linear("quasi elements"), &MODELS, COSTS).run(
        bench,
        quasi,
        |quasi: u32, line| job(quasi as usize, 10, line),
    );
    let sizes = bench.pick(&[10][..], &[10, 40], &[10, 20, 30, 40]);
    let title = "time and memory over the group size, PubMed, 5 quasi elements (figures 11b to 14b)";
    let third =
        sweep("size", title, Axis::linear("group size"), &MODELS, COSTS)
            .run(bench, sizes, |size, line| job(QUASI.len(), size, line));
    vec![first, second, third]
}

fn claims(tables: &[Table]) -> Vec<Claim> {
    let table = |id: &str| tables.iter().find(|t| t.id == id).expect("every table is made");
    let (degree, quasi, size) = (table("degree"), table("quasi"), table("size"));
    let near = |id: &str| {
        let table = table(id);
        Verdict::all(table.lines().iter().map(|line| steady(table, line, "degree", 1.5)))
    };
    vec![
        Verdict::all(
            [degree, table("depth"), table("fanout")].map(|t| below(t, "degree", "anatomy", "delta", LESS)),
        )
        .on("delta reaches a larger distance than Anatomy, which reaches one by chance only", None),
        below(degree, "grouping", "delta", "anatomy", LESS).on("delta groups faster than Anatomy", None),
        short(near("levels")).on("δ resists how general the sensitive values are", None),
        short(near("bias")).on("δ resists how the values are spread over branches", None),
        short(near("occurrences")).on("δ stays near constant as data grows", Some("up to 22,500 values")),
        short(near("group-size")).on("δ stays near constant as groups grow", None),
        limit(table("depth"))
            .on("δ is close to the best there could be: the depth of the shallowest value", None),
        rises(quasi, "dissection", "cpu", 0.02).on("dissection takes longer with more quasi elements", None),
        steady(size, "dissection", "cpu", 1.15)
            .on("the group size does not matter to the time of dissection", None),
        steady(quasi, "anatomy", "cpu", 1.15)
            .on("the number of quasi elements hardly matters to the time of Anatomy", None),
        falls(size, "anatomy", "cpu", 0.02).on("Anatomy gets faster with larger groups", None),
        steady(quasi, "dissection", "peak", 1.1).on("memory of dissection is constant", None),
        rises(size, "anatomy", "peak", 0.02).on("memory of Anatomy grows with the group size", None),
        Verdict::all([
            below(quasi, "wall", "delta", "dissection", 1.15),
            below(quasi, "wall", "anatomy", "dissection", 1.15),
        ])
        .on("ours: a privacy property costs at most 15 % more time than dissection alone", None),
        at_most(quasi, "delta", "peak", 100.0)
            .on("ours: documents go through as a stream, in less than 100 MB", None),
    ]
}

/// Nine lines in one verdict: how many of them hold, and the first that does not.
fn short(verdict: Verdict) -> Verdict {
    let parts: Vec<&str> = verdict.why.split("; ").collect();
    let kept = if parts.len() > 2 {
        format!("{}; … ({} lines)", parts[..2].join("; "), parts.len())
    } else {
        verdict.why.clone()
    };
    Verdict { why: kept, ..verdict }
}

/// δ of delta equals the depth of the shallowest value that occurs.
fn limit(table: &Table) -> Verdict {
    let found = pairs(table, "degree", "delta", "delta");
    // With two populated levels the shallowest value lies two levels above the depth of the tree.
    let best: Vec<(f64, f64)> = (table.rows.iter())
        .filter_map(|row| Some((row.x - 2.0, row.values[table.column("delta", "degree")?]?)))
        .collect();
    let reached = best.iter().filter(|(limit, degree)| *degree >= limit - 1e-9).count();
    let close = best.iter().filter(|(limit, degree)| *degree >= limit - 1.0).count();
    let holds = match (found.len(), reached) {
        (0, _) => Holds::Unmeasured,
        (total, reached) if reached == total || close == total => Holds::Yes,
        (_, _) if close == 0 => Holds::No,
        _ => Holds::Partly,
    };
    Verdict {
        holds,
        why: format!(
            "δ of delta is the best possible at {reached} of {} depths and within one of it at {close}",
            best.len()
        ),
    }
}
