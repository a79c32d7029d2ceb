//! A controller that is asked for the board's power, sample by sample.

use super::registers::Registers;
use anyhow::{Result, anyhow, bail};
use facts::ipmi::{Completion, DcmiCapabilities, DeviceId, PowerLimit, PowerReading, Unanswered};
use host::ipmi::{Controller, Failure, Patience};
use report::ipmi::power::{Power, Sample};
use std::time::Duration;

/// What there is so far, and who is asked for more.
pub(super) struct Session<'a> {
    controller: Controller,
    patience: Patience<'a>,
    registers: Registers<'a>,
    power: Power,
}

impl<'a> Session<'a> {
    /// Asks who the controller is and which limit it holds.
    ///
    /// Errors: it knows nothing of power, or does not answer; what to do then.
    pub(super) fn begin(
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

    /// Takes a sample; whether another one makes sense.
    ///
    /// Errors: the controller does not answer any more, or never told a power.
    pub(super) fn sample(&mut self, at: Duration) -> Result<bool> {
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

    pub(super) fn finish(self) -> Power {
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
    use facts::HostView;
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
        let mut session = Session::begin(controller, patience, registers, Duration::from_secs(1))?;
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
