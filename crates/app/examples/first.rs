//! Anonymizes what a policy names, checks the publication as whoever gets it would, and says what came out.
//!
//! ```text
//! cargo run --example first -- bosket-demo/policy.toml
//! ```

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::verify::VerifyRequest;
use bosket_app::{PolicyAt, Result, anonymize, verify};
use bosket_model::observe::Quiet;

fn main() -> Result<()> {
    let policy = PolicyAt::new(std::env::args().nth(1).unwrap_or_else(|| "policy.toml".to_owned()));
    let request = AnonymizeRequest { policy, force: true, ..AnonymizeRequest::default() };
    let release = anonymize(&request, &Quiet)?;
    for warning in &release.warnings {
        eprintln!("{warning}");
    }
    let release = release.value;
    let request = VerifyRequest {
        publication: release.target.clone(),
        certificate: release.certificate.clone(),
        ..VerifyRequest::default()
    };
    let verified = verify(&request, &Quiet)?.value;
    let verdict = if verified.holds() { "holds" } else { "is violated" };
    let claim = release.claim().map_or("nothing is claimed".to_owned(), |claim| claim.sentence());
    println!("{} records in {}: {claim}: this {verdict}", release.records, release.target.display());
    Ok(())
}
