//! The other side of a race or of a network test: a program of ours on another machine, or on this one.
//!
//! ```text
//!   who connects                        who listens
//!   hello: protocol, token      ->                        within HANDSHAKE, in a short line
//!                               <-      hello             or refused: why
//!   orders                      ->
//!                               <-      news              each of one JSON object a line
//! ```
//!
//! Each protocol adds its messages: `lab::race::protocol` and `lab::net::protocol`. A [`Listener`] lets in who knows its token and
//! speaks its version, a [`Slot`] serves one client at a time, and [`client`] connects, says hello, and tries again.

pub(crate) mod client;
mod listener;
mod slot;

pub(crate) use listener::{Admitted, Connection, Listener};
pub(crate) use slot::{Lease, Slot};

use std::time::Duration;

/// How long who connects may take to say who it is.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long a connection may take to be there, and an answer that takes no work.
pub(crate) const ANSWER: Duration = Duration::from_secs(10);
