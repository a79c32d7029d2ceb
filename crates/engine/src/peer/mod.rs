//! Connections between two fullclock programs, on two machines or one: of a race and an agent, of a client and a server.
//!
//! ```text
//!   client                              listener
//!   hello: protocol, token      ->                        within HANDSHAKE, in a short line
//!                               <-      hello             or refused: why
//!   orders                      ->
//!                               <-      news              each of one JSON object a line
//! ```
//!
//! Each protocol adds its messages: `lab::race::protocol` and `lab::net::protocol`. A [`Listener`] admits clients that know its
//! token and speak its version, a [`Slot`] serves one client at a time, and [`client`] connects, says hello, and connects again.

pub(crate) mod client;
mod listener;
mod slot;

pub(crate) use listener::{Admitted, Connection, Listener};
pub(crate) use slot::{Lease, Slot};

use std::time::Duration;

/// How long a client may take to send its greeting.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long connecting may take, and an answer that takes no work.
pub(crate) const ANSWER: Duration = Duration::from_secs(10);
