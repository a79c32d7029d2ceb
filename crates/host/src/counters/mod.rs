//! The counters of a host, sampled again and again.
//!
//! A source that cannot be read puts its reason into its own family and changes no
//! other; the next sample tries it again.

mod by_cpu;
mod cell_files;
mod cpu_files;
mod energy;
mod exits;
mod files;
mod groups;
mod limits;
mod perf_counts;
mod proc_files;
mod register_table;
mod registers;
mod residency;
mod tasks;
mod temperature;

pub use exits::Exits;
pub use files::{raise_open_files, with_original_limit};

use crate::{Live, clock};
use by_cpu::ByCpu;
use energy::Energy;
use facts::counters::{Counters, Family};
use facts::{Fact, HostView, Missing};
use files::Files;
use groups::Quotas;
use limits::Limits;
use proc_files::{Pressure, ProcFiles, RunTime};
use residency::Residency;
use tasks::Sampled;

/// Samples one host. Its files stay open from the first sample on.
#[derive(Debug)]
pub struct Sampler {
    wanted: Wanted,
    files: Files,
    by_cpu: ByCpu,
    proc_files: ProcFiles,
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
        let (proc_files, pressure) = (ProcFiles::new(), Pressure::new());
        Sampler {
            wanted,
            files,
            by_cpu,
            proc_files,
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
            self.run_time.sample(files, into, self.by_cpu.online(), clock::raw_ns());
        }
        if let Some(tasks) = &mut self.tasks {
            tasks.sample(files, into);
        }
        self.proc_files.sample(files, wanted, self.by_cpu.online(), into);
        if wanted.has(Family::Pressure) {
            self.pressure.sample(files, into, clock::raw_ns());
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

impl Sampler {
    /// Counts the tasks of this process and of its descendants as those of the command that is recorded.
    pub fn follow(&mut self, command: u32) {
        self.tasks.iter_mut().for_each(|it| it.follow(command));
    }

    /// Learns from `exits` what tasks ran and waited that ended between samples, where users' tasks are added up.
    pub fn listen_to(&mut self, exits: Exits) {
        if let Some(tasks) = &mut self.tasks {
            tasks.listen_to(exits);
        }
    }
}

fn unasked<T>(family: Family) -> Fact<T> {
    Err(Missing::not_collected(family.source()))
}

/// Which counters are sampled, and of which processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The families; every other one is missing because it was not collected.
    pub families: Vec<Family>,
    /// The tasks; `None` for no task at all.
    pub tasks: Option<Processes>,
    /// Whether to read control groups: those that the host is known to limit, and those of [`Wanted::groups_of`].
    pub groups: bool,
    /// The processes whose control groups are read too, by number.
    pub groups_of: Vec<u32>,
    /// Whether to visit every CPU, which wakes it: the kernel writes the time in an idle state when the state is
    /// left, and the time of a task when something else runs (kernel/sched/stats.h). Costs every CPU an
    /// interrupt and a context switch.
    pub wake: bool,
}

/// Whose tasks to sample, besides the kernel's own threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Processes {
    /// Kernel threads only, and no process.
    KernelThreads,
    /// These processes, by number.
    Chosen(Vec<u32>),
    /// The tasks of every process.
    All,
    /// The tasks of these processes, by number; those of all others are added up by who they are
    /// ([`Counters::users`]).
    AddedUp(Vec<u32>),
}

impl Wanted {
    /// For a screen that is updated every second: all cheap families, and kernel threads. Not the registers of every
    /// core, because each reading interrupts that core.
    pub fn watch() -> Wanted {
        let is_dear = |it: &Family| matches!(it, Family::IdleSleep | Family::CoreLimits);
        let is_cheap = |it: &&Family| !is_dear(it) && !it.is_traced();
        Wanted {
            families: Family::ALL.iter().filter(is_cheap).copied().collect(),
            tasks: Some(Processes::KernelThreads),
            groups: true,
            groups_of: Vec::new(),
            wake: false,
        }
    }

    /// For the ledger of an interval, at both of its ends: all families, every CPU awake, and every task.
    pub fn ledger() -> Wanted {
        let is_sampled = |it: &&Family| !it.is_traced();
        Wanted {
            families: Family::ALL.iter().filter(is_sampled).copied().collect(),
            tasks: Some(Processes::All),
            groups: true,
            groups_of: Vec::new(),
            wake: true,
        }
    }

    /// These families, without any task or group, and without waking CPUs.
    pub fn only(families: Vec<Family>) -> Wanted {
        Wanted { families, tasks: None, groups: false, groups_of: Vec::new(), wake: false }
    }

    pub(super) fn has(&self, family: Family) -> bool {
        self.families.contains(&family)
    }
}
