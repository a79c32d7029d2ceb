# Confirmed in time: the deadline passes meanwhile.
tree >/tmp/before
fullclock apply --confirm-within 10s timer-migration=off >&2
fullclock confirm >&2
echo "confirmed: $?"
kept_at=$(cut -d. -f1 /proc/uptime)

# A session of its own ends with all that is in it, once the change is made.
rm -f /tmp/made
setsid sh -c 'fullclock apply --confirm-within 10s governor=powersave >&2; echo $$ >/tmp/made; sleep 1000' &
until [ -s /tmp/made ]; do sleep 0.1; done
session=$(cat /tmp/made)
kill -HUP "-$session"
kill -KILL "-$session"
wait $!
echo "after the session: $(cat $cpus/cpu1/cpufreq/scaling_governor)"
n=0
until [ "$(cat $cpus/cpu1/cpufreq/scaling_governor)" = schedutil ] || [ $n -gt 60 ]; do sleep 1; n=$((n + 1)); done
echo "after the deadline: $(cat $cpus/cpu1/cpufreq/scaling_governor)"
fullclock confirm >&2
echo "too late: $?"

# Killed in the middle: the guard does not wait for the deadline.
setsid env FULLCLOCK_FAULT=9 fullclock apply --confirm-within 1000s governor=powersave >&2
echo "killed: $?"
n=0
until [ "$(cat $cpus/cpu?/cpufreq/scaling_governor | sort -u)" = schedutil ] || [ $n -gt 60 ]; do sleep 1; n=$((n + 1)); done
echo "without a deadline: $(cat $cpus/cpu?/cpufreq/scaling_governor | words)"

until [ "$(cut -d. -f1 /proc/uptime)" -gt $((kept_at + 11)) ]; do sleep 1; done
echo "kept: $(sysctl -n kernel.timer_migration)"
fullclock revert --all >&2
echo "reverted: $?"
echo "left: $(tree | diff /tmp/before - | words)"
