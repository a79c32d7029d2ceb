# What is on a disk that outlives the boot.

# what_boot_does: what systemd and its helpers would do with the files in /etc.
what_boot_does() {
    for file in /etc/sysctl.d/*.conf; do sysctl -q -p "$file"; done
    for unit in /etc/systemd/system/multi-user.target.d/*.conf; do
        service=/etc/systemd/system/$(sed -n 's/^Wants=//p' "$unit")
        eval "$(sed -n 's/^ExecStart=//p' "$service")" >&2
        echo "unit: $?"
    done
}

# in_force: the settings that these boots are about.
in_force() {
    sysctl vm.stat_interval
    echo "governors: $(cat $cpus/cpu?/cpufreq/scaling_governor | words)"
    echo "files: $(find /etc -type f | wc -l)"
}
