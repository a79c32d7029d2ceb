//! Whether PROCHOT# is pulled from outside, and whether a power limit holds, by every register that tells.
//!
//! Sources: Intel SDM vol. 3B, "Thermal Status Information" (0x19C, 0x1B1), and the limit reasons of
//! facts::msr::limit_reasons. A state is that of the moment of reading; a log stays set until somebody clears it, so
//! that only one which was clear before tells when. Nothing is cleared here.

use facts::cpu::cpuinfo::CpuInfo;
use facts::msr::intel::{PACKAGE_THERM_STATUS, THERM_STATUS};
use facts::msr::limit_reasons::{Kind, Layout};
use facts::msr::thermal_status::{CRITICAL, Cause, POWER_LIMIT, PROCHOT, TOO_HOT};
use facts::msr::{Register, Scope};
use facts::{CpuSet, Elsewhere, Fact, HostView, Missing};
use std::collections::BTreeSet;

/// What is looked for. IA32_THERM_STATUS and IA32_PACKAGE_THERM_STATUS have bits 2, 10, and 0 and 4 for it (SDM vol. 4, table 2-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Another device pulls PROCHOT#.
    Prochot,
    /// The processor's own power limit holds the clock down.
    PowerLimit,
    /// The processor or a voltage regulator is too hot.
    Heat,
}

/// A register of one CPU, which may speak for a core or a package.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The CPU that is asked.
    pub cpu: u32,
    /// The register.
    pub register: &'static Register,
}

/// What a register says of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// It holds the clock down at the moment of reading.
    pub is_active: bool,
    /// It has, since boot or since somebody cleared the log.
    pub was_logged: bool,
}

/// The registers that tell.
#[derive(Clone, Debug)]
pub struct Places {
    /// With what they hold.
    pub read: Vec<(Place, u64)>,
    /// Whether there are more, which could not be read.
    pub is_partial: bool,
}

/// Those of the host.
///
/// Errors: none could be read.
pub fn places(host: &HostView) -> Fact<Places> {
    let info = host.cpuinfo.as_ref()?;
    host.shows("PROCHOT#", Elsewhere::Hsmp)?;
    let reasons = Layout::of(info).map(|it| it.register);
    let registers = [Some(&THERM_STATUS), Some(&PACKAGE_THERM_STATUS), reasons];
    let (mut read, mut missing): (Vec<(Place, u64)>, Vec<&Missing>) = (Vec::new(), Vec::new());
    for register in registers.into_iter().flatten() {
        match host.msrs.of(register) {
            Ok(values) => {
                read.extend(values.known().map(|(cpu, value)| (Place { cpu, register }, *value)));
                missing.extend(values.missing());
            }
            Err(why) => missing.push(why),
        }
    }
    if read.is_empty() {
        let why = missing.first().map(|it| Missing::clone(it));
        return Err(why.unwrap_or_else(|| Missing::absent(THERM_STATUS.path(0))));
    }
    Ok(Places { read, is_partial: missing.iter().any(|it| !it.is_absence()) })
}

/// What the registers say of PROCHOT#, all together.
pub(crate) enum Prochot {
    /// It is pulled.
    Active(Seen),
    /// It was, at a time that nobody knows.
    Logged(Seen),
    /// Neither.
    Clear {
        /// Whether there are registers that could not be read.
        is_partial: bool,
    },
    /// No register that could be read tells.
    Unknown,
}

/// Where it was seen first, and the CPUs that the registers speak for.
pub(crate) struct Seen {
    pub(crate) place: Place,
    pub(crate) value: u64,
    pub(crate) cpus: CpuSet,
}

impl Prochot {
    /// At the moment when the host was read.
    pub(crate) fn of(host: &HostView) -> Prochot {
        let (Ok(places), Ok(info)) = (places(host), &host.cpuinfo) else { return Prochot::Unknown };
        let Places { read, is_partial } = places;
        let state =
            |(place, value): &(Place, u64)| Signal::Prochot.state(info, place.register, *value);
        if read.iter().all(|it| state(it).is_none()) {
            return Prochot::Unknown;
        }
        let seen = |is_meant: &dyn Fn(State) -> bool| {
            let is_meant = |it: &&(Place, u64)| state(it).is_some_and(is_meant);
            let mut meant = read.iter().filter(is_meant).peekable();
            let &(place, value) = *meant.peek()?;
            Some(Seen { place, value, cpus: meant.flat_map(|(it, _)| cpus(host, it)).collect() })
        };
        let clear = Prochot::Clear { is_partial };
        let logged = || seen(&|it| it.was_logged).map_or(clear, Prochot::Logged);
        seen(&|it| it.is_active).map_or_else(logged, Prochot::Active)
    }
}

fn cpus(host: &HostView, place: &Place) -> Vec<u32> {
    let cpus = match place.register.scope {
        Scope::Thread => return vec![place.cpu],
        Scope::Core => host.topology.core_of(place.cpu),
        Scope::Package => host.topology.package_of(place.cpu),
    };
    cpus.iter().collect()
}

/// What registers said at one moment of a signal, with the moment before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// It holds the clock down.
    pub is_active: bool,
    /// Its log was clear at the moment before, and is set.
    pub has_begun: bool,
}

impl Since {
    /// Whether it held the clock down at the moment, or between the two.
    pub fn was_seen(self) -> bool {
        self.is_active || self.has_begun
    }
}

impl Signal {
    /// What all registers say, each compared with itself before; `None` where none of them tells.
    pub fn since(
        self,
        info: &CpuInfo,
        before: &[(Place, u64)],
        now: &[(Place, u64)],
    ) -> Option<Since> {
        let place = |it: &Place| (it.cpu, it.register.address);
        let one = |(at, value): &(Place, u64)| {
            let state = self.state(info, at.register, *value)?;
            let was = before.iter().find(|(it, _)| place(it) == place(at));
            let was = was.and_then(|(_, it)| self.state(info, at.register, *it));
            let has_begun = was.is_some_and(|it| !it.was_logged) && state.was_logged;
            Some(Since { is_active: state.is_active, has_begun })
        };
        now.iter().filter_map(one).reduce(|since, it| Since {
            is_active: since.is_active || it.is_active,
            has_begun: since.has_begun || it.has_begun,
        })
    }

    /// What a register's value says of it, on this processor; `None` where that register does not tell.
    pub fn state(self, info: &CpuInfo, register: &Register, value: u64) -> Option<State> {
        let (causes, kind): (&[Cause], Kind) = match self {
            Signal::Prochot => (&[PROCHOT], Kind::Prochot),
            Signal::PowerLimit => (&[POWER_LIMIT], Kind::Power),
            Signal::Heat => (&[TOO_HOT, CRITICAL], Kind::Heat),
        };
        match Layout::of(info).filter(|it| it.register.address == register.address) {
            Some(layout) => Some(State {
                is_active: layout.active(value).any(|it| it.kind == kind),
                was_logged: layout.logged(value).any(|it| it.kind == kind),
            }),
            None => causes.iter().all(|it| it.exists(info)).then(|| State {
                is_active: causes.iter().any(|it| it.is_active(value)),
                was_logged: causes.iter().any(|it| it.was_logged(value)),
            }),
        }
    }

    /// Whether no register says that it holds the clock down at the moment, and the thermal status of all cores or of all packages was read.
    /// What is only in a log may have been at any time.
    fn is_absent_in(self, host: &HostView, info: &CpuInfo, places: &Places) -> bool {
        let state = |(place, value): &(Place, u64)| self.state(info, place.register, *value);
        let is_whole = |register: &Register| {
            let values = host.msrs.of(register);
            let is_read =
                values.is_ok_and(|it| it.known().next().is_some() && it.all_known().is_ok());
            is_read && self.state(info, register, 0).is_some()
        };
        let are_whole = [&THERM_STATUS, &PACKAGE_THERM_STATUS].into_iter().any(is_whole);
        are_whole && !places.read.iter().filter_map(state).any(|it| it.is_active)
    }
}

/// The checks whose fault the registers rule out for the moment of reading: it may have been earlier, which a log or a count says.
pub(crate) fn absent_now(host: &HostView) -> Vec<&'static str> {
    let (Ok(places), Ok(info)) = (places(host), &host.cpuinfo) else { return Vec::new() };
    let of = [
        (Signal::Prochot, "prochot-asserted"),
        (Signal::Heat, "thermal-throttling"),
        (Signal::PowerLimit, "power-limit-reached"),
    ];
    of.into_iter().filter(|it| it.0.is_absent_in(host, info, &places)).map(|it| it.1).collect()
}

/// A signal that holds the clock down.
pub(crate) struct Held {
    /// In words that can follow "is held down by", those of limit reasons where there are any.
    pub(crate) names: Vec<&'static str>,
    /// The CPUs that the registers speak for.
    pub(crate) cpus: CpuSet,
    /// In how many of how many readings, of the register that showed it most; (1, 1) where nobody looked.
    pub(crate) readings: (usize, usize),
    /// The first value of each register that shows it.
    pub(crate) evidence: Vec<(String, u64)>,
}

/// The power limits that hold the clock down when the host is read, or in a look; `None` where none does, or no register tells.
pub(crate) fn power_held(host: &HostView) -> Option<Held> {
    let (Ok(places), Ok(info)) = (places(host), &host.cpuinfo) else { return None };
    let mut held =
        Held { names: Vec::new(), cpus: CpuSet::default(), readings: (0, 1), evidence: Vec::new() };
    let mut told: BTreeSet<u32> = BTreeSet::new();
    let is_active = |register: &Register, value: u64| {
        Signal::PowerLimit.state(info, register, value).is_some_and(|it| it.is_active)
    };
    for (place, first) in &places.read {
        let register = place.register;
        let watched = host.watched.as_ref().map(|it| &it.registers);
        let sharing = cpus(host, place);
        let mut later = sharing.iter().filter_map(|it| watched?.get(&(register.address, *it)));
        let later = later.next().map_or(&[][..], Vec::as_slice);
        let active = |it: &u64| is_active(register, *it);
        let values = || std::iter::once(*first).chain(later.iter().copied());
        let Some(shown) = values().find(active) else { continue };
        held.readings = held.readings.max((values().filter(active).count(), values().count()));
        held.cpus.extend(sharing);
        if told.insert(register.address) {
            held.evidence.push((register.path(place.cpu), shown));
        }
        if let Some(layout) = Layout::of(info).filter(|it| it.register.address == register.address)
        {
            let reasons = layout.active(shown).filter(|it| it.kind == Kind::Power);
            held.names.extend(reasons.map(|it| it.name));
        }
    }
    held.names.dedup();
    if held.names.is_empty() {
        held.names.push(POWER_LIMIT.name);
    }
    (!held.evidence.is_empty()).then_some(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{XEON, host_of};

    fn states(registers: &[(&str, &str)], signal: Signal) -> Vec<(u32, bool, bool)> {
        let lines =
            registers.iter().map(|(place, value)| format!("//- /dev/cpu/{place}\n{value}\n"));
        let host = host_of(&(XEON.to_owned() + &lines.collect::<String>()));
        let info = host.cpuinfo.as_ref().unwrap();
        let state = |(place, value): &(Place, u64)| {
            let state = signal.state(info, place.register, *value).unwrap();
            (place.register.address, state.is_active, state.was_logged)
        };
        places(&host).unwrap().read.iter().map(state).collect()
    }

    #[test]
    fn every_register_that_tells_is_asked_and_state_and_log_are_told_apart() {
        let registers = [
            ("0/msr 0x19c", "0x88450000"),
            ("1/msr 0x19c", "0x8845000c"),
            ("0/msr 0x1b1", "0x88450008"),
            ("0/msr 0x64f", "0x4010001"),
        ];
        assert_eq!(
            states(&registers, Signal::Prochot),
            [(0x19c, false, false), (0x19c, true, true), (0x1b1, false, true), (0x64f, true, true)]
        );
        assert_eq!(
            states(&registers, Signal::PowerLimit)[3],
            (0x64f, false, true),
            "the log of PL1 is not a state"
        );
    }

    #[test]
    fn a_log_begins_once_and_one_that_was_set_before_tells_nothing() {
        let host = host_of(&format!("{XEON}//- /dev/cpu/0/msr 0x19c\n0x88450000\n"));
        let (info, before) = (host.cpuinfo.as_ref().unwrap(), places(&host).unwrap().read);
        let with = |bits: u64| vec![(before[0].0, before[0].1 | bits)];
        let since = |before: &[_], now: &[_]| {
            let it = Signal::Prochot.since(info, before, now).unwrap();
            (it.is_active, it.has_begun, it.was_seen())
        };
        assert_eq!(since(&before, &before), (false, false, false));
        assert_eq!(since(&before, &with(8)), (false, true, true));
        assert_eq!(since(&with(8), &with(8)), (false, false, false));
        assert_eq!(since(&with(8), &with(12)), (true, false, true));
        // What was not read before has no past.
        assert_eq!(since(&[], &with(8)), (false, false, false));
    }

    #[test]
    fn a_register_without_an_active_bit_rules_out_what_it_would_say_and_one_that_was_not_read_nothing()
     {
        let absent = |registers: &[(&str, &str)]| {
            let lines =
                registers.iter().map(|(place, value)| format!("//- /dev/cpu/{place}\n{value}\n"));
            absent_now(&host_of(&(XEON.to_owned() + &lines.collect::<String>())))
        };
        let all = ["prochot-asserted", "thermal-throttling", "power-limit-reached"];
        // The cores alone, or the package alone.
        assert_eq!(absent(&[("0/msr 0x19c", "0x0"), ("1/msr 0x19c", "0x0")]), all);
        assert_eq!(absent(&[("0/msr 0x1b1", "0x0")]), all);
        // A log says nothing of the moment.
        assert_eq!(absent(&[("0/msr 0x1b1", "0x88450a0a")]), all);
        assert_eq!(absent(&[("0/msr 0x1b1", "0x88450004")]), all[1..]);
        assert_eq!(absent(&[("0/msr 0x1b1", "0x88450010")]), [all[0], all[2]]);
        assert_eq!(absent(&[("0/msr 0x1b1", "0x88450400")]), all[..2]);
        // One core of two, and none.
        assert!(absent(&[("0/msr 0x19c", "0x0"), ("1/msr 0x19c", "!denied")]).is_empty());
        assert!(absent(&[]).is_empty());
    }

    #[test]
    fn a_signal_that_no_register_tells_of_is_not_known() {
        let text = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 143\nflags : acpi\n\
                    //- /sys/devices/system/cpu/online\n0\n//- /dev/cpu/0/msr 0x19c\n0x88450000\n";
        let host = host_of(text);
        let (info, read) = (host.cpuinfo.as_ref().unwrap(), places(&host).unwrap().read);
        assert_eq!(Signal::PowerLimit.since(info, &read, &read), None);
        assert_eq!(Signal::Prochot.since(info, &read, &read), Some(Since::default()));
    }

    #[test]
    fn registers_that_could_not_be_read_beside_others_are_told_of() {
        let all = format!(
            "{XEON}//- /dev/cpu/0/msr 0x19c\n0x88450000\n//- /dev/cpu/1/msr 0x19c\n0x88450000\n\
             //- /dev/cpu/0/msr 0x1b1\n0x88450000\n//- /dev/cpu/0/msr 0x64f\n0x0\n"
        );
        assert!(!places(&host_of(&all)).unwrap().is_partial);
        let denied = all.replace("1/msr 0x19c\n0x88450000", "1/msr 0x19c\n!denied");
        assert!(places(&host_of(&denied)).unwrap().is_partial);
    }

    #[test]
    fn without_a_register_there_is_a_reason() {
        let denied = format!("{XEON}//- /dev/cpu/0/msr 0x19c\n!denied\n");
        let why = places(&host_of(&denied)).unwrap_err();
        assert_eq!(why.to_string(), "/dev/cpu/0/msr 0x19c may not be read");
    }
}
