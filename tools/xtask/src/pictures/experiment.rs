//! The report of a study: how long questions to a management controller take with some limits of the kernel's polling.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use testbench::{Bench, Boot, Step, machines};

use super::{guest, page};

/// The setting, the limit that the machine is taken to have first; and a workload on one CPU, whose clock can be seen then.
const STUDY: &str =
    "kipmid-max-busy=100,1000,0 -w 'ipmi-roundtrip --cpus 0 --iterations 5' --seed 1";

/// What the picture ends with.
const LAST: &str = "document.querySelectorAll('figure')[0]";

/// Makes the picture.
pub(super) fn make(bench: &Bench) -> Result<Vec<u8>> {
    let boot = Boot { has_config: true, runs_alone: true, ..machines::tickless() };
    let script = format!(
        "{}\nfullclock experiment {STUDY} --results /tmp/studies >&2 && cat /tmp/studies/*/report.html",
        guest::NAME
    );
    let transcript = bench.run(&boot, &[Step::new("study", &script)])?;
    let output = transcript.step("study")?;
    ensure!(output.status == 0, "the study failed: {}", output.stderr);
    let folder = tempfile::tempdir().context("cannot make a folder for the report")?;
    let file = folder.path().join("report.html");
    fs::write(&file, &output.stdout).with_context(|| format!("cannot write {}", file.display()))?;
    let mut tab = page::tab();
    tab.go(&format!("file://{}", file.display()));
    page::picture_down_to(&mut tab, LAST)
}
