//! The application layer as its callers see it.

mod counts;
mod dry_run;
mod edges;
mod interrupted;
mod report;
mod rows;
mod util;
