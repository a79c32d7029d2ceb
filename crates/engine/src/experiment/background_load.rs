//! Which CPUs `load=all-cores` keeps busy: every online one that the trial does not run on and this program may use.
//!
//! The CPUs of isolcpus= are in no process's mask (Documentation/admin-guide/kernel-parameters.txt) and take whoever asks for
//! them by name; they share the package's turbo and power with all others, so they are part of the load. A workload that runs
//! wherever the scheduler puts it, or on every CPU, leaves none: the load would take its own.

use facts::{CpuSet, HostView};
use lab::experiment::{Combination, Design, Factor, Kind};
use lab::failure::Failure;
use lab::record::Record;
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;

/// A CPU that has not answered by then belongs to a real-time task.
const PATIENCE: Duration = Duration::from_secs(1);

/// What runs a command.
const COMMAND: &str = "command";

/// The CPUs that each arm keeps busy.
pub(super) struct Loads {
    /// Those that a load may run on.
    usable: CpuSet,
    of_arm: Vec<CpuSet>,
}

/// What a trial of an arm runs.
pub(super) struct Work<'a> {
    pub(super) id: &'a str,
    /// The CPUs that it keeps to; `None` where the scheduler chooses.
    pub(super) cpus: Option<CpuSet>,
}

impl Loads {
    /// Of no arm yet.
    pub(super) fn on(host: &HostView, allowed: &CpuSet) -> Loads {
        let none = CpuSet::default();
        let isolated = host.isolation.isolated.as_ref().unwrap_or(&none).iter();
        let further = isolated.filter(|cpu| !allowed.contains(*cpu) && takes_a_thread(*cpu));
        Loads { usable: allowed.iter().chain(further).collect(), of_arm: Vec::new() }
    }

    /// Settles those of every arm, by the CPUs that its workload has been prepared for.
    ///
    /// Errors: one leaves no CPU to the load.
    pub(super) fn settle(&mut self, record: &Record) -> Result<(), Failure> {
        let Some(experiment) = &record.experiment else { return Ok(()) };
        let arms = experiment.arms.iter().zip(&record.arms);
        let of = |(combination, arm): (&Combination, &lab::record::Arm)| {
            let cpus = arm.cpus.as_deref().map(CpuSet::parse_list).transpose();
            let cpus = cpus.map_err(|error| Failure::Unready(error.to_string()))?;
            self.beside(&experiment.design, combination, &Work { id: &arm.workload, cpus })
        };
        self.of_arm = arms.map(of).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Those of an arm; nothing where it has no load.
    pub(super) fn of(&self, arm: usize) -> Option<&CpuSet> {
        self.of_arm.get(arm).filter(|it| !it.is_empty())
    }

    /// The CPUs to keep busy beside this work.
    ///
    /// Errors: it leaves none.
    pub(super) fn beside(
        &self,
        design: &Design,
        arm: &Combination,
        work: &Work<'_>,
    ) -> Result<CpuSet, Failure> {
        if !is_loaded(design, arm) {
            return Ok(CpuSet::default());
        }
        let text = design.workloads.get(arm.workload).map_or(work.id, String::as_str);
        let usable = &self.usable;
        let Some(own) = &work.cpus else {
            return Err(refusal(text, "wherever the scheduler puts it", usable, work.id));
        };
        let others: CpuSet = usable.iter().filter(|it| !own.contains(*it)).collect();
        if others.is_empty() {
            return Err(refusal(text, &format!("on every CPU ({own})"), usable, work.id));
        }
        Ok(others)
    }
}

/// Whether other CPUs are to be busy in this arm.
fn is_loaded(design: &Design, arm: &Combination) -> bool {
    let mut levels = design.factors.iter().zip(&arm.levels);
    levels.any(|(factor, level)| {
        let level = factor.levels.get(*level).map(String::as_str);
        factor.kind() == Kind::Load && level == Some(Factor::ALL_CORES)
    })
}

fn refusal(text: &str, place: &str, usable: &CpuSet, id: &str) -> Failure {
    let why = format!("load=all-cores: {text} runs {place}, and no CPU is left to the load");
    Failure::Unready(match usable.last().filter(|_| usable.len() > 1) {
        None => format!("{why}; it takes two CPUs"),
        Some(cpu) if id == COMMAND => {
            format!("{why}; name its CPUs, as in -w 'command --cpus {cpu} -- COMMAND'")
        }
        Some(cpu) => format!("{why}; name its CPUs, as in -w '{id} --cpus {cpu}'"),
    })
}

/// Whether a thread that asks for this CPU gets it. A thread of its own asks: one that waits behind a real-time task is left
/// to wait.
fn takes_a_thread(cpu: u32) -> bool {
    let (sender, answer) = mpsc::channel();
    let ask = move || sender.send(host::probe::pinned(cpu, || ()).is_ok()).is_ok();
    let asked = Builder::new().name("isolated".to_owned()).spawn(ask);
    asked.is_ok() && answer.recv_timeout(PATIENCE).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(usable: &str, id: &str, own: Option<&str>, level: usize) -> Result<String, String> {
        let design = Design {
            factors: vec![Factor::parse("load=idle,all-cores").unwrap()],
            workloads: vec![format!("{id} --some")],
            ..Design::default()
        };
        let cpus = |it: &str| CpuSet::parse_list(it).unwrap();
        let loads = Loads { usable: cpus(usable), of_arm: Vec::new() };
        let arm = Combination { workload: 0, levels: vec![level] };
        let found = loads.beside(&design, &arm, &Work { id, cpus: own.map(cpus) });
        found.map(|it| it.to_string()).map_err(|why| why.to_string())
    }

    #[test]
    fn the_load_is_on_every_cpu_that_the_work_is_not_on() {
        assert_eq!(beside("0-5", "wakeup", Some("2-3"), 1).unwrap(), "0-1,4-5");
        assert_eq!(beside("0-5", "cpu-loop", Some("7"), 1).unwrap(), "0-5");
        assert_eq!(beside("0-5", "all-cores", None, 0).unwrap(), "");
    }

    #[test]
    fn work_that_leaves_no_cpu_to_the_load_is_refused_with_what_to_do() {
        assert_eq!(
            beside("0-3", "all-cores", Some("0-3"), 1).unwrap_err(),
            "load=all-cores: all-cores --some runs on every CPU (0-3), and no CPU is left to the load; name its CPUs, as in \
             -w 'all-cores --cpus 3'"
        );
        let error = beside("0-3", "wakeup", None, 1).unwrap_err();
        assert!(error.contains("runs wherever the scheduler puts it"), "{error}");
        let error = beside("0-3", "command", None, 1).unwrap_err();
        assert!(error.ends_with("-w 'command --cpus 3 -- COMMAND'"), "{error}");
        let error = beside("0", "cpu-loop", Some("0"), 1).unwrap_err();
        assert!(error.ends_with("it takes two CPUs"), "{error}");
    }

    #[test]
    fn a_cpu_that_is_not_there_takes_no_thread() {
        assert!(takes_a_thread(host::probe::allowed().unwrap().last().unwrap()));
        assert!(!takes_a_thread(8191));
    }
}
