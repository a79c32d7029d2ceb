//! The books close.

use super::{Evidence, close};
use crate::fixture::{counters, host_of};
use crate::interval::Interval;

const BEFORE: &str = "\
at 0
CpuTimes idle iowait steal
0 0 0 0
task 10 10 postgres user 0 0 0
task 2 2 kswapd0 kernel 0 0 0
";

const AFTER: &str = "\
at 1000
CpuTimes idle iowait steal
0 50 0 10
task 10 10 postgres user 0 350000000 0
task 2 2 kswapd0 kernel 0 40000000 0
";

#[test]
fn without_a_clock_work_is_unexplained_and_the_rest_is_not() {
    let (host, before, after) = (host_of(""), counters(BEFORE), counters(AFTER));
    let interval = Interval { host: &host, before: &before, after: &after };
    let ledger = close(&Evidence::of(interval));
    assert_eq!(ledger.total("idle"), Ok(500_000_000));
    assert_eq!(ledger.total("stolen"), Ok(100_000_000));
    assert!(ledger.total("useful").is_err() && ledger.total("slow-clock").is_err());
    let known: i64 = ledger.lines.iter().filter_map(|it| it.ns.as_ref().ok()).sum();
    assert_eq!(known + ledger.unexplained_ns, ledger.capacity_ns());
}
