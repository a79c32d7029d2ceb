# Rounds go on while answers are missing, wrong and late, while the controller starts anew, and while it sends events.
fullclock ipmi sensors --watch -i 200ms --timeout 20s --json >/tmp/rounds 2>/tmp/errors &
watch=$!

rounds() {
    wc -l </tmp/rounds
}

# Until there are that many rounds more, and the last of them is a good one.
await() {
    due=$(($(rounds) + $1))
    until [ "$(rounds)" -ge "$due" ] && tail -n 1 /tmp/rounds | grep -q '"error":null' || ! kill -0 $watch; do
        sleep 0.2
    done
}

# Name of the fault, its number and how many answers have it, as tools/testbench/src/bmc/controller.rs counts them.
fault() {
    echo "$1 from $(rounds)" >&2
    maker 1 "$2" "$3"
    await 3
}

await 2
fault hang 1 2
fault short 2 9
fault long 3 9
fault checksum 4 2
fault another 5 9
fault reset 6 1
echo "logged from $(rounds)" >&2
maker 4
await 3
echo "sent from $(rounds)" >&2
maker 5 200 0
await 6
kill -INT $watch
wait $watch
echo "ended with $?" >&2
cat /tmp/errors >&2
cat /tmp/rounds
