#!/usr/bin/env bash
# The steps of a lock by redis-cli: piped, with -3, or on a terminal.
set -u
port=${*: -2:1} host=${*: -3:1} prefix=${*: -1}
mode=$1
key=${prefix}raw

# tell prints a step; what redis-cli wrote becomes one JSON text.
tell() {
	local text=${2//\\/\\\\}
	text=${text//\"/\\\"}
	text=${text//$'\n'/\\n}
	text=${text//$'\r'/}
	text=${text//$'\t'/ }
	printf '{"%s":"%s"}\n' "$1" "$text"
}

cli() {
	case $mode in
	resp3) redis-cli --no-raw -h "$host" -p "$port" -3 "$@" 2>&1 ;;
	*) redis-cli --no-raw -h "$host" -p "$port" "$@" 2>&1 ;;
	esac
}

lua="if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
tell version "$(redis-cli --version | sed 's/redis-cli //; s/ .*//')"
if [ "$mode" = terminal ]; then
	# script(1) gives it a terminal; what it draws is reduced to the replies.
	said=$(printf 'SET %s one NX PX 30000\nSET %s two NX PX 30000\nGET %s\nDEL %s\nquit\n' "$key" "$key" "$key" "$key" |
		TERM=dumb script -qec "redis-cli -h $host -p $port" /dev/null 2>&1)
	tell "took" "$(printf '%s' "$said" | grep -c 'OK')"
	tell "held" "$(printf '%s' "$said" | grep -c '(nil)')"
	tell "deleted" "$(printf '%s' "$said" | grep -c '(integer) 1')"
	exit
fi
tell take "$(cli SET "$key" one NX PX 30000)"
tell refuse "$(cli SET "$key" two NX PX 30000)"
tell query "$(cli GET "$key")"
tell "release wrong" "$(cli EVAL "$lua" 1 "$key" two)"
tell release "$(cli EVAL "$lua" 1 "$key" one)"
tell "release missing" "$(cli EVAL "$lua" 1 "$key" one)"
tell "database" "$(cli -n 2 SET "$key" one NX PX 30000)"
tell "query missing" "$(cli GET "$key")"
tell "several" "$(printf 'SET %s one NX PX 30000\nGET %s\nDEL %s\nGET %s\n' "$key" "$key" "$key" "$key" | cli)"
tell "transaction" "$(printf 'WATCH %s\nMULTI\nSET %s one NX PX 30000\nEXEC\nDEL %s\n' "$key" "$key" "$key" | cli)"
tell "wrong type of number" "$(cli SET "$key" one NX PX no)"
tell "wrong option" "$(cli SET "$key" one NX WHAT)"
tell "wrong arity" "$(cli SET "$key")"
tell "pipe mode" "$(printf 'SET %s one NX PX 30000\r\nDEL %s\r\n' "$key" "$key" | cli --pipe | tail -1)"
tell ping "$(cli PING)"
