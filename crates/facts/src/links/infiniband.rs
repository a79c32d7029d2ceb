//! InfiniBand ports: state, width and speed of their links.
//!
//! Source: drivers/infiniband/core/sysfs.c (`state_show`, `phys_state_show`, `rate_show`,
//! `link_layer_show`). Only the rate in use is shown there, not the one that the adapter could do.

use crate::Fact;
use crate::parse::{Expected, trimmed};

/// The InfiniBand ports of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Infiniband {
    /// Every port whose link layer is InfiniBand, or not known; RDMA over Ethernet is left out, because its
    /// "width" is a manner of speaking: 25 Gb Ethernet calls itself `1X EDR`.
    pub ports: Fact<Vec<Port>>,
}

/// A port of an InfiniBand device.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Its folder: `/sys/class/infiniband/mlx5_0/ports/1`.
    pub folder: String,
    /// Device and number: `mlx5_0 port 1`.
    pub name: String,
    /// `hca_type` of the device: `MT4119`.
    pub adapter: Fact<String>,
    /// `link_layer`.
    pub link_layer: Fact<String>,
    /// `state`: what the subnet manager has made of it.
    pub state: Fact<Coded>,
    /// `phys_state`: what the wires do.
    pub phys_state: Fact<Coded>,
    /// `rate`.
    pub rate: Fact<Rate>,
}

/// A number and its name: `4: ACTIVE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coded {
    /// The number, which is the standard's.
    pub code: u32,
    /// The text of the file: `4: ACTIVE`.
    pub text: String,
}

/// `enum ib_port_state` of include/rdma/ib_verbs.h, by number.
pub mod state {
    /// No link.
    pub const DOWN: u32 = 1;
    /// A link, and no subnet manager has set it up.
    pub const INIT: u32 = 2;
    /// In use.
    pub const ACTIVE: u32 = 4;
}

/// `enum ib_port_phys_state` of include/rdma/ib_verbs.h, by number.
pub mod phys_state {
    /// Looking for somebody at the other end.
    pub const POLLING: u32 = 2;
    /// Agreeing on width and speed.
    pub const TRAINING: u32 = 4;
    /// The wires carry a link.
    pub const LINK_UP: u32 = 5;
    /// Training again after errors.
    pub const ERROR_RECOVERY: u32 = 6;
}

/// The rate a port runs at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    /// In tenths of Gb/s: the slowest, 1X SDR, is 2.5.
    pub gigabits_10: u32,
    /// The number of lanes: 1, 2, 4, 8 or 12.
    pub lanes: u32,
    /// The name of the speed of one lane, `EDR`; old kernels leave out `SDR`.
    pub speed: String,
    /// The text of the file: `100 Gb/sec (4X EDR)`.
    pub text: String,
}

impl Port {
    /// Whether it is a port of an Omni-Path adapter, which calls its link layer InfiniBand, by the device's name: `hfi1_0` as
    /// drivers/infiniband/hw/hfi1 registers it, or `opap5s0` as rdma-core renames it (rdma_rename).
    pub fn is_omni_path(&self) -> bool {
        self.name.starts_with("hfi1_") || self.name.starts_with("opa")
    }

    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }
}

impl Coded {
    /// Parses `4: ACTIVE`.
    pub fn parse(text: &str) -> Result<Coded, Expected> {
        let text = trimmed(text);
        let code = text.split_once(':').and_then(|(code, _)| code.parse().ok());
        let code = code.ok_or(Expected("a state like `4: ACTIVE`"))?;
        Ok(Coded { code, text: text.to_owned() })
    }
}

impl Rate {
    /// Parses `56 Gb/sec (4X FDR)`, `2.5 Gb/sec (1X SDR)` and `10 Gb/sec (4X)`.
    pub fn parse(text: &str) -> Result<Rate, Expected> {
        const RATE: Expected = Expected("a rate like `56 Gb/sec (4X FDR)`");
        let text = trimmed(text);
        let (gigabits, rest) = text.split_once(" Gb/sec (").ok_or(RATE)?;
        let (lanes, speed) =
            rest.strip_suffix(')').and_then(|it| it.split_once('X')).ok_or(RATE)?;
        let (whole, tenths) = gigabits.split_once('.').unwrap_or((gigabits, "0"));
        let whole: u32 = whole.parse().map_err(|_| RATE)?;
        let tenths: u32 = tenths.parse().ok().filter(|&it| it < 10).ok_or(RATE)?;
        Ok(Rate {
            gigabits_10: whole.checked_mul(10).and_then(|it| it.checked_add(tenths)).ok_or(RATE)?,
            lanes: lanes.parse().map_err(|_| RATE)?,
            speed: speed.trim().to_owned(),
            text: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_old_and_new_kernels_are_read() {
        let rate = |text| Rate::parse(text).map(|it| (it.gigabits_10, it.lanes, it.speed));
        assert_eq!(rate("56 Gb/sec (4X FDR)\n"), Ok((560, 4, "FDR".into())));
        assert_eq!(rate("2.5 Gb/sec (1X SDR)\n"), Ok((25, 1, "SDR".into())));
        assert_eq!(rate("10 Gb/sec (4X)\n"), Ok((100, 4, String::new())));
        assert!(rate("4294967295.9 Gb/sec (4X)").is_err());
    }

    #[test]
    fn a_state_is_its_number() {
        assert_eq!(Coded::parse("4: ACTIVE\n").map(|it| it.code), Ok(state::ACTIVE));
        assert!(Coded::parse("ACTIVE").is_err());
    }
}
