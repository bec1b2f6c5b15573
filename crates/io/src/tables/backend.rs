//! What linked tables are kept in, as seen by whoever reads them.

use std::sync::Arc;

use bosket_model::diag::nearest;
use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Kind, Place, Result};

use crate::stop::interruptible;

/// How values of a column come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// As texts.
    Text,
    /// As numbers.
    Number,
    /// As `true` and `false`.
    Bool,
    /// As something that no attribute can hold; the name of the type.
    Foreign(String),
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// Its name.
    pub(crate) name: String,
    /// Its type as the database declares it; empty where there are none.
    pub(crate) declared: String,
    /// How its values come.
    pub(crate) form: ColumnKind,
}

/// A table, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct At<'a> {
    pub(crate) name: &'a str,
    /// The file of a table that has one of its own.
    pub(crate) path: Option<&'a str>,
}

/// A row's wanted cells, one after the other in one text.
#[derive(Debug, Default)]
pub(crate) struct Row {
    text: String,
    cells: Vec<(Option<Kind>, usize)>,
}

impl Row {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.cells.clear();
    }

    pub(crate) fn push_missing(&mut self) {
        self.cells.push((None, self.text.len()));
    }

    pub(crate) fn push(&mut self, kind: Kind, text: &str) {
        self.text.push_str(text);
        self.cells.push((Some(kind), self.text.len()));
    }

    pub(crate) fn push_cell(&mut self, cell: Option<(Kind, &str)>) {
        match cell {
            Some((kind, text)) => self.push(kind, text),
            None => self.push_missing(),
        }
    }

    pub(crate) fn cell(&self, i: usize) -> Option<(Kind, &str)> {
        let (kind, end) = self.cells[i];
        let start = if i == 0 { 0 } else { self.cells[i - 1].1 };
        kind.map(|kind| (kind, &self.text[start..end]))
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// All cells.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Option<(Kind, &str)>> {
        (0..self.len()).map(|i| self.cell(i))
    }
}

/// What is wrong with one row, and what to do.
#[derive(Debug)]
pub(crate) struct BadRow {
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

/// What takes rows: their place (a line, or a number from 1), and the cells or what is wrong with them.
/// The row may be added to. False if no more are wanted.
pub(crate) type Take<'t> = dyn FnMut(u64, Result<&mut Row, BadRow>) -> bool + 't;

/// Tells somebody whose work is waited for that nobody waits any more.
pub(crate) type Interrupt = Arc<dyn Fn() + Send + Sync>;

/// What a publication may have beside its linked tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    /// Tables of groups and values.
    pub(crate) tables: Vec<String>,
    /// Files that lie in the same folder.
    pub(crate) files: Vec<String>,
}

/// What linked tables are kept in. A table is described before it is read.
pub(crate) trait Backend {
    /// What messages call a table's place.
    fn place(&self, table: &At<'_>) -> String;

    /// Whether rows are known by the line they stand in.
    fn has_lines(&self) -> bool {
        false
    }

    /// The columns of a table, in order.
    fn describe(&mut self, table: &At<'_>) -> Result<Vec<Column>>;

    /// Hands out the rows with the columns that are wanted, by number, in the order asked for. Rows come in the
    /// order of `key` where the backend has no order of its own.
    fn read(
        &mut self,
        table: &At<'_>,
        wanted: &[usize],
        key: &[usize],
        observer: &dyn Observer,
        take: &mut Take<'_>,
    ) -> Result<()>;

    /// What is read is a publication of these tables: whatever else is there, now or later, is refused, and rows come in
    /// the order in which they lie there.
    fn seal(&mut self, tables: &[At<'_>], beside: &Beside, observer: &dyn Observer) -> Result<()>;

    /// Sets how long a row may be, and how much a file may hold that is far smaller itself.
    fn limit(&mut self, _bytes: u64) {}

    /// What ends a wait for a database; none where nothing is waited for.
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }
}

/// Reads from a backend within the bounds that somebody sets. Reading, and a wait for a database, ends soon when nobody
/// waits for what is read.
pub(crate) fn reading<T>(
    backend: &mut dyn Backend,
    observer: &dyn Observer,
    read: impl FnOnce(&mut dyn Backend, &dyn Observer) -> Result<T>,
) -> Result<T> {
    backend.limit(observer.limits().record);
    waiting(backend.interrupt(), observer, |observer| read(backend, observer))
}

/// Does work that may wait for a database; it asks the observer that it gets whether to go on.
pub(crate) fn waiting<T>(
    interrupt: Option<Interrupt>,
    observer: &dyn Observer,
    work: impl FnOnce(&dyn Observer) -> Result<T>,
) -> Result<T> {
    let interrupt = || interrupt.iter().for_each(|interrupt| interrupt());
    interruptible(observer, interrupt, work)
}

/// A table that the policy names and the database does not have.
pub(crate) fn no_such_table(source: &str, name: &str, tables: &[String]) -> Failure {
    let help = match nearest(name, tables.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the tables are {}", tables.join(", ")),
    };
    let what = Diagnostic::error(format!("there is no table `{name}`"));
    Failure::new(Fault::Policy, what.at(Place::source(source)).help(help))
}
