//! Colours in what a browser draws. It counts them itself, on a canvas of another tab: no decoder is needed here.

use super::chromium::Tab;
use serde_json::{Value, json};

/// A mark's edges are mixed with what lies below; within this of each of red, green and blue a colour is the same.
const CLOSE: u32 = 6;

/// How many pixels of a figure, by its place in the page, have each of these colours (`#1d6fb8`).
pub(super) fn count(tab: &mut Tab, figure: usize, colors: &[&str]) -> Vec<u64> {
    let place = format!(
        "(() => {{ const it = document.querySelectorAll('figure')[{figure}].getBoundingClientRect();
         return {{ x: it.x + scrollX, y: it.y + scrollY, width: it.width, height: it.height, scale: 1 }} }})()"
    );
    let clip = tab.evaluate(&place);
    let how = json!({ "format": "png", "clip": clip, "captureBeyondViewport": true });
    let image = tab.call("Page.captureScreenshot", &how)["data"].take();
    let page = tab.attach();
    let counts = tab.evaluate(&script(&image, colors));
    tab.session = page;
    counts.as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).collect()
}

fn script(image: &Value, colors: &[&str]) -> String {
    format!(
        "(async () => {{
            const image = new Image();
            image.src = 'data:image/png;base64,' + {image};
            await image.decode();
            const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
            canvas.drawImage(image, 0, 0);
            const data = canvas.getImageData(0, 0, image.width, image.height).data;
            const channels = color => [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16));
            return {colors}.map(channels).map(color => {{
                let n = 0;
                for (let at = 0; at < data.length; at += 4)
                    n += color.every((it, channel) => Math.abs(it - data[at + channel]) <= {CLOSE});
                return n;
            }});
        }})()",
        colors = json!(colors)
    )
}
