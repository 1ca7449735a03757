package proxy

import (
	"strconv"
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/quorum"
)

// localCommand is a command that is answered without asking the masters.
type localCommand struct {
	name string
	// arity counts the name; a negative one is the least number, as in Redis.
	arity int
	// run answers the command at once. special does so in a way of its own:
	// with several replies, a late one, or none.
	run     func(s *session, args [][]byte) commands.Reply
	special func(s *session, args [][]byte)

	beforeLogin     bool // allowed before login
	whileSubscribed bool // allowed in the subscriber mode of RESP2
	ofMulti         bool // carried out inside MULTI instead of queued
	notInMulti      bool
}

func (c *localCommand) takes(n int) bool {
	if c.arity < 0 {
		return n >= -c.arity
	}
	return n == c.arity
}

func (c *localCommand) wrongArity() commands.Reply { return wrongArity(c.name) }

// locals are the local commands by name. It is filled by init because COMMAND
// reads it.
var locals map[string]localCommand

func init() {
	locals = make(map[string]localCommand)
	for _, c := range localCommands() {
		locals[c.name] = c
	}
}

func localCommands() []localCommand {
	noCluster := always(commands.Error("ERR This instance has cluster support disabled"))
	return []localCommand{
		{name: "ping", arity: -1, run: (*session).ping, whileSubscribed: true},
		{name: "echo", arity: 2, run: (*session).echo},
		{name: "quit", arity: -1, special: (*session).quitCommand, beforeLogin: true, whileSubscribed: true, ofMulti: true},
		{name: "reset", arity: 1, special: (*session).reset, beforeLogin: true, whileSubscribed: true, ofMulti: true},
		{name: "hello", arity: -1, run: (*session).hello, beforeLogin: true},
		{name: "auth", arity: -2, run: (*session).auth, beforeLogin: true},
		{name: "select", arity: 2, run: (*session).selectDB},
		{name: "client", arity: -2, run: (*session).client},
		{name: "info", arity: -1, run: (*session).info},
		{name: "config", arity: -2, run: (*session).config},
		{name: "command", arity: -1, run: (*session).command, special: (*session).commandNow},
		{name: "role", arity: 1, run: always(commands.Array(commands.Bulk("master"), commands.Int(0), commands.Array()))},
		{name: "time", arity: 1, run: (*session).time},
		{name: "dbsize", arity: 1, run: asking((*session).dbsize)},
		{name: "scan", arity: -2, run: asking((*session).scan)},
		{name: "keys", arity: 2, run: asking((*session).keys), notInMulti: true},
		{name: "llen", arity: 2, special: (*session).llen, notInMulti: true},
		{name: "locks", arity: -2, special: (*session).locks, notInMulti: true},
		{name: "lastsave", arity: 1, run: (*session).lastSave},
		{name: "wait", arity: 3, run: (*session).wait},
		{name: "readonly", arity: 1, run: noCluster},
		{name: "readwrite", arity: 1, run: noCluster},
		{name: "asking", arity: 1, run: noCluster},
		{name: "cluster", arity: -2, run: noCluster},
		{name: "latency", arity: -2, run: (*session).latency},
		{name: "slowlog", arity: -2, run: (*session).slowlog},
		{name: "acl", arity: -2, run: (*session).acl},
		{name: "publish", arity: 3, run: (*session).publishNow, special: (*session).publish},
		{name: "spublish", arity: 3, run: (*session).publishNow, special: (*session).publish},
		{name: "blpop", arity: -3, run: (*session).popNow, special: (*session).blpop},
		{name: "brpop", arity: -3, run: (*session).popNow, special: (*session).blpop},
		{name: "pubsub", arity: -2, run: (*session).pubsub},
		{name: "subscribe", arity: -2, special: (*session).subscribe, whileSubscribed: true, notInMulti: true},
		{name: "psubscribe", arity: -2, special: (*session).subscribe, whileSubscribed: true, notInMulti: true},
		{name: "ssubscribe", arity: -2, special: (*session).subscribe, whileSubscribed: true, notInMulti: true},
		{name: "unsubscribe", arity: -1, special: (*session).unsubscribe, whileSubscribed: true, notInMulti: true},
		{name: "punsubscribe", arity: -1, special: (*session).unsubscribe, whileSubscribed: true, notInMulti: true},
		{name: "sunsubscribe", arity: -1, special: (*session).unsubscribe, whileSubscribed: true, notInMulti: true},
		{name: "multi", arity: 1, special: (*session).begins, ofMulti: true},
		{name: "exec", arity: -1, special: (*session).exec, ofMulti: true},
		{name: "discard", arity: 1, special: (*session).discard, ofMulti: true},
		{name: "watch", arity: -2, special: (*session).watch, ofMulti: true},
		{name: "unwatch", arity: 1, run: (*session).unwatchCommand},
	}
}

func always(r commands.Reply) func(*session, [][]byte) commands.Reply {
	return func(*session, [][]byte) commands.Reply { return r }
}

func (s *session) ping(args [][]byte) commands.Reply {
	message := ""
	switch len(args) {
	case 1:
	case 2:
		message = string(args[1])
	default:
		return wrongArity("ping")
	}
	if s.protocol() == 2 && s.subs.count() > 0 {
		return commands.Array(bulks("pong", message)...)
	}
	if len(args) == 1 {
		return commands.Pong
	}
	return commands.Bulk(message)
}

func (s *session) echo(args [][]byte) commands.Reply { return commands.Bulk(string(args[1])) }

func (s *session) quitCommand([][]byte) {
	s.off, s.skip = false, false
	s.answer(commands.OK)
	s.quit = true
}

func (s *session) reset([][]byte) {
	s.multi = nil
	s.unwatch()
	s.srv.hub.leave(s)
	s.subs = subscriptions{}
	s.proto.Store(2)
	s.db = 0
	s.become((*s.users).open())
	s.off, s.skip, s.skipNext, s.optIn = false, false, false, false
	s.rename("")
	s.answer(status("RESET"))
}

// selectDB switches the session to another database. The first SELECT of one
// waits until the masters have it open (C5), which the quorum bounds in time,
// and the commands behind it wait with it, since none could be carried out.
func (s *session) selectDB(args [][]byte) commands.Reply {
	n, refusal := s.database(args)
	if refusal != nil {
		return *refusal
	}
	s.pipe.flush()
	open := make(chan struct{})
	s.srv.q.Open(n, func() { close(open) })
	select {
	case <-open:
	case <-s.died():
	}
	s.db = n
	return commands.OK
}

func (s *session) database(args [][]byte) (int, *commands.Reply) {
	n, ok := parseInt(args[1])
	if !ok {
		return 0, &errInteger
	}
	if n < 0 || n >= quorum.Databases {
		return 0, new(commands.Error("ERR DB index is out of range"))
	}
	return int(n), nil
}

func (s *session) time([][]byte) commands.Reply {
	// The masters' time, because that is the one absolute expiries mean;
	// below a millisecond nobody knows it.
	ms := s.srv.q.Now()
	return commands.Array(bulks(strconv.FormatInt(ms/1000, 10), strconv.FormatInt(ms%1000*1000, 10))...)
}

func (s *session) lastSave([][]byte) commands.Reply {
	return commands.Int(s.srv.started.Unix())
}

// wait answers WAIT as a master without replicas does.
func (s *session) wait(args [][]byte) commands.Reply {
	if _, ok := parseInt(args[1]); !ok {
		return errInteger
	}
	switch n, ok := parseInt(args[2]); {
	case !ok:
		return commands.Error("ERR timeout is not an integer or out of range")
	case n < 0:
		return commands.Error("ERR timeout is negative")
	}
	return commands.Int(0)
}

// latency answers as a server that has measured no event.
func (s *session) latency(args [][]byte) commands.Reply {
	switch {
	case is(args[1], "latest") && len(args) == 2, is(args[1], "history") && len(args) == 3:
		return commands.Array()
	case is(args[1], "reset"):
		return commands.Int(0)
	}
	return unknownSubcommand("latency", args[1])
}

// uptime is how long the server has run, in whole seconds.
func (s *Server) uptime() int64 { return int64(time.Since(s.started) / time.Second) }
