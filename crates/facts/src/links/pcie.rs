//! PCI Express links: what a device and its slot run at, and what each could do.
//!
//! Sources: drivers/pci/pci-sysfs.c (`current_link_speed`, `max_link_width` ...; since Linux 4.13),
//! drivers/pci/probe.c (`pcie_link_speed`). A device that sleeps, or is on no such link (integrated graphics,
//! virtual functions), shows `Unknown` and widths of 0, 63 or 255 lanes.

use crate::parse::{Expected, number, trimmed};
use crate::{BitsPerSecond, BytesPerSecond, Fact, Missing};
use std::fmt;

/// The links of a host that matter to a database.
#[derive(Clone, Debug, PartialEq)]
pub struct Pcie {
    /// One for each slot with a network, storage, graphics or accelerator device in it.
    pub links: Fact<Vec<PcieLink>>,
}

/// The link between a device and the port above it.
#[derive(Clone, Debug, PartialEq)]
pub struct PcieLink {
    /// The device's folder: `/sys/devices/pci0000:00/0000:00:1c.4/0000:04:00.0`.
    pub folder: String,
    /// What kind of device it is.
    pub kind: Kind,
    /// What the link runs at.
    pub current: Fact<Shown>,
    /// What the device could do.
    pub device_max: Fact<Shown>,
    /// What the port above could do.
    pub slot_max: Fact<Shown>,
}

/// A speed and width, and how the kernel writes that speed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Both as numbers.
    pub speed: Speed,
    /// `8.0 GT/s PCIe`; older kernels write `8 GT/s`.
    pub text: String,
}

/// The kinds of devices whose links are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ethernet, InfiniBand, Omni-Path; not Wi-Fi.
    Network,
    /// An NVMe drive; one with two ports may be set up for two lanes each.
    Nvme,
    /// SAS, SATA, RAID.
    Storage,
    /// A graphics processor; it lowers its own speed when idle.
    Graphics,
    /// A device that computes, and shows no picture; it may lower its speed too.
    Accelerator,
}

/// Speed and width of one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed {
    /// Transfers per second and lane, in tenths of GT/s: the first generation has 2.5.
    pub gigatransfers_10: u32,
    /// The number of lanes.
    pub lanes: u32,
}

impl PcieLink {
    /// The address of the device: `0000:04:00.0`.
    pub fn address(&self) -> &str {
        self.folder.rsplit('/').next().unwrap_or(&self.folder)
    }

    /// The folder of the port above.
    pub fn slot(&self) -> &str {
        self.folder.rsplit_once('/').map_or("", |(slot, _)| slot)
    }
}

impl Kind {
    /// Decides by the class code (PCI Code and ID Assignment Specification): base class, sub-class,
    /// programming interface. Sub-class 0x80 of networks is "other", which is Wi-Fi. InfiniBand adapters have been
    /// networks since 2011 (0x0207), and serial buses before (0x0c06), as ConnectX-2 is.
    pub fn of_class(class: u32) -> Option<Kind> {
        match (class >> 16, class >> 8 & 0xff) {
            (0x01, 0x08) => Some(Kind::Nvme),
            (0x01, _) => Some(Kind::Storage),
            (0x02, sub_class) if sub_class != 0x80 => Some(Kind::Network),
            (0x0c, 0x06) => Some(Kind::Network),
            (0x03, 0x00 | 0x02) => Some(Kind::Graphics),
            (0x12, _) => Some(Kind::Accelerator),
            _ => None,
        }
    }
}

impl Shown {
    /// Takes what the two files of `folder` hold; what shows no speed or no width has no link.
    pub fn new(folder: &str, text: String, lanes: Option<u32>) -> Fact<Shown> {
        let speed = speed(&text)
            .map_err(|it| Missing::malformed(format!("{folder}: link speed"), &text, it.0))?;
        match (speed, lanes) {
            (Some(gigatransfers_10), Some(lanes)) => {
                Ok(Shown { speed: Speed { gigatransfers_10, lanes }, text })
            }
            _ => Err(Missing::not_here(
                format!("PCIe link of {folder}"),
                "it shows no speed or width: asleep, or inside of a chip",
            )),
        }
    }
}

impl Speed {
    /// Parses `5 GT/s x8`, which is how it is shown.
    pub fn parse(text: &str) -> Result<Speed, Expected> {
        const LINK: Expected = Expected("a PCIe link like `5 GT/s x8`");
        let (transfers, lanes) = trimmed(text).rsplit_once('x').ok_or(LINK)?;
        match (speed(transfers), width(lanes)) {
            (Ok(Some(gigatransfers_10)), Ok(Some(lanes))) => Ok(Speed { gigatransfers_10, lanes }),
            _ => Err(LINK),
        }
    }

    /// What the lanes signal together.
    pub fn signal(self) -> BitsPerSecond {
        let megabits = u64::from(self.gigatransfers_10) * u64::from(self.lanes) * 100;
        BitsPerSecond::from_megabits(megabits)
    }

    /// Bits of data in how many on the wire: 8b/10b up to 5 GT/s, 128b/130b up to 32 GT/s, none above (PCI Express
    /// Base Specification 6.0, section 4.2).
    pub fn line_code(self) -> (u64, u64) {
        match self.gigatransfers_10 {
            ..=50 => (8, 10),
            51..=320 => (128, 130),
            _ => (1, 1),
        }
    }

    /// What the line code leaves in each direction.
    pub fn data_rate(self) -> BytesPerSecond {
        let (data, sent) = self.line_code();
        self.signal().bytes().scaled(data, sent)
    }

    /// The same in MB/s.
    pub fn megabytes(self) -> u64 {
        self.data_rate().0 / 1_000_000
    }

    /// The most that both of two ends can do.
    #[must_use]
    pub fn common(self, other: Speed) -> Speed {
        Speed {
            gigatransfers_10: self.gigatransfers_10.min(other.gigatransfers_10),
            lanes: self.lanes.min(other.lanes),
        }
    }
}

/// `8 GT/s x4`.
impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, tenths) = (self.gigatransfers_10 / 10, self.gigatransfers_10 % 10);
        match tenths {
            0 => write!(f, "{whole} GT/s x{}", self.lanes),
            _ => write!(f, "{whole}.{tenths} GT/s x{}", self.lanes),
        }
    }
}

/// Parses `8.0 GT/s PCIe`, `8 GT/s` and `Unknown`, in tenths of GT/s.
pub fn speed(text: &str) -> Result<Option<u32>, Expected> {
    const SPEED: Expected = Expected("a speed like `8.0 GT/s PCIe`");
    /// No generation is faster: the seventh has 128 GT/s.
    const FASTEST: u32 = 256;
    let text = trimmed(text);
    if text.starts_with("Unknown") {
        return Ok(None);
    }
    let (value, _) = text.split_once(" GT/s").ok_or(SPEED)?;
    let (whole, tenths) = value.split_once('.').unwrap_or((value, "0"));
    let whole: u32 = whole.parse().ok().filter(|&it| it <= FASTEST).ok_or(SPEED)?;
    let tenths: u32 = tenths.parse().ok().filter(|&it| it < 10).ok_or(SPEED)?;
    Ok(Some(whole * 10 + tenths))
}

/// Parses a width in lanes. 0 and 255 stand for none; 63 is what a device reads as that does not answer.
pub fn width(text: &str) -> Result<Option<u32>, Expected> {
    match number(text)? {
        0 | 63 | 255 => Ok(None),
        lanes @ 1..=32 => Ok(u32::try_from(lanes).ok()),
        _ => Err(Expected("a width of 1 to 32 lanes")),
    }
}

/// Parses a class code: `0x010802`.
pub fn class(text: &str) -> Result<u32, Expected> {
    let digits = trimmed(text).strip_prefix("0x");
    digits
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .ok_or(Expected("a class code like 0x010802"))
}

/// Whether a folder's name is that of a PCI device: `0000:04:00.0`, with a longer domain behind Intel VMD.
pub fn is_address(name: &str) -> bool {
    let parts: Vec<&str> = name.split([':', '.']).collect();
    let is_hex = |it: &&str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_hexdigit());
    parts.len() == 4 && parts.iter().all(is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_of_old_and_new_kernels_are_read() {
        assert_eq!(speed("8.0 GT/s PCIe\n"), Ok(Some(80)));
        assert_eq!(speed("8 GT/s\n"), Ok(Some(80)));
        assert_eq!(speed("2.5 GT/s\n"), Ok(Some(25)));
        assert_eq!(speed("Unknown speed\n"), Ok(None));
        assert!(speed("4294967295 GT/s").is_err());
    }

    #[test]
    fn a_device_that_does_not_answer_has_no_width() {
        assert_eq!((width("63"), width("255"), width("0")), (Ok(None), Ok(None), Ok(None)));
        assert_eq!(width("16\n"), Ok(Some(16)));
        assert!(width("64").is_err());
    }

    #[test]
    fn payload_is_what_the_line_code_leaves() {
        let megabytes = |gigatransfers_10, lanes| Speed { gigatransfers_10, lanes }.megabytes();
        assert_eq!((megabytes(25, 1), megabytes(80, 4), megabytes(160, 16)), (250, 3938, 31507));
    }

    #[test]
    fn a_link_is_read_as_it_is_written() {
        for text in ["5 GT/s x8", "2.5 GT/s x1", "64 GT/s x16"] {
            assert_eq!(Speed::parse(text).map(|it| it.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(Speed::parse("8.0 GT/s PCIe x4\n").map(|it| it.lanes), Ok(4));
        for text in ["", "x", "5 GT/s", "5 GT/s x0", "Unknown x8", "5 GT/s x4294967296"] {
            assert!(Speed::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn wifi_and_bridges_are_none_of_our_kinds() {
        assert_eq!(Kind::of_class(0x02_8000), None);
        assert_eq!(Kind::of_class(0x06_0400), None);
        assert_eq!(Kind::of_class(0x01_0802), Some(Kind::Nvme));
        assert_eq!(Kind::of_class(0x01_0700), Some(Kind::Storage));
        assert_eq!(Kind::of_class(0x02_0700), Some(Kind::Network));
        assert_eq!(Kind::of_class(0x0c_0600), Some(Kind::Network));
    }

    #[test]
    fn an_address_may_have_a_long_domain() {
        assert!(is_address("0000:04:00.0") && is_address("10000:01:00.0"));
        assert!(!is_address("pci0000:00") && !is_address("0000:00") && !is_address("power"));
    }
}
