//! What is obeyed, what is refused, and that nothing swapped in between is obeyed.
#![expect(clippy::disallowed_methods, reason = "makes the files that are opened")]

use super::*;
use rustix::fs::{RenameFlags, inotify, renameat_with};
use std::fs::{Permissions, create_dir, hard_link, set_permissions, write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::{TempDir, tempdir};

const ENOUGH: usize = 100;

fn chmod(path: &Path, mode: u32) {
    set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn text(path: &Path) -> String {
    let bytes = read(path, ENOUGH).unwrap_or_else(|why| panic!("{why}"));
    String::from_utf8(bytes.unwrap()).unwrap()
}

fn why(path: &Path) -> String {
    read(path, ENOUGH).unwrap_err().to_string()
}

/// A folder with a file that only its owner can write.
fn folder() -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let file = folder.path().join("good.toml");
    write(&file, "good").unwrap();
    chmod(&file, 0o644);
    (folder, file)
}

#[test]
fn what_others_can_write_is_refused_and_so_is_what_lies_in_such_a_folder() {
    let (folder, file) = folder();
    assert_eq!(text(&file), "good");
    chmod(&file, 0o666);
    let shown = file.display();
    assert_eq!(why(&file), format!("{shown}: others can write it (mode 666): chmod go-w it"));
    chmod(&file, 0o644);
    chmod(folder.path(), 0o777);
    assert_eq!(read(&file, ENOUGH).unwrap_err().path, folder.path());
    chmod(folder.path(), 0o1777);
    assert_eq!(text(&file), "good");
}

#[test]
fn a_file_folder_or_link_of_another_user_is_refused() {
    if !crate::ownership::is_root() {
        return;
    }
    let (outer, file) = folder();
    let nobody = rustix::fs::Uid::from_raw(65534);
    let link = outer.path().join("link");
    symlink("good.toml", &link).unwrap();
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    for place in [&link, &file, &outer.path().to_owned()] {
        rustix::fs::chownat(CWD, place, Some(nobody), None, flags).unwrap();
        let error = read(&link, ENOUGH).unwrap_err();
        assert_eq!(error.path, *place);
        assert!(error.why.starts_with("belongs to user 65534"), "{error}");
        rustix::fs::chownat(CWD, place, Some(rustix::fs::Uid::ROOT), None, flags).unwrap();
    }
    assert_eq!(text(&link), "good");
}

#[test]
fn links_are_followed_where_they_and_what_they_lead_through_may_be_trusted() {
    let (folder, _) = folder();
    let at = |name: &str| folder.path().join(name);
    create_dir(at("below")).unwrap();
    symlink("../good.toml", at("below/relative")).unwrap();
    symlink(at("below/relative"), at("absolute")).unwrap();
    symlink("below", at("way")).unwrap();
    for path in ["below/relative", "absolute", "way/relative", "way/../good.toml"] {
        assert_eq!(text(&at(path)), "good", "{path}");
    }
    chmod(&at("below"), 0o777);
    let refused = why(&at("absolute"));
    assert!(refused.contains("below: others can write it"), "{refused}");
    assert!(refused.contains(": move the file to a folder that only "), "{refused}");
    symlink("self", at("self")).unwrap();
    assert!(why(&at("self")).contains("Too many levels of symbolic links"));
}

#[test]
fn a_hard_link_in_a_folder_that_everyone_writes_is_refused() {
    let (folder, file) = folder();
    let shared = folder.path().join("shared");
    create_dir(&shared).unwrap();
    chmod(&shared, 0o1777);
    hard_link(&file, shared.join("other.toml")).unwrap();
    assert!(why(&shared.join("other.toml")).contains("other names"));
    assert_eq!(text(&file), "good");
}

#[test]
fn only_regular_files_of_a_bounded_size_are_read_and_an_absent_one_is_none() {
    let (folder, file) = folder();
    assert!(read(&folder.path().join("absent/x.toml"), ENOUGH).unwrap().is_none());
    assert!(why(folder.path()).ends_with("it is a folder, and not a file"));
    assert!(why(&file.join("x")).ends_with("it is not a folder"));
    assert!(why(Path::new("/dev/zero")).ends_with("it is a device, and not a regular file"));
    write(&file, "x".repeat(ENOUGH)).unwrap();
    assert_eq!(text(&file).len(), ENOUGH);
    write(&file, "x".repeat(ENOUGH + 1)).unwrap();
    assert!(why(&file).ends_with("it has more than 100 bytes"));
}

#[test]
fn a_pipe_is_refused_at_once_and_not_opened() {
    let (folder, _) = folder();
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let opened = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
    inotify::add_watch(&opened, &pipe, inotify::WatchFlags::OPEN).unwrap();
    assert!(why(&pipe).ends_with("it is a pipe, and not a regular file"));
    let events = rustix::io::read(&opened, &mut [0; 256]);
    assert_eq!(events, Err(Errno::AGAIN), "it was opened, which starts a watchdog");
}

/// Ends a thread with the block that it stands in, also where that panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Exchanges two names in a folder all the time while `path` is read; how often the good and the hostile file was obeyed.
fn raced(names: &[PathBuf; 2], path: &Path, attempts: usize) -> (usize, usize) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &names[0], CWD, &names[1], RenameFlags::EXCHANGE).unwrap();
            }
        });
        let _ends = Ends(&is_over);
        let found: Vec<Vec<u8>> =
            (0..attempts).filter_map(|_| read(path, ENOUGH).ok().flatten()).collect();
        let count = |text: &[u8]| found.iter().filter(|it| **it == text).count();
        (count(b"good"), count(b"hostile"))
    })
}

#[test]
fn a_swapped_link_folder_or_file_is_not_obeyed_once_in_ten_thousand_attempts() {
    const ATTEMPTS: usize = 10_000;
    let (folder, file) = folder();
    let at = |name: &str| folder.path().join(name);
    let hostile = at("hostile.toml");
    write(&hostile, "hostile").unwrap();
    chmod(&hostile, 0o666);
    for name in ["open", "closed"] {
        create_dir(at(name)).unwrap();
    }
    write(at("closed/x.toml"), "good").unwrap();
    write(at("open/x.toml"), "hostile").unwrap();
    chmod(&at("open"), 0o777);
    for (name, target) in
        [("l1", "good.toml"), ("l2", "hostile.toml"), ("f1", "closed"), ("f2", "open")]
    {
        symlink(target, at(name)).unwrap();
    }
    for (names, path) in [
        ([at("l1"), at("l2")], at("l1")),
        ([at("f1"), at("f2")], at("f1/x.toml")),
        ([at("closed"), at("open")], at("closed/x.toml")),
        ([file.clone(), hostile], file),
    ] {
        let (good, bad) = raced(&names, &path, ATTEMPTS);
        assert_eq!(bad, 0, "{}", path.display());
        assert!((1..ATTEMPTS).contains(&good), "{}: {good} of {ATTEMPTS}", path.display());
    }
}
