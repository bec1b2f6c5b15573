//! Columns that line up.

/// On which side the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    title: String,
    side: Side,
    least: usize,
}

impl Column {
    /// Words.
    pub fn left(title: &str) -> Self {
        Column { title: title.to_owned(), side: Side::Left, least: 0 }
    }

    /// Numbers.
    pub fn right(title: &str) -> Self {
        Column { side: Side::Right, ..Column::left(title) }
    }

    /// The same, so wide at least.
    pub fn at_least(self, least: usize) -> Self {
        Column { least, ..self }
    }
}

/// A table. A row may have fewer cells than there are columns: its last one then runs on as it likes.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: Vec<Column>) -> Self {
        let titles = columns.iter().map(|c| c.title.clone()).collect();
        Table { columns, rows: vec![titles] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The title line and all rows, each with its end of line.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let widths: Vec<usize> = (0..self.columns.len()).map(|i| self.width(i)).collect();
        self.rows.iter().map(move |row| {
            let last = row.len().saturating_sub(1);
            let cells = row.iter().enumerate().map(|(i, cell)| {
                let (width, column) = (widths[i], &self.columns[i]);
                let runs_on = i == last && (column.side == Side::Left || row.len() < self.columns.len());
                match column.side {
                    _ if runs_on => cell.clone(),
                    Side::Left => format!("{cell:width$}"),
                    Side::Right => format!("{cell:>width$}"),
                }
            });
            format!("{}\n", cells.collect::<Vec<_>>().join("  "))
        })
    }

    /// All of it.
    pub fn text(&self) -> String {
        self.lines().collect()
    }

    fn width(&self, column: usize) -> usize {
        let whole = self.rows.iter().filter(|row| row.len() == self.columns.len() || column + 1 < row.len());
        let cells = whole.map(|row| row[column].chars().count());
        cells.chain([self.columns[column].least]).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_line_up_and_nothing_trails() {
        let mut table =
            Table::new(vec![Column::left("name"), Column::right("n").at_least(3), Column::left("why")]);
        table.row(["Zoë", "1", "a"].map(str::to_owned));
        table.row(["a longer one", "12,345", "long text"].map(str::to_owned));
        table.row(["short", "this runs on and on"].map(str::to_owned));
        assert_eq!(
            table.text(),
            "name               n  why\n\
             Zoë                1  a\n\
             a longer one  12,345  long text\n\
             short         this runs on and on\n"
        );
    }
}
