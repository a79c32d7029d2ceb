//! What is said of messages of one kind: how many, when, and since when it is over.

use super::{KernelLog, Logged, Message, Messages};
use crate::quantity::{counted, span};

impl Messages {
    /// "12 lines, from 36 s to 3.9 days after boot".
    pub fn told(&self) -> String {
        let Messages { count, first, last, worst, .. } = self;
        let mut told = counted(*count, "line");
        if let Some(times) = times(first, last) {
            told += ", ";
            told += &times;
        }
        if let Some(events) = worst.amount.filter(|_| worst.text.contains("total events")) {
            told.extend([", ", &counted(events, "event")]);
        }
        told
    }
}

impl KernelLog {
    /// The message that says that what these messages report is over; `None` where it came again later, or no time tells.
    pub fn end_of(&self, logged: &Logged) -> Option<&Message> {
        let ends = |it: &&Logged| {
            it.source == logged.source && it.messages.kind.ends() == Some(logged.messages.kind.id)
        };
        let end = &self.messages.iter().find(ends)?.messages.last;
        let (last, over) = (&logged.messages.last.when, &end.when);
        let is_later = match (last.since_boot, over.since_boot) {
            (Some(last), Some(over)) => over >= last,
            _ => is_later(last.wall.as_ref()?, over.wall.as_ref()?),
        };
        is_later.then_some(end)
    }
}

/// Whether a time of day is not before another that is written in the same way, on the same day of a month or with the numbers first.
fn is_later(first: &str, second: &str) -> bool {
    let day = |it: &str| it.get(..6).map(str::to_owned);
    let is_sorted = first.starts_with(|it: char| it.is_ascii_digit()) || day(first) == day(second);
    is_sorted && second.len() == first.len() && second >= first
}

/// When the first and the last of them were written.
fn times(first: &Message, last: &Message) -> Option<String> {
    let since = |it: &Message| it.when.since_boot.map(span);
    if let (Some(first), Some(last)) = (since(first), since(last)) {
        return Some(match first == last {
            true => format!("{first} after boot"),
            false => format!("from {first} to {last} after boot"),
        });
    }
    let (first, last) = (first.when.wall.as_ref()?, last.when.wall.as_ref()?);
    Some(if first == last { first.clone() } else { format!("from {first} to {last}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(lines: &str) -> Option<String> {
        let log = KernelLog::of([("/dmesg", lines)]);
        let low = log.messages.iter().find(|it| it.messages.kind.id == "under-voltage").unwrap();
        log.end_of(low).map(|it| it.text.clone())
    }

    #[test]
    fn an_event_is_over_where_a_later_line_says_so() {
        let low = "[ 10.0] hwmon hwmon1: Undervoltage detected!\n";
        let normal = "[ 14.0] hwmon hwmon1: Voltage normalised\n";
        assert!(end(&format!("{low}{normal}")).is_some_and(|it| it.contains("normalised")));
        assert_eq!(end(low), None);
        assert_eq!(end(&format!("{low}{normal}{}", low.replace(" 10.0", " 20.0"))), None);
        let wall = |at: &str, text: &str| format!("Nov 27 {at} pi kernel: {text}\n");
        let (low, normal) =
            (wall("12:00:09", "Undervoltage detected!"), wall("12:00:13", "Voltage normalised"));
        assert!(end(&format!("{low}{normal}")).is_some());
        assert_eq!(end(&format!("{normal}{}", low.replace("00:09", "00:19"))), None);
    }
}
