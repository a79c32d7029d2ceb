//! What is applied and how it stands, and what drifted, as text.

use super::places::join;
use super::plan::shown;
use crate::Style;
use crate::harmless::harmless;
use crate::page::{BOLD, Page};
use facts::change::Target;
use facts::change::Written;
use facts::change::{ChangeStanding, Guarding, Standing, WrittenPlace};
use facts::change::{ChangeState, Overdue};
use facts::utc;
use rules::boot_edit::activation;
use std::collections::BTreeSet;
use std::time::Duration;

/// Columns before a change's lines.
const MARGIN: usize = 2;

/// What is applied and how each place stands. `suspects` are programs that run here and may change it.
pub fn status(
    changes: &[ChangeStanding],
    suspects: &[String],
    verbose: bool,
    style: Style,
) -> String {
    let mut page = Page::new(style);
    for change in changes {
        let head = format!("Change {}", change.recorded.id);
        let made = moment(change.recorded.when);
        page.line(&format!("{}  {made}  {}", page.paint(BOLD, &head), state(change)));
        page.paragraph(MARGIN, &format!("fullclock {}", change.recorded.command.join(" ")));
        places(&mut page, &change.places, verbose);
        page.line("");
    }
    if changes.iter().all(|it| it.recorded.state == ChangeState::Reverted) {
        page.paragraph(0, "Nothing is applied.");
    } else {
        if !suspects.is_empty() {
            let names = suspects.join(", ");
            let text = format!(
                "Running here, and may have changed it: {names}. `fullclock watch-drift` sees who does."
            );
            page.paragraph(0, &text);
        }
        page.paragraph(0, &next_boot(changes));
    }
    page.finish()
}

/// A moment as RFC 3339 writes it.
pub fn moment(since_epoch: Duration) -> String {
    utc::timestamp(u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX))
}

/// What became of a change.
pub(crate) fn state(change: &ChangeStanding) -> String {
    match &change.recorded.state {
        ChangeState::Open => {
            "not ended: it is being made, or was interrupted; `fullclock revert` undoes it"
                .to_owned()
        }
        ChangeState::Kept if change.is_of_this_boot => match n_changed(change) {
            0 => "in force".to_owned(),
            1 => "in force but for 1 place".to_owned(),
            n => format!("in force but for {n} places"),
        },
        ChangeState::Kept => "made before the last boot".to_owned(),
        ChangeState::Awaiting { until, .. } => awaiting(change, &moment(*until)),
        ChangeState::Reverted => "reverted".to_owned(),
        ChangeState::PartlyReverted { left } => format!("reverted but for {left} places"),
    }
}

fn awaiting(change: &ChangeStanding, until: &str) -> String {
    let id = &change.recorded.id;
    match &change.guard {
        None | Some(Guarding::InTime { is_running: true }) => {
            format!("to be confirmed by {until}, or reverted")
        }
        Some(Guarding::InTime { is_running: false }) => format!(
            "to be confirmed by {until}; no guard is running to revert it then: `fullclock revert {id}` does so"
        ),
        Some(Guarding::Overdue(Overdue::Undone)) => {
            format!("reverted after {until}, which the journal does not say yet")
        }
        Some(Guarding::Overdue(Overdue::Guarded)) => {
            format!("overdue since {until}: its guard is reverting it")
        }
        Some(Guarding::Overdue(Overdue::Unguarded)) => format!(
            "overdue since {until}: no guard is running; `fullclock revert {id}` reverts it"
        ),
    }
}

fn n_changed(change: &ChangeStanding) -> usize {
    change.places.iter().filter(|it| matches!(it.standing, Standing::Changed { .. })).count()
}

fn places(page: &mut Page, places: &[WrittenPlace], verbose: bool) {
    let common = |it: &WrittenPlace| (it.setting.clone(), standing_text(it));
    let written = places.iter().filter(|it| verbose || !matches!(it.standing, Standing::Gone));
    for joined in join(written.map(|it| (&it.write.target, common(it)))) {
        let (setting, words) = &joined.common;
        let n = if joined.n > 1 { format!(" ({} places)", joined.n) } else { String::new() };
        page.paragraph(2 * MARGIN, &format!("{setting}: {}: {words}{n}", joined.name()));
    }
}

fn standing_text(place: &WrittenPlace) -> String {
    let target = &place.write.target;
    let to = shown(target, place.write.to.as_ref());
    match &place.standing {
        Standing::InForce => to,
        Standing::Changed { found } => {
            format!("CHANGED since, to {}; it was given {to}", shown(target, found.as_ref()))
        }
        Standing::Unknown(why) => format!("given {to}, and cannot be read: {why}"),
        Standing::Gone => format!("given {to}, which is gone"),
    }
}

/// What the files that outlive a boot will do.
pub(crate) fn next_boot(changes: &[ChangeStanding]) -> String {
    let lasts = |it: &&ChangeStanding| {
        it.places.iter().any(|place| {
            matches!(place.write.target, Target::File { .. })
                && !matches!(place.standing, Standing::Gone)
        })
    };
    let lasting: Vec<&str> =
        changes.iter().filter(lasts).map(|it| it.recorded.id.as_str()).collect();
    let text = match lasting.as_slice() {
        [] => {
            return "The next boot ends all of it: nothing was made to last (`apply --persist` does that)."
                .to_owned();
        }
        [id] => format!("The next boot does change {id} again"),
        ids => format!("The next boot does changes {} again", ids.join(", ")),
    };
    let paths = changes.iter().flat_map(|it| &it.places).map(|it| it.write.target.to_string());
    let commands: BTreeSet<&str> = paths.filter_map(|it| activation(&it)).collect();
    match commands.into_iter().collect::<Vec<_>>().join("`, `") {
        none if none.is_empty() => format!("{text}."),
        commands => format!("{text}; the boot line follows once `{commands}` has run."),
    }
}

/// A line that tells of one place that drifted, or came back.
pub fn drift(
    at: &str,
    place: &WrittenPlace,
    found: Option<&str>,
    writer: Option<&Written>,
) -> String {
    let target = &place.write.target;
    let found = shown(target, found.map(str::to_owned).as_ref());
    let to = shown(target, place.write.to.as_ref());
    let by = match writer {
        None => String::new(),
        Some(Written { pid, command: None, .. }) => format!(", by process {pid}, which is gone"),
        Some(Written { pid, command: Some(command), .. }) => {
            format!(", by {command} (process {pid})")
        }
    };
    let line = match place.standing {
        Standing::InForce => format!("{at}  {target}: {found} again, as it was given{by}"),
        _ => format!("{at}  {target}: {found}, was given {to}{by}"),
    };
    format!("{}\n", harmless(&line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::change::Write;

    #[test]
    fn a_drift_is_one_line_whatever_the_writer_is_called() {
        let path = "/proc/sys/vm/stat_interval";
        let place = WrittenPlace {
            setting: "stat-interval".to_owned(),
            write: Write::of(Target::control(path), "1", "10"),
            standing: Standing::Changed { found: Some("7".to_owned()) },
        };
        let command = Some("tee\nCRITICAL".to_owned());
        let writer = Written { path: path.to_owned(), pid: 9, command };
        assert_eq!(
            drift("10:00:00", &place, Some("7"), Some(&writer)),
            format!("10:00:00  {path}: 7, was given 10, by tee\\nCRITICAL (process 9)\n")
        );
    }
}
