#!/usr/bin/env bash
# Measures `fullclock net` against iperf3 (throughput, CPU time for each byte) and qperf (latency), in turn, between two network
# namespaces of this machine that a pair of virtual adapters joins. Needs root and the Debian packages iperf3, qperf and jq, and a
# machine that does nothing else: the namespaces and what runs in them are gone at the end.
# Usage: benches/wire.sh [PAIRS [SECONDS]]
set -euo pipefail
cd "$(dirname "$0")/.."

pairs=${1:-6}
seconds=${2:-3}
cargo build --quiet --release --package fullclock
program=$(realpath "${CARGO_TARGET_DIR:-target}/release/fullclock")
scratch=$(mktemp -d)
near=fullclock-near-$$
far=fullclock-far-$$
far_address=192.0.2.2
servers=()

end() {
  kill "${servers[@]}" 2> /dev/null || true
  wait 2> /dev/null || true
  ip netns delete "$near" 2> /dev/null || true
  ip netns delete "$far" 2> /dev/null || true
  rm -rf "$scratch"
}
trap end EXIT

ip netns add "$near"
ip netns add "$far"
ip link add near netns "$near" type veth peer name far netns "$far"
ip -n "$near" address add 192.0.2.1/24 dev near
ip -n "$far" address add "$far_address/24" dev far
ip -n "$near" link set near up
ip -n "$far" link set far up

# Runs a server at the far end, and waits until it listens at port $1.
serve() {
  local port=$1
  shift
  ip netns exec "$far" "$@" > "$scratch/server-$port.log" 2>&1 &
  servers+=($!)
  until ip netns exec "$far" ss -Hltn "sport = :$port" | grep -q .; do
    kill -0 "$!" || { cat "$scratch/server-$port.log" >&2; exit 1; }
    sleep 0.05
  done
}

serve 7079 "$program" net server --listen "$far_address:7079" --token-file "$scratch/token"
serve 5201 iperf3 --server --bind "$far_address"
serve 19765 qperf

fullclock() {
  ip netns exec "$near" "$program" net client "$far_address" --token-file "$scratch/token" \
    -d "${seconds}s" --json --quiet "$@"
}

# Bytes a second, and seconds of CPU time of both ends for each byte.
throughput_of_fullclock() {
  fullclock --sizes "$1" | jq -r '.points[0]
    | [.bandwidth.average_bytes_per_second,
       (([.client[], .server[]] | map(.cpu_ns) | add) / 1e9 / .bandwidth.received_bytes)] | @tsv'
}

throughput_of_iperf3() {
  local bytes=$1
  shift
  ip netns exec "$near" iperf3 --client "$far_address" --length "$bytes" --time "$seconds" "$@" --json | jq -r '.end
    | [.sum_received.bits_per_second / 8,
       (.cpu_utilization_percent.host_total + .cpu_utilization_percent.remote_total) / 100
         * .sum_received.seconds / .sum_received.bytes] | @tsv'
}

# Half of a mean round trip in nanoseconds.
latency_of_fullclock() {
  fullclock --test latency --sizes "$1" | jq -r '.points[0].latency.mean_ns'
}

latency_of_qperf() {
  ip netns exec "$near" qperf --time "$seconds" --msg_size "$1" --precision 6 --unify_units "$far_address" tcp_lat |
    awk '$1 == "latency" { print $3 }'
}

# The middle, lowest and highest of the lines read.
middle() { sort -g | awk '{ all[NR] = $1 } END { printf "%.2f (%.2f to %.2f)", all[int((NR + 1) / 2)], all[1], all[NR] }'; }

report() { printf '%-40s %-24s %s\n' "$@"; }

against_iperf3() {
  local bytes=$1
  shift
  : > "$scratch/pairs"
  for _ in $(seq "$pairs"); do
    echo "$(throughput_of_fullclock "$bytes") $(throughput_of_iperf3 "$bytes" "$@")" >> "$scratch/pairs"
  done
  report "$bytes bytes" "$(awk '{ print $1 / $3 }' "$scratch/pairs" | middle)" "$(awk '{ print $2 / $4 }' "$scratch/pairs" | middle)"
}

# Without that option it leaves Nagle's algorithm to hold small messages back, which fullclock never does.
for option in "" --no-delay; do
  report "against iperf3${option:+ $option}, $pairs pairs" throughput "CPU time for each byte"
  for bytes in 1024 65536 1048576; do
    against_iperf3 "$bytes" $option
  done
done
report "against qperf, $pairs pairs" "mean latency" "ours and its, us"
for bytes in 64 16384; do
  : > "$scratch/pairs"
  for _ in $(seq "$pairs"); do
    echo "$(latency_of_fullclock "$bytes") $(latency_of_qperf "$bytes")" >> "$scratch/pairs"
  done
  ours=$(awk '{ print $1 / 1000 }' "$scratch/pairs" | middle)
  theirs=$(awk '{ print $2 / 1000 }' "$scratch/pairs" | middle)
  report "$bytes bytes" "$(awk '{ print $1 / $2 }' "$scratch/pairs" | middle)" "$ours; $theirs"
done
