package faults

import (
	"fmt"
	"slices"
	"time"
)

// taking is what a call that may have put copies of a lock on masters can
// still do to others: how long it may hold, and by what it is known to be gone.
type taking struct {
	*call
	// over is by when redlockd had done with it, as far as new copies go.
	over time.Duration
	// until is the end of its hold, by the latest reading of a master's clock.
	until time.Duration
	// certain is until when it counts as held for certain; 0 if it never did.
	certain time.Duration
	// gone is from when on no majority has it, and goneBy says why; forever if
	// nothing shows that before its hold is over.
	gone   time.Duration
	goneBy string
}

// lookSpread is by how much an expiry may lie beyond the hold: a reading of a
// master's clock that was as old as a round trip in time, the spread of
// expiries and their rounding, and how late a busy Redis expires (V6).
const lookSpread = timeout + 200*time.Millisecond

// longest is the end of the hold of what a redlockd began by then (V3).
func (c *call) longest(begun time.Duration) time.Duration {
	return begun + c.ttl + c.ttl/50 + 2*timeout + retryBudget + lookSpread
}

// takings are those of one key, in the order of sending.
func (w *times) takings(calls []*call) (out []*taking) {
	for _, c := range calls {
		if !c.gives() || c.answer == no && c.kind == extend {
			continue
		}
		t := &taking{call: c, over: c.got, gone: forever}
		if c.answer == unknown && !isNoQuorum(c) {
			t.over = max(c.got, w.heard(c.redlockd, c.sent))
		}
		t.until = c.longest(t.over)
		if c.answer == yes {
			t.certain = certainEnd(c, calls, w, bySending, nil)
		}
		out = append(out, t)
	}
	for _, t := range out {
		w.findEnd(t, calls, mayProlong(t, out))
	}
	return out
}

// mayProlong reports whether t may have prolonged copies that others have created. A
// redlockd rolls back only what it has created itself (V6), so nobody undoes that.
func mayProlong(t *taking, all []*taking) bool {
	return t.kind == extend || t.replaces || t.kind == renew && slices.ContainsFunc(all, func(o *taking) bool {
		return o != t && o.token == t.token && o.sent < t.over && o.until > t.sent
	})
}

// findEnd looks for what shows that no majority has it any more.
func (w *times) findEnd(t *taking, calls []*call, prolongs bool) {
	note := func(at time.Duration, by string) {
		if at < t.gone {
			t.gone, t.goneBy = at, by
		}
	}
	switch {
	case t.answer == no:
		note(t.got, "it was refused")
	case t.answer == unknown && !t.answered && !prolongs: // what was told is not undone either
		note(w.calmFrom(t.redlockd, t.over), "its redlockd was well for long enough to undo it")
	}
	arrived := w.arrived(t.call, t.over)
	for _, c := range calls {
		since := t.over
		if c.redlockd != t.redlockd && t.answer == unknown {
			since = arrived // another's may overtake it
		}
		if c == t.call || c.sent < since || c.answer == unknown || c.got >= t.gone {
			continue
		}
		switch own := c.token == t.token; {
		case c.answer == yes && own && (c.kind == release || c.kind == extend || c.kind == renew),
			c.answer == yes && c.kind == acquire, c.answer == yes && !own && c.kind == renew,
			// A read finds nothing after the TTL, too.
			c.answer == no && c.kind == read && c.got < t.sent+t.ttl-early:
			note(c.got, fmt.Sprintf("call %d (%s %v) found it gone or took it away", c.n, c.kind, c.answer))
		}
	}
}

// arrived is by when what its redlockd has sent for a call has been carried out, if it
// sent nothing after over.
func (h *times) arrived(c *call, over time.Duration) time.Duration {
	const slack = 100 * time.Millisecond
	at := over
	for _, t := range h.troubles {
		switch {
		case t.late == 0 || !t.keeps(c.redlockd) || t.from >= over || t.to <= c.sent:
		case t.late == forever:
			at = max(at, min(t.to, forever-slack)+slack)
		default:
			at = max(at, over+t.late+slack)
		}
	}
	return at
}

// left says why copies of it may be on a minority of the masters, or "": one
// of them was out of reach when it was undone.
func (w *times) left(t *taking) string {
	masters, why := w.silentTo(everyRedlockd, t.sent, t.gone)
	if len(masters) == 0 {
		return ""
	}
	return why[0].String()
}
