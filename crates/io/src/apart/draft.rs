//! A publication that is written and not yet in its place.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bosket_model::observe::Quiet;
use bosket_model::{Failure, Result};

use super::scratch::Scratch;
use super::tables::SENSITIVE;
use crate::atomic::Create;
use crate::fingerprint::Certify;
use crate::folder::PublishedFolder;
use crate::input::{BOM, Input};
use crate::output::{Output, finish_certified};
use crate::publication::name_of;
use crate::tables::Writing;

/// How much is compared at once.
const BUFFER: usize = 1 << 17;

/// How much was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Groups.
    pub groups: u64,
    /// People on the quasi side.
    pub people: u64,
    /// Values on the sensitive side.
    pub values: u64,
    /// In the order in which they are published, the numbers that groups had before; empty if nobody asked.
    pub(crate) numbers: Vec<u32>,
}

impl Written {
    /// Per group as it was numbered before, its number in the publication, from 1.
    pub fn ids(&self) -> Vec<u32> {
        let mut ids = vec![0; self.numbers.len()];
        for (at, &number) in self.numbers.iter().enumerate() {
            ids[number as usize] = at as u32 + 1;
        }
        ids
    }
}

/// Files that nobody sees yet. Dropping them leaves no trace.
#[derive(Debug, Default)]
pub struct Drafts {
    pub(crate) files: Vec<(PathBuf, Draft)>,
    /// Linked tables, which know their places themselves.
    pub(crate) tables: Option<Box<Writing>>,
    /// The names of the tables of sensitive values that were written into a database with them.
    pub(crate) beside: Vec<String>,
    /// Whether they were written from batches, and have to be read in batches.
    pub(crate) batched: bool,
    /// How much was written.
    pub written: Written,
}

impl Drafts {
    /// The names of all tables of sensitive values, expected or not.
    pub(super) fn sensitive_tables(&self) -> Vec<String> {
        let files = self.files.iter().filter_map(|(path, _)| path.file_stem()?.to_str().map(str::to_owned));
        files.filter(|name| name.starts_with(SENSITIVE)).chain(self.beside.iter().cloned()).collect()
    }

    /// Puts the files in their places, together with others.
    pub fn finish(self, create: Create, others: Vec<Output>) -> Result<()> {
        self.finish_certified(create, others, None)
    }

    /// The same, together with the certificate that is made of their fingerprints.
    pub fn finish_certified(
        self,
        create: Create,
        mut others: Vec<Output>,
        certify: Certify<'_>,
    ) -> Result<()> {
        // Linked tables have begun the folder themselves.
        let folder = match self.files.first().and_then(|(path, _)| path.parent()) {
            Some(folder) if self.files.len() > 1 && self.tables.is_none() => {
                Some(PublishedFolder::begin(folder, &create)?)
            }
            _ => None,
        };
        let mut outputs = Vec::new();
        for (path, draft) in &self.files {
            let name = name_of(path);
            let mut output = Output::create_hidden(path, create.clone())?;
            draft.copy_to(&mut output)?;
            let mut output = output.completed()?.completed_as(&certify, &name, &Quiet)?;
            draft.compare(&mut output.hidden()?.open(&name)?)?;
            outputs.push(output);
        }
        outputs.append(&mut others);
        match self.tables {
            Some(tables) => tables.finish_certified(outputs, certify, &Quiet),
            None => finish_certified(outputs, certify),
        }?;
        if let Some(folder) = folder {
            folder.keep();
        }
        Ok(())
    }
}

/// Opens the file that is going to have a name.
pub(super) fn open_named(files: &[(PathBuf, Draft)], name: &str) -> Result<Input> {
    let found = files.iter().find(|(path, _)| path.file_name().is_some_and(|n| n == name));
    found.map_or_else(|| Input::open(Path::new(name)), |(_, draft)| draft.open())
}

/// A text in a private file.
#[derive(Clone, Debug)]
pub(crate) struct Draft(Arc<Mutex<Scratch>>);

impl Draft {
    pub(crate) fn create() -> Result<Self> {
        Ok(Draft(Arc::new(Mutex::new(Scratch::create()?))))
    }

    fn with<T>(&self, run: impl FnOnce(&mut Scratch) -> Result<T>) -> Result<T> {
        run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn copy_to(&self, out: &mut dyn Write) -> Result<()> {
        self.with(|scratch| scratch.copy_to(out))
    }

    /// Refuses finished bytes, compressed or not, that do not read as what was verified.
    fn compare(&self, finished: &mut Input) -> Result<()> {
        let (mut was, mut is) = (vec![0; BUFFER], Vec::with_capacity(BUFFER));
        // A byte order mark is not part of what an input reads.
        let mut at = if finished.is_marked() { BOM.len() as u64 } else { 0 };
        loop {
            let read = self.with(|scratch| scratch.read_at(at, &mut was))?;
            is.resize(read.max(1), 0);
            let mut filled = 0;
            while filled < is.len() {
                match finished.read_some(&mut is[filled..]).map_err(|e| finished.failure(&e, None))? {
                    0 => break,
                    some => filled += some,
                }
            }
            if is[..filled] != was[..read] {
                return Err(Failure::defect("what was written is not what was verified"));
            }
            if read == 0 {
                return Ok(());
            }
            at += read as u64;
        }
    }

    /// Reads it as a stranger would.
    pub(crate) fn open(&self) -> Result<Input> {
        let file = self.with(|scratch| scratch.flush().map(|()| scratch.file()))?;
        Ok(Input::new("the publication", Reading { draft: self.clone(), at: 0 }, None)?.with_file(file))
    }
}

fn carried(failure: Failure) -> io::Error {
    io::Error::other(failure)
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|scratch| scratch.write(bytes)).map_err(carried)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Reading {
    draft: Draft,
    at: u64,
}

impl Read for Reading {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let at = self.at;
        let read = self.draft.with(|scratch| scratch.read_at(at, into)).map_err(carried)?;
        self.at += read as u64;
        Ok(read)
    }
}
