//! Bundles that strangers made, and captures that are to be sent to strangers, by the built binary.

use crate::support::{fullclock, is_of, printed, ran, refusal, unwrapped};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A folder with these files, each a path and its content.
fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

fn code(arguments: &[&str]) -> i32 {
    fullclock(arguments).output().unwrap().status.code().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_boot_line_of_megabytes_is_refused_with_its_length_and_not_printed() {
    let line = "nohz_full=1 isolcpus=2-3 ".repeat(100_000);
    let cpus = ["online", "present"].map(|it| format!("sys/devices/system/cpu/{it}"));
    let host = tree(&[(&*cpus[0], "0-3\n"), (&*cpus[1], "0-3\n"), ("proc/cmdline", &line)]);
    for arguments in [&["-v"][..], &["--json"]] {
        let said = unwrapped(&printed(&[arguments, &["--root", text(host.path())]].concat()));
        assert!(said.contains("it has 2500000 bytes, the limit for this file is 36864"), "{said}");
        assert!(said.len() < 64 << 10, "{} bytes", said.len());
    }
}

#[test]
fn names_and_values_of_a_bundle_neither_steer_the_terminal_nor_begin_a_line() {
    let cpu = "Xeon \u{202e}\u{2066}x\u{200b}\u{2028}\u{1b}[31m\u{feff}";
    let cpuinfo = format!("processor\t: 0\nmodel name\t: {cpu}\n");
    let cpus = ["online", "present"].map(|it| format!("sys/devices/system/cpu/{it}"));
    let host = tree(&[("proc/cpuinfo", &cpuinfo), (&*cpus[0], "0\n"), (&*cpus[1], "0\n")]);
    let unseen = |it: char| {
        it.is_control() && it != '\n' || "\u{202e}\u{2066}\u{200b}\u{2028}\u{feff}".contains(it)
    };
    let said = printed(&["--root", text(host.path())]);
    assert!(said.contains(r"Xeon \u202e\u2066x\u200b \u001b[31m\ufeff"), "{said}");
    assert!(!said.contains(unseen), "{said:?}");
    let json = printed(&["--json", "--root", text(host.path())]);
    assert!(!json.contains(unseen), "{json:?}");
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    is_of(include_str!("../../../../schemas/audit-2.json"), &value);
    assert_eq!(value["machine"]["cpu_model"], cpu);
}

#[test]
fn the_name_of_another_host_in_an_archive_stays_in_its_line() {
    let mut tar = tar::Builder::new(Vec::new());
    for node in ["a", "b\nFAKE  CRITICAL line\n"] {
        let mut header = tar::Header::new_gnu();
        header.set_size(2);
        tar.append_data(&mut header, format!("nodes/{node}/proc/cmdline"), &b"a\n"[..]).unwrap();
    }
    let folder = tree(&[]);
    let file = folder.path().join("two.tar");
    fs::write(&file, tar.into_inner().unwrap()).unwrap();
    let output = fullclock(&["--root", text(&file)]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    // The other one says that nothing could be judged.
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(said.contains(r"nodes/b\nFAKE  CRITICAL line\n"), "{said}");
}

#[test]
fn a_copy_in_which_nothing_can_be_read_is_no_host() {
    let folder = tree(&[("proc/unrelated", "1\n"), ("empty.host", "fullclock capture 1\n")]);
    let file = folder.path().join("empty.host");
    for arguments in [["--root", text(folder.path())], ["--host", text(&file)]] {
        let said = refusal(&arguments);
        assert!(said.contains("holds no facts of a host: none of the "), "{said}");
        assert!(said.contains("/proc/cpuinfo"), "{said}");
        for command in
            [&["capture"][..], &["plan"], &["plan", "--json"], &["plan", "governor=performance"]]
        {
            let said = refusal(&[command, &arguments].concat());
            assert!(said.contains("holds no facts"), "{command:?}: {said}");
        }
    }
}

#[test]
fn a_copy_of_which_nothing_could_be_judged_says_so_and_fails() {
    let host = tree(&[("proc/interrupts", "           CPU0\nLOC:  7  Local timer interrupts\n")]);
    for arguments in [&[][..], &["-q"], &["--json"]] {
        let arguments = [&["--root", text(host.path())][..], arguments].concat();
        let output = fullclock(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("nothing could be judged"), "{arguments:?}: {said}");
    }
    let output = fullclock(&["--root", text(host.path())]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("Nothing could be judged.") && !said.contains("No findings"), "{said}");
}

#[test]
fn a_copy_that_was_cut_says_so_in_every_form_and_calls_nothing_absent() {
    let cpus = ["possible", "present", "offline", "kernel_max", "uevent", "online"];
    let mut tar = tar::Builder::new(Vec::new());
    for (name, content) in cpus.iter().zip(["0-3", "0-3", "", "8191", "", "0-3"]) {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        let path = format!("sos/sys/devices/system/cpu/{name}");
        tar.append_data(&mut header, path, content.as_bytes()).unwrap();
    }
    let bytes = tar.into_inner().unwrap();
    let folder = tree(&[]);
    let at = |name: &str| folder.path().join(name);
    fs::write(at("whole.tar"), &bytes).unwrap();
    // Before the mark of the end: every entry is there, and nothing shows that these were all.
    fs::write(at("cut.tar"), &bytes[..bytes.len() - 1024]).unwrap();
    let copy = at("copy.host");
    printed(&["-q", "capture", "--root", text(&at("whole.tar")), "-o", text(&copy)]);
    let capture = fs::read(&copy).unwrap();
    fs::write(at("cut.host"), &capture[..capture.len() - 200]).unwrap();
    for (option, whole, cut) in
        [("--root", "whole.tar", "cut.tar"), ("--host", "copy.host", "cut.host")]
    {
        let json = |name: &str| -> serde_json::Value {
            let text = printed(&["--json", option, text(&at(name))]);
            let value = serde_json::from_str(&text).unwrap();
            is_of(include_str!("../../../../schemas/audit-2.json"), &value);
            value
        };
        assert!(json(whole)["machine"]["incomplete"].is_null());
        let of_cut = json(cut);
        let why = of_cut["machine"]["incomplete"].as_str().unwrap();
        assert!(why.starts_with("it is cut short"), "{why}");
        // What a capture was told to be absent stays so.
        for it in of_cut["not_applicable"].as_array().unwrap().iter().filter(|_| cut == "cut.tar") {
            assert_ne!(it["reason"], "absent", "{it:#}");
        }
        let (code, said, errors) = ran(&[option, text(&at(cut))]);
        let sentence = format!("Not the whole copy could be read: {why}. What it lacks is unknown");
        assert_eq!(code, 0);
        assert!(unwrapped(&said).contains(&sentence), "{said}");
        assert!(errors.contains(&sentence), "{errors}");
        let (_, said, errors) = ran(&[option, text(&at(whole))]);
        assert!(!said.contains("Not the whole") && errors.is_empty(), "{said}{errors}");
    }
}

#[test]
fn a_check_without_a_verdict_fails_a_pipeline_that_asks_for_it() {
    let cpus = ["online", "present"].map(|it| format!("sys/devices/system/cpu/{it}"));
    let host = tree(&[(&*cpus[0], "0\n"), (&*cpus[1], "0\n")]);
    let root = ["--root", text(host.path())];
    let with = |levels: &[&'static str]| code(&[&root[..], levels].concat());
    assert_eq!(with(&[]), 0);
    assert_eq!(with(&["--fail-on", "info"]), 0);
    assert_eq!(with(&["--fail-on", "unknown"]), 1);
    assert_eq!(with(&["--fail-on", "critical,unknown"]), 1);
}

#[test]
fn a_capture_overwrites_nothing_and_is_private() {
    let folder = tree(&[("old.host", "mine")]);
    let old = folder.path().join("old.host");
    fs::set_permissions(&old, PermissionsExt::from_mode(0o644)).unwrap();
    assert!(refusal(&["capture", "-o", text(&old)]).contains("replace it with --force"));
    assert_eq!(fs::read_to_string(&old).unwrap(), "mine");
    assert_eq!(code(&["-q", "capture", "-o", text(&old), "--force"]), 0);
    assert!(fs::read_to_string(&old).unwrap().starts_with("fullclock capture 1\n"));
    assert_eq!(fs::metadata(&old).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_capture_on_a_full_disk_leaves_nothing() {
    let folder = tree(&[]);
    let script = r#"mount -t tmpfs -o size=16k none "$1" && cd "$1" || exit 77
        "$2" capture -o ./x; code=$?; ls -A; exit $code"#;
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh", text(folder.path())]);
    let output = command.arg(env!("CARGO_BIN_EXE_fullclock")).output();
    match output {
        Ok(output) if output.status.code() == Some(2) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("cannot write ./x: No space left on device"), "{said}");
            assert_eq!(output.stdout, b"");
        }
        Ok(output) if output.status.code() == Some(0) => panic!("it fitted: {output:?}"),
        _ => println!("skipped: only root mounts a small file system"),
    }
}

#[test]
fn the_help_of_a_capture_says_what_it_contains() {
    let help = unwrapped(&printed(&["capture", "--help"]));
    for part in ["names, states and control groups of all processes", "boot line", "mode 0600"] {
        assert!(help.contains(part), "{part}: {help}");
    }
}
