package proxy

import (
	"context"
	"strconv"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/internal/resp"
)

// scanCommand is SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]: the locks that a
// quorum has, with the guarantees of Redis's own SCAN. Where it is undecided whether a
// quorum has a lock the reply is NOQUORUM, and the same cursor may be tried again.
func scanCommand(s *session, ctx context.Context, args [][]byte) resp.Reply {
	cursor, err := strconv.ParseUint(string(args[1]), 10, 64)
	if err != nil {
		return resp.Error("ERR invalid cursor")
	}
	pattern, count, kind := "*", int64(10), ""
	for i := 2; i < len(args); i += 2 {
		if i+1 == len(args) {
			return errSyntax
		}
		value, ok := args[i+1], true
		switch {
		case grammar.Is(args[i], "match"):
			pattern = string(value)
		case grammar.Is(args[i], "type"):
			kind = string(value)
		case grammar.Is(args[i], "count"):
			count, ok = resp.ParseInt(value)
		default:
			return errSyntax
		}
		if !ok {
			return errInteger
		}
		if count < 1 {
			return errSyntax
		}
	}
	return scanPage(s, ctx, cursor, pattern, kind, int(min(count, listPage)))
}

// scanPage returns a page of locks of a kind of value; empty is any.
func scanPage(s *session, ctx context.Context, cursor uint64, pattern, kind string, count int) resp.Reply {
	page, err := s.srv.q.Scan(ctx, s.db, cursor, func(key string) bool {
		return resp.Glob(pattern, key) && s.user.Key(key)
	}, count)
	if err != nil {
		return commands.Failed(err)
	}
	keys := make([]resp.Reply, 0, len(page.Locks))
	for _, l := range page.Locks {
		if l.Err != nil {
			return commands.Failed(l.Err)
		}
		if kind == "" || grammar.Is([]byte(kind), values.TypeOf(l.State.Token)) {
			keys = append(keys, resp.Bulk(l.Key))
		}
	}
	return resp.Array(resp.Bulk(strconv.FormatUint(page.Next, 10)), resp.Array(keys...))
}

// dbsizeCommand is DBSIZE: roughly how many locks there are.
func dbsizeCommand(s *session, ctx context.Context, _ [][]byte) resp.Reply {
	n, err := s.srv.q.Size(ctx, s.db)
	if err != nil {
		return commands.Failed(err)
	}
	return resp.Int(n)
}

// keysCommand is KEYS pattern: all locks that a quorum has. If there are more than
// maxListed it answers an error instead of a part, which a client would take for all.
func keysCommand(s *session, ctx context.Context, args [][]byte) resp.Reply {
	names, refusal := listAll(s, ctx, string(args[1]), maxListed)
	if refusal != nil {
		return *refusal
	}
	return resp.Array(resp.Bulks(names...)...)
}
