//! The books of a CPU that a spinner watched: how much of it could one task get?
//!
//! The spinner is the only chosen task. Its time is the time between the gaps, and each gap is entered on the line of whatever
//! had the CPU then. Gaps without an explanation are not entered, and so are unexplained.
//!
//! The spinner watches for a little less than the interval lasts. What it saw is taken for the rest as well, which adds its
//! length to the uncertainty. No event marks the time that a hypervisor took: it is what no event of this guest explains, and
//! its uncertainty is how far /proc/stat differs.

use super::amount::{Amount, Method, part};
use super::books::{Books, Shared};
use super::clock;
use super::evidence::{Evidence, Spun};
use super::interruptions::{Interruption, Interruptions, Kind, kind_of};
use super::owner::Owner;
use super::stolen::stolen;
use super::tasks::{Share, TaskIndex, TaskTimes};
use crate::spin::{self, NoiseSource};
use facts::{Fact, Missing};

/// The books of a CPU that was watched, or why it was not.
pub(super) fn books<'a>(
    evidence: &'a Evidence<'a>,
    shared: &Shared<'_>,
    cpu: u32,
    wall_ns: u64,
    spun: &Fact<Spun>,
) -> Books<'a> {
    let amount = |source: NoiseSource| spun.as_ref().map(|it| it.amount(source, wall_ns));
    let known = |source: NoiseSource| amount(source).map_err(Missing::clone);
    let all = |kind| spun.as_ref().map(|it| it.interruptions(evidence, kind, wall_ns));
    let interruptions = |kind| all(kind).map_err(Missing::clone);
    Books {
        evidence,
        cpu,
        wall_ns,
        stolen: known(NoiseSource::Hypervisor).and_then(|it| against_steal(it, evidence, cpu)),
        interruptions: Interruptions {
            ticks: interruptions(Kind::Tick),
            interrupts: interruptions(Kind::Interrupt),
            softirqs: interruptions(Kind::Softirq),
            without_cost: None,
        },
        tasks: spun.as_ref().map(|it| it.tasks(&shared.tasks, wall_ns)).map_err(Missing::clone),
        idle: known(NoiseSource::Nobody),
        idle_holds_loop: true,
        quota: Err(Missing::not_collected("cpu.stat of control groups")),
        in_firmware: Some(known(NoiseSource::Firmware)),
        clock: clock::clock(evidence, cpu, wall_ns),
        activity: None,
        reference: None,
    }
}

/// What a hypervisor took, with how far that is from what it says itself; a count of steal alone tells of no time that
/// it spent on this guest's own exits, and of none below 10 ms. Nothing is no answer where that count is broken.
fn against_steal(inferred: Amount, evidence: &Evidence<'_>, cpu: u32) -> Fact<Amount> {
    if inferred.ns == 0 {
        return evidence.interval.restarted_steal().map_or(Ok(inferred), Err);
    }
    let told_ns = stolen(evidence, cpu, wall_ns(evidence)).map_or(0, |it| it.ns);
    let apart_ns = inferred.ns.abs_diff(told_ns);
    Ok(Amount {
        uncertainty_ns: inferred.uncertainty_ns.max(apart_ns),
        method: Method::Derived,
        source: "gaps of a spinner that no event of this guest explains, against /proc/stat steal",
        ..inferred
    })
}

fn wall_ns(evidence: &Evidence<'_>) -> u64 {
    evidence.interval.elapsed_ns().unwrap_or(0)
}

impl Spun {
    /// What one noise source took of `wall_ns`.
    fn amount(&self, source: NoiseSource, wall_ns: u64) -> Amount {
        self.amount_of(self.gaps.of(source).ns, wall_ns)
    }

    fn amount_of(&self, seen_ns: u64, wall_ns: u64) -> Amount {
        let ns = part(seen_ns, wall_ns, self.wall_ns);
        // Nothing is seen as nothing, for however long.
        let unwatched_ns = if ns == 0 { 0 } else { self.wall_ns.abs_diff(wall_ns) };
        let (method, source, uncertainty_ns) = match self.gaps.method {
            spin::Method::Trace => {
                (Method::Tracepoint, "gaps of a spinner, by traced events", unwatched_ns)
            }
            // Which gap was whose rests on their lengths alone: any of it may be somebody else's.
            spin::Method::Counts => {
                let uncertainty_ns = ns.saturating_add(unwatched_ns);
                (Method::Derived, "gaps of a spinner, by counts", uncertainty_ns)
            }
        };
        Amount { ns, uncertainty_ns, method, source }
    }

    fn interruptions(
        &self,
        evidence: &Evidence<'_>,
        kind: Kind,
        wall_ns: u64,
    ) -> Vec<Interruption> {
        let of = |(source, taken): (&NoiseSource, &spin::Taken)| {
            let (its_kind, name) = match source {
                NoiseSource::Kernel(cause) => kind_of(evidence, *cause),
                NoiseSource::Nmi => (Kind::Interrupt, "NMI".to_owned()),
                _ => return None,
            };
            let amount = self.amount_of(taken.ns, wall_ns);
            let in_tasks_ns = Some(amount.ns);
            (its_kind == kind).then_some(Interruption { name, amount, in_tasks_ns, edges_ns: 0 })
        };
        self.gaps.taken.iter().filter_map(of).collect()
    }

    /// The spinner between its gaps, and the tasks in them.
    fn tasks(&self, index: &Fact<TaskIndex>, wall_ns: u64) -> TaskTimes {
        let spinner = self.wall_ns.saturating_sub(self.gaps.total_ns());
        let spinner = Share {
            owner: Owner::Asked,
            name: "spinner".to_owned(),
            ns: part(spinner, wall_ns, self.wall_ns),
            interrupted: None,
            cut_ns: 0,
        };
        let others = self.gaps.taken.iter().filter_map(|(source, taken)| {
            let NoiseSource::Task(tid, comm) = source else { return None };
            let known = u32::try_from(*tid).ok().and_then(|it| index.as_ref().ok()?.owner(it));
            let (owner, name) = match known {
                // Nobody but the spinner is asked for.
                Some((Owner::Asked, name)) => (Owner::Other, name.clone()),
                Some((owner, name)) => (*owner, name.clone()),
                None if comm.is_empty() => (Owner::Other, "another task".to_owned()),
                None => (Owner::Other, comm.to_string()),
            };
            let ns = part(taken.ns, wall_ns, self.wall_ns);
            Some(Share { owner, name, ns, interrupted: None, cut_ns: 0 })
        });
        TaskTimes {
            shares: others.chain([spinner]).collect(),
            uncertainty_ns: self.wall_ns.abs_diff(wall_ns),
            misplaced_ns: 0,
            method: Method::Probe,
            source: "time line of a spinner",
            without_users: None,
            unnamed_users: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, all, loss, replaced, unexplained};

    const GAPS: &str = "observer 20
spun 0 trace 1000000000
gap local_timer 3000000
gap 24 2000000
gap nmi 500000
gap NET_RX 1000000
gap task 2 kipmi0 40000000
gap task 10 postgres 30000000
gap task 20 fullclock 1000000
gap task 0 5000000
gap nobody 100000000
gap hypervisor 20000000
gap firmware 4000000
gap unexplained 1500000
cpus 0";

    fn spun() -> String {
        replaced(
            SECOND,
            &[
                ("observer 20", GAPS),
                ("0 2000000000 1112000000 1390000000", "0 2000000000 1600000000 2000000000"),
            ],
        )
    }

    #[test]
    fn each_gap_is_on_the_line_of_whoever_had_the_cpu_and_the_spinner_is_the_work() {
        assert_eq!(
            all(&spun()),
            "\
idle: 100.0 ms by tracepoint
cgroup-quota: 0.0 ms by counter, operating system
idle-exits: unknown: no time of the idle loop here: a spinner keeps the CPU from idling
stolen: 20.0 ms ±20.0 by derived, hypervisor
stopped-clock: system management mode 4.0 ms by tracepoint, firmware
slow-clock: cause not visible 158.4 ms ±6.3 by counter
ticks: 3.0 ms by tracepoint
interrupts: 24 eth0 2.0 ms by tracepoint
interrupts: NMI 0.5 ms by tracepoint
softirqs: NET_RX 1.0 ms by tracepoint
kernel-threads: kipmi0 40.0 ms by probe, management controller
other-tasks: postgres 30.0 ms by probe
other-tasks: another task 5.0 ms by probe
measuring: 1.0 ms by probe
useful: spinner 633.6 ms ±6.3 by probe
unexplained 1.500"
        );
    }

    #[test]
    fn gaps_that_only_counts_tell_apart_are_an_estimate() {
        let counted = replaced(&spun(), &[("spun 0 trace", "spun 0 counts")]);
        assert_eq!(loss("ticks", &counted), "3.0 ms ±3.0 by derived");
        assert_eq!(unexplained(&counted), "1.500");
    }

    #[test]
    fn stolen_time_is_as_far_off_as_the_hypervisor_says() {
        let told = replaced(&spun(), &[("0 31 0 0 0 0", "0 31 0 0 0 1")]);
        assert_eq!(loss("stolen", &spun()), "20.0 ms ±20.0 by derived, hypervisor");
        assert_eq!(loss("stolen", &told), "20.0 ms ±10.0 by derived, hypervisor");
    }

    #[test]
    fn time_that_the_spinner_did_not_watch_is_uncertain() {
        let shorter = replaced(&spun(), &[("spun 0 trace 1000000000", "spun 0 trace 990000000")]);
        assert_eq!(loss("ticks", &shorter), "3.0 ms ±10.0 by tracepoint");
        let counted = replaced(&shorter, &[("spun 0 trace", "spun 0 counts")]);
        assert_eq!(loss("ticks", &counted), "3.0 ms ±13.0 by derived");
    }

    #[test]
    fn a_spinner_that_watched_for_less_than_the_interval_stands_for_all_of_it() {
        let shorter = replaced(&spun(), &[("spun 0 trace 1000000000", "spun 0 trace 990000000")]);
        assert_eq!(unexplained(&shorter), "1.515");
    }
}
