//! What an InfiniBand link can carry.
//!
//! Sources: InfiniBand Architecture Specification, volume 2, chapters 5 and 6 (lanes, line codes), and volume 1,
//! section 5.2 (headers) and 9.2; include/rdma/ib_pack.h for the lengths. `rate_show` of
//! drivers/infiniband/core/sysfs.c shows what is signalled up to QDR (40 Gb/sec of 4X QDR carry 32), and what is
//! carried from EDR on: so the name of the speed counts, and not the number.

use super::{LineCode, Packet, Part};
use facts::links::infiniband::Rate;
use facts::{BitsPerSecond, Bytes, Fact, Missing};

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
