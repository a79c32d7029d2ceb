//! What the files hold that settings ask for.

use crate::Source;
use facts::Fact;
use facts::change::{Controls, matched};
use facts::parse::trimmed;
use std::collections::BTreeMap;

/// Asks `source` for every file that matches one of the patterns; a `*` stands for some characters of one name.
///
/// Texts are without white space around them, but for those of /etc. What is not there is in no answer, except a path without a star, which is absent.
pub fn read(source: &dyn Source, patterns: &[&str]) -> Controls {
    let mut answers = BTreeMap::new();
    let patterns: Vec<&str> = patterns.iter().filter_map(|it| it.strip_prefix('/')).collect();
    read_below(source, "", &patterns, &mut answers);
    Controls::from(answers)
}

/// Reads what matches below one folder, as far as folders can be listed. The patterns are relative to it.
///
/// Folder by folder and not pattern by pattern: each is listed once, and its files are asked for one after the other, which
/// a source may be quicker to answer.
fn read_below(
    source: &dyn Source,
    folder: &str,
    patterns: &[&str],
    answers: &mut BTreeMap<String, Fact<String>>,
) {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for pattern in patterns {
        let (name, rest) = pattern.split_once('/').unwrap_or((pattern, ""));
        by_name.entry(name).or_default().push(rest);
    }
    let has_star = by_name.keys().any(|name| name.contains('*'));
    let listed = if has_star { source.list(folder).unwrap_or_default() } else { Vec::new() };
    for (pattern, rests) in by_name {
        let names: Vec<&str> = match pattern.contains('*') {
            true => listed.iter().map(String::as_str).filter(|it| fits(pattern, it)).collect(),
            false => vec![pattern],
        };
        let (files, below): (Vec<&str>, Vec<&str>) = rests.iter().partition(|it| it.is_empty());
        for name in names {
            let path = format!("{folder}/{name}");
            if !below.is_empty() {
                read_below(source, &path, &below, answers);
            }
            if !files.is_empty() && !answers.contains_key(&path) {
                let text = text(source, &path);
                answers.insert(path, text);
            }
        }
    }
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
    use crate::Captured;
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
}
