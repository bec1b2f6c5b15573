//! What there is to be read, to be filled in and to be handed out before anything leaves.

use std::path::Path;

use bosket_model::binding::effective_role;
use bosket_model::policy::{Policy, Role};
use bosket_model::{Failure, Fault};

use crate::Server;
use crate::error::{ApiError, Result};
use crate::places::Places;
use crate::shape::shape;

shape! {
    answer
    /// An attribute that is published as it is.
    pub(crate) struct AsItIs {
        pub(crate) path: String,
        pub(crate) role: &'static str,
        /// Why that is right, as the policy says.
        pub(crate) why: Option<String>,
    }
}

shape! {
    answer
    /// What the page of a publication shows.
    pub(crate) struct PublishView {
        pub(crate) as_it_is: Vec<AsItIs>,
        /// Signatures that lie beside the certificate.
        pub(crate) signature: Option<String>,
        /// Secret keys in the folder, which anybody who signs may have put elsewhere.
        keys: Vec<String>,
        /// Public keys in the folder.
        pub(crate) public_keys: Vec<String>,
        /// Descriptions for catalogues, and statements, that lie beside the publication.
        descriptions: Vec<String>,
    }
}

pub(crate) fn view(server: &Server, policy: &str) -> Result<PublishView> {
    let folder = &server.folder;
    let real = folder.find_policy(policy)?;
    let text = folder.read_text(&real)?;
    let parsed = Policy::parse(policy, &text, &[]);
    let (parsed, _) = parsed.map_err(|errors| ApiError::from(Failure::all(Fault::Policy, errors)))?;
    let places = Places::new(folder, &real, &text, &parsed);
    let beside = |ending: &str| {
        let name = format!("{}{ending}", places.certificate.as_ref()?.to_string_lossy());
        Path::new(&name).is_file().then(|| folder.name(Path::new(&name)))
    };
    let mut keys = Vec::new();
    let mut public_keys = Vec::new();
    for place in [Some(folder.root()), real.parent()].into_iter().flatten() {
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            let name = folder.name(&entry.path());
            match entry.path().extension().and_then(|ending| ending.to_str()) {
                Some("key") => keys.push(name),
                Some("pub") => public_keys.push(name),
                _ => {}
            }
        }
    }
    for list in [&mut keys, &mut public_keys] {
        list.sort();
        list.dedup();
    }
    Ok(PublishView {
        as_it_is: as_it_is(&parsed, &text),
        signature: beside(".minisig"),
        keys,
        public_keys,
        descriptions: [".croissant.json", ".dcat.json", ".intoto.json"]
            .iter()
            .filter_map(|end| beside(end))
            .collect(),
    })
}

/// What the guarantee leaves as it is.
fn as_it_is(policy: &Policy, text: &str) -> Vec<AsItIs> {
    let mut reasons = crate::policy::reasons(text);
    let is_apart = policy.privacy.as_ref().is_some_and(|privacy| privacy.model.is_apart());
    let stays = |role: Role| match role {
        Role::Insensitive | Role::Sensitive | Role::Pseudonym => true,
        Role::Quasi => is_apart,
        Role::Identifying | Role::Key | Role::Drop => false,
    };
    let attributes =
        policy.attributes.iter().filter(|attribute| stays(effective_role(&policy.attributes, attribute)));
    attributes
        .map(|attribute| AsItIs {
            path: attribute.path.clone(),
            role: attribute.role.name(),
            why: reasons.remove(&attribute.path),
        })
        .collect()
}
