# Published cases as studies, whose trials print what is in force.

studies=/tmp/studies changes=/tmp/changes

# modulation: what the register holds that stops the clock.
cat >/tmp/modulation <<'END'
. /bench/faults.sh
echo "holds $((0x$(read_msr 0 0x19a)))"
END

# in_force: what is asked of CPU 0, as one number: hundreds of MHz, and before them a digit each for a state deeper than C1 that was
# entered meanwhile, for a limit that forbids it, and for turbo that is off. The clock and turbo are those of the register, bits
# 15:8 and 32 of IA32_PERF_CTL, where the machine has it.
cat >/tmp/in_force <<'END'
. /bench/faults.sh
entered() { cat $cpus/cpu0/cpuidle/state2/usage; }
before=$(entered)
usleep 100000
after=$(entered)
asked=$((0x$(read_msr 0 0x199)))
[ $asked != 0 ] || asked=$(($(cat $cpus/cpu0/cpufreq/scaling_cur_freq) / 100000 << 8))
limit=$(od -An -td4 /dev/cpu_dma_latency | tr -d ' ')
echo "in force $((asked >> 32))$([ $limit -le 2 ] && echo 1 || echo 0)$([ $after = $before ] && echo 0 || echo 1)$((asked >> 8 & 255))"
END

# settings: everything that a study may write, and the register.
settings() {
    tree
    echo "0x19a $(read_msr 0 0x19a)"
}

# settled <arguments>: runs a study and prints how it ended and what it left other than it was, what is to be done, the trials that
# printed what was in force, and its report for a ticket but for the machine: a serial port takes its time.
settled() {
    rm -rf $studies
    settings >/tmp/before
    fullclock experiment "$@" --results $studies --state-dir $changes >/dev/null 2>/tmp/said
    echo "ended: $?, left: $(settings | diff /tmp/before - | words)"
    cat /tmp/said >&2
    grep -ho 'is in force again: .*' /tmp/said
    grep -h -e '^trial,' -e ' sh /tmp/' $studies/*/trials.csv
    sed '/^## Machine/,/^## How/d' $studies/*/report.md
}

# refused <arguments>: what a study says that does not begin, in one line.
refused() {
    fullclock experiment "$@" --results $studies --state-dir $changes >/dev/null 2>/tmp/said
    echo "refused: $?: $(words </tmp/said)"
}

# held: a trial that does not end once the register is clear.
cat >/tmp/held <<'END'
. /bench/faults.sh
[ $((0x$(read_msr 0 0x19a) >> 4 & 1)) = 1 ] && exit
echo >/tmp/cleared
while :; do sleep 1; done
END

# begin_to_mend: a study, until it is in a trial with the register clear.
begin_to_mend() {
    rm -rf /tmp/cleared $studies
    fullclock experiment -q case:clock-modulation --i-know -n 6 -w 'sh /tmp/held' \
        --results $studies --state-dir $changes >/dev/null 2>/tmp/said &
    runner=$!
    until [ -e /tmp/cleared ] || ! kill -0 $runner; do usleep 100000; done
}

# back: waits until the register holds what was found, or long enough.
back() {
    n=0
    until [ "$(register)" = 'register: 0x14' ] || [ $n -gt 300 ]; do usleep 100000 && n=$((n + 1)); done
    register
}
