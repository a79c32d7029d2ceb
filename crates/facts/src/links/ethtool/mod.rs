//! What a driver says of an Ethernet wire: speed, duplex, what each end could do, error correction, pause frames.
//!
//! Source: include/uapi/linux/ethtool.h. The kernel answers in structures ([`binary`]), which ethtool(8) prints as text,
//! and that is what bundles hold ([`text`]). A driver may list what its adapter does with any transceiver as well as what
//! the plugged one does, and few list what the partner advertises where nothing is negotiated.

pub mod binary;
mod modes;
pub mod text;

use crate::{BitsPerSecond, Fact};
use std::fmt;

/// What the driver of one interface says of its wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Ethtool {
    /// Speed, duplex, and what both ends could do.
    pub settings: Fact<Settings>,
    /// Forward error correction.
    pub fec: Fact<Fec>,
    /// Pause frames (IEEE 802.3, annex 31B).
    pub pause: Fact<Pause>,
}

/// The questions that are asked of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// ETHTOOL_GLINKSETTINGS.
    Settings,
    /// ETHTOOL_GFECPARAM.
    Fec,
    /// ETHTOOL_GPAUSEPARAM.
    Pause,
}

/// `struct ethtool_link_settings`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `None` where the driver does not know.
    pub speed: Option<BitsPerSecond>,
    /// `None` where the driver does not know.
    pub duplex: Option<Duplex>,
    /// Whether both ends agree on what they do, or this end was told.
    pub autonegotiation: Option<bool>,
    /// What is plugged in.
    pub port: Option<Port>,
    /// What this end could do.
    pub supported: Speeds,
    /// What it offers to do.
    pub advertised: Speeds,
    /// What the other end offers; empty where that is not known.
    pub partner: Speeds,
    /// Whether there is a link, where that is told beside the rest.
    pub link: Option<bool>,
}

/// Whether both directions are used at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplex {
    /// One after the other.
    Half,
    /// At once.
    Full,
}

/// What is plugged in (PORT_*).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// Twisted pair, in a port that takes nothing else.
    TwistedPair,
    /// A transceiver for fibre.
    Fibre,
    /// A copper cable with plugs of transceivers.
    DirectAttach,
    /// Anything else, nothing included.
    Other,
}

/// Speeds in full duplex, each once, the lowest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Speeds(Vec<BitsPerSecond>);

/// `struct ethtool_fecparam`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fec {
    /// What was asked for; some drivers tell what could be.
    pub configured: Encodings,
    /// What is in force.
    pub active: Encodings,
}

/// Error corrections (ETHTOOL_FEC_*), a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encodings(u32);

/// `struct ethtool_pauseparam`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Whether both ends agree on the rest.
    pub autonegotiate: bool,
    /// Whether this end waits when the other one asks it to.
    pub rx: bool,
    /// Whether this end asks the other one to wait.
    pub tx: bool,
}

impl Question {
    /// All of them.
    pub const ALL: [Question; 3] = [Question::Settings, Question::Fec, Question::Pause];

    /// The number of the kernel's command.
    pub fn command(self) -> u32 {
        match self {
            Question::Settings => 0x4c,
            Question::Fec => 0x50,
            Question::Pause => 0x12,
        }
    }

    /// How messages and captures name the question.
    pub fn name(self, interface: &str) -> String {
        let word = match self {
            Question::Settings => "link-settings",
            Question::Fec => "fec",
            Question::Pause => "pause",
        };
        format!("ethtool {interface} {word}")
    }

    /// Where a sosreport holds what ethtool(8) prints: the command with `_` for blanks (sos/report/plugins/networking.py).
    pub fn file(self, interface: &str) -> String {
        let option = match self {
            Question::Settings => "",
            Question::Fec => "--show-fec_",
            Question::Pause => "-a_",
        };
        format!("/sos_commands/networking/ethtool_{option}{interface}")
    }
}

impl Settings {
    /// The highest speed that both ends offer; `None` where it is not known what the other one offers.
    pub fn agreeable(&self) -> Option<BitsPerSecond> {
        self.advertised.common(&self.partner).highest()
    }
}

impl Speeds {
    /// From any order, with repetitions.
    pub fn of(speeds: impl IntoIterator<Item = BitsPerSecond>) -> Speeds {
        let mut speeds: Vec<BitsPerSecond> = speeds.into_iter().collect();
        speeds.sort_unstable();
        speeds.dedup();
        Speeds(speeds)
    }

    /// The highest; `None` of none.
    pub fn highest(&self) -> Option<BitsPerSecond> {
        self.0.last().copied()
    }

    /// Whether there are none, or none are told.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those that are in both.
    #[must_use]
    pub fn common(&self, other: &Speeds) -> Speeds {
        Speeds(self.0.iter().filter(|it| other.0.contains(it)).copied().collect())
    }
}

/// `1, 10 Gb/s`.
impl fmt::Display for Speeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        let numbers: Vec<&str> = texts.iter().map(|it| it.trim_end_matches(" Gb/s")).collect();
        match numbers[..] {
            [] => f.write_str("none that is told"),
            _ => write!(f, "{} Gb/s", numbers.join(", ")),
        }
    }
}

impl Encodings {
    /// `enum ethtool_fec_config_bits`, by number, as ethtool(8) writes them. `None` says that there is nothing to choose.
    const NAMES: [&str; 6] = ["None", "Auto", "Off", "RS", "BaseR", "LLRS"];
    /// ETHTOOL_FEC_OFF.
    const OFF: Encodings = Encodings(1 << 2);

    /// From the kernel's bits; those that nobody has named are left out.
    pub fn of_bits(bits: u32) -> Encodings {
        Encodings(bits & ((1 << Encodings::NAMES.len()) - 1))
    }

    /// Whether nothing corrects errors.
    pub fn is_off(self) -> bool {
        self == Encodings::OFF
    }

    /// The names of those that are set, as ethtool(8) writes them.
    pub fn names(self) -> Vec<&'static str> {
        let names = Encodings::NAMES.iter().enumerate();
        names.filter(|(bit, _)| self.0 & (1 << bit) != 0).map(|(_, name)| *name).collect()
    }

    fn named(name: &str) -> Option<Encodings> {
        let at = Encodings::NAMES.iter().position(|it| it.eq_ignore_ascii_case(name))?;
        Some(Encodings(1 << at))
    }
}

/// `RS`, `RS and BaseR`.
impl fmt::Display for Encodings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names();
        f.write_str(if names.is_empty() { "not told" } else { "" })?;
        f.write_str(&names.join(" and "))
    }
}

/// `rx and tx`, `off`.
impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.rx, self.tx) {
            (true, true) => "rx and tx",
            (true, false) => "rx",
            (false, true) => "tx",
            (false, false) => "off",
        })
    }
}

impl Duplex {
    /// `full`, as /sys/class/net writes it.
    pub fn name(self) -> &'static str {
        match self {
            Duplex::Half => "half",
            Duplex::Full => "full",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speeds(megabits: &[u64]) -> Speeds {
        Speeds::of(megabits.iter().map(|it| BitsPerSecond::from_megabits(*it)))
    }

    #[test]
    fn the_highest_speed_of_both_is_one_that_both_have() {
        let common = speeds(&[25_000, 1000, 10_000]).common(&speeds(&[40_000, 10_000]));
        assert_eq!(common.highest(), Some(BitsPerSecond::from_megabits(10_000)));
        assert_eq!(speeds(&[25_000]).common(&Speeds::default()).highest(), None);
    }

    #[test]
    fn speeds_and_corrections_are_shown_as_people_say_them() {
        assert_eq!(speeds(&[10_000, 2500, 10_000]).to_string(), "2.5, 10 Gb/s");
        assert_eq!(Speeds::default().to_string(), "none that is told");
        assert_eq!(Encodings::of_bits(0x18).to_string(), "RS and BaseR");
        assert_eq!(Encodings::of_bits(0x8000_0000).to_string(), "not told");
        assert!(Encodings::of_bits(4).is_off() && !Encodings::of_bits(1).is_off());
        assert_eq!(Pause { autonegotiate: false, rx: true, tx: false }.to_string(), "rx");
    }

    #[test]
    fn a_question_has_a_name_and_a_file_in_a_bundle() {
        assert_eq!(Question::Settings.name("eth0"), "ethtool eth0 link-settings");
        let files = Question::ALL.map(|it| it.file("p1"));
        assert_eq!(files[0], "/sos_commands/networking/ethtool_p1");
        assert_eq!(files[1], "/sos_commands/networking/ethtool_--show-fec_p1");
        assert_eq!(files[2], "/sos_commands/networking/ethtool_-a_p1");
    }
}
