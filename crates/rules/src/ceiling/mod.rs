//! The most that a network link can carry, and which part of it is the narrowest: the wire, or the slot that the adapter
//! sits in.
//!
//! Each part has what it signals, what its line code leaves of that, and what the headers of its packets leave of
//! that. It cannot know what the other end, the switches between and the memory can do: all of them are taken for no
//! narrower. Where something had to be assumed, the part says so.

mod adapters;
mod links;
mod need;
mod slot;
mod wires;

pub use adapters::{Ceilings, Given, Named, ceilings, slot_of};
pub use links::{infiniband, roce, tcp};
pub use need::{Need, need};
pub use slot::{Largest, slot};
pub use wires::{Wire, Wires, wires};

use facts::{BitsPerSecond, Bytes, BytesPerSecond, Fact};

/// What one device's link can carry at most.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// The wire, and what is spoken over it.
    pub wire: Fact<Part>,
    /// The slot of the adapter.
    pub slot: Fact<Part>,
}

/// One part of the way between memory and the other host.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// `4X QDR`, `PCIe 2.0 x8`.
    pub name: String,
    /// What it signals.
    pub signal: BitsPerSecond,
    /// What bits of data become on the wire.
    pub code: LineCode,
    /// What the line code leaves.
    pub data: BytesPerSecond,
    /// How data is packed.
    pub packet: Packet,
    /// What headers leave in one direction, while the other one is quiet.
    pub one_way: BytesPerSecond,
    /// What is left in each direction, while both are as busy as they can be.
    pub both_ways: BytesPerSecond,
    /// What was not read but taken for granted.
    pub assumptions: Vec<String>,
}

/// So many bits of data in so many on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCode {
    /// `8b/10b`.
    pub name: &'static str,
    /// Bits of data ...
    pub data: u64,
    /// ... in how many on the wire.
    pub sent: u64,
}

/// One packet that is as full as it can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The data in it.
    pub payload: Bytes,
    /// Everything else of it, also what keeps it apart from the next.
    pub overhead: Bytes,
    /// What that is: `LRH 8, BTH 12, ICRC 4, VCRC 2`.
    pub headers: String,
}

/// Which way data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// One way.
    One,
    /// Both at once; what counts is their sum.
    Both,
}

impl Ceiling {
    /// The narrowest part that is known.
    pub fn narrowest(&self, direction: Direction) -> Option<&Part> {
        let parts = [&self.wire, &self.slot];
        parts.into_iter().flatten().min_by_key(|it| it.carries(direction))
    }

    /// The other part, where both are known.
    pub fn widest(&self, direction: Direction) -> Option<&Part> {
        let (wire, slot) = (self.wire.as_ref().ok()?, self.slot.as_ref().ok()?);
        let narrowest = self.narrowest(direction)?;
        Some(if narrowest == wire { slot } else { wire })
    }
}

impl Part {
    fn new(name: String, signal: BitsPerSecond, code: LineCode, packet: Packet) -> Part {
        let data = signal.bytes().scaled(code.data, code.sent);
        let one_way = packet.leaves(data);
        let assumptions = Vec::new();
        Part { name, signal, code, data, packet, one_way, both_ways: one_way, assumptions }
    }

    #[must_use]
    fn assuming(mut self, assumption: impl Into<String>) -> Part {
        self.assumptions.push(assumption.into());
        self
    }

    /// What it can carry: in one direction, or in both together.
    pub fn carries(&self, direction: Direction) -> BytesPerSecond {
        match direction {
            Direction::One => self.one_way,
            Direction::Both => self.both_ways.scaled(2, 1),
        }
    }
}

impl LineCode {
    /// Data goes out as it is.
    const NONE: LineCode = LineCode { name: "no line code", data: 1, sent: 1 };
}

impl Packet {
    /// Headers by name and length.
    fn new(payload: Bytes, headers: &[(&str, u64)]) -> Packet {
        let named: Vec<String> =
            headers.iter().map(|(name, length)| format!("{name} {length}")).collect();
        let overhead = headers.iter().map(|(_, length)| length).sum();
        Packet { payload, overhead: Bytes(overhead), headers: named.join(", ") }
    }

    /// What packets leave of `data`.
    fn leaves(&self, data: BytesPerSecond) -> BytesPerSecond {
        data.scaled(self.payload.0, self.payload.0.saturating_add(self.overhead.0))
    }
}
