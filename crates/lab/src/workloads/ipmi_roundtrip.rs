//! `ipmi-roundtrip`: how long a management controller (BMC) takes to answer, and what waiting for it takes of a CPU.
//!
//! Where the interface to the controller does not interrupt, a thread of the kernel asks it again and again until it
//! has answered (drivers/char/ipmi/ipmi_si_intf.c, `ipmi_thread`). How often it may ask without a pause is a setting,
//! `kipmid_max_busy_us`, that trades answers for CPU time: so both are measured at once.

use crate::failure::Failure;
use crate::ipmi::{self, Asker, Polling, Times};
use crate::known::Known;
use crate::stats::Sample;
use crate::threads::timed;
use crate::trial::{Better, Figure, FigureShape, Outcome};
use crate::workload::{Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
use facts::CpuSet;
use host::Live;
use host::probe::pinned_to;
use std::time::Duration;

pub(super) const WORKLOAD: Workload = Workload {
    id: ipmi::ID,
    title: "how long the BMC takes to answer, and what waiting for it costs",
    help: "\
## What it does
Asks the management controller for its device id and fetches one of its sensor records, in turn, 100 times each, through
/dev/ipmi0. `device id` is the middle round trip in milliseconds, and beside it stand the 90th and 99th percentile and the
longest; `record` is the same for one sensor record. A record comes whole where the controller gives so much at once, else
its header and the rest in portions, a question each; which it is, is found out before the first trial and kept with the
result. Each trial begins with the first record, after the last comes the first again, and a controller without sensor records
has no `record`.

`kipmid share` is what the scheduler has accounted kipmi0, the thread of the kernel that polls the controller, as a share of
one CPU during the trial; `kipmid time` is the same for one device id and one record, and `id and record` how long those
take on average. An interface that interrupts has no such thread, and no such figures. `--iterations` is how often
each is asked, `--timeout` how long a trial may take; an answer that takes 30 s is given up. With `--cpus`, whoever asks stays
on those CPUs; kipmi0 runs where the scheduler puts it.

It needs the drivers (`modprobe -a ipmi_si ipmi_devintf`) and root. No setting and no record is changed; whoever reads the
sensor records at that moment loses their reservation, and has to ask for another.

## What changes the result
`kipmid_max_busy_us`: below the time that the controller thinks, its answers wait for the next tick and `kipmid share`
falls; the setting `kipmid-max-busy` changes it. kipmi0 has nice 19: where every CPU is busy, answers wait until it
runs. The kernel: since 5.4 kipmi0 sleeps 100 to 200 us between two looks, before it did not. The controller's firmware, and
other programs that ask it, whose answers come in between.

## What it cannot know
Which part of a round trip is the controller's and which is the kernel's. What others ask at the same time: their polling is
in `kipmid share`, too. Whether the readings of sensors are right: it reads the records that describe them.
",
    figure: DEVICE_ID[0],
    takes: &[Setting::Cpus, Setting::Iterations, Setting::Timeout],
    placement: Placement::Anywhere,
    preparation: Preparation::Cheap,
    prepare,
};

pub(crate) const DEVICE_ID: [FigureShape; 4] = [
    milliseconds("device id"),
    milliseconds("device id p90"),
    milliseconds("device id p99"),
    milliseconds("device id longest"),
];
pub(crate) const RECORD: [FigureShape; 4] = [
    milliseconds("record"),
    milliseconds("record p90"),
    milliseconds("record p99"),
    milliseconds("record longest"),
];
/// Which share of the others each of them is above.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 1.0];

pub(crate) const SHARE: FigureShape =
    FigureShape { name: "kipmid share", unit: "%", better: Better::Lower };
/// One round trip of each kind, on average, and what kipmi0 takes of a CPU for them.
pub(crate) const BOTH: FigureShape = milliseconds("id and record");
pub(crate) const POLLED: FigureShape = milliseconds("kipmid time");

const fn milliseconds(name: &'static str) -> FigureShape {
    FigureShape { name, unit: "ms", better: Better::Lower }
}

/// Some seconds, where an answer takes 5 to 50 ms.
const TRIPS: u64 = 100;

/// Hours.
const MOST_TRIPS: u64 = 1_000_000;

struct RoundTrips {
    cpus: Option<CpuSet>,
    asker: Asker,
    trips: u64,
    polling: Polling,
}

fn prepare(settings: &Settings, scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    let trips = settings.iterations_up_to(MOST_TRIPS, TRIPS)?;
    let controller = ipmi::open(scene.host)?;
    let asker = Asker::begin(controller, trips, settings.timeout, scene.stop)?;
    let polling = Polling::of(scene.host, &Live::this_machine());
    Ok(Box::new(RoundTrips { cpus: settings.cpus()?, asker, trips, polling }))
}

impl Ready for RoundTrips {
    fn trial(&mut self, scene: &Scene<'_>) -> Result<Outcome, Failure> {
        let live = Live::this_machine();
        let RoundTrips { cpus, asker, trips, polling } = self;
        let mut ask = || {
            let mut times = Times::default();
            let trips = || asker.trips(*trips, scene.stop, &mut times).map(|()| times);
            polling.during(&live, || timed(trips))
        };
        let (run, polled) = match cpus {
            None => ask(),
            Some(cpus) => pinned_to(cpus, ask).map_err(|why| Failure::Unready(why.to_string()))?,
        };
        Ok(Outcome {
            elapsed_ns: Known::Value(run.elapsed_ns),
            cpu_ns: Known::Value(run.cpu_ns),
            tasks: 1,
            figures: figures(&run.answer?, polled, Duration::from_nanos(run.elapsed_ns))?.into(),
        })
    }

    fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }

    fn about(&self) -> Vec<(String, String)> {
        let mut about = self.asker.about();
        about.push(("kipmid".to_owned(), self.polling.about()));
        about
    }
}

fn figures(
    times: &Times,
    polled: Option<Duration>,
    elapsed: Duration,
) -> Result<Vec<Figure>, Failure> {
    let mut figures = quantiles(&times.device_id, DEVICE_ID)?;
    if !times.record.is_empty() {
        figures.extend(quantiles(&times.record, RECORD)?);
    }
    let each_ms = |it: Duration| it.as_secs_f64() * 1e3 / times.device_id.len() as f64;
    if let Some(polled) = polled.filter(|_| !elapsed.is_zero()) {
        let share = polled.as_secs_f64() / elapsed.as_secs_f64() * 100.0;
        let of = [(SHARE, share), (BOTH, each_ms(elapsed)), (POLLED, each_ms(polled))];
        figures.extend(of.map(|(shape, value)| Figure::of(shape, value)));
    }
    Ok(figures)
}

fn quantiles(times_ns: &[u64], shapes: [FigureShape; 4]) -> Result<Vec<Figure>, Failure> {
    let times = times_ns.iter().map(|ns| *ns as f64 / 1e6).collect();
    let times =
        Sample::new(times).map_err(|why| Failure::NoFigure(format!("{}: {why}", WORKLOAD.id)))?;
    let figures = shapes.into_iter().zip(QUANTILES);
    Ok(figures.map(|(shape, share)| Figure::of(shape, times.quantile(share))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(times: &Times, polled: Option<Duration>) -> Vec<String> {
        let figures = figures(times, polled, Duration::from_secs(2)).unwrap();
        figures.iter().map(|it| format!("{} {:.3} {}", it.name, it.value, it.unit)).collect()
    }

    #[test]
    fn the_middle_is_the_main_figure_and_the_longest_is_in_no_other() {
        let milliseconds = |last: u64| (1..=100).chain([last]).map(|it| it * 1_000_000).collect();
        let times = Times { device_id: milliseconds(3000), record: milliseconds(500) };
        assert_eq!(
            shown(&times, Some(Duration::from_millis(500))),
            [
                "device id 51.000 ms",
                "device id p90 91.000 ms",
                "device id p99 100.000 ms",
                "device id longest 3000.000 ms",
                "record 51.000 ms",
                "record p90 91.000 ms",
                "record p99 100.000 ms",
                "record longest 500.000 ms",
                "kipmid share 25.000 %",
                "id and record 19.802 ms",
                "kipmid time 4.950 ms",
            ]
        );
    }

    #[test]
    fn what_there_is_not_has_no_figure() {
        let times = Times { device_id: vec![5_000_000], record: vec![] };
        let names: Vec<String> =
            shown(&times, None).iter().map(|it| it.replace(" 5.000 ms", "")).collect();
        assert_eq!(names, DEVICE_ID.map(|it| it.name));
    }
}
