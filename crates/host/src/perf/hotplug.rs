//! Detects that a CPU of a group went offline, which the counts of the group do not show.
//!
//! Source: kernel/events/core.c. A CPU that goes offline takes its events out of their context and every group apart
//! (perf_event_exit_cpu_context, DETACH_GROUP). Their descriptors stay and read what was counted until then, and
//! nothing revives them: PERF_EVENT_IOC_ENABLE changes the state of an event that no context holds. So a leader that is
//! alone has lost its CPU, exactly; the time that it was enabled says it only to the precision of two clocks. An event
//! without company gets one that counts nothing, to be lost with it.

use super::attr::Attributes;
use super::counters::{SOFTWARE, TRACEPOINT, dummy};
use super::refusal;
use facts::Fact;
use facts::pmu::Counter;
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// What the reading of a group begins with: the number of its events, time enabled, time running.
const N_HEADERS: usize = 3;

/// Opens company for a lone leader that counts `counter`, where that is of a kind that stays on its CPU: the kernel
/// moves the events of a PMU that serves several CPUs to another one of them, and those go alone.
pub(super) fn join(cpu: u32, counter: &Counter, leader: &OwnedFd) -> Fact<Option<OwnedFd>> {
    if !matches!(counter.type_id, SOFTWARE | TRACEPOINT) {
        return Ok(None);
    }
    let dummy = dummy();
    let refused = |error| refusal::missing(&dummy.name, cpu, refusal::PARANOID_COUNTING, error);
    Attributes::counting(&dummy).open(cpu, Some(leader)).map(Some).map_err(refused)
}

/// Whether a group of `n_events` is together. Its leader is opened with PERF_FORMAT_GROUP.
pub(super) fn is_together(leader: &OwnedFd, n_events: usize) -> Result<bool, Errno> {
    const WORD: usize = size_of::<u64>();
    let mut bytes = vec![0; n_events.saturating_add(N_HEADERS).saturating_mul(WORD)];
    let n_read = rustix::io::read(leader, &mut *bytes)?;
    let n_found = bytes.first_chunk::<WORD>().filter(|_| n_read >= WORD);
    Ok(n_found.is_some_and(|it| usize::try_from(u64::from_ne_bytes(*it)) == Ok(n_events)))
}
