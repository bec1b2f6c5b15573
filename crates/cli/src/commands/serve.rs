//! `bosket serve`: the pages.

use std::io::{IsTerminal, stdout};
use std::process::{Command, Stdio};
use std::time::Duration;

use bosket_model::{Diagnostic, Failure, Fault, Place};
use bosket_web::{Options, serve};

use crate::Outcome;
use crate::args::Serve;
use crate::output::print;
use crate::talk::Talk;

pub fn run(args: &Serve, talk: &Talk) -> Result<Outcome, Failure> {
    let fail = |what: String| {
        let place = Place::source(args.folder.display().to_string());
        Failure::new(Fault::Environment, Diagnostic::error(what).at(place))
    };
    let program =
        std::env::current_exe().map_err(|error| fail(format!("cannot find this program: {error}")))?;
    let options = Options {
        folder: args.folder.clone(),
        allow: args.allow.clone(),
        port: args.port,
        check_only: args.check,
        idle: args.idle.map(|minutes| Duration::from_secs_f64(60.0 * minutes)),
        program,
    };
    talk.waits_for_others();
    serve(&options, |address| {
        let _ = print(&format!("{address}\n"));
        talk.line("This address works once, on this machine. Ctrl-C ends it.");
        if !args.no_browser && stdout().is_terminal() {
            open(address);
        }
    })
    .map_err(|error| fail(format!("cannot serve this folder: {error}")))?;
    Ok(Outcome::Done)
}

/// Asks the desktop to open a page; where there is none, the address was printed.
fn open(address: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let _ = Command::new(opener)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}
