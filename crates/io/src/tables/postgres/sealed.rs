//! Whether the schema of a publication holds nothing but its tables.
//!
//! Whoever gets a schema gets all that stands in it: further tables and views, what functions and triggers are made of,
//! comments, the state of sequences, defaults. What only the server's own files hold (rows that were deleted and not yet
//! vacuumed, statistics for its planner) is not seen here; no dump has it.

use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use postgres::Client;

use super::{PgPublication, PgTables, failure};
use crate::apart::SENSITIVE;
use crate::problems::Problems;

/// Everything in some schemas ($1) but tables ($2) with their keys: what it is, and its name.
const OTHERS: &str = "
WITH space AS (SELECT oid FROM pg_namespace WHERE nspname::text = ANY ($1::text[])),
own AS (SELECT to_regclass(t)::oid AS oid FROM unnest($2::text[]) t WHERE to_regclass(t) IS NOT NULL),
key AS (SELECT conindid AS oid FROM pg_constraint
        WHERE conrelid IN (SELECT oid FROM own) AND contype IN ('p', 'u')),
extension AS (SELECT objid AS oid FROM pg_depend WHERE deptype = 'e')
SELECT CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'f' THEN 'table' WHEN 'v' THEN 'view'
       WHEN 'm' THEN 'view' WHEN 'S' THEN 'sequence' WHEN 'i' THEN 'index' WHEN 'I' THEN 'index' ELSE 'type' END AS kind,
       c.relname::text AS name
FROM pg_class c WHERE c.relnamespace IN (SELECT oid FROM space) AND c.oid NOT IN (SELECT oid FROM extension)
AND NOT (c.relkind = 'r' AND c.oid IN (SELECT oid FROM own)) AND c.oid NOT IN (SELECT oid FROM key)
UNION ALL
SELECT 'function', p.proname::text FROM pg_proc p
WHERE p.pronamespace IN (SELECT oid FROM space) AND p.oid NOT IN (SELECT oid FROM extension)
UNION ALL
SELECT 'type', t.typname::text FROM pg_type t
WHERE t.typnamespace IN (SELECT oid FROM space) AND t.typtype IN ('e', 'd', 'r')
AND t.oid NOT IN (SELECT oid FROM extension)
UNION ALL
SELECT 'statistics object', stxname::text FROM pg_statistic_ext WHERE stxnamespace IN (SELECT oid FROM space)
UNION ALL
SELECT 'trigger', tgname::text FROM pg_trigger WHERE tgrelid IN (SELECT oid FROM own) AND NOT tgisinternal
UNION ALL
SELECT 'rule', rulename::text FROM pg_rewrite WHERE ev_class IN (SELECT oid FROM own)
UNION ALL
SELECT 'policy', polname::text FROM pg_policy WHERE polrelid IN (SELECT oid FROM own)
UNION ALL
SELECT 'check', conname::text FROM pg_constraint
WHERE conrelid IN (SELECT oid FROM own) AND contype NOT IN ('p', 'u', 'f', 'n')
UNION ALL
SELECT 'table that inherits', inhrelid::regclass::text FROM pg_inherits
WHERE inhparent IN (SELECT oid FROM own) OR inhrelid IN (SELECT oid FROM own)
UNION ALL
SELECT 'column default', a.attname::text FROM pg_attribute a
WHERE a.attrelid IN (SELECT oid FROM own) AND a.attnum > 0 AND (a.atthasdef OR a.attidentity <> '')
UNION ALL
SELECT 'dropped column', a.attnum::text FROM pg_attribute a
WHERE a.attrelid IN (SELECT oid FROM own) AND a.attnum > 0 AND a.attisdropped
UNION ALL
SELECT 'comment on', c.relname::text FROM pg_description d JOIN pg_class c ON c.oid = d.objoid
WHERE d.classoid = 'pg_class'::regclass AND d.objoid IN (SELECT oid FROM own UNION SELECT oid FROM key)
UNION ALL
SELECT 'comment on constraint', c.conname::text FROM pg_description d JOIN pg_constraint c ON c.oid = d.objoid
WHERE d.classoid = 'pg_constraint'::regclass AND c.conrelid IN (SELECT oid FROM own)
UNION ALL
SELECT 'comment on type', c.typname::text FROM pg_description d JOIN pg_type c ON c.oid = d.objoid
WHERE d.classoid = 'pg_type'::regclass AND c.typrelid IN (SELECT oid FROM own)
UNION ALL
SELECT 'comment on schema', n.nspname::text FROM pg_description d JOIN pg_namespace n ON n.oid = d.objoid
WHERE d.classoid = 'pg_namespace'::regclass AND d.objoid IN (SELECT oid FROM space)
AND d.description <> 'standard public schema'
UNION ALL
SELECT 'security label on', objoid::regclass::text FROM pg_seclabel
WHERE classoid = 'pg_class'::regclass AND objoid IN (SELECT oid FROM own)
UNION ALL
SELECT 'security label on schema', n.nspname::text FROM pg_seclabel l JOIN pg_namespace n ON n.oid = l.objoid
WHERE l.classoid = 'pg_namespace'::regclass AND l.objoid IN (SELECT oid FROM space)
ORDER BY 1, 2";

/// What else some schemas hold than these tables: what it is, and its name.
pub(super) fn others(
    client: &mut Client,
    name: &str,
    schemas: &[String],
    tables: &[String],
) -> Result<Vec<(String, String)>> {
    let rows = client.query(OTHERS, &[&schemas, &tables]).map_err(|e| failure(name, &e))?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

impl PgPublication {
    /// Refuses a schema that holds tables of others, before there is any work to lose. Tables of groups and values may be
    /// replaced, too; that is known only when they are written.
    pub(crate) fn refuse_occupied(&mut self) -> Result<()> {
        let own: Vec<String> = self.tables.iter().map(|t| self.table(t)).collect();
        let (name, schema) = (self.name.clone(), self.schema.clone());
        let others = others(self.client()?, &name, std::slice::from_ref(&schema), &own)?;
        let foreign = |(kind, other): &&(String, String)| {
            matches!(kind.as_str(), "table" | "view") && !other.to_ascii_lowercase().starts_with(SENSITIVE)
        };
        let Some((kind, other)) = others.iter().find(foreign) else { return Ok(()) };
        let what = format!("the schema has a {kind} `{other}`, which is no part of the publication");
        let what = Diagnostic::error(what).at(Place::source(format!("{name}, schema {schema}")));
        Err(Failure::new(Fault::Environment, what.help("publish into a schema of its own")))
    }
}

impl PgTables {
    /// Refuses a publication with anything beside these tables.
    pub(super) fn refuse_others(&mut self, tables: &[&str]) -> Result<()> {
        let schemas = self.schemas(tables)?;
        let qualified: Vec<String> = tables.iter().map(|t| self.qualified(t)).collect();
        let name = self.name.clone();
        let mut problems = Problems::new(&self.schema_name());
        for (kind, other) in others(self.client(), &name, &schemas, &qualified)? {
            problems.push(|place: Place| {
                let what = format!("the schema holds more than the tables of the publication: {kind} `{other}`");
                let help = "`verify` cannot judge it, so it must not be handed out: take it out, or publish into a schema of its own";
                Diagnostic::error(what).at(place).help(help)
            });
        }
        problems.settle()
    }
}
