# Each time it is killed some points later, until it ends by itself; half of the crashes are undone by `revert`, half by the next
# `apply`. Nobody writes to what is compared meanwhile.

# A host has the folders that its own tools read.
mkdir -p /etc/sysctl.d /etc/systemd/system

# killed_everywhere <stride> <settings>: at the first point, and at every <stride>th behind it.
killed_everywhere() {
    tree >/tmp/before
    point=1 kills=0 lost=0 kept=0
    while :; do
        FULLCLOCK_FAULT=$point fullclock apply -q $2 >/tmp/said 2>&1
        ended=$?
        [ $ended = 137 ] || break
        point=$((point + $1)) kills=$((kills + 1))
        if [ $((kills % 2)) = 0 ]; then
            fullclock revert --all >/tmp/said 2>&1
        else
            # Nothing is asked of it that is not as wanted, so that all it does is to undo.
            fullclock apply -q split-lock-mitigate=on >/tmp/said 2>&1
        fi
        restored=$?
        # It was killed when all was done and noted.
        if fullclock status | grep -q 'in force$'; then
            kept=$((kept + 1))
            fullclock revert --all >/tmp/said 2>&1
        fi
        tree >/tmp/after
        if ! cmp -s /tmp/before /tmp/after; then
            lost=$((lost + 1))
            echo "before $point: $restored: $(diff /tmp/before /tmp/after | words)" >&2
            cat /tmp/said >&2
            fullclock revert --all --i-know >&2
        fi
    done
    fullclock revert --all >/tmp/said 2>&1
    echo "$2: killed at $kills points, kept at $kept, lost at $lost, then ended with $ended, reverted with $?, left $(
        tree | diff /tmp/before - | words)"
}
