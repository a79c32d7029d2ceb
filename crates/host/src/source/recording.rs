//! A source that remembers what was asked of another, and writes it down as a capture.

use super::answers::{Answers, Identity, is_plain};
use super::captured::{REDFISH, link_key};
use super::{Counter, Source, cpuid_name};
use facts::ipmi::{Question, digits};
use facts::links::ethtool;
use facts::power::speed_select;
use facts::redfish::{self, Redfish};
use facts::{Fact, Missing, Origin, Why, msr, parse};
use std::cell::RefCell;

/// Asks `inner` and remembers every answer, refusals included.
pub struct Recording<'a> {
    inner: &'a dyn Source,
    answers: RefCell<Answers>,
}

impl<'a> Recording<'a> {
    /// Starts with nothing asked.
    pub fn new(inner: &'a dyn Source) -> Recording<'a> {
        Recording { inner, answers: RefCell::default() }
    }

    /// The capture of everything asked so far, in the order of the names, redacted.
    ///
    /// The host's name is read here so that it can be taken out, and is no part of the capture.
    pub fn capture(&self) -> String {
        let line = |path| self.inner.parsed(path, parse::line);
        let host_name = line("/proc/sys/kernel/hostname").or_else(|_| line("/etc/hostname"));
        let identity = Identity {
            host_name: host_name.unwrap_or_default(),
            release: line("/proc/sys/kernel/osrelease").unwrap_or_default(),
        };
        self.answers.borrow().capture(self.inner.origin(), &identity)
    }

    fn remember<T>(&self, name: String, fact: &Fact<T>, bytes: impl Fn(&T) -> Vec<u8>) {
        let answer = match fact {
            Ok(value) => Ok(bytes(value)),
            // What a source finds wrong is no content: a parser would take "a device" for a governor's name.
            Err(Missing { why: Why::Malformed { found, expected }, .. }) => {
                Err(Why::Failed(format!("{found:?} instead of {expected}")))
            }
            Err(missing) => Err(missing.why.clone()),
        };
        self.answers.borrow_mut().insert(name, answer);
    }
}

impl Recording<'_> {
    fn remember_names(&self, folder: &str, fact: Fact<Vec<String>>) -> Fact<Vec<String>> {
        let name = format!("{}/", folder.trim_end_matches('/'));
        self.remember(name, &fact, |names| {
            let plain = names.iter().filter(|it| is_plain(it));
            plain.flat_map(|it| [it, "\n"]).collect::<String>().into()
        });
        fact
    }
}

impl Source for Recording<'_> {
    fn origin(&self) -> Origin {
        self.inner.origin()
    }

    fn inner(&self) -> Option<&dyn Source> {
        Some(self.inner)
    }

    fn read(&self, path: &str) -> Fact<Vec<u8>> {
        let fact = self.inner.read(path);
        self.remember(path.to_owned(), &fact, Clone::clone);
        fact
    }

    /// The capture holds what was asked for, at its place; the rest of the file is zeros.
    fn part(&self, path: &str, offset: usize, length: usize) -> Fact<Vec<u8>> {
        let fact = self.inner.part(path, offset, length);
        match &fact {
            Ok(bytes) => self.answers.borrow_mut().merge(path, offset, bytes),
            Err(_) => self.remember(path.to_owned(), &fact, Clone::clone),
        }
        fact
    }

    fn list(&self, folder: &str) -> Fact<Vec<String>> {
        self.remember_names(folder, self.inner.list(folder))
    }

    /// The capture names the folders alone: a control group has some seventy files.
    fn folders(&self, folder: &str) -> Fact<Vec<String>> {
        self.remember_names(folder, self.inner.folders(folder))
    }

    fn link(&self, path: &str) -> Fact<String> {
        let fact = self.inner.link(path);
        if !is_open_file(path, &fact) {
            self.remember(link_key(path), &fact, |target| target.clone().into_bytes());
        }
        fact
    }

    fn msr(&self, cpu: u32, register: u32) -> Fact<u64> {
        let fact = self.inner.msr(cpu, register);
        self.remember(msr::path(cpu, register), &fact, |value| format!("{value:#x}\n").into());
        fact
    }

    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
        let fact = self.inner.cpuid(leaf, subleaf);
        self.remember(cpuid_name(leaf, subleaf), &fact, |[eax, ebx, ecx, edx]| {
            format!("{eax:#x} {ebx:#x} {ecx:#x} {edx:#x}\n").into()
        });
        fact
    }

    fn controller(&self, question: &Question<Vec<u8>>) -> Fact<Vec<u8>> {
        let fact = self.inner.controller(question);
        self.remember(question.path(), &fact, |bytes| format!("{}\n", digits(bytes)).into());
        fact
    }

    /// Without the names of systems and chassis: some makers name them by their serial numbers.
    fn redfish(&self) -> Fact<Redfish> {
        let fact = self.inner.redfish();
        // Of most hosts no controller is configured, which a capture without an answer says, too.
        if !matches!(fact, Err(Missing { why: Why::NotHere(_), .. })) {
            let redacted = fact.clone().map(|it| it.redacted()).map_err(redfish::without_names);
            self.remember(REDFISH.to_owned(), &redacted, |it| it.to_text().into_bytes());
        }
        fact
    }

    fn ethtool(&self, interface: &str, question: ethtool::Question) -> Fact<Vec<u8>> {
        let fact = self.inner.ethtool(interface, question);
        self.remember(question.name(interface), &fact, Clone::clone);
        fact
    }

    fn speed_select(&self, question: speed_select::Question) -> Fact<Vec<u8>> {
        let fact = self.inner.speed_select(question);
        self.remember(question.name(), &fact, Clone::clone);
        fact
    }

    fn look(&self, counters: &[Counter]) -> Vec<Fact<String>> {
        let seen = self.inner.look(counters);
        for (counter, fact) in counters.iter().zip(&seen) {
            // Most hosts are not looked at, which a capture without an answer says, too.
            if !matches!(fact, Err(Missing { why: Why::NotCollected, .. })) {
                self.remember(counter.name(), fact, |text| text.clone().into_bytes());
            }
        }
        seen
    }
}

/// Whether a link is a process's open file that is no device: what people work on is none of a capture's
/// business.
fn is_open_file(path: &str, target: &Fact<String>) -> bool {
    let is_descriptor = path.starts_with("/proc/") && path.contains("/fd/");
    is_descriptor && !target.as_ref().is_ok_and(|it| it.starts_with("/dev/"))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay out a copy of a host")]
mod tests {
    use super::*;
    use crate::Captured;

    const EXCERPT: &str = "\
//- /a
//- /awkward
\\//- not a header
\\!denied
\\\\ and no newline
\\
//- /bytes
!bytes 00ff
//- /denied
!denied
//- /dev/cpu/3/msr 0x19a
0x14
//- /folder/
x
y
//- /link -> ../target
//- cpuid 0x6 0x0
0x1 0x2 0x3 0x4
//- ethtool eth0 fec
!not-here its driver does not report it
//- ethtool eth0 pause
!bytes 12000000010000000000000001000000
";

    /// A capture that has these answers.
    fn whole(answers: &str) -> String {
        format!("fullclock capture 1\n# its last line is `//- end`\n{answers}//- end\n")
    }

    #[test]
    fn parts_of_a_file_are_captured_at_their_places_and_nothing_between_them() {
        let host = Captured::excerpt("//- /config\n!bytes 0102030405060708\n").unwrap();
        let recording = Recording::new(&host);
        assert_eq!(recording.part("/config", 5, 2), Ok(vec![6, 7]));
        assert_eq!(recording.part("/config", 0, 2), Ok(vec![1, 2]));
        assert_eq!(recording.part("/config", 8, 4), Ok(Vec::new()));
        let capture = recording.capture();
        assert!(capture.ends_with("//- /config\n!bytes 01020000000607\n//- end\n"), "{capture}");
    }

    #[test]
    fn a_capture_of_a_capture_is_the_same_text() {
        let host = Captured::excerpt(EXCERPT).unwrap();
        let recording = Recording::new(&host);
        assert_eq!(
            recording.read("/awkward"),
            Ok(b"//- not a header\n!denied\n\\ and no newline".to_vec())
        );
        assert_eq!(recording.read("/a"), Ok(Vec::new()));
        assert!(recording.read("/denied").is_err());
        assert!(recording.read("/bytes").is_ok());
        assert!(recording.list("/folder").is_ok());
        assert!(recording.link("/link").is_ok());
        assert!(recording.msr(3, 0x19a).is_ok());
        assert!(recording.cpuid(6, 0).is_ok());
        assert!(recording.ethtool("eth0", ethtool::Question::Pause).is_ok());
        assert!(recording.ethtool("eth0", ethtool::Question::Fec).is_err());
        assert_eq!(recording.capture(), whole(EXCERPT));
    }

    #[test]
    fn a_name_that_would_forge_an_answer_is_left_out() {
        let mut answers = Answers::default();
        answers.file("/a\n//- /sys/devices/system/cpu/online", "0-3\n");
        answers.file("/b -> c", "");
        answers.link("/d", "e\n//- /f");
        answers.link("/g", "../h");
        let capture = answers.capture(Origin::Capture, &Identity::default());
        assert_eq!(capture, whole("//- /g -> ../h\n"));
    }

    #[test]
    fn what_is_no_file_does_not_become_the_content_of_one() {
        let folder = tempfile::tempdir().unwrap();
        let policy = folder.path().join("sys/policy0");
        std::fs::create_dir_all(policy.join("scaling_governor")).unwrap();
        let copy = crate::Live::copy(folder.path()).unwrap();
        let recording = Recording::new(&copy);
        assert!(recording.read("/sys/policy0/scaling_governor").is_err());
        let again = Captured::parse(&recording.capture()).unwrap();
        assert_eq!(
            again.read("/sys/policy0/scaling_governor").unwrap_err().to_string(),
            "/sys/policy0/scaling_governor cannot be read: \"not a regular file\" instead of a regular file"
        );
    }

    #[test]
    fn of_open_files_only_devices_are_kept() {
        let host = Captured::excerpt(
            "//- /proc/9/fd/3 -> /home/ann/salaries.csv\n//- /proc/9/fd/4 -> /dev/cpu_dma_latency\n",
        )
        .unwrap();
        let recording = Recording::new(&host);
        assert!(recording.link("/proc/9/fd/3").is_ok() && recording.link("/proc/9/fd/4").is_ok());
        assert_eq!(recording.capture(), whole("//- /proc/9/fd/4 -> /dev/cpu_dma_latency\n"));
    }

    #[test]
    fn what_a_controller_says_is_kept_without_the_names_of_its_systems() {
        let host = Captured::excerpt(
            "//- redfish\n{ \"limits\": [{ \"source\": \"/redfish/v1/Chassis/WZP21330G84/Power PowerControl/0\", \"watts\": 500.0 }] }\n",
        )
        .unwrap();
        let recording = Recording::new(&host);
        let before = crate::view(&recording).redfish.unwrap();
        let capture = recording.capture();
        assert!(capture.contains("//- redfish\n") && !capture.contains("WZP21330G84"), "{capture}");
        let after = crate::view(&Captured::parse(&capture).unwrap()).redfish.unwrap();
        assert_eq!(after.limits[0].watts, before.limits[0].watts);
        assert_eq!(after.limits[0].source, "/redfish/v1/Chassis/<id1>/Power PowerControl/0");
        // Nobody asked, which is no lack of the capture.
        let other = Captured::excerpt("//- /proc/cmdline\nquiet\n").unwrap();
        let recording = Recording::new(&other);
        crate::view(&recording);
        assert!(!recording.capture().contains("redfish"), "{}", recording.capture());
        let unasked = crate::view(&Captured::parse(&recording.capture()).unwrap()).redfish;
        assert!(unasked.unwrap_err().is_absence());
    }

    #[test]
    fn a_limited_group_is_still_found_in_a_redacted_capture() {
        let pod = "/kubepods/pod8d6b4c1e-0f3a-4a57-9d0f-0c7f1f6b2a11";
        let host = Captured::excerpt(&format!(
            "//- /proc/self/mountinfo\n31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
             //- /proc/self/cgroup\n0::{pod}\n//- /sys/fs/cgroup{pod}/cpu.max\n200000 100000\n"
        ))
        .unwrap();
        let recording = Recording::new(&host);
        assert_eq!(crate::view(&recording).limited_groups.map(|it| it.len()), Ok(1));
        let capture = recording.capture();
        assert!(!capture.contains("8d6b4c1e"), "{capture}");
        let again = crate::view(&Captured::parse(&capture).unwrap());
        assert_eq!(again.limited_groups.map(|it| it.len()), Ok(1));
    }

    #[test]
    fn a_capture_gives_the_same_facts_and_names_nobody() {
        let host = Captured::excerpt(
            "//- /proc/sys/kernel/hostname\ndb7.corp.example\n//- /proc/sys/kernel/osrelease\n2.6.32.71\n\
             //- /proc/cmdline\nip=10.1.2.3::10.1.2.1:255.255.255.0:db7:eth0:none nohz_full=1\n\
             //- /sys/devices/system/cpu/online\n0-1\n\
             //- /sys/devices/system/cpu/cpufreq/policy0/scaling_governor\nondemand\n",
        )
        .unwrap();
        let before = crate::view(&host);
        let recording = Recording::new(&host);
        crate::view(&recording);
        let capture = recording.capture();
        assert!(
            capture.contains("ip=<ip1>::<ip2>:<ip3>:<host>:eth0:none nohz_full=1"),
            "{capture}"
        );
        assert!(!capture.contains("db7"), "{capture}");
        let after = crate::view(&Captured::parse(&capture).unwrap());
        assert_eq!(after.kernel.release, before.kernel.release);
        assert_eq!(after.cpufreq, before.cpufreq);
        assert_eq!(after.topology, before.topology);
    }
}
