//! Two recordings of a client's runs, compared second by second.

use crate::Tell;
use crate::ledger::{Course, Period, spans};
use anyhow::{Result, bail};
use facts::{HostView, Missing};
use lab::why::{Incomparable, Loads, Recording, Second, Why, why};
use std::path::Path;
use std::time::Duration;

/// What was found, and what has to be said of the recordings.
pub struct Compared {
    /// Why B differs from A.
    pub why: Why,
    /// What has to be said of either.
    pub notes: Vec<String>,
}

/// The length of a piece: verdicts rest on the pieces of a run.
const PIECE: Duration = Duration::from_secs(1);

/// Compares two recordings.
///
/// Errors: one cannot be read, or holds no numbers of a client; they are of different clients.
pub fn compared(a: &Path, b: &Path, tell: &mut Tell<'_>) -> Result<Compared> {
    let mut notes = Vec::new();
    let mut read = |file: &Path, which: &str| -> Result<(Recording, HostView)> {
        let course = spans(file, None, Period::new(None, None), PIECE, tell)?;
        notes.extend(course.notes.iter().map(|it| format!("{which}: {it}")));
        Ok((recording(&course), course.host))
    };
    let ((a, host_a), (b, host_b)) = (read(a, "A")?, read(b, "B")?);
    match why(&a, &b) {
        Ok(mut why) => {
            if are_different(&host_a, &host_b) {
                let because = "the recordings are of different machines";
                why.loads = Loads::unknown(&Missing::not_here("time of loads", because));
            }
            Ok(Compared { why, notes })
        }
        Err(error @ Incomparable::NoNumbers { .. }) => bail!(
            "{error}: record it by fullclock watch --record FILE --client pgbench -- pgbench -P 1 ..., or with another client or --metric"
        ),
        Err(error) => Err(error.into()),
    }
}

/// Whether loads go to other caches and memory: by the model of the CPUs and the number of NUMA nodes, where both are known.
fn are_different(a: &HostView, b: &HostView) -> bool {
    let models = [a, b].map(|it| it.cpuinfo.as_ref().ok().map(|it| &*it.model_name));
    let nodes = [a, b].map(|it| it.network.nodes.as_ref().ok().map(Vec::len));
    differ(models) || differ(nodes)
}

fn differ<T: PartialEq>([a, b]: [Option<T>; 2]) -> bool {
    a.zip(b).is_some_and(|(a, b)| a != b)
}

fn recording(course: &Course) -> Recording {
    Recording {
        seconds: course.spans.iter().map(Second::of).collect(),
        metric: course.metric.clone(),
        every_s: course.every_ns as f64 / 1e9,
        has_command: course.has_command,
    }
}
