package commands

import (
	"reflect"
	"time"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// requestFor returns the request of a script with this meaning (C7).
func requestFor(c call, m *script.Meaning) Request {
	if c.spec.readOnly && m.Kind != script.Nothing && m.Kind != script.Reads && m.Kind != script.PerCall {
		return refuse(errReadOnly)
	}
	switch m.Kind {
	case script.Nothing:
		return answer(fill(m.Reply[script.Absent], quorum.State{}))
	}
	if values.Hidden(m.Token) {
		return refuse(errHidden)
	}
	if refused := refusedMeaning(c, m); refused != "" {
		return forbid(refused)
	}
	switch m.Kind {
	case script.Reads:
		return scriptOp(c, m, quorum.Op{Kind: quorum.Read}, readState)
	case script.PerCall:
		return perCall(c, m)
	}
	acquires := m.Kind == script.Acquires || m.Kind == script.AcquiresOrExtends
	if acquires && c.in.limits.token.over(len(m.Token)) {
		return refuse(errLongToken)
	}
	op := quorum.Op{Kind: quorum.Release, Token: m.Token}
	if m.Kind != script.Releases {
		ttl, refused := c.in.scriptTTL("eval", m.TTL)
		if refused != "" {
			return refuse(refused)
		}
		op.TTL = ttl
	}
	if tellsState(m) || grantsOurs(m) {
		return meaningByState(c, m, op.TTL)
	}
	switch m.Kind {
	case script.Acquires:
		op.Kind = quorum.Acquire
		return scriptOp(c, m, op, acquiredState)
	case script.AcquiresOrExtends:
		op.Kind = quorum.AcquireOrExtend
		return scriptOp(c, m, op, prolongedState)
	case script.Extends:
		op.Kind = quorum.Extend
	}
	return scriptOp(c, m, op, comparedState)
}

// refusedMeaning returns the error text if the client has no right to the notices that
// the script gives in one of the states, or "".
func refusedMeaning(c call, m *script.Meaning) string {
	if c.in.rights == nil || m.Extra == nil {
		return ""
	}
	for _, list := range m.Notices {
		if refused := c.in.refusedNotices(noticesOf(c.db, m.Key, list)); refused != "" {
			return refused
		}
	}
	return ""
}

// scriptOp returns the request of a script that is one operation. state derives from the
// outcome which state the script found, and thus its reply.
func scriptOp(c call, m *script.Meaning, op quorum.Op, state func(*script.Meaning, *quorum.Outcome) int) Request {
	op.DB, op.Key = c.db, m.Key
	reply := func(outs []*quorum.Outcome) resp.Reply {
		if r, failed := failure(outs); failed {
			return r
		}
		return fill(m.Reply[state(m, outs[0])], outs[0].State)
	}
	req := Request{Ops: []quorum.Op{op}, Reply: reply}
	if releases := op.Kind == quorum.Release; m.Extra != nil {
		req.Notices = func(outs []*quorum.Outcome) []Notice {
			switch {
			case outs[0].Err != nil && releases:
				// A release that is not confirmed is still carried out (V8), and a waiter
				// that is woken reads the lock itself.
				return noticesOf(c.db, m.Key, m.Notices[script.Ours])
			case outs[0].Err != nil:
				return nil
			}
			return noticesOf(c.db, m.Key, m.Notices[state(m, outs[0])])
		}
	}
	return req
}

// comparedState is for releases and extends: won means that the lock was ours.
func comparedState(_ *script.Meaning, o *quorum.Outcome) int {
	switch o.Verdict {
	case quorum.Won:
		return script.Ours
	case quorum.Held:
		return otherState(o.State.Token)
	}
	return script.Absent
}

// otherState returns the state of a key with another token.
func otherState(token string) int {
	if values.Hidden(token) {
		return script.Typed
	}
	return script.Other
}

// acquiredState is for acquires: won means that the key was absent.
func acquiredState(m *script.Meaning, o *quorum.Outcome) int {
	if o.Verdict == quorum.Won {
		return script.Absent
	}
	return holderState(m, o.State.Token)
}

// prolongedState is for scripts that acquire or extend.
func prolongedState(_ *script.Meaning, o *quorum.Outcome) int {
	switch {
	case o.Verdict != quorum.Won:
		return otherState(o.State.Token)
	case o.Prolonged:
		return script.Ours
	}
	return script.Absent
}

func readState(m *script.Meaning, o *quorum.Outcome) int {
	if o.Verdict != quorum.Held {
		return script.Absent
	}
	return holderState(m, o.State.Token)
}

func holderState(m *script.Meaning, token string) int {
	if token == m.Token {
		return script.Ours
	}
	return otherState(token)
}

// grantsOurs reports whether the reply of a script that acquires tells the client that the
// lock is its own: it is another one where another token was found. That reply promises the
// lock, and the copies may be those of an attempt whose rollback is under way (V6), so they
// are extended, with the TTL that they have.
func grantsOurs(m *script.Meaning) bool {
	return m.Kind == script.Acquires && !reflect.DeepEqual(m.Reply[script.Ours], m.Reply[script.Other])
}

// tellsState reports whether a reply contains a part of the state found, which only the
// outcome of a read has.
func tellsState(m *script.Meaning) bool {
	for i := range m.Reply {
		if stored(m.Reply[i]) {
			return true
		}
	}
	return false
}

func stored(v script.Value) bool {
	switch v.Kind {
	case script.StoredValue, script.StoredPTTL, script.StoredTTL:
		return true
	}
	for _, item := range v.Items {
		if stored(item) {
			return true
		}
	}
	return false
}

// meaningByState returns the request of a script that needs the state found for its reply,
// or for what it does: it reads first.
func meaningByState(c call, m *script.Meaning, ttl time.Duration) Request {
	need := map[script.Kind]Operations{
		script.Releases: MayRelease, script.Extends: MayExtend,
		script.Acquires: MayAcquire, script.AcquiresOrExtends: MayAcquire | MayExtend,
	}[m.Kind]
	if tellsState(m) {
		need |= MayRead
	}
	return c.decide(m.Key, func(s quorum.State) decision {
		met := script.Absent
		if s.Found {
			met = holderState(m, s.Token)
		}
		d := doNothing(fill(m.Reply[met], s))
		if m.Extra != nil {
			d.notices = noticesOf(c.db, m.Key, m.Notices[met])
		}
		switch {
		case met == script.Ours && m.Kind == script.Releases:
			d.op = quorum.Op{Kind: quorum.Release, Token: m.Token}
		case met == script.Ours && (m.Kind == script.Extends || m.Kind == script.AcquiresOrExtends),
			met == script.Absent && (m.Kind == script.Acquires || m.Kind == script.AcquiresOrExtends):
			d.op = replace(s, quorum.Op{Token: m.Token, TTL: ttl})
		case met == script.Ours && grantsOurs(m):
			d.op = replace(s, quorum.Op{Token: m.Token, TTL: wholeMillis(s.TTL), Keeps: true})
			if s.Lapsed {
				d.op.TTL, d.op.Keeps = ttl, false // for the client the key was absent
			}
		}
		return d
	}).with(need)
}
