//! `cargo xtask aa [-n RUNS] [--anew] [WORKLOAD ...]`: compares every workload with itself, many times, and counts how often a
//! difference is claimed.
//!
//! Nothing is made up: each run is `fullclock bench --vs` on this machine, with all that it is at that time. Both arms have a
//! preparation of their own, and take turns at being A. Each outcome is added to a file as soon as it is there, so that what was
//! broken off goes on; outcomes of another build of the program do not count. Races of two equal nodes are counted, too, and not
//! judged: what a race says is about that race.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::hash::{Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cargo::{binaries, build_binaries, program, target};

/// Runs of each workload where none are named.
const RUNS: u32 = 40;

/// Claims that are too many: this share of all, or so many of a workload's runs.
const POOLED: f64 = 0.02;
const OF_ONE: f64 = 3.0 / 40.0;

/// What is compared with itself: its name and the two arms. Where they can differ in next to nothing they do, so that they
/// cannot share what was prepared.
const CASES: &[(&str, Arms)] = &[
    ("cpu-loop", Arms::Bench("cpu-loop --iterations 2000000", "cpu-loop --iterations 2000001")),
    (
        "cpu-speed",
        Arms::Bench("cpu-speed --iterations 20000000", "cpu-speed --iterations 20000001"),
    ),
    ("all-cores", Arms::Bench("all-cores --iterations 1000000", "all-cores --iterations 1000001")),
    (
        "spin-pair",
        Arms::Bench(
            "spin-pair --cpus 0,1 --iterations 1000000",
            "spin-pair --cpus 0,1 --iterations 1000001",
        ),
    ),
    ("wakeup", Arms::Bench("wakeup --iterations 200", "wakeup --iterations 201")),
    ("memory", Arms::Bench("memory --iterations 100000", "memory --iterations 100001")),
    ("syscall", Arms::Bench("syscall --iterations 100000", "syscall --iterations 100001")),
    ("timer", Arms::Bench("timer --iterations 1000000", "timer --iterations 1000001")),
    (
        "ipmi-roundtrip",
        Arms::Bench("ipmi-roundtrip --iterations 20", "ipmi-roundtrip --iterations 21"),
    ),
    ("plsql-loop", Arms::Bench("plsql-loop --iterations 100000", "plsql-loop --iterations 100001")),
    ("schema-build", Arms::Bench("schema-build --rows 20000", "schema-build --rows 20001")),
    ("commit", Arms::Bench("commit", "commit")),
    ("commit-postgresql", Arms::Bench("commit --engine postgresql", "commit --engine postgresql")),
    ("commit-mariadb", Arms::Bench("commit --engine mariadb", "commit --engine mariadb")),
    ("command", Arms::Bench("gzip -1 -c /bin/bash", "gzip -1 -c -- /bin/bash")),
    ("race", Arms::Race),
];

#[derive(Clone, Copy)]
enum Arms {
    /// Two sides of `bench --vs`.
    Bench(&'static str, &'static str),
    /// Two embedded nodes.
    Race,
}

/// How one run came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Outcome {
    case: String,
    /// The build of the program.
    build: String,
    /// Whether the arms were exchanged.
    is_exchanged: bool,
    /// The difference that was claimed, as a share; `None` where none was.
    claimed: Option<f64>,
}

/// `cargo xtask aa`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let (mut runs, mut names) = (RUNS, Vec::new());
    let mut words = arguments.iter();
    let mut is_anew = false;
    while let Some(word) = words.next() {
        match &**word {
            "-n" => {
                let count = words.next().and_then(|it| it.parse().ok());
                runs = count.context("-n: expected how many runs of each")?;
            }
            "--anew" => is_anew = true,
            name if CASES.iter().any(|it| it.0 == name) => names.push(name),
            other => {
                let known: Vec<&str> = CASES.iter().map(|it| it.0).collect();
                bail!("{other:?} is none of {}", known.join(", "));
            }
        }
    }
    build_binaries()?;
    let file = target().join("aa.jsonl");
    if is_anew && file.exists() {
        fs::remove_file(&file)?;
    }
    Ok(if is_good(runs, &names, &file)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A few runs of each, for `cargo xtask sweep`, of a program that was built.
pub(crate) fn sweep() -> Result<()> {
    const RUNS: u32 = 5;
    if is_good(RUNS, &[], &target().join("aa.jsonl"))? {
        return Ok(());
    }
    bail!("differences are claimed where there are none: `cargo xtask aa` runs more");
}

/// Runs what is missing in the file and prints the table; whether there are few enough claims.
fn is_good(runs: u32, names: &[&str], file: &Path) -> Result<bool> {
    let [fullclock, _] = binaries();
    let build = build_of(&fullclock)?;
    let mut tally = Tally::default();
    for (case, arms) in CASES.iter().filter(|it| names.is_empty() || names.contains(&it.0)) {
        let mut outcomes: Vec<Outcome> = read(file, &build)?;
        outcomes.retain(|it| it.case == *case);
        let mut why_not = None;
        for number in outcomes.len()..runs as usize {
            let is_exchanged = number % 2 == 1;
            let claimed = match claimed(&fullclock, *arms, is_exchanged) {
                Ok(claimed) => claimed,
                // A machine without a controller or a database says so at once.
                Err(why) if number == 0 => {
                    why_not = Some(why);
                    break;
                }
                Err(why) => return Err(why.context(format!("{case}, run {}", number + 1))),
            };
            let (case, build) = ((*case).to_owned(), build.clone());
            let outcome = Outcome { case, build, is_exchanged, claimed };
            append(file, &outcome)?;
            outcomes.push(outcome);
        }
        let row = Row::of(case, matches!(arms, Arms::Race), &outcomes, why_not);
        println!("{}", row.line());
        tally.rows.push(row);
    }
    print!("{}", tally.end());
    Ok(tally.is_good())
}

/// What tells one build of the program from another.
fn build_of(program: &Path) -> Result<String> {
    let bytes = fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

/// The outcomes of this build. A line that was cut short is none.
fn read(file: &Path, build: &str) -> Result<Vec<Outcome>> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(file)?;
    let outcomes = text.lines().filter_map(|it| serde_json::from_str::<Outcome>(it).ok());
    Ok(outcomes.filter(|it| it.build == build).collect())
}

fn append(file: &Path, outcome: &Outcome) -> Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    // After a line that was cut short begins another.
    Ok(writeln!(file, "\n{}", serde_json::to_string(outcome)?)?)
}

/// Runs one comparison; the difference that it claims.
fn claimed(fullclock: &PathBuf, arms: Arms, is_exchanged: bool) -> Result<Option<f64>> {
    let mut command: Command = match arms {
        Arms::Bench(a, b) => {
            let [a, b] = if is_exchanged { [b, a] } else { [a, b] };
            program(fullclock, &["bench", "--vs", a, b, "-n", "20", "--no-save", "--json"])
        }
        Arms::Race => program(
            fullclock,
            &["race", "--node", "a=embedded", "--node", "b=embedded", "--no-save", "--json"],
        ),
    };
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}", said.lines().next_back().unwrap_or("it failed without a message"));
    }
    let result: Value = serde_json::from_slice(&output.stdout)?;
    let comparison = result["comparisons"].get(0).context("there is no comparison")?;
    Ok(claim(comparison))
}

/// The difference that a comparison claims, as a share: the first one of it that is marked as claimed.
fn claim(comparison: &Value) -> Option<f64> {
    match comparison {
        Value::Object(fields) if fields.get("is_claimed") == Some(&Value::Bool(true)) => {
            Some(fields.get("change").and_then(Value::as_f64).unwrap_or(f64::NAN))
        }
        Value::Object(fields) => fields.values().find_map(claim),
        Value::Array(items) => items.iter().find_map(claim),
        _ => None,
    }
}

/// What is known of one workload.
struct Row {
    case: &'static str,
    runs: u32,
    claims: u32,
    largest: Option<f64>,
    /// Whether its claims are reported and not judged.
    is_race: bool,
    why_not: Option<String>,
}

impl Row {
    fn of(
        case: &'static str,
        is_race: bool,
        outcomes: &[Outcome],
        why_not: Option<anyhow::Error>,
    ) -> Row {
        let claims: Vec<f64> = outcomes.iter().filter_map(|it| it.claimed).collect();
        let largest = claims.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let (runs, claims) = (count(outcomes.len()), count(claims.len()));
        Row { case, runs, claims, largest, is_race, why_not: why_not.map(|it| format!("{it:#}")) }
    }

    fn line(&self) -> String {
        let Row { case, runs, claims, largest, .. } = self;
        if let Some(why) = &self.why_not {
            return format!("{case:<20} not run: {why}");
        }
        let mut line = format!("{case:<20} {claims:>3} claims in {runs:>3} runs");
        if let Some(largest) = largest {
            // Writing to a text cannot fail.
            let _written = write!(line, ", the largest {:+.2} %", largest * 100.0).is_ok();
        }
        if self.is_race {
            line += " (about that race; not judged)";
        } else if self.claims > allowed(self.runs, OF_ONE) {
            line += "  TOO MANY";
        }
        line
    }
}

#[derive(Default)]
struct Tally {
    rows: Vec<Row>,
}

impl Tally {
    fn judged(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|it| !it.is_race)
    }

    fn pooled(&self) -> (u32, u32) {
        (self.judged().map(|it| it.claims).sum(), self.judged().map(|it| it.runs).sum())
    }

    fn end(&self) -> String {
        let (claims, runs) = self.pooled();
        let share = f64::from(claims) * 100.0 / f64::from(runs.max(1));
        let most = allowed(runs, POOLED);
        format!(
            "all together          {claims} claims in {runs} runs, {share:.1} %; at most {most} are good\n"
        )
    }

    fn is_good(&self) -> bool {
        let (claims, runs) = self.pooled();
        claims <= allowed(runs, POOLED)
            && self.judged().all(|it| it.claims <= allowed(it.runs, OF_ONE))
    }
}

/// How many claims are not too many: that share of the runs, and in a few runs what a level of 1 % gives by chance in all but
/// one case of a hundred.
fn allowed(runs: u32, share: f64) -> u32 {
    const LEVEL: f64 = 0.01;
    let by_share = (f64::from(runs) * share).floor() as u32;
    let (mut chance, mut together, mut by_chance) = ((1.0 - LEVEL).powf(f64::from(runs)), 0.0, 0);
    for claims in 0..=runs {
        together += chance;
        by_chance = claims;
        if 1.0 - together < 0.01 {
            break;
        }
        chance *= f64::from(runs - claims) / f64::from(claims + 1) * LEVEL / (1.0 - LEVEL);
    }
    by_share.max(by_chance)
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_claim_is_found_where_one_is_marked_and_nowhere_else() {
        let reading =
            |is_claimed: bool, change: f64| json!({"is_claimed": is_claimed, "change": change});
        let of = |readings: &[Value]| claim(&json!({"a": "A", "verdict": {"readings": readings}}));
        assert_eq!(of(&[reading(false, 0.1), reading(true, -0.02)]), Some(-0.02));
        assert_eq!(of(&[reading(false, 0.1)]), None);
    }

    #[test]
    fn few_runs_may_have_the_claims_that_chance_gives() {
        // The binomial distribution: of 40 runs at 1 %, more than 2 claims come in 0.7 % of cases.
        assert_eq!([allowed(40, OF_ONE), allowed(40, 0.0), allowed(5, OF_ONE)], [3, 2, 1]);
        assert_eq!(allowed(600, POOLED), 12);
        assert_eq!(allowed(0, POOLED), 0);
    }

    #[test]
    fn outcomes_are_read_back_those_of_other_builds_and_half_lines_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("aa.jsonl");
        let outcome = |build: &str| Outcome {
            case: "memory".to_owned(),
            build: build.to_owned(),
            is_exchanged: true,
            claimed: Some(0.04),
        };
        append(&file, &outcome("x")).unwrap();
        let half = &serde_json::to_string(&outcome("x")).unwrap()[..20];
        let text = fs::read_to_string(&file).unwrap() + half;
        fs::write(&file, text).unwrap();
        append(&file, &outcome("y")).unwrap();
        append(&file, &outcome("x")).unwrap();
        assert_eq!(read(&file, "x").unwrap(), [outcome("x"), outcome("x")]);
    }

    #[test]
    fn too_many_claims_of_one_workload_or_of_all_are_bad_and_a_races_are_not_judged() {
        let row = |case, claims, is_race| Row {
            case,
            runs: 40,
            claims,
            largest: Some(0.05),
            is_race,
            why_not: None,
        };
        let is_good = |rows: Vec<Row>| Tally { rows }.is_good();
        assert!(is_good(vec![row("a", 2, false), row("b", 0, false), row("race", 30, true)]));
        assert!(!is_good(vec![row("a", 4, false), row("b", 0, false)]));
        assert!(!is_good(
            (0..12).map(|_| row("a", 1, false)).chain([row("b", 3, false)]).collect()
        ));
        assert!(row("a", 4, false).line().ends_with("TOO MANY"));
    }
}
