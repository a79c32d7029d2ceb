//! Which programs copy files of a host, by which marks their copies are known, and what each takes.
//!
//! A file that a copy lacks is one that the host lacks only where the collector would have taken it. Sources: sos,
//! sos/plugins and sos/report/plugins (processor.py, hardware.py, kernel.py) at each tag; cluster-node-tuning-operator,
//! cmd/gather-sysinfo; hwloc, utils/hwloc/hwloc-gather-topology.in; ghw, pkg/snapshot; util-linux,
//! tests/ts/lscpu/mk-input.sh; pepc, tests/emul-data; supportutils, bin/supportconfig.

mod objects;
mod pattern;

pub use objects::{is_never_empty, is_of_every_kernel, lacks};

use pattern::fits;

/// A release, as major and minor number.
pub type Version = (u32, u32);

/// A program that copies files of a host.
#[derive(Debug, PartialEq, Eq)]
pub struct Collector {
    /// What it is called.
    pub name: &'static str,
    /// Sets of paths: a copy that holds all of a set is one of its.
    marks: &'static [&'static [&'static str]],
    /// Paths of which none of its copies holds any: others take the same and these.
    never: &'static [&'static str],
    /// The file that says which release made the copy.
    version: Option<&'static str>,
    takes: &'static [Taken],
    /// Whether it asks question by question: then a listing is that of the host, and what it did not ask is not known,
    /// whatever lies beside it.
    pub asks: bool,
}

/// What a collector takes wherever a host has it.
#[derive(Debug, PartialEq, Eq)]
struct Taken {
    /// Which paths: `*` some characters of one name, `#` a number, `?` one character, `**` at the end a folder and all below it.
    pattern: &'static str,
    since: Version,
    before: Version,
    /// Paths, one of which such a copy holds in any case. Copies that were thinned out later hold none.
    witness: &'static [&'static str],
}

/// Of releases of which none is known.
const EVER: Version = (0, 0);
const NEVER: Version = (u32::MAX, 0);

const fn taken(pattern: &'static str) -> Taken {
    Taken { pattern, since: EVER, before: NEVER, witness: &[] }
}

impl Taken {
    const fn since(self, since: Version) -> Taken {
        Taken { since, ..self }
    }

    const fn before(self, before: Version) -> Taken {
        Taken { before, ..self }
    }

    const fn shown_by(self, witness: &'static [&'static str]) -> Taken {
        Taken { witness, ..self }
    }
}

/// Each device of a CPU has one of these, and nobody takes them for their own sake: `uevent` since Linux 3.3,
/// `crash_notes` before, where kexec is built in (drivers/base/cpu.c).
const WHOLE_CPUS: &[&str] =
    &["/sys/devices/system/cpu/cpu0/uevent", "/sys/devices/system/cpu/cpu0/crash_notes"];

/// drivers/firmware/dmi-id.c makes it last, on every machine with DMI.
const WHOLE_DMI: &[&str] = &["/sys/class/dmi/id/modalias"];

/// Every collector, the most telling mark first.
const COLLECTORS: &[Collector] = &[
    SOS,
    // The snapshot of ghw with a few files more.
    Collector {
        name: "must-gather sysinfo",
        marks: &[&["/machineinfo.json"]],
        takes: &[
            taken("/proc/irq/#/*affinity_list"),
            taken("/proc/irq/#/node"),
            taken("/sys/devices/system/cpu/smt/active"),
            taken("/sys/devices/system/cpu/cpu#/topology/*"),
            taken("/sys/devices/system/node/node#/distance"),
            taken("/sys/class/dmi/id/bios*"),
        ],
        ..DEFAULT
    },
    Collector {
        name: "hwloc-gather-topology",
        marks: &[&["/proc/hwloc-nofile-info"]],
        takes: &[
            taken("/sys/devices/system/cpu/**").shown_by(WHOLE_CPUS),
            taken("/sys/devices/system/node/**").shown_by(&["/sys/devices/system/node/uevent"]),
            taken("/sys/class/dmi/id/*").shown_by(WHOLE_DMI),
        ],
        ..DEFAULT
    },
    Collector {
        name: "ghw snapshot",
        marks: &[&["/sys/block", "/proc/meminfo", "/proc/self/mounts"]],
        never: &["/proc/cmdline", "/proc/stat", "/proc/version"],
        takes: &[
            taken("/sys/devices/system/cpu/cpu#/topology/*"),
            taken("/sys/devices/system/node/node#/distance"),
        ],
        ..DEFAULT
    },
    Collector {
        name: "util-linux dump",
        marks: &[&["/proc/bus/pci", "/proc/cpuinfo", "/sys/devices/system/cpu"]],
        never: &[
            "/proc/cmdline",
            "/proc/meminfo",
            "/proc/self",
            "/proc/stat",
            "/proc/version",
            "/sys/block",
            "/sys/bus",
            "/sys/class",
        ],
        takes: &[
            taken("/sys/devices/system/cpu/**").shown_by(WHOLE_CPUS),
            taken("/sys/devices/system/node/node#/cpumap"),
            taken("/proc/sysinfo"),
        ],
        ..DEFAULT
    },
    // Text files with the output of commands, and no file of /proc or /sys as such.
    Collector { name: "supportconfig", marks: &[&["/basic-environment.txt"]], ..DEFAULT },
];

/// The base of the others.
const DEFAULT: Collector =
    Collector { name: "", marks: &[], never: &[], version: None, takes: &[], asks: false };

/// sosreport, or `sos report`.
///
/// From 4.0 on the files of a folder are counted, and taken up to 25 MiB of it, where each file of sysfs counts a page: one limit
/// for all CPUs until 4.2, one for each entry of the folder from 4.3 on. A machine of some hundred policies has more in
/// `cpufreq`, so that what a policy lacks shows in the policy alone.
const SOS: Collector = Collector {
    name: "sos",
    marks: &[&["/sos_commands"], &["/sos_reports"], &["/sos_logs"]],
    version: Some("/version.txt"),
    takes: &[
        taken("/sys/devices/system/cpu/**").since((3, 0)).before((4, 0)).shown_by(WHOLE_CPUS),
        taken("/sys/devices/system/cpu/*").since((4, 3)).shown_by(WHOLE_CPUS),
        taken("/sys/devices/system/cpu/cpu#/**").since((4, 3)).shown_by(WHOLE_CPUS),
        taken("/sys/devices/system/cpu/cpuidle/*").since((4, 3)).shown_by(WHOLE_CPUS),
        taken("/sys/devices/system/cpu/intel_pstate/*").since((4, 3)).shown_by(WHOLE_CPUS),
        taken("/sys/devices/system/cpu/amd_pstate/*").since((4, 3)).shown_by(WHOLE_CPUS),
        taken("/sys/devices/system/cpu/smt/*").since((4, 3)).shown_by(WHOLE_CPUS),
        taken("/sys/devices/system/cpu/vulnerabilities/*").since((4, 3)).shown_by(WHOLE_CPUS),
        taken("/proc/irq/#/*").since((3, 1)).shown_by(&["/proc/irq/default_smp_affinity"]),
        taken("/sys/module/*/parameters/*")
            .since((3, 1))
            .shown_by(&["/sys/module/kernel/parameters", "/sys/module/printk/parameters"]),
        taken("/sys/class/dmi/id/*").since((3, 5)).shown_by(WHOLE_DMI),
        taken("/boot/config-*").since((4, 8)),
    ],
    ..DEFAULT
};

/// Our own capture: it asked what it holds, and a listing is the host's.
pub const CAPTURE: Collector = Collector { name: "fullclock capture", asks: true, ..DEFAULT };

/// Collectors whose data become captures first (`cargo xtask import`), by the name that the capture gives.
const IMPORTED: &[Collector] = &[
    Collector {
        name: "pepc",
        takes: &[
            taken("/sys/devices/system/cpu/cpuidle/**").shown_by(&[
                "/sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us",
                "/sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us",
            ]),
            taken("/sys/devices/system/cpu/intel_pstate/*"),
        ],
        ..DEFAULT
    },
    Collector { name: "stats-collect", ..DEFAULT },
];

/// A collector, and which release of it made a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Who made the copy.
    pub collector: &'static Collector,
    /// `None` where the copy does not say.
    pub version: Option<Version>,
}

impl Known {
    /// Who made a copy that `holds` these paths, and the `text` of these files.
    pub fn of_copy(
        holds: impl Fn(&str) -> bool,
        text: impl Fn(&str) -> Option<String>,
    ) -> Option<Known> {
        let is_made_by = |it: &&Collector| {
            it.marks.iter().any(|set| set.iter().all(|mark| holds(mark)))
                && !it.never.iter().any(|path| holds(path))
        };
        let collector = COLLECTORS.iter().find(is_made_by)?;
        let version = collector.version.and_then(text).and_then(|it| version(&it));
        Some(Known { collector, version })
    }

    /// Who made the data that a capture of this name was imported from.
    pub fn imported(name: &str) -> Option<Known> {
        let collector = IMPORTED.iter().find(|it| it.name == name)?;
        Some(Known { collector, version: None })
    }

    /// Whether the collector took `path`, had the host had it. `holds` is asked for what shows that nobody thinned the copy out.
    pub fn takes(&self, path: &str, mut holds: impl FnMut(&str) -> bool) -> bool {
        let is_of_release = |it: &&Taken| match self.version {
            Some(version) => it.since <= version && version < it.before,
            None => it.since == EVER && it.before == NEVER,
        };
        let takes = self.collector.takes.iter().filter(is_of_release);
        let fitting = takes.filter(|it| fits(it.pattern, path));
        fitting.into_iter().any(|it| it.witness.is_empty() || it.witness.iter().any(|it| holds(it)))
    }
}

/// The release in `sosreport: 3.9.1` or `sos report: 4.8.0`, of which a line for each plugin may follow.
fn version(text: &str) -> Option<Version> {
    let (_, release) = text.lines().next()?.split_once(':')?;
    let mut numbers = release.trim().split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who made a copy of these paths, of which `version.txt` holds `text`.
    fn known(paths: &[&str], text: &str) -> Option<Known> {
        Known::of_copy(|it| paths.contains(&it), |_| Some(text.to_owned()))
    }

    #[test]
    fn a_copy_is_known_by_what_only_its_collector_writes() {
        let name = |paths: &[&str]| known(paths, "").map(|it| it.collector.name);
        assert_eq!(name(&["/sos_reports"]), Some("sos"));
        assert_eq!(name(&["/machineinfo.json"]), Some("must-gather sysinfo"));
        assert_eq!(name(&["/proc/hwloc-nofile-info"]), Some("hwloc-gather-topology"));
        let dump = ["/proc/bus/pci", "/proc/cpuinfo", "/sys/devices/system/cpu"];
        assert_eq!(name(&dump), Some("util-linux dump"));
        let whole_proc = [&dump[..], &["/proc/stat"]].concat();
        assert_eq!(name(&whole_proc), None);
        assert_eq!(name(&["/proc/cpuinfo", "/sys/devices/system/cpu/online"]), None);
    }

    #[test]
    fn a_release_takes_what_its_plugins_name() {
        let takes = |version: &str, path: &str| {
            let sos = known(&["/sos_commands"], version).unwrap();
            sos.takes(path, |_| true)
        };
        let folder = "/sys/devices/system/cpu/cpuidle";
        for (version, expected) in [
            ("sosreport: 3.9.1\nprocessor: 1", true),
            ("sosreport: 2.2", false),
            // All CPUs together were limited to 25 MiB.
            ("sos report: 4.2", false),
            ("sos report: 4.8.0", true),
            ("nonsense", false),
        ] {
            assert_eq!(takes(version, folder), expected, "{version}");
        }
        assert!(!takes("sos report: 4.8.0", "/proc/7/stat"));
        assert!(!takes("sos report: 4.8.0", "/sys/devices/system/cpu/cpufreq/policy0/bios_limit"));
        assert!(takes("sosreport: 3.9", "/sys/devices/system/cpu/cpufreq/policy0/bios_limit"));
    }

    #[test]
    fn a_copy_that_was_thinned_out_proves_nothing() {
        let hwloc = known(&["/proc/hwloc-nofile-info"], "").unwrap();
        let path = "/sys/devices/system/cpu/cpu0/cpufreq";
        assert!(hwloc.takes(path, |it| it.ends_with("/uevent")));
        assert!(!hwloc.takes(path, |_| false));
    }

    #[test]
    fn a_collector_of_text_files_and_an_unknown_name_prove_nothing() {
        let supportconfig = known(&["/basic-environment.txt"], "").unwrap();
        assert!(!supportconfig.takes("/sys/devices/system/cpu/cpuidle", |_| true));
        assert_eq!(Known::imported("somebody"), None);
        assert_eq!(Known::imported("pepc").map(|it| it.collector.name), Some("pepc"));
    }
}
