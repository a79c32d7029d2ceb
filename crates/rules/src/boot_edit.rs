//! Edits of the boot line, where a file of their own can hold them.
//!
//! Debian's and Ubuntu's update-grub reads /etc/default/grub and then /etc/default/grub.d/*.cfg (grub-mkconfig, Debian's patch
//! "default-grub-d"); kernel-install(8) takes the boot line of systemd-boot and unified kernel images from /etc/kernel/cmdline.
//! Elsewhere (Red Hat's grubby, SUSE's grub2-mkconfig) the boot line lives in files that others own, and the command that edits
//! it is told instead.

use crate::boot_line;
use crate::finding::Finding;
use crate::setting::{Change, Planned, Refusal, Scene, Wanted};
use facts::change::{Aim, Target, Write};
use facts::system::distribution::Family;
use facts::{CpuSet, Fact, HostView, Subject, Subjects};

/// The files that an edit is planned from, for `Setting::reads`.
pub(crate) const READS: &[&str] = &[OWN_FILE, GRUB_DEFAULTS, GRUB_D, UPDATE_GRUB, GRUBBY, CMDLINE];

/// What an edit looks at, for `Setting::looks_at`.
pub(crate) const LOOKS_AT: Subjects = Subjects::of(&[Subject::Kernel, Subject::Distribution]);

/// What an edit of a list of CPUs looks at.
pub(crate) const CPUS_LOOK_AT: Subjects =
    LOOKS_AT.and(Subjects::of(&[Subject::Cpus, Subject::Isolation]));

const OWN_FILE: &str = "/etc/default/grub.d/90-fullclock.cfg";
const GRUB_DEFAULTS: &str = "/etc/default/grub";
const GRUB_D: &str = "/etc/default/grub.d/*.cfg";
const UPDATE_GRUB: &str = "/usr/sbin/update-grub";
const GRUBBY: &str = "/usr/sbin/grubby";
/// The boot line, for kernel-install(8).
pub(crate) const CMDLINE: &str = "/etc/kernel/cmdline";

/// The image is beside the modules on Fedora, RHEL and SUSE, and in /boot on Debian and Ubuntu.
const KERNEL_INSTALL: &str = "kernel-install add $(uname -r) $(ls /lib/modules/$(uname -r)/vmlinuz /boot/vmlinuz-$(uname -r) 2>/dev/null | head -n 1)";

const HEADER: &str = "# Written by `fullclock apply`, taken away by `fullclock revert`. Recovery entries do not have it.\n";
const VARIABLE: &str = "GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT";

/// Names the boot line as a place of a finding, whatever keeps it on its host.
pub(crate) fn named(finding: Finding) -> Finding {
    finding.names(OWN_FILE).names(CMDLINE)
}

/// The command by which an edit of this file, or its removal, reaches the boot loader; `None` where it is no such file.
pub fn activation(path: &str) -> Option<&'static str> {
    match path {
        OWN_FILE => Some("update-grub"),
        CMDLINE => Some(KERNEL_INSTALL),
        _ => None,
    }
}

/// Plans that the boot line has `name=value`, or that this program gives it no `name` where the value is `None`.
///
/// Refuses where another file gives it that parameter: two of one name are read differently by each parameter.
pub(crate) fn edit(scene: &Scene<'_>, name: &str, value: Option<&str>) -> Planned {
    let there = |path: &str| there(scene, path);
    if there(UPDATE_GRUB)?.is_some() {
        return edit_own_file(scene, name, value, there(OWN_FILE)?);
    }
    if there(CMDLINE)?.is_none()
        && let Some(words) = kept_elsewhere(scene.host, name, value)
    {
        return Err(Refusal::Host(words));
    }
    if there(GRUBBY)?.is_some() {
        let change = match value {
            Some(value) => format!("--args='{name}={value}'"),
            None => format!("--remove-args='{name}'"),
        };
        let text = format!(
            "this host's boot entries are grubby's, which keeps no file of its own: run `grubby --update-kernel=ALL {change}`"
        );
        return Err(Refusal::Host(text));
    }
    if there(GRUB_DEFAULTS)?.is_some() {
        let text = format!(
            "{GRUB_DEFAULTS} is read here without {GRUB_D}: edit GRUB_CMDLINE_LINUX_DEFAULT in it, then run `grub2-mkconfig -o /boot/grub2/grub.cfg`"
        );
        return Err(Refusal::Host(text));
    }
    match there(CMDLINE)? {
        Some(line) => edit_kernel_install(scene, name, value, line),
        None => {
            let text = format!(
                "neither {UPDATE_GRUB} nor {CMDLINE} is here: give the kernel {name}= in the boot loader's own way"
            );
            Err(Refusal::Host(text))
        }
    }
}

/// What to do on a distribution that keeps the boot line where this program writes nothing, whatever files it has beside.
fn kept_elsewhere(host: &HostView, name: &str, value: Option<&str>) -> Option<String> {
    let distribution = host.distribution.as_ref().ok()?;
    let is_kept_in_files = match distribution.family {
        Family::RedHat => !distribution.is_early_red_hat(),
        Family::Suse => !distribution.is_early_suse(),
        Family::Debian | Family::Proxmox => true,
        _ => false,
    };
    let words = || match value {
        Some(value) => boot_line::with(host, &format!("{name}={value}")),
        None => boot_line::without(host, name),
    };
    (!is_kept_in_files)
        .then(|| format!("fullclock does not edit this boot loader's files: {}", words()))
}

/// Plans a list of CPUs for `name=`; `isolated` stands for those that the scheduler leaves alone, and `none` takes it away. Refuses CPUs that do not exist and a list of all of them.
pub(crate) fn edit_cpus(scene: &Scene<'_>, wanted: &Wanted<'_>, name: &str) -> Planned {
    wanted.for_the_host(name)?;
    if wanted.value == "none" {
        return edit(scene, name, None);
    }
    if wanted.value == "isolated" {
        let isolated = scene.host.isolation.scheduler_isolated()?;
        if isolated.is_empty() {
            return Err(Refusal::Host("no CPU is isolated".to_owned()));
        }
        return edit(scene, name, Some(&isolated.to_string()));
    }
    let bad = |why: String| Refusal::Value(format!("{name}={}: {why}", wanted.value));
    let cpus = CpuSet::parse_list(wanted.value).map_err(|error| bad(error.to_string()))?;
    let possible = scene.host.topology.possible.as_ref()?;
    let absent: CpuSet = cpus.iter().filter(|cpu| !possible.contains(*cpu)).collect();
    if cpus.is_empty() || !absent.is_empty() {
        return Err(bad(format!("expected a list within {possible}, or none")));
    }
    let online = scene.host.topology.online.as_ref()?;
    if !online.iter().any(|cpu| !cpus.contains(cpu)) {
        return Err(bad("it leaves no CPU for everything else".to_owned()));
    }
    edit(scene, name, Some(&cpus.to_string()))
}

/// The text of a file, `None` where it is not there.
fn there<'a>(scene: &'a Scene<'_>, path: &str) -> Fact<Option<&'a str>> {
    match scene.controls.get(path) {
        Ok(text) => Ok(Some(text)),
        Err(missing) if missing.is_absence() => Ok(None),
        Err(missing) => Err(missing),
    }
}

fn edit_own_file(scene: &Scene<'_>, name: &str, value: Option<&str>, own: Option<&str>) -> Planned {
    let others = scene.controls.matching(GRUB_D).into_iter().map(|it| it.path);
    for path in others.chain([GRUB_DEFAULTS]).filter(|it| *it != OWN_FILE) {
        let text = there(scene, path)?.unwrap_or_default();
        if arguments(text).any(|it| is_of(it, name)) {
            let text = format!(
                "{path} gives {name}= to the kernel: change it there, then run `update-grub`"
            );
            return Err(Refusal::Host(text));
        }
    }
    let mut line: Vec<String> = own
        .and_then(|text| text.lines().find_map(|it| it.strip_prefix(VARIABLE)))
        .map(|it| it.trim_end_matches('"').split_whitespace().map(str::to_owned).collect())
        .unwrap_or_default();
    let wanted = value.map(|value| format!("{name}={value}"));
    let of_name: Vec<&String> = line.iter().filter(|it| is_of(it, name)).collect();
    if of_name == wanted.iter().collect::<Vec<_>>() {
        return Ok(Change::default());
    }
    line.retain(|it| !is_of(it, name));
    line.extend(wanted);
    let to = (!line.is_empty()).then(|| format!("{HEADER}{VARIABLE} {}\"\n", line.join(" ")));
    Ok(change(OWN_FILE, own, to, "update-grub".to_owned()))
}

fn edit_kernel_install(scene: &Scene<'_>, name: &str, value: Option<&str>, line: &str) -> Planned {
    let own = value.map(|value| format!("{name}={value}"));
    let mut words: Vec<&str> = line.split_whitespace().collect();
    match (own.as_deref(), words.iter().position(|it| is_of(it, name))) {
        (Some(own), Some(at)) => words[at] = own,
        (Some(own), None) => words.push(own),
        (None, Some(at)) => drop(words.remove(at)),
        (None, None) => {}
    }
    let release = scene.host.kernel.release.as_ref()?;
    let activate = KERNEL_INSTALL.replace("$(uname -r)", release);
    Ok(change(CMDLINE, Some(line), Some(format!("{}\n", words.join(" "))), activate))
}

fn change(path: &str, from: Option<&str>, to: Option<String>, activate: String) -> Change {
    let from = from.map(str::to_owned);
    let write = Write { target: Target::file(path), from, to, aim: Aim::Sticks };
    match write.is_idle() {
        true => Change::default(),
        false => Change { writes: vec![write], activate: Some(activate), ..Change::default() },
    }
}

/// The words of a file of shell variables that may be parameters of the kernel.
fn arguments(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| line.trim_start().starts_with("GRUB_CMDLINE_LINUX"));
    lines.flat_map(|line| line.split(|it: char| it.is_whitespace() || "\"'".contains(it)))
}

/// Whether a word gives this parameter; `-` and `_` are one character in its name (`parameq` in kernel/params.c).
fn is_of(word: &str, name: &str) -> bool {
    let given = word.split_once('=').map_or(word, |(given, _)| given);
    given.replace('-', "_") == name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::is_of;
    use crate::fixture::boot_loaders::*;
    use crate::fixture::host_of;
    use crate::plan::{Request, edited_boot_line};

    #[test]
    fn a_line_is_edited_in_the_same_way_whatever_keeps_it() {
        let of = |words: &[&str], line: &str| {
            let requests: Vec<Request> =
                words.iter().map(|it| Request::parse(it).unwrap()).collect();
            [DEBIAN, RED_HAT, KERNEL_INSTALL].map(|host| {
                let host = format!("{host}//- /proc/sys/kernel/osrelease\n6.1.0\n");
                edited_boot_line(&host_of(&host), &requests, line, false)
                    .map_err(|refusal| refusal.to_string())
            })
        };
        let line = "quiet nohz_full=2-3 ro";
        let expect = |words: &[&str], expected: &str| {
            assert_eq!(of(words, line), [(); 3].map(|()| Ok(expected.to_owned())));
        };
        expect(&["nohz-full=2-3"], line);
        expect(&["nohz-full=3"], "quiet nohz_full=3 ro");
        expect(&["nohz-full=none", "idle=poll"], "quiet ro idle=poll");
        assert!(of(&["nohz-full=9"], line).iter().all(Result::is_err));
    }

    #[test]
    fn a_distribution_with_another_keeper_is_told_of_it_and_no_file_is_written() {
        let planned = |os_release: &str, host: &str| {
            let host = format!("{host}//- /etc/os-release\n{os_release}\n");
            crate::fixture::planned::planned(
                crate::settings::find("nohz-full").unwrap(),
                "2-3",
                &host,
            )
        };
        let node = planned("ID=rhcos", RED_HAT);
        assert!(node.starts_with("refused: ") && node.contains("MachineConfig"), "{node}");
        let coreos = planned("ID=fedora\nVARIANT_ID=coreos", RED_HAT);
        assert!(coreos.contains("`rpm-ostree kargs --append=nohz_full=2-3`"), "{coreos}");
        assert!(
            planned("ID=rhel\nVERSION_ID=9.4", RED_HAT).contains("`grubby --update-kernel=ALL")
        );
        assert!(planned("ID=debian", DEBIAN).contains("/etc/default/grub.d/90-fullclock.cfg"));
        assert!(planned("ID=arch", KERNEL_INSTALL).contains("/etc/kernel/cmdline"));
    }

    #[test]
    fn a_dash_in_the_name_of_a_parameter_is_an_underscore() {
        assert!(is_of("intel-idle.max-cstate=1", "intel_idle.max_cstate"));
        assert!(is_of("nohz_full", "nohz_full"));
        assert!(!is_of("nohz_full_x=1", "nohz_full"));
        assert!(!is_of("x=nohz_full", "nohz_full"));
    }
}
