//! What every request has to pass: the right host, the right person, the right origin; and what every answer says.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

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

/// Lets a request through, or answers it.
pub(crate) async fn guard(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let mut answer = match admit(&server, &request) {
        Ok(()) => {
            server.touch();
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
    if request.method() == Method::GET && uri.path() == "/" {
        let token = uri.query().and_then(|query| query.strip_prefix("token="));
        if let Some(cookie) = token.and_then(|token| server.secrets.enter(token)) {
            let mut answer = Redirect::to("/").into_response();
            let cookie =
                HeaderValue::from_str(&cookie).map_err(|_| StatusCode::BAD_REQUEST.into_response())?;
            answer.headers_mut().insert(header::SET_COOKIE, cookie);
            return Err(answer);
        }
    }
    let bearer = server.secrets.knows_bearer(headers);
    if !bearer && !server.secrets.knows_cookie(headers) {
        let what = "open the address that `bosket serve` printed; it works once";
        return Err(ApiError::new(StatusCode::UNAUTHORIZED, what).into_response());
    }
    if request.method() == Method::GET || request.method() == Method::HEAD {
        return Ok(());
    }
    let origin = headers.get(header::ORIGIN).map(|value| value.as_bytes());
    let is_own = match origin {
        Some(origin) => origin == format!("http://{host}").as_bytes(),
        // Browsers send it with everything but GET; a program has no origin.
        None => bearer,
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
