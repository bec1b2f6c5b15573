//! What the two sides hold, so that a publication can be compared with its input. What is handed out are digests of
//! texts; who compares them is somebody else.

use sha2::{Digest, Sha256};

use bosket_model::binding::Binding;
use bosket_model::dissected::{SideDigests, TextDigest};
use bosket_model::{Dataset, MISSING};

use bosket_model::sides::{Fate, Fates};

/// No value yet, of all sensitive attributes.
pub(super) fn no_digests(fates: &Fates) -> SideDigests {
    SideDigests { values: vec![Vec::new(); fates.sensitive.len()], ..SideDigests::default() }
}

/// The digest of a text.
pub(super) fn digest(text: &[u8]) -> TextDigest {
    Sha256::digest(text).into()
}

/// Takes records that are in a group; their quasi side is compared whatever the order of keys and siblings.
pub(super) fn add_records(
    sides: &mut SideDigests,
    data: &Dataset,
    binding: &Binding,
    fates: &Fates,
    group: &dyn Fn(usize) -> Option<u32>,
) {
    let schema = data.schema();
    sides.records += data.len();
    for (record, group) in (0..data.len()).filter_map(|r| Some((r, group(r)?))) {
        let vertices = data.vertices(record);
        let first = vertices.start;
        let mut below: Vec<Vec<TextDigest>> = vec![Vec::new(); vertices.len()];
        let mut whole = TextDigest::default();
        for vertex in vertices.rev() {
            let mut own: Vec<(usize, &str)> = Vec::new();
            let attributes = &schema.class(data.class(vertex)).attributes;
            for (&code, &attribute) in data.values(vertex).iter().zip(attributes) {
                let Some(declared) = binding.attributes[attribute.index()].filter(|_| code != MISSING) else {
                    continue;
                };
                let text = data.dictionary(attribute).text(code);
                match fates.of[declared] {
                    Fate::Quasi => own.push((declared, text)),
                    Fate::Sensitive(at) => sides.values[at].push((group, digest(text.as_bytes()))),
                    Fate::Gone => {}
                }
            }
            own.sort_unstable();
            let children = &mut below[vertex - first];
            children.sort_unstable();
            if own.is_empty() && children.is_empty() && data.parent(vertex).is_some() {
                continue;
            }
            whole = of_vertex(binding.classes[data.class(vertex).index()], &own, children);
            if let Some(parent) = data.parent(vertex) {
                below[parent - first].push(whole);
            }
        }
        sides.people.push((group, whole));
    }
}

/// The digest of a vertex. Everything has its length before it, so that no two vertices are written alike.
fn of_vertex(home: Option<usize>, own: &[(usize, &str)], children: &[TextDigest]) -> TextDigest {
    let mut hash = Sha256::new();
    let number = |hash: &mut Sha256, n: usize| hash.update((n as u64).to_le_bytes());
    number(&mut hash, home.map_or(0, |home| home + 1));
    number(&mut hash, own.len());
    for (declared, text) in own {
        number(&mut hash, *declared);
        number(&mut hash, text.len());
        hash.update(text.as_bytes());
    }
    children.iter().for_each(|child| hash.update(child));
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_vertices_are_written_alike() {
        let told = [
            of_vertex(None, &[], &[]),
            of_vertex(Some(0), &[], &[]),
            of_vertex(Some(0), &[(0, "ab")], &[]),
            of_vertex(Some(0), &[(0, "a"), (0, "b")], &[]),
            of_vertex(Some(0), &[(0, "a"), (1, "b")], &[]),
            of_vertex(Some(0), &[(0, "a")], &[digest(b"b")]),
            of_vertex(Some(0), &[], &[digest(b"a"), digest(b"b")]),
        ];
        for (i, one) in told.iter().enumerate() {
            assert!(told[..i].iter().all(|other| other != one), "{i}");
        }
    }
}
