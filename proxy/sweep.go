package proxy

import (
	"context"
	"strconv"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
)

// listAll lists the locks of the session's database that match and that its user may
// name, or returns the error for why it cannot list all of them.
func listAll(s *session, ctx context.Context, pattern string, most int) (names []string, refusal *resp.Reply) {
	seen := make(map[string]bool)
	for cursor, first := uint64(0), true; first || cursor != 0; first = false {
		page, err := s.srv.q.Scan(ctx, s.db, cursor, func(key string) bool {
			return resp.Glob(pattern, key) && !seen[key] && s.user.Key(key)
		}, listPage)
		if err != nil {
			return nil, new(commands.Failed(err))
		}
		for _, l := range page.Locks {
			switch {
			case l.Err != nil:
				return nil, new(commands.Failed(l.Err))
			case len(names) == most:
				return nil, new(resp.Error("ERR more than " + strconv.Itoa(most) + " locks match, SCAN and LOCKS LIST list them in parts"))
			}
			seen[l.Key] = true
			names = append(names, l.Key)
		}
		cursor = page.Next
	}
	return names, nil
}

// swept returns the request of a script whose KEYS call goes through all locks of a
// pattern, once these are listed. It returns false if that was refused, and answered.
func swept(s *session, req commands.Request) (commands.Request, bool) {
	for req.Sweep != nil {
		sweep := req.Sweep
		list := asking(func(s *session, ctx context.Context, _ [][]byte) resp.Reply {
			names, refusal := listAll(s, ctx, sweep.Pattern, commands.MaxSwept)
			if refusal != nil {
				return *refusal
			}
			req = sweep.Understand(names)
			return resp.OK
		})
		if r := list(s, nil); r.Kind == resp.KindError {
			s.refuse(r)
			return req, false
		}
	}
	return req, true
}

// asking returns the command that calls ask, which asks the masters outside of attempts.
// Meanwhile nothing more of the session is read. The number of sessions that do so at a
// time and the duration are bounded.
func asking(ask func(s *session, ctx context.Context, args [][]byte) resp.Reply) func(*session, [][]byte) resp.Reply {
	return func(s *session, args [][]byte) resp.Reply {
		s.pipe.Flush()
		ctx, cancel := context.WithTimeout(context.Background(), listTime)
		defer cancel()
		go func() {
			select {
			case <-s.connClosed():
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

var errLooking = resp.Error("ERR too many listings are under way, try again")
