//! Races and ethnicities in parts, as US Core has them since STU-3: categories, details, and a text.

use super::entry::masked;
use super::extension::{CODES, DISPLAYS};
use super::names::CODING;
use super::template::Node;
use super::write::Writer;
use crate::json::write::push_string;

impl Writer<'_> {
    /// Writes a race or ethnicity in parts.
    pub(super) fn in_parts(&mut self, node: &Node) -> bool {
        let text = node.field("text").and_then(|f| f.value).and_then(|v| self.get(v)).map(|v| v.1.to_owned());
        let code = node.value.and_then(|v| self.get(v)).map(|v| v.1.to_owned());
        let coded =
            CODING.iter().any(|k| node.field(k).and_then(|f| f.value).is_some_and(|v| self.get(v).is_some()));
        self.push("[");
        let mut any = false;
        let words = match (code, text) {
            (Some(code), None) if !coded => Some(code),
            (None, Some(text)) if !coded => {
                self.push(&format!(
                    "{{\"url\":\"ombCategory\",\"valueCoding\":{{\"extension\":[{}]}}}}",
                    masked()
                ));
                any = true;
                Some(text)
            }
            (_, text) => {
                any |= self.categories("ombCategory", node, any);
                text
            }
        };
        if let Some(detailed) = node.field("detailed") {
            any |= self.categories("detailed", detailed, any);
        }
        if let Some(words) = words {
            self.push(if any { "," } else { "" });
            self.push("{\"url\":\"text\",\"valueString\":");
            push_string(&mut self.texts.buffer, &words);
            self.push("}");
            any = true;
        }
        self.push("]");
        any
    }

    /// Writes a coding per code of somebody who may have several.
    fn categories(&mut self, url: &str, node: &Node, comma: bool) -> bool {
        let part = |key: &str, between: &str| -> Option<Vec<String>> {
            let field = if key == "code" { Some(node) } else { node.field(key) };
            let (_, text) = self.get(field?.value?)?;
            Some(text.split(between).map(str::to_owned).collect())
        };
        let mut parts = [
            ("code", part("code", CODES), CODES),
            ("system", part("system", CODES), CODES),
            ("display", part("display", DISPLAYS), DISPLAYS),
        ];
        let present: Vec<usize> = parts.iter().filter_map(|p| p.1.as_ref()).map(Vec::len).collect();
        let Some(&count) = present.first() else { return false };
        let alike = present.iter().all(|&n| n == count);
        if !alike || parts[1].1.is_none() {
            // Not what several codings would have been joined to.
            for (_, texts, between) in &mut parts {
                *texts = texts.as_ref().map(|t| vec![t.join(between)]);
            }
        }
        let count = parts.iter().filter_map(|p| p.1.as_ref()).map(Vec::len).max().unwrap_or(0);
        for i in 0..count {
            self.push(if comma || i > 0 { "," } else { "" });
            self.push(&format!("{{\"url\":\"{url}\",\"valueCoding\":{{"));
            let mut first = true;
            for (key, texts, _) in &parts {
                if let Some(text) = texts.as_ref().and_then(|t| t.get(i)) {
                    self.push(if first { "" } else { "," });
                    first = false;
                    self.push(&format!("\"{key}\":"));
                    push_string(&mut self.texts.buffer, text);
                }
            }
            self.push("}}");
        }
        true
    }
}
