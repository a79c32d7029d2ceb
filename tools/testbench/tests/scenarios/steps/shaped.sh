# A link of 20 Mb/s between two network namespaces, and what a test over it finds.
set -e
# The shell prefers busybox's, which know neither namespaces nor netem.
ip() { /bin/ip "$@"; }
tc() { /bin/tc "$@"; }
mkdir -p /var/run
ip netns add far
ip link add near type veth peer name there netns far
ip addr add 10.8.0.1/24 dev near
ip link set near up
ip netns exec far ip addr add 10.8.0.2/24 dev there
ip netns exec far ip link set there up
tc qdisc add dev near root netem rate 20mbit
ip netns exec far /bin/tc qdisc add dev there root netem rate 20mbit

/bin/ip netns exec far fullclock net server --listen 10.8.0.2:7079 --token-file /tmp/far >&2 &
server=$!
until ip netns exec far netstat -ltn | grep -q :7079; do sleep 0.2; done
for test in write-bw read-bw; do
    fullclock net client 10.8.0.2 --token-file /tmp/far --test $test --sizes 16384,65536 -d 2s --json
done
# The link goes away below a test.
fullclock net client 10.8.0.2 --token-file /tmp/far --sizes 65536 -d 60s >&2 &
client=$!
# Until what waits at this end to be sent is long.
until netstat -tn | grep -q '^tcp  *[0-9]*  *[0-9]\{5,\} .*10.8.0.2:7079' || ! kill -0 $client; do sleep 0.2; done
ip link set near down
wait $client || echo "exit code $?" >&2
kill -INT $server
wait $server
