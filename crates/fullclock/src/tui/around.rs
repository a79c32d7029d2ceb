//! The lines above and below the table: title, what has to be said of the reading, and keys. What has no room is left out whole.

use super::detail::sparkline;
use super::message::{Feed, Page};
use super::state::State;
use super::text::{counted, cut, left, width, wrapped};
use super::theme::{ASIDE, HEADING};
use facts::utc::clock_time;
use ratatui::text::Line;
use rules::metric::Unit;
use rules::watch::{ClientValue, Probing, Reading, number, reason};

/// The program, the machine and the time at both ends of a line.
pub(super) fn title(state: &State, columns: usize) -> Line<'static> {
    let how = match &state.feed {
        Feed::Live { interval, .. } => format!("every {interval}"),
        Feed::Replay { ended: true, .. } => "END, r begins again".to_owned(),
        Feed::Replay { paused: true, .. } => "PAUSED".to_owned(),
        Feed::Replay { speed, .. } => format!("{speed}x"),
    };
    let frozen = state.behind.as_ref().map_or(String::new(), |it| match it.n {
        0 => "FROZEN ".to_owned(),
        n => format!("FROZEN, {n} behind "),
    });
    let time = state
        .reading
        .as_ref()
        .map_or(String::new(), |it| format!("{} UTC", clock_time(it.at.real_ns)));
    let right = format!("{frozen}{time}");
    let room = columns.saturating_sub(width(&right) + 1);
    let name = &state.machine.name;
    let cpus = state
        .reading
        .as_ref()
        .map_or(String::new(), |it| format!("{}, ", counted(it.cpus.len(), "CPU")));
    let candidates = [
        format!("fullclock watch  {name}, {cpus}{how}"),
        format!("{name}, {cpus}{how}"),
        format!("{}, {how}", cut(name, room.saturating_sub(width(&how) + 2))),
    ];
    let [.., shortest] = &candidates;
    let words = candidates.iter().find(|it| width(it) <= room).unwrap_or(shortest);
    Line::styled(format!("{} {right}", left(words, room)), HEADING)
}

/// Notes take at most so many lines.
const MOST_NOTES: usize = 3;

/// What the client says, in a line of its own, and then what has to be said of the reading, or else what is known of it.
pub(super) fn status(state: &State, reading: &Reading, columns: usize) -> Vec<Line<'static>> {
    let client = reading.client.iter().map(|it| of_client(state, it, columns));
    client.chain(of_reading(state, reading, columns)).collect()
}

/// The client's number, and those of as many intervals before as fit.
fn of_client(state: &State, client: &ClientValue, columns: usize) -> Line<'static> {
    let name = client.metric.name();
    let words = match &client.value {
        Ok(value) => format!("{name}: {} {}", number(Unit::PerSecond, *value), client.metric.unit),
        Err(missing) => reason(missing),
    };
    let words = cut(words.trim_end(), columns);
    let n = columns.saturating_sub(width(&words) + 2);
    let past = state.history.client((n, state.n_behind()));
    let line = sparkline(&past, state.theme).map_or(words.clone(), |it| format!("{words}  {it}"));
    Line::styled(line, HEADING)
}

fn of_reading(state: &State, reading: &Reading, columns: usize) -> Vec<Line<'static>> {
    if !reading.notes.is_empty() {
        let text = format!("! {}", reading.notes.join("; "));
        return alarm(state, &text, columns);
    }
    let mut words = Vec::new();
    words.extend(state.findings.as_ref().and_then(|it| it.count()).map(|it| format!("{it} (f)")));
    let n_missing = reading.columns.iter().filter(|it| it.missing().is_some()).count();
    words.extend((n_missing > 0).then(|| format!("{} unknown (m)", counted(n_missing, "column"))));
    if let Feed::Live { probing, .. } = &state.feed {
        words.extend(
            match probing {
                Probing::Needless => None,
                Probing::Off => Some("clock not probed (p)"),
                Probing::Busy => Some("clock of busy CPUs probed (p)"),
                Probing::All => Some("clock of ALL CPUs probed (p)"),
            }
            .map(str::to_owned),
        );
    }
    words.extend(reading.took.map(|it| format!("sampling took {:.1} ms", it.as_secs_f64() * 1e3)));
    vec![Line::styled(fitting(words, "; ", columns), ASIDE)]
}

/// What is being typed, what has to be said, or else the keys.
pub(super) fn keys(state: &State, columns: usize) -> Vec<Line<'static>> {
    if let Some(typed) = &state.typed {
        let words = [
            format!("show only: {typed}_"),
            "CPUs like 0-7,16 or part of a column's name".to_owned(),
            "Enter, Esc".to_owned(),
        ];
        return vec![Line::styled(fitting(words.to_vec(), "   ", columns), HEADING)];
    }
    if let Some(notice) = &state.notice {
        return alarm(state, &format!("! {notice}"), columns);
    }
    let has_levels = state.levels().len() > 1;
    let rows: &[&str] = if has_levels { &["v rows"] } else { &[] };
    let keys: Vec<&str> = match (state.page, &state.feed) {
        (Page::Table, Feed::Live { .. }) => {
            [&["q quit", "? help", "arrows", "s sort"][..], rows, LIVE_KEYS].concat()
        }
        (Page::Table, Feed::Replay { .. }) => REPLAY_KEYS.to_vec(),
        _ => vec!["Esc back", "q quit", "arrows scroll"],
    };
    let keys = keys.into_iter().map(str::to_owned).collect();
    vec![Line::styled(fitting(keys, "  ", columns), ASIDE)]
}

const LIVE_KEYS: &[&str] =
    &["e parts", "/ filter", "f findings", "b ledger", "i about", "space freeze"];

const REPLAY_KEYS: &[&str] = &[
    "q quit",
    "? help",
    "space pause",
    ". step",
    "+ - speed",
    "r restart",
    "s sort",
    "/ filter",
    "f findings",
    "b ledger",
    "i about",
];

fn alarm(state: &State, text: &str, columns: usize) -> Vec<Line<'static>> {
    let lines = wrapped(text, columns, MOST_NOTES, state.theme.ellipsis());
    lines.into_iter().map(|it| Line::styled(it, state.theme.alarm())).collect()
}

/// As many of the words as fit, from the first on.
fn fitting(mut words: Vec<String>, between: &str, columns: usize) -> String {
    while words.len() > 1 && width(&words.join(between)) > columns {
        words.pop();
    }
    cut(&words.join(between), columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_room_are_left_out_whole() {
        let words = || ["q quit", "? help", "s sort"].map(str::to_owned).to_vec();
        assert_eq!(fitting(words(), "  ", 22), "q quit  ? help  s sort");
        assert_eq!(fitting(words(), "  ", 21), "q quit  ? help");
        assert_eq!(fitting(words(), "  ", 4), "q q~");
    }
}
