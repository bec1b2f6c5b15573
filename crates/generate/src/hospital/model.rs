//! The tables of the Common Data Model, with their columns in its order.

/// A table.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// Its columns; the first one is its key.
    pub(super) columns: &'static [&'static str],
}

pub(super) const CONCEPT: usize = 0;
pub(super) const LOCATION: usize = 1;
pub(super) const PERSON: usize = 2;
pub(super) const VISIT: usize = 3;
pub(super) const CONDITION: usize = 4;
pub(super) const DRUG: usize = 5;
pub(super) const PROCEDURE: usize = 6;
pub(super) const MEASUREMENT: usize = 7;
pub(super) const OBSERVATION: usize = 8;
pub(super) const DEATH: usize = 9;

pub(super) static TABLES: [Table; 10] = [
    Table {
        name: "concept",
        columns: &[
            "concept_id",
            "concept_name",
            "domain_id",
            "vocabulary_id",
            "concept_class_id",
            "standard_concept",
            "concept_code",
            "valid_start_date",
            "valid_end_date",
            "invalid_reason",
        ],
    },
    Table {
        name: "location",
        columns: &[
            "location_id",
            "address_1",
            "address_2",
            "city",
            "state",
            "zip",
            "county",
            "location_source_value",
            "country_concept_id",
            "country_source_value",
            "latitude",
            "longitude",
        ],
    },
    Table {
        name: "person",
        columns: &[
            "person_id",
            "gender_concept_id",
            "year_of_birth",
            "month_of_birth",
            "day_of_birth",
            "birth_datetime",
            "race_concept_id",
            "ethnicity_concept_id",
            "location_id",
            "provider_id",
            "care_site_id",
            "person_source_value",
            "gender_source_value",
            "gender_source_concept_id",
            "race_source_value",
            "race_source_concept_id",
            "ethnicity_source_value",
            "ethnicity_source_concept_id",
        ],
    },
    Table {
        name: "visit_occurrence",
        columns: &[
            "visit_occurrence_id",
            "person_id",
            "visit_concept_id",
            "visit_start_date",
            "visit_start_datetime",
            "visit_end_date",
            "visit_end_datetime",
            "visit_type_concept_id",
            "provider_id",
            "care_site_id",
            "visit_source_value",
            "visit_source_concept_id",
            "admitted_from_concept_id",
            "admitted_from_source_value",
            "discharged_to_concept_id",
            "discharged_to_source_value",
            "preceding_visit_occurrence_id",
        ],
    },
    Table {
        name: "condition_occurrence",
        columns: &[
            "condition_occurrence_id",
            "person_id",
            "condition_concept_id",
            "condition_start_date",
            "condition_start_datetime",
            "condition_end_date",
            "condition_end_datetime",
            "condition_type_concept_id",
            "condition_status_concept_id",
            "stop_reason",
            "provider_id",
            "visit_occurrence_id",
            "visit_detail_id",
            "condition_source_value",
            "condition_source_concept_id",
            "condition_status_source_value",
        ],
    },
    Table {
        name: "drug_exposure",
        columns: &[
            "drug_exposure_id",
            "person_id",
            "drug_concept_id",
            "drug_exposure_start_date",
            "drug_exposure_start_datetime",
            "drug_exposure_end_date",
            "drug_exposure_end_datetime",
            "verbatim_end_date",
            "drug_type_concept_id",
            "stop_reason",
            "refills",
            "quantity",
            "days_supply",
            "sig",
            "route_concept_id",
            "lot_number",
            "provider_id",
            "visit_occurrence_id",
            "visit_detail_id",
            "drug_source_value",
            "drug_source_concept_id",
            "route_source_value",
            "dose_unit_source_value",
        ],
    },
    Table {
        name: "procedure_occurrence",
        columns: &[
            "procedure_occurrence_id",
            "person_id",
            "procedure_concept_id",
            "procedure_date",
            "procedure_datetime",
            "procedure_end_date",
            "procedure_end_datetime",
            "procedure_type_concept_id",
            "modifier_concept_id",
            "quantity",
            "provider_id",
            "visit_occurrence_id",
            "visit_detail_id",
            "procedure_source_value",
            "procedure_source_concept_id",
            "modifier_source_value",
        ],
    },
    Table {
        name: "measurement",
        columns: &[
            "measurement_id",
            "person_id",
            "measurement_concept_id",
            "measurement_date",
            "measurement_datetime",
            "measurement_time",
            "measurement_type_concept_id",
            "operator_concept_id",
            "value_as_number",
            "value_as_concept_id",
            "unit_concept_id",
            "range_low",
            "range_high",
            "provider_id",
            "visit_occurrence_id",
            "visit_detail_id",
            "measurement_source_value",
            "measurement_source_concept_id",
            "unit_source_value",
            "unit_source_concept_id",
            "value_source_value",
            "measurement_event_id",
            "meas_event_field_concept_id",
        ],
    },
    Table {
        name: "observation",
        columns: &[
            "observation_id",
            "person_id",
            "observation_concept_id",
            "observation_date",
            "observation_datetime",
            "observation_type_concept_id",
            "value_as_number",
            "value_as_string",
            "value_as_concept_id",
            "qualifier_concept_id",
            "unit_concept_id",
            "provider_id",
            "visit_occurrence_id",
            "visit_detail_id",
            "observation_source_value",
            "observation_source_concept_id",
            "unit_source_value",
            "qualifier_source_value",
            "value_source_value",
            "observation_event_id",
            "obs_event_field_concept_id",
        ],
    },
    Table {
        name: "death",
        columns: &[
            "person_id",
            "death_date",
            "death_datetime",
            "death_type_concept_id",
            "cause_concept_id",
            "cause_source_value",
            "cause_source_concept_id",
        ],
    },
];

/// A table's row with these cells; the others are empty.
pub(super) fn row(table: usize, cells: &[(&str, String)]) -> Vec<String> {
    let cell = |column: &&str| cells.iter().find(|(name, _)| name == column).map(|(_, text)| text.clone());
    let row: Vec<String> =
        TABLES[table].columns.iter().map(|column| cell(column).unwrap_or_default()).collect();
    debug_assert!(
        cells.iter().all(|(name, _)| TABLES[table].columns.contains(name)),
        "a column that there is not"
    );
    row
}

/// The tables in SQL.
pub(super) fn schema() -> String {
    TABLES.iter().map(created).collect()
}

fn created(table: &Table) -> String {
    let own = table.columns[0];
    let column = |name: &&str| {
        let kind = if is_text(name) { "TEXT" } else { "NUMERIC" };
        let target = TABLES.iter().find(|other| other.columns[0] == *name && other.name != "death");
        let refers = match target {
            _ if *name == own => " PRIMARY KEY".to_owned(),
            Some(other) => format!(" REFERENCES {} ({name})", other.name),
            None => String::new(),
        };
        let refers = if table.name == "death" && *name == own {
            format!("{refers} REFERENCES person (person_id)")
        } else {
            refers
        };
        format!("{name} {kind}{refers}")
    };
    let columns: Vec<String> = table.columns.iter().map(column).collect();
    format!("CREATE TABLE {} ({});\n", table.name, columns.join(", "))
}

fn is_text(column: &str) -> bool {
    const NUMBERS: [&str; 9] = [
        "year_of_birth",
        "month_of_birth",
        "day_of_birth",
        "quantity",
        "refills",
        "days_supply",
        "value_as_number",
        "range_low",
        "range_high",
    ];
    !NUMBERS.contains(&column)
        && (!column.ends_with("_id") || matches!(column, "domain_id" | "vocabulary_id" | "concept_class_id"))
}

/// How a row of a table is added. A cell without text is no value.
pub(super) fn insert(table: &Table) -> String {
    let cells = vec!["NULLIF(?, '')"; table.columns.len()].join(", ");
    format!("INSERT INTO {} VALUES ({cells})", table.name)
}
