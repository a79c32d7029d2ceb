//! Where the adapters of both ends are plugged in and who served them, against the CPUs that worked.

use super::Run;
use crate::render::net::said::Said;
use lab::known::Known;
use lab::wire::{Nearness, Placement, Seat, Taken};

/// CPUs with interrupts that are named.
const SHOWN: usize = 4;

/// A paragraph for each end; one where both say the same.
pub(super) fn say(said: &mut Said, run: &Run) {
    for (ends, words) in told(run) {
        said.say("adapter", &format!("{ends}: {words}"));
    }
}

/// What is said of each end, or of both.
pub(super) fn told(run: &Run) -> Vec<(&'static str, String)> {
    let [(_, client), (_, server)] = run.judged.named().map(|(end, it)| (end, words(&it.place)));
    if client == server {
        return vec![("both ends", client)];
    }
    vec![("client", client), ("server", server)]
}

fn words(place: &Placement) -> String {
    let seat = match (&place.device, &place.adapter) {
        (Known::Value(device), Known::Missing { missing }) => {
            return format!("the data went over {device}; {missing}");
        }
        (Known::Missing { missing }, _) => return format!("not known: {missing}"),
        (_, Known::Value(seat)) => seat,
    };
    let device = place.device.value().map_or("", |it| it);
    let address = &seat.address;
    format!("{device} ({address}) {}; {}", near(place, seat), interrupts(place, seat))
}

fn near(place: &Placement, seat: &Seat) -> String {
    let node = match (&seat.node, &seat.near) {
        (Known::Value(node), Known::Value(cpus)) => format!("is on NUMA node {node} (CPUs {cpus})"),
        (Known::Value(node), Known::Missing { missing }) => {
            format!("is on NUMA node {node}, whose CPUs are not known: {missing}")
        }
        (Known::Missing { missing }, _) => {
            format!("is on a NUMA node that is not known: {missing}")
        }
    };
    let worked = &place.worked;
    match place.nearness() {
        Some(Nearness::OnlyNode) => "is near to all CPUs: there is one NUMA node".to_owned(),
        Some(Nearness::Near) => format!("{node}, and so are the CPUs that worked, {worked}"),
        Some(Nearness::Mixed) => format!(
            "{node}, and of the CPUs that worked, {worked}, some are of another node: --cpus keeps the test on the near ones"
        ),
        Some(Nearness::Far) => format!(
            "{node}, and the CPUs that worked, {worked}, are all of another node: what comes and goes crosses the link between \
             the processors; --cpus puts the test on the near ones"
        ),
        None => node,
    }
}

fn interrupts(place: &Placement, seat: &Seat) -> String {
    let taken = match &seat.interrupted {
        Known::Value(taken) => taken,
        Known::Missing { missing } => return format!("its interrupts are not known: {missing}"),
    };
    if taken.is_empty() {
        return "none of its interrupts came meanwhile".to_owned();
    }
    let on = |it: &Taken| format!("CPU {} ({})", it.cpu, it.count);
    let mut shown: Vec<String> = taken.iter().take(SHOWN).map(on).collect();
    if taken.len() > SHOWN {
        shown.push(format!("{} more", taken.len() - SHOWN));
    }
    let competing = place.competing();
    let judged = if competing.is_empty() {
        "none of which worked for the test to speak of".to_owned()
    } else {
        let which = if competing.len() == 1 { "CPU" } else { "CPUs" };
        format!(
            "{which} {competing} worked for the test as well, so that both take time from each other there"
        )
    };
    format!("its interrupts came on {}: {judged}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn a_far_adapter_whose_interrupts_come_where_the_test_works_is_told_of() {
        let run = fixture::bandwidth();
        let [(_, client), (_, server)] = &told(&run)[..] else { panic!("alike") };
        assert_eq!(
            client,
            "eth0 (0000:81:00.0) is on NUMA node 1 (CPUs 2-3), and the CPUs that worked, 0-1, are all of another node: what comes \
             and goes crosses the link between the processors; --cpus puts the test on the near ones; its interrupts came on CPU \
             1 (81220), CPU 3 (12): CPU 1 worked for the test as well, so that both take time from each other there"
        );
        assert!(server.contains("and so are the CPUs that worked, 0-1;"), "{server}");
    }

    #[test]
    fn what_has_no_adapter_at_both_ends_is_told_once() {
        let mut run = fixture::bandwidth();
        for judgement in [&mut run.judged.client, &mut run.judged.server] {
            judgement.place.device = Known::Value("lo".to_owned());
            judgement.place.adapter =
                Known::Missing { missing: "no adapter behind lo here".to_owned() };
        }
        let words = "the data went over lo; no adapter behind lo here";
        assert_eq!(told(&run), [("both ends", words.to_owned())]);
    }
}
