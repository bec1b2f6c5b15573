//! `bosket report`: one HTML file about a publication, for the people who answer for it.

use bosket_app::report::ReportRequest;
use bosket_model::Result;

use crate::Outcome;
use crate::args::Report;
use crate::next;
use crate::output::print;
use crate::talk::Talk;

pub fn run(args: &Report, talk: &Talk) -> Result<Outcome> {
    let request = ReportRequest {
        policy: args.sets.policy(&args.policy)?,
        publication: args.publication.clone(),
        certificate: args.certificate.clone(),
        mapping: args.mapping.clone(),
        out: args.out.clone(),
        internal: args.internal,
        force: args.force,
        settings: talk.settings(args.memory, false),
    };
    let reported = talk.told(bosket_app::report(&request, talk)?);
    print(&format!("wrote the report to {}\n", reported.out.display()))?;
    if reported.holds() {
        // Whoever gets it checks it so.
        if let Some(certificate) = &reported.certified_by {
            print(&next::check(&reported.publication, certificate, None))?;
        }
        return Ok(Outcome::Done);
    }
    talk.line("something is wrong with the publication or its certificate; the report says what");
    Ok(Outcome::Violated)
}
