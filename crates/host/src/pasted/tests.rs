//! What becomes of texts: files, registers, and nothing where a text tells nothing.

use super::{Pasted, read};
use crate::Source;

const CPUS: &str = "/sys/devices/system/cpu";

fn source(text: &str) -> Box<dyn Source> {
    Box::new(read(text).host)
}

/// A file of the host that a text tells of.
fn file(text: &str, path: &str) -> String {
    source(text).text(path).unwrap_or_else(|missing| missing.to_string())
}

#[test]
fn what_a_text_does_not_show_is_not_collected() {
    let text = "analyzing CPU 0:\n  driver: acpi-cpufreq\n  hardware limits: 1.20 GHz - 2.40 GHz\n";
    assert_eq!(file(text, &format!("{CPUS}/cpufreq/policy0/cpuinfo_max_freq")), "2400000\n");
    let missing = source(text).read(&format!("{CPUS}/cpufreq/policy0/bios_limit")).unwrap_err();
    assert!(!missing.is_absence(), "{missing}");
    let missing = source(text).read("/proc/cmdline").unwrap_err();
    assert!(!missing.is_absence(), "{missing}");
    let none = "analyzing CPU 0:\n  no or unknown cpufreq driver is active on this CPU\n";
    assert!(source(none).list(&format!("{CPUS}/cpu0/cpufreq")).unwrap_err().is_absence());
}

#[test]
fn outputs_of_one_text_are_of_one_host() {
    let text = "$ rdmsr -p 3 0x1b1\n88340000\n$ lscpu\nCPU op-mode(s): 32-bit, 64-bit\nOn-line CPU(s) list: 0-3\nVendor ID: GenuineIntel\nModel: 79\n";
    let Pasted { outputs, host } = read(text);
    let whats: Vec<&str> = outputs.iter().map(|it| it.1.command()).collect();
    assert_eq!(whats, ["rdmsr", "lscpu"]);
    assert_eq!(host.msr(3, 0x1b1), Ok(0x8834_0000));
    assert_eq!(file(text, &format!("{CPUS}/online")), "0-3\n");
    assert!(
        file(text, "/proc/cpuinfo").contains("vendor_id\t: GenuineIntel\nmodel\t\t: 79\n"),
        "{}",
        file(text, "/proc/cpuinfo")
    );
}

#[test]
fn registers_are_read_in_every_base_and_only_whole() {
    let value = |text: &str, cpu: u32, register: u32| read(text).host.msr(cpu, register).ok();
    assert_eq!(value("# rdmsr -a 0x19c\n88340004\n88350004\n", 1, 0x19c), Some(0x8835_0004));
    assert_eq!(value("# rdmsr -d 412\n2285109252\n", 0, 0x19c), Some(0x8834_0004));
    assert_eq!(value("# rdmsr -c 0x19c\n0x88340004\n", 0, 0x19c), Some(0x8834_0004));
    assert_eq!(value("MSR 0x19c = 0x88340004\n", 0, 0x19c), Some(0x8834_0004));
    // Some of the bits alone.
    assert_eq!(value("# rdmsr -f 22:16 0x19c\n34\n", 0, 0x19c), None);
    assert_eq!(value("# rdmsr 0x19c\nrdmsr: CPU 0 cannot read MSR 0x0000019c\n", 0, 0x19c), None);
    assert_eq!(value("# rdmsr 0x10\n88340004\n", 0, 0x10), None);
    let amds = file("# rdmsr 0xc0010015\n2000011\n", "/proc/cpuinfo");
    assert!(amds.contains("AuthenticAMD"), "{amds}");
}

#[test]
fn states_are_numbered_as_they_are_announced() {
    let text = "CPUidle driver: intel_idle\nanalyzing CPU 2:\nNumber of idle states: 3\nAvailable idle states: POLL C1 C6\n\
                POLL:\nLatency: 0\nC1:\nLatency: 2\nC6 (DISABLED) :\nFlags/Description: MWAIT 0x20\nLatency: 133\nResidency: 600\n";
    let state = |file_name: &str| file(text, &format!("{CPUS}/cpu2/cpuidle/state2/{file_name}"));
    assert_eq!([state("name"), state("disable"), state("residency")], ["C6\n", "1\n", "600\n"]);
    assert_eq!(file(text, &format!("{CPUS}/cpu2/cpuidle/state1/disable")), "0\n");
    // Older releases do not tell whether a state is disabled.
    let older = text.replace("analyzing", "Analyzing").replace(" (DISABLED) ", "");
    assert!(file(&older, &format!("{CPUS}/cpu2/cpuidle/state2/disable")).contains("disable"));
}

#[test]
fn a_thread_is_as_old_as_its_time_and_share_say() {
    let text = "root      2393 54.3  0.0      0     0 ?        RN   Mar06 33621:07 [kipmi0]";
    let stat = file(text, "/proc/2393/stat");
    assert!(stat.starts_with("2393 (kipmi0) S 2 0 0 0 -1 2097152 0 0 0 0 0 201726700 0"), "{stat}");
    let uptime: f64 = file(text, "/proc/uptime").split(' ').next().unwrap().parse().unwrap();
    assert!((uptime - 2_017_267.0 / 0.543).abs() < 1.0, "{uptime}");
    // A program of users may call itself as it likes.
    let program = "me  4711 54.3  0.1  84123 12034 ?  R  Mar06 33621:07 [kipmi0]";
    assert!(read(program).outputs.is_empty());
}

#[test]
fn ports_have_the_lanes_that_their_rate_tells() {
    let port = |rate: &str| {
        let text = format!(
            "CA 'mlx5_0'\n\tCA type: MT4119\n\tPort 1:\n\t\tState: Active\n\t\tRate: {rate}\n"
        );
        file(&text, "/sys/class/infiniband/mlx5_0/ports/1/rate")
    };
    assert_eq!(port("25"), "25 Gb/sec (1X EDR)\n");
    assert_eq!(port("100"), "100 Gb/sec (4X EDR)\n");
    assert!(port("77").contains("not"), "{}", port("77"));
}

#[test]
fn limits_of_the_controller_are_its_answer() {
    let text = "    Current Limit State: Power Limit Active\n    Exception actions:   Hard Power Off & Log Event to SEL\n    Power Limit:         500 Watts\n    Correction time:     1000 milliseconds\n    Sampling period:     5 seconds\n";
    let path = facts::ipmi::PowerLimit::question().path();
    assert_eq!(file(text, &path), "00 dc 00 00 01 f4 01 e8 03 00 00 00 00 05 00\n");
}
