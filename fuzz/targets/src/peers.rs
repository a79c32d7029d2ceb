//! The other side of a race or of a network test: whatever bytes it sends, they are a message or the connection ends.

use lab::lines::{Greeting, Protocol, Welcome};
use lab::net::protocol as net;
use lab::race::protocol as race;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) fn run(bytes: &[u8]) {
    received::<race::Order>(&race::PROTOCOL, bytes);
    received::<race::News>(&race::PROTOCOL, bytes);
    received::<Greeting>(&net::PROTOCOL, bytes);
    received::<Welcome>(&net::PROTOCOL, bytes);
    received::<net::Order>(&net::PROTOCOL, bytes);
    received::<net::News>(&net::PROTOCOL, bytes);
}

/// Reads every line; what is a message is the same message after it was sent on.
fn received<T: DeserializeOwned + Serialize>(protocol: &Protocol, mut bytes: &[u8]) {
    while let Ok(Some(message)) = protocol.receive::<T>(&mut bytes) {
        let mut sent = Vec::new();
        lab::lines::send(&mut sent, &message).expect("memory takes every message");
        let again: Option<T> = protocol.receive(&mut &*sent).expect("our own message is one");
        assert!(again.is_some());
    }
}
