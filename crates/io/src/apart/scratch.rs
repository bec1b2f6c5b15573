//! Files for data that does not stay in memory: readable by their owner only, gone when they are closed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use bosket_model::{Failure, Result};

use crate::fault;

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// How much is written at once.
const BUFFER: usize = 1 << 18;

/// A private file, written from its start to its end and then read anywhere.
#[derive(Debug)]
pub(crate) struct Scratch {
    file: File,
    path: PathBuf,
    /// Its name is gone already.
    unnamed: bool,
    buffer: Vec<u8>,
    /// How much was written to the file.
    length: u64,
}

impl Scratch {
    pub(crate) fn create() -> Result<Self> {
        let folder = std::env::temp_dir();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        loop {
            let count = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!(".bosket-{}-{count}.tmp", std::process::id()));
            match options.open(&path) {
                Ok(file) => {
                    // An open file needs no name: nothing is left behind, however the process ends.
                    let unnamed = cfg!(unix) && fs::remove_file(&path).is_ok();
                    return Ok(Scratch {
                        file,
                        path,
                        unnamed,
                        buffer: Vec::with_capacity(BUFFER),
                        length: 0,
                    });
                }
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(fault::writing(&path.to_string_lossy(), &e)),
            }
        }
    }

    fn failure(&self, error: &io::Error) -> Failure {
        fault::writing(&self.path.to_string_lossy(), error)
    }

    /// How much was written.
    pub(crate) fn len(&self) -> u64 {
        self.length + self.buffer.len() as u64
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        if bytes.len() >= BUFFER {
            self.file.write_all(bytes).map_err(|e| self.failure(&e))?;
            self.length += bytes.len() as u64;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Completes what was written; before anything is read.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.file.write_all(&self.buffer).map_err(|e| self.failure(&e))?;
        self.length += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// The file itself, for those who look for their place before they read.
    pub(crate) fn file(&self) -> Option<File> {
        self.file.try_clone().ok()
    }

    /// Reads what stands at a place, as much as fits or is there.
    pub(crate) fn read_at(&mut self, at: u64, into: &mut [u8]) -> Result<usize> {
        let mut read = |file: &mut File| -> io::Result<usize> {
            file.seek(SeekFrom::Start(at))?;
            let mut done = 0;
            while done < into.len() {
                match file.read(&mut into[done..]) {
                    Ok(0) => break,
                    Ok(n) => done += n,
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) => return Err(e),
                }
            }
            Ok(done)
        };
        read(&mut self.file).map_err(|e| self.failure(&e))
    }

    /// Copies everything to where it belongs.
    pub(crate) fn copy_to(&mut self, out: &mut dyn Write) -> Result<()> {
        self.flush()?;
        let mut buffer = vec![0; BUFFER];
        let mut at = 0;
        while at < self.length {
            let read = self.read_at(at, &mut buffer)?;
            out.write_all(&buffer[..read]).map_err(fault::from_write)?;
            at += read as u64;
        }
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.unnamed {
            let _ = fs::remove_file(&self.path);
        }
    }
}
