package commands

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// store carries out operations as a quorum whose masters all agree.
type store struct {
	locks map[string]quorum.State
	// between, if set, is called once between a look and what follows from it.
	between func()
	// trips counts the requests to the masters.
	trips int
	// fails are the errors of keys that cannot be decided on.
	fails map[string]error
}

func newStore() *store { return &store{locks: map[string]quorum.State{}} }

func (s *store) do(op quorum.Op) *quorum.Outcome {
	for _, w := range op.Unless {
		if w.Changed() {
			return changed()
		}
	}
	if err := s.fails[op.Key]; err != nil {
		return &quorum.Outcome{Err: err}
	}
	switch op.Kind {
	case quorum.Decide:
		return s.decide(op)
	case quorum.DecideAll:
		return s.decideAll(op)
	}
	l := s.locks[op.Key]
	s.trips++
	switch {
	case !l.Lapsed:
	case op.Kind == quorum.Acquire || op.Kind == quorum.AcquireOrExtend && op.Token != l.Token:
		l.Found = true // until its hold ends
	case op.Kind != quorum.Read && (op.Token == "" || op.Token == l.Token):
		delete(s.locks, op.Key)
		l = quorum.State{}
	}
	ours := l.Found && l.Token == op.Token
	if !acts(op, l.Found, ours) {
		return &quorum.Outcome{Verdict: stateVerdict(l), State: l, Done: op.Kind}
	}
	token := op.Token
	if op.Kind == quorum.Expire {
		token = l.Token
	}
	if op.Replace {
		token = op.NewToken
	}
	s.locks[op.Key] = found(token, op.TTL)
	if op.Kind == quorum.Release || op.Kind == quorum.Remove {
		delete(s.locks, op.Key)
	}
	return &quorum.Outcome{Verdict: quorum.Won, Done: op.Kind, Prolonged: ours}
}

func (s *store) moves() {
	if f := s.between; f != nil {
		s.between = nil
		f()
	}
}

// decide tries again as a quorum does when the lock has moved, and first what is expected.
func (s *store) decide(op quorum.Op) *quorum.Outcome {
	if op.Expect != nil {
		if expected, ok := op.Expect(); ok {
			if next := op.Decide(expected); next.Kind != quorum.Read {
				if o := s.do(next); o.Verdict == quorum.Won {
					return o
				}
			}
		}
	}
	for {
		s.trips++
		l := s.locks[op.Key]
		next := op.Decide(l)
		if next.Kind == quorum.Read {
			return &quorum.Outcome{Verdict: stateVerdict(l), State: l, Done: quorum.Read}
		}
		s.moves()
		if o := s.do(next); o.Verdict == quorum.Won {
			return o
		}
	}
}

func (s *store) decideAll(op quorum.Op) *quorum.Outcome {
	for {
		states := make([]quorum.State, len(op.Keys))
		for i, key := range op.Keys {
			states[i] = s.locks[key]
		}
		changes := op.DecideAll(states)
		if len(changes) == 0 {
			return &quorum.Outcome{Verdict: quorum.Won, Done: quorum.Read}
		}
		s.moves()
		asRead := true
		for i, key := range op.Keys {
			asRead = asRead && same(s.locks[key], states[i])
		}
		if !asRead {
			continue
		}
		for _, c := range changes {
			s.locks[c.Key] = found(c.Token, c.TTL)
			if c.Delete {
				delete(s.locks, c.Key)
			}
		}
		return &quorum.Outcome{Verdict: quorum.Won, Done: quorum.DecideAll}
	}
}

// carryOut is the reply of a request, and what it tells those who wait.
func (s *store) carryOut(req Request) (string, []Notice) {
	outs := make([]*quorum.Outcome, len(req.Ops))
	for i, op := range req.Ops {
		outs[i] = s.do(op)
	}
	var told []Notice
	if req.Notices != nil {
		told = req.Notices(outs)
	}
	return show(req.Reply(outs)), told
}

// ask understands and carries out one command.
func (s *store) ask(t *testing.T, in *Interpreter, args ...string) string {
	t.Helper()
	words := make([][]byte, len(args))
	for i, a := range args {
		words[i] = []byte(a)
	}
	req, known := in.Understand(3, words)
	if !known {
		t.Fatalf("%s is not known", args[0])
	}
	reply, _ := s.carryOut(req)
	return reply
}

// holds is what the store holds, "key=token ttl" for each key asked for.
func (s *store) holds(keys ...string) (text string) {
	for _, key := range keys {
		if l := s.locks[key]; l.Found {
			text += key + "=" + l.Token + " " + l.TTL.Round(time.Millisecond).String() + ", "
		}
	}
	return text
}
