//! Truth of rows that were recoded locally: true publications of random records, and false ones, against a matcher that tries
//! everything.

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, ROOT_LABEL};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Missing, Payload, Policy, Role, Undeclared};
use bosket_testkit::dice::Dice;
use bosket_testkit::labels::LabelTree;
use bosket_testkit::rows::{RowRule, rows_derive};
use bosket_testkit::truth::{LabelTrees, assignable};
use bosket_testkit::vertices::{self, BOOKS, NAMES, PERSON, Roles, Vertex};
use bosket_verify::truth::{Comparison, Mapping, Pair, Recoding, Side, compare};

use crate::{Outcome, dice};

/// The verdict is that of the definition, with and without a mapping.
pub fn verify_rows(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    let (roles, trees) = roles(&mut dice);
    let counted = dice.one_in(2);
    let input: Vec<Vertex> = (0..1 + dice.below(3)).map(|_| record(&mut dice, &trees)).collect();
    let mut published = input.clone();
    published.iter_mut().for_each(|record| publish(&mut dice, record, &roles, &trees, counted));
    for _ in 0..dice.below(3) {
        let at = dice.below(published.len());
        falsify(&mut dice, &mut published[at], &trees);
    }
    let rule = RowRule { roles: &roles, trees: &trees, counted };
    let fits = |p: usize, i: usize| rows_derive(&published[p], &input[i], &rule);
    let free = assignable(published.len(), input.len(), &|_| true, &fits);
    let given = (0..published.len()).all(|at| fits(at, at));
    let hierarchies: Vec<Option<Hierarchy>> =
        trees.iter().flatten().map(|tree| tree.as_ref().map(LabelTree::hierarchy)).collect();
    let case = Case { policy: vertices::policy(&roles), hierarchies, counted };
    let told = format!("{published:?} of {input:?}, counted: {counted}");
    assert_eq!(case.is_true(&published, &input, None), free, "without a mapping: {told}");
    let pairs = (0..published.len() as u32).map(|at| Pair { line: 1, input: at, published: at }).collect();
    let mapping = Mapping { name: "mapping".to_owned(), pairs };
    assert_eq!(case.is_true(&published, &input, Some(&mapping)), given, "with a mapping: {told}");
    if given { Outcome::Held } else { Outcome::Refused }
}

struct Case {
    policy: String,
    hierarchies: Vec<Option<Hierarchy>>,
    counted: bool,
}

impl Case {
    fn is_true(&self, published: &[Vertex], input: &[Vertex], mapping: Option<&Mapping>) -> bool {
        let (policy, _) = Policy::parse("p", &self.policy, &[]).expect("a good policy");
        let data = [published, input].map(vertices::dataset);
        let bindings = data.each_ref().map(|data| {
            Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared")
        });
        let missing = if self.counted { Missing::Counted } else { Missing::Nothing };
        let comparison = Comparison {
            published: Side { data: &data[0], binding: &bindings[0] },
            input: Side { data: &data[1], binding: &bindings[1] },
            hierarchies: &self.hierarchies,
            recoding: Recoding::LocalRows { payload: Payload::Keep, missing },
            suppress: false,
            mapping,
            sensitive: &[],
        };
        compare(&comparison, &Quiet).expect("comparable").is_empty()
    }
}

/// Two quasi attributes with hierarchies, and one beside them.
fn roles(dice: &mut Dice) -> (Roles, LabelTrees) {
    let mut roles: Roles = [[Role::Insensitive; 4]; 4];
    let mut trees: LabelTrees = vec![vec![None, None, None, None]; 4];
    for class in 0..roles.len() {
        for (a, name) in ["a", "b"].into_iter().enumerate() {
            roles[class][a] = Role::Quasi;
            trees[class][a] = Some(LabelTree::random(dice, name));
        }
    }
    (roles, trees)
}

/// Rows of few values, so that many look alike.
fn record(dice: &mut Dice, trees: &LabelTrees) -> Vertex {
    let mut record = vertices::random_shape(dice, 2);
    let narrow = dice.one_in(2);
    record.each(&mut |v| {
        for a in 0..2 {
            let values = trees[v.class][a].as_ref().map_or_else(Vec::new, LabelTree::values);
            let few = if narrow { &values[..1] } else { &values[..] };
            v.values[a] = (!dice.one_in(4)).then(|| dice.of(few).clone());
        }
        v.values[2] = dice.one_in(5).then(|| (*dice.of(&["7", "8"])).to_owned());
    });
    record
}

/// Generalizes, leaves out, fills empty places, and parts values from their rows.
fn publish(dice: &mut Dice, record: &mut Vertex, roles: &Roles, trees: &LabelTrees, counted: bool) {
    let mut books: Vec<Vertex> = Vec::new();
    record.each(&mut |v| {
        for a in 0..2 {
            let Some(tree) = &trees[v.class][a] else { continue };
            v.values[a] = match &v.values[a] {
                Some(value) => Some(dice.of(&tree.chain(value)).clone()),
                None => (counted || dice.one_in(4)).then(|| ROOT_LABEL.to_owned()),
            };
        }
        v.children.retain(|_| !dice.one_in(6));
        for child in 0..v.children.len() {
            let a = dice.below(2);
            let label = v.children[child].values[a].clone().filter(|label| label != ROOT_LABEL);
            let Some(label) = label.filter(|_| dice.one_in(4)) else { continue };
            v.children[child].values[a] = counted.then(|| ROOT_LABEL.to_owned());
            let mut alone =
                Vertex { class: v.children[child].class, values: Default::default(), children: Vec::new() };
            alone.values[a] = Some(label);
            // A book's value may go as far up as the person.
            match alone.class == BOOKS && dice.one_in(2) {
                true => books.push(alone),
                false => v.children.push(alone),
            }
        }
        dice.shuffle(&mut v.children);
    });
    debug_assert_eq!(roles[PERSON][0], Role::Quasi);
    record.children.append(&mut books);
}

/// Publishes a row twice, or another label, or a row below another one.
fn falsify(dice: &mut Dice, record: &mut Vertex, trees: &LabelTrees) {
    let (at, kind, a) = (dice.below(record.all().len()), dice.below(3), dice.below(NAMES.len() - 1));
    let (mut number, mut carried) = (0, None::<Vertex>);
    record.each(&mut |v| {
        let here = number == at;
        number += 1;
        match kind {
            0 if here => v.children.extend(v.children.first().cloned()),
            1 if here => {
                let labels = trees[v.class][a].as_ref().map_or(vec!["9".to_owned()], LabelTree::labels);
                v.values[a] = (!dice.one_in(4)).then(|| dice.of(&labels).clone());
            }
            2 => match carried.take() {
                Some(row) if v.children.iter().any(|child| child.class == row.class) => v.children.push(row),
                Some(row) => carried = Some(row),
                None if v.children.len() > 1 => carried = v.children.pop(),
                None => {}
            },
            _ => {}
        }
    });
}
