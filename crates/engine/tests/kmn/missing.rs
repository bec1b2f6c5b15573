//! Missing values that count as `*`: what is published keeps the promise over records in which every empty place is filled.

use bosket_engine::kmn::{Algorithm, Cost, Params};
use bosket_model::binding::Binding;
use bosket_model::policy::{Missing, Relations, Role, Rows};
use bosket_model::{ClassId, Dataset, MISSING};
use bosket_testkit::dice::cases;
use bosket_testkit::knowledge::smallest_violation;
use bosket_testkit::trees::PathRecord;
use bosket_verify::{Claim, Kmn};
use proptest::prelude::*;

use crate::params;
use crate::rows::Case;

/// The paths of all records (nothing hangs below what was parted), every empty place of a row that stands where it belongs filled with a star of its own.
fn filled(data: &Dataset, binding: &Binding) -> Vec<PathRecord> {
    let schema = data.schema();
    let record = |record: usize| {
        let vertices = data.vertices(record);
        let first = vertices.start;
        let mut paths: PathRecord = Vec::new();
        let mut last: Vec<Vec<String>> = Vec::new();
        for vertex in vertices {
            let class = data.class(vertex);
            let mut path = data.parent(vertex).map_or(Vec::new(), |above| last[above - first].clone());
            let above = schema.class(class).parent.and_then(|above| binding.classes[above.index()]);
            let home = binding.classes[class.index()];
            let at_home = home.map(|home| binding.homes[home].parent) == Some(above);
            let named = binding.in_policy_order(schema, class, Role::Quasi);
            for (declared, own) in binding.declared.iter().enumerate() {
                if Some(own.home) != home || own.role != Role::Quasi {
                    continue;
                }
                let attribute =
                    named.iter().copied().find(|a| binding.attributes[a.index()] == Some(declared));
                let label = match attribute.map(|a| (a, data.value(vertex, a))) {
                    Some((attribute, code)) if code != MISSING => data.dictionary(attribute).text(code),
                    // A place of the policy, be it named in the data or not.
                    _ if at_home => "*",
                    _ => continue,
                };
                let item = format!("{} {label}", ('A'..).nth(declared).expect("a letter"));
                match class == ClassId::ROOT {
                    true => paths.push(vec![item]),
                    false => {
                        path.push(item);
                        paths.push(path.clone());
                    }
                }
            }
            last.push(path);
        }
        paths
    };
    (0..data.len()).map(record).collect()
}

/// Rows that say nothing, or the same, were not looked at when equal records were paired, and a true record found no partner.
#[test]
fn equal_records_are_paired_with_hollow_and_repeated_rows() {
    for (seed, records, rows, k, m) in
        [(7605218170792706364, 5, Rows::Distinct, 2, 3), (438273603230189022, 7, Rows::All, 4, 1)]
    {
        let case = Case::new(seed, records, false);
        let claim = Claim::Kmn(Kmn { rows, missing: Missing::Counted, ..Kmn::new(k, m as u32, 0) });
        for algorithm in [Algorithm::Gcs, Algorithm::Best] {
            let p = Params { counted: true, ..params(case.hierarchies.len(), algorithm, k, m, 0) };
            let release = case.publish(&p, rows, &claim).expect("published");
            case.check(&release.published, &claim, rows, (false, false));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]
    #[test]
    fn missing_values_keep_the_promise(
        seed: u64, records in 1usize..12, notes: bool, all: bool, k in 2u32..5, m in 1usize..4, n in 0usize..2, lm: bool,
    ) {
        let case = Case::new(seed, records, notes);
        let rows = if all { Rows::All } else { Rows::Distinct };
        let claim = Claim::Kmn(Kmn { rows, missing: Missing::Counted, ..Kmn::new(k, m as u32, n as u32) });
        let global = [Algorithm::Acs, Algorithm::Gcs, Algorithm::Best].map(|algorithm| (algorithm, false));
        for (algorithm, local) in global.into_iter().chain([(Algorithm::Gcs, true)]) {
            let cost = if lm { Cost::Lm } else { Cost::RpdA };
            let plain = params(case.hierarchies.len(), algorithm, k, m, n);
            let p = Params { counted: true, local, cost, ..plain };
            let Ok(release) = case.publish(&p, rows, &claim) else { continue };
            case.check(&release.published, &claim, rows, (false, local));
            let paths = filled(&release.published, &case.bound(&release.published));
            prop_assert_eq!(smallest_violation(&paths, k as usize, m, n, false), None);
        }
    }

    #[test]
    fn emptied_people_keep_the_promise(
        seed: u64, records in 20usize..45, notes: bool, counted: bool, k in 2u32..4, m in 1usize..3, n in 0usize..2,
    ) {
        let case = Case::new(seed, records, notes);
        let missing = if counted { Missing::Counted } else { Missing::Nothing };
        let claim = Claim::Kmn(Kmn { missing, ..Kmn::new(k, m as u32, n as u32) });
        let plain = params(case.hierarchies.len(), Algorithm::Gcs, k, m, n);
        let plain = Params { counted, cost: Cost::Lm, ..plain };
        let p = Params { suppress: true, ..plain.clone() };
        if let Ok(release) = case.publish(&p, Rows::Distinct, &claim) {
            case.check(&release.published, &claim, Rows::Distinct, (release.emptied > 0, false));
            if let Ok(without) = case.publish(&plain, Rows::Distinct, &claim) {
                prop_assert!(release.cost <= without.cost);
                prop_assert!(release.emptied == 0 || release.cost < without.cost);
            }
        }
    }

    #[test]
    fn what_a_reader_can_join_is_counted_with_sections(seed: u64, records in 1usize..12, notes: bool, k in 2u32..4) {
        let case = Case::new(seed, records, notes);
        let (m, missing) = (3, Missing::Counted);
        let claim = Claim::Kmn(Kmn { relations: Relations::Embedded, missing, ..Kmn::new(k, m, 2) });
        let p = params(case.hierarchies.len(), Algorithm::Best, k, m as usize, 2);
        let p = Params { beyond: true, counted: true, ..p };
        if let Ok(release) = case.publish(&p, Rows::Distinct, &claim) {
            case.check(&release.published, &claim, Rows::Distinct, (false, false));
        }
    }
}
