package commands

import (
	"reflect"
	"sync"
	"time"

	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/quorum"
)

// What reads first takes two round trips. So for hashes it is remembered what was seen last, and
// what follows from that is sent at once (quorum.Op.Expect). Nothing else follows from it: the
// masters compare it with what they have.

// maxSightings bounds the keys in each of two generations: when the younger is full the older is
// dropped. A key that was dropped costs one read.
const maxSightings = 8192

// maxSighting bounds the bytes of a key and its hash; longer ones are read.
const maxSighting = 512

// sightings are the hashes that were seen last, by key. All Interpreters made by For share them.
type sightings struct {
	mu           sync.Mutex
	young, older map[place]string
}

type place struct {
	db  int
	key string
}

func newSightings() *sightings { return &sightings{young: map[place]string{}} }

// of returns the hash that a key held; empty if none is known.
func (s *sightings) of(p place) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token, ok := s.young[p]; ok {
		return token
	}
	return s.older[p]
}

// note records what a key holds.
func (s *sightings) note(p place, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !values.Hidden(token) || len(p.key)+len(token) > maxSighting {
		delete(s.young, p)
		delete(s.older, p)
		return
	}
	if len(s.young) >= maxSightings {
		s.young, s.older = map[place]string{}, s.young
	}
	s.young[p] = token
}

// foresees makes the request of one decide begin with what choose would do in the state that was
// seen last, if that takes, frees or prolongs a hash whatever is left of its TTL.
func (c call) foresees(req *Request, choose func(quorum.State) decision) {
	op := &req.Ops[0]
	at := place{c.db, op.Key}
	op.Expect = func() (quorum.State, bool) {
		s := expected(c.in.seen.of(at))
		d := choose(s)
		hidden := values.Hidden(s.Token) || values.Hidden(d.op.Token)
		if d.op.Keeps || d.op.Replace || d.readsLeft || !hidden || d.op.Kind == quorum.Read {
			return s, false
		}
		if s.Found {
			later := s
			later.TTL = c.in.cfg.MaxTTL
			return s, reflect.DeepEqual(d, choose(later))
		}
		return s, true
	}
	c.notes(req)
}

// expected returns the state of a key that held the token; empty is absent.
func expected(token string) quorum.State {
	return quorum.State{Found: token != "", Token: token, TTL: time.Millisecond}
}

// notes makes the request of one decide record what it finds and leaves under its key.
func (c call) notes(req *Request) {
	op, at := &req.Ops[0], place{c.db, req.Ops[0].Key}
	decides := op.Decide
	after := ""
	op.Decide = func(s quorum.State) quorum.Op {
		does := decides(s)
		switch does.Kind {
		case quorum.Read:
			after = s.Token
		case quorum.Release:
			after = ""
		default:
			after = does.TokenAfter()
		}
		return does
	}
	notices := req.Notices
	req.Notices = func(outs []*quorum.Outcome) []Notice {
		if carriedOut(outs[0]) {
			c.in.seen.note(at, after)
		} else {
			c.in.seen.note(at, "")
		}
		return notices(outs)
	}
}
