//! What the person who signs for a release looks at: the HTML report and the certificate.
//!
//! [`study`] finds out what is to be said about a publication; [`html`] says it on one page; [`cut`] finds what of a
//! hierarchy is published, [`levels`] at which of its levels; [`certificate`] is what whoever gets the publication can check; [`advice`] is what to do where
//! little is left; [`annex`] is what those who decide ask; [`export`] is metadata for catalogues; [`losses`] and [`plot`] draw charts as files of their own.

pub mod advice;
pub mod annex;
pub mod certificate;
pub mod cut;
pub mod export;
pub mod html;
pub mod levels;
pub mod losses;
pub mod plot;
pub mod study;
