//! Reading of policies and data, with progress and warnings.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bosket_io::{Input, Layout, Loaded, Opened, PolicyFile, Whereabouts};
use bosket_model::{Diagnostic, Failure, Fault};

use crate::args::{Reading, Sets};
use crate::output::{count, plural};
use crate::talk::Talk;

/// Standard input can be read only once.
pub fn one_stdin<'a>(named: impl IntoIterator<Item = Option<&'a PathBuf>>) -> Result<(), Failure> {
    if named.into_iter().flatten().filter(|p| p.as_path() == Path::new("-")).count() > 1 {
        let what = Diagnostic::error("`-` is given more than once, but standard input can be read only once");
        return Err(Failure::new(Fault::Usage, what.help("name files for all but one of them")));
    }
    Ok(())
}

/// Reads a policy and passes its warnings on.
pub fn policy(path: &Path, sets: &Sets, talk: &Talk) -> Result<PolicyFile, Failure> {
    let file = PolicyFile::load(path, &sets.sets)?;
    talk.diagnostics(&file.warnings);
    talk.decided(&format!(
        "policy {} declares {}",
        path.display(),
        plural(file.policy.attributes.len(), "attribute")
    ));
    Ok(file)
}

/// Reads a dataset.
pub fn data(path: &Path, format: Option<&str>, layout: &Layout, talk: &Talk) -> Result<Loaded, Failure> {
    let input = Input::open_records(path)?;
    let progress = input.progress();
    talk.reading(&path.display().to_string(), progress.total());
    let done = AtomicBool::new(false);
    let loaded = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                talk.position(progress.read());
                std::thread::park_timeout(Duration::from_millis(100));
            }
        });
        let loaded = bosket_io::read(input, format, layout);
        done.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        loaded
    });
    talk.quiet();
    let loaded = loaded?;
    talk.diagnostics(&loaded.warnings);
    talk.decided(&format!(
        "read {} as {}: {}, {} vertices, {}",
        path.display(),
        loaded.format.name(),
        plural(loaded.data.len(), "record"),
        count(loaded.data.vertex_count()),
        plural(loaded.data.schema().attributes().len(), "attribute"),
    ));
    Ok(loaded)
}

/// How the command line says that a dataset is to be read.
pub fn layout(reading: &Reading) -> Layout {
    Layout { record: reading.record.clone(), separator: reading.separator.clone(), ..Layout::default() }
}

/// Reads a dataset that a policy describes, be it a document or linked tables.
pub fn records(place: Whereabouts, talk: &Talk) -> Result<Opened, Failure> {
    if let Whereabouts::Document { path, format, layout } = &place {
        return data(path, *format, layout, talk).map(Opened::from);
    }
    let name = place.name();
    let opened = place.open(talk);
    talk.quiet();
    let opened = opened?;
    talk.decided(&format!(
        "read {name} as {}: {}, {} vertices, {}",
        opened.form.name(),
        plural(opened.data.len(), "record"),
        count(opened.data.vertex_count()),
        plural(opened.data.schema().attributes().len(), "attribute"),
    ));
    Ok(opened)
}
