//! What the program says of a run, held against the sampler: each difference has a limit, and each limit a reason.

use super::run::{Piece, Run, n_cpus};
use super::sampler::Times;
use super::servers::Product;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A share of the CPUs' time.
const POINT: f64 = 0.01;

/// A wait, as a part of itself.
const WAIT: f64 = 0.03;

/// The sampler reads each task somewhere in a quarter of a second around a moment: what all tasks of a role waited in that may be in
/// one and not in the other, at both ends.
const READ_WITHIN: f64 = 0.25;

/// The sampler and the program may read the same task so many seconds apart, because each reads one task after the other.
const READ_APART: f64 = 0.05;

/// Of a role that runs less than this nothing is expected by name.
const SMALLEST: f64 = 0.002;

/// The time between two starts that are tried for an interval whose start is not known, in seconds.
const PLACES_APART: f64 = 0.05;

/// What a run is held to.
pub(super) struct Check<'a> {
    pub(super) run: &'a Run,
    pub(super) product: Product,
    pub(super) is_traced: bool,
}

impl Check<'_> {
    /// What is wrong; nothing if all is within its limits.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = self.recording();
        faults.extend(self.intruder());
        faults.extend(self.client());
        faults.extend(self.sessions());
        faults.extend(self.pidstat());
        faults
    }

    /// The recording: whole, and its parts before, with and after the intruder.
    fn recording(&self) -> Vec<String> {
        let pieces = &self.run.pieces;
        let (from, _) = self.run.sums.lifetime(self.product.client());
        // A busy machine may be late to look again, and then takes the end for as late as it looks.
        let to = self.run.sums.surely_until(self.product.client());
        // What an intruder ran after its last sample is in the second in which its end is found.
        let parts = match self.run.intruder {
            Some((came, went)) => vec![(from, came), (came, went), (went + 1.0, to)],
            None => vec![(from, to)],
        };
        let mut faults = Vec::new();
        for (from, to) in parts {
            let within: Vec<&Piece> =
                pieces.iter().filter(|it| it.from > from && it.to < to).collect();
            assert!(within.len() >= 2, "{} seconds from {from} to {to}", within.len());
            faults.extend(self.part(&within));
        }
        faults.extend(self.part(&pieces.iter().collect::<Vec<_>>()));
        faults
    }

    /// Some pieces in a row.
    fn part(&self, pieces: &[&Piece]) -> Vec<String> {
        let (from, to) = (pieces[0].from, pieces.last().unwrap().to);
        let length = to - from;
        let sampled = self.run.sums.between(from, to);
        let mut recorded: BTreeMap<&str, Times> = BTreeMap::new();
        for (role, times) in pieces.iter().flat_map(|it| &it.tasks) {
            let sum = recorded.entry(role).or_default();
            sum.run += times.run;
            sum.wait += times.wait;
        }
        // Other threads have names that only the program looks at, and a new session has its postmaster's for a while.
        let is_compared = |it: &&str| {
            [self.product.client(), "gzip"].contains(it)
                || it.starts_with(self.product.title()) && !it.ends_with("postmaster")
        };
        let roles = sampled.keys().map(String::as_str).chain(recorded.keys().copied());
        let roles: BTreeSet<&str> = roles.filter(is_compared).collect();
        let mut faults = Vec::new();
        let mut hold = |what: String, ours: f64, theirs: f64, limit: f64| {
            println!("{what}: {ours:.4}, sampler {theirs:.4}, limit {limit:.4}");
            if (ours - theirs).abs() > limit {
                faults.push(format!("{what} is {ours:.4}, and {theirs:.4} by the sampler"));
            }
        };
        let at = format!("{length:.1} s from {:.1}", from - self.run.pieces[0].from);
        for role in roles {
            let ours = recorded.get(role).copied().unwrap_or_default();
            let theirs = sampled.get(role).copied().unwrap_or_default();
            let capacity = length * n_cpus();
            if ours.run.max(theirs.run) < SMALLEST * capacity {
                continue;
            }
            let name = format!("{at}, {role}");
            let share = theirs.run / capacity;
            let limit = POINT + READ_APART * share / length;
            hold(format!("{name}: share"), ours.run / capacity, share, limit);
            let (began, ended) = match sampled.contains_key(role) {
                true => self.run.sums.lifetime(role),
                false => (from, to),
            };
            let lived = ended.min(to) - began.max(from);
            let read = READ_WITHIN * theirs.wait / lived;
            // What tasks wait after the sampler's last look at them, and before they end, only the program is told. Their end is up
            // to a look earlier than the sampler finds.
            let unseen = if ended < to + READ_WITHIN { READ_WITHIN * n_cpus() } else { 0.0 };
            let limit = (WAIT * theirs.wait).max(read + unseen);
            hold(format!("{name}: wait"), ours.wait, theirs.wait, limit);
        }
        let idle = pieces.iter().map(|it| it.idle * (it.to - it.from)).sum::<f64>() / length;
        let theirs = self.run.sums.idle_between(from, to) / length / n_cpus();
        // Both ends are read some milliseconds apart, in ticks of 10 ms of each CPU.
        // What a quota keeps idle is in a line that a piece does not have.
        if self.run.intruder.is_some() {
            hold(format!("{at}: idle"), idle, theirs, POINT + 0.02 / length);
        }
        faults
    }

    /// The intruder is named in each second of which it had more than half, and in none that it had nothing of.
    fn intruder(&self) -> Vec<String> {
        let fault = |piece: &Piece| {
            let share = piece.others.get("gzip").copied().unwrap_or(0.0);
            let (came, went) = self.run.intruder.unwrap_or((f64::MAX, f64::MAX));
            let had = (piece.to.min(went) - piece.from.max(came)).max(0.0);
            let is_named = share >= SMALLEST;
            let second = piece.from - self.run.pieces[0].from;
            match (had, is_named) {
                (0.0, true) => Some(format!("gzip ran {share} of second {second}")),
                (0.5.., false) => Some(format!("gzip is not named in second {second}")),
                _ => None,
            }
        };
        // Samples are taken some milliseconds after their second, and one that lasts is late.
        let edges = |piece: &&Piece| {
            let (came, went) = self.run.intruder.unwrap_or((f64::MAX, f64::MAX));
            // What it ran after its last sample is in the second in which its end is found.
            (came < piece.from - 0.05 || came > piece.to + 0.05)
                && (went < piece.from - 1.05 || went > piece.to + 0.05)
        };
        self.run.pieces.iter().filter(edges).filter_map(fault).collect()
    }

    /// The ledger of the client, whose whole life it is.
    fn client(&self) -> Vec<String> {
        let ledger = &self.run.ledger;
        let name = self.product.client();
        let (from, to) = self.run.sums.lifetime(name);
        let others = self.run.sums.between(from, to);
        let mut faults = self.shares(ledger, ("the client's ledger", name), |roles| {
            let ran = |role: &&str| match *role == name {
                true => self.run.client_ran,
                false => others[*role].run,
            };
            let ran = roles.iter().map(ran).sum();
            (ran, ran)
        });
        let waited = self.run.sums.total(name).wait;
        faults.extend(wait(ledger, "the client", (waited, waited)));
        faults
    }

    /// That of the server's sessions for some seconds, which lie somewhere between the program's start and its end.
    fn sessions(&self) -> Vec<String> {
        let ledger = &self.run.sessions;
        let moment = |of: &str| ledger[of].as_f64().unwrap();
        let (from, to, length) = (moment("from"), moment("to"), moment("wall_s"));
        let n_places = ((to - from - length).max(0.0) / PLACES_APART) as u32;
        let places = (0..=n_places).map(|it| from + f64::from(it) * PLACES_APART);
        let sums: Vec<_> = places.map(|it| self.run.sums.between(it, it + length)).collect();
        let of = |roles: &[&str], of: fn(&Times) -> f64| {
            let sum = |sums: &BTreeMap<String, Times>| {
                roles.iter().filter_map(|it| sums.get(*it)).map(of).sum::<f64>()
            };
            let found = sums.iter().map(sum);
            found.fold((f64::MAX, 0.0f64), |(least, most), it| (least.min(it), most.max(it)))
        };
        let (program, session) = match self.product {
            Product::Postgresql => ("postgres", "PostgreSQL backend"),
            Product::Mariadb => ("mariadbd", "MariaDB"),
        };
        let mut faults =
            self.shares(ledger, ("the sessions' ledger", program), |roles| of(roles, |it| it.run));
        faults.extend(wait(ledger, "the sessions", of(&[session], |it| it.wait)));
        faults
    }

    /// Programs of a ledger, one of them chosen, by the names of their tasks.
    fn shares(
        &self,
        ledger: &Value,
        (of, chosen): (&str, &str),
        truth: impl Fn(&[&str]) -> (f64, f64),
    ) -> Vec<String> {
        let capacity = ledger["capacity_s"].as_f64().unwrap();
        let limit = if self.is_traced { POINT } else { 2.0 * POINT };
        let programs: &[(&str, &[&str])] = match self.product {
            Product::Postgresql => &[
                ("pgbench", &["pgbench"]),
                ("postgres", &["PostgreSQL backend", "PostgreSQL WAL writer"]),
            ],
            Product::Mariadb => &[("sysbench", &["sysbench"]), ("mariadbd", &["MariaDB"])],
        };
        let hold = |&(program, roles): &(&str, &[&str])| {
            // What the clock took of the chosen tasks' time has lines of its own.
            let clock = if program == chosen { clock_of(ledger) } else { 0.0 };
            let ours = time_of(ledger, program, program == chosen);
            let ours = (ours + clock) / capacity;
            let (least, most) = truth(roles);
            let (least, most) = (least / capacity, most / capacity);
            // Without a trace that shows more, tasks that ended have no name, and those of a server end with their client.
            let has_nameless =
                time_of(ledger, "tasks that ended or moved", false) > POINT * capacity;
            if program != chosen && (!self.is_traced || has_nameless) {
                return None;
            }
            println!("{of}: {program} {ours:.4}, sampler {least:.4} to {most:.4}");
            // Others may have lost what the chosen one is known to have run: the ledger says how much.
            let limit = match program == chosen {
                true => limit,
                false => limit.max(uncertainty_of(ledger, program) / capacity),
            };
            let is_off = ours > most + limit || ours < least - limit;
            is_off.then(|| {
                print_lines(ledger);
                format!("{of}: {program} is {ours:.4}, and {least:.4} to {most:.4} by the sampler")
            })
        };
        programs.iter().filter_map(hold).collect()
    }

    /// The second opinion: what programs ran by pidstat.
    fn pidstat(&self) -> Vec<String> {
        let Some(pidstat) = &self.run.pidstat else { return Vec::new() };
        let sums = self.run.sums.between(pidstat.from, pidstat.to);
        let of_server = |it: &&String| it.starts_with(self.product.title());
        let server: f64 = sums.keys().filter(of_server).map(|it| sums[it].run).sum();
        let program = if self.product == Product::Mariadb { "mariadbd" } else { "postgres" };
        let programs =
            [(program, server), (self.product.client(), sums[self.product.client()].run)];
        let fault = |(program, ours): (&str, f64)| {
            let theirs = pidstat.run.get(program).copied().unwrap_or(0.0);
            let capacity = (pidstat.to - pidstat.from) * n_cpus();
            println!("pidstat: {program} {:.4}, sampler {:.4}", theirs / capacity, ours / capacity);
            ((ours - theirs).abs() > 2.0 * POINT * capacity)
                .then(|| format!("{program} ran {ours} s by the sampler, and {theirs} by pidstat"))
        };
        programs.into_iter().filter_map(fault).collect()
    }
}

/// The lines of a ledger that are not empty: where a difference comes from.
fn print_lines(ledger: &Value) {
    for line in ledger["lines"].as_array().unwrap() {
        let of = |name: &str| line[name].as_str().unwrap_or("").to_owned();
        let share = line["share"].as_f64().unwrap_or(0.0);
        if share >= 0.001 {
            let interrupted = line["interrupted_s"].as_f64();
            println!(
                "  {} {} by {}: {share:.4}, interrupted {interrupted:?} s",
                of("loss"),
                of("part"),
                of("method")
            );
        }
    }
    println!("  of {} s, {}", ledger["capacity_s"], ledger["notes"]);
}

/// What a slow or a stopped clock took, in seconds.
fn clock_of(ledger: &Value) -> f64 {
    let lines = ledger["lines"].as_array().unwrap().iter();
    let of_clock = lines.filter(|it| it["loss"] == "slow-clock" || it["loss"] == "stopped-clock");
    of_clock.filter_map(|it| it["time_s"].as_f64()).sum()
}

/// How far off the lines of tasks of a name may be, in seconds.
fn uncertainty_of(ledger: &Value, name: &str) -> f64 {
    let lines = ledger["lines"].as_array().unwrap().iter().filter(|it| it["part"] == name);
    lines.filter_map(|it| it["uncertainty_s"].as_f64()).sum()
}

/// What lines of tasks of a name have, with the interrupts that came in them, as schedstat counts them; in seconds. Of the chosen
/// program all useful lines are: threads that ended have one of their own.
fn time_of(ledger: &Value, name: &str, is_chosen: bool) -> f64 {
    let lines = ledger["lines"].as_array().unwrap().iter();
    let of_name = lines.filter(|it| it["part"] == name || is_chosen && it["loss"] == "useful");
    let number = |line: &Value, of: &str| line[of].as_f64().unwrap_or(0.0);
    of_name.map(|it| number(it, "time_s") + number(it, "interrupted_s")).sum()
}

/// Waits are known, those of threads that ended too: of these the kernel tells.
fn wait(ledger: &Value, of: &str, (least, most): (f64, f64)) -> Option<String> {
    let waiting = &ledger["waiting"];
    let Some(ours) = waiting["time_s"].as_f64() else {
        return Some(format!("{of}: {waiting}"));
    };
    println!("{of} waited {ours:.4}, sampler {least:.4} to {most:.4}");
    // The sampler does not see what threads wait in the last quarter of a second before they end.
    let limit = (WAIT + READ_WITHIN / ledger["wall_s"].as_f64().unwrap()) * most;
    (ours > most + limit || ours < least - limit)
        .then(|| format!("{of} waited {ours:.4} s, and {least:.4} to {most:.4} by the sampler"))
}
