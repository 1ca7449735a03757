#!/bin/sh
# Starts the server to be tested at 127.0.0.1:6379 of this network namespace, or
# several redlockd from that port on, and runs the arguments. All of it ends with the namespace.
set -eu
home=$SUITE_HOME/$SUITE_TARGET
rm -rf "$home"
mkdir -p "$home/path"
mount -t proc proc /proc
TMPDIR=$(mktemp -d) # short, for sockets in it
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
ip link set lo up
# Names by which a suite calls its server; in this mount namespace only.
printf '127.0.0.1 localhost %s\n' "$SUITE_HOSTS" >"$home/hosts"
mount --bind "$home/hosts" /etc/hosts

wait_for() {
	for _ in $(seq 100); do
		[ "$(redis-cli -p "$1" ping 2>/dev/null)" = PONG ] && return
		sleep 0.1
	done
	echo "nothing answers at $1" >&2
	exit 1
}

master() {
	mkdir -p "$home/$1"
	redis-server --port "$1" --save '' --dir "$home/$1" >"$home/$1/log" 2>&1 &
	wait_for "$1"
}

if [ "$SUITE_TARGET" = redis ]; then
	master 6379
else
	# The first serves at 6379; sixteen databases are one redlockd's all.
	for n in $(seq 0 $((SUITE_CLUSTERS - 1))); do
		config=$home/config$n.hcl
		printf 'listen {\n  address = "127.0.0.1:%s"\n}\nquorum {\n  no_expiry = "%s"\n}\n' $((6379 + n)) "$SUITE_NO_EXPIRY" >"$config"
		for port in $(seq $((7001 + 10 * n)) $((7005 + 10 * n))); do
			master "$port"
			printf 'master "m%s" {\n  address = "127.0.0.1:%s"\n}\n' "$port" "$port" >>"$config"
		done
		"$SUITE_REDLOCKD" -config "$config" -bootstrap >"$home/bootstrap$n.log" 2>&1
		"$SUITE_REDLOCKD" -config "$config" >"$home/log$n" 2>&1 &
		wait_for $((6379 + n))
	done
	# A suite that starts a redis-server of its own gets one that hands on.
	ln -s "$(dirname "$0")/standins/server.py" "$home/path/redis-server"
	export PATH="$home/path:$PATH"
fi
"$@"
