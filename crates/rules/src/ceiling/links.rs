//! What a link can carry: Ethernet of a stream of TCP and of RDMA (RoCE v2), and InfiniBand.
//!
//! Sources for Ethernet: IEEE 802.3, 3.1.1 and 4.4.2 (preamble, frame, gap between packets); RFC 791, 768, 9293, 7323 (timestamps
//! take 12 bytes); InfiniBand Architecture Specification, volume 1, annex A17; include/rdma/ib_addr.h (`iboe_get_mtu`).
//! The nominal rate of Ethernet is that of its data: line code and error correction come on top.
//!
//! Sources for InfiniBand: InfiniBand Architecture Specification, volume 2, chapters 5 and 6 (lanes, line codes), and volume 1,
//! section 5.2 (headers) and 9.2; include/rdma/ib_pack.h for the lengths. `rate_show` of
//! drivers/infiniband/core/sysfs.c shows what is signalled up to QDR (40 Gb/sec of 4X QDR carry 32), and what is
//! carried from EDR on: so the name of the speed counts, and not the number.

use super::{LineCode, Packet, Part};
use facts::links::infiniband::Rate;
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

/// One lane of each speed: name, kilobits that it signals in a second, line code.
///
/// HDR and later send two bits per symbol (PAM4); 256 bits become 257, and 514 symbols get 30 that correct errors, so
/// that 53.125 Gb/s leave 50.
const LANES: [(&str, u64, LineCode); 9] = [
    ("SDR", 2_500_000, EIGHT),
    ("DDR", 5_000_000, EIGHT),
    ("QDR", 10_000_000, EIGHT),
    ("FDR10", 10_312_500, SIXTY_FOUR),
    ("FDR", 14_062_500, SIXTY_FOUR),
    ("EDR", 25_781_250, SIXTY_FOUR),
    ("HDR", 53_125_000, CORRECTED),
    ("NDR", 106_250_000, CORRECTED),
    ("XDR", 212_500_000, CORRECTED),
];
const EIGHT: LineCode = LineCode { name: "8b/10b", data: 8, sent: 10 };
const SIXTY_FOUR: LineCode = LineCode { name: "64b/66b", data: 64, sent: 66 };
const CORRECTED: LineCode =
    LineCode { name: "256b/257b and RS-FEC(544,514)", data: 256 * 514, sent: 257 * 544 };

/// Around the data of each packet but the first and last of a message: local route, base transport header, and the two
/// checksums.
const HEADERS: [(&str, u64); 4] = [("LRH", 8), ("BTH", 12), ("ICRC", 4), ("VCRC", 2)];

/// The largest MTU there is; with a smaller one less is left.
const LARGEST_MTU: Bytes = Bytes(4096);

/// What a port at `rate` can carry in packets of `mtu`, which sysfs does not tell.
pub fn infiniband(rate: &Rate, mtu: Option<Bytes>) -> Fact<Part> {
    // Old kernels leave the name of the slowest out.
    let speed = if rate.speed.is_empty() { "SDR" } else { &rate.speed };
    let lane = LANES.iter().find(|(name, ..)| *name == speed);
    let &(name, kilobits, code) = lane.ok_or_else(|| {
        Missing::malformed("rate of the port", &rate.text, "a speed from SDR to XDR")
    })?;
    let signal = BitsPerSecond(kilobits.saturating_mul(1000).saturating_mul(rate.lanes.into()));
    let packet = Packet::new(mtu.unwrap_or(LARGEST_MTU), &HEADERS);
    let part = Part::new(format!("{}X {name}", rate.lanes), signal, code, packet);
    let part = match mtu {
        Some(_) => part,
        None => part.assuming(format!(
            "an MTU of {LARGEST_MTU}, the largest there is; ibv_devinfo shows active_mtu"
        )),
    };
    Ok(part.assuming(
        "headers of a message's first and last packets (RETH 16, AETH 4), acknowledgements, credits and delimiters are \
         left out (less than 1 % of large messages); switches and the other end carry as much",
    ))
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

    fn part(rate: &str, mtu: Option<Bytes>) -> Part {
        infiniband(&Rate::parse(rate).unwrap(), mtu).unwrap()
    }

    #[test]
    fn four_lanes_of_qdr_carry_thirty_two_of_forty_gigabits() {
        let part = part("40 Gb/sec (4X QDR)", Some(Bytes(2048)));
        assert_eq!(part.signal.to_string(), "40 Gb/s");
        assert_eq!((part.data.0, part.code.name), (4_000_000_000, "8b/10b"));
        assert_eq!(part.one_way.0, 3_949_855_351);
        assert_eq!(part.packet.headers, "LRH 8, BTH 12, ICRC 4, VCRC 2");
    }

    #[test]
    fn each_speed_leaves_what_it_is_sold_for() {
        let data = |rate| part(rate, None).data.0 * 8;
        assert_eq!(data("10 Gb/sec (4X)"), 8_000_000_000);
        assert_eq!(data("20 Gb/sec (4X DDR)"), 16_000_000_000);
        assert_eq!(data("40 Gb/sec (4X FDR10)"), 40_000_000_000);
        assert_eq!(data("56 Gb/sec (4X FDR)"), 54_545_454_544);
        assert_eq!(data("100 Gb/sec (4X EDR)"), 100_000_000_000);
        assert_eq!(data("100 Gb/sec (2X HDR)"), 100_000_000_000);
        assert_eq!(data("400 Gb/sec (4X NDR)"), 400_000_000_000);
        assert_eq!(data("800 Gb/sec (4X XDR)"), 800_000_000_000);
    }

    #[test]
    fn an_mtu_that_is_not_known_is_an_assumption() {
        let assumptions = part("40 Gb/sec (4X QDR)", None).assumptions;
        assert!(assumptions[0].starts_with("an MTU of 4096 bytes"), "{assumptions:?}");
        assert_eq!(part("40 Gb/sec (4X QDR)", Some(Bytes(2048))).assumptions.len(), 1);
    }

    #[test]
    fn a_speed_that_nobody_knows_is_missing() {
        let rate = Rate::parse("9000 Gb/sec (4X ZDR)").unwrap();
        assert!(infiniband(&rate, None).unwrap_err().to_string().contains("4X ZDR"));
    }
}
