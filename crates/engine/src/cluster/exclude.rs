//! Parameters that exclude each other, as far as counting sensitive values tells.
//!
//! A cluster of 5 of which no value may have a share over 1/3 has each value once: with four different values there is none.
//! One of 6 may have each value twice, and there is.

use std::collections::BTreeMap;

use bosket_model::binding::Binding;
use bosket_model::policy::{Algorithm, Diversity, Role};
use bosket_model::words::{count, plural};
use bosket_model::{ClassId, Dataset, Diagnostic, Failure, Fault, Place, Result};

use super::params::{Params, size_of};
use super::secrets::{Secrets, UNKNOWN};

/// How often each sensitive value occurs in an attribute.
struct Column {
    path: String,
    /// Whether it stands in the records themselves, which cannot be pruned.
    of_record: bool,
    /// By label.
    counts: BTreeMap<u32, usize>,
    /// Vertices that lack it: they clash with nothing.
    unknown: usize,
}

impl Column {
    fn all(&self) -> usize {
        self.counts.values().sum::<usize>() + self.unknown
    }

    /// Whether a cluster of this size can be found in which no value stands more than `most` times.
    fn has_cluster(&self, size: usize, most: usize) -> bool {
        self.counts.values().map(|&c| c.min(most)).sum::<usize>() + self.unknown >= size
    }
}

/// The sensitive values of all classes.
pub(super) struct Labels {
    columns: Vec<Column>,
}

/// How often a value may stand at one vertex of a cluster.
fn most(size: usize, l: f64) -> usize {
    ((size as f64 / l) + 1e-9).floor() as usize
}

impl Labels {
    pub(super) fn new(data: &Dataset, binding: &Binding, secrets: &Secrets) -> Self {
        let schema = data.schema();
        let mut of_class: Vec<Vec<Column>> = Vec::new();
        for (id, _) in schema.classes() {
            let own =
                binding.in_policy_order(schema, id, Role::Sensitive).into_iter().take(secrets.attributes(id));
            let column = |a| Column {
                path: schema.attribute(a).path.clone(),
                of_record: id == ClassId::ROOT,
                counts: BTreeMap::new(),
                unknown: 0,
            };
            of_class.push(own.map(column).collect());
        }
        for v in 0..data.vertex_count() {
            let columns = &mut of_class[data.class(v).index()];
            for (column, label) in columns.iter_mut().zip(secrets.of_vertex(data, v)) {
                match label {
                    UNKNOWN => column.unknown += 1,
                    label => *column.counts.entry(label).or_default() += 1,
                }
            }
        }
        Labels { columns: of_class.into_iter().flatten().collect() }
    }

    fn has_cluster(&self, size: usize, most: usize) -> bool {
        self.columns.iter().filter(|c| c.of_record).all(|c| c.has_cluster(size, most))
    }

    /// Refuses k and l that leave no cluster, and names those that would.
    pub(super) fn refuse_excluding(&self, params: &Params) -> Result<()> {
        use Algorithm::{Clustree, Ctoff, Miracle, Miraclex};
        let Some(ask) = &params.diverse else { return Ok(()) };
        // The others do not fill clusters one by one up to a size.
        let fills = matches!(params.algorithm, Ctoff | Clustree | Miracle | Miraclex);
        let (size, l) = (params.size(), ask.l);
        let Some(column) = self.columns.iter().find(|c| c.of_record && !c.has_cluster(size, most(size, l)))
        else {
            return Ok(());
        };
        if !fills || params.suppress_violators {
            return Ok(());
        }
        let which = match params.k {
            0 | 1 => format!("l = {l} cannot be reached"),
            k => format!("k = {k} and l = {l} exclude each other"),
        };
        let what = format!(
            "{which}: among {size} records that look alike a value may stand {}, but there are only {}",
            plural(most(size, l), "time"),
            plural(column.counts.len(), "different value"),
        );
        let records = column.all();
        let k = (size + 1..=records).find(|&k| self.has_cluster(k, most(k, l)));
        let help = match (k, self.largest_l(params.k as usize, size, l)) {
            (Some(k), Some(l)) => format!("ask for k = {k}, or for l = {l}"),
            (Some(k), None) => format!("ask for k = {k}"),
            (None, Some(l)) => format!("ask for l = {l}"),
            (None, None) => "no k and l above 1 would do: too many share their value".to_owned(),
        };
        let what = Diagnostic::error(what).at(Place::default().path(&column.path)).help(help);
        Err(Failure::new(Fault::Unreachable, what))
    }

    /// The largest l below another with which there are clusters.
    fn largest_l(&self, k: usize, size: usize, below: f64) -> Option<f64> {
        let shares = (2..size).map(|often| size as f64 / often as f64).map(|l| (l * 100.0).floor() / 100.0);
        let whole = (2..=size).map(|l| l as f64);
        let mut all: Vec<f64> = shares.chain(whole).filter(|&l| l > 1.0 && l < below).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        all.into_iter().find(|&l| {
            let size = size_of(k, l);
            self.has_cluster(size, most(size, l))
        })
    }

    /// A warning for every attribute of which one value has a share over 1/l: some of it cannot be published.
    pub(super) fn too_frequent(&self, params: &Params) -> Vec<Diagnostic> {
        let Some(ask) = params.diverse.as_ref().filter(|d| d.diversity == Diversity::Frequency && d.l > 1.0)
        else {
            return Vec::new();
        };
        let told = self.columns.iter().filter_map(|column| {
            let all = column.all();
            let often = *column.counts.values().max()?;
            if often as f64 * ask.l <= all as f64 * (1.0 + 1e-12) {
                return None;
            }
            // Each of the others lets 1 / (l - 1) of these stand.
            let kept = ((all - often) as f64 / (ask.l - 1.0) + 1e-9).floor() as usize;
            let gone = often - kept.min(often);
            let fate =
                if column.of_record { "records have to be suppressed" } else { "rows have to be pruned" };
            let what = format!(
                "one value has a share of {:.1} %, over 1/l: at least {} {fate}",
                100.0 * often as f64 / all as f64,
                count(gone)
            );
            let most = (all as f64 / often as f64 * 100.0).floor() / 100.0;
            let help = if most > 1.0 {
                format!("l = {most} would do without")
            } else {
                "everybody has it: l above 1 publishes none of them".to_owned()
            };
            Some(Diagnostic::warning(what).at(Place::default().path(&column.path)).help(help))
        });
        told.collect()
    }
}
