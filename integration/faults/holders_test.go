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

// bySending is P1's first sentence: TTL from the sending of the request.
func bySending(c *call) time.Duration { return c.sent + c.ttl }

// byLeaving is P1's second: TTL from when the OK left redlockd. It is said of
// a redlockd that did not stand still meanwhile, and of a TTL that counts from
// the command.
func byLeaving(c *call) time.Duration {
	if c.frozen || c.left == 0 || c.byTime {
		return bySending(c)
	}
	return c.left + c.ttl
}

// spansOf are the certain spans on one key, by start. calls are in the order
// of sending; until tells how long an answer counts by itself.
func spansOf(calls []*call, w *times, until func(*call) time.Duration) []span {
	var out []span
	for _, c := range calls {
		if c.answer != yes || !c.gives() {
			continue
		}
		if c.kind == extend && c.token == equalToken && !continues(c, out) {
			continue
		}
		if end := certainEnd(c, calls, w, until, nil); end > c.got {
			out = append(out, span{c.grant, c, c.got, end})
		}
	}
	slices.SortFunc(out, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return out
}

// continues reports whether an extend was answered while its grant was certain.
// With equal tokens a later one may have prolonged the next holder's lock, on
// one Redis too.
func continues(c *call, before []span) bool {
	return slices.ContainsFunc(before, func(s span) bool { return s.grant == c.grant && s.end >= c.got })
}

// certainEnd is until when what c was told is certain: as long as it counts by
// itself, or until something other than but was sent with the token that may
// end it earlier (P1).
func certainEnd(c *call, calls []*call, w *times, until func(*call) time.Duration, but *call) time.Duration {
	end := until(c)
	for _, o := range calls {
		if o == c || o == but || o.token != c.token || o.kind != release && o.kind != extend && o.kind != renew {
			continue
		}
		// What was answered before c was sent is over. No answer at all is no
		// end: redlockd may read it later.
		over := o.got
		if o.answer == unknown && !isNoQuorum(o) {
			over = max(over, w.heard(o.redlockd, o.sent))
		}
		if over < c.sent {
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
