//! Nodes that race: a line for each interval of each, and what changed on their machines.

use crate::Style;
use crate::document::{Align, Table as Rows, Text};
use crate::harmless::harmless;
use crate::page::{BOLD, DIM, Page};
use lab::race::Offset;
use lab::record::Record;
use lab::trial::{Figure, Mark, PackedList, Trial};
use lab::verdict::LEAST_LEGS;
use std::time::Duration;

/// A figure of a trial in a column.
struct Column {
    /// What it is called in a trial; empty for the clock.
    figure: &'static str,
    heading: &'static str,
    unit: Unit,
    /// Where there is no room for all, those with a higher number are left out first.
    rank: u8,
}

#[derive(Clone, Copy)]
enum Unit {
    Rate,
    Micros,
    Clock,
}

const COLUMNS: &[Column] = &[
    column("commits", "commits/s", Unit::Rate, 0),
    column("log writes", "writes/s", Unit::Rate, 6),
    column("log write, in the call", "in the call", Unit::Micros, 2),
    column("log write, waiting for a CPU", "no CPU", Unit::Micros, 5),
    column("log writer, waiting for a CPU", "writer waits", Unit::Micros, 3),
    column("commit, waiting for a CPU", "session waits", Unit::Micros, 4),
    column(CLOCK, "clock", Unit::Clock, 1),
];

const CLOCK: &str = "clock";

const fn column(figure: &'static str, heading: &'static str, unit: Unit, rank: u8) -> Column {
    Column { figure, heading, unit, rank }
}

/// What an interval has in columns, and what that is counted in: times in microseconds.
pub fn columns() -> impl Iterator<Item = (&'static str, &'static str)> {
    let unit = |unit| match unit {
        Unit::Rate => "1/s",
        Unit::Micros => "us",
        Unit::Clock => "MHz",
    };
    COLUMNS.iter().map(move |it| (it.figure, unit(it.unit)))
}

/// The same of an interval, where it is known.
pub fn values(trial: &Trial) -> impl Iterator<Item = Option<f64>> {
    COLUMNS.iter().map(|it| it.of(trial))
}

impl Column {
    fn of(&self, trial: &Trial) -> Option<f64> {
        match self.unit {
            Unit::Clock => clock_mhz(trial),
            Unit::Rate | Unit::Micros => {
                let figures: &PackedList<Figure> = &trial.outcome.figures;
                figures.iter().find(|it| it.name == self.figure).map(|it| it.value)
            }
        }
    }

    fn shown(&self, trial: &Trial) -> String {
        self.of(trial).map_or_else(
            || "-".to_owned(),
            |it| match self.unit {
                Unit::Rate => format!("{it:.0}"),
                Unit::Micros => format!("{:.2} ms", it / 1e3),
                Unit::Clock => format!("{:.2} GHz", it / 1e3),
            },
        )
    }

    fn width(&self) -> usize {
        self.heading.len().max(NARROWEST)
    }
}

/// As wide as `2.75 GHz`.
const NARROWEST: usize = 8;
const GAP: usize = 2;
/// The time of an interval: `   2.0 s`.
const TIME: usize = 8;

/// A node of a race that is under way.
pub struct Node {
    /// What it is called.
    pub name: String,
    /// Whether it runs on this machine, as others may.
    pub is_here: bool,
}

/// A table that grows while nodes race.
pub struct Table {
    nodes: Vec<Node>,
    style: Style,
    columns: Vec<&'static Column>,
    has_head: bool,
    /// What was marked of this machine lately, and when.
    marked: Vec<(String, f64)>,
}

impl Table {
    /// A table of these nodes, with as many columns as there is room for.
    pub fn new(nodes: Vec<Node>, style: Style) -> Table {
        let mut room = style.width.saturating_sub(TIME + GAP + widest(&nodes));
        let mut ranked: Vec<&Column> = COLUMNS.iter().collect();
        ranked.sort_by_key(|it| it.rank);
        ranked.retain(|it| {
            let takes = it.width() + GAP;
            let fits = takes <= room;
            room = if fits { room - takes } else { 0 };
            fits
        });
        let is_shown = |it: &&Column| ranked.iter().any(|shown| shown.rank == it.rank);
        let columns = COLUMNS.iter().filter(is_shown).collect();
        Table { nodes, style, columns, has_head: false, marked: Vec::new() }
    }

    /// An interval of a node, below the heads of the columns where it is the first, and what was marked during it.
    pub fn lines(&mut self, node: usize, trial: &Trial) -> String {
        let mut page = Page::new(self.style);
        let width = widest(&self.nodes);
        if !std::mem::replace(&mut self.has_head, true) {
            let heads = self.columns.iter().map(|it| right(it, it.heading)).collect::<String>();
            page.line(
                &page.paint(DIM, &format!("{:TIME$}{:GAP$}{:<width$}{heads}", "", "", "node")),
            );
        }
        let name = self.nodes.get(node).map_or("", |it| &*it.name);
        let at = seconds(trial);
        let values = match &trial.failed {
            Some(why) => format!("  {}", harmless(why)),
            None => self.columns.iter().map(|it| right(it, &it.shown(trial))).collect(),
        };
        let name = page.paint(BOLD, &format!("{name:<width$}"));
        page.line(&format!("{at:>6.1} s  {name}{values}"));
        for mark in &trial.marks {
            if let Some(who) = self.who(node, mark, at) {
                let who = page.paint(BOLD, &format!("{who:<width$}"));
                page.line(&format!("{at:>6.1} s  {who}  ! {}", harmless(&mark_words(mark))));
            }
        }
        page.finish()
    }

    /// Whom a mark is about; `None` where another node of this machine has noticed the same.
    fn who(&mut self, node: usize, mark: &Mark, at: f64) -> Option<&str> {
        let node = self.nodes.get(node)?;
        if !(node.is_here && mark.is_of_host()) {
            return Some(&node.name);
        }
        self.marked.retain(|it| at - it.1 <= ALIKE_S);
        let words = mark_words(mark);
        if self.marked.iter().any(|it| it.0 == words) {
            return None;
        }
        self.marked.push((words, at));
        Some("here")
    }
}

fn widest(nodes: &[Node]) -> usize {
    nodes.iter().map(|it| it.name.chars().count()).max().unwrap_or(0).max("node".len())
}

fn right(column: &Column, text: &str) -> String {
    format!("{:GAP$}{text:>1$}", "", column.width())
}

fn seconds(trial: &Trial) -> f64 {
    trial.began_ns.value().map_or(0.0, |it| *it as f64 / 1e9)
}

/// The clock that counters tell, or the probe saw.
fn clock_mhz(trial: &Trial) -> Option<f64> {
    let counted = || trial.surroundings.value()?.busy_mhz();
    counted().or_else(|| trial.clock.value().map(|it| it.mean_hz() / 1e6))
}

/// Each node looks at its machine every 5 s. What two of them notice within that time and an interval is one change.
const ALIKE_S: f64 = 6.0;

/// What was marked during a race, once where several nodes noticed it; `None` where nothing was.
pub(crate) fn marks(record: &Record) -> Option<Rows> {
    struct Marked<'a> {
        at: f64,
        nodes: Vec<&'a str>,
        words: String,
        is_of_machine: bool,
    }
    let mut marked: Vec<Marked<'_>> = Vec::new();
    for trial in &record.trials {
        let name = record.arms.get(trial.arm).map_or("", |it| &*it.name);
        for mark in &trial.marks {
            let (at, words, is_of_machine) = (seconds(trial), mark_words(mark), mark.is_of_host());
            let is_same = |it: &&mut Marked<'_>| {
                it.is_of_machine
                    && it.words == words
                    && (at - it.at).abs() <= ALIKE_S
                    && !it.nodes.contains(&name)
            };
            match marked.iter_mut().rev().find(is_same) {
                Some(same) => same.nodes.push(name),
                None => marked.push(Marked { at, nodes: vec![name], words, is_of_machine }),
            }
        }
    }
    let columns = [("after", Align::Right), ("noticed by", Align::Left), ("change", Align::Left)];
    let row = |it: &Marked<'_>| {
        [format!("{:.1} s", it.at), it.nodes.join(", "), it.words.clone()].map(Text::from).into()
    };
    (!marked.is_empty()).then(|| Rows::new(&columns, marked.iter().map(row)))
}

/// A mark as one sentence.
pub fn mark_words(mark: &Mark) -> String {
    let cpus = |it: &Option<f64>| it.map_or("no quota".to_owned(), |it| format!("{it:.2} CPUs"));
    let shown = |it: &Option<String>| it.clone().unwrap_or_else(|| "none".to_owned());
    match mark {
        Mark::Setting { name, from, to } => format!("{name}: {} -> {}", shown(from), shown(to)),
        Mark::Quota { group, from, to } => format!("{group}: {} -> {}", cpus(from), cpus(to)),
        Mark::Finding { check, is_there: true } => format!("an audit finds {check}"),
        Mark::Finding { check, is_there: false } => format!("an audit no longer finds {check}"),
        Mark::Restarted => "the node's agent was restarted".to_owned(),
        Mark::Note { text } => text.clone(),
    }
}

/// How long a race with legs takes, before it begins.
pub fn total(legs: u32, each: Duration) -> String {
    let total = each.saturating_mul(legs);
    let more = if (legs as usize) < LEAST_LEGS {
        format!("; it takes {LEAST_LEGS} to say something of the nodes")
    } else {
        String::new()
    };
    format!("{legs} legs of {each:?} take {total:?}, and the nodes are started {legs} times{more}")
}

/// That a node could begin.
pub fn ready(name: &str, offset: &Offset) -> String {
    let error = offset.error.as_secs_f64() * 1e3;
    format!("{name} is ready; the offset of its clock is known to +-{error:.3} ms")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::known::Known;
    use lab::record::Arm;
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

    fn table(width: usize) -> Table {
        let node = |name: &str| Node { name: name.to_owned(), is_here: true };
        let nodes = vec![node("old"), node("new\u{1b}[2J")];
        Table::new(nodes, Style { color: false, width })
    }

    fn quota(from: Option<f64>, to: Option<f64>) -> Mark {
        Mark::Quota { group: "/sys/fs/cgroup/b".to_owned(), from, to }
    }

    fn setting() -> Mark {
        let (from, to) = (Some("performance".to_owned()), Some("powersave".to_owned()));
        Mark::Setting { name: "scaling_governor".to_owned(), from, to }
    }

    #[test]
    fn an_interval_is_a_line_and_each_mark_is_one() {
        let mut table = table(110);
        let first = table.lines(0, &trial(None, vec![quota(Some(0.25), None)]));
        let lines: Vec<&str> = first.lines().collect();
        assert!(lines[0].contains("commits/s") && lines[0].contains("session waits"), "{first}");
        assert!(lines[1].contains("2.0 s  old") && lines[1].contains("1234  "), "{first}");
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
    fn a_change_of_the_machine_is_told_once_and_a_note_of_its_node() {
        let mut table = table(80);
        let both = [0, 1].map(|node| table.lines(node, &trial(None, vec![setting()])));
        assert!(
            both[0].contains("  here") && both[0].contains("performance -> powersave"),
            "{}",
            both[0]
        );
        assert_eq!(both[1].lines().count(), 1, "{}", both[1]);
        let of_node = table.lines(0, &trial(None, vec![quota(None, Some(0.5))]));
        assert!(of_node.contains("  old") && of_node.contains("-> 0.50 CPUs"), "{of_node}");
        let note = Mark::Note { text: "load began".to_owned() };
        let noted = table.lines(0, &trial(None, vec![note]));
        assert!(noted.contains("  old") && noted.ends_with("! load began\n"), "{noted}");
    }

    #[test]
    fn a_narrow_terminal_gets_the_columns_that_matter_most() {
        for width in [60, 80, 110] {
            let text = table(width).lines(0, &trial(None, Vec::new()));
            assert!(text.lines().all(|it| it.chars().count() <= width), "{text}");
            assert!(text.contains("commits/s") && text.contains("clock"), "{text}");
        }
        assert!(!table(60).lines(0, &trial(None, Vec::new())).contains("writes/s"));
    }

    #[test]
    fn what_two_nodes_noticed_is_one_change() {
        let arms = ["a", "b"].map(|it| Arm::of(it, "commit")).to_vec();
        let of = |arm: usize, marks: Vec<Mark>| Trial { arm, ..trial(None, marks) };
        let note = || Mark::Note { text: "load began".to_owned() };
        let trials = vec![of(0, vec![setting(), note()]), of(1, vec![setting(), note()])];
        let record = Record { trials, ..Record::of(arms) };
        let rows = marks(&record).unwrap().rows;
        let nodes: Vec<String> = rows.iter().map(|row| format!("{:?}", row[1])).collect();
        assert_eq!(rows.len(), 3, "{rows:?}");
        assert!(nodes[0].contains("\"a, b\""), "{nodes:?}");
        assert!(marks(&Record::of(Vec::new())).is_none());
    }

    #[test]
    fn a_race_with_legs_says_how_long_it_takes() {
        let minute = Duration::from_secs(60);
        assert_eq!(total(6, minute), "6 legs of 60s take 360s, and the nodes are started 6 times");
        assert!(total(3, minute).ends_with("; it takes 4 to say something of the nodes"));
    }

    #[test]
    fn marks_say_what_changed() {
        let setting = Mark::Setting {
            name: "scaling_governor".to_owned(),
            from: Some("powersave".to_owned()),
            to: None,
        };
        assert_eq!(mark_words(&setting), "scaling_governor: powersave -> none");
        let found = Mark::Finding { check: "powersave-governor".to_owned(), is_there: true };
        assert_eq!(mark_words(&found), "an audit finds powersave-governor");
    }
}
