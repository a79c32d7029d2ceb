//! Outputs of lscpu (github.com/linuxhw/LsCPU) as captures: what lscpu read, put back where it read it.

use crate::expectation::{Expectation, clean};
use facts::CpuSet;
use rules::finding::Severity::{Info, Low, Medium};

/// What the samples of one category must lead to.
pub(crate) fn expectation(category: &str) -> Option<Expectation> {
    let expectation = match category.split('_').next()? {
        "A1" | "A1b" => clean().finds("turbo-off", Medium),
        // Nothing says whether a switch or the firmware's table lacks turbo.
        "A2" => clean().finds_one_of(&["turbo-off", "capped-frequency"], Medium),
        "A3" => clean().never(&["turbo-off", "capped-frequency"]),
        // One of them is of the family that the ambiguous ones are of, so no severity is demanded.
        "B" => clean().finds("clock-below-minimum", Info),
        "Bq" => clean().may_find("capped-frequency"),
        "C" => clean().outside("SMT is off: information, and no matter of clocks"),
        "D" => clean().finds("capped-frequency", Low),
        "E" => clean().finds("offline-cpus", Low),
        "F" => clean().outside("whether NUMA is shown: memory locality"),
        "G" => clean().outside("mitigations are off: no matter of clocks"),
        "Z" => clean().at_most(Info),
        _ => return None,
    };
    Some(expectation)
}

/// The capture of what `text` tells; nothing else counts as asked.
pub(crate) fn capture(text: &str) -> String {
    let field = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
    };
    let any = |name: &str| field(name).unwrap_or_default();
    let (online, offline) = (any("On-line CPU(s) list"), any("Off-line CPU(s) list"));
    let present = if offline.is_empty() { online.clone() } else { format!("{online},{offline}") };
    let cpus = CpuSet::parse_list(&online).unwrap_or_default();
    // lscpu shows the clock of one CPU.
    let clock = field("CPU MHz").map_or(String::new(), |it| format!("cpu MHz\t\t: {it}\n"));
    let (vendor, name, flags) = (any("Vendor ID"), any("Model name"), any("Flags"));
    let (family, model, stepping) = (any("CPU family"), any("Model"), any("Stepping"));
    let processor = |cpu: u32| {
        let clock = if Some(cpu) == cpus.first() { &clock } else { "" };
        format!(
            "processor\t: {cpu}\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n\
             model name\t: {name}\nstepping\t: {stepping}\n{clock}flags\t\t: {flags}\n"
        )
    };
    let limit = |name: &str, file: &str| {
        let policy = "/sys/devices/system/cpu/cpufreq/policy0";
        let megahertz: f64 = field(name)?.replace(',', ".").parse().ok()?;
        let kilohertz = megahertz * 1000.0;
        Some(format!("//- {policy}/{file}\n{kilohertz:.0}\n//- {policy}/affected_cpus\n{online}\n"))
    };
    let folder = "//- /sys/devices/system/cpu";
    [
        format!("fullclock capture 1 (imported)\n{folder}/online\n{online}\n"),
        format!("{folder}/present\n{present}\n{folder}/possible\n{present}\n//- /proc/cpuinfo\n"),
        cpus.iter().map(processor).collect(),
        limit("CPU max MHz", "cpuinfo_max_freq").unwrap_or_default(),
        limit("CPU min MHz", "cpuinfo_min_freq").unwrap_or_default(),
    ]
    .concat()
}
