# The unit of the packages, on a disk that has neither its user nor its place: both as installation makes them.
echo 'fullclock:x:990:990::/:/bin/false' >>/etc/passwd
echo 'fullclock:x:990:' >>/etc/group
program=$(command -v fullclock)
sed "s|/usr/bin/fullclock|$program|" /tmp/fullclock.service >/run/systemd/system/fullclock.service
systemctl daemon-reload
systemctl start fullclock.service
token=/var/lib/fullclock-serve/serve.token
answers() {
    [ -s $token ] && wget -q -O /tmp/metrics --header "Authorization: Bearer $(cat $token)" http://127.0.0.1:7077/metrics &&
        grep -q 'fullclock_ledger_cpu_seconds_total{line="idle"}' /tmp/metrics
}
within_a_minute answers && echo 'answers with the ledger'
echo "user: $(stat -c %U "/proc/$(systemctl show -P MainPID fullclock.service)")"
echo "without a token: $(wget -q -O - http://127.0.0.1:7077/metrics >/dev/null 2>&1 && echo answered || echo refused)"
systemctl stop fullclock.service
echo "stopped: $(systemctl show -P Result fullclock.service)"
rm /run/systemd/system/fullclock.service
systemctl daemon-reload
