# Somebody writes over a change: that is left alone, the rest is reverted.
tree >/tmp/before
fullclock apply stat-interval=10 timer-migration=off >&2
echo 7 >/proc/sys/vm/stat_interval
fullclock status | grep -o 'CHANGED since, to 7'
fullclock revert >&2
echo "reverted: $?"
sysctl vm.stat_interval kernel.timer_migration
fullclock revert --all --i-know >&2
echo "forced: $?"
echo "left: $(tree | diff /tmp/before - | words)"

# Two at once: the first is stopped while it holds the journal.
fullclock apply governor=powersave >&2 &
first=$!
until [ "$(head -n 1 /var/lib/fullclock/lock | words)" = "$first" ]; do usleep 1000; done
kill -STOP $first
fullclock apply stat-interval=10 2>/tmp/said
echo "second: $?"
cat /tmp/said >&2
grep -c "process $first, which is stopped .*is changing this host" /tmp/said
kill -CONT $first
wait $first
echo "first: $?"
sysctl vm.stat_interval
cat $cpus/cpu?/cpufreq/scaling_governor
fullclock revert --all >&2
echo "left: $(tree | diff /tmp/before - | words)"

# Three at once, and nobody is stopped: each is made or refused, and all that were made can be reverted.
for seconds in 10 11 12; do
    { fullclock apply stat-interval=$seconds >&2; echo $? >/tmp/ended.$seconds; } &
    eval "actor_$seconds=$!"
done
wait $actor_10 $actor_11 $actor_12
echo "ended: $(cat /tmp/ended.* | sort | words)"
made=$(grep -lx 0 /tmp/ended.* | wc -l)
kept=$(fullclock status | grep -c '^Change ')
echo "lost: $((made - kept))"
fullclock revert --all >&2
echo "left: $(tree | diff /tmp/before - | words)"
