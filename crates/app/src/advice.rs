//! What forces a publication to say so little, and what would help: found by trying, within about the time that the run
//! itself took. What is published never depends on it.
//!
//! The knowledge that forces an attribute to be `*` is the verifier's own witness, on records that are generalized as they
//! are published but for this attribute, which is one step finer.

use std::time::{Duration, Instant};

use bosket_io::PolicyFile;
use bosket_measure::kept::{Kept, Lost};
use bosket_measure::loss::{Compared, Loss, Side};
use bosket_model::Result;
use bosket_model::dissected::SensitiveValues;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::{Limits, Observer};
use bosket_model::policy::{Param, Policy, Role, Rows, Shape};
use bosket_report::advice::{Advice, Forced, Help, LittleLeft, Remedy, Tried};
use bosket_report::losses::Yardstick;
use bosket_verify::Claim;

use crate::finer::{Finer, Step};
use crate::trial::Trial;

/// Time for advice however fast the run was.
const LEAST: Duration = Duration::from_secs(3);
/// Time for advice however long the run took.
const MOST: Duration = Duration::from_secs(30);
/// Vertices up to which anything is tried: a second run takes memory, too, and must not cost the first one its own.
const LARGEST: usize = 2_000_000;

/// A publication, and what it was made of.
pub(crate) struct Published<'a> {
    pub(crate) file: &'a PolicyFile,
    pub(crate) claim: &'a Claim,
    pub(crate) input: Side<'a>,
    pub(crate) hierarchies: &'a [Option<Hierarchy>],
    pub(crate) published: Side<'a>,
    /// Sensitive values that are published apart from the records.
    pub(crate) apart: &'a [SensitiveValues],
    pub(crate) kept: &'a Kept,
    /// Pairs (input record, published record), if they are known.
    pub(crate) mapping: Option<&'a [(u32, u32)]>,
    /// Bytes for searching and counting.
    pub(crate) memory: usize,
    /// Labels may be named.
    pub(crate) show_values: bool,
}

/// What may be done for advice.
#[derive(Clone, Copy)]
pub(crate) enum Effort {
    /// Remedies are tried, in about the time that the run took.
    Tries(Duration),
    /// Only what forces it is looked for, in about that time.
    Looks(Duration),
}

/// Watches as somebody else does, tells nothing, and gives up when the time is over or nobody wants to wait.
struct Within<'o> {
    observer: &'o dyn Observer,
    until: Instant,
}

impl Observer for Within<'_> {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn reading(&self, _: &str, _: Option<u64>) {}
    fn limits(&self) -> Limits {
        self.observer.limits()
    }
    fn cancelled(&self) -> bool {
        self.observer.cancelled() || self.observer.out_of_time() || Instant::now() >= self.until
    }
}

impl Within<'_> {
    /// What work gives; none if there was no time for it, or it cannot be done: advice that fails must not end a run. That
    /// somebody ended everything stays an error.
    fn ask<T>(&self, work: impl FnOnce(&dyn Observer) -> Result<T>) -> Result<Option<T>> {
        let result = self.go_on().and_then(|()| work(self));
        self.observer.go_on()?;
        Ok(result.ok())
    }
}

/// Advice; none where more than half of every attribute's values say something.
pub(crate) fn advice(of: &Published<'_>, effort: Effort, observer: &dyn Observer) -> Result<Option<Advice>> {
    let attributes = little_left(of);
    if attributes.is_empty() {
        return Ok(None);
    }
    // Whoever does not want to wait for advice gets what there is.
    observer.searching(true);
    observer.stage("looking for what would help", 0);
    let found = looked(of, attributes, effort, observer);
    observer.searching(false);
    found.map(Some)
}

fn looked(
    of: &Published<'_>,
    mut attributes: Vec<(usize, LittleLeft)>,
    effort: Effort,
    observer: &dyn Observer,
) -> Result<Advice> {
    let (tries, took) = match effort {
        Effort::Tries(took) => (true, took),
        Effort::Looks(took) => (false, took),
    };
    let time = if of.input.data.vertex_count() > LARGEST { Duration::ZERO } else { took.clamp(LEAST, MOST) };
    let within = Within { observer, until: Instant::now() + time };
    for (declared, attribute) in &mut attributes {
        attribute.forced = forced(of, *declared, &within)?;
    }
    let mut helps: Vec<Help> = remedies(&of.file.policy)?.into_iter().map(Help::untried).collect();
    let (mut figure, mut now) = ("", None);
    if tries && let Some(loss) = within.ask(|observer| own_loss(of, observer))? {
        let yardstick = Yardstick::new([&loss]);
        (figure, now) = (yardstick.name, yardstick.of(&loss));
        helps = all_tried(of, helps, &yardstick, &within)?;
        for (_, attribute) in &mut attributes {
            attribute.helps = all_tried(of, std::mem::take(&mut attribute.helps), &yardstick, &within)?;
        }
    }
    let attributes = attributes.into_iter().map(|(_, attribute)| attribute).collect();
    Ok(Advice { figure, now, attributes, helps })
}

/// The attributes of which more than half of the values say nothing, with what would help each of them.
fn little_left(of: &Published<'_>) -> Vec<(usize, LittleLeft)> {
    let declared = of.input.binding.declared.iter().enumerate();
    let quasi = declared.filter(|(_, d)| d.role == Role::Quasi && d.follows.is_none());
    let clustered = of.file.policy.privacy.as_ref().is_some_and(|p| p.model.shape() == Shape::VertexTree);
    let others = of.input.binding.declared.iter().filter(|d| d.role == Role::Quasi && d.follows.is_none());
    let alone = others.count() < 2;
    quasi
        .filter_map(|(i, d)| {
            let fate = of.kept.values(&d.path)?;
            // Rows that clusters prune are lost by their shape, not by this attribute.
            let left_out = fate.lost.filter(|_| !clustered).map_or(0, |Lost { left_out, .. }| left_out);
            let silent = fate.anything + left_out;
            if 2 * silent <= fate.input {
                return None;
            }
            let below = of.hierarchies.get(i)?.as_ref().map_or(0, |h| h.children(NodeId::ROOT).count());
            let mut helps = Vec::new();
            if !alone {
                helps.push(Help::untried(Remedy::Without(d.path.clone())));
            }
            // Two labels have nothing between them and `*`.
            if below > 2 {
                helps.push(Help::untried(Remedy::LevelBetween(below)));
            }
            let path = d.path.clone();
            let forced = if clustered { Forced::Alike } else { Forced::Elsewhere };
            Some((i, LittleLeft { path, values: fate.input, silent, forced, helps }))
        })
        .collect()
}

/// What would help whatever the attribute is.
fn remedies(policy: &Policy) -> Result<Vec<Remedy>> {
    let privacy = policy.need_privacy()?;
    let mut all = Vec::new();
    let sets = privacy.model.shape() == Shape::Set;
    let local = match privacy.model.shape() {
        Shape::VertexTree => false,
        Shape::Set => privacy.l.is_none() && privacy.negative.is_empty(),
        Shape::ValueTree => policy.rows() != Rows::United,
    };
    if local && !policy.recodes_locally() && privacy.m.is_some_and(|m| m <= 5) {
        all.push(Remedy::Local);
    }
    match privacy.m.filter(|_| privacy.model.counts_values()) {
        Some(m) if m > 1 => all.push(Remedy::KnownValues(m - 1)),
        Some(_) => {}
        None => all.extend(privacy.k.filter(|&k| k > 3 && !sets).map(|k| Remedy::Fewest(k / 2))),
    }
    Ok(all)
}

/// The knowledge that forces an attribute to be what it is.
fn forced(of: &Published<'_>, declared: usize, within: &Within<'_>) -> Result<Forced> {
    let policy = &of.file.policy;
    if policy.need_privacy()?.model.shape() == Shape::VertexTree {
        return Ok(Forced::Alike);
    }
    let finer = Finer {
        policy,
        claim: of.claim,
        input: of.input,
        published: of.published,
        hierarchies: of.hierarchies,
        memory: of.memory,
        show_values: of.show_values,
    };
    let step = Step { declared, node: NodeId::ROOT };
    let witness = within.ask(|observer| finer.witness(&finer.by_cut(step), of.input.binding, observer))?;
    Ok(match witness {
        None => Forced::Unknown,
        Some(None) => Forced::Elsewhere,
        Some(Some(witness)) => finer.told(declared, &witness),
    })
}

/// What is lost as it is.
fn own_loss(of: &Published<'_>, observer: &dyn Observer) -> Result<Loss> {
    let compared = Compared {
        policy: &of.file.policy,
        input: of.input,
        published: of.published,
        hierarchies: of.hierarchies,
        apart: of.apart,
        mapping: of.mapping,
        mining: false,
    };
    Loss::new(&compared, observer)
}

/// The policy with a remedy; none for one that is no matter of the policy alone.
pub(crate) fn changed(policy: &Policy, remedy: &Remedy) -> Option<Policy> {
    let mut policy = policy.clone();
    let privacy = policy.privacy.as_mut()?;
    match remedy {
        Remedy::LevelBetween(_) => return None,
        Remedy::Local => {
            policy.method.params.retain(|(key, _)| key != "recoding");
            policy.method.params.push(("recoding".to_owned(), Param::Text("local".to_owned())));
        }
        Remedy::KnownValues(m) => privacy.m = Some(*m),
        Remedy::Fewest(k) => privacy.k = Some(*k),
        Remedy::Without(path) => {
            let own = policy.attributes.iter_mut().filter(|a| a.path == *path);
            own.for_each(|attribute| attribute.role = Role::Drop);
        }
    }
    // Taking the sides apart afterwards changes neither clusters nor loss.
    if let Some(publish) = &mut policy.publish {
        publish.anatomize = false;
    }
    Some(policy)
}

/// What would be lost with each remedy; those that cannot be done help nobody.
fn all_tried(of: &Published<'_>, helps: Vec<Help>, by: &Yardstick, within: &Within<'_>) -> Result<Vec<Help>> {
    let mut all = Vec::new();
    // The last ones take the least time.
    for Help { remedy, .. } in helps.into_iter().rev() {
        if let Some(loss) = tried(of, &remedy, by, within)? {
            all.push(Help { remedy, loss });
        }
    }
    all.reverse();
    Ok(all)
}

/// What would be lost with a remedy; none if it cannot be done.
fn tried(of: &Published<'_>, remedy: &Remedy, by: &Yardstick, within: &Within<'_>) -> Result<Option<Tried>> {
    let Some(policy) = changed(&of.file.policy, remedy) else { return Ok(Some(Tried::Not)) };
    let mut binding = of.input.binding.clone();
    for (attribute, declared) in policy.attributes.iter().zip(&mut binding.declared) {
        if attribute.role == Role::Drop {
            declared.role = Role::Drop;
        }
    }
    let file = PolicyFile {
        policy,
        folder: of.file.folder.clone(),
        warnings: Vec::new(),
        frames: of.file.frames.clone(),
    };
    let input = Side { data: of.input.data, binding: &binding };
    let loss = within.ask(|observer| {
        let trial = Trial::of(&file, input, of.hierarchies, of.memory)?;
        let made = trial.make(observer)?;
        trial.loss(&trial.publish(&made)?, &file.policy, false, observer)
    });
    Ok(match loss? {
        Some(loss) => Some(by.of(&loss).map_or(Tried::Not, Tried::Loss)),
        None if within.cancelled() => Some(Tried::NotInTime),
        None => None,
    })
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;
    use bosket_model::{Builder, ClassId, Kind};
    use bosket_report::advice::Known;

    use super::*;
    use crate::Settings;
    use crate::trial::TrialData;

    /// Six women, five men and one who is neither; two towns.
    fn people(file: &PolicyFile) -> TrialData {
        let mut builder = Builder::new();
        let gender = builder.attribute(ClassId::ROOT, &["gender".to_owned()]);
        let town = builder.attribute(ClassId::ROOT, &["town".to_owned()]);
        for person in 0..12 {
            builder.begin_record();
            builder.set(gender, Kind::Text, if person == 11 { "d" } else { ["f", "m"][person % 2] });
            builder.set(town, Kind::Text, ["Ulm", "Bonn"][person / 6]);
            builder.end_record().expect("small");
        }
        TrialData::new(file, builder.finish(), "people", &Settings::default(), &Quiet).expect("it fits").value
    }

    fn advised(text: &str, effort: Effort, show_values: bool) -> Option<Advice> {
        let policy = Policy::parse("p.toml", text, &[]).expect("a good policy").0;
        let file = PolicyFile { policy, folder: Default::default(), warnings: Vec::new(), frames: None };
        let data = people(&file);
        let trial = Trial::new(&file, &data, &Settings::default()).expect("a claim");
        let tried = trial.judge(&trial.make(&Quiet).expect("reached"), &Quiet).expect("judged");
        let loss = trial.loss(&tried, &file.policy, false, &Quiet).expect("measured");
        let of = Published {
            file: &file,
            claim: trial.claim(),
            input: data.input.side(),
            hierarchies: data.hierarchies(),
            published: tried.side(),
            apart: &[],
            kept: &loss.kept,
            mapping: Some(&tried.mapping),
            memory: 1 << 28,
            show_values,
        };
        advice(&of, effort, &Quiet).expect("nobody interrupts")
    }

    const ATTRIBUTES: &str = "version = 1
[[attribute]]
path = \"gender\"
role = \"quasi\"
hierarchy = { build = \"order\", groups = [\"f\", \"m\", \"d\"] }
[[attribute]]
path = \"town\"
role = \"quasi\"
hierarchy = { build = \"order\", groups = [\"Ulm\", \"Bonn\"] }
";
    const LONG: Effort = Effort::Tries(Duration::from_secs(600));

    #[test]
    fn one_person_of_a_rare_value_forces_it_and_labels_of_their_own_help() {
        let policy =
            format!("{ATTRIBUTES}[privacy]\nmodel = \"kmn\"\nk = 2\nm = 2\nn = 0\n[method]\ncost = \"lm\"\n");
        let advice = advised(&policy, LONG, false).expect("gender is `*`");
        let now = advice.now.expect("measured");
        let [gender] = &advice.attributes[..] else { panic!("{advice:?}") };
        assert_eq!((gender.path.as_str(), gender.values, gender.silent), ("gender", 12, 12));
        let known = Known { path: "gender".to_owned(), level: None, absent: false, label: None };
        assert_eq!(gender.forced, Forced::Knowledge { known: vec![known], related: false, fewest: Some(2) });
        let loss = |help: &Help| match help.loss {
            Tried::Loss(loss) => Some(loss),
            _ => None,
        };
        assert_eq!(gender.helps[0].remedy, Remedy::Without("gender".to_owned()));
        assert_eq!(loss(&gender.helps[0]), Some(0.0));
        assert_eq!(gender.helps[1], Help::untried(Remedy::LevelBetween(3)));
        assert_eq!(advice.helps[0].remedy, Remedy::Local);
        assert!(loss(&advice.helps[0]).is_some_and(|local| local < now), "{advice:?}");
        assert_eq!(advice.helps[1].remedy, Remedy::KnownValues(1));
        assert!(!advice.lines().concat().contains("\"d\""), "{advice:?}");
    }

    #[test]
    fn labels_are_named_only_where_somebody_asked() {
        let policy =
            format!("{ATTRIBUTES}[privacy]\nmodel = \"kmn\"\nk = 2\nm = 1\nn = 0\n[method]\ncost = \"lm\"\n");
        let advice = advised(&policy, LONG, true).expect("gender is `*`");
        assert!(advice.lines()[0].contains("gender \"d\" as it was would fit fewer than 2"), "{advice:?}");
        assert!(!advice.without_labels().lines()[0].contains("\"d\""), "{advice:?}");
    }

    #[test]
    fn where_enough_is_left_nothing_is_said() {
        let local = "[privacy]\nmodel = \"kmn\"\nk = 2\nm = 1\nn = 0\n[method]\ncost = \"lm\"\nrecoding = \"local\"\n";
        assert_eq!(advised(&format!("{ATTRIBUTES}{local}"), LONG, false), None);
    }

    #[test]
    fn without_time_or_trying_remedies_are_named_all_the_same() {
        let policy =
            format!("{ATTRIBUTES}[privacy]\nmodel = \"kmn\"\nk = 2\nm = 1\nn = 0\n[method]\ncost = \"lm\"\n");
        let advice = advised(&policy, Effort::Looks(Duration::ZERO), false).expect("gender is `*`");
        assert_eq!(advice.helps, [Help::untried(Remedy::Local)]);
        assert_eq!(advice.now, None);
    }

    #[test]
    fn clusters_whose_records_differ_are_told_apart_from_knowledge() {
        let policy = format!("{ATTRIBUTES}[privacy]\nmodel = \"k-anonymity\"\nk = 12\n");
        let advice = advised(&policy, LONG, false).expect("everybody looks alike");
        assert_eq!(advice.attributes.len(), 2);
        assert_eq!(advice.attributes[0].forced, Forced::Alike);
        assert_eq!((advice.figure, advice.now), ("LM", Some(1.0)));
        assert_eq!(advice.helps[0].remedy, Remedy::Fewest(6));
        assert!(matches!(advice.helps[0].loss, Tried::Loss(loss) if loss < 1.0), "{advice:?}");
    }
}
