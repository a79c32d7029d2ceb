//! Captures of this machine, each with one thing changed: they become machines that differ in that alone.

use engine::fleet::copies::gather;
use fleet::{Kind, Machine};
use host::{Live, Recording};
use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;

#[test]
fn captures_of_one_machine_differ_in_what_was_changed() {
    differ(30);
}

#[test]
#[ignore = "run by `cargo xtask sweep`: it writes and reads 2,000 captures"]
fn large_fleet_of_captures_differs_in_what_was_changed() {
    differ(2_000);
}

fn differ(count: usize) {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture();
    for at in 0..count {
        let name = format!("db{at:04}.host");
        fs::write(folder.path().join(name), changed(&capture, at)).unwrap();
    }
    let began = Instant::now();
    let gathered = gather(&[folder.path().to_owned()], &mut |_, _| {}).unwrap();
    let took = began.elapsed().as_secs_f64();
    let (size, peak) = (capture.len() >> 10, crate::peak_mebibytes());
    println!("{count} captures of {size} KiB in {took:.2} s, at most {peak} MiB of memory");
    assert_eq!((gathered.machines.len(), gathered.skipped.len()), (count, 0));
    let plain = &gathered.machines[3];
    for (at, machine) in gathered.machines.iter().enumerate() {
        let expected: &[&str] = match at % 10 {
            0 => &["bios_version", "firmware version"],
            1 => &["nmi-watchdog"],
            2 => &["boot line: quiet_fleet"],
            _ => &[],
        };
        let differing = differing(plain, machine);
        // A changed setting may also be a finding.
        assert!(differing.is_subset(&expected.iter().copied().collect()), "{at}: {differing:?}");
        assert_eq!(differing.is_empty(), expected.is_empty(), "{at}: {differing:?}");
    }
}

/// What this machine answers now, and a firmware and a switch in any case.
fn capture() -> String {
    let live = Live::this_machine();
    let recording = Recording::new(&live);
    host::view(&recording);
    host::controls(&recording, &rules::settings::reads());
    let text = recording.capture();
    let text = with(&text, "/sys/class/dmi/id/bios_version", "2.19.1");
    let text = with(&text, "/proc/sys/kernel/nmi_watchdog", "0");
    with(&text, "/proc/cmdline", "ro quiet")
}

fn changed(capture: &str, at: usize) -> String {
    match at % 10 {
        0 => with(capture, "/sys/class/dmi/id/bios_version", "2.20.0"),
        1 => with(capture, "/proc/sys/kernel/nmi_watchdog", "1"),
        2 => with(capture, "/proc/cmdline", "ro quiet quiet_fleet=1"),
        _ => capture.to_owned(),
    }
}

/// A capture in which a file holds this.
fn with(capture: &str, path: &str, content: &str) -> String {
    let header = format!("//- {path}\n");
    let Some((before, after)) = capture.split_once(&header) else {
        return format!("{capture}{header}{content}\n");
    };
    let rest = after.find("\n//- ").map_or("", |it| &after[it + 1..]);
    let rest = if after.starts_with("//- ") { after } else { rest };
    format!("{before}{header}{content}\n{rest}")
}

/// The names of labels, settings and facts in which two machines differ.
fn differing<'a>(one: &'a Machine, other: &'a Machine) -> BTreeSet<&'a str> {
    let all = |it: &'a Machine| -> BTreeSet<(&'a str, &'a str)> {
        let attributes = it.attributes.iter().filter(|it| it.kind != Kind::Finding);
        attributes.map(|it| (&*it.name, &*it.value)).collect()
    };
    all(one).symmetric_difference(&all(other)).map(|(name, _)| *name).collect()
}
