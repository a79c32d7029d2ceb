# Questions to the BMC: while the thread that polls may go on without a pause, while it may only for a moment, and again as
# at first, so that nothing that comes in between is taken for the setting's doing.
limit=/sys/module/ipmi_si/parameters/kipmid_max_busy_us
for microseconds in 0 100 0; do
    echo $microseconds >$limit
    fullclock bench ipmi-roundtrip --json --no-save -n 2 --iterations 20 || exit
done
