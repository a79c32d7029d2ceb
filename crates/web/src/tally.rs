//! What intervals add up to, for `/metrics`.

use super::audits::Audited;
use engine::sampling::{SpeedProbe, Watched, Yardstick};
use facts::{CpuSet, Hertz, HostView};
use host::Live;
use report::metrics::{Told, page};
use rules::host_labels::host_labels;
use rules::totals::Totals;
use rules::watch::Reading;
use std::sync::{Mutex, PoisonError};

/// Everything that was counted since the server began.
pub(super) struct Tally {
    host: Vec<(&'static str, String)>,
    /// In seconds since 1970.
    began: f64,
    by_cpu: bool,
    counted: Mutex<Counted>,
}

struct Counted {
    totals: Totals,
    online: CpuSet,
    speed: Option<Hertz>,
}

/// What the clocks of this machine are compared with, and what probes them.
pub(super) struct Clocks {
    yardstick: Yardstick,
    speed: SpeedProbe,
}

impl Clocks {
    /// Those of a host.
    pub(super) fn of(host: &HostView, is_probed: bool) -> Clocks {
        Clocks { yardstick: Yardstick::of(host), speed: SpeedProbe::new(is_probed) }
    }
}

impl Tally {
    /// Begins with what the kernel has counted. The management controller is asked once what its firmware is.
    pub(super) fn begin(watched: &Watched, by_cpu: bool) -> Tally {
        let interval = watched.interval();
        let totals = Totals::since_boot(interval.host, interval.after, by_cpu);
        let online = watched.online().clone();
        let mut host = host_labels(interval.host, &engine::controller::firmware());
        host.push(engine::told::boot(&Live::this_machine()));
        Tally {
            host,
            began: engine::clock::since_1970().as_secs_f64(),
            by_cpu,
            counted: Mutex::new(Counted { totals, online, speed: None }),
        }
    }

    /// Samples, and adds the interval. Where that is due, an idle CPU is probed, after the sample.
    pub(super) fn sample(&self, watched: &mut Watched, clocks: &mut Clocks) -> Reading {
        let reading = watched.sample();
        let interval = watched.interval();
        let nominal = clocks.yardstick.clock();
        clocks.speed.look(&interval, nominal);
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.totals.add(&interval, &reading, nominal);
        counted.online.clone_from(&reading.cpus);
        counted.speed = clocks.speed.slowest();
        reading
    }

    /// The page for a monitoring system, with what an audit found.
    pub(super) fn page(&self, audited: Option<&Audited>, is_open: bool) -> String {
        let host = self.host(audited);
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let nominal = counted.totals.recent.nominal;
        let told = Told {
            version: env!("CARGO_PKG_VERSION"),
            host: &host,
            began: Some(self.began),
            online: &counted.online,
            totals: Some(&counted.totals),
            speed: counted.speed.zip(nominal).map(|(speed, nominal)| speed.share_of(nominal)),
            baseline: audited.and_then(|it| it.baseline.as_ref()),
            findings: audited.map(|it| &it.findings),
            by_cpu: self.by_cpu,
        };
        page(&told, is_open)
    }

    /// What the machine is, as the audit saw it; what that does not tell, as it was when the server began.
    fn host(&self, audited: Option<&Audited>) -> Vec<(&'static str, String)> {
        let mut labels = self.host.clone();
        for (label, value) in audited.iter().flat_map(|it| &it.host).filter(|it| !it.1.is_empty()) {
            if let Some(known) = labels.iter_mut().find(|it| it.0 == *label) {
                known.1.clone_from(value);
            }
        }
        labels
    }
}
