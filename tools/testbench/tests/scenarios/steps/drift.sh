fullclock apply stat-interval=10 timer-migration=off >&2
fullclock watch-drift -i 1s -d 200s >/tmp/drift &
watcher=$!
# Both files are watched.
until [ "$(cat /proc/$watcher/fdinfo/* | grep -c 'fanotify ino:')" -ge 2 ]; do sleep 0.1; done
{ echo 7; sleep 6; } | tee /proc/sys/vm/stat_interval >/dev/null &
writer=$!
until grep -q stat_interval /tmp/drift; do sleep 0.2; done
wait $writer
kill -INT $watcher
wait $watcher
echo "watch-drift: $?"
cut -d' ' -f3- /tmp/drift | sed 's/process [0-9]*/process N/'
fullclock revert --all --i-know >&2
