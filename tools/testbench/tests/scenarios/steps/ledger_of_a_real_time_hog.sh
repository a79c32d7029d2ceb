# Prints the ledger of a normal task that shares CPU 1 with a real-time task that never sleeps, and what both ran by their own counts.
chrt -f 50 thief spin --cpu 1 --for 200s >/dev/null &
hog=$!
thief spin --cpu 1 --for 200s >/dev/null &
victim=$!
sleep 2
instant() {
    read -r hog_ns rest </proc/$hog/schedstat
    read -r victim_ns rest </proc/$victim/schedstat
    read -r uptime_s rest </proc/uptime
    printf '{ "hog_ns": %s, "victim_ns": %s, "uptime_s": %s }' $hog_ns $victim_ns $uptime_s
}
instant >/run/before
fullclock ledger --json --cpus 1 --pid $victim -d 10s >/run/ledger
status=$?
instant >/run/after
kill $hog $victim
wait
printf '{ "before": %s, "after": %s, "ledger": %s }\n' \
    "$(cat /run/before)" "$(cat /run/after)" "$(cat /run/ledger)"
exit $status
