//! Listens to what the driver's state machine returns to the thread that polls, while questions are asked.
//!
//! Each look of the thread takes a little longer meanwhile. Where nobody may probe the kernel, or another interface than the
//! thread's would be heard, there is a reason in its place.

use super::polling::Polling;
use super::waits::{Seen, Waits, state_machine};
use facts::HostView;
use facts::system::ipmi::Interface;
use host::Source;
use host::perf::Returns;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the recorded looks are read, unless their buffer fills before: the longest delay of the last one.
const EVERY: Duration = Duration::from_millis(20);

/// Open probes on the driver, which record what its thread finds.
#[derive(Debug)]
pub struct Listener {
    returns: Returns,
}

impl Listener {
    /// Begins to listen.
    ///
    /// Errors: why nothing can be heard, in words.
    pub fn open(
        host: &HostView,
        polling: &Polling,
        source: &dyn Source,
    ) -> Result<Listener, String> {
        let task = polling.task()?;
        let interfaces = host.ipmi.interfaces.as_ref().map_err(ToString::to_string)?;
        let function = function(interfaces)?;
        let returns = Returns::open(source, function, task).map_err(|why| why.advice())?;
        Ok(Listener { returns })
    }

    /// Does `work`, and returns what was heard during it, or why nothing was.
    pub fn during<T>(self, work: impl FnOnce() -> T) -> (T, Result<Waits, String>) {
        let Listener { mut returns } = self;
        let is_over = AtomicBool::new(false);
        let is_over = &is_over;
        std::thread::scope(|scope| {
            let listen = move || {
                let mut seen = Seen::default();
                let mut is_alive = true;
                while is_alive && !is_over.load(Ordering::Acquire) {
                    is_alive = returns.wait(EVERY);
                    returns.drain(|it| seen.add(it));
                }
                returns.drain(|it| seen.add(it));
                seen.waits
            };
            let listening = crate::threads::start(scope, "listener", listen);
            let done = {
                let _over = Over(is_over);
                work()
            };
            let heard = match listening {
                Ok(thread) => thread.join().map_err(|_| "the listener broke".to_owned()),
                Err(why) => Err(why.to_string()),
            };
            (done, heard)
        })
    }
}

/// Ends the listening, also where the work panics: the scope waits for all its threads.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The state machine that the thread asks: that of the only polled interface, or of several of one kind.
fn function(interfaces: &[Interface]) -> Result<&'static str, String> {
    let polled = interfaces.iter().filter(|it| it.is_polled() == Ok(true));
    let mut kinds: Vec<&str> = polled.filter_map(|it| it.kind.as_deref().ok()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    match &kinds[..] {
        [kind] => state_machine(kind).ok_or_else(|| format!("an interface of the kind {kind:?}")),
        [] => Err("no interface is known to be polled".to_owned()),
        _ => Err(format!("interfaces of several kinds are polled: {}", kinds.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(kind: &str, interrupts: bool) -> Interface {
        Interface {
            folder: "/sys/bus/platform/drivers/ipmi_si/IPI0001:00".to_owned(),
            kind: Ok(kind.to_owned()),
            interrupts_enabled: Ok(interrupts),
            params: Ok("kcs,i/o,0xca2".to_owned()),
        }
    }

    #[test]
    fn the_machine_of_what_is_polled_is_listened_to() {
        assert_eq!(function(&[interface("kcs", false), interface("bt", false)]), Ok("kcs_event"));
        assert_eq!(function(&[interface("smic", false), interface("kcs", true)]), Ok("smic_event"));
    }

    #[test]
    fn where_it_is_not_known_which_one_polls_nothing_is_heard() {
        let told = |interfaces: &[Interface]| function(interfaces).unwrap_err();
        assert!(told(&[interface("kcs", true)]).contains("no interface"));
        assert!(told(&[interface("kcs", false), interface("smic", false)]).contains("kcs, smic"));
        assert!(told(&[interface("ssif", false)]).contains("\"ssif\""));
    }
}
