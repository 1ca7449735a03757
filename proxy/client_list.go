package proxy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/notify"
)

// describe returns the session's line in CLIENT LIST. Fields for which redlockd has
// nothing are 0.
func describe(s *session) string {
	waiting, bytes := s.pipe.Size()
	sh := s.clientInfo.state()
	now := time.Now()
	flags := ""
	if sh.queued >= 0 {
		flags += "x"
	}
	if sh.subs != [notify.Kinds]int{} {
		flags += "P"
	}
	if sh.blocked {
		flags += "b"
	}
	if _, ok := overUnix(s.conn); ok {
		flags += "U"
	}
	if flags == "" {
		flags = "N"
	}
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=0 name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=%d "+
		"multi=%d watch=%d qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=%d omem=%d tot-mem=%d "+
		"events=r cmd=%s user=%s redir=-1 resp=%d lib-name=%s lib-ver=%s io-thread=0 tot-net-in=%d tot-net-out=%d tot-cmds=%d\n",
		s.id, s.remote(), addressText(s.conn, s.conn.LocalAddr()), sh.name, int64(now.Sub(s.born).Seconds()), int64(now.Sub(sh.at).Seconds()), flags,
		sh.db, sh.subs[notify.Channel], sh.subs[notify.Pattern], sh.subs[notify.Shard], sh.queued, sh.watched,
		waiting, bytes, bytes, sh.command, sh.user, s.protocol(), sh.libName, sh.libVer, sh.in, s.pipe.Sent(), sh.commands)
}

// clientList is CLIENT LIST [TYPE type | ID id ...].
func clientList(s *session, args [][]byte) resp.Reply {
	var ids map[int64]bool
	list := s.srv.clients()
	switch {
	case len(args) == 2:
	case grammar.Is(args[2], "type") && len(args) == 4:
		switch kind := strings.ToLower(string(args[3])); kind {
		case "normal", "pubsub":
			list = slices.DeleteFunc(list, func(o *session) bool { return o.clientInfo.subscriber() != (kind == "pubsub") })
		case "master", "replica", "slave":
			list = nil
		default:
			return resp.Error("ERR Unknown client type '" + resp.Clean(args[3], 128) + "'")
		}
	case grammar.Is(args[2], "id") && len(args) > 3:
		ids = make(map[int64]bool)
		for _, a := range args[3:] {
			id, ok := resp.ParseInt(a)
			if !ok {
				return resp.Error("ERR Invalid client ID")
			}
			ids[id] = true
		}
	default:
		return errSyntax
	}
	slices.SortFunc(list, func(a, b *session) int { return int(a.id - b.id) })
	var b strings.Builder
	for _, o := range list {
		if ids == nil || ids[o.id] {
			b.WriteString(describe(o))
		}
	}
	return resp.Verbatim(b.String())
}
