//! The machine that is written: what it reads, refuses and reads back.

use super::*;
use crate::change::tree::Tree;
use facts::counters::task_stat::TaskStat;
use std::os::unix::fs::PermissionsExt;

const TOLD: &str = "etc/init.d/tuned.told";

/// A script that keeps what it was told last, and whether it runs.
fn script(tree: &Tree, path: &str) {
    let told = tree.path(TOLD);
    let told = told.display();
    let text = format!(
        "#!/bin/sh\ncase \"$1\" in\nstatus|is-active) grep -q start {told};;\nhang) sleep 60;;\n\
         *) echo \"$*\" > {told};;\nesac\n"
    );
    tree.set(path, &text);
    tree.set(TOLD, "start\n");
    std::fs::set_permissions(tree.path(path), PermissionsExt::from_mode(0o755)).unwrap();
}

fn service(name: &str) -> Target {
    Target::Service { name: name.to_owned() }
}

#[test]
fn a_service_of_system_v_is_stopped_and_started_by_its_script() {
    let tree = Tree::new();
    script(&tree, "/etc/init.d/tuned");
    let machine = tree.machine();
    let tuned = service("tuned.service");
    assert_eq!(machine.read(&tuned), Ok(Some("running".to_owned())));
    machine.write(&tuned, Some("stopped")).unwrap();
    assert_eq!(machine.read(&tuned), Ok(Some("stopped".to_owned())));
    assert_eq!(tree.get(TOLD), "stop\n");
    machine.write_back(&tuned, Some("running")).unwrap();
    assert_eq!(machine.read(&tuned), Ok(Some("running".to_owned())));
    assert_eq!(machine.read(&service("absent")), Ok(Some("stopped".to_owned())));
    assert!(machine.write(&service("absent"), Some("running")).is_err());
}

#[test]
fn a_service_of_systemd_is_told_by_systemctl_without_a_shell() {
    let tree = Tree::new();
    tree.set("/run/systemd/system/x", "");
    script(&tree, "/usr/bin/systemctl");
    let machine = tree.machine();
    machine.write(&service("tuned.service"), Some("stopped")).unwrap();
    assert_eq!(tree.get(TOLD), "stop -- tuned.service\n");
    assert!(machine.write(&service("a;reboot"), Some("stopped")).is_err());
    assert_eq!(tree.get(TOLD), "stop -- tuned.service\n");
}

#[test]
fn a_machine_whose_init_reads_no_units_names_the_place_of_a_script() {
    let tree = Tree::new();
    assert_eq!(tree.machine().script_without_systemd(), None);
    tree.set("/run/openrc/softlevel", "default\n");
    let script = tree.machine().script_without_systemd().unwrap();
    assert!(script.starts_with("/etc/local.d/fullclock.start"), "{script}");
    tree.set("/run/systemd/system/x", "");
    assert_eq!(tree.machine().script_without_systemd(), None);
}

#[test]
fn a_service_manager_that_hangs_is_given_up() {
    let tree = Tree::new();
    tree.set("/etc/init.d/tuned", "#!/bin/sh\nexec sleep 60\n");
    std::fs::set_permissions(tree.path("/etc/init.d/tuned"), PermissionsExt::from_mode(0o755))
        .unwrap();
    let mut machine = tree.machine();
    machine.patience = Duration::from_millis(50);
    let why = machine.write(&service("tuned"), Some("stopped")).unwrap_err().to_string();
    assert_eq!(why, "service tuned: `stop` has not ended within 0 s");
}

#[test]
fn a_file_keeps_its_mode_and_a_created_one_is_for_everybody_to_read() {
    let tree = Tree::new();
    let mode = |path: &str| tree.path(path).metadata().unwrap().permissions().mode() & 0o7777;
    let (created, kept) = ("/etc/fullclock/a.toml", "/etc/sysctl.d/90-fullclock.conf");
    tree.set(kept, "a\n");
    std::fs::set_permissions(tree.path(kept), PermissionsExt::from_mode(0o640)).unwrap();
    let machine = tree.machine();
    machine.write(&Target::file(created), Some("x")).unwrap();
    machine.write(&Target::file(kept), Some("b\n")).unwrap();
    assert_eq!((mode(created), mode(kept)), (0o644, 0o640));
    assert_eq!(machine.read(&Target::file(kept)), Ok(Some("b\n".to_owned())));
    machine.write(&Target::file(created), None).unwrap();
    assert!(!tree.path("/etc/fullclock").exists());
    assert!(machine.write(&Target::file("/etc/kernel/cmdline"), Some("x")).is_err());
}

#[test]
fn a_file_behind_a_link_is_left_alone() {
    let tree = Tree::new();
    tree.set("/etc/shadow", "root\n");
    std::os::unix::fs::symlink("../shadow", tree.path("/etc/sysctl.d/90-fullclock.conf")).unwrap();
    let file = Target::file("/etc/sysctl.d/90-fullclock.conf");
    let machine = tree.machine();
    assert!(machine.read(&file).is_err());
    assert!(machine.write(&file, Some("x")).is_err());
    assert!(machine.write(&file, None).is_err());
    std::os::unix::fs::symlink("/etc", tree.path("/etc/modprobe.d")).unwrap();
    assert!(machine.write(&Target::file("/etc/modprobe.d/fullclock.conf"), Some("x")).is_err());
    assert_eq!(tree.get("/etc/shadow"), "root\n");
}

#[test]
fn no_name_leads_out_of_the_folders_of_files() {
    for path in [
        "/etc/sysctl.d/../passwd",
        "/etc/sysctl.d/99-sysctl.conf",
        "/etc/sysctl.d/fullclock.conf/x",
        "/etc/sysctl.d/.fullclock.conf",
        "/etc/sysctl.d/full clock.conf",
        "/etc/systemd/system/sshd.service",
        "/etc/fullclock/.toml",
        "/etc/fullclock/a.sh",
        "etc/sysctl.d/90-fullclock.conf",
        "",
    ] {
        assert!(file::permits(path).is_err(), "{path}");
    }
    for path in ["/etc/sysctl.d/90-fullclock.conf", "/etc/default/grub.d/fullclock.cfg"] {
        assert_eq!(file::permits(path), Ok(()));
    }
}

#[test]
fn a_task_is_bound_and_let_go_and_another_of_its_id_is_not_touched() {
    let machine = Machine::this("/bin/false");
    let (tell, told) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::Builder::new().name("bound (one)".to_owned()).spawn(move || {
        tell.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
        ended.recv().unwrap_err();
    });
    let tid = told.recv().unwrap().unsigned_abs();
    let stat = control::read(&machine, &format!("/proc/{tid}/stat")).unwrap();
    let stat = TaskStat::parse(stat.as_bytes()).unwrap();
    let task = |started, name: &str| Target::Affinity { tid, started, name: name.to_owned() };
    let it = task(stat.started, "bound (one)");
    let before = machine.read(&it).unwrap();
    let last = crate::probe::allowed().unwrap().last().unwrap().to_string();
    machine.write(&it, Some(&last)).unwrap();
    assert_eq!(machine.read(&it), Ok(Some(last)));
    machine.write_back(&it, before.as_deref()).unwrap();
    assert_eq!(machine.read(&it), Ok(before));
    for other in [task(stat.started + 1, "bound (one)"), task(stat.started, "kipmi0")] {
        let trouble = machine.write(&other, Some("0")).unwrap_err();
        assert!(trouble.is_gone && trouble.why.contains("the task has ended"), "{trouble}");
    }
    drop(end);
    thread.unwrap().join().unwrap();
    assert!(machine.read(&it).unwrap_err().is_gone);
}

#[test]
fn values_of_a_target_are_compared_as_it_prints_them() {
    let register = Target::Register { cpu: 0, address: 0x1fc, mask: 0b10 };
    assert!(same(&register, Some("0x4002"), Some("0x2")));
    assert!(!same(&register, Some("0x4000"), Some("0x2")));
    let list = Target::control("/proc/irq/9/smp_affinity_list");
    assert!(same(&list, Some("0-2"), Some("0,1,2")));
    let file = Target::file("/etc/fullclock/a.toml");
    assert!(!same(&file, Some("a"), Some("a\n")));
    assert!(same(&file, None, None) && !same(&file, None, Some("")));
}

/// What is written is what is there, so that nothing changes.
#[test]
fn a_control_of_this_machine_is_written_where_that_is_allowed() {
    let machine = Machine::this("/bin/false");
    let target = Target::control("/proc/sys/vm/stat_interval");
    let Ok(before) = machine.read(&target) else { return };
    match machine.write(&target, before.as_deref()) {
        Ok(_answer) => assert_eq!(machine.holds(&target, before.as_deref()), Ok(true)),
        Err(trouble) => assert!(trouble.why.contains("run it"), "{trouble}"),
    }
}
