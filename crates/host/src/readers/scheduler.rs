//! Reads who schedules, and what the scheduler holds back on the whole host.

use crate::Source;
use facts::system::cgroup::{Mounts, Version};
use facts::system::isolation::Isolation;
use facts::system::scheduler::{
    CLAMP_OF_ALL, CpuTime, FAIR_SERVERS, FairServer, SCHED_EXT, SchedExt, Scheduler, ext_state,
};
use facts::{Fact, Missing, PerCpu, parse};
use std::time::Duration;

/// Reads them; servers of the fair class only where CPUs are kept free.
pub(super) fn read(source: &dyn Source, isolation: &Isolation) -> Scheduler {
    Scheduler {
        ext: ext(source),
        clamp_of_all: source.parsed(CLAMP_OF_ALL, parse::number),
        cpu_time: cpu_time(source),
        fair_servers: fair_servers(source, isolation),
    }
}

fn ext(source: &dyn Source) -> Fact<SchedExt> {
    let Some(state) = source.parsed(&format!("{SCHED_EXT}/state"), ext_state)? else {
        return Ok(SchedExt::Off);
    };
    Ok(SchedExt::On {
        state,
        name: source.parsed(&format!("{SCHED_EXT}/root/ops"), parse::line),
        is_for_all: source.parsed(&format!("{SCHED_EXT}/switch_all"), parse::switch),
    })
}

/// Of the root group, or of that which a container sees as its root.
fn cpu_time(source: &dyn Source) -> Fact<CpuTime> {
    let mounts = source.parsed("/proc/self/mountinfo", Mounts::parse);
    let point = mounts.as_ref().ok().and_then(|it| {
        it.points().find_map(|(version, point)| (version == Version::V2).then_some(point))
    });
    source.parsed(&format!("{}/cpu.stat", point.unwrap_or("/sys/fs/cgroup")), CpuTime::parse)
}

fn fair_servers(source: &dyn Source, isolation: &Isolation) -> PerCpu<FairServer> {
    let Ok(cpus) = isolation.kept_free() else { return PerCpu::default() };
    let nanoseconds = |cpu: u32, name: &str| -> Fact<Duration> {
        let path = format!("{FAIR_SERVERS}/cpu{cpu}/{name}");
        source.parsed(&path, parse::number).map(Duration::from_nanos)
    };
    let server = |cpu| {
        Ok::<_, Missing>(FairServer {
            runtime: nanoseconds(cpu, "runtime")?,
            period: nanoseconds(cpu, "period")?,
        })
    };
    cpus.iter().map(|cpu| (cpu, server(cpu))).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Captured, view_of};
    use facts::system::scheduler::{FairServer, SchedExt, Scheduler};
    use facts::{Missing, Subject, Subjects};
    use std::time::Duration;

    fn read(excerpt: &str) -> Scheduler {
        let host = Captured::excerpt(excerpt).unwrap();
        view_of(&host, Subjects::of(&[Subject::Scheduler])).scheduler
    }

    #[test]
    fn a_scheduler_in_force_has_a_name() {
        let folder = "//- /sys/kernel/sched_ext";
        let host = format!(
            "{folder}/state\nenabled\n{folder}/root/ops\nlayered\n{folder}/switch_all\n1\n"
        );
        let ext = read(&host).ext.unwrap();
        assert_eq!(ext.name(), Some("layered"));
        assert_eq!(read(&host.replace("enabled", "disabled")).ext, Ok(SchedExt::Off));
        // It went between the two readings.
        let gone = read(&format!("{folder}/state\ndisabling\n")).ext.unwrap();
        assert_eq!(gone.name(), Some("a scheduler without a name"));
        assert_eq!(read("").ext, Err(Missing::absent("/sys/kernel/sched_ext/state")));
    }

    #[test]
    fn the_root_groups_time_is_that_of_the_hierarchy_of_version_2() {
        let stat = "usage_usec 900\ncore_sched.force_idle_usec 100\n";
        let mixed = format!(
            "//- /proc/self/mountinfo\n32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
             33 31 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
             //- /sys/fs/cgroup/unified/cpu.stat\n{stat}"
        );
        assert_eq!(read(&mixed).cpu_time.unwrap().forced_share(), Some(0.1));
        assert!(read(&format!("//- /sys/fs/cgroup/cpu.stat\n{stat}")).cpu_time.is_ok());
    }

    #[test]
    fn servers_are_those_of_cpus_that_are_kept_free() {
        let cpus = "//- /sys/devices/system/cpu/isolated\n2-3\n//- /proc/cmdline\nisolcpus=2-3\n";
        let folder = "//- /sys/kernel/debug/sched/fair_server/cpu2";
        let server = format!("{folder}/runtime\n50000000\n{folder}/period\n1000000000\n");
        let servers = read(&(cpus.to_owned() + &server)).fair_servers;
        let expected =
            FairServer { runtime: Duration::from_millis(50), period: Duration::from_secs(1) };
        assert_eq!(servers.get(2), Some(&Ok(expected)));
        assert!(servers.get(3).is_some_and(Result::is_err));
        assert!(read(&server).fair_servers.is_empty());
    }
}
