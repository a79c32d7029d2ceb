//! Samples for tests: a healthy node, and nodes with one thing wrong.

use super::sample::Sample;

/// Nothing has happened.
pub(crate) const START: &str = r#"{"at_ns":0,"sessions":8,"commits":0,
    "log":{"writes":0,"bytes":0,"taken_ns":0,"waited_ns":0,"latency":[]},
    "writer":{"run_ns":0,"wait_ns":0,"slices":0},"crew":{"run_ns":0,"wait_ns":0,"slices":0},"log_wait_ns":0}"#;

/// A second of eight sessions: 4,000 commits by 1,000 log writes of 0.85 ms.
pub(super) const NODE_1: &str = r#"{"at_ns":1000000000,"sessions":8,"commits":4000,
    "log":{"writes":1000,"bytes":2000000,"taken_ns":850000000,"waited_ns":50000000,"latency":[]},
    "writer":{"run_ns":40000000,"wait_ns":60000000,"slices":2000},
    "crew":{"run_ns":800000000,"wait_ns":400000000,"slices":8000},"log_wait_ns":6000000000}"#;

/// The same disk, and a writer that has to wait for a CPU.
pub(super) const STARVED: &str = r#"{"at_ns":1000000000,"sessions":8,"commits":800,
    "log":{"writes":200,"bytes":400000,"taken_ns":980000000,"waited_ns":820000000,"latency":[]},
    "writer":{"run_ns":30000000,"wait_ns":860000000,"slices":400},
    "crew":{"run_ns":160000000,"wait_ns":500000000,"slices":1600},"log_wait_ns":7200000000}"#;

/// The same disk, and CPUs that take four times as long for the same work.
pub(super) const SLOW_CPU: &str = r#"{"at_ns":1000000000,"sessions":8,"commits":2850,
    "log":{"writes":900,"bytes":1500000,"taken_ns":774000000,"waited_ns":45000000,"latency":[]},
    "writer":{"run_ns":100000000,"wait_ns":55000000,"slices":2000},
    "crew":{"run_ns":2280000000,"wait_ns":400000000,"slices":8000},"log_wait_ns":4845000000}"#;

/// Enough CPU, and a disk that takes six times as long.
pub(super) const SLOW_DISK: &str = r#"{"at_ns":1000000000,"sessions":8,"commits":760,
    "log":{"writes":190,"bytes":400000,"taken_ns":921500000,"waited_ns":9500000,"latency":[]},
    "writer":{"run_ns":30000000,"wait_ns":12000000,"slices":400},
    "crew":{"run_ns":152000000,"wait_ns":76000000,"slices":1600},"log_wait_ns":7600000000}"#;

/// A sample from its text.
pub(crate) fn sample(text: &str) -> Sample {
    serde_json::from_str(text).unwrap()
}
