//! What changes from round to round, a line for each sensor and event.

use super::{figure, state, thresholds, when};
use crate::Style;
use crate::harmless::harmless;
use crate::page::{Page, color_of};
use facts::quantity::counted;
use facts::utc::clock_time;
use lab::ipmi::sensors::{Event, Level, Line, Round};
use rules::finding::Severity;

/// Columns of a value.
const VALUE: usize = 10;
/// A name may be shorter.
const NAME: usize = 16;

/// The sensors that read something else than in the round before; where that was lost, or had other sensors, all of them.
pub fn changed(before: Option<&Round>, after: &Round, style: Style) -> String {
    let mut page = Page::new(style);
    let at = format!("{}  ", clock_time(after.at_ns));
    match &after.found {
        Err(why) => page.labelled(10, &at, why),
        Ok(lines) => {
            let earlier = before.and_then(|it| it.found.as_ref().ok());
            let earlier = earlier.filter(|it| it.len() == lines.len());
            let widths = Widths::of(lines);
            for (index, line) in lines.iter().enumerate() {
                let same = earlier.and_then(|it| it.get(index));
                if same.is_none_or(|it| shown(it) != shown(line) || it.sensor != line.sensor) {
                    put(&mut page, &at, line, &widths);
                }
            }
        }
    }
    page.finish()
}

/// An event, and when the controller says that it was.
pub fn event(at_ns: u64, event: &Event, style: Style) -> String {
    let mut page = Page::new(style);
    let Event { at, of, what, .. } = event;
    let label = format!("{}  ", clock_time(at_ns));
    page.labelled(10, &label, &format!("event: {of}: {what} ({})", when(*at)));
    page.finish()
}

/// How many events there were besides those that are shown.
pub fn untold(round: &Round, style: Style) -> String {
    let mut page = Page::new(style);
    if round.n_untold > 0 {
        let label = format!("{}  ", clock_time(round.at_ns));
        let n = counted(round.n_untold, "event");
        let words = format!("{n} more came from the controller, too many to show");
        page.labelled(10, &label, &words);
    }
    page.finish()
}

/// What is shown of a sensor: nothing else is a change.
fn shown(line: &Line) -> (Option<String>, String) {
    (line.value().map(figure), state(line))
}

struct Widths {
    name: usize,
    unit: usize,
    state: usize,
}

impl Widths {
    fn of(lines: &[Line]) -> Widths {
        let widest = |width: fn(&Line) -> usize| lines.iter().map(width).max().unwrap_or_default();
        let has_thresholds = lines.iter().any(|it| !it.thresholds.is_empty());
        Widths {
            name: widest(|it| it.sensor.name.chars().count()).max(NAME),
            unit: widest(|it| it.value().map_or(0, |_| it.sensor.unit.to_string().len())),
            state: if has_thresholds { widest(|it| state(it).len()).min(32) } else { 0 },
        }
    }

    fn columns(&self, [name, value, unit, state]: [&str; 4]) -> String {
        let Widths { name: name_width, unit: unit_width, state: state_width } = self;
        format!("{name:<name_width$}{value:>VALUE$} {unit:<unit_width$}  {state:<state_width$}")
    }
}

fn put(page: &mut Page, before: &str, line: &Line, widths: &Widths) {
    let (value, state) = shown(line);
    let unit = value.as_ref().map(|_| line.sensor.unit.to_string()).unwrap_or_default();
    let value = value.unwrap_or_else(|| "-".to_owned());
    let columns = widths.columns([&harmless(&line.sensor.name), &value, &unit, &state]);
    let shown = match line.level() {
        Some(Level::NonCritical) => page.paint(color_of(Severity::Medium), &columns),
        Some(Level::Critical | Level::NonRecoverable) => {
            page.paint(color_of(Severity::Critical), &columns)
        }
        Some(Level::Ok) | None => columns,
    };
    page.line(&format!("{before}{shown}  {}", thresholds(line)));
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use facts::ipmi::Timestamp;

    const STYLE: Style = Style { color: false, width: 80 };

    #[test]
    fn only_what_reads_otherwise_is_told_again() {
        let (before, mut after) = (sample::round(), sample::round());
        assert_eq!(changed(Some(&before), &after, STYLE), "");
        after.found.as_mut().unwrap()[0].measured.as_mut().unwrap().value = Some(97.0);
        let text = changed(Some(&before), &after, STYLE);
        insta::assert_snapshot!(text, @"20:00:00  CPU1 Temp               97 degrees C  Upper Non-critical, Upper Critical  ucr 95");
        let all = changed(Some(&sample::lost()), &after, STYLE);
        assert_eq!(all.lines().count(), 4, "{all}");
        assert!(changed(Some(&after), &sample::lost(), STYLE).contains("no answer"));
    }

    #[test]
    fn an_event_says_when_it_was_by_the_controllers_clock() {
        let round = sample::round();
        let mut told = round.events[0].clone();
        let mut text = event(round.at_ns, &told, STYLE);
        told.at = Some(Timestamp::SinceStart(9));
        text += &event(round.at_ns, &told, STYLE);
        told.at = None;
        text += &event(round.at_ns, &told, STYLE);
        insta::assert_snapshot!(text, @"
        20:00:00  event: CPU1 Temp: Upper Critical going high (2020-09-13 12:26:40 by
                  its clock)
        20:00:00  event: CPU1 Temp: Upper Critical going high (9 s after the
                  controller's start)
        20:00:00  event: CPU1 Temp: Upper Critical going high (at an unknown time)
        ");
    }
}
