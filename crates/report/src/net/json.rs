//! Ceilings and curves as JSON: `schemas/net-ceiling-1.json`, `schemas/net-curve-1.json`.

use super::{Measured, word};
use crate::json::{SCHEMA_VERSION, pretty, reason};
use facts::links::ethtool::{Duplex, Ethtool, Fec, Pause, Settings, Speeds};
use facts::links::perftest::{Bandwidth, Conflict, Figures, Latency};
use facts::{BytesPerSecond, Fact};
use rules::ceiling::{Ceiling, Ceilings, Direction, Named, Part};
use rules::curve::{Bump, Dip, Plateau, bandwidths, latencies};
use serde_json::{Result, Value, json};

/// `schemas/net-ceiling-1.json`.
pub fn ceilings(ceilings: &Ceilings) -> Result<String> {
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "devices": ceilings.devices.iter().map(device).collect::<Vec<_>>(),
        "missing": ceilings.missing.iter().map(reason).collect::<Vec<_>>(),
    }))
}

fn device(named: &Named) -> Value {
    let mut value = ceiling(&named.name, &named.ceiling);
    value["rdma"] = named.is_rdma.into();
    value["address"] = named.address.as_ref().map_or_else(reason, |it| it.as_str().into());
    value["slot_shared_with"] = named.shared_with.clone().into();
    value["ethtool"] = named.ethtool.as_ref().map_or(Value::Null, ethtool);
    value
}

fn ethtool(ethtool: &Ethtool) -> Value {
    let highest = |it: &Speeds| it.highest().map(|it| it.0);
    let settings = |it: &Settings| {
        json!({
            "speed_bits_per_second": it.speed.map(|it| it.0),
            "duplex": it.duplex.map(Duplex::name),
            "autonegotiation": it.autonegotiation,
            "highest_supported_bits_per_second": highest(&it.supported),
            "highest_advertised_bits_per_second": highest(&it.advertised),
            "highest_of_partner_bits_per_second": highest(&it.partner),
        })
    };
    let fec =
        |it: &Fec| json!({ "active": it.active.names(), "configured": it.configured.names() });
    let pause = |it: &Pause| json!({ "autonegotiate": it.autonegotiate, "rx": it.rx, "tx": it.tx });
    json!({
        "settings": ethtool.settings.as_ref().map_or_else(reason, settings),
        "fec": ethtool.fec.as_ref().map_or_else(reason, fec),
        "pause": ethtool.pause.as_ref().map_or_else(reason, pause),
    })
}

fn ceiling(device: &str, ceiling: &Ceiling) -> Value {
    let narrowest = ceiling.narrowest(Direction::One);
    json!({
        "device": device,
        "wire": part(&ceiling.wire),
        "slot": part(&ceiling.slot),
        "narrowest": narrowest.map(|it| word(ceiling, it)),
        "one_way_bytes_per_second": narrowest.map(|it| it.one_way.0),
        "both_ways_bytes_per_second":
            ceiling.narrowest(Direction::Both).map(|it| it.carries(Direction::Both).0),
    })
}

fn part(part: &Fact<Part>) -> Value {
    let part = match part {
        Ok(part) => part,
        Err(missing) => return reason(missing),
    };
    let Part { name, signal, code, data, packet, one_way, both_ways, assumptions } = part;
    json!({
        "name": name,
        "signal_bits_per_second": signal.0,
        "line_code": code.name,
        "data_bytes_per_second": data.0,
        "packet": {
            "payload_bytes": packet.payload.0,
            "overhead_bytes": packet.overhead.0,
            "overhead": packet.headers,
        },
        "one_way_bytes_per_second": one_way.0,
        "each_of_both_ways_bytes_per_second": both_ways.0,
        "assumptions": assumptions,
    })
}

/// `schemas/net-curve-1.json`.
pub fn curve(measured: &Measured<'_>) -> Result<String> {
    let curve = measured.curve;
    let clocks = |it: &Conflict| json!({ "first_hz": it.first.0, "other_hz": it.other.0 });
    let mut value = json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "file": measured.name,
        "test": curve.test,
        "both_directions": curve.is_bidirectional(),
        "ceiling": measured.over.map(|(name, it)| ceiling(name, it)),
        "clocks": curve.clocks.iter().map(clocks).collect::<Vec<_>>(),
        "bandwidth": null,
        "latency": null,
    });
    match &curve.figures {
        Figures::Bandwidth(points) => value["bandwidth"] = bandwidth(measured, points),
        Figures::Latency(points) => value["latency"] = latency(points),
    }
    pretty(&value)
}

fn bandwidth(measured: &Measured<'_>, points: &[Bandwidth]) -> Value {
    let reading = bandwidths(points);
    let settled =
        reading.as_ref().map(|it| it.plateau.as_ref().map_or(it.best.average, |it| it.rate));
    let share = |rate: BytesPerSecond| {
        let (_, ceiling) = measured.over?;
        let narrowest = ceiling.narrowest(measured.direction())?;
        Some(rate.share_of(narrowest.carries(measured.direction())))
    };
    json!({
        "points": points.iter().map(point).collect::<Vec<_>>(),
        "plateau": reading.as_ref().and_then(|it| it.plateau.as_ref()).map(plateau),
        "best": reading.as_ref().map(|it| point(&it.best)),
        "share_of_ceiling": settled.and_then(share),
        "dips": reading.as_ref().map_or(Vec::new(), |it| it.dips.iter().map(dip).collect()),
        "dip_threshold": reading.as_ref().map(|it| it.threshold),
    })
}

fn point(point: &Bandwidth) -> Value {
    json!({
        "bytes": point.message.0,
        "iterations": point.iterations,
        "peak_bytes_per_second": point.peak.map(|it| it.0),
        "average_bytes_per_second": point.average.0,
        "messages_per_second": point.messages().0,
    })
}

fn plateau(plateau: &Plateau) -> Value {
    json!({
        "bytes_per_second": plateau.rate.0,
        "from_bytes": plateau.from.0,
        "to_bytes": plateau.to.0,
        "spread": plateau.spread,
    })
}

fn dip(dip: &Dip) -> Value {
    json!({
        "first_bytes": dip.first.0,
        "last_bytes": dip.last.0,
        "lost": dip.lost,
        "lowest": point(&dip.lowest),
        "before": point(&dip.before),
        "after": dip.after.as_ref().map(point),
    })
}

fn latency(points: &[Latency]) -> Value {
    let shown = |it: &Latency| {
        let us = |time: std::time::Duration| time.as_secs_f64() * 1e6;
        json!({
            "bytes": it.message.0,
            "iterations": it.iterations,
            "min_us": it.min.map(us),
            "max_us": it.max.map(us),
            "typical_us": us(it.typical),
            "percentile_99_us": it.percentile_99.map(us),
        })
    };
    let bump = |it: &Bump| json!({ "at": shown(&it.at), "larger": shown(&it.larger), "longer": it.longer });
    let bumps = latencies(points).map_or(Vec::new(), |it| it.bumps.iter().map(bump).collect());
    json!({ "points": points.iter().map(shown).collect::<Vec<_>>(), "bumps": bumps })
}
