# Prints the ledger; what the polling thread's own count says from within the time that the ledger measured; and, of
# the same time, what perf saw: for how long the thread had the CPU, and how long it was on its way there.
cat >/run/window <<'SCRIPT'
instant() {
    read -r ran_ns rest </proc/$(pidof kipmi0)/schedstat
    read -r uptime_s rest </proc/uptime
    printf '{ "ran_ns": %s, "uptime_s": %s }' $ran_ns $uptime_s
}
instant >/run/before
sleep 10
instant >/run/after
SCRIPT

keep_bmc_busy
perf record -q -a -m 4096 -k CLOCK_MONOTONIC -o /run/events \
    -e sched:sched_switch --filter 'prev_comm=="kipmi0" || next_comm=="kipmi0"' \
    -e sched:sched_waking --filter 'comm=="kipmi0"' \
    fullclock ledger --json -- sh /run/window >/run/ledger
status=$?
leave_bmc_alone
uptime_of() { sed 's/.*"uptime_s": \([0-9.]*\).*/\1/' "$1"; }
perf script -i /run/events --ns -F time,event,trace 2>/dev/null |
    awk -v from="$(uptime_of /run/before)" -v to="$(uptime_of /run/after)" '
        { at = $1 + 0 }
        at < from || at > to { next }
        /sched_waking:/ { woken = at }
        /next_comm=kipmi0/ { since = at; if (woken) { on_the_way += at - woken }; woken = 0 }
        /prev_comm=kipmi0/ && since { ran += at - since; since = 0 }
        END { printf "{ \"ran_s\": %.6f, \"on_the_way_s\": %.6f }", ran, on_the_way }' >/run/perf
printf '{ "before": %s, "after": %s, "perf": %s, "ledger": ' \
    "$(cat /run/before)" "$(cat /run/after)" "$(cat /run/perf)"
cat /run/ledger
echo '}'
exit $status
