//! What is kept of one baseline: a line of JSON.

use crate::known::Known;
use facts::baseline::Part;
use facts::utc;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the lines that this program writes. A later one is left alone, and said.
pub(super) const VERSION: u32 = 1;

/// No machine is booted more often.
pub(super) const LARGEST_NUMBER: u64 = 1_000_000;

/// A hundred years: no machine is up for longer.
const LONGEST_UP_S: u64 = 100 * 365 * 86_400;

/// In any unit: slower or faster nothing is.
const SPEEDS: std::ops::RangeInclusive<f64> = 1e-6..=1e9;

/// The times that a baseline can have: this century.
const TIMES_S: std::ops::Range<u64> = 946_684_800..4_102_444_800;

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
    /// Counts the baselines of this history, from 1 on.
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
    /// Errors: it holds what no baseline has, in words.
    pub(super) fn check(&self) -> Result<(), String> {
        if !(1..=LARGEST_NUMBER).contains(&self.number) {
            return Err("its number is none that a baseline has".to_owned());
        }
        if self.up_s > LONGEST_UP_S {
            return Err("the machine would have been up for more than a hundred years".to_owned());
        }
        let cannot_be = |part: &Part| self.trials(*part).iter().any(|it| !SPEEDS.contains(it));
        match Part::ALL.iter().find(|it| cannot_be(it)) {
            Some(part) => Err(format!("its {} has a value that no machine has", part.quantity())),
            None => Ok(()),
        }
    }

    /// When it was taken, in nanoseconds since 1970; `None` where that is no time, or none of this century.
    pub fn taken_ns(&self) -> Option<u64> {
        let ns = utc::parse_timestamp(&self.at)?;
        TIMES_S.contains(&(ns / 1_000_000_000)).then_some(ns)
    }

    /// The day on which it was taken, as in `2026-05-12`; `None` where that is unknown.
    pub fn day(&self) -> Option<String> {
        self.taken_ns().map(utc::date)
    }

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
    fn what_no_machine_has_is_no_baseline() {
        let line = |from: &str, to: &str| {
            let text = r#"{"v":1,"number":7,"boot":"b","at":"2026-05-12T08:00:00.000Z","up_s":900,"machine":"ab","speed":{"single-core":[2713.5]}}"#;
            assert!(text.contains(from));
            serde_json::from_str::<Record>(&text.replace(from, to)).unwrap()
        };
        assert!(line("7", "7").check().is_ok());
        for (from, to, why) in [
            (":7,", ":0,", "its number"),
            (":7,", ":18446744073709551615,", "its number"),
            ("900", "9000000000000000000", "a hundred years"),
            ("2713.5", "-5", "its single-core speed"),
            ("2713.5", "0", "its single-core speed"),
            ("2713.5", "1e300", "its single-core speed"),
        ] {
            assert!(line(from, to).check().unwrap_err().contains(why), "{to}");
        }
        let taken = |at: &str| line("2026-05-12T08:00:00.000Z", at).day();
        assert_eq!(taken("2026-05-12T23:30:00-02:00").as_deref(), Some("2026-05-13"));
        for at in
            ["tomorrow", "", "1970-01-01T00:00:12Z", "2261-01-01T00:00:00Z", "2026-13-01T00:00:00Z"]
        {
            assert_eq!(taken(at), None, "{at}");
        }
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
