//! Dissection: distances reached, time and memory, as in figures 8 to 14 of the paper.
//!
//! Its four documents cannot be had; PubMed takes their place, with journals as sensitive values.

mod degrees;
mod documents;
mod speed;

use std::path::PathBuf;

pub(crate) use speed::here;

/// What to measure.
pub(crate) struct Options {
    /// Grow the document to about so many bytes for the question of memory.
    pub(crate) grow: Option<u64>,
    /// Also draw the figures, in this folder.
    pub(crate) out: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) {
    let out = options.out.as_deref();
    match documents::Pubmed::unpack() {
        None => println!("dissect: PubMed is not beside the repository; what needs it is left out"),
        Some(pubmed) => {
            speed::throughput(&pubmed);
            if let Some(bytes) = options.grow {
                speed::grown(&pubmed, bytes);
            }
            degrees::real(&pubmed, out);
            speed::figures(&pubmed, out);
        }
    }
    degrees::synthetic(out);
}
