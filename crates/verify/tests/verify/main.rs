//! The verifier against brute force, golden cases and outputs known to be wrong.

mod absence;
mod anatomized;
mod apart;
mod attack;
mod attackers;
mod cancelled;
mod close;
mod diverse;
mod golden;
mod guard;
mod joint;
mod knowledge;
mod mergeable;
mod names;
mod parts;
mod parts_again;
mod places;
mod recount;
mod sets;
mod sides;
mod spelling;
mod truth_global;
mod truth_local;
mod truth_regressions;
mod verification;
mod vertices;
