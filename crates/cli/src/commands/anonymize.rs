//! `bosket anonymize`: read, anonymize, write, read again, verify, and only then publish.

use std::path::{Path, PathBuf};

use bosket_engine::ALGORITHMS;
use bosket_io::hierarchies::{self, HierarchyNeeds};
use bosket_io::{Create, Opened, PolicyFile, Publication, Whereabouts, publication};
use bosket_measure::loss::{Compared, Loss, Side};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::policy::{Model, Policy, Role};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, MISSING, Place};
use bosket_verify::Claim;
use serde_json::json;

use crate::Outcome;
use crate::args::Anonymize;
use crate::commands::certificate::{Begun, Certified};
use crate::commands::made::{Made, Product, Work, make};
use crate::commands::measure;
use crate::commands::pairs;
use crate::commands::places;
use crate::commands::private::Private;
use crate::commands::report as html;
use crate::commands::{anatomize, dissect};
use crate::load;
use crate::output::{count, plural, print, print_json};
use crate::talk::Talk;

/// Everything a run needs, checked.
pub(super) struct Prepared {
    pub(super) file: PolicyFile,
    pub(super) input: Opened,
    source: String,
    /// The files that hold the input.
    pub(super) paths: Vec<PathBuf>,
    pub(super) binding: Binding,
    pub(super) hierarchies: Vec<Option<Hierarchy>>,
    pub(super) target: PathBuf,
}

pub fn run(args: &Anonymize, talk: &Talk) -> Result<Outcome, Failure> {
    let file = load::policy(&args.policy, &args.sets, talk)?;
    if dissect::is_asked(&file)? && !args.dry_run {
        return dissect::run(args, &file, talk);
    }
    if file.policy.anatomizes() {
        anatomize::check(&file)?;
    }
    let prepared = prepare(args, file, talk)?;
    if args.dry_run {
        return dry_run(args, &prepared);
    }
    let policy = &prepared.file.policy;
    let privacy = policy.need_privacy()?;
    // Nothing is made that could not be verified afterwards.
    let claim = Claim::new(policy)?;
    if let Claim::Anatomized(asked) = &claim {
        return anatomize::run(args, &prepared, (&claim, asked), talk);
    }
    let create = Create { force: args.force, private: false, pending: crate::signals::pending() };
    let mut publication = Publication::begin(&prepared.file, &prepared.input.form, create.clone())?;
    let certificate = Begun::new(&prepared.file, &args.policy, &prepared.target, create, talk)?;
    let private = Private::create(&prepared.file, args.force, prepared.paths.clone())?;

    let binding = prepared.binding.without_companions();
    let work = Work {
        policy,
        claim: &claim,
        data: &prepared.input.data,
        binding: &prepared.binding,
        published: &binding,
        hierarchies: &prepared.hierarchies,
        memory: args.memory,
    };
    let made = make(&work, talk)?;
    talk.quiet();
    match &made.product {
        Product::Trees(made) => publication.write(&made.write_back(&prepared.binding), talk)?,
        Product::Vertices { data, .. } => publication.write(data, talk)?,
    }

    let again = publication.read_again(talk)?;
    let binding = Binding::new(again.schema(), &policy.attributes, policy.undeclared, "the publication")?;
    let witness = bosket_verify::verify(&again, &binding, &claim, &prepared.hierarchies, args.memory, talk)?;
    if let Some(witness) = witness {
        // A defect of the algorithm, caught before anything is published.
        let what = format!(
            "the result does not keep the promise: knowledge of {} values matches {} records",
            witness.values.len(),
            witness.support
        );
        return Err(Failure::new(
            Fault::Unreachable,
            Diagnostic::error(what).help("nothing was published; please report this"),
        ));
    }
    talk.quiet();
    let pairs = match &made.product {
        Product::Trees(made) => {
            let again = ValueTrees::new(&again, &binding, privacy.root, privacy.payload);
            pairs::trees(made, &again)
        }
        Product::Vertices { data, binding: own, records } => {
            pairs::vertices((data, own), records, (&again, &binding))
        }
    };
    let pairs = pairs.ok_or_else(|| {
        let what = "the result cannot be written so that reading it gives the same records; two paths of the policy share a key";
        let help = "nothing was published; rename one of the keys in the data";
        Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help))
    })?;
    let loss = if args.measure {
        let mapping: Vec<(u32, u32)> = pairs.iter().map(|&(from, to)| (from as u32, to as u32)).collect();
        let compared = Compared {
            policy,
            input: Side { data: &prepared.input.data, binding: &prepared.binding },
            published: Side { data: &again, binding: &binding },
            hierarchies: &prepared.hierarchies,
            mapping: Some(&mapping),
            mining: true,
        };
        Some(Loss::new(&compared, talk)?)
    } else {
        None
    };
    talk.quiet();
    let mut others = Vec::new();
    if let Some(private) = private {
        others.extend(private.write(&pairs::csv(&pairs), made.private.clone())?);
    }
    let certified = Certified {
        claim: Some(&claim),
        caveats: claim.caveats(&binding),
        records: again.len() as u64,
        figures: made.figures.clone(),
        measured: loss.as_ref().map(Loss::to_json),
    };
    let place = certificate.place();
    publication.finish_certified(others, certificate.certify(&prepared.file, certified), talk)?;
    report(args, &prepared, &claim, &made, loss.as_ref(), (again.len(), place), talk)?;
    html::with_publication(args, &prepared.file, talk)?;
    Ok(Outcome::Done)
}

fn prepare(args: &Anonymize, file: PolicyFile, talk: &Talk) -> Result<Prepared, Failure> {
    let policy = &file.policy;
    let privacy = policy.need_privacy()?;
    let source = Whereabouts::input(&file)?;
    policy.need_publish()?;
    let target = publication::target(&file)?;
    let paths = source.paths();
    places::check(&file, &args.policy, paths.clone(), &target)?;
    html::check_place(args, &file, &target)?;
    let name = source.name();
    let input = load::records(source, talk)?;
    let binding = Binding::of_input(input.data.schema(), &policy.attributes, policy.undeclared, &name)?;
    let absent: Vec<Diagnostic> = (binding.absent())
        .map(|d| {
            Diagnostic::warning(format!("the data has no attribute `{}`", binding.declared[d].path))
                .at(policy.attributes[d].place.clone())
        })
        .collect();
    talk.diagnostics(&absent);
    // Dissection separates values and never generalizes them.
    let required = !matches!(privacy.model, Model::Anatomy | Model::Delta | Model::None);
    let ask = HierarchyNeeds { required, show_values: args.show_values };
    let (hierarchies, warnings) = hierarchies::load(&file, &input.data, &binding, &name, ask)?;
    talk.diagnostics(&warnings);
    let fewest = privacy.k.or(privacy.group_size).unwrap_or(0) as usize;
    if fewest > input.data.len() {
        let what = format!("k = {fewest} exceeds the {} of the data", plural(input.data.len(), "record"));
        let diagnostic = Diagnostic::error(what).at(Place::source(name)).help("ask for a smaller k");
        return Err(Failure::new(Fault::Unreachable, diagnostic));
    }
    let alike =
        if privacy.model == Model::LDiversity { privacy.l.map_or(0.0, f64::ceil) as usize } else { 0 };
    refuse_revealing(policy, &input.data, &binding, fewest.max(alike))?;
    Ok(Prepared { file, input, source: name, paths, binding, hierarchies, target })
}

/// An attribute published as it is must not give people away: at most 5 % of it may be values that fewer than k have.
fn refuse_revealing(policy: &Policy, data: &Dataset, binding: &Binding, k: usize) -> Result<(), Failure> {
    let mut problems = Vec::new();
    for (id, attribute) in data.schema().attributes() {
        let Some(declared) = binding.attributes[id.index()] else {
            continue;
        };
        let said = &policy.attributes[declared];
        if binding.declared[declared].role != Role::Insensitive || said.acknowledge {
            continue;
        }
        let mut records = vec![(0usize, None); data.dictionary(id).len()];
        let mut values = Vec::new();
        for record in 0..data.len() {
            for v in data.vertices(record).filter(|&v| data.class(v) == attribute.class) {
                let code = data.value(v, id);
                if code != MISSING {
                    values.push(code);
                    let (count, last) = &mut records[code as usize];
                    *count += usize::from(last.replace(record) != Some(record));
                }
            }
        }
        let rare = values.iter().filter(|&&c| records[c as usize].0 < k).count();
        if rare * 20 > values.len() {
            let what = format!(
                "`{}` is called insensitive, but {} of its {} values are ones that fewer than {k} people have",
                said.path,
                count(rare),
                count(values.len())
            );
            problems.push(
                Diagnostic::error(what).at(said.place.clone()).help(
                    "make it quasi or identifying, or say `acknowledge = true` if it gives nobody away",
                ),
            );
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Policy, problems)) }
}

/// Tells what was published.
pub(super) fn report(
    args: &Anonymize,
    prepared: &Prepared,
    claim: &Claim,
    made: &Made,
    loss: Option<&Loss>,
    (records, certificate): (usize, Option<String>),
    talk: &Talk,
) -> Result<Outcome, Failure> {
    let target = prepared.target.display();
    // Per quasi attribute its path, its values in the input and in the publication.
    let declared = prepared.binding.declared.iter().enumerate().filter(|(_, d)| d.role == Role::Quasi);
    let attributes: Vec<(&str, usize, usize)> = declared
        .map(|(i, d)| {
            let own = prepared.input.data.schema().attributes();
            let own = own.filter(|(id, _)| prepared.binding.attributes[id.index()] == Some(i));
            let originals = own.map(|(id, _)| prepared.input.data.dictionary(id).len()).sum();
            (d.path.as_str(), originals, made.product.values(i))
        })
        .filter(|(_, originals, _)| *originals > 0)
        .collect();
    if args.json && prepared.target != Path::new("-") {
        let mut all = json!({
            "published": target.to_string(),
            "records": records,
            "claim": claim.to_json(),
            "verified": true,
            "certificate": certificate,
        });
        let attribute =
            |a: &(&str, usize, usize)| json!({"path": a.0, "values": a.1, "published_values": a.2});
        for (key, value) in made.figures.as_object().into_iter().flatten() {
            all[key] = value.clone();
        }
        all["attributes"] = attributes.iter().map(attribute).collect();
        if let Some(loss) = loss {
            all["loss"] = loss.to_json();
        }
        print_json(&all)?;
        return Ok(Outcome::Done);
    }
    let mut out = format!("published {} to {target}\n", plural(records, "record"));
    out.push_str(&format!("verified: {}\n", claim.sentence()));
    let paths = attributes.iter().map(|(path, ..)| *path);
    let width = paths.chain(["attribute"]).map(|path| path.chars().count()).max().unwrap_or(0);
    out.push_str(&format!("\n{:width$}  values in  values out\n", "attribute"));
    for (path, originals, published) in attributes {
        let published = match published {
            0 => "not published".to_owned(),
            n => count(n),
        };
        out.push_str(&format!("{path:width$}  {:>9}  {published:>10}\n", count(originals)));
    }
    out.push_str(&format!("\n{}\n", made.told));
    if let Some(loss) = loss {
        out.push_str(&format!("\n{}", measure::figures(loss)));
    }
    out.push_str(&certificate.map_or(String::new(), |place| format!("certificate: {place}\n")));
    if prepared.target == Path::new("-") {
        // Standard output holds the publication.
        talk.line(out.trim_end());
    } else {
        print(&out)?;
    }
    Ok(Outcome::Done)
}

fn dry_run(args: &Anonymize, prepared: &Prepared) -> Result<Outcome, Failure> {
    let policy = &prepared.file.policy;
    let privacy = policy.need_privacy()?;
    let exists = prepared.target.exists();
    let algorithm = policy.method.algorithm.as_deref();
    let number = |role: Role| prepared.binding.declared.iter().filter(|d| d.role == role).count();
    let given: Vec<&Hierarchy> = prepared.hierarchies.iter().flatten().collect();
    let registered: Vec<&str> = ALGORITHMS.iter().filter(|a| a.0 == privacy.model).map(|a| a.1).collect();
    if args.json {
        let roles = Role::ALL.iter().map(|r| (r.name().to_owned(), json!(number(*r))));
        print_json(&json!({
            "dry_run": true,
            "records": prepared.input.data.len(),
            "attributes": roles.collect::<serde_json::Map<_, _>>(),
            "hierarchies": given.len(),
            "model": privacy.model.name(),
            "algorithm": algorithm,
            "algorithms_registered": registered,
            "publish": prepared.target.display().to_string(),
            "exists": exists,
        }))?;
        return Ok(Outcome::Done);
    }
    let roles: Vec<String> =
        Role::ALL.iter().filter(|r| number(**r) > 0).map(|r| format!("{} {r}", number(*r))).collect();
    let replaced = if exists { ", which exists and would need --force" } else { "" };
    let with = algorithm.map_or(String::new(), |a| format!(" with `{a}`"));
    let mut out = format!(
        "policy and data fit together:\n  {} in {}\n  attributes: {}\n  hierarchies: {} with {} leaves, covering all values\n",
        plural(prepared.input.data.len(), "record"),
        prepared.source,
        roles.join(", "),
        given.len(),
        count(given.iter().map(|h| h.leaf_count()).sum()),
    );
    out.push_str(&format!(
        "a run would reach for {}{with} and write {}{replaced}\n",
        privacy.model,
        prepared.target.display()
    ));
    out.push_str(&format!("algorithms for {}: {}\n", privacy.model, registered.join(", ")));
    print(&out)?;
    Ok(Outcome::Done)
}
