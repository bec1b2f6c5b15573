//! What Bosket's tests measure it against: the definitions, taken literally and slowly.

pub mod alike;
pub mod climb;
pub mod closeness;
pub mod cluster;
pub mod dice;
pub mod dissect;
pub mod diversity;
pub mod fixtures;
pub mod hurried;
pub mod interrupt;
pub mod joint;
pub mod json_schema;
pub mod km;
pub mod knowledge;
pub mod labels;
pub mod large;
pub mod population;
pub mod rows;
pub mod server;
pub mod sets;
pub mod shared;
pub mod trees;
pub mod truth;
pub mod vertices;
