//! What the hardware delivers of the clock that is asked of it, by counters that Linux shows.
//!
//! Sources: Intel SDM vol. 3B, "Hardware Feedback using MPERF and APERF": both count while the CPU runs, MPERF at the rate of the
//! time stamp counter, APERF at the clock. drivers/acpi/cppc_acpi.c (`feedback_ctrs` and the performance levels in
//! cpuN/acpi_cppc; Documentation/admin-guide/acpi/cppc_sysfs.rst) and cppc_perf_to_khz there, which makes a clock of a level. ACPI 6.5,
//! section 8.4.6.1, "Performance Counters" and "Performance Limited Register"; drivers/cpufreq/cppc_cpufreq.c for its file (Linux 7.0).

use crate::parse::{Expected, trimmed};
use crate::system::cpu_times::Worked;
use crate::{Fact, Hertz, Missing, PerCpu};
use std::time::Duration;

/// How long a look at counters takes.
pub const LOOK: Duration = Duration::from_millis(50);

/// What counters say of the CPUs' clocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delivered {
    /// What APERF, MPERF and the time stamp counter of each CPU did in a look of [`LOOK`]. Only an audit or a capture of this machine
    /// looks.
    pub looks: PerCpu<Look>,
    /// The feedback counters of CPPC, of the first CPU of each policy.
    pub feedback: PerCpu<Feedback>,
    /// The share of that time in which each CPU worked, by /proc/stat; `None` without a look.
    pub worked: Option<Worked>,
}

/// The counters of one CPU over a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// How long it took.
    pub time: Duration,
    /// Rise of the time stamp counter.
    pub ticks: u64,
    /// Rise of IA32_MPERF.
    pub reference: u64,
    /// Rise of IA32_APERF.
    pub cycles: u64,
}

impl Look {
    /// The time stamp counter, IA32_MPERF and IA32_APERF, in the order in which a look reads them.
    pub const REGISTERS: [u32; 3] = [0x10, 0xe7, 0xe8];

    /// Parses two readings, a line each: the time in nanoseconds, and the registers of [`Look::REGISTERS`].
    ///
    /// Counters that stand still or go backwards are those of an emulator, or were reset: no look.
    pub fn parse(text: &str) -> Result<Look, Expected> {
        const TWO: Expected = Expected(
            "two readings of a time, TSC, MPERF and APERF, each larger than the one before",
        );
        let numbers = |line: &str| -> Option<[u64; 4]> {
            let words: Option<Vec<u64>> =
                line.split_ascii_whitespace().map(|it| it.parse().ok()).collect();
            words?.try_into().ok()
        };
        let mut lines = trimmed(text).lines().map(numbers);
        let (Some(Some(first)), Some(Some(second)), None) =
            (lines.next(), lines.next(), lines.next())
        else {
            return Err(TWO);
        };
        let rise = |at: usize| second[at].checked_sub(first[at]).filter(|it| *it > 0).ok_or(TWO);
        let (nanoseconds, ticks, reference, cycles) = (rise(0)?, rise(1)?, rise(2)?, rise(3)?);
        Ok(Look { time: Duration::from_nanos(nanoseconds), ticks, reference, cycles })
    }

    /// The average clock while the CPU ran.
    pub fn clock(&self) -> Hertz {
        let ticks_a_second = self.ticks as f64 / self.time.as_secs_f64();
        Hertz((ticks_a_second * self.cycles as f64 / self.reference as f64).round() as u64)
    }

    /// The share of the time in which the CPU ran, 1 being all of it.
    pub fn busy_share(&self) -> f64 {
        (self.reference as f64 / self.ticks as f64).min(1.0)
    }
}

/// The feedback counters of one CPU, and what their counts mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Feedback {
    /// Their folder, for evidence: `/sys/devices/system/cpu/cpu0/acpi_cppc`.
    pub folder: String,
    /// The levels that the firmware tells of this CPU.
    pub levels: Levels,
    /// The counts since boot.
    pub since_boot: Counts,
    /// How they rose in a look of [`LOOK`]; only an audit or a capture of this machine looks.
    pub look: Fact<Counts>,
    /// `wraparound_time`: the shortest time in which a counter begins anew; absent on older kernels.
    pub wraps_in: Fact<Duration>,
}

/// Cycles at the reference level and at the delivered one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// `ref`.
    pub reference: u64,
    /// `del`.
    pub delivered: u64,
}

/// Performance levels of CPPC, and the clocks of two of them; a level has no unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// `reference_perf`: the level at which the reference counter rises.
    pub reference: u64,
    /// `nominal_perf`.
    pub nominal: u64,
    /// `lowest_perf`; 0 where it is unknown.
    pub lowest: u64,
    /// `guaranteed_perf`: the level that the firmware says it can sustain with the power and heat of the moment, at most the nominal one.
    /// `None` where it does not say.
    pub guaranteed: Option<u64>,
    /// `nominal_freq`; `None` where the firmware does not say.
    pub nominal_clock: Option<Hertz>,
    /// `lowest_freq`; `None` where the firmware does not say.
    pub lowest_clock: Option<Hertz>,
}

/// The log of the platform in the file `perf_limited` of a policy: bits stay set until somebody clears them by writing, which this program
/// never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Excursions(u64);

impl Excursions {
    /// Parses `perf_limited`, a decimal number.
    pub fn parse(text: &str) -> Result<Excursions, Expected> {
        trimmed(text).parse().map(Excursions).map_err(|_| Expected("bits as a decimal number"))
    }

    /// The number that the file holds.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// Whether the platform delivered less than the desired level (bit 0). Not used where the processor chooses its level by itself.
    pub fn below_desired(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether it delivered less than the minimum level (bit 1).
    pub fn below_minimum(self) -> bool {
        self.0 & 2 != 0
    }
}

impl Counts {
    /// Parses `feedback_ctrs`: `ref:746123548456952 del:600147015590292`. Counters at 0 are not there (cppc_get_perf_ctrs).
    pub fn parse(text: &str) -> Result<Counts, Expected> {
        const COUNTS: Expected = Expected("counts like `ref:3 del:2`");
        let mut words = trimmed(text).split_ascii_whitespace();
        let mut count = |name: &str| -> Option<u64> {
            words.next()?.strip_prefix(name)?.parse().ok().filter(|it| *it > 0)
        };
        let (reference, delivered) = (count("ref:"), count("del:"));
        match (reference, delivered) {
            (Some(reference), Some(delivered)) => Ok(Counts { reference, delivered }),
            _ => Err(COUNTS),
        }
    }

    /// Parses two readings, a line each, into what rose between them.
    ///
    /// Counters that stand still may be those of a CPU that slept, and some have no more than 32 bits: no look.
    pub fn parse_rise(text: &str) -> Result<Counts, Expected> {
        const TWO: Expected = Expected("two readings of counters, the second larger");
        let (first, second) = trimmed(text).split_once('\n').ok_or(TWO)?;
        let (first, second) = (Counts::parse(first)?, Counts::parse(second)?);
        let rise = |from: u64, to: u64| to.checked_sub(from).filter(|it| *it > 0).ok_or(TWO);
        Ok(Counts {
            reference: rise(first.reference, second.reference)?,
            delivered: rise(first.delivered, second.delivered)?,
        })
    }
}

impl Levels {
    /// The level that counts stand for. Its unit is that of the nominal level.
    pub fn delivered(&self, counts: Counts) -> f64 {
        self.reference as f64 * counts.delivered as f64 / counts.reference as f64
    }

    /// The clock of a level, on the line through the two clocks that the firmware tells; by the nominal one alone where it tells no other,
    /// which is `nominal` where the firmware does not say it.
    pub fn clock(&self, level: f64, nominal: Option<Hertz>) -> Option<Hertz> {
        let nominal = self.nominal_clock.or(nominal)?.0 as f64;
        let rise = match self.lowest_clock {
            Some(lowest) if self.lowest < self.nominal && self.lowest > 0 => {
                (nominal - lowest.0 as f64) / (self.nominal - self.lowest) as f64
            }
            _ => nominal / self.nominal.max(1) as f64,
        };
        let clock = nominal - rise * (self.nominal as f64 - level);
        (clock > 0.0).then_some(Hertz(clock as u64))
    }
}

impl Feedback {
    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }

    /// The counts since boot, unless a counter may have begun anew since then.
    pub fn whole(&self, uptime: Option<Duration>) -> Fact<Counts> {
        match (&self.wraps_in, uptime) {
            (Ok(wraps), Some(uptime)) if *wraps <= uptime => Err(Missing::not_here(
                self.path("feedback_ctrs"),
                "its counters have begun anew since boot",
            )),
            _ => Ok(self.since_boot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_gives_the_clock_while_the_cpu_ran_and_how_long_that_was() {
        // 2.5 GHz for 50 ms; a tenth of it busy, at 1 GHz.
        let look = Look::parse("1000 5 7 9\n50001000 125000005 12500007 5000009\n").unwrap();
        assert_eq!(look.clock(), Hertz::from_mhz(1000));
        assert!((look.busy_share() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn counters_that_stand_still_or_go_back_are_no_look() {
        for text in ["1 1 1 1\n2 2 1 2\n", "1 1 9 1\n2 2 2 2\n", "1 1 1 1\n", "1 1 1\n2 2 2\n", ""]
        {
            assert!(Look::parse(text).is_err(), "{text}");
        }
    }

    fn levels(lowest_clock: Option<u64>) -> Levels {
        Levels {
            reference: 1000,
            nominal: 3150,
            lowest: 970,
            guaranteed: None,
            nominal_clock: Some(Hertz::from_mhz(2600)),
            lowest_clock: lowest_clock.map(Hertz::from_mhz),
        }
    }

    #[test]
    fn a_count_at_another_level_than_the_nominal_one_is_no_share_of_the_nominal_clock() {
        let counts = Counts::parse("ref:746123548456952 del:600147015590292\n").unwrap();
        let level = levels(Some(800)).delivered(counts);
        assert_eq!(level.round(), 804.0);
        let mhz = |lowest| levels(lowest).clock(level, None).unwrap().mhz().round();
        assert_eq!((mhz(Some(800)), mhz(None)), (663.0, 664.0));
        let silent = Levels { nominal_clock: None, ..levels(None) };
        assert_eq!(silent.clock(level, None), None);
        assert_eq!(silent.clock(3150.0, Some(Hertz(5))), Some(Hertz(5)));
    }

    #[test]
    fn counts_that_are_no_counts_are_refused() {
        for text in ["ref:0 del:0", "ref:1", "del:1 ref:1", "1 2", ""] {
            assert!(Counts::parse(text).is_err(), "{text}");
        }
        assert_eq!(
            Counts::parse_rise("ref:10 del:10\nref:30 del:20"),
            Ok(Counts { reference: 20, delivered: 10 })
        );
        assert!(Counts::parse_rise("ref:10 del:10\nref:10 del:10").is_err());
    }

    #[test]
    fn a_log_of_the_platform_is_two_bits_of_a_number() {
        let of = |text| Excursions::parse(text).map(|it| (it.below_desired(), it.below_minimum()));
        assert_eq!(of("0\n"), Ok((false, false)));
        assert_eq!(
            (of("1"), of("2\n"), of("3")),
            (Ok((true, false)), Ok((false, true)), Ok((true, true)))
        );
        assert!(of("<unsupported>").is_err() && of("").is_err() && of("-1").is_err());
    }

    #[test]
    fn counters_that_begin_anew_sooner_than_the_host_was_booted_say_nothing_since_boot() {
        let feedback = |wraps_in| Feedback {
            folder: String::new(),
            levels: levels(None),
            since_boot: Counts { reference: 1, delivered: 1 },
            look: Err(Missing::absent("x")),
            wraps_in,
        };
        let day = Some(Duration::from_secs(86_400));
        assert!(feedback(Ok(Duration::from_secs(4))).whole(day).is_err());
        assert!(feedback(Ok(Duration::from_secs(u64::from(u32::MAX)))).whole(day).is_ok());
        assert!(feedback(Err(Missing::absent("x"))).whole(day).is_ok());
    }
}
