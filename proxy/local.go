package proxy

import (
	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
)

func init() {
	localCommands = localTable()
	locals = make(map[string]localCommand)
	for _, c := range localCommands {
		locals[c.name] = c
	}
	nameCommands()
}

func localTable() []localCommand {
	noCluster := always(resp.Error("ERR This instance has cluster support disabled"))
	return []localCommand{
		{name: "ping", arity: -1, run: pingCommand, whileSubscribed: true, access: everybody, besideLocks: true},
		{name: "echo", arity: 2, run: echoCommand, access: everybody, besideLocks: true},
		{name: "quit", arity: -1, special: quitCommand, beforeLogin: true, whileSubscribed: true, runsInMulti: true, access: everybody},
		{name: "reset", arity: 1, special: resetCommand, beforeLogin: true, whileSubscribed: true, runsInMulti: true, access: everybody},
		{name: "hello", arity: -1, run: helloCommand, beforeLogin: true, access: everybody},
		{name: "auth", arity: -2, run: authCommand, beforeLogin: true, access: everybody},
		{name: "select", arity: 2, run: selectCommand, access: everybody},
		{name: "client", arity: -2, run: clientCommand, access: everybody, subs: clientCommands(), refuseInMulti: refuseClientInMulti},
		{name: "info", arity: -1, run: infoCommand, access: everybody},
		{name: "config", arity: -2, run: configCommand, access: everybody, refuseInMulti: configArity},
		{name: "command", arity: -1, run: commandReply, special: commandNow, access: everybody},
		{name: "role", arity: 1, run: always(resp.Array(resp.Bulk("master"), resp.Int(0), resp.Array())), access: everybody},
		{name: "time", arity: 1, run: timeCommand, access: everybody},
		{name: "dbsize", arity: 1, run: asking(dbsizeCommand), access: everybody},
		{name: "scan", arity: -2, run: asking(scanCommand), access: reader},
		{name: "keys", arity: 2, run: asking(keysCommand), notInMulti: true, access: reader},
		{name: "llen", arity: 2, special: llenCommand, notInMulti: true, access: access{needs: commands.MayRead, keys: places{1, 0}}},
		{name: "locks", arity: -2, special: locksCommand, notInMulti: true, access: admin, subs: locksCommands()},
		{name: "lastsave", arity: 1, run: lastSaveCommand, access: everybody},
		{name: "wait", arity: 3, run: waitCommand, access: everybody},
		{name: "readonly", arity: 1, run: noCluster, access: everybody},
		{name: "readwrite", arity: 1, run: noCluster, access: everybody},
		{name: "asking", arity: 1, run: noCluster, access: everybody},
		{name: "cluster", arity: -2, run: noCluster, access: everybody},
		{name: "latency", arity: -2, run: latencyCommand, access: admin, subs: subcommands{}},
		{name: "slowlog", arity: -2, run: slowlogCommand, access: admin, subs: subcommands{}},
		{name: "acl", arity: -2, run: aclCommand, access: everybody, subs: aclCommands()},
		{name: "publish", arity: 3, run: publishNow, special: publishCommand, access: access{open: true, channels: places{1, 1}}, besideLocks: true},
		{name: "spublish", arity: 3, run: publishNow, special: publishCommand, access: access{open: true, channels: places{1, 1}}, besideLocks: true},
		{name: "blpop", arity: -3, run: popNow, special: popCommand, access: access{needs: commands.MayAcquire, keys: places{1, 1}}},
		{name: "brpop", arity: -3, run: popNow, special: popCommand, access: access{needs: commands.MayAcquire, keys: places{1, 1}}},
		{name: "subscribe", arity: -2, special: subscribeCommand, whileSubscribed: true, notInMulti: true, access: access{open: true, channels: places{1, 0}}},
		{name: "psubscribe", arity: -2, special: subscribeCommand, whileSubscribed: true, notInMulti: true, access: access{open: true, channels: places{1, 0}, patterns: true}},
		{name: "ssubscribe", arity: -2, special: subscribeCommand, whileSubscribed: true, notInMulti: true, access: access{open: true, channels: places{1, 0}}},
		{name: "unsubscribe", arity: -1, special: unsubscribeCommand, whileSubscribed: true, notInMulti: true, access: everybody},
		{name: "punsubscribe", arity: -1, special: unsubscribeCommand, whileSubscribed: true, notInMulti: true, access: everybody},
		{name: "sunsubscribe", arity: -1, special: unsubscribeCommand, whileSubscribed: true, notInMulti: true, access: everybody},
		{name: "multi", arity: 1, special: multiCommand, runsInMulti: true, access: everybody},
		{name: "exec", arity: -1, special: execCommand, runsInMulti: true, access: everybody},
		{name: "discard", arity: 1, special: discardCommand, runsInMulti: true, access: everybody},
		{name: "watch", arity: -2, special: watchCommand, runsInMulti: true, access: access{needs: commands.MayRead, keys: places{1, 0}}},
		{name: "unwatch", arity: 1, run: unwatchCommand, access: everybody, besideLocks: true},
	}
}
