//! For how long tasks have run on each CPU: /proc/schedstat, else the root group of cpuacct.
//!
//! The first needs CONFIG_SCHEDSTATS, the second a cgroup v1 hierarchy with cpuacct that is mounted from its
//! root. They count by different clocks: see [`facts::counters::schedstat`] and [`facts::counters::cpuacct`].

use super::files::{File, Files};
use crate::Source;
use facts::counters::{Counters, Family, cpuacct, schedstat};
use facts::{CpuSet, Fact, Missing};

#[derive(Debug)]
pub(super) struct RunTime {
    schedstat: File,
    /// Where there is no schedstat; `Err` where there is none of either.
    usage: Fact<(File, CpuSet)>,
}

impl RunTime {
    pub(super) fn of(source: &dyn Source, possible: &Fact<CpuSet>) -> RunTime {
        let usage = usage_path(source).and_then(|path| Ok((File::new(path), possible.clone()?)));
        RunTime { schedstat: File::of_lines("/proc/schedstat"), usage }
    }

    pub(super) fn sample(
        &mut self,
        files: &mut Files,
        into: &mut Counters,
        online: &CpuSet,
        read_at: u64,
    ) {
        let table = into.table_mut(Family::RunTime);
        match (files.read(&mut self.schedstat), &mut self.usage) {
            (Ok(text), _) => schedstat::fill(text, read_at, table),
            (Err(missing), Err(_)) => *table = Err(missing),
            (Err(no_schedstat), Ok((file, possible))) => match files.read(file) {
                Ok(text) => {
                    let cpus = cpuacct::Cpus { possible, online };
                    cpuacct::fill(&file.path, text, read_at, cpus, table);
                    if let Ok(table) = table {
                        table.set_source("cpuacct.usage_percpu of the root control group");
                        // Waiting time is in the first source alone.
                        table.blank_column("wait", no_schedstat);
                    }
                }
                Err(missing) => *table = Err(missing),
            },
        }
    }
}

/// The file of the root group, where the root is what is mounted: in a container it is the container's group.
fn usage_path(source: &dyn Source) -> Fact<String> {
    let mounts = source.text("/proc/self/mountinfo")?;
    let point = mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - cgroup ")?;
        let options = kind.split(' ').nth(1)?;
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        (root == "/" && options.split(',').any(|it| it == "cpuacct")).then_some(point)
    });
    let point = point.ok_or_else(|| Missing::absent("a mounted cpuacct control group"))?;
    // A cgroup namespace calls its own group the root (cgroup_namespaces(7)); only the true one has this file.
    if !source.list(point)?.iter().any(|name| name == "release_agent") {
        let why = "the mounted control group is a container's, not the root";
        return Err(Missing::not_here("cpuacct of the whole host", why));
    }
    Ok(format!("{point}/cpuacct.usage_percpu"))
}
