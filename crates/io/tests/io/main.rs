//! Reading and writing: every format, good, bad and real files. One program, since each would be some 35 MB.

mod common;
mod fhir_common;
#[path = "../tables_common/mod.rs"]
mod tables_common;
mod xml_common;

mod bad_input;
mod cancelled;
mod columns_from_chunks;
mod dissect;
mod dissect_columns;
mod fhir;
mod fhir_bad;
mod fhir_moved;
mod fhir_real;
mod files;
mod folders;
mod hierarchies;
mod interrupted;
mod laws;
mod maps;
mod mongo;
mod parquet;
mod parquet_laws;
mod parser;
mod parts;
mod read_again;
mod real_files;
mod sealed_files;
mod sealed_postgres;
mod sealed_tables;
mod tables;
mod tables_laws;
mod tables_parquet;
mod tables_postgres;
mod tables_shapes;
mod tables_sqlite;
mod xml;
mod xml_bad;
mod xml_laws;
mod xml_narrative;
mod xml_real;
