//! What goes to standard error: diagnostics, decisions, progress. Colour only on a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bosket_app::{Settings, Warned};
use bosket_io::Create;
use bosket_model::diag::render;
use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Severity};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use serde_json::{Value, json};

use crate::args::Common;
use crate::signals::Stop;

/// The tool's voice, and whoever listens to it.
pub struct Talk {
    colour: bool,
    terminal: bool,
    verbose: bool,
    events: bool,
    threads: Option<NonZeroUsize>,
    record: Option<u64>,
    stop: Stop,
    stage: Mutex<Option<Stage>>,
}

struct Stage {
    bar: ProgressBar,
    begun: Instant,
    shown: bool,
    /// When an event told how far it is.
    told: Option<Instant>,
}

/// Work shorter than this shows no progress.
const PATIENCE: Duration = Duration::from_millis(700);

/// An estimate needs so much time, and so much of the work, to mean anything.
const LONG_ENOUGH: Duration = Duration::from_secs(3);
const FAR_ENOUGH: f64 = 0.05;

/// How often events tell progress.
const OFTEN: Duration = Duration::from_millis(200);

impl Talk {
    /// A voice for this process.
    pub fn new(common: &Common, stop: Stop) -> Self {
        let terminal = stderr().is_terminal();
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        Talk {
            colour,
            terminal,
            verbose: common.verbose,
            events: common.events,
            threads: common.threads.and_then(|n| NonZeroUsize::new(n.into())),
            record: common.limit_record.map(|bytes| bytes as u64),
            stop,
            stage: Mutex::new(None),
        }
    }

    /// What a call is told that this command line asks for.
    pub fn settings(&self, memory: Option<usize>, show_values: bool) -> Settings {
        let (threads, record) = (self.threads, self.record);
        Settings { threads, memory, record, show_values, pending: self.stop.pending(), ..Settings::default() }
    }

    /// How files are created.
    pub fn create(&self, force: bool) -> Create {
        Create { force, private: false, pending: self.stop.pending() }
    }

    /// Shows the warnings of a result, and hands it on.
    pub fn told<T>(&self, warned: Warned<T>) -> T {
        self.quiet();
        self.diagnostics(&warned.warnings);
        warned.value
    }

    /// Says something that the user should see.
    pub fn line(&self, text: &str) {
        self.quiet();
        let said = if self.events { json!({"line": text}).to_string() } else { text.to_owned() };
        say(&said);
    }

    /// Shows diagnostics.
    pub fn diagnostics(&self, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics {
            match self.events {
                true => say(&event(diagnostic).to_string()),
                false => self.line(&render(diagnostic, self.colour)),
            }
        }
    }

    /// Processes of this one have to end before it does.
    pub fn waits_for_others(&self) {
        self.stop.waits_for_others();
    }

    /// Takes the progress bar away.
    pub fn quiet(&self) {
        if let Some(stage) = self.lock().take() {
            stage.bar.finish_and_clear();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Stage>> {
        self.stage.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn bar(&self, name: &str, bar: ProgressBar, template: &str) {
        // Stages that follow each other are one wait: many short ones must not hide that it is long.
        let begun = self.lock().take().map_or_else(Instant::now, |before| {
            before.bar.finish_and_clear();
            before.begun
        });
        if !self.terminal && !self.events {
            return;
        }
        bar.set_draw_target(ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            let told = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let known = left(f64::from(state.fraction()), state.elapsed());
                // A bar that cannot be written is none.
                let _ = known.map_or(Ok(()), |seconds| write!(out, ", {seconds} s left"));
            };
            bar.set_style(style.with_key("left", told).progress_chars("━╸─"));
        }
        bar.set_message(name.to_owned());
        *self.lock() = Some(Stage { bar, begun, shown: false, told: None });
    }

    fn update(&self, change: impl Fn(&ProgressBar)) {
        if let Some(stage) = self.lock().as_mut() {
            change(&stage.bar);
            if self.events {
                return stage.tell();
            }
            if !stage.shown && stage.begun.elapsed() > PATIENCE {
                stage.shown = true;
                stage.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        }
    }
}

impl Observer for Talk {
    fn reading(&self, name: &str, bytes: Option<u64>) {
        let name = format!("reading {name}");
        match bytes {
            Some(bytes) => self.bar(
                &name,
                ProgressBar::new(bytes),
                "{msg} [{bar:30}] {percent}% {binary_bytes_per_sec}{left}",
            ),
            None => self.bar(&name, ProgressBar::no_length(), "{msg} {binary_bytes} {binary_bytes_per_sec}"),
        }
    }

    fn position(&self, bytes: u64) {
        self.update(|bar| bar.set_position(bytes));
    }

    fn decided(&self, what: &str) {
        if self.verbose {
            self.line(&format!("bosket: {what}"));
        }
    }

    fn found(&self, part: &str) {
        if self.events {
            say(&format!("{{\"row\":{part}}}"));
        }
    }

    fn cancelled(&self) -> bool {
        self.stop.is_asked()
    }

    fn out_of_time(&self) -> bool {
        self.stop.is_hurried()
    }

    fn searching(&self, now: bool) {
        self.stop.searching(now);
    }

    fn stage(&self, name: &str, steps: u64) {
        self.decided(&format!("begins: {name}"));
        self.bar(name, ProgressBar::new(steps), "{msg} [{bar:30}] {percent}% {per_sec}{left}");
    }

    fn advance(&self, steps: u64) {
        if self.terminal || self.events {
            self.update(|bar| bar.inc(steps));
        }
    }
}

impl Stage {
    /// Says how far it is, now and then.
    fn tell(&mut self) {
        if self.told.is_some_and(|told| told.elapsed() < OFTEN) {
            return;
        }
        self.told = Some(Instant::now());
        let share =
            self.bar.length().filter(|&all| all > 0).map(|all| self.bar.position() as f64 / all as f64);
        let left = share.and_then(|share| left(share, self.bar.elapsed()));
        say(&json!({"stage": self.bar.message(), "share": share, "left": left}).to_string());
    }
}

/// The seconds that are left if it goes on as it has on the whole; none while that would be a guess.
fn left(share: f64, elapsed: Duration) -> Option<u64> {
    let known = elapsed >= LONG_ENOUGH && (FAR_ENOUGH..=1.0).contains(&share);
    known.then(|| (elapsed.as_secs_f64() * (1.0 - share) / share).ceil() as u64)
}

/// A line on standard error. Nobody is left to be told if it is closed.
fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// A diagnostic for programs.
fn event(diagnostic: &Diagnostic) -> Value {
    let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
    json!({"diagnostic": {
        "severity": severity,
        "message": diagnostic.message,
        "place": diagnostic.place.to_string(),
        "line": diagnostic.place.line,
        "help": diagnostic.help,
    }})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_is_told_before_it_means_anything() {
        let seconds = Duration::from_secs;
        assert_eq!(left(0.001, seconds(5)), None, "4,995 s would be left, by the first step alone");
        assert_eq!(left(0.5, seconds(1)), None, "so short that nobody asks");
        assert_eq!(left(0.5, seconds(10)), Some(10));
        assert_eq!(left(1.0, seconds(10)), Some(0));
    }
}
