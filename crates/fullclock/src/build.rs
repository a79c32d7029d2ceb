//! What this program was built from, and by what.

/// `fullclock 0.1.0`, and a line each for the commit, the compiler, the oldest C library and the features.
pub(crate) fn description() -> String {
    let commit = option_env!("FULLCLOCK_COMMIT")
        .unwrap_or("unknown: `cargo xtask package` writes it into what it makes");
    let glibc = option_env!("FULLCLOCK_GLIBC").unwrap_or("that of the machine it was built on");
    let features = if cfg!(feature = "faults") { "faults (for tests only)" } else { "none" };
    format!(
        "fullclock {}\ncommit    {commit}\nbuilt by  {}, {}, {}\nglibc     {glibc}\nfeatures  {features}\n",
        env!("CARGO_PKG_VERSION"),
        env!("FULLCLOCK_RUSTC"),
        env!("FULLCLOCK_PROFILE"),
        env!("FULLCLOCK_TARGET"),
    )
}
