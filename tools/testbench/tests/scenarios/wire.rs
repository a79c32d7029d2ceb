//! Tests of the wire between two processes of a machine: over RDMA that is software, and over a link of a known rate.
#![expect(clippy::print_stdout, reason = "the rates are to be read")]

use crate::boots::WIRED;
use serde_json::Value;
use testbench::StepOutput;

/// What the step's RDMA device lets perftest do: every test of ours is one of its programs.
const TESTS: [(&str, &str); 4] = [
    ("read-bw", "bandwidth"),
    ("write-bw", "bandwidth"),
    ("send-bw", "bandwidth"),
    ("latency", "latency"),
];

/// The rate that the step gives its link, in bytes per second.
const SHAPED: f64 = 20e6 / 8.0;

/// A packet of Ethernet with TCP's time stamps: its data, and all that the shaper counts.
const DATA: f64 = 1448.0;
const PACKET: f64 = 1514.0;

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn every_test_of_perftest_runs_and_its_conflicting_clocks_stand_beside_measured_ones() {
    for (test, figure) in TESTS {
        let value = json(test);
        assert_eq!((&value["test"], &value["transport"]), (&test.into(), &"rdma".into()));
        let points = array(&value["points"]);
        let sizes: Vec<&Value> = points.iter().map(|it| &it["bytes"]).collect();
        assert_eq!(sizes, [64, 4096], "{value:#}");
        for point in points {
            assert!(point[figure].is_object(), "{test}: {point:#}");
            for end in ["client", "server"] {
                let clock_hz = point[end][0]["clock_hz"].as_f64();
                assert!(clock_hz > Some(1e8), "{test}: {point:#}");
            }
        }
        let conflicts = array(&value["perftest_conflicts"]);
        assert!(!conflicts.is_empty(), "{value:#}");
        for conflict in conflicts {
            let clocks = [&conflict["first_hz"], &conflict["other_hz"]];
            assert_eq!(clocks, [1_600_000_000_u64, 2_534_000_000]);
        }
    }
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn the_verdict_on_conflicting_clocks_names_what_keeps_them_apart_and_what_mends_it() {
    let text = said("text").split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "perftest found 1600 MHz on CPU 0 and 2534 MHz on another",
        "nominal clock 2534 MHz",
        "slow-governor: governor userspace holds a clock below the maximum",
        "mixed-frequency-settings: scaling_governor differs between like CPUs",
        "fixes it",
    ] {
        assert!(text.contains(part), "no '{part}' in {text}");
    }
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn what_rdma_lacks_is_said_with_what_to_do() {
    for (name, told) in [
        ("no adapter", "`rdma link add rxe0 type rxe netdev INTERFACE` makes one"),
        ("by IPv6", "name the server by its IPv4 address"),
        ("no such device", "there are rxe0/1"),
        ("other version", "perftest is 5.91 here and 6.06 on the server"),
        (
            "disturbed",
            "ib_write_bw could not measure its clock, as on a CPU that others disturb: test again",
        ),
        ("link down", "no RDMA port has a link here: rxe0/1 is \"1: DOWN\""),
    ] {
        let said = said(name);
        assert!(said.contains(told) && said.ends_with("exit code 2\n"), "{name}: {said}");
    }
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn an_interrupted_test_ends_both_programs_and_the_server_serves_on() {
    assert!(said("interrupted").contains("interrupted before the first message size was over"));
    assert_eq!(array(&json("after that")["points"]).len(), 1);
    assert_eq!(step("rdma").status, 0);
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn a_shaped_link_is_found_to_carry_what_it_does() {
    let runs = serde_json::Deserializer::from_str(&step("shaped").stdout).into_iter::<Value>();
    let runs: Vec<Value> = runs.map(|it| it.unwrap_or_else(|why| panic!("{why}"))).collect();
    assert_eq!(runs.len(), 2);
    let ceiling = SHAPED * DATA / PACKET;
    let share = |point: &Value| {
        let average = point["bandwidth"]["average_bytes_per_second"].as_f64().unwrap_or(f64::NAN);
        println!("{} bytes: {:.2} % of the ceiling", point["bytes"], 100.0 * average / ceiling);
        average / ceiling
    };
    let shares: Vec<f64> = runs.iter().flat_map(|it| array(&it["points"])).map(share).collect();
    // A busy machine may leave the link unused for a while, at one size or another; nothing carries more than the link does.
    assert!(shares.iter().all(|it| *it < 1.03), "{shares:?}");
    assert!(shares.iter().copied().fold(0.0, f64::max) >= 0.94, "{shares:?}");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn a_link_that_goes_away_below_a_test_is_told_as_silence() {
    let said = &step("shaped").stderr;
    assert!(said.contains("nothing came through for 10 s"), "{said}");
    assert!(said.contains("exit code 2"), "{said}");
    assert_eq!(step("shaped").status, 0);
}

fn step(name: &str) -> &'static StepOutput {
    WIRED.step(name).unwrap_or_else(|error| panic!("{error:#}"))
}

/// What followed that name in the step over RDMA.
fn said(name: &str) -> &'static str {
    let output = &step("rdma").stdout;
    let begin = format!("# {name}\n");
    let (_, behind) =
        output.split_once(&begin).unwrap_or_else(|| panic!("no '{name}' in {output}"));
    behind.split("# ").next().unwrap_or_default()
}

fn json(name: &str) -> Value {
    serde_json::from_str(said(name)).unwrap_or_else(|error| panic!("{error}: {}", said(name)))
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value:#}"))
}
