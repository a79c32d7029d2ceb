//! What the guests of all pictures are called, and what those do that are watched.

/// Gives a guest a name to be shown.
pub(super) const NAME: &str = "hostname testbench";

/// Keeps a guest busy for as long as it runs: a task that never sleeps on CPU 1, one that sometimes does on CPU 0, and, from
/// a while later on, questions to a management controller that the kernel polls.
pub(super) const LOAD: &str = "\
busy
(while :; do i=0; while [ $i -lt 40000 ]; do i=$((i + 1)); done; sleep 0.2; done) &
(sleep 25; keep_bmc_busy) &
";
