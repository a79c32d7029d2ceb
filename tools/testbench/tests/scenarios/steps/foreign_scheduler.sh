# A scheduler of sched_ext that does nothing but have a name, and an audit of it. OBJECT holds it in hexadecimal.
echo "$OBJECT" | xxd -r -p >/run/bench.bpf.o
bpftool struct_ops register /run/bench.bpf.o >&2 || exit
until grep -qx enabled /sys/kernel/sched_ext/state; do sleep 0.2; done
fullclock audit --json
bpftool struct_ops unregister name bench >&2
until grep -qx disabled /sys/kernel/sched_ext/state; do sleep 0.2; done
