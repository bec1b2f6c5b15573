//! The application layer as its callers see it.

mod counts;
mod dry_run;
mod edges;
mod interrupted;
mod left_out;
mod missing;
mod report;
mod rows;
mod selection;
mod util;
