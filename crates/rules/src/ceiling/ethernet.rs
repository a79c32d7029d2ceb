//! What an Ethernet link can carry of a stream of TCP, and of RDMA (RoCE v2).
//!
//! Sources: IEEE 802.3, 3.1.1 and 4.4.2 (preamble, frame, gap between packets); RFC 791, 768, 9293, 7323 (timestamps
//! take 12 bytes); InfiniBand Architecture Specification, volume 1, annex A17; include/rdma/ib_addr.h (`iboe_get_mtu`).
//! The nominal rate of Ethernet is that of its data: line code and error correction come on top.

use super::{LineCode, Packet, Part};
use facts::{BitsPerSecond, Bytes, Fact, Missing};

/// Around each IP packet: preamble and start, header, checksum, and the gap before the next.
const FRAME: [(&str, u64); 4] = [("preamble", 8), ("Ethernet", 14), ("FCS", 4), ("gap", 12)];
const IP: (&str, u64) = ("IPv4", 20);
const TCP: [(&str, u64); 2] = [("TCP", 20), ("timestamps", 12)];
const ROCE: [(&str, u64); 3] = [("UDP", 8), ("BTH", 12), ("ICRC", 4)];

const NO_TAG: &str = "IPv4 and no VLAN tag: IPv6 takes 20 bytes more of each packet, a tag 4; acknowledgements are left out, and switches and \
                      the other end carry as much";

/// What IB headers may take at most (GRH, UDP, BTH, XRC, atomics, ICRC): the kernel leaves that much of an interface's
/// MTU free, and takes the next power of two.
const ROCE_RESERVE: u64 = 40 + 8 + 12 + 4 + 28 + 4;
/// `ib_mtu_enum_to_int`, largest first.
const ROCE_MTUS: [u64; 5] = [4096, 2048, 1024, 512, 256];

/// What one stream of TCP can carry.
pub fn tcp(speed: BitsPerSecond, mtu: Bytes) -> Fact<Part> {
    let headers: u64 = IP.1 + TCP.iter().map(|(_, length)| length).sum::<u64>();
    let payload = mtu.0.checked_sub(headers).filter(|it| *it > 0).ok_or_else(|| too_small(mtu))?;
    let all = [&FRAME[..], &[IP], &TCP].concat();
    Ok(part("TCP", speed, Packet::new(Bytes(payload), &all)))
}

/// What RDMA can carry, in packets of `packet`, or of the size that the kernel derives from the interface's MTU.
pub fn roce(speed: BitsPerSecond, mtu: Bytes, packet: Option<Bytes>) -> Fact<Part> {
    let room = mtu.0.saturating_sub(ROCE_RESERVE);
    let derived = || ROCE_MTUS.into_iter().find(|it| *it <= room).map(Bytes);
    let payload = packet.or_else(derived).ok_or_else(|| too_small(mtu))?;
    let all = [&FRAME[..], &[IP], &ROCE].concat();
    let part = part("RoCE v2", speed, Packet::new(payload, &all));
    Ok(part.assuming("RETH and AETH of a message's first and last packets are left out"))
}

fn part(protocol: &str, speed: BitsPerSecond, packet: Packet) -> Part {
    Part::new(format!("{protocol} over {speed} Ethernet"), speed, LineCode::NONE, packet)
        .assuming(NO_TAG)
}

fn too_small(mtu: Bytes) -> Missing {
    Missing::malformed("mtu", &mtu.to_string(), "an MTU with room for headers and data")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(part: Fact<Part>) -> u64 {
        part.unwrap().one_way.0
    }

    #[test]
    fn a_gigabit_carries_a_little_less_than_118_megabytes_of_tcp() {
        // 1448 of 1538 bytes, as every table of TCP's efficiency has it.
        assert_eq!(rate(tcp(BitsPerSecond::from_megabits(1000), Bytes(1500))), 117_685_305);
        assert_eq!(rate(tcp(BitsPerSecond::from_megabits(1000), Bytes(9000))), 123_755_255);
    }

    #[test]
    fn rdma_takes_the_next_power_of_two_that_fits() {
        let payload = |mtu| roce(BitsPerSecond::from_megabits(25_000), Bytes(mtu), None);
        let payload = |mtu| payload(mtu).unwrap().packet.payload.0;
        assert_eq!((payload(1500), payload(4200), payload(9000)), (1024, 4096, 4096));
        let part = roce(BitsPerSecond::from_megabits(25_000), Bytes(1500), None);
        // 1024 of 1106 bytes.
        assert_eq!(rate(part), 2_893_309_222);
    }

    #[test]
    fn an_mtu_without_room_is_missing() {
        assert!(tcp(BitsPerSecond(1), Bytes(52)).is_err());
        assert!(roce(BitsPerSecond(1), Bytes(300), None).is_err());
        assert!(roce(BitsPerSecond(1), Bytes(1500), Some(Bytes(2048))).is_ok());
    }
}
