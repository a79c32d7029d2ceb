//! Which CPUs are kept free of other work: asked for on the boot line, and in force.
//!
//! Sources: Documentation/admin-guide/kernel-parameters.rst (isolcpus, nohz_full, rcu_nocbs, irqaffinity),
//! kernel/sched/isolation.c, drivers/base/cpu.c, Documentation/admin-guide/cgroup-v2.rst
//! (cpuset.cpus.isolated). What is in force counts: the kernel drops a whole list that it does not like.

use super::kernel::BootLine;
use super::partition::Partitions;
use crate::parse::Expected;
use crate::{CpuSet, Fact, Missing};

/// What is isolated, and what of the kernel's own work may run there all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Isolation {
    /// What the boot line asks for.
    pub asked: Fact<Vec<Asked>>,
    /// `/sys/devices/system/cpu/isolated`: CPUs outside of the scheduler's domains.
    pub isolated: Fact<CpuSet>,
    /// `/sys/devices/system/cpu/nohz_full`: CPUs whose tick may stop while they are busy. Absent where the
    /// kernel is built without (or is older than 4.1).
    pub nohz_full: Fact<CpuSet>,
    /// `cpuset.cpus.isolated` of cgroup v2: CPUs of isolated partitions, made at run time. Before Linux 6.7 from the partitions.
    pub partitions: Fact<CpuSet>,
    /// The partitions that control groups request, in force or not.
    pub requested_partitions: Fact<Partitions>,
    /// Where each device's interrupt that was ever taken may go, by its number in /proc/irq. Not read
    /// where nothing is isolated.
    pub interrupt_affinities: Fact<Vec<(u32, Fact<CpuSet>)>>,
    /// The threads that run the RCU callbacks of offloaded CPUs. Not read where nothing is isolated.
    pub rcu_threads: Fact<Vec<RcuThread>>,
}

/// One parameter of the boot line that names CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The parameter as written: `isolcpus=nohz,domain,2-3`.
    pub written: String,
    /// The list in it: `2-3`.
    pub list: String,
    /// What it asks for.
    pub purposes: Vec<Purpose>,
    /// The CPUs it names, existing or not.
    pub cpus: Result<CpuSet, Expected>,
}

/// What a list of CPUs on the boot line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// `isolcpus=`: keep other processes away.
    Domain,
    /// `nohz_full=`, `isolcpus=nohz,`: stop the tick.
    Tick,
    /// `isolcpus=managed_irq,`: keep away interrupts that the kernel places by itself.
    ManagedIrq,
    /// `rcu_nocbs=`: have RCU callbacks run elsewhere.
    Rcu,
    /// `irqaffinity=`: the CPUs that *do* take interrupts.
    IrqAffinity,
}

/// A thread that runs RCU callbacks for another CPU, `rcuop/3`.
#[derive(Clone, Debug, PartialEq)]
pub struct RcuThread {
    /// Its process number.
    pub pid: u32,
    /// The CPU whose callbacks it runs.
    pub of_cpu: u32,
    /// The CPUs it may run on.
    pub allowed: Fact<CpuSet>,
}

impl Isolation {
    /// The CPUs that the scheduler keeps other processes away from; may be empty.
    pub fn scheduler_isolated(&self) -> Fact<CpuSet> {
        let mut cpus = match &self.isolated {
            Ok(cpus) => cpus.clone(),
            // Kernels before 4.1 have no such file.
            Err(_) => self.asked_for(Purpose::Domain)?,
        };
        cpus.extend(self.partitions.iter().flat_map(CpuSet::iter));
        Ok(cpus)
    }

    /// The CPUs whose tick may stop while they are busy; may be empty.
    pub fn tickless(&self) -> Fact<CpuSet> {
        match &self.nohz_full {
            Ok(cpus) => Ok(cpus.clone()),
            Err(missing) if missing.is_absence() => Ok(CpuSet::default()),
            Err(_) => self.asked_for(Purpose::Tick),
        }
    }

    /// Where [`Isolation::tickless`] was read, and what stands there, for evidence.
    pub fn tickless_source(&self) -> (&'static str, String) {
        match &self.nohz_full {
            Ok(cpus) => ("/sys/devices/system/cpu/nohz_full", cpus.to_string()),
            Err(_) => ("/proc/cmdline", self.written_for(Purpose::Tick)),
        }
    }

    /// All CPUs that are kept free of other work in one way or another, or why there are none.
    pub fn kept_free(&self) -> Fact<CpuSet> {
        let mut cpus = self.scheduler_isolated()?;
        cpus.extend(self.tickless()?.iter());
        if cpus.is_empty() {
            Err(self.nothing(
                "isolated CPU",
                "isolcpus= or nohz_full=",
                &[Purpose::Domain, Purpose::Tick],
            ))
        } else {
            Ok(cpus)
        }
    }

    /// The CPUs whose tick may stop, or why there are none.
    pub fn some_tickless(&self) -> Fact<CpuSet> {
        let cpus = self.tickless()?;
        if cpus.is_empty() {
            Err(self.nothing("nohz_full CPU", "nohz_full=", &[Purpose::Tick]))
        } else {
            Ok(cpus)
        }
    }

    /// The CPUs that the boot line names for `purpose`; may be empty.
    pub fn asked_for(&self, purpose: Purpose) -> Fact<CpuSet> {
        let mut cpus = CpuSet::default();
        for asked in self.asked.as_ref()?.iter().filter(|it| it.purposes.contains(&purpose)) {
            match &asked.cpus {
                Ok(named) => cpus.extend(named.iter()),
                Err(Expected(expected)) => {
                    return Err(Missing::malformed("/proc/cmdline", &asked.written, expected));
                }
            }
        }
        Ok(cpus)
    }

    /// The parameters of the boot line that serve `purpose`, as written, for evidence.
    pub fn written_for(&self, purpose: Purpose) -> String {
        let asked = self.asked.as_deref().unwrap_or_default();
        let of_it = asked.iter().filter(|it| it.purposes.contains(&purpose));
        of_it.map(|it| it.written.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The reason for which a check has nothing to look at that needs one of `parameters`.
    fn nothing(&self, what: &str, parameters: &str, purposes: &[Purpose]) -> Missing {
        let serves = |asked: &Asked| asked.purposes.iter().any(|it| purposes.contains(it));
        let because = match &self.asked {
            Ok(asked) if asked.iter().any(serves) => {
                "the kernel put none of what the boot line asks for in force".to_owned()
            }
            Ok(_) => format!("the boot line has no {parameters}"),
            Err(_) => "the lists in /sys/devices/system/cpu name none".to_owned(),
        };
        Missing::not_here(what, because)
    }
}

impl Asked {
    /// The parameter with `cpus` for its list.
    pub fn with_list(&self, cpus: &CpuSet) -> String {
        let kept = self.written.strip_suffix(&self.list).unwrap_or(&self.written);
        format!("{kept}{cpus}")
    }
}

/// The parameters of a boot line that name CPUs; `last_possible` is what `N` and `all` stand for.
pub fn asked(line: &BootLine, last_possible: u32) -> Vec<Asked> {
    let asked = |(name, value): (&str, Option<&str>)| {
        let value = value?;
        let (purposes, list) = match name.replace('-', "_").as_str() {
            "isolcpus" => isolcpus(value),
            "nohz_full" => (vec![Purpose::Tick], value),
            "rcu_nocbs" => (vec![Purpose::Rcu], value),
            "irqaffinity" => (vec![Purpose::IrqAffinity], value),
            _ => return None,
        };
        let cpus = CpuSet::parse_boot_list(list, last_possible);
        let (written, list) = (format!("{name}={value}"), list.to_owned());
        Some(Asked { written, list, purposes, cpus })
    };
    line.parameters().filter_map(asked).collect()
}

/// Splits the flags of `isolcpus=` from its list; without any flag it means `domain`. Unknown flags are
/// skipped, as the kernel does, and `all` is a list although it is a word.
fn isolcpus(value: &str) -> (Vec<Purpose>, &str) {
    let mut purposes = Vec::new();
    let mut list = value;
    while let Some((flag, rest)) = list.split_once(',') {
        match flag {
            "domain" => purposes.push(Purpose::Domain),
            "nohz" => purposes.push(Purpose::Tick),
            "managed_irq" => purposes.push(Purpose::ManagedIrq),
            _ if flag.starts_with(|c: char| c.is_ascii_alphabetic()) && flag != "all" => {}
            _ => break,
        }
        list = rest;
    }
    if purposes.is_empty() {
        purposes.push(Purpose::Domain);
    }
    (purposes, list)
}

/// The CPU whose callbacks a thread of this name runs: `rcuop/3`, `rcuos/3`, `rcuob/3`
/// (kernel/rcu/tree_nocb.h; the letter is that of the RCU flavour).
pub fn callbacks_of(thread: &str) -> Option<u32> {
    let (name, cpu) = thread.split_once('/')?;
    matches!(name, "rcuop" | "rcuos" | "rcuob").then_some(cpu)?.parse().ok()
}

/// The `Cpus_allowed_list` of /proc/PID/status.
pub fn allowed_cpus(status: &str) -> Result<CpuSet, Expected> {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    CpuSet::parse_list(list.ok_or(Expected("a line Cpus_allowed_list"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn purposes(line: &str) -> Vec<(String, Vec<Purpose>)> {
        let asked = asked(&BootLine::new(line), 7);
        let cpus =
            |it: &Asked| it.cpus.as_ref().map_or_else(ToString::to_string, ToString::to_string);
        asked.iter().map(|it| (cpus(it), it.purposes.clone())).collect()
    }

    #[test]
    fn isolcpus_means_the_scheduler_unless_it_says_otherwise() {
        use Purpose::{Domain, ManagedIrq, Tick};
        assert_eq!(purposes("isolcpus=2,3"), [("2-3".into(), vec![Domain])]);
        assert_eq!(purposes("isolcpus=managed_irq,2"), [("2".into(), vec![ManagedIrq])]);
        assert_eq!(purposes("isolcpus=nohz,domain,6-N"), [("6-7".into(), vec![Tick, Domain])]);
        assert_eq!(purposes("isolcpus=strange_flag,4"), [("4".into(), vec![Domain])]);
    }

    #[test]
    fn every_list_keeps_its_purpose_and_a_bad_one_its_reason() {
        let lists = purposes("nohz_full=1-3 rcu-nocbs=all irqaffinity=0 nohz_full=x");
        assert_eq!(lists[0], ("1-3".into(), vec![Purpose::Tick]));
        assert_eq!(lists[1], ("0-7".into(), vec![Purpose::Rcu]));
        assert_eq!(lists[2], ("0".into(), vec![Purpose::IrqAffinity]));
        assert!(lists[3].0.starts_with("expected a list of CPUs"));
    }

    #[test]
    fn a_list_is_replaced_without_its_flags() {
        let asked = asked(&BootLine::new("isolcpus=managed_irq,domain,2-9"), 3);
        assert_eq!(
            asked[0].with_list(&[2, 3].into_iter().collect()),
            "isolcpus=managed_irq,domain,2-3"
        );
    }

    #[test]
    fn a_thread_of_offloaded_callbacks_names_its_cpu() {
        assert_eq!(callbacks_of("rcuop/3"), Some(3));
        assert_eq!(callbacks_of("rcuog/3"), None);
        assert_eq!(callbacks_of("rcu_preempt"), None);
    }

    #[test]
    fn allowed_cpus_are_read_from_their_line() {
        let status = "Name:\trcuop/1\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n";
        assert_eq!(allowed_cpus(status).map(|it| it.to_string()), Ok("0-1".into()));
        assert!(allowed_cpus("Name:\tx\n").is_err());
    }
}
