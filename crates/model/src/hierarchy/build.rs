//! The builders behind one door.

use super::spec::Build;
use super::tree::Hierarchy;
use super::tree_builder::TreeBuilder;
use super::{atc, date, fanout, icd10, interval, letters, order, prefix, range};
use crate::diag::Diagnostic;

impl Build {
    /// Whether the hierarchy depends on the values that occur in the data.
    pub fn needs_domain(&self) -> bool {
        !matches!(self, Build::Order { .. })
    }
}

/// Builds a hierarchy over `domain`, the distinct values of the attribute in any order. `table` is the name and the
/// text of the file that [`Build::Icd10`] names.
///
/// Values that the builder cannot place are left uncovered, which [`Hierarchy::bind`] reports; wrong parameters are
/// the error.
pub fn build(
    spec: &Build,
    domain: &[&str],
    table: Option<(&str, &str)>,
) -> Result<Hierarchy, Vec<Diagnostic>> {
    match spec {
        Build::Interval { min, max, widths, clamp } => interval::interval(*min, *max, widths, *clamp, domain),
        Build::Range { min, max } => range::range(*min, *max, domain),
        Build::Date { min, max, levels, format, clamp } => {
            date::date(min, max, levels, &date::Writing { format: format.as_deref(), clamp: *clamp }, domain)
        }
        Build::Prefix => Ok(prefix::prefix(domain)),
        Build::Letters => Ok(letters::letters(domain)),
        // Without records nobody can tell what is above a value: `from` builds it where they are at hand.
        Build::From { .. } => {
            let mut flat = TreeBuilder::new();
            for value in domain {
                flat.place(TreeBuilder::ROOT, value);
            }
            Ok(flat.finish())
        }
        Build::Fanout { fanout } => fanout::fanout(*fanout, domain),
        Build::Icd10 { table: Some(path) } if table.is_none() => {
            let message = format!("the ICD-10 table {path} was not read");
            Err(vec![Diagnostic::error(message).help("check that the file is there and readable")])
        }
        Build::Icd10 { .. } => icd10::icd10(domain, table),
        Build::Atc => Ok(atc::atc(domain)),
        Build::Order { groups } => order::order(groups),
    }
}
