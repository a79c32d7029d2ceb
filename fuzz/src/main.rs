//! Links every fuzz target with libFuzzer; `FUZZ_TARGET` names the one to run.
#![no_main]

use std::env;
use std::process;
use std::sync::LazyLock;

use fuzz_targets::{TARGETS, Target};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = env::var("FUZZ_TARGET").unwrap_or_default();
    TARGETS.iter().find(|it| it.name == name).unwrap_or_else(|| {
        eprintln!("FUZZ_TARGET names no target: {name:?}");
        process::exit(2)
    })
});

fuzz_target!(
    init: LazyLock::force(&TARGET),
    |input: &[u8]| (TARGET.run)(input)
);
