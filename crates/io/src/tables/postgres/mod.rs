//! Linked tables in a PostgreSQL database.

mod catalogue;
mod connect;
mod dump;
pub(super) mod pairs;
mod pgpass;
mod read;
mod sealed;
mod write;

use bosket_model::{Diagnostic, Failure, Fault, Place};
use postgres::error::SqlState;

pub(crate) use read::PgTables;
pub(crate) use write::{Origin, PgPublication};

/// A name as SQL takes it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn quoted_all<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().map(|n| quoted(n)).collect::<Vec<_>>().join(", ")
}

/// A table's own name: what stands after its schema.
fn bare(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, bare)| bare)
}

/// A table as SQL takes it: in the schema given, else in the one its name says, else where the server looks for it.
fn qualified(name: &str, schema: Option<&str>) -> String {
    match (schema, name.split_once('.')) {
        (Some(schema), _) => format!("{}.{}", quoted(schema), quoted(bare(name))),
        (None, Some((schema, table))) => format!("{}.{}", quoted(schema), quoted(table)),
        (None, None) => quoted(name),
    }
}

/// What the server says, as a diagnostic that says what to do. Messages about data hold values and are not repeated.
fn failure(name: &str, error: &postgres::Error) -> Failure {
    let told = |fault, message: &str, help: &str| {
        Failure::new(fault, Diagnostic::error(message).at(Place::source(name)).help(help))
    };
    let environment = |message: &str, help: &str| told(Fault::Environment, message, help);
    let Some(db) = error.as_db_error() else {
        if error.is_closed() {
            return environment("the connection was lost", "try again; nothing was published");
        }
        let cause = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
        let help = "check address, port and network, and that the server runs";
        return environment(&format!("cannot talk to the server: {cause}"), help);
    };
    let code = db.code();
    if *code == SqlState::INVALID_PASSWORD || *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION {
        let help =
            "give the password in PGPASSWORD or ~/.pgpass; if the server wants TLS, add ?sslmode=require";
        return environment("the server does not let this user in", help);
    }
    if *code == SqlState::INVALID_CATALOG_NAME {
        return environment("there is no such database", "check the address");
    }
    if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        let what = format!("the user may not do this: {}", db.message());
        return environment(&what, "ask for the privilege, or use another user or schema");
    }
    if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        return environment("the database is read-only", "publish into another database");
    }
    if *code == SqlState::DISK_FULL {
        return environment(
            "the server's disk is full",
            "make room, or publish elsewhere; nothing was published",
        );
    }
    if [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN].contains(code) {
        return environment(
            "the connection was lost: the server stops",
            "try again later; nothing was published",
        );
    }
    // Classes 22 and 23 are about values.
    if code.code().starts_with("22") || code.code().starts_with("23") {
        let what = format!("the database does not take the data (SQL state {})", code.code());
        return told(Fault::Data, &what, "nothing was published; look the state up in PostgreSQL's manual");
    }
    environment(
        &format!("the server refuses: {} (SQL state {})", db.message(), code.code()),
        "see PostgreSQL's log",
    )
}
