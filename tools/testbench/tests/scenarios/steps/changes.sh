# Looks at everything that a change may write, by other means than fullclock's. WRITABLE holds the patterns of the files.

# tree: every file that may be written and what it holds, the CPUs of every thread of the kernel, the request for short wake-ups, and /etc.
tree() {
    for file in $WRITABLE; do
        [ -f "$file" ] && echo "$file"
    done | sort -u | xargs grep -H '' 2>&1
    # Threads of the kernel and processes that other steps leave alone, but for workers (PF_WQ_WORKER, 0x20): they come and go,
    # and one that rescues a queue (kblockd) takes the CPUs of the pool that it helped, when the machine is slow.
    # A thread that ends meanwhile would end awk, and with it the list, if awk had to open the files.
    workers=$(cat /proc/[0-9]*/stat 2>/dev/null | sed 's/(.*)//' | awk 'int($8 / 32) % 2 { print $1 }' | tr '\n' ' ')
    cat /proc/[0-9]*/status 2>/dev/null | awk -v workers=" $workers" '/^Name/ { name = $2 } /^PPid/ { parent = $2 }
        /^Pid/ { is_worker = index(workers, " " $2 " ") }
        /^Cpus_allowed_list/ && (parent == 2 || name == "sleep") && !is_worker && name !~ /^kworker/ { print name, $2 }' | sort
    echo "latency $(od -An -td4 /dev/cpu_dma_latency)"
    find /etc -type f | sort | xargs -r grep -H ''
}

# words: the lines it is given in one, with one space between words.
words() { tr -s ' \t\n' ' ' | sed 's/^ //; s/ $//'; }

# there_and_back <before> <setting> <reader>: applies, reads by another reader, asks for the status, reverts. One line of what
# came of it: exit codes, what was read, how many changes are in force, how many places are said to have drifted, and how the
# tree differs from what it was before.
there_and_back() {
    eval "$1"
    tree >/tmp/before
    eval "fullclock apply $2" >&2
    applied=$?
    read=$(eval "$3" | words)
    fullclock status >/tmp/status
    kept=$(grep -c 'in force$' /tmp/status) drifted=$(grep -c CHANGED /tmp/status)
    fullclock revert --all >&2
    reverted=$?
    tree >/tmp/after
    echo "$2|$applied|$read|$kept|$drifted|$reverted|$(diff /tmp/before /tmp/after | words)"
}
