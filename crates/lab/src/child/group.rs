//! The process group of a command, which ends with this program, however that ends.
//!
//! A keeper leads the group: sh(1) waits for the other end of a pipe to be closed, and then kills the group that it is in. The
//! kernel closes that end when this program is gone, also by SIGKILL, so that no later start has to find out whose a
//! process was. As long as nobody has waited for the keeper, the group's number is no other's (kill(2), credentials(7)).
//! The keeper sleeps meanwhile, and one keeper serves all trials.
//!
//! What leaves the group is not followed: a server that makes itself a session of its own (setsid(2)) goes on, and so does
//! timeout(1), which makes itself a group. Of these only the command itself is stopped, and not where this program is killed.
#![expect(clippy::disallowed_methods, reason = "runs what ends the user's command")]

use crate::failure::Failure;
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A process group that is empty but for its keeper. Dropping it kills everything in it.
pub(crate) struct Group {
    keeper: Child,
}

/// It outlives the signals by which its group is asked to end. `read` ends at the end of the pipe; all of this is built
/// in, so that nothing has to be started in the end.
const KEEP: &str = "trap '' HUP INT QUIT TERM; read -r line; kill -KILL 0";

impl Group {
    pub(crate) fn new() -> Result<Group, Failure> {
        let mut keeper = Command::new("/bin/sh");
        keeper.args(["-c", KEEP]).process_group(0);
        keeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let why = "cannot run /bin/sh, which ends the command where fullclock is killed";
        Ok(Group { keeper: keeper.spawn().map_err(Failure::system(why))? })
    }

    /// Its number, which stays its own until this is dropped.
    pub(crate) fn number(&self) -> Pid {
        Pid::from_child(&self.keeper)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The keeper has not been waited for, so that the group exists.
        let _refused = kill_process_group(self.number(), Signal::KILL).is_err();
        let _status = self.keeper.wait().is_ok();
    }
}
