//! What the client and the server of a test of the wire tell each other: one JSON object a line, in both directions.
//!
//! ```text
//!   client                                  server
//!   hello: protocol, token          ->
//!                                   <-      hello                  or refused: why
//!   prepare: task                   ->
//!                                   <-      ready: session         or refused: why
//!   and on each stream:
//!     join: session                 ->
//!                                   <-      joined                 or refused: why
//!   measure: part                   ->
//!     data, both ways, until the receiver has all of it; over RDMA there are no streams, but
//!                                   <-      listening: port        of perftest's program, or failed: why
//!                                   <-      measured: report       or failed: why
//!   ... more of them ...
//!   judge                           ->
//!                                   <-      judged: where the time of the server's CPUs went, and what slows them
//! ```
//!
//! Both kinds of connection come to the same port, so that one hole in a firewall is enough. Where the control connection
//! ends, the session does. Nothing is encrypted: the token says who may let data flow, and the data mean nothing.

use super::figures::{Throughput, Work};
use super::ledger::Ledger;
use super::placement::Placement;
use super::{LONGEST, MOST_ITERATIONS, MOST_STREAMS, sizes};
use crate::known::Known;
use crate::lines::Protocol;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The protocol of a test. The longest line is a report of all streams.
pub const PROTOCOL: Protocol = Protocol { of: "tests of the wire", version: 2, longest: 256 << 10 };

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Order {
    /// Make ready.
    Prepare(Task),
    /// Measure one message size.
    Measure(Part),
    /// Judge the CPUs that worked.
    Judge {
        /// A list, as the kernel writes it.
        cpus: String,
    },
}

/// A message from a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum News {
    /// The server refuses.
    Refused {
        /// In words.
        why: String,
    },
    /// Streams may come.
    Ready {
        /// What they have to name.
        session: String,
        /// The version of its perftest, where that carries the data.
        perftest: Option<String>,
    },
    /// The server's program of perftest waits for the client's, or is about to.
    Listening {
        /// A TCP port.
        port: u16,
    },
    /// A message size is over.
    Measured(Report),
    /// It could not be measured.
    Failed {
        /// In words.
        why: String,
    },
    /// The judgement of the server's CPUs.
    Judged(Box<Judgement>),
}

/// What is carried by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Connections of the kernel's TCP.
    Tcp,
    /// RDMA, by the programs of perftest.
    Rdma,
}

/// The operation that a network test measures, as perftest names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// The client sends, the server counts what arrives.
    WriteBw,
    /// The server sends, the client counts what arrives.
    ReadBw,
    /// The client sends into memory that the server names for each message. RDMA only: over TCP every message is received so.
    SendBw,
    /// A message there and one of the same size back, in turn; half of the time is the latency.
    Latency,
}

/// What a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// How the data is carried: TCP or RDMA.
    pub transport: Transport,
    /// Which operation is measured.
    pub test: Test,
    /// How many connections carry data.
    pub streams: u32,
}

/// One message size of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The size, in bytes.
    pub bytes: u64,
    /// How much of it.
    pub amount: Amount,
    /// Whether the sender does not copy it.
    pub zero_copy: bool,
}

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Amount {
    /// This number of messages over each stream.
    Iterations(u64),
    /// A time, in nanoseconds.
    Time(u64),
}

/// What the server says of one message size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// What arrived, where the server receives.
    pub moved: Option<Throughput>,
    /// What each of its threads did.
    pub work: Vec<Work>,
}

/// The judgement of one end about its own CPUs and adapter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// What its CPUs should run at.
    pub clocks: Clocks,
    /// Where their time went.
    pub ledger: Known<Ledger>,
    /// Where its adapter is, compared with them.
    pub place: Placement,
}

/// What the CPUs of one end should run at, and what keeps them from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// Their nominal clock, in hertz.
    pub nominal_hz: Known<f64>,
    /// What an audit finds.
    pub slowing: Vec<Slowing>,
}

/// A finding of an audit that slows CPUs which worked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slowing {
    /// The id of the check.
    pub check: String,
    /// What was found.
    pub message: String,
    /// Commands that fix it until the next boot.
    pub fix: Vec<String>,
}

impl Test {
    /// Perftest's word, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Test::WriteBw => "write-bw",
            Test::ReadBw => "read-bw",
            Test::SendBw => "send-bw",
            Test::Latency => "latency",
        }
    }
}

impl Task {
    /// Whether one end does nothing but send, over connections of our own.
    pub fn sends_streams(&self) -> bool {
        self.transport == Transport::Tcp && self.test != Test::Latency
    }

    /// Why a server does not do it; `None` where it does.
    pub fn refusal(&self) -> Option<String> {
        if self.transport == Transport::Tcp && self.test == Test::SendBw {
            return Some("over TCP, write-bw is what send-bw is over RDMA: every message is received by a program".to_owned());
        }
        if self.transport == Transport::Rdma && self.test == Test::Latency && self.streams != 1 {
            return Some(
                "perftest measures latency over one connection: leave out --streams".to_owned(),
            );
        }
        let are_possible = (1..=MOST_STREAMS).contains(&self.streams);
        (!are_possible).then(|| format!("{} streams: from 1 to {MOST_STREAMS} are", self.streams))
    }
}

impl Part {
    /// Why a server does not do it; `None` where it does.
    pub fn refusal(&self) -> Option<String> {
        if let Err(why) = sizes(&self.bytes.to_string()) {
            return Some(why);
        }
        match self.amount {
            Amount::Iterations(1..=MOST_ITERATIONS) => None,
            Amount::Iterations(n) => {
                Some(format!("{n} messages of a size: from 1 to {MOST_ITERATIONS} are possible"))
            }
            Amount::Time(ns) => {
                let is_possible = ns > 0 && Duration::from_nanos(ns) <= LONGEST;
                let why = || format!("{ns} ns for a size: at most {} s are", LONGEST.as_secs());
                (!is_possible).then(why)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cause, Entry, NicLocality, Taken};
    use super::*;
    use crate::lines::send;
    use std::io::Cursor;

    #[test]
    fn what_is_said_is_what_is_heard() {
        let work = Work {
            cpu_ns: 5,
            elapsed_ns: 7,
            cpu: 3,
            cpus: "1,3".to_owned(),
            clock_hz: Known::Value(2.5e9),
        };
        let moved = Throughput { bytes: 64, elapsed_ns: 9, peak: facts::BytesPerSecond(7) };
        let slowing = Slowing {
            check: "slow-governor".to_owned(),
            message: "the governor is powersave".to_owned(),
            fix: vec!["cpupower frequency-set -g performance".to_owned()],
        };
        let idle = Entry {
            loss: "idle".to_owned(),
            part: String::new(),
            share: Known::Value(0.5),
            uncertainty: 0.25,
            method: "counter".to_owned(),
            causes: vec![Cause { check: "slow-governor".to_owned(), fix: None }],
        };
        let ledger = Ledger {
            cpus: "1,3".to_owned(),
            wall_ns: 7,
            lines: vec![idle],
            unexplained: 0.5,
            notes: vec!["a note".to_owned()],
        };
        let locality = NicLocality {
            address: "0000:05:00.0".to_owned(),
            node: Known::Value(1),
            near: Known::Value("2-3".to_owned()),
            n_nodes: Known::Value(2),
            serving: Known::missing("denied"),
            interrupted: Known::Value(vec![Taken { cpu: 2, count: 7 }]),
        };
        let place = Placement {
            device: Known::Value("eth0".to_owned()),
            adapter: Known::Value(locality),
            worked: "0-1".to_owned(),
            incoming: "2".to_owned(),
        };
        let said = [
            News::Listening { port: 18_515 },
            News::Measured(Report { moved: Some(moved), work: vec![work] }),
            News::Judged(Box::new(Judgement {
                clocks: Clocks { nominal_hz: Known::Value(2.5e9), slowing: vec![slowing] },
                ledger: Known::Value(ledger),
                place,
            })),
        ];
        let mut lines = Vec::new();
        said.iter().for_each(|it| send(&mut lines, it).unwrap());
        let mut from = Cursor::new(lines);
        let heard: Vec<News> =
            std::iter::from_fn(|| PROTOCOL.receive(&mut from).unwrap()).collect();
        assert_eq!(heard, said);
    }

    #[test]
    fn what_would_take_too_much_is_refused() {
        let part = |bytes, amount| Part { bytes, amount, zero_copy: false }.refusal();
        assert_eq!(part(64, Amount::Iterations(1000)), None);
        assert_eq!(part(8 << 20, Amount::Time(1_000_000_000)), None);
        for (bytes, amount) in [
            (0, Amount::Iterations(1)),
            (16 << 20, Amount::Iterations(1)),
            (64, Amount::Iterations(0)),
            (64, Amount::Iterations(u64::MAX)),
            (64, Amount::Time(0)),
            (64, Amount::Time(u64::MAX)),
        ] {
            assert!(part(bytes, amount).is_some(), "{bytes} {amount:?}");
        }
        let task =
            |streams| Task { transport: Transport::Tcp, test: Test::Latency, streams }.refusal();
        assert!(task(0).is_some() && task(65).is_some() && task(64).is_none());
        let over = |transport, test, streams| Task { transport, test, streams }.refusal();
        assert!(over(Transport::Tcp, Test::SendBw, 1).unwrap().contains("write-bw"));
        assert!(over(Transport::Rdma, Test::Latency, 2).unwrap().contains("--streams"));
        assert_eq!(over(Transport::Rdma, Test::SendBw, 2), None);
    }
}
