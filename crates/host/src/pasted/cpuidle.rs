//! `cpupower idle-info` as the files of cpuidle.
//!
//! Source: tools/power/cpupower/utils/cpuidle-info.c. Until Linux 4.7 a block begins with a capital letter, and some of these releases do
//! not show whether a state is disabled.

use super::{Facts, number, value};

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn read(text: &str, facts: &mut Facts) -> Option<usize> {
    let mut first = None;
    let mut block = Block::default();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(driver) = value(line, "CPUidle driver") {
            first.get_or_insert(at);
            facts.line(&format!("{CPUS}/cpuidle/current_driver"), driver);
        } else if let Some(governor) = value(line, "CPUidle governor") {
            first.get_or_insert(at);
            facts.line(&format!("{CPUS}/cpuidle/current_governor"), governor);
        } else if let Some(names) = value(line, "Available idle states") {
            first.get_or_insert(at);
            block.names = names.split_whitespace().map(str::to_owned).collect();
            facts.sees(block.cpu);
        } else if let Some(rest) = line.strip_prefix("analyzing CPU ") {
            block =
                Block { cpu: number(rest).unwrap_or(0), shows_disabled: true, ..Block::default() };
        } else if let Some(rest) = line.strip_prefix("Analyzing CPU ") {
            block = Block { cpu: number(rest).unwrap_or(0), ..Block::default() };
        } else if !block.names.is_empty() {
            block.take(line, facts);
        }
    }
    first
}

/// What is said of one CPU.
#[derive(Default)]
struct Block {
    cpu: u32,
    /// The states that were announced, of which each is described later.
    names: Vec<String>,
    /// The state that is described.
    state: Option<usize>,
    shows_disabled: bool,
}

impl Block {
    fn take(&mut self, line: &str, facts: &mut Facts) {
        let from = self.state.map_or(0, |it| it + 1);
        let described =
            line.strip_suffix(':').map(|it| it.trim_end().trim_end_matches("(DISABLED)").trim());
        if let Some(name) = described
            && let Some(found) = self.names.iter().skip(from).position(|it| it == name)
        {
            let number = from + found;
            self.state = Some(number);
            self.write(facts, "name", name);
            let is_disabled = line.contains("(DISABLED)");
            if is_disabled || self.shows_disabled {
                self.write(facts, "disable", if is_disabled { "1" } else { "0" });
            }
            return;
        }
        let files =
            [("Flags/Description", "desc"), ("Latency", "latency"), ("Residency", "residency")];
        for (key, file) in files {
            if let Some(value) = value(line, key) {
                self.write(facts, file, value);
            }
        }
    }

    fn write(&self, facts: &mut Facts, file: &str, value: &str) {
        if let Some(state) = self.state {
            facts.line(&format!("{CPUS}/cpu{}/cpuidle/state{state}/{file}", self.cpu), value);
        }
    }
}
