//! The counters of a host, sampled again and again.
//!
//! One file for each source. A source that cannot be read leaves its reason in its own family and touches no
//! other; it is tried again at the next sample.

mod by_cpu;
mod clock;
mod energy;
mod epoch;
mod files;
mod grid;
mod groups;
mod idle;
mod limit;
mod limits;
mod listing;
mod msr_devices;
mod once;
mod perf_counts;
mod pressure;
mod register_table;
mod registers;
mod residency;
mod run_time;
mod shape;
mod sharing;
mod slot;
mod tasks;
mod temperature;
mod throttling;
mod wanted;

pub use limit::{raise as raise_open_files, with_original_limit};
pub use wanted::{Processes, Wanted};

use crate::Live;
use by_cpu::ByCpu;
use energy::Energy;
use facts::counters::{Counters, Family};
use facts::{Fact, HostView, Missing};
use files::Files;
use groups::Quotas;
use limits::Limits;
use once::Once;
use pressure::Pressure;
use residency::Residency;
use run_time::RunTime;
use tasks::Sampled;

/// Samples one host. Its files stay open from the first sample on.
#[derive(Debug)]
pub struct Sampler {
    wanted: Wanted,
    files: Files,
    by_cpu: ByCpu,
    once: Once,
    pressure: Pressure,
    run_time: RunTime,
    tasks: Option<Sampled>,
    groups: Option<Quotas>,
    residency: [(Family, Fact<Residency>); 2],
    energy: Fact<Energy>,
    limits: Limits,
}

impl Sampler {
    /// A sampler of `live`, of which `host` is the view. Nothing is sampled yet; what cannot be read says so in
    /// the samples. Raises this process's limit of open files: see [`with_original_limit`].
    pub fn open(live: Live, host: &HostView, wanted: Wanted) -> Sampler {
        let tasks = wanted.tasks.clone().map(|processes| Sampled::new(processes, host));
        let groups = wanted.groups.then(|| Quotas::of(&live, host, &wanted.groups_of));
        let run_time = RunTime::of(&live, &host.topology.possible);
        let mut files = Files::of(live);
        let by_cpu = ByCpu::of(&mut files, host, &wanted);
        let residency = [Family::CoreResidency, Family::PackageResidency].map(|family| {
            let residency = match wanted.has(family) {
                true => Residency::open(&mut files, host, family, by_cpu.online()),
                false => unasked(family),
            };
            (family, residency)
        });
        let energy = match wanted.has(Family::Energy) {
            true => Energy::open(&mut files, host, by_cpu.online()),
            false => unasked(Family::Energy),
        };
        let limits = Limits::open(&files.live, host, &wanted, by_cpu.online());
        let (once, pressure) = (Once::new(), Pressure::new());
        Sampler {
            wanted,
            files,
            by_cpu,
            once,
            pressure,
            run_time,
            tasks,
            groups,
            residency,
            energy,
            limits,
        }
    }

    /// Samples everything that is wanted. `into` is any earlier sample of the same sampler, or
    /// [`Counters::unread`]; a host whose CPUs, devices and tasks are those of that sample costs no allocation.
    ///
    /// With [`Wanted::wake`], the calling thread runs on every CPU in turn, and may run where it could before
    /// when this returns.
    pub fn sample(&mut self, into: &mut Counters) {
        let Sampler { wanted, files, .. } = self;
        into.at = clock::moment();
        self.by_cpu.refresh(files, wanted);
        if into.online != *self.by_cpu.online() {
            into.online = self.by_cpu.online().clone();
        }
        self.by_cpu.sample(files, wanted, into);
        // What runs on the CPUs is read as soon as they are awake: from here on they sleep and run again.
        if wanted.has(Family::RunTime) {
            self.run_time.sample(files, into, self.by_cpu.online(), clock::now_ns());
        }
        if let Some(tasks) = &mut self.tasks {
            tasks.sample(files, into);
        }
        self.once.sample(files, wanted, self.by_cpu.online(), into);
        if wanted.has(Family::Pressure) {
            self.pressure.sample(files, into, clock::now_ns());
        }
        if let Some(groups) = &mut self.groups {
            groups.sample(files, into);
        }
        for (family, residency) in &mut self.residency {
            match residency {
                Ok(residency) => residency.sample(files, self.by_cpu.online(), into, *family),
                Err(missing) => *into.table_mut(*family) = Err(missing.clone()),
            }
        }
        match &mut self.energy {
            Ok(energy) => energy.sample(files, self.by_cpu.online(), into),
            Err(missing) => *into.table_mut(Family::Energy) = Err(missing.clone()),
        }
        self.limits.sample(files, self.by_cpu.online(), into);
    }
}

fn unasked<T>(family: Family) -> Fact<T> {
    Err(Missing::not_collected(family.source()))
}
