//! What is made of each interval, and what one showed.

use super::client::{self, ClientValue};
use super::{Column, KnownClocks, Shares, parts_add_up, probe};
use crate::interval::Interval;
use crate::metric::{Metric, Series, Unit, Values};
use crate::metrics::METRICS;
use crate::segment::Gap;
use facts::counters::Moment;
use facts::counters::users::UserTimes;
use facts::probe::ClockReading;
use facts::tape::Sample;
use facts::{CpuSet, Fact, HostView, Missing, PerCpu};
use std::time::Duration;

/// The values of every metric over one interval.
#[derive(Clone)]
pub struct Reading {
    /// When the interval ended.
    pub at: Moment,
    /// How long it was, in nanoseconds.
    pub elapsed_ns: Fact<u64>,
    /// For how long of that the machine was suspended, in nanoseconds; it comes on top.
    pub suspended_ns: u64,
    /// The CPUs that were online at its end.
    pub cpus: CpuSet,
    /// Every metric of the view, or part of one, in the order of [`METRICS`](crate::metrics::METRICS).
    pub columns: Vec<Column>,
    /// Where the time of all CPUs went, where the view has that.
    pub shares: Fact<Shares>,
    /// What a client printed of itself; `None` where none was listened to.
    pub client: Option<ClientValue>,
    /// How long reading the counters at the interval's end took; nothing where they come from a recording.
    pub took: Option<Duration>,
    /// What has to be said with it: that it came late, that the machine slept.
    pub notes: Vec<String>,
}

impl Reading {
    /// What happened between two samples of `host`, on all its CPUs or on some, as far as `view` wants to know;
    /// `known` is what the probe saw before.
    pub fn between(
        host: &HostView,
        before: &Sample,
        after: &Sample,
        cpus: Option<&CpuSet>,
        view: &View,
        known: &KnownClocks,
    ) -> Reading {
        let interval = Interval { host, before: &before.counters, after: &after.counters };
        let unasked = || Err(Missing::not_collected("the ledger"));
        let marks = after.client.iter().flat_map(client::marks);
        let phases = after.server.iter().flat_map(|it| &it.phases);
        let marks = marks.chain(phases.map(|it| format!("database: {}", it.text)));
        let online = &interval.after.online;
        let cpus = cpus.map_or_else(|| online.clone(), |it| it.and(online));
        Reading {
            at: interval.after.at,
            elapsed_ns: interval.elapsed_ns(),
            suspended_ns: interval.suspended_ns(),
            columns: view.metrics.iter().flat_map(|metric| columns(metric, &interval)).collect(),
            shares: match view.ledger {
                Some(observer) => shares(&interval, &cpus, (&after.clocks, known), observer),
                None => unasked(),
            },
            client: after.client.as_ref().and_then(ClientValue::of),
            took: None,
            notes: notes(&interval).into_iter().chain(marks).collect(),
            cpus,
        }
    }

    /// The clock of the TSC, the highest of all CPUs: other clocks are held against it
    /// ([`Limits::BelowTsc`](crate::metric::Limits::BelowTsc)). `None` where it is unknown, or not part of the view.
    pub fn tsc_mhz(&self) -> Option<f64> {
        const TSC: &str = "tsc-mhz";
        let column = self.columns.iter().find(|it| it.metric.id == TSC)?;
        let clocks = column.series.as_ref().ok()?.values.rows()?;
        clocks.known().map(|(_, mhz)| *mhz).reduce(f64::max)
    }

    /// Puts what the clock probe saw beside what counters say of the clock.
    pub fn insert_clocks(&mut self, clocks: &PerCpu<ClockReading>) {
        let behind = self.columns.iter().rposition(|it| it.metric.unit == Unit::Megahertz);
        let at = behind.map_or(0, |at| at + 1);
        self.columns.insert(at, probe::column(clocks, &self.cpus));
    }
}

/// Where the time of the CPUs went. Counters that began again between the two samples account for nothing.
fn shares(
    interval: &Interval,
    cpus: &CpuSet,
    clocks: (&PerCpu<ClockReading>, &KnownClocks),
    observer: u32,
) -> Fact<Shares> {
    interval.elapsed_ns()?;
    match Gap::between(interval.before, interval.after, 0) {
        Some(gap) => Err(gap.missing()),
        None => Shares::of(interval, cpus, clocks, observer),
    }
}

/// What has to be said of an interval beside its values.
fn notes(interval: &Interval) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(interval.elapsed_ns().err().map(|missing| missing.to_string()));
    let suspended = Duration::from_nanos(interval.suspended_ns());
    if !suspended.is_zero() {
        notes.push(format!("the machine was suspended for {suspended:.1?}"));
    }
    notes.extend(interval.users().ok().and_then(UserTimes::unread_note));
    let (was, is) = (&interval.before.online, &interval.after.online);
    let gone = was.minus(is);
    if !gone.is_empty() {
        notes.push(format!("{} went offline", gone.named()));
    }
    let come = is.minus(was);
    if !come.is_empty() {
        notes.push(format!("{} came online", come.named()));
    }
    notes
}

/// The columns of one metric: at least one, so that what is missing is seen to be missing.
fn columns(metric: &'static Metric, interval: &Interval) -> Vec<Column> {
    let column = |series| Column { metric, series };
    match (metric.measure)(interval) {
        Err(missing) => vec![column(Err(missing))],
        // Parts that nothing happened to are left out: nothing is what all of them together had.
        Ok(series) if series.is_empty() && parts_add_up(metric) => {
            vec![column(Ok(Series { part: String::new(), values: Values::Host(Ok(0.0)) }))]
        }
        Ok(series) => series.into_iter().map(|it| column(Ok(it))).collect(),
    }
}

/// What is made of two samples, and so what they have to hold.
#[derive(Clone)]
pub struct View {
    /// The metrics, each once, in the order of [`METRICS`].
    pub metrics: Vec<&'static Metric>,
    /// Whether the clock is probed where no counter shows it.
    pub clock_probe: bool,
    /// The process that observes, whose own time is a line of the ledger; `None` where no ledger is made.
    pub ledger: Option<u32>,
}

impl View {
    /// Every metric, and a ledger by the process `observer`.
    pub fn everything(observer: u32) -> View {
        View { metrics: METRICS.to_vec(), clock_probe: true, ledger: Some(observer) }
    }

    /// Every metric that `is_wanted`, and no ledger.
    pub fn of_metrics(is_wanted: impl Fn(&Metric) -> bool) -> View {
        View {
            metrics: METRICS.iter().copied().filter(|it| is_wanted(it)).collect(),
            clock_probe: is_wanted(&probe::METRIC),
            ledger: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{counters, host_of};

    fn shares(before: &str, after: &str) -> Fact<Shares> {
        let [before, after] = [before, after].map(|it| Sample::from(counters(it)));
        let view = View { ledger: Some(1), ..View::of_metrics(|_| false) };
        Reading::between(&host_of(""), &before, &after, None, &view, &KnownClocks::default()).shares
    }

    #[test]
    fn tasks_that_were_not_read_are_noted() {
        let host = host_of("");
        let texts = ["at 0\nusers 0\n", "at 1000\nusers 1000\nunread 12\n"];
        let [before, after] = texts.map(|it| Sample::from(counters(it)));
        let (view, known) = (View::of_metrics(|_| false), KnownClocks::default());
        let reading = Reading::between(&host, &before, &after, None, &view, &known);
        assert!(reading.notes.concat().contains("12 tasks of users were not read"));
    }

    #[test]
    fn an_interval_in_which_a_cpu_went_or_came_has_no_ledger() {
        let both = "CpuTimes user idle iowait\n0 5 900 0\n1 5 900 0\n";
        let one = "CpuTimes user idle iowait\n0 6 990 0\n";
        let again = "CpuTimes user idle iowait\n0 6 990 0\n1 6 3 0\n";
        let reason = |before: &str, after: &str| {
            let texts = [format!("at 0\n{before}"), format!("at 1000\n{after}")];
            shares(&texts[0], &texts[1]).unwrap_err().to_string()
        };
        assert!(reason(both, one).ends_with("CPU 1 went offline"), "{}", reason(both, one));
        assert!(reason(one, both).ends_with("CPU 1 came online"), "{}", reason(one, both));
        // It was back before the next sample.
        assert!(reason(both, again).contains("CPU 1 went back from 900 to 3"));
        assert!(shares(&format!("at 0\n{both}"), &format!("at 1000\n{both}")).is_ok());
    }
}
