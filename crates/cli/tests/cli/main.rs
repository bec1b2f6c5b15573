//! The `bosket` command from the outside: arguments and files in, exit code, output and files out.
#![allow(unreachable_pub, reason = "a test binary has no readers outside")]

mod about;
mod against;
mod against_local;
mod anonymize;
mod attack;
mod bad_data;
mod bad_policy;
mod baskets;
mod certificate;
mod certificate_changes;
mod cluster_data;
mod cluster_databases;
mod clusters;
mod convert;
mod dissect;
mod dissect_columns;
mod dissect_real;
mod exit_codes;
mod fhir;
mod figures;
mod golden;
mod hierarchy;
mod inspect;
mod mongo;
mod parquet;
mod report;
mod sets;
mod streams;
mod tables;
mod tpch;
mod util;
mod verify;
mod writing;
mod xml;
