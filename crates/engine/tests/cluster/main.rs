//! k-anonymity and l-diversity by clustering: promises kept, the literal algorithms, worked examples, bad input.

mod anatomized;
mod cells;
mod counted;
mod deep;
mod golden;
mod literal;
mod promises;
mod ranges;
mod unreachable;

use bosket_engine::cluster::{Diverse, Params, Release, run};
use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Diversity, Policy, Role, Siblings};
use bosket_testkit::dice::Dice;
use bosket_testkit::vertices::{self, CLASSES, NAMES, Roles, Vertex};

/// Records of a random shape with their policy and hierarchies.
struct Case {
    roles: Roles,
    data: Dataset,
    policy: Policy,
    binding: Binding,
    hierarchies: Vec<Option<Hierarchy>>,
}

/// The values of quasi attributes.
const QUASI: [&str; 5] = ["p", "q", "r", "s", "t"];

impl Case {
    /// So many records: `a` and `b` quasi, `c` and `d` sensitive, where the dice say so.
    fn random(dice: &mut Dice, records: usize, secrets: &[&str]) -> Case {
        let mut roles = [[Role::Insensitive; 4]; 4];
        for class in &mut roles {
            for a in 0..NAMES.len() {
                if !dice.one_in(3) {
                    class[a] = if a < 2 { Role::Quasi } else { Role::Sensitive };
                }
            }
        }
        // Without anything sensitive at the top most records fit together.
        roles[0][0] = Role::Quasi;
        let most = 1 + dice.below(3);
        let domain = &QUASI[..2 + dice.below(4)];
        let records: Vec<Vertex> = (0..records)
            .map(|_| {
                let mut record = vertices::random_shape(dice, most);
                vertices::throw_values(dice, &mut record, 0, domain);
                vertices::throw_values(dice, &mut record, 1, domain);
                vertices::throw_values(dice, &mut record, 2, secrets);
                vertices::throw_values(dice, &mut record, 3, &["1", "2", "3", "4", "5"]);
                record
            })
            .collect();
        Case::of(&records, roles)
    }

    fn of(records: &[Vertex], roles: Roles) -> Case {
        let data = vertices::dataset(records);
        let (policy, _) = Policy::parse("p", &vertices::policy(&roles), &[]).expect("a good policy");
        let binding =
            Binding::new(data.schema(), &policy.attributes, policy.undeclared, "data").expect("all declared");
        let tree = csv::parse("h", "p;pq;*\nq;pq;*\nr;rs;pqrs;*\ns;rs;pqrs;*\nt;*\n").expect("a hierarchy");
        let hierarchies = (0..CLASSES.len() * NAMES.len())
            .map(|at| (roles[at / 4][at % 4] == Role::Quasi).then(|| tree.clone()))
            .collect();
        Case { roles, data, policy, binding, hierarchies }
    }

    fn run(&self, params: &Params) -> bosket_model::Result<Release> {
        run(&self.data, &self.binding, &self.hierarchies, params, &Quiet)
    }
}

fn diverse(l: f64) -> Diverse {
    Diverse {
        l,
        diversity: Diversity::Frequency,
        siblings: Siblings::Pooled,
        distinct_everywhere: Vec::new(),
        buckets: vec![None; CLASSES.len() * NAMES.len()],
    }
}
