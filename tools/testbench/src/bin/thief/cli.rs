//! The command line.

use std::time::Duration;

use clap::{Args, Parser, Subcommand};

/// Steals a known share of a CPU, and prints what it truly took as one line of JSON.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// What to steal, and how.
    #[command(subcommand)]
    pub(crate) theft: Theft,
}

/// One way to steal.
#[derive(Debug, Subcommand)]
pub(crate) enum Theft {
    /// Keep the CPU busy for a share of each period, ahead of every ordinary task (SCHED_FIFO)
    Hog {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        share: Share,
        /// After what time the share is taken anew
        #[arg(long, default_value = "10ms", value_parser = duration)]
        period: Duration,
    },
    /// Raise timer interrupts that wake no task
    Timer {
        #[command(flatten)]
        place: Place,
        /// Interrupts a second
        #[arg(long, value_parser = clap::value_parser!(u32).range(10..=100_000))]
        hz: u32,
        /// Spin on the CPU too, and tell what an interrupt takes from the spinner; storms half of the time
        #[arg(long)]
        cost: bool,
    },
    /// Spin in a control group whose quota leaves it a share of the CPU
    Quota {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        share: Share,
    },
    /// Spin, but for a share of each period be stopped by SIGSTOP
    Stop {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        share: Share,
        /// After what time it is stopped anew
        #[arg(long, default_value = "100ms", value_parser = duration)]
        period: Duration,
    },
    /// Spin
    Spin {
        #[command(flatten)]
        place: Place,
        /// Die with this process, which started this one
        #[arg(long, value_name = "PID", hide = true)]
        parent: Option<u32>,
    },
    /// Do nothing, to compare with
    Idle {
        #[command(flatten)]
        place: Place,
    },
}

/// Where and how long.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Place {
    /// The CPU to steal from
    #[arg(long)]
    pub(crate) cpu: u32,
    /// How long to steal
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(crate) length: Duration,
}

/// A part of one CPU.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Share {
    /// In percent of one CPU
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) percent: u8,
}

/// A time of 1 ms to a day, in `s`, `ms` or `us`.
fn duration(text: &str) -> Result<Duration, String> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| format!("'{text}' is not like 10s or 500ms"))?;
    let duration = match &text[digits.len()..] {
        "s" => Duration::from_secs(number),
        "ms" => Duration::from_millis(number),
        "us" => Duration::from_micros(number),
        unit => return Err(format!("'{unit}' is not a unit of time: s, ms or us")),
    };
    if duration < Duration::from_millis(1) || duration > DAY {
        return Err(format!("'{text}' is not between 1ms and a day"));
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_and_a_sensible_length() {
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("1500us"), Ok(Duration::from_micros(1500)));
        for text in ["10", "s", "-1s", "1.5s", "10h", "0s", "999us", "99999999999s", "1\u{e9}"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_share_is_a_percentage() {
        let parse = |percent| {
            Arguments::try_parse_from(["thief", "hog", "--cpu", "0", "--percent", percent]).is_ok()
        };
        assert!(parse("1") && parse("100"));
        assert!(!parse("0") && !parse("101"));
    }
}
