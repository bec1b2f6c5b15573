//! What pages ask.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use serde::Deserialize;
use tokio::io::AsyncWriteExt;

use crate::Server;
use crate::command::{Asked, Command};
use crate::error::{ApiError, Result};
use crate::hierarchy::{self, HierarchyView, TreeEdit};
use crate::jobs::{JobView, Order};
use crate::package::{self, Packed, Packing};
use crate::policy::{self, Edit, PolicyView, is_policy_name};
use crate::project::{self, Project};
use crate::publish::{self, PublishView};
use crate::results::{self, CertificateView};
use crate::runs::{self, RunView};
use crate::shape::shape;

/// How long whoever enters may take to say so, and with how much.
const ENTRANCE_PATIENCE: Duration = Duration::from_secs(5);
const LARGEST_ENTRANCE: usize = 1 << 10;
/// The largest file that can be dropped on a page.
const LARGEST_UPLOAD: u64 = 4 << 30;

#[derive(Deserialize)]
pub(crate) struct At {
    path: String,
}

/// Who asks for a job: a part of a page, by its name.
#[derive(Deserialize)]
pub(crate) struct OfPart {
    pub(crate) part: Option<String>,
}

impl Server {
    /// Refuses where publications are only checked.
    pub(crate) fn may_change(&self) -> Result<()> {
        match self.check_only {
            true => Err(ApiError::new(StatusCode::FORBIDDEN, "this page only checks publications")),
            false => Ok(()),
        }
    }
}

pub(crate) async fn project(State(server): State<Arc<Server>>) -> Result<Json<Project>> {
    Ok(Json(project::project(&server)?))
}

pub(crate) async fn policy(
    State(server): State<Arc<Server>>,
    Query(at): Query<At>,
) -> Result<Json<PolicyView>> {
    Ok(Json(policy::view(&server, &at.path)?))
}

shape! {
    request
    /// A change of a policy: another text, or single keys.
    pub(crate) struct Change {
        path: String,
        version: String,
        text: Option<String>,
        edits: Option<Vec<Edit>>,
    }
}

pub(crate) async fn change_policy(
    State(server): State<Arc<Server>>,
    Json(change): Json<Change>,
) -> Result<Json<PolicyView>> {
    server.may_change()?;
    // Two changes at once must not both find the old version.
    let _alone = server.changing.lock().await;
    let Change { path, version, text, edits } = change;
    Ok(Json(match text {
        Some(text) => policy::replace(&server, &path, &version, text)?,
        None => policy::edit(&server, &path, &version, &edits.unwrap_or_default())?,
    }))
}

#[derive(Deserialize)]
pub(crate) struct OfAttribute {
    policy: String,
    attribute: String,
}

pub(crate) async fn hierarchy(
    State(server): State<Arc<Server>>,
    Query(of): Query<OfAttribute>,
) -> Result<Json<HierarchyView>> {
    Ok(Json(hierarchy::view(&server.folder, &of.policy, &of.attribute)?))
}

shape! {
    request
    /// A change of a hierarchy that is a file.
    pub(crate) struct ChangeOfHierarchy {
        policy: String,
        attribute: String,
        version: String,
        edit: TreeEdit,
    }
}

pub(crate) async fn change_hierarchy(
    State(server): State<Arc<Server>>,
    Json(change): Json<ChangeOfHierarchy>,
) -> Result<Json<HierarchyView>> {
    server.may_change()?;
    let _alone = server.changing.lock().await;
    let ChangeOfHierarchy { policy, attribute, version, edit } = change;
    Ok(Json(hierarchy::edit(&server.folder, (&policy, &attribute), &version, &edit)?))
}

pub(crate) async fn jobs(State(server): State<Arc<Server>>) -> Json<Vec<JobView>> {
    Json(server.jobs.list())
}

pub(crate) async fn start(
    State(server): State<Arc<Server>>,
    Query(of): Query<OfPart>,
    Json(asked): Json<Asked>,
) -> Result<(StatusCode, Json<JobView>)> {
    if !asked.is_check() && !asked.is_drawing() {
        server.may_change()?;
    }
    started(&server, of, &asked)
}

/// The same for checks alone.
pub(crate) async fn check(
    State(server): State<Arc<Server>>,
    Query(of): Query<OfPart>,
    Json(asked): Json<Asked>,
) -> Result<(StatusCode, Json<JobView>)> {
    match asked.is_check() {
        true => started(&server, of, &asked),
        false => Err(ApiError::bad("here publications are checked by their certificates")),
    }
}

fn started(server: &Arc<Server>, of: OfPart, asked: &Asked) -> Result<(StatusCode, Json<JobView>)> {
    let id = server.jobs.number();
    let command = asked.command(server, id).inspect_err(|_| server.jobs.forget_folder(id))?;
    let Command { arguments, then, admission } = command;
    let (listening, looking) = (server.clone(), server.clone());
    let then = Box::new(move |is_well| then.happen(&listening, is_well));
    let about = admission.about();
    let still = Box::new(move || admission.still(&looking.folder));
    let reads = asked.reads();
    let order = Order { arguments, part: of.part, about, still, secret: None, reads, then };
    Ok((StatusCode::CREATED, Json(server.jobs.start(id, order))))
}

/// What there is to be read, to be filled in and to be handed out.
pub(crate) async fn publish(
    State(server): State<Arc<Server>>,
    Query(of): Query<OfPolicy>,
) -> Result<Json<PublishView>> {
    Ok(Json(publish::view(&server, &of.policy)?))
}

/// Packs what is handed over.
pub(crate) async fn package(
    State(server): State<Arc<Server>>,
    Json(asked): Json<Packing>,
) -> Result<Json<Packed>> {
    server.may_change()?;
    let packed = tokio::task::spawn_blocking(move || package::pack(&server, &asked)).await;
    Ok(Json(packed.map_err(|_| ApiError::bad("the package was not written"))??))
}

/// A certificate of the folder.
pub(crate) async fn certificate(
    State(server): State<Arc<Server>>,
    Query(at): Query<At>,
) -> Result<Json<CertificateView>> {
    Ok(Json(results::certificate(&server.folder, &at.path)?))
}

#[derive(Deserialize)]
pub(crate) struct OfPolicy {
    policy: String,
}

/// The report that a job wrote.
pub(crate) async fn run(State(server): State<Arc<Server>>, Path(id): Path<u64>) -> Result<Json<RunView>> {
    Ok(Json(runs::view(&server.jobs.folder_of(id))?))
}

pub(crate) async fn job(State(server): State<Arc<Server>>, Path(id): Path<u64>) -> Result<Json<JobView>> {
    Ok(Json(server.jobs.get(id)?.view()))
}

pub(crate) async fn cancel(State(server): State<Arc<Server>>, Path(id): Path<u64>) -> Result<Json<JobView>> {
    let job = server.jobs.get(id)?;
    job.stop();
    Ok(Json(job.view()))
}

pub(crate) async fn events(
    State(server): State<Arc<Server>>,
    Path(id): Path<u64>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = std::result::Result<Sent, Infallible>>>> {
    let job = server.jobs.get(id)?;
    let permit = server.streams.clone().try_acquire_owned();
    let permit = permit.map_err(|_| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "too many open pages"))?;
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok()).unwrap_or(0);
    let told = stream::unfold((job, last, permit), |(job, last, permit)| async move {
        let event = job.next(last).await?;
        let sent = Sent::default().id(event.number.to_string()).data(event.value.to_string());
        Some((Ok(sent), (job, event.number, permit)))
    });
    Ok(Sse::new(told).keep_alive(KeepAlive::default()))
}

shape! {
    request
    /// The secret of the address.
    pub(crate) struct Entering {
        token: String,
    }
}

shape! {
    answer
    /// What a page goes on with: it is told as `Authorization: Bearer` with every request.
    pub(crate) struct Entered {
        session: String,
    }
}

/// Changes the secret of the address for a session, once.
pub(crate) async fn enter(State(server): State<Arc<Server>>, body: Body) -> Result<Json<Entered>> {
    let wrong = || ApiError::bad("say `{\"token\": …}`");
    // Nobody is known yet, so nobody is waited for.
    let read = tokio::time::timeout(ENTRANCE_PATIENCE, axum::body::to_bytes(body, LARGEST_ENTRANCE)).await;
    let bytes =
        read.map_err(|_| ApiError::new(StatusCode::REQUEST_TIMEOUT, "too slow"))?.map_err(|_| wrong())?;
    let Entering { token } = serde_json::from_slice(&bytes).map_err(|_| wrong())?;
    let refused = || {
        let what = "this address was used before: it works once; start `bosket serve` again";
        ApiError::new(StatusCode::UNAUTHORIZED, what)
    };
    let session = server.secrets.enter(&token).ok_or_else(refused)?;
    server.touch();
    Ok(Json(Entered { session: session.to_owned() }))
}

shape! {
    request
    /// A file that is to be saved.
    pub(crate) struct Wanted {
        path: String,
    }
}

shape! {
    answer
    /// Where it is fetched, once and soon.
    pub(crate) struct Ticket {
        address: String,
    }
}

/// A ticket for a file of the folder.
pub(crate) async fn ticket(
    State(server): State<Arc<Server>>,
    Json(wanted): Json<Wanted>,
) -> Result<Json<Ticket>> {
    let real = server.folder.find(&wanted.path)?;
    let ticket = server.secrets.ticket(real)?;
    Ok(Json(Ticket { address: format!("/api/file?ticket={ticket}") }))
}

#[derive(Deserialize)]
pub(crate) struct FileAt {
    path: Option<String>,
    ticket: Option<String>,
}

/// A file of the folder, to be saved.
pub(crate) async fn file(State(server): State<Arc<Server>>, Query(at): Query<FileAt>) -> Result<Response> {
    let real = match at {
        // With a ticket nobody is known: it is the only thing that counts.
        FileAt { ticket: Some(ticket), .. } => {
            let used = || ApiError::new(StatusCode::UNAUTHORIZED, "this ticket was used, or is too old");
            let real = server.secrets.redeem(&ticket).ok_or_else(used)?;
            server.folder.find(&real.to_string_lossy())?
        }
        FileAt { path: Some(path), .. } => server.folder.find(&path)?,
        _ => return Err(ApiError::bad("which file?")),
    };
    if !tokio::fs::metadata(&real).await?.is_file() {
        return Err(ApiError::bad("this is no file"));
    }
    let file = tokio::fs::File::open(&real).await?;
    let pieces = stream::unfold(file, |mut file| async move {
        use tokio::io::AsyncReadExt;
        let mut piece = vec![0; 64 << 10];
        match file.read(&mut piece).await {
            Ok(0) => None,
            Ok(read) => {
                piece.truncate(read);
                Some((Ok(piece), file))
            }
            Err(error) => Some((Err(error), file)),
        }
    });
    let name: String = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain: String =
        name.chars().map(|c| if c.is_ascii_graphic() && c != '"' { c } else { '_' }).collect();
    let mut answer = Body::from_stream(pieces).into_response();
    let saved = HeaderValue::from_str(&format!("attachment; filename=\"{plain}\""));
    let saved = saved.map_err(|_| ApiError::bad("a name that cannot be sent"))?;
    answer.headers_mut().insert(header::CONTENT_DISPOSITION, saved);
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    Ok(answer)
}

/// Takes a file into the folder, whole or not at all; replaces none.
pub(crate) async fn upload(
    State(server): State<Arc<Server>>,
    Query(at): Query<At>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode> {
    let too_large =
        || ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "more than 4 GiB: copy it into the folder");
    let told = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if told.is_some_and(|length: u64| length > LARGEST_UPLOAD) {
        return Err(too_large());
    }
    let real = server.folder.place_from(server.folder.root(), &at.path)?;
    if is_policy_name(&real) {
        let what = "policies are drafted here or copied into the folder, for they may name databases";
        return Err(ApiError::new(StatusCode::FORBIDDEN, what));
    }
    if real.exists() {
        return Err(ApiError::new(StatusCode::CONFLICT, "a file of that name is there"));
    }
    let folder = real.parent().unwrap_or(server.folder.root());
    let half = tempfile::NamedTempFile::new_in(folder)?;
    let mut file = tokio::fs::File::from_std(half.reopen()?);
    let mut pieces = body.into_data_stream();
    let mut taken = 0u64;
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| ApiError::bad("the file did not arrive whole"))?;
        taken += piece.len() as u64;
        if taken > LARGEST_UPLOAD {
            return Err(too_large());
        }
        file.write_all(&piece).await?;
    }
    file.flush().await?;
    half.persist_noclobber(&real).map_err(|error| ApiError::from(error.error))?;
    Ok(StatusCode::CREATED)
}
