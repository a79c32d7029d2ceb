# A database alone on CPU 0, whose group is clamped: what an audit says, and at which clock the governor kept the CPU.
folder=/sys/fs/cgroup/db.slice
group db.slice 0
cp /bin/thief /run/postgres
# The kernel begins to clamp with the first clamp that it is given, and tasks that run then go on unclamped until they have slept
# (kernel/sched/core.c, `uclamp_update_active`).
echo 50.00 >$folder/cpu.uclamp.max
(in_group db.slice /run/postgres spin --cpu 0 --for 200s >/dev/null) &
spinner=$!

# clock: mean of three seconds, in kHz.
clock() {
    sleep 1
    cat $cpus/cpu0/cpufreq/stats/time_in_state >/run/times
    sleep 3
    awk 'NR == FNR { earlier[$1] = $2; next }
        { time = $2 - earlier[$1]; sum += time * $1; all += time }
        END { printf "%.0f", sum / all }' /run/times $cpus/cpu0/cpufreq/stats/time_in_state
}

comma='{'
for clamp in 50.00 75.00 90.00 max; do
    echo $clamp >$folder/cpu.uclamp.max
    printf '%s "%s": { "khz": %s, "audit": ' "$comma" $clamp "$(clock)"
    fullclock audit --json
    comma='},'
done
echo '} }'
kill $spinner
wait $spinner
rmdir $folder
