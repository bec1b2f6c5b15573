//! The DOCTYPE: looked through for what would change the document, and otherwise ignored.
//!
//! Nothing it names is ever fetched. An entity may be declared as long as nobody uses it; what could be expanded
//! without end, or read from elsewhere, is refused where it is declared. So is a default for attributes, since
//! ignoring it would lose values.

use super::mistake::{Mistake, What};
use super::names::{is_blank, is_qualified};
use super::reference::Entities;

/// Reads what stands after `<!DOCTYPE` and blanks, without the last `>`.
pub(super) fn read(text: &str) -> Result<Entities, Mistake> {
    let mut scan = Scan { text, at: 0 };
    let mut entities = Entities::default();
    if !is_qualified(scan.word()) {
        return Err(What::Doctype.at(0));
    }
    let had_blank = scan.blanks();
    match scan.word() {
        "" => {}
        word @ ("SYSTEM" | "PUBLIC") if had_blank => {
            entities.dtd = true;
            for _ in 0..if word == "PUBLIC" { 2 } else { 1 } {
                if !scan.blanks() || !scan.literal() {
                    return Err(scan.wrong());
                }
            }
            scan.blanks();
        }
        _ => return Err(scan.wrong()),
    }
    if scan.take("[") {
        subset(&mut scan, &mut entities)?;
        scan.blanks();
    }
    if scan.at == text.len() { Ok(entities) } else { Err(scan.wrong()) }
}

fn subset(scan: &mut Scan<'_>, entities: &mut Entities) -> Result<(), Mistake> {
    loop {
        scan.blanks();
        let at = scan.at;
        if scan.take("]") {
            return Ok(());
        } else if scan.take("<!--") {
            if !scan.skip_past("-->") {
                return Err(What::Doctype.at(at));
            }
        } else if scan.take("<?") {
            if !scan.skip_past("?>") {
                return Err(What::Doctype.at(at));
            }
        } else if scan.take("<!ENTITY") {
            entities.declared.push(entity(scan, at)?);
        } else if scan.take("<!ATTLIST") {
            if scan.has_literal().ok_or(What::Doctype.at(at))? {
                return Err(What::DefaultValue.at(at));
            }
        } else if scan.take("<!ELEMENT") || scan.take("<!NOTATION") {
            scan.has_literal().ok_or(What::Doctype.at(at))?;
        } else if scan.take("%") {
            return Err(What::ParameterEntity.at(at));
        } else {
            return Err(What::Doctype.at(at));
        }
    }
}

/// The name of an internal entity that refers to no other.
fn entity(scan: &mut Scan<'_>, at: usize) -> Result<String, Mistake> {
    let wrong = || What::Doctype.at(at);
    if !scan.blanks() {
        return Err(wrong());
    }
    if scan.take("%") {
        return Err(What::ParameterEntity.at(at));
    }
    let name = scan.word().to_owned();
    if name.is_empty() || !scan.blanks() {
        return Err(wrong());
    }
    if matches!(scan.word(), "SYSTEM" | "PUBLIC") {
        return Err(What::ExternalEntity.at(at));
    }
    let start = scan.at;
    if !scan.literal() {
        return Err(wrong());
    }
    let value = &scan.text[start..scan.at];
    // `&#60;` is a character; everything else leads on to other entities.
    if value.contains('%') || value.match_indices('&').any(|(i, _)| !value[i + 1..].starts_with('#')) {
        return Err(What::NestedEntity.at(at));
    }
    scan.blanks();
    if scan.take(">") { Ok(name) } else { Err(wrong()) }
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn wrong(&self) -> Mistake {
        What::Doctype.at(self.at)
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    /// Skips blanks; says whether there were any.
    fn blanks(&mut self) -> bool {
        let count = self.rest().bytes().take_while(|&b| is_blank(b)).count();
        self.at += count;
        count > 0
    }

    /// What comes before the next blank or punctuation.
    fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest
            .find(|c: char| matches!(c, '"' | '\'' | '[' | ']' | '<' | '>' | '%') || c.is_ascii_whitespace())
            .unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Skips a text in quotes; false if there is none.
    fn literal(&mut self) -> bool {
        let rest = self.rest();
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            return false;
        };
        match rest[1..].find(quote) {
            Some(end) => {
                self.at += end + 2;
                true
            }
            None => false,
        }
    }

    fn skip_past(&mut self, end: &str) -> bool {
        match self.rest().find(end) {
            Some(i) => {
                self.at += i + end.len();
                true
            }
            None => false,
        }
    }

    /// Skips a declaration up to its `>`; says whether it had a text in quotes, or nothing if it does not end.
    fn has_literal(&mut self) -> Option<bool> {
        let mut found = false;
        loop {
            let next = self.rest().find(['"', '\'', '>'])?;
            self.at += next;
            if self.take(">") {
                return Some(found);
            }
            found = true;
            if !self.literal() {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_ones() {
        for (text, dtd, declared) in [
            ("a", false, 0),
            ("a ", false, 0),
            ("a SYSTEM 'a.dtd'", true, 0),
            ("a PUBLIC \"-//x//EN\" \"http://example.org/a.dtd\"", true, 0),
            ("a [ ]", false, 0),
            ("a SYSTEM 'a.dtd' [<!ELEMENT a (b|c)*>\n<!ATTLIST a b CDATA #IMPLIED>] ", true, 0),
            ("a [<!-- ] > --><?x ]?><!ENTITY who 'some&#60;one'><!NOTATION n SYSTEM 'x'>]", false, 1),
        ] {
            let entities = read(text).expect(text);
            assert_eq!((entities.dtd, entities.declared.len()), (dtd, declared), "{text}");
        }
    }

    #[test]
    fn refused_ones() {
        for (text, what) in [
            ("a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]", What::ExternalEntity),
            ("a [<!ENTITY x PUBLIC '' 'http://example.org'>]", What::ExternalEntity),
            ("a [<!ENTITY % x 'y'>]", What::ParameterEntity),
            ("a [%x;]", What::ParameterEntity),
            ("a [<!ENTITY l 'ha'><!ENTITY l2 '&l;&l;'>]", What::NestedEntity),
            ("a [<!ENTITY l '%x;'>]", What::NestedEntity),
            ("a [<!ATTLIST a b CDATA 'default'>]", What::DefaultValue),
            ("a [<!ATTLIST a b CDATA #FIXED \"x\">]", What::DefaultValue),
            ("a [<!ENTITY x>]", What::Doctype),
            ("a [<!WHAT x>]", What::Doctype),
            ("a [", What::Doctype),
            ("a b", What::Doctype),
            ("a SYSTEM", What::Doctype),
            ("a PUBLIC 'x'", What::Doctype),
            ("a SYSTEM 'x' y", What::Doctype),
            ("1", What::Doctype),
        ] {
            assert_eq!(read(text).map(|_| ()).map_err(|m| m.what), Err(what), "{text}");
        }
    }
}
