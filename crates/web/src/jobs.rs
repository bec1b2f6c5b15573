//! Jobs: commands of the same program as processes of their own, one at a time, with what they say on the way.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{Semaphore, watch};

use crate::command::line;
use crate::error::{ApiError, Result};
use crate::private::Private;
use crate::results::{Reader, Said};
use crate::shape::shape;

/// The most that a job's result may be; results of commands are small.
const LONGEST_RESULT: u64 = 64 << 20;
/// The most that a job may say on the way.
const MOST_EVENTS: usize = 10_000;
/// Jobs that are kept in the list.
const MOST_JOBS: usize = 100;

/// How long a job that is stopped has to take away what it began.
const PATIENCE: Duration = Duration::from_secs(10);

shape! {
    words
    /// How far a job is.
    pub(crate) enum JobState {
        Waiting,
        Running,
        Done,
        Failed,
        Stopped,
    }
}

shape! {
    answer
    /// A job as pages see it.
    #[derive(Clone)]
    pub(crate) struct JobView {
        pub(crate) id: u64,
        /// The command line.
        pub(crate) line: String,
        /// The part of a page that asked for it, so that it is found again.
        pub(crate) part: Option<String>,
        /// The version of the policy's text that it is about.
        pub(crate) about: Option<String>,
        pub(crate) state: JobState,
        /// What it exited with.
        pub(crate) code: Option<i32>,
        /// The JSON that it printed.
        pub(crate) result: Option<Value>,
    }
}

/// What is to be run.
pub(crate) struct Order {
    /// A command with its arguments, as they are shown.
    pub(crate) arguments: Vec<String>,
    /// The part of a page that asks.
    pub(crate) part: Option<String>,
    /// The version of the policy's text that it is about.
    pub(crate) about: Option<String>,
    /// Whether it may still run, asked when its turn comes.
    pub(crate) still: Box<dyn FnOnce() -> Result<()> + Send>,
    /// What it is told on standard input, and nobody else ever.
    pub(crate) secret: Option<String>,
    /// How pages read its result, if they do.
    pub(crate) reads: Option<Reader>,
    /// What is done when it has ended; it is told whether all is well.
    pub(crate) then: Box<dyn FnOnce(bool) + Send>,
}

/// Something that a job said, numbered from 1.
#[derive(Clone)]
pub(crate) struct Event {
    pub(crate) number: u64,
    pub(crate) value: Value,
}

pub(crate) struct Job {
    view: Mutex<JobView>,
    events: Mutex<Vec<Event>>,
    said: watch::Sender<u64>,
    stop: watch::Sender<bool>,
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Job {
    fn new(id: u64, order: &Order) -> Self {
        let (line, part, about) = (line(&order.arguments), order.part.clone(), order.about.clone());
        let view = JobView { id, line, part, about, state: JobState::Waiting, code: None, result: None };
        Job {
            view: Mutex::new(view),
            events: Mutex::new(Vec::new()),
            said: watch::channel(0).0,
            stop: watch::channel(false).0,
        }
    }

    pub(crate) fn view(&self) -> JobView {
        locked(&self.view).clone()
    }

    /// Whether nothing more will be said.
    fn is_over(&self) -> bool {
        !matches!(locked(&self.view).state, JobState::Waiting | JobState::Running)
    }

    /// Asks it to end; it leaves nothing behind.
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }

    fn say(&self, value: Value) {
        let mut events = locked(&self.events);
        let number = *self.said.borrow() + 1;
        // Of progress only the last word counts.
        let is_progress = |value: &Value| value.get("share").is_some();
        if is_progress(&value) && events.last().is_some_and(|last| is_progress(&last.value)) {
            events.pop();
        }
        if events.len() < MOST_EVENTS || value.get("state").is_some() {
            events.push(Event { number, value });
        }
        drop(events);
        self.said.send_replace(number);
    }

    fn turn(&self, state: JobState) {
        locked(&self.view).state = state;
        self.say(json!({"state": state}));
    }

    /// What was said after an event; waits until there is something. None when all is said.
    pub(crate) async fn next(&self, after: u64) -> Option<Event> {
        let mut said = self.said.subscribe();
        loop {
            let over = self.is_over();
            if let Some(event) = locked(&self.events).iter().find(|event| event.number > after) {
                return Some(event.clone());
            }
            if over || said.changed().await.is_err() {
                return None;
            }
        }
    }
}

/// All jobs of a server.
pub(crate) struct Jobs {
    program: PathBuf,
    folder: PathBuf,
    /// Holds a folder per job that leaves something for later ones. For nobody else to read, gone with the server.
    private: Private,
    all: Mutex<Vec<Arc<Job>>>,
    numbers: AtomicU64,
    turn: Semaphore,
}

impl Jobs {
    pub(crate) fn new(program: PathBuf, folder: PathBuf) -> std::io::Result<Self> {
        let private = Private::new(&std::env::temp_dir())?;
        let (all, numbers, turn) = (Mutex::new(Vec::new()), AtomicU64::new(1), Semaphore::new(1));
        Ok(Jobs { program, folder, private, all, numbers, turn })
    }

    pub(crate) fn list(&self) -> Vec<JobView> {
        locked(&self.all).iter().map(|job| JobView { result: None, ..job.view() }).collect()
    }

    pub(crate) fn get(&self, id: u64) -> Result<Arc<Job>> {
        let all = locked(&self.all);
        let job = all.iter().find(|job| locked(&job.view).id == id);
        job.cloned().ok_or_else(|| ApiError::missing("there is no such job"))
    }

    /// Stops whatever runs or waits.
    pub(crate) fn stop_all(&self) {
        locked(&self.all).iter().for_each(|job| job.stop());
    }

    /// Whether any job runs or waits.
    pub(crate) fn is_busy(&self) -> bool {
        locked(&self.all).iter().any(|job| !job.is_over())
    }

    /// The number of a new job.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Where a job may leave what is private; it is there once `make_folder` was called.
    pub(crate) fn folder_of(&self, id: u64) -> PathBuf {
        self.private.path().join(id.to_string())
    }

    pub(crate) fn make_folder(&self, id: u64) -> std::io::Result<PathBuf> {
        self.private.make(&id.to_string())
    }

    /// Takes the folder of a job away, if it has one.
    pub(crate) fn forget_folder(&self, id: u64) {
        remove(&self.folder_of(id));
    }

    /// Puts a job into the list; it runs when those before it are over.
    pub(crate) fn start(self: &Arc<Self>, id: u64, order: Order) -> JobView {
        let job = Arc::new(Job::new(id, &order));
        let mut all = locked(&self.all);
        if all.len() >= MOST_JOBS
            && let Some(over) = all.iter().position(|job| job.is_over())
        {
            let old = all.remove(over);
            remove(&self.folder_of(old.view().id));
        }
        all.push(job.clone());
        drop(all);
        let jobs = self.clone();
        let started = job.clone();
        tokio::spawn(async move { jobs.run(&started, order).await });
        job.view()
    }

    async fn run(&self, job: &Job, order: Order) {
        let mut stop = job.stop.subscribe();
        let permit = tokio::select! {
            permit = self.turn.acquire() => permit,
            _ = stop.wait_for(|stop| *stop) => return job.turn(JobState::Stopped),
        };
        if permit.is_err() || *stop.borrow() {
            return job.turn(JobState::Stopped);
        }
        job.turn(JobState::Running);
        let Order { arguments, secret, then, still, reads, .. } = order;
        if let Err(refused) = still() {
            self.forget_folder(locked(&job.view).id);
            then(false);
            job.say(json!({"line": format!("error: {}", refused.message())}));
            return job.turn(JobState::Failed);
        }
        let state = match self.spawn(arguments, secret.is_some()) {
            Ok(mut child) => {
                // Who does not listen to its secret ends without it, and says why.
                if let (Some(secret), Some(mut input)) = (secret, child.stdin.take()) {
                    let _ = input.write_all(format!("{secret}\n").as_bytes()).await;
                    let _ = input.shutdown().await;
                }
                follow(job, child, (stop, reads)).await
            }
            Err(error) => {
                job.say(json!({"line": format!("error: cannot start a job: {error}")}));
                JobState::Failed
            }
        };
        if state != JobState::Done {
            remove(&self.folder_of(locked(&job.view).id));
        }
        // What it means for others is known before anybody hears that it is over.
        then(job.view().code == Some(0));
        job.turn(state);
    }

    fn spawn(&self, arguments: Vec<String>, is_told: bool) -> std::io::Result<Child> {
        Command::new(&self.program)
            .arg("--events")
            .arg(format!("--of-parent={}", std::process::id()))
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(if is_told { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }
}

/// Takes a job's folder away, if it has one.
fn remove(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
}

/// Listens to a process until it ends.
async fn follow(
    job: &Job,
    mut child: Child,
    (mut stop, reads): (watch::Receiver<bool>, Option<Reader>),
) -> JobState {
    let (out, said) = (child.stdout.take(), child.stderr.take());
    let result = async {
        let mut bytes = Vec::new();
        if let Some(out) = out {
            // What cannot be read is no result; the exit code says the rest.
            let _ = out.take(LONGEST_RESULT).read_to_end(&mut bytes).await;
        }
        bytes
    };
    let events = async {
        let Some(said) = said else { return };
        let mut lines = BufReader::new(said).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            job.say(heard(&line));
        }
    };
    let pid = child.id().and_then(|id| rustix::process::Pid::from_raw(id as i32));
    let stopped = async {
        if stop.wait_for(|stop| *stop).await.is_ok() {
            // It may have ended by itself in the meantime.
            let _ = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::TERM));
            tokio::time::sleep(PATIENCE).await;
            let _ = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL));
        }
        std::future::pending::<()>().await;
    };
    let all = async { tokio::join!(result, events, child.wait()) };
    let (result, (), status) = tokio::select! {
        ended = all => ended,
        () = stopped => return JobState::Stopped,
    };
    let code = status.ok().and_then(|status| status.code());
    let mut view = locked(&job.view);
    view.code = code;
    let read = reads.filter(|_| !result.is_empty()).map(|reads| reads(&result)).transpose();
    view.result = read.as_ref().ok().cloned().flatten();
    drop(view);
    if let (Err(problem), Some(0 | 1)) = (&read, code) {
        job.say(json!({"line": format!("error: this command printed something else than its page reads: {problem}")}));
        return JobState::Failed;
    }
    match code {
        // Violated is an answer.
        Some(0 | 1) => JobState::Done,
        Some(130) | None => JobState::Stopped,
        Some(_) => JobState::Failed,
    }
}

/// What a line of a job says, as far as pages read it.
fn heard(line: &str) -> Value {
    let known = serde_json::from_str::<Said>(line).ok().and_then(|said| serde_json::to_value(said).ok());
    let Some(Value::Object(mut known)) = known else { return json!({"line": line}) };
    known.retain(|_, value| !value.is_null());
    Value::Object(known)
}
