//! The algorithms, one file or folder each: they put records into clusters, and know nothing of what comes after.
//!
//! `ctoff` and `clustree` grow one cluster after the other, `miracle` and `miraclex` let records stream into open ones,
//! `dmiracle` merges what came of that until it is diverse. `blocks` is for flat tables, `bitmap` the single-table baseline.

pub(super) mod bitmap;
pub(super) mod blocks;
pub(super) mod clustree;
pub(super) mod ctoff;
pub(super) mod dmiracle;
pub(super) mod miracle;
pub(super) mod miraclex;
