//! The pages and what they are made of: files of this program, nothing is fetched from elsewhere.

use super::Served;
use axum::Router;
use axum::body::Bytes;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;

/// A file that a page is made of.
struct File {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
}

/// A page: what all of them have is in `pages/frame.html`.
struct Page {
    path: &'static str,
    title: &'static str,
    script: &'static str,
    main: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! page {
    ($path:literal, $title:literal, $name:literal) => {
        Page {
            path: $path,
            title: $title,
            script: concat!($name, ".js"),
            main: include_str!(concat!("pages/", $name, ".html")),
        }
    };
}

macro_rules! file {
    ($kind:expr, $name:literal) => {
        File {
            path: concat!("/assets/", $name),
            kind: $kind,
            text: include_str!(concat!("pages/", $name)),
        }
    };
}

const PAGES: [Page; 4] = [
    page!("/", "Now", "now"),
    page!("/race", "Race", "race"),
    page!("/audit", "Audit", "audit"),
    page!("/history", "History", "history"),
];

const FILES: &[File] = &[
    file!(CSS, "fullclock.css"),
    file!(SCRIPT, "audit.js"),
    file!(SCRIPT, "choice.js"),
    file!(SCRIPT, "clock.js"),
    file!(SCRIPT, "dom.js"),
    file!(SCRIPT, "export.js"),
    file!(SCRIPT, "figures.js"),
    file!(SCRIPT, "heat.js"),
    file!(SCRIPT, "history.js"),
    file!(SCRIPT, "ledger.js"),
    file!(SCRIPT, "nodes.js"),
    file!(SCRIPT, "now.js"),
    file!(SCRIPT, "page.js"),
    file!(SCRIPT, "painter.js"),
    file!(SCRIPT, "panel.js"),
    file!(SCRIPT, "plot.js"),
    file!(SCRIPT, "race.js"),
    file!(SCRIPT, "race_chart.js"),
    file!(SCRIPT, "rates.js"),
    file!(SCRIPT, "ring.js"),
    file!(SCRIPT, "scale.js"),
    file!(SCRIPT, "sheet.js"),
    file!(SCRIPT, "sign-in.js"),
    file!(SCRIPT, "stream.js"),
    file!(SCRIPT, "theme.js"),
    file!(SCRIPT, "threads.js"),
    file!(SCRIPT, "trace.js"),
    file!(SCRIPT, "values.js"),
    file!(SCRIPT, "view.js"),
    file!(SCRIPT, "words.js"),
];

/// What the page to sign in is made of, which a browser gets without the token.
const PUBLIC: [&str; 2] = ["/assets/fullclock.css", "/assets/sign-in.js"];

/// What a browser has is asked for again, and sent again where this is another program.
const REVALIDATE: &str = "no-cache";

/// Tells a text from others, and protects nothing: FNV-1a (draft-eastlake-fnv).
fn tag(text: &str) -> String {
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("\"{sum:x}\"")
}

pub(super) fn router() -> Router<Arc<Served>> {
    let files = FILES.iter().map(|it| (it.path, it.kind, it.text.to_owned()));
    let pages = PAGES.iter().map(|it| (it.path, HTML, whole(it)));
    files.chain(pages).fold(Router::new(), |router, (path, kind, text)| {
        let (tag, text) = (tag(&text), Bytes::from(text));
        let answer = move |headers: HeaderMap| async move { answer(kind, tag, text, &headers) };
        router.route(path, get(answer))
    })
}

/// A page in its frame, where it is marked as the one that is looked at.
fn whole(page: &Page) -> String {
    let here = format!("href=\"{}\"", page.path);
    let main: String = page.main.lines().map(|it| format!("    {it}\n")).collect();
    include_str!("pages/frame.html")
        .replacen(&here, &format!("{here} aria-current=\"page\""), 1)
        .replace("{{title}}", page.title)
        .replace("{{script}}", page.script)
        .replace("{{main}}\n", &main)
}

fn answer(kind: &'static str, tag: String, text: Bytes, headers: &HeaderMap) -> Response {
    let has_it = headers.get(IF_NONE_MATCH).is_some_and(|it| it.as_bytes() == tag.as_bytes());
    let caching = [(CACHE_CONTROL, REVALIDATE.to_owned()), (ETAG, tag)];
    if has_it {
        return (StatusCode::NOT_MODIFIED, caching).into_response();
    }
    (caching, [(CONTENT_TYPE, kind)], text).into_response()
}

/// Whether a file is sent without the token, too: it says nothing of this machine.
pub(super) fn is_public(path: &str) -> bool {
    PUBLIC.contains(&path)
}

/// Where a browser enters the token, in place of what it asked for.
pub(super) fn sign_in() -> Response {
    let text = include_str!("pages/sign-in.html");
    (StatusCode::UNAUTHORIZED, [(CONTENT_TYPE, HTML)], text).into_response()
}

/// `/api/v1/openapi.json`: what there is under `/api/v1`.
pub(super) async fn openapi() -> Response {
    let text = include_str!("../../../schemas/openapi-1.json");
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_imports_is_there_and_every_script_is_imported() {
        let imports = |file: &'static File| {
            file.text.split("from \"./").skip(1).filter_map(|it| it.split('"').next())
        };
        let wanted: Vec<&str> = FILES
            .iter()
            .flat_map(imports)
            .chain(PAGES.iter().map(|it| it.script))
            .chain(["sign-in.js"])
            .collect();
        let scripts = FILES.iter().filter(|it| it.kind == SCRIPT);
        let there: Vec<&str> = scripts.map(|it| it.path.trim_start_matches("/assets/")).collect();
        let absent: Vec<&&str> = wanted.iter().filter(|it| !there.contains(it)).collect();
        let idle: Vec<&&str> = there.iter().filter(|it| !wanted.contains(it)).collect();
        assert!(absent.is_empty() && idle.is_empty(), "absent: {absent:?}, of no use: {idle:?}");
    }

    #[test]
    fn the_page_to_sign_in_is_made_of_public_files_that_import_nothing() {
        let page = include_str!("pages/sign-in.html");
        let named = ["src=\"", "href=\""].into_iter().flat_map(|it| page.split(it).skip(1));
        let assets =
            named.filter_map(|it| it.split('"').next()).filter(|it| it.starts_with("/assets"));
        let mut assets: Vec<&str> = assets.collect();
        assets.sort_unstable();
        assert_eq!(assets, PUBLIC);
        let script = FILES.iter().find(|it| it.path == PUBLIC[1]).unwrap();
        assert!(!script.text.contains("import "));
        assert!(!is_public("/") && !is_public("/assets/page.js") && !is_public("/assets"));
    }

    #[test]
    fn a_page_is_whole_and_says_where_it_is() {
        for page in &PAGES {
            let text = whole(page);
            assert!(!text.contains("{{") && text.matches("<main").count() == 1, "{text}");
            let here = format!("href=\"{}\" aria-current=\"page\"", page.path);
            assert_eq!((text.matches(&here).count(), text.matches("aria-current").count()), (1, 1));
        }
    }
}
