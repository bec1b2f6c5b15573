//! A dataset as bytes, and back: the same classes, attributes, values and records under the same numbers.

use super::bytes::{Reader, Writer, damaged};
use crate::dataset::{Builder, Dataset};
use crate::diag::Result;
use crate::dictionary::{Dictionary, Kind, MISSING};
use crate::path::Notation;
use crate::schema::{AttributeId, ClassId};

const WHAT: [u8; 4] = *b"BkDS";
const VERSION: u8 = 1;

impl Dataset {
    /// The dataset as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        let schema = self.schema();
        out.number(match schema.notation() {
            Notation::Dots => 0,
            Notation::Slashes => 1,
        });
        out.length(schema.classes().len());
        for (_, class) in schema.classes().skip(1) {
            out.number(u64::from(class.parent.map_or(0, |parent| parent.0)));
            names(&mut out, &class.name);
            out.text(&class.path);
        }
        out.length(schema.attributes().len());
        for (id, attribute) in schema.attributes() {
            out.number(u64::from(attribute.class.0));
            names(&mut out, &attribute.name);
            out.text(&attribute.path);
            let values = self.dictionary(id);
            out.length(values.len());
            for (kind, text) in values.iter() {
                out.number(kind as u64);
                out.text(text);
            }
        }
        out.length(self.len());
        for record in 0..self.len() {
            let vertices = self.vertices(record);
            out.length(vertices.len());
            for vertex in vertices.clone() {
                if let Some(parent) = self.parent(vertex) {
                    out.number(u64::from(self.class(vertex).0));
                    out.length(vertex - parent);
                }
                let values = self.values(vertex);
                let used = values.iter().rposition(|&code| code != MISSING).map_or(0, |last| last + 1);
                // A missing value is 0.
                out.numbers(values[..used].iter().map(|&code| u64::from(code.wrapping_add(1))));
            }
        }
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Dataset> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let notation = match from.number()? {
            0 => Notation::Dots,
            1 => Notation::Slashes,
            _ => return Err(damaged()),
        };
        let mut builder = Builder::in_notation(notation);
        let classes = from.length()?;
        for id in 1..classes {
            let parent = from.small()?;
            let name = read_names(&mut from)?;
            let path = from.text()?.to_owned();
            if parent as usize >= id || builder.class_at(ClassId(parent), &name, path).index() != id {
                return Err(damaged());
            }
        }
        let attributes = from.length()?;
        let mut sizes = Vec::new();
        for id in 0..attributes {
            let class = from.small()?;
            let name = read_names(&mut from)?;
            let path = from.text()?;
            if class as usize >= classes || builder.attribute(ClassId(class), &name).index() != id {
                return Err(damaged());
            }
            builder.rename(AttributeId(id as u32), path);
            let mut values = Dictionary::default();
            let size = from.length()?;
            for code in 0..size {
                let kind = match from.number()? {
                    0 => Kind::Text,
                    1 => Kind::Number,
                    2 => Kind::Bool,
                    _ => return Err(damaged()),
                };
                if values.intern(kind, from.text()?) as usize != code {
                    return Err(damaged());
                }
            }
            builder.adopt(AttributeId(id as u32), values);
            sizes.push(size);
        }
        let records = from.length()?;
        let mut open: Vec<usize> = Vec::new();
        for _ in 0..records {
            let vertices = from.length()?;
            builder.begin_record();
            open.clear();
            for vertex in 0..vertices {
                let mut class = ClassId::ROOT;
                if vertex > 0 {
                    class = ClassId(from.small()?);
                    let parent = vertex.checked_sub(from.number()? as usize).ok_or_else(damaged)?;
                    while open.last().is_some_and(|&above| above != parent) {
                        open.pop();
                        builder.close();
                    }
                    if open.is_empty() || class.index() >= classes || class == ClassId::ROOT {
                        return Err(damaged());
                    }
                    builder.open(class);
                }
                open.push(vertex);
                let used = from.length()?;
                for slot in 0..used {
                    let code = from.small()?;
                    if code == 0 {
                        continue;
                    }
                    let own = builder.schema().class(class).attributes.get(slot).copied();
                    let id = own.ok_or_else(damaged)?;
                    if code as usize > sizes[id.index()] {
                        return Err(damaged());
                    }
                    builder.set_code(id, code - 1);
                }
            }
            if vertices == 0 || builder.end_record().is_err() {
                return Err(damaged());
            }
        }
        from.end()?;
        Ok(builder.finish())
    }
}

fn names(out: &mut Writer, names: &[String]) {
    out.length(names.len());
    names.iter().for_each(|name| out.text(name));
}

fn read_names(from: &mut Reader<'_>) -> Result<Vec<String>> {
    let length = from.length()?;
    (0..length).map(|_| Ok(from.text()?.to_owned())).collect()
}
