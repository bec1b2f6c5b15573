//! The TPC-H records: against the benchmark's tables, against the model that reads them, and among themselves.

use std::collections::BTreeMap;
use std::path::Path;

use bosket_generate::tpch::{self, SMALLEST_SCALE, Shape, Summary, VERTEX_DEPTH};
use bosket_io::hierarchies::{self, HierarchyNeeds};
use bosket_io::{Create, Input, Layout, PolicyFile};
use bosket_model::binding::Binding;
use bosket_model::hierarchy;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Payload, RootMode};
use bosket_model::value_tree::ValueTrees;
use serde_json::{Value, json};
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
};

fn records(customers: u64) -> (String, Summary) {
    let mut out = Vec::new();
    let summary = tpch::write_records(&mut out, Shape::Chain, customers, &Quiet).unwrap();
    (String::from_utf8(out).unwrap(), summary)
}

fn parsed(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ranges(first: i64, width: i64, value: i64) -> String {
    let low = first + (value - first) / width * width;
    format!("{low}-{}", low + width - 1)
}

/// The benchmark's tables joined by their definition, with nothing cleverer than maps.
fn joined(scale: f64) -> Vec<Value> {
    let nations: Vec<String> = NationGenerator::default().iter().map(|n| n.n_name.to_owned()).collect();
    let parts: BTreeMap<i64, (String, String)> = PartGenerator::new(scale, 1, 1)
        .iter()
        .map(|p| (p.p_partkey, (p.p_mfgr.to_string(), p.p_brand.to_string())))
        .collect();
    let mut items: BTreeMap<i64, Vec<Value>> = BTreeMap::new();
    for line in LineItemGenerator::new(scale, 1, 1).iter().filter(|l| l.l_linenumber <= 3) {
        let (manufacturer, brand) = &parts[&line.l_partkey];
        items.entry(line.l_orderkey).or_default().push(
            json!({"quantity": ranges(1, 2, line.l_quantity), "manufacturer": manufacturer, "brand": brand}),
        );
    }
    let mut orders: BTreeMap<i64, BTreeMap<i64, Value>> = BTreeMap::new();
    for order in OrderGenerator::new(scale, 1, 1).iter() {
        let day = order.o_orderdate.to_string();
        let month: u32 = day[5..7].parse().unwrap();
        let dollars: f64 = order.o_totalprice.to_string().parse().unwrap();
        let price = if dollars < 336_000.0 { ranges(0, 3_000, dollars as i64) } else { "336000+".to_owned() };
        let order_ = json!({
            "price": price,
            "date": format!("{}-Q{}", &day[..4], month.div_ceil(3)),
            "items": items[&order.o_orderkey],
        });
        orders.entry(order.o_custkey).or_default().insert(order.o_orderkey, order_);
    }
    CustomerGenerator::new(scale, 1, 1)
        .iter()
        .map(|c| {
            let orders: Vec<&Value> =
                orders.get(&c.c_custkey).into_iter().flat_map(|o| o.values()).take(2).collect();
            json!({"customer": c.c_custkey, "nation": nations[c.c_nationkey as usize], "orders": orders})
        })
        .collect()
}

#[test]
fn records_are_the_joined_tables() {
    let (text, summary) = records(SMALLEST_SCALE);
    assert_eq!(summary.customers, SMALLEST_SCALE);
    let expected = joined(0.01);
    assert_eq!(expected.len(), SMALLEST_SCALE as usize);
    for (found, expected) in parsed(&text).iter().zip(&expected) {
        assert_eq!(found, expected);
    }
}

#[test]
fn same_size_same_bytes_and_few_customers_are_the_first_of_more() {
    let (all, summary) = records(SMALLEST_SCALE);
    assert_eq!(records(SMALLEST_SCALE), (all.clone(), summary));
    for customers in [1, 2, 30] {
        let (few, summary) = records(customers);
        assert_eq!(summary.customers, customers);
        assert_eq!(few.lines().count(), customers as usize);
        assert!(all.starts_with(&few));
    }
    assert_eq!(records(0), (String::new(), Summary::default()));
}

#[test]
fn no_customer_is_lost_to_rounding() {
    for customers in [1_501, 1_999, 4_321, 7_777] {
        let (text, summary) = records(customers);
        assert_eq!(summary.customers, customers);
        assert!(text.lines().last().unwrap().starts_with(&format!(r#"{{"customer":{customers},"#)));
    }
}

#[test]
fn values_per_record_are_as_in_the_experiments() {
    let (_, summary) = records(5_000);
    assert!((12.0..=14.0).contains(&summary.values_per_record()), "{}", summary.values_per_record());
    assert!((12.0..=14.0).contains(&summary.nodes_per_record()), "{}", summary.nodes_per_record());
    assert!(summary.nodes < summary.values());
}

#[test]
fn hierarchies_have_276_nodes_and_fan_out_five() {
    let trees: Vec<_> = tpch::hierarchies(Shape::Chain)
        .into_iter()
        .map(|(name, text)| hierarchy::csv::parse(name, &text).unwrap())
        .collect();
    let nodes: usize = trees.iter().map(|h| h.len()).sum();
    assert_eq!(nodes, Shape::Chain.hierarchy_nodes());
    let inner: usize = trees.iter().map(|h| h.len() - h.leaf_count()).sum();
    let fan_out = (nodes - trees.len()) as f64 / inner as f64;
    assert!((4.5..=5.5).contains(&fan_out), "{fan_out}");
}

fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|f| format!("{name}/{f}")));
        } else {
            found.push(name);
        }
    }
    found.sort();
    found
}

#[test]
fn the_policy_fits_and_its_value_trees_are_as_summed_up() {
    let folder = tempfile::tempdir().unwrap();
    let summary = tpch::write(folder.path(), Shape::Chain, 2_000, Create::default(), &Quiet).unwrap();
    let policy = PolicyFile::load(&folder.path().join("policy.toml"), &[]).unwrap();
    let input = Input::open(&folder.path().join("data.ndjson")).unwrap();
    let data = bosket_io::read(input, Some("ndjson"), &Layout::default()).unwrap().data;
    assert_eq!(data.len() as u64, summary.customers);
    assert_eq!(data.vertex_count() as u64, summary.customers + summary.orders + summary.items);

    let attributes = &policy.policy.attributes;
    let binding = Binding::new(data.schema(), attributes, policy.policy.undeclared, "data").unwrap();
    assert_eq!(binding.absent().count(), 0);
    assert_eq!(binding.homes.iter().map(|h| h.depth + 1).max(), Some(VERTEX_DEPTH));
    let ask = HierarchyNeeds { required: true, show_values: true };
    let (covering, _) = hierarchies::load(&policy, &data, &binding, "data", ask).unwrap();
    assert_eq!(covering.iter().flatten().map(|h| h.len()).sum::<usize>(), Shape::Chain.hierarchy_nodes());

    let trees = ValueTrees::new(&data, &binding, RootMode::Chain, Payload::Drop);
    assert_eq!(trees.nodes(trees.len() - 1).end as u64, summary.nodes);
    let trees = ValueTrees::new(&data, &binding, RootMode::Separate, Payload::Drop);
    assert_eq!(trees.nodes(trees.len() - 1).end as u64, summary.nodes);
    let depth = |node| std::iter::successors(Some(node), |&n| trees.parent(n)).count();
    assert_eq!((0..summary.nodes as usize).map(depth).max(), Some(Shape::Chain.value_depth()));

    for name in ["policy-csv.toml", "policy-sqlite.toml"] {
        let file = PolicyFile::load(&folder.path().join("tables").join(name), &[]).unwrap();
        let tables = bosket_io::Whereabouts::input(&file).unwrap().open(&Quiet).unwrap().data;
        let attributes = &file.policy.attributes;
        let binding = Binding::new(tables.schema(), attributes, file.policy.undeclared, "tables").unwrap();
        let same = ValueTrees::new(&tables, &binding, RootMode::Separate, Payload::Drop);
        let labels = |trees: &ValueTrees| trees.items().iter().map(|i| i.label.clone()).collect::<Vec<_>>();
        assert_eq!(labels(&same), labels(&trees), "{name}");
        for record in 0..trees.len() {
            let nodes = |t: &ValueTrees| {
                let start = t.nodes(record).start;
                let node = |n| (t.item(n), t.parent(n).map(|p| p - start));
                t.nodes(record).map(node).collect::<Vec<_>>()
            };
            assert_eq!(nodes(&same), nodes(&trees), "{name}, record {record}");
        }
    }
    let names = ["brand", "date", "manufacturer", "nation", "price", "quantity"];
    let mut expected = vec!["data.ndjson".to_owned(), "policy.toml".into()];
    expected.extend(names.map(|name| format!("hierarchies/{name}.csv")));
    let tables =
        ["customer.csv", "items.csv", "orders.csv", "policy-csv.toml", "policy-sqlite.toml", "tpch.db"];
    expected.extend(tables.map(|name| format!("tables/{name}")));
    expected.sort();
    assert_eq!(files(folder.path()), expected);
}

fn rows(folder: &Path, table: &str, header: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder.join("tables").join(table)).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(header));
    lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn tables_hold_the_same_records() {
    let folder = tempfile::tempdir().unwrap();
    tpch::write(folder.path(), Shape::Chain, 2_000, Create::default(), &Quiet).unwrap();
    let mut items: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for row in rows(folder.path(), "items.csv", "orderkey,quantity,manufacturer,brand") {
        let item = json!({"quantity": row[1], "manufacturer": row[2], "brand": row[3]});
        items.entry(row[0].clone()).or_default().push(item);
    }
    let mut orders: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for row in rows(folder.path(), "orders.csv", "orderkey,custkey,price,date") {
        let order = json!({"price": row[2], "date": row[3], "items": items.remove(&row[0]).unwrap()});
        orders.entry(row[1].clone()).or_default().push(order);
    }
    assert!(items.is_empty(), "items without an order");
    let customers: Vec<Value> = rows(folder.path(), "customer.csv", "custkey,nation")
        .into_iter()
        .map(|row| {
            let orders = orders.remove(&row[0]).unwrap_or_default();
            json!({"customer": row[0].parse::<u64>().unwrap(), "nation": row[1], "orders": orders})
        })
        .collect();
    assert!(orders.is_empty(), "orders without a customer");
    let text = std::fs::read_to_string(folder.path().join("data.ndjson")).unwrap();
    assert!(parsed(&text) == customers, "the tables differ from data.ndjson");
    assert_eq!(text, records(2_000).0);
}

#[test]
fn a_file_in_the_way_leaves_the_folder_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("tables")).unwrap();
    std::fs::write(folder.path().join("tables/items.csv"), "mine").unwrap();
    let refused = tpch::write(folder.path(), Shape::Chain, 10, Create::default(), &Quiet).unwrap_err();
    assert!(refused.to_string().contains("items.csv"), "{refused}");
    assert_eq!(files(folder.path()), ["tables/items.csv"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("tables/items.csv")).unwrap(), "mine");

    let create = Create { force: true, ..Create::default() };
    tpch::write(folder.path(), Shape::Chain, 10, create, &Quiet).unwrap();
    assert!(files(folder.path()).len() > 1);
}

#[test]
fn the_papers_shape_has_276_leaves_prices_beside_items_and_the_same_sales() {
    let trees: Vec<_> = tpch::hierarchies(Shape::Paper)
        .into_iter()
        .map(|(name, text)| hierarchy::csv::parse(name, &text).unwrap())
        .collect();
    assert_eq!(trees.iter().map(|h| h.leaf_count()).sum::<usize>(), 276);
    assert_eq!(trees.iter().map(|h| h.len()).sum::<usize>(), Shape::Paper.hierarchy_nodes());

    let folder = tempfile::tempdir().unwrap();
    let summary = tpch::write(folder.path(), Shape::Paper, 2_000, Create::default(), &Quiet).unwrap();
    let names = ["brand", "date", "manufacturer", "nation", "price", "quantity"];
    let mut expected = vec!["data.ndjson".to_owned(), "policy.toml".into()];
    expected.extend(names.map(|name| format!("hierarchies/{name}.csv")));
    expected.sort();
    assert_eq!(files(folder.path()), expected);

    let policy = PolicyFile::load(&folder.path().join("policy.toml"), &[]).unwrap();
    let input = Input::open(&folder.path().join("data.ndjson")).unwrap();
    let data = bosket_io::read(input, Some("ndjson"), &Layout::default()).unwrap().data;
    let binding =
        Binding::new(data.schema(), &policy.policy.attributes, policy.policy.undeclared, "data").unwrap();
    let ask = HierarchyNeeds { required: true, show_values: true };
    hierarchies::load(&policy, &data, &binding, "data", ask).unwrap();
    let trees = ValueTrees::new(&data, &binding, RootMode::Separate, Payload::Drop);
    assert_eq!(trees.nodes(trees.len() - 1).end as u64, summary.nodes);
    let depth = |node| std::iter::successors(Some(node), |&n| trees.parent(n)).count();
    assert_eq!((0..summary.nodes as usize).map(depth).max(), Some(Shape::Paper.value_depth()));

    let text = std::fs::read_to_string(folder.path().join("data.ndjson")).unwrap();
    for (paper, chain) in parsed(&text).iter().zip(parsed(&records(2_000).0)) {
        let orders = |customer: &Value| customer["orders"].as_array().unwrap().clone();
        assert_eq!(paper["nation"], chain["nation"]);
        for (paper, chain) in orders(paper).iter().zip(orders(&chain)) {
            assert_eq!(paper["date"].as_str().unwrap()[..4], chain["date"].as_str().unwrap()[..4]);
            let low = |price: &Value| {
                price.as_str().unwrap().split(['-', '+']).next().unwrap().parse::<i64>().unwrap()
            };
            assert!(
                (low(&paper["price"][0]) - low(&chain["price"])).abs() < 5_000
                    || low(&chain["price"]) == 336_000
            );
            for (paper, chain) in
                paper["items"].as_array().unwrap().iter().zip(chain["items"].as_array().unwrap())
            {
                let pieces: i64 = paper["quantity"].as_str().unwrap().parse().unwrap();
                assert_eq!(ranges(1, 2, pieces), chain["quantity"]);
                assert_eq!(paper["brand"], chain["brand"]);
            }
        }
    }
}
