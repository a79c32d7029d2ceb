//! CPUs that a control group keeps for itself, without a boot.

use std::collections::BTreeSet;

use crate::audit::Audit;
use crate::boots::on_each_that_schedules;

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn isolated_partition_is_made_and_undone_and_a_contested_one_leaves_no_trace() {
    on_each_that_schedules(|transcript| {
        let output = transcript.step("isolated partition").unwrap_or_else(|why| panic!("{why:#}"));
        let expected = "\
isolated-partition=db.slice|0|isolated 0-1|1|0|0|
contested: 3
did not stick
member
Nothing is applied.
left: 
";
        assert_eq!(output.stdout, expected, "{}", output.stderr);
    });
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn cpu_of_an_isolated_partition_is_isolated_for_the_audit_and_not_when_it_is_undone() {
    on_each_that_schedules(|transcript| {
        let audits = ["shared", "isolated", "not isolated"].map(|it| Audit::of(transcript, it));
        let cpus = audits.map(|it| it.cpus("isolated-without-nohz-full"));
        assert_eq!(cpus, [BTreeSet::new(), BTreeSet::from([2]), BTreeSet::new()]);
    });
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn partition_that_would_leave_no_cpu_to_others_is_found_invalid() {
    on_each_that_schedules(|transcript| {
        let audit = Audit::of(transcript, "invalid partition");
        let finding = audit.expect("invalid-partition").to_string();
        assert!(finding.contains("the isolated partition db.slice is not in force: "), "{finding}");
        assert_eq!(audit.cpus("invalid-partition"), BTreeSet::from([0, 1, 2]));
        assert!(audit.cpus("isolated-without-nohz-full").is_empty());
        for step in ["shared", "isolated"] {
            Audit::of(transcript, step).expect_silent("invalid-partition");
        }
    });
}
