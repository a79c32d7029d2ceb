//! A look at counters: read twice, a moment apart.

use super::Source;
use crate::clock;
use facts::cpu::delivered::Look;
use facts::system::cpu_times::CpuTimes;
use facts::{Fact, Missing, Why, msr};
use std::time::Duration;

/// A counter to read twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counter {
    /// The time in nanoseconds and [`Look::REGISTERS`] of a CPU, in decimal numbers.
    Clocks(u32),
    /// The first line of a file.
    File(String),
    /// The time in nanoseconds, and how much each CPU has worked since boot ([`CpuTimes::line`]).
    Times,
}

const STAT: &str = "/proc/stat";

impl Counter {
    /// What is read, for messages.
    pub(crate) fn path(&self) -> String {
        match self {
            Counter::Clocks(cpu) => msr::path(*cpu, Look::REGISTERS[2]),
            Counter::File(path) => path.clone(),
            Counter::Times => STAT.to_owned(),
        }
    }

    /// Under which name a capture keeps both readings.
    pub(super) fn name(&self) -> String {
        match self {
            Counter::Clocks(cpu) => format!("twice TSC, MPERF and APERF of CPU {cpu}"),
            Counter::File(path) => format!("twice {path}"),
            Counter::Times => format!("twice {STAT}"),
        }
    }

    pub(crate) fn read(&self, source: &dyn Source) -> Fact<String> {
        match self {
            Counter::Clocks(cpu) => {
                // The first access wakes the CPU up and is slower than those after it.
                source.msr(*cpu, Look::REGISTERS[2])?;
                let time = clock::raw_ns();
                let [tsc, mperf, aperf] = Look::REGISTERS.map(|it| source.msr(*cpu, it));
                Ok(format!("{time} {} {} {}", tsc?, mperf?, aperf?))
            }
            Counter::File(path) => {
                let text = source.text(path)?;
                Ok(text.lines().next().unwrap_or_default().to_owned())
            }
            Counter::Times => {
                let times = source.parsed(STAT, CpuTimes::parse)?;
                Ok(format!("{}{}", clock::raw_ns(), times.line()))
            }
        }
    }
}

/// Both readings of each counter, a line each. Where no counter can be read nothing is waited for, and who may not read one register may
/// read none. A CPU that goes offline meanwhile has none, and the others have theirs.
pub(super) fn twice(
    counters: &[Counter],
    time: Duration,
    read: &dyn Fn(&Counter) -> Fact<String>,
    wait: fn(Duration),
) -> Vec<Fact<String>> {
    let mut first: Vec<Fact<String>> = Vec::with_capacity(counters.len());
    let mut refusal = None;
    for counter in counters {
        let reading = match &refusal {
            Some(why) => Err(Missing { what: counter.path(), why: Why::clone(why) }),
            None => read(counter),
        };
        if let Err(Missing { why: why @ Why::Denied, .. }) = &reading
            && first.iter().all(Result::is_err)
        {
            refusal = Some(why.clone());
        }
        first.push(reading);
    }
    if first.iter().any(Result::is_ok) {
        wait(time);
    }
    let both = |(counter, first): (&Counter, Fact<String>)| {
        let first = first?;
        read(counter).map(|second| format!("{first}\n{second}\n"))
    };
    counters.iter().zip(first).map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Captured, Recording};
    use std::cell::{Cell, RefCell};

    thread_local! {
        static N_WAITED: Cell<u32> = const { Cell::new(0) };
    }

    fn wait(_: Duration) {
        N_WAITED.set(N_WAITED.get() + 1);
    }

    #[test]
    fn every_counter_is_read_before_the_wait_and_again_after_it() {
        let counters = [Counter::Clocks(0), Counter::File("/a".to_owned())];
        let asked = RefCell::new(Vec::new());
        let read = |it: &Counter| {
            asked.borrow_mut().push(it.path());
            Ok((10 * N_WAITED.get()).to_string())
        };
        let seen = twice(&counters, Duration::ZERO, &read, wait);
        assert_eq!(seen, [Ok("0\n10\n".to_owned()), Ok("0\n10\n".to_owned())]);
        let (registers, file) = ("/dev/cpu/0/msr 0xe8", "/a");
        assert_eq!(*asked.borrow(), [registers, file, registers, file]);
    }

    #[test]
    fn where_nothing_may_be_read_nothing_is_asked_again_nor_waited_for() {
        let counters = [Counter::Clocks(0), Counter::Clocks(1)];
        let n_asked = Cell::new(0);
        let read = |it: &Counter| {
            n_asked.set(n_asked.get() + 1);
            Err(Missing::denied(it.path()))
        };
        let seen = twice(&counters, Duration::ZERO, &read, wait);
        assert_eq!(seen[1], Err(Missing::denied("/dev/cpu/1/msr 0xe8")));
        assert_eq!((n_asked.get(), N_WAITED.get()), (1, 0));
    }

    #[test]
    fn a_cpu_that_goes_offline_is_missing_alone() {
        let counters = [0, 1, 2].map(Counter::Clocks);
        let read = |it: &Counter| match it {
            Counter::Clocks(0) => Err(Missing::absent(it.path())),
            Counter::Clocks(1) if N_WAITED.get() > 0 => Err(Missing::absent(it.path())),
            _ => Ok(N_WAITED.get().to_string()),
        };
        let seen = twice(&counters, Duration::ZERO, &read, wait);
        let gone = |cpu| Err(Missing::absent(Counter::Clocks(cpu).path()));
        assert_eq!(seen, [gone(0), gone(1), Ok("0\n1\n".to_owned())]);
    }

    #[test]
    fn a_capture_keeps_both_readings_and_an_excerpt_without_them_has_none() {
        let counters = [Counter::Clocks(0), Counter::File("/a".to_owned())];
        let text = "//- twice /a\nref:1 del:1\nref:2 del:2\n";
        let source = Captured::excerpt(text).unwrap();
        let recording = Recording::new(&source);
        let seen = recording.look(&counters);
        let none = Err(Missing::not_collected("/dev/cpu/0/msr 0xe8"));
        assert_eq!(seen, [none, Ok("ref:1 del:1\nref:2 del:2\n".to_owned())]);
        let again = Captured::parse(&recording.capture()).unwrap();
        assert_eq!(again.look(&counters), seen);
    }
}
