//! The order of records by what they say: the same whatever files, partitions and threads they have come through.

use rayon::prelude::*;

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::selection::Digests;

use crate::params::Input;

/// Per record a digest of all that may be published of it.
pub(super) fn digests(input: Input<'_>, observer: &dyn Observer) -> Result<Vec<[u8; 32]>> {
    let public = |role| matches!(role, Some(Role::Quasi | Role::Sensitive | Role::Insensitive));
    let digests = Digests::about(input.data, |attribute| public(input.binding.role(attribute)));
    let one = |record: usize| {
        observer.go_on()?;
        Ok(digests.of(record))
    };
    (0..input.data.len()).into_par_iter().map(one).collect()
}

/// The records by their digests. Records that say the same stay in their order, in which nobody can tell them apart.
pub(super) fn by_content(input: Input<'_>, observer: &dyn Observer) -> Result<Vec<u32>> {
    let digests = digests(input, observer)?;
    let mut order: Vec<u32> = (0..input.data.len() as u32).collect();
    order.par_sort_by_key(|&record| digests[record as usize]);
    Ok(order)
}
