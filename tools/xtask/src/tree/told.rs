//! What machines of many CPUs tell a monitoring system: as many series as are promised, and what that takes.

use super::{Entry, Server, write};
use facts::counters::{Counters, Family, Table};
use facts::tape::Sample;
use facts::{CpuSet, Fact, Hertz, HostView};
use host::Live;
use host::counters::{Sampler, Wanted};
use report::metrics::{Findings, Told, page};
use rules::checks::CHECKS;
use rules::finding::{Confidence, Severity};
use rules::host_labels::host_labels;
use rules::interval::Interval;
use rules::totals::Totals;
use rules::watch::{KnownClocks, Reading, View, fake};
use std::path::Path;

/// Two sockets may have as many series.
const MOST_SERIES: usize = 400;

/// Everything that a machine tells after an interval.
struct Machine {
    host: HostView,
    totals: Totals,
    online: CpuSet,
    findings: Findings,
}

impl Machine {
    /// The one in a folder.
    fn of(folder: &Path, by_cpu: bool) -> Machine {
        let live = || Live::copy(folder).unwrap();
        let host = host::view(&live());
        let mut sampler = Sampler::open(live(), &host, Wanted::watch());
        let mut before = Counters::unread();
        sampler.sample(&mut before);
        let mut after = before.clone();
        sampler.sample(&mut after);
        add_hardware(&mut before, 1);
        add_hardware(&mut after, 1_000_000);
        let mut totals = Totals::since_boot(&host, &before, by_cpu);
        let interval = Interval { host: &host, before: &before, after: &after };
        let samples = [&before, &after].map(|it| Sample::from(it.clone()));
        let (view, known) = (View::everything(1), KnownClocks::default());
        let reading = Reading::between(&host, &samples[0], &samples[1], None, &view, &known);
        totals.add(&interval, &reading, Some(Hertz(2_100_000_000)));
        let findings = Findings::of(&rules::audit::audit(&host));
        let online = after.online.clone();
        Machine { host, totals, online, findings }
    }

    fn page(&self, by_cpu: bool) -> String {
        let labels = host_labels(&self.host, &Ok("6.10".to_owned()));
        let told = Told {
            version: "1.0.0",
            host: &labels,
            began: Some(0.0),
            online: &self.online,
            totals: Some(&self.totals),
            speed: Some(1.0),
            baseline: None,
            findings: Some(&self.findings),
            by_cpu,
        };
        page(&told, false)
    }
}

/// What is read from registers, which no tree has.
fn add_hardware(counters: &mut Counters, count: u64) {
    let cpus: Vec<u32> = counters.online.iter().collect();
    let table = |rows: &[u32], columns: &[&str]| -> Fact<Table> {
        let columns: Vec<Box<str>> = columns.iter().map(|it| Box::from(*it)).collect();
        let mut table = Table::new(rows.into(), columns.into());
        for row in 0..rows.len() {
            table.row_mut(row, count * 1000).fill(count);
        }
        Ok(table)
    };
    let packages = ["package-0", "package-0/core", "package-0/uncore", "package-0/dram"];
    let packages: Vec<String> =
        (0..2).flat_map(|at| packages.map(|it| it.replace('0', &at.to_string()))).collect();
    let domains: Vec<&str> = packages.iter().map(String::as_str).chain(["psys"]).collect();
    let states = ["c2", "c3", "c6", "c7", "c8", "c9", "c10"];
    *counters.table_mut(Family::Clocks) = table(&cpus, &["tsc", "aperf", "mperf", "pperf", "smi"]);
    *counters.table_mut(Family::CoreResidency) = table(&cpus, &["c1", "c3", "c6", "c7"]);
    *counters.table_mut(Family::PackageResidency) = table(&cpus[..2], &states);
    *counters.table_mut(Family::Energy) = table(&[0], &domains);
    *counters.table_mut(Family::Temperature) = table(&cpus, &["temperature"]);
}

fn made(n_cpus: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let entries: Vec<Entry> = Server::new(n_cpus).unwrap().entries();
    entries.iter().for_each(|it| write(folder.path(), it).unwrap());
    folder
}

fn series(text: &str) -> Vec<&str> {
    text.lines().filter(|it| !it.starts_with('#')).collect()
}

/// More kinds of everything than any machine has: threads and causes that never had a name before, and a finding of every third
/// check.
fn make_it_bad(machine: &mut Machine) {
    for number in 0..300 {
        let mut shares = fake::shares();
        for (at, loss) in ["slow-clock", "stopped-clock"].into_iter().enumerate() {
            let line = shares.lines.iter_mut().filter(|it| it.loss != "idle").nth(at).unwrap();
            (line.loss, line.part, line.ns) = (loss, format!("cause {number}"), Ok(1));
        }
        machine.totals.ledger.add(&shares);
    }
    for loss in rules::losses::LOSSES {
        if machine.totals.ledger.lines.iter().all(|it| it.0 != loss.id) {
            machine.totals.ledger.lines.push((loss.id, 1));
        }
    }
    let found = |check: &&'static rules::check::Check| (check.id, Severity::High, Confidence::High);
    machine.findings.found = CHECKS.iter().step_by(3).map(found).collect();
}

#[test]
fn two_sockets_tell_no_more_series_than_promised_however_bad_it_gets() {
    let folder = made(128);
    let mut machine = Machine::of(folder.path(), false);
    let usual = series(&machine.page(false)).len();
    make_it_bad(&mut machine);
    let text = machine.page(false);
    let most = series(&text).len();
    assert!((60..=150).contains(&usual), "{usual} series: {}", machine.page(false));
    assert!(most > usual + 100 && most <= MOST_SERIES, "{most} series: {text}");
    assert!(!text.contains("cpu=\""));
    // No name of a CPU or process: what 128 CPUs tell, two tell as well.
    let few = made(2);
    let names = |machine: &Machine| -> Vec<String> {
        let text = machine.page(false);
        let threads = text.lines().filter(|it| it.contains("thread=\""));
        threads.map(|it| it.rsplit_once(' ').unwrap().0.to_owned()).collect()
    };
    let small = names(&Machine::of(few.path(), false));
    let large = names(&machine);
    assert!(large.iter().all(|it| small.contains(it)), "{large:?} {small:?}");
}

#[test]
fn each_cpu_adds_some_twenty_series_where_that_is_requested() {
    let folder = made(128);
    let text = Machine::of(folder.path(), true).page(true);
    let of_cpus = text.lines().filter(|it| it.contains("cpu=\"")).count();
    assert!((10 * 128..=25 * 128).contains(&of_cpus), "{of_cpus}");
}

/// What a scrape takes of a machine with 512 CPUs, in this build; `benches/README.md` has what it took once.
#[test]
#[ignore = "measures"]
#[expect(clippy::print_stdout, reason = "its result")]
fn what_a_page_of_512_cpus_takes() {
    let folder = made(512);
    let machine = Machine::of(folder.path(), false);
    let by_cpu = Machine::of(folder.path(), true);
    let live = || Live::copy(folder.path()).unwrap();
    let took = |what: &str, times: u64, work: &mut dyn FnMut()| {
        let began = host::thread_cpu_ns();
        (0..times).for_each(|_| work());
        let ns = host::thread_cpu_ns() - began;
        println!("{what}: {:.3} ms", ns as f64 / 1e6 / times as f64);
    };
    took("page", 200, &mut || drop(machine.page(false)));
    took("page with CPUs", 20, &mut || drop(by_cpu.page(true)));
    took("view and audit", 5, &mut || drop(rules::audit::audit(&host::view(&live()))));
    let host = host::view(&live());
    let wanted = Wanted::only(vec![
        Family::Interrupts,
        Family::Totals,
        Family::RunTime,
        Family::CpuTimes,
        Family::Throttling,
        Family::IdleTime,
        Family::Pressure,
    ]);
    took("counters since boot", 5, &mut || {
        let mut counters = Counters::unread();
        Sampler::open(live(), &host, wanted.clone()).sample(&mut counters);
        drop(Totals::since_boot(&host, &counters, false));
    });
}
