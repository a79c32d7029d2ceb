# register: what the one that stops the clock holds.
register() { echo "register: 0x$(read_msr 0 0x19a | sed 's/^0*//')"; }

register
fullclock apply clock-modulation >/tmp/said
echo "apply: $?"
cat /tmp/said >&2
register
fullclock revert >/tmp/said
echo "revert: $?"
words </tmp/said | grep -o 'which is a fault'
cat /tmp/said >&2
register
fullclock revert --i-know >&2
echo "forced: $?"
register

# The machine takes this one's writes and forgets them.
fullclock apply --i-know c1e=on >/tmp/said
echo "ignored: $?"
words </tmp/said | grep -o 'did not stick'
cat /tmp/said >&2
fullclock status
