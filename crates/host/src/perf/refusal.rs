//! What a refused event says about a fact.
//!
//! Sources: perf_event_open(2), ERRORS; kernel/events/core.c.

use crate::Source;
use crate::source::live::Live;
use facts::{CpuSet, Missing, Why};
use rustix::io::Errno;

/// Everyone may count on a CPU up to this kernel.perf_event_paranoid (perf_allow_cpu).
pub(super) const PARANOID_COUNTING: i32 = 0;

/// Why `event` could not be opened on `cpu`, which everyone may do while kernel.perf_event_paranoid is at most
/// `paranoid`.
pub(super) fn missing(event: &str, cpu: u32, paranoid: i32, error: Errno) -> Missing {
    let name = format!("perf event {event}");
    let failed = |text: String| Missing { what: name.clone(), why: Why::Failed(text) };
    match error {
        Errno::ACCESS | Errno::PERM => {
            Missing::denied(format!("{name}, with kernel.perf_event_paranoid above {paranoid},"))
        }
        Errno::NODEV if !is_online(cpu) => failed(format!("CPU {cpu} is offline")),
        Errno::NOENT | Errno::NODEV | Errno::OPNOTSUPP => Missing::absent(name),
        Errno::NOSYS => failed("no perf events in this kernel, or a sandbox hides them".into()),
        Errno::MFILE => failed("too many open files for this process: raise `ulimit -Hn`".into()),
        Errno::NFILE => failed("too many open files on this host: raise fs.file-max".into()),
        error => failed(format!("CPU {cpu}: {}", std::io::Error::from(error))),
    }
}

fn is_online(cpu: u32) -> bool {
    let source: &dyn Source = &Live::this_machine();
    let online = source.parsed("/sys/devices/system/cpu/online", CpuSet::parse_list);
    online.map_or(true, |online| online.contains(cpu))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(event: &str, cpu: u32, error: Errno) -> String {
        missing(event, cpu, 0, error).to_string()
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        assert_eq!(
            said("msr/aperf/", 0, Errno::ACCESS),
            "perf event msr/aperf/, with kernel.perf_event_paranoid above 0, may not be read"
        );
        assert!(said("msr/smi/", 0, Errno::MFILE).ends_with("raise `ulimit -Hn`"));
    }

    #[test]
    fn an_offline_cpu_failed_and_an_unknown_event_is_absent() {
        const NEVER_THERE: u32 = 60_000;
        assert!(said("msr/tsc/", NEVER_THERE, Errno::NODEV).ends_with("CPU 60000 is offline"));
        assert!(missing("msr/tsc/", 0, 0, Errno::NOENT).is_absence());
        assert!(missing("msr/tsc/", 0, 0, Errno::NODEV).is_absence());
    }
}
