//! What a job may touch, looked at twice: when it is asked for, and again when its turn comes. Policies are copied, for what
//! runs must be what was looked at, whatever the file says by then.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use axum::http::StatusCode;
use bosket_model::policy::Policy;
use serde_json::Value;

use crate::Server;
use crate::error::{ApiError, Result};
use crate::folder::Folder;
use crate::places::Places;
use crate::policy::{is_policy_name, stays_inside, version};
use crate::runs::Stamp;

/// The copy of a policy in a job's folder.
const COPY: &str = "policy.toml";
/// The option that names it, which is no part of the command as somebody would type it.
pub(crate) const COPY_OPTION: &str = "--policy-copy=";

/// Where a name led when it was looked at.
#[derive(Clone, Debug)]
pub(crate) struct Lead {
    /// The folder that it is seen from.
    pub(crate) from: PathBuf,
    pub(crate) told: String,
    pub(crate) real: PathBuf,
}

/// What was let in.
#[derive(Debug, Default)]
pub(crate) struct Admission {
    leads: Vec<Lead>,
    /// Files that say where others are, with what tells their texts apart.
    texts: Vec<(PathBuf, String)>,
    /// Where nothing was, of names that a certificate has from elsewhere.
    empty: Vec<PathBuf>,
    /// The policy that it is about: what tells its text apart.
    about: Option<String>,
}

impl Admission {
    /// What tells the text of the policy apart that it is about.
    pub(crate) fn about(&self) -> Option<String> {
        self.about.clone()
    }

    /// Refuses if anything leads elsewhere by now.
    pub(crate) fn still(&self, folder: &Folder) -> Result<()> {
        let changed = |what: &str| {
            let what = format!("`{what}` leads elsewhere than when this was asked for: ask again");
            ApiError::new(StatusCode::CONFLICT, what)
        };
        for Lead { from, told, real } in &self.leads {
            if folder.place_from(from, told)? != *real {
                return Err(changed(told));
            }
            folder.admit_inside(real)?;
        }
        if let Some(place) = self.empty.iter().find(|place| place.exists()) {
            return Err(changed(&folder.name(place)));
        }
        for (file, was) in &self.texts {
            if folder.read_text(file).map(|text| version(&text)).ok().as_ref() != Some(was) {
                return Err(changed(&folder.name(file)));
            }
        }
        Ok(())
    }
}

/// A policy that was looked at.
pub(crate) struct Admitted {
    /// As commands name it.
    pub(crate) name: String,
    pub(crate) real: PathBuf,
    /// Its places; none if it cannot be read.
    pub(crate) places: Option<Places>,
    /// Whether it publishes two sides.
    pub(crate) has_two_sides: bool,
    /// What it and all that it reads were like.
    pub(crate) stamp: Option<Stamp>,
    copy: PathBuf,
}

impl Admitted {
    /// What tells a command to read the copy.
    pub(crate) fn option(&self) -> String {
        format!("{COPY_OPTION}{}", self.copy.display())
    }
}

/// Lets in what a job is to touch.
pub(crate) struct Gate<'s> {
    server: &'s Server,
    id: u64,
    let_in: RefCell<Admission>,
}

impl<'s> Gate<'s> {
    /// For the job of a number.
    pub(crate) fn new(server: &'s Server, id: u64) -> Self {
        Gate { server, id, let_in: RefCell::default() }
    }

    pub(crate) fn admission(self) -> Admission {
        self.let_in.into_inner()
    }

    fn take(&self, real: &Path) -> Result<String> {
        let folder = &self.server.folder;
        folder.admit_inside(real)?;
        let told = folder.name(real);
        let lead = Lead { from: folder.root().to_owned(), told: told.clone(), real: real.to_owned() };
        self.let_in.borrow_mut().leads.push(lead);
        Ok(told)
    }

    /// Something that is there, as commands name it.
    pub(crate) fn there(&self, path: &str) -> Result<String> {
        self.take(&self.server.folder.find(path)?)
    }

    /// Where something really is that is there.
    pub(crate) fn real(&self, path: &str) -> Result<PathBuf> {
        self.server.folder.find(path)
    }

    /// Something that may not be there yet. What is written here is no policy, for policies may name databases.
    pub(crate) fn place(&self, path: &str) -> Result<String> {
        let folder = &self.server.folder;
        let real = folder.place_from(folder.root(), path)?;
        if is_policy_name(&real) || is_policy_name(Path::new(path)) {
            let what = "only a policy may have a name that ends in `.toml`, for it may name databases";
            return Err(ApiError::new(StatusCode::FORBIDDEN, what));
        }
        self.take(&real)
    }

    /// A policy that is to be drafted.
    pub(crate) fn draft(&self, path: &str) -> Result<String> {
        let folder = &self.server.folder;
        match is_policy_name(Path::new(path)) {
            true => self.take(&folder.place_from(folder.root(), path)?),
            false => Err(ApiError::bad("let the name of a policy end in `.toml`")),
        }
    }

    /// A policy, read once: what is looked at is what is copied.
    pub(crate) fn policy(&self, path: &str) -> Result<Admitted> {
        let folder = &self.server.folder;
        let real = folder.find_policy(path)?;
        // What is read may be newer than this, never older.
        let before = Stamp::of([real.as_path()]);
        let text = folder.read_text(&real)?;
        let leads = stays_inside(folder, &real, &text)?;
        let name = self.take(&real)?;
        let parsed = Policy::parse(&name, &text, &[]).ok().map(|(policy, _)| policy);
        let places = parsed.as_ref().map(|policy| Places::new(folder, &real, &text, policy));
        let copy = self.server.jobs.make_folder(self.id)?.join(COPY);
        std::fs::write(&copy, &text)?;
        let mut let_in = self.let_in.borrow_mut();
        let_in.leads.extend(leads);
        let_in.about = Some(version(&text));
        let stamp = places.as_ref().map(Places::read_now).filter(|stamp| stamp.has(&before));
        let has_two_sides = parsed.is_some_and(|policy| policy.has_two_sides());
        Ok(Admitted { name, real, places, has_two_sides, stamp, copy })
    }

    /// A certificate: it names files, too.
    pub(crate) fn certificate(&self, path: &str, publication: Option<&Path>) -> Result<(String, PathBuf)> {
        let folder = &self.server.folder;
        let real = folder.find(path)?;
        let text = folder.read_text(&real)?;
        let own = real.parent().unwrap_or(folder.root());
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        let of = |list: &str, name: &str| -> Vec<String> {
            let all = value.pointer(list).and_then(Value::as_array).cloned().unwrap_or_default();
            all.iter().filter_map(|one| one.get(name)?.as_str().map(str::to_owned)).collect()
        };
        let mut seen_from = vec![own];
        seen_from.extend(publication);
        seen_from.extend(publication.and_then(Path::parent));
        for told in of("/publication/files", "name").into_iter().chain(of("/hierarchies", "path")) {
            for &from in &seen_from {
                // It may have been made on another machine, where its names led somewhere.
                let place = from.join(&told);
                if !place.exists() {
                    self.let_in.borrow_mut().empty.push(place);
                    continue;
                }
                let real = folder.place_from(from, &told)?;
                folder.admit_inside(&real)?;
                let lead = Lead { from: from.to_owned(), told: told.clone(), real };
                self.let_in.borrow_mut().leads.push(lead);
            }
        }
        self.let_in.borrow_mut().texts.push((real.clone(), version(&text)));
        Ok((self.take(&real)?, real))
    }
}
