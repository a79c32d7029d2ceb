//! Power as text, with lines of one mark per sample.

use super::{conclusion, limit, of_samples};
use crate::Style;
use crate::page::{BOLD, Page};
use facts::Microwatts;
use lab::ipmi::power::{Power, Sample, Signals};
use rules::prochot::Since;

/// Columns for a label.
const LABEL: usize = 18;

/// The board's power and its limit as text for a terminal.
pub fn text(power: &Power, style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&page.paint(BOLD, "The controller"));
    page.labelled(LABEL, "  controller", &power.name);
    page.labelled(LABEL, "  limit", &limit(power.limit.as_ref()));
    let n_samples = power.samples.len();
    let (plural, every) = (if n_samples == 1 { "" } else { "s" }, power.interval.as_secs_f64());
    page.line("");
    page.line(
        &page.paint(BOLD, &format!("The board, {n_samples} sample{plural}, one every {every} s")),
    );
    page.labelled(LABEL, "  draws", &drawn(power));
    let untold = power.samples.iter().filter_map(|it| it.reading.as_ref().err());
    let n_untold = untold.clone().count();
    if let Some(why) = untold.into_iter().next() {
        page.labelled(
            LABEL,
            "  not told",
            &format!("{}: {why}", of_samples((n_untold, n_samples))),
        );
    }
    if power.limit.is_some() {
        let told: Vec<bool> = power.samples.iter().filter_map(|it| power.is_at_limit(it)).collect();
        let at_limit = (told.iter().filter(|it| **it).count(), told.len());
        page.labelled(
            LABEL,
            "  at the limit",
            &format!("{}, from 95 % of it on", of_samples(at_limit)),
        );
    }
    if power.registers.is_ok() {
        page.labelled(LABEL, "  PROCHOT#", &signal(power, |it| it.prochot, "pulled from outside"));
        page.labelled(
            LABEL,
            "  power limits",
            &signal(power, |it| it.power_limit, "of the processors hold"),
        );
    }
    if let Some(n_partial @ 1..) = power.n_partial() {
        let told = format!("some registers, or all, {}", of_samples((n_partial, n_samples)));
        page.labelled(LABEL, "  not read", &told);
    }
    page.labelled(LABEL, "  so", &conclusion(power));
    timeline(&mut page, power, style.width);
    page.finish()
}

fn drawn(power: &Power) -> String {
    let Some(drawn) = power.drawn() else { return "unknown: it was never told".to_owned() };
    let powers = [drawn.least, drawn.mean, drawn.most];
    let [least, mean, most] = powers.map(|it| it.to_string());
    let shares = power.limit.as_ref().map_or_else(String::new, |limit| {
        let [least, mean, most] = powers.map(|it| 100.0 * it.share_of(limit.power));
        format!(": {least:.0}, {mean:.0} and {most:.0} % of the limit")
    });
    format!("{least} at least, {mean} on average, {most} at most{shares}")
}

fn signal(power: &Power, of: fn(&Signals) -> Option<Since>, what: &str) -> String {
    match power.seen(of) {
        (_, 0) if power.samples.iter().all(|it| it.signals.is_none()) => "unknown".to_owned(),
        (_, 0) => "not told by these registers".to_owned(),
        seen => format!("{what} {}", of_samples(seen)),
    }
}

/// One mark per sample, from left to right.
fn timeline(page: &mut Page, power: &Power, width: usize) {
    let scale = power.limit.as_ref().map(|it| it.power);
    let (whole, what) = match (scale, power.drawn()) {
        (Some(limit), _) => (limit, "limit"),
        (None, Some(drawn)) => (drawn.most, "most"),
        (None, None) => return,
    };
    page.line("");
    page.line(&page.paint(BOLD, "Sample by sample"));
    for samples in power.samples.chunks(width.saturating_sub(LABEL).max(20)) {
        let row = |mark: &dyn Fn(&Sample) -> char| samples.iter().map(mark).collect::<String>();
        let from = samples.first().map_or(0.0, |it| it.at.as_secs_f64());
        page.line(&format!("{:<LABEL$}", format!("  from {from:.0} s on")));
        page.line(&format!(
            "{:<LABEL$}{}",
            format!("  of the {what}"),
            row(&|it| tenths(it, whole))
        ));
        if power.registers.is_ok() {
            page.line(&format!("{:<LABEL$}{}", "  PROCHOT#", row(&|it| seen(it, |it| it.prochot))));
            page.line(&format!(
                "{:<LABEL$}{}",
                "  power limits",
                row(&|it| seen(it, |it| it.power_limit))
            ));
        }
    }
    let legend = "0 to 9: tenths of it, ^ all of it or more; # at the moment, + at some time since the sample before, . not, \
                  ? unknown";
    page.labelled(LABEL, "", legend);
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

    #[test]
    fn power_limit_and_signals_stand_below_each_other() {
        let samples =
            [(310, ""), (430, "L"), (490, "PW"), (505, "PW"), (0, "P"), (480, "?"), (300, "")];
        let text = text(&power(&samples), Style { color: false, width: 80 });
        insta::assert_snapshot!(text);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn without_a_limit_and_without_registers_the_power_is_shown() {
        let mut free = power(&[(310, "?"), (430, "?")]);
        free.limit = None;
        free.registers = Err("PROCHOT#: not available in a guest of KVM".to_owned());
        insta::assert_snapshot!(text(&free, Style { color: false, width: 80 }));
    }

    #[test]
    fn a_signal_that_no_register_tells_of_is_said_not_to_be_told() {
        let mut untold = power(&[(310, ""), (490, "P")]);
        for sample in &mut untold.samples {
            sample.signals.as_mut().unwrap().power_limit = None;
        }
        let text = text(&untold, Style { color: false, width: 80 });
        assert!(text.contains("\n  power limits    not told by these registers\n"), "{text}");
        assert!(text.contains("\n  power limits    ??\n"), "{text}");
        assert!(text.contains("\n  PROCHOT#        .#\n"), "{text}");
    }

    #[test]
    fn samples_in_which_registers_could_not_be_read_are_counted() {
        let told = |samples| text(&power(samples), Style { color: false, width: 80 });
        let some = told(&[(310, ""), (490, "P-"), (480, "?")]);
        assert!(
            some.contains("\n  not read        some registers, or all, in 2 of 3 samples\n"),
            "{some}"
        );
        assert!(!told(&[(310, "")]).contains("not read"));
    }

    #[test]
    fn a_long_timeline_is_folded() {
        let samples = vec![(310, ""); 130];
        let text = text(&power(&samples), Style { color: false, width: 80 });
        assert!(text.contains("  from 62 s on\n") && text.contains("  from 124 s on\n"), "{text}");
    }
}
