//! The small files of sysfs: one number, word, switch, rate or state each.

use facts::cpu::cooling::Kind;
use facts::cpu::cpuidle::{ResumeLatency, latency_limit};
use facts::cpu::delivered::{Counts, Excursions};
use facts::cpu::energy_bias::Preference;
use facts::cpu::pstate::AmdPstate;
use facts::links::ethtool::{binary, text as printed};
use facts::links::infiniband::{Coded, Rate};
use facts::links::pcie::{self, Speed};
use facts::links::{network, perftest::Curve};
use facts::pmu::{self, Bits};
use facts::power::board::SystemCap;
use facts::power::hsmp::HsmpSocket;
use facts::power::plr;
use facts::power::speed_select::{self, InForce, Profile};
use facts::system::{database, ipmi, isolation, kernel, preemption, sysctl};
use facts::{Missing, parse};

pub(crate) fn run(input: &[u8]) {
    let text = crate::text(input);
    numbers(text);
    assert!(text.contains(parse::trimmed(text)));
    let _ = (parse::line(text), parse::words(text), parse::switch(text));
    let _ = (parse::kilohertz(text), parse::kilohertz_list(text));
    let _ = (kernel::uptime(text), ipmi::numbers(text), sysctl::not_zero(text));
    let _ = (preemption::in_force(text), database::product(text), Kind::of_type(text));
    let _ = (isolation::callbacks_of(text), isolation::allowed_cpus(text));
    let _ = (ResumeLatency::parse(text).map(ResumeLatency::limit), latency_limit(text.as_bytes()));
    links(text);
    pmu(text);
    limits(text);
    clocks(text);
    answers(input);
    // A message stays short whatever was found.
    let message = Missing::malformed("/sys/file", text, "a number").to_string();
    assert!(message.chars().count() < 1024, "{message}");
}

fn numbers(text: &str) {
    if let Ok(number) = parse::number(text) {
        assert_eq!(parse::number(&number.to_string()), Ok(number));
    }
    if let Ok(number) = parse::signed(text) {
        assert_eq!(parse::signed(&number.to_string()), Ok(number));
    }
}

/// Reasons have no more CPUs than the log has, and a dump has no CPUs.
fn limits(text: &str) {
    if let Ok(log) = plr::Log::parse(text) {
        let seen = log.seen();
        assert!(seen.iter().all(|it| it.cpus.len() <= log.cpus.len()));
        assert!(log.die.reasons.is_empty() || !seen.is_empty());
    }
    for (_, log) in plr::dumped(text).unwrap_or_default() {
        assert!(log.seen().iter().all(|it| it.cpus.is_empty()));
    }
}

/// Answers of a driver: a profile is real or none, and a mask has 16 bits.
fn answers(input: &[u8]) {
    let _ = InForce::of_struct(input);
    if let Ok(number) = speed_select::number(input) {
        let _ = (speed_select::levels(number), Profile::of_mailbox(number, number));
    }
    if let Ok(profile) = Profile::of_struct(input) {
        assert!(profile.base.0 > 0 && profile.turbo >= profile.base);
    }
    assert!(speed_select::domains(input).map_or(0, |it| it.len()) <= 16);
    let _ = speed_select::core_power_of_struct(input);
}

/// The text is a format and an event of that format.
fn pmu(text: &str) {
    let _ = pmu::scale(text);
    if let Some((format, terms)) = text.split_once('\n')
        && let Ok(bits) = Bits::parse(format)
    {
        let _ = pmu::config(terms, &[("event".to_owned(), bits)]);
    }
}

/// What holds a clock, by AMD, CPPC and POWER.
fn clocks(text: &str) {
    let names = HsmpSocket::sources(text);
    assert!(names.iter().all(|it| !it.is_empty() && text.contains(it.as_str())));
    let _ = (HsmpSocket::number_of_uid(text), AmdPstate::is_enabled(text), Kind::cpu_of_type(text));
    if let Ok(log) = Excursions::parse(text) {
        assert_eq!(Excursions::parse(&log.bits().to_string()), Ok(log));
    }
    if let Ok(power) = SystemCap::watts(text) {
        assert_eq!(SystemCap::watts(&(power.0 / 1_000_000).to_string()), Ok(power));
    }
    assert!(text.contains(Preference::word(text)));
    let _ = (Counts::parse(text), Counts::parse_rise(text));
}

fn links(text: &str) {
    let _ = (Coded::parse(text), Rate::parse(text), pcie::class(text), pcie::is_address(text));
    let _ = (network::speed(text), network::mtu(text), network::numa_node(text));
    let _ = (network::distances(text), network::pci_folder(text, "net"), Curve::parse(text));
    let _ = (printed::settings(text), printed::fec(text), printed::pause(text));
    let bytes = text.as_bytes();
    let _ = (binary::settings(bytes), binary::fec(bytes), binary::pause(bytes));
    if let Ok(speed) = Speed::parse(text) {
        assert_eq!(Speed::parse(&speed.to_string()), Ok(speed));
    }
    let lanes = pcie::width(text);
    if let Ok(Some(gigatransfers_10)) = pcie::speed(text) {
        let speed = Speed { gigatransfers_10, lanes: lanes.ok().flatten().unwrap_or(1) };
        assert!(speed.megabytes() < 1 << 20, "{speed}");
    }
}
