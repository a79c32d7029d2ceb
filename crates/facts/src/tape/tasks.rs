//! Tasks as bytes: those that ended, those that started, and the counts of those that ran.

use super::wire::{
    Bytes, at_difference, difference, put_missing, put_number, put_text, take_missing,
};
use crate::Fact;
use crate::counters::{Name, Task, Tasks};
use crate::parse::Expected;

/// The kind of a section. A reason has a kind, too.
const REASON: u64 = 0;
const INCOMPLETE: u64 = 1;
const COMPLETE: u64 = 2;

/// Appends the changes of `tasks`, which were read in a sample that began at `at`; nothing if there are none.
pub(super) fn put(out: &mut Vec<u8>, at: u64, before: &Fact<Tasks>, tasks: &Fact<Tasks>) {
    let tasks = match tasks {
        Err(_) if before == tasks => return,
        Err(missing) => {
            put_number(out, REASON);
            return put_missing(out, missing);
        }
        Ok(tasks) => tasks,
    };
    let none = Tasks::default();
    let before = before.as_ref().unwrap_or(&none);
    put_number(out, if tasks.complete { COMPLETE } else { INCOMPLETE });
    put_number(out, difference(at, tasks.read_at));
    let (kept, gone): (Vec<_>, Vec<_>) =
        before.list.iter().enumerate().partition(|(_, was)| find(tasks, was).is_some());
    put_places(out, gone.iter().map(|(place, _)| *place));
    let born = tasks.list.iter().filter(|it| find(before, it).is_none());
    put_born(out, &born.collect::<Vec<_>>());
    let changed = kept.iter().enumerate().filter_map(|(place, (_, was))| {
        let is = find(tasks, was).filter(|is| is != was)?;
        Some((place, *was, is))
    });
    put_changes(out, &changed.collect::<Vec<_>>());
}

/// Parses a section: the tasks before with the changes applied.
pub(super) fn take(
    bytes: &mut Bytes,
    at: u64,
    before: &Fact<Tasks>,
) -> Result<Fact<Tasks>, Expected> {
    let complete = match bytes.number()? {
        REASON => return Ok(Err(take_missing(bytes)?)),
        INCOMPLETE => false,
        COMPLETE => true,
        _ => return Err(Expected("tasks or a reason")),
    };
    let none = Tasks::default();
    let before = before.as_ref().unwrap_or(&none);
    let read_at = at_difference(at, bytes.number()?);
    let mut list = before.list.clone();
    take_gone(bytes, &mut list)?;
    let born = take_born(bytes)?;
    take_changes(bytes, &mut list)?;
    list.extend(born);
    list.sort_unstable_by_key(|task| task.tid);
    if !list.is_sorted_by(|a, b| a.tid < b.tid) {
        return Err(Expected("each task once"));
    }
    Ok(Ok(Tasks { complete, read_at, list }))
}

/// Whether all but the counts is the same. A task with a new name is a new task here.
fn find<'a>(tasks: &'a Tasks, task: &Task) -> Option<&'a Task> {
    let identity = |it: &Task| (it.pid, it.name, it.is_kernel_thread, it.started);
    tasks.get(task.tid).filter(|it| identity(it) == identity(task))
}

/// Ascending indices, each as the number of indices skipped before it.
fn put_places(out: &mut Vec<u8>, places: impl ExactSizeIterator<Item = usize>) {
    put_number(out, places.len() as u64);
    let mut next = 0;
    for place in places {
        put_number(out, place.saturating_sub(next) as u64);
        next = place + 1;
    }
}

/// The next index in a list of `length`.
fn take_place(bytes: &mut Bytes, next: &mut usize, length: usize) -> Result<usize, Expected> {
    let skipped = usize::try_from(bytes.number()?).ok();
    let place = skipped.and_then(|it| next.checked_add(it)).filter(|it| *it < length);
    let place = place.ok_or(Expected("the place of a task that was there before"))?;
    *next = place + 1;
    Ok(place)
}

fn take_gone(bytes: &mut Bytes, list: &mut Vec<Task>) -> Result<(), Expected> {
    let mut next = 0;
    let mut is_kept = vec![true; list.len()];
    for _ in 0..bytes.count()? {
        let place = take_place(bytes, &mut next, list.len())?;
        if let Some(kept) = is_kept.get_mut(place) {
            *kept = false;
        }
    }
    let mut is_kept = is_kept.into_iter();
    list.retain(|_| is_kept.next().unwrap_or(true));
    Ok(())
}

fn put_born(out: &mut Vec<u8>, born: &[&Task]) {
    put_number(out, born.len() as u64);
    let (mut tid, mut started) = (0, 0);
    for task in born {
        put_number(out, difference(tid, u64::from(task.tid)));
        put_number(out, difference(u64::from(task.tid), u64::from(task.pid)));
        put_text(out, task.name.as_str());
        put_number(out, u64::from(task.is_kernel_thread));
        put_number(out, difference(started, task.started));
        put_number(out, u64::from(task.cpu));
        put_number(out, task.run_ns);
        put_number(out, task.wait_ns);
        put_number(out, task.slices);
        (tid, started) = (u64::from(task.tid), task.started);
    }
}

fn take_born(bytes: &mut Bytes) -> Result<Vec<Task>, Expected> {
    let n_born = bytes.count()?;
    let mut born = Vec::new();
    let (mut above, mut started) = (0, 0);
    let small =
        |it: u64| u32::try_from(it).map_err(|_| Expected("a task's number of at most 32 bits"));
    for _ in 0..n_born {
        above = at_difference(above, bytes.number()?);
        let pid = small(at_difference(above, bytes.number()?))?;
        let name = Name::new(bytes.text()?.as_bytes());
        let is_kernel_thread = bytes.number()? != 0;
        started = at_difference(started, bytes.number()?);
        born.push(Task {
            tid: small(above)?,
            pid,
            name,
            is_kernel_thread,
            started,
            cpu: bytes.small()?,
            run_ns: bytes.number()?,
            wait_ns: bytes.number()?,
            slices: bytes.number()?,
        });
    }
    Ok(born)
}

fn put_changes(out: &mut Vec<u8>, changes: &[(usize, &Task, &Task)]) {
    put_number(out, changes.len() as u64);
    let mut next = 0;
    for (place, was, is) in changes {
        put_number(out, place.saturating_sub(next) as u64);
        next = place + 1;
        put_number(out, difference(was.run_ns, is.run_ns));
        put_number(out, difference(was.wait_ns, is.wait_ns));
        put_number(out, difference(was.slices, is.slices));
        put_number(out, difference(u64::from(was.cpu), u64::from(is.cpu)));
    }
}

fn take_changes(bytes: &mut Bytes, list: &mut [Task]) -> Result<(), Expected> {
    let mut next = 0;
    for _ in 0..bytes.count()? {
        let place = take_place(bytes, &mut next, list.len())?;
        let task = list.get_mut(place).ok_or(Expected("a task that was there before"))?;
        task.run_ns = at_difference(task.run_ns, bytes.number()?);
        task.wait_ns = at_difference(task.wait_ns, bytes.number()?);
        task.slices = at_difference(task.slices, bytes.number()?);
        let cpu = at_difference(u64::from(task.cpu), bytes.number()?);
        task.cpu = u32::try_from(cpu).map_err(|_| Expected("a CPU's number of 32 bits"))?;
    }
    Ok(())
}
