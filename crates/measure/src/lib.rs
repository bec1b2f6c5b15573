//! What can be said about data in numbers.
//!
//! [`inspect`] looks at a dataset before there is a policy: what its attributes are like, which roles and hierarchies
//! that suggests, and a first policy made of these suggestions. [`trees`] says what a publication of value trees lost,
//! [`sets`] what one of sets lost, [`vertices`] what one of vertex trees lost; [`loss`] says it in one form for all.
//! [`kept`] counts the rows and values that go in and come out.
//! [`attack`] plays the attacker: how many records fit what somebody may know of a person.

pub mod attack;
pub mod inspect;
pub mod kept;
pub mod loss;
mod paired;
pub mod sets;
pub mod trees;
pub mod vertices;

pub use paired::paired;
