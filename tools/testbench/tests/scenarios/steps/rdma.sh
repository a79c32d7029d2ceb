# Tests over RDMA that is software, both ends on this machine, whose CPUs are set to different clocks. What each of them prints
# and says follows a line with its name.
set -e
ip link set lo up
ip addr add 10.9.0.1/24 dev dummy0
ip link set dummy0 up
governor 0 userspace
frequency 0 1600000
governor 1 performance

fullclock net server --listen '[::]:7079' --token-file /tmp/token --cpus 0 >&2 &
server=$!
until netstat -ltn | grep -q :7079; do sleep 0.2; done

# Waits until those of both ends are gone.
no_program() {
    while pidof ib_write_bw ib_read_bw ib_send_bw ib_send_lat >&2; do sleep 0.2; done
}

client() {
    fullclock net client --token-file /tmp/token --transport rdma --cpus 1 "$@" 2>&1 || echo "exit code $?"
}

# wire <name> <options>: again, some times, where perftest says that it was disturbed, for the host has others to serve, too.
wire() {
    echo "# $1"
    shift
    for attempt in 1 2 3 4 5; do
        client "$@" >/tmp/said
        grep -q 'could not measure its clock' /tmp/said || break
        echo "attempt $attempt: $(cat /tmp/said)" >&2
        no_program
    done
    cat /tmp/said
}

wire 'no adapter' 10.9.0.1
rdma link add rxe0 type rxe netdev dummy0
for test in read-bw write-bw send-bw latency; do
    wire $test 10.9.0.1 --test $test --sizes 64,4096 -n 20 --json
done
wire text 10.9.0.1 --sizes 64 -n 20 --device rxe0/1
wire 'by IPv6' ::1 --sizes 64 -n 20
wire 'no such device' 10.9.0.1 --device mlx5_0

mkdir /tmp/older
printf '#!/bin/sh\necho "Version: 5.91"\nexit 1\n' >/tmp/older/ib_write_bw
chmod +x /tmp/older/ib_write_bw
PATH=/tmp/older:$PATH wire 'other version' 10.9.0.1

mkdir /tmp/disturbed
cat >/tmp/disturbed/ib_write_bw <<END
#!/bin/sh
[ "\$1" != --version ] || exec $(command -v ib_write_bw) --version
echo 'Correlation coefficient r^2: 0.85 < 0.9' >&2
echo "Can't produce a report" >&2
exit 1
END
chmod +x /tmp/disturbed/ib_write_bw
echo '# disturbed'
PATH=/tmp/disturbed:$PATH client 10.9.0.1 --sizes 64
no_program

fullclock net client --token-file /tmp/token --transport rdma 10.9.0.1 --sizes 64 -d 60s >/tmp/interrupted 2>&1 &
client=$!
until [ "$(pidof ib_write_bw | wc -w)" = 2 ] || ! kill -0 $client; do sleep 0.2; done
kill -INT $client
echo '# interrupted'
wait $client || echo "exit code $?"
cat /tmp/interrupted
no_program
wire 'after that' 10.9.0.1 --sizes 64 -n 20 --json

ip link set dummy0 down
wire 'link down' 10.9.0.1 --sizes 64 -n 20
kill -INT $server
wait $server
