//! Reads every process's and kernel thread's line.
//!
//! Who may see which process is a matter of /proc's mount option `hidepid`, and which there are to be seen of
//! the PID namespace (Documentation/filesystems/proc.rst, pid_namespaces(7)).

use crate::Source;
use facts::system::process::Process;
use facts::{Fact, Missing, Origin, Why};

/// The first process of every host and container.
const INIT: u32 = 1;

/// The processes and threads of the kernel that there are.
///
/// A process that ends while we look is no longer a fact of the host, so it is left out. No process at all is
/// what a copy of a host shows that was made without them.
pub fn read(source: &dyn Source) -> Fact<Vec<Process>> {
    let pids = source.numbered("/proc", "")?;
    if !pids.contains(&INIT) && hides_processes(source) {
        return Err(Missing::denied(format!("/proc/{INIT}/stat")));
    }
    let mut processes = Vec::with_capacity(pids.len());
    for pid in pids {
        match source.parsed(&format!("/proc/{pid}/stat"), Process::parse) {
            Ok(process) => processes.push(process),
            Err(missing) if missing.why == Why::Denied => return Err(missing),
            Err(_) => {}
        }
    }
    match source.origin() {
        _ if !processes.is_empty() => Ok(processes),
        Origin::Tree => Err(Missing::not_collected("/proc/PID/stat")),
        Origin::Live | Origin::Capture => Err(Missing::absent("/proc/PID/stat")),
    }
}

/// Whether /proc shows users no processes but their own.
fn hides_processes(source: &dyn Source) -> bool {
    let is_hiding = |line: &str| {
        let options = line.split_once(" - proc ").map(|(_, options)| options);
        options.is_some_and(|it| it.contains("hidepid=") && !it.contains("hidepid=off"))
    };
    source.text("/proc/self/mountinfo").is_ok_and(|text| text.lines().any(is_hiding))
}

/// The threads of the kernel. Whoever sees process 1 and not one of them is in a container, which shows none.
pub(crate) fn kernel_threads(processes: &Fact<Vec<Process>>) -> Fact<Vec<&Process>> {
    let processes = processes.as_ref()?;
    let threads: Vec<&Process> = processes.iter().filter(|it| it.is_kernel_thread).collect();
    if threads.is_empty() && processes.iter().any(|it| it.pid == INIT) {
        let why = Why::Failed("a container shows none; run fullclock on the host".to_owned());
        return Err(Missing { what: "the kernel's threads in /proc".to_owned(), why });
    }
    Ok(threads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;

    const OURS: &str = "//- /proc/90/stat\n90 (bash) S 1 90 90 0 -1 4194560 0\n";

    fn shown(excerpt: &str) -> String {
        let host = Captured::excerpt(excerpt).unwrap();
        let processes = read(&host);
        let threads = kernel_threads(&processes).map(|it| it.len());
        let processes = processes.as_ref().map(Vec::len);
        format!("{processes:?}, {:?}", threads.map_err(|it| it.to_string()))
    }

    #[test]
    fn processes_that_may_not_be_seen_are_unknown_and_not_gone() {
        let denied = Err::<(), _>(Missing::denied("/proc/1/stat"));
        let expected =
            format!("{:?}, {:?}", denied.as_ref(), Err::<(), _>("/proc/1/stat may not be read"));
        assert_eq!(shown(&format!("//- /proc/1/stat\n!denied\n{OURS}")), expected);
        let mount =
            "//- /proc/self/mountinfo\n22 27 0:21 / /proc rw - proc proc rw,hidepid=invisible\n";
        assert_eq!(shown(&format!("{mount}{OURS}")), expected);
        let mount = mount.replace(",hidepid=invisible", "");
        assert_eq!(shown(&format!("{mount}{OURS}")), "Ok(1), Ok(0)");
    }

    #[test]
    fn a_container_does_not_show_the_kernels_threads() {
        let init = "//- /proc/1/stat\n1 (sh) S 0 1 1 0 -1 4194560 0\n";
        assert!(shown(&format!("{init}{OURS}")).contains("a container shows none"));
        let thread = "//- /proc/2/stat\n2 (kthreadd) S 0 0 0 0 -1 2129984 0\n";
        assert_eq!(shown(&format!("{init}{thread}{OURS}")), "Ok(3), Ok(1)");
    }
}
