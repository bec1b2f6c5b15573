//! Whence a passphrase comes: from the terminal, unseen, or from a file descriptor. Never from arguments or the environment,
//! which other programs of the machine can read.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Write, stdin};

use bosket_app::sign::Passphrase;
use bosket_model::{Diagnostic, Failure, Fault, Result};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

use crate::args::PassphraseFrom;

/// Bytes of a line that a passphrase is read from.
const LINE: u64 = 4096;

/// What Ctrl-C types.
const CTRL_C: u8 = 3;

impl PassphraseFrom {
    /// Reads it, twice from a terminal where a slip would be found out too late.
    pub fn read(&self, twice: bool) -> Result<Passphrase> {
        let text = match self.descriptor {
            Some(0) => line(stdin().lock())?,
            Some(n) => {
                let file = File::open(format!("/dev/fd/{n}"));
                let file = file.map_err(|e| refuse(&format!("file descriptor {n} cannot be read: {e}")))?;
                line(BufReader::new(file))?
            }
            None => {
                let first = asked("Passphrase of the key: ")?;
                if twice && asked("Once more: ")? != first {
                    return Err(refuse("these are two different passphrases"));
                }
                first
            }
        };
        Passphrase::new(text)
    }
}

fn line(reader: impl BufRead) -> Result<String> {
    let mut line = Vec::new();
    let read = reader.take(LINE).read_until(b'\n', &mut line);
    read.map_err(|e| refuse(&format!("the passphrase cannot be read: {e}")))?;
    if line.contains(&CTRL_C) {
        return Err(Failure::interrupted());
    }
    let text = String::from_utf8(line).map_err(|_| refuse("the passphrase is not UTF-8"))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// A terminal that shows nothing of what is typed until this is gone.
struct Unseen<'t> {
    terminal: &'t File,
    before: Termios,
}

impl<'t> Unseen<'t> {
    fn new(terminal: &'t File) -> std::io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut now = before.clone();
        // A signal would end the process before the terminal is as it was: Ctrl-C ends the line instead.
        now.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
        now.special_codes[SpecialCodeIndex::VEOL] = CTRL_C;
        tcsetattr(terminal, OptionalActions::Flush, &now)?;
        Ok(Unseen { terminal, before })
    }
}

impl Drop for Unseen<'_> {
    fn drop(&mut self) {
        // Nothing could be done about it, and the terminal may be gone.
        let _ = tcsetattr(self.terminal, OptionalActions::Flush, &self.before);
        let mut terminal = self.terminal;
        let _ = terminal.write_all(b"\n");
    }
}

fn asked(what: &str) -> Result<String> {
    let no_terminal = |e: std::io::Error| refuse(&format!("there is no terminal to ask on: {e}"));
    let terminal = File::options().read(true).write(true).open("/dev/tty").map_err(no_terminal)?;
    // Whoever sees the question can answer it unseen.
    let _unseen = Unseen::new(&terminal).map_err(no_terminal)?;
    (&terminal).write_all(what.as_bytes()).map_err(no_terminal)?;
    // Of a line that ends with Ctrl-C no more will come.
    let mut typed = Vec::new();
    let mut bytes = [0; LINE as usize];
    while !typed.ends_with(b"\n") && !typed.contains(&CTRL_C) && (typed.len() as u64) < LINE {
        let read = (&terminal).read(&mut bytes).map_err(no_terminal)?;
        typed.extend_from_slice(&bytes[..read]);
        if read == 0 {
            break;
        }
    }
    line(typed.as_slice())
}

fn refuse(what: &str) -> Failure {
    let help = "run it on a terminal, or give the passphrase on a file descriptor with --passphrase-fd";
    Failure::new(Fault::Usage, Diagnostic::error(what).help(help))
}
