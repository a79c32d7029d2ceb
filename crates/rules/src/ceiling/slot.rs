//! What a PCI Express slot can carry between an adapter and memory.
//!
//! Sources: PCI Express Base Specification 6.0, sections 2.2 (headers), 3.6 (sequence number, LCRC), 4.2 (framing,
//! flits); Xilinx WP350, "Understanding Performance of PCI Express Systems"; Intel AN 456 and AN 829: data / (data +
//! overhead), an overhead of 5 to 7 double words, DLLPs going the other way; PLX PEX 8532 data book, section 8.4.1.4,
//! for links that are busy both ways: an Ack and an UpdateFC for each packet.
//!
//! It cannot know how the chipset cuts what an adapter reads from memory (64 bytes at a time, some of them), how many
//! reads are under way, nor what a switch between shares.

use super::{LineCode, Packet, Part};
use facts::links::pcie::Speed;
use facts::{Bytes, BytesPerSecond};

/// MaxPayloadSize, and how it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Largest {
    /// Read from the adapter, or given.
    Known(Bytes),
    /// Not known: taken for what every device has after reset (Device Control, 7.5.3.4), the least there is.
    Assumed,
}

const LEAST: Bytes = Bytes(128);
/// What many servers set, to show what it would make of the result.
const USUAL: Bytes = Bytes(256);

/// A header of four double words: memory above 4 GiB is written with an address of 64 bits.
const HEADER: (&str, u64) = ("header", 16);
/// Before each packet a sign of its start and its number, behind it a checksum: STP 1, sequence 2, LCRC 4, END 1 with
/// 8b/10b; STP with the number 4, LCRC 4 with 128b/130b.
const FRAMING: (&str, u64) = ("framing and LCRC", 8);
/// An Ack and an UpdateFC, each a DLLP of 8 bytes with its framing.
const DLLPS: (&str, u64) = ("Ack and UpdateFC", 16);
/// Of the 256 bytes of a flit, 236 are for packets; the others hold what DLLPs, checksums and framing are elsewhere.
const FLIT: (u64, u64) = (236, 256);

/// What a slot of `speed` can carry.
pub fn slot(speed: Speed, largest: Largest) -> Part {
    let payload = match largest {
        Largest::Known(payload) => payload,
        Largest::Assumed => LEAST,
    };
    let part = with_payload(speed, payload);
    let part = match largest {
        Largest::Known(_) => part,
        Largest::Assumed => {
            let with_usual = with_payload(speed, USUAL).one_way;
            part.assuming(format!(
                "a MaxPayloadSize of {LEAST}, the least there is; with {USUAL} it would be {with_usual}"
            ))
        }
    };
    part.assuming(
        "data is written to memory above 4 GiB, in packets that are full; the adapter's reads of its queues and \
         its completions add to that",
    )
    .assuming(if is_flit(speed) {
        "flits, whose Acks and credits have bytes of their own"
    } else {
        "Acks and credits go against the data: one way they take nothing of it, and both ways an Ack and an UpdateFC for \
         each packet; SKP ordered sets are left out (less than 0.5 %)"
    })
}

fn with_payload(speed: Speed, payload: Bytes) -> Part {
    let name = format!("PCIe {} x{}", generation(speed.gigatransfers_10), speed.lanes);
    let (data, sent) = speed.line_code();
    if is_flit(speed) {
        let code = LineCode { name: "flits of 256 bytes", data: FLIT.0, sent: FLIT.1 };
        return Part::new(name, speed.signal(), code, Packet::new(payload, &[HEADER]));
    }
    let code = LineCode { name: if sent == 10 { "8b/10b" } else { "128b/130b" }, data, sent };
    let packet = Packet::new(payload, &[HEADER, FRAMING]);
    let part = Part::new(name, speed.signal(), code, packet);
    let both_ways: BytesPerSecond =
        Packet::new(payload, &[HEADER, FRAMING, DLLPS]).leaves(part.data);
    Part { both_ways, ..part }
}

fn is_flit(speed: Speed) -> bool {
    speed.line_code() == (1, 1)
}

/// Each generation has a speed of its own.
fn generation(gigatransfers_10: u32) -> &'static str {
    match gigatransfers_10 {
        ..=25 => "1.0",
        26..=50 => "2.0",
        51..=80 => "3.0",
        81..=160 => "4.0",
        161..=320 => "5.0",
        321..=640 => "6.0",
        _ => "7.0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(speed: &str, payload: u64) -> Part {
        slot(Speed::parse(speed).unwrap(), Largest::Known(Bytes(payload)))
    }

    #[test]
    fn eight_lanes_of_the_second_generation_carry_a_little_more_than_three_gigabytes() {
        let part = part("5 GT/s x8", 128);
        assert_eq!(
            (part.name.as_str(), part.signal.to_string()),
            ("PCIe 2.0 x8", "40 Gb/s".into())
        );
        assert_eq!((part.data.0, part.code.name), (4_000_000_000, "8b/10b"));
        // 128 of 152 bytes, and of 168.
        assert_eq!((part.one_way.0, part.both_ways.0), (3_368_421_052, 3_047_619_047));
    }

    #[test]
    fn larger_packets_carry_more() {
        let rates = [128, 256, 512].map(|payload| part("8 GT/s x16", payload).one_way.to_string());
        assert_eq!(rates, ["13.27 GB/s", "14.40 GB/s", "15.05 GB/s"]);
    }

    #[test]
    fn flits_pay_for_acks_and_checksums_once() {
        let part = part("64 GT/s x16", 256);
        assert_eq!(part.data.0, 118_000_000_000);
        assert_eq!(part.one_way, part.both_ways);
    }

    #[test]
    fn a_payload_that_is_not_known_is_the_least_and_an_assumption() {
        let part = slot(Speed::parse("5 GT/s x8").unwrap(), Largest::Assumed);
        assert_eq!(part.one_way.0, 3_368_421_052);
        assert_eq!(
            part.assumptions[0],
            "a MaxPayloadSize of 128 bytes, the least there is; with 256 bytes it would be 3.66 GB/s"
        );
    }
}
