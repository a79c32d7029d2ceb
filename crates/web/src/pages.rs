//! The pages and what they are made of: files of this program, nothing is fetched from elsewhere.

use super::Served;
use axum::Router;
use axum::body::Bytes;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write as _};
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
    /// The page that the navigation marks.
    marked: &'static str,
    title: &'static str,
    script: &'static str,
    main: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! page {
    ($path:literal, $title:literal, $name:literal) => {
        page!($path, $path, $title, $name)
    };
    ($path:literal, $marked:literal, $title:literal, $name:literal) => {
        Page {
            path: $path,
            marked: $marked,
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

const PAGES: [Page; 6] = [
    page!("/", "Now", "now"),
    page!("/race", "Race", "race"),
    page!("/audit", "Audit", "audit"),
    page!("/fleet", "Fleet", "fleet"),
    page!("/history", "History", "history"),
    page!("/result", "/history", "Result", "result"),
];

/// The page that only a server with a fleet has.
const FLEET: &str = "/fleet";

const FILES: &[File] = &[
    file!(CSS, "fullclock.css"),
    file!(SCRIPT, "audit.js"),
    file!(SCRIPT, "choice.js"),
    file!(SCRIPT, "clock.js"),
    file!(SCRIPT, "document.js"),
    file!(SCRIPT, "dom.js"),
    file!(SCRIPT, "export.js"),
    file!(SCRIPT, "figures.js"),
    file!(SCRIPT, "fleet.js"),
    file!(SCRIPT, "headline.js"),
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
    file!(SCRIPT, "result.js"),
    file!(SCRIPT, "ring.js"),
    file!(SCRIPT, "scale.js"),
    file!(SCRIPT, "sheet.js"),
    file!(SCRIPT, "sign-in.js"),
    file!(SCRIPT, "standing.js"),
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

/// A file as it is sent: as it is, and compressed for who takes that.
#[derive(Clone)]
struct Sent {
    kind: &'static str,
    /// Tells it from others, and protects nothing.
    tag: u64,
    plain: Bytes,
    /// By gzip.
    compressed: Bytes,
}

impl Sent {
    fn of(kind: &'static str, text: String) -> Sent {
        // FNV-1a (draft-eastlake-fnv).
        let tag = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let compressed = compressed(text.as_bytes()).unwrap_or_default().into();
        Sent { kind, tag, plain: Bytes::from(text), compressed }
    }

    fn answer(&self, headers: &HeaderMap) -> Response {
        let is_compressed = !self.compressed.is_empty() && takes_gzip(headers);
        let tag = format!("\"{:x}{}\"", self.tag, if is_compressed { "-gzip" } else { "" });
        let has_it = headers.get(IF_NONE_MATCH).is_some_and(|it| it.as_bytes() == tag.as_bytes());
        let caching = [
            (CACHE_CONTROL, REVALIDATE.to_owned()),
            (ETAG, tag),
            (VARY, ACCEPT_ENCODING.to_string()),
        ];
        let kind = [(CONTENT_TYPE, self.kind)];
        if has_it {
            (StatusCode::NOT_MODIFIED, caching).into_response()
        } else if is_compressed {
            (caching, kind, [(CONTENT_ENCODING, "gzip")], self.compressed.clone()).into_response()
        } else {
            (caching, kind, self.plain.clone()).into_response()
        }
    }
}

fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Whether the client takes gzip by its own word (RFC 9110, section 12.5.3).
fn takes_gzip(headers: &HeaderMap) -> bool {
    let named = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|it| it.to_str().ok());
    named.flat_map(|it| it.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map(str::parse::<f32>);
        name.trim().eq_ignore_ascii_case("gzip")
            && weight.is_none_or(|it| it.is_ok_and(|it| it > 0.0))
    })
}

/// The pages, that of a fleet only where the server has one.
pub(super) fn router(has_fleet: bool) -> Router<Arc<Served>> {
    let files = FILES.iter().map(|it| (it.path, it.kind, without_comments(it.text)));
    let pages = PAGES.iter().filter(|it| has_fleet || it.path != FLEET);
    let pages = pages.map(|it| (it.path, HTML, whole(it, has_fleet)));
    files.chain(pages).fold(Router::new(), |router, (path, kind, text)| {
        let sent = Sent::of(kind, text);
        let answer = move |headers: HeaderMap| async move { sent.answer(&headers) };
        router.route(path, get(answer))
    })
}

/// A script or a style without the lines that are comments: they are for who reads the source, and a quarter of it.
fn without_comments(text: &str) -> String {
    let mut is_in_comment = false;
    let mut is_code = |line: &&str| {
        let line = line.trim();
        // `/** @type {Error} */ (error).stack` is code.
        let is_whole = line.ends_with("*/") || !line.contains("*/");
        let begins = !is_in_comment && line.starts_with("/*") && is_whole;
        let is_comment = begins || is_in_comment || line.starts_with("//");
        is_in_comment = (begins || is_in_comment) && !line.ends_with("*/");
        !is_comment
    };
    text.split_inclusive('\n').filter(|it| is_code(it)).collect()
}

/// A page in its frame, where it is marked as the one that is looked at.
fn whole(page: &Page, has_fleet: bool) -> String {
    let here = format!("href=\"{}\"", page.marked);
    let main: String = page.main.lines().map(|it| format!("    {it}\n")).collect();
    let of_fleet = format!("href=\"{FLEET}\"");
    let is_there = |line: &&str| has_fleet || !line.contains(&of_fleet);
    let frame: String =
        include_str!("pages/frame.html").split_inclusive('\n').filter(is_there).collect();
    frame
        .replacen(&here, &format!("{here} aria-current=\"page\""), 1)
        .replace("{{title}}", page.title)
        .replace("{{script}}", page.script)
        .replace("{{main}}\n", &main)
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
    fn comments_are_not_sent_and_code_is() {
        let text = "/** A doc.\n * of two lines */\nlet a = 1; // one\n/** @type {X} */ (a).b();\n\n  // two\n/* three */\n  * a;\n";
        assert_eq!(
            without_comments(text),
            "let a = 1; // one\n/** @type {X} */ (a).b();\n\n  * a;\n"
        );
        for file in FILES {
            let sent = without_comments(file.text);
            // Code behind the end of a comment stays.
            let is_code = |it: &&str| it.contains("*/") && !it.trim().ends_with("*/");
            assert!(file.text.lines().filter(is_code).all(|it| sent.contains(it)), "{}", file.path);
            assert!(sent.len() * 2 > file.text.len() && !sent.contains("\n/*"), "{}", file.path);
        }
    }

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
            let text = whole(page, true);
            assert!(!text.contains("{{") && text.matches("<main").count() == 1, "{text}");
            let here = format!("href=\"{}\" aria-current=\"page\"", page.marked);
            assert_eq!((text.matches(&here).count(), text.matches("aria-current").count()), (1, 1));
        }
    }

    #[test]
    fn a_server_without_a_fleet_leads_to_no_page_of_one() {
        let leads = |has_fleet| whole(&PAGES[0], has_fleet).contains(FLEET);
        assert!(leads(true) && !leads(false));
        let is_of_fleet = |it: &&Page| it.path == FLEET;
        assert_eq!(PAGES.iter().filter(is_of_fleet).count(), 1);
    }

    #[test]
    fn a_file_is_compressed_for_who_takes_that_and_has_another_tag_then() {
        let sent = Sent::of(CSS, "p { margin: 0 }\n".repeat(200));
        let ask = |encoding: &'static str, tag: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, encoding.parse().unwrap());
            headers.extend(tag.map(|it| (IF_NONE_MATCH, it.parse().unwrap())));
            sent.answer(&headers)
        };
        for (encoding, is_compressed) in [
            ("gzip, deflate, br", true),
            ("br;q=1.0, GZIP;q=0.2", true),
            ("gzip;q=0", false),
            ("identity", false),
            ("x-gzip-2", false),
        ] {
            let answer = ask(encoding, None);
            assert_eq!(
                answer.headers().contains_key(CONTENT_ENCODING),
                is_compressed,
                "{encoding}"
            );
            let tag = answer.headers()[ETAG].to_str().unwrap().to_owned();
            assert_eq!(ask(encoding, Some(&tag)).status(), StatusCode::NOT_MODIFIED);
            let other = if is_compressed { "identity" } else { "gzip" };
            assert_eq!(ask(other, Some(&tag)).status(), StatusCode::OK);
        }
        assert!(sent.compressed.len() < sent.plain.len() / 4);
    }
}
