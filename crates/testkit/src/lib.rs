//! What Bosket's tests measure it against: the definitions, taken literally and slowly.

pub mod alike;
pub mod dice;
pub mod diversity;
pub mod knowledge;
pub mod labels;
pub mod sets;
pub mod shared;
pub mod trees;
pub mod truth;
pub mod vertices;
