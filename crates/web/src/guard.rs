//! What every request has to pass: the right host, the right person, the right origin; and what every answer says.
//! Nothing is known by a cookie, for cookies go to every port of this machine.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::Server;
use crate::error::ApiError;

/// What pages may load: their own, nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// What everybody on this machine may load: the program of the page, which is the same for all.
const OPEN: [&str; 4] = ["/", "/app.js", "/app.css", "/report.css"];
/// Where the secret of the address is changed for a session.
const ENTRANCE: &str = "/api/enter";

fn is_ticket(uri: &Uri) -> bool {
    uri.path() == "/api/file" && uri.query().is_some_and(|query| query.starts_with("ticket="))
}

/// Lets a request through, or answers it.
pub(crate) async fn guard(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let mut answer = match admit(&server, &request) {
        Ok(()) => {
            if server.secrets.knows(request.headers()) {
                server.touch();
            }
            next.run(request).await
        }
        Err(refused) => refused,
    };
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

#[expect(clippy::result_large_err, reason = "a refusal is an answer")]
fn admit(server: &Server, request: &Request) -> Result<(), Response> {
    let headers = request.headers();
    // A page at a name that was rebound to this machine sends its own name, and nothing else that gives it away.
    let Some(host) = own_host(server, headers) else {
        let what = "this server answers to 127.0.0.1, localhost and [::1] with its port";
        return Err(ApiError::new(StatusCode::MISDIRECTED_REQUEST, what).into_response());
    };
    let uri = request.uri();
    let is_read = request.method() == Method::GET || request.method() == Method::HEAD;
    // The page itself says nothing that is anybody's; a ticket is looked at where it is redeemed.
    let is_open = is_read && (OPEN.contains(&uri.path()) || is_ticket(uri));
    let knows = server.secrets.knows(headers);
    if !knows && !is_open && uri.path() != ENTRANCE {
        let what = "open the address that `bosket serve` printed; it works once";
        return Err(ApiError::new(StatusCode::UNAUTHORIZED, what).into_response());
    }
    if is_read {
        return Ok(());
    }
    let origin = headers.get(header::ORIGIN).map(|value| value.as_bytes());
    let is_own = match origin {
        Some(origin) => origin == format!("http://{host}").as_bytes(),
        // Browsers send it with everything but GET; a program has no origin.
        None => knows,
    };
    if !is_own {
        let what = "only pages of this server may change anything";
        return Err(ApiError::new(StatusCode::FORBIDDEN, what).into_response());
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let wanted = if uri.path() == "/api/upload" { "application/octet-stream" } else { "application/json" };
    if kind.split(';').next().map(str::trim) != Some(wanted) {
        let what = format!("the body must be {wanted}");
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, what).into_response());
    }
    Ok(())
}

/// The host that a request names, if it is this one.
fn own_host<'h>(server: &Server, headers: &'h HeaderMap) -> Option<&'h str> {
    let mut all = headers.get_all(header::HOST).iter();
    let host = all.next()?.to_str().ok().filter(|_| all.next().is_none())?;
    let port = format!(":{}", server.port);
    let name = host.strip_suffix(&port)?;
    matches!(name, "127.0.0.1" | "localhost" | "[::1]").then_some(host)
}
