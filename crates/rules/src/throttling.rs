//! Rises of the kernel's throttle counters, each core's and each package's once.
//!
//! Source: drivers/thermal/intel/therm_throt.c. The threads of a core count the same events, and so do the CPUs of
//! a package; the lowest CPU of each speaks for it.

use crate::interval::{Interval, Rise};
use crate::metric::{Series, Values, each};
use facts::counters::Family;
use facts::{CpuSet, Fact};

/// Two series, `core` and `package`, of the columns with these names.
pub(crate) fn throttling(
    interval: &Interval,
    [core, package]: [&str; 2],
    value: fn(&Rise) -> Fact<f64>,
) -> Fact<Vec<Series>> {
    let topology = &interval.host.topology;
    let rises = |column: &str, groups: &Fact<Vec<CpuSet>>| {
        let online = interval.cpus();
        // CPUs that are not online have no counters; where the first of a group is not, the next speaks.
        let leaders: CpuSet =
            groups.as_ref()?.iter().filter_map(|group| group.and(&online).first()).collect();
        let rows = interval.rows(Family::Throttling)?.only(&leaders);
        Fact::Ok(each(&rows.rises(rows.column(column)?), value))
    };
    let cores = rises(core, &topology.cores)?;
    let mut series = vec![Series::part("core", Values::Cores(cores))];
    // Some processors have no thermal status of the package.
    if let Ok(packages) = rises(package, &topology.packages) {
        series.push(Series::part("package", Values::Packages(packages)));
    }
    Ok(series)
}
