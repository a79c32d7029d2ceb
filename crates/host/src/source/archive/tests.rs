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
fn what_is_no_archive_or_is_cut_short_before_a_host_is_an_error() {
    let tar = tar_of(&["a=1", "sys/a=1", "sys/b=2"]);
    assert!(
        error(b"fullclock capture 1\n").starts_with("a.tar is neither a folder nor a tar archive")
    );
    assert!(error(&[0x41; 2000]).contains("nor a tar archive"));
    for length in [513, 1024, 1100] {
        let error = error(&tar[..length]);
        assert!(error.starts_with("a.tar is damaged, cut short or too large after"), "{error}");
    }
}

/// Of a driver's object everything was copied: what a whole copy of it lacks is absent. The last file is longer than a block.
const OBJECT: [&str; 6] = [
    "sys/devices/system/cpu/possible=0-3",
    "sys/devices/system/cpu/present=0-3",
    "sys/devices/system/cpu/offline=",
    "sys/devices/system/cpu/kernel_max=8191",
    "sys/devices/system/cpu/uevent=",
    "sys/devices/system/cpu/online=0-3",
];
/// A file that this object has on some kernels.
const LACKED: &str = "/sys/devices/system/cpu/nohz_full";

fn packed(text: &[u8]) -> [(&'static str, Vec<u8>); 4] {
    use std::io::Write as _;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(text).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(text).unwrap();
    let level = ruzstd::encoding::CompressionLevel::Uncompressed;
    let zstd = ruzstd::encoding::compress_to_vec(text, level);
    let all = [gzip.finish().unwrap(), bzip2.finish().unwrap(), xz.finish().unwrap(), zstd];
    let mut names = ["gzip", "bzip2", "xz", "zstd"].into_iter();
    all.map(|it| (names.next().unwrap(), it))
}

#[test]
fn an_archive_that_is_cut_anywhere_says_so_and_proves_nothing_absent() {
    let tar = tar_of(&OBJECT);
    let whole = Archive::read("a.tar", &*tar, "").unwrap();
    assert_eq!(whole.incomplete(), None);
    assert_eq!(whole.read(LACKED), Err(Missing::absent(LACKED)));
    // A header, its content, between two entries, and before the mark of the end.
    let end = tar.len() - 1024;
    for length in [1024, 1025, 1500, 1536, 2048, end - 512, end - 1, end] {
        let host = Archive::read("a.tar", &tar[..length], "").unwrap();
        let why = host.incomplete().unwrap_or_else(|| panic!("nothing said of {length} bytes"));
        assert!(
            why.starts_with("it is cut short after its entry \"sys/devices/system/cpu/"),
            "{why}"
        );
        assert_eq!(host.read(LACKED), Err(Missing::not_collected(LACKED)), "{length}");
        let possible = "/sys/devices/system/cpu/possible";
        assert_eq!(host.read(possible), Ok(b"0-3".to_vec()), "{length}");
    }
    // One block of zeros is a mark.
    assert_eq!(Archive::read("a.tar", &tar[..end + 512], "").unwrap().incomplete(), None);
}

#[test]
fn an_archive_that_is_packed_and_cut_is_known_by_what_was_unpacked() {
    for (format, packed) in packed(&tar_of(&OBJECT)) {
        let whole = Archive::read("a", &*packed, "").unwrap();
        assert_eq!((format, whole.incomplete()), (format, None));
        let (mut n_hosts, mut n_errors) = (0, 0);
        for length in 0..packed.len() {
            match Archive::read("a", &packed[..length], "") {
                Ok(host) => {
                    let why = host.incomplete().unwrap_or_else(|| panic!("{format}: {length}"));
                    assert!(why.starts_with("it is cut short after "), "{format} {length}: {why}");
                    assert_eq!(host.read(LACKED), Err(Missing::not_collected(LACKED)));
                    n_hosts += 1;
                }
                Err(_) => n_errors += 1,
            }
        }
        // A block of zstd is unpacked as a whole, and the only one here is all there is.
        let is_block = format == "zstd";
        assert!(n_errors > 0 && (n_hosts > 0 || is_block), "{format}: {n_hosts}, {n_errors}");
    }
}

#[test]
fn an_archive_that_is_damaged_says_so_and_proves_nothing_absent() {
    // Of plain tar only the headers have a checksum.
    let mut tar = tar_of(&OBJECT);
    tar[2048 + 3] ^= 1;
    let host = Archive::read("a.tar", &*tar, "").unwrap();
    let why = host.incomplete().unwrap();
    assert!(why.starts_with("it is damaged after its entry \"sys/devices/system/cpu/"), "{why}");
    assert!(why.ends_with(", and what comes before may be wrong too"), "{why}");
    assert_eq!(host.read(LACKED), Err(Missing::not_collected(LACKED)));
    // The checksum of everything comes last.
    let [(_, mut gzip), ..] = packed(&tar_of(&OBJECT));
    let crc = gzip.len() - 8;
    gzip[crc] ^= 1;
    let host = Archive::read("a.tar.gz", &*gzip, "").unwrap();
    let why = host.incomplete().unwrap();
    assert!(why.contains("damaged") && why.contains("checksum"), "{why}");
}

#[test]
fn every_host_of_an_archive_that_is_cut_lacks_what_is_unknown() {
    let entries: Vec<String> =
        ["a", "b"].iter().flat_map(|node| OBJECT.map(|it| format!("nodes/{node}/{it}"))).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let tar = tar_of(&entries);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, &tar[..tar.len() - 2048]).unwrap();
    let (hosts, _) = Archive::hosts(file.path()).unwrap();
    assert_eq!(hosts.len(), 2);
    for host in hosts {
        assert!(host.incomplete().is_some());
        assert_eq!(host.read(LACKED), Err(Missing::not_collected(LACKED)));
    }
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
