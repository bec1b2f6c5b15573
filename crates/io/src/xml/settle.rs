//! From what was read to the dataset, once it is known which elements repeat.
//!
//! An element that repeats anywhere is a class of its own; any other is part of the vertex it lies in. Text and
//! attributes are values.

use bosket_model::dataset::Refused;
use bosket_model::path::Notation;
use bosket_model::{AttributeId, Builder, ClassId, Dataset, Kind};

use super::expect::{Place, Repeating};
use super::order::{Bits, order};
use super::shape::Shape;
use super::tape::{EMPTY, NOTHING, Step, Tape};
use crate::stop::Stop;

/// What becomes of a node.
#[derive(Clone, Copy, Default)]
struct Plan {
    /// The class, if it has vertices of its own.
    class: Option<ClassId>,
    /// The attribute that holds its text, or its value.
    value: Option<AttributeId>,
    /// The code of an empty text.
    empty: u32,
    /// Whether it stands for all that lies in it.
    opaque: bool,
}

/// The value of an element that is not looked into.
const OPAQUE: &str = "…";

struct Planner<'s> {
    shape: &'s mut Shape,
    builder: Builder,
    plans: Vec<Plan>,
    /// The paths of elements in their order.
    order: Vec<Vec<String>>,
    /// The elements that are expected to repeat.
    expected: &'s Repeating,
    /// The same, and those that do.
    repeating: Repeating,
    /// Elements that are not looked into.
    opaque: Vec<Vec<String>>,
    /// Whether elements that never have a value count.
    mentioned: bool,
    path: Vec<String>,
}

impl Planner<'_> {
    /// Plans an element whose values belong to `class`, `keys` away from its vertex.
    fn element(&mut self, node: u32, at: &Place, class: ClassId, keys: &mut Vec<String>) {
        let own = self.shape.node(node);
        if own.opaque {
            self.opaque.push(self.path.clone());
            let attribute = self.builder.attribute(class, keys);
            let code = self.builder.code(attribute, Kind::Text, OPAQUE);
            let plan = &mut self.plans[node as usize];
            (plan.value, plan.empty, plan.opaque) = (Some(attribute), code, true);
            return;
        }
        // A class is seen by its vertices.
        let mentioned = self.mentioned && own.fields.is_empty() && !keys.is_empty();
        if own.has_text() || mentioned {
            self.value(node, class, keys);
        }
        let fields = self.shape.node(node).fields.clone();
        let names: Vec<&str> = fields.iter().map(|&f| &*self.shape.node(f).name).collect();
        let before: Vec<&Bits> = fields.iter().map(|&f| &self.shape.node(f).before).collect();
        for i in order(&names, &before) {
            let field = self.shape.node(fields[i]);
            let (name, many, attribute) = (field.name.to_string(), field.many, field.name.starts_with('@'));
            keys.push(name.clone());
            if attribute {
                self.value(fields[i], class, keys);
                keys.pop();
                continue;
            }
            let inside = self.expected.step(at, &name);
            self.path.push(name);
            self.order.push(self.path.clone());
            if many {
                self.repeating.insert(&self.path);
            }
            if many || self.expected.is_many(&inside) {
                let inner = self.builder.class(class, keys);
                self.plans[fields[i] as usize].class = Some(inner);
                self.element(fields[i], &inside, inner, &mut Vec::new());
            } else {
                self.element(fields[i], &inside, class, keys);
            }
            self.path.pop();
            keys.pop();
        }
    }

    fn value(&mut self, node: u32, class: ClassId, keys: &[String]) {
        let attribute = self.builder.attribute(class, keys);
        let at = self.shape.node_mut(node);
        let plan = &mut self.plans[node as usize];
        plan.value = Some(attribute);
        if at.empty {
            plan.empty = at.values.intern(Kind::Text, "");
        }
        self.builder.adopt(attribute, std::mem::take(&mut at.values));
    }

    /// Makes room for exactly what comes.
    fn reserve(&mut self, records: usize) {
        let width = |class: ClassId, builder: &Builder| builder.schema().class(class).attributes.len();
        let (mut vertices, mut values) = (records, records * width(ClassId::ROOT, &self.builder));
        for (id, node) in self.shape.nodes() {
            if let Some(class) = self.plans[id as usize].class.filter(|c| *c != ClassId::ROOT) {
                vertices += node.count as usize;
                values += node.count as usize * width(class, &self.builder);
            }
        }
        // What cannot be numbered is refused record by record.
        if values.max(vertices) < u32::MAX as usize {
            self.builder.reserve(records, vertices, values);
        }
    }
}

/// What came of a document.
pub(super) struct Settled {
    pub(super) data: Dataset,
    /// The paths of all elements in the order in which they stand.
    pub(super) order: Vec<Vec<String>>,
    /// The paths of those that repeat, and of those that were said to.
    pub(super) repeating: Repeating,
    /// The paths of elements that are not looked into.
    pub(super) opaque: Vec<Vec<String>>,
}

/// Makes the dataset, or a part of it if it is told to stop. Elements that are `expected` to count as repeating. If
/// `mentioned`, an element that never has a value is an attribute without values, so that its name is seen.
pub(super) fn settle(
    mut shape: Shape,
    tape: Tape,
    records: u64,
    (expected, mentioned): (&Repeating, bool),
    stop: &Stop,
) -> Result<Settled, Refused> {
    let plans = vec![Plan::default(); shape.nodes().len()];
    let builder = Builder::in_notation(Notation::Slashes);
    let mut planner = Planner {
        shape: &mut shape,
        builder,
        plans,
        order: Vec::new(),
        expected,
        repeating: expected.clone(),
        opaque: Vec::new(),
        mentioned,
        path: Vec::new(),
    };
    planner.plans[Shape::ROOT as usize].class = Some(ClassId::ROOT);
    planner.element(Shape::ROOT, &Repeating::start(), ClassId::ROOT, &mut Vec::new());
    planner.reserve(records as usize);
    let Planner { mut builder, plans, order, repeating, opaque, .. } = planner;
    drop(shape);

    let set = |builder: &mut Builder, plan: Plan, code: u32| match (plan.value, code) {
        (Some(attribute), _) if plan.opaque => builder.set_code(attribute, plan.empty),
        (None, _) | (_, NOTHING) => {}
        (Some(attribute), EMPTY) => builder.set_code(attribute, plan.empty),
        (Some(attribute), code) => builder.set_code(attribute, code),
    };
    let mut open = Vec::new();
    // How many elements are open in one that is not looked into, itself included.
    let mut inside = 0;
    for step in tape.play() {
        match step {
            Step::Open(_) if inside > 0 => inside += 1,
            Step::Close(_) if inside > 1 => inside -= 1,
            Step::Leaf(..) if inside > 0 => {}
            Step::Open(node) => {
                inside = usize::from(plans[node as usize].opaque);
                open.push(node);
                match plans[node as usize].class {
                    None => {}
                    Some(ClassId::ROOT) if stop.is_set() => break,
                    Some(ClassId::ROOT) => builder.begin_record(),
                    Some(class) => builder.open(class),
                }
            }
            Step::Close(code) => {
                let Some(node) = open.pop() else {
                    unreachable!("every end has its start");
                };
                inside = 0;
                let plan = plans[node as usize];
                set(&mut builder, plan, code);
                match plan.class {
                    None => {}
                    Some(ClassId::ROOT) => builder.end_record()?,
                    Some(_) => builder.close(),
                }
            }
            Step::Leaf(node, code) => {
                let plan = plans[node as usize];
                if let Some(class) = plan.class {
                    builder.open(class);
                }
                set(&mut builder, plan, code);
                if plan.class.is_some() {
                    builder.close();
                }
            }
        }
    }
    Ok(Settled { data: builder.finish(), order, repeating, opaque })
}
