//! The local web app: `bosket serve` opens a page on a folder, and every click edits its policy or runs a command.
//!
//! The policy file is the state, jobs are processes of the same program (`jobs`), and no rule of Bosket is written here. What
//! a request has to pass is in `guard`, which files it may touch in `folder`, what it may run in `command`.

mod api;
mod assets;
mod command;
mod error;
mod folder;
mod guard;
mod hierarchy;
mod jobs;
mod policy;
mod project;
mod secret;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use folder::Folder;
use jobs::Jobs;
use secret::Secrets;

/// The largest body but for uploads.
const LARGEST_BODY: usize = 1 << 20;
/// Pages that may listen to jobs at once.
const MOST_STREAMS: usize = 32;

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
        secrets: Secrets::new(port)?,
        jobs: Arc::new(Jobs::new(options.program.clone(), folder.root().to_owned())),
        folder,
        streams: Arc::new(Semaphore::new(MOST_STREAMS)),
        changing: tokio::sync::Mutex::new(()),
    });
    ready(&format!("http://127.0.0.1:{port}/?token={}", server.secrets.address().text()));
    let jobs = server.jobs.clone();
    tokio::select! {
        ended = axum::serve(listener, router(server)) => ended,
        () = interrupted() => {
            jobs.stop_all();
            while jobs.is_busy() {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            Ok(())
        }
    }
}

async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    match (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) {
        (Ok(mut interrupt), Ok(mut terminate)) => {
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        }
        _ => std::future::pending().await,
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
        .route("/api/hierarchy", get(api::hierarchy).put(api::change_hierarchy))
        .route("/api/jobs", get(api::jobs).post(api::start))
        .route("/api/jobs/{id}", get(api::job))
        .route("/api/jobs/{id}/events", get(api::events))
        .route("/api/jobs/{id}/cancel", post(api::cancel))
        .route("/api/file", get(api::file))
        .route("/api/report", get(api::report))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .route("/api/upload", post(api::upload).layer(DefaultBodyLimit::disable()))
        .layer(middleware::from_fn_with_state(server.clone(), guard::guard))
        .with_state(server)
}
