//! Commands of cpupower, of the kernel's tools/power/cpupower.
//!
//! Sources: cpupower-frequency-set(1), cpupower-idle-set(1), cpupower-set(1) of Linux 6.1; tools/power/cpupower/utils/cpupower-set.c, which
//! has `--epp` and `--turbo-boost` since Linux 6.3.

use super::{
    BY_SHELL, Piece, Planned, Site, Tool, comment, control, introduce, made, not_made, opening,
    put, remarks, then, word,
};
use facts::CpuSet;
use facts::change::{Write, matched};
use rules::plan::Step;

pub(super) const TOOL: Tool = Tool {
    name: "cpupower",
    makes: |_, it| matches!(command(it), Piece::Made(_)),
    others: BY_SHELL,
    write,
};

/// A file whose writes are an option of cpupower.
struct Expressed {
    /// The file; its first `*` is the number of a CPU, or of a policy, which is that of one of its CPUs.
    path: &'static str,
    /// The subcommand and the option; the value follows.
    command: &'static str,
    /// What the reader has to know.
    note: &'static str,
}

const EXPRESSED: &[Expressed] = &[
    Expressed {
        path: "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
        command: "frequency-set -g",
        note: "",
    },
    Expressed {
        path: "/sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq",
        command: "frequency-set -d",
        note: "",
    },
    Expressed {
        path: "/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq",
        command: "frequency-set -u",
        note: "",
    },
    Expressed {
        path: "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
        command: "frequency-set -g",
        note: "",
    },
    Expressed {
        path: "/sys/devices/system/cpu/cpu*/cpufreq/scaling_min_freq",
        command: "frequency-set -d",
        note: "",
    },
    Expressed {
        path: "/sys/devices/system/cpu/cpu*/cpufreq/scaling_max_freq",
        command: "frequency-set -u",
        note: "",
    },
    Expressed {
        path: "/sys/devices/system/cpu/cpu*/power/energy_perf_bias",
        command: "set -b",
        note: "older ones take the module msr",
    },
    Expressed {
        path: "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
        command: "set -e",
        note: "cpupower of Linux 6.3 and later",
    },
];

const BOOST: &str = "/sys/devices/system/cpu/cpufreq/boost";
const IDLE: &str = "/sys/devices/system/cpu/cpu*/cpuidle/state*/disable";

/// One command for some CPUs.
#[derive(PartialEq)]
struct Command<'a> {
    /// The subcommand with its option and value.
    words: String,
    note: &'static str,
    /// What was there.
    was: &'a str,
}

fn write(planned: &Planned<'_>, site: &Site<'_>) -> String {
    let mut text = "#!/bin/sh\n".to_owned();
    text += &opening("Commands of cpupower", planned, site);
    comment(
        &mut text,
        "Run it as root. The first command that fails ends it. Nothing is recorded or read back.",
    );
    text += "set -e\n";
    for step in planned.plan.steps.iter().filter(|it| !it.change.writes.is_empty()) {
        introduce(&mut text, step);
        put_step(&mut text, step);
        then(&mut text, step);
    }
    remarks(&mut text, planned);
    text
}

/// The commands of a step, each once for all CPUs that it is for.
fn put_step(text: &mut String, step: &Step) {
    let mut commands: Vec<(Command<'_>, Option<CpuSet>)> = Vec::new();
    for write in made(step) {
        match command(write) {
            Piece::Not(why) => not_made(text, "CPUPOWER", write, why),
            Piece::Made((command, cpu)) => match commands.iter_mut().find(|it| it.0 == command) {
                Some((_, Some(cpus))) => cpus.extend(cpu),
                Some((_, None)) => {}
                None => commands.push((command, cpu.map(|it| CpuSet::from_iter([it])))),
            },
        }
    }
    for (Command { words, note, was }, cpus) in commands {
        let cpus = cpus.map_or(String::new(), |it| format!("-c {it} "));
        let note = if note.is_empty() { String::new() } else { format!("; {note}") };
        let was = crate::harmless::harmless(was);
        put(text, format_args!("cpupower {cpus}{words}  # was {was}{note}\n"));
    }
}

/// The command for a write, and its CPU where it is for one.
fn command(write: &Write) -> Piece<(Command<'_>, Option<u32>)> {
    const NONE: &str = "it has no option for that";
    let Some((path, to)) = control(write) else { return Piece::Not(NONE) };
    let was = write.from.as_deref().unwrap_or_default();
    let number = |stars: &[&str]| stars.first().and_then(|it| it.parse().ok());
    if path == BOOST {
        let words = format!("set --turbo-boost {}", word(to));
        let note = "cpupower of Linux 6.3 and later";
        return Piece::Made((Command { words, note, was }, None));
    }
    if let Some([_, state]) = matched(IDLE, path).as_deref() {
        let option = if to == "0" { "-e" } else { "-d" };
        let words = format!("idle-set {option} {state}");
        let cpu = matched(IDLE, path).and_then(|it| number(&it));
        return Piece::Made((Command { words, note: "", was }, cpu));
    }
    for it in EXPRESSED {
        let is_taken = it.command != "set -b" || to.parse::<u8>().is_ok();
        if let Some(stars) = matched(it.path, path).filter(|_| is_taken) {
            let words = format!("{} {}", it.command, word(to));
            return Piece::Made((Command { words, note: it.note, was }, number(&stars)));
        }
    }
    Piece::Not(NONE)
}
