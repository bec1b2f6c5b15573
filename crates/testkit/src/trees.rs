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
