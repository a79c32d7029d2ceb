//! Power as a document, with lines of one mark per sample.

use super::{conclusion, limit, of_samples};
use crate::document::{Block, Document, Text};
use facts::Microwatts;
use facts::quantity::counted;
use lab::ipmi::power::{Power, Sample, Signals};
use rules::prochot::Since;

/// Samples in a line of marks: with its label it fits the narrowest terminal.
const PER_LINE: usize = 40;
/// Columns for the label of a line of marks.
const LABEL: usize = 14;

/// Whether the limit clips the CPUs, what the board draws, and each sample.
pub fn document(power: &Power) -> Document {
    let mut document = Document::new("fullclock ipmi power");
    document.paragraph(Text::strong(drawn(power)));
    document.paragraph(Text::sentence(&conclusion(power)));
    document.labelled("controller", &*power.name);
    document.labelled("limit", limit(power.limit.as_ref()));
    samples(&mut document, power);
    timeline(&mut document, power);
    document
}

/// How many samples there are, and what was seen in them.
fn samples(document: &mut Document, power: &Power) {
    let n_samples = power.samples.len();
    let every = power.interval.as_secs_f64();
    document.labelled(
        "samples",
        format!("{}, one every {every} s", counted(n_samples as u64, "sample")),
    );
    let failed = power.samples.iter().filter_map(|it| it.reading.as_ref().err());
    let n_failed = failed.clone().count();
    if let Some(why) = failed.into_iter().next() {
        let words = format!("the power, {}: {why}", of_samples((n_failed, n_samples)));
        document.labelled("unknown", words);
    }
    if let Some(n_partial @ 1..) = power.n_partial() {
        let words = format!("some registers, or all, {}", of_samples((n_partial, n_samples)));
        document.labelled("unknown", words);
    }
    if power.limit.is_some() {
        let known: Vec<bool> =
            power.samples.iter().filter_map(|it| power.is_at_limit(it)).collect();
        let at_limit = (known.iter().filter(|it| **it).count(), known.len());
        document.labelled("at limit", format!("{}, from 95 % of it on", of_samples(at_limit)));
    }
    if power.registers.is_ok() {
        document.labelled("PROCHOT#", signal(power, |it| it.prochot, "pulled from outside"));
        let words = signal(power, |it| it.power_limit, "active in the processors");
        document.labelled("own limits", words);
    }
}

/// What the board draws, and how much of its limit that is.
fn drawn(power: &Power) -> String {
    let Some(drawn) = power.drawn() else {
        return "What the board draws is unknown: no sample has it.".to_owned();
    };
    let powers = [drawn.least, drawn.mean, drawn.most];
    let [least, mean, most] = powers.map(|it| it.to_string());
    match &power.limit {
        None => format!("The board draws {mean} on average, min {least}, max {most}."),
        Some(limit) => {
            let [_, mean_share, most_share] = powers.map(|it| 100.0 * it.share_of(limit.power));
            format!(
                "The board draws {mean} on average ({mean_share:.0} % of its limit), min {least}, max {most} ({most_share:.0} %)."
            )
        }
    }
}

fn signal(power: &Power, of: fn(&Signals) -> Option<Since>, what: &str) -> String {
    match power.seen(of) {
        (_, 0) if power.samples.iter().all(|it| it.signals.is_none()) => "unknown".to_owned(),
        (_, 0) => "unknown: these registers do not show it".to_owned(),
        seen => format!("{what} {}", of_samples(seen)),
    }
}

/// One mark per sample, from left to right.
fn timeline(document: &mut Document, power: &Power) {
    let scale = power.limit.as_ref().map(|it| it.power);
    let (whole, what) = match (scale, power.drawn()) {
        (Some(limit), _) => (limit, "of limit"),
        (None, Some(drawn)) => (drawn.most, "of maximum"),
        (None, None) => return,
    };
    document.heading("Sample by sample");
    document.note(
        "0 to 9: tenths of it, ^ all of it or more; # at the moment, + at some time since the sample before, . not, ? unknown.",
    );
    let mut lines = Vec::new();
    for samples in power.samples.chunks(PER_LINE) {
        let from = samples.first().map_or(0.0, |it| it.at.as_secs_f64());
        lines.push(format!("after {from:.0} s"));
        let mut marks = |label: &str, mark: &dyn Fn(&Sample) -> char| {
            let marks: String = samples.iter().map(mark).collect();
            lines.push(format!("{label:<LABEL$}{marks}"));
        };
        marks(what, &|it| tenths(it, whole));
        if power.registers.is_ok() {
            marks("PROCHOT#", &|it| seen(it, |it| it.prochot));
            marks("own limits", &|it| seen(it, |it| it.power_limit));
        }
    }
    document.push(Block::Code(lines.join("\n")));
}

fn tenths(sample: &Sample, whole: Microwatts) -> char {
    let Ok(reading) = &sample.reading else { return '?' };
    let tenths = (10.0 * reading.current.share_of(whole)) as u32;
    char::from_digit(tenths, 10).unwrap_or('^')
}

fn seen(sample: &Sample, of: fn(&Signals) -> Option<Since>) -> char {
    match sample.signals.as_ref().and_then(of) {
        None => '?',
        Some(Since { is_active: true, .. }) => '#',
        Some(Since { has_begun: true, .. }) => '+',
        Some(_) => '.',
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::power;
    use super::*;
    use crate::document::every_form::{in_every_form, text};

    fn shown(power: &Power) -> String {
        text(&document(power), 80)
    }

    #[test]
    fn power_limit_and_signals_stand_below_each_other() {
        let samples =
            [(310, ""), (430, "L"), (490, "PW"), (505, "PW"), (0, "P"), (480, "?"), (300, "")];
        insta::assert_snapshot!(in_every_form(&document(&power(&samples))));
    }

    #[test]
    fn without_a_limit_and_without_registers_the_power_is_shown() {
        let mut free = power(&[(310, "?"), (430, "?")]);
        free.limit = None;
        free.registers = Err("PROCHOT#: not available in a guest of KVM".to_owned());
        insta::assert_snapshot!(shown(&free));
    }

    #[test]
    fn a_signal_that_no_register_shows_is_unknown() {
        let mut unknown = power(&[(310, ""), (490, "P")]);
        for sample in &mut unknown.samples {
            sample.signals.as_mut().unwrap().power_limit = None;
        }
        let text = shown(&unknown);
        assert!(text.contains("\nown limits  unknown: these registers do not show it\n"), "{text}");
        assert!(text.contains("\n  own limits    ??\n"), "{text}");
        assert!(text.contains("\n  PROCHOT#      .#\n"), "{text}");
    }

    #[test]
    fn samples_in_which_registers_could_not_be_read_are_counted() {
        let some = shown(&power(&[(310, ""), (490, "P-"), (480, "?")]));
        assert!(some.contains("some registers, or all, in 2 of 3 samples\n"), "{some}");
        assert!(!shown(&power(&[(310, "")])).contains("some registers"));
    }

    #[test]
    fn a_long_timeline_is_folded() {
        let text = shown(&power(&vec![(310, ""); 90]));
        assert!(text.contains("  after 40 s\n") && text.contains("  after 80 s\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
