//! What is kept of one baseline: a line of JSON.

use crate::known::Known;
use facts::baseline::Part;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the lines that this program writes. A later one is left alone, and said.
pub(super) const VERSION: u32 = 1;

/// A line of the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub(super) enum Line {
    /// The settings of the machine, where no line before has the same.
    Machine(Machine),
    /// One baseline.
    Baseline(Record),
}

/// Settings by name. Few differ from those of an earlier line, and only these are written again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Machine {
    pub(super) v: u32,
    /// What baselines call them: a hash of all.
    pub(super) id: String,
    /// The earlier line that has the others, which is a whole one; `None` where this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) like: Option<String>,
    /// The value of each; `None` of one that the earlier line has and this machine has not.
    pub(super) settings: BTreeMap<String, Option<String>>,
}

/// One baseline of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub(super) v: u32,
    /// Counts the baselines of this history, from 1 on: their order, whatever clocks say.
    pub number: u64,
    /// The boot, as in /proc/sys/kernel/random/boot_id.
    pub boot: String,
    /// When it was taken by the clock of the machine, UTC (RFC 3339).
    pub at: String,
    /// Seconds since the start of that boot.
    pub up_s: u64,
    /// Which settings the machine had.
    pub(super) machine: String,
    /// What was measured, or why nothing was.
    pub speed: Known<Measured>,
}

/// The trials of each part, in its unit and in the order in which they were run, or why there are none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Measured(pub BTreeMap<Part, Known<Vec<f64>>>);

impl Record {
    /// The trials of a part, where there are any.
    pub fn trials(&self, part: Part) -> &[f64] {
        let known = self.speed.value().and_then(|it| it.0.get(&part)?.value());
        known.map_or(&[], Vec::as_slice)
    }
}

/// A value with five digits that count: more than any trial is good for, and few bytes.
pub fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_digits_are_kept() {
        assert_eq!([2713.4567, 0.000_123_456, 0.0].map(rounded), [2713.5, 0.000_123_46, 0.0]);
        assert!(rounded(f64::NAN).is_nan());
    }

    #[test]
    fn a_line_is_what_old_files_have() {
        let text = r#"{"line":"baseline","v":1,"number":7,"boot":"b","at":"2026-05-12T08:00:00.000Z","up_s":900,"machine":"ab","speed":{"single-core":[2713.5,2714.0],"memory":{"missing":"the time was up"}}}"#;
        let line: Line = serde_json::from_str(text).unwrap();
        let Line::Baseline(record) = &line else { panic!("{line:?}") };
        assert_eq!(record.trials(Part::SingleCore), [2713.5, 2714.0]);
        assert!(record.trials(Part::Memory).is_empty() && record.trials(Part::WakeUp).is_empty());
        assert_eq!(serde_json::to_string(&line).unwrap(), text);
    }
}
