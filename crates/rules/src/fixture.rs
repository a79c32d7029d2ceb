//! What the tests of checks share: a host from an excerpt, and a verdict as one line of text.

use crate::check::Check;
use crate::finding::Finding;
use facts::HostView;
use host::Captured;

/// Two cores of a Xeon Scalable, threads 0 and 2, 1 and 3, whose registers are real ones.
pub(crate) const XEON: &str = "\
//- /proc/cpuinfo
processor : 0
vendor_id : GenuineIntel
cpu family : 6
model : 85
flags : acpi tm2 est ida pln pts epb hwp
//- /sys/devices/system/cpu/online
0-3
//- /sys/devices/system/cpu/cpu0/topology/core_cpus_list
0,2
//- /sys/devices/system/cpu/cpu1/topology/core_cpus_list
1,3
//- /sys/devices/system/cpu/cpu0/topology/package_cpus_list
0-3
//- /dev/cpu/0/msr 0xce
0xa0080001800
";

/// The host that answers as `excerpt` says; whatever it does not name is absent. A text with a capture's first
/// line is a whole capture, and what it does not name is not known.
pub(crate) fn host_of(excerpt: &str) -> HostView {
    let is_whole = excerpt.starts_with("fullclock capture ");
    let captured = if is_whole { Captured::parse(excerpt) } else { Captured::excerpt(excerpt) };
    host::view(&captured.unwrap())
}

/// The findings of a check that has some.
pub(crate) fn findings(check: &Check, excerpt: &str) -> Vec<Finding> {
    (check.run)(&host_of(excerpt)).unwrap()
}

/// The verdict in short: `severity: message [CPUs]` a line, or `clean`, or why there is none.
pub(crate) fn verdict(check: &Check, excerpt: &str) -> String {
    match (check.run)(&host_of(excerpt)) {
        Err(missing) if missing.is_absence() => format!("not applicable: {missing}"),
        Err(missing) => format!("unknown: {missing}"),
        Ok(findings) if findings.is_empty() => "clean".to_owned(),
        Ok(findings) => {
            let line = |finding: &Finding| {
                let scope = finding.cpus.as_ref().map_or(String::new(), |it| format!(" [{it}]"));
                format!("{}: {}{scope}", finding.severity.name(), finding.message)
            };
            findings.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    }
}
