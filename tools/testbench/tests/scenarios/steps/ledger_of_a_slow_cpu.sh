# Prints the ledger of CPU 0 while it is busy: the clock of an idle CPU takes nothing.
thief spin --cpu 0 --for 60s >/dev/null &
fullclock ledger --json --cpus 0 -d 5s
status=$?
kill $!
exit $status
