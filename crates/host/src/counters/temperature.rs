//! Temperatures of cores and packages, as the kernel's drivers read them; without drivers, by register.
//!
//! Sources: Documentation/hwmon/{coretemp,k10temp}.rst, drivers/thermal/intel/x86_pkg_temp_thermal.c. coretemp
//! labels each sensor with its core or package. The others do not say whose they are, and are taken where there
//! is only one package.

use super::cell_files::{Cell, CellFiles};
use super::files::{File, Files, ReadRegister};
use super::register_table::RegisterTable;
use crate::{Source, clock};
use facts::counters::{Counters, Family, Table};
use facts::cpu::topology::Topology;
use facts::msr::{Scope, intel, path, thermal_status};
use facts::{CpuSet, Fact, HostView, IfPresent, Missing, PerCpu, parse};

const HWMON: &str = "/sys/class/hwmon";
const THERMAL: &str = "/sys/class/thermal";
const CPUS: &str = "/sys/devices/system/cpu";

/// The sensors, one for each CPU that is asked.
#[derive(Debug)]
pub(super) struct Temperature {
    cells: CellFiles,
}

impl Temperature {
    /// Finds the sensors: those of cores, else those of packages.
    ///
    /// Errors: the host has no sensor that says whose it is.
    pub(super) fn of(
        source: &dyn Source,
        topology: &Topology,
        online: &CpuSet,
    ) -> Fact<Temperature> {
        let mut sensors = of_coretemp(source, online)?;
        if sensors.is_empty() {
            sensors.extend(of_the_package(source, topology, online)?);
        }
        if sensors.is_empty() {
            return Err(Missing::absent(format!("{HWMON}/hwmon*/temp*_input of a CPU")));
        }
        sensors.sort();
        // Where two sensors stand for one CPU, the first is the core's.
        sensors.dedup_by_key(|(cpu, _)| *cpu);
        let rows = sensors.iter().map(|(cpu, _)| *cpu).collect();
        let cell = |(row, (_, path)): (usize, &(u32, String))| Cell {
            file: File::new(path.as_str()),
            column: 0,
            rows: [row].into(),
        };
        let cells = sensors.iter().enumerate().map(cell).collect();
        Ok(Temperature { cells: CellFiles::new(rows, ["temperature".into()].into(), cells) })
    }

    pub(super) fn sample(&mut self, files: &mut Files, into: &mut Counters) {
        let table = into.table_mut(Family::Temperature);
        self.cells.begin(table, clock::raw_ns());
        if let Ok(table) = table {
            self.cells.read(files, table);
        }
    }

    pub(super) fn close(&mut self, files: &mut Files) {
        self.cells.close(files);
    }
}

/// The folders of hwmon whose driver is `driver`.
fn hwmon(source: &dyn Source, driver: &str) -> Fact<Vec<String>> {
    let numbers = source.numbered(HWMON, "hwmon").if_present()?.cloned().unwrap_or_default();
    let folders = numbers.into_iter().map(|number| format!("{HWMON}/hwmon{number}"));
    let is_driver = |folder: &String| {
        source.parsed(&format!("{folder}/name"), parse::line).is_ok_and(|name| name == driver)
    };
    Ok(folders.filter(is_driver).collect())
}

/// The sensors in a folder, with their labels.
fn labels(source: &dyn Source, folder: &str) -> Vec<(String, String)> {
    let names = source.list(folder).unwrap_or_default();
    let sensors = names.iter().filter_map(|name| name.strip_suffix("_label"));
    let labelled = sensors.filter_map(|sensor| {
        let label = source.parsed(&format!("{folder}/{sensor}_label"), parse::line).ok()?;
        Some((label, format!("{folder}/{sensor}_input")))
    });
    labelled.collect()
}

/// The lowest CPU of each core, with its sensor. One folder is one package: "Package id 0", "Core 5".
fn of_coretemp(source: &dyn Source, online: &CpuSet) -> Fact<Vec<(u32, String)>> {
    let folders = hwmon(source, "coretemp")?;
    if folders.is_empty() {
        return Ok(Vec::new());
    }
    let id = |cpu, name: &str| {
        source.parsed(&format!("{CPUS}/cpu{cpu}/topology/{name}"), parse::number).ok()
    };
    let mut cores: Vec<(u64, u64, u32)> = online
        .iter()
        .filter_map(|cpu| Some((id(cpu, "physical_package_id")?, id(cpu, "core_id")?, cpu)))
        .collect();
    cores.sort_unstable();
    let mut sensors = Vec::new();
    for folder in folders {
        let labels = labels(source, &folder);
        let numbered = |label: &str, prefix: &str| label.strip_prefix(prefix)?.parse::<u64>().ok();
        let Some(package) = labels.iter().find_map(|(label, _)| numbered(label, "Package id "))
        else {
            continue;
        };
        for (label, path) in labels {
            let Some(core) = numbered(&label, "Core ") else { continue };
            let at = cores.partition_point(|it| (it.0, it.1) < (package, core));
            let cpu = cores.get(at).filter(|it| (it.0, it.1) == (package, core));
            sensors.extend(cpu.map(|(_, _, cpu)| (*cpu, path)));
        }
    }
    Ok(sensors)
}

/// The only package's sensor.
fn of_the_package(
    source: &dyn Source,
    topology: &Topology,
    online: &CpuSet,
) -> Fact<Option<(u32, String)>> {
    let cpu = online.first().unwrap_or(0);
    if topology.packages.as_ref()?.len() != 1 {
        return Ok(None);
    }
    // Tdie is the true temperature where Tctl has an offset on it (Documentation/hwmon/k10temp.rst).
    for wanted in ["Tdie", "Tctl"] {
        for folder in hwmon(source, "k10temp")? {
            let found = labels(source, &folder).into_iter().find(|(label, _)| label == wanted);
            if let Some((_, path)) = found {
                return Ok(Some((cpu, path)));
            }
        }
    }
    let zones = source.numbered(THERMAL, "thermal_zone").if_present()?.cloned().unwrap_or_default();
    let zone = zones.into_iter().find(|zone| {
        let kind = source.parsed(&format!("{THERMAL}/thermal_zone{zone}/type"), parse::line);
        kind.is_ok_and(|kind| kind == "x86_pkg_temp")
    });
    Ok(zone.map(|zone| (cpu, format!("{THERMAL}/thermal_zone{zone}/temp"))))
}

/// The temperature registers of each core, used if no kernel driver reads them.
///
/// Source: drivers/thermal/intel/intel_tcc.c; Intel SDM vol. 3B, "Digital Thermal Sensors". The register holds
/// how far a core is below its limit, in whole degrees.
#[derive(Debug)]
pub(super) struct SensorRegisters {
    topology: Topology,
    /// The register with the limit, of each package.
    targets: PerCpu<u64>,
    table: RegisterTable,
}

impl SensorRegisters {
    /// Finds the sensors.
    ///
    /// Errors: the processor has none, does not say what they count from, or does not let us read them.
    pub(super) fn open(
        source: &dyn Source,
        host: &HostView,
        online: &CpuSet,
    ) -> Fact<SensorRegisters> {
        host.platform.hides(Family::Temperature.source())?;
        // CPUID.06H:EAX[0] is the flag that coretemp asks for (drivers/hwmon/coretemp.c).
        if !host.cpuinfo.as_ref()?.has("dtherm") {
            let because = "/proc/cpuinfo has no flag dtherm";
            return Err(Missing::not_here(Family::Temperature.source(), because));
        }
        let targets = host.msrs.of(&intel::TEMPERATURE_TARGET)?.clone();
        let columns = [("temperature", intel::THERM_STATUS.address)];
        let table = RegisterTable::open(source, host, Scope::Core, &columns, online)?;
        Ok(SensorRegisters { topology: host.topology.clone(), targets, table })
    }

    /// Reads every sensor, in thousandths of a degree Celsius.
    pub(super) fn sample(
        &mut self,
        online: &CpuSet,
        read: &mut ReadRegister<'_>,
        into: &mut Fact<Table>,
    ) {
        let SensorRegisters { topology, targets, table } = self;
        let temperature = |cpu, status| {
            let leader = topology.package_leader(cpu);
            let target = || path(leader, intel::TEMPERATURE_TARGET.address);
            let limit = targets.get(leader).cloned();
            let limit = limit.unwrap_or_else(|| Err(Missing::absent(target())))?;
            let degrees = thermal_status::temperature(status, limit).ok_or_else(|| {
                let found = format!("{status:#x}, with {limit:#x} in {:#x}", 0x1a2);
                let register = path(cpu, intel::THERM_STATUS.address);
                Missing::malformed(register, &found, "a valid reading (bit 31) above 0 degrees")
            })?;
            Ok(degrees * 1000)
        };
        table.sample(online, read, into, &temperature);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;
    use crate::counters::register_table::tests::{shown, xeons};

    fn sensors(excerpt: &str) -> Vec<(u32, String)> {
        let host = Captured::excerpt(excerpt).unwrap();
        of_coretemp(&host, &CpuSet::parse_list("0-3").unwrap()).unwrap()
    }

    #[test]
    fn a_core_sensor_belongs_to_the_lowest_cpu_of_its_core() {
        const SENSORS: &str = "\
//- /sys/class/hwmon/hwmon2/name
coretemp
//- /sys/class/hwmon/hwmon2/temp1_label
Package id 1
//- /sys/class/hwmon/hwmon2/temp2_label
Core 4
//- /sys/class/hwmon/hwmon2/temp3_label
Core 9
";
        let ids = |(cpu, package, core): (u32, u32, u32)| {
            let folder = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
            format!("//- {folder}/physical_package_id\n{package}\n//- {folder}/core_id\n{core}\n")
        };
        let cores = [(0, 0, 4), (1, 1, 4), (2, 0, 4), (3, 1, 4)].map(ids).concat();
        let excerpt = SENSORS.to_owned() + &cores;
        assert_eq!(sensors(&excerpt), [(1, "/sys/class/hwmon/hwmon2/temp2_input".to_owned())]);
    }

    #[test]
    fn other_chips_are_no_cpus() {
        assert_eq!(sensors("//- /sys/class/hwmon/hwmon0/name\nnvme\n"), []);
    }

    #[test]
    fn cores_count_down_from_the_limit_of_their_package() {
        let source = xeons(&[
            (0, 0x1a2, 0x0064_0000),
            (2, 0x1a2, 0x005a_0000),
            (0, 0x19c, 0x8845_0000),
            (1, 0x19c, 0x0845_0000),
            (2, 0x19c, 0x8801_0000),
            (3, 0x19c, 0x8800_0008),
        ]);
        let all = CpuSet::parse_list("0-4").unwrap();
        let mut registers = SensorRegisters::open(&source, &crate::view(&source), &all).unwrap();
        let mut table = Err(Missing::not_collected("test"));
        registers.sample(&all, &mut |cpu, address| source.msr(cpu, address), &mut table);
        assert_eq!(
            shown(&table),
            "temperature; 0: 31000; 2: 89000; 3: 90000; 1: /dev/cpu/1/msr 0x19c: found \"0x8450000, with 0x640000 in 0x1a2\", expected a valid reading (bit 31) above 0 degrees"
        );
    }
}
