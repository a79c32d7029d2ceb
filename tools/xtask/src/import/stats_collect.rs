//! Results of stats-collect (github.com/intel/stats-collect): the output of one command in each file of
//! `stats/sysinfo`, once before and once after a workload.
//!
//! The later one is imported, because some commands ran only then.

use super::{Members, dmidecode};
use anyhow::Result;
use host::{Answers, Identity, pasted};
use std::collections::BTreeMap;

/// What a command's output becomes.
type Import = fn(&mut Answers, &str);

/// The files that are imported.
const FILES: [(&str, Import); 11] = [
    ("proc_cmdline.after.raw.txt", |answers, text| answers.file("/proc/cmdline", text.trim_end())),
    ("proc_cpuinfo.after.raw.txt", |answers, text| answers.file("/proc/cpuinfo", text)),
    ("sysinfo/interrupts.after.raw.txt", |answers, text| answers.file("/proc/interrupts", text)),
    ("sys-cpufreq.after.raw.txt", sysfs),
    ("sys-cpuidle.after.raw.txt", sysfs),
    ("sys-thermal_throttle.after.raw.txt", sysfs),
    ("sysctl-all.after.raw.txt", sysctl),
    ("dmidecode.after.raw.txt", dmidecode::import),
    ("lspci-vvv.after.raw.txt", pasted::lspci),
    ("turbostat-d.after.raw.txt", pasted::turbostat),
    ("x86_energy_perf_policy.after.raw.txt", pasted::energy_policy),
];

pub(super) fn import(members: &Members) -> Result<(Answers, Identity)> {
    let mut answers = Answers::default();
    // A result without system information still has the interrupts that were counted.
    if let Some(text) = members.ending("/interrupts.raw.txt") {
        answers.file("/proc/interrupts", first_snapshot(text));
    }
    for (name, import) in FILES {
        if let Some(text) = members.ending(name) {
            import(&mut answers, text);
        }
    }
    // "Linux milan0 6.11.4-301.fc41.x86_64 #1 SMP ...".
    let uname = members.ending("uname-a.after.raw.txt").unwrap_or_default();
    let mut words = uname.split_whitespace().skip(1);
    let host_name = words.next().unwrap_or_else(|| members.folder()).to_owned();
    let release = words.next().unwrap_or_default().to_owned();
    Ok((answers, Identity { host_name, release }))
}

/// What stands between the first two lines with a time.
fn first_snapshot(text: &str) -> String {
    let snapshot = text.lines().skip(1).take_while(|it| !it.starts_with("Timestamp:"));
    snapshot.flat_map(|line| [line, "\n"]).collect()
}

/// Files of sysfs, each as its path with a colon, its text, and an empty line.
fn sysfs(answers: &mut Answers, text: &str) {
    let mut open: Option<(&str, String)> = None;
    for line in text.lines() {
        match line.strip_prefix("/sys/").and_then(|_| line.strip_suffix(':')) {
            Some(path) => {
                if let Some((path, value)) = open.replace((path, String::new())) {
                    answers.file(path, value);
                }
            }
            None if line.is_empty() => {}
            None => {
                if let Some((_, value)) = &mut open {
                    value.extend([line, "\n"]);
                }
            }
        }
    }
    if let Some((path, value)) = open {
        answers.file(path, value);
    }
}

/// `kernel.osrelease = 6.11.4`. A dot in a name is a slash (sysctl(8)); a value of several lines has a line
/// for each.
fn sysctl(answers: &mut Answers, text: &str) {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    for (key, value) in text.lines().filter_map(|it| it.split_once(" = ")) {
        let swap = |it: char| match it {
            '.' => '/',
            '/' => '.',
            other => other,
        };
        let path = format!("/proc/sys/{}", key.chars().map(swap).collect::<String>());
        values.entry(path).or_default().extend([value, "\n"]);
    }
    for (path, value) in values {
        answers.file(&path, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(files: &Members) -> String {
        let (answers, identity) = import(files).unwrap();
        answers.capture(facts::Origin::Tree, &identity)
    }

    #[test]
    fn the_output_of_commands_becomes_files() {
        let text = capture(&Members::from([
            ("r/stats/sysinfo/uname-a.after.raw.txt", "Linux db7 6.11.4 #1 SMP\n"),
            ("r/stats/sysinfo/proc_cmdline.after.raw.txt", "ro quiet\n\n"),
            ("r/stats/sysinfo/sys-cpuidle.after.raw.txt", "/sys/a:\n1\n2\n\n/sys/b:\n\n"),
            ("r/stats/sysinfo/sysctl-all.after.raw.txt", "kernel.a = 1\nkernel.a = 2\nnoise\n"),
            ("r/stats/interrupts.raw.txt", "Timestamp: 1\nCPU0\nTimestamp: 2\n"),
        ]));
        assert_eq!(
            text,
            "fullclock capture 1 (imported)\n# its last line is `//- end`\n//- /proc/cmdline\nro quiet\n\\\n\
             //- /proc/interrupts\nCPU0\n//- /proc/sys/kernel/a\n1\n2\n//- /sys/a\n1\n2\n//- /sys/b\n//- end\n"
        );
    }
}
