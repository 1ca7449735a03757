package faults

import (
	"cmp"
	"slices"
	"time"
)

// span is a time in which a grant holds a key for certain.
type span struct {
	grant      int
	by         *call
	start, end time.Duration
}

// sureMargin is by how much later than it left redlockd an OK may arrive on a
// busy machine.
const sureMargin = 250 * time.Millisecond

// bySending is P1's first sentence: TTL from the sending of the request.
func bySending(c *call) time.Duration { return c.sent + c.ttl }

// byArrival is P1's second: TTL from when the OK left redlockd. It is said of
// a redlockd that did not stand still meanwhile.
func byArrival(c *call) time.Duration {
	if c.frozen {
		return bySending(c)
	}
	return c.got + c.ttl - sureMargin
}

// spansOf are the certain spans on one key, by start. calls are in the order
// of sending; until tells how long an answer counts by itself.
func spansOf(calls []*call, until func(*call) time.Duration) []span {
	var out []span
	for _, c := range calls {
		if c.answer != yes || !c.gives() {
			continue
		}
		if c.kind == extend && c.token == equalToken && !continues(c, out) {
			continue
		}
		if end := certainEnd(c, calls, until); end > c.got {
			out = append(out, span{c.grant, c, c.got, end})
		}
	}
	slices.SortFunc(out, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return out
}

// continues is whether an extend was answered while its grant was certain.
// With equal tokens a later one may have prolonged the next holder's lock, on
// one Redis too.
func continues(c *call, before []span) bool {
	return slices.ContainsFunc(before, func(s span) bool { return s.grant == c.grant && s.end >= c.got })
}

// certainEnd is until when what c was told is certain: as long as it counts
// by itself, or until something was sent with the token that may end it
// earlier (P1).
func certainEnd(c *call, calls []*call, until func(*call) time.Duration) time.Duration {
	end := until(c)
	for _, o := range calls {
		if o == c || o.token != c.token || o.kind != release && o.kind != extend && o.kind != renew {
			continue
		}
		// What was answered before c was sent is over. No answer at all, as
		// opposed to NOQUORUM, never is.
		broken := o.answer == unknown && !isNoQuorum(o)
		if o.got < c.sent && !broken {
			continue
		}
		switch {
		case o.kind == release:
			end = min(end, o.sent)
		case o.sent+o.ttl < end:
			end = min(end, o.sent+o.ttl)
		}
	}
	return end
}

func isNoQuorum(c *call) bool { return len(c.value) > 9 && c.value[:9] == "NOQUORUM " }

// twoHolders returns two spans of different grants on one key that overlap.
func twoHolders(spans []span) (a, b span, found bool) {
	var last span
	for _, s := range spans {
		if last.by != nil && s.grant != last.grant && s.start < last.end {
			return last, s, true
		}
		if last.by == nil || s.end > last.end {
			last = s
		}
	}
	return a, b, false
}

// denials are the answers that tell of no lock, or of another's, while a
// grant was certain for all of their time (P4): they name what porcupine only
// finds to be wrong. By equal tokens only a read can.
func denials(calls []*call, spans []span) []*call {
	var out []*call
	for _, c := range calls {
		for _, s := range spans {
			early := time.Duration(0)
			if c.kind == read {
				early = readSlack
			}
			if c.sent < s.start || c.got > s.end-early {
				continue
			}
			denied := c.answer == no && (c.kind == read || c.kind != acquire && c.token == s.by.token)
			other := c.kind == read && c.answer == yes && c.value != s.by.token
			if denied || other {
				out = append(out, c)
			}
		}
	}
	return out
}
