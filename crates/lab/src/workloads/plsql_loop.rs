//! `plsql-loop`: the CPU test in a database's procedural language, with decimal numbers and with doubles.
//!
//! The loop is an anonymous block: it needs no right but to connect, and leaves nothing in the server. PL/pgSQL has no
//! `mod` for doubles; n - 999999 * trunc(n / 999999) is the same to the last bit while n is below twice the modulus
//! (the quotient truncates to 0 or 1, and the difference is exact by Sterbenz's lemma).

use crate::cpu_test::{self, ITERATIONS, MOST_ITERATIONS};
use crate::database::{Answer, Engine, Patience, Pool, Server};
use crate::failure::Failure;
use crate::known::Known;
use crate::server::ServerSelection;
use crate::trial::{Better, Figure, FigureShape, Outcome};
use crate::workload::{Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
use facts::CpuSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub(crate) const WORKLOAD: Workload = Workload {
    id: "plsql-loop",
    title: "the CPU test in a database's procedural language",
    help: "\
## What it does
Runs `n = mod(n, 999999) + sqrt(f)` ten million times in PL/pgSQL or in MariaDB's SQL, with decimal numbers and then with
doubles, and checks both answers: 873729.72, and the doubles to the last bit. `elapsed` is the time with decimal numbers,
`double precision` that with doubles. Both are taken by the server's clock, so that neither a network nor the start of a
client is in them.

Without `--dsn`, a temporary server is made of the programs installed here, and removed afterwards. With `--cpus`, one session
is pinned to each CPU, all work at once, and the slowest counts; this needs a server on this host, and root or the server's
user. For Oracle, `--print-sql oracle` writes a script for sqlplus, and `--parse FILE` reads what that printed.

## What changes the result
The clock, other work on the CPU, and the server's version: decimal arithmetic and the interpreter are its own. MariaDB's
square root is a double even in decimal arithmetic.

## What it cannot know
What two databases, or two versions of one, say about machines: such figures tell about the databases.
",
    figure: FigureShape::ELAPSED,
    takes: &[Setting::Cpus, Setting::Iterations, Setting::Engine, Setting::Dsn, Setting::Timeout],
    placement: Placement::Anywhere,
    preparation: Preparation::Dear,
    prepare,
};

/// A quarter of a slow machine's clock, and then some.
const LIMIT: Duration = Duration::from_secs(3600);

/// Never set: sessions are abandoned within a [`Pool`] only.
static NOBODY: AtomicBool = AtomicBool::new(false);

struct Loop {
    // Dropped before the server.
    pool: Pool,
    server: Server,
    cpus: Option<CpuSet>,
    iterations: u64,
    expected: f64,
    limit: Duration,
    version: String,
}

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    Decimal,
    Double,
}

fn prepare(settings: &Settings, scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    let iterations = settings.iterations.unwrap_or(ITERATIONS);
    if !(1..=MOST_ITERATIONS).contains(&iterations) {
        let text = format!("--iterations {iterations}: expected 1 to {MOST_ITERATIONS}");
        return Err(Failure::Unready(text));
    }
    let limit = settings.timeout.unwrap_or(LIMIT);
    let patience = Patience { stop: scene.stop, abandoned: &NOBODY, limit };
    let cpus = settings.cpus()?;
    let n_sessions = cpus.as_ref().map_or(1, CpuSet::len);
    let server = Server::of(settings, scene, Engine::ALL, n_sessions, patience)?;
    let pool = Pool::open(&server, 1, cpus.as_ref(), &setup(server.engine, limit), patience)?;
    let version = server.ask("SELECT version();", patience)?.join(" ");
    let expected = cpu_test::answer(iterations);
    Ok(Box::new(Loop { pool, server, cpus, iterations, expected, limit, version }))
}

impl Ready for Loop {
    fn trial(&mut self, scene: &Scene<'_>) -> Result<Outcome, Failure> {
        let decimal = self.run(Numbers::Decimal, scene)?;
        let double = self.run(Numbers::Double, scene)?;
        let figure = |name: &str, elapsed_ns: u64| Figure {
            name: name.to_owned(),
            unit: "s".to_owned(),
            value: elapsed_ns as f64 / 1e9,
            better: Better::Lower,
        };
        Ok(Outcome {
            elapsed_ns: Known::Value(decimal.elapsed_ns),
            cpu_ns: decimal.cpu_ns,
            tasks: u32::try_from(self.pool.len()).unwrap_or(0),
            figures: vec![
                figure("elapsed", decimal.elapsed_ns),
                figure("double precision", double.elapsed_ns),
            ]
            .into(),
        })
    }

    fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }

    fn processes(&self) -> Vec<u32> {
        Server::processes()
    }

    fn server(&self) -> Option<ServerSelection> {
        Some(self.server.selection())
    }

    fn tasks(&self) -> Vec<u32> {
        self.pool.tasks()
    }

    fn about(&self) -> Vec<(String, String)> {
        vec![
            ("version".to_owned(), self.version.clone()),
            ("server".to_owned(), self.server.origin()),
        ]
    }
}

/// The slowest session's time, and the CPU time of all.
struct Run {
    elapsed_ns: u64,
    cpu_ns: Known<u64>,
}

impl Loop {
    fn run(&mut self, numbers: Numbers, scene: &Scene<'_>) -> Result<Run, Failure> {
        let patience = Patience { stop: scene.stop, abandoned: &NOBODY, limit: self.limit };
        let block = block(self.server.engine, numbers, self.iterations);
        let answers = self.pool.all(|_| block.clone(), patience);
        let answers = answers.map_err(|it| self.server.explain(it))?;
        let times = answers.iter().map(|it| elapsed_ns(it, numbers, self.expected));
        let times = times.collect::<Result<Vec<u64>, Failure>>()?;
        let elapsed_ns = times.into_iter().max().unwrap_or(0);
        Ok(Run { elapsed_ns, cpu_ns: Known::sum(answers.into_iter().map(|it| it.cpu_ns)) })
    }
}

/// Keeps a server from working on after a client that was killed.
fn setup(engine: Engine, limit: Duration) -> String {
    match engine {
        Engine::Postgresql => {
            let milliseconds = limit.as_millis().clamp(1, i32::MAX as u128);
            format!(
                "SET statement_timeout = {milliseconds}; SET client_min_messages = warning; SET extra_float_digits = 3;"
            )
        }
        Engine::Mariadb => {
            format!("SET max_statement_time = {};", limit.as_secs().clamp(1, 31_536_000))
        }
    }
}

/// The loop; it prints the answer and the microseconds that it took.
fn block(engine: Engine, numbers: Numbers, iterations: u64) -> String {
    match engine {
        Engine::Postgresql => {
            let (kind, step) = match numbers {
                Numbers::Decimal => ("numeric", "mod(n, 999999) + sqrt(f::numeric)"),
                Numbers::Double => {
                    let remainder =
                        "n - 999999::double precision * trunc(n / 999999::double precision)";
                    ("double precision", &*format!("{remainder} + sqrt(f::double precision)"))
                }
            };
            format!(
                "DO $$ DECLARE n {kind} := 0; began timestamptz := clock_timestamp(); BEGIN \
                 FOR f IN 1..{iterations} LOOP n := {step}; END LOOP; \
                 PERFORM set_config('fullclock.elapsed', \
                 ((extract(epoch FROM clock_timestamp() - began) * 1000000)::bigint)::text, false); \
                 PERFORM set_config('fullclock.answer', n::text, false); END $$; \
                 SELECT current_setting('fullclock.answer') || ' ' || current_setting('fullclock.elapsed');"
            )
        }
        Engine::Mariadb => {
            let (kind, step) = match numbers {
                Numbers::Decimal => {
                    ("DECIMAL(40,30)", "MOD(n, 999999) + CAST(SQRT(f) AS DECIMAL(40,30))")
                }
                Numbers::Double => ("DOUBLE", "MOD(n, 999999) + SQRT(f)"),
            };
            format!(
                "DELIMITER //\nBEGIN NOT ATOMIC DECLARE n {kind} DEFAULT 0; DECLARE began DATETIME(6) DEFAULT SYSDATE(6); \
                 FOR f IN 1..{iterations} DO SET n = {step}; END FOR; \
                 SELECT CONCAT(n, ' ', TIMESTAMPDIFF(MICROSECOND, began, SYSDATE(6))); END//\nDELIMITER ;"
            )
        }
    }
}

/// The time in an answer, in nanoseconds, once the number in it is the right one.
fn elapsed_ns(answer: &Answer, numbers: Numbers, expected: f64) -> Result<u64, Failure> {
    let row = answer.rows.first().map_or("", |it| it.as_str());
    let no_figure =
        || Failure::NoFigure(format!("the server answered '{row}', not a number and microseconds"));
    let (found, micros) = row.split_once(' ').ok_or_else(no_figure)?;
    let number: f64 = found.parse().map_err(|_| no_figure())?;
    let is_right = match numbers {
        Numbers::Decimal => cpu_test::agrees_in_decimals(number, expected),
        Numbers::Double => number.to_bits() == expected.to_bits(),
    };
    if !is_right {
        let expected = match numbers {
            Numbers::Decimal => format!("{expected:.2}"),
            Numbers::Double => expected.to_string(),
        };
        return Err(Failure::WrongAnswer {
            workload: WORKLOAD.id,
            found: found.to_owned(),
            expected,
        });
    }
    let micros: i64 = micros.parse().map_err(|_| no_figure())?;
    by_a_steady_clock(micros, answer.wall_ns)
}

/// The server's time, unless its clock was set during the run: it cannot have worked for longer than we waited, nor have
/// kept us waiting for long after its work.
fn by_a_steady_clock(micros: i64, wall_ns: u64) -> Result<u64, Failure> {
    const SLACK_NS: u64 = 50_000_000;
    const LONGEST_WAIT_NS: u64 = 10_000_000_000;
    let elapsed_ns =
        u64::try_from(micros).ok().and_then(|it| it.checked_mul(1000)).filter(|it| *it > 0);
    let fits = |it: &u64| {
        *it <= wall_ns.saturating_add(SLACK_NS) && wall_ns.saturating_sub(*it) <= LONGEST_WAIT_NS
    };
    elapsed_ns.filter(fits).ok_or_else(|| {
        let seconds = wall_ns as f64 / 1e9;
        Failure::NoFigure(format!("the server says that it took {micros} us, and answered after {seconds:.3} s: its clock was set"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(row: &str, numbers: Numbers, wall_ms: u64) -> String {
        let wall_ns = wall_ms * 1_000_000;
        let cpu_ns = Known::Value(1);
        let answer = Answer { rows: vec![row.to_owned()], wall_ns, cpu_ns };
        match elapsed_ns(&answer, numbers, cpu_test::answer(ITERATIONS)) {
            Ok(ns) => format!("{ns} ns"),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn the_right_answer_has_a_time() {
        assert_eq!(read("873729.720152688561 8010000", Numbers::Decimal, 8020), "8010000000 ns");
        assert_eq!(read("873729.7201526886 404886", Numbers::Double, 410), "404886000 ns");
    }

    #[test]
    fn the_last_bit_of_a_double_counts_and_that_of_a_decimal_does_not() {
        let wrong = read("873729.7201526887 404886", Numbers::Double, 410);
        assert!(
            wrong.starts_with(
                "WRONG ANSWER: plsql-loop computed 873729.7201526887, and 873729.7201526886"
            ),
            "{wrong}"
        );
        let wrong = read("873729.73 404886", Numbers::Decimal, 410);
        assert!(
            wrong.starts_with("WRONG ANSWER: plsql-loop computed 873729.73, and 873729.72 is"),
            "{wrong}"
        );
    }

    #[test]
    fn a_time_that_cannot_be_is_no_figure() {
        for (micros, wall_ms) in [(0, 10), (-5, 10), (8_000_000, 100), (1, 20_000), (i64::MAX, 10)]
        {
            let text = read(&format!("873729.72 {micros}"), Numbers::Decimal, wall_ms);
            assert!(text.ends_with("its clock was set"), "{text}");
        }
        for row in ["", "873729.72", "x 1", "873729.72 x"] {
            let text = read(row, Numbers::Decimal, 10);
            assert_eq!(text, format!("the server answered '{row}', not a number and microseconds"));
        }
    }
}
