//! Reads what AMD's amd_hsmp driver shows of each socket.

use crate::Source;
use facts::power::hsmp::{HsmpSocket, HsmpSockets};
use facts::{Hertz, HostView, Missing, parse};

/// More than AMD's servers have (MAX_AMD_SOCKETS of drivers/platform/x86/amd/hsmp/hsmp.h is 8).
const MOST_SOCKETS: u32 = 8;

/// Each socket is an ACPI device, of which the first that does not exist is behind the last. Nothing is asked of another
/// manufacturer's processor.
pub(super) fn read(source: &dyn Source, host: &HostView) -> HsmpSockets {
    let info = host.cpuinfo.as_ref()?;
    if !info.is_amd() {
        let because = format!("the processor is {}", info.vendor);
        return Err(Missing::not_here("HSMP", because));
    }
    host.platform.hides("HSMP")?;
    let mut sockets = Vec::new();
    for number in 0..MOST_SOCKETS {
        let folder = format!("/sys/devices/platform/AMDI0097:{number:02x}");
        let prochot = source.parsed(&format!("{folder}/prochot_status"), parse::switch);
        match prochot {
            Err(missing) if missing.is_absence() && sockets.is_empty() => return Err(missing),
            Err(missing) if missing.is_absence() => break,
            prochot => sockets.push(HsmpSocket {
                prochot,
                clock_limit: source
                    .parsed(&format!("{folder}/cclk_freq_limit_input"), parse::number)
                    .map(Hertz::from_mhz),
                limit_sources: source
                    .text(&format!("{folder}/pwr_current_active_freq_limit_source"))
                    .map(|text| HsmpSocket::sources(&text)),
                folder,
            }),
        }
    }
    Ok(sockets)
}

#[cfg(test)]
mod tests {
    use crate::{Captured, Recording, view};

    const EPYC: &str = "\
//- /proc/cpuinfo
processor : 0
vendor_id : AuthenticAMD
cpu family : 25
//- /sys/devices/platform/AMDI0097:00/prochot_status
0
//- /sys/devices/platform/AMDI0097:00/cclk_freq_limit_input
2450
//- /sys/devices/platform/AMDI0097:00/pwr_current_active_freq_limit_source
PPT Limit
//- /sys/devices/platform/AMDI0097:01/prochot_status
1
";

    #[test]
    fn every_socket_is_read_and_is_in_a_capture() {
        let host = Captured::excerpt(EPYC).unwrap();
        let recording = Recording::new(&host);
        let before = view(&recording).hsmp;
        let sockets = before.as_ref().unwrap();
        assert_eq!(sockets.len(), 2);
        assert_eq!(sockets[0].limit_sources, Ok(vec!["PPT Limit".to_owned()]));
        assert_eq!((&sockets[0].prochot, &sockets[1].prochot), (&Ok(false), &Ok(true)));
        let capture = recording.capture();
        assert_eq!(view(&Captured::parse(&capture).unwrap()).hsmp, before);
    }

    #[test]
    fn without_the_driver_and_on_other_processors_there_is_none_and_no_intel_processor_is_asked() {
        let without: String = EPYC.lines().take(4).map(|it| format!("{it}\n")).collect();
        let hsmp = |text: &str| view(&Captured::excerpt(text).unwrap()).hsmp.unwrap_err();
        assert!(hsmp(&without).is_absence());
        let intel = Captured::excerpt(&EPYC.replace("AuthenticAMD", "GenuineIntel")).unwrap();
        let recording = Recording::new(&intel);
        assert!(view(&recording).hsmp.unwrap_err().is_absence());
        assert!(!recording.capture().contains("AMDI0097"));
    }
}
