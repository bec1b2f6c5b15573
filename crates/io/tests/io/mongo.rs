//! MongoDB's Extended JSON: plain values inside, the same types outside.

use crate::common::{fails, read, read_as, write};
use bosket_io::homes::Homes;
use bosket_io::json::Extended;
use bosket_io::{Layout, Loaded};
use bosket_model::policy::Policy;
use bosket_model::{Builder, ClassId, Kind};
use proptest::prelude::*;
use serde_json::{Value, json};

fn values(loaded: &Loaded, path: &str) -> Vec<(Kind, String)> {
    let id = loaded.data.schema().find(path).unwrap_or_else(|| panic!("no {path}"));
    loaded.data.dictionary(id).iter().map(|(kind, text)| (kind, text.to_owned())).collect()
}

fn published(loaded: &Loaded) -> Vec<Value> {
    let text = String::from_utf8(write(loaded)).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn canonical_form() -> Value {
    json!({
        "_id": {"$oid": "507f1f77bcf86cd799439011"},
        "born": {"$date": {"$numberLong": "-515500000000"}},
        "age": {"$numberInt": "57"},
        "seen": {"$numberLong": "9007199254740993"},
        "height": {"$numberDouble": "1.0"},
        "ratio": {"$numberDouble": "NaN"},
        "price": {"$numberDecimal": "12.50"},
        "huge": {"$numberDecimal": "1E+6000"},
        "token": {"$uuid": "0ba1b4c1-82fb-4f24-87ff-1bc302cfc6ba"},
        "visits": [{"at": {"$date": {"$numberLong": "0"}}, "by": {"$ref": "doctors", "$id": {"$oid": "507f1f77bcf86cd799439012"}}}],
        "scores": [{"$numberLong": "1"}, {"$numberLong": "2"}],
        "raw": {"$binary": {"base64": "AQID", "subType": "00"}},
        "stamp": {"$timestamp": {"t": 1, "i": 2}},
    })
}

#[test]
fn canonical_values_are_plain_inside() {
    let loaded = read("ndjson", canonical_form().to_string()).expect("readable");
    for (path, kind, text) in [
        ("_id", Kind::Text, "507f1f77bcf86cd799439011"),
        ("born", Kind::Text, "1953-08-31T13:33:20Z"),
        ("age", Kind::Number, "57"),
        ("seen", Kind::Number, "9007199254740993"),
        ("height", Kind::Number, "1"),
        ("ratio", Kind::Text, "NaN"),
        ("price", Kind::Number, "12.5"),
        ("huge", Kind::Text, "1E+6000"),
        ("token", Kind::Text, "0ba1b4c1-82fb-4f24-87ff-1bc302cfc6ba"),
        ("visits[].at", Kind::Text, "1970-01-01T00:00:00Z"),
        ("visits[].by.$id", Kind::Text, "507f1f77bcf86cd799439012"),
        ("scores[]", Kind::Number, "1"),
        // Other objects with such keys are objects like any.
        ("raw.$binary.base64", Kind::Text, "AQID"),
        ("stamp.$timestamp.t", Kind::Number, "1"),
    ] {
        assert_eq!(values(&loaded, path)[0], (kind, text.to_owned()), "{path}");
    }
    assert_eq!(loaded.layout.extended["seen"], [Extended::Long].into());
}

#[test]
fn what_is_written_has_the_types_that_it_had() {
    for form in ["ndjson", "json"] {
        let text =
            if form == "json" { json!([canonical_form()]).to_string() } else { canonical_form().to_string() };
        let loaded = read(form, text).expect("readable");
        let out = String::from_utf8(write(&loaded)).expect("text");
        for part in [
            r#""_id":{"$oid":"507f1f77bcf86cd799439011"}"#,
            r#""born":{"$date":"1953-08-31T13:33:20Z"}"#,
            r#""age":{"$numberInt":"57"}"#,
            r#""seen":{"$numberLong":"9007199254740993"}"#,
            r#""height":{"$numberDouble":"1"}"#,
            r#""ratio":{"$numberDouble":"NaN"}"#,
            r#""price":{"$numberDecimal":"12.5"}"#,
            r#""huge":{"$numberDecimal":"1E+6000"}"#,
            r#""token":{"$uuid":"0ba1b4c1-82fb-4f24-87ff-1bc302cfc6ba"}"#,
            r#""$id":{"$oid":"507f1f77bcf86cd799439012"}"#,
            r#""scores":[{"$numberLong":"1"},{"$numberLong":"2"}]"#,
            r#""raw":{"$binary":{"base64":"AQID","subType":"00"}}"#,
            r#""stamp":{"$timestamp":{"t":1,"i":2}}"#,
        ] {
            assert!(out.contains(part), "{part}\n{out}");
        }
        let again = read(form, out.clone()).expect("readable");
        assert_eq!(String::from_utf8(write(&again)).expect("text"), out);
        assert_eq!(again.layout, loaded.layout);
    }
}

#[test]
fn relaxed_and_older_forms() {
    let lines = r#"{"at":{"$date":"2012-12-24T12:15:30.501Z"},"n":{"$numberLong":"5"}}
{"at":{"$date":"2012-12-24T12:15:30.501+0100"},"n":7}
{"at":{"$date":1356351330501},"n":1.5}
{"at":null,"n":{"$numberLong":"5"}}
{"at":"unknown"}
"#;
    let loaded = read("ndjson", lines).expect("readable");
    let out = String::from_utf8(write(&loaded)).expect("text");
    for line in [
        r#""at":{"$date":"2012-12-24T12:15:30.501Z"},"n":{"$numberLong":"5"}"#,
        r#""at":{"$date":"2012-12-24T12:15:30.501+0100"},"n":{"$numberLong":"7"}"#,
        // No whole number.
        r#""at":{"$date":"2012-12-24T12:15:30.501Z"},"n":1.5"#,
        r#"{"at":"unknown"}"#,
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
}

#[test]
fn numbers_of_several_types_are_plain() {
    let lines = "{\"n\":{\"$numberInt\":\"5\"}}\n{\"n\":{\"$numberDouble\":\"5.5\"}}\n";
    let loaded = read("ndjson", lines).expect("readable");
    assert_eq!(published(&loaded), [json!({"n": 5.5}), json!({"n": 5})]);
}

#[test]
fn labels_are_texts_wherever_the_class_has_moved() {
    let text = json!({"v": [{"at": {"$date": "2012-12-24T12:15:30Z"}, "w": [{"n": {"$numberLong": "5"}}]}]})
        .to_string();
    let quasi = |path: &str| format!("[[attribute]]\npath = \"{path}\"\nrole = \"quasi\"\n");
    let policy = format!("version = 1\n{}{}", quasi("v[].at"), quasi("v[].w[].n"));
    let (policy, _) = Policy::parse("p", &policy, &[]).expect("a policy");
    let layout = Layout { homes: Box::new(Homes::expected(&policy.attributes)), ..Layout::default() };
    let loaded = read_as("ndjson", text, &layout).expect("readable");
    let name = |key: &str| [key.to_owned()];
    let mut builder = Builder::new();
    let v = builder.class(ClassId::ROOT, &name("v"));
    let at = builder.attribute(v, &name("at"));
    let w = builder.class(ClassId::ROOT, &name("w"));
    let n = builder.attribute(w, &name("n"));
    builder.begin_record();
    for time in ["2012-12-24T12:15:30Z", "2012-12-24", "2012-Q4", "*"] {
        builder.open(v);
        builder.set(at, Kind::Text, time);
        builder.close();
    }
    for (kind, number) in [(Kind::Number, "5"), (Kind::Text, "5-9"), (Kind::Text, "*")] {
        builder.open(w);
        builder.set(n, kind, number);
        builder.close();
    }
    builder.end_record().expect("room");
    let release = Loaded { data: builder.finish(), ..loaded };
    let [record] = &published(&release)[..] else { panic!("one record") };
    let mut times: Vec<String> =
        record["v"].as_array().expect("vertices").iter().map(|v| v["at"].to_string()).collect();
    times.sort();
    assert_eq!(times, [r#""*""#, r#""2012-12-24""#, r#""2012-Q4""#, r#"{"$date":"2012-12-24T12:15:30Z"}"#]);
    let mut numbers: Vec<String> =
        record["w"].as_array().expect("vertices").iter().map(|w| w["n"].to_string()).collect();
    numbers.sort();
    assert_eq!(numbers, [r#""*""#, r#""5-9""#, r#"{"$numberLong":"5"}"#]);
}

#[test]
fn values_that_are_not_what_they_say() {
    for bad in [
        r#"{"$oid": 5}"#,
        r#"{"$oid": "Quetzal"}"#,
        r#"{"$oid": "507f1f77bcf86cd79943901g"}"#,
        r#"{"$oid": null}"#,
        r#"{"$oid": {"$oid": "507f1f77bcf86cd799439011"}}"#,
        r#"{"$oid": "507f1f77bcf86cd799439011", "x": 1}"#,
        r#"{"$date": "Quetzal"}"#,
        r#"{"$date": true}"#,
        r#"{"$date": {"$numberLong": "x"}}"#,
        r#"{"$date": {"$numberLong": 5}}"#,
        r#"{"$date": {"$numberInt": "5"}}"#,
        r#"{"$date": {"$numberLong": "5", "x": 1}}"#,
        r#"{"$date": {"$numberLong": "9223372036854775807"}}"#,
        r#"{"$date": 1.5}"#,
        r#"{"$numberInt": 5}"#,
        r#"{"$numberInt": "2147483648"}"#,
        r#"{"$numberLong": "9223372036854775808"}"#,
        r#"{"$numberLong": "1.5"}"#,
        r#"{"$numberLong": ""}"#,
        r#"{"$numberDouble": "one"}"#,
        r#"{"$numberDouble": "1 2"}"#,
        r#"{"$numberDecimal": "1.2.3"}"#,
        r#"{"$uuid": "0ba1b4c1"}"#,
        r#"{"$uuid": []}"#,
    ] {
        let lines =
            format!("{{\"a\": {{\"b\": 1}}}}\n{{\"a\": {{\"b\": {bad}}}}}\n{{\"a\": {{\"b\": {bad}}}}}\n");
        let failure = fails("ndjson", lines);
        let [diagnostic] = &failure.diagnostics[..] else { panic!("{bad}: {failure}") };
        assert!(diagnostic.message.contains("no value of the type that it says"), "{bad}: {failure}");
        assert!(diagnostic.message.contains("the same in one more record"), "{bad}: {failure}");
        let place = &diagnostic.place;
        assert_eq!(
            (place.line, place.column, place.path.as_deref()),
            (Some(2), Some(13), Some("a.b")),
            "{bad}"
        );
        assert!(!failure.to_string().contains("Quetzal"), "{failure}");
        let failure = fails("json", format!("[{{\"a\": {bad}}}]"));
        assert!(failure.to_string().contains("no value of the type"), "{bad}: {failure}");
    }
    // Broken JSON stays broken JSON.
    assert!(fails("ndjson", r#"{"a": {"$oid": "507f1f77bcf8"#).to_string().contains("ends too early"));
}

#[test]
fn an_object_here_and_a_typed_value_there() {
    let lines = "{\"a\": {\"b\": 1}}\n{\"a\": {\"$oid\": \"507f1f77bcf86cd799439011\"}}\n";
    assert!(fails("ndjson", lines).to_string().contains("a single value here, but an object in record 1"));
}

proptest! {
    #[test]
    fn any_number_survives(n in any::<i64>(), x in any::<f64>().prop_filter("finite", |x| x.is_finite()), t in -62_135_596_800_000i64..253_402_300_800_000) {
        let record = json!({"n": {"$numberLong": n.to_string()}, "x": {"$numberDouble": x.to_string()}, "t": {"$date": {"$numberLong": t.to_string()}}});
        let loaded = read("ndjson", record.to_string()).expect("readable");
        let [out] = &published(&loaded)[..] else { panic!("one record") };
        prop_assert_eq!(&out["n"], &record["n"]);
        let number: f64 = out["x"]["$numberDouble"].as_str().expect("a double").parse().expect("a number");
        prop_assert_eq!(number, x);
        let again = read("ndjson", out.to_string()).expect("readable");
        prop_assert_eq!(&published(&again)[0], out);
    }
}
