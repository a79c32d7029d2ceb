//! What the server under test did during a trial.

use crate::known::Known;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the processes of the server under test ran and waited during a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerWork {
    /// How long the trial was for the server, in nanoseconds.
    pub over_ns: u64,
    /// CPU time of all its processes, those that ended during the trial included, in nanoseconds.
    pub cpu_ns: Known<u64>,
    /// How far off that may be, in nanoseconds: the kernel tells the time of processes that have ended in ticks of 10 ms.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncertainty_ns: u64,
    /// How long its threads were runnable and waited for a CPU, all together, in nanoseconds.
    pub wait_ns: Known<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl ServerWork {
    /// Of nothing that is known, and why.
    pub fn unknown(why: &str) -> ServerWork {
        ServerWork {
            over_ns: 0,
            cpu_ns: Known::missing(why),
            uncertainty_ns: 0,
            wait_ns: Known::missing(why),
        }
    }

    /// Of several pieces of time together; what is unknown of one is unknown of all.
    pub(crate) fn sum_of<'a>(pieces: impl Iterator<Item = &'a ServerWork>) -> Option<ServerWork> {
        pieces.cloned().reduce(|sum, it| ServerWork {
            over_ns: sum.over_ns.saturating_add(it.over_ns),
            cpu_ns: added(sum.cpu_ns, it.cpu_ns),
            uncertainty_ns: sum.uncertainty_ns.saturating_add(it.uncertainty_ns),
            wait_ns: added(sum.wait_ns, it.wait_ns),
        })
    }

    /// CPU seconds per second of the trial.
    pub fn cpus_busy(&self) -> Option<f64> {
        self.per_second(&self.cpu_ns)
    }

    /// Seconds that threads waited for a CPU, per second of the trial.
    pub fn cpus_waited(&self) -> Option<f64> {
        self.per_second(&self.wait_ns)
    }

    fn per_second(&self, ns: &Known<u64>) -> Option<f64> {
        let ns = *ns.value()?;
        (self.over_ns > 0).then(|| ns as f64 / self.over_ns as f64)
    }
}

fn added(a: Known<u64>, b: Known<u64>) -> Known<u64> {
    match (a, b) {
        (Known::Value(a), Known::Value(b)) => Known::Value(a.saturating_add(b)),
        (missing @ Known::Missing { .. }, _) | (_, missing) => missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_and_what_is_unknown_of_one_is_unknown_of_all() {
        let piece = |cpu_ns, wait_ns| ServerWork {
            over_ns: 10,
            cpu_ns: Known::Value(cpu_ns),
            uncertainty_ns: 1,
            wait_ns,
        };
        let pieces = [piece(3, Known::Value(1)), piece(4, Known::missing("too short"))];
        let sum = ServerWork::sum_of(pieces.iter()).unwrap();
        assert_eq!((sum.over_ns, sum.cpus_busy()), (20, Some(0.35)));
        assert_eq!(sum.wait_ns.reason(), Some("too short"));
        assert_eq!(ServerWork::sum_of([].iter()), None);
    }
}
