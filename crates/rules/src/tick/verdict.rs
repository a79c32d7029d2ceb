//! The verdict on the tick of one CPU, in words.

use super::dependency::{self, Dependency};
use super::{CpuTicks, Role, Samples, timer_interrupts};
use crate::interval::{Delta, Interval};
use facts::counters::Family;
use facts::{Fact, Missing, PerCpu};

/// What to think of the tick of a CPU that should be left alone by it.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It stopped: what is left is the timers of programs and a tick now and then.
    Stopped {
        /// Timer interrupts a second.
        per_second: f64,
    },
    /// It was hardly busy, so that its tick stopped for want of work; of a busy tick nothing is known.
    Idle {
        /// Timer interrupts a second.
        per_second: f64,
    },
    /// It went on.
    Kept {
        /// Timer interrupts a second.
        per_second: f64,
        /// Why.
        why: Kept,
    },
    /// Not known whether it did.
    Unknown(Missing),
}

/// Why a tick went on.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    /// The kernel named what needed it: each with how often a second, and what points to its holder.
    Needed(Vec<(&'static Dependency, f64, Vec<String>)>),
    /// It was not requested to stop: the CPU is not in `nohz_full=`.
    NotAsked,
    /// It was gone when the kernel was asked: what needed it had ended, or the kernel stops it only while somebody looks.
    Gone,
    /// The kernel names nothing: the interrupts are timers of programs.
    ProgramTimers,
    /// What needed it could not be asked.
    Unknown(Missing),
}

/// What is the same for the verdict on every CPU.
pub(super) struct Judge<'a> {
    samples: &'a Samples<'a>,
    /// Timer interrupts while the attempts were traced.
    traced: Fact<PerCpu<Delta>>,
    /// How often each dependency kept the tick, by CPU.
    stops: Fact<Vec<(&'static Dependency, PerCpu<Delta>)>>,
}

/// More timer interrupts a second than this are no tick that stopped: that leaves at most one a second (before 4.17), and the
/// slowest kernel has 100 (kernel/Kconfig.hz).
const TOO_MANY: f64 = 10.0;
/// A CPU less busy than this, in percent, gets its timer interrupts from being woken.
const BUSY: f64 = 10.0;
/// What kept this share of the interrupts, or was found at them, is no accident.
const SHARE: f64 = 0.1;

impl<'a> Judge<'a> {
    pub(super) fn of(samples: &'a Samples<'a>) -> Judge<'a> {
        let traced = samples.traced.as_ref().map_err(Missing::clone);
        Judge {
            samples,
            traced: traced.clone().and_then(timer_interrupts),
            stops: traced.and_then(stops),
        }
    }

    /// The verdict; `None` of a CPU that may tick.
    pub(super) fn verdict(&self, ticks: &CpuTicks) -> Option<Verdict> {
        if ticks.role == Role::Ordinary {
            return None;
        }
        let facts = || Ok((ticks.delta()?.per_second(), ticks.busy.clone()?));
        let (per_second, busy) = match facts() {
            Ok(facts) => facts,
            Err(missing) => return Some(Verdict::Unknown(missing)),
        };
        Some(if busy < BUSY {
            Verdict::Idle { per_second }
        } else if per_second > TOO_MANY {
            Verdict::Kept { per_second, why: self.why(ticks, per_second) }
        } else {
            Verdict::Stopped { per_second }
        })
    }

    fn why(&self, ticks: &CpuTicks, per_second: f64) -> Kept {
        if ticks.role == Role::Isolated {
            return Kept::NotAsked;
        }
        let stops = match &self.stops {
            Ok(stops) => stops,
            Err(missing) => return Kept::Unknown(missing.clone()),
        };
        let traced = self.traced.as_ref().ok().and_then(|it| it.get(ticks.cpu)?.as_ref().ok());
        let Some(traced) = traced.map(|it| it.per_second()) else {
            return Kept::Unknown(Missing::not_collected(Family::Interrupts.source()));
        };
        if traced <= SHARE * per_second {
            return Kept::Gone;
        }
        let known = stops.iter().filter_map(|(dependency, deltas)| {
            let rate = deltas.get(ticks.cpu)?.as_ref().ok()?.per_second();
            let seen = || dependency::seen(dependency.name, ticks.cpu, &self.samples.counted);
            (rate >= SHARE * traced).then(|| (*dependency, rate, seen()))
        });
        let mut needed: Vec<_> = known.collect();
        needed.sort_by(|a, b| b.1.total_cmp(&a.1));
        if needed.is_empty() { Kept::ProgramTimers } else { Kept::Needed(needed) }
    }
}

fn stops(traced: &Interval) -> Fact<Vec<(&'static Dependency, PerCpu<Delta>)>> {
    let rows = traced.rows(Family::TickStops)?;
    let columns = rows.columns().into_iter();
    let known = columns.filter_map(|(name, column)| Some((dependency::find(name)?, column)));
    Ok(known.map(|(dependency, column)| (dependency, rows.deltas(column))).collect())
}

impl Verdict {
    /// Whether the tick went on.
    pub fn is_kept(&self) -> bool {
        matches!(self, Verdict::Kept { .. })
    }

    /// In one line: "kept 250 ticks/s: sched (more than one runnable task ...)".
    pub fn text(&self) -> String {
        match self {
            Verdict::Stopped { per_second } => {
                format!("stopped: {} while busy", rate(*per_second))
            }
            Verdict::Idle { per_second } => {
                format!("idle: {}, a busy tick was not seen", rate(*per_second))
            }
            Verdict::Kept { per_second, why } => {
                format!("kept {}: {}", rate(*per_second), why.text())
            }
            Verdict::Unknown(missing) => format!("unknown: {}", missing.advice()),
        }
    }
}

impl Kept {
    /// What keeps the tick, in words.
    pub fn text(&self) -> String {
        match self {
            Kept::Needed(needed) => {
                let reason = |(dependency, _, seen): &(&Dependency, f64, Vec<String>)| {
                    let Dependency { name, holder, .. } = dependency;
                    match seen.as_slice() {
                        [] => format!("{name} ({holder})"),
                        seen => format!("{name} ({holder}; {})", seen.join("; ")),
                    }
                };
                needed.iter().map(reason).collect::<Vec<_>>().join(", ")
            }
            Kept::NotAsked => "the CPU is isolated and not in nohz_full=".to_owned(),
            Kept::Gone => "it was gone when the kernel was asked why: what needed it has ended, or this kernel has \
                           commit 56534673cea7 and not 82b915051d32, and stops it only while it is traced"
                .to_owned(),
            Kept::ProgramTimers => {
                "the kernel names no reason, so these are timers of the programs there".to_owned()
            }
            Kept::Unknown(missing) => format!("why is unknown: {}", missing.advice()),
        }
    }
}

fn rate(per_second: f64) -> String {
    let decimals = if per_second < 10.0 { 1 } else { 0 };
    format!("{per_second:.decimals$} ticks/s")
}
