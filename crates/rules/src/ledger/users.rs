//! Tasks of users where they were added up by who they are, as recordings do.
//!
//! Whose time counts as useful: with a command that was recorded its own and that of the databases it may work with; without one
//! that of all.

use super::amount::part;
use super::evidence::Evidence;
use super::owner::Owner;
use facts::counters::users::{self, Kind, UserTimes};
use facts::system::roles;

/// Whose a task of a user is of which nothing is known.
pub(super) fn stranger(evidence: &Evidence<'_>) -> Owner {
    let is_for_somebody =
        evidence.has_chosen() || evidence.interval.users().is_ok_and(UserTimes::has_command);
    if is_for_somebody { Owner::Other } else { Owner::Asked }
}

/// What ran on each CPU, in the time that passed between two readings of the other tasks: CPU, owner, name and nanoseconds.
pub(super) fn runs(
    evidence: &Evidence<'_>,
    over_ns: u64,
) -> impl Iterator<Item = (u32, Owner, String, u64)> {
    let users = evidence.interval.users().ok();
    let has_command = users.is_some_and(UserTimes::has_command);
    users.into_iter().flat_map(move |users| {
        users.list.iter().filter(|it| it.run_ns > 0).map(move |time| {
            let ns = part(time.run_ns, over_ns, users.over_ns);
            (time.cpu, owner(&time.kind, has_command), name(&time.kind), ns)
        })
    })
}

fn owner(kind: &Kind, has_command: bool) -> Owner {
    let is_asked = !has_command || kind.owner == users::Owner::Command || kind.role.is_some();
    if is_asked { Owner::Asked } else { Owner::Other }
}

/// What tasks of one kind are called.
pub fn name(kind: &Kind) -> String {
    let role = kind.role.and_then(|(product, role)| roles::by_id(product, role));
    match role {
        Some((product, role)) => product.name_of(role),
        None if kind.name.as_str().is_empty() => "tasks of other names".to_owned(),
        None if kind.is_ended => format!("{} (ended)", kind.name),
        None => kind.name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, ledger, loss, replaced, unexplained, untraced};

    /// The second of which users' tasks were added up, half of it by name.
    fn added_up(users: &str) -> String {
        assert!(SECOND.contains("user 0 578000000"));
        replaced(
            &untraced(),
            &[
                ("task 10 10 postgres user 0 0 0\n", "users 0\n"),
                (
                    "task 10 10 postgres user 0 578000000 900000000\n",
                    &format!("users 1000\n{users}"),
                ),
            ],
        )
    }

    #[test]
    fn every_kind_is_useful_by_its_name_where_no_command_was_recorded() {
        let text = added_up(
            "user other gzip - 0 278000000 0\nuser other postgres postgresql/backend 0 300000000 0\n",
        );
        assert_eq!(
            loss("useful", &text),
            "PostgreSQL backend 240.0 ms ±4.1 by counter\ngzip 222.4 ms ±3.8 by counter"
        );
        assert_eq!(loss("other-tasks", &text), "0.0 ms by counter");
        assert_eq!(unexplained(&text), unexplained(&untraced()));
    }

    #[test]
    fn with_a_command_it_and_databases_are_useful_and_an_intruder_is_named_among_others() {
        let text = added_up(
            "user command tclsh - 0 78000000 0\nuser other gzip - 0 200000000 0\n\
             user other postgres postgresql/backend 0 300000000 0\n",
        );
        assert_eq!(loss("other-tasks", &text), "gzip 200.0 ms ±1.2 by counter");
        let useful = loss("useful", &text);
        assert!(useful.contains("PostgreSQL backend") && useful.contains("tclsh"), "{useful}");
        assert!(!useful.contains("gzip"), "{useful}");
    }

    #[test]
    fn times_of_another_interval_are_not_taken_for_this_ones() {
        let text = added_up("user other gzip - 0 278000000 0\n").replace("users 1000", "users 500");
        assert!(loss("useful", &text).starts_with("unknown: "), "{}", loss("useful", &text));
        assert!(loss("other-tasks", &text).starts_with("unknown: "));
    }

    #[test]
    fn tasks_that_were_not_read_are_noted() {
        let notes = |users: &str| ledger(&added_up(users)).notes.join("; ");
        let gzip = "user other gzip - 0 278000000 0\n";
        assert!(!notes(gzip).contains("not read"), "{}", notes(gzip));
        let unread = notes(&format!("unread 900\n{gzip}"));
        assert!(unread.contains("900 tasks of users were not read in a sample"), "{unread}");
    }

    #[test]
    fn the_sum_of_all_tasks_is_what_no_kind_exceeds() {
        let text = added_up("user other gzip - 0 578000000 0\nuser other xz - 1 100000000 0\n");
        let ledger = ledger(&text);
        let sum: i64 = ledger.lines.iter().filter_map(|it| it.ns.as_ref().ok()).sum();
        assert_eq!(sum + ledger.unexplained_ns, ledger.capacity_ns());
    }
}
