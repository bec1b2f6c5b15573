//! The `bosket` command: arguments in, exit code out.
#![allow(unreachable_pub, reason = "a binary has no readers outside")]

mod args;
mod commands;
mod next;
mod output;
mod passphrase;
mod room;
mod signals;
mod table;
mod talk;

use std::process::ExitCode;

use bosket_model::{Failure, Fault};
use clap::Parser;

use args::{Cli, Command};
use signals::Stop;
use talk::Talk;

/// Groups and sets of records come and go by the million, from several threads: with the C library's allocator
/// searches of trees take up to a seventh longer, and small runs spend a fifth of their time on fresh pages.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How a command ended.
pub enum Outcome {
    /// Done, or the guarantee holds.
    Done,
    /// The guarantee is violated.
    Violated,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let stop = Stop::default();
    let talk = Talk::new(&cli.common, stop.clone());
    room::watch(stop.clone());
    let result = signals::install(stop.clone())
        .and_then(|()| signals::end_with(cli.common.of_parent))
        .and_then(|()| run(&cli.command, &talk));
    talk.quiet();
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Violated) => ExitCode::from(1),
        Err(failure) if failure.fault == Fault::Interrupted => {
            stop.tell();
            ExitCode::from(signals::INTERRUPTED)
        }
        Err(failure) => {
            talk.diagnostics(&failure.diagnostics);
            ExitCode::from(match failure.fault {
                Fault::Usage | Fault::Policy => 2,
                Fault::Data | Fault::Environment => 3,
                Fault::Unreachable => 4,
                Fault::Defect => 70,
                Fault::Interrupted => signals::INTERRUPTED,
            })
        }
    }
}

fn run(command: &Command, talk: &Talk) -> Result<Outcome, Failure> {
    match command {
        Command::Inspect(args) => commands::inspect::run(args, talk),
        Command::Hierarchy(args) => commands::hierarchy::run(args, talk),
        Command::Policy(args) => commands::policy::run(args, talk),
        Command::Certificate(args) => commands::certificate::run(args, talk),
        Command::Verify(args) => commands::verify::run(args, talk),
        Command::Attack(args) => commands::attack::run(args, talk),
        Command::Anonymize(args) => commands::anonymize::run(args, talk),
        Command::Measure(args) => commands::measure::run(args, talk),
        Command::Sweep(args) => commands::sweep::run(args, talk),
        Command::Report(args) => commands::report::run(args, talk),
        Command::Why(args) => commands::why::run(args, talk),
        Command::Demo(args) => commands::demo::run(args, talk),
        Command::Serve(args) => commands::serve::run(args, talk),
        Command::Export(args) => commands::export::run(args, talk),
        Command::Convert(args) => commands::convert::run(args, talk),
        Command::Generate(args) => commands::generate::run(args, talk),
        Command::Completions { shell } => commands::about::completions(*shell),
        Command::Man => commands::about::man(),
    }
}
