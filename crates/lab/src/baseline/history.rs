//! The baselines of a machine, as its history has them. What cannot be read is told, and stays where it is.

use super::machines::{Machines, hash};
use super::record::{Line, Measured, Record, VERSION};
use crate::known::Known;
use crate::record::Fingerprint;
use facts::utc;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// A history as far as it could be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// In the order in which they were taken.
    pub entries: Vec<Entry>,
    /// The lines that could not be read.
    pub damage: Vec<Damage>,
    machines: Machines,
    /// The highest number that a line has.
    last: u64,
}

/// One baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What was measured, and when.
    pub record: Record,
    /// The settings of the machine; `None` where the line that had them is lost.
    pub settings: Option<Arc<Fingerprint>>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Its number in the file, from 1 on.
    pub line: usize,
    /// Why not.
    pub why: String,
}

/// What has to be known of a history besides its baselines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// A line could not be read.
    Damaged(Damage),
    /// Baselines are missing, which a damaged line may have held.
    Missing {
        /// The number of the first of them.
        first: u64,
        /// The number of the last.
        last: u64,
    },
    /// The clock of the machine showed an earlier time than for the baseline before.
    WentBack {
        /// The number of the baseline.
        number: u64,
        /// By how much.
        by: Duration,
    },
}

/// What every version of a line has.
#[derive(Deserialize)]
struct Versioned {
    v: u32,
}

impl History {
    /// That of the bytes of a file.
    pub fn parse(bytes: &[u8]) -> History {
        let mut history = History::default();
        for (at, line) in bytes.split_inclusive(|it| *it == b'\n').enumerate() {
            let is_cut = !line.ends_with(b"\n");
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            if line.is_empty() {
                continue;
            }
            if let Err(why) = history.learn(line) {
                let why = if is_cut { "it breaks off".to_owned() } else { why };
                history.damage.push(Damage { line: at + 1, why });
            }
        }
        history
    }

    fn learn(&mut self, line: &[u8]) -> Result<(), String> {
        let Versioned { v } = serde_json::from_slice(line).map_err(|it| it.to_string())?;
        if v > VERSION {
            return Err(format!("it is of version {v}: a later fullclock wrote it"));
        }
        match serde_json::from_slice(line).map_err(|it| it.to_string())? {
            Line::Machine(machine) => self.machines.learn(machine),
            Line::Baseline(record) => {
                self.last = self.last.max(record.number);
                let settings = self.machines.get(&record.machine).cloned();
                self.entries.push(Entry { record, settings });
                Ok(())
            }
        }
    }

    /// Adds a baseline, and gives the lines to append to the file.
    ///
    /// Errors: it cannot be written as JSON, which is a bug.
    pub fn add(
        &mut self,
        moment: Moment,
        settings: &Fingerprint,
        speed: Known<Measured>,
    ) -> serde_json::Result<Vec<u8>> {
        let mut lines = Vec::new();
        if let Some(machine) = self.machines.line_of(settings) {
            serde_json::to_writer(&mut lines, &Line::Machine(machine.clone()))?;
            lines.push(b'\n');
            // Its whole line is one that is known.
            self.machines.learn(machine).map_err(serde::de::Error::custom)?;
        }
        let Moment { boot, at, up_s } = moment;
        let number = self.last.saturating_add(1);
        let machine = hash(settings);
        let record = Record { v: VERSION, number, boot, at, up_s, machine, speed };
        serde_json::to_writer(&mut lines, &Line::Baseline(record.clone()))?;
        lines.push(b'\n');
        self.last = number;
        let settings = self.machines.get(&record.machine).cloned();
        self.entries.push(Entry { record, settings });
        Ok(lines)
    }

    /// The last baseline of a boot that has a speed.
    pub fn of_boot(&self, boot: &str) -> Option<&Entry> {
        let mut of_boot = self.entries.iter().filter(|it| it.record.boot == boot);
        of_boot.rfind(|it| it.record.speed.value().is_some())
    }

    /// What has to be known of it, in the order of the file: damaged lines, then what is missing, then clocks.
    pub fn oddities(&self) -> Vec<Oddity> {
        let damaged = self.damage.iter().cloned().map(Oddity::Damaged);
        let numbers = || self.entries.iter().map(|it| it.record.number);
        let missing =
            std::iter::once(0).chain(numbers()).zip(numbers()).filter_map(|(one, next)| {
                let is_gap = next > one.saturating_add(1);
                is_gap.then(|| Oddity::Missing { first: one + 1, last: next - 1 })
            });
        let back = self.entries.windows(2).filter_map(|pair| {
            let [before, after] = pair else { return None };
            let by = taken(before)?.checked_sub(taken(after)?)?;
            (by > 0).then(|| Oddity::WentBack {
                number: after.record.number,
                by: Duration::from_nanos(by),
            })
        });
        damaged.chain(missing).chain(back).collect()
    }
}

/// When a baseline is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The boot, as in /proc/sys/kernel/random/boot_id.
    pub boot: String,
    /// The time by the clock of the machine, UTC (RFC 3339).
    pub at: String,
    /// Seconds since the start of the boot.
    pub up_s: u64,
}

/// Nanoseconds since 1970.
fn taken(entry: &Entry) -> Option<u64> {
    utc::parse_timestamp(&entry.record.at)
}

impl Entry {
    /// When it was taken, in nanoseconds since 1970; `None` where the line has no such time.
    pub fn taken_ns(&self) -> Option<u64> {
        taken(self)
    }

    /// When the boot began, by the clock at the time of the baseline, in nanoseconds since 1970.
    pub fn boot_began_ns(&self) -> Option<u64> {
        taken(self)?.checked_sub(self.record.up_s.saturating_mul(1_000_000_000))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{day, machine, made, moment};
    use super::*;

    fn numbers(history: &History) -> Vec<u64> {
        history.entries.iter().map(|it| it.record.number).collect()
    }

    fn three() -> (Vec<u8>, History) {
        let mut history = History::default();
        let mut file = Vec::new();
        for boot in 1..=3 {
            file.extend(history.add(moment(boot), &machine("2.1"), made(100.0)).unwrap());
        }
        (file, history)
    }

    #[test]
    fn what_is_added_is_read_back_and_settings_are_written_once() {
        let (file, history) = three();
        assert_eq!(History::parse(&file), history);
        assert_eq!(numbers(&history), [1, 2, 3]);
        assert_eq!(file.iter().filter(|it| **it == b'\n').count(), 4);
        assert_eq!(history.oddities(), []);
        assert_eq!(history.of_boot("boot-2").unwrap().record.number, 2);
        assert_eq!(history.of_boot("boot-9"), None);
    }

    /// Every prefix of a file is one that a power cut may leave.
    #[test]
    fn a_file_that_was_cut_anywhere_keeps_its_whole_lines_and_goes_on() {
        let (file, _) = three();
        for end in 0..file.len() {
            let mut history = History::parse(&file[..end]);
            // A line that lacks nothing but its end is whole.
            let lacks_end = file[end] == b'\n';
            let whole = file[..end].iter().filter(|it| **it == b'\n').count();
            let whole = whole + usize::from(lacks_end);
            assert_eq!(history.entries.len(), whole.saturating_sub(1), "cut at {end}");
            let is_between = end == 0 || file[end - 1] == b'\n' || lacks_end;
            assert_eq!(history.damage.is_empty(), is_between, "cut at {end}");
            let before = history.entries.len();
            let added = history.add(moment(9), &machine("2.1"), made(100.0)).unwrap();
            let again = History::parse(&[&file[..end], b"\n", &added].concat());
            assert_eq!(again.entries.len(), before + 1, "cut at {end}");
            assert!(again.entries.last().unwrap().settings.is_some(), "cut at {end}");
        }
    }

    #[test]
    fn a_damaged_line_is_told_and_the_others_are_read() {
        let (file, _) = three();
        let text = String::from_utf8(file).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines[2] = "{\"line\":\"baseline\",\"v\":1,\"number\":\u{fffd}";
        let history = History::parse((lines.join("\n") + "\n").as_bytes());
        assert_eq!(numbers(&history), [1, 3]);
        let oddities = history.oddities();
        let [Oddity::Damaged(Damage { line: 3, .. }), Oddity::Missing { first: 2, last: 2 }] =
            &*oddities
        else {
            panic!("{oddities:?}")
        };
        let later = text.replace("\"v\":1", "\"v\":2");
        let history = History::parse(later.as_bytes());
        assert!(history.entries.is_empty() && history.damage.len() == 4);
        assert!(history.damage[0].why.contains("a later fullclock wrote it"));
    }

    #[test]
    fn settings_whose_line_is_lost_are_unknown_and_written_again() {
        let (file, _) = three();
        let text = String::from_utf8(file).unwrap();
        let (_, rest) = text.split_once('\n').unwrap();
        let mut history = History::parse(rest.as_bytes());
        assert!(
            history.entries.len() == 3 && history.entries.iter().all(|it| it.settings.is_none())
        );
        let added = history.add(moment(4), &machine("2.1"), made(100.0)).unwrap();
        assert_eq!(added.iter().filter(|it| **it == b'\n').count(), 2);
        assert!(history.entries[3].settings.is_some());
    }

    #[test]
    fn a_clock_that_went_back_is_told_and_the_order_is_that_of_the_numbers() {
        let mut history = History::default();
        for (boot, at) in [(1, day(20)), (2, day(3)), (3, day(21))] {
            let moment = Moment { at, ..moment(boot) };
            history.add(moment, &machine("2.1"), made(100.0)).unwrap();
        }
        assert_eq!(numbers(&history), [1, 2, 3]);
        let days = Duration::from_secs(17 * 86_400);
        assert_eq!(history.oddities(), [Oddity::WentBack { number: 2, by: days }]);
    }

    /// A year of boots, of which every third comes with another kernel, on a machine of many settings.
    #[test]
    fn a_boot_takes_less_than_two_kilobytes() {
        let (mut history, mut size) = (History::default(), 0);
        let n_boots = 60;
        for boot in 1..=n_boots {
            let mut settings = machine("2.1");
            for it in 0..90 {
                let value = "Mitigation: Enhanced IBRS; IBPB: conditional; RSB filling";
                settings.0.insert(format!("vulnerability: number {it}"), value.to_owned());
            }
            settings.0.insert("kernel release".to_owned(), format!("6.1.{}", boot / 3));
            size += history.add(moment(boot), &settings, made(2713.4)).unwrap().len();
        }
        assert!(size / usize::try_from(n_boots).unwrap() < 2048, "{size}");
    }
}
