//! Whose time a task's time is.

/// Whose time a task's time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// The kernel's.
    Kernel,
    /// The kernel's, which keeps a CPU idle by a thread of its own to cool it.
    ForcedIdle,
    /// This program's.
    Observer,
    /// That of the processes that were asked for; of all users where none was.
    Asked,
    /// Somebody else's.
    Other,
}
