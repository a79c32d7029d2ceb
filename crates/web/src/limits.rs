//! How many connections and streams a server has, and how long they may take.

use super::streams::Share;
use std::time::Duration;

/// What a server allows.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Connections that have not shown the token, where there is one; otherwise all of them.
    pub(crate) unproven: usize,
    /// Connections that have shown the token.
    pub(crate) proven: usize,
    /// Connections of one address that have not shown the token.
    pub(crate) per_peer: usize,
    /// How long a new connection may take to send the head of its first request.
    pub(crate) first_head: Duration,
    /// Streams of the present.
    pub(crate) readings: Share,
    /// Streams of results and races, each of which has a thread.
    pub(crate) intervals: Share,
}

/// Connections where the limit of open files allows it. One that has been answered takes about 30 KiB (debug build, x86_64).
const MOST: usize = 1000;

/// So few there are in any case: a browser has six to a server.
const FEWEST: usize = 16;

/// As `Limits::first_head`.
const FIRST_HEAD: Duration = Duration::from_secs(5);

impl Limits {
    /// Those of this process, which may have at most so many open files.
    pub(crate) fn of_process(most_files: usize, needs_token: bool) -> Limits {
        Limits::of(most_files.saturating_sub(n_open_files()), needs_token)
    }

    /// Those of a server that may open so many more files, of which it leaves half to what else it does.
    pub(crate) fn of(n_open_files: usize, needs_token: bool) -> Limits {
        let total = (n_open_files / 2).clamp(FEWEST, MOST);
        let unproven = if needs_token { total / 2 } else { total };
        let proven = total - unproven;
        // Streams are not closed for other connections, so there are always fewer of them than of the connections they need.
        let carrying = if needs_token { proven } else { unproven };
        let per_peer = total / 4;
        let streams_per_peer = if needs_token { carrying / 8 } else { per_peer / 4 };
        Limits {
            unproven,
            proven,
            per_peer,
            first_head: FIRST_HEAD,
            readings: Share { total: 256, per_peer: 64 }.at_most(carrying / 4, streams_per_peer),
            intervals: Share { total: 32, per_peer: 16 }.at_most(carrying / 4, streams_per_peer),
        }
    }
}

/// How many files this process has open; 0 where /proc is not mounted.
#[expect(clippy::disallowed_methods, reason = "looks at this process, not at the host")]
fn n_open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_kept_for_the_token_and_streams_leave_some_to_other_requests() {
        for (n_files, needs_token) in
            [(0, true), (0, false), (200, true), (1000, false), (1 << 18, true), (1 << 18, false)]
        {
            let limits = Limits::of(n_files, needs_token);
            let Limits { unproven, proven, per_peer, readings, intervals, .. } = &limits;
            assert_eq!(*proven > 0, needs_token);
            assert!(per_peer * 2 <= *unproven, "{limits:?}");
            assert!(unproven + proven <= (n_files / 2).max(FEWEST), "{limits:?}");
            let carrying = if needs_token { proven } else { per_peer };
            assert!(readings.per_peer + intervals.per_peer < *carrying, "{limits:?}");
            let carrying = if needs_token { proven } else { unproven };
            assert!(readings.total + intervals.total < *carrying, "{limits:?}");
            assert!(readings.per_peer > 0 && intervals.per_peer > 0, "{limits:?}");
        }
        let limits = Limits::of(1 << 18, true);
        assert_eq!((limits.unproven, limits.proven, limits.per_peer), (500, 500, 250));
        let limits = Limits::of(1 << 18, false);
        assert_eq!((limits.unproven, limits.proven, limits.per_peer), (1000, 0, 250));
    }
}
