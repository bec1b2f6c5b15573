//! Publications of one record per person.

use std::path::Path;

use bosket_io::publication;
use bosket_measure::kept::Recounted;
use bosket_model::binding::Binding;
use bosket_model::masks::Masks;
use bosket_model::policy::{Missing, Role};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};
use bosket_verify::joint::Joint;
use bosket_verify::truth::{Compared, Comparison, MaskKey, Recoding, Side, compare_masked};
use bosket_verify::{Claim, Verification};

use super::mapping::read_mapping;
use super::{Check, Verified, form};
use crate::joint::link::{self, Numbering};
use crate::joint::{self, OwnInput, Together};
use crate::key;
use crate::load::{self, Bound};
use crate::negative;

pub(super) fn verify(check: &Check<'_>) -> Result<Verified> {
    let Check { request, file, claim, run, .. } = check;
    let (published, written) = load::published_as(file, check.publication(), run)?;
    let Bound { data, binding } = &published;
    if !binding.attributes.iter().flatten().any(|&d| binding.declared[d].role == Role::Quasi) {
        let what = Diagnostic::error(
            "none of the policy's quasi attributes is in the file: there is nothing to verify",
        );
        let place = Place::source(check.publication().display().to_string());
        return Err(Failure::new(
            Fault::Policy,
            what.at(place).help("check that policy and file belong together, and the paths"),
        ));
    }
    let caveats = claim.caveats(binding);
    run.warn(caveats.iter().cloned());
    let hierarchies = negative::hierarchies(claim, file, data, binding)?;
    let memory = run.settings.memory();
    let verification = Verification::of_records(data, binding, claim, &hierarchies, memory, run.observer)?;
    let compared = request.against.as_deref().map(|input| against(check, &published, input)).transpose()?;
    let (untruths, guessed) = compared.map_or((None, None), |found| (Some(found.untruths), found.guessed));
    let joint = if request.with.is_empty() { None } else { Some(together(check, &published)?) };
    let recounted = check.kept.map(|kept| Recounted::of(published.side(), kept, run.observer)).transpose()?;
    let found = Verified { untruths, guessed, joint, recounted, ..Verified::judged(verification, caveats) };
    if found.holds() {
        refuse_uneven(claim, data, binding, check.publication())?;
    }
    if let Some((written, form)) = &written {
        form::of_records(check, &found, &published, (written, form))?;
    }
    Ok(found)
}

/// Refuses a publication in which some have an object that says nothing and others do not have it: an empty place counts as
/// `*` either way, so that nobody counts what tells them apart.
fn refuse_uneven(claim: &Claim, data: &Dataset, binding: &Binding, at: &Path) -> Result<()> {
    let counted = matches!(claim, Claim::Kmn(kmn) if kmn.missing == Missing::Counted);
    let Some(path) = data.uneven_object(binding).filter(|_| counted) else { return Ok(()) };
    let what = "around this attribute is an object that says nothing, and that others do not have: whoever sees it knows who \
                has one";
    let place = Place::source(at.display().to_string()).path(&path);
    let help = "publish it for nobody of whom it says nothing, as `bosket anonymize` does";
    Err(Failure::new(Fault::Data, Diagnostic::error(what).at(place).help(help)))
}

/// What the publication tells together with earlier ones.
fn together(check: &Check<'_>, published: &Bound) -> Result<Joint> {
    let Check { request, file, claim, run, .. } = check;
    let Some(mapping) = &request.mapping else {
        let what = "whose records are whose in the publication is not known without its private mapping";
        let help = "give it with --mapping; it was written where `publish.mapping` said so";
        return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
    };
    let own = request.against.as_deref().map(|input| joint::own_input(file, input, run)).transpose()?;
    let own = own.as_ref().map(|(name, bound, hierarchies)| OwnInput { bound, name, hierarchies });
    let numbers = link::numbers(mapping, published.data.len())?;
    let numbering = Numbering::beside(mapping);
    let together =
        Together::read(file, claim, &joint::all(file, &request.with), numbering.as_ref(), own, run)?;
    let name = publication::name(file, check.publication());
    together.verify((&name, published), &numbers, own, run)
}

fn against(check: &Check<'_>, published: &Bound, input: &Path) -> Result<Compared> {
    let Check { request, file, run, .. } = check;
    let (private, hierarchies) = check.private(input)?;
    let mapping = request.mapping.as_deref().map(read_mapping).transpose()?;
    let comparison = Comparison {
        published: Side { data: &published.data, binding: &published.binding },
        input: Side { data: &private.data, binding: &private.binding },
        hierarchies: &hierarchies,
        recoding: Recoding::of(&file.policy)?,
        suppress: file.policy.method.flag("suppress").unwrap_or(false),
        mapping: mapping.as_ref(),
        sensitive: file.policy.privacy.as_ref().map_or(&[], |privacy| &privacy.sensitive),
    };
    let key = request.mask_key.as_deref().map(|path| key::read(&file.policy, Some(path))).transpose()?;
    let name = input.display().to_string();
    let key = key.as_ref().and_then(Option::as_ref).map(|key| MaskKey {
        bytes: key.bytes(),
        attributes: &file.policy.attributes,
        name: &name,
    });
    compare_masked(&comparison, &Masks::of(&file.policy), key, file.policy.guess(), run.observer)
}
