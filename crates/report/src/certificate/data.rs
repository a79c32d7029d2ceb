//! How to verify and repeat a certificate: hashes of its files, how the trials were run, and the commands to run them again.
//!
//! Source: FIPS 180-4 for SHA-256; the manual of GNU coreutils, "md5sum invocation", for the lines that `sha256sum -c` reads.

use super::Certificate;
use super::moments::Moment;
use crate::bench::{command_line, described, quoted};
use facts::change::ChangeLines;
use lab::compare::Design;
use lab::record::Arm;
use lab::workload::Settings;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::Path;

/// A file of a result.
pub struct Data {
    /// Its path as given.
    pub name: String,
    /// In bytes.
    pub size: usize,
    /// In lower-case hexadecimal digits.
    pub sha256: String,
}

/// The SHA-256 of some bytes, in lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|it| format!("{it:02x}")).collect()
}

/// File names without their directories, so that the check works wherever the files are copied to. Full paths if two files
/// have the same name.
pub(super) fn names(data: &[Data]) -> Vec<String> {
    let base = |it: &Data| {
        let name = Path::new(&it.name).file_name();
        name.map_or_else(|| it.name.clone(), |name| name.to_string_lossy().into_owned())
    };
    let bases: Vec<String> = data.iter().map(base).collect();
    let distinct: BTreeSet<&String> = bases.iter().collect();
    // The same file given twice gets two lines; the check still passes.
    if distinct.len() == bases.len() {
        bases
    } else {
        data.iter().map(|it| it.name.clone()).collect()
    }
}

/// The command that checks the files, to be run in their directory.
pub(super) fn check(data: &[Data]) -> String {
    let lines = names(data).into_iter().zip(data).map(|(name, it)| line(&it.sha256, &name));
    format!("sha256sum -c <<'END'\n{}END", lines.collect::<String>())
}

/// The command that prints the hash of a change's lines.
pub(super) fn check_lines(lines: &ChangeLines) -> String {
    let ChangeLines { path, n_before, pattern, .. } = lines;
    let path = quoted(&path.to_string_lossy());
    format!("head -n {n_before} {path} | grep -F '{pattern}' | sha256sum")
}

/// A line of `sha256sum`. Backslashes and line ends in a name are escaped, and the line then starts with a backslash.
fn line(hash: &str, name: &str) -> String {
    let escaped = name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    let mark = if escaped == name { "" } else { "\\" };
    format!("{mark}{hash}  {escaped}\n")
}

/// What a certificate rests on, by its hash.
pub(super) struct Hashed {
    pub(super) name: String,
    /// In bytes.
    pub(super) size: usize,
    pub(super) sha256: String,
}

impl Certificate<'_> {
    /// Each file, and the journal's lines.
    pub(super) fn hashes(&self) -> Vec<Hashed> {
        let files = names(self.data).into_iter().zip(self.data);
        let files =
            files.map(|(name, it)| Hashed { name, size: it.size, sha256: it.sha256.clone() });
        let lines = self.change.map(|it| Hashed {
            name: format!("journal, the lines of change {}", it.shown.recorded.id),
            size: it.lines.text.len(),
            sha256: sha256(&it.lines.text),
        });
        files.chain(lines).collect()
    }
}

impl Certificate<'_> {
    /// Facts about the trials, one row each, with the values before and after.
    pub(super) fn measured(&self) -> Vec<(String, Vec<String>)> {
        let row = |name: &str, of: &dyn Fn(&Moment<'_>) -> String| {
            (name.to_owned(), self.moments.iter().map(of).collect())
        };
        let mut rows = vec![
            row("result", &|it| it.side.record.id.clone()),
            row("began", &|it| it.side.record.began.clone()),
            row("by", &|it| format!("fullclock {}", it.side.record.version)),
            row("workload", &|it| described(it.arm)),
            row("trials", &|it| it.summary.trials.to_string()),
        ];
        let abouts = self.moments.iter().flat_map(|it| &it.arm.about);
        let mut named: Vec<&str> = Vec::new();
        for (name, _) in abouts {
            if !named.contains(&name.as_str()) {
                named.push(name);
            }
        }
        rows.extend(named.into_iter().map(|name| {
            row(name, &|it| {
                let about = it.arm.about.iter().find(|(about, _)| about == name);
                about.map_or("not recorded".to_owned(), |(_, value)| value.clone())
            })
        }));
        rows
    }

    pub(super) fn order(&self) -> String {
        match self.comparison.difference.design {
            Design::Race => {
                "Both ran at the same time; each interval of the race is a trial.".to_owned()
            }
            Design::Separate(..) | Design::Runs(..) => {
                "Each of the two in a moment of its own; the clock was probed around each trial."
                    .to_owned()
            }
            Design::Interleaved => {
                let pieces = self.moments[0].side.record.pieces;
                let pieces = match pieces {
                    1 => String::new(),
                    n => format!(", each trial cut into {n} pieces that took turns"),
                };
                format!(
                    "In blocks, each with both in random order{pieces}; the clock was probed around each trial."
                )
            }
        }
    }

    /// The commands that repeat the trials and the certificate, one per line.
    pub(super) fn commands(&self) -> String {
        let [before, after] = &self.moments;
        let line = |it: &Moment<'_>| command_line(it.arm, it.summary.trials);
        let (a, b) = (line(before), line(after));
        let trials = match (self.is_one_result(), self.change) {
            _ if before.arm.is_foreign || after.arm.is_foreign => {
                "# another program ran the trials; `fullclock bench --parse FILE` reads what it prints"
                    .to_owned()
            }
            _ if self.manner().is_race => self.race(),
            (true, Some(change)) => {
                format!("fullclock {}", shell_words(&change.shown.recorded.command))
            }
            (true, None) if a == b => {
                format!("fullclock apply --prove {} SETTING=VALUE", quoted(&a))
            }
            (true, None) => format!("fullclock bench --vs {} {}", quoted(&a), quoted(&b)),
            (false, None) => format!("fullclock bench {a}\n# the change\nfullclock bench {b}"),
            (false, Some(change)) => {
                let change = shell_words(&change.shown.recorded.command);
                format!("fullclock bench {a}\nfullclock {change}\nfullclock bench {b}")
            }
        };
        let files: Vec<String> = names(self.data).iter().map(|it| quoted(it)).collect();
        let change = self
            .change
            .map_or_else(String::new, |it| format!(" --change {}", it.shown.recorded.id));
        format!("{trials}\nfullclock certificate {}{change}", files.join(" "))
    }
}

impl Certificate<'_> {
    /// The command that runs the race again, as far as the result has it.
    fn race(&self) -> String {
        let record = self.moments[0].side.record;
        let node = |arm: &Arm| {
            let Settings { engine, sessions, folder, .. } = &arm.settings;
            let options = [
                sessions.map(|it| format!(",sessions={it}")),
                folder.as_ref().map(|it| format!(",folder={it}")),
                arm.settings.cpus.as_ref().map(|it| format!(",cpus={it}")),
            ];
            let what = engine.as_deref().unwrap_or("embedded");
            let options: String = options.into_iter().flatten().collect();
            format!(" --node {}", quoted(&format!("{}={what}{options}", arm.name)))
        };
        let nodes: String = record.arms.iter().map(node).collect();
        let ends = record.trials.iter().filter_map(|it| {
            Some(it.began_ns.value()?.saturating_add(*it.outcome.elapsed_ns.value()?))
        });
        let seconds = ends.max().unwrap_or(0) as f64 / 1e9;
        format!(
            "# the hosts and control groups of the nodes are not in the result\n\
             fullclock race{nodes} -d {seconds:.0}s"
        )
    }
}

fn shell_words(command: &[String]) -> String {
    command.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, text: &str) -> Data {
        Data { name: name.to_owned(), size: text.len(), sha256: sha256(text.as_bytes()) }
    }

    /// The examples of FIPS 180-2, appendix B, and of no bytes at all.
    #[test]
    fn hashes_are_those_of_the_standard() {
        assert_eq!(
            sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn files_are_named_without_folders_unless_two_have_one_name() {
        assert_eq!(names(&[of("/a/x.json", ""), of("y.json", "")]), ["x.json", "y.json"]);
        assert_eq!(names(&[of("a/x.json", ""), of("b/x.json", "")]), ["a/x.json", "b/x.json"]);
    }

    /// Runs the real sha256sum: escaping of file names is easy to get wrong.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "runs sha256sum on files")]
    fn sha256sum_agrees_whatever_a_file_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["plain.json", "it's a \"b\".json", "back\\slash\nand line.json", "-c"];
        let data: Vec<Data> = names.iter().map(|it| of(it, it)).collect();
        names.iter().for_each(|it| std::fs::write(folder.path().join(it), it).unwrap());
        let command = check(&data);
        let run = || {
            let mut sh = std::process::Command::new("sh");
            sh.args(["-c", &command]).current_dir(folder.path()).output().unwrap().status.success()
        };
        assert!(run(), "{command}");
        std::fs::write(folder.path().join("-c"), "another").unwrap();
        assert!(!run());
    }
}
