//! Questions to a management controller (BMC), and the CPU time that waiting for its answers takes.
//!
//! An open device makes the kernel watch the controller, and a question costs CPU time where answers are polled for. So nothing
//! here runs unless the user named it: the workload `ipmi-roundtrip`, the commands `fullclock ipmi`.

mod asker;
mod forecast;
mod listener;
mod polling;
mod polling_loop;
pub mod power;
pub mod sensors;
mod waits;

pub use asker::Asker;
pub use forecast::{Forecast, Foretold, Heard, Model};
pub use listener::Listener;
pub use polling::{Polling, tick};
pub use polling_loop::{Limit, PollingLoop, Taken};
pub use waits::{Question, Waits};

use crate::failure::Failure;
use facts::HostView;
use host::ipmi::{Controller, Failure as Why};
use std::path::Path;
use std::time::Duration;

/// The name of the workload in errors.
pub(crate) const ID: &str = "ipmi-roundtrip";

/// How long each round trip took, in nanoseconds.
#[derive(Debug, Default, PartialEq)]
pub struct Times {
    /// Those of Get Device ID.
    pub device_id: Vec<u64>,
    /// Those of one sensor record each; empty where there are none.
    pub record: Vec<u64>,
}

/// Opens the controller of this machine.
///
/// Errors: there is none, with what to do about it, as far as `host` shows.
pub fn open(host: &HostView) -> Result<Controller, Failure> {
    Controller::open(Path::new("/")).map_err(|why| unready(&why, host))
}

/// Why it could not be opened, with what the host says about that.
fn unready(why: &Why, host: &HostView) -> Failure {
    let text = match why {
        Why::NoDevice { .. } => format!("{why}; {}", what_to_do(host)),
        _ => why.to_string(),
    };
    Failure::Unready(text)
}

fn what_to_do(host: &HostView) -> String {
    if host.ipmi.interfaces.is_ok() {
        let text = "ipmi_si drives an interface, and what makes a device of it is not loaded: `modprobe ipmi_devintf`";
        return text.to_owned();
    }
    let load = "load the drivers with `modprobe -a ipmi_si ipmi_devintf` (ipmi_ssif where the controller is on the SMBus)";
    let why_none = if let Ok(Some(hypervisor)) = &host.platform.hypervisor {
        format!(
            "this is a guest of {hypervisor}, which seldom has a controller: run it on the host under it"
        )
    } else if let Ok(Some(container)) = &host.platform.container {
        format!("this is a container ({container}): run it on the host, or pass the device through")
    } else {
        "where that makes none, the machine has no controller, or its firmware does not announce one \
         (`dmidecode -t 38`)"
            .to_owned()
    };
    format!("{load}; {why_none}")
}

/// What was asked, and under which conditions.
pub struct Latency {
    /// What the figures depend on: names and words.
    pub about: Vec<(String, String)>,
    /// In the order in which they came about; each has a round trip at least.
    pub conditions: Vec<Condition>,
}

/// Round trips under one load.
pub struct Condition {
    /// Whether every CPU was kept busy during the questions.
    pub is_loaded: bool,
    /// How long the round trips took.
    pub times: Times,
    /// What the thread that polls was accounted; `None` where there is none, or where this is unknown.
    pub polled: Option<Duration>,
    /// How long all of them took.
    pub elapsed: Duration,
    /// How long the interface let the thread wait, byte by byte; or why nobody could see.
    pub waits: Result<Waits, String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::Missing;

    fn text(change: impl FnOnce(&mut HostView)) -> String {
        let mut host = host::view(&host::Live::this_machine());
        host.ipmi.interfaces = Err(Missing::absent("/sys/bus/platform/drivers/ipmi_si"));
        host.platform.hypervisor = Ok(None);
        host.platform.container = Ok(None);
        change(&mut host);
        unready(&Why::NoDevice { tried: "/dev/ipmi0".to_owned() }, &host).to_string()
    }

    #[test]
    fn whoever_has_no_device_learns_which_drivers_make_one() {
        let text = text(|_| ());
        let begins =
            "none of /dev/ipmi0 exists; load the drivers with `modprobe -a ipmi_si ipmi_devintf`";
        assert!(text.starts_with(begins) && text.contains("dmidecode -t 38"), "{text}");
    }

    #[test]
    fn a_driver_that_is_there_lacks_only_its_device() {
        let text = text(|host| host.ipmi.interfaces = Ok(Vec::new()));
        assert!(text.ends_with("not loaded: `modprobe ipmi_devintf`"), "{text}");
    }

    #[test]
    fn a_guest_and_a_container_are_called_so() {
        let guest = text(|host| host.platform.hypervisor = Ok(Some("KVM".to_owned())));
        assert!(guest.contains("a guest of KVM"), "{guest}");
        let container = text(|host| host.platform.container = Ok(Some("docker".to_owned())));
        assert!(container.contains("a container (docker)"), "{container}");
    }
}
