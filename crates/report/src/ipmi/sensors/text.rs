//! Sensors as text.

use super::{figure, state};
use crate::Style;
use crate::harmless::harmless;
use crate::page::{BOLD, Page, color_of};
use facts::ipmi::{Threshold, Timestamp};
use facts::utc::{clock_time, timestamp};
use lab::ipmi::sensors::{Board, Event, Level, Line, Round};
use rules::finding::Severity;

/// Columns of a value.
const VALUE: usize = 10;
/// A name may be shorter.
const NAME: usize = 16;

/// Who was asked, and where the records come from.
pub fn heading(board: Board<'_>, n_sensors: usize, style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&page.paint(BOLD, board.name));
    let origin = board.origin;
    let records = if origin.is_kept {
        format!("{} records, on disk and unchanged", origin.n_records)
    } else {
        let (count, questions, why) = (origin.n_records, origin.questions, &origin.why);
        format!("{count} records, fetched with {questions} questions: {why}")
    };
    page.labelled(10, "sensors", &n_sensors.to_string());
    page.labelled(10, "records", &records);
    if !origin.unkept.is_empty() && origin.unkept != origin.why {
        page.labelled(10, "", &format!("not kept: {}", origin.unkept));
    }
    if origin.n_unreadable > 0 {
        let words = format!("left out, not as the specification has them: {}", origin.n_unreadable);
        page.labelled(10, "", &words);
    }
    page.finish()
}

/// Every sensor; or that the controller did not answer.
pub fn table(round: &Round, style: Style) -> String {
    let mut page = Page::new(style);
    match &round.found {
        Err(why) => page.labelled(10, &clock_time(round.at_ns), why),
        Ok(lines) => {
            let widths = Widths::of(lines);
            let header = widths.columns(["Sensor", "Reading", "", "State"]);
            page.line(&page.paint(BOLD, header.trim_end()));
            lines.iter().for_each(|it| put(&mut page, "", it, &widths));
            let took = round.took.as_secs_f64();
            page.line("");
            page.line(&format!("{} sensors read in {took:.2} s", lines.len()));
        }
    }
    page.finish()
}

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
    let when = match at {
        None => "at a time that it does not tell".to_owned(),
        Some(Timestamp::SinceStart(seconds)) => {
            format!("{seconds} s after the controller's start")
        }
        Some(Timestamp::Date(seconds)) => {
            let text = timestamp(u64::from(*seconds) * 1_000_000_000);
            format!("{} by its clock", text.get(..19).unwrap_or(&text).replace('T', " "))
        }
    };
    let label = format!("{}  ", clock_time(at_ns));
    page.labelled(10, &label, &format!("event: {of}: {what} ({when})"));
    page.finish()
}

/// How many events there were besides those that are told.
pub fn untold(round: &Round, style: Style) -> String {
    let mut page = Page::new(style);
    if round.n_untold > 0 {
        let label = format!("{}  ", clock_time(round.at_ns));
        let words = format!("{} events more came by themselves, too many to tell", round.n_untold);
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
    let thresholds: Vec<String> = line.thresholds.iter().map(threshold).collect();
    page.line(&format!("{before}{shown}  {}", thresholds.join("  ")));
}

/// By the short names of `ipmitool sensor`.
fn threshold((threshold, value): &(Threshold, f64)) -> String {
    let name = match threshold {
        Threshold::LowerNonCritical => "lnc",
        Threshold::LowerCritical => "lcr",
        Threshold::LowerNonRecoverable => "lnr",
        Threshold::UpperNonCritical => "unc",
        Threshold::UpperCritical => "ucr",
        Threshold::UpperNonRecoverable => "unr",
    };
    format!("{name} {}", figure(*value))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    const STYLE: Style = Style { color: false, width: 80 };

    #[test]
    fn every_sensor_has_its_value_and_its_state() {
        let text = heading(sample::board(&sample::origin()), 4, STYLE)
            + "\n"
            + &table(&sample::round(), STYLE);
        insta::assert_snapshot!(text, @r#"
        /dev/ipmi0: device 0x20
        sensors   4
        records   4 records, on disk and unchanged
                  left out, not as the specification has them: 1

        Sensor             Reading            State
        CPU1 Temp            96.50 degrees C  Upper Non-critical, Upper Critical  ucr 95
        CPU2 Temp                -            no reading
        PSU1                     -            Presence detected, Power Supply input lost (AC/DC)
        FAN "1"                  -            there is no such sensor, record or data (completion code 0xcb)

        4 sensors read in 0.12 s
        "#);
        insta::assert_snapshot!(table(&sample::lost(), STYLE), @"20:00:00  /dev/ipmi0: no answer to Get Sensor Reading in 30 s");
    }

    #[test]
    fn records_that_were_fetched_say_why_and_why_they_will_be_again() {
        let mut origin = sample::origin();
        origin.is_kept = false;
        origin.questions = 8;
        origin.why = "this is the first time".to_owned();
        origin.unkept = "/var/lib/fullclock: Read-only file system".to_owned();
        insta::assert_snapshot!(heading(sample::board(&origin), 4, STYLE), @"
        /dev/ipmi0: device 0x20
        sensors   4
        records   4 records, fetched with 8 questions: this is the first time
                  not kept: /var/lib/fullclock: Read-only file system
                  left out, not as the specification has them: 1
        ");
    }

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
        20:00:00  event: CPU1 Temp: Upper Critical going high (at a time that it does
                  not tell)
        ");
    }
}
