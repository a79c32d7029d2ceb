//! Changes that meet resistance: files that ignore writes, sessions that end, others who write, all on a real kernel.

use crate::boots::CHANGED;

#[track_caller]
fn expect(step: &str, said: &str) {
    let output = CHANGED.step(step).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(output.stdout, said, "{}", output.stderr);
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn write_that_does_not_stick_undoes_the_change_and_registers_that_say_nothing_are_not_written() {
    expect(
        "did not stick",
        "apply: 3\ndid not stick\nNothing is applied.\nleft: \n\
         refused: 3\nNothing is applied.\n\
         registers: 3\nexpected the registers\n",
    );
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn change_is_reverted_unless_confirmed_though_its_process_and_its_session_are_killed() {
    expect(
        "unconfirmed",
        "confirmed: 0\nafter the session: powersave\nafter the deadline: schedutil\ntoo late: 2\n\
         killed: 137\nwithout a deadline: schedutil schedutil\n\
         kept: 0\nreverted: 0\nleft: \n",
    );
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn what_others_changed_is_left_alone_and_one_change_is_made_at_a_time() {
    let output = CHANGED.step("other actors").unwrap_or_else(|error| panic!("{error:#}"));
    // How many of three get their turn is chance.
    let (ended, said): (Vec<&str>, Vec<&str>) =
        output.stdout.lines().partition(|it| it.starts_with("ended: "));
    let turns = ["ended: 0 0 0", "ended: 0 0 2", "ended: 0 2 2"];
    assert!(turns.contains(&ended.join("\n").as_str()), "{ended:?}: {}", output.stderr);
    let expected = [
        "CHANGED since, to 7",
        "reverted: 3",
        "vm.stat_interval = 7",
        "kernel.timer_migration = 1",
        "forced: 0",
        "left: ",
        "second: 2",
        "1",
        "first: 0",
        "vm.stat_interval = 1",
        "powersave",
        "powersave",
        "left: ",
        "lost: 0",
        "left: ",
    ];
    assert_eq!(said, expected, "{}", output.stderr);
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn drift_is_told_with_the_name_of_who_wrote() {
    expect(
        "drift",
        "watch-drift: 1\n\
         /proc/sys/vm/stat_interval: 7, was given 10, by tee /proc/sys/vm/stat_interval (process N)\n",
    );
}
