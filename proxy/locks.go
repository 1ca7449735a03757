package proxy

import (
	"context"
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// locksCommand is LOCKS, for operators at redis-cli: LIST, WHO, FORCE and HELP. Holders
// are those that this redlockd remembers; all else is asked of the masters. No reply
// contains a token; of a lock in a hash they show the field and what it holds.
func locksCommand(s *session, args [][]byte) {
	switch c, refusal := subcommandOf("locks", args); {
	case refusal != nil:
		s.refuse(*refusal)
	case c.special != nil:
		c.special(s, args)
	default:
		s.answerLocal(localCommand{run: c.run}, args)
	}
}

func locksCommands() subcommands {
	return subcommands{
		// It lists only keys that the user may name.
		"list": {arity: -2, run: asking(locksList), access: reader},
		// The holder is shown only with MayAdmin, see describeHolder.
		"who":   {arity: 3, run: asking(locksWho), access: access{needs: commands.MayRead, keys: places{2, 0}}},
		"force": {arity: 3, special: locksForce, access: access{needs: commands.MayRemove, keys: places{2, 0}}},
		"help":  {arity: 2, run: always(locksHelp), access: everybody},
	}
}

var locksHelp = help(
	"LOCKS <subcommand> [<arg> ...]. Subcommands are:",
	"LIST [<pattern>] [COUNT <n>]",
	"    Locks of this database that a quorum of masters has, n at most (default: 100).",
	"WHO <key>",
	"    Who holds a lock, for how much longer, and what each master has of it.",
	"FORCE <key>",
	"    Remove a lock whoever holds it. Its holder is not told. It is logged.",
	"HELP",
	"    Prints this help.",
)

var (
	errReserved = resp.Error("ERR this key is redlockd's own")
)

// locksList is LOCKS LIST [pattern] [COUNT n].
func locksList(s *session, ctx context.Context, args [][]byte) resp.Reply {
	pattern, count, refusal := listArguments(args[2:])
	if refusal != nil {
		return *refusal
	}
	items, seen, more := []resp.Reply{}, make(map[string]bool), false
	for cursor, first := uint64(0), true; first || cursor != 0; first = false {
		page, err := s.srv.q.Scan(ctx, s.db, cursor, func(key string) bool {
			return resp.Glob(pattern, key) && !seen[key] && s.user.Key(key)
		}, listPage)
		if err != nil {
			return commands.Failed(err)
		}
		for _, l := range page.Locks {
			if more = len(items) == count; more {
				break
			}
			seen[l.Key] = true
			items = append(items, describeListed(s, l))
		}
		cursor = page.Next
		if more = more || cursor != 0 && (len(items) == count || ctx.Err() != nil); more {
			break
		}
	}
	return named("locks", resp.Array(items...), "more", flag(more))
}

func listArguments(args [][]byte) (pattern string, count int, refusal *resp.Reply) {
	pattern, count = "*", 100
	if len(args)%2 == 1 {
		pattern, args = string(args[0]), args[1:]
	}
	if len(args) == 0 {
		return pattern, count, nil
	}
	if len(args) != 2 || !grammar.Is(args[0], "count") {
		return "", 0, &errSyntax
	}
	n, ok := resp.ParseInt(args[1])
	switch {
	case !ok:
		return "", 0, &errInteger
	case n < 1 || n > maxListed:
		return "", 0, new(resp.Error("ERR COUNT must be 1 to 10000"))
	}
	return pattern, int(n), nil
}

// describeListed returns one lock of a listing.
func describeListed(s *session, l quorum.Listed) resp.Reply {
	state, ttl := resp.Bulk("held"), resp.Int(l.State.TTL.Milliseconds())
	if l.Err != nil {
		state, ttl = resp.Bulk("undecided"), resp.Null
	}
	return named("key", resp.Bulk(l.Key), "state", state, "ttl-ms", ttl,
		"holder", describeHolder(s, l.Key, l.State))
}

// describeHolder returns who holds a lock, or null if this redlockd did not grant it or
// does not remember it. Without MayAdmin a user sees only since when it is held.
func describeHolder(s *session, key string, state quorum.State) resp.Reply {
	l, ok := s.srv.held.Find(s.db, key, state.Token)
	if !state.Found || !ok {
		return resp.Null
	}
	age := max(0, time.Now().UnixMilli()-l.Since)
	// taken-here is 0 if the lock was taken elsewhere: since is then its first extend
	// here.
	r := named("since", resp.Int(l.Since/1000), "age-ms", resp.Int(age), "taken-here", flag(l.Taken))
	if s.user.May(commands.MayAdmin) {
		r.Items = append(named("id", resp.Int(l.Holder.Session), "name", resp.Bulk(l.Holder.Name),
			"addr", resp.Bulk(l.Holder.Address), "user", resp.Bulk(l.Holder.User)).Items, r.Items...)
	}
	return r
}

// locksWho is LOCKS WHO key.
func locksWho(s *session, ctx context.Context, args [][]byte) resp.Reply {
	key := string(args[2])
	if quorum.Reserved(key) {
		return errReserved
	}
	read := make(chan *quorum.Outcome, 1)
	s.srv.q.Do(&quorum.Op{Kind: quorum.Read, DB: s.db, Key: key}, s.pipe, func(o *quorum.Outcome) { read <- o })
	copies := s.srv.q.Copies(ctx, s.db, key)
	o := <-read
	state, because := lockState(o)
	ttl, why := resp.Null, resp.Null
	if o.State.Found {
		ttl = resp.Int(o.State.TTL.Milliseconds())
	}
	if because != "" {
		why = resp.Bulk(because)
	}
	owner, count := resp.Null, resp.Null
	if m, ok := ownerOf(o.State); ok {
		owner, count = resp.Bulk(m.Field), resp.Bulk(m.Value)
	}
	return named("key", resp.Bulk(key), "state", resp.Bulk(state), "ttl-ms", ttl, "why", why,
		"holder", describeHolder(s, key, o.State), "owner", owner, "count", count, "copies", describeCopies(copies))
}

// ownerOf returns who has a lock in a hash by the hash's own words, and how often; false for
// other locks.
func ownerOf(s quorum.State) (values.Member, bool) {
	m, ok := values.Hash(s.Token).Only()
	return m, ok && s.Found
}

// lockState returns the state of a lock that was read, in a word: held, free, ending or
// undecided. why is empty where the word says enough.
func lockState(o *quorum.Outcome) (state, why string) {
	switch {
	case o.Err != nil:
		return "undecided", resp.Clean([]byte(o.Err.Error()), 1024)
	case o.State.Found:
		return "held", ""
	case o.State.Lapsed:
		return "ending", "its TTL is over; the masters keep it a moment longer"
	}
	return "free", ""
}

// describeCopies returns what each master has of a lock. The token that a majority of
// them has is called "held", any other gets a number.
func describeCopies(copies []quorum.Copy) resp.Reply {
	times := make(map[int]int)
	for _, c := range copies {
		times[c.Token]++
	}
	items := make([]resp.Reply, len(copies))
	for i, c := range copies {
		copied, left := "none", resp.Null
		switch {
		case !c.Answered:
			copied = "silent"
		case c.Token > 0 && times[c.Token] > len(copies)/2:
			copied, left = "held", resp.Int(c.Hold.Milliseconds())
		case c.Token > 0:
			copied, left = "token-"+string(rune('0'+c.Token%10)), resp.Int(c.Hold.Milliseconds())
		}
		items[i] = named("master", resp.Bulk(c.Master), "state", resp.Bulk(string(c.State)),
			"copy", resp.Bulk(copied), "hold-ms", left)
	}
	return resp.Array(items...)
}

// locksForce is LOCKS FORCE key. It logs who removed the lock, and who held it.
func locksForce(s *session, args [][]byte) {
	key := string(args[2])
	if quorum.Reserved(key) {
		s.refuse(errReserved)
		return
	}
	by, db := s.identity(), s.db
	reply := func(outs []*quorum.Outcome) resp.Reply {
		switch o := outs[0]; {
		case o.Err != nil:
			return commands.Failed(o.Err)
		case o.Verdict == quorum.Won:
			return resp.Int(1)
		}
		return resp.Int(0)
	}
	// Read before the removal, which forgets the holder.
	lost := s.srv.held.HolderOf(db, key)
	req := commands.Request{Ops: []quorum.Op{{Kind: quorum.Remove, DB: db, Key: key}}, Reply: reply}
	s.begin(req, 256+len(key), func(outs []*quorum.Outcome) {
		s.Log().Warn("a lock was removed by LOCKS FORCE", "key", key, "db", db, "removed", outs[0].Verdict == quorum.Won,
			"by_address", by.Address, "by_name", by.Name, "by_user", by.User,
			"holder_address", lost.Address, "holder_name", lost.Name)
	})
}

// named returns a map of names and replies, which alternate in fields.
func named(fields ...any) resp.Reply {
	r := resp.Reply{Kind: resp.KindMap}
	for _, f := range fields {
		if name, ok := f.(string); ok {
			r.Items = append(r.Items, resp.Bulk(name))
			continue
		}
		r.Items = append(r.Items, f.(resp.Reply))
	}
	return r
}

func flag(b bool) resp.Reply {
	if b {
		return resp.Int(1)
	}
	return resp.Int(0)
}
