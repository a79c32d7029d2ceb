//! The pages in a browser, while nodes race.

use crate::fleet::engine::{self, Answering};
use crate::serve::server::{PATIENCE, Server, race};
use crate::support::chromium::Tab;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Waits until an expression of JavaScript is true.
fn until(tab: &mut Tab, expression: &str) {
    let deadline = Instant::now() + PATIENCE;
    while tab.evaluate(expression) != true {
        assert!(Instant::now() < deadline, "{expression}: {:?}", tab.complaints());
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn visit(tab: &mut Tab, server: &Server, path: &str) {
    tab.go(&format!("http://{}{path}", server.at));
    until(tab, "document.body.dataset.ready === 'true'");
}

/// Nothing is complained of, and nothing is asked of anybody else.
fn is_content(tab: &Tab, server: &Server) {
    assert_eq!(tab.complaints(), <[Value; 0]>::default());
    let ours = [format!("http://{}/", server.at), "data:".to_owned(), "blob:".to_owned()];
    for request in tab.requests() {
        assert!(ours.iter().any(|it| request.starts_with(it)), "{request}");
    }
}

/// The words that are broken where they have no hyphen.
const BROKEN: &str = r"(() => {
  const range = document.createRange();
  const nodes = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const broken = [];
  for (let node; (node = nodes.nextNode()); ) {
    for (const word of node.data.matchAll(/[\p{L}\p{N}]{2,24}/gu)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (range.getClientRects().length > 1) broken.push(word[0]);
    }
  }
  return broken;
})()";

/// The page has every interval of the race so far, and its gaps are those that the result has.
fn has_all(tab: &mut Tab, server: &Server, id: &str) {
    let shown = tab.evaluate(
        "(it => [it.intervals, it.gaps].map(Number))(document.querySelector('main').dataset)",
    );
    let mut events = server.events(&format!("/api/v1/results/{id}/intervals"), None);
    let (mut n_seen, mut n_gaps, mut ends) = (0, 0, [f64::INFINITY; 2]);
    while n_seen < shown[0].as_u64().unwrap() {
        let event = events.next();
        if event.name != "interval" {
            continue;
        }
        n_seen += 1;
        let [at, length] = ["at", "length"].map(|it| event.data[it].as_f64().unwrap());
        let end = &mut ends[usize::try_from(event.data["node"].as_u64().unwrap()).unwrap()];
        n_gaps += u64::from(at - *end > length / 2.0);
        *end = at + length;
    }
    assert_eq!(shown, json!([n_seen, n_gaps]));
}

#[test]
#[ignore = "opens Chromium: cargo xtask test"]
fn every_page_is_drawn_on_every_width_and_nothing_is_complained_of() {
    let engine = engine::start(Answering::Fleet);
    let server = Server::start(&["--prometheus", &engine.url()]);
    let mut racing = race(server.results.path(), "1s");
    let result = format!("/result?id={}", server.running());
    assert!(racing.0.wait().unwrap().success());
    let mut tab = Tab::empty();
    for page in ["/", "/race", "/audit", "/fleet", "/history", &result] {
        for (width, scheme) in [(400, "light"), (1280, "dark"), (3840, "light")] {
            let size =
                json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
            tab.call("Emulation.setDeviceMetricsOverride", &size);
            let features =
                json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
            tab.call("Emulation.setEmulatedMedia", &features);
            visit(&mut tab, &server, page);
            let sideways = tab.evaluate("document.documentElement.scrollWidth - innerWidth");
            assert!(sideways.as_i64().unwrap() <= 0, "{page} at {width}: {sideways}");
            assert_eq!(tab.evaluate(BROKEN), json!([]), "{page} at {width}");
        }
    }
    is_content(&tab, &server);
}

#[test]
#[ignore = "opens Chromium: cargo xtask test"]
fn a_link_with_the_token_signs_in_and_leaves_the_token_nowhere() {
    let (server, token) = Server::with_token();
    let mut tab = Tab::empty();
    tab.go(&format!("http://{}/race", server.at));
    until(&mut tab, "document.title.startsWith('Sign in')");
    tab.evaluate("document.getElementById('token').value = 'wrong', document.querySelector('button').click()");
    until(&mut tab, "document.getElementById('state').textContent.includes('not the server')");
    assert_eq!(tab.evaluate("document.title.startsWith('Sign in')"), true);
    tab.go("about:blank");
    tab.go(&format!("http://{}/#token={token}", server.at));
    until(&mut tab, "document.title.startsWith('Now') && document.body.dataset.ready === 'true'");
    let kept = tab.evaluate("[location.href, document.cookie, history.length]");
    assert_eq!((&kept[0], &kept[1]), (&json!(format!("http://{}/", server.at)), &json!("")));
    until(&mut tab, "document.getElementById('connection').dataset.state === 'connected'");
    // The link again, in a browser that has signed in.
    tab.go("about:blank");
    tab.go(&format!("http://{}/history#token={token}", server.at));
    until(
        &mut tab,
        "document.title.startsWith('History') && document.body.dataset.ready === 'true'",
    );
    assert_eq!(tab.evaluate("location.hash"), "");
    // A browser tells of every answer that is an error; of anything else nothing is complained of.
    for complaint in tab.complaints() {
        assert!(complaint.to_string().contains("401"), "{complaint}");
    }
    assert!(tab.requests().iter().all(|it| !it.contains(&token)));
    let (results, _) = server.stop();
    drop(results);
}

#[test]
#[ignore = "opens Chromium: cargo xtask test"]
fn what_is_shown_of_now_moves() {
    let server = Server::start(&[]);
    let mut tab = Tab::empty();
    visit(&mut tab, &server, "/");
    // The headline: busy, lost, clock, findings.
    until(&mut tab, "document.querySelectorAll('#headline .item').length === 4");
    until(
        &mut tab,
        "/^\\d+$/.test(document.querySelector('#headline [href=\"/audit\"] .value').textContent)",
    );
    let kept = "['useful', 'idle'].map(it => document.getElementById(`show-${it}`).ariaPressed)";
    assert_eq!(tab.evaluate(kept), json!(["false", "false"]));
    tab.evaluate("window.before = document.querySelector('[data-chart]').toDataURL(), 1");
    until(&mut tab, "window.before !== document.querySelector('[data-chart]').toDataURL()");
    is_content(&tab, &server);
}

#[test]
#[ignore = "opens Chromium: cargo xtask test"]
fn a_result_is_found_compared_and_has_a_page_of_its_own() {
    let server = Server::start(&[]);
    let mut racing = race(server.results.path(), "1s");
    let id = server.running();
    assert!(racing.0.wait().unwrap().success());
    let shown = server.json(&format!("/api/v1/results/{id}/document"));
    let headline = shown["document"]["verdict"].as_str().unwrap().replace(" %", "\u{a0}%");
    let mut tab = Tab::empty();
    visit(&mut tab, &server, "/history");
    let shown = "document.querySelectorAll('#rows tr').length";
    assert_eq!(tab.evaluate(shown), 1);
    let find = |words: &str| {
        format!(
            "(it => (it.value = '{words}', it.dispatchEvent(new Event('input')), {shown}))(document.getElementById('find'))"
        )
    };
    assert_eq!(tab.evaluate(&find("nothing")), 0);
    assert_eq!(tab.evaluate(&find("embedded COMMIT")), 1);
    tab.evaluate(
        "document.querySelector('#rows input').click(), document.getElementById('compare').click()",
    );
    until(&mut tab, "document.querySelector('#comparison .verdict') !== null");
    assert_eq!(tab.evaluate("document.querySelector('.verdict').textContent"), json!(headline));
    assert_eq!(tab.evaluate("document.querySelectorAll('pre').length"), 0);
    let link = tab.evaluate("document.querySelector('#rows th a').getAttribute('href')");
    assert_eq!(link, json!(format!("/result?id={id}")));
    visit(&mut tab, &server, link.as_str().unwrap());
    assert_eq!(tab.evaluate("document.querySelector('h1').textContent"), json!(headline));
    assert!(tab.evaluate("document.querySelectorAll('#document dd').length").as_u64().unwrap() > 2);
    assert_eq!(tab.evaluate("document.querySelectorAll('#machines details').length"), 1);
    // The race's own page has the same headline, and nothing that stands still can be paused.
    visit(&mut tab, &server, &format!("/race?id={id}"));
    until(&mut tab, "document.getElementById('pause').hidden");
    assert_eq!(tab.evaluate("document.querySelector('h1').textContent"), json!(headline));
    is_content(&tab, &server);
}

#[test]
#[ignore = "opens Chromium: cargo xtask test"]
fn an_audit_is_made_again_when_its_button_is_pressed() {
    let server = Server::start(&[]);
    let mut tab = Tab::empty();
    visit(&mut tab, &server, "/audit");
    let asked = |tab: &Tab, again: bool| {
        let end = format!("/api/v1/audit?again={again}");
        tab.requests().iter().filter(|it| it.ends_with(&end)).count()
    };
    assert_eq!((asked(&tab, false), asked(&tab, true)), (1, 0));
    tab.evaluate("document.getElementById('audit-again').click()");
    until(&mut tab, "!document.getElementById('audit-again').disabled");
    assert_eq!((asked(&tab, false), asked(&tab, true)), (1, 1));
    is_content(&tab, &server);
}

#[test]
#[ignore = "opens Chromium: cargo xtask test"]
fn a_race_moves_stands_still_when_told_to_and_is_exported() {
    let server = Server::start(&[]);
    let _racing = race(server.results.path(), "5m");
    let id = server.running();
    let mut tab = Tab::empty();
    visit(&mut tab, &server, "/race");
    let received = "Number(document.querySelector('main').dataset.intervals)";
    until(&mut tab, &format!("{received} > 20"));
    tab.evaluate("document.getElementById('pause').click()");
    // What was on its way to the screen when it was paused gets there.
    let drawn = "[...document.querySelectorAll('canvas')].map(it => it.toDataURL()).join()";
    until(
        &mut tab,
        &format!(
            "new Promise(done => {{ const seen = {drawn}; \
             setTimeout(() => done(seen === {drawn}), 1000) }})"
        ),
    );
    tab.evaluate(&format!("window.still = {drawn}, window.then = {received}"));
    until(&mut tab, &format!("{received} > window.then + 10"));
    assert_eq!(tab.evaluate(&format!("window.still === {drawn}")), true, "it moved while paused");
    tab.evaluate("document.getElementById('pause').click()");
    until(&mut tab, &format!("window.still !== {drawn}"));
    // What would be downloaded is caught on its way.
    tab.evaluate(
        "window.made = URL.createObjectURL, URL.createObjectURL = it => (window.blob = it, window.made(it)), \
         HTMLAnchorElement.prototype.click = function () { \
         window.blob.arrayBuffer().then(it => window.saved.push( \
         [this.download, window.blob.type, [...new Uint8Array(it).slice(0, 8)], it.byteLength])) }, 1",
    );
    for (button, end, kind) in
        [("export-png", ".png", "image/png"), ("export-csv", ".csv", "text/csv")]
    {
        tab.evaluate(&format!("window.saved = [], document.getElementById('{button}').click()"));
        until(&mut tab, "window.saved.length === 1");
        let saved = tab.evaluate("window.saved[0]");
        assert!(saved[0].as_str().unwrap().ends_with(end), "{saved}");
        assert!(saved[1].as_str().unwrap().starts_with(kind), "{saved}");
        assert!(saved[3].as_u64().unwrap() > 500, "{saved}");
        if end == ".png" {
            assert_eq!(saved[2], json!([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
        }
    }
    has_all(&mut tab, &server, &id);
    assert_eq!(tab.evaluate("document.querySelector('main').dataset.gaps"), "0");
    is_content(&tab, &server);
}
