//! The sources that have something for each CPU, and what becomes of them when a CPU comes or goes.

use super::Wanted;
use super::cpu_files::{Idle, Throttling};
use super::files::{File, Files};
use super::perf_counts::PerfCounts;
use super::registers::Registers;
use super::temperature::{SensorRegisters, Temperature};
use crate::{clock, probe};
use facts::counters::{Counters, Family};
use facts::cpu::cpuidle::Cpuidle;
use facts::cpu::topology::Topology;
use facts::{CpuSet, Fact, HostView, Missing};

const ONLINE: &str = "/sys/devices/system/cpu/online";

/// Families that are read CPU by CPU, on that CPU where it is to be woken.
const ON_THE_CPU: [Family; 4] =
    [Family::IdleTime, Family::IdleUsage, Family::Clocks, Family::ContextSwitches];

/// The CPUs that are online, with what is read of each.
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
    temperature: Fact<Temperature>,
    /// The other way to the temperature, where no driver reads the sensors.
    sensors: Fact<SensorRegisters>,
    perf: PerfCounts,
    /// The other way to the clocks, where perf has none that tell how fast a CPU ran.
    registers: Option<Registers>,
}

impl ByCpu {
    pub(super) fn of(files: &mut Files, host: &HostView, wanted: &Wanted) -> ByCpu {
        let online = host.topology.online.clone().unwrap_or_default();
        let [clocks, switches] = [Family::Clocks, Family::ContextSwitches].map(|it| wanted.has(it));
        let mut perf = PerfCounts::open(files, host, [clocks, switches], &online);
        let mut registers = None;
        if clocks && !(perf.has_clock("aperf") && perf.has_clock("mperf")) {
            registers = Registers::open(files, host, &online).ok();
            if registers.is_some() {
                perf = PerfCounts::open(files, host, [false, switches], &online);
            }
        }
        let unread = || Missing::not_collected(ONLINE);
        let sensors = match wanted.has(Family::Temperature) {
            true => SensorRegisters::open(&files.live, host, &online),
            false => Err(unread()),
        };
        ByCpu {
            topology: host.topology.clone(),
            cpuidle: host.cpuidle.clone(),
            file: File::new(ONLINE),
            text: Vec::new(),
            online,
            idle: Err(unread()),
            throttling: Err(unread()),
            temperature: Err(unread()),
            sensors,
            perf,
            registers,
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
        self.perf.renew(files, &self.online);
        if let Some(registers) = &mut self.registers {
            registers.renew(files, &self.online);
        }
        if let Ok(idle) = &mut self.idle {
            idle.close(files);
        }
        if let Ok(throttling) = &mut self.throttling {
            throttling.close(files);
        }
        if let Ok(temperature) = &mut self.temperature {
            temperature.close(files);
        }
        if wanted.has(Family::IdleTime) || wanted.has(Family::IdleUsage) {
            self.idle = Idle::of(&self.cpuidle, &self.online, wanted);
        }
        if wanted.has(Family::Throttling) {
            self.throttling = Throttling::of(&files.live, &self.topology, &self.online);
        }
        if wanted.has(Family::Temperature) {
            self.temperature = Temperature::of(&files.live, &self.topology, &self.online);
        }
    }

    /// Reads everything there is for each CPU.
    pub(super) fn sample(&mut self, files: &mut Files, wanted: &Wanted, into: &mut Counters) {
        for family in ON_THE_CPU.into_iter().filter(|it| wanted.has(*it)) {
            self.begin(into, family);
        }
        if ON_THE_CPU.iter().any(|it| wanted.has(*it) && into.table(*it).is_ok()) || wanted.wake {
            self.visit(files, wanted.wake || self.registers.is_some(), into);
        }
        if wanted.has(Family::Throttling) {
            match &mut self.throttling {
                Ok(throttling) => throttling.sample(files, into, clock::raw_ns()),
                Err(missing) => *into.table_mut(Family::Throttling) = Err(missing.clone()),
            }
        }
        if wanted.has(Family::Temperature) {
            match (&mut self.temperature, &mut self.sensors) {
                (Ok(temperature), _) => temperature.sample(files, into),
                (Err(_), Ok(sensors)) => sensors.sample(
                    &self.online,
                    &mut |cpu, address| files.register(cpu, address),
                    into.table_mut(Family::Temperature),
                ),
                (Err(missing), Err(_)) => {
                    *into.table_mut(Family::Temperature) = Err(missing.clone());
                }
            }
        }
    }

    fn begin(&self, into: &mut Counters, family: Family) {
        match (&self.registers, family) {
            (Some(registers), Family::Clocks) => registers.begin(into, clock::raw_ns()),
            (_, Family::Clocks | Family::ContextSwitches) => {
                self.perf.begin(into, family, clock::raw_ns());
            }
            _ => match &self.idle {
                Ok(idle) => idle.begin(into, family, clock::raw_ns()),
                Err(missing) => *into.table_mut(family) = Err(missing.clone()),
            },
        }
    }

    /// Reads each CPU, from that very CPU or from where the thread happens to be.
    fn visit(&mut self, files: &mut Files, on_the_cpu: bool, into: &mut Counters) {
        let ByCpu { online, idle, perf, registers, .. } = self;
        for (row, cpu) in online.iter().enumerate() {
            let mut read = || {
                let now = clock::raw_ns();
                perf.read_row(into, row, cpu, now);
                if let Some(registers) = registers {
                    registers.read_row(into, row, cpu);
                }
                if let Ok(idle) = idle {
                    idle.read_row(files, into, row, clock::raw_ns());
                }
            };
            if !on_the_cpu {
                read();
            } else if let Err(missing) = probe::pinned(cpu, read) {
                // What a sleeping CPU has not written down yet would be missing from it.
                blank(into, cpu, &missing);
            }
        }
    }
}

fn blank(into: &mut Counters, cpu: u32, missing: &Missing) {
    for family in ON_THE_CPU {
        if let Ok(table) = into.table_mut(family) {
            table.blank_row(cpu, missing.clone());
        }
    }
}
