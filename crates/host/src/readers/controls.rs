//! What the files hold that settings ask for.

use super::cpufreq::older_folders;
use crate::Source;
use facts::Fact;
use facts::change::{Controls, matched, of_older_policies};
use facts::parse::trimmed;
use std::collections::BTreeMap;

const GOVERNOR: &str = "scaling_governor";

/// Lists that are the same for all policies with one governor (`show_scaling_available_governors` in
/// drivers/cpufreq/cpufreq.c; amd-pstate has one preference under `performance`).
const OF_ALL_POLICIES: [&str; 2] =
    ["scaling_available_governors", "energy_performance_available_preferences"];

/// What a policy shows only while it has a governor, and the governor (Documentation/admin-guide/pm/cpufreq.rst);
/// `scaling_setspeed` holds `<unsupported>` under every other one.
const OF_GOVERNORS: [(&str, &str); 4] = [
    ("scaling_setspeed", "userspace"),
    ("ondemand", "ondemand"),
    ("conservative", "conservative"),
    ("schedutil", "schedutil"),
];

/// Asks `source` for every file that matches one of the patterns; a `*` stands for some characters of one name.
///
/// Texts are without white space around them, but for those of /etc. What is not there is in no answer, except a path without a star, which is absent.
/// Nor is what belongs to another governor than a policy has. Where policies have no folders of their own, their files are those in the
/// folders of CPUs.
pub fn read(source: &dyn Source, patterns: &[&str]) -> Controls {
    let mut reading = Reading { source, answers: Vec::new(), shared: BTreeMap::new() };
    let older = older_files(source, patterns);
    let patterns = patterns.iter().copied().chain(older.iter().map(String::as_str));
    let patterns: Vec<&str> = patterns.filter_map(|it| it.strip_prefix('/')).collect();
    reading.read_below("", &patterns);
    reading.answers.into_iter().collect()
}

/// The files of policies in the folders of CPUs; none where policies have folders of their own, which the CPUs' are links to.
fn older_files(source: &dyn Source, patterns: &[&str]) -> Vec<String> {
    let files: Vec<String> = patterns.iter().filter_map(|it| of_older_policies(it)).collect();
    if files.is_empty() {
        return Vec::new();
    }
    let folders = older_folders(source);
    let of_folder = |folder: &String| {
        let file =
            |it: &String| it.rsplit_once("/cpufreq/").map(|(_, file)| format!("{folder}/{file}"));
        files.iter().filter_map(file).collect::<Vec<_>>()
    };
    folders.iter().flat_map(of_folder).collect()
}

/// What was answered so far.
struct Reading<'a> {
    source: &'a dyn Source,
    answers: Vec<(String, Fact<String>)>,
    /// Of [`OF_ALL_POLICIES`], by governor and name.
    shared: BTreeMap<(String, &'static str), String>,
}

impl Reading<'_> {
    /// Reads what matches below one folder, as far as folders can be listed. The patterns are relative to it.
    ///
    /// Folder by folder and not pattern by pattern: each is listed once, and its files are asked for one after the other, which
    /// a source may be quicker to answer.
    fn read_below(&mut self, folder: &str, patterns: &[&str]) {
        let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for pattern in patterns {
            let (name, rest) = pattern.split_once('/').unwrap_or((pattern, ""));
            by_name.entry(name).or_default().push(rest);
        }
        let mut governor = None;
        if by_name.remove(GOVERNOR).is_some() {
            let path = format!("{folder}/{GOVERNOR}");
            let text = text(self.source, &path);
            governor = text.as_ref().ok().cloned();
            self.answers.push((path, text));
        }
        let has_star = by_name.keys().any(|name| name.contains('*'));
        let listed =
            if has_star { self.source.list(folder).unwrap_or_default() } else { Vec::new() };
        for (pattern, rests) in by_name {
            let names: Vec<&str> = match pattern.contains('*') {
                true => listed.iter().map(String::as_str).filter(|it| fits(pattern, it)).collect(),
                false => vec![pattern],
            };
            let (files, below): (Vec<&str>, Vec<&str>) = rests.iter().partition(|it| it.is_empty());
            for name in names {
                if governor.as_deref().is_some_and(|it| is_of_another(it, name)) {
                    continue;
                }
                if !below.is_empty() {
                    self.read_below(&format!("{folder}/{name}"), &below);
                }
                if !files.is_empty() {
                    self.read_file(format!("{folder}/{name}"), name, governor.as_deref());
                }
            }
        }
    }

    /// Reads a file that is called `name`, in the folder of a policy with this governor or in any other folder.
    fn read_file(&mut self, path: String, name: &str, governor: Option<&str>) {
        let list = OF_ALL_POLICIES.into_iter().find(|it| *it == name);
        let key = governor.map(str::to_owned).zip(list);
        let known = key.as_ref().and_then(|it| self.shared.get(it).cloned());
        let text = known.map_or_else(|| text(self.source, &path), Ok);
        if let (Some(key), Ok(text)) = (key, &text) {
            self.shared.insert(key, text.clone());
        }
        self.answers.push((path, text));
    }
}

/// Whether a policy with this governor has nothing of that name to tell, as it belongs to another.
fn is_of_another(governor: &str, name: &str) -> bool {
    OF_GOVERNORS.iter().any(|(it, of)| *it == name && *of != governor)
}
fn fits(pattern: &str, name: &str) -> bool {
    matched(pattern, name).is_some()
}

fn text(source: &dyn Source, path: &str) -> Fact<String> {
    let text = source.text(path)?;
    // A file of configuration is kept to the byte, as it is to be brought back.
    Ok(if path.starts_with("/etc/") { text } else { trimmed(&text).to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Captured, Recording};
    use facts::Missing;

    #[test]
    fn a_star_is_every_name_that_fits() {
        let source = Captured::excerpt(
            "//- /sys/devices/system/cpu/cpu0/online\n1\n//- /sys/devices/system/cpu/cpu10/online\n0\n\
             //- /sys/devices/system/cpu/cpuidle/online\n1\n",
        )
        .unwrap();
        let controls =
            read(&source, &["/sys/devices/system/cpu/cpu*/online", "/proc/sys/kernel/x"]);
        assert_eq!(controls.get("/sys/devices/system/cpu/cpu0/online"), Ok("1"));
        assert_eq!(controls.get("/sys/devices/system/cpu/cpu10/online"), Ok("0"));
        assert_eq!(controls.get("/proc/sys/kernel/x"), Err(Missing::absent("/proc/sys/kernel/x")));
    }

    const POLICIES: &str = "/sys/devices/system/cpu/cpufreq/policy*";

    /// What is asked for of three policies, two of them with the governor performance, by the names of the files.
    fn asked_of_policies(governor: &str) -> String {
        let policy = |number: u32, governor: &str| {
            let folder = POLICIES.replace('*', &number.to_string());
            format!(
                "//- {folder}/scaling_governor\n{governor}\n\
                 //- {folder}/scaling_available_governors\nondemand performance\n\
                 //- {folder}/scaling_setspeed\n<unsupported>\n\
                 //- {folder}/ondemand/up_threshold\n95\n"
            )
        };
        let host = policy(0, governor) + &policy(1, "performance") + &policy(2, "performance");
        let host = Captured::excerpt(&host).unwrap();
        let recording = Recording::new(&host);
        let names =
            ["ondemand/*", "scaling_available_governors", "scaling_governor", "scaling_setspeed"];
        let patterns = names.map(|it| format!("{POLICIES}/{it}"));
        let controls = read(&recording, &patterns.each_ref().map(String::as_str));
        let lists = controls.matching(&patterns[1]);
        assert_eq!(lists.len(), 3);
        assert!(lists.iter().all(|it| it.text == Ok("ondemand performance")));
        let name =
            |line: &str| Some(line.strip_prefix("//- ")?.split_once("/policy")?.1.to_owned());
        let capture = recording.capture();
        let files = capture.lines().filter_map(name).filter(|it| !it.ends_with('/'));
        let files: Vec<String> = files.map(|it| it.replace("scaling_", "")).collect();
        files.join(" ")
    }

    const OLDER: &str = "\
//- /proc/sys/kernel/osrelease
2.6.32-754.el6.x86_64
//- /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
ondemand
//- /sys/devices/system/cpu/cpu1/cpufreq/scaling_governor
ondemand
//- /sys/devices/system/cpu/cpu2/online
1
";

    #[test]
    fn before_policies_had_folders_their_files_are_those_of_cpus() {
        let governor = format!("{POLICIES}/scaling_governor");
        let of = |host: &str| {
            let source = Captured::excerpt(host).unwrap();
            let controls = read(&source, &[&governor, "/sys/devices/system/cpu/cpu*/online"]);
            let found = controls.matching(&governor).into_iter().map(|it| it.path.to_owned());
            found.collect::<Vec<_>>()
        };
        let path = |cpu| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
        assert_eq!(of(OLDER), [path(0), path(1)]);
        // Where there are both, the folders of CPUs are links to those of policies.
        let policy = format!("{OLDER}//- {}\nondemand\n", governor.replace('*', "0"));
        assert_eq!(of(&policy), [governor.replace('*', "0")]);
        assert!(of(&OLDER.replace("2.6.32", "6.1.0")).is_empty());
    }

    #[test]
    fn what_is_of_another_governor_is_not_asked_for_and_a_common_list_once() {
        let others = "1/available_governors 1/governor 2/governor";
        assert_eq!(
            asked_of_policies("performance"),
            "0/available_governors 0/governor 1/governor 2/governor"
        );
        assert_eq!(
            asked_of_policies("ondemand"),
            format!("0/ondemand/up_threshold 0/available_governors 0/governor {others}")
        );
        assert_eq!(
            asked_of_policies("userspace"),
            format!("0/available_governors 0/governor 0/setspeed {others}")
        );
        // What is not known decides nothing.
        assert_eq!(
            asked_of_policies("!denied"),
            format!("0/ondemand/up_threshold 0/available_governors 0/governor 0/setspeed {others}")
        );
    }
}
