//! The shape every metric has: a value made of two counters and the time between them, and values of many CPUs as one.

use crate::interval::{Column, Interval, Rows};
use facts::counters::Family;
use facts::{CpuSet, Fact, Missing, PerCpu};

/// One quantity of a host over an interval.
///
/// What is declared here is all that any output knows of it: table, JSON, CSV, screen and documentation. Its
/// place among the columns is that in [`crate::metrics::METRICS`].
pub struct Metric {
    /// A noun that reads well as a column: `busy-mhz`. Also the name of its file.
    pub id: &'static str,
    /// The same in a few words, for a list.
    pub title: &'static str,
    /// The heading of its column: at most eight characters, as turbostat has them.
    pub column: &'static str,
    /// What its values are counted in.
    pub unit: Unit,
    /// How values of several CPUs or intervals go together.
    pub kind: Kind,
    /// Which of its values stand out.
    pub limits: Limits,
    /// The families it is made of: it is the same in a sample that has no other.
    pub families: &'static [Family],
    /// Whose times it is made of, too.
    pub tasks: Tasks,
    /// Markdown: what it is, where it comes from, what it cannot know.
    pub help: &'static str,
    /// Makes it of an interval.
    pub measure: fn(&Interval) -> Fact<Vec<Series>>,
}

/// The tasks whose times a metric is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tasks {
    /// Those of none.
    None,
    /// The kernel's threads.
    Kernel,
    /// Users' tasks as well.
    All,
}

/// The values of one metric, or of one part of it: a kind of interrupt, an idle state.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Which part; empty where the metric is one thing.
    pub part: String,
    /// Of what the values are.
    pub values: Values,
}

/// Values by what they belong to.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// One for each CPU that was online.
    Cpus(PerCpu<f64>),
    /// One for each core, by the CPU on which it was read.
    Cores(PerCpu<f64>),
    /// One for each package, by the CPU on which it was read.
    Packages(PerCpu<f64>),
    /// One for the whole host.
    Host(Fact<f64>),
}

/// What a metric's values are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Of the interval, 100 being all of it.
    Percent,
    /// Millions of cycles a second.
    Megahertz,
    /// Events per second.
    PerSecond,
    /// Watts.
    Watts,
    /// Degrees Celsius.
    Celsius,
    /// Milliseconds a second.
    MillisecondsPerSecond,
}

/// How values of several CPUs go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// They add up: events a second, watts.
    Sum,
    /// Their mean is that of the machine: shares of time.
    Mean,
    /// Neither: a clock, a temperature. The highest is shown.
    Peak,
}

/// Which values of a metric stand out. A screen colours them; no verdict is made of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limits {
    /// Every value is ordinary.
    None,
    /// Values from these on, in the metric's unit.
    From {
        /// Worth a look.
        notable: f64,
        /// Worse.
        severe: f64,
    },
    /// Clocks below these shares of the TSC's, which runs at the nominal clock of the processor or near it.
    BelowTsc {
        /// Worth a look.
        notable: f64,
        /// Worse.
        severe: f64,
    },
}

/// How much a value stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Emphasis {
    /// Not at all.
    Ordinary,
    /// Worth a look.
    Notable,
    /// Worse.
    Severe,
}

impl Limits {
    /// How much a value stands out; clocks are ordinary where the TSC's is unknown.
    pub fn emphasis(self, value: f64, tsc_mhz: Option<f64>) -> Emphasis {
        let is_beyond = |limit: f64| match self {
            Limits::None => false,
            Limits::From { .. } => value >= limit,
            Limits::BelowTsc { .. } => tsc_mhz.is_some_and(|it| value < it * limit),
        };
        match self {
            Limits::From { severe, .. } | Limits::BelowTsc { severe, .. } if is_beyond(severe) => {
                Emphasis::Severe
            }
            Limits::From { notable, .. } | Limits::BelowTsc { notable, .. }
                if is_beyond(notable) =>
            {
                Emphasis::Notable
            }
            _ => Emphasis::Ordinary,
        }
    }

    /// The limits in a sentence for `unit`; nothing where every value is ordinary.
    pub fn describe(self, unit: Unit) -> Option<String> {
        match self {
            Limits::None => None,
            Limits::From { notable, severe } if severe.is_finite() => {
                let unit = unit.symbol();
                Some(format!("Marked from {notable} {unit}, severe from {severe} {unit}."))
            }
            Limits::From { .. } => Some("Marked wherever it is not 0.".to_owned()),
            Limits::BelowTsc { notable, severe } => Some(format!(
                "Marked below {:.0} % of the TSC's clock, severe below {:.0} %.",
                notable * 100.0,
                severe * 100.0
            )),
        }
    }
}

impl Metric {
    /// Markdown for `fullclock explain ID`: its help, its column and how values of several CPUs go together.
    pub fn documentation(&self) -> String {
        let Metric { help, column, unit, kind, .. } = self;
        let several = match kind {
            Kind::Sum => "add up",
            Kind::Mean => "are averaged",
            Kind::Peak => "show as the highest",
        };
        let unit = unit.symbol();
        format!("{help}\n\nColumn `{column}`, in {unit}; values of several CPUs {several}.\n")
    }

    /// The heading of the column of one part of it: `Busy%`, `CPU%:c6`.
    pub fn heading(&self, part: &str) -> String {
        match part {
            "" => self.column.to_owned(),
            part => format!("{}:{part}", self.column),
        }
    }
}

impl Series {
    /// The only series of a metric that is one thing.
    pub(crate) fn whole(values: Values) -> Vec<Series> {
        vec![Series { part: String::new(), values }]
    }

    /// A series for each column: how often it counted in a second.
    pub(crate) fn rates<'a>(
        rows: &Rows,
        columns: impl IntoIterator<Item = (&'a str, Column)>,
    ) -> impl Iterator<Item = Series> {
        columns.into_iter().map(|(name, column)| {
            let rates = each(&rows.deltas(column), |delta| Ok(delta.per_second()));
            Series::part(name, Values::Cpus(rates))
        })
    }

    /// The series of one part.
    pub(crate) fn part(part: &str, values: Values) -> Series {
        Series { part: part.to_owned(), values }
    }
}

impl Values {
    /// The values by row, ascending; `None` where there is one for the whole host.
    pub fn rows(&self) -> Option<&PerCpu<f64>> {
        match self {
            Values::Cpus(rows) | Values::Cores(rows) | Values::Packages(rows) => Some(rows),
            Values::Host(_) => None,
        }
    }
}

/// Maps each row's value, and keeps the reason where there is none.
pub(crate) fn each<T>(rows: &PerCpu<T>, value: impl Fn(&T) -> Fact<f64>) -> PerCpu<f64> {
    let value = |fact: &Fact<T>| fact.as_ref().map_err(Missing::clone).and_then(&value);
    rows.iter().map(|(row, fact)| (row, value(fact))).collect()
}

impl Unit {
    /// As written after a number.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Percent => "%",
            Unit::Megahertz => "MHz",
            Unit::PerSecond => "/s",
            Unit::Watts => "W",
            Unit::Celsius => "°C",
            Unit::MillisecondsPerSecond => "ms/s",
        }
    }

    /// The number of decimals that its sources support.
    pub fn decimals(self) -> usize {
        match self {
            Unit::Percent | Unit::Watts => 2,
            Unit::MillisecondsPerSecond => 1,
            Unit::Megahertz | Unit::PerSecond | Unit::Celsius => 0,
        }
    }
}

/// What the values of several CPUs come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Of the values that are known.
    pub value: f64,
    /// How many those are.
    pub known: usize,
    /// How many more there should have been.
    pub missing: usize,
}

impl Series {
    /// The values of the rows in `cpus` as one; of a core or a package, if the CPU on which it was read is among them.
    ///
    /// Missing where none of them is known, with the reason that weighs most, and where the value is one of
    /// the whole host.
    pub fn over(&self, cpus: &CpuSet, kind: Kind) -> Fact<Summary> {
        let rows = match &self.values {
            Values::Cpus(rows) | Values::Cores(rows) | Values::Packages(rows) => rows,
            Values::Host(_) => {
                return Err(Missing::not_here("value of some CPUs", "the whole host has one"));
            }
        };
        let (mut known, mut asked, mut sum, mut peak) = (0, 0, 0.0, f64::NEG_INFINITY);
        let mut reason: Option<&Missing> = None;
        for fact in cpus.iter().filter_map(|cpu| rows.get(cpu)) {
            asked += 1;
            match fact {
                Ok(value) => {
                    known += 1;
                    sum += value;
                    peak = peak.max(*value);
                }
                // "We do not know" outweighs "there is none", as in `PerCpu::missing`.
                Err(why) if reason.is_none_or(|it| it.is_absence() && !why.is_absence()) => {
                    reason = Some(why);
                }
                Err(_) => {}
            }
        }
        if known == 0 {
            return Err(reason
                .cloned()
                .unwrap_or_else(|| Missing::absent(format!("a value of {}", cpus.named()))));
        }
        let value = match kind {
            Kind::Sum => sum,
            Kind::Mean => sum / known as f64,
            Kind::Peak => peak,
        };
        Ok(Summary { value, known, missing: asked - known })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::PerCpu;

    fn over(cpus: &str, kind: Kind) -> String {
        let rows: PerCpu<f64> = [
            (0, Ok(10.0)),
            (1, Ok(30.0)),
            (2, Err(Missing::not_here("clock", "was not busy"))),
            (3, Err(Missing::denied("/dev/cpu/3/msr"))),
        ]
        .into_iter()
        .collect();
        let series = Series::part("", Values::Cpus(rows));
        match series.over(&CpuSet::parse_list(cpus).unwrap(), kind) {
            Ok(Summary { value, known, missing }) => {
                format!("{value} of {known}, {missing} missing")
            }
            Err(missing) => missing.to_string(),
        }
    }

    #[test]
    fn values_go_together_as_their_kind_says() {
        assert_eq!(over("0-1", Kind::Sum), "40 of 2, 0 missing");
        assert_eq!(over("0-1", Kind::Mean), "20 of 2, 0 missing");
        assert_eq!(over("0-1", Kind::Peak), "30 of 2, 0 missing");
    }

    #[test]
    fn what_is_missing_is_counted_and_not_taken_for_zero() {
        assert_eq!(over("0-9", Kind::Mean), "20 of 2, 2 missing");
    }

    #[test]
    fn with_nothing_known_the_weightiest_reason_remains() {
        assert_eq!(over("2", Kind::Sum), "no clock here: was not busy");
        assert_eq!(over("2-3", Kind::Sum), "/dev/cpu/3/msr may not be read");
        assert_eq!(over("7", Kind::Sum), "a value of CPU 7 does not exist");
    }

    #[test]
    fn a_value_stands_out_from_its_limit_on() {
        let from = Limits::From { notable: 2.0, severe: 10.0 };
        let of = |value| from.emphasis(value, None);
        assert_eq!(
            [1.9, 2.0, 10.0].map(of),
            [Emphasis::Ordinary, Emphasis::Notable, Emphasis::Severe]
        );
        let ever = Limits::From { notable: f64::MIN_POSITIVE, severe: f64::INFINITY };
        assert_eq!(ever.emphasis(0.0, None), Emphasis::Ordinary);
        assert_eq!(ever.emphasis(0.1, None), Emphasis::Notable);
    }

    #[test]
    fn a_clock_stands_out_below_its_share_of_the_tsc_where_that_is_known() {
        let below = Limits::BelowTsc { notable: 0.9, severe: 0.5 };
        let of = |mhz| below.emphasis(mhz, Some(2500.0));
        assert_eq!(
            [2250.0, 2249.0, 1249.0].map(of),
            [Emphasis::Ordinary, Emphasis::Notable, Emphasis::Severe]
        );
        assert_eq!(below.emphasis(100.0, None), Emphasis::Ordinary);
    }

    #[test]
    fn a_value_of_the_host_is_not_that_of_some_cpus() {
        let series = Series::part("", Values::Host(Ok(1.0)));
        let all = CpuSet::parse_list("0-3").unwrap();
        assert!(series.over(&all, Kind::Sum).unwrap_err().is_absence());
    }
}
