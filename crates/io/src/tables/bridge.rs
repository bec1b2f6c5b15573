//! Tables between people and what they have: `disposition` names a client and an account, and loans name the account.
//!
//! No foreign key leads from an account to anybody. But where each account is named by one row of `disposition` it belongs
//! to that row, and it and all that refers to it hang below: by the column that names it, or, where cards hang below
//! dispositions by a key of these, by that key, which is looked up.

use bosket_model::policy::Lookup;
use bosket_model::words::plural;

use super::catalogue::{Catalogue, Linked, Listed, Reference};
use super::names::holds_people;

/// A table that others refer to, and the reference by which it hangs below one that refers to it.
pub(super) fn turned(catalogue: &Catalogue, linked: &Linked) -> Option<(usize, Reference)> {
    candidates(catalogue, linked).find_map(|(table, above, reference)| {
        let fits = problem(catalogue, linked, table, above, reference).is_none();
        // Where others hang below by another key, that is looked up by the rows that name each of these.
        let (columns, key) = match other_key(linked, above, reference) {
            Some(key) => (key, key),
            None => (reference.key.as_slice(), reference.columns.as_slice()),
        };
        let turned = Reference {
            columns: columns.to_vec(),
            table: above.name.clone(),
            key: key.to_vec(),
            astray: 0,
            unknown: 0,
            repeated: Some(0),
            turned: true,
            assumed: reference.assumed,
        };
        fits.then_some((table, turned))
    })
}

/// Why tables that others refer to do not hang below those that refer to them, and what to do; by the tables' names.
pub(super) fn notes(catalogue: &Catalogue, linked: &Linked) -> Vec<(String, String)> {
    let mut told: Vec<(usize, String)> = Vec::new();
    for (table, above, reference) in candidates(catalogue, linked) {
        // A table that many rows name each row of, or few at all, is no possession but a kind.
        let repeated = reference.repeated.unwrap_or(above.rows);
        if 2 * repeated >= above.rows || 2 * above.rows < catalogue.tables[table].rows {
            continue;
        }
        let Some(why) = problem(catalogue, linked, table, above, reference) else { continue };
        if told.iter().all(|(known, _)| *known != table) {
            let name = &catalogue.tables[table].name;
            told.push((table, format!("`{name}` and what refers to it are left out: {why}")));
        }
    }
    told.into_iter().map(|(table, note)| (catalogue.tables[table].name.clone(), note)).collect()
}

/// Tables that are not read although others that are not read refer to them, each with a table that is read and refers to
/// it.
fn candidates<'a>(
    catalogue: &'a Catalogue,
    linked: &'a Linked,
) -> impl Iterator<Item = (usize, &'a Listed, &'a Reference)> {
    let read = |name: &str| linked.tables.iter().any(|t| t.name == name);
    let referred = move |name: &str| {
        let others =
            catalogue.tables.iter().filter(|t| !read(&t.name) && t.unreadable.is_none() && t.name != name);
        others.flat_map(|t| &t.references).any(|r| r.table == name && r.astray == 0 && !r.turned)
    };
    let free = move |t: &Listed| !read(&t.name) && t.unreadable.is_none() && !holds_people(&t.name);
    let unread = catalogue.tables.iter().enumerate().filter(move |(_, t)| free(t) && referred(&t.name));
    unread.flat_map(move |(table, listed)| {
        let above = linked.tables.iter().filter_map(|t| Some(&catalogue.tables[catalogue.find(&t.name)?]));
        above.flat_map(move |above| {
            let fits = |r: &&Reference| r.table == listed.name && r.astray == 0 && !r.turned;
            above.references.iter().filter(fits).map(move |r| (table, above, r))
        })
    })
}

/// Why a table cannot hang below one that refers to it.
fn problem(
    catalogue: &Catalogue,
    linked: &Linked,
    table: usize,
    above: &Listed,
    reference: &Reference,
) -> Option<String> {
    let table = &catalogue.tables[table];
    let columns = reference.columns.join(", ");
    let repeated = reference.repeated.unwrap_or(above.rows);
    if repeated > 0 {
        return Some(format!(
            "{} of `{}` {} a row of it by {columns} that another row names too, so it belongs to several; leave one of \
             them each in a copy or view of `{}`, then it hangs below",
            plural(repeated as usize, "row"),
            above.name,
            if repeated == 1 { "names" } else { "name" },
            above.name
        ));
    }
    if above.rows != table.rows {
        let rows = table.rows.saturating_sub(above.rows);
        return Some(format!(
            "{} of it {} to nobody, for no row of `{}` names {}; take {} out, then it hangs below",
            plural(rows as usize, "row"),
            if rows == 1 { "belongs" } else { "belong" },
            above.name,
            if rows == 1 { "it" } else { "them" },
            if rows == 1 { "it" } else { "them" },
        ));
    }
    let taken = other_key(linked, above, reference)?.iter().find(|c| table.columns.contains(c))?;
    Some(format!(
        "tables hang below `{}` by {taken}, and `{}` has a column of that name; call it otherwise in a copy or view, then it \
         hangs below, too",
        above.name, table.name
    ))
}

/// The key of a table by which others hang below it already, if it is not the one of a reference.
fn other_key<'a>(linked: &'a Linked, above: &Listed, reference: &Reference) -> Option<&'a [String]> {
    let own = linked.tables.iter().find(|t| t.name == above.name)?;
    let has_others = linked.tables.iter().any(|t| t.parent.as_ref() == Some(&own.name));
    (has_others && own.key != reference.columns).then_some(own.key.as_slice())
}

/// The lookup by which a table gets the key of the one that it hangs below, if it is not called so in both.
pub(super) fn lookup(catalogue: &Catalogue, table: &Listed, link: &Reference) -> Option<Lookup> {
    let above = &catalogue.tables[catalogue.find(&link.table)?];
    let named = above.references.iter().find(|r| r.table == table.name && r.columns != link.key)?;
    link.turned.then(|| Lookup {
        name: above.name.clone(),
        path: above.path.clone(),
        key: named.columns.clone(),
        table: table.name.clone(),
        columns: named.key.clone(),
        values: link.key.clone(),
        names: link.columns.clone(),
    })
}
