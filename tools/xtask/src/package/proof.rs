//! The packages as their users take them: installed, used and purged in roots of Debian's oldest and newest served releases, and an RPM
//! in a root of its own; and the image that is made of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use super::{container, empty, files, path, sums, text_of};
use crate::cargo::{program, run as run_program, target, workspace};
use crate::debian;
use testbench::packages::Package;

/// What the proof takes from Debian.
const PACKAGES: &[Package] = &[
    Package {
        name: "debootstrap",
        purpose: "roots to install in",
        witness: "/usr/sbin/debootstrap",
    },
    Package {
        name: "lintian",
        purpose: "Debian's rules for packages",
        witness: "/usr/bin/lintian",
    },
    Package {
        name: "systemd",
        purpose: "how far the service is confined",
        witness: "/usr/bin/systemd-analyze",
    },
    Package { name: "rpm", purpose: "to install an RPM", witness: "/usr/bin/rpm" },
];
/// The oldest release that the mirror serves, and that of today.
const SUITES: [&str; 2] = ["bullseye", "bookworm"];
const MIRROR: &str = "http://deb.debian.org/debian";
/// Beside a minimal system: what shows pages and completes.
const INCLUDED: &str = "--include=man-db,bash-completion";
/// What any installation changes.
const NOT_OURS: &[&str] = &[
    "/var/cache/",
    "/var/lib/apt/",
    "/var/lib/dpkg/",
    "/var/log/",
    "/proc/",
    "/sys/",
    "/dev/",
    "/tmp/",
    "/run/",
];

/// Tries what is in the folder.
pub(super) fn run(dist: &Path) -> Result<()> {
    debian::install(&[PACKAGES, container::PACKAGES].concat())?;
    let mut sums = program("sha256sum", &["--check", "--quiet", sums::FILE]);
    sums.current_dir(dist);
    run_program(sums)?;
    let deb = found(dist, ".deb")?;
    run_program(program("lintian", &["--fail-on", "error,warning", path(&deb)?]))?;
    println!("lintian: clean");
    confined()?;
    for suite in SUITES {
        debian_root(suite, &deb)?;
    }
    rpm(&found(dist, ".rpm")?)?;
    tarball(&found(dist, ".tar.xz")?)?;
    let [_, newest] = SUITES;
    container::prove(dist, &root_of(newest))
}

/// How far the service is confined by default, and with the drop-in that adds registers, in tenths of systemd's exposure level.
fn confined() -> Result<()> {
    let units = target().join("package-proof/units");
    empty(&units)?;
    let drop_ins = units.join("fullclock.service.d");
    fs::create_dir_all(&drop_ins)?;
    let unit = units.join("fullclock.service");
    let source = workspace().join("packaging/systemd");
    fs::copy(source.join("fullclock.service"), &unit)?;
    for most in ["21", "28"] {
        let threshold = format!("--threshold={most}");
        let options = ["security", "--offline=true", "--no-pager", &threshold, path(&unit)?];
        let said = text_of(program("systemd-analyze", &options))?;
        println!("{}", said.lines().last().unwrap_or_default());
        fs::copy(source.join("registers.conf"), drop_ins.join("registers.conf"))?;
    }
    for unit in ["fullclock-metrics.service", "fullclock-baseline.service"] {
        let unit = source.join(unit);
        let options = ["security", "--offline=true", "--no-pager", "--threshold=23", path(&unit)?];
        let said = text_of(program("systemd-analyze", &options))?;
        println!("{}", said.lines().last().unwrap_or_default());
    }
    Ok(())
}

fn found(dist: &Path, ending: &str) -> Result<PathBuf> {
    let named = files(dist)?.into_iter().find(|it| it.to_string_lossy().ends_with(ending));
    named.with_context(|| format!("{} has no {ending}", dist.display()))
}

/// Where the root of a suite is made.
fn root_of(suite: &str) -> PathBuf {
    target().join("package-proof").join(suite)
}

/// A root folder, with /proc and /sys while this lives.
struct Root(PathBuf);

impl Root {
    fn made(suite: &str) -> Result<Root> {
        let folder = root_of(suite);
        if !folder.join("usr/bin/man").exists() {
            empty(&folder)?;
            let options = ["--variant=minbase", INCLUDED, suite, path(&folder)?, MIRROR];
            run_program(program("debootstrap", &options))?;
        }
        let root = Root(folder);
        for mount in ["proc", "sys"] {
            let to = root.0.join(mount);
            run_program(program("mount", &["--rbind", &format!("/{mount}"), path(&to)?]))?;
        }
        Ok(root)
    }

    /// What a command line of the root's shell prints.
    fn sh(&self, line: &str) -> Result<String> {
        text_of(self.command(line))
    }

    fn command(&self, line: &str) -> std::process::Command {
        let mut command = program("chroot", &[]);
        command.arg(&self.0).args(["/bin/bash", "-c", line]);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C.UTF-8");
        command.env("DEBIAN_FRONTEND", "noninteractive").env("HOME", "/root");
        command
    }

    /// Whether a command line fails, and what it says then.
    fn refusal(&self, line: &str) -> Result<String> {
        let output = self.command(line).output()?;
        ensure!(!output.status.success(), "{line} succeeded");
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn files(&self) -> Result<BTreeSet<String>> {
        let all = self.sh("find / -xdev -not -path '/proc/*' -not -path '/sys/*'")?;
        let ours = |it: &&str| !NOT_OURS.iter().any(|other| it.starts_with(other));
        Ok(all.lines().filter(ours).map(str::to_owned).collect())
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        for mount in ["sys", "proc"] {
            let place = self.0.join(mount);
            let mut unmount = program("umount", &["--recursive", "--lazy"]);
            if let Err(error) = unmount.arg(place).status() {
                println!("{mount} stays mounted: {error}");
            }
        }
    }
}

fn debian_root(suite: &str, deb: &Path) -> Result<()> {
    let root = Root::made(suite)?;
    root.sh("apt-get -q purge -y fullclock && apt-get -q autoremove --purge -y || true")?;
    let before = root.files()?;
    fs::copy(deb, root.0.join("tmp/fullclock.deb"))?;
    let began = Instant::now();
    let install = "apt-get -q install -y /tmp/fullclock.deb";
    root.sh(install)?;
    let audit = root.sh("fullclock audit --quiet; echo exit code $?")?;
    let took = began.elapsed();
    ensure!(audit.ends_with("exit code 0"), "{suite}: {audit}");
    println!("{suite}: installed and audited in {:.1} s", took.as_secs_f64());

    let page = root.sh("MANWIDTH=80 man fullclock-apply | col -b")?;
    ensure!(page.contains("EXAMPLES") && page.contains("fullclock revert"), "{page}");
    let config = root.sh("MANWIDTH=80 man 5 fullclock-config | col -b")?;
    ensure!(config.contains("folders.state") && config.contains("EXAMPLE"), "{config}");
    root.sh("man 5 fullclock-profile >/dev/null && man 5 fullclock-plan >/dev/null")?;
    let completed = root.sh(COMPLETION)?;
    ensure!(completed.contains("clock-modulation"), "completed to {completed:?}");
    println!("{suite}: man and completion work; {}", root.sh("fullclock --version")?);

    // Upgrades do not refuse, whatever is applied; removal warns, and purge refuses.
    root.sh("fullclock apply --quiet stat-interval=7 >/dev/null")?;
    root.sh(&install.replace("install", "install --reinstall"))?;
    let warned = text_of_both(root.command("apt-get -q remove -y fullclock"))?;
    ensure!(warned.contains("still applied: 0001"), "{warned}");
    let refused = root.refusal("dpkg --purge fullclock")?;
    ensure!(refused.contains("not purged"), "{refused}");
    root.sh(install)?;
    root.sh("fullclock revert --all --quiet >/dev/null")?;
    root.sh("apt-get -q purge -y fullclock && rm /tmp/fullclock.deb")?;
    let left: Vec<String> = root.files()?.difference(&before).cloned().collect();
    ensure!(left.is_empty(), "{suite}: purge leaves {} files: {:?}", left.len(), left.first());
    println!("{suite}: removal warned, purge refused while applied, and leaves nothing");
    Ok(())
}

/// What bash offers behind `fullclock explain clock-m` when Tab is pressed.
const COMPLETION: &str = "source /usr/share/bash-completion/bash_completion; \
    _completion_loader fullclock 2>/dev/null || source /usr/share/bash-completion/completions/fullclock; \
    COMP_WORDS=(fullclock explain clock-m); COMP_CWORD=2; COMP_LINE='fullclock explain clock-m'; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9; \
    $(complete -p fullclock | grep -o -- '-F [^ ]*' | cut -c4-) fullclock clock-m explain; \
    printf '%s\\n' \"${COMPREPLY[@]}\"";

fn text_of_both(mut command: std::process::Command) -> Result<String> {
    let output = command.output()?;
    ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    Ok([output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat())
}

fn rpm(rpm: &Path) -> Result<()> {
    let folder = target().join("package-proof/rpm");
    empty(&folder)?;
    let list = text_of(program("rpm", &["-qpl", path(rpm)?]))?;
    ensure!(list.contains("/usr/bin/fullclock"), "{list}");
    let needed = text_of(program("rpm", &["-qp", "--requires", path(rpm)?]))?;
    ensure!(!needed.contains("PayloadIsZstd"), "the rpm of RHEL 7 cannot unpack it: {needed}");
    let install =
        ["--root", path(&folder)?, "--nodeps", "--noscripts", "--ignorearch", "-i", path(rpm)?];
    run_program(program("rpm", &install))?;
    let installed = folder.join("usr/bin/fullclock");
    println!(
        "rpm: {} files; {}",
        list.lines().count(),
        text_of(program(installed, &["--version"]))?
    );
    Ok(())
}

/// In the userland of the oldest suite, without installing.
fn tarball(tarball: &Path) -> Result<()> {
    let root = Root::made(SUITES[0])?;
    let folder = root.0.join("tmp/tarball");
    empty(&folder)?;
    run_program(program("tar", &["-xf", path(tarball)?, "-C", path(&folder)?]))?;
    let said = root.sh("/tmp/tarball/*/bin/fullclock --version --verbose; rm -r /tmp/tarball")?;
    println!("tarball, in {}:\n{said}", SUITES[0]);
    Ok(())
}
