//! The rows of a table: the machine, its packages, cores and CPUs.

use facts::{CpuSet, HostView};

/// What a row of the table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Row {
    /// The row of the whole machine.
    Host,
    /// The package at this place, counted from the one with the lowest CPU.
    Package(u32),
    /// The core whose lowest CPU this is.
    Core(u32),
    /// One CPU.
    Cpu(u32),
}

/// Which CPUs share a package and a core.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// What to call it.
    pub name: String,
    /// By lowest CPU; none where they are not known.
    packages: Vec<CpuSet>,
    /// By lowest CPU; none where they are not known.
    cores: Vec<CpuSet>,
}

impl Machine {
    /// The machine behind `host`.
    pub fn of(host: &HostView, name: String) -> Machine {
        Machine {
            name,
            packages: host.topology.packages.clone().unwrap_or_default(),
            cores: host.topology.cores.clone().unwrap_or_default(),
        }
    }

    /// A row for each package that has one of `cpus`; none where there is but one package.
    pub fn packages(&self, cpus: &CpuSet) -> Vec<Row> {
        if self.packages.len() < 2 {
            return Vec::new();
        }
        let has_cpus = |(_, package): &(u32, &CpuSet)| !package.and(cpus).is_empty();
        (0..).zip(&self.packages).filter(has_cpus).map(|(at, _)| Row::Package(at)).collect()
    }

    /// A row for each core that has one of `cpus`.
    pub fn cores(&self, cpus: &CpuSet) -> Vec<Row> {
        let first = |core: &CpuSet| core.and(cpus).first().and(core.first());
        self.cores.iter().filter_map(first).map(Row::Core).collect()
    }

    /// Whether there is more than one package.
    pub fn has_packages(&self) -> bool {
        self.packages.len() > 1
    }

    /// Whether some core has more than one CPU.
    pub fn has_siblings(&self) -> bool {
        self.cores.iter().any(|core| core.len() > 1)
    }

    /// The CPUs of the core of `cpu`; none where cores are not known.
    pub(super) fn core_of(&self, cpu: u32) -> CpuSet {
        group_of(&self.cores, cpu)
    }

    /// The CPUs of the package of `cpu`; none where packages are not known.
    pub(super) fn package_of(&self, cpu: u32) -> CpuSet {
        group_of(&self.packages, cpu)
    }

    /// The CPUs of `row` among `cpus`.
    pub fn cpus_of(&self, row: Row, cpus: &CpuSet) -> CpuSet {
        match row {
            Row::Host => cpus.clone(),
            Row::Package(at) => {
                self.packages.get(at as usize).map(|it| it.and(cpus)).unwrap_or_default()
            }
            Row::Core(first) => self.core_of(first).and(cpus),
            Row::Cpu(cpu) => cpus.and(&[cpu].into_iter().collect()),
        }
    }

    /// What to call a row where there is room for a sentence.
    pub fn describe(&self, row: Row, cpus: &CpuSet) -> String {
        let of = || self.cpus_of(row, cpus);
        match row {
            Row::Host if cpus.len() == 1 => "the only CPU".to_owned(),
            Row::Host => format!("all {} CPUs", cpus.len()),
            Row::Package(at) => format!("package {at} ({})", of().named()),
            Row::Core(_) => format!("core of {}", of().named()),
            Row::Cpu(cpu) => format!("CPU {cpu}"),
        }
    }
}

fn group_of(groups: &[CpuSet], cpu: u32) -> CpuSet {
    groups.iter().find(|it| it.contains(cpu)).cloned().unwrap_or_default()
}

impl Row {
    /// What to call it in a table's first column.
    pub fn label(self) -> String {
        match self {
            Row::Host => "all".to_owned(),
            Row::Package(at) => format!("pkg{at}"),
            Row::Core(first) => format!("core{first}"),
            Row::Cpu(cpu) => cpu.to_string(),
        }
    }
}

#[cfg(any(test, feature = "fake"))]
impl Machine {
    /// A machine of `packages` packages with `cpus` CPUs each, two to a core.
    pub fn fake(packages: u32, cpus: u32) -> Machine {
        let set = |from: u32, to: u32| (from..to).collect::<CpuSet>();
        Machine {
            name: "db7".to_owned(),
            packages: (0..packages).map(|it| set(it * cpus, (it + 1) * cpus)).collect(),
            cores: (0..packages * cpus / 2).map(|it| set(it * 2, it * 2 + 2)).collect(),
        }
    }
}
