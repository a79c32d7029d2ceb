//! What is said of the causes of a difference.

use super::causes::{split, takers};
use super::*;
use proptest::prelude::*;

/// A run of 30 seconds on two CPUs.
#[derive(Clone, Copy)]
pub(super) struct Made {
    pub number: f64,
    pub client: f64,
    pub server: f64,
    pub other: f64,
    pub slow: f64,
}

pub(super) const A: Made = Made { number: 1000.0, client: 0.2, server: 1.4, other: 0.0, slow: 0.0 };

fn task(who: Who, name: &str, run_s: f64) -> Task {
    Task { who, name: name.to_owned(), run_s, wait_s: 0.1 }
}

pub(super) fn seconds(made: Made) -> Vec<Second> {
    let second = |at: u32| {
        // A percent of noise without a trend.
        let noise = 1.0 + f64::from(at * 7 % 11) / 1000.0;
        Second {
            elapsed_s: 1.0,
            capacity_s: 2.0,
            client: Ok(made.number * noise),
            tasks: Ok(vec![
                task(Who::Client, "pgbench", made.client * noise),
                task(Who::Server, "PostgreSQL backend", made.server * noise),
                task(Who::Other, "gzip", made.other),
            ]),
            lines: Lines {
                idle: Ok(2.0 - (made.client + made.server) * noise - made.other),
                quota: Ok(0.0),
                stolen: Ok(0.0),
                slow: Ok(made.slow),
            },
            loads: Vec::new(),
        }
    };
    (0..30).map(second).collect()
}

fn recording(seconds: Vec<Second>) -> Recording {
    let metric = ClientMetric { client: "pgbench".to_owned(), unit: "tps".to_owned() };
    Recording { seconds, metric: Some(metric), every_s: 1.0, has_command: true }
}

fn compared(b: Made) -> Why {
    why(&recording(seconds(A)), &recording(seconds(b))).unwrap()
}

pub(super) fn compared_with(a: Vec<Second>, b: Vec<Second>) -> Why {
    why(&recording(a), &recording(b)).unwrap()
}

/// The causes, each with its share in percent.
fn causes(why: &Why) -> Vec<(What, i64)> {
    why.causes.iter().map(|it| (it.what.clone(), (it.share * 100.0).round() as i64)).collect()
}

fn backend() -> Option<(Who, String)> {
    Some((Who::Server, "PostgreSQL backend".to_owned()))
}

#[test]
fn equal_runs_are_not_claimed_to_differ_and_have_no_cause() {
    let found = compared(A);
    assert!(!found.rate.verdict.is_claimed(), "{:?}", found.rate);
    assert!(found.causes.is_empty() && !found.cost.unwrap().verdict.is_claimed());
}

#[test]
fn a_run_whose_ledger_is_equal_and_whose_work_is_less_cost_more_per_unit() {
    let found = compared(Made { number: 710.0, ..A });
    assert!(found.rate.verdict.is_claimed() && found.cost.as_ref().unwrap().verdict.is_claimed());
    assert_eq!(causes(&found), [(What::Cost(backend()), 100)]);
    assert_eq!(found.shares.unwrap().clock, Some(0.0));
}

#[test]
fn an_intruder_that_takes_half_is_named() {
    let b = Made { number: 500.0, client: 0.1, server: 0.7, other: 1.0, ..A };
    let [taken] = &causes(&compared(b))[..] else { panic!() };
    // Some of what it took had been idle.
    assert_eq!(taken, &(What::Tasks(Who::Other, "gzip".to_owned()), 124));
}

#[test]
fn a_run_that_waits_leaves_cpus_idle() {
    let b = Made { number: 500.0, client: 0.1, server: 0.7, ..A };
    assert_eq!(causes(&compared(b)), [(What::Idle, 100)]);
}

#[test]
fn a_lower_clock_explains_its_part_of_the_cost() {
    // Half as fast, and what the clock does not explain is less than a tenth.
    let found = compared(Made { number: 510.0, slow: 0.8, ..A });
    assert_eq!(found.causes[0].what, What::Clock, "{:?}", found.causes);
    assert!(found.causes.iter().all(|it| !matches!(it.what, What::Cost(_))), "{:?}", found.causes);
}

#[test]
fn a_run_that_costs_more_and_gets_less_has_both_causes() {
    let b = Made { number: 400.0, client: 0.1, server: 0.7, ..A };
    let found = compared(b);
    let [(idle, most), (cost, least)] = &causes(&found)[..] else { panic!("{:?}", found.causes) };
    assert_eq!((idle, cost), (&What::Idle, &What::Cost(backend())));
    assert_eq!(most + least, 100);
}

#[test]
fn seconds_without_any_work_count_in_longer_pieces() {
    let mut stalled = seconds(A);
    for second in stalled.iter_mut().skip(3).step_by(4) {
        second.client = Ok(0.0);
    }
    let found = why(&recording(seconds(A)), &recording(stalled)).unwrap();
    assert_eq!((found.piece_s, found.pieces), (2.0, [15, 15]));
    assert!((found.totals[1].number() / found.totals[0].number() - 0.76).abs() < 0.02);
    let mut dead = seconds(A);
    dead.iter_mut().skip(1).take(28).for_each(|it| it.client = Ok(0.0));
    let found = why(&recording(seconds(A)), &recording(dead)).unwrap();
    assert!(matches!(found.rate.verdict, Verdict::TooFew { .. }), "{:?}", found.rate);
}

#[test]
fn pieces_are_as_long_as_the_client_reports() {
    let every = |every_s| Recording { every_s, ..recording(seconds(A)) };
    let of = |a, b| why(&every(a), &every(b)).unwrap().pieces;
    assert_eq!([of(0.25, 1.003), of(1.0, 5.001)], [[30, 30], [6, 6]]);
}

#[test]
fn the_time_before_the_first_number_and_after_the_last_is_left_out() {
    let mut longer = seconds(A);
    let silent = |mut it: Second| {
        it.client = Err(Missing::not_here("a number of the client", "it printed none"));
        it
    };
    longer.insert(0, silent(longer[0].clone()));
    longer.push(silent(longer[1].clone()));
    longer[7] = silent(longer[7].clone());
    let found = why(&recording(seconds(A)), &recording(longer)).unwrap();
    assert_eq!((found.totals[1].elapsed_s, found.totals[1].left_out_s), (29.0, 1.0));
}

#[test]
fn without_a_command_the_cost_is_of_the_server_or_of_all() {
    let alone = |seconds| Recording { has_command: false, ..recording(seconds) };
    let of = |seconds: Vec<Second>| why(&alone(seconds.clone()), &alone(seconds)).unwrap().work;
    assert_eq!(of(seconds(A)), Work::Server);
    let mut others = seconds(A);
    for second in &mut others {
        second.tasks = Ok(vec![task(Who::Other, "java", 1.0)]);
    }
    assert_eq!(of(others), Work::All);
}

#[test]
fn recordings_without_numbers_or_of_different_units_are_refused() {
    let a = recording(seconds(A));
    let metric = |client: &str, unit: &str| {
        let metric = ClientMetric { client: client.to_owned(), unit: unit.to_owned() };
        Recording { metric: Some(metric), ..a.clone() }
    };
    let refused = |b: &Recording| why(&a, b).unwrap_err().to_string();
    assert!(refused(&Recording { metric: None, ..a.clone() }).starts_with("B holds no numbers"));
    assert!(refused(&recording(Vec::new())).starts_with("B holds no numbers"));
    assert!(refused(&metric("hammerdb", "tpm")).contains("B has tpm of hammerdb"));
}

proptest! {
    #[test]
    fn the_parts_of_a_change_add_up_to_it(
        number in 1.0_f64..5000.0, client in 0.01_f64..0.9, server in 0.01_f64..0.9, other in 0.0_f64..0.2, slow in 0.0_f64..0.01,
    ) {
        let found = compared(Made { number, client, server, other, slow });
        let shares = found.shares.unwrap();
        let sum = shares.cpu_time + shares.clock.unwrap() + shares.cost;
        prop_assert!((sum - shares.total).abs() < 1e-9);
        let takers = takers(&found.totals, found.work).unwrap();
        let cpu_time: f64 = split(&takers, shares.cpu_time).map(|it| it.1).sum();
        prop_assert!((cpu_time - shares.cpu_time).abs() < 1e-6, "{cpu_time} {shares:?}");
    }
}
