//! Captures of our own, imported ones and excerpts.

use super::*;
use facts::ipmi::DeviceId;

const CAPTURE: &str = "\
fullclock capture 1
# comments may stand before the first answer
//- /sys/devices/system/cpu/online
0-3
//- /sys/secret
!denied
//- /sys/gone
!absent
//- /sys/class/x/device -> ../pci
//- /dev/cpu/0/msr 0x19a
0x14
//- /dev/cpu_dma_latency
!bytes 00ff0a00
";

fn capture() -> Captured {
    Captured::parse(CAPTURE).unwrap()
}

#[test]
fn a_capture_answers_as_the_host_did() {
    let host = capture();
    assert_eq!(host.read("/sys/devices/system/cpu/online"), Ok(b"0-3\n".to_vec()));
    assert_eq!(host.read("/sys/secret"), Err(Missing::denied("/sys/secret")));
    assert_eq!(host.read("/sys/gone"), Err(Missing::absent("/sys/gone")));
    assert_eq!(host.link("/sys/class/x/device"), Ok("../pci".into()));
    assert_eq!(host.msr(0, 0x19a), Ok(0x14));
    assert_eq!(host.read("/dev/cpu_dma_latency"), Ok(vec![0, 255, 10, 0]));
}

#[test]
fn a_controller_answers_with_the_bytes_that_were_written_down() {
    let answer = |text: &str| {
        let capture = format!("//- /dev/ipmi0 0x06 0x01\n{text}\n");
        Captured::excerpt(&capture).unwrap().controller(&DeviceId::question().verbatim())
    };
    assert_eq!(answer("00 20 01"), Ok(vec![0, 0x20, 1]));
    assert_eq!(answer("!denied"), Err(Missing::denied("/dev/ipmi0 0x06 0x01")));
    assert!(answer("hello").unwrap_err().to_string().ends_with("expected bytes like 00 dc"));
    let unasked = capture().controller(&DeviceId::question().verbatim());
    assert_eq!(unasked, Err(Missing::not_collected("/dev/ipmi0 0x06 0x01")));
}

#[test]
fn a_file_of_a_capture_is_no_longer_than_its_kind() {
    let host = Captured::excerpt(&format!("//- /proc/cmdline\n{:39999}\n", "")).unwrap();
    assert!(host.read("/proc/cmdline").unwrap_err().to_string().contains("has 40000 bytes"));
}

#[test]
fn a_capture_that_is_cut_anywhere_says_so_and_proves_nothing_absent() {
    let folder = "/sys/devices/system/cpu/cpufreq";
    let mut answers = crate::Answers::default();
    answers.file("/sys/a", "1\n2\n");
    answers.file(&format!("{folder}/"), "policy0\n");
    answers.file("/sys/z", "3\n");
    let text = answers.capture(Origin::Capture, &crate::Identity::default());
    let lacked = format!("{folder}/policy1");
    let whole = Captured::parse(&text).unwrap();
    assert_eq!((whole.incomplete(), whole.list(&lacked)), (None, Err(Missing::absent(&*lacked))));
    assert_eq!(whole.read("end"), Err(Missing::not_collected("end")));
    let by_hand = format!("{text}//- /sys/b\n4\n");
    assert_eq!(Captured::parse(&by_hand).unwrap().incomplete(), None);
    let (promised, end) = (text.find("\n//- ").unwrap(), text.len() - 1);
    for length in promised..end {
        let cut = Captured::parse(&text[..length]).unwrap();
        assert!(cut.incomplete().is_some(), "{length}");
        assert_eq!(cut.list(&lacked), Err(Missing::not_collected(&*lacked)), "{length}");
        // An answer is there as a whole, or not at all.
        for (path, content) in [("/sys/a", "1\n2\n"), ("/sys/z", "3\n")] {
            let there = cut.read(path);
            let unknown = Err(Missing::not_collected(path));
            assert!(there == unknown || there == Ok(content.into()), "{length}: {there:?}");
        }
    }
    assert_eq!(Captured::parse(&text[..end]).unwrap().incomplete(), None);
}

#[test]
fn what_was_never_asked_is_not_absent() {
    assert_eq!(capture().read("/sys/new"), Err(Missing::not_collected("/sys/new")));
    assert_eq!(capture().msr(1, 0x19a), Err(Missing::not_collected("/dev/cpu/1/msr 0x19a")));
}

#[test]
fn imported_data_lacks_a_file_where_that_is_proven_and_never_a_register() {
    let idle = "/sys/devices/system/cpu/cpuidle";
    let text = format!(
        "fullclock capture 1 (imported)\n//- {idle}/current_driver\nnone\n\
         //- {idle}/current_governor_ro\nmenu\n//- /dev/cpu/0/msr 0xe2\n0x1\n\
         //- /sys/class/powercap/\n"
    );
    let host = Captured::parse(&text).unwrap();
    let absent = |path: &str| assert_eq!(host.read(path), Err(Missing::absent(path)));
    let unknown = |path: &str| assert_eq!(host.read(path), Err(Missing::not_collected(path)));
    absent("/sys/devices/system/cpu/cpuidle/current_governor");
    absent("/sys/class/powercap/intel-rapl:0");
    unknown("/sys/devices/system/cpu/cpuidle/other");
    unknown("/sys/devices/system/cpu/nohz_full");
    assert_eq!(host.msr(0, 0x19a), Err(Missing::not_collected("/dev/cpu/0/msr 0x19a")));
}

#[test]
fn data_of_a_known_collector_lacks_what_it_would_have_taken() {
    let idle = "/sys/devices/system/cpu/cpuidle";
    let of = |collector: &str| {
        let latency = "/sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us";
        let text = format!("fullclock capture 1 (imported from {collector})\n//- {latency}\n0\n");
        Captured::parse(&text).unwrap().list(idle)
    };
    assert_eq!(of("pepc"), Err(Missing::absent(idle)));
    assert_eq!(of("somebody"), Err(Missing::not_collected(idle)));
}

#[test]
fn what_a_listing_of_our_own_does_not_name_is_absent() {
    let text = "fullclock capture 1\n//- /sys/class/powercap/\nintel-rapl:0\n";
    let host = Captured::parse(text).unwrap();
    let path = "/sys/class/powercap/intel-rapl-mmio:0/name";
    assert_eq!(host.read(path), Err(Missing::absent(path)));
    let path = "/sys/class/powercap/intel-rapl:0/name";
    assert_eq!(host.read(path), Err(Missing::not_collected(path)));
}

#[test]
fn a_name_that_leads_elsewhere_is_no_name_in_a_folder() {
    let host = Captured::excerpt("//- /sys/a/\nb1\n../b2\n..\n\nb3\n").unwrap();
    assert_eq!(host.list("/sys/a"), Ok(vec!["b1".into(), "b3".into()]));
    let host = Captured::excerpt("//- /sys/a/./b1\n//- /sys/a/../b2\n//- /sys/a/b3\n").unwrap();
    assert_eq!(host.list("/sys/a"), Ok(vec!["b3".to_owned()]));
}

#[test]
fn an_excerpt_needs_no_folders_and_has_nothing_else() {
    let host = Captured::excerpt("//- /sys/a/b1/c\n1\n//- /sys/a/b2/c\n2\n").unwrap();
    assert_eq!(host.list("/sys/a"), Ok(vec!["b1".into(), "b2".into()]));
    assert_eq!(host.list("/sys/z"), Err(Missing::absent("/sys/z")));
    assert_eq!(host.read("/sys/a/b3/c"), Err(Missing::absent("/sys/a/b3/c")));
}

#[test]
fn a_text_that_is_no_capture_is_refused_with_its_line() {
    let error = |text| Captured::parse(text).unwrap_err().to_string();
    assert_eq!(
        error("hello"),
        "line 1 is \"hello\", expected \"fullclock capture 1\": not a capture, or one of a later fullclock"
    );
    assert_eq!(
        error("fullclock capture 1\nhello\n"),
        "line 2 holds \"hello\\n\", expected a line that starts with `//- `"
    );
}
