# Prints the ledger, the ticks and the one interval of a watch in which CPU 1 was offline for a second. The ledger measures
# the command that takes the CPU away; the others have begun to count before that, and end long after.
cat >/run/away <<'AWAY'
# counting <process>: waits until it has opened perf events.
counting() { until ls -l /proc/$1/fd | grep -q perf_event; do sleep 0.2; done; }

fullclock tick --json -d 10s >/run/tick &
counting $!
fullclock watch --once --json -i 10s >/run/watch &
counting $!
sleep 2
echo 0 >/sys/devices/system/cpu/cpu1/online
sleep 1
echo 1 >/sys/devices/system/cpu/cpu1/online
wait
AWAY

fullclock ledger --json -- sh /run/away >/run/ledger
status=$?
printf '{ "ledger": %s, "tick": %s, "watch": %s }\n' \
    "$(cat /run/ledger)" "$(cat /run/tick)" "$(cat /run/watch)"
exit $status
