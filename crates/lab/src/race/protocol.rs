//! What a race and the agent of a node tell each other: one JSON object a line, in both directions.
//!
//! ```text
//!   race                                agent
//!   hello: protocol, token      ->
//!                               <-      hello               or refused: why
//!   time                        ->
//!                               <-      time                some times
//!   prepare: task               ->
//!                               <-      ready: machine      or failed: why
//!   begin: moment               ->
//!                               <-      interval, recorded, one after the other
//!   kept: up to which           ->
//!   end                         ->
//!                               <-      ended               or failed: why
//! ```
//!
//! A race asks for the time every other second, also later, so that each side knows that the other is there. Where the
//! connection was lost, a race says hello again, and `resume` in place of `prepare`: the agent sends what was not heard, or
//! refuses where it knows no such race. On what is no line of this protocol the connection ends.

use crate::lines::Protocol;
use crate::record::Fingerprint;
use crate::trial::Trial;
use crate::workload::Settings;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The protocol of a race. A trial's ledger and metrics take some tens of kilobytes.
pub const PROTOCOL: Protocol = Protocol { of: "a race", version: 3, longest: 4 << 20 };

/// What a node does in a race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The race's id.
    pub race: String,
    /// What is asked of `commit`.
    pub settings: Settings,
    /// The least length of a trial: it ends with a commit, and a server reports its counts only at the end of a batch.
    pub interval: Duration,
    /// Whether the agent records its machine during the race.
    pub is_recorded: bool,
}

/// A message from a race to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Order {
    /// What does your clock say?
    Time,
    /// Make ready.
    Prepare(Box<Task>),
    /// Go on with a race that was begun.
    Resume {
        /// The race's id.
        race: String,
        /// The number of the last interval that is kept.
        after: u32,
        /// How many bytes of the recording are.
        recorded: u64,
    },
    /// Begin.
    Begin {
        /// At this moment of the agent's CLOCK_MONOTONIC_RAW, in nanoseconds.
        at_ns: u64,
    },
    /// Intervals up to this number are kept, and need not be remembered.
    Kept {
        /// Counted from 1.
        up_to: u32,
    },
    /// The race is over.
    End,
}

/// A message from an agent to a race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum News {
    /// The agent refuses.
    Refused {
        /// In words.
        why: String,
    },
    /// What the clock says.
    Time {
        /// CLOCK_MONOTONIC_RAW, in nanoseconds.
        ns: u64,
    },
    /// The engine may be started.
    Ready(Ready),
    /// An interval is over. Its trial is of no arm and no block yet.
    Interval(Box<Trial>),
    /// The recording of the node's machine has grown. None of it is sent before the race begins.
    Recorded {
        /// How long it was.
        at: u64,
        /// What has come, in base64 (RFC 4648, section 4).
        bytes: String,
    },
    /// The engine has stopped, and every commit was in its log.
    Ended,
    /// It could not be made ready, or ended too early.
    Failed {
        /// In words.
        why: String,
    },
}

/// An engine that may be started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// The machine that the node runs on.
    pub machine: Fingerprint,
    /// Which host that is: the beginning of /proc/sys/kernel/random/boot_id.
    pub host: String,
    /// The folder that it writes to, where that is in memory.
    pub in_memory: Option<String>,
    /// What it says of itself.
    pub about: Vec<(String, String)>,
    /// The CPUs that it is kept on, as the kernel writes lists.
    pub cpus: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Known;
    use crate::lines::send;
    use std::io::Cursor;

    fn received(text: &[u8]) -> Result<Option<Order>, String> {
        PROTOCOL.receive(&mut Cursor::new(text)).map_err(|it| it.to_string())
    }

    #[test]
    fn what_is_said_is_what_is_heard() {
        let trial = Trial::failed(0, 1, Known::Value(7), &crate::failure::Failure::Stopped);
        let said = [News::Ended, News::Interval(Box::new(trial)), News::Time { ns: u64::MAX }];
        let mut line = Vec::new();
        said.iter().for_each(|it| send(&mut line, it).unwrap());
        let mut from = Cursor::new(line);
        let heard: Vec<News> =
            std::iter::from_fn(|| PROTOCOL.receive(&mut from).unwrap()).collect();
        assert_eq!(heard, said);
    }

    #[test]
    fn what_is_no_order_is_refused() {
        assert_eq!(received(b"\"time\"\n"), Ok(Some(Order::Time)));
        for text in ["{\"dance\":{}}\n", "\"time\"", "{\"kept\":{\"up_to\":-1}}\n"] {
            let refused = received(text.as_bytes()).unwrap_err();
            assert!(refused.contains("protocol of a race"), "{text}: {refused}");
        }
    }
}
