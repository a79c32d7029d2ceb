//! A script of POSIX sh, for dash, BusyBox and others: each write is read back, and the first that does not stick ends it.

use super::{
    Piece, Planned, Site, Tool, comment, introduce, made, opening, put, remarks, then, word,
};
use crate::change::shown;
use facts::change::{Aim, Target, Write};

pub(super) const TOOL: Tool = Tool {
    name: "shell",
    makes: |_, it| matches!(lines(it), Piece::Made(_)),
    others: "`fullclock apply` makes them",
    write,
};

/// What the script is made of before its first write.
const FAIL: &str = "
set -u
fail() { echo \"$0: $*\" >&2; exit 1; }
refused() { echo \"$0: not taken, which is allowed: $*\" >&2; }
";

/// A function of the script, defined where a line calls it.
struct Function {
    name: &'static str,
    text: &'static str,
}

const FUNCTIONS: &[Function] = &[
    Function {
        name: "put",
        text: "
# put FILE VALUE
put() {
    printf '%s\\n' \"$2\" > \"$1\" || fail \"$1 does not take $2\"
    is=; read -r is < \"$1\" || [ -n \"$is\" ] || [ -z \"$2\" ] || fail \"$1 cannot be read\"
    [ \"$is\" = \"$2\" ] || fail \"$1 holds $is, not $2\"
}
",
    },
    Function {
        name: "put_mask",
        text: "
# put_mask FILE MASK: the kernel shows it with commas and leading zeros
bare() { echo \"$1\" | tr -d , | tr A-F a-f | sed 's/^0x//; s/^0*//'; }
put_mask() {
    printf '%s\\n' \"$2\" > \"$1\" || fail \"$1 does not take $2\"
    is=; read -r is < \"$1\" || fail \"$1 cannot be read\"
    [ \"$(bare \"$is\")\" = \"$(bare \"$2\")\" ] || fail \"$1 holds $is, not $2\"
}
",
    },
    Function {
        name: "put_bits",
        text: "
# put_bits CPU REGISTER MASK BITS: rdmsr and wrmsr are those of msr-tools
put_bits() {
    [ -e \"/dev/cpu/$1/msr\" ] || modprobe msr || fail \"no module msr\"
    was=$(rdmsr -d -p \"$1\" \"$2\") || fail \"register $2 of CPU $1 cannot be read\"
    [ \"${#was}\" -lt 19 ] || fail \"register $2 of CPU $1 is too large for this shell\"
    wrmsr -p \"$1\" \"$2\" \"$(( (was & ~$3) | $4 ))\" || fail \"register $2 of CPU $1 is not written\"
    is=$(rdmsr -d -p \"$1\" \"$2\") || fail \"register $2 of CPU $1 cannot be read\"
    [ \"$(( is & $3 ))\" -eq \"$(( $4 ))\" ] || fail \"register $2 of CPU $1 holds $is\"
}
",
    },
    Function {
        name: "put_task",
        text: "
# put_task TASK STARTED CPUS: no other task that has its number by now (field 22 of its stat)
put_task() {
    began=$(sed 's/.*) //' \"/proc/$1/stat\" | cut -d ' ' -f 20)
    [ \"$began\" = \"$2\" ] || fail \"task $1 has ended\"
    taskset -cp \"$3\" \"$1\" > /dev/null || fail \"task $1 does not take CPUs $3\"
    grep -q \"^Cpus_allowed_list:[[:space:]]*$3\\$\" \"/proc/$1/status\" || fail \"task $1 is not on CPUs $3\"
}
",
    },
];

fn write(planned: &Planned<'_>, site: &Site<'_>) -> String {
    let mut body = String::new();
    for step in planned.plan.steps.iter().filter(|it| !it.change.writes.is_empty()) {
        introduce(&mut body, step);
        for write in made(step) {
            match lines(write) {
                Piece::Made(lines) => body += &lines,
                Piece::Not(why) => super::not_made(&mut body, "THIS SCRIPT", write, why),
            }
        }
        then(&mut body, step);
    }
    remarks(&mut body, planned);
    let mut text = "#!/bin/sh\n".to_owned();
    text += &opening("A script", planned, site);
    comment(
        &mut text,
        "Run it as root. The first write that does not stick ends it, with exit code 1.",
    );
    comment(&mut text, "Nothing is recorded: what each place held is the comment of its line.");
    if body.lines().any(|it| !it.starts_with('#') && !it.is_empty()) {
        text += FAIL;
    }
    let is_called = |it: &&Function| body.contains(&format!("{} ", it.name));
    FUNCTIONS.iter().filter(is_called).for_each(|it| text += it.text);
    text + &body
}

/// The lines that make a write.
fn lines(write: &Write) -> Piece<String> {
    let was = shown(&write.target, write.from.as_ref());
    let was = crate::harmless::harmless(&was).into_owned();
    let command = match (&write.target, write.to.as_deref()) {
        (Target::Control { path }, Some(to)) => {
            let put = if path.ends_with("/cpumask") { "put_mask" } else { "put" };
            format!("{put} {} {}", word(path), word(to))
        }
        (Target::Register { cpu, address, mask }, Some(to)) => {
            let Some(bits) = bits(to, *mask) else { return Piece::Not("its value is no number") };
            format!("put_bits {cpu} {address:#x} {mask:#x} {bits:#x}")
        }
        (Target::Affinity { tid, started, .. }, Some(to)) => {
            format!("put_task {tid} {started} {}", word(to))
        }
        (Target::Service { name }, Some(to)) => return Piece::Made(service(name, to, &was)),
        (Target::File { path }, to) => return Piece::Made(file(path, write.from.as_deref(), to)),
        (Target::LatencyRequest, _) => {
            return Piece::Not(
                "it lasts as long as a process requests it: `fullclock apply`, or force_latency of TuneD",
            );
        }
        (Target::Firmware(_), _) => {
            return Piece::Not(
                "it is a request to the management controller: `fullclock apply --redfish URL`",
            );
        }
        (_, None) => return Piece::Not("it has no value"),
    };
    Piece::Made(match write.aim {
        Aim::IfTaken => {
            format!("({command}) || refused {}  # was {was}\n", word(&write.target.to_string()))
        }
        Aim::Sticks | Aim::Forgotten => format!("{command}  # was {was}\n"),
    })
}

fn bits(value: &str, mask: u64) -> Option<u64> {
    u64::from_str_radix(value.strip_prefix("0x")?, 16).ok().map(|it| it & mask)
}

/// A service of systemd, or of System V where its name has no `.service`.
fn service(name: &str, to: &str, was: &str) -> String {
    let (verb, not) = if to == "stopped" { ("stop", "! ") } else { ("start", "") };
    let name = word(name);
    if name.ends_with(".service") {
        return format!(
            "systemctl {verb} {name} || fail {name}  # was {was}\n\
             {not}systemctl is-active --quiet {name} || fail \"{name} did not {verb}\"\n"
        );
    }
    format!("service {name} {verb} || fail {name}  # was {was}\n")
}

/// A whole file, with what it held as a comment.
fn file(path: &str, from: Option<&str>, to: Option<&str>) -> String {
    let mut text = String::new();
    match from {
        None => comment(&mut text, &format!("{path} was not there")),
        Some(from) => {
            comment(&mut text, &format!("{path} was:"));
            from.lines().for_each(|it| comment(&mut text, &format!("    {it}")));
        }
    }
    let name = word(path);
    let Some(to) = to else {
        put(&mut text, format_args!("rm -f {name} || fail {name}\n"));
        return text;
    };
    let mut end = "END".to_owned();
    while to.lines().any(|it| it == end) {
        end.push('_');
    }
    let last = if to.is_empty() || to.ends_with('\n') { "" } else { "\n" };
    put(&mut text, format_args!("mkdir -p \"$(dirname {name})\" || fail {name}\n"));
    put(&mut text, format_args!("cat > {name} <<'{end}' || fail {name}\n{to}{last}{end}\n"));
    text
}
