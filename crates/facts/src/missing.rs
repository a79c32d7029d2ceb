//! A fact, or the reason there is none.
//!
//! The reasons are kept apart because they lead to different verdicts: what a host does not have is
//! not a fault, what could not be read is not "fine".

use crate::elsewhere::Elsewhere;
use std::borrow::Cow;
use std::fmt;

/// Something read from a host, or the reason it could not be read.
pub type Fact<T> = Result<T, Missing>;

/// What is not known about a host, and why, in words a user can act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The path, register or leaf that was asked for.
    pub what: String,
    /// Why there is no answer.
    pub why: Why,
}

const UNASKED: &str = "not collected here (this is a bug in fullclock)";

const LEFT_ALONE: &str =
    "the management controller is not asked here: to answer costs it, and the kernel, time";

const NOT_SHOWN: &str = "no file shows it";

const TOO_IDLE: &str = "the CPUs were idle, or which of them worked is unknown";

const NO_DEVICE: &str =
    "the driver has an interface to the management controller, and no module makes a device of it";

/// Why a fact is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// This kind of host has no such thing, by its own word (vendor, CPUID, hypervisor); the text says
    /// whose.
    NotHere(String),
    /// The host is a guest, and its hypervisor, named here, shows something of its own making instead.
    Hidden(String),
    /// The host was asked, and the file or folder does not exist.
    Absent,
    /// The host was asked, and refused.
    Denied,
    /// The copy of the host that is being looked at does not hold it.
    NotCollected,
    /// The host was asked, and reading failed; the text is the operating system's.
    Failed(String),
    /// There was an answer, and it makes no sense.
    Malformed {
        /// What was found, cut to a readable length.
        found: String,
        /// What should have been there.
        expected: Cow<'static, str>,
    },
}

/// What keeps a fact unknown, by what would remove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// The host refused for lack of a privilege: root or a capability would help.
    Privilege,
    /// A kernel module is not loaded.
    Module,
    /// The fact belongs to the machine under this guest.
    Guest,
    /// Anything else: no privilege and no module of this host would help.
    Other,
}

impl Obstacle {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Obstacle; 4] =
        [Obstacle::Privilege, Obstacle::Module, Obstacle::Guest, Obstacle::Other];

    /// The name in output, one word.
    pub fn name(self) -> &'static str {
        match self {
            Obstacle::Privilege => "privilege",
            Obstacle::Module => "module",
            Obstacle::Guest => "guest",
            Obstacle::Other => "other",
        }
    }
}

impl Missing {
    /// `what` does not exist on the host.
    pub fn absent(what: impl Into<String>) -> Missing {
        Missing { what: what.into(), why: Why::Absent }
    }

    /// `what` exists, and reading it needs more privilege.
    pub fn denied(what: impl Into<String>) -> Missing {
        Missing { what: what.into(), why: Why::Denied }
    }

    /// `what` is not part of the copy of the host at hand.
    pub fn not_collected(what: impl Into<String>) -> Missing {
        Missing { what: what.into(), why: Why::NotCollected }
    }

    /// This kind of host has no `what`; `because` names the witness.
    pub fn not_here(what: impl Into<String>, because: impl Into<String>) -> Missing {
        Missing { what: what.into(), why: Why::NotHere(because.into()) }
    }

    /// `what`: not available in a guest of `hypervisor`.
    pub fn hidden(what: impl Into<String>, hypervisor: impl Into<String>) -> Missing {
        Missing { what: what.into(), why: Why::Hidden(hypervisor.into()) }
    }

    /// `what` holds `found`, which is not `expected`.
    pub fn malformed(what: impl Into<String>, found: &str, expected: &'static str) -> Missing {
        const READABLE: usize = 80;
        let mut shown: String = found.trim().chars().take(READABLE).collect();
        if found.trim().chars().nth(READABLE).is_some() {
            shown.push('…');
        }
        Missing {
            what: what.into(),
            why: Why::Malformed { found: shown, expected: expected.into() },
        }
    }

    /// The file `what` has `length` bytes, or more than its limit where that is not known, and its kind of file has at
    /// most `limit` ([`crate::limits`]).
    pub fn too_long(what: impl Into<String>, length: Option<u64>, limit: usize) -> Missing {
        let length = length.map_or_else(|| format!("more than {limit}"), |it| it.to_string());
        let why = Why::Failed(format!("it has {length} bytes, the limit for this file is {limit}"));
        Missing { what: what.into(), why }
    }

    /// The folder `what` holds more than `limit` of what is named by `names`.
    pub fn too_many(what: impl Into<String>, names: &str, limit: usize) -> Missing {
        let why = Why::Failed(format!("it has more than {limit} {names}, which is the limit"));
        Missing { what: what.into(), why }
    }

    /// `what` was not asked for: whoever looks at it has to declare that it does ([`crate::Subject`]).
    pub fn unasked(what: impl Into<String>) -> Missing {
        Missing { what: what.into(), why: Why::Failed(UNASKED.to_owned()) }
    }

    /// Whether it is missing because nobody asked: [`Missing::unasked`].
    pub fn is_unasked(&self) -> bool {
        matches!(&self.why, Why::Failed(text) if text == UNASKED)
    }

    /// `what` is asked of the management controller by few commands only, and this is none of them.
    pub fn left_alone(what: impl Into<String>) -> Missing {
        Missing { what: what.into(), why: Why::Failed(LEFT_ALONE.to_owned()) }
    }

    /// `what` shows only of CPUs that work, and none was seen at work.
    pub fn too_idle(what: impl Into<String>) -> Missing {
        Missing { what: what.into(), why: Why::Failed(TOO_IDLE.to_owned()) }
    }

    /// Whether it is missing because the kernel asked to try again (EAGAIN): nothing was measured in the last milliseconds.
    pub fn is_of_the_moment(&self) -> bool {
        matches!(&self.why, Why::Failed(text) if text.contains("(os error 11)"))
    }

    /// No file shows `what`, to root neither; the workload `timer` measures its effect.
    pub fn shown_by_timer(what: impl Into<String>) -> Missing {
        Missing { what: what.into(), why: Why::Failed(NOT_SHOWN.to_owned()) }
    }

    /// `what` cannot be asked of the management controller, though the kernel has an interface to it.
    pub fn without_device(what: impl Into<String>) -> Missing {
        Missing { what: what.into(), why: Why::Failed(NO_DEVICE.to_owned()) }
    }

    /// `what` exists and is reported by `place`, which this program cannot read.
    pub fn elsewhere(what: impl Into<String>, place: Elsewhere) -> Missing {
        Missing { what: what.into(), why: Why::Failed(place.reason().to_owned()) }
    }

    /// Whether it is reported by `place`, which this program cannot read.
    pub fn is_elsewhere(&self, place: Elsewhere) -> bool {
        matches!(&self.why, Why::Failed(text) if text == place.reason())
    }

    /// `what` of a CPU went unseen for a while, because the CPU was offline.
    pub fn was_offline(what: impl Into<String>, cpu: u32) -> Missing {
        Missing { what: what.into(), why: Why::Failed(offline_for_a_while(cpu)) }
    }

    /// Whether it is missing because this CPU was offline for a while: [`Missing::was_offline`], also from a recording.
    pub fn tells_of_offline(&self, cpu: u32) -> bool {
        matches!(&self.why, Why::Failed(text) if *text == offline_for_a_while(cpu))
    }

    /// Whether the host itself has no such thing, as opposed to us not knowing.
    pub fn is_absence(&self) -> bool {
        match self.why {
            Why::NotHere(_) => true,
            Why::Absent => !self.needs_msr_module(),
            Why::Hidden(_)
            | Why::Denied
            | Why::NotCollected
            | Why::Failed(_)
            | Why::Malformed { .. } => false,
        }
    }

    /// Without the kernel's msr module the device of a CPU does not exist; its registers do.
    fn needs_msr_module(&self) -> bool {
        self.why == Why::Absent && self.what.starts_with("/dev/cpu/")
    }

    /// Who may count an event of perf is decided by a capability of its own (perf_event_open(2)).
    fn needs_perf(&self) -> bool {
        self.what.starts_with("perf event ")
    }

    /// The reason in words, with the remedy where there is one.
    pub fn advice(&self) -> String {
        match self.remedy() {
            Some(remedy) => format!("{self} ({remedy})"),
            None => self.to_string(),
        }
    }

    /// One word for the reason, as `--json` prints it.
    pub fn reason(&self) -> &'static str {
        match self.why {
            Why::NotHere(_) => "not-here",
            Why::Hidden(_) => "hidden",
            Why::Absent => "absent",
            Why::Denied => "denied",
            Why::NotCollected => "not-collected",
            Why::Failed(_) => "failed",
            Why::Malformed { .. } => "malformed",
        }
    }

    /// What keeps the fact unknown.
    pub fn obstacle(&self) -> Obstacle {
        match &self.why {
            Why::Denied => Obstacle::Privilege,
            Why::Absent if self.needs_msr_module() => Obstacle::Module,
            Why::Failed(text) if text == NO_DEVICE => Obstacle::Module,
            Why::Hidden(_) => Obstacle::Guest,
            Why::NotHere(_)
            | Why::Absent
            | Why::NotCollected
            | Why::Failed(_)
            | Why::Malformed { .. } => Obstacle::Other,
        }
    }

    /// What would make the fact known, where somebody can do something about it.
    ///
    /// Unknown checks are grouped by this text.
    pub fn remedy(&self) -> Option<&'static str> {
        match &self.why {
            Why::Denied if self.needs_perf() => Some("run as root or with CAP_PERFMON"),
            Why::Denied => Some("run as root"),
            Why::Absent if self.needs_msr_module() => Some("modprobe msr"),
            Why::Hidden(_) => Some("audit the machine under this guest"),
            Why::NotCollected => Some("run `fullclock capture` on the host itself"),
            Why::Failed(text) if text == LEFT_ALONE => {
                Some("run `fullclock audit`, which asks the management controller")
            }
            Why::Failed(text) if text == NO_DEVICE => Some("modprobe ipmi_devintf"),
            Why::Failed(text) if text == TOO_IDLE => Some("audit again under load"),
            Why::Failed(text) if text == NOT_SHOWN => Some("run `fullclock bench timer`"),
            Why::Failed(text) => Elsewhere::of_reason(text).map(Elsewhere::remedy),
            Why::NotHere(_) | Why::Absent | Why::Malformed { .. } => None,
        }
    }
}

/// A [`Missing`] is an error like any other, so `?` turns a missing fact into an unknown verdict.
impl From<&Missing> for Missing {
    fn from(missing: &Missing) -> Missing {
        missing.clone()
    }
}

impl std::error::Error for Missing {}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = &self.what;
        match &self.why {
            Why::NotHere(because) => write!(f, "no {what} here: {because}"),
            Why::Hidden(hypervisor) => {
                write!(f, "{what}: not available in a guest of {hypervisor}")
            }
            Why::Absent => write!(f, "{what} does not exist"),
            Why::Denied => write!(f, "{what} may not be read"),
            Why::NotCollected => write!(f, "{what} is not in this copy of the host"),
            Why::Failed(error) => write!(f, "{what} cannot be read: {error}"),
            Why::Malformed { found, expected } if found.is_empty() => {
                write!(f, "{what} is empty, expected {expected}")
            }
            Why::Malformed { found, expected } => {
                write!(f, "{what}: found {found:?}, expected {expected}")
            }
        }
    }
}

fn offline_for_a_while(cpu: u32) -> String {
    format!("CPU {cpu} was offline for part of the interval")
}

/// Tells "the host has none" apart from "we do not know".
pub trait IfPresent<T> {
    /// The value, `None` where the host has no such thing, or the reason it is not known.
    fn if_present(&self) -> Result<Option<&T>, &Missing>;
}

impl<T> IfPresent<T> for Fact<T> {
    fn if_present(&self) -> Result<Option<&T>, &Missing> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(missing) if missing.is_absence() => Ok(None),
            Err(missing) => Err(missing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_fact_is_none_and_a_denied_one_is_a_reason() {
        let absent: Fact<u8> = Err(Missing::absent("/a"));
        let denied: Fact<u8> = Err(Missing::denied("/b"));
        assert_eq!(absent.if_present(), Ok(None));
        assert_eq!(denied.if_present(), Err(&Missing::denied("/b")));
    }

    #[test]
    fn a_register_without_a_device_is_not_absent_but_unknown() {
        let missing = Missing::absent("/dev/cpu/0/msr 0x19a");
        assert!(!missing.is_absence());
        assert_eq!(missing.remedy(), Some("modprobe msr"));
    }

    #[test]
    fn a_reason_comes_with_what_fixes_it_where_something_does() {
        let event = Missing::denied("perf event msr/tsc/");
        assert_eq!(
            event.advice(),
            "perf event msr/tsc/ may not be read (run as root or with CAP_PERFMON)"
        );
        assert_eq!(Missing::denied("/a").advice(), "/a may not be read (run as root)");
        assert_eq!(Missing::absent("/a").advice(), "/a does not exist");
    }

    #[test]
    fn a_controller_that_is_left_alone_or_has_no_device_is_no_absent_one() {
        let left = Missing::left_alone("a limit");
        assert!(
            !left.is_absence() && left.advice().ends_with("which asks the management controller)")
        );
        let without = Missing::without_device("a limit");
        assert!(!without.is_absence());
        assert_eq!(without.remedy(), Some("modprobe ipmi_devintf"));
    }

    #[test]
    fn a_fact_of_the_machine_under_a_guest_is_not_a_lack_of_privilege() {
        let obstacle = |missing: Missing| missing.obstacle();
        assert_eq!(obstacle(Missing::denied("/a")), Obstacle::Privilege);
        assert_eq!(obstacle(Missing::absent("/dev/cpu/0/msr 0x19a")), Obstacle::Module);
        assert_eq!(obstacle(Missing::without_device("a limit")), Obstacle::Module);
        assert_eq!(obstacle(Missing::hidden("a register", "KVM")), Obstacle::Guest);
        assert_eq!(obstacle(Missing::left_alone("a limit")), Obstacle::Other);
        let shown = Missing::shown_by_timer("a flag");
        assert_eq!(shown.obstacle(), Obstacle::Other);
        assert_eq!(shown.remedy(), Some("run `fullclock bench timer`"));
    }

    #[test]
    fn a_cpu_that_was_offline_is_told_from_other_failures_and_other_cpus() {
        let missing = Missing::was_offline("a count", 1);
        assert_eq!(
            missing.to_string(),
            "a count cannot be read: CPU 1 was offline for part of the interval"
        );
        assert!(missing.tells_of_offline(1) && !missing.tells_of_offline(11));
        assert!(!Missing::absent("a count").tells_of_offline(1));
    }

    #[test]
    fn a_malformed_text_is_cut_to_a_readable_length() {
        let missing = Missing::malformed("/a", &"x".repeat(5000), "a number");
        assert_eq!(
            missing.to_string().chars().count(),
            "/a: found \"\", expected a number".len() + 81
        );
    }
}
