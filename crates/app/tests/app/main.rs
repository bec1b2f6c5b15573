//! The application layer as its callers see it.

mod celled;
mod checks;
mod chunked;
mod chunked_columns;
mod chunked_tables;
mod counts;
mod dry_run;
mod edges;
mod hierarchies;
mod interrupted;
mod left_out;
#[cfg(unix)]
mod masks;
mod missing;
mod overlooked;
mod parted_figures;
mod releases;
mod report;
mod rows;
mod selection;
mod sides;
mod sides_damaged;
mod silent;
mod smuggled;
mod util;
