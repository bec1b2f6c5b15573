//! Records as texts that are put together from the innermost vertices outwards, ordered by these texts.

use bosket_model::observe::Observer;
use bosket_model::{ClassId, Dataset, Result};

use crate::sorted::Sorted;

/// No vertex.
const NONE: u32 = u32::MAX;

/// The texts of one record's vertices.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// From the last vertex to the first; a writer appends.
    pub(crate) buffer: Vec<u8>,
    /// The texts below the vertex that is written now, ordered by class and content.
    children: Vec<(ClassId, usize, usize)>,
}

impl Texts {
    /// The texts of a class's vertices below the one that is written now, as places in the buffer.
    pub(crate) fn below(&self, class: ClassId) -> &[(ClassId, usize, usize)] {
        let from = self.children.partition_point(|c| c.0 < class);
        let to = self.children.partition_point(|c| c.0 <= class);
        &self.children[from..to]
    }

    fn collect_children(&mut self, data: &Dataset, links: &[Link], first: usize, vertex: usize) {
        self.children.clear();
        let mut child = links[vertex - first].child;
        while child != NONE {
            let link = links[child as usize];
            self.children.push((data.class(first + child as usize), link.start, link.end));
            child = link.next;
        }
        let buffer = &self.buffer;
        self.children
            .sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| buffer[a.1..a.2].cmp(&buffer[b.1..b.2])));
    }
}

/// A vertex's place in the tree of its record, and its text in the buffer.
#[derive(Clone, Copy)]
struct Link {
    child: u32,
    next: u32,
    start: usize,
    end: usize,
}

/// The text of every record. `write` appends the text of a vertex of a record, given those of the vertices below it.
/// Siblings of a class, and then the records, are ordered by their bytes.
pub(crate) fn write_records(
    data: &Dataset,
    observer: &dyn Observer,
    write: impl FnMut(&mut Texts, usize, usize) -> Result<()>,
) -> Result<Sorted> {
    let mut sorted = record_texts(data, observer, write)?;
    sorted.sort(observer)?;
    Ok(sorted)
}

/// The same in the order of the records.
pub(crate) fn record_texts(
    data: &Dataset,
    observer: &dyn Observer,
    write: impl FnMut(&mut Texts, usize, usize) -> Result<()>,
) -> Result<Sorted> {
    let mut sorted = Sorted::default();
    each_record_text(data, observer, write, &mut |text| {
        sorted.push(|out| out.extend_from_slice(text));
        Ok(())
    })?;
    Ok(sorted)
}

/// The same one by one.
pub(crate) fn each_record_text(
    data: &Dataset,
    observer: &dyn Observer,
    mut write: impl FnMut(&mut Texts, usize, usize) -> Result<()>,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut texts = Texts::default();
    let mut links = Vec::new();
    for record in 0..data.len() {
        observer.go_on()?;
        let vertices = data.vertices(record);
        let first = vertices.start;
        links.clear();
        links.resize(vertices.len(), Link { child: NONE, next: NONE, start: 0, end: 0 });
        texts.buffer.clear();
        // Backwards in preorder: when a vertex comes, all vertices below it are written.
        for vertex in vertices.rev() {
            texts.collect_children(data, &links, first, vertex);
            let start = texts.buffer.len();
            write(&mut texts, record, vertex)?;
            let here = vertex - first;
            (links[here].start, links[here].end) = (start, texts.buffer.len());
            if let Some(parent) = data.parent(vertex) {
                let parent = parent - first;
                links[here].next = std::mem::replace(&mut links[parent].child, here as u32);
            }
        }
        take(&texts.buffer[links[0].start..links[0].end])?;
    }
    Ok(())
}
