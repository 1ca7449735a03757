package proxy

import (
	"strconv"
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/quorum"
)

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
	s.mode.on()
	s.answer(resp.OK)
	s.quit = true
}

func resetCommand(s *session, _ [][]byte) {
	s.multi = nil
	s.unwatch()
	s.srv.relay.Leave(s, &s.subs)
	s.subs = notify.Subscriptions{}
	s.proto.Store(2)
	s.db = 0
	s.become(s.logins.users.Open())
	s.mode, s.optIn = replyMode{}, false
	s.rename("")
	s.answer(resp.Status("RESET"))
}

// selectCommand switches the session to another database. The first SELECT of a database
// waits until the masters have it open (C5), which the quorum bounds in time; the
// commands behind it wait too, since none could be carried out before.
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
	case <-s.connClosed():
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

func timeCommand(_ *session, _ [][]byte) resp.Reply {
	now := time.Now()
	return resp.Array(resp.Bulks(strconv.FormatInt(now.Unix(), 10), strconv.Itoa(now.Nanosecond()/1000))...)
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

// uptime returns how long the server has run, in whole seconds.
func uptime(s *Server) int64 { return int64(time.Since(s.started) / time.Second) }
