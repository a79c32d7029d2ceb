//! The firmware of the management controller, asked by a process of its own.
//!
//! Whoever reads it waits in the kernel until the controller has answered, without a limit of time and where no signal comes through
//! (drivers/char/ipmi/ipmi_msghandler.c, `__get_device_id`: `wait_event`). A process of which a thread waits there does not end.
#![expect(clippy::disallowed_methods, reason = "starts this program again")]

use crate::change::opened::program;
use facts::{Fact, Missing, Why};
use host::Live;
use host::counters::with_original_limit;
use host::process::thread_refusal;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;

/// How long the controller has to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The command of this program that asks.
const COMMAND: &str = "read-controller-firmware";

/// The version of the management controller's firmware: one question to it, through its driver. Returns after 2 s at the latest.
pub fn firmware() -> Fact<String> {
    host::bmc_device(&Live::this_machine())?;
    let program = program().map_err(|error| failed(&error.to_string()))?;
    let mut command = Command::new(program);
    command.arg(COMMAND).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    answered(
        with_original_limit(|| command.spawn()).map_err(|error| failed(&error.to_string()))?,
        PATIENCE,
    )
}

/// What the process of [`firmware`] prints, and whether that is an answer.
pub fn asked() -> (String, bool) {
    match host::bmc_firmware(&Live::this_machine()) {
        Ok(firmware) => (format!("{firmware}\n"), true),
        Err(missing) => (format!("{missing}\n"), false),
    }
}

fn failed(why: &str) -> Missing {
    Missing {
        what: "the firmware of the management controller".to_owned(),
        why: Why::Failed(why.to_owned()),
    }
}

/// What a process prints that answers in time. One that does not is left to itself: no signal would reach it.
fn answered(child: Child, patience: Duration) -> Fact<String> {
    let (sender, answer) = mpsc::channel();
    let wait = move || {
        // Whoever asked may be gone by now.
        sender.send(child.wait_with_output()).ok();
    };
    let started = Builder::new().name("controller".to_owned()).spawn(wait);
    started.map_err(|error| failed(&thread_refusal(&error)))?;
    let output = match answer.recv_timeout(patience) {
        Ok(output) => output.map_err(|error| failed(&error.to_string()))?,
        Err(_) => return Err(failed(&format!("no answer within {} s", patience.as_secs()))),
    };
    let said = String::from_utf8_lossy(&output.stdout);
    match said.trim_end() {
        "" => Err(failed("no answer")),
        said if output.status.success() && said.contains('\n') => Err(failed("no version")),
        said if output.status.success() => Ok(said.to_owned()),
        why => Err(failed(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn an_answer_is_what_is_printed_and_a_refusal_says_why() {
        let minute = Duration::from_secs(60);
        assert_eq!(answered(shell("echo 6.10"), minute), Ok("6.10".to_owned()));
        let refused = answered(shell("echo no permission; exit 1"), minute).unwrap_err();
        assert!(refused.to_string().contains("no permission"), "{refused}");
        assert!(!refused.is_absence() && answered(shell("exit 0"), minute).is_err());
    }

    #[test]
    fn what_does_not_answer_in_time_is_left_to_itself() {
        let mut child = shell("read word");
        // It ends with this test.
        let _input = child.stdin.take();
        let late = answered(child, Duration::ZERO).unwrap_err();
        assert!(late.to_string().contains("no answer within 0 s"), "{late}");
    }
}
