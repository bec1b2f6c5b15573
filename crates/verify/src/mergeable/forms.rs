//! Published subtrees, each once: two vertices are alike if they have the same class, the same quasi values by their texts, and, as
//! a multiset, alike children.
//!
//! Numbers mean something within one set of forms only; what is merged is numbered anew.

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use bosket_model::binding::Binding;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, Dataset, MISSING};

use crate::witness::{self, Witness};

/// A class, quasi values by declared attribute and text, and children, ascending.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Form {
    class: u32,
    values: Vec<(u32, u32)>,
    kids: Vec<u32>,
}

/// Texts and forms by number. A form comes behind its children.
#[derive(Clone, Debug, Default)]
pub(super) struct Forms {
    texts: Vec<String>,
    text_numbers: FxHashMap<String, u32>,
    forms: Vec<Form>,
    form_numbers: FxHashMap<Form, u32>,
}

impl Forms {
    pub(super) fn text(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.text_numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.text_numbers.insert(text.to_owned(), number);
        number
    }

    pub(super) fn is_larger(&self, other: &Forms) -> bool {
        self.forms.len() >= other.forms.len()
    }

    pub(super) fn text_of(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    fn form(&mut self, mut form: Form) -> u32 {
        form.values.sort_unstable();
        form.kids.sort_unstable();
        if let Some(&number) = self.form_numbers.get(&form) {
            return number;
        }
        let number = self.forms.len() as u32;
        self.forms.push(form.clone());
        self.form_numbers.insert(form, number);
        number
    }

    /// Takes over all of another set; gives the numbers that its texts and forms have here.
    pub(super) fn take(&mut self, other: &Forms) -> Moved {
        let texts: Vec<u32> = other.texts.iter().map(|text| self.text(text)).collect();
        let mut forms: Vec<u32> = Vec::with_capacity(other.forms.len());
        for form in &other.forms {
            let moved = Form {
                class: texts[form.class as usize],
                values: form.values.iter().map(|&(a, text)| (a, texts[text as usize])).collect(),
                kids: form.kids.iter().map(|&kid| forms[kid as usize]).collect(),
            };
            forms.push(self.form(moved));
        }
        Moved { texts, forms }
    }

    /// Everything quasi that a record of some form says, in an order that depends on that alone.
    pub(super) fn witness(&self, form: u32, paths: &[String]) -> Witness {
        let mut witness = Witness::default();
        self.tell(form, None, paths, &mut witness);
        witness
    }

    fn tell(&self, form: u32, mut above: Option<usize>, paths: &[String], witness: &mut Witness) {
        let form = &self.forms[form as usize];
        let mut values: Vec<(u32, &str)> = form.values.iter().map(|&(a, t)| (a, self.text_of(t))).collect();
        values.sort_unstable();
        for (declared, text) in values {
            let at = witness.values.len();
            witness.values.push(witness::Value {
                path: paths[declared as usize].clone(),
                value: text.to_owned(),
                ..witness::Value::default()
            });
            witness.relations.extend(above.map(|above| (above, at)));
            above = Some(at);
        }
        let mut kids: Vec<(String, u32)> = form.kids.iter().map(|&kid| (self.written(kid), kid)).collect();
        kids.sort_unstable();
        kids.iter().for_each(|(_, kid)| self.tell(*kid, above, paths, witness));
    }

    /// A form as a text that no other has.
    pub(super) fn written(&self, form: u32) -> String {
        let form = &self.forms[form as usize];
        let mut kids: Vec<String> = form.kids.iter().map(|&kid| self.written(kid)).collect();
        kids.sort_unstable();
        let mut values: Vec<(u32, &str)> = form.values.iter().map(|&(a, t)| (a, self.text_of(t))).collect();
        values.sort_unstable();
        format!("{:?}{values:?}{kids:?}", self.text_of(form.class))
    }

    pub(super) fn to_json(&self) -> Value {
        let form = |form: &Form| json!([form.class, form.values, form.kids]);
        json!({"texts": self.texts, "forms": self.forms.iter().map(form).collect::<Vec<_>>()})
    }

    /// Reads the JSON form; nothing if it is not one.
    pub(super) fn from_json(value: &Value) -> Option<Forms> {
        let mut forms = Forms::default();
        for text in value.get("texts")?.as_array()? {
            let (text, next) = (text.as_str()?, forms.texts.len());
            (forms.text(text) as usize == next).then_some(())?;
        }
        for form in value.get("forms")?.as_array()? {
            let [class, values, kids] = form.as_array()?.as_slice() else { return None };
            let pair = |pair: &Value| match pair.as_array()?.as_slice() {
                [a, text] => Some((number(a)?, forms.known_text(text)?)),
                _ => None,
            };
            let kid = |kid: &Value| number(kid).filter(|&kid| (kid as usize) < forms.forms.len());
            let form = Form {
                class: forms.known_text(class)?,
                values: values.as_array()?.iter().map(pair).collect::<Option<_>>()?,
                kids: kids.as_array()?.iter().map(kid).collect::<Option<_>>()?,
            };
            let next = forms.forms.len();
            (forms.form(form) as usize == next).then_some(())?;
        }
        Some(forms)
    }

    pub(super) fn known_text(&self, value: &Value) -> Option<u32> {
        number(value).filter(|&text| (text as usize) < self.texts.len())
    }

    pub(super) fn known_form(&self, value: &Value) -> Option<u32> {
        number(value).filter(|&form| (form as usize) < self.forms.len())
    }

    /// The largest declared attribute that a form names, and one more.
    pub(super) fn declared(&self) -> usize {
        let all = self.forms.iter().flat_map(|form| form.values.iter());
        all.map(|&(declared, _)| declared as usize + 1).max().unwrap_or(0)
    }
}

pub(super) fn number(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

/// What texts and forms of one set are called in another.
pub(super) struct Moved {
    pub(super) texts: Vec<u32>,
    pub(super) forms: Vec<u32>,
}

/// The records of a batch, read as forms.
pub(super) struct Reader<'d> {
    data: &'d Dataset,
    binding: &'d Binding,
    /// Per class its quasi attributes.
    quasi: Vec<Vec<AttributeId>>,
    /// Per class its path, and per attribute and code its text, by their numbers.
    classes: Vec<u32>,
    texts: Vec<Vec<u32>>,
}

impl<'d> Reader<'d> {
    pub(super) fn new(data: &'d Dataset, binding: &'d Binding, forms: &mut Forms) -> Self {
        let schema = data.schema();
        let quasi: Vec<Vec<AttributeId>> =
            schema.classes().map(|(id, _)| binding.in_policy_order(schema, id, Role::Quasi)).collect();
        let classes = schema.classes().map(|(_, class)| forms.text(&class.path)).collect();
        let mut texts = vec![Vec::new(); schema.attributes().len()];
        for &a in quasi.iter().flatten() {
            texts[a.index()] = data.dictionary(a).iter().map(|(_, text)| forms.text(text)).collect();
        }
        Reader { data, binding, quasi, classes, texts }
    }

    /// The forms of a record's vertices, its root's first.
    pub(super) fn read(&self, record: usize, forms: &mut Forms) -> Vec<u32> {
        let vertices = self.data.vertices(record);
        let first = vertices.start;
        let mut kids: Vec<Vec<u32>> = vec![Vec::new(); vertices.len()];
        let mut of = vec![0; vertices.len()];
        // Children come behind their parents.
        for v in vertices.rev() {
            let class = self.data.class(v).index();
            let values = self.quasi[class].iter().filter_map(|&a| {
                let code = self.data.value(v, a);
                let declared = self.binding.attributes[a.index()]?;
                (code != MISSING).then(|| (declared as u32, self.texts[a.index()][code as usize]))
            });
            let form = Form {
                class: self.classes[class],
                values: values.collect(),
                kids: std::mem::take(&mut kids[v - first]),
            };
            of[v - first] = forms.form(form);
            if let Some(parent) = self.data.parent(v) {
                kids[parent - first].push(of[v - first]);
            }
        }
        of
    }
}
