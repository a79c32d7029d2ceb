//! The system call, what it is asked, and what its refusal says about a fact.
//!
//! Sources of refusals: perf_event_open(2), ERRORS; kernel/events/core.c.
#![expect(unsafe_code, reason = "perf_event_open and its ioctls exist as raw system calls only")]

use crate::Source;
use crate::source::live::Live;
use facts::pmu::Counter;
use facts::{CpuSet, Missing, Why};
use perf_event_open_sys::{bindings as sys, ioctls, perf_event_open};
use rustix::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::ffi::{CStr, CString, c_int};

/// What to open: a counter, and what becomes of its occurrences.
pub(super) struct Attributes(sys::perf_event_attr);

impl Attributes {
    /// To count, from [`enable`] on. No `exclude_*` bit is set: the PMUs that read registers refuse
    /// them (PERF_PMU_CAP_NO_EXCLUDE).
    pub(super) fn counting(counter: &Counter) -> Attributes {
        let [config, config1, config2] = counter.config.0;
        let mut attr = sys::perf_event_attr {
            type_: counter.type_id,
            // A size the kernel does not know is fine while what it does not know is zero.
            size: size_of::<sys::perf_event_attr>() as u32,
            config,
            ..sys::perf_event_attr::default()
        };
        attr.config1 = config1;
        attr.config2 = config2;
        attr.read_format =
            (sys::PERF_FORMAT_TOTAL_TIME_ENABLED | sys::PERF_FORMAT_TOTAL_TIME_RUNNING).into();
        Attributes(attr)
    }

    /// To write every occurrence of a tracepoint into a ring, stamped with CLOCK_MONOTONIC_RAW
    /// ([`facts::trace::record`]). A waiting reader is woken when `watermark` bytes are in the ring.
    pub(super) fn tracing(tracepoint: &Counter, watermark: u32) -> Attributes {
        let mut attributes = Attributes::sampling(tracepoint, watermark);
        attributes.0.sample_type = (sys::PERF_SAMPLE_TIME | sys::PERF_SAMPLE_RAW).into();
        attributes
    }

    /// To write down what a function returns, each time ([`facts::trace::returned`]).
    pub(super) fn returning(probe: &Counter, watermark: u32) -> Attributes {
        /// PERF_REG_X86_AX and PERF_REG_ARM64_X0 (arch/*/include/uapi/asm/perf_regs.h): what a function returns.
        const RETURN_VALUE: u64 = 1 << 0;
        let mut attributes = Attributes::sampling(probe, watermark);
        attributes.0.sample_type = (sys::PERF_SAMPLE_TIME | sys::PERF_SAMPLE_REGS_INTR).into();
        attributes.0.sample_regs_intr = RETURN_VALUE;
        attributes
    }

    fn sampling(counter: &Counter, watermark: u32) -> Attributes {
        /// include/uapi/linux/time.h.
        const CLOCK_MONOTONIC_RAW: i32 = 4;
        let mut attr = Attributes::counting(counter).0;
        attr.sample_period = 1;
        attr.set_sample_id_all(1);
        attr.set_use_clockid(1);
        attr.clockid = CLOCK_MONOTONIC_RAW;
        attr.set_watermark(1);
        attr.wakeup_watermark = watermark;
        Attributes(attr)
    }

    /// Opens it on `cpu`, as a member of the leader's group or as a leader itself.
    pub(super) fn open<Fd: AsFd>(
        &mut self,
        cpu: u32,
        leader: Option<&Fd>,
    ) -> Result<OwnedFd, Errno> {
        if leader.is_none() && self.0.read_format != 0 {
            self.0.read_format |= u64::from(sys::PERF_FORMAT_GROUP);
        }
        // Members follow their leader. It is enabled when all of them are there, because a member of another
        // PMU that joins a group which counts already is not started (seen on Linux 6.18).
        self.0.set_disabled(leader.is_none().into());
        match self.open_once(cpu, leader) {
            Err(Errno::MFILE) if allow_more_files() => self.open_once(cpu, leader),
            result => result,
        }
    }

    /// Opens it for what one task does of the kernel's function `name`, on whichever CPU. A counter of the `kprobe` PMU.
    pub(super) fn open_in(&mut self, task: u32, name: &CStr) -> Result<OwnedFd, Errno> {
        const ANY_CPU: c_int = -1;
        let task = i32::try_from(task).map_err(|_| Errno::INVAL)?;
        // kprobe_func and probe_offset of perf_event_attr.
        self.0.config1 = name.as_ptr() as u64;
        self.0.config2 = 0;
        // A ring that moves from CPU to CPU with its task is refused where the task's children inherit the event.
        self.0.set_disabled(1);
        let opened = self.call(task, ANY_CPU, -1);
        self.0.config1 = 0;
        opened
    }

    fn open_once<Fd: AsFd>(&mut self, cpu: u32, leader: Option<&Fd>) -> Result<OwnedFd, Errno> {
        /// Of every task on the CPU.
        const ANY_TASK: i32 = -1;
        let cpu = c_int::try_from(cpu).map_err(|_| Errno::INVAL)?;
        let leader = leader.map_or(-1, |leader| leader.as_fd().as_raw_fd());
        self.call(ANY_TASK, cpu, leader)
    }

    fn call(&mut self, task: i32, cpu: c_int, leader: c_int) -> Result<OwnedFd, Errno> {
        let flags = sys::PERF_FLAG_FD_CLOEXEC.into();
        // SAFETY: the attributes are initialised, and ask for nothing but counting or for samples into a ring that is mapped
        // later; the name of a function that they point to is a C string of the caller's, which the kernel copies before it
        // returns. It checks the rest.
        let fd = unsafe { perf_event_open(&raw mut self.0, task, cpu, leader, flags) };
        checked(fd)?;
        // SAFETY: the kernel just made this descriptor, and nobody else has it.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

/// Starts a leader and its group, all at once.
pub(super) fn enable(leader: &OwnedFd) -> Result<(), Errno> {
    // SAFETY: the call takes no memory, and a descriptor that is no event's is refused.
    checked(unsafe { ioctls::ENABLE(leader.as_raw_fd(), 0) })
}

/// Has an event write into the ring of another one of its CPU.
pub(super) fn share_ring(event: &OwnedFd, owner: &OwnedFd) -> Result<(), Errno> {
    // SAFETY: the call takes no memory; the kernel keeps the ring for as long as either event lives.
    checked(unsafe { ioctls::SET_OUTPUT(event.as_raw_fd(), owner.as_raw_fd()) })
}

/// Has a tracepoint's event occur only where `filter` holds.
pub(super) fn set_filter(event: &OwnedFd, filter: &str) -> Result<(), Errno> {
    let filter = CString::new(filter).map_err(|_| Errno::INVAL)?;
    // SAFETY: the kernel copies the string, which lives until the call returns, and does not write to it.
    checked(unsafe { ioctls::SET_FILTER(event.as_raw_fd(), filter.as_ptr().cast_mut()) })
}

/// Lifts this process's soft limit of open files to the hard one, as perf does: a machine of many CPUs needs
/// an event for each.
fn allow_more_files() -> bool {
    let mut limit = getrlimit(Resource::Nofile);
    let lifted = limit.current != limit.maximum;
    limit.current = limit.maximum;
    lifted && setrlimit(Resource::Nofile, limit).is_ok()
}

fn checked(result: c_int) -> Result<(), Errno> {
    if result >= 0 {
        return Ok(());
    }
    Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
}

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
