# Prints the ledger of a database that its quota stops in every period, what its group used in the same time, and an audit.
folder=/sys/fs/cgroup/db.slice
group db.slice 2
echo '2000 10000' >$folder/cpu.max
echo 1000 >$folder/cpu.max.burst
cp /bin/thief /run/postgres
(in_group db.slice /run/postgres spin --cpu 2 --for 100s >/dev/null) &
spinner=$!
cat >/run/window <<'SCRIPT'
instant() {
    read -r uptime_s rest </proc/uptime
    awk -v uptime=$uptime_s '{ of[$1] = $2 }
        END { printf "{ \"used_us\": %d, \"stopped_us\": %d, \"uptime_s\": %s }", of["usage_usec"], of["throttled_usec"], uptime }' \
        /sys/fs/cgroup/db.slice/cpu.stat
}
sleep 1
instant >/run/before
sleep 5
instant >/run/after
SCRIPT
fullclock ledger --json -- sh /run/window >/run/ledger
status=$?
fullclock audit --json >/run/audit
kill $spinner
wait $spinner
printf '{ "before": %s, "after": %s, "ledger": %s, "audit": %s }\n' \
    "$(cat /run/before)" "$(cat /run/after)" "$(cat /run/ledger)" "$(cat /run/audit)"
echo max >$folder/cpu.max
rmdir $folder
exit $status
