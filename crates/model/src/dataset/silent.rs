//! Rows that say nothing: whoever sees one sees only that there is one.

use super::Dataset;
use crate::binding::Binding;
use crate::dictionary::MISSING;

impl Dataset {
    /// Per vertex whether it is a row, or an item of a set, of which nothing is told: all its values are `*` in quasi attributes,
    /// and so are those of all that hangs below it.
    pub fn silent_rows(&self, binding: &Binding) -> Vec<bool> {
        let mut silent = vec![true; self.vertex_count()];
        for vertex in (0..self.vertex_count()).rev() {
            let attributes = &self.schema.class(self.class(vertex)).attributes;
            let mut told = attributes.iter().zip(self.values(vertex)).filter(|(_, code)| **code != MISSING);
            silent[vertex] &= told.all(|(&id, &code)| self.says_nothing(binding, id, code));
            match self.parent(vertex) {
                Some(parent) => silent[parent] &= silent[vertex],
                None => silent[vertex] = false,
            }
        }
        silent
    }
}

#[cfg(test)]
mod tests {
    use crate::binding::Binding;
    use crate::dataset::Builder;
    use crate::dictionary::Kind;
    use crate::policy::Policy;
    use crate::schema::ClassId;

    #[test]
    fn a_row_above_one_that_says_something_is_not_silent() {
        let mut b = Builder::new();
        let keys = |name: &str| vec![name.to_owned()];
        let visits = b.class(ClassId::ROOT, &keys("visits"));
        let (ward, note) = (b.attribute(visits, &keys("ward")), b.attribute(visits, &keys("note")));
        let drugs = b.class(visits, &keys("drugs"));
        let code = b.attribute(drugs, &keys("code"));
        b.begin_record();
        // Ward, note, code of the drug.
        for (w, n, c) in
            [("*", None, Some("*")), ("*", None, Some("A")), ("*", Some("n"), None), ("W", None, Some("*"))]
        {
            b.open(visits);
            b.set(ward, Kind::Text, w);
            n.into_iter().for_each(|n| b.set(note, Kind::Text, n));
            if let Some(c) = c {
                b.open(drugs);
                b.set(code, Kind::Text, c);
                b.close();
            }
            b.close();
        }
        b.end_record().expect("nothing twice");
        let data = b.finish();
        let attribute = |path: &str, role| format!("[[attribute]]\npath = \"{path}\"\nrole = \"{role}\"\n");
        let attributes = [
            ("visits[].ward", "quasi"),
            ("visits[].note", "insensitive"),
            ("visits[].drugs[].code", "quasi"),
        ];
        let text: String = attributes.map(|(path, role)| attribute(path, role)).concat();
        let text = format!(
            "version = 1\n[source]\nformat = \"ndjson\"\npath = \"p\"\n{text}[publish]\npath = \"o\"\n"
        );
        let (policy, _) = Policy::parse("p", &text, &[]).expect("a policy");
        let binding =
            Binding::new(data.schema(), &policy.attributes, policy.undeclared, "it").expect("bound");
        let silent = data.silent_rows(&binding);
        assert_eq!(silent, [false, true, true, false, false, false, false, true]);
        let left = data.without_vertices(&silent);
        assert_eq!((left.len(), left.vertex_count()), (1, 5));
        assert!(left.silent_rows(&binding).iter().all(|silent| !silent));
    }
}
