//! Commands whose children do the work, end, and fork again: what `ledger -- COMMAND` calls useful, held against getrusage(2).

use super::run::traceable;
use serde_json::Value;
use std::path::Path;

/// Scripts of a bash that may use `busy` (some work in the shell), `$BUSY` (the same for another shell), and the folder `$T`. A
/// process that no parent waits for writes its own times(1) there, by `$TIMES FILE`: it counts for nobody's getrusage. So do
/// children of a parent that ignores SIGCHLD, which are in none of these.
pub(super) const TREES: [&str; 50] = [
    "busy",
    "sh -c \"$BUSY\"",
    "timeout 60 sh -c \"$BUSY\"; true",
    "sh -c 'sh -c \"$BUSY\"; true'; true",
    "sh -c 'sh -c \"sh -c \\\"\\$BUSY\\\"; true\"; true'; true",
    "sh -c 'exec sh -c \"exec sh -c \\\"\\$BUSY\\\"\"'",
    "env env nice -n 1 env sh -c \"$BUSY\"",
    "(busy; busy)",
    "(busy; (busy; (busy)))",
    "eval busy; . /dev/stdin <<< busy",
    // Background jobs.
    "busy & busy & wait",
    "for i in 1 2 3 4 5; do sh -c \"$BUSY\"; done",
    "for i in 1 2 3 4 5 6 7 8; do sh -c \"$BUSY\" & done; wait",
    "for i in $(seq 40); do true & done; wait; busy",
    "setsid sh -c \"$BUSY\" & wait; busy",
    "setsid -w sh -c \"$BUSY\"",
    "nohup sh -c \"$BUSY\" > $T/nohup.out 2>&1 & wait",
    "sh -c \"$BUSY\" & kill -STOP $!; sleep 0.05; kill -CONT $!; wait",
    "coproc sh -c \"$BUSY\"; busy; wait",
    "trap : TERM; (busy; kill -TERM $$); busy",
    // Pipelines.
    "sh -c \"$BUSY\" | sh -c \"$BUSY; cat\" | cat",
    "(busy) | (busy; cat) | (busy; cat)",
    "i=0; while [ $i -lt 100 ]; do true | true; i=$((i+1)); done; busy",
    "yes | head -n 100000 | sort | uniq -c > $T/out",
    "head -c 4000000 /dev/zero | gzip | gunzip | tee $T/copy | cksum > $T/out",
    "seq 20000 | while read -r n; do :; done",
    "mkfifo $T/fifo; cat < $T/fifo > $T/out & (busy; echo done) > $T/fifo; wait",
    "cat <(busy; echo 1) <(busy; echo 2) > $T/out; wait",
    "x=$(busy; echo $(busy; echo 1)); [ \"$x\" = 1 ]",
    "busy | tee >(cat > $T/out) | cat; wait",
    // Children that are ended.
    "timeout 0.1 gzip -9 < /dev/zero > $T/out; true",
    "timeout 0.1 sha256sum /dev/zero; true",
    "timeout 0.1 yes | gzip -1 > $T/out; true",
    "sh -c 'while :; do :; done' & sleep 0.1; kill $!; wait; busy",
    "(while :; do :; done) & sleep 0.1; kill -9 $!; wait; busy",
    "(busy; busy; kill -9 $BASHPID); (ulimit -t 1; busy)",
    "for i in 1 2 3; do timeout 0.03 sh -c 'while :; do :; done'; done; true",
    "sh -c 'sh -c \"while :; do :; done\" & sleep 0.1; kill $!; wait'; true",
    // Many short ones, and many at a time.
    "for i in $(seq 100); do /bin/true; done; busy",
    "seq 60 | xargs -n 1 -P 4 true; busy",
    "echo 1 2 3 4 5 6 | xargs -n 1 -P 3 sh -c \"$BUSY\"",
    "seq 9 | xargs -n 3 -P 2 sh -c 'sh -c \"$BUSY\" & sh -c \"$BUSY\"; wait'",
    "printf 'all: a b c\\na b c:\\n\\t@sh -c \"$$BUSY\"\\n' > $T/Makefile; make -s -j 3 -f $T/Makefile || busy",
    "find /proc/self/task /proc/self/net -maxdepth 1 -name 't*' -exec true {} \\; ; busy",
    "f() { if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)); wait; else busy; fi; }; f 3",
    "perl -e 'for (1..20) { if (!fork) { $x += $_ for 1..20000; exit } } 1 while wait > 0'",
    // Threads that end.
    "seq 60000 | sort -R --parallel=4 > $T/out",
    // Orphans.
    "(bash -c \"$BUSY; $TIMES $T/orphan\" &); busy; until [ -s $T/orphan ]; do sleep 0.02; done; sleep 0.02",
    "(setsid bash -c \"(sh -c '$BUSY'; true); $TIMES $T/orphan\" &); until [ -s $T/orphan ]; do sleep 0.02; done; sleep 0.02",
    "((bash -c \"$BUSY; $BUSY; $TIMES $T/orphan\" &) &); busy; until [ -s $T/orphan ]; do sleep 0.02; done; sleep 0.02",
];

/// How much is done in each, and how it is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// Turns of the loop that `busy` is.
    pub(super) turns: u32,
    pub(super) trace: &'static str,
}

/// The sum of what times(1) has written, in seconds: minutes and seconds of a shell, and of the children it has waited for.
fn seconds(times: &str) -> f64 {
    let one = |word: &str| {
        let (minutes, seconds) = word.strip_suffix('s').unwrap().split_once('m').unwrap();
        60.0 * minutes.parse::<f64>().unwrap() + seconds.parse::<f64>().unwrap()
    };
    times.split_whitespace().map(one).sum()
}

/// What getrusage says of all files of times in a folder, and how many these are.
fn truth(folder: &Path) -> (f64, usize) {
    let names = ["all", "orphan"].map(|it| folder.join(it));
    let texts = names.iter().filter_map(|it| std::fs::read_to_string(it).ok());
    let times: Vec<f64> = texts.map(|it| seconds(&it)).collect();
    (times.iter().sum(), times.len())
}

/// What is wrong with the ledger of a tree; nothing if it is useful time within a point.
pub(super) fn fault(tree: &str, manner: Manner) -> Option<String> {
    // Each of the four times of a shell is rounded down to 1 ms, and its own end is in none.
    const ROUNDED: f64 = 0.004;
    const EXIT: f64 = 0.003;
    let busy = format!("i=0; while [ $i -lt {} ]; do i=$((i+1)); done", manner.turns);
    let folder = tempfile::tempdir().unwrap();
    let script = format!("busy() {{ {busy}; }}; {tree}; times > $T/all");
    let arguments = ["ledger", "--json", "--trace", manner.trace, "--", "bash", "-c", &script];
    let mut command = traceable(&arguments, manner.trace != "never");
    command.env("T", folder.path()).env("BUSY", &busy).env("TIMES", "times >");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tree}: {said}");
    let (truth, n_files) = truth(folder.path());
    let rounded = n_files as f64 * (ROUNDED + EXIT);

    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let lines = value["lines"].as_array().unwrap().iter();
    let of = |ids: &[&str]| {
        let known = lines.clone().filter(|it| ids.contains(&it["loss"].as_str().unwrap()));
        known.filter_map(|it| it["time_s"].as_f64()).sum::<f64>()
    };
    let mut worked = of(&["useful", "slow-clock", "stopped-clock"]);
    let is_known = |it: &Value| it["missing_cpus"].as_array().is_none_or(Vec::is_empty);
    let mut useful = lines.clone().filter(|it| it["loss"] == "useful");
    let has_clock = useful.all(|it| it["missing"].is_null() && is_known(it));
    if !has_clock {
        // On a busy machine the clock of a CPU is not always known in so short a time: what was useful there is unexplained.
        worked += value["unexplained"]["time_s"].as_f64().unwrap();
    }
    // Interrupts and stolen time that came in tasks have lines of their own, and the kernel may count them as the tasks'.
    let besides = of(&["ticks", "interrupts", "softirqs", "stolen"]);
    let point = value["capacity_s"].as_f64().unwrap() / 100.0;
    let is_right = worked > truth - besides - point && worked < truth + rounded + point;
    (!is_right).then(|| {
        let lines: Vec<String> = lines
            .filter(|it| it["time_s"].as_f64() > Some(0.001))
            .map(|it| format!("{} {} {}", it["loss"], it["part"], it["time_s"]))
            .collect();
        format!(
            "{tree}: {worked} s, with interrupts {besides} s; getrusage says {truth} s; a point is {point} s: {}",
            lines.join(", ")
        )
    })
}
