//! Every row of the table of algorithms: it runs and is verified, its page names it, other tests throw dice at it; and what
//! no run could do is refused.

mod refusals;
mod rows;
mod unfit;
mod walk;

use bosket_engine::{Input, Params};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Algorithm, Model, Number, Policy, Role, Shape};
use bosket_model::{Builder, ClassId, Dataset, Kind, Result};
use bosket_testkit::dice::Dice;
use bosket_testkit::sets;

/// Records with the policy that an algorithm is to keep.
struct Case {
    policy: Policy,
    data: Dataset,
    binding: Binding,
    hierarchies: Vec<Option<Hierarchy>>,
}

const VALUES: [&str; 5] = ["p", "q", "r", "s", "t"];
const SECRETS: [&str; 6] = ["A", "B", "C", "D", "E", "F"];
const TREE: &str = "p;pq;*\nq;pq;*\nr;rs;pqrs;*\ns;rs;pqrs;*\nt;*\n";
const SECRET_TREE: &str = "A;AB;*\nB;AB;*\nC;CD;*\nD;CD;*\nE;EF;*\nF;EF;*\n";

impl Case {
    /// So many records of the shape that the algorithm takes.
    fn new(model: Model, algorithm: Algorithm, dice: &mut Dice, records: usize) -> Case {
        let flat = algorithm.needs_flat();
        let mut policy = policy(model, flat);
        policy.method.algorithm = Some(algorithm.name().to_owned());
        let data = match model.shape() {
            Shape::Set => baskets(dice, records),
            Shape::ValueTree | Shape::VertexTree => visits(dice, records, flat),
        };
        Case::of(policy, data)
    }

    fn of(policy: Policy, data: Dataset) -> Case {
        let binding = bind(&policy, &data);
        let hierarchy = |role: Role| match role {
            Role::Quasi => Some(csv::parse("h", TREE).expect("a hierarchy")),
            Role::Sensitive => Some(csv::parse("h", SECRET_TREE).expect("a hierarchy")),
            _ => None,
        };
        let hierarchies = policy.attributes.iter().map(|a| hierarchy(a.role)).collect();
        Case { policy, data, binding, hierarchies }
    }

    fn input(&self) -> Input<'_> {
        Input { data: &self.data, binding: &self.binding, hierarchies: &self.hierarchies }
    }

    /// What a dry run would say.
    fn refuse_unfit(&self) -> Result<()> {
        bosket_engine::refuse_unfit(&self.policy, &Params::new(&self.policy)?, self.input(), &Quiet)
    }
}

fn bind(policy: &Policy, data: &Dataset) -> Binding {
    Binding::new(data.schema(), &policy.attributes, policy.undeclared, "data").expect("all declared")
}

/// A policy that says what the model needs and no more.
fn policy(model: Model, flat: bool) -> Policy {
    let attribute = |path: &str, role: &str, more: &str| {
        format!("[[attribute]]\npath = \"{path}\"\nrole = \"{role}\"\n{more}")
    };
    let attributes = match model.shape() {
        Shape::Set => attribute("item", "quasi", ""),
        Shape::ValueTree | Shape::VertexTree => {
            let place = if flat { String::new() } else { attribute("visits[].place", "quasi", "") };
            attribute("town", "quasi", "")
                + &place
                + &attribute("ill", "sensitive", "hierarchy = \"ill.csv\"\n")
        }
    };
    let numbers: String = model.needs().iter().map(|n| format!("{} = {}\n", n.name(), number(*n))).collect();
    // Several relations at one place need somebody to judge them.
    let rows = if model == Model::Kmn { "[publish]\nrows = \"united\"\n" } else { "" };
    let text = format!("version = 1\n{attributes}[privacy]\nmodel = \"{model}\"\n{numbers}{rows}");
    Policy::parse("p.toml", &text, &[]).unwrap_or_else(|problems| panic!("{problems:?}")).0
}

/// A number that a run can keep.
fn number(number: Number) -> f64 {
    if number == Number::T { 0.4 } else { 2.0 }
}

fn baskets(dice: &mut Dice, records: usize) -> Dataset {
    let basket = |dice: &mut Dice| {
        let own = VALUES.iter().filter(|_| dice.one_in(2));
        own.map(|v| (*v).to_owned()).collect::<Vec<_>>()
    };
    sets::dataset(&(0..records).map(|_| basket(dice)).collect::<Vec<_>>())
}

/// People with a town and an illness, and with visits unless they are rows of one table.
fn visits(dice: &mut Dice, records: usize, flat: bool) -> Dataset {
    let mut builder = Builder::new();
    let name = |text: &str| [text.to_owned()];
    let value = |dice: &mut Dice| *dice.of(&VALUES);
    let town = builder.attribute(ClassId::ROOT, &name("town"));
    let ill = builder.attribute(ClassId::ROOT, &name("ill"));
    for record in 0..records {
        builder.begin_record();
        builder.set(town, Kind::Text, value(dice));
        // One after the other, so that no illness is too frequent.
        builder.set(ill, Kind::Text, SECRETS[(record + usize::from(dice.one_in(4))) % SECRETS.len()]);
        for _ in 0..if flat { 0 } else { dice.below(3) } {
            let visit = builder.class(ClassId::ROOT, &name("visits"));
            let place = builder.attribute(visit, &name("place"));
            builder.open(visit);
            builder.set(place, Kind::Text, value(dice));
            builder.close();
        }
        builder.end_record().expect("one value per attribute");
    }
    builder.finish()
}
