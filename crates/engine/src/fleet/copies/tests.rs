//! Captures, audits, results, bundles and what is none of them, in folders and archives.
#![expect(clippy::disallowed_methods, reason = "lays out files of a fleet")]

use super::*;
use fleet::{Figure, Kind};
use lab::record::{Arm, Record};
use lab::store::Journal;
use lab::trial::Trial;
use std::fs;

/// A capture of a machine with these firmware and governor.
fn capture(bios: &str, governor: &str) -> String {
    format!(
        "fullclock capture 1
//- /proc/cpuinfo
processor : 0
vendor_id : GenuineIntel
cpu family : 6
model : 85
model name : Intel(R) Xeon(R) Gold 6330 CPU @ 2.00GHz
stepping : 7
microcode : 0x5003604
flags : acpi ida tsc aperfmperf
//- /proc/cmdline
BOOT_IMAGE=/vmlinuz root=UUID=1 ro isolcpus=1 mitigations=off nohz_full=1
//- /proc/sys/kernel/osrelease
6.1.0
//- /proc/sys/kernel/nmi_watchdog
1
//- /sys/class/dmi/id/bios_version
{bios}
//- /sys/class/dmi/id/board_name
0WXD1Y
//- /sys/devices/system/cpu/online
0-1
//- /sys/devices/system/cpu/cpufreq/
policy0
//- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus
0 1
//- /sys/devices/system/cpu/cpufreq/policy0/related_cpus
0 1
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_driver
acpi-cpufreq
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_governor
{governor}
//- /sys/devices/system/cpu/intel_pstate/no_turbo
!absent
//- twice TSC, MPERF and APERF of CPU 0
1000 5 7 9
50001000 100000005 80000007 120000009
"
    )
}

/// An empty folder.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn gathered(paths: &[&Path]) -> Gathered {
    let paths: Vec<PathBuf> = paths.iter().map(|it| (*it).to_owned()).collect();
    gather(&paths, &mut |_, _| {}).unwrap()
}

fn refused(path: &Path) -> String {
    gather(&[path.to_owned()], &mut |_, _| {}).unwrap_err().to_string()
}

fn names(gathered: &Gathered) -> Vec<&str> {
    gathered.machines.iter().map(|it| &*it.name).collect()
}

/// The value of an attribute; `-` where there is none.
fn value<'a>(machine: &'a Machine, kind: Kind, name: &str) -> &'a str {
    let found = machine.attributes.iter().find(|it| it.kind == kind && &*it.name == name);
    found.map_or("-", |it| &it.value)
}

#[test]
fn a_capture_becomes_a_machine_with_its_labels_settings_facts_and_findings() {
    let folder = folder();
    let path = folder.path().join("db7.host");
    fs::write(&path, capture("2.19.1", "powersave")).unwrap();
    let gathered = gathered(&[&path]);
    assert_eq!(names(&gathered), ["db7.host"]);
    let machine = &gathered.machines[0];
    let label = |name: &str| value(machine, Kind::Label, name);
    assert_eq!(label("cpu_model"), "Intel(R) Xeon(R) Gold 6330 CPU @ 2.00GHz");
    assert_eq!(
        [
            "microcode",
            "bios_version",
            "board",
            "kernel",
            "cpufreq_driver",
            "governor",
            "hypervisor"
        ]
        .map(label),
        ["0x5003604", "2.19.1", "0WXD1Y", "6.1.0", "acpi-cpufreq", "powersave", "none"]
    );
    let setting = |name: &str| value(machine, Kind::Setting, name);
    assert_eq!([setting("governor"), setting("nmi-watchdog")], ["powersave", "on"]);
    let fact = |name: &str| value(machine, Kind::Fact, name);
    assert_eq!([fact("boot line: mitigations"), fact("boot line: ro")], ["off", "given"]);
    assert_eq!([fact("boot line: root"), fact("kernel boot line")], ["-", "-"]);
    assert_eq!(value(machine, Kind::Finding, "slow-governor"), "high");
    // 2 GHz of 2 GHz would be 1: the look says 3 GHz, four fifths of the time.
    assert_eq!(machine.figures, [(Figure::Clock, 1.5)]);
    let mut kept = machine.attributes.clone();
    kept.dedup_by(|a, b| (a.kind, &a.name) == (b.kind, &b.name));
    assert_eq!(kept.len(), machine.attributes.len());
}

#[test]
fn what_is_unknown_is_no_attribute() {
    let folder = folder();
    let path = folder.path().join("a");
    fs::write(
        &path,
        capture("1", "performance").replace("\n1\n//- /sys/class", "\n!denied\n//- /sys/class"),
    )
    .unwrap();
    let gathered = gathered(&[&path]);
    assert_eq!(value(&gathered.machines[0], Kind::Setting, "nmi-watchdog"), "-");
    assert!(gathered.machines[0].attributes.iter().all(|it| !it.value.contains("unknown")));
}

#[test]
fn folders_are_searched_and_machines_are_called_by_what_differs_in_their_paths() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("east/deep")).unwrap();
    fs::create_dir_all(at("copy/sys/devices/system/cpu")).unwrap();
    fs::write(at("copy/sys/devices/system/cpu/online"), "0-3\n").unwrap();
    fs::write(at("east/deep/db1.host"), capture("1", "performance")).unwrap();
    fs::write(at("east/db2.host"), capture("1", "powersave")).unwrap();
    fs::write(at("east/notes.txt"), "what I saw\n").unwrap();
    std::os::unix::fs::symlink("/", at("east/loop")).unwrap();
    let gathered = gathered(&[folder.path()]);
    assert_eq!(names(&gathered), ["copy", "east/db2.host", "east/deep/db1.host"]);
    // Nobody named the notes.
    assert_eq!(gathered.skipped, []);
    assert_eq!(value(&gathered.machines[0], Kind::Fact, "cpus online"), "0-3");
}

#[test]
fn archives_hold_hosts_or_captures_or_archives_of_hosts() {
    let folder = folder();
    let add = |tar: &mut tar::Builder<Vec<u8>>, name: &str, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, bytes).unwrap();
    };
    let packed = |tar: tar::Builder<Vec<u8>>| {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gz, &tar.into_inner().unwrap()).unwrap();
        gz.finish().unwrap()
    };
    let mut bundle = tar::Builder::new(Vec::new());
    add(&mut bundle, "nodes/a/sys/devices/system/cpu/online", b"0-3\n");
    add(&mut bundle, "nodes/b/sys/devices/system/cpu/online", b"0-7\n");
    let bundle = packed(bundle);
    fs::write(folder.path().join("bundle.tgz"), &bundle).unwrap();
    let mut one = tar::Builder::new(Vec::new());
    add(&mut one, "sosreport-x/sys/devices/system/cpu/online", b"0-15\n");
    let one = packed(one);
    let mut captures = tar::Builder::new(Vec::new());
    add(&mut captures, "c/db1.host", capture("1", "performance").as_bytes());
    add(&mut captures, "c/README", b"nothing");
    add(&mut captures, "c/broken.host", b"fullclock capture 1\nnonsense\n");
    add(&mut captures, "c/sos.tar.gz", &one);
    fs::write(folder.path().join("captures.tar"), captures.into_inner().unwrap()).unwrap();
    let gathered = gathered(&[folder.path()]);
    assert_eq!(
        names(&gathered),
        [
            "bundle.tgz/nodes/a",
            "bundle.tgz/nodes/b",
            "captures.tar/c/db1.host",
            "captures.tar/c/sos.tar.gz"
        ]
    );
    let online = |at: usize| value(&gathered.machines[at], Kind::Fact, "cpus online");
    assert_eq!([0, 1, 3].map(online), ["0-3", "0-7", "0-15"]);
    assert_eq!(gathered.skipped.len(), 1);
    assert_eq!(gathered.skipped[0].name, "captures.tar/c/broken.host");
}

#[test]
fn hosts_of_a_bundle_that_was_cut_are_read_and_the_cut_is_said() {
    let mut bundle = tar::Builder::new(Vec::new());
    for (node, online) in [("a", "0-3\n"), ("b", "0-7\n")] {
        let mut header = tar::Header::new_gnu();
        header.set_size(online.len() as u64);
        let path = format!("nodes/{node}/sys/devices/system/cpu/online");
        bundle.append_data(&mut header, path, online.as_bytes()).unwrap();
    }
    let bundle = bundle.into_inner().unwrap();
    let folder = folder();
    fs::write(folder.path().join("bundle.tar"), &bundle[..bundle.len() - 1024]).unwrap();
    let gathered = gathered(&[folder.path()]);
    assert_eq!(names(&gathered), ["nodes/a", "nodes/b"]);
    for machine in &gathered.machines {
        assert_eq!(value(machine, Kind::Fact, "copy of the host"), "cut short or damaged");
    }
    let [skipped] = &gathered.skipped[..] else { panic!("{:?}", gathered.skipped) };
    assert!(skipped.why.starts_with("it is cut short after its entry"), "{}", skipped.why);
    assert!(skipped.why.ends_with("and hosts may be missing"), "{}", skipped.why);
}

#[test]
fn an_audit_in_json_tells_its_labels_and_findings() {
    let folder = folder();
    let text = r#"{"schema_version": 2, "fullclock": "0.1.0", "host": "db7", "machine": {"origin": "live", "kernel": "6.1.0",
        "cpu_model": "Model X", "cpus_online": "0-7", "vendor": "Dell", "product": "R740", "firmware": "2.19.1",
        "hypervisor": null, "container": null}, "findings": [{"id": "slow-governor", "severity": "high", "message": "x"},
        {"id": "slow-governor", "severity": "low"}], "suppressed": [{"id": "turbo-off", "severity": "medium"}],
        "unknown": [{"check": "smi-storm", "reason": "denied"}], "clean": ["capped-frequency"]}"#;
    fs::write(folder.path().join("db7.json"), text).unwrap();
    fs::write(folder.path().join("other.json"), "{\"a\": 1}").unwrap();
    let gathered = gathered(&[folder.path()]);
    assert_eq!(names(&gathered), ["db7.json"]);
    let machine = &gathered.machines[0];
    assert_eq!(value(machine, Kind::Label, "bios_version"), "2.19.1");
    assert_eq!(value(machine, Kind::Label, "hypervisor"), "-");
    assert_eq!(value(machine, Kind::Finding, "slow-governor"), "high");
    assert_eq!(value(machine, Kind::Finding, "turbo-off"), "medium", "it is suppressed, and there");
    assert!(machine.audit.made("capped-frequency") && !machine.audit.made("smi-storm"));
    assert!(machine.figures.is_empty());
    assert_eq!(gathered.skipped[0].name, "other.json");
}

#[test]
fn an_audit_that_judged_nothing_says_nothing_of_what_is_absent() {
    let folder = folder();
    let text = r#"{"machine": {"cpu_model": "Model X"}, "findings": [], "suppressed": [], "clean": [],
        "unknown": [{"check": "smi-storm"}]}"#;
    fs::write(folder.path().join("db7.json"), text).unwrap();
    assert!(!gathered(&[folder.path()]).machines[0].audit.is_made());
    let many = vec![r#"{"id": "x", "severity": "low"}"#; 1_001].join(",");
    let text = format!(r#"{{"machine": {{}}, "findings": [{many}], "clean": []}}"#);
    fs::write(folder.path().join("large.json"), text).unwrap();
    let skipped = gathered(&[folder.path()]).skipped;
    assert_eq!(skipped[0].why, "it has more than 1000 findings, and no audit has as many");
}

#[test]
fn what_is_not_searched_is_counted_and_said() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("db1.host"), capture("1", "performance")).unwrap();
    std::os::unix::fs::symlink("db1.host", at("link1")).unwrap();
    std::os::unix::fs::symlink("db1.host", at("link2")).unwrap();
    fs::create_dir_all(at("1/2/3/4/5/6/7/8/9")).unwrap();
    fs::write(at("1/2/3/4/5/6/7/8/9/db2.host"), capture("1", "performance")).unwrap();
    let only_links = at("only");
    fs::create_dir_all(&only_links).unwrap();
    std::os::unix::fs::symlink("../db1.host", only_links.join("link")).unwrap();
    assert!(
        refused(&only_links).contains("; 1 link was not followed; "),
        "{}",
        refused(&only_links)
    );
    fs::remove_dir_all(&only_links).unwrap();
    let notes = gathered(&[folder.path()]).notes.join("\n");
    for said in [
        "2 links were not followed; name the files themselves: ",
        "link1 and others",
        "1 folder more than 8 folders deep was not searched; name such a folder itself: ",
        "1/2/3/4/5/6/7/8/9",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
}

/// A result of trials that took so long.
fn keep_result(folder: &Path, workload: &str, day: u32, seconds: f64) {
    let trials = (0..8).map(|at| Trial { number: at + 1, ..Trial::of_one_task(0, at, seconds) });
    let mut record = Record {
        id: format!("202611{day:02}T100000Z-{workload}"),
        began: format!("2026-11-{day:02}T10:00:00Z"),
        trials: trials.collect(),
        is_complete: true,
        ..Record::of(vec![Arm::of("A", workload)])
    };
    for (name, value) in [("cpu model", "Model X"), ("smt control", "on"), ("container", "none: x")]
    {
        record.machine.0.insert(name.to_owned(), value.to_owned());
    }
    Journal::begin(folder, &mut record).unwrap().finish(&record).unwrap();
}

#[test]
fn results_are_compared_where_they_are_of_one_workload() {
    let folder = folder();
    keep_result(folder.path(), "cpu-loop", 1, 2.0);
    keep_result(folder.path(), "cpu-loop", 2, 4.0);
    keep_result(folder.path(), "memory-latency", 3, 1.0);
    let gathered = gathered(&[folder.path()]);
    assert_eq!(gathered.machines.len(), 2);
    let figure = |at: usize| gathered.machines[at].figures[0];
    let (Figure::Result, fast) = figure(0) else { panic!("{:?}", figure(0)) };
    assert!((fast / figure(1).1 - 2.0).abs() < 1e-6, "a time of half is twice as fast");
    let machine = &gathered.machines[0];
    assert_eq!(value(machine, Kind::Label, "cpu_model"), "Model X");
    assert_eq!(value(machine, Kind::Fact, "container"), "none");
    let why = &gathered.skipped[0].why;
    assert!(why.contains("of memory-latency: elapsed (s), and most are of cpu-loop: "), "{why}");
    let result = machine.result.as_ref().unwrap();
    assert_eq!((&*result.workload, &*result.unit), ("cpu-loop", "s"));
    assert!((result.turned(fast) - 2.0).abs() < 1e-6, "the time itself: {result:?}");
    assert!(!machine.audit.is_made(), "a result is no audit");
}

#[test]
fn what_tells_of_no_machine_is_said_and_all_of_it_is_an_error() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    assert!(refused(&at("nowhere")).contains("nowhere"));
    assert!(refused(folder.path()).contains("holds no machine: expected captures"));
    fs::write(at("notes"), "x").unwrap();
    let said = refused(&at("notes"));
    assert!(
        said.ends_with(
            "notes: it is neither a capture, an audit, a result nor an archive of copies"
        ),
        "{said}"
    );
    fs::write(at("a.json"), "{").unwrap();
    fs::write(at("b.host"), "fullclock capture 9\n").unwrap();
    let said = refused(folder.path());
    assert!(said.starts_with("none of 2 files holds a machine: expected captures"), "{said}");
    assert!(refused(Path::new("/dev/null")).contains("is neither a file nor a folder"));
}

#[test]
fn every_file_counts_in_the_progress() {
    let folder = folder();
    for at in 0..40 {
        fs::write(folder.path().join(format!("db{at:02}")), capture("1", "performance")).unwrap();
    }
    let mut latest = (0, 0);
    let gathered = gather(&[folder.path().to_owned()], &mut |at, of| latest = (at, of)).unwrap();
    assert_eq!((gathered.machines.len(), latest), (40, (40, 40)));
    assert!(gathered.machines.is_sorted_by_key(|it| it.name.clone()));
}
