//! What a publication lost, in one form for every model: overall figures, each with what it means, and what became of
//! each attribute's values.

use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use bosket_model::binding::Binding;
use bosket_model::dissected::SensitiveValues;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::{Policy, Role, Shape};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Result};

use crate::kept::Kept;
use crate::sets::{self, SetLoss};
use crate::trees::{self, TreeLoss};
use crate::vertices::{self, VertexLoss};

/// Count queries asked of vertex trees.
const QUERIES: usize = 200;

/// Data with the place of its attributes in the policy.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The records.
    pub data: &'a Dataset,
    /// Where their attributes belong.
    pub binding: &'a Binding,
}

/// What is compared.
#[derive(Clone, Copy)]
pub struct Compared<'a> {
    /// The policy that the publication was made by.
    pub policy: &'a Policy,
    /// The private records.
    pub input: Side<'a>,
    /// What is published of them.
    pub published: Side<'a>,
    /// Per declared attribute, with a leaf for every value of the input.
    pub hierarchies: &'a [Option<Hierarchy>],
    /// Sensitive values that are published apart from the records; nothing where they are not.
    pub apart: &'a [SensitiveValues],
    /// Pairs (input record, published record), if they are known.
    pub mapping: Option<&'a [(u32, u32)]>,
    /// Whether frequent patterns are compared too, which takes longest.
    pub mining: bool,
}

/// A figure for the whole publication.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name, as papers have it.
    pub name: &'static str,
    /// None if it cannot be told, or would take too long.
    pub value: Option<f64>,
    /// What it says, in a sentence.
    pub about: &'static str,
}

/// What became of an attribute's values. Shares are of the input's values, where they can be told.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeChange {
    /// Its path in the policy.
    pub path: String,
    /// Different values of the input.
    pub distinct: usize,
    /// Different values of the publication.
    pub published: usize,
    /// How many values the input's records have.
    pub values: u64,
    /// The share published as they are.
    pub kept: Option<f64>,
    /// The share published as something more general.
    pub generalized: Option<f64>,
    /// The share not published.
    pub left_out: Option<f64>,
    /// The detail lost per value, from 0 to 1: NCP of trees and sets, LM of vertex trees.
    pub loss: Option<f64>,
}

/// Everything that was lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// Records of the input.
    pub records: usize,
    /// Records of the publication.
    pub published_records: usize,
    /// Figures for the whole; the first is the one to compare methods by.
    pub figures: Vec<Figure>,
    /// By quasi attribute, in the policy's order.
    pub attributes: Vec<AttributeChange>,
    /// How many rows and values went in and came out, sensitive ones too.
    pub kept: Kept,
    /// The share of related pairs of values that are still related, where relations are kept apart from values.
    pub relations_kept: Option<f64>,
    /// All of the model's own measures.
    details: Value,
}

impl Loss {
    /// Compares a publication with its input by every metric that applies to the model.
    pub fn new(compared: &Compared<'_>, observer: &dyn Observer) -> Result<Self> {
        let kept = Kept::new(compared, observer)?;
        match compared.policy.need_privacy()?.model.shape() {
            Shape::Set => of_sets(compared, kept, observer),
            Shape::ValueTree => of_trees(compared, kept, observer),
            Shape::VertexTree => of_vertices(compared, kept, observer),
        }
    }

    /// A figure by its name.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|f| f.name == name)?.value
    }

    /// The detail lost per quasi value, from 0 to 1, which means the same under every model.
    pub fn detail(&self) -> Option<f64> {
        let (mut values, mut lost) = (0.0, 0.0);
        for attribute in &self.attributes {
            values += attribute.values as f64;
            lost += attribute.loss? * attribute.values as f64;
        }
        (values > 0.0).then(|| lost / values)
    }

    /// For programs. Holds no value of the data.
    pub fn to_json(&self) -> Value {
        let key = |name: &str| name.replace('²', "2");
        let figures = self.figures.iter().map(|f| (key(f.name), json!({"value": f.value, "about": f.about})));
        let attributes: Vec<Value> = (self.attributes.iter())
            .map(|a| {
                json!({"path": a.path, "distinct": a.distinct, "published_distinct": a.published,
                       "values": a.values, "kept": a.kept, "generalized": a.generalized,
                       "left_out": a.left_out, "loss": a.loss})
            })
            .collect();
        json!({
            "records": self.records,
            "published_records": self.published_records,
            "figures": figures.collect::<serde_json::Map<_, _>>(),
            "attributes": attributes,
            "kept": self.kept.to_json(),
            "relations_kept": self.relations_kept,
            "details": self.details,
        })
    }
}

/// Different values of a declared attribute. What has moved up stands in a class of its own, with the same labels.
fn distinct(side: Side<'_>, declared: usize) -> usize {
    let own = side.data.schema().attributes().map(|(id, _)| id);
    let own = own.filter(|id| side.binding.attributes[id.index()] == Some(declared));
    let labels: FxHashSet<&str> =
        own.flat_map(|id| side.data.dictionary(id).iter().map(|(_, text)| text)).collect();
    labels.len()
}

impl Compared<'_> {
    fn trees(&self, observer: &dyn Observer) -> Result<(ValueTrees, ValueTrees)> {
        let privacy = self.policy.need_privacy()?;
        let trees = |side: Side<'_>| {
            let binding = side.binding.without_companions();
            ValueTrees::observed(side.data, &binding, privacy.root, privacy.payload, observer)
        };
        Ok((trees(self.input)?, trees(self.published)?))
    }

    /// A change for every quasi attribute that has values; the shares are filled in by `fill`.
    fn changes(&self, fill: impl Fn(&str, &mut AttributeChange)) -> Vec<AttributeChange> {
        let declared = self.input.binding.declared.iter().enumerate();
        declared
            .filter(|(_, d)| d.role == Role::Quasi && d.follows.is_none())
            .map(|(i, d)| {
                let mut change = AttributeChange {
                    path: d.path.clone(),
                    distinct: distinct(self.input, i),
                    published: distinct(self.published, i),
                    values: 0,
                    kept: None,
                    generalized: None,
                    left_out: None,
                    loss: None,
                };
                fill(&d.path, &mut change);
                change
            })
            .filter(|change| change.values > 0)
            .collect()
    }

    fn finish(
        &self,
        figures: Vec<Figure>,
        attributes: Vec<AttributeChange>,
        kept: Kept,
        relations_kept: Option<f64>,
        mut details: Value,
    ) -> Loss {
        if let Some(details) = details.as_object_mut().filter(|_| !self.mining) {
            details.retain(|key, _| !key.contains("ml2") && key != "mining");
        }
        Loss {
            records: self.input.data.len(),
            published_records: self.published.data.len(),
            figures,
            attributes,
            kept,
            relations_kept,
            details,
        }
    }
}

const NCP: &str = "share of the domain that a value was made indistinguishable from, 1 for one left out";
const ML2: &str = "one minus the frequent patterns after over those before, on all levels of the hierarchies";
const DML2: &str = "levels up at which a frequent pattern is found again";

fn of_trees(compared: &Compared<'_>, kept: Kept, observer: &dyn Observer) -> Result<Loss> {
    let (input, published) = compared.trees(observer)?;
    let of = trees::Comparison {
        input: &input,
        published: &published,
        binding: compared.input.binding,
        hierarchies: compared.hierarchies,
        mapping: compared.mapping,
    };
    let usual = trees::Mining::default();
    // No pattern is in more than all records.
    let mining = if compared.mining { usual } else { trees::Mining { threshold: 2.0, ..usual } };
    let loss = TreeLoss::new(&of, mining, observer)?;
    let mined = |value: f64| compared.mining.then_some(value);
    let penalties = sets::ncp_of(&of, observer)?;
    let attributes = compared.changes(|path, change| {
        if let Some(own) = loss.attributes.iter().find(|a| a.path == path) {
            change.values = own.values as u64;
            change.kept = Some(own.kept);
            change.generalized = own.rest.map(|r| r.generalized);
            change.left_out = own.rest.map(|r| r.unpublished);
        }
        change.loss = penalties.iter().find(|a| a.path == path).and_then(sets::AttributeNcp::ncp);
    });
    let mut figures = vec![
        Figure {
            name: "RPD",
            value: Some(loss.rpd),
            about: "reverse path diversity: how many original paths each published path could stand for",
        },
        Figure {
            name: "RPD_a",
            value: Some(loss.rpd_a),
            about: "the same approximated on the synopsis of labels",
        },
        Figure { name: "NCP", value: sets::ncp::mean_ncp(&penalties), about: NCP },
        Figure { name: "ML²", value: mined(loss.mining.ml2()), about: ML2 },
        Figure { name: "dML²", value: mined(loss.mining.dml2()), about: DML2 },
        Figure {
            name: "relations kept",
            value: loss.relations.map(|r| r.kept),
            about: "share of related pairs of values that are still related",
        },
    ];
    if compared.policy.method.text("cost").as_deref() == Some("lm") {
        // The search looked at the detail of values, not at paths: so should who compares its results.
        figures.rotate_left(2);
    }
    let related = loss.relations.map(|r| r.kept);
    Ok(compared.finish(figures, attributes, kept, related, loss.to_json()))
}

fn of_sets(compared: &Compared<'_>, kept: Kept, observer: &dyn Observer) -> Result<Loss> {
    let (input, published) = compared.trees(observer)?;
    let of = trees::Comparison {
        input: &input,
        published: &published,
        binding: compared.input.binding,
        hierarchies: compared.hierarchies,
        mapping: compared.mapping,
    };
    let usual = sets::Mining::default();
    let mining = if compared.mining { usual } else { sets::Mining { thresholds: Vec::new(), ..usual } };
    let loss = SetLoss::new(&of, &mining, observer)?;
    let attributes = compared.changes(|path, change| {
        let Some(own) = loss.attributes.iter().find(|a| a.path == path) else { return };
        change.values = own.occurrences;
        let share = |count: u64| count as f64 / own.occurrences.max(1) as f64;
        change.kept = own.fate.map(|f| share(f.kept));
        change.generalized = own.fate.map(|f| share(f.generalized));
        change.left_out = own.fate.map(|f| share(f.suppressed));
        change.loss = own.ncp();
    });
    let itemsets = loss.itemsets.as_ref().filter(|_| compared.mining);
    let figures = vec![
        Figure { name: "NCP", value: loss.ncp(), about: NCP },
        Figure { name: "ML²", value: itemsets.map(sets::ItemsetLoss::ml2), about: ML2 },
        Figure { name: "dML²", value: itemsets.map(sets::ItemsetLoss::dml2), about: DML2 },
    ];
    Ok(compared.finish(figures, attributes, kept, None, loss.to_json()))
}

fn of_vertices(compared: &Compared<'_>, kept: Kept, observer: &dyn Observer) -> Result<Loss> {
    let binding = compared.input.binding.without_companions();
    let (sensitive, told) = kept.sensitive();
    let of = vertices::Comparison {
        input: (compared.input.data, &binding),
        published: (compared.published.data, compared.published.binding),
        hierarchies: compared.hierarchies,
        lost_sensitive: compared.policy.method.number("lost").unwrap_or(1.0) * (sensitive - told) as f64,
    };
    let loss = VertexLoss::new(&of, QUERIES, compared.policy.seed, observer)?;
    let attributes = compared.changes(|path, change| {
        let Some(own) = loss.attributes.iter().find(|a| a.path == path) else { return };
        let share = |count: u64| Some(count as f64 / own.values.max(1) as f64);
        change.values = own.values;
        (change.kept, change.generalized) = (share(own.kept), share(own.generalized));
        change.left_out = share(own.left_out());
        change.loss = Some(own.lm());
    });
    let sizes = &loss.sizes;
    let figures = vec![
        Figure {
            name: "LM",
            value: Some(loss.lm),
            about: "share of the other leaves that a published value could also stand for, 1 for one left out, sensitive ones too",
        },
        Figure {
            name: "DM",
            value: Some(loss.dm as f64),
            about: "sum over all records of how many look like them; suppressed ones look like all",
        },
        Figure {
            name: "smallest class",
            value: Some(sizes.smallest as f64),
            about: "fewest records that look alike",
        },
        Figure {
            name: "median class",
            value: Some(sizes.median as f64),
            about: "half of the classes are no larger",
        },
        Figure {
            name: "largest class",
            value: Some(sizes.largest as f64),
            about: "most records that look alike",
        },
        Figure {
            name: "query accuracy",
            value: loss.accuracy.map(|accuracy| accuracy.max(0.0)),
            about: match loss.accuracy {
                Some(accuracy) if accuracy < 0.0 => {
                    "how well random count queries come out, 1 at best; here they come out worse than guessing"
                }
                _ => "how well random count queries come out, 1 at best",
            },
        },
    ];
    Ok(compared.finish(figures, attributes, kept, None, loss.to_json()))
}
