//! What a publication has besides the values that the claim speaks of is never passed over.

use serde_json::json;

use crate::util::{Dir, attribute, policy};

const TOWNS: &str = "A;*\nB;*\n";

/// Two people who look alike, with a number each that the policy calls a key.
#[test]
fn a_key_in_a_tree_is_left_over_even_in_the_input_itself() {
    let attributes = [
        attribute("ssn", "key", ""),
        attribute("visits[].id", "key", ""),
        attribute("town", "quasi", "hierarchy = 't.csv'"),
        attribute("visits[].h", "quasi", "hierarchy = 't.csv'"),
    ];
    let dir = Dir::new();
    dir.write("t.csv", TOWNS).write("p.toml", policy(&attributes, "model = \"k-anonymity\"\nk = 2")).write(
        "in.ndjson",
        "{\"ssn\":\"111\",\"town\":\"A\",\"visits\":[{\"id\":\"v1\",\"h\":\"B\"}]}\n\
         {\"ssn\":\"222\",\"town\":\"A\",\"visits\":[{\"id\":\"v2\",\"h\":\"B\"}]}\n",
    );
    let told = dir.run(&["verify", "in.ndjson", "--policy", "p.toml", "--against", "in.ndjson"]).exits(1);
    told.prints(&["the policy removes ssn, visits[].id, but the file still has them", "NOT TRUE"])
        .hides(&["111", "v2"]);
    let found = dir.run(&["verify", "in.ndjson", "--policy", "p.toml", "--json"]).exits(1).json();
    assert_eq!(found["left_over"], json!(["ssn", "visits[].id"]));
    assert_eq!(found["keys"], json!([]));
}
