//! How many files this process may have open.
//!
//! A large machine has some ten thousand files to keep open, and the usual soft limit is 1,024 because of
//! programs that use select(2). This one does not; a command that it starts may.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::OnceLock;

/// What a machine of 8,192 CPUs needs; the kernel's own limit is four times that (fs.nr_open).
const ENOUGH: u64 = 1 << 18;

/// The limit that this process was started with.
static ORIGINAL: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit as far as this process may, which for root is as far as it needs. Gives the limit.
pub fn raise() -> usize {
    let limit = ORIGINAL.get_or_init(|| getrlimit(Resource::Nofile));
    let enough = limit.maximum.map(|it| it.max(ENOUGH));
    for raised in [enough, limit.maximum] {
        if setrlimit(Resource::Nofile, Rlimit { current: raised, maximum: raised }).is_ok() {
            return count(raised);
        }
    }
    count(limit.current)
}

/// Does `work`, the start of another program, with the limit that this process was started with.
pub fn with_original_limit<T>(work: impl FnOnce() -> T) -> T {
    let Some(original) = ORIGINAL.get() else { return work() };
    let raised = getrlimit(Resource::Nofile);
    let lowered = setrlimit(Resource::Nofile, *original).is_ok();
    let done = work();
    if lowered && setrlimit(Resource::Nofile, raised).is_err() {
        // Only who may raise the hard limit could have raised it before, but the right may be gone.
        raise();
    }
    done
}

/// `None` is no limit.
fn count(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |it| usize::try_from(it).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_program_gets_the_limit_from_before() {
        let before = getrlimit(Resource::Nofile);
        raise();
        let raised = getrlimit(Resource::Nofile);
        assert_eq!(with_original_limit(|| getrlimit(Resource::Nofile)), *ORIGINAL.get().unwrap());
        assert_eq!(getrlimit(Resource::Nofile), raised);
        // Other tests of this process may have raised it first.
        assert!(before == raised || before == *ORIGINAL.get().unwrap());
    }
}
