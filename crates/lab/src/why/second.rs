//! What a comparison of recordings takes from each second, and the sums of all of them.

use facts::probe::LoadReading;
use facts::{Fact, Missing};
use rules::spans::{Span, Who};

/// A second of a recording, or what its samples make of one.
#[derive(Clone, Debug)]
pub struct Second {
    /// Its length.
    pub elapsed_s: f64,
    /// CPUs times its length.
    pub capacity_s: f64,
    /// The mean of the client's numbers.
    pub client: Fact<f64>,
    /// Users' tasks by name.
    pub tasks: Fact<Vec<Task>>,
    /// CPU seconds by line of the ledger.
    pub lines: Lines<Fact<f64>>,
    /// How long loads took in it.
    pub loads: Vec<LoadReading>,
}

/// CPU seconds of the lines of the ledger that explain a change of CPU time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lines<T> {
    /// Idle, without `quota`.
    pub idle: T,
    /// Idle by a CPU quota of a control group.
    pub quota: T,
    /// Stolen by the hypervisor.
    pub stolen: T,
    /// Lost to a clock that is lower than the highest one.
    pub slow: T,
}

/// Users' tasks of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// On which side.
    pub who: Who,
    /// What they are called: `PostgreSQL backend`.
    pub name: String,
    /// Seconds that they ran, on all CPUs.
    pub run_s: f64,
    /// Seconds that they were runnable and waited for a CPU, all together.
    pub wait_s: f64,
}

impl Second {
    /// Of a piece of a recording.
    pub fn of(span: &Span) -> Second {
        let line = |id: &str| Ok(span.ledger.total(id)? as f64 / 1e9);
        let task = |it: &rules::spans::Worker| Task {
            who: it.who,
            name: it.title(),
            run_s: it.run_ns as f64 / 1e9,
            wait_s: it.wait_ns as f64 / 1e9,
        };
        let tasks = span.workers.as_ref().map_err(Missing::clone);
        Second {
            elapsed_s: span.elapsed_ns() as f64 / 1e9,
            capacity_s: span.ledger.capacity_ns() as f64 / 1e9,
            client: span.client.clone(),
            tasks: tasks.map(|it| it.iter().map(task).collect()),
            lines: Lines {
                idle: line("idle"),
                quota: line("cgroup-quota"),
                stolen: line("stolen"),
                slow: line("slow-clock"),
            },
            loads: span.loads.clone(),
        }
    }
}

/// The sums of a recording over the time in which the client's number is known.
#[derive(Clone, Debug)]
pub struct Totals {
    /// The length of all seconds that were added.
    pub elapsed_s: f64,
    /// Seconds between the first and the last number of the client that have none, and are left out.
    pub left_out_s: f64,
    /// CPUs times time.
    pub capacity_s: f64,
    /// The client's number times time.
    pub numbers: f64,
    /// Users' tasks, each name once.
    pub tasks: Fact<Vec<Task>>,
    /// CPU seconds by line of the ledger; of `slow` where it is known.
    pub lines: Lines<Fact<f64>>,
    /// CPU seconds in which CPUs were busy, of the seconds in which the clock is known.
    busy_s: f64,
    clock_known_s: f64,
}

impl Totals {
    /// Adds up seconds. Those without a number of the client are left out.
    pub(super) fn of(seconds: &[Second]) -> Totals {
        let nothing = || Ok(0.0);
        let mut totals = Totals {
            elapsed_s: 0.0,
            left_out_s: 0.0,
            capacity_s: 0.0,
            numbers: 0.0,
            tasks: Ok(Vec::new()),
            lines: Lines { idle: nothing(), quota: nothing(), stolen: nothing(), slow: nothing() },
            busy_s: 0.0,
            clock_known_s: 0.0,
        };
        seconds.iter().for_each(|it| totals.add(it));
        if 2.0 * totals.clock_known_s < totals.elapsed_s {
            let why = "it is unknown for half of the time or more";
            totals.lines.slow = Err(Missing::not_here("the clock", why));
        }
        totals
    }

    fn add(&mut self, second: &Second) {
        let Ok(number) = second.client else {
            self.left_out_s += second.elapsed_s;
            return;
        };
        self.elapsed_s += second.elapsed_s;
        self.capacity_s += second.capacity_s;
        self.numbers += number * second.elapsed_s;
        let of = &second.lines;
        for (sum, part) in [
            (&mut self.lines.idle, &of.idle),
            (&mut self.lines.quota, &of.quota),
            (&mut self.lines.stolen, &of.stolen),
        ] {
            *sum = sum.clone().and_then(|it| Ok(it + part.clone()?));
        }
        if let (Ok(sum), Ok(slow), Ok(idle)) = (&mut self.lines.slow, &of.slow, &of.idle) {
            *sum += slow;
            let away = [&of.quota, &of.stolen].into_iter().flatten().sum::<f64>();
            self.busy_s += second.capacity_s - idle - away;
            self.clock_known_s += second.elapsed_s;
        }
        match (&mut self.tasks, &second.tasks) {
            (Ok(sums), Ok(tasks)) => tasks.iter().for_each(|it| add_task(sums, it)),
            (Ok(_), Err(missing)) => self.tasks = Err(missing.clone()),
            (Err(_), _) => {}
        }
    }

    /// The client's number, over all of the time.
    pub fn number(&self) -> f64 {
        self.numbers / self.elapsed_s
    }

    /// How many CPUs there were.
    pub fn cpus(&self) -> f64 {
        self.capacity_s / self.elapsed_s
    }

    /// What tasks ran, as CPU seconds for each second.
    pub fn ran(&self, is_wanted: impl Fn(&Task) -> bool) -> Fact<f64> {
        self.sum(is_wanted, |it| it.run_s)
    }

    /// How long tasks waited for a CPU, all together, in each second.
    pub fn waited(&self, is_wanted: impl Fn(&Task) -> bool) -> Fact<f64> {
        self.sum(is_wanted, |it| it.wait_s)
    }

    fn sum(&self, is_wanted: impl Fn(&Task) -> bool, of: fn(&Task) -> f64) -> Fact<f64> {
        let tasks = self.tasks.as_ref().map_err(Missing::clone)?;
        // The sum of none is -0.
        let sum = tasks.iter().filter(|it| is_wanted(it)).map(of).fold(0.0, |sum, it| sum + it);
        Ok(sum / self.elapsed_s)
    }

    /// How fast the clock of busy CPUs was, as a share of the highest one.
    pub fn clock(&self) -> Fact<f64> {
        let slow = self.lines.slow.clone()?;
        if self.busy_s <= slow {
            return Err(Missing::not_here("the clock", "CPUs were hardly ever busy"));
        }
        Ok(1.0 - slow / self.busy_s)
    }
}

fn add_task(sums: &mut Vec<Task>, task: &Task) {
    match sums.iter_mut().find(|it| it.who == task.who && it.name == task.name) {
        Some(sum) => {
            sum.run_s += task.run_s;
            sum.wait_s += task.wait_s;
        }
        None => sums.push(task.clone()),
    }
}
