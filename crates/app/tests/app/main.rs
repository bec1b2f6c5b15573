//! The application layer as its callers see it.

mod chunked;
mod counts;
mod dry_run;
mod edges;
mod hierarchies;
mod interrupted;
mod left_out;
#[cfg(unix)]
mod masks;
mod missing;
mod report;
mod rows;
mod selection;
mod util;
