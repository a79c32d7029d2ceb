//! What the guests of all pictures are called, and what those do that are watched.

/// Gives a guest a name to be shown.
pub(super) const NAME: &str = "hostname testbench";

/// Keeps two CPUs and a management controller busy for as long as the guest runs: a task that sleeps now and then on CPU 0, two
/// that share CPU 1, and questions to a controller that the kernel polls.
pub(super) const LOAD: &str = "\
busy
(while :; do for _ in $(seq 20); do seq 2000 >/dev/null; done; sleep 0.2; done) &
(sleep 10; busy) &
(sleep 20; keep_bmc_busy) &
";
