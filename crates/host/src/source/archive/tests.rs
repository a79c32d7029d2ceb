//! Archives as bundle tools write them, and as nobody should.

use super::*;
use facts::Expected;
use tar::{Builder, EntryType, Header};

/// A tar from `name=text` for a file, `name>target` for a link, `name>>target` for a hard link.
fn tar_of(entries: &[&str]) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    for entry in entries {
        if let Some((name, text)) = entry.split_once('=') {
            append(&mut tar, EntryType::Regular, name, "", text.as_bytes());
        } else if let Some((name, target)) = entry.split_once(">>") {
            append(&mut tar, EntryType::Link, name, target, b"");
        } else if let Some((name, target)) = entry.split_once('>') {
            append(&mut tar, EntryType::Symlink, name, target, b"");
        }
    }
    tar.into_inner().unwrap()
}

/// The crate's own setters refuse the names that these tests need.
fn append(tar: &mut Builder<Vec<u8>>, kind: EntryType, name: &str, target: &str, bytes: &[u8]) {
    let mut header = Header::new_gnu();
    let gnu = header.as_gnu_mut().unwrap();
    gnu.name[..name.len()].copy_from_slice(name.as_bytes());
    gnu.linkname[..target.len()].copy_from_slice(target.as_bytes());
    gnu.realsize[..2].copy_from_slice(b"0\0");
    header.set_entry_type(kind);
    header.set_size(bytes.len().try_into().unwrap());
    header.set_cksum();
    tar.append(&header, bytes).unwrap();
}

fn archive(entries: &[&str]) -> Archive {
    Archive::read("a.tar", &*tar_of(entries), "").unwrap()
}

fn error(bytes: &[u8]) -> String {
    Archive::read("a.tar", bytes, "").unwrap_err().to_string()
}

#[test]
fn an_archive_answers_as_the_folder_would() {
    let host = archive(&[
        "sos/etc/tuned/active_profile=balanced",
        "sos/sys/cpu/cpufreq/policy0/governor=ondemand",
        "sos/sys/cpu/cpu0/cpufreq>../cpufreq/policy0",
        "sos/sys/hard>>sos/sys/cpu/cpufreq/policy0/governor",
        "sos/var/log/secure=secrets",
    ]);
    assert_eq!(host.origin(), Origin::Tree);
    assert_eq!(host.read("/sys/cpu/cpu0/cpufreq/governor"), Ok(b"ondemand".to_vec()));
    assert_eq!(host.read("/sys/hard"), Ok(b"ondemand".to_vec()));
    assert_eq!(host.read("/etc/tuned/active_profile"), Ok(b"balanced".to_vec()));
    assert_eq!(host.list("/sys/cpu/"), Ok(vec!["cpu0".to_owned(), "cpufreq".to_owned()]));
    assert_eq!(host.link("/sys/cpu/cpu0/cpufreq"), Ok("../cpufreq/policy0".to_owned()));
    assert_eq!(host.read("/sys/cpu/online"), Err(Missing::not_collected("/sys/cpu/online")));
    assert_eq!(host.read("/proc/cmdline"), Err(Missing::not_collected("/proc/cmdline")));
    assert_eq!(host.list("/var/log"), Err(Missing::not_collected("/var/log")));
    assert_eq!(host.msr(0, 0x19a), Err(Missing::not_collected("/dev/cpu/0/msr 0x19a")));
}

#[test]
fn every_host_of_an_archive_is_read_at_once_with_what_came_before_its_mark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.tar");
    let mut entries = Vec::new();
    for node in ["a", "b", "c"] {
        entries.push(format!("nodes/{node}/etc/hostname={node}"));
        entries.push(format!("nodes/{node}/sys/name={node}"));
        entries.push(format!("nodes/{node}/sys/link>name"));
    }
    // A folder of the first host that looks like a host is a part of it.
    entries.push("nodes/a/var/copy/sys/name=inner".to_owned());
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let mut file = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
    std::io::Write::write_all(&mut file, &tar_of(&entries)).unwrap();
    file.persist(&path).unwrap();
    let (hosts, is_full) = Archive::hosts(&path).unwrap();
    let of = |it: &Archive| {
        let text = |path: &str| String::from_utf8(it.read(path).unwrap()).unwrap();
        let name = it.roots()[0].rsplit('/').next().unwrap().to_owned();
        [name, text("/etc/hostname"), text("/sys/link")]
    };
    let found: Vec<_> = hosts.iter().map(of).collect();
    assert_eq!(found, ["a", "b", "c"].map(|it| [it; 3].map(str::to_owned)));
    assert!(!is_full);
}

#[test]
fn an_archive_of_more_hosts_than_are_kept_says_so() {
    let entries: Vec<String> = (0..80).map(|it| format!("nodes/n{it}/sys/name={it}")).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let mut scan = Scan::of_all();
    scan::read(&*tar_of(&entries), &mut scan, Limits::of).unwrap();
    let (trees, is_full) = scan.roots.finish_all();
    assert_eq!((trees.len(), is_full), (65, true));
}

#[test]
fn a_page_that_tar_filled_up_is_text_again() {
    let padded = format!("sys/governor=ondemand\n{}", "\0".repeat(4087));
    let host = archive(&[&padded]);
    let line = |text: &str| Ok::<_, Expected>(text.to_owned());
    assert_eq!((&host as &dyn Source).parsed("/sys/governor", line), Ok("ondemand\n".to_owned()));
}

#[test]
fn names_that_lead_upwards_are_left_out_and_absolute_ones_are_the_hosts() {
    let host = archive(&["/sys/a=1", "../sys/b=2", "sys/../../sys/c=3", "sys/d/../e=4"]);
    assert_eq!(host.list("/sys"), Ok(vec!["a".to_owned()]));
}

#[test]
fn devices_pipes_and_sparse_files_are_answered_with_the_reason() {
    let mut tar = Builder::new(Vec::new());
    append(&mut tar, EntryType::Block, "sys/disk", "", b"");
    append(&mut tar, EntryType::Fifo, "sys/pipe", "", b"");
    append(&mut tar, EntryType::GNUSparse, "sys/sparse", "", b"");
    append(&mut tar, EntryType::Link, "sys/hard", "etc/shadow", b"");
    let host = Archive::read("a.tar", &*tar.into_inner().unwrap(), "").unwrap();
    let answer = |path| host.read(path).unwrap_err().to_string();
    assert_eq!(answer("/sys/disk"), "/sys/disk: found \"a device\", expected a regular file");
    assert!(answer("/sys/pipe").contains("a pipe"));
    assert!(answer("/sys/sparse").contains("a sparse file"));
    assert!(answer("/sys/hard").contains("a hard link"));
}

#[test]
fn an_archive_without_a_host_says_what_it_holds() {
    assert_eq!(
        error(&tar_of(&["cpuid/pu0=1"])),
        "a.tar has no folder with proc/ or sys/ in /, so it holds no host; its first entry is \"cpuid/pu0\""
    );
    assert!(error(b"").contains("holds no host"));
}

#[test]
fn what_is_no_archive_or_is_cut_short_is_an_error() {
    let tar = tar_of(&["sys/a=1", "sys/b=2"]);
    assert!(
        error(b"fullclock capture 1\n").starts_with("a.tar is neither a folder nor a tar archive")
    );
    assert!(error(&[0x41; 2000]).contains("nor a tar archive"));
    assert!(error(&tar[..1100]).starts_with("a.tar is damaged, cut short or too large after"));
    let error = error(&tar[..513]);
    assert!(error.contains("nor a tar archive") || error.contains("cut short"), "{error}");
}

/// What an archive of `entries` gives within `limits`.
fn within(limits: Limits, entries: &[&str]) -> Result<Archive, ArchiveError> {
    Archive::read_within("a.tar", &*tar_of(entries), "", move |_, _| limits)
}

const WIDE: Limits = Limits { unpacked: 1 << 20, memory: 1 << 20, file: 1 << 20 };

#[test]
fn an_archive_that_unpacks_to_more_than_its_limit_is_refused_with_what_to_do() {
    let text = "x".repeat(9000);
    let limits = Limits { unpacked: 8 << 10, ..WIDE };
    let error = within(limits, &["sys/a=1", &format!("log={text}")]).unwrap_err().to_string();
    assert_eq!(
        error,
        "a.tar is damaged, cut short or too large after its entry \"log\": it unpacks to more than 8192 bytes, the limit \
         for an archive of its size; unpack it and give the folder to --root"
    );
}

#[test]
fn entries_that_take_more_memory_than_the_limit_are_refused_and_each_folder_counts() {
    let limits = Limits { memory: 3000, ..WIDE };
    let error = |entries: &[&str]| within(limits, entries).unwrap_err().to_string();
    let links = ["sys/a>b"; 30];
    assert!(error(&links).contains("take more than 3000 bytes of memory"), "{}", error(&links));
    let deep = ["sys/1/2/3/4/5/6/7/8=", "sys/b/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h/i/j/k=", "sys/c="];
    assert!(error(&deep).contains("take more than 3000 bytes of memory"), "{}", error(&deep));
    assert!(within(limits, &["sys/a=1", "sys/b=2", "sys/c=3"]).is_ok());
}

#[test]
fn a_file_without_room_is_left_out_and_smaller_ones_after_it_are_kept() {
    let limits = Limits { file: 6, memory: 4000, ..WIDE };
    let long = format!("sys/no-room={}", "x".repeat(1500));
    let host = within(limits, &["sys/large=1234567", "sys/fits=123456"]).unwrap();
    assert!(host.read("/sys/fits").is_ok());
    assert_eq!(
        host.read("/sys/large").unwrap_err().to_string(),
        "/sys/large cannot be read: no room for its 7 bytes within the limits of an archive; unpack it and give the \
         folder to --root"
    );
    let host = within(Limits { file: 2000, ..limits }, &[&long, &long, "sys/last=1"]).unwrap();
    assert!(host.read("/sys/no-room").unwrap_err().to_string().contains("no room for its 1500"));
    assert!(host.read("/sys/last").is_ok());
}

#[test]
fn a_file_is_no_longer_than_its_kind_by_whatever_name_it_is_asked_for() {
    let line = format!("proc/cmdline={}", "x".repeat(40_000));
    let host = archive(&[
        &line,
        "proc/cpuinfo>version",
        &line.replace("cmdline", "version"),
        "sys/a>../proc/version",
    ]);
    let refused = |path: &str, limit| Err(Missing::too_long(path, Some(40_000), limit));
    assert_eq!(host.read("/proc/cmdline"), refused("/proc/cmdline", 36 << 10));
    assert_eq!(host.read("/proc/version").map(|it| it.len()), Ok(40_000));
    let host = archive(&[&line.replace("cmdline", "version"), "proc/cmdline>version"]);
    assert_eq!(host.read("/proc/cmdline"), refused("/proc/cmdline", 36 << 10));
    assert_eq!(
        host.read("/proc/cmdline").unwrap_err().to_string(),
        "/proc/cmdline cannot be read: it has 40000 bytes, the limit for this file is 36864"
    );
}

#[test]
fn a_name_of_megabytes_does_not_fill_the_memory() {
    let mut tar = Builder::new(Vec::new());
    append(&mut tar, EntryType::Regular, "sys/a", "", b"1");
    append(&mut tar, EntryType::GNULongName, "././@LongLink", "", &vec![b'x'; 2 << 20]);
    append(&mut tar, EntryType::Regular, "x", "", b"1");
    let error = error(&tar.into_inner().unwrap());
    assert!(error.ends_with("takes more than 1 MiB"), "{error}");
}

#[test]
fn other_hosts_of_an_archive_are_named_and_can_be_chosen() {
    let tar = tar_of(&["nodes/a/proc/version=A", "nodes/b/proc/version=B"]);
    let first = Archive::read("a.tar", &*tar, "").unwrap();
    assert_eq!(first.roots(), ["a.tar/nodes/a", "a.tar/nodes/b"]);
    let second = Archive::read("a.tar", &*tar, "nodes/b").unwrap();
    assert_eq!(second.read("/proc/version"), Ok(b"B".to_vec()));
    assert_eq!(second.roots(), ["a.tar/nodes/b"]);
}

#[test]
fn a_folder_of_more_names_than_its_kind_has_is_refused() {
    let mut tar = Builder::new(Vec::new());
    for n in 0..=facts::limits::most_names("/sys/class/net") {
        append(&mut tar, EntryType::Symlink, &format!("sys/class/net/eth{n}"), "../../l", b"");
    }
    let host = Archive::read("a.tar", &*tar.into_inner().unwrap(), "").unwrap();
    assert_eq!(
        host.list("/sys/class/net").unwrap_err().to_string(),
        "/sys/class/net cannot be read: it has more than 65536 entries, which is the limit"
    );
}
