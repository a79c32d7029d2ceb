//! What a test by message size says: `schemas/net-curve-2.json`.

use super::ceilings::Ceiling;
use crate::json::{Head, Opening, pretty};
use crate::net::Measured;
use facts::BytesPerSecond;
use facts::links::perftest::{self, Conflict, Figures};
use rules::curve::{self, bandwidths, latencies};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// What perftest printed, by message size: where it settles, how close that is to the ceiling, where it dips.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CurveDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    file: &'a str,
    /// The title of the test's banner.
    test: Option<&'a str>,
    /// Whether the results are of both directions together.
    both_directions: bool,
    /// What it was measured over; null where nothing was named.
    ceiling: Option<Ceiling<'a>>,
    /// Clocks that perftest found to differ.
    clocks: Vec<Clocks>,
    /// null of a test of latency.
    bandwidth: Option<Bandwidth>,
    /// null of a test of bandwidth.
    latency: Option<Latency>,
}

/// Clocks of two CPUs that differ.
#[derive(Serialize, JsonSchema)]
pub(in crate::net) struct Clocks {
    first_hz: u64,
    other_hz: u64,
}

impl Clocks {
    pub(in crate::net) fn of(conflict: &Conflict) -> Clocks {
        Clocks { first_hz: conflict.first.0, other_hz: conflict.other.0 }
    }
}

/// A curve of rates.
#[derive(Serialize, JsonSchema)]
struct Bandwidth {
    #[schemars(length(min = 1))]
    points: Vec<Rate>,
    /// null where the curve still rises at the largest message.
    plateau: Option<Plateau>,
    best: Option<Rate>,
    /// Of the plateau, or of the best where there is none; 1 being all. null where no ceiling is known.
    #[schemars(range(min = 0))]
    share_of_ceiling: Option<f64>,
    dips: Vec<Dip>,
    /// How much less than a smaller size is a dip; 1 being all.
    dip_threshold: Option<f64>,
}

/// The rate of one message size.
#[derive(Serialize, JsonSchema)]
struct Rate {
    #[schemars(range(min = 1))]
    bytes: u64,
    iterations: Option<u64>,
    peak_bytes_per_second: Option<u64>,
    /// 0 where the test gave no result.
    average_bytes_per_second: u64,
    messages_per_second: u64,
}

/// Where a curve settles.
#[derive(Serialize, JsonSchema)]
struct Plateau {
    /// The median of its sizes.
    #[schemars(range(min = 1))]
    bytes_per_second: u64,
    #[schemars(range(min = 1))]
    from_bytes: u64,
    #[schemars(range(min = 1))]
    to_bytes: u64,
    /// How far its sizes are apart, 1 being all of the rate.
    #[schemars(range(min = 0))]
    spread: f64,
}

/// Sizes that are slower than a smaller one.
#[derive(Serialize, JsonSchema)]
struct Dip {
    #[schemars(range(min = 1))]
    first_bytes: u64,
    #[schemars(range(min = 1))]
    last_bytes: u64,
    /// At the lowest, of the rate before; 1 being all.
    lost: f64,
    lowest: Rate,
    /// The fastest of the smaller sizes.
    before: Rate,
    /// The size after it; null where it does not recover.
    after: Option<Rate>,
}

/// A curve of times.
#[derive(Serialize, JsonSchema)]
struct Latency {
    #[schemars(length(min = 1))]
    points: Vec<Times>,
    /// Sizes that take longer than a larger one.
    bumps: Vec<Bump>,
}

/// The times of one message size.
#[derive(Serialize, JsonSchema)]
struct Times {
    #[schemars(range(min = 1))]
    bytes: u64,
    iterations: Option<u64>,
    min_s: Option<f64>,
    max_s: Option<f64>,
    #[schemars(range(min = 0))]
    typical_s: f64,
    p99_s: Option<f64>,
}

/// A size that takes longer than a larger one.
#[derive(Serialize, JsonSchema)]
struct Bump {
    at: Times,
    larger: Times,
    /// How much; 1 being as long again.
    longer: f64,
}

/// A curve as JSON.
pub fn curve(head: &Head, measured: &Measured<'_>) -> Result<String> {
    let curve = measured.curve;
    let (bandwidth, latency) = match &curve.figures {
        Figures::Bandwidth(points) => (Some(bandwidth(measured, points)), None),
        Figures::Latency(points) => (None, Some(latency(points))),
    };
    pretty(&CurveDocument {
        opening: head.opening(),
        file: measured.name,
        test: curve.test.as_deref(),
        both_directions: curve.is_bidirectional(),
        ceiling: measured.over.map(|(name, it)| Ceiling::of(name, it)),
        clocks: curve.clocks.iter().map(Clocks::of).collect(),
        bandwidth,
        latency,
    })
}

fn bandwidth(measured: &Measured<'_>, points: &[perftest::Bandwidth]) -> Bandwidth {
    let reading = bandwidths(points);
    let settled =
        reading.as_ref().map(|it| it.plateau.as_ref().map_or(it.best.average, |it| it.rate));
    let share = |rate: BytesPerSecond| {
        let (_, ceiling) = measured.over?;
        let narrowest = ceiling.narrowest(measured.direction())?;
        Some(rate.share_of(narrowest.carries(measured.direction())))
    };
    Bandwidth {
        points: points.iter().map(rate).collect(),
        plateau: reading.as_ref().and_then(|it| it.plateau.as_ref()).map(plateau),
        best: reading.as_ref().map(|it| rate(&it.best)),
        share_of_ceiling: settled.and_then(share),
        dips: reading.as_ref().map_or(Vec::new(), |it| it.dips.iter().map(dip).collect()),
        dip_threshold: reading.as_ref().map(|it| it.threshold),
    }
}

fn rate(point: &perftest::Bandwidth) -> Rate {
    Rate {
        bytes: point.message.0,
        iterations: point.iterations,
        peak_bytes_per_second: point.peak.map(|it| it.0),
        average_bytes_per_second: point.average.0,
        messages_per_second: point.messages().0,
    }
}

fn plateau(plateau: &curve::Plateau) -> Plateau {
    Plateau {
        bytes_per_second: plateau.rate.0,
        from_bytes: plateau.from.0,
        to_bytes: plateau.to.0,
        spread: plateau.spread,
    }
}

fn dip(dip: &curve::Dip) -> Dip {
    Dip {
        first_bytes: dip.first.0,
        last_bytes: dip.last.0,
        lost: dip.lost,
        lowest: rate(&dip.lowest),
        before: rate(&dip.before),
        after: dip.after.as_ref().map(rate),
    }
}

fn latency(points: &[perftest::Latency]) -> Latency {
    let bump =
        |it: &curve::Bump| Bump { at: times(&it.at), larger: times(&it.larger), longer: it.longer };
    let bumps = latencies(points).map_or(Vec::new(), |it| it.bumps.iter().map(bump).collect());
    Latency { points: points.iter().map(times).collect(), bumps }
}

fn times(it: &perftest::Latency) -> Times {
    Times {
        bytes: it.message.0,
        iterations: it.iterations,
        min_s: it.min.map(|it| it.as_secs_f64()),
        max_s: it.max.map(|it| it.as_secs_f64()),
        typical_s: it.typical.as_secs_f64(),
        p99_s: it.percentile_99.map(|it| it.as_secs_f64()),
    }
}
