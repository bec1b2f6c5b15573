//! Reading of policies and data, with progress and warnings.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bosket_io::{Input, Layout, Loaded, PolicyFile};
use bosket_model::Failure;
use bosket_model::policy::Source;

use crate::args::{Reading, Sets};
use crate::output::{count, plural};
use crate::talk::Talk;

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
    let input = Input::open(path)?;
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
    Layout { record: reading.record.clone(), separator: reading.separator.clone() }
}

/// Reads a dataset in the form that a policy says its data has.
pub fn data_of_policy(path: &Path, source: Option<&Source>, talk: &Talk) -> Result<Loaded, Failure> {
    let layout = source.map_or_else(Layout::default, |s| Layout {
        record: s.record.clone(),
        separator: s.separator.clone(),
    });
    data(path, source.map(|s| s.format.name()), &layout, talk)
}
