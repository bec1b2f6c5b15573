//! Vertices of documents of which nothing is published: an empty element would only tell that there was something.

use bosket_model::binding::Binding;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, Builder, ClassId, Dataset, Failure, MISSING, Result};

/// The same without vertices that have no published value, and none below them. Classes and attributes stay what they are;
/// so do records, however little they say.
pub(crate) fn without_hollow(data: Dataset, binding: &Binding) -> Result<Dataset> {
    let schema = data.schema();
    let stays = |id: &AttributeId| !matches!(binding.role(*id), None | Some(Role::Identifying | Role::Key));
    let published: Vec<bool> = schema.attributes().map(|(id, _)| stays(&id)).collect();
    let mut says = vec![false; data.vertex_count()];
    // Parents come before what is below them.
    for vertex in (0..data.vertex_count()).rev() {
        let attributes = &schema.class(data.class(vertex)).attributes;
        let own = attributes.iter().zip(data.values(vertex));
        says[vertex] |= own.into_iter().any(|(id, &code)| code != MISSING && published[id.index()]);
        match data.parent(vertex) {
            Some(parent) => says[parent] |= says[vertex],
            None => says[vertex] = true,
        }
    }
    if says.iter().all(|&says| says) {
        return Ok(data);
    }
    let mut builder = Builder::in_notation(schema.notation());
    for (_, class) in schema.classes() {
        let Some(parent) = class.parent else { continue };
        match class.path.ends_with("{}") {
            true => builder.map(parent, &class.name),
            false => builder.class(parent, &class.name),
        };
    }
    for (id, attribute) in schema.attributes() {
        let own = builder.attribute(attribute.class, &attribute.name);
        builder.adopt(own, data.dictionary(id).clone());
    }
    for record in 0..data.len() {
        builder.begin_record();
        let mut open: Vec<usize> = Vec::new();
        for vertex in data.vertices(record).filter(|&v| says[v]) {
            while open.last().is_some_and(|&last| Some(last) != data.parent(vertex)) {
                open.pop();
                builder.close();
            }
            let class = data.class(vertex);
            if class != ClassId::ROOT {
                builder.open(class);
                open.push(vertex);
            } else {
                // The root is open already; what lies below it closes down to it.
                open.clear();
            }
            for (&id, &code) in schema.class(class).attributes.iter().zip(data.values(vertex)) {
                if code != MISSING {
                    builder.set_code(id, code);
                }
            }
        }
        builder.end_record().map_err(|_| Failure::defect("a part of a record is more than all of it"))?;
    }
    Ok(builder.finish())
}
