//! Documents with text for people in them: fine inside what a policy drops.

use bosket_io::xml::Outline;
use bosket_io::{Layout, Loaded};
use bosket_model::Result;
use bosket_model::policy::Policy;

use crate::common::{read_as, write};
use crate::xml_common::values;

const XHTML: &str = "http://www.w3.org/1999/xhtml";

fn read_for(paths: &[(&str, &str)], text: &str) -> Result<Loaded> {
    let attributes: String = (paths.iter())
        .map(|(path, role)| format!("[[attribute]]\npath = '{path}'\nrole = '{role}'\n"))
        .collect();
    let (policy, _) = Policy::parse("p", &format!("version = 1\n{attributes}"), &[]).expect("a policy");
    let outline = Outline::expected(&policy.attributes);
    read_as("xml", text, &Layout { outline, record: Some("d/r".to_owned()), ..Layout::default() })
}

fn patients() -> String {
    let one = |i: usize| {
        format!(
            "<r><text><status value='ok'/><div xmlns='{XHTML}'>Ms <b>Quetzal</b> {i}<br/></div></text>\
             <note>see <ref>{i}</ref> or not</note><note>plain</note>\
             <code><coding><code value='c{i}'/></coding></code></r>"
        )
    };
    format!("<d xmlns='urn:x'>{}{}</d>", one(1), one(2))
}

#[test]
fn narrative_is_one_attribute_where_nothing_of_it_is_published() {
    let declared = [("code/coding/code/@value", "quasi"), ("text/div", "identifying")];
    let loaded = read_for(&declared, &patients()).expect("readable");
    assert_eq!(
        values(&loaded.data)[0],
        "{code/coding/code/@value=\"c1\" note[]{note[]=\"…\"} note[]{note[]=\"…\"} text/div=\"…\" text/status/@value=\"ok\"}"
    );
    assert_eq!(loaded.layout.outline.opaque.found, [vec!["text", "div"], vec!["note"]]);
    let warning = loaded.warnings[0].to_string();
    assert!(warning.contains("`text/div`, `note`") && !warning.contains("Quetzal"), "{warning}");
}

#[test]
fn narrative_is_refused_where_something_of_it_is_published() {
    for (path, why) in [
        ("text/div/b", "two namespaces"),
        ("text/div", "two namespaces"),
        ("note[]", "mixes text and elements"),
        ("note[]/ref", "mixes text and elements"),
    ] {
        let failure = read_for(&[(path, "insensitive")], &patients()).map(|_| ()).expect_err(path);
        assert!(failure.to_string().contains(why), "{path}: {failure}");
    }
    // Without a policy all has to fit, as where documents are converted.
    let layout = Layout { record: Some("d/r".to_owned()), ..Layout::default() };
    assert!(read_as("xml", patients(), &layout).is_err());
}

#[test]
fn an_element_may_lie_in_another_of_its_name() {
    let text = "<d><r><s><t>1</t><s><t>2</t></s><s><t>3</t></s></s><r>x</r></r><r><s><t>4</t></s></r></d>";
    let layout = Layout { record: Some("d/r".to_owned()), ..Layout::default() };
    let loaded = read_as("xml", text, &layout).expect("readable");
    assert_eq!(values(&loaded.data)[0], "{r=\"x\" s/s[]{s/s[]/t=\"2\"} s/s[]{s/s[]/t=\"3\"} s/t=\"1\"}");
    let again = read_as("xml", write(&loaded), &layout).expect("readable");
    assert_eq!(values(&again.data), values(&loaded.data));
}
