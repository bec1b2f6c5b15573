//! The page and what it loads, built in. Made of `ui` by `npm run build` there.

use axum::http::{HeaderName, header};
use axum::response::{Html, IntoResponse};

const TYPE: HeaderName = header::CONTENT_TYPE;

pub(crate) async fn page() -> Html<&'static str> {
    Html(include_str!("../ui/index.html"))
}

pub(crate) async fn script() -> impl IntoResponse {
    ([(TYPE, "text/javascript; charset=utf-8")], include_str!("../bundle/app.js"))
}

/// What reports look like, inside of the page.
pub(crate) async fn report_style() -> impl IntoResponse {
    let own = bosket_report::html::STYLE.replace(":root", "&").replace("\nbody {", "\n& {");
    ([(TYPE, "text/css; charset=utf-8")], format!(".report {{\n{own}\n}}\n"))
}

pub(crate) async fn style() -> impl IntoResponse {
    ([(TYPE, "text/css; charset=utf-8")], include_str!("../ui/app.css"))
}
