# The controller holds no limit, one that the board is at, one that it is far below, and then it hangs. What is printed is
# JSON, one document after the other; notes are on standard error.

# An audit, how long it took, and how many questions were asked, some of which are ipmitool's.
audit() {
    questions >/dev/null
    began=$(seconds)
    fullclock audit --json
    echo "$1 $began $(seconds) $(questions)" >&2
}

audit none
maker 6 220 0
audit limited
fullclock ipmi power -d 3s --json
ipmitool dcmi power get_limit >&2
ipmitool dcmi power reading >&2
questions >/dev/null
fullclock plan --json >/dev/null 2>&1
echo "plan $(questions)" >&2
maker 6 244 1
audit far
maker 6 0 0
fullclock ipmi power -d 1s --json
# Of many answers, none comes: the driver asks again and again, too.
maker 1 1 40
began=$(seconds)
fullclock audit --json
echo "hangs $began $(seconds) 0" >&2
fullclock ipmi power -d 1s --timeout 1s 2>/tmp/said
echo "ended with $?: $(cat /tmp/said)" >&2
