//! A curve by message size.

use super::Statements;
use super::by_size::by_size;
use super::ceiling::assumptions;
use super::{Measured, Origin, more, word};
use crate::document::{Document, Text};
use facts::links::perftest::{Bandwidth, Figures, Latency, MessagesPerSecond};
use facts::quantity::counted;
use facts::{Bytes, BytesPerSecond, Missing};
use rules::ceiling::Direction;
use rules::curve::{Dip, Latencies, Reading, bandwidths, latencies};
use std::time::Duration;

/// The plateau of a curve, its share of the ceiling, its dips, and each size. Without an origin it does not say how to repeat it.
pub fn curve(measured: &Measured<'_>, origin: Option<&Origin>) -> Document {
    let mut document = Document::new(heading(measured));
    document.paragraph(Text::strong(verdict(measured)));
    statements(measured).put(&mut document);
    by_size(&mut document, measured);
    if let Some(origin) = origin {
        origin.put(&mut document);
    }
    document
}

/// The curve in a sentence.
fn verdict(measured: &Measured<'_>) -> String {
    match &measured.curve.figures {
        Figures::Bandwidth(points) => match bandwidths(points) {
            Some(reading) => of_bandwidth(measured, &reading),
            None => "No size has a result.".to_owned(),
        },
        Figures::Latency(points) => match latencies(points) {
            Some(read) => of_latency(&read),
            None => "No size has a result.".to_owned(),
        },
    }
}

fn of_bandwidth(measured: &Measured<'_>, reading: &Reading) -> String {
    let dips = match reading.dips.len() {
        0 => "no dip".to_owned(),
        n => counted(n as u64, "dip"),
    };
    let settled = match &reading.plateau {
        Some(plateau) => format!("It settles at {}", plateau.rate),
        None => {
            format!("It does not settle: {} at most, with {}", rate(reading), reading.best.message)
        }
    };
    match share(measured, rate(reading)) {
        Some(percent) => format!("{settled}, {percent:.0} % of the ceiling; {dips}."),
        None => format!("{settled}; {dips}."),
    }
}

fn of_latency(read: &Latencies) -> String {
    let [smallest, largest] = [&read.smallest, &read.largest]
        .map(|it| format!("{} for {}", microseconds(it.typical), it.message));
    let bumps = match read.bumps.len() {
        0 => "no bump".to_owned(),
        n => counted(n as u64, "bump"),
    };
    if read.smallest.message == read.largest.message {
        return format!("{smallest}.");
    }
    format!("{smallest}, {largest}; {bumps}.")
}

/// Where a curve settles, or the most that it reaches.
fn rate(reading: &Reading) -> BytesPerSecond {
    reading.plateau.as_ref().map_or(reading.best.average, |it| it.rate)
}

/// A rate in percent of the ceiling, where that is known.
fn share(measured: &Measured<'_>, rate: BytesPerSecond) -> Option<f64> {
    let (_, ceiling) = measured.over?;
    let direction = measured.direction();
    let most = ceiling.narrowest(direction)?.carries(direction);
    Some(100.0 * rate.share_of(most))
}

/// The statements below the heading.
pub(super) fn statements(measured: &Measured<'_>) -> Statements {
    let mut statements = Statements::default();
    match &measured.curve.figures {
        Figures::Bandwidth(points) => match bandwidths(points) {
            Some(reading) => bandwidth(&mut statements, measured, &reading),
            None => statements.add(
                "0.00",
                "Every value is 0.00, which is what very old versions of perftest print where the CPUs' clocks \
                 differ: `fullclock audit` says what keeps them apart.",
            ),
        },
        Figures::Latency(points) => {
            if let Some(read) = latencies(points) {
                latency(&mut statements, &read);
            }
        }
    }
    clocks(&mut statements, measured);
    statements
}

fn heading(measured: &Measured<'_>) -> String {
    let sizes: Vec<Bytes> = match &measured.curve.figures {
        Figures::Bandwidth(points) => points.iter().map(|it| it.message).collect(),
        Figures::Latency(points) => points.iter().map(|it| it.message).collect(),
    };
    let test = measured.curve.test.as_ref().map_or(String::new(), |it| format!("{it}, "));
    let range = match &sizes[..] {
        [first, .., last] => format!("{} message sizes from {} to {}", sizes.len(), first.0, last),
        [only] => format!("one message size, {only}"),
        [] => "no message size".to_owned(),
    };
    format!("fullclock net curve of {}: {test}{range}", measured.name)
}

fn bandwidth(statements: &mut Statements, measured: &Measured<'_>, reading: &Reading) {
    match &reading.plateau {
        Some(plateau) => {
            let words = format!(
                "{} from {} to {}; these sizes differ by {:.1} %",
                plateau.rate,
                plateau.from.0,
                plateau.to,
                100.0 * plateau.spread
            );
            statements.add("plateau", &words);
        }
        None => {
            let best = &reading.best;
            let words = format!(
                "none: it does not settle; the best is {} at {}",
                best.average, best.message
            );
            statements.add("plateau", &words);
        }
    }
    statements.add("ceiling", &ceiling(measured, rate(reading)));
    if let Some((_, ceiling)) = measured.over {
        for it in assumptions(ceiling) {
            statements.add("assumed", &it);
        }
    }
    dips(statements, reading);
    let (size, rate) = reading.busiest;
    statements.add("messages", &format!("at most {} a second, at {size}", millions(rate)));
    if !reading.without.is_empty() {
        let sizes: Vec<String> = reading.without.iter().map(|it| it.0.to_string()).collect();
        statements.add("0.00", &format!("no value for messages of {} bytes", sizes.join(", ")));
    }
}

fn ceiling(measured: &Measured<'_>, rate: BytesPerSecond) -> String {
    let Some((device, ceiling)) = measured.over else {
        return "unknown: --device names what it was measured over, or --rate and --pcie"
            .to_owned();
    };
    let direction = measured.direction();
    let Some(narrowest) = ceiling.narrowest(direction) else {
        let missing = [&ceiling.wire, &ceiling.slot].map(|it| it.as_ref().err());
        let reasons: Vec<String> = missing.into_iter().flatten().map(Missing::advice).collect();
        return format!("unknown: {}", reasons.join("; "));
    };
    let most = narrowest.carries(direction);
    let share = 100.0 * rate.share_of(most);
    let (by, name) = (word(ceiling, narrowest), &narrowest.name);
    let other = match (ceiling.widest(direction), &ceiling.wire, &ceiling.slot) {
        (Some(widest), ..) => format!(
            "the {} ({}) carries {:.0} % more",
            word(ceiling, widest),
            widest.name,
            more(widest, narrowest, direction)
        ),
        (None, Err(missing), _) | (None, _, Err(missing)) => {
            format!("the other part is unknown: {}", missing.advice())
        }
        (None, ..) => String::new(),
    };
    let most = match direction {
        Direction::One => format!("{most} that the {by} of {device} ({name}) can carry"),
        Direction::Both => format!(
            "{most} in both directions together that the {by} of {device} ({name}) can carry"
        ),
    };
    if share > 100.0 {
        return format!(
            "{share:.0} % of the {most}: more than there is, so something that is assumed below does not hold; {other}"
        );
    }
    format!("{share:.0} % of the {most}; {other}")
}

fn dips(statements: &mut Statements, reading: &Reading) {
    let why = format!(
        "A larger message has fewer headers and fewer requests for the same data, so it should move no less than a smaller \
         one; {:.0} % less counts as a dip.",
        100.0 * reading.threshold
    );
    if reading.dips.is_empty() {
        statements.add("dip", &format!("none. {why}"));
        return;
    }
    for it in &reading.dips {
        statements.add("dip", &dip(it));
    }
    statements.add("", &why);
}

fn dip(dip: &Dip) -> String {
    let Dip { first, last, lowest, before, after, lost } = dip;
    let sizes = if first == last { first.to_string() } else { format!("{} to {last}", first.0) };
    let after = match after {
        Some(after) => format!("{} move {} again", after.message, after.average),
        None => "larger ones do not recover".to_owned(),
    };
    format!(
        "{sizes}: {}, {:.0} % below the {} of {}; {after} ({} messages a second against {})",
        figure(first == last, lowest),
        100.0 * lost,
        before.average,
        before.message,
        millions(lowest.messages()),
        millions(before.messages())
    )
}

fn figure(is_only: bool, lowest: &Bandwidth) -> String {
    let rate = lowest.average;
    if is_only { rate.to_string() } else { format!("{rate} at {}", lowest.message) }
}

fn latency(statements: &mut Statements, read: &Latencies) {
    let shown = |it: &Latency| {
        let worst = it.percentile_99.map(microseconds);
        let worst = worst.map_or(String::new(), |it| format!(", p99 {it}"));
        format!("{} for {}{worst}", microseconds(it.typical), it.message)
    };
    statements.add("smallest", &shown(&read.smallest));
    statements.add("largest", &shown(&read.largest));
    for bump in &read.bumps {
        let words = format!(
            "{}, which is {:.0} % longer than {}",
            shown(&bump.at),
            100.0 * bump.longer,
            shown(&bump.larger)
        );
        statements.add("bump", &words);
    }
    if read.bumps.is_empty() {
        let percent = 100.0 * read.threshold;
        let words = format!("none: no size takes {percent:.0} % longer than a larger one");
        statements.add("bump", &words);
    }
}

fn clocks(statements: &mut Statements, measured: &Measured<'_>) {
    for clocks in &measured.curve.clocks {
        let words = format!(
            "perftest found {} on CPU 0 and {} on another; `fullclock audit` says what keeps them apart, and \
             `fullclock explain \"Conflicting CPU frequency values detected: {} != {}\"` what that does to a test",
            clocks.first,
            clocks.other,
            clocks.first.mhz(),
            clocks.other.mhz()
        );
        statements.add("clocks", &words);
    }
}

/// As perftest prints it.
fn microseconds(time: Duration) -> String {
    format!("{:.2} us", time.as_secs_f64() * 1e6)
}

fn millions(rate: MessagesPerSecond) -> String {
    format!("{:.2} million", rate.0 as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::every_form::{in_every_form, text};
    use facts::links::perftest::Curve;

    const READ: &str = "\
                    RDMA_Read BW Test
 #bytes #iterations    BW peak[MB/sec]    BW average[MB/sec]
 64      1000            223.18             197.08
 128     1000            113.06             112.79
 256     1000            226.70             226.16
 8192    1000            2916.02            2915.82
 65536   1000            2941.48            2940.98
 8388608 1000            2939.31            2938.80
";

    const LATENCY: &str = " #bytes #iterations t_min[usec] t_max[usec] t_typical[usec]
 2 1000 1.10 9.00 1.20
 128 1000 1.8 9.9 2.40
 256 1000 1.6 9.9 1.90
";

    fn shown(name: &str, printed: &str) -> Document {
        let of_file = Curve::parse(printed).unwrap();
        curve(&Measured { name, curve: &of_file, over: None }, None)
    }

    #[test]
    fn a_curve_says_where_it_settles_and_shows_each_size() {
        insta::assert_snapshot!(in_every_form(&shown("read.txt", READ)));
    }

    #[test]
    fn a_latency_is_read_by_size_too() {
        insta::assert_snapshot!(text(&shown("latency.txt", LATENCY), 80));
    }
}
