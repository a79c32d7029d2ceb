//! Which distribution the host runs, as far as commands differ by it: what keeps the boot line, what starts services.
//!
//! Sources: os-release(5). Before it, Red Hat had /etc/redhat-release and SUSE /etc/SuSE-release. Where neither is there, or where they are
//! a container's own, the release of the kernel says who built it: `dist` tags of RPM (.el6, .fc40, .amzn2023), the flavours of Debian,
//! Ubuntu and SUSE, and CONFIG_LOCALVERSION of the others. Its own kernel says nothing of a distribution that names none in it.

use crate::parse::{Expected, trimmed};
use crate::system::boot_line::BootLine;

/// The distribution of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// Whose tools it has.
    pub family: Family,
    /// The first number of its version.
    pub version: Option<u32>,
    /// Of Red Hat's versions up to 6, whether grubby is installed; `None` where that is unknown or was not looked for.
    pub has_grubby: Option<bool>,
}

/// Distributions whose boot line and services are kept in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// RHEL and what is built from it, Fedora, Amazon Linux.
    RedHat,
    /// Debian, Ubuntu and what is built from them.
    Debian,
    /// Proxmox VE, which is Debian with a keeper of boot entries of its own.
    Proxmox,
    /// SLES, openSUSE.
    Suse,
    /// SLE Micro, openSUSE MicroOS: SUSE with a read-only root.
    MicroOs,
    /// Red Hat Enterprise Linux CoreOS: a node of OpenShift, which a cluster manages.
    Rhcos,
    /// What rpm-ostree deploys: Fedora CoreOS, IoT and Silverblue, RHEL for Edge.
    Ostree,
    /// Talos Linux, which has no shell.
    Talos,
    /// Flatcar Container Linux.
    Flatcar,
    /// Bottlerocket.
    Bottlerocket,
    /// Alpine Linux, whose shell is that of BusyBox.
    Alpine,
    /// Arch Linux and what is built from it.
    Arch,
    /// NixOS.
    Nixos,
}

use Family::{
    Alpine, Arch, Bottlerocket, Debian, Flatcar, MicroOs, Nixos, Ostree, Proxmox, RedHat, Rhcos,
    Suse, Talos,
};

/// Values of `ID` and `ID_LIKE`, those of an own family before what they are like.
const IDS: &[(&str, Family)] = &[
    ("rhcos", Rhcos),
    ("scos", Rhcos),
    ("sle-micro", MicroOs),
    ("sl-micro", MicroOs),
    ("sle-micro-rancher", MicroOs),
    ("opensuse-microos", MicroOs),
    ("opensuse-leap-micro", MicroOs),
    ("opensuse-aeon", MicroOs),
    ("talos", Talos),
    ("flatcar", Flatcar),
    ("bottlerocket", Bottlerocket),
    ("alpine", Alpine),
    ("arch", Arch),
    ("nixos", Nixos),
    ("rhel", RedHat),
    ("centos", RedHat),
    ("fedora", RedHat),
    ("ol", RedHat),
    ("almalinux", RedHat),
    ("rocky", RedHat),
    ("amzn", RedHat),
    ("ubuntu", Debian),
    ("debian", Debian),
    ("raspbian", Debian),
    ("sles", Suse),
    ("sled", Suse),
    ("sles_sap", Suse),
    ("opensuse", Suse),
    ("opensuse-leap", Suse),
    ("opensuse-tumbleweed", Suse),
    ("suse", Suse),
];

/// `VARIANT_ID` of Fedora's and Red Hat's editions that rpm-ostree deploys.
const OF_OSTREE: &[&str] =
    &["coreos", "iot", "silverblue", "kinoite", "sericea", "onyx", "atomic", "edge"];

/// What stands in the release of a kernel, whose it is, and whether a number follows.
const IN_RELEASES: &[(&str, Family, bool)] = &[
    (".el", RedHat, true),
    (".fc", RedHat, true),
    (".amzn", RedHat, true),
    ("-pve", Proxmox, false),
    ("-talos", Talos, false),
    ("-flatcar", Flatcar, false),
    ("-arch", Arch, true),
    ("-generic", Debian, false),
    ("-lowlatency", Debian, false),
    ("-amd64", Debian, false),
    ("-arm64", Debian, false),
    ("-default", Suse, false),
];

/// The lines of os-release that are looked at.
const KEYS: &[&str] =
    &["ID", "ID_LIKE", "VERSION_ID", "VARIANT_ID", "OPENSHIFT_VERSION", "OSTREE_VERSION"];

impl Distribution {
    /// Of the text of os-release, what makes the same distribution.
    pub fn excerpt(text: &str) -> String {
        let is_asked =
            |line: &&str| line.split_once('=').is_some_and(|(key, _)| KEYS.contains(&key.trim()));
        text.split_inclusive('\n').filter(is_asked).collect()
    }

    /// Parses os-release.
    ///
    /// Errors: there is no `ID`, or none that is known, nor is it like one that is.
    pub fn parse(text: &str) -> Result<Distribution, Expected> {
        let value = |key: &str| {
            let line = text.lines().find_map(|it| it.trim().strip_prefix(key)?.strip_prefix('='));
            line.map(|it| it.trim().trim_matches(['"', '\'']))
        };
        let mut ids =
            value("ID").into_iter().chain(value("ID_LIKE").unwrap_or_default().split(' '));
        let known = |id: &str| IDS.iter().find(|(known, _)| *known == id).map(|it| it.1);
        let family = ids.find_map(known).ok_or(Expected("ID of a known distribution"))?;
        let is_of_cluster = value("OPENSHIFT_VERSION").is_some();
        let is_deployed = value("OSTREE_VERSION").is_some()
            || value("VARIANT_ID").is_some_and(|it| OF_OSTREE.contains(&it));
        let family = match family {
            RedHat if is_of_cluster => Rhcos,
            RedHat if is_deployed => Ostree,
            other => other,
        };
        let version = value("VERSION_ID").and_then(first_number);
        Ok(Distribution { family, version, has_grubby: None })
    }

    /// Parses /etc/redhat-release or /etc/SuSE-release, which a host without os-release has.
    pub fn parse_older(text: &str) -> Result<Distribution, Expected> {
        let line = trimmed(text).lines().next().unwrap_or_default();
        let family = if line.contains("SUSE") {
            Suse
        } else if line.contains(" release ") {
            RedHat
        } else {
            return Err(Expected("NAME release VERSION"));
        };
        let version = line.split(' ').find_map(first_number);
        Ok(Distribution { family, version, has_grubby: None })
    }

    /// The distribution that built a kernel of this release, where it says so.
    pub fn of_kernel(release: &str) -> Option<Distribution> {
        IN_RELEASES.iter().find_map(|(mark, family, is_numbered)| {
            let rest = release.split_once(mark)?.1;
            let number = first_number(rest);
            // Other words begin with the marks: `-archive`, `.elrepo`.
            let fits = if *is_numbered { number.is_some() } else { is_end_of_word(rest) };
            // Arch counts its patches.
            let version = number.filter(|_| *family == RedHat);
            fits.then_some(Distribution { family: *family, version, has_grubby: None })
        })
    }

    /// The same on a kernel of Proxmox.
    #[must_use]
    pub fn on_kernel(mut self, release: &str) -> Distribution {
        let built = Distribution::of_kernel(release).map(|it| it.family);
        if self.family == Debian && built == Some(Proxmox) {
            self.family = Proxmox;
        }
        self
    }

    /// The same where the boot line says that rpm-ostree deployed it (`ostree=`); `is_told` where a file named it, which then also said
    /// whether a cluster manages it.
    #[must_use]
    pub fn booted_by(mut self, line: &BootLine, is_told: bool) -> Distribution {
        if self.family == RedHat && line.has("ostree") {
            // Fedora CoreOS has Ignition, too: without os-release, only the kernel's version tells the two apart.
            let is_of_cluster = !is_told
                && line.has("ignition.platform.id")
                && self.version.is_some_and(|it| it < 20);
            self.family = if is_of_cluster { Rhcos } else { Ostree };
        }
        self
    }

    /// Whether it is Red Hat's with GRUB 0.97 and Upstart: RHEL and CentOS up to 6.
    pub fn is_early_red_hat(&self) -> bool {
        self.family == RedHat && self.version.is_some_and(|it| it <= 6)
    }

    /// Whether it is SUSE's with GRUB 0.97 and System V's init: SLES up to 11.
    pub fn is_early_suse(&self) -> bool {
        self.family == Suse && self.version.is_some_and(|it| it <= 11)
    }

    /// Whether the shell of root expands `{0..3}`: that of BusyBox does not, which Alpine has, and what one brings to Talos.
    pub fn has_braces(&self) -> bool {
        !matches!(self.family, Alpine | Talos)
    }
}

fn first_number(text: &str) -> Option<u32> {
    let length = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    text[..length].parse().ok()
}

fn is_end_of_word(rest: &str) -> bool {
    !rest.starts_with(|it: char| it.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(Family, Option<u32>)> {
        Distribution::parse(text).ok().map(|it| (it.family, it.version))
    }

    #[test]
    fn a_distribution_is_of_its_own_family_or_of_one_that_it_is_like() {
        let lines = [
            ("ID=\"rhel\"\nVERSION_ID=\"9.4\"", RedHat, Some(9)),
            ("ID=ol\nID_LIKE=\"fedora\"\nVERSION_ID=\"8.9\"", RedHat, Some(8)),
            ("ID=\"amzn\"\nID_LIKE=\"centos rhel fedora\"\nVERSION_ID=\"2\"", RedHat, Some(2)),
            ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=\"21\"", Debian, Some(21)),
            ("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux trixie/sid\"", Debian, None),
            ("ID=\"sles\"\nID_LIKE=\"suse\"\nVERSION_ID=\"15.5\"", Suse, Some(15)),
            ("ID=\"sle-micro\"\nID_LIKE=\"suse\"\nVERSION_ID=\"5.5\"", MicroOs, Some(5)),
            ("ID=talos\nVERSION_ID=v1.8.0", Talos, None),
            ("ID=flatcar\nID_LIKE=coreos\nVERSION_ID=3815.2.0", Flatcar, Some(3815)),
            ("ID=bottlerocket\nVERSION_ID=1.19.0", Bottlerocket, Some(1)),
            ("ID=alpine\nVERSION_ID=3.19.1", Alpine, Some(3)),
            ("ID=manjaro\nID_LIKE=arch", Arch, None),
            ("ID=nixos\nVERSION_ID=\"24.05\"", Nixos, Some(24)),
        ];
        for (text, family, version) in lines {
            assert_eq!(parsed(text), Some((family, version)), "{text}");
        }
        let long = "NAME=\"Fedora Linux\"\nID=fedora\nVERSION_ID=40\nHOME_URL=\"https://fedoraproject.org/\"\n";
        assert_eq!(Distribution::excerpt(long), "ID=fedora\nVERSION_ID=40\n");
        assert_eq!(parsed("ID=slackware\nVERSION_ID=15.0"), None);
        assert_eq!(parsed("NAME=x"), None);
    }

    #[test]
    fn what_rpm_ostree_deploys_is_apart_and_so_is_what_a_cluster_manages() {
        let fedora = |more: &str| parsed(&format!("ID=fedora\nVERSION_ID=40\n{more}")).unwrap().0;
        assert_eq!(fedora("VARIANT_ID=server"), RedHat);
        assert_eq!(fedora("VARIANT_ID=coreos"), Ostree);
        assert_eq!(fedora("OSTREE_VERSION='40.20240416.3.1'"), Ostree);
        let rhcos =
            "ID=\"rhel\"\nVERSION_ID=\"9.6\"\nVARIANT_ID=coreos\nOPENSHIFT_VERSION=\"4.19\"";
        assert_eq!(parsed(rhcos), Some((Rhcos, Some(9))));
        let older = "ID=\"rhcos\"\nID_LIKE=\"rhel fedora\"\nVERSION_ID=\"4.14\"";
        assert_eq!(parsed(older), Some((Rhcos, Some(4))));
    }

    #[test]
    fn files_before_os_release_name_it_too() {
        let older = |text: &str| Distribution::parse_older(text).map(|it| (it.family, it.version));
        assert_eq!(older("CentOS release 6.10 (Final)\n"), Ok((RedHat, Some(6))));
        let red_hat = "Red Hat Enterprise Linux Server release 5.11 (Tikanga)\n";
        assert_eq!(older(red_hat), Ok((RedHat, Some(5))));
        let suse = "SUSE Linux Enterprise Server 11 (x86_64)\nVERSION = 11\nPATCHLEVEL = 4\n";
        assert_eq!(older(suse), Ok((Suse, Some(11))));
        assert!(older("<html>").is_err());
    }

    #[test]
    fn a_kernel_says_who_built_it_by_its_release() {
        let of = |release: &str| Distribution::of_kernel(release).map(|it| (it.family, it.version));
        assert_eq!(of("2.6.32-754.35.1.el6.x86_64"), Some((RedHat, Some(6))));
        assert_eq!(of("5.14.0-427.13.1.el9_4.x86_64"), Some((RedHat, Some(9))));
        assert_eq!(of("5.15.0-209.161.7.2.el8uek.x86_64"), Some((RedHat, Some(8))));
        assert_eq!(of("6.8.9-300.fc40.x86_64"), Some((RedHat, Some(40))));
        assert_eq!(of("6.1.0-18-cloud-amd64"), Some((Debian, None)));
        assert_eq!(of("5.15.0-91-generic"), Some((Debian, None)));
        assert_eq!(of("6.5.11-7-pve"), Some((Proxmox, None)));
        assert_eq!(of("5.14.21-150400.24.33-default"), Some((Suse, None)));
        assert_eq!(of("6.1.58-talos"), Some((Talos, None)));
        assert_eq!(of("6.7.2-arch1-1"), Some((Arch, None)));
        assert_eq!(of("6.9.3"), None);
        assert_eq!(of("6.1.0-archive"), None);
        assert_eq!(of("6.9.0-0.elrepo.x86_64"), None);
    }

    #[test]
    fn a_debian_on_a_kernel_of_proxmox_is_proxmox() {
        let debian = Distribution::parse("ID=debian\nVERSION_ID=\"12\"").unwrap();
        assert_eq!(debian.clone().on_kernel("6.5.11-7-pve").family, Proxmox);
        assert_eq!(debian.on_kernel("6.1.0-18-amd64").family, Debian);
    }

    #[test]
    fn without_os_release_the_boot_line_tells_of_rpm_ostree() {
        let family = |release: &str, line: &str, is_told| {
            let built = Distribution::of_kernel(release).unwrap();
            built.booted_by(&BootLine::new(line), is_told).family
        };
        let ostree = "ostree=/ostree/boot.1/rhcos/5f/0 ignition.platform.id=metal";
        assert_eq!(family("5.14.0-284.el9.x86_64", ostree, false), Rhcos);
        assert_eq!(family("5.14.0-284.el9.x86_64", ostree, true), Ostree);
        assert_eq!(family("6.8.9-300.fc40.x86_64", ostree, false), Ostree);
        assert_eq!(family("6.8.9-300.fc40.x86_64", "quiet", false), RedHat);
    }
}
