# Studies that change settings, and what they leave.

studies=/tmp/studies changes=/tmp/changes

# in_force: the settings that studies are about.
in_force() {
    cat $cpus/cpu?/cpufreq/scaling_governor /proc/sys/vm/stat_interval | words
}

# settled <arguments>: runs a study and prints what came of it: how it ended and what it left other than it was, its
# trials,
# its report for programs, its report for a ticket.
settled() {
    rm -rf $studies
    tree >/tmp/before
    fullclock experiment "$@" --results $studies --state-dir $changes >&2
    echo "ended: $?, left: $(tree | diff /tmp/before - | words)"
    cat $studies/*/[0-9]*.json $studies/*/report.json $studies/*/report.md
}

# tuned <arguments>: tunes the polling of the controller and prints what came of it: how it ended and what it left other than it
# was, and its report.
tuned() {
    rm -rf $studies
    tree >/tmp/before
    fullclock ipmi tune "$@" --json --results $studies --state-dir $changes >/tmp/tuned
    echo "ended: $?, left: $(tree | diff /tmp/before - | words)"
    cat /tmp/tuned
}
