//! Tests of copies: what is read of one, and that nothing leads out of it.

use crate::{Live, Source as _};
use facts::Missing;
use rustix::fs::{CWD, FileType, Mode};
use std::os::unix::fs::symlink;

fn copy_with_links() -> (tempfile::TempDir, Live) {
    let folder = tempfile::tempdir().unwrap();
    let sys = folder.path().join("bundle/node-1/sys");
    std::fs::create_dir_all(&sys).unwrap();
    std::fs::write(sys.join("value"), "42\n").unwrap();
    symlink("/proc/version", sys.join("absolute")).unwrap();
    symlink("../../../../../../../../proc/version", sys.join("upwards")).unwrap();
    symlink("value", sys.join("inside")).unwrap();
    let live = Live::copy(folder.path()).unwrap();
    (folder, live)
}

#[test]
fn a_copy_is_found_below_leading_folders() {
    let (_folder, live) = copy_with_links();
    assert_eq!(live.read("/sys/value"), Ok(b"42\n".to_vec()));
    assert_eq!(live.list("/sys").unwrap(), ["absolute", "inside", "upwards", "value"]);
}

#[test]
fn links_of_a_copy_never_lead_out_of_it() {
    let (_folder, live) = copy_with_links();
    assert_eq!(live.read("/sys/inside"), Ok(b"42\n".to_vec()));
    assert_eq!(live.link("/sys/inside"), Ok("value".into()));
    assert!(live.read("/sys/absolute").is_err());
    assert!(live.read("/sys/upwards").is_err());
}

#[test]
fn only_a_link_of_a_copy_is_one_and_none_in_a_folder_outside() {
    let (folder, live) = copy_with_links();
    let sys = folder.path().join("bundle/node-1/sys");
    symlink("value", folder.path().join("secret")).unwrap();
    symlink(folder.path(), sys.join("outer")).unwrap();
    symlink(".", sys.join("here")).unwrap();
    assert_eq!(live.link("/sys/here/inside"), Ok("value".into()));
    for path in ["/sys/none", "/sys/..", "/sys/inside/"] {
        assert_eq!(live.link(path), Err(Missing::not_collected(path)));
    }
    let expected = "a symbolic link";
    for path in ["/sys", "/sys/value"] {
        let other = Missing::malformed(path, "no symbolic link", expected);
        assert_eq!(live.link(path), Err(other));
    }
    assert!(live.link("/sys/outer/secret").is_err());
}

#[test]
fn what_a_copy_lacks_is_absent_only_where_that_is_proven() {
    let (folder, live) = copy_with_links();
    let frequency = folder.path().join("bundle/node-1/sys/devices/system/cpu/cpufreq");
    std::fs::create_dir_all(frequency).unwrap();
    let policy = "/sys/devices/system/cpu/cpufreq/policy0";
    assert_eq!(live.list(policy), Err(Missing::absent(policy)));
    assert_eq!(live.read("/sys/other"), Err(Missing::not_collected("/sys/other")));
    assert_eq!(live.read("/proc/cmdline"), Err(Missing::not_collected("/proc/cmdline")));
    assert_eq!(live.msr(0, 0x19a), Err(Missing::not_collected("/dev/cpu/0/msr 0x19a")));
}

#[test]
fn a_file_of_a_copy_is_no_longer_than_its_kind() {
    let (folder, live) = copy_with_links();
    let proc = folder.path().join("bundle/node-1/proc");
    std::fs::create_dir(&proc).unwrap();
    std::fs::write(proc.join("cmdline"), "x".repeat((36 << 10) + 1)).unwrap();
    std::fs::File::create(proc.join("stat")).unwrap().set_len(1 << 40).unwrap();
    let refused = |path: &str, length, limit| {
        assert_eq!(live.read(path), Err(Missing::too_long(path, Some(length), limit)));
    };
    refused("/proc/cmdline", (36 << 10) + 1, 36 << 10);
    refused("/proc/stat", 1 << 40, 16 << 20);
    std::fs::write(proc.join("cmdline"), "x".repeat(36 << 10)).unwrap();
    assert_eq!(live.read("/proc/cmdline").map(|it| it.len()), Ok(36 << 10));
}

#[test]
fn what_is_no_file_in_a_copy_is_refused_without_being_opened() {
    let (folder, live) = copy_with_links();
    let sys = folder.path().join("bundle/node-1/sys");
    // Opening a socket fails with ENXIO, which would read as "absent".
    let _listener = std::os::unix::net::UnixListener::bind(sys.join("socket")).unwrap();
    assert!(live.read("/sys/socket").unwrap_err().to_string().contains("regular file"));
}

#[test]
fn a_pipe_in_a_copy_is_refused_and_does_not_hang() {
    let (folder, live) = copy_with_links();
    let pipe = folder.path().join("bundle/node-1/sys/pipe");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
    assert!(live.read("/sys/pipe").unwrap_err().to_string().contains("regular file"));
}
#[test]
fn a_link_to_a_pipe_in_a_copy_is_refused_and_does_not_hang() {
    let (folder, live) = copy_with_links();
    let sys = folder.path().join("bundle/node-1/sys");
    rustix::fs::mknodat(CWD, sys.join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    symlink("pipe", sys.join("link")).unwrap();
    assert!(live.read("/sys/link").unwrap_err().to_string().contains("regular file"));
}

#[test]
fn a_device_in_a_copy_is_refused_without_being_opened() {
    let (folder, live) = copy_with_links();
    let sys = folder.path().join("bundle/node-1/sys");
    // No driver has this number: opening the node fails with ENXIO, which would read as "absent".
    let nobody = rustix::fs::makedev(511, 0xf_ffff);
    let device = sys.join("device");
    let made = rustix::fs::mknodat(CWD, &device, FileType::CharacterDevice, Mode::RUSR, nobody);
    if made.is_err() {
        println!("skipped: only root makes device nodes");
        return;
    }
    symlink("device", sys.join("link")).unwrap();
    for path in ["/sys/device", "/sys/link"] {
        assert!(live.read(path).unwrap_err().to_string().contains("regular file"), "{path}");
    }
}

#[test]
fn folders_that_are_links_never_lead_out_of_a_copy() {
    let (folder, live) = copy_with_links();
    let sys = folder.path().join("bundle/node-1/sys");
    std::fs::write(folder.path().join("secret"), "7\n").unwrap();
    std::fs::create_dir(sys.join("real")).unwrap();
    std::fs::write(sys.join("real/value"), "43\n").unwrap();
    symlink("real", sys.join("inner")).unwrap();
    symlink(folder.path(), sys.join("outer")).unwrap();
    symlink("../../..", sys.join("above")).unwrap();
    assert_eq!(live.read("/sys/inner/value"), Ok(b"43\n".to_vec()));
    for path in ["/sys/outer/secret", "/sys/above/secret", "/sys/real/../../../../secret"] {
        assert!(live.read(path).is_err(), "{path}");
    }
    assert!(live.read("/..").is_err());
    assert_eq!(live.list("/sys/inner").unwrap(), ["value"]);
    assert_eq!(live.list("/sys/real").unwrap(), ["value"]);
    assert!(live.list("/sys/outer").is_err());
    assert_eq!(live.list("/sys/above").unwrap(), live.list("/").unwrap());
    assert_eq!(live.list("/..").unwrap(), live.list("/").unwrap());
    assert!(live.list("/sys/value").is_err());
}

#[test]
fn files_of_one_name_in_two_folders_are_told_apart() {
    let (folder, live) = copy_with_links();
    let sys = folder.path().join("bundle/node-1/sys");
    std::fs::create_dir(sys.join("other")).unwrap();
    std::fs::write(sys.join("other/value"), "43\n").unwrap();
    for _ in 0..2 {
        assert_eq!(live.read("/sys/value"), Ok(b"42\n".to_vec()));
        assert_eq!(live.read("/sys/other/value"), Ok(b"43\n".to_vec()));
        assert_eq!(live.read("/sys/none/value"), Err(Missing::not_collected("/sys/none/value")));
    }
}

#[test]
fn files_of_cpus_are_read_through_folders_of_the_copy_alone() {
    let (folder, live) = copy_with_links();
    let cpus = folder.path().join("bundle/node-1/sys/devices/system/cpu");
    let outside = folder.path().join("power");
    for real in [&outside, &cpus.join("cpu0/power"), &cpus.join("cpu1"), &cpus.join("cpu2")] {
        std::fs::create_dir_all(real).unwrap();
    }
    std::fs::write(outside.join("value"), "7\n").unwrap();
    std::fs::write(cpus.join("cpu0/power/value"), "42\n").unwrap();
    symlink(&outside, cpus.join("cpu1/power")).unwrap();
    symlink("../cpu0/power", cpus.join("cpu2/power")).unwrap();
    symlink(folder.path(), cpus.join("cpu3")).unwrap();
    let power = |cpu: u32| format!("/sys/devices/system/cpu/cpu{cpu}/power");
    let value = |cpu: u32| live.read(&format!("{}/value", power(cpu)));
    for _ in 0..2 {
        assert_eq!([value(0), value(2)], [Ok(b"42\n".to_vec()), Ok(b"42\n".to_vec())]);
        for cpu in [1, 3, 4] {
            assert_eq!(value(cpu), Err(Missing::not_collected(format!("{}/value", power(cpu)))));
        }
        let above = format!("{}/../../../../../../../../power/value", power(0));
        assert!(live.read(&above).is_err());
        assert_eq!(live.list(&power(2)).unwrap(), ["value"]);
        assert!(live.list(&power(1)).is_err());
    }
}
