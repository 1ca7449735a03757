package proxy

import (
	"context"
	"strconv"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/commands/grammar"
)

// scan is SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]: the locks that
// a quorum has, under the promises of Redis's own SCAN. Where the masters
// cannot tell of a key it is NOQUORUM, and the same cursor may be tried again.
func (s *session) scan(ctx context.Context, args [][]byte) commands.Reply {
	cursor, err := strconv.ParseUint(string(args[1]), 10, 64)
	if err != nil {
		return commands.Error("ERR invalid cursor")
	}
	pattern, count, kind := "*", int64(10), "string"
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
			count, ok = grammar.ParseInt(value)
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
	if !grammar.Is([]byte(kind), "string") {
		// A lock is a string.
		return commands.Array(commands.Bulk("0"), commands.Array())
	}
	return s.scanPage(ctx, cursor, pattern, int(min(count, listPage)))
}

func (s *session) scanPage(ctx context.Context, cursor uint64, pattern string, count int) commands.Reply {
	page, err := s.srv.q.Scan(ctx, s.db, cursor, func(key string) bool {
		return glob(pattern, key) && s.user.Key(key)
	}, count)
	if err != nil {
		return commands.Failed(err)
	}
	keys := make([]commands.Reply, len(page.Locks))
	for i, l := range page.Locks {
		if l.Err != nil {
			return commands.Failed(l.Err)
		}
		keys[i] = commands.Bulk(l.Key)
	}
	return commands.Array(commands.Bulk(strconv.FormatUint(page.Next, 10)), commands.Array(keys...))
}

// dbsize is DBSIZE: about how many locks there are.
func (s *session) dbsize(ctx context.Context, _ [][]byte) commands.Reply {
	n, err := s.srv.q.Size(ctx, s.db)
	if err != nil {
		return commands.Failed(err)
	}
	return commands.Int(n)
}

// asking makes a command of what asks the masters beside the votes. Nothing
// more of the session is read meanwhile, and how many sessions do so at a time
// is bounded, as is the time.
func asking(ask func(s *session, ctx context.Context, args [][]byte) commands.Reply) func(*session, [][]byte) commands.Reply {
	return func(s *session, args [][]byte) commands.Reply {
		s.pipe.flush()
		ctx, cancel := context.WithTimeout(context.Background(), listTime)
		defer cancel()
		go func() {
			select {
			case <-s.died():
				cancel()
			case <-ctx.Done():
			}
		}()
		select {
		case s.srv.looking <- struct{}{}:
			defer func() { <-s.srv.looking }()
			return ask(s, ctx, args)
		case <-ctx.Done():
			return errLooking
		}
	}
}
