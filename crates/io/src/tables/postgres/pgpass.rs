//! Passwords from `~/.pgpass`: lines of `host:port:database:user:password`, `*` for any.

use std::path::{Path, PathBuf};

/// The password for a connection, if the file has one and nobody else can read it.
pub(super) fn find(host: &str, port: u16, database: &str, user: &str) -> Option<String> {
    let file = match std::env::var_os("PGPASSFILE") {
        Some(file) => PathBuf::from(file),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".pgpass"),
    };
    if !is_private(&file) {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    // A socket's folder is called localhost there.
    let host = if host.starts_with('/') { "localhost" } else { host };
    search(&text, [host, &port.to_string(), database, user])
}

/// Like libpq: a file that others can read is not used.
#[cfg(unix)]
fn is_private(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_private(file: &Path) -> bool {
    file.is_file()
}

fn search(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut fields = fields(line);
        let fits = fields.len() == 5 && fields.iter().zip(wanted).all(|(f, w)| f == "*" || f == w);
        fits.then(|| fields.swap_remove(4))
    })
}

/// The fields of a line; `\:` and `\\` stand for the characters themselves.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        // The password may have colons of its own.
        if c == ':' && fields.len() < 5 {
            fields.push(String::new());
            continue;
        }
        let field = fields.last_mut().expect("there is always one");
        field.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits() {
        let text = "# a comment\nother:5432:*:ann:no\n*:5433:clinic:ann:a\\:b\\\\c:d\n*:*:*:*:last\n";
        assert_eq!(search(text, ["db", "5433", "clinic", "ann"]).as_deref(), Some("a:b\\c:d"));
        assert_eq!(search(text, ["db", "5432", "clinic", "bob"]).as_deref(), Some("last"));
        assert_eq!(search("db:5432:clinic:ann\n", ["db", "5432", "clinic", "ann"]), None);
    }
}
