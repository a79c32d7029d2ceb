//! Doubts in words.

use super::quantity::percent;
use lab::doubt::Doubt;

/// What is doubtful, as a clause: what was seen, and what it means for the figures.
pub(super) fn words(doubt: &Doubt) -> String {
    match doubt {
        Doubt::Throttled { trials } => {
            format!("the CPUs were throttled in {}", counted(*trials))
        }
        Doubt::ClockDrifted { share } => {
            format!("the clock moved by {} % between trials", percent(*share))
        }
        Doubt::ClockUnknown { missing } => {
            format!("nobody could see the clock, so it is not taken out: {missing}")
        }
        Doubt::Stolen { share } => {
            format!("the hypervisor took {} % of the CPUs' time around the trials", percent(*share))
        }
        Doubt::OtherLoad { share } => {
            format!("other tasks took {} % of the CPUs' time around the trials", percent(*share))
        }
        Doubt::Outliers { trials, of } => {
            let (lie, they) =
                if *trials == 1 { ("lies", "it counts") } else { ("lie", "they count") };
            format!("{trials} of {of} trials {lie} far from the others; {they} all the same")
        }
        Doubt::Warming { trials: 1 } => "the first trial was slower than the rest".to_owned(),
        Doubt::Warming { trials } => format!("the first {trials} trials were slower than the rest"),
        Doubt::Drifted { at, share } => {
            let way = if *share > 0.0 { "slower" } else { "faster" };
            format!("from trial {at} on the figures are {} % {way}", percent(share.abs()))
        }
        Doubt::TooFewTrials { trials, needed } => {
            format!("there are too few trials for a claim: {trials}, and it takes {needed}")
        }
        Doubt::Unpinned => {
            "it was not pinned: the scheduler could move it from CPU to CPU (--cpus)".to_owned()
        }
        Doubt::MachineUnknown => {
            "another program ran it, on a machine and at a time that its output does not tell; the date is that of \
             reading it"
                .to_owned()
        }
        Doubt::CutShort => "it was cut short before its plan was done".to_owned(),
        Doubt::Failures { trials } => {
            format!("{} failed and ended it; those before count", counted(*trials))
        }
    }
}

/// How grave it is among those of its kind: more is worse.
pub(super) fn degree(doubt: &Doubt) -> f64 {
    match doubt {
        Doubt::Throttled { trials } | Doubt::Warming { trials } | Doubt::Failures { trials } => {
            f64::from(*trials)
        }
        Doubt::Outliers { trials, of } => f64::from(*trials) / f64::from((*of).max(1)),
        Doubt::ClockDrifted { share } | Doubt::Stolen { share } | Doubt::OtherLoad { share } => {
            *share
        }
        Doubt::Drifted { share, .. } => share.abs(),
        Doubt::TooFewTrials { trials, .. } => -f64::from(*trials),
        Doubt::ClockUnknown { .. } | Doubt::Unpinned | Doubt::MachineUnknown | Doubt::CutShort => {
            0.0
        }
    }
}

/// What a doubt is called where there is no room for more.
pub(crate) fn name(doubt: &Doubt) -> &'static str {
    match doubt {
        Doubt::Throttled { .. } => "throttled",
        Doubt::ClockDrifted { .. } => "clock moved",
        Doubt::ClockUnknown { .. } => "clock unknown",
        Doubt::Stolen { .. } => "stolen time",
        Doubt::OtherLoad { .. } => "other load",
        Doubt::Outliers { .. } => "outliers",
        Doubt::Warming { .. } => "slow start",
        Doubt::Drifted { .. } => "drifted",
        Doubt::TooFewTrials { .. } => "too few trials",
        Doubt::Unpinned => "not pinned",
        Doubt::MachineUnknown => "machine unknown",
        Doubt::CutShort => "cut short",
        Doubt::Failures { .. } => "failed",
    }
}

fn counted(trials: u32) -> String {
    if trials == 1 { "1 trial".to_owned() } else { format!("{trials} trials") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubt_says_what_was_seen_and_how_much_of_it() {
        assert_eq!(
            words(&Doubt::Stolen { share: 0.0123 }),
            "the hypervisor took 1.2 % of the CPUs' time around the trials"
        );
        assert_eq!(
            words(&Doubt::Drifted { at: 12, share: -0.02 }),
            "from trial 12 on the figures are 2.0 % faster"
        );
        assert_eq!(words(&Doubt::Throttled { trials: 1 }), "the CPUs were throttled in 1 trial");
    }
}
