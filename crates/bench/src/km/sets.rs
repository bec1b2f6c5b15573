//! The sets that k^m-anonymity is measured on.

use std::io::Cursor;

use bosket_generate::baskets;
use bosket_io::transactions::Transactions;
use bosket_io::{Format as _, Input, Layout};
use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv, fanout::fanout};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Payload, Policy, RootMode};
use bosket_model::value_tree::ValueTrees;
use bosket_testkit::shared::{shared, shared_text};

const POLICY: &str = "version = 1\n[[attribute]]\npath = \"item\"\nrole = \"quasi\"\n[privacy]\nmodel = \"km\"\nk = 5\nm = 3\n";

/// Children per node, as in the paper.
pub(super) const FANOUT: usize = 5;

/// The datasets: clicks in two web shops, groceries, and baskets that are generated.
pub(super) const NAMES: [&str; 4] = ["WebView-1", "WebView-2", "groceries", BASKETS];

/// The generated ones.
pub(super) const BASKETS: &str = "baskets";

/// A tenth as many of them, ten times each: whatever is known of one is known of ten, so with k up to 10 all items stay.
pub(super) const REPEATED: &str = "repeated";

/// Where sets come from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// One of [`NAMES`], or [`REPEATED`].
    pub(crate) name: &'a str,
    /// How many baskets are generated.
    pub(crate) transactions: u64,
    /// A balanced hierarchy in place of the usual one.
    pub(crate) fanout: Option<usize>,
    /// The nodes of the paper's count tree are asked for.
    pub(crate) count_tree: bool,
}

impl Source<'_> {
    /// The sets; none, with a word about it, if they are not beside the repository.
    pub(super) fn load(&self) -> Option<Sets> {
        let mut sets = match self.name {
            "WebView-1" => bms("bms-webview-1.txt.gz")?,
            "WebView-2" => bms("bms-webview-2.txt.gz")?,
            "groceries" => groceries()?,
            REPEATED => baskets(self.transactions / 10, 10),
            _ => baskets(self.transactions, 1),
        };
        if let Some(children) = self.fanout {
            sets.with_fanout(children);
        }
        Some(sets)
    }

    /// The same for another process of this program.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut arguments =
            vec![self.name.to_owned(), "--transactions".to_owned(), self.transactions.to_string()];
        arguments.extend(self.fanout.iter().map(|children| format!("--fanout={children}")));
        arguments.extend(self.count_tree.then(|| "--count-tree".to_owned()));
        arguments
    }
}

/// Transactions with the hierarchy of their items.
pub(super) struct Sets {
    pub(super) trees: ValueTrees,
    pub(super) binding: Binding,
    pub(super) hierarchies: Vec<Option<Hierarchy>>,
    separator: Option<&'static str>,
}

impl Sets {
    fn new(data: &Dataset, hierarchy: Hierarchy, separator: Option<&'static str>) -> Self {
        let policy = policy(&[]);
        let binding = Binding::new(data.schema(), &policy.attributes, policy.undeclared, "sets")
            .expect("items are declared");
        let trees = ValueTrees::new(data, &binding, RootMode::Separate, Payload::Drop);
        Sets { trees, binding, hierarchies: vec![Some(hierarchy)], separator }
    }

    /// The same transactions below a balanced hierarchy.
    fn with_fanout(&mut self, children: usize) {
        let items: Vec<&str> = self.trees.items().iter().map(|i| i.label.as_str()).collect();
        self.hierarchies = vec![Some(fanout(children, &items).expect("at least two children"))];
    }

    pub(super) fn hierarchy(&self) -> &Hierarchy {
        self.hierarchies[0].as_ref().expect("every set has one")
    }

    /// Items in all transactions.
    pub(super) fn occurrences(&self) -> usize {
        (0..self.trees.len()).map(|r| self.trees.nodes(r).len()).sum()
    }

    /// A publication as a stranger reads it.
    pub(super) fn published(&self, trees: &ValueTrees) -> Dataset {
        let mut bytes = Vec::new();
        (Transactions.write(&trees.write_back(&self.binding), &layout(self.separator), &mut bytes, &Quiet))
            .expect("writing to memory");
        read(Input::new("published", Cursor::new(bytes), None).expect("readable"), self.separator)
    }
}

fn layout(separator: Option<&str>) -> Layout {
    Layout { separator: separator.map(str::to_owned), ..Layout::default() }
}

/// The policy with some values set, such as `privacy.k=20`.
pub(super) fn policy(sets: &[String]) -> Policy {
    Policy::parse("km", POLICY, sets).expect("a good policy").0
}

/// A file beside the repository, with a balanced hierarchy over its item numbers.
fn bms(file: &str) -> Option<Sets> {
    let data = read(Input::open(&shared(&format!("data/bms/{file}"))?).expect("readable"), None);
    let hierarchy = fanout(FANOUT, &items(&data)).expect("at least two children");
    Some(Sets::new(&data, hierarchy, None))
}

/// The groceries of the R package arules with their own hierarchy.
fn groceries() -> Option<Sets> {
    let path = shared("data/set-arules/groceries-baskets.txt.gz")?;
    let text = shared_text("data/set-arules/groceries-hierarchy.csv")?;
    let data = read(Input::open(&path).expect("readable"), Some(";"));
    // `detergent` is an item and, two levels up, a department.
    let text: String = (text.lines())
        .map(|line| line.strip_suffix(";*").unwrap_or(line).to_owned() + " (department);*\n")
        .collect();
    let hierarchy = csv::parse("groceries-hierarchy.csv", &text).expect("a good hierarchy");
    let (bound, _) = hierarchy.bind(items(&data)).expect("all items are covered");
    Some(Sets::new(&data, bound, Some(";")))
}

/// Generated baskets like those of BMS-POS.
fn baskets(transactions: u64, times: usize) -> Sets {
    let mut text = Vec::new();
    baskets::write_records(&mut text, transactions, 0, &Quiet).expect("writing to memory");
    let text = text.repeat(times);
    let data = read(Input::new("baskets", Cursor::new(text), None).expect("readable"), None);
    let hierarchy = csv::parse("item.csv", &baskets::hierarchy()).expect("a good hierarchy");
    Sets::new(&data, hierarchy, None)
}

fn read(input: Input, separator: Option<&str>) -> Dataset {
    bosket_io::read(input, Some("transactions"), &layout(separator)).expect("transactions").data
}

fn items(data: &Dataset) -> Vec<&str> {
    data.schema().attributes().flat_map(|(id, _)| data.dictionary(id).iter().map(|(_, text)| text)).collect()
}
