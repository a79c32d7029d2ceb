//! The program next to a sampler of the tests' own, with real clients in real servers: who ran, who waited, who intruded.
//!
//! Shares are compared with the sampler's of the same time, so that whatever else the machine does is in both.

mod check;
mod run;
mod sampler;
mod servers;
mod trees;

use crate::support::group::Group;
use crate::support::printed;
use check::Check;
use run::{Plan, run, tape};
use servers::{Product, Server};
use trees::{Manner, TREES};

/// A run of `lengths.0` seconds with an intruder between the two seconds of `lengths.1`, and one of `throttled` seconds with a quota.
fn prove(product: Product, is_traced: bool, lengths: (u32, (u32, u32)), throttled: u32) {
    // The group is dropped after the server: the kernel removes only empty ones.
    let group = Group::make(40_000);
    let Some(server) = Server::start(product) else { return };
    let folder = tempfile::tempdir().unwrap();
    let whole = tape(&folder, "whole");
    let (seconds, intruder) = lengths;
    let plan = Plan { seconds, is_traced, intruder: Some(intruder) };
    let found = run(&server, product, plan, &whole);
    let mut faults = Check { run: &found, product, is_traced }.faults();

    if let Some(group) = &group {
        server.enter(&group.folder);
        let plan = Plan { seconds: throttled, is_traced, intruder: None };
        let quota = tape(&folder, "quota");
        let found = run(&server, product, plan, &quota);
        faults.extend(Check { run: &found, product, is_traced }.faults());
        let text = printed(&["ledger", "--from", quota.to_str().unwrap()]);
        let throttled = group.throttled();
        println!("throttled in {throttled:.2} of the periods");
        // While a compiler runs too, the server may get less than its quota.
        if throttled > 0.5 && !text.contains("idle by a CPU quota") {
            faults.push(format!("no quota is named: {text}"));
        }
    }
    assert!(faults.is_empty(), "{product:?}, traced: {is_traced}:\n{}", faults.join("\n"));
}

/// What is wrong with the ledgers of all trees.
fn faults(manner: Manner) -> Vec<String> {
    TREES.iter().filter_map(|tree| trees::fault(tree, manner)).collect()
}

fn assert_none(faults: &[String], of: usize) {
    assert!(faults.is_empty(), "{} of {of} are wrong:\n{}", faults.len(), faults.join("\n"));
}

mod alone {
    use super::*;

    /// On a machine that others use too, the times are the command's all the same. `cargo xtask clients --long` has all of them.
    #[test]
    fn whatever_a_commands_tree_ran_is_its_own_without_a_trace() {
        const EACH: usize = 5;
        let manner = Manner { turns: 40_000, trace: "never" };
        let some = TREES.iter().step_by(EACH);
        let found: Vec<String> = some.filter_map(|tree| trees::fault(tree, manner)).collect();
        assert_none(&found, TREES.len().div_ceil(EACH));
    }
}

/// A quarter of a minute for each client.
mod usual {
    use super::*;

    #[test]
    #[ignore = "run by `cargo xtask clients` on a quiet machine: it measures it"]
    fn pgbench_untraced() {
        prove(Product::Postgresql, false, (13, (5, 9)), 8);
    }

    #[test]
    #[ignore = "run by `cargo xtask clients` on a quiet machine: it measures it"]
    fn sysbench_traced() {
        prove(Product::Mariadb, true, (13, (5, 9)), 8);
    }
}

/// Everything.
mod long {
    use super::*;

    const LENGTHS: (u32, (u32, u32)) = (30, (10, 20));

    #[test]
    #[ignore = "run by `cargo xtask clients --long` on a quiet machine: it takes minutes"]
    fn pgbench() {
        for is_traced in [false, true] {
            prove(Product::Postgresql, is_traced, LENGTHS, 30);
        }
    }

    #[test]
    #[ignore = "run by `cargo xtask clients --long` on a quiet machine: it takes minutes"]
    fn sysbench() {
        for is_traced in [false, true] {
            prove(Product::Mariadb, is_traced, LENGTHS, 30);
        }
    }

    #[test]
    #[ignore = "run by `cargo xtask clients --long` on a quiet machine: it takes minutes"]
    fn trees_traced_and_untraced() {
        for trace in ["never", "auto"] {
            assert_none(&faults(Manner { turns: 400_000, trace }), TREES.len());
        }
    }

    /// A child that another child ends: by the trace alone its time was somebody else's in 3 runs of 8.
    #[test]
    #[ignore = "run by `cargo xtask clients --long` on a quiet machine: it takes minutes"]
    fn a_child_that_a_timeout_ends_is_the_commands_in_40_of_40() {
        let tree = "timeout 1.5 gzip -9 </dev/zero >/dev/null; true";
        let manner = Manner { turns: 1, trace: "auto" };
        let found: Vec<String> = (0..40).filter_map(|_| trees::fault(tree, manner)).collect();
        assert_none(&found, 40);
    }
}
