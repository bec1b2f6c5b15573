//! What labels give away, counted by hand.

use bosket_measure::attack::guess::{
    Behind, Certain, Compared, Guessed, Questions, Rate, Restored, guess, questions,
};
use bosket_measure::loss::Side;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Undeclared};
use bosket_model::{Builder, ClassId, Dataset, Kind};

const GENDERS: &str = "female;*\nmale;*\ndiverse;*\n";
const TOWNS: &str = "Kiel;North;*\nBremen;North;*\nUlm;South;*\nGera;South;*\n";

/// People with a gender and a town.
fn people(all: &[(&str, &str, usize)]) -> Dataset {
    let mut builder = Builder::new();
    let gender = builder.attribute(ClassId::ROOT, &["gender".to_owned()]);
    let town = builder.attribute(ClassId::ROOT, &["town".to_owned()]);
    for (own, home, times) in all {
        for _ in 0..*times {
            builder.begin_record();
            builder.set(gender, Kind::Text, own);
            builder.set(town, Kind::Text, home);
            builder.end_record().expect("small");
        }
    }
    builder.finish()
}

fn policy(privacy: &str) -> Policy {
    let attribute = |path: &str| {
        format!("[[attribute]]\npath = \"{path}\"\nrole = \"quasi\"\nhierarchy = \"{path}.csv\"\n")
    };
    let text = format!("version = 1\n{}{}[privacy]\n{privacy}\n", attribute("gender"), attribute("town"));
    Policy::parse("p.toml", &text, &[]).expect("a good policy").0
}

/// Looks at a publication of people with what a policy says of them.
fn with_behind<T>(
    policy: &Policy,
    (input, published): (&Dataset, &Dataset),
    mapping: &[(u32, u32)],
    look: impl FnOnce(&Behind<'_>) -> T,
) -> T {
    let hierarchy = |text| -> Option<Hierarchy> { Some(csv::parse("h.csv", text).expect("a tree")) };
    let hierarchies = [hierarchy(GENDERS), hierarchy(TOWNS)];
    let (of_input, of_published) = (bound(policy, input), bound(policy, published));
    look(&Behind {
        policy,
        input: Side { data: input, binding: &of_input },
        published: Side { data: published, binding: &of_published },
        hierarchies: &hierarchies,
        mapping,
    })
}

fn bound(policy: &Policy, data: &Dataset) -> Binding {
    Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("it fits")
}

fn guessed(policy: &Policy, input: &Dataset, published: &Dataset, mapping: &[(u32, u32)]) -> Guessed {
    with_behind(policy, (input, published), mapping, |of| guess(of, &Quiet).expect("nobody interrupts"))
}

fn asked(input: &Dataset, published: &Dataset, control: &Dataset) -> Questions {
    let policy = policy(KMN);
    let of_control = bound(&policy, control);
    let control = Side { data: control, binding: &of_control };
    let mapping = in_order(input.len());
    with_behind(&policy, (input, published), &mapping, |of| {
        questions(of, control, &Quiet).expect("nobody interrupts")
    })
}

fn in_order(people: usize) -> Vec<(u32, u32)> {
    (0..people as u32).map(|at| (at, at)).collect()
}

const KMN: &str = "model = \"kmn\"\nk = 2\nm = 2\nn = 0";

#[test]
fn a_label_tells_by_how_often_it_hides_the_same_value() {
    let input = people(&[("female", "Kiel", 5), ("male", "Kiel", 3), ("diverse", "Kiel", 2)]);
    // `*` hides one female and both diverse people.
    let published = people(&[("*", "Kiel", 1), ("female", "Kiel", 4), ("male", "Kiel", 3), ("*", "Kiel", 2)]);
    let found = guessed(&policy(KMN), &input, &published, &in_order(10));
    let own = &found.attributes[0];
    assert_eq!((own.path.as_str(), own.cells, own.generalized), ("gender", 10, 3));
    assert_eq!((own.half, own.nine_tenths), (Certain { told: 3, common: 0 }, Certain::default()));
    let label = own.largest.as_ref().expect("one tells");
    assert_eq!((label.cells, label.hiding, label.value.as_deref()), (3, 2, Some("diverse")));
    assert!((label.common - 0.2).abs() < 1e-9, "{label:?}");
    assert_eq!(found.labels, std::slice::from_ref(label));
    assert_eq!(found.attributes[1].generalized, 0);
}

#[test]
fn records_are_found_by_the_mapping() {
    let input = people(&[("diverse", "Kiel", 1), ("female", "Kiel", 1), ("male", "Kiel", 1)]);
    let published = people(&[("*", "Kiel", 1), ("male", "Kiel", 1), ("female", "Kiel", 1)]);
    let found = guessed(&policy(KMN), &input, &published, &[(0, 0), (1, 2), (2, 1)]);
    let label = found.attributes[0].largest.as_ref().expect("one tells");
    assert_eq!((label.hiding, label.value.as_deref()), (1, Some("diverse")));
}

#[test]
fn what_is_common_below_a_label_is_not_told_by_it() {
    let input = people(&[("female", "Kiel", 6), ("male", "Ulm", 3), ("diverse", "Ulm", 1)]);
    let everybody = people(&[("*", "North", 6), ("*", "South", 4)]);
    let found = guessed(&policy(KMN), &input, &everybody, &in_order(10));
    let [gender, town] = &found.attributes[..] else { panic!("two attributes") };
    // Six of ten are female, with and without the label.
    assert_eq!((gender.half, gender.nine_tenths), (Certain { told: 0, common: 10 }, Certain::default()));
    // Everybody in the North is from Kiel, in the South from Ulm: the hierarchy hides nothing here.
    assert_eq!(town.nine_tenths, Certain { told: 0, common: 10 });
    assert_eq!((town.largest.as_ref(), found.labels.len()), (None, 0));
    assert_eq!(town.by_frequency, Restored { cells: 10, right: 10 });
    assert_eq!(gender.by_frequency, Restored::default());
}

/// Twenty of each common gender, and five rare people behind `*`.
fn rare_ones() -> (Dataset, Dataset) {
    let input = people(&[("female", "Kiel", 20), ("male", "Kiel", 20), ("diverse", "Kiel", 5)]);
    (input, people(&[("female", "Kiel", 20), ("male", "Kiel", 20), ("*", "Kiel", 5)]))
}

#[test]
fn what_is_common_enough_would_not_have_been_hidden() {
    let (input, published) = rare_ones();
    let found = guessed(&policy(KMN), &input, &published, &in_order(45));
    let own = &found.attributes[0];
    assert_eq!((own.attacked, own.restored), (5, Restored { cells: 5, right: 5 }));
    assert_eq!(own.sure, Restored { cells: 5, right: 5 });
    assert_eq!(own.by_frequency, Restored::default());
}

#[test]
fn the_attacker_learns_from_what_is_published() {
    // One woman from Kiel and one man from Bremen are seen, too few to show the others; those are like them.
    let input = people(&[("female", "Kiel", 4), ("male", "Bremen", 4)]);
    let published =
        people(&[("female", "Kiel", 1), ("female", "North", 3), ("male", "Bremen", 1), ("male", "North", 3)]);
    let found = guessed(&policy("model = \"kmn\"\nk = 3\nm = 2\nn = 0"), &input, &published, &in_order(8));
    let town = &found.attributes[1];
    assert_eq!((town.generalized, town.half), (6, Certain { told: 0, common: 6 }));
    assert_eq!((town.restored, town.by_frequency), (Restored { cells: 6, right: 6 }, Restored::default()));
    assert_eq!((town.sure, found.restored), (Restored::default(), Restored { cells: 6, right: 6 }));
}

#[test]
fn figures_do_not_depend_on_the_run() {
    let (input, published) = rare_ones();
    let of = || guessed(&policy(KMN), &input, &published, &in_order(45));
    assert_eq!(of(), of());
}

#[test]
fn hidden_values_stand_in_json_only_if_asked_for() {
    let (input, published) = rare_ones();
    let found = guessed(&policy(KMN), &input, &published, &in_order(45));
    assert!(!found.to_json(false).to_string().contains("diverse"));
    let shown = found.to_json(true);
    assert_eq!(shown["attributes"][0]["largest"]["value"], "diverse");
    assert_eq!(shown["restored"]["right"], 5);
}

#[test]
fn a_label_of_united_rows_stands_for_all_that_it_covers() {
    let set = |all: &[&[&str]]| {
        let mut builder = Builder::new();
        let class = builder.class(ClassId::ROOT, &["town".to_owned()]);
        let item = builder.attribute(class, &[]);
        for person in all {
            builder.begin_record();
            for town in *person {
                builder.open(class);
                builder.set(item, Kind::Text, town);
                builder.close();
            }
            builder.end_record().expect("small");
        }
        builder.finish()
    };
    let text = "version = 1\n[[attribute]]\npath = \"town[]\"\nrole = \"quasi\"\nhierarchy = \"t.csv\"\n[privacy]\nmodel = \"km\"\nk = 2\nm = 1\n";
    let policy = Policy::parse("p.toml", text, &[]).expect("a good policy").0;
    let input = set(&[&["Kiel", "Bremen", "Ulm"], &["Kiel", "Ulm"]]);
    let published = set(&[&["North", "Ulm"], &["North", "Ulm"]]);
    let (of_input, of_published) = (bound(&policy, &input), bound(&policy, &published));
    let hierarchies = [Some(csv::parse("h.csv", TOWNS).expect("a tree"))];
    let behind = Behind {
        policy: &policy,
        input: Side { data: &input, binding: &of_input },
        published: Side { data: &published, binding: &of_published },
        hierarchies: &hierarchies,
        mapping: &[(0, 0), (1, 1)],
    };
    let found = guess(&behind, &Quiet).expect("nobody interrupts");
    let own = &found.attributes[0];
    // `North` covers Kiel twice and Bremen once, as the input does below it.
    assert_eq!((own.cells, own.generalized, own.half), (5, 3, Certain { told: 0, common: 3 }));
}

fn rates(compared: Compared) -> ((u64, u64), (u64, u64)) {
    let pair = |rate: Rate| (rate.hits, rate.tries);
    (pair(compared.people), pair(compared.control))
}

#[test]
fn who_is_published_as_is_is_singled_out_and_others_are_not() {
    let input = people(&[("female", "Kiel", 1), ("male", "Ulm", 1), ("diverse", "Gera", 1)]);
    let control = people(&[("female", "Ulm", 1), ("male", "Kiel", 1)]);
    let found = asked(&input, &input, &control);
    assert_eq!(rates(found.singled_out), ((3, 3), (0, 2)));
    assert_eq!(rates(found.linked), ((3, 3), (0, 2)));
    // Whoever knows the town of somebody published knows their gender; of the others it is somebody else's.
    assert_eq!(found.inferred[0].0, "gender");
    assert_eq!(rates(found.inferred[0].1), ((3, 3), (0, 2)));
    let (risk, low, high) = found.singled_out.risk();
    assert!(low < risk && risk < high && high == 1.0, "{low} {risk} {high}");
}

#[test]
fn what_is_true_of_everybody_is_no_risk_of_the_publication() {
    // Everybody from Kiel is female, published or not, and nobody is alone.
    let input = people(&[("female", "Kiel", 20), ("male", "Ulm", 20)]);
    let control = people(&[("female", "Kiel", 10), ("male", "Ulm", 10)]);
    let found = asked(&input, &input, &control);
    assert_eq!(rates(found.singled_out), ((0, 40), (0, 20)));
    assert_eq!(rates(found.inferred[0].1), ((40, 40), (20, 20)));
    let (risk, low, _) = found.inferred[0].1.risk();
    assert!(low == 0.0 && risk < 0.6, "{risk}");
    // A label says as much of all it covers.
    let published = people(&[("*", "North", 20), ("*", "South", 20)]);
    let found = asked(&input, &published, &control);
    assert_eq!(rates(found.inferred[0].1), ((0, 40), (0, 20)));
}

#[test]
fn rates_have_wilsons_intervals() {
    // Ten of a hundred: from .0552 to .1744.
    let (middle, spread) = Rate { tries: 100, hits: 10 }.wilson();
    assert!((middle - spread - 0.0552).abs() < 5e-4 && (middle + spread - 0.1744).abs() < 5e-4);
    let same = Compared { people: Rate { tries: 100, hits: 50 }, control: Rate { tries: 100, hits: 50 } };
    assert!(same.risk().0.abs() < 1e-9);
}
