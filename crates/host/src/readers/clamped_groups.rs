//! Reads the control groups whose utilization is clamped, and who is in them.
//!
//! Only the governor schedutil looks at clamps (kernel/sched/cpufreq_schedutil.c, `sugov_get_util`): without it no group is looked at.
//! The file is in every group but the root one, of both versions (kernel/sched/core.c, `cpu_files` and `cpu_legacy_files`; Linux 5.4 and
//! later, CONFIG_UCLAMP_TASK_GROUP). A group without it is of a kernel that has none, or is not one of the CPU controller.

use super::groups::{Place, walk};
use super::throttled_groups::{LIMITS, members};
use crate::Source;
use facts::cpu::cpufreq::Policy;
use facts::system::cgroup::{Mounts, busiest};
use facts::system::database;
use facts::system::process::Process;
use facts::system::scheduler::{ClampedGroup, ClampedGroups, clamp};
use facts::{Fact, Missing};
use std::collections::{BTreeMap, BTreeSet};

/// Reads them, each before those in it.
pub(super) fn read(
    source: &dyn Source,
    policies: &Fact<Vec<Policy>>,
    processes: &Fact<Vec<Process>>,
) -> Fact<ClampedGroups> {
    let is_looked_at = |it: &Policy| it.governor.as_deref() == Ok("schedutil");
    if !policies.as_ref()?.iter().any(is_looked_at) {
        return Err(Missing::not_here(
            "clamp of utilization in force",
            "no CPU has the governor schedutil",
        ));
    }
    let mounts = source.parsed("/proc/self/mountinfo", Mounts::parse)?;
    let (mut found, mut missing) = (Vec::new(), None);
    let roots = mounts.points().map(|(version, it)| (version, it.trim_end_matches('/').to_owned()));
    walk(source, roots, &LIMITS, &mut missing, |place, mut within: Vec<usize>, missing| {
        // The root group has no clamp of its own.
        if place.depth > 0 {
            look_at(source, place, &mut found, &mut within, missing);
        }
        Some(within)
    });
    let processes = processes.as_deref().unwrap_or_default();
    let by_pid: BTreeMap<u32, &Process> = processes.iter().map(|it| (it.pid, it)).collect();
    let servers: Vec<(&Process, &'static str)> = database::servers(processes).collect();
    let list = found.into_iter().map(|it| it.with_members(&by_pid, &servers)).collect();
    Ok(ClampedGroups { list, missing })
}

/// A clamped group, and the processes in it and below.
struct Found {
    folder: String,
    percent: f64,
    pids: BTreeSet<u32>,
}

/// Adds the group where it is clamped, and its members to the clamped ones that it is `within`.
fn look_at(
    source: &dyn Source,
    place: &Place,
    found: &mut Vec<Found>,
    within: &mut Vec<usize>,
    missing: &mut Option<Missing>,
) {
    let folder = &place.folder;
    match source.parsed(&format!("{folder}/cpu.uclamp.max"), clamp) {
        Ok(percent) if percent < 100.0 => {
            within.push(found.len());
            found.push(Found { folder: folder.clone(), percent, pids: BTreeSet::new() });
        }
        Err(reason) if !reason.is_absence() => {
            missing.get_or_insert(reason);
        }
        _ => {}
    }
    if !within.is_empty() {
        let pids = members(source, place.version, folder);
        for &at in within.iter() {
            found[at].pids.extend(&pids);
        }
    }
}

impl Found {
    fn with_members(
        self,
        processes: &BTreeMap<u32, &Process>,
        servers: &[(&Process, &'static str)],
    ) -> ClampedGroup {
        let Found { folder, percent, pids } = self;
        let databases = servers.iter().filter(|(it, _)| pids.contains(&it.pid));
        ClampedGroup {
            folder,
            percent,
            n_processes: pids.len(),
            busiest: busiest(pids.iter().filter_map(|pid| processes.get(pid).copied())),
            databases: databases.map(|(it, product)| ((*it).clone(), *product)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Captured, Recording, Source, view_of};
    use facts::ipmi::Question;
    use facts::{Fact, Subject, Subjects};
    use std::fmt::Write as _;

    const V2: &str =
        "//- /proc/self/mountinfo\n31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

    fn policy(governor: &str) -> String {
        format!(
            "//- /sys/devices/system/cpu/online\n0\n//- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus\n0\n\
             //- /sys/devices/system/cpu/cpufreq/policy0/scaling_governor\n{governor}\n"
        )
    }

    fn group(folder: &str, clamp: &str, pids: &str) -> String {
        let folder = format!("//- /sys/fs/cgroup/{folder}");
        format!("{folder}/cpu.uclamp.max\n{clamp}\n{folder}/cgroup.procs\n{pids}\n")
    }

    fn process(pid: u32, name: &str, ticks: u32) -> String {
        format!(
            "//- /proc/{pid}/stat\n{pid} ({name}) S 1 1 1 0 -1 4194560 0 0 0 0 {ticks} 0 0 0 20 0 1 0 500\n"
        )
    }

    /// `folder percent: processes, busiest; databases`, a line each.
    fn shown(source: &dyn Source) -> String {
        let groups = match view_of(source, Subjects::of(&[Subject::ClampedGroups])).clamped_groups {
            Ok(groups) => groups,
            Err(missing) => return missing.to_string(),
        };
        let mut lines = String::new();
        for it in &groups.list {
            let names: Vec<&str> = it.busiest.iter().map(|it| it.name.as_str()).collect();
            let products: Vec<&str> = it.databases.iter().map(|it| it.1).collect();
            let folder = it.folder.trim_start_matches("/sys/fs/cgroup");
            let (names, products) = (names.join(" "), products.join(" "));
            writeln!(lines, "{folder} {}: {} {names}; {products}", it.percent, it.n_processes)
                .unwrap();
        }
        groups.missing.iter().for_each(|it| writeln!(lines, "{it}").unwrap());
        lines
    }

    #[test]
    fn clamped_groups_have_the_processes_below_them() {
        let text = [
            V2.to_owned(),
            policy("schedutil"),
            group("db.slice", "50.00", ""),
            group("db.slice/pg.service", "max", "300\n301"),
            group("web.slice", "max", "302"),
            process(300, "postgres", 900),
            process(301, "bash", 1),
            process(302, "java", 70),
        ];
        let host = Captured::excerpt(&text.concat()).unwrap();
        let recording = Recording::new(&host);
        assert_eq!(shown(&recording), "/db.slice 50: 2 postgres bash; PostgreSQL\n");
        let capture = Captured::parse(&recording.capture()).unwrap();
        assert_eq!(shown(&capture), "/db.slice 50: 2 postgres bash; PostgreSQL\n");
    }

    #[test]
    fn version_1_has_clamps_too() {
        let folder = "//- /dev/cpuctl/background";
        let text = format!(
            "//- /proc/self/mountinfo\n31 23 0:28 / /dev/cpuctl rw - cgroup none rw,cpu\n{}{folder}/cpu.uclamp.max\n50.00\n\
             {folder}/cgroup.procs\n300\n{}",
            policy("schedutil"),
            process(300, "app", 9)
        );
        assert_eq!(
            shown(&Captured::excerpt(&text).unwrap()),
            "/dev/cpuctl/background 50: 1 app; \n"
        );
    }

    /// Counts how often the folders of a folder are listed.
    struct Counted<'a>(&'a Captured, std::cell::Cell<usize>);

    impl Source for Counted<'_> {
        fn origin(&self) -> facts::Origin {
            self.0.origin()
        }

        fn read(&self, path: &str) -> Fact<Vec<u8>> {
            self.0.read(path)
        }

        fn list(&self, folder: &str) -> Fact<Vec<String>> {
            self.0.list(folder)
        }

        fn folders(&self, folder: &str) -> Fact<Vec<String>> {
            self.1.set(self.1.get() + usize::from(folder == "/sys/fs/cgroup"));
            self.0.folders(folder)
        }

        fn link(&self, path: &str) -> Fact<String> {
            self.0.link(path)
        }

        fn msr(&self, cpu: u32, register: u32) -> Fact<u64> {
            self.0.msr(cpu, register)
        }

        fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
            self.0.cpuid(leaf, subleaf)
        }

        fn controller(&self, question: &Question<Vec<u8>>) -> Fact<Vec<u8>> {
            self.0.controller(question)
        }
    }

    #[test]
    fn groups_that_two_readers_walk_are_listed_once() {
        let text = policy("schedutil")
            + V2
            + &group("batch", "50", "1")
            + "//- /sys/fs/cgroup/cgroup.controllers\ncpu\n";
        let captured = Captured::excerpt(&text).unwrap();
        let counted = Counted(&captured, std::cell::Cell::new(0));
        let both = Subjects::of(&[Subject::ThrottledGroups, Subject::ClampedGroups]);
        let host = view_of(&counted, both);
        assert_eq!(host.clamped_groups.unwrap().list.len(), 1);
        assert_eq!(counted.1.get(), 1);
    }

    #[test]
    fn without_schedutil_no_group_is_looked_at() {
        let text = [V2.to_owned(), policy("performance"), group("db.slice", "50.00", "300")];
        let host = Captured::excerpt(&text.concat()).unwrap();
        let recording = Recording::new(&host);
        assert_eq!(
            shown(&recording),
            "no clamp of utilization in force here: no CPU has the governor schedutil"
        );
        assert!(!recording.capture().contains("uclamp"));
    }

    #[test]
    fn a_clamp_that_cannot_be_read_is_noted() {
        let text = [V2.to_owned(), policy("schedutil"), group("a", "!denied", "300")];
        assert_eq!(
            shown(&Captured::excerpt(&text.concat()).unwrap()),
            "/sys/fs/cgroup/a/cpu.uclamp.max may not be read\n"
        );
    }
}
