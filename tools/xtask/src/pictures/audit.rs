//! An audit of a server whose clock runs a quarter of the time.

use anyhow::{Result, ensure};
use testbench::{Bench, Step, machines};

use super::{guest, svg, terminal};

/// The fault that has to be in the picture.
const FAULT: &str = "clock-modulation";

/// What a program that prints into a pipe takes for the width of its terminal.
const COLUMNS: u16 = 100;

/// Makes the picture.
pub(super) fn make(bench: &Bench) -> Result<Vec<u8>> {
    let script = format!("{}; fullclock audit --color always", guest::NAME);
    let transcript = bench.run(&machines::throttled(), &[Step::new("audit", &script)])?;
    let output = transcript.step("audit")?;
    ensure!(output.stdout.contains(FAULT), "the audit does not find {FAULT}: {output:#?}");
    let screen = terminal::after_prompt("fullclock audit", &output.stdout, COLUMNS)?;
    let title = "fullclock audit of a server whose CPU clock runs 25 % of the time";
    Ok(svg::draw(&screen, title).into_bytes())
}
