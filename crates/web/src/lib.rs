//! The local web app: `bosket serve` opens a page on a folder, and every click edits its policy or runs a command.
//!
//! The policy file is the state, jobs are processes of the same program (`jobs`), and no rule of Bosket is written here. What
//! a request has to pass is in `guard`, which files it may touch in `folder`, what it may run in `command`.

mod admission;
mod api;
mod assets;
mod attackers;
mod command;
mod error;
mod folder;
mod guard;
mod hierarchy;
mod jobs;
mod listen;
mod package;
mod places;
mod policy;
mod private;
mod project;
mod publish;
mod results;
mod runs;
mod secret;
mod shape;
mod sign;
mod zip;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Semaphore;

use folder::Folder;
use jobs::Jobs;
use runs::Known;
use secret::Secrets;

/// The largest body but for uploads.
const LARGEST_BODY: usize = 1 << 20;
/// Pages that may listen to jobs at once.
const MOST_STREAMS: usize = 16;

/// What is served, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder.
    pub folder: PathBuf,
    /// Other files and folders that may be touched.
    pub allow: Vec<PathBuf>,
    /// The port; 0 for one that is free.
    pub port: u16,
    /// Whether the page only checks publications.
    pub check_only: bool,
    /// After how long without requests and jobs it ends; never if not given.
    pub idle: Option<Duration>,
    /// The program that jobs are commands of.
    pub program: PathBuf,
}

pub(crate) struct Server {
    port: u16,
    check_only: bool,
    secrets: Secrets,
    folder: Folder,
    jobs: Arc<Jobs>,
    streams: Arc<Semaphore>,
    changing: tokio::sync::Mutex<()>,
    known: Known,
    /// When somebody who may asked for something.
    asked: Mutex<Instant>,
}

/// Serves until it is interrupted; `ready` is told the address. Jobs that run then are stopped.
pub fn serve(options: &Options, ready: impl FnOnce(&str)) -> std::io::Result<()> {
    // What jobs write is for whoever started this.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(listen(options, ready))
}

async fn listen(options: &Options, ready: impl FnOnce(&str)) -> std::io::Result<()> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, options.port))).await?;
    let port = listener.local_addr()?.port();
    let folder = Folder::new(&options.folder, &options.allow)?;
    let server = Arc::new(Server {
        port,
        check_only: options.check_only,
        secrets: Secrets::new()?,
        jobs: Arc::new(Jobs::new(options.program.clone(), folder.root().to_owned())?),
        folder,
        streams: Arc::new(Semaphore::new(MOST_STREAMS)),
        changing: tokio::sync::Mutex::new(()),
        known: Known::default(),
        asked: Mutex::new(Instant::now()),
    });
    // Before anybody knows that there is something to end.
    let mut interrupts = Interrupts::new()?;
    ready(&format!("http://127.0.0.1:{port}/#token={}", server.secrets.address().text()));
    let jobs = server.jobs.clone();
    tokio::select! {
        () = listen::accept(listener, router(server.clone())) => Ok(()),
        () = idle(&server, options.idle) => Ok(()),
        () = interrupts.any() => {
            jobs.stop_all();
            while jobs.is_busy() {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            Ok(())
        }
    }
}

/// Waits until nobody has asked for anything for so long, no page listens and no job runs.
async fn idle(server: &Server, patience: Option<Duration>) {
    let Some(patience) = patience else { return std::future::pending().await };
    loop {
        let is_used = server.jobs.is_busy() || server.streams.available_permits() < MOST_STREAMS;
        if is_used {
            server.touch();
        }
        let since = jobs::locked(&server.asked).elapsed();
        if since >= patience {
            return;
        }
        tokio::time::sleep((patience - since).min(Duration::from_secs(1))).await;
    }
}

impl Server {
    /// Somebody who may asked for something.
    pub(crate) fn touch(&self) {
        *jobs::locked(&self.asked) = Instant::now();
    }
}

/// The ways in which somebody asks a server to end: by Ctrl-C, by the system, by closing its terminal.
struct Interrupts([Signal; 3]);

impl Interrupts {
    /// From now on nothing is missed.
    fn new() -> std::io::Result<Self> {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [interrupt, terminate, hangup] = kinds.map(signal);
        Ok(Interrupts([interrupt?, terminate?, hangup?]))
    }

    async fn any(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {},
            _ = terminate.recv() => {},
            _ = hangup.recv() => {},
        }
    }
}

fn router(server: Arc<Server>) -> Router {
    Router::new()
        .route("/", get(assets::page))
        .route("/app.js", get(assets::script))
        .route("/app.css", get(assets::style))
        .route("/report.css", get(assets::report_style))
        .route("/api/project", get(api::project))
        .route("/api/policy", get(api::policy).put(api::change_policy))
        .route("/api/hierarchies", get(api::hierarchy).put(api::change_hierarchy))
        .route("/api/jobs", get(api::jobs).post(api::start))
        .route("/api/jobs/{id}", get(api::job))
        .route("/api/jobs/{id}/events", get(api::events))
        .route("/api/jobs/{id}/cancel", post(api::cancel))
        .route("/api/check", post(api::check))
        .route("/api/sign", post(sign::sign))
        .route("/api/keys", post(sign::new_key))
        .route("/api/publish", get(api::publish))
        .route("/api/package", post(api::package))
        .route("/api/certificate", get(api::certificate))
        .route("/api/enter", post(api::enter))
        .route("/api/file", get(api::file).post(api::ticket))
        .route("/api/runs/{id}", get(api::run))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .route("/api/upload", post(api::upload).layer(DefaultBodyLimit::disable()))
        .layer(middleware::from_fn_with_state(server.clone(), guard::guard))
        .with_state(server)
}
