//! How long a server's log writes waited for a CPU: pure.

use super::Counted;
use crate::commit::Ran;
use crate::known::Known;
use facts::trace::calls::CallTimes;

/// What was counted at the end of a batch.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    pub(super) log: Counted,
    /// The sessions' tasks together.
    pub(super) crew: Known<Ran>,
    /// The sessions' calls.
    pub(super) calls: Known<CallTimes>,
}

/// How long log writes waited for a CPU.
#[derive(Debug, Default)]
pub(super) struct Waits {
    waited_ns: u64,
    /// How long a log write works in the kernel and at the disk, by the last batch that was traced without a loss.
    worked_ns: Option<u64>,
}

impl Waits {
    /// Adds a batch: what log writes took by the server's clock, less what the sessions' calls worked. Gives the sum in nanoseconds.
    ///
    /// Other writers of the log, as PostgreSQL's WAL writer, count as sessions do.
    pub(super) fn add(&mut self, before: &Counts, after: &Counts) -> Known<u64> {
        let rise =
            |before: &Known<u64>, after: &Known<u64>| after.value()?.checked_sub(*before.value()?);
        let writes = rise(&before.log.writes, &after.log.writes);
        let taken = rise(&before.log.taken_ns, &after.log.taken_ns);
        let (Some(writes), Some(taken)) = (writes, taken) else {
            return Known::missing("the server does not time its log writes");
        };
        let calls = match (&before.calls, &after.calls) {
            (Known::Value(before), Known::Value(after)) => after.since(*before),
            (Known::Missing { missing }, _) | (_, Known::Missing { missing }) => {
                return Known::missing(missing.clone());
            }
        };
        let traced = calls.filter(|it| it.lost == 0).and_then(CallTimes::worked_per_write_ns);
        self.worked_ns = traced.or(self.worked_ns);
        match self.worked_ns {
            Some(worked_ns) => {
                let waited_ns = taken.saturating_sub(worked_ns.saturating_mul(writes));
                self.waited_ns = self.waited_ns.saturating_add(waited_ns);
                Known::Value(self.waited_ns)
            }
            None if writes == 0 => Known::Value(self.waited_ns),
            None => Known::missing("the trace shows no whole log write of a session"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `writes` that took `taken_ns` together, and the sessions' calls.
    fn counted(writes: u64, taken_ns: u64, calls: Known<CallTimes>) -> Counts {
        let log = Counted {
            writes: Known::Value(writes),
            bytes: Known::Value(0),
            taken_ns: Known::Value(taken_ns),
        };
        Counts { log, crew: Known::missing("x"), calls }
    }

    fn calls(syncs: u64, worked_ns: u64, lost: u64) -> Known<CallTimes> {
        let calls = 2 * syncs;
        Known::Value(CallTimes { calls, syncs, worked_ns, waited_ns: 1, lost })
    }

    #[test]
    fn a_log_write_waits_for_all_that_its_calls_do_not_work_however_often_that_is() {
        let mut waits = Waits::default();
        let start = counted(10, 1000, calls(10, 700, 0));
        // Ten writes of 545 ns, of which each works 105.
        let held = counted(20, 6450, calls(20, 700 + 1050, 0));
        assert_eq!(waits.add(&start, &held), Known::Value(4400));
        // Then ten that never wait.
        let free = counted(30, 6450 + 1050, calls(30, 1750 + 1050, 0));
        assert_eq!(waits.add(&held, &free), Known::Value(4400));
    }

    #[test]
    fn writes_of_others_work_as_long_as_those_of_sessions() {
        let mut waits = Waits::default();
        let (start, end) = (counted(0, 0, calls(0, 0, 0)), counted(10, 5000, calls(8, 800, 0)));
        assert_eq!(waits.add(&start, &end), Known::Value(4000));
    }

    #[test]
    fn a_batch_with_lost_events_is_as_the_one_before_and_the_first_one_is_unknown() {
        let mut waits = Waits::default();
        let start = counted(0, 0, calls(0, 0, 0));
        let lossy = counted(10, 5000, calls(2, 200, 7));
        assert!(waits.add(&start, &lossy).reason().unwrap().contains("no whole log write"));
        let whole = counted(20, 10_000, calls(12, 1200, 7));
        assert_eq!(waits.add(&lossy, &whole), Known::Value(4000));
        let again = counted(30, 15_000, calls(13, 1201, 8));
        assert_eq!(waits.add(&whole, &again), Known::Value(8000));
    }

    #[test]
    fn without_a_trace_or_the_servers_times_the_wait_is_unknown_and_says_why() {
        let mut waits = Waits::default();
        let untraced = |writes| counted(writes, writes * 500, Known::missing("tracing is denied"));
        assert_eq!(waits.add(&untraced(1), &untraced(9)).reason(), Some("tracing is denied"));
        let mut untimed = counted(9, 0, calls(9, 900, 0));
        untimed.log.taken_ns = Known::missing("off");
        let why = waits.add(&counted(1, 0, calls(1, 100, 0)), &untimed);
        assert!(why.reason().unwrap().contains("does not time"));
    }
}
