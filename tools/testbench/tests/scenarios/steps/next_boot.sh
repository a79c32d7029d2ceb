unit=$(basename /etc/systemd/system/fullclock-????.service .service)
booted
in_force
systemctl status $unit.service >&2
echo "status: $?"

# A register that keeps what it is given, written in the unit's own sandbox.
sed "s|^ExecStart=.*|ExecStart=/bin/sh -c '. /bench/faults.sh; write_msr 1 0x1a0 0x850089'|" \
    /etc/systemd/system/$unit.service >/run/systemd/system/register.service
systemctl daemon-reload
read_msr 1 0x1a0
systemctl start register.service
read_msr 1 0x1a0

# Somebody changes it before the machine sleeps, which wakes up by itself where it is a test (power/basic-pm-debugging.rst).
governor 0 schedutil
echo core >/sys/power/pm_test
echo 1 >/sys/module/suspend/parameters/pm_test_delay
systemctl start systemd-suspend.service
within_a_minute governors_are 'performance performance'
echo "awake: $(governors)"
awake() { [ "$(systemctl is-active $unit-wake.service)" = inactive ]; }
within_a_minute awake
systemctl show -P Result $unit-wake.service

fullclock revert --all >&2
echo "revert: $?"
in_force
