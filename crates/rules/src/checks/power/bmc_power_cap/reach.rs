//! How near a board comes to the limit of its management controller: what that means together with PROCHOT#, and in words.

use crate::finding::{Confidence, Severity};
use crate::power_cap::is_at;
use crate::prochot::Prochot;
use facts::HostView;
use facts::ipmi::{PowerLimit, PowerReading};

/// How near the board comes to the limit.
pub(super) enum Reach<'a> {
    /// It is at the limit now.
    Now(&'a PowerReading),
    /// It was at the limit on average over the controller's period.
    OnAverage(&'a PowerReading),
    /// It was at the limit at some time of the period.
    AtMost(&'a PowerReading),
    /// It was not at the limit.
    Far(&'a PowerReading),
    Unknown,
}

impl<'a> Reach<'a> {
    /// By what the controller says that the board draws.
    pub(super) fn of(host: &'a HostView, limit: &PowerLimit) -> Reach<'a> {
        match &host.power_cap.reading {
            Err(_) => Reach::Unknown,
            Ok(told) => match &told.holds {
                it if is_at(it.current, limit.power) => Reach::Now(it),
                it if is_at(it.average, limit.power) => Reach::OnAverage(it),
                it if is_at(it.maximum, limit.power) => Reach::AtMost(it),
                it => Reach::Far(it),
            },
        }
    }

    /// In words, after the limit.
    pub(super) fn text(&self, prochot: &Prochot) -> String {
        match self {
            Reach::Now(it) => format!(", and it draws {}", it.current),
            Reach::OnAverage(it) => {
                format!(", and it has drawn {} on average over {}", it.average, period(it))
            }
            Reach::AtMost(it) => format!(
                ", and it has drawn up to {} within {}, {} at this moment",
                it.maximum,
                period(it),
                it.current
            ),
            Reach::Far(it) if does_not_bind(self, prochot) => {
                format!(", which does not bind: it draws {}", it.current)
            }
            Reach::Far(it) => {
                format!(", and it draws {} at this moment, while PROCHOT# is pulled", it.current)
            }
            Reach::Unknown => "; what it draws is unknown".to_owned(),
        }
    }
}

/// A board that is clipped can draw far less than its limit, which says nothing then.
pub(super) fn does_not_bind(reach: &Reach<'_>, prochot: &Prochot) -> bool {
    matches!(reach, Reach::Far(_)) && !matches!(prochot, Prochot::Active(_))
}

fn period(reading: &PowerReading) -> String {
    match reading.period.as_secs_f64() {
        0.0 => "a period that it does not name".to_owned(),
        seconds => format!("{seconds:.0} s"),
    }
}

/// Whether PROCHOT# is pulled, in words after those of the reach.
pub(super) fn prochot_text(prochot: &Prochot) -> &'static str {
    match prochot {
        Prochot::Active(_) => {
            "; PROCHOT# is pulled at this moment, which is how a controller clips CPUs"
        }
        Prochot::Logged(_) => {
            "; PROCHOT# was pulled at some time since boot, or since the log was cleared"
        }
        Prochot::Clear { is_partial: false } => "; PROCHOT# is not pulled at this moment",
        Prochot::Clear { is_partial: true } => {
            "; PROCHOT# is not pulled at this moment, as far as registers could be read"
        }
        Prochot::Unknown => "; whether PROCHOT# is pulled is unknown",
    }
}

/// A log has no date, and a peak none within its period: neither weighs as much as what is seen at the moment.
pub(super) fn judged(reach: &Reach<'_>, prochot: &Prochot) -> (Severity, Confidence) {
    match (reach, prochot) {
        (Reach::Far(_), Prochot::Active(_)) => (Severity::Low, Confidence::Medium),
        (Reach::Far(_), _) => (Severity::Info, Confidence::High),
        (Reach::Now(_) | Reach::OnAverage(_), Prochot::Active(_)) => {
            (Severity::High, Confidence::High)
        }
        (Reach::Now(_) | Reach::OnAverage(_), Prochot::Logged(_)) => {
            (Severity::High, Confidence::Medium)
        }
        (Reach::Now(_) | Reach::OnAverage(_), Prochot::Clear { .. } | Prochot::Unknown)
        | (Reach::AtMost(_) | Reach::Unknown, Prochot::Active(_)) => {
            (Severity::Medium, Confidence::Medium)
        }
        (Reach::AtMost(_), _) => (Severity::Low, Confidence::Medium),
        (Reach::Unknown, _) => (Severity::Low, Confidence::Low),
    }
}
