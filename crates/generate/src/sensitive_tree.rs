//! People with one sensitive value each, out of a hierarchy of given shape: the generator of the experiments with
//! δ-dependency (table 4 of the paper).
//!
//! The hierarchy is a full tree: `fanout` children per node, `depth` levels counting the root. Of its lowest `levels`
//! levels every node occurs `least` to `most` times. A person has five quasi values beside it, so that sizes over the
//! number of quasi elements can be compared.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use bosket_io::{Create, Output, finish_all, make_folder, write_failure};
use bosket_model::Result;

use bosket_model::random::Random;

/// The shape of hierarchy and data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Children per node.
    pub fanout: usize,
    /// Levels of the hierarchy, the root's included.
    pub depth: usize,
    /// How many levels, from the lowest up, occur in the data.
    pub levels: usize,
    /// Fewest occurrences of a node.
    pub least: usize,
    /// Most occurrences of a node.
    pub most: usize,
    /// People per group, in the policies.
    pub group_size: usize,
}

/// The defaults of the paper's table 4.
impl Default for Shape {
    fn default() -> Self {
        Shape { fanout: 3, depth: 5, levels: 2, least: 0, most: 5, group_size: 5 }
    }
}

/// What has been written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// People.
    pub people: usize,
    /// Nodes of the hierarchy, without its root.
    pub nodes: usize,
}

/// The labels of the hierarchy below its root, level by level: `n1`, `n1.3`, `n1.3.2`.
pub fn labels(shape: &Shape) -> Vec<Vec<String>> {
    let mut levels: Vec<Vec<String>> = Vec::new();
    for depth in 1..shape.depth {
        let above = depth.checked_sub(2).map_or(vec!["n".to_owned()], |at| levels[at].clone());
        let dot = if depth == 1 { "" } else { "." };
        let below =
            |label: &String| (1..=shape.fanout).map(|i| format!("{label}{dot}{i}")).collect::<Vec<_>>();
        levels.push(above.iter().flat_map(below).collect());
    }
    levels
}

/// The sensitive values of all people, in no order that means anything.
pub fn values(shape: &Shape, seed: u64) -> Vec<String> {
    let mut random = Random::new(seed);
    let levels = labels(shape);
    let mut values = Vec::new();
    for label in levels.iter().rev().take(shape.levels).flatten() {
        let count = shape.least + random.below(shape.most.saturating_sub(shape.least) + 1);
        values.extend(std::iter::repeat_n(label.clone(), count));
    }
    for i in (1..values.len()).rev() {
        values.swap(i, random.below(i + 1));
    }
    values
}

/// The hierarchy as a CSV file.
pub fn hierarchy(shape: &Shape) -> String {
    let mut out = String::new();
    for label in labels(shape).iter().flatten() {
        let mut at = label.as_str();
        out.push_str(at);
        while let Some((above, _)) = at.rsplit_once('.') {
            let _ = write!(out, ";{above}");
            at = above;
        }
        out.push_str(";*\n");
    }
    out
}

const QUASI: [&str; 5] = ["town", "year", "sex", "work", "status"];

fn policy(shape: &Shape, xml: bool) -> String {
    let (source, target) = match xml {
        true => ("format = \"xml\"\npath = \"data.xml\"\nrecord = \"people/person\"", "published.xml"),
        false => ("format = \"ndjson\"\npath = \"data.ndjson\"", "published.json"),
    };
    let quasi = QUASI.map(|name| format!("[[attribute]]\npath = \"{name}\"\nrole = \"quasi\"\n\n")).concat();
    let schema = if xml { "schema = \"published.xsd\"\nroot = \"Published\"\n" } else { "" };
    format!(
        "# People with one sensitive value each: quasi and sensitive sides are published apart.\n\
         version = 1\n\n[source]\n{source}\n\n\
         [[attribute]]\npath = \"name\"\nrole = \"identifying\"\n\n{quasi}\
         [[attribute]]\npath = \"finding\"\nrole = \"sensitive\"\nhierarchy = \"hierarchies/finding.csv\"\n\n\
         [privacy]\nmodel = \"delta\"\ngroup_size = {}\n\n[publish]\npath = \"{target}\"\n{schema}",
        shape.group_size
    )
}

/// Writes `data.ndjson` and `data.xml` with the same people, `policy.toml` and `policy-xml.toml`, and the hierarchy.
pub fn write(folder: &Path, shape: &Shape, seed: u64, create: Create) -> Result<Summary> {
    make_folder(&folder.join("hierarchies"))?;
    let values = values(shape, seed);
    let mut random = Random::new(seed ^ 0x5e75);
    let mut lines = String::new();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<people>\n");
    for (i, value) in values.iter().enumerate() {
        let own = [
            format!("T{}", random.below(50)),
            (1930 + random.below(80)).to_string(),
            ["f", "m"][random.below(2)].to_owned(),
            format!("W{}", random.below(20)),
            ["single", "married", "widowed", "divorced"][random.below(4)].to_owned(),
        ];
        let _ = write!(lines, "{{\"name\":\"P{i}\"");
        let _ = write!(xml, "<person><name>P{i}</name>");
        for (name, text) in QUASI.iter().zip(&own) {
            let _ = write!(lines, ",\"{name}\":\"{text}\"");
            let _ = write!(xml, "<{name}>{text}</{name}>");
        }
        let _ = writeln!(lines, ",\"finding\":\"{value}\"}}");
        let _ = writeln!(xml, "<finding>{value}</finding></person>");
    }
    xml.push_str("</people>\n");
    let mut outputs = Vec::new();
    for (name, text) in [
        ("data.ndjson", lines),
        ("data.xml", xml),
        ("policy.toml", policy(shape, false)),
        ("policy-xml.toml", policy(shape, true)),
        ("hierarchies/finding.csv", hierarchy(shape)),
    ] {
        let mut output = Output::create(&folder.join(name), create.clone())?;
        output.write_all(text.as_bytes()).map_err(write_failure)?;
        outputs.push(output);
    }
    finish_all(outputs)?;
    Ok(Summary { people: values.len(), nodes: labels(shape).iter().map(Vec::len).sum() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_is_what_was_asked_for() {
        let shape = Shape { least: 2, most: 2, ..Shape::default() };
        let levels = labels(&shape);
        assert_eq!(levels.iter().map(Vec::len).collect::<Vec<_>>(), [3, 9, 27, 81]);
        assert_eq!(levels[2][0], "n1.1.1");
        assert_eq!(values(&shape, 1).len(), 2 * (27 + 81));
        assert_ne!(values(&shape, 1), values(&shape, 2));
        assert!(hierarchy(&shape).contains("n1.2.3;n1.2;n1;*\n"));
    }
}
