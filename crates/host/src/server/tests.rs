//! Made-up machines with servers on them.

use super::*;
use crate::Captured;

/// A process of an excerpt: pid, parent, name, title, and times in ticks: own, and of its children.
fn process(pid: u32, parent: u32, comm: &str, title: &str, own: u64, reaped: u64) -> String {
    let run_ns = own * 10_000_000;
    format!(
        "//- /proc/{pid}/stat\n{pid} ({comm}) S {parent} 1 1 0 -1 0 0 0 0 0 {own} 0 {reaped} 0 20 0 1 0 {pid} 0 0\n\
         //- /proc/{pid}/comm\n{comm}\n//- /proc/{pid}/cmdline\n{title}\n\
         //- /proc/{pid}/task/{pid}/comm\n{comm}\n//- /proc/{pid}/task/{pid}/schedstat\n{run_ns} 5000 7\n"
    )
}

/// A server of PostgreSQL, another one, a client, and a shell that the first one's archiver has started.
fn machine() -> String {
    [
        process(100, 1, "postgres", "/usr/bin/postgres", 10, 50),
        process(103, 100, "postgres", "postgres: walwriter ", 20, 0),
        process(102, 103, "sh", "sh", 1, 0),
        process(110, 100, "postgres", "postgres: joe shop [local] idle", 30, 0),
        process(200, 1, "postgres", "/usr/bin/postgres", 5, 0),
        process(300, 1, "pgbench", "pgbench", 40, 0),
    ]
    .concat()
}

fn members(extent: Extent, excerpt: &str) -> Members {
    let mut members = Members::of(extent);
    members.look(&Captured::excerpt(excerpt).unwrap());
    members
}

fn postgresql() -> &'static Product {
    Product::of_id("postgresql").unwrap()
}

#[test]
fn a_product_is_all_its_processes_and_what_they_start_and_no_client() {
    let found = members(Extent::Product(postgresql()), &machine());
    assert_eq!(found.processes().collect::<Vec<_>>(), [100, 102, 103, 110, 200]);
    let source = Captured::excerpt(&machine()).unwrap();
    assert_eq!(main_processes(&source, postgresql()), [100, 200]);
}

#[test]
fn a_tree_is_one_server_and_its_tasks_are_named_by_role() {
    let found = members(Extent::Tree(100), &machine());
    assert_eq!(found.processes().collect::<Vec<_>>(), [100, 102, 103, 110]);
    let names: Vec<&str> = found.names().values().map(String::as_str).collect();
    assert_eq!(names, ["PostgreSQL postmaster", "PostgreSQL WAL writer", "PostgreSQL backend"]);
}

#[test]
fn a_group_is_who_is_in_it_and_in_those_below_it() {
    let groups = "//- /sys/fs/cgroup/db/cgroup.procs\n100\n103\n//- /sys/fs/cgroup/db/a.b/cgroup.procs\n110\n\
                  //- /sys/fs/cgroup/dbx/cgroup.procs\n300\n";
    let found = members(Extent::Group("/sys/fs/cgroup/db".to_owned()), &(machine() + groups));
    assert_eq!(found.processes().collect::<Vec<_>>(), [100, 103, 110]);
}

#[test]
fn a_connection_that_begins_later_belongs_to_it_and_so_does_one_that_has_ended() {
    let mut found = members(Extent::Product(postgresql()), &machine());
    let old = process(110, 100, "postgres", "postgres: joe shop [local] idle", 30, 0);
    let new = process(111, 100, "postgres", "postgres: joe shop [local] idle", 0, 0);
    found.look(&Captured::excerpt(&machine().replace(&old, &new)).unwrap());
    assert_eq!(found.processes().collect::<Vec<_>>(), [100, 102, 103, 110, 111, 200]);
    assert_eq!(found.living().collect::<Vec<_>>(), [100, 102, 103, 111, 200]);
    assert_eq!(found.usual_of_ended(), Some("PostgreSQL backend"));
}

#[test]
fn a_glance_finds_new_connections_of_known_servers() {
    let mut found = members(Extent::Product(postgresql()), &machine());
    let new = process(111, 100, "postgres", "postgres: joe shop [local] idle", 0, 0);
    found.glance(&Captured::excerpt(&(machine() + &new)).unwrap());
    assert_eq!(found.living().collect::<Vec<_>>(), [100, 102, 103, 110, 111, 200]);
    assert_eq!(found.names().get(&111).map(String::as_str), Some("PostgreSQL backend"));
}

#[test]
fn a_fork_that_has_no_title_yet_is_no_second_postmaster() {
    let mut found = members(Extent::Tree(100), &machine());
    let new = process(111, 100, "postgres", "/usr/bin/postgres", 0, 0);
    found.look(&Captured::excerpt(&(machine() + &new)).unwrap());
    assert_eq!(found.names().get(&111), None);
}

#[test]
fn a_backend_that_ends_while_it_is_looked_at_is_no_second_postmaster() {
    let mut found = members(Extent::Tree(100), &machine());
    let new = process(111, 100, "postgres", "", 0, 0).replace("cmdline\n\n", "cmdline\n");
    found.look(&Captured::excerpt(&(machine() + &new)).unwrap());
    assert!(found.processes().any(|it| it == 111));
    assert_eq!(found.names().get(&111), None);
    assert_eq!(found.usual_of_ended(), None);
}

#[test]
fn a_client_whose_number_is_given_to_a_backend_becomes_one() {
    let mut found = members(Extent::Product(postgresql()), &machine());
    let client = process(300, 1, "pgbench", "pgbench", 40, 0);
    let backend = process(300, 100, "postgres", "postgres: joe shop [local] idle", 0, 0);
    let backend = backend.replace(" 300 0 0\n", " 999 0 0\n");
    found.look(&Captured::excerpt(&machine().replace(&client, &backend)).unwrap());
    assert!(found.processes().any(|it| it == 300));
}

/// What was spent between the machine and what these changes make of it.
fn spent(changes: &[(String, String)]) -> Spent {
    let (mut found, source) =
        (Members::of(Extent::Tree(100)), Captured::excerpt(&machine()).unwrap());
    found.look(&source);
    let before = Reading::of(&source, &found);
    let later = changes.iter().fold(machine(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    let source = Captured::excerpt(&later).unwrap();
    found.look(&source);
    Reading::of(&source, &found).since(&before)
}

const MS: u64 = 1_000_000;

#[test]
fn what_a_backend_ran_that_ended_is_its_parents_less_what_it_had_run_before() {
    let backend = process(110, 100, "postgres", "postgres: joe shop [local] idle", 30, 0);
    let postmaster = |own, reaped| process(100, 1, "postgres", "/usr/bin/postgres", own, reaped);
    // It had run 300 ms, and the postmaster was given 350 for it.
    let spent = spent(&[(backend, String::new()), (postmaster(10, 50), postmaster(11, 85))]);
    assert_eq!((spent.ended_ns, spent.cpu_ns), (50 * MS, 60 * MS));
    assert_eq!((spent.uncertainty_ns, spent.is_cut), (20 * MS, false));
    // What was seen of it is the postmaster's own.
    assert_eq!(spent.seen_ns, 10 * MS);
}

#[test]
fn a_server_whose_root_ended_has_only_lower_limits() {
    let root = process(100, 1, "postgres", "/usr/bin/postgres", 10, 50);
    assert!(spent(&[(root, String::new())]).is_cut);
}

#[test]
fn a_thread_that_ended_is_in_the_time_of_its_process() {
    let was = process(110, 100, "postgres", "postgres: joe shop [local] idle", 30, 0);
    // Half a second more by its own times than by the threads that are there.
    let is = was.replace(" 30 0 0 0 20 0", " 80 0 0 0 20 0");
    let spent = spent(&[(was, is)]);
    assert_eq!((spent.ended_ns, spent.cpu_ns, spent.wait_ns), (500 * MS, 500 * MS, 0));
}

#[test]
fn the_wait_of_one_that_ended_is_known_up_to_a_reading_in_between() {
    let source = Captured::excerpt(&machine()).unwrap();
    let mut found = Members::of(Extent::Tree(100));
    found.look(&source);
    let before = Reading::of(&source, &found);
    let text = machine().replace("300000000 5000 7", "350000000 9000 8");
    let between = Captured::excerpt(&text).unwrap();
    found.look(&between);
    let between = Reading::of(&between, &found);
    let backend = process(110, 100, "postgres", "postgres: joe shop [local] idle", 30, 0);
    let source = Captured::excerpt(&machine().replace(&backend, "")).unwrap();
    found.look(&source);
    let mut after = Reading::of(&source, &found);
    after.remember(between);
    let spent = after.since(&before);
    assert_eq!((spent.wait_ns, spent.seen_ns), (4000, 50 * MS));
}
