//! What is handed out with a publication: the certificate that says what is claimed about it.

pub mod certificate;
