# What a change does to services, and services to it.

# within_a_minute <command...>: waits until it succeeds.
within_a_minute() {
    end=$(($(seconds) + 60))
    until "$@"; do
        [ "$(seconds)" -lt $end ] || return
        sleep 0.2
    done
}
seconds() { cut -d. -f1 /proc/uptime; }

governors() { cat $cpus/cpu?/cpufreq/scaling_governor | words; }
governors_are() { [ "$(governors)" = "$1" ]; }

# service <name> <line...>: a service that every boot starts, as a server has some.
service() {
    name=$1
    shift
    printf '%s\n' '[Service]' "$@" >/etc/systemd/system/$name.service
    mkdir -p /etc/systemd/system/multi-user.target.d
    printf '[Unit]\nWants=%s.service\n' $name >/etc/systemd/system/multi-user.target.d/$name.conf
    systemctl daemon-reload
    systemctl start $name.service
}

# said: what a command in a unit has written into /run/said.
said() {
    within_a_minute [ -s /run/said ]
    cat /run/said
    rm -f /run/said
}

# booted: what became of the boot, once nothing is left to be started.
booted() {
    within_a_minute is_booted
    systemctl is-system-running
}
is_booted() { [ "$(systemctl is-system-running)" != starting ]; }

# in_force: the settings that these boots are about.
in_force() {
    sysctl vm.stat_interval
    echo "governors: $(governors)"
    echo "latency: $(od -An -td4 /dev/cpu_dma_latency | words)"
    echo "database: $(taskset -p "$(systemctl show -P MainPID database.service)" | sed 's/.*: //')"
    echo "files: $(find /etc -path '*fullclock*' -type f | wc -l)"
}
