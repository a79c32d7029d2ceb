//! Samples for tests.

use facts::Microwatts;
use facts::ipmi::{ExceptionAction, PowerLimit, PowerReading};
use lab::ipmi::power::{Power, Sample, Signals};
use rules::prochot::Since;
use std::time::Duration;

/// A board with a limit of 500 W, and a sample a second: watts, and `P` where PROCHOT# is pulled, `L` where its log began,
/// `W` where a power limit holds, `-` where some registers could not be read, `?` where none could. 0 W stand for no reading.
pub(super) fn power(samples: &[(u64, &str)]) -> Power {
    let watts = |it: u64| Microwatts(it * 1_000_000);
    let limit = PowerLimit {
        power: watts(500),
        correction: Duration::from_secs(6),
        action: ExceptionAction(0x11),
        sampling: Duration::from_secs(1),
    };
    let sample = |(n, &(power, signals)): (usize, &(u64, &str))| {
        let reading = PowerReading {
            current: watts(power),
            minimum: watts(2),
            maximum: watts(600),
            average: watts(300),
            at: None,
            period: Duration::from_secs(1),
        };
        let since = |active: char, begun: char| {
            Some(Since { is_active: signals.contains(active), has_begun: signals.contains(begun) })
        };
        Sample {
            at: Duration::from_secs(n as u64),
            reading: if power == 0 {
                Err("the controller is busy".to_owned())
            } else {
                Ok(reading)
            },
            signals: (!signals.contains('?')).then(|| Signals {
                prochot: since('P', 'L'),
                power_limit: since('W', 'w'),
                is_partial: signals.contains('-'),
            }),
        }
    };
    Power {
        name: "/dev/ipmi0: maker 674".to_owned(),
        limit: Some(limit),
        interval: Duration::from_secs(1),
        registers: Ok(vec!["MSR 0x19c IA32_THERM_STATUS".to_owned()]),
        samples: samples.iter().enumerate().map(sample).collect(),
    }
}
