//! What is said of plans and changes.

use super::fixture::{awaiting, change, plan as a_plan, refused, undone as outcomes};
use super::*;
use crate::document::every_form::{in_every_form, text};
use facts::change::{ChangeState, Guarding, Overdue, Standing, Write};
use rules::plan::Plan;

const BRIEF: Detail = Detail { verbose: false, with_plan: false };

fn planned(plan: &Plan, unfixed: &[(&'static str, String)]) -> Document {
    let planned = Planned { name: "this machine", plan, unfixed, unfound: &[], files: &[] };
    plan::plan(&planned, false)
}

#[test]
fn a_plan_says_what_is_written_where_and_for_how_long() {
    let unfixed = ("cgroup-quota-throttling", "systemctl set-property db.slice CPUQuota=".into());
    insta::assert_snapshot!(in_every_form(&planned(&a_plan(), &[unfixed])));
}

#[test]
fn a_finding_that_no_setting_fixes_is_no_nothing() {
    let nothing = Plan { steps: Vec::new(), refused: Vec::new(), left_out: Vec::new() };
    assert_eq!(
        text(&planned(&nothing, &[]), 80),
        "fullclock plan for this machine\nNothing to change.\n"
    );
    let unfixed = ["a", "b"].map(|it| (it, format!("what fixes {it}")));
    let found = text(&planned(&nothing, &unfixed), 80);
    assert!(found.contains("- a: what fixes a\n- b: what fixes b\n"), "{found}");
    let verdict = "No setting to change. 2 findings that no setting fixes: a, b.";
    assert!(found.contains(verdict), "{found}");
}

#[test]
fn a_check_without_a_finding_is_named_where_nothing_is_to_be_done_for_it() {
    let nothing = Plan { steps: Vec::new(), refused: Vec::new(), left_out: Vec::new() };
    let planned = Planned {
        name: "this machine",
        plan: &nothing,
        unfixed: &[],
        unfound: &["turbo-off"],
        files: &[],
    };
    let shown = text(&plan(&planned, false), 80);
    assert!(shown.ends_with("Nothing to change: no finding of turbo-off here.\n"), "{shown}");
}

#[test]
fn what_is_refused_keeps_all_of_a_plan_from_being_written() {
    let shown = text(&planned(&refused(), &[]), 80);
    assert!(shown.contains("- governor=fast: policy0 has no governor \"fast\"\n"), "{shown}");
    assert!(shown.contains("writes nothing until this is left out"), "{shown}");
    assert!(shown.contains("No setting can be changed here."), "{shown}");
}

#[test]
fn each_place_has_a_line_where_all_are_wanted() {
    let plan = a_plan();
    let all = Planned { name: "this machine", plan: &plan, unfixed: &[], unfound: &[], files: &[] };
    let shown = text(&plan::plan(&all, true), 110);
    assert!(shown.contains("policy0/scaling_governor: powersave -> performance\n"), "{shown}");
    assert!(shown.contains("policy1/scaling_governor: powersave -> performance\n"), "{shown}");
}

#[test]
fn files_are_shown_whole() {
    let file =
        Write::of(Target::file("/etc/sysctl.d/90.conf"), "", "# why\nvm.stat_interval = 10\n");
    assert_eq!(
        text(&files(&[file]), 80),
        "Files that make it last\nfile      /etc/sysctl.d/90.conf\n\n  # why\n  vm.stat_interval = 10\n"
    );
}

#[test]
fn a_change_says_how_it_is_ended() {
    let made = Applied { id: Some("0001".to_owned()), n_writes: 2, ..Applied::nothing(refused()) };
    let shown = text(&applied(&made, BRIEF), 80);
    assert_eq!(
        shown,
        "Change 0001 is in force: 2 writes, each read back.\n`fullclock revert 0001` reverts it.\n"
    );
    let waits = Applied { confirm_within: Some(Duration::from_mins(5)), ..made };
    let shown = text(&applied(&waits, BRIEF), 80);
    assert!(
        shown.contains("It is reverted in 5 min unless `fullclock confirm` keeps it"),
        "{shown}"
    );
    assert_eq!(text(&applied(&Applied::nothing(refused()), BRIEF), 80), "Nothing was written.\n");
}

#[test]
fn a_page_about_a_change_has_its_plan() {
    let mut made =
        Applied { id: Some("0001".to_owned()), n_writes: 3, ..Applied::nothing(a_plan()) };
    let target = Target::Affinity { tid: 4711, started: 1, name: "kworker/3:1".to_owned() };
    made.not_taken = vec![(target, "Invalid argument".to_owned())];
    insta::assert_snapshot!(in_every_form(&applied(&made, Detail { with_plan: true, ..BRIEF })));
}

#[test]
fn a_failure_says_what_is_as_before_and_what_is_not() {
    let failed = |fates| Applied {
        error: Some("`/proc/x` did not stick".to_owned()),
        undone: outcomes(fates),
        ..Applied::nothing(a_plan())
    };
    let clean = failed([RevertOutcome::WrittenBack, RevertOutcome::WrittenBack]);
    let shown = text(&applied(&clean, BRIEF), 110);
    assert!(shown.starts_with("Not changed.\n"), "{shown}");
    assert!(shown.contains("policy{0-1}/scaling_governor: powersave again (2 places)"), "{shown}");
    assert!(shown.contains("Everything that had been written is as it was before."), "{shown}");
    let why = "Input/output error".to_owned();
    let dirty = failed([RevertOutcome::WrittenBack, RevertOutcome::Failed { why }]);
    let shown = text(&applied(&dirty, BRIEF), 110);
    assert!(shown.contains("NOT as before, it was powersave:\n"), "{shown}");
    assert!(shown.contains("Not everything is as it was before"), "{shown}");
}

#[test]
fn a_revert_says_what_came_of_each_place() {
    let found = Some("ondemand".to_owned());
    let fates = [RevertOutcome::WrittenBack, RevertOutcome::LeftAlone { found }];
    let verdict = "1 place is as before, 1 not: see `fullclock status`";
    insta::assert_snapshot!(in_every_form(&undone(verdict, &outcomes(fates), false)));
}

#[test]
fn a_status_shows_each_change_and_those_of_one_run_together() {
    let study = "experiment governor=powersave,performance";
    let mut changes: Vec<_> =
        (1..=128).map(|id| change(id, study, ChangeState::Reverted)).collect();
    changes.push(change(129, "apply turbo=on", ChangeState::Reverted));
    let mut drifted = change(130, "apply governor=performance", ChangeState::Kept);
    drifted.places[1].standing = Standing::Changed { found: Some("powersave".to_owned()) };
    changes.push(drifted);
    changes.push(change(131, "apply --confirm-within 5m governor=performance", awaiting()));
    let suspects = ["tuned".to_owned()];
    insta::assert_snapshot!(in_every_form(&status(&changes, &suspects, false)));
    let all = text(&status(&changes, &suspects, true), 80);
    assert_eq!(all.lines().filter(|it| it.starts_with("Change ")).count(), 131, "{all}");
}

#[test]
fn a_status_without_a_change_is_one_line() {
    assert_eq!(text(&status(&[], &[], false), 80), "Nothing is applied.\n");
}

#[test]
fn a_change_in_force_ends_its_line_so() {
    let one = [change(1, "apply governor=performance", ChangeState::Kept)];
    let shown = text(&status(&one, &[], false), 80);
    assert!(shown.starts_with("1 change is applied.\n"), "{shown}");
    assert!(shown.contains("\nChange 0001, 2026-11-20T16:00:01.000Z: in force\n"), "{shown}");
}

#[test]
fn a_deadline_says_who_reverts_then() {
    let of = |guard| {
        let mut waiting = change(1, "apply", awaiting());
        waiting.guard = Some(guard);
        text(&status(&[waiting], &[], false), 110)
    };
    let alone = of(Guarding::InTime { is_running: false });
    assert!(alone.contains("no guard is running to revert it then"), "{alone}");
    let overdue = of(Guarding::Overdue(Overdue::Unguarded));
    assert!(overdue.contains("overdue since 2026-11-20T16:05:00.000Z"), "{overdue}");
    assert!(overdue.contains("no guard is running: `fullclock revert 0001` reverts it"));
    assert!(of(Guarding::Overdue(Overdue::Guarded)).contains("Its guard is reverting it."));
    assert!(of(Guarding::Overdue(Overdue::Undone)).contains("which the journal does not say yet"));
}
