//! Which tracepoints are asked for, and what their fields mean.

use super::format::{Field, Format};
use super::{Cause, Comm, Event, Task, TickStop, What};
use crate::Expected;

/// Which tracepoints are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Switches between tasks, and where tasks come from.
    pub switches: bool,
    /// Interrupts and softirqs.
    pub interrupts: bool,
    /// Attempts to stop the tick.
    pub tick_stops: bool,
    /// When tasks that slept can run again.
    pub wakes: bool,
    /// System calls that write a file or make it durable.
    pub calls: bool,
}

/// System calls by which databases write their log, and whether they make it durable.
const CALLS: &[(&str, bool)] =
    &[("pwrite64", false), ("pwritev", false), ("fdatasync", true), ("fsync", true)];

impl Wanted {
    /// Everything that is known here, but for system calls: all that takes a CPU from a task or gives it one.
    pub const ALL: Wanted =
        Wanted { switches: true, interrupts: true, tick_stops: true, wakes: true, calls: false };
    const NONE: Wanted = Wanted {
        switches: false,
        interrupts: false,
        tick_stops: false,
        wakes: false,
        calls: false,
    };
    /// Switches only.
    pub const SWITCHES: Wanted = Wanted { switches: true, ..Wanted::NONE };
    /// Interrupts and softirqs only.
    pub const INTERRUPTS: Wanted = Wanted { interrupts: true, ..Wanted::NONE };

    /// System calls that write, and when their tasks have a CPU.
    pub const CALLS: Wanted = Wanted { switches: true, wakes: true, calls: true, ..Wanted::NONE };

    /// The tracepoints to open. Not every kernel has all of them.
    pub fn tracepoints(self) -> Vec<Tracepoint> {
        let one =
            |system, name: &str, meaning| Tracepoint { system, name: name.to_owned(), meaning };
        let mut list = Vec::new();
        if self.switches {
            list.push(one("sched", "sched_switch", Meaning::Switch));
        }
        if self.interrupts {
            list.push(one("irq", "irq_handler_entry", Meaning::Device(Edge::Enter)));
            list.push(one("irq", "irq_handler_exit", Meaning::Device(Edge::Exit)));
            list.push(one("irq", "softirq_entry", Meaning::Softirq(Edge::Enter)));
            list.push(one("irq", "softirq_exit", Meaning::Softirq(Edge::Exit)));
            // perf delivers its own wake-ups by irq_work, so the kernel lets nobody trace the end of one with perf
            // (TRACE_EVENT_PERF_PERM, arch/x86/include/asm/trace/irq_vectors.h): it stays inside of what it
            // interrupts.
            for (name, cause) in Cause::vectors().filter(|(_, cause)| *cause != Cause::IrqWork) {
                let vector = |edge| Meaning::Vector(edge, cause);
                list.push(one("irq_vectors", &format!("{name}_entry"), vector(Edge::Enter)));
                list.push(one("irq_vectors", &format!("{name}_exit"), vector(Edge::Exit)));
            }
        }
        if self.tick_stops {
            list.push(one("timer", "tick_stop", Meaning::TickStop));
        }
        if self.switches {
            list.push(one("sched", "sched_process_fork", Meaning::Fork));
        }
        if self.wakes {
            list.push(one("sched", "sched_wakeup", Meaning::Wake));
            list.push(one("sched", "sched_wakeup_new", Meaning::Wake));
        }
        for (call, syncs) in if self.calls { CALLS } else { &[] } {
            list.push(one("syscalls", &format!("sys_enter_{call}"), Meaning::Called));
            let returned = Meaning::Returned { syncs: *syncs };
            list.push(one("syscalls", &format!("sys_exit_{call}"), returned));
        }
        list
    }

    /// How many records these rates of a host come to, all in the same unit of time: what `ctxt` and `intr` of
    /// /proc/stat grow by, and the first number of its `softirq`. A little more than will be, for `intr` counts
    /// kinds of interrupts too that are not traced, and not every second switch is to a task that was woken.
    pub fn n_events(self, switches: u64, interrupts: u64, softirqs: u64) -> u64 {
        let edges = interrupts.saturating_add(softirqs).saturating_mul(2);
        let switches = if self.switches { switches } else { 0 };
        let wakes = if self.wakes { switches / 2 } else { 0 };
        let tasks = switches.saturating_add(wakes);
        tasks.saturating_add(if self.interrupts { edges } else { 0 })
    }
}

/// One tracepoint, by the folder of its `format` file: `events/SYSTEM/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracepoint {
    /// The group it is in.
    pub system: &'static str,
    /// Its name there.
    pub name: String,
    meaning: Meaning,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Enter,
    Exit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Switch,
    Fork,
    Wake,
    Device(Edge),
    Softirq(Edge),
    Vector(Edge, Cause),
    TickStop,
    Called,
    Returned { syncs: bool },
}

/// How to read one tracepoint's records.
#[derive(Clone, Copy, Debug)]
struct Layout {
    running: Field,
    fields: Fields,
}

#[derive(Clone, Copy, Debug)]
enum Fields {
    Switch { prev: TaskFields, prev_state: Field, next: TaskFields },
    Fork { parent: Field, child: Field },
    Wake(Field),
    Device(Edge, Field),
    Softirq(Edge, Field),
    Vector(Edge, Cause),
    TickStop { success: Field, dependency: Field },
    Called,
    Returned { syncs: bool },
}

#[derive(Clone, Copy, Debug)]
struct TaskFields {
    tid: Field,
    comm: Field,
}

/// How to read the records of every tracepoint that is traced.
#[derive(Clone, Debug, Default)]
pub struct Layouts(Vec<(u16, Layout)>);

impl Layouts {
    /// Adds a tracepoint by its format.
    ///
    /// Errors: the format has not the fields that matter.
    pub fn add(&mut self, tracepoint: &Tracepoint, format: &Format) -> Result<(), Expected> {
        let layout = Layout::new(tracepoint.meaning, format)
            .ok_or(Expected("a tracepoint with the fields of this kernel's documentation"))?;
        let at = self.0.partition_point(|&(id, _)| id < format.id);
        self.0.insert(at, (format.id, layout));
        Ok(())
    }

    /// What a record says that was taken at `at_ns` on `cpu`; `None` where it is of no tracepoint that was
    /// added, or ends too early.
    pub fn event(&self, at_ns: u64, cpu: u32, record: &[u8]) -> Option<Event> {
        let &[low, high, ..] = record else { return None };
        let id = u16::from_ne_bytes([low, high]);
        let at = self.0.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        let (_, layout) = self.0.get(at)?;
        let running = i32::try_from(layout.running.value(record)?).ok();
        Some(Event { at_ns, cpu, running, what: layout.fields.what(record)? })
    }
}

impl Layout {
    fn new(meaning: Meaning, format: &Format) -> Option<Layout> {
        let number = |name| format.number(name);
        let task = |side: &str| {
            let tid = format.number(&format!("{side}_pid"))?;
            Some(TaskFields { tid, comm: format.field(&format!("{side}_comm"))? })
        };
        let fields = match meaning {
            Meaning::Switch => Fields::Switch {
                prev: task("prev")?,
                prev_state: number("prev_state")?,
                next: task("next")?,
            },
            Meaning::Fork => {
                Fields::Fork { parent: number("parent_pid")?, child: number("child_pid")? }
            }
            Meaning::Wake => Fields::Wake(number("pid")?),
            Meaning::Device(edge) => Fields::Device(edge, number("irq")?),
            Meaning::Softirq(edge) => Fields::Softirq(edge, number("vec")?),
            Meaning::Vector(edge, cause) => Fields::Vector(edge, cause),
            Meaning::Called => Fields::Called,
            Meaning::Returned { syncs } => Fields::Returned { syncs },
            Meaning::TickStop => {
                Fields::TickStop { success: number("success")?, dependency: number("dependency")? }
            }
        };
        Some(Layout { running: number("common_pid")?, fields })
    }
}

impl Fields {
    fn what(self, record: &[u8]) -> Option<What> {
        Some(match self {
            Fields::Switch { prev, prev_state, next } => What::Switch {
                prev: prev.task(record)?,
                prev_state: prev_state.value(record)?.cast_unsigned(),
                next: next.task(record)?,
            },
            Fields::Fork { parent, child } => What::Fork {
                parent: i32::try_from(parent.value(record)?).ok()?,
                child: i32::try_from(child.value(record)?).ok()?,
            },
            Fields::Wake(tid) => What::Wake(i32::try_from(tid.value(record)?).ok()?),
            Fields::Device(edge, irq) => {
                edge.of(Cause::Device(u32::try_from(irq.value(record)?).ok()?))
            }
            Fields::Softirq(edge, vec) => {
                edge.of(Cause::Softirq(u8::try_from(vec.value(record)?).ok()?))
            }
            Fields::Vector(edge, cause) => edge.of(cause),
            Fields::Called => What::Called,
            Fields::Returned { syncs } => What::Returned { syncs },
            Fields::TickStop { success, dependency } => What::TickStop(TickStop {
                dependency: u32::try_from(dependency.value(record)?).ok()?,
                success: success.value(record)? != 0,
            }),
        })
    }
}

impl Edge {
    fn of(self, cause: Cause) -> What {
        match self {
            Edge::Enter => What::Enter(cause),
            Edge::Exit => What::Exit(cause),
        }
    }
}

impl TaskFields {
    fn task(self, record: &[u8]) -> Option<Task> {
        let mut comm = Comm::default();
        comm.0.iter_mut().zip(self.comm.bytes(record)?).for_each(|(to, from)| *to = *from);
        Some(Task { tid: i32::try_from(self.tid.value(record)?).ok()?, comm })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// sched_switch and tick_stop of Linux 6.18, x86-64.
    const COMMON: &str = "	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;
";
    const SWITCH: &str = "	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
	field:int prev_prio;	offset:28;	size:4;	signed:1;
	field:long prev_state;	offset:32;	size:8;	signed:1;
	field:char next_comm[16];	offset:40;	size:16;	signed:0;
	field:pid_t next_pid;	offset:56;	size:4;	signed:1;
";
    const TICK_STOP: &str = "	field:int success;	offset:8;	size:4;	signed:1;
	field:int dependency;	offset:12;	size:4;	signed:1;
";
    /// sched_process_fork of the same kernel.
    const FORK: &str = "	field:__data_loc char[] parent_comm;	offset:8;	size:4;	signed:0;
	field:pid_t parent_pid;	offset:12;	size:4;	signed:1;
	field:__data_loc char[] child_comm;	offset:16;	size:4;	signed:0;
	field:pid_t child_pid;	offset:20;	size:4;	signed:1;
";
    /// sched_wakeup and sched_wakeup_new of the same kernel.
    const WAKE: &str = "	field:char comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t pid;	offset:24;	size:4;	signed:1;
	field:int prio;	offset:28;	size:4;	signed:1;
	field:int target_cpu;	offset:32;	size:4;	signed:1;
";
    const VEC: &str = "	field:unsigned int vec;	offset:8;	size:4;	signed:0;\n";
    const IRQ: &str = "	field:int irq;	offset:8;	size:4;	signed:1;\n";

    /// Every tracepoint, numbered in the order of the list.
    pub(in crate::trace) fn layouts() -> Layouts {
        let mut layouts = Layouts::default();
        for (id, tracepoint) in Wanted::ALL.tracepoints().iter().enumerate() {
            let own = match tracepoint.meaning {
                Meaning::Switch => SWITCH,
                Meaning::Fork => FORK,
                Meaning::Wake => WAKE,
                Meaning::Device(_) => IRQ,
                Meaning::Softirq(_) => VEC,
                Meaning::Vector(..) | Meaning::Called | Meaning::Returned { .. } => "",
                Meaning::TickStop => TICK_STOP,
            };
            let format = Format::parse(&format!("ID: {id}\nformat:\n{COMMON}{own}")).unwrap();
            layouts.add(tracepoint, &format).unwrap();
        }
        layouts
    }

    /// The start of a record of tracepoint `id` in task `pid`.
    fn record(id: u16, pid: i32) -> Vec<u8> {
        [&id.to_ne_bytes()[..], &[0, 0], &pid.to_ne_bytes()].concat()
    }

    fn what(record: &[u8]) -> Option<What> {
        layouts().event(0, 0, record).map(|event| event.what)
    }

    #[test]
    fn a_switch_names_both_tasks_and_the_state_of_the_one_that_leaves() {
        let mut bytes = record(0, 7);
        bytes.extend(*b"postgres\0\0\0\0\0\0\0\0");
        bytes.extend([7i32, 120].map(i32::to_ne_bytes).concat());
        bytes.extend(0x100u64.to_ne_bytes());
        bytes.extend(*b"swapper/3\0\0\0\0\0\0\0");
        bytes.extend(0i32.to_ne_bytes());
        let event = layouts().event(5, 3, &bytes).unwrap();
        let task = |tid, comm| Task { tid, comm: Comm::new(comm) };
        let (prev, next) = (task(7, "postgres"), task(0, "swapper/3"));
        assert_eq!((event.at_ns, event.cpu, event.running), (5, 3, Some(7)));
        assert_eq!(event.what, What::Switch { prev, prev_state: 0x100, next });
    }

    #[test]
    fn a_wake_up_names_the_task_that_was_woken() {
        let n_before = Wanted { wakes: false, ..Wanted::ALL }.tracepoints().len();
        for id in [n_before, n_before + 1] {
            let mut bytes = record(u16::try_from(id).unwrap(), 3);
            bytes.extend(*b"postgres\0\0\0\0\0\0\0\0");
            bytes.extend([7i32, 120, 1].map(i32::to_ne_bytes).concat());
            assert_eq!(what(&bytes), Some(What::Wake(7)));
        }
    }

    #[test]
    fn entries_and_exits_name_their_cause() {
        let with = |id, value: u32| [record(id, 0), value.to_ne_bytes().to_vec()].concat();
        assert_eq!(what(&with(1, 29)), Some(What::Enter(Cause::Device(29))));
        assert_eq!(what(&with(4, 3)), Some(What::Exit(Cause::Softirq(3))));
        assert_eq!(what(&with(5, 236)), Some(What::Enter(Cause::LocalTimer)));
        assert_eq!(what(&with(4, 300)), None);
    }

    #[test]
    fn a_call_that_writes_has_a_beginning_and_an_end() {
        let mut layouts = Layouts::default();
        let tracepoints = Wanted::CALLS.tracepoints();
        let calls = tracepoints.iter().filter(|it| it.system == "syscalls");
        let (enter, exit) = (calls.clone().next().unwrap(), calls.clone().nth(1).unwrap());
        assert_eq!([&*enter.name, &*exit.name], ["sys_enter_pwrite64", "sys_exit_pwrite64"]);
        for (id, tracepoint) in [(1, enter), (2, exit)] {
            let format = Format::parse(&format!("ID: {id}\n{COMMON}")).unwrap();
            layouts.add(tracepoint, &format).unwrap();
        }
        let found = [1, 2].map(|id| layouts.event(5, 0, &record(id, 7)).unwrap());
        assert_eq!(
            found.map(|it| (it.running, it.what)),
            [(Some(7), What::Called), (Some(7), What::Returned { syncs: false })]
        );
        assert!(Wanted::ALL.tracepoints().iter().all(|it| it.system != "syscalls"));
    }

    #[test]
    fn a_record_that_ends_early_or_is_unknown_is_no_event() {
        assert_eq!(what(&record(0, 7)), None);
        assert_eq!(what(&record(999, 7)), None);
        assert_eq!(what(&[]), None);
    }

    #[test]
    fn a_format_without_the_fields_that_matter_is_refused() {
        let format = Format::parse(&format!("ID: 1\n{COMMON}")).unwrap();
        let switch = &Wanted::SWITCHES.tracepoints()[0];
        assert!(Layouts::default().add(switch, &format).is_err());
    }

    #[test]
    fn interrupts_come_to_two_events_switches_to_one_and_every_second_one_to_a_wake_up() {
        assert_eq!(Wanted::ALL.n_events(10, 100, 1000), 2215);
        assert_eq!(Wanted::SWITCHES.n_events(10, 100, 1000), 10);
        assert_eq!(Wanted::INTERRUPTS.n_events(10, u64::MAX, 1), u64::MAX);
    }
}
