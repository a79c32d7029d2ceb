//! What `fullclock --version --verbose` says of the build.
#![expect(clippy::disallowed_methods, reason = "runs when the program is built")]

use std::process::Command;

fn main() {
    // Nothing but these makes another program: no time, no folder, no user.
    for variable in ["FULLCLOCK_COMMIT", "FULLCLOCK_GLIBC", "RUSTC"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("--version").output();
    let version = output.ok().and_then(|it| String::from_utf8(it.stdout).ok()).unwrap_or_default();
    println!("cargo::rustc-env=FULLCLOCK_RUSTC={}", version.trim());
    for (ours, cargos) in [("FULLCLOCK_TARGET", "TARGET"), ("FULLCLOCK_PROFILE", "PROFILE")] {
        let value = std::env::var(cargos).unwrap_or_default();
        println!("cargo::rustc-env={ours}={value}");
    }
}
