//! The page of a study, opened in Chromium: nothing is complained of, nothing fetched, everything drawn, on any width.

#[path = "../../../../fullclock/tests/program/support/chromium.rs"]
mod chromium;
mod pixels;

use super::{Study, document, fixture};
use crate::document::Format;
use chromium::Tab;
use lab::experiment::Factor;
use lab::record::Record;
use serde_json::{Value, json};

/// A page on which names are long, and there are many of everything.
fn large() -> Record {
    let (record, _) = fixture::study();
    let mut design = record.experiment.unwrap().design;
    design.workloads.truncate(1);
    for name in ["turbo", "no-hz-full", &"x".repeat(120)] {
        let levels = vec!["as-found".to_owned(), "y".repeat(80)];
        design.factors.push(Factor { name: name.to_owned(), levels });
    }
    fixture::record(&design, 4)
}

fn opened(record: &Record) -> Tab {
    let analysis = fixture::analysis(record);
    shown(&document(&Study::of(record, &analysis).unwrap()).render(Format::Html))
}

/// A page that is nowhere but in this text, in a folder that goes when this function ends: it is loaded by then.
#[expect(clippy::disallowed_methods, reason = "writes a page for the browser")]
fn shown(page: &str) -> Tab {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    std::fs::write(&file, page).unwrap();
    let mut tab = Tab::empty();
    tab.go(&format!("file://{}", file.display()));
    tab
}

fn resize(tab: &mut Tab, width: u32) {
    let size =
        json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
    tab.call("Emulation.setDeviceMetricsOverride", &size);
}

fn emulate(tab: &mut Tab, scheme: &str) {
    let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
    tab.call("Emulation.setEmulatedMedia", &features);
}

#[test]
#[ignore = "opens Chromium: cargo xtask test"]
fn nothing_is_complained_of_and_nothing_is_fetched() {
    let (mut record, _) = fixture::study();
    let evil = "<img src='http://127.0.0.1:9/x'><script>console.error(1)</script>";
    record.trials[0].failed = Some(evil.to_owned());
    let mut tab = opened(&record);
    assert_eq!(tab.evaluate("document.querySelectorAll('figure').length"), 8);
    assert_eq!(tab.complaints(), <[Value; 0]>::default());
    let requests = tab.requests();
    assert!(matches!(&requests[..], [page] if page.starts_with("file://")), "{requests:?}");
}

/// What a browser is told to do when markup does get in.
#[test]
#[ignore = "opens Chromium: cargo xtask test"]
fn a_script_or_an_address_would_be_refused() {
    let (record, analysis) = fixture::study();
    let page = document(&Study::of(&record, &analysis).unwrap()).render(Format::Html);
    let evil = "<script>document.title = 'taken'</script><img src='http://127.0.0.1:9/x'><h1>";
    let mut tab = shown(&page.replacen("<h1>", evil, 1));
    assert_ne!(tab.evaluate("document.title"), "taken");
    // Chromium says of both that the policy refused them.
    assert_eq!(tab.complaints().len(), 2);
}

#[test]
#[ignore = "opens Chromium: cargo xtask test"]
fn every_chart_is_drawn_in_the_light_and_in_the_dark() {
    let (record, _) = fixture::study();
    let mut tab = opened(&record);
    resize(&mut tab, 1200);
    // A legend has the colours of the marks, and is not what is looked for.
    tab.evaluate("document.querySelectorAll('.legend').forEach(it => it.remove())");
    // Of the charts of the first workload, colours that only their marks have.
    const LIGHT: [&[&str]; 4] = [
        &["#1d6fb8", "#c2410c"],
        &["#88a7c7"],
        &["#e07b28", "#6b4fa0", "#2a7f62"],
        &["#3f94c4", "#df863f"],
    ];
    const DARK: [&[&str]; 4] = [
        &["#6cb2f5", "#f59a5b"],
        &["#557395"],
        &["#f0954a", "#a58be0", "#57b896"],
        &["#498ab6", "#bb6d3f"],
    ];
    for (scheme, colors) in [("light", LIGHT), ("dark", DARK)] {
        emulate(&mut tab, scheme);
        for (figure, colors) in colors.iter().enumerate() {
            let counts = pixels::count(&mut tab, figure, colors);
            assert!(counts.iter().all(|it| *it > 20), "{scheme} {figure} {colors:?} {counts:?}");
        }
    }
}

#[test]
#[ignore = "opens Chromium: cargo xtask test"]
fn no_width_makes_the_page_scroll_sideways() {
    // What a scroll bar takes is not there to be filled.
    const BEYOND: &str =
        "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth";
    for record in [fixture::study().0, large()] {
        let mut tab = opened(&record);
        for width in [320, 400, 1600, 3840] {
            resize(&mut tab, width);
            assert_eq!(tab.evaluate(BEYOND), 0, "{width}");
        }
    }
}

/// Letters of a chart do not run into each other where there is little room.
#[test]
#[ignore = "opens Chromium: cargo xtask test"]
fn numbers_of_an_axis_stay_apart_on_a_phone() {
    const OVERLAPPING: &str = "[...document.querySelectorAll('.axis svg')].flatMap(axis => {
        const boxes = [...axis.querySelectorAll('text')].map(it => it.getBoundingClientRect());
        return boxes.slice(1).filter((it, at) => it.left < boxes[at].right + 4);
    }).length";
    let mut tab = opened(&fixture::study().0);
    resize(&mut tab, 400);
    assert_eq!(tab.evaluate(OVERLAPPING), 0);
}

#[test]
#[ignore = "opens Chromium: cargo xtask test"]
fn paper_shows_what_a_screen_folds_away() {
    let mut tab = opened(&fixture::study().0);
    const SHOWN: &str = "[...document.querySelectorAll('details')].filter(it => it.getBoundingClientRect().height > 60).length";
    assert_eq!(tab.evaluate(SHOWN), 0);
    tab.call("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    assert_eq!(tab.evaluate(SHOWN), 4);
}
