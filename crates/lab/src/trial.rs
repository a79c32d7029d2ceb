//! One run of a workload, the state of the machine it was taken on, and what happened during it.

mod labels;
mod packed;

pub use packed::{Entries, PackedList};

use crate::failure::Failure;
use crate::known::Known;
use crate::server::ServerWork;
use crate::server_log::ServerLog;
use crate::throttling::Throttling;
use labels::{Kind, Label};
use packed::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of one run of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Wall time of the work alone, in nanoseconds; without the time between its pieces, where it was cut.
    pub elapsed_ns: Known<u64>,
    /// Time on a CPU of all its tasks, in nanoseconds: elapsed time without what other tasks took of it, where the
    /// workload is one task that never sleeps.
    pub cpu_ns: Known<u64>,
    /// How many of its tasks ran at a time; 0 where unknown.
    pub tasks: u32,
    /// The main figure first.
    pub figures: PackedList<Figure>,
}

/// A number that a workload yields.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure<S = String> {
    /// What it is: `elapsed`, `index build`.
    pub name: S,
    /// What it is counted in.
    pub unit: S,
    /// The number, which is finite.
    pub value: f64,
    /// Which way is faster.
    pub better: Better,
}

impl Figure {
    /// A value of the main figure.
    pub fn of(shape: FigureShape, value: f64) -> Figure {
        let FigureShape { name, unit, better } = shape;
        Figure { name: name.to_owned(), unit: unit.to_owned(), value, better }
    }
}

/// What the main figure of a workload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureShape {
    /// What it is called: `elapsed`.
    pub name: &'static str,
    /// What it is counted in: `s`.
    pub unit: &'static str,
    /// Which way is faster.
    pub better: Better,
}

impl FigureShape {
    /// How long the work took.
    pub const ELAPSED: FigureShape =
        FigureShape { name: "elapsed", unit: "s", better: Better::Lower };
}

/// Which way is faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Lower is better, such as of a time.
    #[default]
    Lower,
    /// Higher is better, such as of a rate.
    Higher,
}

impl Better {
    /// The word in output.
    pub fn name(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
        }
    }
}

/// One run of a workload, with its figures and its environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Counted from 1 in the order in which they began.
    pub number: u32,
    /// Which arm it is of, an index into the arms of its record.
    pub arm: usize,
    /// Which block it is in; a block holds each arm equally often.
    pub block: u32,
    /// When it began, in nanoseconds of CLOCK_MONOTONIC_RAW since the first trial.
    pub began_ns: Known<u64>,
    /// The boot that it ran in, by the beginning of /proc/sys/kernel/random/boot_id, where a study takes reboots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// Which preparation of its workload it ran on, counted from 1 in the order in which all of the record were made: a higher
    /// one than the other arm's was made later. `None` where the workload leaves nothing to its trials, and in files of
    /// versions that prepared once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preparation: Option<u32>,
    /// Why it failed, where an experiment went on; it has no figures then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// What happened during it, where its node runs a race.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// What a CPU quota took from it, where its node runs a race and one was in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttling: Option<Throttling>,
    /// What the server under test did during it, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerWork>,
    /// What the server of `--server` counted of its log before the trial and after it; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_log: Option<Known<ServerLog>>,
    /// The result of the workload.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Of a long race, the intervals that it sums up, in their order; empty where it is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<Slice>,
    /// The clock that the probe saw on the CPUs it ran on, right before and right after; of trials whose pieces took turns,
    /// before and after all of them.
    pub clock: Known<TrialClock>,
    /// From about one second before it to its end; of trials whose pieces took turns, to the end of all of them.
    pub surroundings: Known<TrialContext>,
}

impl Trial {
    /// One task that took `seconds` and never slept, of which nothing else is known: a start for made-up trials.
    pub fn of_one_task(arm: usize, block: u32, seconds: f64) -> Trial {
        let elapsed_ns = Known::Value((seconds * 1e9) as u64);
        let figures = PackedList::from_iter([Figure::of(FigureShape::ELAPSED, seconds)]);
        Trial {
            number: 0,
            arm,
            block,
            began_ns: Known::Value(0),
            boot: None,
            preparation: None,
            failed: None,
            marks: Vec::new(),
            throttling: None,
            server: None,
            server_log: None,
            outcome: Outcome {
                elapsed_ns: elapsed_ns.clone(),
                cpu_ns: elapsed_ns,
                tasks: 1,
                figures,
            },
            slices: Vec::new(),
            clock: Known::missing("nobody looked"),
            surroundings: Known::missing("nobody looked"),
        }
    }

    /// A trial that gave no figure.
    pub fn failed(arm: usize, block: u32, began_ns: Known<u64>, why: &Failure) -> Trial {
        let why = why.to_string();
        let missing = || Known::missing(format!("the trial failed: {why}"));
        let figures = PackedList::default();
        let outcome = Outcome { elapsed_ns: missing(), cpu_ns: missing(), tasks: 0, figures };
        let (clock, surroundings) = (Known::missing(why.clone()), Known::missing(why.clone()));
        Trial {
            number: 0,
            arm,
            block,
            began_ns,
            boot: None,
            preparation: None,
            failed: Some(why),
            marks: Vec::new(),
            throttling: None,
            server: None,
            server_log: None,
            outcome,
            slices: Vec::new(),
            clock,
            surroundings,
        }
    }
}

/// An interval of a node of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// How long it was, in nanoseconds; it began where the one before it ended.
    pub elapsed_ns: u64,
    /// What was counted in it, such as commits.
    pub count: u64,
}

/// The clock around one trial: means over its CPUs, in hertz.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialClock {
    /// The clock right before the trial, in hertz.
    pub before_hz: f64,
    /// The clock right after the trial, in hertz.
    pub after_hz: f64,
}

impl TrialClock {
    /// The best estimate of the clock during the trial.
    pub fn mean_hz(&self) -> f64 {
        f64::midpoint(self.before_hz, self.after_hz)
    }
}

/// What the CPUs did from about one second before a trial to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialContext {
    /// The CPUs, as the kernel writes lists.
    pub cpus: String,
    /// How long, in nanoseconds.
    pub window_ns: u64,
    /// The lines of the ledger over the trial, as shares of the CPUs' time.
    pub ledger: PackedList<Share>,
    /// What no line of the ledger accounts for, as a share of the CPUs' time.
    pub unexplained: f64,
    /// The metrics of `fullclock watch`.
    pub metrics: PackedList<Reading>,
}

impl TrialContext {
    /// The metric of the clock of busy CPUs, where counters show it.
    pub(crate) const CLOCK: &str = "busy-mhz";

    /// The clock of busy CPUs by their counters, in MHz.
    pub fn busy_mhz(&self) -> Option<f64> {
        self.metrics.iter().find(|it| it.metric == Self::CLOCK)?.value.value().copied()
    }
}

/// A line of the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(bound(serialize = "S: AsRef<str> + Serialize"))]
#[schemars(rename = "Share", bound = "S: JsonSchema + AsRef<str> + Default + Serialize")]
pub struct Share<S = String> {
    /// The id of the loss.
    pub loss: S,
    /// Which part of it; empty where it is one thing.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub part: S,
    /// Its share of the CPUs' time, 1 being all of it.
    pub share: Known<f64>,
}

/// A metric's value for all those CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(bound(serialize = "S: AsRef<str> + Serialize"))]
#[schemars(rename = "Reading", bound = "S: JsonSchema + AsRef<str> + Default + Serialize")]
pub struct Reading<S = String> {
    /// The id of the metric.
    pub metric: S,
    /// Which part of it; empty where it is one thing.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub part: S,
    /// In the metric's unit.
    pub value: Known<f64>,
}

fn is_empty(text: &impl AsRef<str>) -> bool {
    text.as_ref().is_empty()
}

impl Entry for Figure {
    type View<'a> = Figure<&'a str>;

    fn packed(self) -> (Label, f64) {
        let Figure { name, unit, value, better } = self;
        (Label { name: name.into(), detail: unit.into(), kind: Kind::Figure(better) }, value)
    }

    fn view(label: &Label, value: f64) -> Figure<&str> {
        let better = match label.kind {
            Kind::Figure(better) => better,
            Kind::Number | Kind::Missing(_) => Better::Lower,
        };
        Figure { name: &label.name, unit: &label.detail, value, better }
    }

    fn unpacked(label: &Label, value: f64) -> Figure {
        let Figure { name, unit, value, better } = Figure::view(label, value);
        Figure { name: name.to_owned(), unit: unit.to_owned(), value, better }
    }
}

impl Entry for Share {
    type View<'a> = Share<&'a str>;

    fn packed(self) -> (Label, f64) {
        packed(self.loss, self.part, self.share)
    }

    fn view(label: &Label, share: f64) -> Share<&str> {
        Share { loss: &label.name, part: &label.detail, share: known(label, share) }
    }

    fn unpacked(label: &Label, share: f64) -> Share {
        let Share { loss, part, share } = Share::view(label, share);
        Share { loss: loss.to_owned(), part: part.to_owned(), share }
    }
}

impl Entry for Reading {
    type View<'a> = Reading<&'a str>;

    fn packed(self) -> (Label, f64) {
        packed(self.metric, self.part, self.value)
    }

    fn view(label: &Label, value: f64) -> Reading<&str> {
        Reading { metric: &label.name, part: &label.detail, value: known(label, value) }
    }

    fn unpacked(label: &Label, value: f64) -> Reading {
        let Reading { metric, part, value } = Reading::view(label, value);
        Reading { metric: metric.to_owned(), part: part.to_owned(), value }
    }
}

fn packed(name: String, part: String, number: Known<f64>) -> (Label, f64) {
    let (kind, number) = match number {
        Known::Value(number) => (Kind::Number, number),
        Known::Missing { missing } => (Kind::Missing(missing.into()), 0.0),
    };
    (Label { name: name.into(), detail: part.into(), kind }, number)
}

fn known(label: &Label, number: f64) -> Known<f64> {
    match &label.kind {
        Kind::Missing(why) => Known::missing(&**why),
        Kind::Number | Kind::Figure(_) => Known::Value(number),
    }
}

/// Something that happened on a node, or a note of the user's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "mark", rename_all = "kebab-case")]
pub enum Mark {
    /// A setting of the host has changed.
    Setting {
        /// As a machine's fingerprint names it.
        name: String,
        /// Its value before; `None` where it was not named.
        from: Option<String>,
        /// The value after the change; `None` where it is no longer named.
        to: Option<String>,
    },
    /// The CPU quota of a control group that the node runs in: no other node's, unless that runs in the group, too.
    Quota {
        /// The group's folder.
        group: String,
        /// How many CPUs it amounted to; `None` where there was no quota.
        from: Option<f64>,
        /// How many now.
        to: Option<f64>,
    },
    /// An audit finds what it did not find before, or no longer. Of quotas it looks at those of the node.
    Finding {
        /// The check's id.
        check: String,
        /// Whether it is there now.
        is_there: bool,
    },
    /// The node's agent was restarted: the intervals between are missing.
    Restarted,
    /// A note.
    Note {
        /// The text of the user.
        text: String,
    },
}

/// The setting of a fingerprint that holds the quotas of control groups.
pub(crate) const CPU_QUOTAS: &str = "cpu quotas";

/// The check whose findings are about the groups that a node runs in.
const OF_QUOTAS: &str = "cgroup-quota-throttling";

impl Mark {
    /// Whether it is the setting that holds the quotas of a node's own groups.
    pub(crate) fn is_of_quotas(&self) -> bool {
        matches!(self, Mark::Setting { name, .. } if name == CPU_QUOTAS)
    }

    /// Whether it is about the whole host, so that every node there notices it.
    pub fn is_of_host(&self) -> bool {
        match self {
            Mark::Setting { .. } => !self.is_of_quotas(),
            Mark::Finding { check, .. } => check != OF_QUOTAS,
            Mark::Quota { .. } | Mark::Restarted | Mark::Note { .. } => false,
        }
    }
}
