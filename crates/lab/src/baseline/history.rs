//! The baselines of a machine, as its history has them. What cannot be read is told, and stays where it is.

use super::machines::{Machines, hash};
use super::record::{LARGEST_NUMBER, Line, Measured, Record, VERSION};
use crate::known::Known;
use crate::record::Fingerprint;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::sync::Arc;

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
    n_lines: usize,
}

/// One baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What was measured, and when.
    pub record: Record,
    /// The settings of the machine; `None` where the line that had them is lost.
    pub settings: Option<Arc<Fingerprint>>,
    /// Its line in the file, from 1 on.
    pub line: usize,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Its number in the file, from 1 on.
    pub line: usize,
    /// Why not.
    pub why: String,
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
        for line in bytes.split_inclusive(|it| *it == b'\n') {
            history.n_lines += 1;
            let is_cut = !line.ends_with(b"\n");
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            if line.is_empty() {
                continue;
            }
            if let Err(why) = history.learn(line) {
                let is_json = || serde_json::from_slice::<IgnoredAny>(line).is_ok();
                let why = if is_cut && !is_json() { BREAKS_OFF.to_owned() } else { why };
                history.damage.push(Damage { line: history.n_lines, why });
            }
        }
        history
    }

    fn learn(&mut self, line: &[u8]) -> Result<(), String> {
        let Versioned { v } = serde_json::from_slice(line).map_err(|it| words(&it))?;
        if v > VERSION {
            return Err(format!("it is of version {v}: a later fullclock wrote it"));
        }
        match serde_json::from_slice(line).map_err(|it| words(&it))? {
            Line::Machine(machine) => self.machines.learn(machine),
            Line::Baseline(record) => {
                // The number of one that is set aside is not given to another.
                if record.number <= LARGEST_NUMBER {
                    self.last = self.last.max(record.number);
                }
                record.check()?;
                self.push(record);
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
        self.n_lines += 1;
        if let Some(machine) = self.machines.line_of(settings) {
            serde_json::to_writer(&mut lines, &Line::Machine(machine.clone()))?;
            lines.push(b'\n');
            // Its whole line is one that is known.
            self.machines.learn(machine).map_err(serde::de::Error::custom)?;
            self.n_lines += 1;
        }
        let Moment { boot, at, up_s } = moment;
        // One beyond the limit would not be read again.
        let number = (self.last + 1).min(LARGEST_NUMBER);
        let machine = hash(settings);
        let record = Record { v: VERSION, number, boot, at, up_s, machine, speed };
        serde_json::to_writer(&mut lines, &Line::Baseline(record.clone()))?;
        lines.push(b'\n');
        self.last = number;
        self.push(record);
        Ok(lines)
    }

    fn push(&mut self, record: Record) {
        let settings = self.machines.get(&record.machine).cloned();
        self.entries.push(Entry { record, settings, line: self.n_lines });
    }

    /// The last baseline of a boot that has a speed.
    pub fn of_boot(&self, boot: &str) -> Option<&Entry> {
        let mut of_boot = self.entries.iter().filter(|it| it.record.boot == boot);
        of_boot.rfind(|it| it.record.speed.value().is_some())
    }
}

/// What is wrong with a line whose end is missing.
const BREAKS_OFF: &str = "it breaks off";

/// What is wrong with a line of JSON: its place in the line, which the words of the library call line 1.
fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.split_once(" at line ") {
        Some(_) if error.is_eof() => BREAKS_OFF.to_owned(),
        Some((why, _)) => format!("{why} at its byte {}", error.column()),
        None => text,
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

impl Entry {
    /// When it was taken, in nanoseconds since 1970; `None` where the line has no time that can be.
    pub fn taken_ns(&self) -> Option<u64> {
        self.record.taken_ns()
    }

    /// When the boot began, by the clock at the time of the baseline, in nanoseconds since 1970.
    pub fn boot_began_ns(&self) -> Option<u64> {
        self.taken_ns()?.checked_sub(self.record.up_s.saturating_mul(1_000_000_000))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{machine, made, moment};
    use super::super::oddity::Oddity;
    use super::*;
    use proptest::prelude::*;

    fn numbers(history: &History) -> Vec<u64> {
        history.entries.iter().map(|it| it.record.number).collect()
    }

    /// After all that the tests made up.
    const NOW: u64 = 1_790_000_000_000_000_000;

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
        assert_eq!(history.oddities(NOW), []);
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
        let oddities = history.oddities(NOW);
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

    proptest! {
        /// Each line is a baseline, settings, or damage that is named; and what is appended is read.
        #[test]
        fn no_damage_hides_another_line(at in 0usize..2000, noise in proptest::collection::vec(any::<u8>(), 0..40), cut in 0usize..60) {
            let (file, _) = three();
            let at = at % file.len();
            let rest = &file[(at + cut).min(file.len())..];
            let damaged = [&file[..at], &noise, rest].concat();
            let mut history = History::parse(&damaged);
            let lines = damaged.split(|it| *it == b'\n').filter(|it| !it.is_empty()).count();
            let settings = damaged.split(|it| *it == b'\n').filter(|it| it.starts_with(b"{\"line\":\"machine\"")).count();
            let told = history.entries.len() + history.damage.len();
            prop_assert!(told <= lines && told + settings >= lines);
            let before = history.entries.len();
            let added = history.add(moment(9), &machine("2.1"), made(100.0)).unwrap();
            let begin: &[u8] = if damaged.ends_with(b"\n") || damaged.is_empty() { b"" } else { b"\n" };
            let again = History::parse(&[&damaged, begin, &added].concat());
            prop_assert_eq!(again.entries.len(), before + 1);
            prop_assert_eq!(again.entries.last(), history.entries.last());
        }
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
