# Each time it is killed one point later, until it ends by itself; half of the crashes are undone by `revert`, half by the next
# `apply`. Nobody writes to what is compared meanwhile.

# A host has the folders that its own tools read.
mkdir -p /etc/sysctl.d /etc/systemd/system

# killed_everywhere <settings>
killed_everywhere() {
    tree >/tmp/before
    point=0 lost=0 kept=0
    while :; do
        point=$((point + 1))
        FULLCLOCK_FAULT=$point mortal apply -q $1 >/tmp/said 2>&1
        ended=$?
        [ $ended = 137 ] || break
        if [ $((point % 2)) = 0 ]; then
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
            echo "$point: $restored: $(diff /tmp/before /tmp/after | words)" >&2
            cat /tmp/said >&2
            fullclock revert --all --force >&2
        fi
    done
    fullclock revert --all >/tmp/said 2>&1
    echo "$1: killed at $((point - 1)) points, kept at $kept, lost at $lost, then ended with $ended, reverted with $?, left $(
        tree | diff /tmp/before - | words)"
}
