#!/usr/bin/env bash
# Measures what users feel: CPU time and peak memory of whole runs, and the size of the program.
# Needs `time` (Debian package of that name) for memory, and 2 GB of room in /dev/shm for the made-up hosts.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet --release --package fullclock
cargo build --quiet --package xtask
program=${CARGO_TARGET_DIR:-target}/release/fullclock
hosts=$(mktemp -d /dev/shm/fullclock.XXXXXX)
trap 'rm -rf "$hosts"' EXIT

# Mean CPU time in milliseconds of $1 runs of the rest; the shell's own forks are in it.
cpu_time() {
  local runs=$1 user system TIMEFORMAT='%3U %3S'
  shift
  read -r user system < <({ time for _ in $(seq "$runs"); do "$@" > /dev/null 2>&1 || true; done; } 2>&1)
  awk "BEGIN { printf \"%.1f\", ($user + $system) * 1000 / $runs }"
}

peak_memory() {
  if [ -x /usr/bin/time ]; then
    { /usr/bin/time -f %M "$@" > /dev/null; } 2>&1 | tail -1 | awk '{ printf "%.1f MB", $1 / 1024 }'
  else
    echo "not measured: no /usr/bin/time"
  fi
}

# CPU time in milliseconds of one interval of `watch` with the options given: 520 intervals less 20.
of_an_interval() {
  local few many
  few=$(cpu_time 1 "$program" watch -i 10ms -n 20 "$@")
  many=$(cpu_time 1 "$program" watch -i 10ms -n 520 "$@")
  awk "BEGIN { printf \"%.2f\", ($many - $few) / 500 }"
}

report() { printf '%-34s %12s   %s\n' "$@"; }

# What turbostat prints, too.
turbostat=average-mhz,c0,busy-mhz,tsc-mhz,interrupts,smi,temperature,throttle-events
turbostat+=,core-residency,package-residency,idle-requested,watts

report figure measured goal
report "live audit, CPU time" "$(cpu_time 50 "$program" audit) ms" "10 ms"
report "live audit, peak memory" "$(peak_memory "$program" audit)" "30 MB"
report "watch, an interval" "$(of_an_interval --probe never) ms" "0.4 ms"
report "watch, columns of turbostat's" "$(of_an_interval --columns "$turbostat") ms" ""
report "watch, an interval with ledger" "$(of_an_interval --probe never --json) ms" ""
for n_cpus in 1024 4096; do
  cargo xtask tree --cpus "$n_cpus" "$hosts/$n_cpus" > /dev/null
done
small=$(cpu_time 5 "$program" audit --root "$hosts/1024")
large=$(cpu_time 5 "$program" audit --root "$hosts/4096")
report "tree of 1,024 CPUs, CPU time" "$small ms" "150 ms"
report "tree of 1,024 CPUs, peak memory" "$(peak_memory "$program" audit --root "$hosts/1024")" ""
report "tree of 4,096 CPUs, CPU time" "$large ms" ""
report "tree of 4,096 CPUs, peak memory" "$(peak_memory "$program" audit --root "$hosts/4096")" ""
report "4,096 CPUs against 1,024" "$(awk "BEGIN { printf \"%.1f\", $large / $small }") times" "4.5 times"
report "stripped program" "$(($(stat -c %s "$program") / 1024)) KiB" "13672 KiB"
