//! What speaks against the change having made the difference. The verdict is about the trials; this is about the change.
//!
//! Results hold the moment they began, to a second, and when each trial did since the first; what came before the first, making
//! a database ready, is in neither. The journal holds when each change began, and not when it was reverted.

use super::{Certificate, Change};
use crate::change::moment;
use facts::change::ChangeState;
use facts::utc::parse_timestamp;
use lab::compare::Design;
use lab::record::Record;
use std::time::Duration;

/// The moment a result began is one of whole seconds, and around each trial some is measured.
const SECOND: Duration = Duration::from_secs(1);

/// Sentences, the weightiest first.
pub(super) fn cautions(certificate: &Certificate<'_>) -> Vec<String> {
    let [before, after] = certificate.moments.each_ref().map(|it| it.side.record);
    let design = certificate.comparison.difference.design;
    let of_change = certificate.change.and_then(|change| match design {
        Design::Interleaved | Design::Race => of_trials(change, before),
        Design::Separate(..) | Design::Runs(..) => of_moments(change, before, after),
    });
    let of_design = matches!(design, Design::Separate(..)).then(|| {
        "Before and after were measured at different times: other changes between them are part of the difference."
            .to_owned()
    });
    of_change.into_iter().chain(of_design).collect()
}

/// The trials ran with and without the change in turn if `apply --prove` made one by its command for each trial with it.
fn of_trials(change: &Change, record: &Record) -> Option<String> {
    let id = &change.shown.recorded.id;
    (!is_proof(change, record).unwrap_or(false)).then(|| {
        format!(
            "Nothing says that the trials are about change {id}: the journal has no change by its command for each \
             of them, as `apply --prove` makes."
        )
    })
}

/// Whether as many changes by the command began one after another, as far apart as the trials with it. `None` where the
/// moments are not known.
fn is_proof(change: &Change, record: &Record) -> Option<bool> {
    let is_named = record.arms.iter().map(|it| it.name.as_str()).eq(["before", "after"]);
    let began = Duration::from_nanos(parse_timestamp(&record.began)?);
    let trials = record.trials.iter().filter(|it| it.arm == 1).map(|it| it.began_ns.value());
    let trials: Vec<Duration> =
        trials.map(|it| it.copied().map(Duration::from_nanos)).collect::<Option<_>>()?;
    let first = *trials.first()?;
    let is_like = |changes: &[Duration]| {
        let apart = changes.iter().map(|it| it.saturating_sub(changes[0]));
        let mut pairs = apart.zip(trials.iter().map(|it| it.saturating_sub(first)));
        changes[0] + SECOND >= began && pairs.all(|(change, trial)| change.abs_diff(trial) < SECOND)
    };
    Some(is_named && change.same_command.windows(trials.len()).any(is_like))
}

/// The change has to lie between the moments, and to be in force since.
fn of_moments(change: &Change, before: &Record, after: &Record) -> Option<String> {
    let recorded = &change.shown.recorded;
    let (id, made) = (&recorded.id, moment(recorded.when));
    let (Some((_, ended)), Some((began, _))) = (times(before), times(after)) else {
        return Some(untimed(id));
    };
    if recorded.when + SECOND < ended {
        let ended = moment(ended);
        return Some(format!(
            "Change {id} was made at {made}, before the trials of before had ended ({ended}): it does not lie between \
             the two."
        ));
    }
    if recorded.when > began + SECOND {
        let began = moment(began);
        return Some(format!(
            "Change {id} was made at {made}, when the trials of after had begun ({began}): it does not lie between \
             the two."
        ));
    }
    let why = match recorded.state {
        ChangeState::Kept if change.shown.is_of_this_boot => return None,
        ChangeState::Kept => "There was a boot since",
        ChangeState::Open => "It is not ended",
        ChangeState::Awaiting { .. } => return None,
        ChangeState::Reverted | ChangeState::PartlyReverted { .. } => "It was reverted",
    };
    Some(format!(
        "{why}, and the journal does not tell when: the trials of after may have run without change {id}."
    ))
}

fn untimed(id: &str) -> String {
    format!(
        "The results do not tell when their trials ran: nothing says that change {id} lies between them."
    )
}

/// When it began, and a moment before which its trials had not ended, since the epoch.
fn times(record: &Record) -> Option<(Duration, Duration)> {
    let began = Duration::from_nanos(parse_timestamp(&record.began)?);
    let ends = record
        .trials
        .iter()
        .map(|it| Some(it.began_ns.value()?.saturating_add(*it.outcome.elapsed_ns.value()?)));
    let last = ends.collect::<Option<Vec<u64>>>()?.into_iter().max()?;
    Some((began, began + Duration::from_nanos(last)))
}
