//! Files that are tables by their content, whatever they are called.

use std::io::Cursor;
use std::path::Path;

use bosket_model::observe::Limits;

use crate::input::Input;
use crate::rows::Rows;
use crate::table::sniff_separator;

/// How many rows are looked at.
const ROWS: usize = 50;

/// What separates the cells of a file whose first rows are a table: names of columns, and as many cells in each row.
pub(super) fn separator_of_table(path: &Path) -> Option<u8> {
    let input = Input::open(path).ok()?;
    let separator = sniff_separator(input.head());
    is_table(input.head(), separator).then_some(separator)
}

fn is_table(head: &[u8], separator: u8) -> bool {
    // The last row may be cut off.
    let whole = match head.iter().rposition(|&c| c == b'\n') {
        Some(end) => &head[..=end],
        None => return false,
    };
    let Ok(mut input) = Input::new("", Cursor::new(whole.to_vec()), None) else { return false };
    input.limit(Limits::RECORD);
    let mut rows = Rows::new(&mut input, separator);
    let Ok(Some((_, Ok(())))) = rows.advance() else { return false };
    let names: Vec<Vec<u8>> = rows.cells().map(<[u8]>::to_vec).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if names.len() < 2 || sorted.len() < names.len() || !names.iter().all(|name| is_name(name)) {
        return false;
    }
    for row in 0..ROWS {
        match rows.advance() {
            Ok(Some((_, Ok(())))) if rows.cells().len() == names.len() => {}
            Ok(None) => return row > 0,
            _ => return false,
        }
    }
    true
}

/// Whether a cell may name a column: it has a letter, and is no sentence.
fn is_name(cell: &[u8]) -> bool {
    std::str::from_utf8(cell)
        .is_ok_and(|text| text.chars().any(char::is_alphabetic) && text.chars().count() <= LONGEST)
}

/// Longer texts name no column.
const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_told_from_texts() {
        for (text, found) in [
            ("\"id\";\"amount\"\n1;2\n3;4\n", true),
            ("id,name\n1,\"a, b\"\n", true),
            ("Hello, reader,\nthis is no table, is it?\n", false),
            ("1;1,3;*\n2;1,3;*\n", false),
            ("id;id\n1;2\n", false),
            ("id;name\n", false),
            ("id;name\n1;2;3\n", false),
            ("word\nother\n", false),
            ("", false),
        ] {
            assert_eq!(is_table(text.as_bytes(), sniff_separator(text.as_bytes())), found, "{text}");
        }
    }
}
