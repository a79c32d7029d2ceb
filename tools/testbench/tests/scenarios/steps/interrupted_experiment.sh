# A study of settings that is killed at moments that chance chooses, and gone on with each time.

# figure: what a trial prints. It is a function of the settings in force and of how many trials the study has kept: a trial that
# is lost, made twice, out of order or with other settings changes the figures, and with them the analysis.
cat >/bin/figure <<'END'
#!/bin/sh
read -r first <$cpus/cpu0/cpufreq/scaling_governor
read -r second <$cpus/cpu1/cpufreq/scaling_governor
read -r interval </proc/sys/vm/stat_interval
case $first,$second in
performance,performance) faster=700 ;;
ondemand,ondemand) faster=0 ;;
*) faster=-5000 ;;
esac
n=$(cat $studies/*/*.trials 2>/dev/null | wc -l)
usleep 150000
echo figure=$((10000 + faster - 20 * interval + n * 7919 % 41))
END
chmod +x /bin/figure
export cpus studies

# moments <seed> <count>: a line each: how many trials to wait for, and how many microseconds from there.
moments() {
    awk -v seed="$1" -v count="$2" 'BEGIN {
        srand(seed)
        for (n = 0; n < count; n++) print int(rand() * 4), int(rand() * 600000)
    }'
}

# journal: what the study has on disk; the first line is its plan, and each of the others a trial.
journal() { cat $studies/*/*.trials 2>/dev/null; }

# go_on <arguments>: begins the study, or goes on with the one that there is; in the background.
go_on() {
    [ "$(journal | wc -l)" = 0 ] || set -- resume
    fullclock experiment -q "$@" --results $studies --state-dir $changes >/dev/null 2>/tmp/said &
    runner=$!
}

# is_running: and is no corpse that nobody has waited for.
is_running() { grep -q '^State:.[^ZX]' /proc/$runner/status 2>/dev/null; }

# is_settled: every setting is as it was found, and nobody is about to write one.
is_settled() {
    [ "$(in_force)" = "$found" ] && ! grep -q 'guard[-]change' /proc/[0-9]*/cmdline 2>/dev/null
}

# is_whole: every trial is in the result, though perhaps not in a report.
is_whole() { [ -z "$(journal)" ] && [ -f "$(echo $studies/*/[0-9]*.json)" ]; }

# told: the study that is whole, with every trial and its figure; the next one begins anew.
told() {
    result=$(echo $studies/*/[0-9]*.json)
    # One that was killed before its first line has left an empty folder beside it.
    fullclock report -q "${result%/*}" >/dev/null
    cat $studies/*/report.json
    echo 'trials:'
    cut -d, -f1-3,8 $studies/*/trials.csv
    echo 'end'
    rm -rf $studies
}

# uncut <arguments>: the study in one piece.
uncut() {
    go_on "$@"
    wait $runner
    echo "uncut ended: $? $(cat /tmp/said)" >&2
    told
}

# wait_for <trials> <microseconds>: until there are so many trials more, and for so long from there.
wait_for() {
    wanted=$(($(journal | wc -l) + $1))
    while is_running && [ "$(journal | wc -l)" -lt $wanted ]; do usleep 100000; done
    usleep "$2"
}

# cut_short: kills it.
cut_short() {
    is_running || return
    kill -STOP $runner
    [ "$(in_force)" = "$found" ] || changed=$((changed + 1))
    kill -KILL $runner
    killed=$((killed + 1))
}

# is_kept <file>: whether the lines that the journal had, in this file, are the beginning of what it has.
is_kept() {
    lines=$(wc -l <"$1")
    journal | head -n "$lines" >/tmp/beginning
    head -n "$lines" "$1" | cmp -s - /tmp/beginning
}

# killed_at_random <seed> <count> <arguments>: the study in one piece, each that became whole in pieces, and a line of what
# came of the kills.
killed_at_random() {
    count=$2
    # Some come when a study has just ended.
    moments "$1" $((2 * count)) >/tmp/moments
    shift 2
    tree >/tmp/before
    found=$(in_force)
    uncut "$@"
    killed=0 changed=0 lost=0 failed=0
    while [ $killed -lt "$count" ] && read -r trials microseconds <&4; do
        journal >/tmp/kept
        go_on "$@"
        wait_for "$trials" "$microseconds"
        cut_short
        wait $runner
        ended=$?
        n=0
        until is_settled || [ $n -gt 300 ]; do usleep 100000 && n=$((n + 1)); done
        if ! tree | diff /tmp/before - >/tmp/difference; then
            lost=$((lost + 1))
            echo "after kill $killed: $(words </tmp/difference)" >&2
        fi
        if is_whole; then
            told
        elif [ $ended != 137 ] || ! is_kept /tmp/kept; then
            failed=$((failed + 1))
            echo "after kill $killed, with $ended: $(cat /tmp/said)" >&2
        fi
    done 4</tmp/moments
    go_on "$@"
    wait $runner
    echo "ended: $?" >&2
    told
    echo "killed $killed times, $changed of them in a change, lost $lost, failed $failed, left $(
        tree | diff /tmp/before - | words), then $(fullclock status --state-dir $changes)"
}

# without_a_guard <arguments>: a study whose guard is killed with it in the middle of a trial, gone on with at once: whether
# anything was left in force, and how many changes its trials made besides that one. Every arm takes a change.
without_a_guard() {
    found=$(in_force) changes=/tmp/changes_without_a_guard
    go_on "$@"
    until [ "$(in_force)" != "$found" ] || ! is_running; do usleep 20000; done
    kill -STOP $runner
    kill -KILL $(grep -l 'guard[-]change' /proc/[0-9]*/cmdline | cut -d/ -f3) $runner
    wait $runner
    [ "$(in_force)" = "$found" ] || echo 'a level is left in force'
    go_on "$@"
    wait $runner
    echo "ended $?, $(grep -c '^[0-9]' $studies/*/trials.csv) trials, $(
        fullclock status --all --verbose --state-dir $changes | grep -c '^Change') changes"
    [ "$(in_force)" = "$found" ] && echo 'as found'
}
