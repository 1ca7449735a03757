package proxy

import (
	"strconv"
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/quorum"
)

// localCommand is a command that is answered without asking the masters: all
// that there is to say of it, in one row.
type localCommand struct {
	name string
	// arity counts the name; a negative one is the least number, as in Redis.
	arity int
	// run answers the command at once. special does so in a way of its own:
	// with several replies, a late one, or none.
	run     func(s *session, args [][]byte) resp.Reply
	special func(s *session, args [][]byte)
	access
	// subs are the subcommands that differ in something; it is not nil where
	// NOPERM names the subcommand.
	subs subcommands

	beforeLogin     bool // allowed before login
	whileSubscribed bool // allowed in the subscriber mode of RESP2
	ofMulti         bool // carried out inside MULTI instead of queued
	notInMulti      bool
	// beside says that it may stand beside lock commands in MULTI: what it does
	// does not matter to what others do. (EXEC has looked at the watched keys
	// before UNWATCH comes.)
	beside bool
	// queues, if not nil, is why MULTI may not queue it, or nil.
	queues func(args [][]byte) *resp.Reply
}

// spec is the command as COMMAND tells it.
func (c *localCommand) spec() commands.Spec {
	spec := commands.Spec{Name: c.name, Arity: c.arity, Flags: []string{"noscript", "loading", "stale", "fast"}}
	if c.keys.from > 0 {
		spec.First, spec.Last, spec.Step = c.keys.from, -1-c.keys.over, 1
		if c.arity > 0 {
			spec.Last += c.arity
		}
	}
	return spec
}

// localCommands are all of them, and locals the same by name. They are filled by
// init because COMMAND reads them.
var (
	localCommands []localCommand
	locals        map[string]localCommand
)

func init() {
	localCommands = localTable()
	locals = make(map[string]localCommand)
	for _, c := range localCommands {
		locals[c.name] = c
	}
	nameCommands()
}

// The rights of most commands.
var (
	everybody = access{open: true}
	reader    = access{needs: commands.MayRead}
	admin     = access{needs: commands.MayAdmin}
)

func localTable() []localCommand {
	noCluster := always(resp.Error("ERR This instance has cluster support disabled"))
	return []localCommand{
		{name: "ping", arity: -1, run: pingCommand, whileSubscribed: true, access: everybody, beside: true},
		{name: "echo", arity: 2, run: echoCommand, access: everybody, beside: true},
		{name: "quit", arity: -1, special: quitCommand, beforeLogin: true, whileSubscribed: true, ofMulti: true, access: everybody},
		{name: "reset", arity: 1, special: resetCommand, beforeLogin: true, whileSubscribed: true, ofMulti: true, access: everybody},
		{name: "hello", arity: -1, run: helloCommand, beforeLogin: true, access: everybody},
		{name: "auth", arity: -2, run: authCommand, beforeLogin: true, access: everybody},
		{name: "select", arity: 2, run: selectCommand, access: everybody},
		{name: "client", arity: -2, run: clientCommand, access: everybody, subs: clientCommands(), queues: clientQueues},
		{name: "info", arity: -1, run: infoCommand, access: everybody},
		{name: "config", arity: -2, run: configCommand, access: everybody, queues: configArity},
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
		{name: "publish", arity: 3, run: publishNow, special: publishCommand, access: access{open: true, channels: places{1, 1}}, beside: true},
		{name: "spublish", arity: 3, run: publishNow, special: publishCommand, access: access{open: true, channels: places{1, 1}}, beside: true},
		{name: "blpop", arity: -3, run: popNow, special: popCommand, access: access{needs: commands.MayAcquire, keys: places{1, 1}}},
		{name: "brpop", arity: -3, run: popNow, special: popCommand, access: access{needs: commands.MayAcquire, keys: places{1, 1}}},
		{name: "pubsub", arity: -2, run: pubsubCommand, access: admin, subs: subcommands{}},
		{name: "subscribe", arity: -2, special: subscribeCommand, whileSubscribed: true, notInMulti: true, access: access{open: true, channels: places{1, 0}}},
		{name: "psubscribe", arity: -2, special: subscribeCommand, whileSubscribed: true, notInMulti: true, access: access{open: true, channels: places{1, 0}, patterns: true}},
		{name: "ssubscribe", arity: -2, special: subscribeCommand, whileSubscribed: true, notInMulti: true, access: access{open: true, channels: places{1, 0}}},
		{name: "unsubscribe", arity: -1, special: unsubscribeCommand, whileSubscribed: true, notInMulti: true, access: everybody},
		{name: "punsubscribe", arity: -1, special: unsubscribeCommand, whileSubscribed: true, notInMulti: true, access: everybody},
		{name: "sunsubscribe", arity: -1, special: unsubscribeCommand, whileSubscribed: true, notInMulti: true, access: everybody},
		{name: "multi", arity: 1, special: multiCommand, ofMulti: true, access: everybody},
		{name: "exec", arity: -1, special: execCommand, ofMulti: true, access: everybody},
		{name: "discard", arity: 1, special: discardCommand, ofMulti: true, access: everybody},
		{name: "watch", arity: -2, special: watchCommand, ofMulti: true, access: access{needs: commands.MayRead, keys: places{1, 0}}},
		{name: "unwatch", arity: 1, run: unwatchCommand, access: everybody, beside: true},
	}
}

func always(r resp.Reply) func(*session, [][]byte) resp.Reply {
	return func(*session, [][]byte) resp.Reply { return r }
}

func pingCommand(s *session, args [][]byte) resp.Reply {
	message := ""
	switch len(args) {
	case 1:
	case 2:
		message = string(args[1])
	default:
		return wrongArity("ping")
	}
	if s.protocol() == 2 && s.subs.Count() > 0 {
		return resp.Array(resp.Bulks("pong", message)...)
	}
	if len(args) == 1 {
		return resp.Pong
	}
	return resp.Bulk(message)
}

func echoCommand(s *session, args [][]byte) resp.Reply { return resp.Bulk(string(args[1])) }

func quitCommand(s *session, _ [][]byte) {
	s.off, s.skip = false, false
	s.answer(resp.OK)
	s.quit = true
}

func resetCommand(s *session, _ [][]byte) {
	s.multi = nil
	s.unwatch()
	s.srv.hub.Leave(s, &s.subs)
	s.subs = notify.Subscriptions{}
	s.proto.Store(2)
	s.db = 0
	s.become(s.logins.users.Open())
	s.off, s.skip, s.skipNext, s.optIn = false, false, false, false
	s.rename("")
	s.answer(resp.Status("RESET"))
}

// selectCommand switches the session to another database. The first SELECT of one
// waits until the masters have it open (C5), which the quorum bounds in time,
// and the commands behind it wait with it, since none could be carried out.
func selectCommand(s *session, args [][]byte) resp.Reply {
	n, refusal := databaseOf(s, args)
	if refusal != nil {
		return *refusal
	}
	s.pipe.Flush()
	open := make(chan struct{})
	s.srv.q.Open(n, func() { close(open) })
	select {
	case <-open:
	case <-s.died():
	}
	s.db = n
	return resp.OK
}

func databaseOf(s *session, args [][]byte) (int, *resp.Reply) {
	n, ok := resp.ParseInt(args[1])
	if !ok {
		return 0, &errInteger
	}
	if n < 0 || n >= quorum.Databases {
		return 0, new(resp.Error("ERR DB index is out of range"))
	}
	return int(n), nil
}

func timeCommand(s *session, _ [][]byte) resp.Reply {
	// The masters' time, because that is the one absolute expiries mean;
	// below a millisecond nobody knows it.
	ms := s.srv.q.Now()
	return resp.Array(resp.Bulks(strconv.FormatInt(ms/1000, 10), strconv.FormatInt(ms%1000*1000, 10))...)
}

func lastSaveCommand(s *session, _ [][]byte) resp.Reply {
	return resp.Int(s.srv.started.Unix())
}

// waitCommand answers WAIT as a master without replicas does.
func waitCommand(s *session, args [][]byte) resp.Reply {
	if _, ok := resp.ParseInt(args[1]); !ok {
		return errInteger
	}
	switch n, ok := resp.ParseInt(args[2]); {
	case !ok:
		return resp.Error("ERR timeout is not an integer or out of range")
	case n < 0:
		return resp.Error("ERR timeout is negative")
	}
	return resp.Int(0)
}

// latencyCommand answers as a server that has measured no event.
func latencyCommand(s *session, args [][]byte) resp.Reply {
	switch {
	case grammar.Is(args[1], "latest") && len(args) == 2, grammar.Is(args[1], "history") && len(args) == 3:
		return resp.Array()
	case grammar.Is(args[1], "reset"):
		return resp.Int(0)
	}
	return unknownSubcommand("latency", args[1])
}

// uptime is how long the server has run, in whole seconds.
func (s *Server) uptime() int64 { return int64(time.Since(s.started) / time.Second) }
