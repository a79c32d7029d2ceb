//! Writes as commands of a shell: what `fullclock apply` writes, for people who do not have it on that host.
//!
//! Lists of paths are braces of bash (Bash manual, "Brace Expansion"), which is root's shell on the distributions that fullclock is packaged for.
//! BusyBox's shell has none, and gets loops.

use facts::CpuSet;
use facts::change::{Aim, Target, Write};

/// The commands that make these writes of one setting, in their order as far as different files are concerned.
///
/// None for what a shell cannot do for long: a latency limit ends with the process that requests it.
pub(super) fn commands(writes: &[Write], has_braces: bool) -> Vec<String> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for write in writes.iter().filter(|it| it.aim != Aim::Forgotten) {
        let Some(one) = Group::of(write) else { continue };
        match groups.iter_mut().find(|it| it.kind == one.kind) {
            Some(group) => group.members.extend(one.members),
            None => groups.push(one),
        }
    }
    groups.iter().flat_map(|it| it.commands(has_braces)).collect()
}

/// Writes that differ in one number only.
struct Group<'a> {
    kind: Kind<'a>,
    /// The number of each, as it is written.
    members: Vec<String>,
}

#[derive(PartialEq)]
enum Kind<'a> {
    /// A value for files whose paths have the number between these two parts.
    File { before: &'a str, after: &'a str, value: &'a str },
    /// Bits of a register of numbered CPUs.
    Register { address: u32, mask: u64, bits: u64 },
    /// CPUs for numbered tasks.
    Affinity { cpus: &'a str },
    /// Running or not.
    Service { name: &'a str, verb: &'static str },
}

impl<'a> Group<'a> {
    fn of(write: &'a Write) -> Option<Group<'a>> {
        let to = write.to.as_deref()?;
        let (kind, member) = match &write.target {
            Target::Control { path } => {
                let (before, number, after) = around_number(path);
                (Kind::File { before, after, value: to }, number.to_owned())
            }
            Target::Register { cpu, address, mask } => {
                let bits = u64::from_str_radix(to.strip_prefix("0x")?, 16).ok()? & mask;
                (Kind::Register { address: *address, mask: *mask, bits }, cpu.to_string())
            }
            Target::Affinity { tid, .. } => (Kind::Affinity { cpus: to }, tid.to_string()),
            Target::Service { name } => {
                let verb = if to == "stopped" { "stop" } else { "start" };
                (Kind::Service { name, verb }, String::new())
            }
            Target::LatencyRequest | Target::File { .. } | Target::Firmware(_) => return None,
        };
        Some(Group { kind, members: vec![member] })
    }

    fn commands(&self, has_braces: bool) -> Vec<String> {
        match &self.kind {
            Kind::File { before, after, value } => {
                let value = quoted(value);
                vec![match self.members.as_slice() {
                    [number] => format!("echo {value} > {before}{number}{after}"),
                    numbers if !has_braces => {
                        let list = words(numbers);
                        format!("for it in {list}; do echo {value} > {before}$it{after}; done")
                    }
                    numbers => format!("echo {value} | tee {before}{}{after}", braces(numbers)),
                }]
            }
            Kind::Register { address, mask, bits } => {
                let list = if has_braces { braces } else { words };
                register(&self.members, list, *address, *mask, *bits)
            }
            Kind::Affinity { cpus } => match self.members.as_slice() {
                [tid] => vec![format!("taskset -cp {cpus} {tid}")],
                tids => {
                    let tids = tids.join(" ");
                    vec![format!("for task in {tids}; do taskset -cp {cpus} $task; done")]
                }
            },
            Kind::Service { name, verb } => vec![match name.ends_with(".service") {
                true => format!("systemctl {verb} {name}"),
                false => format!("service {name} {verb}"),
            }],
        }
    }
}

/// A path before, at and after its first number.
fn around_number(path: &str) -> (&str, &str, &str) {
    let is_digit = |it: char| it.is_ascii_digit();
    let Some(start) = path.find(is_digit) else { return (path, "", "") };
    let length = path[start..].find(|it| !is_digit(it)).unwrap_or(path.len() - start);
    let (before, rest) = path.split_at(start);
    let (number, after) = rest.split_at(length);
    (before, number, after)
}

/// Changes the bits of a mask and no others, by reading each CPU's own value; on one CPU first.
fn register(
    cpus: &[String],
    list: fn(&[String]) -> String,
    address: u32,
    mask: u64,
    bits: u64,
) -> Vec<String> {
    let set = if bits == 0 { String::new() } else { format!(" | {bits:#x}") };
    let write = |cpu: &str| {
        format!(
            "wrmsr -p {cpu} {address:#x} $(($(rdmsr -d -p {cpu} {address:#x}) & ~{mask:#x}{set}))"
        )
    };
    let Some((first, rest)) = cpus.split_first() else { return Vec::new() };
    let mut commands = vec![format!("modprobe msr; {}  # one CPU first", write(first))];
    if !rest.is_empty() {
        let rest = list(rest);
        commands.push(format!("for cpu in {rest}; do {}; done", write("$cpu")));
    }
    commands
}

/// CPUs as words of any shell: `$(seq 0 63)`, `0 2 5`.
pub(crate) fn word_list(cpus: &CpuSet) -> String {
    words(&cpus.iter().map(|it| it.to_string()).collect::<Vec<_>>())
}

/// Numbers as words of a shell without braces: `$(seq 0 63)`, `0 2 5`.
fn words(numbers: &[String]) -> String {
    let is_next = |pair: &[String]| {
        let number =
            |at: usize| pair[at].parse::<u64>().ok().filter(|it| it.to_string() == pair[at]);
        number(0).is_some_and(|it| number(1) == Some(it + 1))
    };
    match numbers {
        [first, .., last] if numbers.len() > 4 && numbers.windows(2).all(is_next) => {
            format!("$(seq {first} {last})")
        }
        numbers => numbers.join(" "),
    }
}

/// The same of numbers that may have leading zeros, which stay.
fn braces(numbers: &[String]) -> String {
    let is_plain = |it: &&String| *it == "0" || !it.starts_with('0');
    let parsed: Option<CpuSet> =
        numbers.iter().map(|it| Some(it).filter(is_plain)?.parse().ok()).collect();
    let parts: Vec<String> = match parsed {
        Some(set) => set.to_string().split(',').flat_map(range).collect(),
        None => numbers.to_vec(),
    };
    match parts.as_slice() {
        [one] => one.clone(),
        parts => format!("{{{}}}", parts.join(",")),
    }
}

/// `0-3` as `{0..3}`, `4-5` as `4` and `5`.
fn range(text: &str) -> Vec<String> {
    let Some((first, last)) = text.split_once('-') else { return vec![text.to_owned()] };
    let is_pair = first.parse::<u64>().is_ok_and(|it| last.parse() == Ok(it + 1));
    match is_pair {
        true => vec![first.to_owned(), last.to_owned()],
        false => vec![format!("{{{first}..{last}}}")],
    }
}

/// A value as one word of a shell.
fn quoted(value: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_.,:+/-".contains(it);
    match !value.is_empty() && value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str], value: &str) -> Vec<String> {
        let write = |path: &&str| Write::of(Target::control(*path), "old", value);
        commands(&paths.iter().map(write).collect::<Vec<_>>(), true)
    }

    #[test]
    fn one_file_is_written_by_echo_and_many_by_tee() {
        assert_eq!(
            files(&["/proc/sys/vm/stat_interval"], "60"),
            ["echo 60 > /proc/sys/vm/stat_interval"]
        );
        assert_eq!(
            files(&["/a/policy0/g", "/a/policy1/g"], "x"),
            ["echo x | tee /a/policy{0,1}/g"]
        );
        assert_eq!(
            files(&["/a/policy0/g", "/a/policy1/g", "/a/policy2/g", "/a/policy8/g"], "x"),
            ["echo x | tee /a/policy{{0..2},8}/g"]
        );
        assert_eq!(
            files(&["/a/cpu0/s1/d", "/a/cpu0/s2/d", "/a/cpu1/s1/d", "/a/cpu1/s2/d"], "0"),
            ["echo 0 | tee /a/cpu{0,1}/s1/d", "echo 0 | tee /a/cpu{0,1}/s2/d"]
        );
        assert_eq!(
            files(&["/a/package_00_die_00/m", "/a/package_01_die_00/m"], "2400000"),
            ["echo 2400000 | tee /a/package_{00,01}_die_00/m"]
        );
    }

    #[test]
    fn a_shell_without_braces_gets_loops() {
        let of = |numbers: &[u32]| {
            let path = |it: &u32| Target::control(format!("/a/policy{it}/g"));
            let writes = numbers.iter().map(|it| Write::of(path(it), "old", "x"));
            commands(&writes.collect::<Vec<_>>(), false)
        };
        assert_eq!(of(&[3]), ["echo x > /a/policy3/g"]);
        assert_eq!(of(&[0, 2]), ["for it in 0 2; do echo x > /a/policy$it/g; done"]);
        let all: Vec<u32> = (0..64).collect();
        assert_eq!(of(&all), ["for it in $(seq 0 63); do echo x > /a/policy$it/g; done"]);
    }

    #[test]
    fn values_differ_and_so_do_the_commands() {
        let write = |cpu: u32, value: &str| {
            Write::of(Target::control(format!("/a/policy{cpu}/m")), "old", value)
        };
        let writes = [write(0, "3000"), write(1, "2000"), write(2, "3000")];
        assert_eq!(
            commands(&writes, true),
            ["echo 3000 | tee /a/policy{0,2}/m", "echo 2000 > /a/policy1/m"]
        );
    }

    #[test]
    fn a_value_that_the_shell_would_split_is_quoted() {
        assert_eq!(files(&["/a"], "a b"), ["echo 'a b' > /a"]);
        assert_eq!(files(&["/a"], "it's"), ["echo 'it'\\''s' > /a"]);
    }

    #[test]
    fn a_register_is_changed_on_one_cpu_first_and_within_its_mask() {
        let write = |cpu, to: &str| {
            Write::of(Target::Register { cpu, address: 0x19a, mask: 0x10 }, "0x14", to)
        };
        let clear =
            |cpu: &str| format!("wrmsr -p {cpu} 0x19a $(($(rdmsr -d -p {cpu} 0x19a) & ~0x10))");
        assert_eq!(
            commands(&[write(4, "0x4")], true),
            [format!("modprobe msr; {}  # one CPU first", clear("4"))]
        );
        assert_eq!(
            commands(&[0, 1, 2, 3].map(|cpu| write(cpu, "0x4")), true)[1],
            format!("for cpu in {{1..3}}; do {}; done", clear("$cpu"))
        );
        assert!(commands(&[write(0, "0x14")], true)[0].contains("& ~0x10 | 0x10))"));
    }

    #[test]
    fn tasks_and_services_have_commands_of_their_own() {
        let task = |tid| {
            let target = Target::Affinity { tid, started: 1, name: "kipmi0".to_owned() };
            Write::of(target, "0-3", "0-1")
        };
        assert_eq!(commands(&[task(7)], true), ["taskset -cp 0-1 7"]);
        assert_eq!(
            commands(&[task(7), task(9)], true),
            ["for task in 7 9; do taskset -cp 0-1 $task; done"]
        );
        let service = Target::Service { name: "tuned.service".to_owned() };
        assert_eq!(
            commands(&[Write::of(service, "running", "stopped")], true),
            ["systemctl stop tuned.service"]
        );
        assert!(commands(&[Write::of(Target::LatencyRequest, "none", "20")], true).is_empty());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "asks bash what it makes of the braces")]
    fn bash_makes_every_path_of_the_braces_and_no_other() {
        let numbers: Vec<String> =
            [0, 1, 2, 3, 8, 10, 11, 12, 13].map(|it: u32| it.to_string()).to_vec();
        let list = format!("echo {}", braces(&numbers));
        let output = std::process::Command::new("bash").args(["-c", &list]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), numbers.join(" "));
    }
}
