//! Pages, as a browser shows them.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::chromium::Tab;
use crate::cargo::{self, program};

/// Of the window, in pixels of the page.
const WIDTH: u32 = 900;

/// Pixels of the picture for each of the page: letters stay sharp on a screen with small pixels.
const SCALE: u32 = 2;

/// A page that is not there by then never will be.
const PATIENCE: Duration = Duration::from_secs(60);

/// A tab as wide as a picture, with a light page.
pub(super) fn tab() -> Tab {
    let mut tab = Tab::empty();
    let window =
        json!({ "width": WIDTH, "height": 1000, "deviceScaleFactor": SCALE, "mobile": false });
    tab.call("Emulation.setDeviceMetricsOverride", &window);
    let light = json!([{ "name": "prefers-color-scheme", "value": "light" }]);
    tab.call("Emulation.setEmulatedMedia", &json!({ "features": light }));
    tab
}

/// A PNG of the top of the page that a tab shows, down to the foot of the element that an expression of JavaScript gives.
pub(super) fn picture_down_to(tab: &mut Tab, element: &str) -> Result<Vec<u8>> {
    // As much room below it as to its left.
    let height = tab.evaluate(&format!(
        "(it => Math.ceil(it.bottom + scrollY + Math.max(it.left, 16)))(({element}).getBoundingClientRect())"
    ));
    let clip = json!({ "x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1 });
    let how = json!({ "format": "png", "clip": clip, "captureBeyondViewport": true });
    let answer = tab.call("Page.captureScreenshot", &how);
    let image = answer["data"].as_str().context("the browser sent no picture")?;
    with_few_colors(&STANDARD.decode(image).context("the browser sent no picture")?)
}

/// Enough for the edges of letters and for the marks of a chart.
const N_COLORS: &str = "64";

/// The same picture with a palette, which takes a third of the bytes.
fn with_few_colors(png: &[u8]) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir().context("cannot make a folder for a picture")?;
    let (from, to) = (folder.path().join("from.png"), folder.path().join("to.png"));
    fs::write(&from, png).with_context(|| format!("cannot write {}", from.display()))?;
    let named = |path: &Path| path.to_string_lossy().into_owned();
    let (from, to) = (named(&from), named(&to));
    let options = ["--nofs", "--speed", "1", "--strip", "--output", &to, N_COLORS, &from];
    cargo::run(program("pngquant", &options))?;
    fs::read(&to).with_context(|| format!("cannot read {to}"))
}

/// Waits until an expression of JavaScript is true.
pub(super) fn wait_for(tab: &mut Tab, expression: &str) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while tab.evaluate(expression) != Value::Bool(true) {
        let is_late = Instant::now() >= deadline;
        ensure!(!is_late, "the page never came to {expression}: {:?}", tab.complaints());
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}
