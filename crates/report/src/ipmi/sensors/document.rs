//! One round of sensors as a document: what is out of its thresholds first, then every sensor.

use super::{figure, state, thresholds, when};
use crate::document::{Align, Block, Document, Item, Role, Table, Text};
use facts::quantity::counted;
use lab::ipmi::sensors::{Board, Event, Level, Line, Round};
use rules::finding::Severity;

/// Every sensor, and the events since the round before; or why the controller did not answer.
pub fn document(board: Board<'_>, round: &Round) -> Document {
    let mut document = Document::new(format!("fullclock ipmi sensors of {}", board.name));
    let lines = match &round.found {
        Ok(lines) => lines,
        Err(why) => {
            document.paragraph(Text::strong("The controller did not answer."));
            document.paragraph(&**why);
            return document;
        }
    };
    document.paragraph(Text::strong(verdict(lines)));
    for (line, severity) in lines.iter().filter_map(|it| Some((it, severity(it)?))) {
        document.push(Block::Item(item(line, severity)));
    }
    document.push(Block::Table(table(lines)));
    events(&mut document, round);
    about(&mut document, board, round, lines.len());
    document
}

/// How many sensors there are, and how many are out of their thresholds.
fn verdict(lines: &[Line]) -> String {
    let sensors = counted(lines.len() as u64, "sensor");
    match lines.iter().filter(|it| severity(it).is_some()).count() {
        0 => format!("{sensors}, no threshold passed."),
        n => format!("{sensors}, {n} beyond a threshold."),
    }
}

/// How bad it is that a sensor is beyond a threshold; `None` where it is not, or has none.
fn severity(line: &Line) -> Option<Severity> {
    match line.level()? {
        Level::Ok => None,
        Level::NonCritical => Some(Severity::Medium),
        Level::Critical | Level::NonRecoverable => Some(Severity::Critical),
    }
}

/// A sensor that is beyond a threshold.
fn item(line: &Line, severity: Severity) -> Item {
    let value = line.value().map_or_else(|| "no value".to_owned(), |it| with_unit(line, it));
    let head =
        Text::strong(&*line.sensor.name).with(Role::Plain, format!("  {value}: {}", state(line)));
    Item { severity, head, body: Vec::new() }
}

fn with_unit(line: &Line, value: f64) -> String {
    format!("{} {}", figure(value), line.sensor.unit)
}

fn table(lines: &[Line]) -> Table {
    let has_thresholds = lines.iter().any(|it| !it.thresholds.is_empty());
    let last = if has_thresholds { "state; thresholds" } else { "state" };
    let columns = [("sensor", Align::Left), ("reading", Align::Right), (last, Align::Left)];
    let row = |line: &Line| -> Vec<Text> {
        let reading = line.value().map_or_else(|| "-".to_owned(), |it| with_unit(line, it));
        let state = match line.thresholds.is_empty() {
            true => state(line),
            false => format!("{}; {}", state(line), thresholds(line)),
        };
        [line.sensor.name.clone(), reading, state].map(Text::from).into()
    };
    Table::new(&columns, lines.iter().map(row))
}

/// What the log has; what came by itself is told when it comes.
fn events(document: &mut Document, round: &Round) {
    let logged: Vec<&Event> = round.events.iter().filter(|it| !it.is_sent).collect();
    if !logged.is_empty() {
        document.heading("Events");
        let columns = [("when", Align::Left), ("of", Align::Left), ("event", Align::Left)];
        let row = |it: &&Event| -> Vec<Text> {
            [when(it.at), it.of.clone(), it.what.clone()].map(Text::from).into()
        };
        document.push(Block::Table(Table::new(&columns, logged.iter().map(row))));
    }
    if round.n_untold > 0 {
        let words =
            format!("Not shown: {} from the controller.", counted(round.n_untold, "more event"));
        document.note(words);
    }
}

/// Where the records come from, and how long the round took.
fn about(document: &mut Document, board: Board<'_>, round: &Round, n_sensors: usize) {
    let origin = board.origin;
    let (sensors, took) = (counted(n_sensors as u64, "sensor"), round.took.as_secs_f64());
    let records = counted(origin.n_records as u64, "sensor record");
    document.note(match origin.is_kept {
        true => format!("{sensors} read in {took:.2} s. {records}, on disk and unchanged."),
        false => format!(
            "{sensors} read in {took:.2} s. {records}, fetched with {}: {}.",
            counted(origin.questions, "question"),
            origin.why
        ),
    });
    if !origin.unkept.is_empty() && origin.unkept != origin.why {
        document.note(format!("The records are not kept: {}.", origin.unkept));
    }
    if origin.n_unreadable > 0 {
        let records = counted(origin.n_unreadable as u64, "record");
        document.note(format!("{records} left out: not as the IPMI specification defines them."));
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::document::every_form::{in_every_form, text};

    #[test]
    fn every_sensor_has_its_value_and_its_state() {
        let origin = sample::origin();
        let board = sample::board(&origin);
        insta::assert_snapshot!(in_every_form(&document(board, &sample::round())));
        let lost = text(&document(board, &sample::lost()), 80);
        assert!(lost.contains("The controller did not answer.\n\n/dev/ipmi0: no answer"), "{lost}");
    }

    #[test]
    fn records_that_were_fetched_say_why_and_why_they_will_be_again() {
        let mut origin = sample::origin();
        origin.is_kept = false;
        origin.questions = 8;
        origin.why = "this is the first time".to_owned();
        origin.unkept = "/var/lib/fullclock: Read-only file system".to_owned();
        let shown = text(&document(sample::board(&origin), &sample::round()), 110);
        assert!(
            shown.contains("4 sensor records, fetched with 8 questions: this is the first time.\n")
        );
        assert!(
            shown.contains("not kept: /var/lib/fullclock: Read-only file system.\n"),
            "{shown}"
        );
    }

    #[test]
    fn sensors_whose_thresholds_nobody_asked_for_have_no_such_column() {
        let mut round = sample::round();
        round.found.as_mut().unwrap().iter_mut().for_each(|it| it.thresholds.clear());
        let origin = sample::origin();
        let shown = text(&document(sample::board(&origin), &round), 80);
        assert!(!shown.contains("thresholds"), "{shown}");
    }
}
