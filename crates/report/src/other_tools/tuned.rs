//! A profile of TuneD: `/etc/tuned/NAME/tuned.conf`.
//!
//! Sources: TuneD's plugins `cpu`, `sysctl`, `sysfs` and its profile loader (version 2.20), which reads a profile by Python's configparser:
//! `=` between name and value, `#` begins a comment. `sysctl` writes to /proc/sys and `sysfs` to /sys, nothing else.

use super::{
    BY_SHELL, Piece, Planned, Site, Tool, comment, control, introduce, made, not_made, opening,
    put, remarks, then,
};
use facts::change::{Aim, Target, Write};
use rules::plan::Step;

pub(super) const TOOL: Tool = Tool {
    name: "tuned",
    makes: |step, it| matches!(line(step, it), Piece::Made(_)),
    others: BY_SHELL,
    write,
};

/// The name under which the profile is kept.
const NAME: &str = "fullclock";

/// A line of a section.
struct Line {
    section: &'static str,
    name: String,
    value: String,
    was: String,
}

/// Files of all CPUs that are an option of `[cpu]`.
const CPU_OPTIONS: &[(&str, &str)] = &[
    ("/scaling_governor", "governor"),
    ("/power/energy_perf_bias", "energy_perf_bias"),
    ("/intel_pstate/min_perf_pct", "min_perf_pct"),
    ("/intel_pstate/max_perf_pct", "max_perf_pct"),
];

/// What TuneD calls the numbers of energy_perf_bias, since Linux 4.13 and before; it compares names when it verifies.
const BIASES: &[(&str, &str)] = &[
    ("0", "performance"),
    ("4", "balance-performance"),
    ("6", "normal"),
    ("8", "balance-power"),
    ("15", "power|powersave"),
];

fn write(planned: &Planned<'_>, site: &Site<'_>) -> String {
    let mut text = opening("A profile of TuneD", planned, site);
    // tuned.spec has moved profiles to the folder `profiles` on Fedora and RHEL 10.
    let place = format!(
        "Keep it as {NAME}/tuned.conf in /etc/tuned/profiles where that exists, else in /etc/tuned;"
    );
    comment(&mut text, &place);
    comment(
        &mut text,
        &format!("`tuned-adm profile {NAME}` makes it active, another profile undoes it."),
    );
    text += "[main]\nsummary=Settings that fullclock planned\n";
    include(&mut text, site);
    let mut section = "";
    for step in planned.plan.steps.iter().filter(|it| !it.change.writes.is_empty()) {
        introduce(&mut text, step);
        for line in lines(&mut text, step) {
            if line.section != section {
                put(&mut text, format_args!("[{}]\n", line.section));
                section = line.section;
            }
            comment(&mut text, &format!("was {}", line.was));
            put(&mut text, format_args!("{}={}\n", line.name, line.value));
        }
        then(&mut text, step);
    }
    remarks(&mut text, planned);
    text
}

/// The profiles that are active, so that what they set stays.
fn include(text: &mut String, site: &Site<'_>) {
    // As TuneD takes names of profiles.
    let is_safe =
        |it: &str| it.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '-'));
    let profiles = site.tuned_profiles.as_deref().unwrap_or_default();
    let parents = profiles.iter().map(String::as_str).filter(|it| *it != NAME && is_safe(it));
    let parents: Vec<&str> = parents.collect();
    match site.tuned_profiles {
        _ if !parents.is_empty() => put(text, format_args!("include={}\n", parents.join(","))),
        Err(missing) if !missing.is_absence() => comment(
            text,
            &format!(
                "include=PROFILE keeps what the active profile sets, which is unknown: {missing}"
            ),
        ),
        _ => comment(text, "include=PROFILE keeps what another profile sets; none is active here"),
    }
}

/// The lines of a step: one for all CPUs where the step is for all. What TuneD does not do is said in `text`.
fn lines(text: &mut String, step: &Step) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for write in made(step) {
        match line(step, write) {
            Piece::Not(why) => not_made(text, "TUNED", write, why),
            Piece::Made(line) => {
                let same = lines
                    .iter_mut()
                    .find(|it| (it.section, &it.name) == (line.section, &line.name));
                match same {
                    Some(same) if same.was != line.was => {
                        same.was += ", ";
                        same.was += &line.was;
                    }
                    Some(_) => {}
                    None => lines.push(line),
                }
            }
        }
    }
    lines
}

fn line(step: &Step, write: &Write) -> Piece<Line> {
    let was = write.from.clone().unwrap_or_default();
    let made = |section, name: &str, value: &str| {
        Piece::Made(Line {
            section,
            name: name.to_owned(),
            value: value.to_owned(),
            was: was.clone(),
        })
    };
    if let (Target::LatencyRequest, Some(to)) = (&write.target, &write.to) {
        return made("cpu", "force_latency", to);
    }
    let (path, to) = match (&write.target, control(write)) {
        (_, Some(it)) => it,
        (Target::Service { name }, None) if name.contains("tuned") => {
            return Piece::Not("it is TuneD itself: leave it running");
        }
        (Target::File { .. }, None) => {
            return Piece::Not("`cmdline` of [bootloader] adds to the boot line");
        }
        (Target::Firmware(_), None) => {
            return Piece::Not(
                "it is a request to the management controller: `fullclock apply --redfish URL`",
            );
        }
        (_, None) => return Piece::Not("no plugin of TuneD does that"),
    };
    if write.aim == Aim::IfTaken {
        return Piece::Not("the kernel may refuse it, which TuneD takes for an error");
    }
    // A `#` would begin a comment, a `$` a variable, and `>`, `<` and `!` a comparison with the old value.
    if to.contains(['#', '$', '>', '<', '!', '\n']) || path.contains(['[', '*', '?', '=']) {
        return Piece::Not("a profile cannot hold this text");
    }
    if path.ends_with("_pstate/status") {
        return Piece::Not("TuneD does not change it before the rest: write it first");
    }
    if let Some(name) = path.strip_prefix("/proc/sys/") {
        return made("sysctl", &name.replace('/', "."), to);
    }
    if let Some((name, value)) = cpu_option(step, path, to) {
        return made("cpu", name, value);
    }
    if path.starts_with("/sys/") {
        made("sysfs", path, to)
    } else {
        Piece::Not("its plugins write to /sys and /proc/sys only")
    }
}

/// The option of `[cpu]` for a step that gives all CPUs one value.
fn cpu_option<'a>(step: &Step, path: &str, to: &'a str) -> Option<(&'static str, &'a str)> {
    let (_, name) = CPU_OPTIONS.iter().find(|(end, _)| path.ends_with(end))?;
    let is_for_all = step.request.cpus.is_none()
        && made(step).filter_map(control).all(|(other, value)| {
            let is_same_file =
                CPU_OPTIONS.iter().any(|(end, it)| it == name && other.ends_with(end));
            !is_same_file || value == to
        });
    if !is_for_all {
        return None;
    }
    if *name != "energy_perf_bias" {
        return Some((name, to));
    }
    // A number without a name goes to the files.
    BIASES.iter().find(|(number, _)| *number == to).map(|(_, word)| (*name, *word))
}
