# How a step breaks and fixes its machine. Every step can call these.

cpus=/sys/devices/system/cpu

# governor <cpu> <governor>
governor() { echo "$2" >$cpus/cpu$1/cpufreq/scaling_governor; }

# frequency <cpu> <kHz>: under the governor `userspace`.
frequency() { echo "$2" >$cpus/cpu$1/cpufreq/scaling_setspeed; }

# idle_state <cpu> <number> on|off
idle_state() {
    case $3 in
    on) echo 0 >$cpus/cpu$1/cpuidle/state$2/disable ;;
    off) echo 1 >$cpus/cpu$1/cpuidle/state$2/disable ;;
    esac
}

# heat <degrees>: the temperature of a machine with a thermal zone, and until the kernel has seen it.
heat() {
    printf "\\x$(printf %02x "$1")" |
        dd of=/sys/bus/pci/devices/0000:00:00.0/config bs=1 seek=$((0xdc)) conv=notrunc status=none
    until [ "$(cat /sys/class/thermal/thermal_zone0/temp)" -ge $(($1 * 1000)) ] &&
        [ "$(cat /sys/class/thermal/thermal_zone0/temp)" -lt $(($1 * 1000 + 1000)) ]; do sleep 0.2; done
}

# groups: control groups of version 2, with quotas, clamps and cpusets.
groups() {
    grep -q " /sys/fs/cgroup " /proc/mounts || mount -t cgroup2 cgroup2 /sys/fs/cgroup
    echo '+cpuset +cpu' >/sys/fs/cgroup/cgroup.subtree_control
}

# group <name> <CPUs>: one with CPUs of its own.
group() {
    groups
    mkdir -p "/sys/fs/cgroup/$1"
    echo "$2" >"/sys/fs/cgroup/$1/cpuset.cpus"
}

# in_group <name> <command...>: in the place of this shell.
in_group() {
    exec sh -c 'echo $$ >"/sys/fs/cgroup/$0/cgroup.procs"; exec "$@"' "$@"
}

# ping_bmc <times>: each ping of a watchdog is a question that the BMC has to answer.
ping_bmc() {
    for _ in $(seq "$1"); do echo; done >/dev/watchdog
}

# keep_bmc_busy: until leave_bmc_alone. The last word stops the watchdog, which would reset the machine.
keep_bmc_busy() {
    touch /run/bmc_is_busy
    { while [ -e /run/bmc_is_busy ]; do echo; done; printf V; } >/dev/watchdog &
}
leave_bmc_alone() {
    rm /run/bmc_is_busy
    wait
}

# read_msr <cpu> <address>: sixteen hexadecimal digits.
read_msr() {
    dd if=/dev/cpu/$1/msr bs=8 count=1 skip=$(($2)) iflag=skip_bytes status=none |
        od -An -tx8 | tr -d ' '
}

# write_msr <cpu> <address> <value>: up to 32 bits of value.
write_msr() {
    value=$(($3)) bytes=
    for shift in 0 8 16 24; do
        bytes=$bytes$(printf '\\%o' $((value >> shift & 255)))
    done
    printf "$bytes\0\0\0\0" |
        dd of=/dev/cpu/$1/msr bs=8 seek=$(($2)) oflag=seek_bytes conv=notrunc status=none
}

# busy: one more task on CPU 1 that never lets go.
busy() {
    taskset 2 sh -c 'while :; do :; done' &
    busy_tasks="$busy_tasks $!"
}

# idle: ends what busy has begun.
idle() {
    kill $busy_tasks
    busy_tasks=
}
