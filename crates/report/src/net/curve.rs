//! What a curve by message size says, in sentences.

use super::Statements;
use super::ceiling::assumptions;
use super::{Measured, more, rate as shown, word};
use facts::links::perftest::{Bandwidth, Figures, Latency, MessagesPerSecond};
use facts::{Bytes, BytesPerSecond, Missing};
use rules::ceiling::Direction;
use rules::curve::{Dip, Latencies, Reading, bandwidths, latencies};

/// The statements below the heading.
pub(super) fn statements(measured: &Measured<'_>) -> Statements {
    let mut statements = Statements::default();
    match &measured.curve.figures {
        Figures::Bandwidth(points) => match bandwidths(points) {
            Some(reading) => bandwidth(&mut statements, measured, &reading),
            None => statements.add(
                "0.00",
                "Every figure is 0.00, which is what very old versions of perftest print where the CPUs' clocks \
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

pub(super) fn heading(measured: &Measured<'_>) -> String {
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
    let rate = match &reading.plateau {
        Some(plateau) => {
            let words = format!(
                "{} from {} to {}; these sizes differ by {:.1} %",
                shown(plateau.rate),
                plateau.from.0,
                plateau.to,
                100.0 * plateau.spread
            );
            statements.add("plateau", &words);
            plateau.rate
        }
        None => {
            let best = reading.best;
            let words = format!(
                "none: it does not settle; the best is {} at {}",
                shown(best.average),
                best.message
            );
            statements.add("plateau", &words);
            best.average
        }
    };
    statements.add("ceiling", &ceiling(measured, rate));
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
        statements.add("0.00", &format!("no figure for messages of {} bytes", sizes.join(", ")));
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
    let most = shown(most);
    let both = if direction == Direction::Both { " in both directions together" } else { "" };
    let (by, name) = (word(ceiling, narrowest), &narrowest.name);
    let beyond = if share > 100.0 {
        ": more than there is, so something that is assumed below does not hold"
    } else {
        ""
    };
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
    format!(
        "{share:.0} % of the {most}{both} that the {by} of {device} ({name}) can carry{beyond}; {other}"
    )
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
        Some(after) => format!("{} move {} again", after.message, shown(after.average)),
        None => "larger ones do not recover".to_owned(),
    };
    format!(
        "{sizes}: {}, {:.0} % below the {} of {}; {after} ({} messages a second against {})",
        figure(first == last, lowest),
        100.0 * lost,
        shown(before.average),
        before.message,
        millions(lowest.messages()),
        millions(before.messages())
    )
}

fn figure(is_only: bool, lowest: &Bandwidth) -> String {
    let rate = shown(lowest.average);
    if is_only { rate } else { format!("{rate} at {}", lowest.message) }
}

fn latency(statements: &mut Statements, read: &Latencies) {
    let shown = |it: &Latency| {
        let us = |time: std::time::Duration| format!("{:.2} us", time.as_secs_f64() * 1e6);
        let worst = it.percentile_99.map_or(String::new(), |it| format!(", p99 {}", us(it)));
        format!("{} for {}{worst}", us(it.typical), it.message)
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

fn millions(rate: MessagesPerSecond) -> String {
    format!("{:.2} million", rate.0 as f64 / 1e6)
}
