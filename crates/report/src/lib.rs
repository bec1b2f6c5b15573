//! What the person who signs for a release looks at: the HTML report and the certificate.
//!
//! [`study`] finds out what is to be said about a publication; [`html`] says it on one page; [`cut`] finds what of a
//! hierarchy is published, [`levels`] at which of its levels; [`certificate`] is what whoever gets the publication can check; [`advice`] is what to do where
//! little is left; [`losses`] and [`plot`] draw charts as files of their own.

pub mod advice;
pub mod certificate;
pub mod cut;
pub mod html;
pub mod levels;
pub mod losses;
pub mod plot;
pub mod study;
