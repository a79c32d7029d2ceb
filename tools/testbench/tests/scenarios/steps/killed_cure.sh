# A study that brings a fault back is killed while the fault is fixed: its guard brings it back, and without a guard the next start.
register() { echo "register: 0x$(read_msr 0 0x19a | sed 's/^0*//')"; }

begin_to_mend
register
kill -KILL $runner
wait $runner
back

begin_to_mend
kill -STOP $runner
kill -KILL $(grep -l 'guard[-]change' /proc/[0-9]*/cmdline | cut -d/ -f3) $runner
wait $runner
register
refused resume
register
fullclock status --state-dir $changes
