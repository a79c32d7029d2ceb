# A file that takes writes and ignores them (drivers/char/random.c, proc_do_rointvec) stands where another is.
tree >/tmp/before
mount --bind /proc/sys/kernel/random/urandom_min_reseed_secs /proc/sys/vm/stat_interval
fullclock apply governor=powersave stat-interval=10 >/tmp/said
echo "apply: $?"
words </tmp/said | grep -o 'did not stick'
fullclock status
umount /proc/sys/vm/stat_interval
echo "left: $(tree | diff /tmp/before - | words)"

# One that refuses: there is nothing here that the detector could count with.
fullclock apply nmi-watchdog=on >/tmp/said
echo "refused: $?"
fullclock status

# Registers of which nobody can tell whether they hold anything.
fullclock apply --i-know c1e=on >/tmp/said
echo "registers: $?"
words </tmp/said | grep -o 'expected the registers'
cat /tmp/said >&2
