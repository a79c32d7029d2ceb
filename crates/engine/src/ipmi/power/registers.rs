//! The registers that tell of PROCHOT# and of power limits, read again and again.

use facts::HostView;
use facts::cpu::cpuinfo::CpuInfo;
use host::Source;
use lab::ipmi::power::Signals;
use rules::prochot::{Place, Signal, places};

/// Those that this machine has, and what they held last.
pub(super) struct Registers<'a> {
    source: &'a dyn Source,
    found: Result<Found<'a>, String>,
}

struct Found<'a> {
    info: &'a CpuInfo,
    values: Vec<(Place, u64)>,
    /// Whether there are more, which could not be read when the host was.
    is_partial: bool,
}

impl<'a> Registers<'a> {
    /// Finds them on a host that was read from that source.
    pub(super) fn of(host: &'a HostView, source: &'a dyn Source) -> Registers<'a> {
        let found = places(host).and_then(|places| {
            let info = host.cpuinfo.as_ref().map_err(Clone::clone)?;
            Ok(Found { info, values: places.read, is_partial: places.is_partial })
        });
        Registers { source, found: found.map_err(|missing| missing.advice()) }
    }

    /// The names of those that are read, or why none is.
    pub(super) fn names(&self) -> Result<Vec<String>, String> {
        let found = self.found.as_ref().map_err(Clone::clone)?;
        let mut names: Vec<String> =
            found.values.iter().map(|(place, _)| place.register.to_string()).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// What they say of this moment, and of the time since the moment before that they were read at; none where nothing
    /// could be read.
    pub(super) fn sample(&mut self) -> Option<Signals> {
        let Found { info, values, is_partial } = self.found.as_mut().ok()?;
        let read =
            |(place, _): &(Place, u64)| self.source.msr(place.cpu, place.register.address).ok();
        let read: Vec<Option<u64>> = values.iter().map(read).collect();
        let places = values.iter().map(|(place, _)| *place);
        let now: Vec<(Place, u64)> =
            places.zip(&read).filter_map(|(place, value)| Some((place, (*value)?))).collect();
        if now.is_empty() {
            return None;
        }
        let since = |signal: Signal| signal.since(info, values, &now);
        let signals = Signals {
            prochot: since(Signal::Prochot),
            power_limit: since(Signal::PowerLimit),
            is_partial: *is_partial || now.len() < values.len(),
        };
        for ((_, last), value) in values.iter_mut().zip(read) {
            *last = value.unwrap_or(*last);
        }
        Some(signals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Captured;

    fn text_of(thermal_status: &str) -> String {
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nflags : acpi pln\n\
             //- /sys/devices/system/cpu/online\n0\n//- /dev/cpu/0/msr 0xce\n0xa0080001800\n\
             //- /dev/cpu/0/msr 0x19c\n{thermal_status}\n"
        )
    }

    fn xeon(thermal_status: &str) -> Captured {
        Captured::excerpt(&text_of(thermal_status)).unwrap()
    }

    #[test]
    fn a_signal_is_told_as_it_is_and_its_log_once() {
        let before = xeon("0x88450000");
        let host = host::view(&before);
        let now = xeon("0x88450008");
        let mut registers = Registers::of(&host, &now);
        assert_eq!(registers.names().unwrap(), ["MSR 0x19c IA32_THERM_STATUS"]);
        let [first, second] = [0, 1].map(|_| registers.sample().unwrap().prochot.unwrap());
        assert_eq!((first.is_active, first.has_begun, second.has_begun), (false, true, false));
    }

    #[test]
    fn a_register_that_fails_once_is_asked_again_and_keeps_its_past() {
        let with = |reasons: &str| {
            let text = format!("//- /dev/cpu/0/msr 0x64f\n{reasons}\n");
            Captured::excerpt(&(text + &text_of("0x88450000"))).unwrap()
        };
        let [clear, failing, logged] = ["0x0", "!failed gone", "0x10000"].map(with);
        let host = host::view(&clear);
        let mut registers = Registers::of(&host, &clear);
        let mut sampled = |source| {
            registers.source = source;
            let signals = registers.sample().unwrap();
            (signals.prochot.unwrap().has_begun, signals.is_partial)
        };
        assert_eq!(sampled(&clear), (false, false));
        assert_eq!(sampled(&failing), (false, true));
        assert_eq!(sampled(&logged), (true, false));
        let host = host::view(&failing);
        let signals = Registers::of(&host, &failing).sample().unwrap();
        assert!(signals.is_partial, "it could not be read at first either");
    }

    #[test]
    fn without_registers_there_is_a_reason_and_what_to_do() {
        let denied = xeon("!denied");
        let host = host::view(&denied);
        let mut registers = Registers::of(&host, &denied);
        assert_eq!(
            registers.names(),
            Err("/dev/cpu/0/msr 0x19c may not be read (run as root)".to_owned())
        );
        assert!(registers.sample().is_none());
    }
}
