//! Changes carried out, failing and taken back, on a tree of made-up files.

use super::tree::{
    STAT_INTERVAL, Tree, drop_in, governor, governors, group, modulation, stat_interval,
};
use super::*;
use facts::change::{Aim, ChangeState, RevertOutcome, Target, Write, WriteOutcome};
use std::time::Duration;

fn kept(tree: &Tree, groups: &[facts::change::Group]) -> String {
    let mut changer = tree.changer();
    let mut change = changer.begin(Intent::default()).unwrap();
    for group in groups {
        change.apply(group).unwrap();
    }
    let id = change.id().to_owned();
    change.keep().unwrap();
    id
}

fn state(tree: &Tree, id: &str) -> ChangeState {
    let journal = Journal::open(&tree.state(), Access::Read).unwrap();
    journal.change(id).unwrap().state.clone()
}

#[test]
fn what_is_applied_and_reverted_is_as_it_was() {
    let tree = Tree::new();
    let before = tree.all();
    let id = kept(&tree, &[governors(), stat_interval(), drop_in()]);
    assert_eq!(tree.get(&governor(3)), "performance\n");
    assert_eq!(tree.get("/etc/sysctl.d/90-fullclock.conf"), "vm.stat_interval = 10\n");
    assert_eq!(state(&tree, &id), ChangeState::Kept);
    let undone = tree.changer().revert("1", Force::No).unwrap();
    assert_eq!(undone.len(), 6);
    assert!(undone.iter().all(|it| it.fate == RevertOutcome::WrittenBack), "{undone:?}");
    assert_eq!(undone[0].setting, "persist");
    assert_eq!(tree.all(), before);
    assert_eq!(state(&tree, &id), ChangeState::Reverted);
    let again = tree.changer().revert(&id, Force::No).unwrap_err();
    assert_eq!(again.to_string(), "change 0001 has been reverted already");
}

#[test]
fn a_group_is_written_through_twice_however_many_writes_it_has() {
    let tree = Tree::new();
    let mut changer = tree.changer();
    let mut change = changer.begin(Intent::default()).unwrap();
    change.apply(&governors()).unwrap();
    assert_eq!(change.n_syncs(), 2);
    change.apply(&stat_interval()).unwrap();
    assert_eq!(change.n_syncs(), 4);
    change.keep().unwrap();
    assert_eq!(changer.journal().n_syncs(), 5);
}

#[test]
fn a_place_that_may_refuse_the_first_of_two_writes_is_compared_with_what_the_first_saw() {
    let tree = Tree::new();
    let before = tree.all();
    let write = |from, to| Write::of(Target::control(STAT_INTERVAL), from, to);
    let id = kept(&tree, &[group("twice", vec![write("1", "0").if_taken(), write("0", "10")])]);
    assert_eq!(tree.get(STAT_INTERVAL), "10\n");
    tree.changer().revert(&id, Force::No).unwrap();
    assert_eq!(tree.all(), before);
}

#[test]
fn a_place_that_somebody_changed_since_the_plan_stops_it_before_anything_is_written() {
    let tree = Tree::new();
    tree.set(&governor(3), "ondemand\n");
    let before = tree.all();
    let mut changer = tree.changer();
    let mut change = changer.begin(Intent::default()).unwrap();
    let failure = change.apply(&governors()).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "governor: /sys/devices/system/cpu/cpufreq/policy3/scaling_governor holds \"ondemand\", and \
         the plan saw \"powersave\": somebody else has changed it; plan again"
    );
    assert!(failure.undone.is_empty());
    drop(change);
    assert_eq!(tree.all(), before);
    assert_eq!(changer.journal().changes()[0].state, ChangeState::Reverted);
}

#[test]
fn a_write_that_does_not_stick_undoes_every_group() {
    let tree = Tree::new();
    let before = tree.all();
    let mut machine = tree.machine();
    machine.meddler = Some(|machine, target| {
        if target.to_string() == governor(2)
            && machine.read(target).unwrap().as_deref() == Some("performance")
        {
            let mut quiet = Machine::below(machine.root_of_tests(), "/bin/false");
            quiet.meddler = None;
            quiet.write(target, Some("schedutil")).unwrap();
        }
    });
    let mut changer = tree.changer_of(machine);
    let mut change = changer.begin(Intent::default()).unwrap();
    change.apply(&stat_interval()).unwrap();
    let failure = change.apply(&governors()).unwrap_err();
    assert!(
        matches!(&failure.cause, Cause::DidNotStick { found: Some(found), .. } if found == "schedutil")
    );
    assert!(failure.is_clean(), "{failure:?}");
    assert!(change.apply(&governors()).is_err());
    assert!(change.keep().is_err());
    assert_eq!(tree.all(), before);
    assert_eq!(changer.journal().changes()[0].state, ChangeState::Reverted);
}

#[test]
fn what_somebody_else_changed_since_is_left_alone_and_said() {
    let tree = Tree::new();
    let id = kept(&tree, &[governors()]);
    tree.set(&governor(1), "ondemand\n");
    tree.set(&governor(2), "powersave\n");
    let undone = tree.changer().revert(&id, Force::No).unwrap();
    let fates: Vec<&RevertOutcome> = undone.iter().map(|it| &it.fate).collect();
    let left = RevertOutcome::LeftAlone { found: Some("ondemand".to_owned()) };
    assert_eq!(
        fates,
        [
            &RevertOutcome::WrittenBack,
            &RevertOutcome::AlreadyThere,
            &left,
            &RevertOutcome::WrittenBack
        ]
    );
    assert_eq!(tree.get(&governor(1)), "ondemand\n");
    assert_eq!(state(&tree, &id), ChangeState::PartlyReverted { left: 1 });
    tree.set(&governor(1), "performance\n");
    tree.changer().revert(&id, Force::No).unwrap();
    assert_eq!(tree.get(&governor(1)), "powersave\n");
    assert_eq!(state(&tree, &id), ChangeState::Reverted);
}

#[test]
fn another_boot_voids_what_it_ends_and_files_are_undone_all_the_same() {
    let tree = Tree::new();
    let id = kept(&tree, &[stat_interval(), drop_in()]);
    tree.set("/proc/sys/kernel/random/boot_id", "second\n");
    let undone = tree.changer().revert(&id, Force::No).unwrap();
    assert_eq!(undone[0].fate, RevertOutcome::WrittenBack);
    assert!(matches!(undone[1].fate, RevertOutcome::Void { .. }));
    assert_eq!(tree.get(STAT_INTERVAL), "10\n");
    assert!(!tree.path("/etc/sysctl.d/90-fullclock.conf").exists());
    assert_eq!(state(&tree, &id), ChangeState::Reverted);
}

#[test]
fn a_register_changes_in_its_bits_only_and_a_fault_comes_back_only_by_force() {
    let tree = Tree::new();
    let before = tree.all();
    let mut group = modulation();
    // The other bits changed since the plan, and are no business of it.
    tree.set_register(1, 0x19a, 0xbb14);
    group.canary = true;
    let id = kept(&tree, &[group]);
    assert_eq!((tree.register(0, 0x19a), tree.register(1, 0x19a)), (0xff00, 0xbb00));
    let undone = tree.changer().revert(&id, Force::No).unwrap();
    assert!(undone.iter().all(|it| it.fate == RevertOutcome::WouldBringFaultBack), "{undone:?}");
    assert_eq!(tree.register(0, 0x19a), 0xff00);
    let undone = tree.changer().revert(&id, Force::Yes).unwrap();
    assert!(undone.iter().all(|it| it.fate == RevertOutcome::WrittenBack), "{undone:?}");
    tree.set_register(1, 0x19a, tree.register(1, 0x19a) & 0xff | 0xaa00);
    assert_eq!(tree.all(), before);
}

#[test]
fn a_change_that_was_begun_to_bring_a_fault_back_does_so_without_force_and_forces_nothing_else() {
    let tree = Tree::new();
    let before = tree.all();
    let intent = || Intent { brings_faults_back: true, ..Intent::default() };
    let mut changer = tree.changer();
    let mut change = changer.begin(intent()).unwrap();
    change.apply(&modulation()).unwrap();
    assert_eq!((tree.register(0, 0x19a), tree.register(1, 0x19a)), (0xff00, 0xaa00));
    change.undo().unwrap();
    assert_eq!(tree.all(), before);
    let mut change = changer.begin(intent()).unwrap();
    change.apply(&modulation()).unwrap();
    change.apply(&stat_interval()).unwrap();
    // As a crash ends it: nobody undoes anything.
    std::mem::forget(change);
    drop(changer);
    tree.set(STAT_INTERVAL, "7\n");
    let undone = tree.changer().recover(Force::No).unwrap();
    assert_eq!(undone[0].fate, RevertOutcome::LeftAlone { found: Some("7".to_owned()) });
    assert!(undone[1..].iter().all(|it| it.fate == RevertOutcome::WrittenBack), "{undone:?}");
    tree.set(STAT_INTERVAL, "1\n");
    assert_eq!(tree.all(), before);
}

#[test]
fn a_register_that_cpus_share_changes_for_all_of_them_with_the_first_write() {
    /// C1E, one for the package.
    fn shared(machine: &Machine, target: &Target) {
        let Target::Register { cpu: 0, address, mask } = *target else { return };
        let value = machine.read(target).unwrap();
        let mut quiet = Machine::below(machine.root_of_tests(), "/bin/false");
        quiet.meddler = None;
        quiet.write(&Target::Register { cpu: 1, address, mask }, value.as_deref()).unwrap();
    }
    let tree = Tree::new();
    tree.set_register(0, 0x1fc, 0x2);
    tree.set_register(1, 0x1fc, 0x2);
    let before = tree.all();
    let target = |cpu| Target::Register { cpu, address: 0x1fc, mask: 0x2 };
    let both = |to: &str| [0, 1].map(|cpu| Write::of(target(cpu), "0x2", to)).into();
    let mut machine = tree.machine();
    machine.meddler = Some(shared);
    let mut changer = tree.changer_of(machine);
    let mut change = changer.begin(Intent::default()).unwrap();
    let outcome = change.apply(&group("c1e", both("0x0"))).unwrap();
    assert!(outcome.fates.iter().all(|it| matches!(it, WriteOutcome::Done { .. })), "{outcome:?}");
    assert_eq!((tree.register(0, 0x1fc), tree.register(1, 0x1fc)), (0, 0));
    let undone = change.undo().unwrap();
    assert!(
        undone
            .iter()
            .all(|it| matches!(it.fate, RevertOutcome::WrittenBack | RevertOutcome::AlreadyThere)),
        "{undone:?}"
    );
    assert_eq!(tree.all(), before);
}

#[test]
fn bits_that_may_only_be_cleared_are_not_set_by_a_plan() {
    let tree = Tree::new();
    let target = Target::Register { cpu: 0, address: 0x19a, mask: 0x1f };
    let sets = group("clock-modulation", vec![Write::of(target, "0xff14", "0xff16")]);
    let mut changer = tree.changer();
    let mut change = changer.begin(Intent::default()).unwrap();
    let failure = change.apply(&sets).unwrap_err();
    assert!(failure.to_string().contains("may only be cleared"), "{failure}");
    drop(change);
    assert_eq!(tree.register(0, 0x19a), 0xff14);
}

#[test]
fn a_refusal_that_is_allowed_is_noted_and_the_plan_goes_on() {
    let tree = Tree::new();
    let absent =
        Write::of(Target::control("/proc/irq/9/smp_affinity_list"), "0-3", "0-1").if_taken();
    let mut both = stat_interval();
    both.writes.insert(0, absent);
    let mut changer = tree.changer();
    let mut change = changer.begin(Intent::default()).unwrap();
    let outcome = change.apply(&both).unwrap();
    assert!(matches!(outcome.fates[0], WriteOutcome::Refused { .. }), "{outcome:?}");
    assert_eq!(outcome.fates[1], WriteOutcome::Done { read_back: Some("10".to_owned()) });
    assert_eq!(change.undo().unwrap().len(), 1);
}

#[test]
fn what_a_write_makes_the_kernel_forget_is_written_back_after_it() {
    let tree = Tree::new();
    let threshold = "/sys/devices/system/cpu/cpufreq/ondemand/up_threshold";
    tree.set(threshold, "95\n");
    let before = tree.all();
    let mut forgetful = governors();
    forgetful.writes.insert(0, Write::forgotten(Target::control(threshold), "95"));
    assert_eq!(forgetful.writes[0].aim, Aim::Forgotten);
    let id = kept(&tree, &[forgetful]);
    assert_eq!(tree.get(threshold), "95\n");
    tree.set(threshold, "80\n");
    let undone = tree.changer().revert(&id, Force::No).unwrap();
    assert_eq!(undone.last().unwrap().fate, RevertOutcome::WrittenBack);
    assert_eq!(tree.all(), before);
}

#[test]
fn policies_in_the_folders_of_cpus_are_changed_and_come_back() {
    let tree = Tree::new();
    let path = |cpu| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
    (0..2).for_each(|cpu| tree.set(&path(cpu), "ondemand\n"));
    let threshold = "/sys/devices/system/cpu/cpufreq/ondemand/up_threshold";
    tree.set(threshold, "80\n");
    let before = tree.all();
    let write = |cpu| Write::of(Target::control(path(cpu)), "ondemand", "performance");
    let forgotten = Write::forgotten(Target::control(threshold), "80");
    let id = kept(&tree, &[group("governor", vec![forgotten, write(0), write(1)])]);
    assert_eq!(tree.get(&path(1)), "performance\n");
    tree.set(threshold, "95\n");
    let undone = tree.changer().revert(&id, Force::No).unwrap();
    assert!(undone.iter().all(|it| it.fate == RevertOutcome::WrittenBack), "{undone:?}");
    assert_eq!(tree.all(), before);
}

#[test]
fn what_the_kernel_forgot_is_left_alone_where_somebody_else_took_over_what_made_it_forget() {
    let tree = Tree::new();
    let threshold = "/sys/devices/system/cpu/cpufreq/ondemand/up_threshold";
    tree.set(threshold, "95\n");
    let write = Write::of(Target::control(governor(0)), "powersave", "performance");
    let forgotten = Write::forgotten(Target::control(threshold), "95");
    let id = kept(&tree, &[group("governor", vec![forgotten, write])]);
    tree.set(&governor(0), "ondemand\n");
    tree.set(threshold, "80\n");
    let undone = tree.changer().revert(&id, Force::No).unwrap();
    assert!(
        undone.iter().all(|it| matches!(it.fate, RevertOutcome::LeftAlone { .. })),
        "{undone:?}"
    );
    assert_eq!(tree.get(threshold), "80\n");
}

#[test]
fn a_change_that_is_dropped_is_undone() {
    let tree = Tree::new();
    let before = tree.all();
    let mut changer = tree.changer();
    let mut change = changer.begin(Intent::default()).unwrap();
    change.apply(&governors()).unwrap();
    drop(change);
    assert_eq!(tree.all(), before);
    assert_eq!(changer.journal().changes()[0].state, ChangeState::Reverted);
}

#[test]
fn what_a_plan_may_not_write_is_not_written() {
    let tree = Tree::new();
    tree.set("/etc/passwd", "root\n");
    let mut changer = tree.changer();
    let mut change = changer.begin(Intent::default()).unwrap();
    for target in [Target::control("/etc/passwd"), Target::file("/etc/passwd")] {
        let outside = group("x", vec![Write::of(target, "root\n", "toor\n")]);
        assert!(matches!(
            change.apply(&outside).unwrap_err().cause,
            Cause::Trouble(_) | Cause::Over
        ));
    }
    assert_eq!(tree.get("/etc/passwd"), "root\n");
}

#[test]
fn two_cannot_change_a_host_at_once_and_one_can_look() {
    let tree = Tree::new();
    let journal = tree.journal();
    let error = Journal::open(&tree.state(), Access::Write).unwrap_err().to_string();
    let this = std::process::id();
    assert!(
        error.ends_with(&format!("process {this} is changing this host; wait until it is done")),
        "{error}"
    );
    assert!(Journal::open(&tree.state(), Access::Read).unwrap().changes().is_empty());
    drop(journal);
    assert!(Journal::open(&tree.state(), Access::WriteWhenFree).is_ok());
}

#[test]
fn what_waits_to_be_confirmed_is_confirmed_in_time_or_reverted() {
    let tree = Tree::new();
    let before = tree.all();
    let waiting = |within: Duration| {
        let mut changer = tree.changer();
        let mut change = changer.begin(Intent::default()).unwrap();
        change.confirm_without_guard(within);
        change.apply(&stat_interval()).unwrap();
        let id = change.id().to_owned();
        change.keep().unwrap();
        id
    };
    let late = waiting(Duration::ZERO);
    let error = tree.changer().confirm(&late).unwrap_err().to_string();
    assert!(error.contains("no guard is running: it is still in force"), "{error}");
    tree.set(STAT_INTERVAL, "1\n");
    let error = tree.changer().confirm(&late).unwrap_err().to_string();
    assert!(error.contains("has been reverted already"), "{error}");
    tree.set(STAT_INTERVAL, "10\n");
    tree.changer().recover(Force::No).unwrap();
    assert_eq!((tree.all(), state(&tree, &late)), (before, ChangeState::Reverted));
    let early = waiting(Duration::from_secs(600));
    assert!(tree.changer().recover(Force::No).unwrap().is_empty());
    tree.changer().confirm(&early).unwrap();
    assert_eq!(state(&tree, &early), ChangeState::Kept);
    assert_eq!(tree.get(STAT_INTERVAL), "10\n");
}

#[test]
fn a_change_is_not_stacked_on_a_place_whose_value_awaits_confirmation() {
    let tree = Tree::new();
    let mut changer = tree.changer();
    let mut change = changer.begin(Intent::default()).unwrap();
    change.confirm_without_guard(Duration::from_secs(600));
    change.apply(&stat_interval()).unwrap();
    change.keep().unwrap();
    let on_top = || {
        let write = Write::of(Target::control(STAT_INTERVAL), "10", "5");
        group("stat-interval", vec![write])
    };
    let mut change = changer.begin(Intent::default()).unwrap();
    change.apply(&governors()).unwrap();
    let failure = change.apply(&on_top()).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "stat-interval: /proc/sys/vm/stat_interval: change 0001 wrote it and awaits confirmation; \
         confirm or revert that first"
    );
    drop(change);
    assert_eq!(tree.get(STAT_INTERVAL), "10\n");
    changer.confirm("1").unwrap();
    let mut change = changer.begin(Intent::default()).unwrap();
    change.apply(&on_top()).unwrap();
    change.keep().unwrap();
    changer.revert("3", Force::No).unwrap();
    assert_eq!(tree.get(STAT_INTERVAL), "10\n");
}
