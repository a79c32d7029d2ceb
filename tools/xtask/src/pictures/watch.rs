//! `fullclock watch` on a server whose kernel polls a management controller.

use anyhow::Result;
use testbench::{Bench, Step, machines};

use super::terminal::{self, Size};
use super::{guest, svg};

const SIZE: Size = Size { columns: 120, rows: 36 };

/// For as long as it is watched: the chart of the selected value fills its width.
const SECONDS: u32 = 60;

/// Makes the picture.
pub(super) fn make(bench: &Bench) -> Result<Vec<u8>> {
    let watch = terminal::script("fullclock watch", SIZE, SECONDS);
    let script = format!("{}\n{}\n{watch}\n", guest::NAME, guest::LOAD);
    let transcript = bench.run(&machines::watched(None), &[Step::new("watch", &script)])?;
    let screen = terminal::last_screen(&transcript.step("watch")?.stdout, SIZE)?;
    let title = "fullclock watch: a row for each CPU, where the time of all CPUs went, and a value over time";
    Ok(svg::draw(&screen, title).into_bytes())
}
