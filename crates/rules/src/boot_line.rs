//! How the boot line is changed for good, in the words of the distribution that keeps it.
//!
//! Sources: grubby(8); RHEL 6, Deployment Guide, "Configuring the GRUB Boot Loader"; update-grub(8); Proxmox VE Administration Guide, "Editing the
//! Kernel Commandline"; SLES 15, Administration Guide, "The boot loader GRUB 2"; SLES 11, sysconfig/bootloader; SLE Micro,
//! transactional-update(8); OpenShift, "Adding kernel arguments to nodes"; Fedora CoreOS, "Modifying Kernel Arguments"; Talos Linux,
//! `machine.install.extraKernelArgs`, where a `-` in front takes an argument away; Flatcar, "Configuring the OEM"; Bottlerocket,
//! settings.boot; Alpine, /etc/update-extlinux.conf; ArchWiki, "Kernel parameters"; NixOS, `boot.kernelParams`.

use facts::HostView;
use facts::system::distribution::{Distribution, Family};

/// A change of the boot line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    Add,
    Remove,
}

/// How these parameters, with blanks between them, are taken off the boot line.
pub(crate) fn without(host: &HostView, parameters: &str) -> String {
    let how = how(host, Edit::Remove, parameters);
    format!("take {parameters} off the boot line: {how}")
}

/// How these parameters are given to the kernel.
pub(crate) fn with(host: &HostView, parameters: &str) -> String {
    let how = how(host, Edit::Add, parameters);
    format!("put {parameters} on the boot line: {how}")
}

/// How the boot line is changed, for a text that begins with what belongs on it (`nohz_full=2 on the boot line`), or that says what to
/// take off it; `None` where the text says how or something else, and where the distribution is unknown.
pub(crate) fn way(host: &HostView, text: &str) -> Option<String> {
    host.distribution.as_ref().ok()?;
    let is_value = |word: &str| !word.trim_end_matches('`').ends_with('=');
    let added = text.split_once(" on the boot line").map(|(before, _)| before);
    let is_added = added.is_some_and(|it| it.split(' ').all(|it| it.contains('=') && is_value(it)));
    let edit = match (text.contains("off the boot line"), is_added) {
        (true, _) => Edit::Remove,
        (false, true) => Edit::Add,
        (false, false) => return None,
    };
    let tells = text.contains("the boot line: ");
    (!tells).then(|| how(host, edit, "PARAMETER=VALUE"))
}

fn how(host: &HostView, edit: Edit, parameters: &str) -> String {
    let Ok(distribution) = &host.distribution else { return general(edit, parameters) };
    match distribution.family {
        Family::RedHat if distribution.is_early_red_hat() => {
            early_red_hat(distribution, edit, parameters)
        }
        Family::RedHat => format!("{}; then reboot", grubby(edit, parameters)),
        Family::Debian => format!("{}; then reboot", update_grub(edit)),
        Family::Proxmox => format!(
            "{}, or, where `proxmox-boot-tool status` says uefi, {} /etc/kernel/cmdline and then `proxmox-boot-tool refresh`; then reboot",
            update_grub(edit),
            edit.to_or_from()
        ),
        Family::Suse if distribution.is_early_suse() => format!(
            "{} the kernel lines of /boot/grub/menu.lst, and DEFAULT_APPEND in /etc/sysconfig/bootloader, from which later kernels take theirs; then reboot",
            edit.to_or_from()
        ),
        Family::Suse => format!("{}; then reboot", grub2_mkconfig(edit)),
        Family::MicroOs => format!(
            "{} GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, then `transactional-update grub.cfg`; then reboot",
            edit.to_or_from()
        ),
        Family::Rhcos => of_cluster(edit, parameters),
        Family::Ostree => {
            format!("`rpm-ostree kargs {}`; then reboot", options(edit, parameters))
        }
        other => elsewhere(other, edit, parameters),
    }
}

/// Distributions without a command that edits the boot line.
fn elsewhere(family: Family, edit: Edit, parameters: &str) -> String {
    let place = edit.to_or_from();
    match family {
        Family::Talos => {
            let sign = if edit == Edit::Remove { "-" } else { "" };
            let arguments: Vec<String> =
                parameters.split(' ').map(|it| format!("{sign}{it}")).collect();
            format!(
                "{} in machine.install.extraKernelArgs of the machine's configuration, then `talosctl upgrade` to the image that it runs; where a \
                 unified kernel image boots, in customization.extraKernelArgs of that image's schematic",
                arguments.join(" ")
            )
        }
        Family::Flatcar => {
            format!("{place} linux_append in /usr/share/oem/grub.cfg; then reboot")
        }
        Family::Bottlerocket => format!(
            "{place} settings.boot.kernel-parameters, which `apiclient get settings.boot` shows; then reboot"
        ),
        Family::Alpine => format!(
            "{place} default_kernel_opts in /etc/update-extlinux.conf, then `update-extlinux`, or, with GRUB, {}; then reboot",
            grub_mkconfig(edit)
        ),
        Family::Arch => format!(
            "{}, or, with systemd-boot, {place} the options in /boot/loader/entries; then reboot",
            grub_mkconfig(edit)
        ),
        Family::Nixos => format!(
            "{place} boot.kernelParams in /etc/nixos/configuration.nix, then `nixos-rebuild boot`; then reboot"
        ),
        _ => general(edit, parameters),
    }
}

/// For a host whose distribution is unknown.
fn general(edit: Edit, parameters: &str) -> String {
    format!(
        "{} (RHEL, Oracle Linux, Fedora), or {} GRUB_CMDLINE_LINUX or GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub and then `update-grub` \
         (Debian, Ubuntu) or `grub2-mkconfig -o /boot/grub2/grub.cfg` (SLES, openSUSE); then reboot",
        grubby(edit, parameters),
        edit.to_or_from()
    )
}

/// grubby of RHEL 6 is not always there, and knows GRUB's file only where that is its default one: `--info` says whether it does.
fn early_red_hat(distribution: &Distribution, edit: Edit, parameters: &str) -> String {
    let by_hand = format!(
        "{} the kernel lines of /boot/grub/grub.conf (booted by UEFI: /boot/efi/EFI/redhat/grub.conf)",
        edit.to_or_from()
    );
    match distribution.has_grubby {
        Some(false) => format!("{by_hand}; then reboot"),
        _ => format!(
            "where `grubby --info=ALL` lists the boot entries, {}, else {by_hand}; then reboot",
            grubby(edit, parameters)
        ),
    }
}

fn grubby(edit: Edit, parameters: &str) -> String {
    let option = if edit == Edit::Add { "args" } else { "remove-args" };
    format!("`grubby --update-kernel=ALL --{option}=\"{parameters}\"`")
}

fn update_grub(edit: Edit) -> String {
    format!(
        "{} GRUB_CMDLINE_LINUX or GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub or in a file of /etc/default/grub.d, then `update-grub`",
        edit.to_or_from()
    )
}

fn grub2_mkconfig(edit: Edit) -> String {
    format!(
        "{} GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, then `grub2-mkconfig -o /boot/grub2/grub.cfg`",
        edit.to_or_from()
    )
}

fn grub_mkconfig(edit: Edit) -> String {
    format!(
        "{} GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub and then `grub-mkconfig -o /boot/grub/grub.cfg`",
        edit.to_or_from()
    )
}

/// The Machine Config Operator undoes what it does not know, and drains and boots the nodes of a pool one after the other.
fn of_cluster(edit: Edit, parameters: &str) -> String {
    match edit {
        Edit::Add => {
            "in spec.kernelArguments of a MachineConfig for the node's pool, whose nodes then boot one after the other".to_owned()
        }
        Edit::Remove => format!(
            "out of spec.kernelArguments of the MachineConfig or the PerformanceProfile that has it, and the pool's nodes boot one after the other; what none of \
             them has, by `oc debug node/NODE` and there `chroot /host rpm-ostree kargs {}`",
            options(edit, parameters)
        ),
    }
}

/// The options of `rpm-ostree kargs`, one for each parameter.
fn options(edit: Edit, parameters: &str) -> String {
    let option = if edit == Edit::Add { "append" } else { "delete" };
    let options: Vec<String> = parameters.split(' ').map(|it| format!("--{option}={it}")).collect();
    options.join(" ")
}

impl Edit {
    fn to_or_from(self) -> &'static str {
        match self {
            Edit::Add => "in",
            Edit::Remove => "out of",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::host_of;

    fn host(os_release: &str, more: &str) -> HostView {
        host_of(&format!("//- /etc/os-release\n{os_release}\n{more}"))
    }

    #[test]
    fn each_distribution_is_told_its_own_way_and_no_other() {
        let ways = [
            (
                "ID=rhel\nVERSION_ID=9.4",
                "grubby --update-kernel=ALL --remove-args=\"nohz=off\"`; then reboot",
            ),
            ("ID=ubuntu", "update-grub`; then reboot"),
            ("ID=sles\nVERSION_ID=15.5", "grub2-mkconfig -o /boot/grub2/grub.cfg`; then reboot"),
            ("ID=sles\nVERSION_ID=11.4", "/boot/grub/menu.lst"),
            ("ID=sle-micro", "`transactional-update grub.cfg`"),
            ("ID=rhcos", "`chroot /host rpm-ostree kargs --delete=nohz=off`"),
            (
                "ID=fedora\nVARIANT_ID=silverblue",
                "`rpm-ostree kargs --delete=nohz=off`; then reboot",
            ),
            ("ID=talos", ": -nohz=off in machine.install.extraKernelArgs"),
            ("ID=flatcar", "out of linux_append in /usr/share/oem/grub.cfg"),
            ("ID=bottlerocket", "out of settings.boot.kernel-parameters"),
            ("ID=alpine", "`update-extlinux`"),
            ("ID=arch", "`grub-mkconfig -o /boot/grub/grub.cfg`"),
            ("ID=nixos", "`nixos-rebuild boot`"),
        ];
        for (os_release, way) in ways {
            let text = without(&host(os_release, ""), "nohz=off");
            assert!(text.starts_with("take nohz=off off the boot line: "), "{text}");
            assert!(text.contains(way), "{os_release}: {text}");
            let is_of_grubby = os_release.starts_with("ID=rhel");
            assert_eq!(text.contains("grubby"), is_of_grubby, "{os_release}: {text}");
        }
    }

    #[test]
    fn an_unknown_distribution_is_told_of_the_three_most_common_ways() {
        for host in [host_of(""), host("ID=slackware", "")] {
            let text = without(&host, "nohz=off");
            for way in ["grubby ", "`update-grub` (Debian, Ubuntu)", "grub2-mkconfig"] {
                assert!(text.contains(way), "{text}");
            }
        }
    }

    #[test]
    fn several_parameters_are_options_of_their_own() {
        let coreos = host("ID=fedora\nVARIANT_ID=coreos", "");
        assert_eq!(
            with(&coreos, "isolcpus=2-3 nohz_full=2-3"),
            "put isolcpus=2-3 nohz_full=2-3 on the boot line: `rpm-ostree kargs --append=isolcpus=2-3 \
             --append=nohz_full=2-3`; then reboot"
        );
        let talos = without(&host("ID=talos", ""), "nohz=off idle=poll");
        assert!(talos.contains(": -nohz=off -idle=poll in machine"), "{talos}");
    }

    #[test]
    fn a_text_that_names_a_parameter_is_told_how_and_one_that_says_so_is_left_alone() {
        let red_hat = host("ID=rocky\nVERSION_ID=9.4", "");
        let of = |text: &str| way(&red_hat, text);
        assert!(of("`nohz_full=2` on the boot line").unwrap().contains("--args="));
        assert!(
            of("take `idle=poll` off the boot line, if idle CPUs should not tick")
                .unwrap()
                .contains("--remove-args=")
        );
        assert_eq!(of(&without(&red_hat, "nohz=off")), None);
        assert_eq!(of("look for an update of the firmware"), None);
        // What limits the CPUs is not to be added.
        assert_eq!(of("maxcpus= on the boot line, or the firmware, limits them"), None);
        assert_eq!(of("the processor, or maxcpus=1 on the boot line"), None);
        assert_eq!(way(&host_of(""), "`nohz_full=2` on the boot line"), None);
    }

    #[test]
    fn grubby_of_rhel_6_is_tried_first_and_not_advised_where_it_is_missing() {
        let six = |grubby: &str| {
            let release = "//- /etc/redhat-release\nCentOS release 6.10 (Final)\n";
            without(&host_of(&format!("{release}{grubby}")), "nohz=off")
        };
        let there = six("//- /sbin/grubby\n!bytes 7f454c46\n");
        assert!(
            there.contains("where `grubby --info=ALL` lists the boot entries, `grubby --update"),
            "{there}"
        );
        assert!(there.contains("else out of the kernel lines of /boot/grub/grub.conf"), "{there}");
        assert!(!six("").contains("grubby"));
        // A copy that does not hold it says nothing.
        assert!(six("//- /sbin/grubby\n!denied\n").contains("grubby --info=ALL"));
    }
}
