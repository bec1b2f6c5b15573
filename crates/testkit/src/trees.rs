//! Small records written as sets of paths, in the manner of the worked examples: `[["A1"], ["A1", "B2"]]`.
//!
//! A label's first letter is its level: `A` is `a[].v`, `B` is `a[].b[].v`, `C` is `a[].b[].c[].v`. A path may skip
//! levels; the value then floats below the ancestor that is left.

use std::collections::BTreeSet;

use bosket_model::{Builder, ClassId, Dataset, Kind};

/// The nodes of a record, each as the labels from the root to it. Prefixes are implied.
pub type PathRecord = Vec<Vec<String>>;

/// The policy's attributes for such records, as TOML.
pub const ATTRIBUTES: &str = r#"
version = 1
[[attribute]]
path = "a[].v"
role = "quasi"
[[attribute]]
path = "a[].b[].v"
role = "quasi"
[[attribute]]
path = "a[].b[].c[].v"
role = "quasi"
"#;

/// The levels that can be above one another, from the top.
pub const LEVELS: [&str; 3] = ["A", "B", "C"];

/// The policy's attributes where [`crowded_dataset`] made the records, as TOML.
pub const CROWDED_ATTRIBUTES: &str = r#"
version = 1
[[attribute]]
path = "a[].v"
role = "quasi"
[[attribute]]
path = "a[].w"
role = "quasi"
[[attribute]]
path = "a[].c[].v"
role = "quasi"
[[attribute]]
path = "r"
role = "quasi"
"#;

/// All nodes of a record, prefixes included.
pub fn nodes(record: &PathRecord) -> BTreeSet<Vec<String>> {
    (record.iter()).flat_map(|path| (1..=path.len()).map(|n| path[..n].to_vec())).collect()
}

/// The records as a dataset, one vertex per node.
pub fn dataset(records: &[PathRecord]) -> Dataset {
    let mut builder = Builder::new();
    for record in records {
        let nodes = nodes(record);
        builder.begin_record();
        children(&mut builder, ClassId::ROOT, &nodes, &[]);
        builder.end_record().expect("one value per vertex");
    }
    builder.finish()
}

fn children(builder: &mut Builder, class: ClassId, nodes: &BTreeSet<Vec<String>>, above: &[String]) {
    for node in nodes.iter().filter(|n| n.len() == above.len() + 1 && n.starts_with(above)) {
        let label = &node[above.len()];
        let own = builder.class(class, &[label[..1].to_lowercase()]);
        let value = builder.attribute(own, &["v".to_owned()]);
        builder.open(own);
        builder.set(value, Kind::Text, label);
        children(builder, own, nodes, node);
        builder.close();
    }
}

/// The records as a dataset where `A` and `B` are two attributes of one class, `a[].v` and `a[].w`, and `C` is
/// `a[].c[].v`. A path of one `R` is a value of the record's top object; a record has at most one.
pub fn crowded_dataset(records: &[PathRecord]) -> Dataset {
    let mut builder = Builder::new();
    let a = builder.class(ClassId::ROOT, &["a".to_owned()]);
    for record in records {
        builder.begin_record();
        for path in record {
            let (upper, lower): (Vec<&String>, Vec<&String>) = path.iter().partition(|l| !l.starts_with('C'));
            if let [top] = path.as_slice()
                && top.starts_with('R')
            {
                let r = builder.attribute(ClassId::ROOT, &["r".to_owned()]);
                builder.set(r, Kind::Text, top);
                continue;
            }
            let mut class = ClassId::ROOT;
            if !upper.is_empty() {
                builder.open(a);
                class = a;
            }
            for label in &upper {
                let name = if label.starts_with('A') { "v" } else { "w" };
                let attribute = builder.attribute(a, &[name.to_owned()]);
                builder.set(attribute, Kind::Text, label);
            }
            for label in lower {
                let own = builder.class(class, &["c".to_owned()]);
                let value = builder.attribute(own, &["v".to_owned()]);
                builder.open(own);
                builder.set(value, Kind::Text, label);
                builder.close();
            }
            if !upper.is_empty() {
                builder.close();
            }
        }
        builder.end_record().expect("one value per attribute");
    }
    builder.finish()
}
