//! What provides a right, a module, a mount or a package, in the words of the host's distribution.
//!
//! Sources: modules-load.d(5); OpenRC's `modules` service (/etc/modules); NixOS, `boot.kernelModules`; Talos Linux, `machine.kernel.modules`;
//! Bottlerocket, settings.kernel.modules; rpm-ostree(1); transactional-update(8); docker-run(1), podman-run(1), `--cap-add`.

use super::{Looked, Provision};
use facts::access::Capability;
use facts::system::distribution::{Distribution, Family};
use facts::{Origin, Why};

/// The family, where the distribution is known.
fn family(looked: &Looked<'_>) -> Option<Family> {
    looked.host.distribution.as_ref().ok().map(|it| it.family)
}

fn command(now: impl Into<String>, more: Option<String>) -> Provision {
    Provision::Command { now: now.into(), more }
}

pub(super) fn nothing(why: impl Into<String>) -> Provision {
    Provision::Nothing(why.into())
}

/// Loads these modules.
pub(super) fn modules(looked: &Looked<'_>, names: &[&str]) -> Provision {
    if let Ok(Some(kind)) = &looked.host.platform.container {
        return nothing(format!("a module is loaded on the machine, not in a {kind} container"));
    }
    let all = names.join(" ");
    let option = if names.len() > 1 { "-a " } else { "" };
    let now = format!("modprobe {option}{all}");
    let listed = match names {
        [one] => (*one).to_owned(),
        names => format!("a line each for {}", names.join(" and ")),
    };
    let each = |it: &str| names.iter().map(|name| it.replace("{}", name)).collect::<Vec<_>>();
    let more = match family(looked) {
        Some(Family::Talos) => {
            let modules = each("{name: {}}").join(", ");
            return nothing(format!("Talos loads modules by its machine configuration: machine.kernel.modules: [{modules}]"));
        }
        Some(Family::Bottlerocket) => {
            let settings = each("settings.kernel.modules.{}.allowed=true settings.kernel.modules.{}.autoload=true");
            let more = "from the control or admin container; then reboot".to_owned();
            return command(format!("apiclient set {}", settings.join(" ")), Some(more));
        }
        Some(Family::Nixos) => {
            let quoted = each("\"{}\"").join(" ");
            format!("at each boot: boot.kernelModules = [ {quoted} ] in /etc/nixos/configuration.nix")
        }
        Some(Family::Alpine) => format!("at each boot: {listed} in /etc/modules"),
        _ if looked.host.distribution.as_ref().is_ok_and(Distribution::is_early_red_hat) => {
            "at each boot: the same in an executable file of /etc/sysconfig/modules whose name ends in .modules".to_owned()
        }
        _ if looked.host.distribution.as_ref().is_ok_and(Distribution::is_early_suse) => {
            format!("at each boot: MODULES_LOADED_ON_BOOT=\"{all}\" in /etc/sysconfig/kernel")
        }
        _ => format!("at each boot: {listed} in /etc/modules-load.d/fullclock.conf"),
    };
    command(now, Some(more))
}

/// Mounts a file system of the kernel.
pub(super) fn mount(looked: &Looked<'_>, kind: &str, folder: &str) -> Provision {
    if let Ok(Some(container)) = &looked.host.platform.container {
        return nothing(format!(
            "a {container} container sees it where it was started with -v {folder}:{folder}"
        ));
    }
    command(format!("mount -t {kind} {kind} {folder}"), None)
}

/// A package, by its name in each family; `None` for a family in which no source names it.
pub(super) fn package(
    looked: &Looked<'_>,
    name: impl Fn(Family) -> Option<&'static str>,
) -> Provision {
    let Some(family) = family(looked) else {
        return nothing("the distribution is unknown: install the package that has it");
    };
    let distribution = looked.host.distribution.as_ref();
    let is_before_dnf = distribution.is_ok_and(|it| it.version.is_some_and(|it| it <= 7));
    let tool = match family {
        Family::RedHat if is_before_dnf => "yum install",
        Family::RedHat => "dnf install",
        Family::Debian | Family::Proxmox => "apt-get install",
        Family::Suse => "zypper install",
        Family::MicroOs => "transactional-update pkg install",
        Family::Ostree => "rpm-ostree install",
        Family::Alpine => "apk add",
        Family::Arch => "pacman -S",
        Family::Rhcos | Family::Talos | Family::Flatcar | Family::Bottlerocket | Family::Nixos => {
            return nothing(
                "this distribution installs no single packages: run fullclock in a container that has it",
            );
        }
    };
    let Some(package) = name(family) else {
        return nothing("no package of this distribution is known to have it");
    };
    command(format!("{tool} {package}"), None)
}

/// A capability, which root has.
pub(super) fn right(looked: &Looked<'_>, capability: Capability) -> Provision {
    let name = capability.name();
    let Ok(rights) = &looked.access.rights else {
        return nothing(format!("read it as root, or with {name}"));
    };
    if looked.host.origin != Origin::Live && looked.access.rights.is_err() {
        return nothing("copy the host's files as root");
    }
    if !rights.is_root() {
        return command("sudo fullclock", None);
    }
    match &looked.host.platform.container {
        Ok(Some(kind)) if matches!(kind.as_str(), "docker" | "podman") => {
            let short = name.trim_start_matches("CAP_");
            command(
                format!("{kind} run --cap-add {short}"),
                Some("when the container is started".to_owned()),
            )
        }
        Ok(Some(kind)) => nothing(format!("the {kind} container was started without {name}")),
        _ => nothing(format!(
            "root was given no {name}: the unit or container that started this program withholds it"
        )),
    }
}

/// What gives a file that may not be read, or `other` where it is missing for another reason.
pub(super) fn readable(
    looked: &Looked<'_>,
    missing: &facts::Missing,
    other: impl FnOnce() -> Provision,
) -> Provision {
    if missing.why == Why::Denied { right(looked, Capability::DacReadSearch) } else { other() }
}
