//! Nodes that race, a line for each interval of each.

use crate::Style;
use crate::harmless::harmless;
use crate::page::{BOLD, DIM, Page};
use lab::race::Offset;
use lab::trial::{Figure, Mark, PackedList, Trial};

/// A figure of a trial in a column: its name there, the head of the column, and what it is counted in.
const COLUMNS: &[(&str, &str, Unit)] = &[
    ("commits", "commits/s", Unit::Rate),
    ("log writes", "writes/s", Unit::Rate),
    ("log write, in the call", "in the call", Unit::Micros),
    ("log write, waiting for a CPU", "no CPU", Unit::Micros),
    ("log writer, waiting for a CPU", "writer waits", Unit::Micros),
    ("commit, waiting for a CPU", "session waits", Unit::Micros),
];

#[derive(Clone, Copy)]
enum Unit {
    Rate,
    Micros,
}

/// What an interval has in columns, and what that is counted in: times in microseconds.
pub fn columns() -> impl Iterator<Item = (&'static str, &'static str)> {
    let unit = |unit| match unit {
        Unit::Rate => "1/s",
        Unit::Micros => "us",
    };
    COLUMNS.iter().map(move |(name, _, it)| (*name, unit(*it))).chain([("clock", "MHz")])
}

/// The same of an interval, where it is known.
pub fn values(trial: &Trial) -> impl Iterator<Item = Option<f64>> {
    let figure =
        |name: &str| trial.outcome.figures.iter().find(|it| it.name == name).map(|it| it.value);
    COLUMNS.iter().map(move |it| figure(it.0)).chain([clock_mhz(trial)])
}

const WIDTH: usize = 15;

/// A table that grows while nodes race.
pub struct Table {
    names: Vec<String>,
    style: Style,
    has_head: bool,
}

impl Table {
    /// A table of nodes with these names.
    pub fn new(names: &[String], style: Style) -> Table {
        Table { names: names.to_vec(), style, has_head: false }
    }

    /// An interval of a node, below the heads of the columns where it is the first, and what was marked meanwhile.
    pub fn lines(&mut self, node: usize, trial: &Trial) -> String {
        let mut page = Page::new(self.style);
        let width = self.names.iter().map(|it| it.chars().count()).max().unwrap_or(0).max(4);
        if !std::mem::replace(&mut self.has_head, true) {
            let heads = COLUMNS.iter().map(|it| it.1).chain(["clock"]);
            let heads = heads.fold(String::new(), |it, head| it + &format!("{head:>WIDTH$}"));
            page.line(&page.paint(DIM, &format!("{:>8}  {:<width$}{heads}", "", "node")));
        }
        let name = &self.names[node];
        let at = trial.began_ns.value().map_or(0.0, |it| *it as f64 / 1e9);
        let name_there = page.paint(BOLD, &format!("{name:<width$}"));
        let figures = match &trial.failed {
            Some(why) => format!("  {}", harmless(why)),
            None => {
                let of = |it: &(&str, &str, Unit)| value(&trial.outcome.figures, it.0, it.2);
                let values = COLUMNS.iter().map(of).chain([clock(trial)]);
                values.fold(String::new(), |text, value| text + &format!("{value:>WIDTH$}"))
            }
        };
        page.line(&format!("{at:>6.1} s  {name_there}{figures}"));
        for mark in &trial.marks {
            page.line(&format!("{at:>6.1} s  {name_there}  ! {}", harmless(&mark_words(mark))));
        }
        page.finish()
    }
}

fn value(figures: &PackedList<Figure>, name: &str, unit: Unit) -> String {
    let found = figures.iter().find(|it| it.name == name);
    found.map_or_else(
        || "-".to_owned(),
        |it| match unit {
            Unit::Rate => format!("{:.0}", it.value),
            Unit::Micros => format!("{:.2} ms", it.value / 1e3),
        },
    )
}

/// The clock that counters tell, or the probe saw.
fn clock_mhz(trial: &Trial) -> Option<f64> {
    let counted = || trial.surroundings.value()?.busy_mhz();
    counted().or_else(|| trial.clock.value().map(|it| it.mean_hz() / 1e6))
}

fn clock(trial: &Trial) -> String {
    clock_mhz(trial).map_or_else(|| "-".to_owned(), |it| format!("{:.2} GHz", it / 1e3))
}

/// A mark as one sentence.
pub fn mark_words(mark: &Mark) -> String {
    let cpus = |it: &Option<f64>| it.map_or("no quota".to_owned(), |it| format!("{it:.2} CPUs"));
    let shown = |it: &Option<String>| it.clone().unwrap_or_else(|| "not there".to_owned());
    match mark {
        Mark::Setting { name, from, to } => format!("{name}: {} -> {}", shown(from), shown(to)),
        Mark::Quota { group, from, to } => format!("{group}: {} -> {}", cpus(from), cpus(to)),
        Mark::Finding { check, is_there: true } => format!("an audit finds {check}"),
        Mark::Finding { check, is_there: false } => format!("an audit no longer finds {check}"),
        Mark::Restarted => "the node was gone, and began anew".to_owned(),
        Mark::Note { text } => text.clone(),
    }
}

/// That a node could begin.
pub fn ready(name: &str, offset: &Offset) -> String {
    let error = offset.error.as_secs_f64() * 1e3;
    format!("{name} is ready; its clock is known to {error:.3} ms")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::known::Known;
    use lab::trial::{Better, Reading, TrialClock, TrialContext};

    fn trial(failed: Option<&str>, marks: Vec<Mark>) -> Trial {
        let figure = |name: &str, value| Figure {
            name: name.to_owned(),
            unit: String::new(),
            value,
            better: Better::Higher,
        };
        let mut trial = Trial::of_one_task(0, 1, 1.0);
        trial.outcome.figures =
            vec![figure("commits", 1234.4), figure("log write, in the call", 812.0)].into();
        Trial {
            began_ns: Known::Value(2_000_000_000),
            failed: failed.map(str::to_owned),
            marks,
            ..trial
        }
    }

    #[test]
    fn an_interval_is_a_line_and_each_mark_is_one() {
        let names = ["old".to_owned(), "new\u{1b}[2J".to_owned()];
        let style = Style { color: false, width: 100 };
        let mut table = Table::new(&names, style);
        let lifted =
            Mark::Quota { group: "/sys/fs/cgroup/b".to_owned(), from: Some(0.25), to: None };
        let first = table.lines(0, &trial(None, vec![lifted]));
        let lines: Vec<&str> = first.lines().collect();
        assert!(lines[0].contains("commits/s") && lines[0].contains("session waits"), "{first}");
        assert!(lines[1].contains("2.0 s  old") && lines[1].contains("1234      "), "{first}");
        assert!(lines[1].contains("0.81 ms") && lines[1].ends_with('-'), "{first}");
        let clock = TrialClock { before_hz: 2.9e9, after_hz: 3.1e9 };
        let probed = Trial { clock: Known::Value(clock), ..trial(None, Vec::new()) };
        assert!(table.lines(0, &probed).ends_with("3.00 GHz\n"));
        let metrics = vec![Reading {
            metric: "busy-mhz".to_owned(),
            part: String::new(),
            value: Known::Value(2750.0),
        }]
        .into();
        let around = TrialContext { metrics, ..TrialContext::default() };
        let counted = Trial { surroundings: Known::Value(around), ..probed };
        assert!(table.lines(0, &counted).ends_with("2.75 GHz\n"));
        assert!(lines[2].ends_with("! /sys/fs/cgroup/b: 0.25 CPUs -> no quota"), "{first}");
        let second = table.lines(1, &trial(Some("no commit"), Vec::new()));
        assert!(second.contains("no commit") && second.lines().count() == 1, "{second}");
        assert!(!second.contains('\u{1b}'), "{second:?}");
    }

    #[test]
    fn marks_say_what_changed() {
        let setting = Mark::Setting {
            name: "scaling_governor".to_owned(),
            from: Some("powersave".to_owned()),
            to: None,
        };
        assert_eq!(mark_words(&setting), "scaling_governor: powersave -> not there");
        let found = Mark::Finding { check: "powersave-governor".to_owned(), is_there: true };
        assert_eq!(mark_words(&found), "an audit finds powersave-governor");
    }
}
