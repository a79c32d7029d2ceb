//! The command lines of README and guide, each run as it is written, on this machine.
//!
//! A page is a shell of its own, where /var/lib is empty, nobody else's network is in reach, and the files lie that the page speaks of.
//! What runs until it is interrupted gets Ctrl-C.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};
use std::thread;

use anyhow::{Context as _, Result, bail, ensure};
use testbench::guide::{Page, Place};
use xtask::tree;

use crate::cargo::{self, cargo, program, target, workspace};

/// What a line begins with that runs until it is interrupted, unless it says when to end.
const ENDLESS: &[&str] = &["fullclock watch", "fullclock serve"];
const ENDS: &[&str] = &[" -d ", " -n ", " -- ", " --replay "];

/// `cargo xtask guide [PAGE]`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    cargo::run(cargo(&["build", "--package", "fullclock"]))?;
    let named = |page: &Page| arguments.is_empty() || arguments.contains(&page.name);
    let pages: Vec<Page> = Page::all(workspace())?.into_iter().filter(named).collect();
    ensure!(!pages.is_empty(), "no page is called so: README.md, docs/guide/audit.md, ...");
    follow(&pages)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs every command line that needs no special machine; the program was built.
pub(crate) fn follow_all() -> Result<()> {
    follow(&Page::all(workspace())?)
}

/// Runs the pages side by side: most of their commands wait.
fn follow(pages: &[Page]) -> Result<()> {
    let failures: Vec<String> = thread::scope(|scope| {
        let followed = pages.iter().map(|page| scope.spawn(move || failure(page)));
        let followed: Vec<_> = followed.collect();
        followed.into_iter().flat_map(|it| it.join().unwrap_or(Some("panicked".into()))).collect()
    });
    if !failures.is_empty() {
        bail!("{}", failures.join("\n"));
    }
    Ok(())
}

/// What went wrong with the first command of a page that failed.
fn failure(page: &Page) -> Option<String> {
    let anywhere = page.commands(Place::Anywhere);
    let redfish = page.commands(Place::Redfish);
    if anywhere.is_empty() && redfish.is_empty() {
        return None;
    }
    let name = &page.name;
    match follow_page(&anywhere, &redfish) {
        Ok(output) if output.status.success() => {
            println!("{name}: {} command lines", anywhere.len() + redfish.len());
            None
        }
        Ok(output) => {
            let printed = String::from_utf8_lossy(&output.stdout);
            let lines: Vec<&str> = printed.lines().collect();
            let end = lines.get(lines.len().saturating_sub(30)..).unwrap_or_default();
            Some(format!("{name}: {}", end.join("\n")))
        }
        Err(error) => Some(format!("{name}: {error:#}")),
    }
}

fn follow_page(anywhere: &[&str], redfish: &[&str]) -> Result<Output> {
    let folder = tempfile::tempdir().context("cannot make a folder for a page")?;
    make_files(folder.path())?;
    let script = folder.path().join(".script");
    fs::write(&script, shell(anywhere, redfish))?;
    let path = std::env::var("PATH").unwrap_or_default();
    let built = target().join("debug");
    Command::new("unshare")
        .args(["--mount", "--net", "--pid", "--fork", "--kill-child", "sh"])
        .arg(&script)
        .current_dir(folder.path())
        .env("PATH", format!("{}:/usr/local/bin:{path}", folder.path().join(".bin").display()))
        .env("BUILT", built)
        .stdin(Stdio::null())
        .output()
        .context("cannot run unshare")
}

/// The script: each line in the same shell, the first that fails is the last. A line for a controller has to fail here for want of one,
/// by the program's own words: a line that its command line refuses says "error:".
fn shell(anywhere: &[&str], redfish: &[&str]) -> String {
    let mut script = String::from(
        "exec 2>&1\nset -e\n\
         mount -t proc proc /proc\n\
         mount -t tmpfs tmpfs /var/lib\n\
         mount -t tmpfs tmpfs /usr/local/bin\n\
         ln -s \"$BUILT/fullclock\" /usr/local/bin/fullclock\n\
         ip link set lo up\n\
         interrupted() { timeout --preserve-status -s INT 3 \"$@\" || [ $? -eq 130 ]; }\n\
         unanswered() { said=$(\"$@\" 2>&1) && return 1; echo \"$said\"; case $said in fullclock:*) ;; *) return 1 ;; esac; }\n",
    );
    for line in anywhere {
        let is_endless = ENDLESS.iter().any(|it| line.starts_with(it))
            && !ENDS.iter().any(|it| line.contains(it));
        let quoted = line.replace('\'', "'\\''");
        let line = if is_endless { format!("interrupted {line}") } else { (*line).to_owned() };
        // A server takes a moment to listen.
        let waits =
            if line.ends_with('&') { "\nuntil [ -s net.token ]; do sleep 0.1; done" } else { "" };
        script += &["echo '$ ", &quoted, "'\n", &line, waits, "\n"].concat();
    }
    for line in redfish {
        script += &["echo '$ ", line, "'\nunanswered ", line, "\n"].concat();
    }
    script
}

/// The files that pages speak of.
fn make_files(folder: &Path) -> Result<()> {
    fs::write(folder.join("read.txt"), PERFTEST)?;
    for (name, secret) in [("bmc.pw", "nobody's\n"), ("token", "nobodys\n")] {
        let path = folder.join(name);
        fs::write(&path, secret)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    }
    let bin = folder.join(".bin");
    fs::create_dir(&bin)?;
    fs::write(bin.join("ssh.sh"), SSH)?;
    let installed = bin.join("ssh");
    cargo::run(in_folder(folder, "install", &["-m", "755", ".bin/ssh.sh", path(&installed)?]))?;
    let host = folder.join(".hosts/node-2");
    let words = ["--cpus", "8", path(&host)?];
    tree::run(&words.map(str::to_owned))?;
    cargo::run(in_folder(folder, "tar", &["-C", ".hosts", "-cf", "must-gather.tar", "node-2"]))?;
    cargo::run(in_folder(
        folder,
        "tar",
        &["-C", ".hosts/node-2", "-cJf", "sosreport-db7.tar.xz", "proc", "sys"],
    ))
}

fn path(path: &Path) -> Result<&str> {
    path.to_str().context("the temporary folder has a name that is not UTF-8")
}

fn in_folder(folder: &Path, name: &str, arguments: &[&str]) -> Command {
    let mut command = program(name, arguments);
    command.current_dir(folder);
    command
}

/// ssh(1) to a host that is this one.
const SSH: &str = "\
#!/bin/sh
while true; do
    case $1 in
    -o | -L | -p | -l) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
shift
exec sh -c \"$*\"
";

/// What `ib_read_bw -a` prints of 40 Gb/s InfiniBand behind a slot of PCIe 2.0 x8, made up.
const PERFTEST: &str = "\
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 2          1000             4.11               4.05               2.123366
 1024       1000             1912.31            1900.12            1.945723
 65536      1000             3201.22            3199.80            0.051197
 1048576    1000             3205.10            3204.97            0.003205
";
