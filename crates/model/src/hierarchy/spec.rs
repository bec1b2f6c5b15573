//! How a policy asks for a hierarchy: a file, or one of the builders.

/// Where an attribute's hierarchy comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum HierarchySpec {
    /// An ARX-style CSV file, relative to the policy's folder.
    File(String),
    /// Built from a rule.
    Build(Build),
}

/// A builder with its parameters. Bounds are given, never taken from the data: they would reveal its extremes.
#[derive(Clone, Debug, PartialEq)]
pub enum Build {
    /// Numbers: nested intervals of the given widths, aligned at `min`.
    Interval {
        /// Lowest value.
        min: f64,
        /// Highest value.
        max: f64,
        /// Width per level, finest first; each a multiple of the one before.
        widths: Vec<f64>,
        /// Values outside hang below a node of their own, `<min` or `>max`, instead of being an error.
        clamp: Clamp,
    },
    /// Numbers: tight ranges instead of nodes, for local recoding. They reveal the extremes of each group.
    Range {
        /// Lowest value.
        min: f64,
        /// Highest value.
        max: f64,
    },
    /// Dates: day → month → quarter → year → decade.
    Date {
        /// First day, `YYYY-MM-DD`.
        min: String,
        /// Last day, `YYYY-MM-DD`.
        max: String,
        /// Which levels to keep, finest first; all when empty.
        levels: Vec<DateLevel>,
        /// How the data writes days, as in `%y%m%d`; as `YYYY-MM-DD` if not given.
        format: Option<String>,
        /// Days outside hang below a node of their own, `<min` or `>max`, instead of being an error.
        clamp: Clamp,
    },
    /// Text: one more character masked from the right per level.
    Prefix,
    /// Balanced over the sorted domain.
    Fanout {
        /// Children per node, at least 2.
        fanout: usize,
    },
    /// Names by their first letters.
    Letters,
    /// What stands in other columns of the same records.
    From {
        /// Paths of the columns, nearest first.
        paths: Vec<String>,
    },
    /// ICD-10: chapter → block → category → code.
    Icd10 {
        /// Another edition: CSV `code,kind,parent,…`, relative to the policy's folder.
        table: Option<String>,
    },
    /// ATC codes of medicines: main group → therapeutic → pharmacological → chemical group → substance.
    Atc,
    /// Groups written down in the policy.
    Order {
        /// The groups under the root.
        groups: Vec<Group>,
    },
}

/// Which ends of a hierarchy of numbers or days take the values outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clamp {
    /// A value outside is an error.
    #[default]
    None,
    /// Values above `max` hang below `>max`.
    Top,
    /// Values below `min` hang below `<min`.
    Bottom,
    /// Both.
    Both,
}

/// A level of the date builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DateLevel {
    /// `2013-04`
    Month,
    /// `2013-Q2`
    Quarter,
    /// `2013`
    Year,
    /// `2010s`
    Decade,
}

/// A value, or a group of values and groups.
#[derive(Clone, Debug, PartialEq)]
pub enum Group {
    /// One value.
    Value(String),
    /// Several; the label is made of the first and last value when none is given.
    Group {
        /// What is published for the group.
        label: Option<String>,
        /// What is in it, in order.
        members: Vec<Group>,
    },
}
