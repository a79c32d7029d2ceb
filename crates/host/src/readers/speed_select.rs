//! Reads which Speed Select profile is in force on each package of Intel's servers.

use crate::Source;
use facts::cpu::cpuinfo::CpuInfo;
use facts::power::speed_select::{
    self, Command, Domain, InForce, Interface, NAME, Profile, Question, SpeedSelect, core_power,
    core_power_of_struct, levels, number,
};
use facts::{CpuSet, Elsewhere, Expected, Fact, HostView, Missing, Why, parse};

/// Asks each package. Nothing is asked on processors without Speed Select.
pub(super) fn read(source: &dyn Source, host: &HostView) -> SpeedSelect {
    let info = host.cpuinfo.as_ref()?;
    let Some(interface) = Interface::of(info) else {
        return Err(Missing::not_here(NAME, "the processor has no Speed Select"));
    };
    host.platform.hides(NAME)?;
    let packages = host.topology.packages.as_ref()?;
    let mut domains = Vec::new();
    for leader in packages.iter().filter_map(CpuSet::first) {
        let asked = Asked { source, leader };
        match interface {
            Interface::Mailbox => domains.push(asked.mailbox()),
            Interface::Tpmi => domains.extend(asked.tpmi().map_err(|it| gap(info, it))?),
        }
        // Without the device no package answers, and each would say so again.
        if let Some(Err(missing)) = domains.last().map(|it| &it.in_force)
            && matches!(missing.why, Why::Absent | Why::Denied | Why::NotCollected)
        {
            return Err(gap(info, missing.clone()));
        }
    }
    Ok(domains)
}

/// Why nothing is known: a processor that has profiles has them without a driver, too.
fn gap(info: &CpuInfo, missing: Missing) -> Missing {
    match missing.why {
        Why::Absent if Interface::is_certain(info) => {
            Missing::elsewhere(NAME, Elsewhere::SpeedSelect)
        }
        Why::Absent => Missing::not_here(NAME, "no driver of Speed Select found it"),
        why => Missing { what: NAME.to_owned(), why },
    }
}

struct Asked<'a> {
    source: &'a dyn Source,
    /// The lowest CPU of the package.
    leader: u32,
}

impl Asked<'_> {
    fn answer<T>(
        &self,
        question: Question,
        parse: impl Fn(&[u8]) -> Result<T, Expected>,
    ) -> Fact<T> {
        let bytes = self.source.speed_select(question)?;
        parse(&bytes).map_err(|Expected(expected)| {
            Missing::malformed(question.name(), &format!("{bytes:02x?}"), expected)
        })
    }

    fn mailbox(&self) -> Domain {
        let question = |command| Question::Mailbox { cpu: self.leader, command };
        let ask = |command| self.answer(question(command), number);
        let in_force = ask(Command::InForce).and_then(|it| {
            let levels = levels(it).ok_or_else(one_profile)?;
            Ok(InForce::of_mailbox(levels, ask(Command::Features(levels.level))?))
        });
        let profile = |level| {
            let (base, turbo) = (ask(Command::Base(level))?, ask(Command::Turbo(level))?);
            Profile::of_mailbox(base, turbo).map_err(|Expected(expected)| {
                let found = format!("{base:#x} and {turbo:#x}");
                Missing::malformed(question(Command::Base(level)).name(), &found, expected)
            })
        };
        Domain {
            leader: self.leader,
            number: None,
            source: question(Command::InForce).name(),
            current: of_level(&in_force, profile),
            sold: of_sold(&in_force, profile),
            core_power: in_force
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|_| ask(Command::CorePower).map(core_power)),
            in_force,
        }
    }

    /// The power domains of the package.
    fn tpmi(&self) -> Fact<Vec<Domain>> {
        let path =
            format!("/sys/devices/system/cpu/cpu{}/topology/physical_package_id", self.leader);
        let package = self.source.parsed(&path, parse::number)?;
        let package = u8::try_from(package).map_err(|_| {
            Missing::malformed(path, &package.to_string(), "the number of a package")
        })?;
        let domains = self.answer(Question::Domains { package }, speed_select::domains)?;
        Ok(domains.into_iter().map(|domain| self.domain(package, domain)).collect())
    }

    fn domain(&self, package: u8, domain: u8) -> Domain {
        let question = Question::InForce { package, domain };
        let in_force =
            self.answer(question, InForce::of_struct).and_then(|it| it.ok_or_else(one_profile));
        let profile =
            |level| self.answer(Question::Profile { package, domain, level }, Profile::of_struct);
        Domain {
            leader: self.leader,
            number: Some(domain),
            source: question.name(),
            current: of_level(&in_force, profile),
            sold: of_sold(&in_force, profile),
            core_power: self.answer(Question::CorePower { package, domain }, core_power_of_struct),
            in_force,
        }
    }
}

fn one_profile() -> Missing {
    Missing::not_here(NAME, "the processor has one profile only")
}

/// What the profile in force sets.
fn of_level(in_force: &Fact<InForce>, profile: impl Fn(u8) -> Fact<Profile>) -> Fact<Profile> {
    profile(in_force.as_ref()?.level)
}

/// What level 0 sets, where another is in force.
fn of_sold(in_force: &Fact<InForce>, profile: impl Fn(u8) -> Fact<Profile>) -> Fact<Profile> {
    match in_force.as_ref()?.level {
        0 => Err(Missing::not_here("another profile", "level 0 is in force")),
        _ => profile(0),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Captured, Recording, view};
    use facts::power::speed_select::SpeedSelect;
    use facts::{Hertz, Missing};

    const DEVICE: &str = "//- /dev/isst_interface";

    fn cpus(model: u32) -> String {
        let cpu = "//- /sys/devices/system/cpu";
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : {model}\n\
             {cpu}/online\n0-3\n{cpu}/cpu0/topology/package_cpus_list\n0-1\n{cpu}/cpu2/topology/package_cpus_list\n2-3\n\
             {cpu}/cpu0/topology/physical_package_id\n0\n{cpu}/cpu2/topology/physical_package_id\n1\n"
        )
    }

    fn read(text: &str) -> SpeedSelect {
        view(&Captured::excerpt(text).unwrap()).speed_select
    }

    /// An Ice Lake whose first package is at level 0 and whose second is at level 2, locked and with SST-TF and SST-CP.
    fn ice_lake() -> String {
        let of = |cpu: u32, command: &str, bytes: &str| {
            format!("{DEVICE} mailbox cpu{cpu} {command}\n!bytes {bytes}\n")
        };
        cpus(0x6a)
            + &of(0, "0x7f 0x0 0x0", "04040080")
            + &of(0, "0x7f 0x1 0x0", "03000000")
            + &of(0, "0x7f 0x3 0x0", "cd001700")
            + &of(0, "0x7f 0x7 0x0", "25252322")
            + &of(0, "0x94 0x3 0x0", "01000000")
            + &of(2, "0x7f 0x0 0x0", "04040281")
            + &of(2, "0x7f 0x1 0x2", "03000100")
            + &of(2, "0x7f 0x3 0x2", "a5001400")
            + &of(2, "0x7f 0x7 0x2", "22222020")
            + &of(2, "0x7f 0x3 0x0", "cd001700")
            + &of(2, "0x7f 0x7 0x0", "25252322")
            + &of(2, "0x94 0x3 0x0", "01000100")
    }

    #[test]
    fn the_mailbox_of_each_package_is_asked_and_is_in_a_capture() {
        let host = Captured::excerpt(&ice_lake()).unwrap();
        let recording = Recording::new(&host);
        let read = view(&recording).speed_select;
        let domains = read.as_ref().unwrap();
        assert_eq!((domains.len(), domains[1].leader), (2, 2));
        let first = domains[0].in_force.as_ref().unwrap();
        assert_eq!((first.level, first.is_locked, first.unequal_turbo), (0, false, false));
        assert!(domains[0].sold.as_ref().is_err_and(Missing::is_absence));
        let second = domains[1].in_force.as_ref().unwrap();
        assert_eq!((second.level, second.is_locked, second.unequal_turbo), (2, true, true));
        let base =
            |it: &facts::Fact<facts::power::speed_select::Profile>| it.as_ref().unwrap().base;
        assert_eq!(base(&domains[1].current), Hertz::from_mhz(2000));
        assert_eq!(base(&domains[1].sold), Hertz::from_mhz(2300));
        assert_eq!((&domains[0].core_power, &domains[1].core_power), (&Ok(false), &Ok(true)));
        assert_eq!(view(&Captured::parse(&recording.capture()).unwrap()).speed_select, read);
    }

    #[test]
    fn the_domains_of_a_granite_rapids_are_asked_one_by_one() {
        let level = |package: u32, domain: u32, level: u32| {
            let zeros = "00".repeat(21);
            let (start, rest) = ("0001040203", &zeros[..]);
            format!(
                "{DEVICE} levels package{package} domain{domain}\n!bytes {start}{level:02x}00000101{rest}00\n"
            )
        };
        let profile = |package: u32, level: u32, base: &str| {
            let words = format!(
                "00000000{}{base}{}5e01{}3c0f{}",
                "0000",
                "000000000000",
                "000000000000",
                "0000".repeat(4)
            );
            format!("{DEVICE} level{level} package{package} domain0\n!bytes {words}\n")
        };
        let text = cpus(0xad)
            + &format!("{DEVICE} domains package0\n!bytes 00010100\n")
            + &format!("{DEVICE} domains package1\n!bytes 01010100\n")
            + &level(0, 0, 0)
            + &level(1, 0, 1)
            + &profile(0, 0, "d007")
            + &profile(1, 0, "d007")
            + &profile(1, 1, "0807")
            + &format!("{DEVICE} core-power package0 domain0\n!bytes 000000000100\n");
        let domains = read(&text).unwrap();
        assert_eq!((domains.len(), domains[1].number), (2, Some(0)));
        let current = domains[1].current.as_ref().unwrap();
        assert_eq!((current.base.mhz(), current.turbo.mhz()), (1800.0, 3900.0));
        assert_eq!(current.power.0, 350_000_000);
        assert_eq!(domains[1].sold.as_ref().unwrap().base.mhz(), 2000.0);
        assert_eq!(domains[0].core_power, Ok(false));
        assert!(domains[1].core_power.is_err());
    }

    #[test]
    fn without_the_driver_newer_servers_are_unknown_and_a_skylake_has_none() {
        let of = |model| read(&cpus(model)).unwrap_err();
        assert_eq!(
            of(0x6a).to_string(),
            "Speed Select profile cannot be read: no driver of Intel Speed Select is loaded"
        );
        assert!(!of(0xad).is_absence());
        assert!(of(0x55).is_absence());
        assert!(of(0x97).is_absence(), "a client processor");
        let denied = cpus(0x6a) + DEVICE + " mailbox cpu0 0x7f 0x0 0x0\n!denied\n";
        assert_eq!(read(&denied).unwrap_err().to_string(), "Speed Select profile may not be read");
    }

    #[test]
    fn an_answer_of_another_length_is_a_reason() {
        let odd = ice_lake().replace("!bytes 04040281", "!bytes 0404");
        assert!(read(&odd).unwrap()[1].in_force.as_ref().is_err_and(|it| !it.is_absence()));
        let one = ice_lake().replace("!bytes 04040281", "!bytes 04040201");
        assert!(read(&one).unwrap()[1].in_force.as_ref().is_err_and(Missing::is_absence));
    }

    #[test]
    fn nothing_is_asked_of_other_processors() {
        let host = Captured::excerpt(&cpus(0x97)).unwrap();
        let recording = Recording::new(&host);
        assert!(view(&recording).speed_select.is_err());
        assert!(!recording.capture().contains("isst_interface"));
    }
}
