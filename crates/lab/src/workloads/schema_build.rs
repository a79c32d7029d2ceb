//! `schema-build`: tables loaded by every CPU at once, then their indexes and statistics by one.
//!
//! The two phases ask different things of a machine: the first the clock with all cores busy, the second the highest
//! clock of one core. Published runs of such a job: 3.09 GHz in the first and 3.48 GHz in the second on one processor.
//! What is loaded is known, so that its sums are checked.

use crate::database::{Answer, Engine, Patience, Pool, Server, claim, claimed};
use crate::failure::Failure;
use crate::known::Known;
use crate::server::ServerSelection;
use crate::trial::{Better, Figure, FigureShape, Outcome};
use crate::workload::{Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
use facts::CpuSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub(crate) const WORKLOAD: Workload = Workload {
    id: "schema-build",
    title: "a parallel load, then indexes and statistics by one task, in PostgreSQL",
    help: "\
## What it does
Loads tables with one session for each CPU, then builds their indexes and gathers their statistics with one session and no
parallel workers. `load`, `index` and `statistics` are timed apart by the server's clock; `elapsed` is their sum. Counts and
sums of what was loaded are checked.

Rows are computed by the server (`INSERT ... SELECT ... FROM generate_series`), one unlogged table for each session, with
`synchronous_commit` and `jit` off: the CPUs are what is left to wait for. On a user's server (`--dsn`) it works in a schema
of its own, which is dropped afterwards, or at the next start if this was killed; that needs the right to create schemas.
Without, a temporary server is made of the programs installed here, and removed afterwards.

## What changes the result
The load has the clock of a processor whose cores are all busy, the indexes that of one busy core: 3.09 and 3.48 GHz in a
published run on two Xeon E5-2680. A setting may help the one and cost the other. Tables beyond the server's `shared_buffers`
go through the page cache, and on a user's server to its disk where its checkpoints say so.

## What it cannot know
What a load of two machines with different numbers of CPUs says of one session: it is not the same work for each.
",
    figure: FigureShape { name: "elapsed", unit: "s", better: Better::Lower },
    takes: &[Setting::Cpus, Setting::Rows, Setting::Engine, Setting::Dsn, Setting::Timeout],
    placement: Placement::Anywhere,
    preparation: Preparation::Dear,
    prepare,
};

/// What its schemas are called.
const KIND: &str = "build";

/// Some seconds a phase on a server's CPUs.
const ROWS: u64 = 2_000_000;

/// A hundred gigabytes.
const MOST_ROWS: u64 = 1_000_000_000;

const LIMIT: Duration = Duration::from_secs(3600);

/// How long dropping the schema may take at the end.
const FAREWELL: Duration = Duration::from_secs(60);

/// Amounts go round through this many values of a hundredth; a prime.
const N_AMOUNTS: u64 = 9973;

/// Never set: sessions are abandoned within a [`Pool`] only.
static NOBODY: AtomicBool = AtomicBool::new(false);

struct Build {
    // Dropped before the schema and the server: a busy session would keep its tables locked.
    pool: Option<Pool>,
    server: Server,
    cpus: Option<CpuSet>,
    schema: String,
    rows: u64,
    limit: Duration,
    version: String,
}

fn prepare(settings: &Settings, scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    let rows = settings.rows.unwrap_or(ROWS);
    if !(1..=MOST_ROWS).contains(&rows) {
        return Err(Failure::Unready(format!("--rows {rows}: expected 1 to {MOST_ROWS}")));
    }
    let limit = settings.timeout.unwrap_or(LIMIT);
    let patience = Patience { stop: scene.stop, abandoned: &NOBODY, limit };
    let cpus = settings.cpus()?;
    let n_sessions = cpus.as_ref().map_or(scene.allowed.len(), CpuSet::len).max(1);
    let server = Server::of(settings, scene, &[Engine::Postgresql], n_sessions, patience)?;
    let version = server.ask("SELECT version();", patience)?.join(" ");
    let mut pool = Pool::open(&server, n_sessions, cpus.as_ref(), &setup(limit), patience)?;
    let schema = claimed(KIND, &pool.first(&claim(KIND), patience)?.rows)?;
    Ok(Box::new(Build { pool: Some(pool), server, cpus, schema, rows, limit, version }))
}

impl Ready for Build {
    fn trial(&mut self, scene: &Scene<'_>) -> Result<Outcome, Failure> {
        let patience = Patience { stop: scene.stop, abandoned: &NOBODY, limit: self.limit };
        self.build(patience).map_err(|it| self.server.explain(it))
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
        self.pool.as_ref().map(Pool::tasks).unwrap_or_default()
    }

    fn about(&self) -> Vec<(String, String)> {
        let n_sessions = self.pool.as_ref().map_or(0, Pool::len);
        vec![
            ("version".to_owned(), self.version.clone()),
            ("server".to_owned(), self.server.origin()),
            ("sessions".to_owned(), n_sessions.to_string()),
        ]
    }
}

impl Build {
    fn build(&mut self, patience: Patience<'_>) -> Result<Outcome, Failure> {
        let (schema, rows) = (&self.schema, self.rows);
        // Without a session there is nothing left to build with.
        let pool = self.pool.as_mut().ok_or(Failure::Stopped)?;
        let n = pool.len();
        // A checkpoint in the middle of a phase would be that of an earlier trial.
        let checkpoint = if self.server.is_temporary() { "CHECKPOINT;" } else { "" };
        pool.first(&format!("{}\n{checkpoint}", tables(schema, n)), patience)?;
        let load = pool.all(|part| timed(&loading(schema, part, n, rows)), patience)?;
        let index = pool.first(&timed(&each(n, |part| indexes(schema, part))), patience)?;
        let statistics = pool
            .first(&timed(&each(n, |part| format!("ANALYZE {schema}.load_{part};"))), patience)?;
        check(&pool.first(&sums(schema, n), patience)?.rows, rows)?;
        pool.first(&format!("DROP SCHEMA {schema} CASCADE;"), patience)?;
        let phases = [
            ("load", phase_ns(&load)?),
            ("index", phase_ns(std::slice::from_ref(&index))?),
            ("statistics", phase_ns(std::slice::from_ref(&statistics))?),
        ];
        let cpu_ns = Known::sum(load.into_iter().chain([index, statistics]).map(|it| it.cpu_ns));
        Ok(outcome(phases, cpu_ns, n))
    }
}

impl Drop for Build {
    fn drop(&mut self) {
        self.pool = None;
        if !self.server.is_temporary() {
            let patience = Patience { stop: &NOBODY, abandoned: &NOBODY, limit: FAREWELL };
            // Where the server is gone, the next start drops the schema.
            let _stays = self
                .server
                .ask(&format!("DROP SCHEMA IF EXISTS {} CASCADE;", self.schema), patience);
        }
    }
}

fn outcome(phases: [(&str, u64); 3], cpu_ns: Known<u64>, n_sessions: usize) -> Outcome {
    let elapsed_ns = phases.iter().fold(0_u64, |sum, (_, ns)| sum.saturating_add(*ns));
    let figures = [("elapsed", elapsed_ns)].into_iter().chain(phases).map(|(name, ns)| Figure {
        name: name.to_owned(),
        unit: "s".to_owned(),
        value: ns as f64 / 1e9,
        better: Better::Lower,
    });
    // Many in the first phase and one in the others are no one number.
    let tasks = u32::from(n_sessions == 1);
    let elapsed_ns = Known::Value(elapsed_ns);
    Outcome { elapsed_ns, cpu_ns, tasks, figures: figures.collect() }
}

/// A server keeps no session longer than we wait, and none does its work with others' help.
fn setup(limit: Duration) -> String {
    let milliseconds = limit.as_millis().clamp(1, i32::MAX as u128);
    format!(
        "SET statement_timeout = {milliseconds}; SET client_min_messages = warning; SET synchronous_commit = off; \
         SET jit = off; SET max_parallel_maintenance_workers = 0; SET max_parallel_workers_per_gather = 0; \
         SET maintenance_work_mem = '256MB';"
    )
}

fn each(n: usize, statement: impl Fn(usize) -> String) -> String {
    (0..n).map(statement).collect()
}

fn tables(schema: &str, n: usize) -> String {
    let tables = each(n, |part| {
        format!(
            "CREATE UNLOGGED TABLE {schema}.load_{part} (id bigint NOT NULL, account integer NOT NULL, \
             amount numeric(12,2) NOT NULL, label text NOT NULL) WITH (autovacuum_enabled = off);\n"
        )
    });
    format!(
        "BEGIN; DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}; \
         COMMENT ON SCHEMA {schema} IS 'made by fullclock';\n{tables}COMMIT;"
    )
}

/// The rows of one part: numbers from 1 on, dealt out in order.
fn loading(schema: &str, part: usize, n: usize, rows: u64) -> String {
    let end_of =
        |part: usize| (u128::from(rows) * part as u128).checked_div(n as u128).unwrap_or(0);
    let (first, last) = (end_of(part) + 1, end_of(part + 1));
    format!(
        "INSERT INTO {schema}.load_{part} SELECT i, (i * 7919 % 999983)::integer, (i % {N_AMOUNTS})::numeric / 100, \
         md5(i::text) FROM generate_series({first}::bigint, {last}::bigint) AS i;"
    )
}

fn indexes(schema: &str, part: usize) -> String {
    let table = format!("{schema}.load_{part}");
    format!(
        "ALTER TABLE {table} ADD PRIMARY KEY (id); CREATE INDEX ON {table} (account, amount); \
         CREATE INDEX ON {table} (label);"
    )
}

/// Runs statements as one block, and prints the microseconds since 1970 at which it began and ended.
fn timed(statements: &str) -> String {
    const NOW: &str = "((extract(epoch FROM clock_timestamp()) * 1000000)::bigint)::text";
    format!(
        "DO $$ BEGIN PERFORM set_config('fullclock.began', {NOW}, false); {statements} \
         PERFORM set_config('fullclock.ended', {NOW}, false); END $$; \
         SELECT current_setting('fullclock.began') || ' ' || current_setting('fullclock.ended');"
    )
}

/// From the first session's start to the last one's end, in nanoseconds.
fn phase_ns(answers: &[Answer]) -> Result<u64, Failure> {
    let span = |answer: &Answer| {
        let (began, ended) = answer.rows.first()?.split_once(' ')?;
        Some((began.parse::<u64>().ok()?, ended.parse::<u64>().ok()?))
    };
    let spans: Option<Vec<(u64, u64)>> = answers.iter().map(span).collect();
    let spans = spans
        .ok_or_else(|| Failure::NoFigure("the server answered without two times".to_owned()))?;
    let began = spans.iter().map(|it| it.0).min().unwrap_or(0);
    let ended = spans.iter().map(|it| it.1).max().unwrap_or(0);
    let longest_wait = answers.iter().map(|it| it.wall_ns).max().unwrap_or(0);
    let took = ended.checked_sub(began).and_then(|it| it.checked_mul(1000));
    // Sessions are asked within milliseconds of each other; a second covers a thousand of them.
    took.filter(|it| (1..=longest_wait.saturating_add(1_000_000_000)).contains(it))
        .ok_or_else(|| Failure::NoFigure("the server's clock was set while it worked".to_owned()))
}

fn sums(schema: &str, n: usize) -> String {
    let parts: Vec<String> =
        (0..n).map(|part| format!("SELECT id, amount FROM {schema}.load_{part}")).collect();
    let parts = parts.join(" UNION ALL ");
    format!("SELECT count(*) || ' ' || sum(id) || ' ' || sum(amount) FROM ({parts}) AS loaded;")
}

fn check(found: &[String], rows: u64) -> Result<(), Failure> {
    let (found, expected) = (found.join(" "), expected(rows));
    if found == expected {
        return Ok(());
    }
    Err(Failure::WrongAnswer { workload: WORKLOAD.id, found, expected })
}

/// How many rows, and the sums of their numbers and amounts.
fn expected(rows: u64) -> String {
    let up_to = |n: u64| u128::from(n) * (u128::from(n) + 1) / 2;
    let cents = u128::from(rows / N_AMOUNTS) * up_to(N_AMOUNTS - 1) + up_to(rows % N_AMOUNTS);
    format!("{rows} {} {}.{:02}", up_to(rows), cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(row: &str, wall_ns: u64) -> Answer {
        Answer { rows: vec![row.to_owned()], wall_ns, cpu_ns: Known::Value(1) }
    }

    #[test]
    fn a_phase_lasts_from_the_first_start_to_the_last_end() {
        let answers = [answer("1000 3000", 3_000_000), answer("1500 3500", 3_000_000)];
        assert_eq!(phase_ns(&answers).unwrap(), 2_500_000);
    }

    #[test]
    fn times_that_cannot_be_are_no_figure() {
        for row in ["", "1000", "x 1", "3000 1000", "1000 1000", "0 18446744073709551615"] {
            assert!(phase_ns(&[answer(row, 3_000_000)]).is_err(), "{row}");
        }
        let text = phase_ns(&[answer("0 9000000", 3_000_000)]).unwrap_err().to_string();
        assert_eq!(text, "the server's clock was set while it worked");
    }

    #[test]
    fn every_row_is_loaded_once() {
        let parts: String = (0..3).map(|part| loading("s", part, 3, 10)).collect();
        for range in ["(1::bigint, 3::bigint)", "(4::bigint, 6::bigint)", "(7::bigint, 10::bigint)"]
        {
            assert!(parts.contains(range), "{parts}");
        }
    }

    #[test]
    fn a_row_too_few_is_a_wrong_answer() {
        let amounts: u64 = (1..=20_000).map(|i| i % N_AMOUNTS).sum();
        let right = format!("20000 200010000 {}.{:02}", amounts / 100, amounts % 100);
        assert!(check(std::slice::from_ref(&right), 20_000).is_ok());
        let wrong = check(&[right.replace("20000 ", "19999 ")], 20_000).unwrap_err().to_string();
        assert!(
            wrong.starts_with("WRONG ANSWER: schema-build computed 19999 200010000"),
            "{wrong}"
        );
    }
}
