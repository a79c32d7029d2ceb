//! The sources that have something for each CPU, and what becomes of them when a CPU comes or goes.

use super::clock;
use super::files::{File, Files};
use super::idle::Idle;
use super::throttling::Throttling;
use super::wanted::Wanted;
use crate::probe;
use facts::counters::{Counters, Family};
use facts::cpu::cpuidle::Cpuidle;
use facts::cpu::topology::Topology;
use facts::{CpuSet, Fact, HostView, Missing};

const ONLINE: &str = "/sys/devices/system/cpu/online";

/// The CPUs that are online, with their files.
#[derive(Debug)]
pub(super) struct ByCpu {
    topology: Topology,
    cpuidle: Cpuidle,
    file: File,
    /// What the file held when the sources were found.
    text: Vec<u8>,
    online: CpuSet,
    idle: Fact<Idle>,
    throttling: Fact<Throttling>,
}

impl ByCpu {
    pub(super) fn of(host: &HostView) -> ByCpu {
        let unread = || Missing::not_collected(ONLINE);
        ByCpu {
            topology: host.topology.clone(),
            cpuidle: host.cpuidle.clone(),
            file: File::new(ONLINE),
            text: Vec::new(),
            online: host.topology.online.clone().unwrap_or_default(),
            idle: Err(unread()),
            throttling: Err(unread()),
        }
    }

    pub(super) fn online(&self) -> &CpuSet {
        &self.online
    }

    /// Looks which CPUs are online, and finds the sources again where that has changed. Without the file, the
    /// CPUs are those that the view of the host knows.
    pub(super) fn refresh(&mut self, files: &mut Files, wanted: &Wanted) {
        let text = files.read(&mut self.file).unwrap_or(b"?");
        if text == self.text {
            return;
        }
        self.text.clear();
        self.text.extend_from_slice(text);
        let list = std::str::from_utf8(text).map(CpuSet::parse_list);
        if let Ok(Ok(online)) = list
            && !online.is_empty()
        {
            self.online = online;
        }
        self.find(files, wanted);
    }

    fn find(&mut self, files: &mut Files, wanted: &Wanted) {
        if let Ok(idle) = &mut self.idle {
            idle.close(files);
        }
        if let Ok(throttling) = &mut self.throttling {
            throttling.close(files);
        }
        if wanted.has(Family::IdleTime) || wanted.has(Family::IdleUsage) {
            self.idle = Idle::of(&self.cpuidle, &self.online);
        }
        if wanted.has(Family::Throttling) {
            self.throttling = Throttling::of(&files.live, &self.topology, &self.online);
        }
    }

    /// Reads everything there is for each CPU, on that CPU where it is to be woken.
    pub(super) fn sample(&mut self, files: &mut Files, wanted: &Wanted, into: &mut Counters) {
        self.begin(into, wanted);
        if wanted.wake || self.idle.is_ok() {
            for (row, cpu) in self.online.iter().enumerate() {
                if !wanted.wake {
                    read_cpu(&mut self.idle, files, into, row);
                } else if let Err(missing) =
                    probe::pinned(cpu, || read_cpu(&mut self.idle, files, into, row))
                {
                    // What a sleeping CPU has not written down yet would be missing from it.
                    blank(into, cpu, &missing);
                }
            }
        }
        if wanted.has(Family::Throttling) {
            match &mut self.throttling {
                Ok(throttling) => throttling.sample(files, into, clock::now_ns()),
                Err(missing) => *into.table_mut(Family::Throttling) = Err(missing.clone()),
            }
        }
    }

    fn begin(&self, into: &mut Counters, wanted: &Wanted) {
        for family in [Family::IdleTime, Family::IdleUsage] {
            match &self.idle {
                Ok(idle) => idle.begin(into, clock::now_ns()),
                Err(missing) if wanted.has(family) => {
                    *into.table_mut(family) = Err(missing.clone());
                }
                Err(_) => {}
            }
        }
    }
}

/// What is read by CPU, at one moment.
fn read_cpu(idle: &mut Fact<Idle>, files: &mut Files, into: &mut Counters, row: usize) {
    if let Ok(idle) = idle {
        idle.read_row(files, into, row, clock::now_ns());
    }
}

fn blank(into: &mut Counters, cpu: u32, missing: &Missing) {
    for family in [Family::IdleTime, Family::IdleUsage] {
        if let Ok(table) = into.table_mut(family) {
            table.blank_row(cpu, missing.clone());
        }
    }
}
