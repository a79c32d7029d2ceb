# A study that the power goes in. What each boot finds is on the disk, for the last one to tell.
studies=/disk/studies changes=/disk/changes

# booted: what this boot finds, before anything is gone on with.
booted() {
    kept=kept
    if is_whole; then
        told >>/disk/whole
    elif [ -f /disk/kept ] && ! is_kept /disk/kept; then
        kept=LOST
    fi
    journal >/disk/kept
    echo "booted with $(in_force), $kept $(journal | wc -l) lines: $(fullclock status --state-dir $changes | words)" >>/disk/log
    sync
}

# power_cut <seed> <arguments>: goes on, and is cut.
power_cut() {
    booted
    found=$(in_force)
    moments "$1" 1 >/tmp/moments
    shift
    read -r trials microseconds </tmp/moments
    go_on "$@"
    wait_for "$trials" "$microseconds"
    echo b >/proc/sysrq-trigger
    sleep 1000
}

# lasting_tree: without a thread that ends once it has formatted the rest of the disk.
lasting_tree() { tree | grep -v '^ext4lazyinit'; }

# after_power_cuts <arguments>: goes on to the end; then the study in one piece.
after_power_cuts() {
    booted
    found=$(in_force)
    lasting_tree >/tmp/before
    go_on "$@"
    wait $runner
    echo "ended: $?" >&2
    told
    [ ! -f /disk/whole ] || cat /disk/whole
    uncut "$@"
    cat /disk/log
    echo "left $(lasting_tree | diff /tmp/before - | words), then $(fullclock status --state-dir $changes)"
}
