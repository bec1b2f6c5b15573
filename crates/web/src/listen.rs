//! Connections: few at once, and nobody holds one by saying nothing.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// How long the head of a request may take; also how long a connection waits for the next request.
const HEAD: Duration = Duration::from_secs(10);
/// Connections at once. A browser opens six, and one for each stream of events.
const MOST: usize = 128;
/// How long nobody is let in where that fails, as where too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers until it is dropped.
pub(crate) async fn accept(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // Who went away, or said no HTTP, was answered as far as that is possible.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
            drop(place);
        });
    }
}
