//! Writes down what a function of the kernel returns to one of its tasks.
//!
//! Sources: perf_event_open(2), `kprobe_func`; kernel/trace/trace_event_perf.c (`perf_kprobe_init`), since Linux 4.17. The probe is
//! the event's own: it goes when its descriptor does, whatever ends this process, and nothing in tracefs changes. It takes
//! CAP_PERFMON, a kernel with CONFIG_KPROBE_EVENTS, and a function that was not built into its callers.

use super::attr::{self, Attributes};
use super::ring::{self, Ring};
use crate::Source;
use facts::pmu::{Config, Counter};
use facts::trace::returned::{Returned, returned};
use facts::{Expected, Fact, Missing, Why, parse};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::ffi::CString;
use std::time::Duration;

const FOLDER: &str = "/sys/bus/event_source/devices/kprobe";

/// A waiting reader is woken when half of the ring is full.
const WATERMARK: u32 = ring::SIZE as u32 / 2;

/// The returns of one function to one task.
#[derive(Debug)]
pub struct Returns {
    ring: Ring,
    /// The probe lives as long.
    event: OwnedFd,
}

impl Returns {
    /// Begins to write down what `function` returns to `task`.
    ///
    /// Errors: this kernel probes no functions, or none of that name; it may not be probed.
    pub fn open(source: &dyn Source, function: &str, task: u32) -> Fact<Returns> {
        let what = || format!("a probe of {function}");
        let probe = probe(source, function)?;
        let name = CString::new(function)
            .map_err(|_| Missing::malformed(what(), function, "the name of a function"))?;
        let refused = |error| missing(what(), error);
        let event =
            Attributes::returning(&probe, WATERMARK).open_in(task, &name).map_err(refused)?;
        let ring = Ring::map(&event).map_err(refused)?;
        attr::enable(&event).map_err(refused)?;
        Ok(Returns { ring, event })
    }

    /// Waits until half of the room is taken, `timeout` is over or a signal arrives. Whether more can come: not once the task has
    /// ended.
    pub fn wait(&self, timeout: Duration) -> bool {
        let timeout = Timespec::try_from(timeout).ok();
        let mut event = [PollFd::new(&self.event, PollFlags::IN)];
        // Whoever waits looks afterwards, whatever ended it.
        poll(&mut event, timeout.as_ref()).ok();
        !event.iter().any(|it| it.revents().contains(PollFlags::HUP))
    }

    /// Hands over what was written down since the last time, in its order.
    pub fn drain(&mut self, mut each: impl FnMut(Returned)) {
        let head = self.ring.head();
        let mut bytes = [0; ring::LONGEST];
        while let Some(size) = self.ring.peek(head, &mut bytes) {
            if let Some(it) = returned(bytes.get(..size).unwrap_or(&bytes)) {
                each(it);
            }
            self.ring.skip(size);
        }
        self.ring.release();
    }
}

/// The event of the `kprobe` PMU that happens when a function returns.
fn probe(source: &dyn Source, function: &str) -> Fact<Counter> {
    let number = |text: &str| {
        let number = parse::number(text)?;
        u32::try_from(number).map_err(|_| Expected("a number of 32 bits"))
    };
    let type_id = source.parsed(&format!("{FOLDER}/type"), number)?;
    let bit = |text: &str| {
        let bit = parse::line(text)?.strip_prefix("config:").and_then(|it| it.parse::<u32>().ok());
        bit.filter(|it| *it < u64::BITS).ok_or(Expected("a bit of config, like config:0"))
    };
    let bit = source.parsed(&format!("{FOLDER}/format/retprobe"), bit)?;
    let config = Config([1 << bit, 0, 0]);
    Ok(Counter { config, ..Counter::plain(format!("kprobe/{function}/"), type_id, 0) })
}

fn missing(what: String, error: Errno) -> Missing {
    match error {
        Errno::ACCESS | Errno::PERM => Missing::denied(what),
        Errno::NOENT => Missing::absent(format!("{what}: a function of that name in this kernel")),
        error => Missing { what, why: Why::Failed(std::io::Error::from(error).to_string()) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;

    fn probed(text: &str) -> Fact<Counter> {
        probe(&Captured::excerpt(text).unwrap(), "kcs_event")
    }

    #[test]
    fn a_probe_of_returns_is_a_bit_of_its_pmu() {
        let text = format!("//- {FOLDER}/type\n8\n//- {FOLDER}/format/retprobe\nconfig:0\n");
        let probe = probed(&text).unwrap();
        assert_eq!((probe.name.as_str(), probe.type_id), ("kprobe/kcs_event/", 8));
        assert_eq!(probe.config.0, [1, 0, 0]);
    }

    #[test]
    fn a_kernel_without_probes_has_none_and_nonsense_is_told() {
        assert!(probed("").unwrap_err().is_absence());
        let text = format!("//- {FOLDER}/type\n8\n//- {FOLDER}/format/retprobe\nconfig:99\n");
        assert!(probed(&text).unwrap_err().to_string().contains("a bit of config"));
    }
}
