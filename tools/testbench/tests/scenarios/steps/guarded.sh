# As a login ends where logind.conf has KillUserProcesses=yes, and as a service is killed: with everything in its cgroup.
# The kernel's thread that finishes a young file system ends when it has.
settled_tree() { tree | grep -v '^ext4lazyinit '; }
settled_tree >/tmp/before
apply='fullclock apply --confirm-within 20s'
systemd-run --scope --unit=login sh -c "$apply governor=powersave >&2; echo \$? >/run/said; sleep 1000" >&2 &
echo "in a scope: $(said)"
systemd-run --unit=job sh -c "$apply timer-migration=off; echo \$? >/run/said; sleep 1000" >&2
echo "in a service: $(said)"
systemctl stop login.scope
systemctl kill --signal=KILL job.service
within_a_minute systemctl is-failed -q job.service
echo "units: $(systemctl is-active login.scope job.service | words)"
echo "without them: $(governors), $(sysctl -n kernel.timer_migration)"

# Killed in the middle: systemd ends what is left of the service, and the guard does not wait for the deadline.
systemd-run --unit=cut --setenv=FULLCLOCK_FAULT=9 fullclock apply --confirm-within 1000s resume-latency=50us >&2
within_a_minute systemctl is-failed -q cut.service
echo "killed: $(systemctl show -P Result cut.service)"
latencies_are_back() { [ "$(cat $cpus/cpu?/power/pm_qos_resume_latency_us | words)" = '0 0' ]; }
undone() { latencies_are_back && ! fullclock status | grep resume-latency >&2; }
within_a_minute undone && echo 'undone without a deadline'

# Where no unit of its own can be had, the guard would end with this one.
systemd-run --unit=confined -p InaccessiblePaths=/run/systemd/private -p StandardError=file:/tmp/confined \
    sh -c "$apply stat-interval=10; echo \$? >/run/said" >&2
echo "out of reach of nobody: $(said)"
words </tmp/confined | grep -o 'leave out --confirm-within'
sysctl vm.stat_interval

within_a_minute governors_are 'schedutil schedutil'
migrates() { [ "$(sysctl -n kernel.timer_migration)" = 1 ]; }
within_a_minute migrates
echo "after the deadline: $(governors), $(sysctl -n kernel.timer_migration)"
systemctl reset-failed
within_a_minute eval 'fullclock status | grep -q "Nothing is applied"' && echo 'nothing is applied'
echo "left: $(settled_tree | diff /tmp/before - | words)"
