# Tells the bench's controller what to do, by a command of its maker: see tools/testbench/src/bmc/controller.rs.
maker() {
    ipmitool raw 0x30 "$@" >&2
}

# How many questions it was asked since this was asked last, in hexadecimal digits.
questions() {
    ipmitool raw 0x30 2 | tr -d ' \n'
}

seconds() {
    cut -d' ' -f1 /proc/uptime
}

# Runs a command, and writes on standard error when it began and ended and how many questions it asked.
cost() {
    questions >/dev/null
    began=$(seconds)
    "$@"
    ended=$(seconds)
    echo "cost $began $ended $(questions)" >&2
}
