//! Temperatures of cores and packages, as the kernel's drivers read them; without drivers, by register.
//!
//! Sources: Documentation/hwmon/{coretemp,k10temp}.rst, drivers/thermal/intel/x86_pkg_temp_thermal.c. coretemp
//! labels each sensor with its core or package. The others do not say whose they are, and are taken where there
//! is only one package.

mod registers;

pub(super) use registers::Registers;

use super::clock;
use super::files::{File, Files};
use super::grid::{Cell, Grid};
use crate::Source;
use facts::counters::{Counters, Family};
use facts::cpu::topology::Topology;
use facts::{CpuSet, Fact, IfPresent, Missing, parse};

const HWMON: &str = "/sys/class/hwmon";
const THERMAL: &str = "/sys/class/thermal";
const CPUS: &str = "/sys/devices/system/cpu";

/// The sensors, one for each CPU that is asked.
#[derive(Debug)]
pub(super) struct Temperature {
    grid: Grid,
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
        Ok(Temperature { grid: Grid::new(rows, ["temperature".into()].into(), cells) })
    }

    pub(super) fn sample(&mut self, files: &mut Files, into: &mut Counters) {
        let table = into.table_mut(Family::Temperature);
        self.grid.begin(table, clock::now_ns());
        if let Ok(table) = table {
            self.grid.read(files, table);
        }
    }

    /// Closes every file.
    pub(super) fn close(&mut self, files: &mut Files) {
        self.grid.close(files);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;

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
}
