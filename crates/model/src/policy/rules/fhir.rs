//! What published FHIR resources say of themselves.

use super::Attribute;
use crate::policy::choices::{Format, Role};
use crate::policy::node::{Node, Report};

/// Refuses to publish security labels: every published resource has one, which says that it is anonymized.
pub(super) fn check(root: &Node, attributes: &[Attribute<'_>], report: &mut Report) {
    let format = root.get("source").and_then(|source| source.str("format")).and_then(Format::from_name);
    if !matches!(format, Some(Format::FhirR4 | Format::FhirStu3)) {
        return;
    }
    let published = |role: Role| !role.is_left_out() && role != Role::Key;
    for attribute in attributes.iter().filter(|a| a.role.is_some_and(published)) {
        let Some(path) = attribute.path else { continue };
        let steps: Vec<&str> = path.split('.').map(|step| step.trim_end_matches("[]")).collect();
        if steps.windows(2).any(|pair| pair == ["meta", "security"]) {
            let message = format!("`{path}` cannot be published");
            let help = "a published resource has one security label, which says that it is anonymized; make it \"drop\"";
            report.error(attribute.path_span(), message, help);
        }
    }
}
