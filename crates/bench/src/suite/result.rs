//! What a run of the benchmarks found, as it is written down.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The version of this form.
pub(crate) const FORM: u32 = 1;

/// A run of the benchmarks.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Results {
    /// The version of this form.
    pub(crate) form: u32,
    /// How much was run: `quick` or `full`.
    pub(crate) extent: String,
    /// Where it was run.
    pub(crate) machine: Machine,
    /// What was run.
    pub(crate) versions: Versions,
    /// The seed of all generated data.
    pub(crate) seed: u64,
    /// How long it took by the clock.
    pub(crate) seconds: f64,
    /// The data, by name.
    pub(crate) datasets: Vec<Dataset>,
    /// The suites in the order of their names.
    pub(crate) suites: Vec<Suite>,
}

/// Where a run was made.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Machine {
    /// The processor's name.
    pub(crate) cpu: String,
    /// How many threads run at once.
    pub(crate) cores: usize,
    /// Main memory.
    pub(crate) memory_mb: u64,
    /// The system's kernel.
    pub(crate) kernel: String,
}

/// What was run.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Versions {
    /// The tool's version.
    pub(crate) bosket: String,
    /// The compiler's, where it can be asked.
    pub(crate) rustc: Option<String>,
    /// The commit, where there is one, with a `+` if files had been changed.
    pub(crate) commit: Option<String>,
}

/// Data that something was measured on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Dataset {
    /// Its name.
    pub(crate) name: String,
    /// Where it comes from.
    pub(crate) origin: String,
    /// Of its file as it is read, packed if it is packed.
    pub(crate) sha256: String,
    /// Of the same file.
    pub(crate) bytes: u64,
}

/// One suite.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Suite {
    /// Its name on the command line.
    pub(crate) name: String,
    /// What it is about.
    pub(crate) title: String,
    /// How long it took by the clock.
    pub(crate) seconds: f64,
    /// What was measured.
    pub(crate) tables: Vec<Table>,
    /// What a reader has to know about the figures.
    pub(crate) notes: Vec<String>,
    /// What has been claimed, and whether it holds here.
    pub(crate) claims: Vec<Claim>,
}

/// Figures over one parameter, for several methods.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Table {
    /// Its name among those of the suite.
    pub(crate) id: String,
    /// What it shows.
    pub(crate) title: String,
    /// What is varied.
    pub(crate) axis: Axis,
    /// What each value of a row is.
    pub(crate) columns: Vec<Column>,
    /// A row per value of what is varied.
    pub(crate) rows: Vec<Row>,
    /// Why values are missing.
    pub(crate) missing: Vec<Missing>,
}

/// What a table goes over.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Axis {
    /// Its name.
    pub(crate) label: String,
    /// Equal factors are equally far apart.
    #[serde(default)]
    pub(crate) logarithmic: bool,
    /// Rows are things rather than amounts; x is their place.
    #[serde(default)]
    pub(crate) named: bool,
}

/// One figure of one method.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Column {
    /// The method.
    pub(crate) line: String,
    /// The figure's name.
    pub(crate) measure: String,
    /// Its unit; empty for plain numbers.
    pub(crate) unit: String,
}

/// Figures at one value of what is varied.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Row {
    /// The value, or the place of a thing.
    pub(crate) x: f64,
    /// The same for people.
    pub(crate) name: String,
    /// By column.
    pub(crate) values: Vec<Option<f64>>,
}

/// A point that could not be measured.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Missing {
    /// The row's name.
    pub(crate) row: String,
    /// The method.
    pub(crate) line: String,
    /// Why not.
    pub(crate) why: String,
}

/// Something that was claimed elsewhere.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Claim {
    /// In a sentence.
    pub(crate) claim: String,
    /// The figures given for it, where its text gives any.
    pub(crate) paper: Option<String>,
    /// Whether it holds here.
    pub(crate) holds: Holds,
    /// The figures of this run that say so.
    pub(crate) why: String,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Holds {
    /// Everywhere.
    Yes,
    /// At some points.
    Partly,
    /// Nowhere.
    No,
    /// Nothing that would tell was measured.
    Unmeasured,
}

impl Holds {
    /// For people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Holds::Yes => "yes",
            Holds::Partly => "partly",
            Holds::No => "no",
            Holds::Unmeasured => "not measured",
        }
    }
}

impl Table {
    /// The methods, in the order of their columns.
    pub(crate) fn lines(&self) -> Vec<&str> {
        distinct(self.columns.iter().map(|c| c.line.as_str()))
    }

    /// The figures' names, in the order of their columns.
    pub(crate) fn measures(&self) -> Vec<&str> {
        distinct(self.columns.iter().map(|c| c.measure.as_str()))
    }

    /// The unit of a figure.
    pub(crate) fn unit(&self, measure: &str) -> &str {
        self.columns.iter().find(|c| c.measure == measure).map_or("", |c| c.unit.as_str())
    }

    /// A figure of a method, by row; none where the table does not have it.
    pub(crate) fn column(&self, line: &str, measure: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.line == line && c.measure == measure)
    }

    /// The points of a figure of a method that were measured.
    pub(crate) fn series(&self, line: &str, measure: &str) -> Vec<(f64, f64)> {
        let Some(at) = self.column(line, measure) else { return Vec::new() };
        self.rows.iter().filter_map(|row| Some((row.x, row.values[at]?))).collect()
    }
}

fn distinct<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for name in all {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

impl Results {
    /// Reads a run that was written down; the error says what is wrong with the file.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let results: Results = serde_json::from_str(&text)
            .map_err(|e| format!("{} is no result of bench: {e}", path.display()))?;
        if results.form != FORM {
            return Err(format!(
                "{} has form {}, and this program reads form {FORM}: run the benchmarks again",
                path.display(),
                results.form
            ));
        }
        Ok(results)
    }

    /// As it is written down.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain figures are JSON") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::samples::results;

    #[test]
    fn what_is_written_down_reads_as_the_same() {
        let results = results();
        let again: Results = serde_json::from_str(&results.text()).expect("readable");
        assert_eq!(again, results);
    }

    #[test]
    fn another_form_is_refused_with_what_to_do() {
        let file = tempfile::NamedTempFile::new().expect("a scratch file");
        let other = Results { form: FORM + 1, ..results() };
        std::fs::write(file.path(), other.text()).expect("room");
        let why = Results::load(file.path()).expect_err("another form");
        assert!(why.contains("run the benchmarks again"), "{why}");
    }

    #[test]
    fn a_series_leaves_out_what_was_not_measured() {
        let table = &results().suites[0].tables[0];
        assert_eq!(table.lines(), ["fast", "slow"]);
        assert_eq!(table.measures(), ["cpu", "loss"]);
        assert_eq!(table.series("fast", "cpu"), [(1.0, 0.5), (2.0, 1.0), (4.0, 2.0)]);
        assert_eq!(table.series("slow", "loss"), [(1.0, 10.0), (2.0, 20.0)]);
        assert!(table.series("neither", "cpu").is_empty());
    }
}
