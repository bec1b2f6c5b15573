//! The sensitive values of records that are in memory as a whole.

use bosket_model::binding::Binding;
use bosket_model::dissected::SensitiveValues;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, Dataset, MISSING};

/// The values of the sensitive attributes, per record. What only repeats one in other words is left out.
pub fn sensitive_values(data: &Dataset, binding: &Binding) -> Vec<SensitiveValues> {
    let declared = binding.declared.iter().enumerate();
    let sensitive = declared.filter(|(_, d)| d.role == Role::Sensitive && d.follows.is_none());
    sensitive.map(|(at, d)| of_attribute(data, binding, at, d.home != 0)).collect()
}

fn of_attribute(data: &Dataset, binding: &Binding, declared: usize, many: bool) -> SensitiveValues {
    let path = binding.declared[declared].path.clone();
    let mut found = SensitiveValues { declared, path, many, ..SensitiveValues::default() };
    let own = |a: &&AttributeId| binding.attributes[a.index()] == Some(declared);
    let mut codes = Vec::new();
    for record in 0..data.len() {
        for vertex in data.vertices(record) {
            let class = data.schema().class(data.class(vertex));
            for &attribute in class.attributes.iter().filter(own) {
                let code = data.value(vertex, attribute);
                if code != MISSING {
                    let dictionary = data.dictionary(attribute);
                    codes.push(found.values.intern(dictionary.kind(code), dictionary.text(code)));
                }
            }
        }
        // A dataset numbers its values with 32 bits, so that they can be numbered here as well.
        assert!(found.codes.push(codes.drain(..)), "fewer than 2^32 values");
    }
    found
}
