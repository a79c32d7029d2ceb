//! What links can carry: `schemas/net-ceiling-2.json`.

use crate::json::{Head, Opening, Reason, pretty};
use crate::net::word;
use facts::Fact;
use facts::links::ethtool::{self, Duplex, Speeds};
use rules::ceiling::{self, Ceilings, Direction, Named};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// What each adapter can carry at most.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CeilingsDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    /// InfiniBand ports, RDMA over Ethernet, then interfaces as TCP uses them.
    devices: Vec<Device<'a>>,
    /// Why there may be more devices than these.
    missing: Vec<Reason<'a>>,
}

/// A port or an interface.
#[derive(Serialize, JsonSchema)]
struct Device<'a> {
    #[serde(flatten)]
    ceiling: Ceiling<'a>,
    rdma: bool,
    /// Of the PCI function.
    address: OrReason<'a, &'a str>,
    /// Other ports and interfaces with a link, of the same card.
    slot_shared_with: &'a [String],
    /// What the driver says of an Ethernet wire; null of InfiniBand.
    ethtool: Option<Ethtool<'a>>,
}

/// A value, or the reason why it is unknown.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum OrReason<'a, T> {
    Value(T),
    Missing(Reason<'a>),
}

/// What a device can carry.
#[derive(Serialize, JsonSchema)]
pub(super) struct Ceiling<'a> {
    device: &'a str,
    wire: OrReason<'a, Part<'a>>,
    slot: OrReason<'a, Part<'a>>,
    /// One way; of the parts that are known, null where none is.
    #[schemars(extend("enum" = ["wire", "slot", null]))]
    narrowest: Option<&'static str>,
    /// What the narrowest part carries.
    one_way_bytes_per_second: Option<u64>,
    /// Both directions together.
    both_ways_bytes_per_second: Option<u64>,
}

/// A wire or a slot.
#[derive(Serialize, JsonSchema)]
struct Part<'a> {
    name: &'a str,
    signal_bits_per_second: u64,
    line_code: &'a str,
    /// What the line code leaves.
    data_bytes_per_second: u64,
    packet: Packet<'a>,
    /// While the other direction is quiet.
    one_way_bytes_per_second: u64,
    each_of_both_ways_bytes_per_second: u64,
    assumptions: &'a [String],
}

/// How data is packed.
#[derive(Serialize, JsonSchema)]
struct Packet<'a> {
    #[schemars(range(min = 1))]
    payload_bytes: u64,
    overhead_bytes: u64,
    overhead: &'a str,
}

/// What the driver says of an Ethernet wire.
#[derive(Serialize, JsonSchema)]
struct Ethtool<'a> {
    settings: OrReason<'a, Settings>,
    fec: OrReason<'a, Fec>,
    pause: OrReason<'a, Pause>,
}

/// Speed and duplex.
#[derive(Serialize, JsonSchema)]
struct Settings {
    speed_bits_per_second: Option<u64>,
    #[schemars(extend("enum" = ["half", "full", null]))]
    duplex: Option<&'static str>,
    autonegotiation: Option<bool>,
    /// In full duplex.
    highest_supported_bits_per_second: Option<u64>,
    highest_advertised_bits_per_second: Option<u64>,
    /// Advertised by the other end.
    highest_of_partner_bits_per_second: Option<u64>,
}

/// Forward error correction.
#[derive(Serialize, JsonSchema)]
struct Fec {
    active: Vec<Encoding>,
    /// Or supported, as the driver sees it.
    configured: Vec<Encoding>,
}

/// None: there is nothing to choose.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("enum" = ["None", "Auto", "Off", "RS", "BaseR", "LLRS"]))]
struct Encoding(&'static str);

/// Pause frames.
#[derive(Serialize, JsonSchema)]
struct Pause {
    autonegotiate: bool,
    rx: bool,
    tx: bool,
}

impl<'a, T> OrReason<'a, T> {
    fn of<F>(fact: &'a Fact<F>, value: impl FnOnce(&'a F) -> T) -> OrReason<'a, T> {
        match fact {
            Ok(fact) => OrReason::Value(value(fact)),
            Err(missing) => OrReason::Missing(Reason::of(missing)),
        }
    }
}

/// Ceilings as JSON.
pub fn ceilings(head: &Head, ceilings: &Ceilings) -> Result<String> {
    pretty(&CeilingsDocument {
        opening: head.opening(),
        devices: ceilings.devices.iter().map(device).collect(),
        missing: ceilings.missing.iter().map(Reason::of).collect(),
    })
}

fn device(named: &Named) -> Device<'_> {
    Device {
        ceiling: Ceiling::of(&named.name, &named.ceiling),
        rdma: named.is_rdma,
        address: OrReason::of(&named.address, |it| &**it),
        slot_shared_with: &named.shared_with,
        ethtool: named.ethtool.as_ref().map(|it| Ethtool {
            settings: OrReason::of(&it.settings, settings),
            fec: OrReason::of(&it.fec, fec),
            pause: OrReason::of(&it.pause, pause),
        }),
    }
}

fn settings(it: &ethtool::Settings) -> Settings {
    let highest = |it: &Speeds| it.highest().map(|it| it.0);
    Settings {
        speed_bits_per_second: it.speed.map(|it| it.0),
        duplex: it.duplex.map(Duplex::name),
        autonegotiation: it.autonegotiation,
        highest_supported_bits_per_second: highest(&it.supported),
        highest_advertised_bits_per_second: highest(&it.advertised),
        highest_of_partner_bits_per_second: highest(&it.partner),
    }
}

fn fec(it: &ethtool::Fec) -> Fec {
    let names = |it: ethtool::Encodings| it.names().into_iter().map(Encoding).collect();
    Fec { active: names(it.active), configured: names(it.configured) }
}

fn pause(it: &ethtool::Pause) -> Pause {
    Pause { autonegotiate: it.autonegotiate, rx: it.rx, tx: it.tx }
}

impl<'a> Ceiling<'a> {
    pub(super) fn of(device: &'a str, ceiling: &'a ceiling::Ceiling) -> Ceiling<'a> {
        let narrowest = ceiling.narrowest(Direction::One);
        let both = ceiling.narrowest(Direction::Both);
        Ceiling {
            device,
            wire: OrReason::of(&ceiling.wire, part),
            slot: OrReason::of(&ceiling.slot, part),
            narrowest: narrowest.map(|it| word(ceiling, it)),
            one_way_bytes_per_second: narrowest.map(|it| it.one_way.0),
            both_ways_bytes_per_second: both.map(|it| it.carries(Direction::Both).0),
        }
    }
}

fn part(part: &ceiling::Part) -> Part<'_> {
    let ceiling::Part { name, signal, code, data, packet, one_way, both_ways, assumptions } = part;
    Part {
        name,
        signal_bits_per_second: signal.0,
        line_code: code.name,
        data_bytes_per_second: data.0,
        packet: Packet {
            payload_bytes: packet.payload.0,
            overhead_bytes: packet.overhead.0,
            overhead: &packet.headers,
        },
        one_way_bytes_per_second: one_way.0,
        each_of_both_ways_bytes_per_second: both_ways.0,
        assumptions,
    }
}
