# Prints the ledger, and what the polling thread's own count says from within the time that the ledger measured.
cat >/run/window <<'END'
instant() {
    read -r ran_ns rest </proc/$(pidof kipmi0)/schedstat
    read -r uptime_s rest </proc/uptime
    printf '{ "ran_ns": %s, "uptime_s": %s }' $ran_ns $uptime_s
}
instant >/run/before
sleep 10
instant >/run/after
END

keep_bmc_busy
fullclock ledger --json -- sh /run/window >/run/ledger
status=$?
leave_bmc_alone
printf '{ "before": %s, "after": %s, "ledger": ' "$(cat /run/before)" "$(cat /run/after)"
cat /run/ledger
echo '}'
exit $status
