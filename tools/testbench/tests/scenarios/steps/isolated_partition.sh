# A group's CPU becomes an isolated partition and goes back; and does not where another group lays claim to it.
folder=/sys/fs/cgroup/db.slice
sleep 1000 & sleeper=$!
allowed() { awk '/^Cpus_allowed_list/ { print $2 }' /proc/$sleeper/status; }

# The kernel gives its threads all CPUs outside of a partition, also those that nohz_full= had kept them off, and all when it ends
# (cpuset_update_tasks_cpumask): no change of the partition is without that, so one comes before.
group db.slice 2
echo isolated >$folder/cpuset.cpus.partition
echo member >$folder/cpuset.cpus.partition

there_and_back : isolated-partition=db.slice "cat $folder/cpuset.cpus.partition; allowed"
kill $sleeper

group web.slice 2
echo root >/sys/fs/cgroup/web.slice/cpuset.cpus.partition
tree >/tmp/before
fullclock apply isolated-partition=db.slice >/tmp/said
echo "contested: $?"
words </tmp/said | grep -o 'did not stick'
cat /tmp/said >&2
cat $folder/cpuset.cpus.partition
fullclock status
echo "left: $(tree | diff /tmp/before - | words)"
echo member >/sys/fs/cgroup/web.slice/cpuset.cpus.partition
rmdir /sys/fs/cgroup/web.slice
