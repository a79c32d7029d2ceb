//! The queries: what every PromQL has in common, and no more.

use super::Question;
use anyhow::{Result, bail};

/// The labels by which fleets are grouped, of each machine.
pub const HOST_INFO: &str = "fullclock_host_info";

/// The clock of busy CPUs to their nominal clock, by quantile over the CPUs.
pub const CLOCK_RATIO: &str = "fullclock_clock_ratio";

/// Simple operations a second of a short probe to those at the nominal clock.
pub const SPEED_RATIO: &str = "fullclock_speed_ratio";

/// The findings of each machine's last audit.
pub const FINDING: &str = "fullclock_finding";

/// How many checks of that audit could not be made, by what kept them from it: a machine has it where an audit was made.
pub const UNKNOWN_CHECKS: &str = "fullclock_unknown_checks";

/// What the series of an answer tell of machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Their labels; the value says nothing.
    Labels,
    /// Their clock.
    Clock,
    /// Their speed.
    Speed,
    /// Their findings, one a series.
    Findings,
    /// How many checks could not be made.
    Audits,
}

/// One query.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) holds: Holds,
    pub(super) text: String,
}

/// All of them, for one question.
#[derive(Debug)]
pub(super) struct Queries {
    pub(super) info: Query,
    pub(super) clock: Query,
    pub(super) speed: Query,
    pub(super) findings: Query,
    pub(super) audits: Query,
    /// Without braces; `None` where all machines are meant.
    pub(super) selector: Option<String>,
    is_time_chosen: bool,
}

/// Whether there is any machine at all: the answer has one series then.
pub(super) fn any() -> Query {
    Query { holds: Holds::Labels, text: format!("count({HOST_INFO})") }
}

impl Queries {
    /// Errors: the time is below a second, or the selector is not one.
    pub(super) fn of(question: &Question<'_>) -> Result<Queries> {
        let seconds = question.since.as_secs();
        if seconds == 0 {
            bail!("--since: expected at least 1 s");
        }
        let selector = question.selector.map(matchers).transpose()?.filter(|it| !it.is_empty());
        let own = selector.clone().unwrap_or_default();
        let query = |holds, text| Query { holds, text };
        let average = |metric: &str, labels: &str| {
            format!("avg_over_time({}[{seconds}s])", with(metric, labels, &own))
        };
        Ok(Queries {
            info: query(Holds::Labels, with(HOST_INFO, "", &own)),
            clock: query(Holds::Clock, average(CLOCK_RATIO, "quantile=\"0.5\"")),
            speed: query(Holds::Speed, average(SPEED_RATIO, "")),
            findings: query(Holds::Findings, with(FINDING, "", &own)),
            audits: query(
                Holds::Audits,
                format!("sum without (obstacle) ({})", with(UNKNOWN_CHECKS, "", &own)),
            ),
            selector,
            is_time_chosen: question.is_time_chosen,
        })
    }

    /// How to ask for less.
    pub(super) fn to_fewer(&self) -> String {
        let fewer = match self.selector {
            None => "ask for a part of the fleet with --match 'cluster=\"NAME\"'",
            Some(_) => "ask for fewer machines with --match",
        };
        let shorter = if self.is_time_chosen { ", or for a shorter time with --since" } else { "" };
        format!("{fewer}{shorter}")
    }

    /// Where to look for a fault of a query that an engine refuses.
    pub(super) fn hint(&self) -> &'static str {
        match self.selector {
            None => "",
            Some(_) => "; --match takes labels as in cluster=\"a\",rack=~\"r1.*\"",
        }
    }
}

/// A metric with these matchers of labels.
fn with(metric: &str, labels: &str, own: &str) -> String {
    match (labels, own) {
        ("", "") => metric.to_owned(),
        ("", labels) | (labels, "") => format!("{metric}{{{labels}}}"),
        (labels, own) => format!("{metric}{{{labels},{own}}}"),
    }
}

/// The matchers of a selector, without its braces. Whether each makes sense is for the engine to say.
///
/// Errors: a quote is open, or a brace is inside: what a user writes stays between the braces of a metric.
fn matchers(selector: &str) -> Result<String> {
    let text = selector.trim();
    let inner = text.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(text);
    let inner = inner.trim().trim_end_matches(',');
    let expected = "expected labels as in cluster=\"a\",rack=~\"r1.*\"";
    let mut open = None;
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match (open, character) {
            // In backticks a backslash stands for itself.
            (Some('"' | '\''), '\\') => drop(characters.next()),
            (Some(quote), it) if it == quote => open = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => open = Some(character),
            (None, '{' | '}' | '(' | ')' | '[' | ']' | '#') => {
                bail!("--match {selector}: {character:?} is outside of quotes; {expected}")
            }
            (None, _) => {}
        }
    }
    match open {
        Some(quote) => bail!("--match {selector}: the quote {quote} is open; {expected}"),
        None => Ok(inner.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn of(selector: &str) -> String {
        let question = Question {
            selector: Some(selector),
            since: Duration::from_secs(600),
            ..Question::default()
        };
        Queries::of(&question).map_or_else(|it| it.to_string(), |it| it.clock.text)
    }

    #[test]
    fn queries_are_of_the_common_part_and_have_the_selector_of_the_user() {
        let all = Queries::of(&Question::default()).unwrap();
        assert_eq!(
            [&all.info, &all.clock, &all.speed, &all.findings, &all.audits]
                .map(|it| it.text.as_str()),
            [
                "fullclock_host_info",
                "avg_over_time(fullclock_clock_ratio{quantile=\"0.5\"}[3600s])",
                "avg_over_time(fullclock_speed_ratio[3600s])",
                "fullclock_finding",
                "sum without (obstacle) (fullclock_unknown_checks)",
            ]
        );
        let own = "avg_over_time(fullclock_clock_ratio{quantile=\"0.5\",rack=~\"r1|}\"}[600s])";
        assert_eq!([of("rack=~\"r1|}\""), of(" { rack=~\"r1|}\", } ")], [own, own]);
        assert_eq!(of("{}"), "avg_over_time(fullclock_clock_ratio{quantile=\"0.5\"}[600s])");
    }

    #[test]
    fn a_selector_stays_between_the_braces_of_its_metric() {
        for text in ["a=\"b\"} or vector(1)", "up{a=\"b\"}", "a=\"b\"[5m]", "a=\"b\" # x"] {
            assert!(of(text).contains("is outside of quotes"), "{text}: {}", of(text));
        }
        for text in ["a=\"b", "a='b\\'", "a=`b"] {
            assert!(of(text).contains("is open"), "{text}: {}", of(text));
        }
        assert!(of("a='it\\'s',b=`\\`").starts_with("avg_over_time"));
    }

    #[test]
    fn a_time_of_none_is_refused() {
        let question = Question { since: Duration::from_millis(900), ..Question::default() };
        assert!(Queries::of(&question).unwrap_err().to_string().contains("at least 1 s"));
    }
}
