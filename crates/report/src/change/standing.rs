//! What is applied and how it stands, and what drifted.

use super::places::join;
use super::plan::shown;
use crate::document::{Document, Text};
use crate::harmless::harmless;
use crate::wording::once_then_nothing;
use facts::change::{ChangeStanding, ChangeState, Guarding, Overdue};
use facts::change::{Standing, Target, Written, WrittenPlace};
use facts::quantity::counted;
use facts::utc;
use rules::boot_edit::activation;
use std::collections::BTreeSet;
use std::time::Duration;

/// What is applied and how each place stands. `suspects` are programs that run here and may change it.
///
/// Changes that one command made and reverted, as an experiment does around its trials, are one, unless `verbose`.
pub fn status(changes: &[ChangeStanding], suspects: &[String], verbose: bool) -> Document {
    let mut document = Document::new(verdict(changes));
    if !suspects.is_empty() {
        let text = format!(
            "Programs that run here and may have changed it: {}. `fullclock watch-drift` shows which process does.",
            suspects.join(", ")
        );
        document.paragraph(Text::sentence(&text));
    }
    if !changes.iter().all(is_reverted) {
        document.paragraph(Text::sentence(&next_boot(changes)));
    }
    for alike in changes.chunk_by(|it, next| !verbose && is_of_one_run(it, next)) {
        match alike {
            [only] => put(&mut document, only, verbose),
            [first, .., last] => put_run(&mut document, alike, [first, last]),
            [] => {}
        }
    }
    document
}

/// How many changes are applied, and whether somebody else has changed any of their places.
fn verdict(changes: &[ChangeStanding]) -> String {
    let n_applied = changes.iter().filter(|it| !is_reverted(it)).count();
    let n_changed = changes.iter().map(n_changed).sum();
    let (applied, places) =
        (counted(n_applied as u64, "change"), counted(n_changed as u64, "place"));
    match (n_applied, n_changed) {
        (0, _) => "Nothing is applied.".to_owned(),
        (1, 0) => format!("{applied} is applied."),
        (_, 0) => format!("{applied} are applied."),
        (1, _) => format!("{applied} is applied, and {places} changed since."),
        (_, _) => format!("{applied} are applied, and {places} changed since."),
    }
}

fn is_reverted(change: &ChangeStanding) -> bool {
    change.recorded.state == ChangeState::Reverted
}

/// Whether the next one was made by the same command, and both are reverted.
fn is_of_one_run(change: &ChangeStanding, next: &ChangeStanding) -> bool {
    is_reverted(change)
        && is_reverted(next)
        && change.recorded.command == next.recorded.command
        && change.recorded.boot == next.recorded.boot
}

fn put(document: &mut Document, change: &ChangeStanding, verbose: bool) {
    let recorded = &change.recorded;
    let made = moment(recorded.when);
    document.heading(format!("Change {}, {made}: {}", recorded.id, state(change)));
    if let Some(words) = deadline(change) {
        document.paragraph(Text::sentence(&words));
    }
    document.labelled("command", command(&recorded.command));
    let is_shown = |it: &&WrittenPlace| verbose || !matches!(it.standing, Standing::Gone);
    let places: Vec<&WrittenPlace> = change.places.iter().filter(is_shown).collect();
    for of_setting in places.chunk_by(|it, next| it.setting == next.setting) {
        let setting = of_setting.first().map_or("", |it| &it.setting);
        let joined = join(of_setting.iter().map(|it| (&it.write.target, standing_text(it))));
        for (places, label) in joined.iter().zip(once_then_nothing(setting)) {
            document.labelled(label, Text::sentence(&places.line(&places.common)));
        }
    }
}

/// Changes around the trials of one command, all of which are reverted.
fn put_run(
    document: &mut Document,
    changes: &[ChangeStanding],
    [first, last]: [&ChangeStanding; 2],
) {
    let [from, to] = [first, last].map(|it| &it.recorded);
    let n = changes.len();
    document.heading(format!("Changes {} to {}: {n} changes, all reverted", from.id, to.id));
    document.labelled("command", command(&from.command));
    document.labelled("made", format!("{} to {}", moment(from.when), moment(to.when)));
    let settings: BTreeSet<&str> =
        changes.iter().flat_map(|it| &it.places).map(|it| it.setting.as_str()).collect();
    if !settings.is_empty() {
        document.labelled("settings", settings.into_iter().collect::<Vec<_>>().join(", "));
    }
}

fn command(words: &[String]) -> Text {
    Text::code(format!("fullclock {}", words.join(" ")))
}

/// A moment as RFC 3339 writes it.
pub fn moment(since_epoch: Duration) -> String {
    utc::timestamp(u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX))
}

/// What became of a change, in few words.
pub(crate) fn state(change: &ChangeStanding) -> String {
    match &change.recorded.state {
        ChangeState::Open => "not ended".to_owned(),
        ChangeState::Kept if change.is_of_this_boot => match n_changed(change) {
            0 if change.places.iter().any(is_waiting) => "waits for a restart".to_owned(),
            0 => "in force".to_owned(),
            n => format!("in force but for {}", counted(n as u64, "place")),
        },
        ChangeState::Kept if change.places.iter().any(is_waiting) => {
            "made before the last boot, which did not bring it yet".to_owned()
        }
        ChangeState::Kept => "made before the last boot".to_owned(),
        ChangeState::Awaiting { until, .. } => match &change.guard {
            None | Some(Guarding::InTime { .. }) => "awaits confirmation".to_owned(),
            Some(Guarding::Overdue(_)) => format!("overdue since {}", moment(*until)),
        },
        ChangeState::Reverted => "reverted".to_owned(),
        ChangeState::PartlyReverted { left: 1 } => "reverted but for 1 place".to_owned(),
        ChangeState::PartlyReverted { left } => format!("reverted but for {left} places"),
    }
}

/// What there is to do about a change that is not over, and until when.
fn deadline(change: &ChangeStanding) -> Option<String> {
    let id = &change.recorded.id;
    let until = match &change.recorded.state {
        ChangeState::Open => {
            return Some(format!(
                "It is being made, or was interrupted: `fullclock revert {id}` reverts it."
            ));
        }
        ChangeState::Awaiting { until, .. } => moment(*until),
        _ => return None,
    };
    Some(match &change.guard {
        None | Some(Guarding::InTime { is_running: true }) => {
            format!("It is reverted at {until} unless `fullclock confirm {id}` keeps it.")
        }
        Some(Guarding::InTime { is_running: false }) => format!(
            "Confirm it by {until}: no guard is running to revert it then. `fullclock revert {id}` does."
        ),
        Some(Guarding::Overdue(Overdue::Undone)) => {
            "It is reverted, which the journal does not say yet.".to_owned()
        }
        Some(Guarding::Overdue(Overdue::Guarded)) => "Its guard is reverting it.".to_owned(),
        Some(Guarding::Overdue(Overdue::Unguarded)) => format!(
            "It is still in force, and no guard is running: `fullclock revert {id}` reverts it."
        ),
    })
}

fn n_changed(change: &ChangeStanding) -> usize {
    change.places.iter().filter(|it| matches!(it.standing, Standing::Changed { .. })).count()
}

fn is_waiting(place: &WrittenPlace) -> bool {
    matches!(place.standing, Standing::Waiting { .. })
}

fn standing_text(place: &WrittenPlace) -> String {
    let target = &place.write.target;
    let to = shown(target, place.write.to.as_ref());
    let is_firmware = matches!(target, Target::Firmware(_));
    match &place.standing {
        Standing::InForce if is_firmware => format!("{to}: the firmware has taken it"),
        Standing::InForce => to,
        Standing::Waiting { now } => format!(
            "{to}: requested, and not yet taken; the firmware has {} until the machine restarts",
            shown(target, Some(now))
        ),
        Standing::Changed { found } if is_firmware => format!(
            "TAKEN DIFFERENTLY: the firmware has {}; {to} was requested",
            shown(target, found.as_ref())
        ),
        Standing::Changed { found } => {
            format!("CHANGED since, to {}; it was set to {to}", shown(target, found.as_ref()))
        }
        Standing::Unknown(why) => format!("set to {to}; unknown now: {why}"),
        Standing::Gone => format!("set to {to}, which is gone"),
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
    let mut waiting = changes.iter().filter(|it| it.places.iter().any(is_waiting)).peekable();
    if waiting.peek().is_some() && lasting.is_empty() {
        let ids: Vec<&str> = waiting.map(|it| it.recorded.id.as_str()).collect();
        return format!(
            "The next boot brings what was requested of the firmware: {}.",
            ids.join(", ")
        );
    }
    let is_firmware = |it: &WrittenPlace| matches!(it.write.target, Target::Firmware(_));
    let has_firmware = changes.iter().flat_map(|it| &it.places).any(is_firmware);
    let text = match lasting.as_slice() {
        [] if has_firmware => {
            return "Settings of the firmware last until they are reverted; all other changes end at the next boot.".to_owned();
        }
        [] => {
            return "All changes end at the next boot (`apply --persist` keeps them).".to_owned();
        }
        [id] => format!("The next boot applies change {id} again"),
        ids => format!("The next boot applies changes {} again", ids.join(", ")),
    };
    let paths = changes.iter().flat_map(|it| &it.places).map(|it| it.write.target.to_string());
    let commands: BTreeSet<&str> = paths.filter_map(|it| activation(&it)).collect();
    match commands.into_iter().collect::<Vec<_>>().join("`, `") {
        none if none.is_empty() => format!("{text}."),
        commands => format!("{text}; the boot line changes once `{commands}` has run."),
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
