//! Memory bandwidth that resctrl leaves to groups of tasks and CPUs.
//!
//! Sources: Documentation/filesystems/resctrl.rst (before Linux 6.16 Documentation/arch/x86/resctrl.rst); fs/resctrl/ctrlmondata.c
//! (`show_doms`: a line `MB:0=100;1=100` for each resource, its name padded to the longest). Three units share the name `MB`: percent
//! of a domain's bandwidth (Intel, and MPAM of arm64), megabytes per second where it is mounted with `mba_MBps`
//! (fs/resctrl/rdtgroup.c; unlimited is MBA_MAX_MBPS, U32_MAX), and eighths of a gigabyte per second (AMD; unlimited is MAX_MBA_BW_AMD,
//! 0x800, or more: arch/x86/kernel/cpu/resctrl/core.c).

use super::process::Process;
use crate::cpu::cpuinfo::CpuInfo;
use crate::parse::{Expected, trimmed};
use crate::{CpuSet, Fact, Missing};

/// Where it is mounted.
pub const FOLDER: &str = "/sys/fs/resctrl";

/// The groups of a host whose memory bandwidth is limited.
#[derive(Clone, Debug, PartialEq)]
pub struct BandwidthLimits {
    /// What their numbers mean.
    pub unit: Unit,
    /// They; the default group, in which every task is that is in no other, first.
    pub list: Vec<BandwidthLimit>,
    /// The first reason why some group could not be looked at.
    pub missing: Option<Missing>,
}

/// A group whose memory bandwidth is limited.
#[derive(Clone, Debug, PartialEq)]
pub struct BandwidthLimit {
    /// Its folder: [`FOLDER`] for the default group.
    pub folder: String,
    /// The lowest number of its domains.
    pub lowest: u64,
    /// The line of `schemata`, without padding.
    pub line: String,
    /// The CPUs whose tasks of the default group count as its own.
    pub cpus: CpuSet,
    /// How many threads are in it. Of the default group it is not read.
    pub n_tasks: usize,
    /// Those of its processes that have used most CPU time, the most first.
    pub busiest: Vec<Process>,
    /// The database servers in it, with their product; of the default group, those in no other.
    pub databases: Vec<(Process, &'static str)>,
}

impl BandwidthLimit {
    /// Whether it is the default group.
    pub fn is_default(&self) -> bool {
        self.folder == FOLDER
    }
}

/// What a number in `schemata` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Percent of a domain's bandwidth; approximate.
    Percent,
    /// Megabytes per second, which software holds.
    Megabytes,
    /// Eighths of a gigabyte per second.
    Eighths,
}

impl Unit {
    /// That of a host, by the mounts of /proc/self/mountinfo and the processor's maker.
    pub fn of(mounts: &str, info: &Fact<CpuInfo>) -> Unit {
        let is_by_software = mounts.lines().any(|line| {
            let options = line.split_once(" - resctrl ").map(|(_, it)| it);
            options.is_some_and(|it| it.split([' ', ',']).any(|it| it == "mba_MBps"))
        });
        match info {
            _ if is_by_software => Unit::Megabytes,
            Ok(info) if info.is_amd() => Unit::Eighths,
            _ => Unit::Percent,
        }
    }

    /// The number that limits nothing; larger ones do not either.
    pub fn unlimited(self) -> u64 {
        match self {
            Unit::Percent => 100,
            Unit::Megabytes => u64::from(u32::MAX),
            Unit::Eighths => 0x800,
        }
    }
}

/// The number of each domain that the line `MB` of a `schemata` file has, and that line without padding; `None` where it has no such
/// line, as on processors without the feature.
pub fn bandwidth(schemata: &str) -> Result<Option<(String, Vec<u64>)>, Expected> {
    const DOMAINS: Expected = Expected("lines like MB:0=100;1=100");
    let lines = schemata.lines().map(trimmed).filter(|it| !it.is_empty());
    let mut found = None;
    for line in lines {
        let (name, domains) = line.split_once(':').ok_or(DOMAINS)?;
        if name != "MB" {
            continue;
        }
        let number = |domain: &str| {
            let (id, value) = domain.split_once('=')?;
            id.trim().parse::<u32>().ok()?;
            value.trim().parse::<u64>().ok()
        };
        let numbers: Option<Vec<u64>> = domains.split(';').map(number).collect();
        found = Some((line.to_owned(), numbers.ok_or(DOMAINS)?));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_read_however_it_is_padded() {
        let of = |text: &str| bandwidth(text).map(|it| it.map(|it| it.1));
        assert_eq!(of("    MB:0=100;1= 90\n    L3:0=7ff;1=7ff\n"), Ok(Some(vec![100, 90])));
        assert_eq!(of("L3CODE:0=fffff\nL3DATA:0=fffff\n    MB:0=  10\n"), Ok(Some(vec![10])));
        assert_eq!(of("  SMBA:0=2048\n    MB:0=2048;1=   8\n"), Ok(Some(vec![2048, 8])));
        assert_eq!(of("MB:0=4294967295\n"), Ok(Some(vec![4_294_967_295])));
        assert_eq!((of("L3:0=7ff\n"), of("")), (Ok(None), Ok(None)));
        assert!(of("MB:0\n").is_err() && of("MB:x=5\n").is_err() && of("MB").is_err());
        assert_eq!(
            bandwidth("    MB:0=100\n").map(|it| it.map(|it| it.0)),
            Ok(Some("MB:0=100".into()))
        );
    }

    #[test]
    fn the_unit_is_the_mounts_or_the_makers() {
        let mount = |options: &str| {
            format!("40 24 0:35 / /sys/fs/resctrl rw,nosuid - resctrl resctrl {options}\n")
        };
        let of = |vendor: &str, options: &str| {
            let info = CpuInfo::parse(&format!("processor : 0\nvendor_id : {vendor}\n"));
            Unit::of(&mount(options), &info.map_err(|it| Missing::malformed("x", "", it.0)))
        };
        assert_eq!(of("GenuineIntel", "rw"), Unit::Percent);
        assert_eq!(of("GenuineIntel", "rw,mba_MBps"), Unit::Megabytes);
        assert_eq!(of("AuthenticAMD", "rw"), Unit::Eighths);
        assert_eq!(Unit::of(&mount("rw"), &Err(Missing::absent("x"))), Unit::Percent);
    }
}
