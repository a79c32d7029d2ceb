//! Whether the adapters of both ends, and the CPUs that serve their interrupts, are near the CPUs that did the work.

use crate::net::Statements;
use lab::known::Known;
use lab::net::protocol::Judgement;
use lab::net::{MANY_A_SECOND, Nearness, NicLocality, Placement, Run, Taken};

/// The number of CPUs with interrupts that are listed.
const SHOWN: usize = 4;

/// Adds a statement for each end, or one if both are the same.
pub(super) fn add_to(statements: &mut Statements, run: &Run) {
    for (ends, words) in by_end(run) {
        statements.add("adapter", &format!("{ends}: {words}"));
    }
}

/// The sentence for each end, or one for both.
pub(super) fn by_end(run: &Run) -> Vec<(&'static str, String)> {
    let [(_, client), (_, server)] = run.judged.named().map(|(end, it)| (end, judgement_text(it)));
    if client == server {
        return vec![("both ends", client)];
    }
    vec![("client", client), ("server", server)]
}

fn judgement_text(judgement: &Judgement) -> String {
    let place = &judgement.place;
    let locality = match (&place.device, &place.adapter) {
        (Known::Value(device), Known::Missing { missing }) => {
            // An interface is identified by its address, except the loopback; perftest is given the name of an RDMA port.
            let is_sure = device == "lo" || device.contains('/');
            let over = if is_sure { "the data went over" } else { "its address is that of" };
            return format!("{over} {device}; {missing}");
        }
        (Known::Missing { missing }, _) => return format!("unknown: {missing}"),
        (_, Known::Value(locality)) => locality,
    };
    let device = place.device.value().map_or("", |it| it);
    let address = &locality.address;
    format!("{device} ({address}) {}; {}", near(place, locality), interrupts(judgement, locality))
}

fn near(place: &Placement, locality: &NicLocality) -> String {
    let node = match (&locality.node, &locality.near) {
        (Known::Value(node), Known::Value(cpus)) => format!("is on NUMA node {node} (CPUs {cpus})"),
        (Known::Value(node), Known::Missing { missing }) => {
            format!("is on NUMA node {node}, whose CPUs are unknown: {missing}")
        }
        (Known::Missing { missing }, _) => {
            format!("is on a NUMA node that is unknown: {missing}")
        }
    };
    let worked = &place.worked;
    match place.nearness() {
        Some(Nearness::OnlyNode) => "is near to all CPUs: there is one NUMA node".to_owned(),
        Some(Nearness::Near) => format!("{node}, and so are the CPUs that worked, {worked}"),
        Some(Nearness::Mixed) => format!(
            "{node}, and some of the CPUs that worked, {worked}, are on another: `--cpus` keeps the test on the near ones"
        ),
        Some(Nearness::Far) => format!(
            "{node}, and all CPUs that worked, {worked}, are on another: the data crosses the link between the processors; \
             `--cpus` puts the test on the near ones"
        ),
        None => node,
    }
}

fn interrupts(judgement: &Judgement, locality: &NicLocality) -> String {
    let taken = match &locality.interrupted {
        Known::Value(taken) => taken,
        Known::Missing { missing } => return format!("its interrupts are unknown: {missing}"),
    };
    if taken.is_empty() {
        return "none of its interrupts came during the test".to_owned();
    }
    let on = |it: &Taken| format!("CPU {} ({})", it.cpu, it.count);
    let mut shown: Vec<String> = taken.iter().take(SHOWN).map(on).collect();
    if taken.len() > SHOWN {
        shown.push(format!("{} more", taken.len() - SHOWN));
    }
    let measured_ns = match &judgement.ledger {
        Known::Value(ledger) => ledger.wall_ns,
        Known::Missing { missing } => {
            let shown = shown.join(", ");
            return format!(
                "its interrupts came on {shown}; how many a second is unknown: {missing}"
            );
        }
    };
    let competing = judgement.place.competing(measured_ns);
    let judged = if competing.is_empty() {
        format!("fewer than {MANY_A_SECOND} a second on each CPU that worked for the test")
    } else {
        let which = if competing.len() == 1 { "CPU" } else { "CPUs" };
        format!(
            "{which} {competing} worked for the test as well, so that each takes time from the other"
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
        let [(_, client), (_, server)] = &by_end(&run)[..] else { panic!("alike") };
        assert_eq!(
            client,
            "eth0 (0000:81:00.0) is on NUMA node 1 (CPUs 2-3), and all CPUs that worked, 0-1, are on another: the data crosses \
             the link between the processors; `--cpus` puts the test on the near ones; its interrupts came on CPU 1 (81220), \
             CPU 3 (12): CPU 1 worked for the test as well, so that each takes time from the other"
        );
        assert!(server.contains("and so are the CPUs that worked, 0-1;"), "{server}");
    }

    #[test]
    fn interrupts_that_few_a_second_came_of_are_no_competitors() {
        let mut run = fixture::bandwidth();
        let Known::Value(ledger) = &mut run.judged.client.ledger else { panic!("no ledger") };
        ledger.wall_ns = 82_000_000_000;
        let [(_, client), _] = &by_end(&run)[..] else { panic!("alike") };
        let words = "CPU 3 (12): fewer than 1000 a second on each CPU that worked for the test";
        assert!(client.ends_with(words), "{client}");
        run.judged.client.ledger = Known::Missing { missing: "why".to_owned() };
        let [(_, client), _] = &by_end(&run)[..] else { panic!("alike") };
        assert!(client.ends_with("; how many a second is unknown: why"), "{client}");
    }

    #[test]
    fn an_interface_is_not_said_to_have_carried_what_its_address_alone_tells_of() {
        let mut run = fixture::bandwidth();
        run.judged.client.place.device = Known::Value("veth0".to_owned());
        run.judged.client.place.adapter = Known::Missing { missing: "none".to_owned() };
        let [(_, client), _] = &by_end(&run)[..] else { panic!("alike") };
        assert_eq!(client, "its address is that of veth0; none");
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
        assert_eq!(by_end(&run), [("both ends", words.to_owned())]);
    }
}
