//! Which arrays of a document could hold its records.

use std::collections::BTreeMap;

use bosket_model::path::class_path;

use super::error::Error;
use super::parser::{Parser, Token};

/// How many arrays are offered to somebody who has not said where the records are.
const OFFERED: usize = 8;

/// An array with objects in it.
struct Array {
    path: String,
    /// How many arrays it lies in, and how many keys lead to it.
    depth: (usize, usize),
    objects: usize,
}

/// Which arrays of the document could be meant, in words.
pub(super) fn offer(text: &str) -> String {
    let mut found: Vec<String> = arrays(text).into_iter().map(|a| a.path).collect();
    match found.as_slice() {
        [] => "the document has no array of objects".to_owned(),
        [one] => format!("say where the records are: record = \"{one}\""),
        _ => {
            let more = if found.len() > OFFERED { ", …" } else { "" };
            found.truncate(OFFERED);
            format!("say where the records are, record = one of {}{more}", found.join(", "))
        }
    }
}

/// The paths of arrays of objects: the outermost first, of these the longest.
pub(super) fn arrays_of_objects(text: &str) -> Vec<String> {
    let mut found = arrays(text);
    found.sort_by_key(|array| (array.depth, std::cmp::Reverse(array.objects)));
    found.into_iter().map(|array| array.path).collect()
}

/// The arrays of objects in the order of the document.
fn arrays(text: &str) -> Vec<Array> {
    let mut search = Search::default();
    // The part before a mistake in the JSON is looked through, too.
    let _ = search.collect(&mut Parser::new(text), "", (0, 0), &mut Vec::new());
    search.found
}

#[derive(Default)]
struct Search {
    found: Vec<Array>,
    /// The place of an array in `found`, by its path.
    known: BTreeMap<String, usize>,
}

impl Search {
    fn collect(
        &mut self,
        parser: &mut Parser<'_>,
        class: &str,
        depth: (usize, usize),
        keys: &mut Vec<String>,
    ) -> Result<(), Error> {
        match parser.value()? {
            Token::Object => {
                while let Some(key) = parser.key()? {
                    keys.push(key.to_owned());
                    self.collect(parser, class, (depth.0, depth.1 + 1), keys)?;
                    keys.pop();
                }
            }
            Token::Array => {
                let path = class_path(class, keys);
                while parser.element()? {
                    if parser.next_is("{") {
                        self.object(&path, depth);
                    }
                    self.collect(parser, &path, (depth.0 + 1, depth.1), &mut Vec::new())?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn object(&mut self, path: &str, depth: (usize, usize)) {
        match self.known.get(path) {
            Some(&place) => self.found[place].objects += 1,
            None => {
                self.known.insert(path.to_owned(), self.found.len());
                self.found.push(Array { path: path.to_owned(), depth, objects: 1 });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::arrays_of_objects;

    #[test]
    fn the_outermost_and_longest_array_comes_first() {
        for (text, found) in [
            (r#"{"meta":{"by":[{}]},"a":[{"b":[{},{},{}]}],"c":[{},{}]}"#, "c[] a[] meta.by[] a[].b[]"),
            (r#"{"a":[1,2],"b":[{"x":1}]}"#, "b[]"),
            (r#"{"a":[]}"#, ""),
        ] {
            assert_eq!(arrays_of_objects(text).join(" "), found, "{text}");
        }
    }
}
