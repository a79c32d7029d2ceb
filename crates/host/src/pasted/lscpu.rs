//! `lscpu` as the files that it read.
//!
//! Source: util-linux, sys-utils/lscpu.c: some lines are indented since 2.37, "Frequency boost" is there since 2.34. It shows the clock of one
//! CPU, until 2.37.

use super::Facts;
use facts::CpuSet;

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn read(text: &str, facts: &mut Facts) -> Option<usize> {
    const MARKS: [&str; 2] = ["On-line CPU(s) list", "CPU op-mode(s)"];
    let is_mark = |line: &str| MARKS.iter().any(|it| line.trim_start().starts_with(it));
    let mark = text.lines().position(is_mark)?;
    let first =
        text.lines().take(mark + 1).position(|it| it.trim_start().starts_with("Architecture:"));
    import(text, facts);
    Some(first.unwrap_or(mark))
}

/// Puts back what `text` tells.
fn import(text: &str, facts: &mut Facts) {
    let field = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        let value = lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim());
        value.filter(|it| !it.is_empty() && *it != "-")
    };
    let list = |name: &str| field(name).and_then(|it| CpuSet::parse_list(it).ok());
    let online = list("On-line CPU(s) list").filter(|it| !it.is_empty());
    if let Some(online) = &online {
        let off = list("Off-line CPU(s) list").unwrap_or_default();
        let present: CpuSet = online.iter().chain(off.iter()).collect();
        facts.line(&format!("{CPUS}/present"), &present);
        facts.line(&format!("{CPUS}/possible"), &present);
        facts.online = Some(online.clone());
    }
    let processor = &mut facts.processor;
    processor.vendor = field("Vendor ID").map(str::to_owned);
    processor.name = field("Model name").map(str::to_owned);
    let number = |name: &str| field(name).unwrap_or_default().to_owned();
    processor.model = Some((number("CPU family"), number("Model"), number("Stepping")));
    processor.clock = field("CPU MHz").map(str::to_owned);
    processor
        .flags
        .extend(field("Flags").unwrap_or_default().split_whitespace().map(str::to_owned));
    let cpus = online.map_or_else(String::new, |it| it.to_string());
    for (name, file) in [("CPU max MHz", "cpuinfo_max_freq"), ("CPU min MHz", "cpuinfo_min_freq")] {
        let policy = format!("{CPUS}/cpufreq/policy0");
        // With a comma in some languages.
        let megahertz = field(name).and_then(|it| it.replace(',', ".").parse::<f64>().ok());
        if let Some(megahertz) = megahertz.filter(|it| (0.0..1e6).contains(it)) {
            facts.line(&format!("{policy}/{file}"), format!("{:.0}", megahertz * 1000.0));
            facts.line(&format!("{policy}/affected_cpus"), &cpus);
        }
    }
    match field("Frequency boost") {
        Some("enabled") => facts.line(&format!("{CPUS}/cpufreq/boost"), 1),
        Some("disabled") => facts.line(&format!("{CPUS}/cpufreq/boost"), 0),
        _ => {}
    }
}
