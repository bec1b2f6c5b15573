//! Empty places of a part. Where missing values count, an empty place is knowledge if anybody has a value there, and that may be
//! somebody in another part.

use bosket_model::binding::Binding;
use bosket_model::policy::{Missing, Role};
use bosket_model::{AttributeId, Dataset, Dictionary, Kind};

use crate::claim::{Claim, Kmn};
use crate::columns::ANYTHING;

/// The same records as if every quasi attribute had a value somewhere; none if that changes nothing. What is knowledge of all records is so
/// here, too, and perhaps some more, for which a kernel keeps some more.
pub(crate) fn seen(data: &Dataset, binding: &Binding, claim: &Claim) -> Option<Dataset> {
    let Claim::Kmn(Kmn { missing: Missing::Counted, .. }) = claim else { return None };
    let unseen = |id: AttributeId| binding.role(id) == Some(Role::Quasi) && data.dictionary(id).is_empty();
    if !data.schema().attributes().any(|(id, _)| unseen(id)) {
        return None;
    }
    let mut anything = Dictionary::default();
    anything.intern(Kind::Text, ANYTHING);
    Some(data.recoded(|id| unseen(id).then(|| (anything.clone(), Vec::new()))))
}
