//! What the board draws against the controller's limit, and PROCHOT# at the same moments, sample by sample.

mod registers;

use crate::clock::now;
use crate::interrupt::Interrupt;
use anyhow::{Result, anyhow, bail};
use facts::HostView;
use facts::ipmi::{Completion, DcmiCapabilities, DeviceId, PowerLimit, PowerReading, Unanswered};
use host::Source;
use host::ipmi::{Controller, Failure, Patience};
use lab::ipmi::power::{Power, Sample};
use registers::Registers;
use std::time::Duration;

/// The samples so far, and who is asked for more.
pub struct Session<'a> {
    controller: Controller,
    patience: Patience<'a>,
    registers: Registers<'a>,
    power: Power,
}

impl<'a> Session<'a> {
    /// Opens this machine's controller and asks which limit it holds. `host` was read from `source`, whose registers are read
    /// with each sample.
    ///
    /// Errors: there is no controller, it knows nothing of power, or does not answer; what to do then.
    pub fn begin(
        host: &'a HostView,
        source: &'a dyn Source,
        (interval, timeout): (Duration, Duration),
        interrupt: &'a Interrupt,
    ) -> Result<Session<'a>> {
        let controller = lab::ipmi::open(host)?;
        let patience = Patience::begin(timeout, interrupt.flag());
        Session::of(controller, patience, Registers::of(host, source), interval)
    }

    fn of(
        mut controller: Controller,
        patience: Patience<'a>,
        registers: Registers<'a>,
        interval: Duration,
    ) -> Result<Session<'a>> {
        let id = controller.ask(&DeviceId::question(), patience.anew())?;
        let name = format!("{}: {id}", controller.path());
        let abilities = controller.ask(&DcmiCapabilities::question(), patience.anew());
        if !abilities.map_err(advised)?.manages_power {
            bail!(
                "{}: the controller says that it manages no power; {ELSEWHERE}",
                controller.path()
            );
        }
        let limit = limit(&mut controller, patience).map_err(advised)?;
        let power =
            Power { name, limit, interval, registers: registers.names(), samples: Vec::new() };
        Ok(Session { controller, patience, registers, power })
    }

    /// Samples for `duration`, until the user wants to stop, or the controller does not answer any more.
    ///
    /// Errors: what the controller failed at; the samples before it are kept.
    pub fn run(&mut self, duration: Duration, interrupt: &Interrupt) -> Result<()> {
        let (began, interval) = (now(), self.power.interval);
        let n_samples = duration.as_nanos() / interval.as_nanos();
        for n in 1..=n_samples.max(1) {
            if !self.sample(now().saturating_duration_since(began))? {
                return Ok(());
            }
            let due = interval.saturating_mul(u32::try_from(n).unwrap_or(u32::MAX));
            let left = due.saturating_sub(now().saturating_duration_since(began));
            if n < n_samples && interrupt.wait(left) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Takes a sample; whether another one makes sense.
    ///
    /// Errors: the controller does not answer any more, or never told a power.
    fn sample(&mut self, at: Duration) -> Result<bool> {
        let reading = self.controller.ask(&PowerReading::question(), self.patience.anew());
        // Right behind the answer: what the controller has just measured is what the registers are held against.
        let signals = self.registers.sample();
        let reading = match reading {
            Ok(reading) => Ok(reading),
            Err(Failure::Stopped) => return Ok(false),
            Err(why @ Failure::Unanswered { .. }) if !self.power.samples.is_empty() => {
                Err(why.to_string())
            }
            Err(why) => return Err(advised(why)),
        };
        self.power.samples.push(Sample { at, reading, signals });
        Ok(true)
    }

    /// What was sampled.
    pub fn finish(self) -> Power {
        self.power
    }
}

/// The limit that is in force.
fn limit(
    controller: &mut Controller,
    patience: Patience<'_>,
) -> Result<Option<PowerLimit>, Failure> {
    match controller.ask(&PowerLimit::question(), patience.anew()) {
        Err(Failure::Unanswered { path, question, why }) => PowerLimit::in_force(Err(why))
            .map_err(|why| Failure::Unanswered { path, question, why }),
        answer => answer.map(Some),
    }
}

const ELSEWHERE: &str = "\
a limit that it may hold all the same is told by its maker's tools or its web page alone, and what it measures by `fullclock \
ipmi sensors`";

/// The failure, with what to do about it where it does not say so itself.
fn advised(failure: Failure) -> anyhow::Error {
    match &failure {
        Failure::Unanswered { why: Unanswered::Refused(Completion::INVALID_COMMAND), .. } => {
            anyhow!("{failure}: it does not speak DCMI; {ELSEWHERE}")
        }
        Failure::Unanswered { why: Unanswered::Refused(_), .. } => anyhow!(
            "{failure}; try again, and look whether `ipmitool dcmi power reading` is answered"
        ),
        Failure::Unanswered { why: Unanswered::Malformed { .. }, .. } => anyhow!(
            "{failure}; look what `ipmitool dcmi power reading` makes of it, and for a firmware update of the controller"
        ),
        _ => failure.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Captured;
    use host::ipmi::{Arrived, Asked, Carrier};
    use rustix::io::Errno;
    use std::collections::{BTreeMap, VecDeque};
    use std::sync::atomic::AtomicBool;

    static NEVER: AtomicBool = AtomicBool::new(false);

    const READS: [u8; 19] = [
        0, 0xdc, 0xd6, 0, 2, 0, 0xd4, 0x01, 0xb8, 0, 0x84, 0x83, 0x37, 0x66, 0xe8, 0x03, 0, 0, 0x40,
    ];

    /// Answers by command; nothing to those that it has no answer to, or none any more.
    struct Bmc {
        answers: BTreeMap<u8, VecDeque<Vec<u8>>>,
        arriving: Option<Arrived>,
    }

    impl Carrier for Bmc {
        fn send(&mut self, asked: &Asked<'_>) -> Result<(), Errno> {
            let id = vec![0, 0x20, 1, 1, 0, 2, 0xbf, 0, 0, 0, 0, 0];
            let data = match (asked.function, asked.command) {
                (6, 1) => Some(id),
                (_, command) => self.answers.get_mut(&command).and_then(VecDeque::pop_front),
            };
            self.arriving = data.map(|data| asked.answer(data));
            Ok(())
        }

        fn receive(&mut self, within: Duration) -> Result<Option<Arrived>, Errno> {
            let arrived = self.arriving.take();
            if arrived.is_none() {
                std::thread::sleep(within);
            }
            Ok(arrived)
        }
    }

    fn empty() -> (Captured, HostView) {
        let source = Captured::excerpt("").unwrap();
        let host = host::view(&source);
        (source, host)
    }

    /// What is made of a controller with these answers to abilities, limit and reading, in so many samples.
    fn asked(answers: [&[&[u8]]; 3], n_samples: usize) -> Result<Power> {
        let queue = |it: &[&[u8]]| it.iter().map(|it| it.to_vec()).collect::<VecDeque<_>>();
        let [abilities, limit, readings] = answers.map(queue);
        let answers = BTreeMap::from([(1, abilities), (3, limit), (2, readings)]);
        let carrier = Box::new(Bmc { answers, arriving: None });
        let controller = Controller::behind("/dev/x".to_owned(), carrier);
        let patience = Patience::begin(Duration::from_millis(60), &NEVER);
        let (source, host) = empty();
        let registers = Registers::of(&host, &source);
        let mut session = Session::of(controller, patience, registers, Duration::from_secs(1))?;
        for n in 0..n_samples {
            session.sample(Duration::from_secs(n as u64))?;
        }
        Ok(session.finish())
    }

    const ABLE: &[u8] = &[0, 0xdc, 1, 5, 2, 0, 1, 7];
    const LIMIT: &[u8] = &[0, 0xdc, 0, 0, 0x11, 0xf4, 1, 0x70, 0x17, 0, 0, 0, 0, 1, 0];

    #[test]
    fn limit_and_readings_are_asked_for_and_one_that_is_refused_is_told() {
        let power = asked([&[ABLE], &[LIMIT], &[&READS, &[0xc0], &READS]], 3).unwrap();
        assert_eq!(power.limit.unwrap().power.to_string(), "500 W");
        let known: Vec<bool> = power.samples.iter().map(|it| it.reading.is_ok()).collect();
        assert_eq!(known, [true, false, true]);
        assert!(power.registers.is_err() && power.samples[0].signals.is_none());
        assert_eq!(asked([&[ABLE], &[&[0x80]], &[&READS]], 1).unwrap().limit, None);
    }

    #[test]
    fn what_cannot_be_had_says_why_and_what_to_do() {
        let why = |answers| asked(answers, 1).err().unwrap().to_string();
        let unknown = why([&[&[0xc1]], &[], &[]]);
        assert!(
            unknown.contains("does not speak DCMI") && unknown.contains("web page"),
            "{unknown}"
        );
        let powerless = why([&[&[0, 0xdc, 1, 5, 2, 0, 0, 7]], &[], &[]]);
        assert!(powerless.starts_with("/dev/x: the controller says that it manages no power"));
        let hangs = why([&[ABLE], &[], &[]]);
        assert!(
            hangs.contains("no answer to Get Power Limit") && hangs.contains("ipmitool mc info")
        );
        let nonsense = why([&[ABLE], &[&[0, 1, 2]], &[]]);
        assert!(
            nonsense.contains("expected 0xdc") && nonsense.contains("firmware update"),
            "{nonsense}"
        );
        let mut off = READS;
        off[18] = 0;
        let inactive = why([&[ABLE], &[LIMIT], &[&off]]);
        assert!(inactive.contains("a power measurement that is active"), "{inactive}");
    }
}
