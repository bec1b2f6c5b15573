//! What Bosket's tests measure it against: the definitions, taken literally and slowly.

pub mod knowledge;
pub mod shared;
pub mod trees;
