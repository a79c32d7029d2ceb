//! `slow-clock`: what tasks lost because their CPU's clock was below its reference.
//!
//! See `ledger::clock` and `ledger::reference` for the two clocks, `ledger::causes` for what names a cause. A register or
//! setting is that of the moment when the host was looked at, and may have changed in the interval.

use crate::ledger::Books;
use crate::ledger::amount::{part, signed};
use crate::ledger::causes::{NOT_VISIBLE, causes};
use crate::ledger::work::work;
use crate::loss::{Entry, Kind, Loss};
use facts::{Fact, Hertz, Missing};

pub(super) const LOSS: Loss = Loss {
    id: "slow-clock",
    title: "slow clock",
    kind: Kind::Lost,
    help: "\
## What it is
The time of the tasks that were asked for, times the share by which their CPU's clock was below its reference: the highest
that the hardware promises for so many active cores. Where nothing promises a clock, as in a guest, it is the highest
that was measured, and the ledger says so.

## How it is measured
By APERF / MPERF times the rate of the TSC; without them, by the chain probe, which times a chain of dependent
instructions on the CPU between the samples. Only evidence names a cause: a governor or limit that asked for less, turbo
that is off, thermal events in the interval, the processor's own limit reasons, a preference for saving power, in a guest
the hypervisor. Each explains the clock as far down as it can have pushed it; the rest is 'cause not visible'.

## What mends it
What the findings beside the line say. The party is who can change it: operating system, firmware, management controller,
hypervisor, or nobody but a better cooler.
",
    checks: &[
        "slow-governor",
        "capped-frequency",
        "power-saving-bias",
        "rival-tuner",
        "turbo-off",
        "turbo-headroom-lost",
        "no-frequency-driver",
        "mixed-frequency-settings",
        "low-power-limit",
        "prochot-asserted",
        "thermal-throttling",
        "clock-below-minimum",
        "known-bad-firmware",
    ],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let work = work(books)?;
    let clock = books.clock.as_ref()?;
    let reference = books.reference.as_ref().ok_or_else(|| Missing::absent("a reference clock"))?;
    let entry = |name: &str, party, ns| Entry {
        part: name.to_owned(),
        ns: signed(ns),
        method: clock.method,
        source: clock.source,
        uncertainty_ns: part(work.uncertainty_ns, ns, work.slow_ns),
        party,
    };
    let depth = reference.clock.0.saturating_sub(clock.running.0);
    let mut entries = Vec::new();
    let (mut height, mut left) = (reference.clock, work.slow_ns);
    for cause in causes(books, clock.running) {
        let foot = Hertz(cause.down_to.0.clamp(clock.running.0, height.0.max(clock.running.0)));
        let ns = part(work.slow_ns, height.0.saturating_sub(foot.0), depth).min(left);
        if ns > 0 {
            entries.push(entry(&cause.name, cause.party, ns));
            left = left.saturating_sub(ns);
            height = foot;
        }
    }
    if left > 0 {
        entries.push(entry(NOT_VISIBLE, None, left));
    }
    Ok(entries)
}
