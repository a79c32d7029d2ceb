//! How the kernel talks to the BMC: its interfaces, and the threads that poll them.
//!
//! Sources: drivers/char/ipmi/ipmi_si_intf.c (attributes `type`, `interrupts_enabled`, `params`, and the module's
//! parameters), Documentation/driver-api/ipmi.rst. The attributes exist since Linux 4.16; older kernels show
//! only the threads.

use crate::parse::{Expected, trimmed};
use crate::system::process::Process;
use crate::{Fact, Missing};
use std::time::Duration;

/// The `ipmi_si` driver: system interfaces to a BMC.
#[derive(Clone, Debug, PartialEq)]
pub struct Ipmi {
    /// Every interface the driver drives; absent where it drives none.
    pub interfaces: Fact<Vec<Interface>>,
    /// The kernel threads kipmi0, kipmi1 ...
    pub threads: Fact<Vec<PollingThread>>,
    /// `kipmid_max_busy_us` by interface; an interface that is not listed has 0, which is no limit.
    pub max_busy_us: Fact<Vec<u64>>,
}

/// A system interface between the host and its controller.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Its folder: `/sys/bus/platform/drivers/ipmi_si/IPI0001:00`.
    pub folder: String,
    /// `kcs`, `smic` or `bt`.
    pub kind: Fact<String>,
    /// Whether it has an interrupt and the driver uses it.
    pub interrupts_enabled: Fact<bool>,
    /// Address, register layout and interrupt number: `kcs,i/o,0xca2,rsp=1,rsi=1,rsh=0,irq=0,ipmb=32`.
    pub params: Fact<String>,
}

/// A thread that polls one interface.
#[derive(Clone, Debug, PartialEq)]
pub struct PollingThread {
    /// Its process number.
    pub pid: u32,
    /// The N of kipmiN, which is the interface's number.
    pub interface: usize,
    /// When it started, as time since boot.
    pub started: Fact<Duration>,
    /// How long it has run on a CPU.
    pub run_time: Fact<Duration>,
    /// Why `schedstat` does not say it: then it is the ticks that came while it ran, of `stat`, and it may have run longer.
    pub only_ticks: Option<Missing>,
}

impl Ipmi {
    /// Where the driver keeps the limit of busy waiting.
    pub const MAX_BUSY_US: &str = "/sys/module/ipmi_si/parameters/kipmid_max_busy_us";

    /// The limit of busy waiting on one interface, in microseconds; 0 is no limit.
    pub fn max_busy_us(&self, interface: usize) -> Result<u64, &Missing> {
        Ok(self.max_busy_us.as_ref()?.get(interface).copied().unwrap_or(0))
    }
}

impl Interface {
    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }

    /// Whether the driver must ask again and again until the BMC has answered, on a CPU. BT interfaces
    /// without an interrupt are asked from a timer.
    pub fn is_polled(&self) -> Result<bool, &Missing> {
        Ok(!*self.interrupts_enabled.as_ref()? && self.kind.as_ref()? != "bt")
    }
}

impl PollingThread {
    /// Its share of one CPU since it started, given the time since boot.
    pub fn share(&self, uptime: Duration) -> Result<f64, Missing> {
        let (started, run_time) = (*self.started.as_ref()?, *self.run_time.as_ref()?);
        let age = uptime.saturating_sub(started).as_secs_f64();
        if age <= 0.0 {
            let what = format!("/proc/{}/stat: start", self.pid);
            return Err(Missing::malformed(what, &format!("{started:?}"), "a time since boot"));
        }
        Ok(run_time.as_secs_f64() / age)
    }
}

/// Which interface a process polls, where it is one of the driver's threads.
pub fn polled_interface(process: &Process) -> Option<usize> {
    let number = process.name.strip_prefix("kipmi")?;
    number.parse().ok().filter(|_| process.is_kernel_thread)
}

/// Parses an array parameter of a module: numbers with commas, or nothing where none was given
/// (`param_array_get` in kernel/params.c).
pub fn numbers(text: &str) -> Result<Vec<u64>, Expected> {
    let numbers = trimmed(text).split(',').filter(|it| !it.is_empty()).map(str::parse);
    numbers.collect::<Result<_, _>>().map_err(|_| Expected("numbers with commas between them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_that_was_never_given_is_an_empty_list() {
        assert_eq!(numbers("\n"), Ok(vec![]));
        assert_eq!(numbers("100,0\n"), Ok(vec![100, 0]));
        assert!(numbers("100;0").is_err());
    }

    #[test]
    fn only_kernel_threads_of_that_name_poll() {
        let thread = |flags: u32| {
            let stat = format!("9 (kipmi1) S 2 0 0 0 -1 {flags} 0 0 0");
            polled_interface(&Process::parse(&stat).unwrap())
        };
        assert_eq!((thread(2_129_984), thread(0)), (Some(1), None));
    }

    #[test]
    fn a_thread_that_starts_in_the_future_has_no_share() {
        let thread = PollingThread {
            pid: 9,
            interface: 0,
            started: Ok(Duration::from_secs(10)),
            run_time: Ok(Duration::from_secs(5)),
            only_ticks: None,
        };
        assert_eq!(thread.share(Duration::from_secs(20)), Ok(0.5));
        assert!(thread.share(Duration::from_secs(10)).is_err());
    }
}
