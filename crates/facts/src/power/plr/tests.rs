//! Logs as the driver prints them, of machines of Intel's (intel/pepc, tests/emul-data) and made up from its source.

use super::*;

fn names(seen: &[Seen<'_>]) -> Vec<String> {
    seen.iter()
        .map(|it| format!("{} {:?}", it.reason.name, it.cpus.iter().collect::<Vec<_>>()))
        .collect()
}

#[test]
fn a_log_without_reasons_is_one_of_a_die_and_its_cpus() {
    // Granite Rapids, intel/pepc gnr2, the first of its domains, shortened.
    let log = Log::parse("cpus none\ncpu0 none\ncpu27 none\ncpu112 none\n").unwrap();
    assert_eq!(log.cpus.iter().map(|(cpu, _)| *cpu).collect::<Vec<_>>(), [0, 27, 112]);
    assert!(log.seen().is_empty());
}

#[test]
fn fine_reasons_stand_for_the_coarse_ones_of_their_cpu_and_die() {
    let log = Log::parse(
        "cpus FREQUENCY POWER PLATFORM\n\
         cpu0 FREQUENCY POWER FREQUENCY_CDYN1 POWER_PKG_PL1_PCS\n\
         cpu1 POWER POWER_PKG_PL1_PCS POWER_FAST_RAPL\n\
         cpu2 PLATFORM\n",
    )
    .unwrap();
    let seen = log.seen();
    assert_eq!(
        names(&seen),
        ["FREQUENCY_CDYN1 [0]", "POWER_PKG_PL1_PCS [0, 1]", "POWER_FAST_RAPL [1]", "PLATFORM [2]"]
    );
    assert_eq!(seen[1].reason.set_by, Some(Interface::Controller));
    assert_eq!(seen[1].text, "cpu0 FREQUENCY POWER FREQUENCY_CDYN1 POWER_PKG_PL1_PCS");
}

#[test]
fn what_only_the_die_has_is_of_all_its_cpus() {
    let log = Log::parse("cpus RAS\ncpu4 none\ncpu5 none\n").unwrap();
    assert_eq!(names(&log.seen()), ["RAS [4, 5]"]);
    assert_eq!(log.seen()[0].text, "cpus RAS");
}

#[test]
fn a_bit_without_a_name_is_a_reason_all_the_same_and_once() {
    // "UNKNOWN(22)" is in the list of the driver, "UNKNOWN(62)" is what it prints beyond the list.
    let log = Log::parse("cpus UNKNOWN(31)\ncpu0 UNKNOWN(22) UNKNOWN(62)\n").unwrap();
    assert_eq!(names(&log.seen()), ["UNKNOWN [0]"]);
    assert_eq!(log.seen()[0].text, "cpu0 UNKNOWN(22) UNKNOWN(62)");
}

#[test]
fn what_is_no_log_is_refused() {
    for text in [
        "",
        "\n",
        "cpus\n",
        "cpus \n",
        "cpu0 none\n",
        "cpus none\ncpu none\n",
        "cpus none\ncpux POWER\n",
        "cpus none\ncpu0\n",
        "cpus none\n\ncpu0 none\n",
        "cpus none POWER\n",
        "cpus power\n",
        "cpus POWER;x\n",
    ] {
        assert_eq!(Log::parse(text), Err(STATUS), "{text:?}");
    }
}

/// Sierra Forest, intel/pepc srf2: one die, places for four more.
const SRF: &str = "\
TPMI Instance:0 offset:0x9040b000
 00000000: 00000001 00000000 00000000 00000000 00000000 00000000 00000004 00000000
 00000020: 00000000 00000000
TPMI Instance:1 offset:0x9040b028
 00000000: ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff
 00000020: ffffffff ffffffff
TPMI Instance:3 offset:0x9040b078
 00000000: ffffffff ffffffff 00000000 00000000 00000000 00000000 00000000 00000000
 00000020: 00000000 00000000
";

#[test]
fn a_dump_has_the_reasons_of_the_dies_that_are_there() {
    let logs = dumped(SRF).unwrap();
    let [(0, log)] = logs.as_slice() else { panic!("{logs:?}") };
    assert_eq!(names(&log.seen()), ["POWER []"]);
    assert_eq!(log.die.text, "PLR_DIE_LEVEL 0x4");
    let both = SRF.replace(" 00000004 00000000", " 00000011 00000400");
    assert_eq!(
        names(&dumped(&both).unwrap()[0].1.seen()),
        ["FREQUENCY []", "PLATFORM []", "POWER_PKG_PL1_MSR_TPMI []"]
    );
}

#[test]
fn a_register_that_may_not_be_read_is_no_log() {
    let blocked = SRF.replace(" 00000004 00000000", " ffffffff ffffffff");
    assert!(dumped(&blocked).is_err());
}

#[test]
fn a_dump_that_is_cut_or_holds_something_else_is_refused() {
    let cut = "TPMI Instance:0 offset:0x9040b000\n 00000000: 00000001 00000000\n";
    let gap = SRF.replacen(" 00000020", " 00000030", 1);
    for text in [cut, &gap, " 00000000: 00000001\n", "TPMI Instance:x\n", "hello\n"] {
        assert_eq!(dumped(text), Err(DUMPED), "{text}");
    }
    assert_eq!(dumped(""), Ok(Vec::new()));
}

#[test]
fn every_reason_has_a_bit_and_a_name_of_its_own_and_fine_ones_a_coarse_one() {
    assert!(REASONS.is_sorted_by(|a, b| a.bit < b.bit));
    for reason in REASONS {
        assert_eq!(Reason::named(reason.name), reason);
        let n_coarse = REASONS.iter().filter(|it| reason.is_finer_than(it)).count();
        assert_eq!(n_coarse, usize::from(reason.bit >= 32), "{}", reason.name);
    }
}

#[test]
fn only_processors_that_the_driver_knows_have_logs() {
    let has = |vendor: &str, family, model| {
        has_logs(&CpuInfo { vendor: vendor.into(), family, model, ..CpuInfo::default() })
    };
    assert!(has("GenuineIntel", 6, 0xad) && has("GenuineIntel", 19, 1));
    assert!(!has("GenuineIntel", 6, 0x8f) && !has("AuthenticAMD", 6, 0xad));
}
