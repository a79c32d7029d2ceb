//! Whole files of configuration: written beside their place, seen on disk, and moved there, so that there is always all of the
//! one or all of the other. A link is never followed.

use super::Machine;
use crate::change::{Trouble, fault};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// Every place that a file may be written: a `*` stands for some of the letters, digits and `@._-`.
pub const FILES: &[&str] = &[
    "/etc/sysctl.d/*fullclock*.conf",
    "/etc/modprobe.d/*fullclock*.conf",
    "/etc/modules-load.d/*fullclock*.conf",
    "/etc/systemd/system/fullclock*.service",
    "/etc/systemd/system/multi-user.target.d/fullclock*.conf",
    "/etc/systemd/system/sleep.target.d/fullclock*.conf",
    "/etc/default/grub.d/*fullclock*.cfg",
    "/etc/default/grub",
    "/etc/kernel/cmdline",
    "/etc/kernel/cmdline.d/*fullclock*.conf",
    "/etc/fullclock/*.toml",
    "/etc/fullclock/*.json",
];

/// The folders that are created with the first file in them, and removed with the last.
const OWN_FOLDERS: &[&str] = &[
    "/etc/fullclock",
    "/etc/default/grub.d",
    "/etc/systemd/system/multi-user.target.d",
    "/etc/systemd/system/sleep.target.d",
];

pub(super) fn permits(path: &str) -> Result<(), Trouble> {
    if FILES.iter().any(|pattern| fits(pattern, path)) {
        return Ok(());
    }
    Err(Trouble::new(path, "is none of the files that may be written"))
}

fn fits(pattern: &str, path: &str) -> bool {
    let (Some((folder, pattern)), Some((of, name))) =
        (pattern.rsplit_once('/'), path.rsplit_once('/'))
    else {
        return false;
    };
    let is_name = |it: &str| it.chars().all(|it| it.is_ascii_alphanumeric() || "@._-".contains(it));
    if folder != of || !is_name(name) || name.starts_with('.') {
        return false;
    }
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(first) else { return false };
    match rest.split_once('*') {
        None => name.strip_suffix(rest).is_some_and(|it| !it.is_empty()),
        Some((middle, last)) => name.strip_suffix(last).is_some_and(|it| it.contains(middle)),
    }
}

/// What a file holds; `None` where it is not there.
pub(super) fn read(machine: &Machine, path: &str) -> Result<Option<String>, Trouble> {
    permits(path)?;
    let refused = |error| Trouble::of_errno(path, "read", error);
    let Some((folder, name)) = place(machine, path, false)? else { return Ok(None) };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match rustix::fs::openat(&folder, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        answer => answer.map_err(refused)?,
    };
    regular(path, &rustix::fs::fstat(&file).map_err(refused)?)?;
    let mut text = Vec::new();
    loop {
        text.reserve(4096);
        match rustix::io::read(&file, rustix::buffer::spare_capacity(&mut text)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(refused(error)),
        }
    }
    let text = String::from_utf8(text).map_err(|_| Trouble::new(path, "holds no text"))?;
    Ok(Some(text))
}

/// Replaces or removes a file. One that is replaced keeps its mode and owner.
pub(super) fn write(machine: &Machine, path: &str, text: Option<&str>) -> Result<(), Trouble> {
    permits(path)?;
    let refused = |error| Trouble::of_errno(path, "written", error);
    let Some((folder, name)) = place(machine, path, text.is_some())? else { return Ok(()) };
    let beside = beside(name);
    remove(&folder, &beside).map_err(refused)?;
    let there = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(status) => Some(status),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(refused(error)),
    };
    if let Some(status) = &there {
        regular(path, status)?;
    }
    match text {
        Some(text) => {
            write_new(&folder, &beside, text, there.as_ref()).map_err(refused)?;
            fault::point();
            rustix::fs::renameat(&folder, &beside, &folder, name).map_err(refused)?;
        }
        None => remove(&folder, name).map_err(refused)?,
    }
    fault::point();
    rustix::fs::fsync(&folder).map_err(refused)?;
    if text.is_none() {
        remove_own_folder(machine, path);
    }
    Ok(())
}

/// Removes what a crash left beside a file.
pub(super) fn tidy(machine: &Machine, path: &str) -> Result<(), Trouble> {
    permits(path)?;
    let Some((folder, name)) = place(machine, path, false)? else { return Ok(()) };
    let removed = remove(&folder, &beside(name));
    removed.map_err(|error| Trouble::of_errno(path, "written", error))?;
    remove_own_folder(machine, path);
    Ok(())
}

/// The name under which a file is written before it takes its place: no program reads files of such an end.
fn beside(name: &str) -> String {
    format!(".{name}.fullclock-new")
}

fn remove(folder: &OwnedFd, name: &str) -> Result<(), Errno> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error),
    }
}

fn remove_own_folder(machine: &Machine, path: &str) {
    let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
    if OWN_FOLDERS.contains(&folder) {
        // Only an empty folder is removed.
        let _stays = rustix::fs::rmdir(machine.at(folder));
    }
}

fn write_new(folder: &OwnedFd, name: &str, text: &str, like: Option<&Stat>) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?;
    let mut bytes = text.as_bytes();
    while !bytes.is_empty() {
        let n = rustix::io::write(&file, bytes)?;
        bytes = bytes.get(n..).unwrap_or_default();
    }
    let mode = like.map_or(0o644, |it| it.st_mode & 0o7777);
    if let Some(like) = like {
        let owner =
            (rustix::fs::Uid::from_raw(like.st_uid), rustix::fs::Gid::from_raw(like.st_gid));
        rustix::fs::fchown(&file, Some(owner.0), Some(owner.1))?;
    }
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    fault::point();
    rustix::fs::fsync(&file)
}

/// The folder of a file, opened without following any link, and its name; `None` where the folder is not there.
fn place<'a>(
    machine: &Machine,
    path: &'a str,
    creates: bool,
) -> Result<Option<(OwnedFd, &'a str)>, Trouble> {
    let refused = |error| Trouble::of_errno(path, "written", error);
    let (folders, name) = path.rsplit_once('/').ok_or_else(|| refused(Errno::INVAL))?;
    if creates && OWN_FOLDERS.contains(&folders) {
        let mode = Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH;
        match rustix::fs::mkdir(machine.at(folders), mode) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(refused(error)),
        }
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder =
        rustix::fs::openat(CWD, &machine.root, flags, Mode::empty()).map_err(refused)?;
    for part in folders.split('/').filter(|it| !it.is_empty()) {
        folder = match rustix::fs::openat(&folder, part, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT) if !creates => return Ok(None),
            Err(Errno::NOENT) => {
                return Err(Trouble::new(
                    path,
                    format!("{folders} is not there: this host does not read such files"),
                ));
            }
            Err(error) => return Err(refused(error)),
        };
    }
    Ok(Some((folder, name)))
}

fn regular(path: &str, status: &Stat) -> Result<(), Trouble> {
    match FileType::from_raw_mode(status.st_mode) {
        FileType::RegularFile => Ok(()),
        _ => Err(Trouble::new(path, "is a link or no file, and is left alone")),
    }
}
