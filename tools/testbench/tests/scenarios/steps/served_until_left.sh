# Serves its metrics until somebody connects to the port $LEAVE.
ip link set lo up
ip link set eth0 up
ip address add "$ADDRESS/24" dev eth0
(umask 077; echo "$TOKEN" >/tmp/token)
fullclock serve --listen "0.0.0.0:$SERVE" --token-file /tmp/token --results /tmp/results -i 10s &
nc -l -p "$LEAVE" >/tmp/left
kill $!
wait
