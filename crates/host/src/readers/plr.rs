//! Reads the logs of performance limits (PLR) of Intel's servers with TPMI.
//!
//! The driver's own files first; without the driver, the register of each die in the dump of its feature. Both are only read: to write
//! to the first clears the log, and the file next to the second (`mem_write`) changes registers.

use crate::Source;
use facts::cpu::cpuinfo::CpuInfo;
use facts::power::plr::{self, Domain, Domains, Log};
use facts::system::platform::Platform;
use facts::{Fact, Missing};

/// Reads the domains of every device. Nothing is asked on processors that have no such logs.
pub(super) fn read(source: &dyn Source, cpuinfo: &Fact<CpuInfo>, platform: &Platform) -> Domains {
    let info = cpuinfo.as_ref()?;
    if !plr::has_logs(info) {
        let because = match info.is_intel() {
            true => "the processor is none of Intel's servers with TPMI",
            false => "the processor is not Intel's",
        };
        return Err(Missing::not_here(plr::NAME, because));
    }
    platform.hides(plr::NAME)?;
    let (mut domains, mut unknown) = (Vec::new(), None);
    for device in source.list(plr::FOLDER)?.iter().filter(|it| it.starts_with("tpmi-")) {
        let folder = format!("{}/{device}", plr::FOLDER);
        let by_driver = of_driver(source, &folder);
        let is_told = by_driver.as_ref().is_ok_and(|it| !it.is_empty());
        // A copy may hold the dump and not the driver's folder.
        let tries =
            if is_told { vec![by_driver] } else { vec![of_dump(source, &folder), by_driver] };
        for tried in tries {
            match tried {
                Ok(found) => domains.extend(found),
                Err(missing) if missing.is_absence() => {}
                Err(missing) => unknown = unknown.or(Some(missing)),
            }
        }
    }
    match unknown {
        _ if !domains.is_empty() => Ok(domains),
        Some(missing) => Err(missing),
        None => Err(Missing::absent(format!("{}/tpmi-*/plr", plr::FOLDER))),
    }
}

fn of_driver(source: &dyn Source, folder: &str) -> Fact<Vec<Domain>> {
    let domain = |number| {
        let path = format!("{folder}/plr/domain{number}/status");
        // Where the mailbox of a CPU does not answer, the whole file fails: plr_status_show.
        Domain { log: source.parsed(&path, Log::parse), number, path }
    };
    let numbers = source.numbered(&format!("{folder}/plr"), "domain")?;
    Ok(numbers.into_iter().map(domain).collect())
}

fn of_dump(source: &dyn Source, folder: &str) -> Fact<Vec<Domain>> {
    let path = format!("{folder}/{}", plr::DUMP);
    let logs = source.parsed(&path, plr::dumped)?;
    let domain = |(number, log)| Domain { path: path.clone(), number, log: Ok(log) };
    Ok(logs.into_iter().map(domain).collect())
}

#[cfg(test)]
mod tests {
    use crate::{Captured, Recording, view};
    use facts::power::plr::Domains;

    const GNR: &str =
        "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 173\n";
    const DEVICES: [&str; 2] =
        ["/sys/kernel/debug/tpmi-0000:00:03.1", "/sys/kernel/debug/tpmi-0000:80:03.1"];
    const DUMP: &str = "TPMI Instance:0 offset:0x9000b000\n \
                        00000000: 00000001 00000000 00000000 00000000 00000000 00000000 00000001 00000000\n \
                        00000020: 00000000 00000000\n\
                        TPMI Instance:4 offset:0x9000b0a0\n \
                        00000000: ffffffff ffffffff 00000000 00000000 00000000 00000000 00000000 00000000\n \
                        00000020: 00000000 00000000\n";

    fn plr(files: &str) -> Domains {
        view(&Captured::excerpt(&format!("{GNR}{files}")).unwrap()).plr
    }

    fn status(device: &str, domain: u32, text: &str) -> String {
        format!("//- {device}/plr/domain{domain}/status\n{text}\n")
    }

    #[test]
    fn every_domain_of_every_device_is_read_and_is_in_a_capture() {
        let files = status(DEVICES[0], 0, "cpus none\ncpu0 none")
            + &status(DEVICES[0], 1, "cpus POWER\ncpu1 POWER")
            + &status(DEVICES[1], 0, "!denied")
            + &format!("//- {}/tpmi-id-0c/mem_dump\n{DUMP}", DEVICES[0]);
        let host = Captured::excerpt(&format!("{GNR}{files}")).unwrap();
        let recording = Recording::new(&host);
        let domains = view(&recording).plr;
        let shown: Vec<_> =
            domains.as_ref().unwrap().iter().map(|it| (it.number, it.log.is_ok())).collect();
        assert_eq!(shown, [(0, true), (1, true), (0, false)]);
        let capture = recording.capture();
        assert!(!capture.contains("mem_dump"), "the driver tells more");
        assert_eq!(view(&Captured::parse(&capture).unwrap()).plr, domains);
    }

    #[test]
    fn without_the_driver_the_dump_tells_of_the_dies_that_are_there() {
        let files: String =
            DEVICES.iter().map(|it| format!("//- {it}/tpmi-id-0c/mem_dump\n{DUMP}")).collect();
        let domains = plr(&files).unwrap();
        assert_eq!(domains.len(), 2);
        let log = domains[1].log.as_ref().unwrap();
        assert_eq!((log.die.reasons[0].name, log.cpus.len()), ("FREQUENCY", 0));
        assert!(domains[1].path.ends_with("80:03.1/tpmi-id-0c/mem_dump"));
    }

    #[test]
    fn a_mailbox_that_does_not_answer_is_a_reason_and_no_empty_log() {
        let log = plr(&status(DEVICES[0], 0, "!failed Connection timed out")).unwrap();
        assert!(log[0].log.as_ref().is_err_and(|it| !it.is_absence()), "{log:?}");
        let empty = plr(&status(DEVICES[0], 0, "")).unwrap();
        assert!(empty[0].log.is_err());
    }

    #[test]
    fn who_may_not_look_does_not_know_and_without_the_files_there_is_none() {
        let denied = plr("//- /sys/kernel/debug/\n!denied\n").unwrap_err();
        assert_eq!(denied.to_string(), "/sys/kernel/debug may not be read");
        assert!(plr("//- /sys/kernel/debug/\nsched\n").unwrap_err().is_absence());
        assert!(plr("//- /sys/kernel/debug/\ntpmi-0000:00:03.1\n").unwrap_err().is_absence());
        let refused = format!("//- {}/tpmi-id-0c/mem_dump\n!denied\n", DEVICES[0]);
        assert!(!plr(&refused).unwrap_err().is_absence());
    }

    /// To write to the log clears it, and root may write to a file of mode 0444.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test's own folder")]
    fn a_log_is_as_it_was_when_it_has_been_read() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("sys/kernel/debug/tpmi-0000:00:03.1/plr/domain0");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::create_dir_all(root.path().join("proc")).unwrap();
        let cpuinfo = GNR.split_once('\n').unwrap().1;
        std::fs::write(root.path().join("proc/cpuinfo"), cpuinfo).unwrap();
        let status = folder.join("status");
        std::fs::write(&status, "cpus RAS\ncpu0 RAS\n").unwrap();
        let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
        std::fs::File::options().write(true).open(&status).unwrap().set_modified(long_ago).unwrap();
        let looked = view(&crate::Live::copy(root.path()).unwrap()).plr.unwrap();
        assert_eq!(looked[0].log.as_ref().unwrap().die.reasons[0].name, "RAS");
        assert_eq!(std::fs::read_to_string(&status).unwrap(), "cpus RAS\ncpu0 RAS\n");
        assert_eq!(std::fs::metadata(&status).unwrap().modified().unwrap(), long_ago);
    }

    #[test]
    fn other_processors_are_not_asked() {
        for other in [GNR.replace("173", "143"), GNR.replace("GenuineIntel", "AuthenticAMD")] {
            let host = Captured::excerpt(&(other + &status(DEVICES[0], 0, "cpus none\ncpu0 none")))
                .unwrap();
            let recording = Recording::new(&host);
            assert!(view(&recording).plr.unwrap_err().is_absence());
            assert!(!recording.capture().contains("/sys/kernel/debug/tpmi"));
        }
    }
}
