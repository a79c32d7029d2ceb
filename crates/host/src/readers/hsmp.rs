//! Reads what AMD's HSMP shows of each socket.
//!
//! Each answer is a message to the processor's firmware, which takes it up to a millisecond: files that nothing judges are not read.

use crate::Source;
use facts::power::hsmp::{HsmpSocket, HsmpSockets, SocketPower};
use facts::{Fact, Hertz, HostView, Microwatts, Missing, Why, parse};

/// More than AMD's servers have (MAX_AMD_NUM_NODES of arch/x86/include/asm/amd/node.h is 8).
const MOST_SOCKETS: u32 = 8;

/// Reads the telemetry of each socket, and its power sensor.
///
/// Each socket is an ACPI device, and the first that does not exist ends the list. Where firmware describes none, the sensors of the driver
/// amd_hsmp are all there is. Nothing is read on processors of other manufacturers.
pub(super) fn read(source: &dyn Source, host: &HostView) -> HsmpSockets {
    let info = host.cpuinfo.as_ref()?;
    if !info.is_amd() {
        let because = format!("the processor is {}", info.vendor);
        return Err(Missing::not_here("HSMP", because));
    }
    host.platform.hides("HSMP")?;
    let mut sockets = Vec::new();
    for instance in 0..MOST_SOCKETS {
        let folder = HsmpSocket::acpi_folder(instance);
        let prochot = source.parsed(&format!("{folder}/prochot_status"), parse::switch);
        let first = |it: Vec<SocketPower>| it.into_iter().next().ok_or_else(|| none_in(&folder));
        let power = sensors(source, &folder).and_then(first);
        match prochot {
            Err(missing) if is_nowhere(&missing) && power.is_err() => {
                if sockets.is_empty() {
                    return without_acpi(source).ok_or(missing);
                }
                break;
            }
            prochot => sockets.push(socket(source, folder, prochot, power)),
        }
    }
    Ok(sockets)
}

fn is_nowhere(missing: &Missing) -> bool {
    missing.is_absence() || missing.why == Why::NotCollected
}

fn none_in(folder: &str) -> Missing {
    Missing::absent(format!("{folder}/hwmon"))
}

/// The telemetry in `folder`. Without the first of its files there is none: older drivers have the sensor alone.
fn socket(
    source: &dyn Source,
    folder: String,
    prochot: Fact<bool>,
    power: Fact<SocketPower>,
) -> HsmpSocket {
    let path = |file: &str| format!("{folder}/{file}");
    let lacks = prochot.as_ref().err().filter(|it| is_nowhere(it)).cloned();
    let text = |file: &str| match &lacks {
        Some(missing) => Err(Missing { what: path(file), why: missing.why.clone() }),
        None => source.text(&path(file)),
    };
    let number = |file: &str| {
        let parsed = |text: String| {
            parse::number(&text)
                .map_err(|parse::Expected(it)| Missing::malformed(path(file), &text, it))
        };
        text(file).and_then(parsed)
    };
    let clock = |file: &str| number(file).map(Hertz::from_mhz);
    HsmpSocket {
        number: source.parsed(&path("firmware_node/uid"), HsmpSocket::number_of_uid),
        clock_limit: clock("cclk_freq_limit_input"),
        active_limit: clock("pwr_current_active_freq_limit"),
        limit_sources: text("pwr_current_active_freq_limit_source")
            .map(|text| HsmpSocket::sources(&text)),
        fabric_clock: clock("fclk_input"),
        memory_clock: clock("mclk_input"),
        busy_percent: number("c0_residency_input"),
        prochot,
        power,
        folder,
    }
}

/// One sensor a socket, in their order; `None` where there is none.
fn without_acpi(source: &dyn Source) -> Option<Vec<HsmpSocket>> {
    const FOLDER: &str = HsmpSocket::PLATFORM;
    let sensors = sensors(source, FOLDER).ok().filter(|it| !it.is_empty())?;
    let socket = |(number, power): (u32, SocketPower)| {
        let absent = |file: &str| Missing::absent(format!("{FOLDER}/{file}"));
        HsmpSocket {
            folder: FOLDER.to_owned(),
            number: Ok(number),
            prochot: Err(absent("prochot_status")),
            clock_limit: Err(absent("cclk_freq_limit_input")),
            active_limit: Err(absent("pwr_current_active_freq_limit")),
            limit_sources: Err(absent("pwr_current_active_freq_limit_source")),
            fabric_clock: Err(absent("fclk_input")),
            memory_clock: Err(absent("mclk_input")),
            busy_percent: Err(absent("c0_residency_input")),
            power: Ok(power),
        }
    };
    Some((0..MOST_SOCKETS).zip(sensors).map(socket).collect())
}

/// The power sensors of a device.
fn sensors(source: &dyn Source, device: &str) -> Fact<Vec<SocketPower>> {
    let mut sensors = Vec::new();
    for number in source.numbered(&format!("{device}/hwmon"), "hwmon")? {
        let folder = format!("{device}/hwmon/hwmon{number}");
        let name = source.parsed(&format!("{folder}/name"), parse::line);
        if name.as_deref() != Ok(SocketPower::SENSOR) {
            continue;
        }
        let power =
            |file: &str| source.parsed(&format!("{folder}/{file}"), parse::number).map(Microwatts);
        sensors.push(SocketPower {
            limit: power("power1_cap"),
            highest_limit: power("power1_cap_max"),
            drawn: power("power1_input"),
            folder,
        });
    }
    Ok(sensors)
}

#[cfg(test)]
mod tests {
    use crate::{Captured, Recording, view};
    use facts::{Hertz, Microwatts};

    const EPYC: &str = "\
//- /proc/cpuinfo
processor : 0
vendor_id : AuthenticAMD
cpu family : 25
";

    const ACPI: &str = "\
//- /sys/devices/platform/AMDI0097:00/firmware_node/uid
ID00
//- /sys/devices/platform/AMDI0097:00/prochot_status
0
//- /sys/devices/platform/AMDI0097:00/cclk_freq_limit_input
2450
//- /sys/devices/platform/AMDI0097:00/pwr_current_active_freq_limit
2400
//- /sys/devices/platform/AMDI0097:00/pwr_current_active_freq_limit_source
PPT Limit
//- /sys/devices/platform/AMDI0097:00/fclk_input
1600
//- /sys/devices/platform/AMDI0097:00/hwmon/hwmon3/name
amd_hsmp_hwmon
//- /sys/devices/platform/AMDI0097:00/hwmon/hwmon3/power1_cap
225000000
//- /sys/devices/platform/AMDI0097:01/firmware_node/uid
ID01
//- /sys/devices/platform/AMDI0097:01/prochot_status
1
//- /sys/devices/platform/AMDI0097:01/pwr_current_active_freq_limit_source

//- /sys/devices/platform/AMDI0097:01/cclk_freq_limit_input
!failed Input/output error (os error 5)
";

    #[test]
    fn every_socket_is_read_and_is_in_a_capture() {
        let host = Captured::excerpt(&format!("{EPYC}{ACPI}")).unwrap();
        let recording = Recording::new(&host);
        let before = view(&recording).hsmp;
        let sockets = before.as_ref().unwrap();
        assert_eq!(sockets.len(), 2);
        assert_eq!(sockets[0].limit_sources, Ok(vec!["PPT Limit".to_owned()]));
        assert_eq!(sockets[1].limit_sources, Ok(Vec::new()));
        assert_eq!((&sockets[0].prochot, &sockets[1].prochot), (&Ok(false), &Ok(true)));
        assert_eq!((&sockets[0].number, &sockets[1].number), (&Ok(0), &Ok(1)));
        let lowest = Some(("pwr_current_active_freq_limit", Hertz::from_mhz(2400)));
        assert_eq!(sockets[0].lowest_limit(), lowest);
        assert!(sockets[1].clock_limit.as_ref().is_err_and(|it| !it.is_absence()));
        assert_eq!(sockets[0].fabric_clock, Ok(Hertz::from_mhz(1600)));
        let power = sockets[0].power.as_ref().unwrap();
        assert_eq!(power.limit, Ok(Microwatts(225_000_000)));
        assert!(sockets[1].power.as_ref().is_err_and(facts::Missing::is_absence));
        let capture = recording.capture();
        assert_eq!(view(&Captured::parse(&capture).unwrap()).hsmp, before);
    }

    #[test]
    fn without_an_acpi_device_there_are_the_sensors_alone_one_a_socket() {
        let sensor = |number: u32, name: &str| {
            let folder = format!("//- /sys/devices/platform/amd_hsmp/hwmon/hwmon{number}");
            format!("{folder}/name\n{name}\n{folder}/power1_cap\n{number}000000\n")
        };
        let text = format!(
            "{EPYC}{}{}{}",
            sensor(12, "amd_hsmp_hwmon"),
            sensor(9, "amd_hsmp_hwmon"),
            sensor(3, "other")
        );
        let sockets = view(&Captured::excerpt(&text).unwrap()).hsmp.unwrap();
        let limit = |at: usize| sockets[at].power.as_ref().unwrap().limit.clone().unwrap().0;
        assert_eq!((sockets.len(), limit(0), limit(1)), (2, 9_000_000, 12_000_000));
        assert!(sockets[0].is_sensor_alone() && sockets[1].number == Ok(1));
        assert!(sockets[0].prochot.as_ref().is_err_and(facts::Missing::is_absence));
    }

    #[test]
    fn a_driver_that_shows_the_sensor_alone_is_asked_for_nothing_else() {
        let (_, sensor) = ACPI.split_once("//- /sys/devices/platform/AMDI0097:00/hwmon").unwrap();
        let (sensor, _) = sensor.split_once("//- /sys/devices/platform/AMDI0097:01").unwrap();
        let text = format!("{EPYC}//- /sys/devices/platform/AMDI0097:00/hwmon{sensor}");
        let recording_of = Captured::excerpt(&text).unwrap();
        let recording = Recording::new(&recording_of);
        let sockets = view(&recording).hsmp.unwrap();
        assert_eq!(sockets.len(), 1);
        assert!(sockets[0].power.is_ok() && sockets[0].clock_limit.is_err());
        assert!(!recording.capture().contains("cclk_freq_limit"));
    }

    #[test]
    fn without_the_driver_and_on_other_processors_there_is_none_and_no_intel_processor_is_asked() {
        let hsmp = |text: &str| view(&Captured::excerpt(text).unwrap()).hsmp.unwrap_err();
        assert!(hsmp(EPYC).is_absence());
        let intel = EPYC.replace("AuthenticAMD", "GenuineIntel") + ACPI;
        let intel = Captured::excerpt(&intel).unwrap();
        let recording = Recording::new(&intel);
        assert!(view(&recording).hsmp.unwrap_err().is_absence());
        assert!(!recording.capture().contains("AMDI0097"));
    }
}
