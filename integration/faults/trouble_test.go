package faults

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// trouble is one fault: whom it keeps from answering, and from when to when.
// The judge excuses nothing without one, or a call, that it can name.
type trouble struct {
	what     string
	from, to time.Duration // to is forever while it lasts
	// after is for how long it may show beyond its end: a quarantine, or the
	// way back to a master.
	after   time.Duration
	masters []int
	// redlockd is whose way to the masters it is, or everyone; who stands
	// still itself if masters is empty.
	redlockd int
	killed   bool
	// quarantine is whether its masters may have lost locks.
	quarantine bool
	// interrupted is until when others were seen to prolong that.
	interrupted time.Duration
	back        time.Duration // by how much the clock of the master went back
	// late is by how much later what was sent to its masters arrives: forever for
	// its end, 0 if nothing is held back.
	late time.Duration
}

const (
	everyone      = -1 // every redlockd's way is disturbed
	everyRedlockd = -2 // the way of any of them is asked for
	forever       = time.Duration(1<<63 - 1)
)

// back is how long a master, or a redlockd, may yet be silent after it was
// away: another connection with its fence, and a look. Who was away for longer
// than watched waits besides, since another redlockd may have seen a step that
// it has not said yet (M5).
const (
	back    = time.Second
	watched = 1500 * time.Millisecond
	settles = time.Second + 4*timeout
	// seating is how long it takes until the other marks bear which server a
	// master is, two looks, before its quarantine begins to count (M9).
	seating = 2 * time.Second
)

func (t *trouble) String() string {
	whose := "for all redlockd"
	if t.redlockd != everyone {
		whose = fmt.Sprintf("for redlockd %d", t.redlockd)
	}
	end := "the end"
	if t.to != forever {
		end = fmt.Sprintf("%.3fs, and %v after", t.to.Seconds(), t.after)
	}
	if len(t.masters) == 0 {
		return fmt.Sprintf("%s of redlockd %d from %.3fs to %s", t.what, t.redlockd, t.from.Seconds(), end)
	}
	return fmt.Sprintf("%s of masters %v %s from %.3fs to %s", t.what, t.masters, whose, t.from.Seconds(), end)
}

// begin notes a trouble and its line in the history of faults.
func (h *history) begin(t trouble) *trouble {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.from, t.to = h.now(), forever
	h.troubles = append(h.troubles, &t)
	return &t
}

// end is the end of a trouble, which shows for a while yet.
func (h *history) end(t *trouble) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.to, t.after = h.now(), back
	if t.killed || t.to-t.from > watched {
		t.after += settles
	}
}

// endInQuarantine is the end of a trouble in which a master may have lost its
// locks.
func (b *bench) endInQuarantine(t *trouble) {
	b.h.end(t)
	b.h.mu.Lock()
	defer b.h.mu.Unlock()
	t.after, t.quarantine = t.after+b.window+seating, true
}

// prolong adds to the aftermath of each quarantine what interrupted it: it counts
// only while its master, and others that bear its seat, can be looked at (M4, M9). It is
// over once all redlockd have said that its masters vote.
func (h *history) prolong(masters, redlockds int) {
	slices.SortStableFunc(h.troubles, func(a, b *trouble) int { return cmp.Compare(a.from, b.from) })
	for _, t := range h.troubles {
		if !t.quarantine || t.to == forever {
			continue
		}
		for _, u := range h.troubles {
			if u == t || u.to == forever || u.to <= t.to || !u.interrupts(t, masters) || !t.shows(u.from, u.to) {
				continue
			}
			if at := max(u.from, t.interrupted, t.to); at < u.to {
				t.after, t.interrupted = t.after+u.to-at+back, u.to
			}
		}
		if over := h.endOfQuarantine(t, redlockds); over != forever {
			t.after = min(t.after, over-t.to)
		}
	}
}

// interrupts reports whether a trouble keeps redlockd from a master in another
// one's quarantine, or from a majority, or a redlockd from looking, which may be
// the one that has a seat to write.
func (t *trouble) interrupts(other *trouble, masters int) bool {
	return len(t.masters) == 0 || len(t.masters) > masters/2 || slices.ContainsFunc(t.masters, func(m int) bool { return slices.Contains(other.masters, m) })
}

// shows reports whether it may be noticed at some time from one to another.
func (t *trouble) shows(from, to time.Duration) bool {
	return t.from < to && (t.to == forever || from < t.to+t.after)
}

// keeps reports whether a redlockd may get no answer because of it.
func (t *trouble) keeps(redlockd int) bool {
	return len(t.masters) > 0 && (t.redlockd == everyone || redlockd == everyRedlockd || t.redlockd == redlockd)
}

// stands reports whether the redlockd itself stood still or was dead.
func (t *trouble) stands(redlockd int) bool { return len(t.masters) == 0 && t.redlockd == redlockd }

// times are the troubles around a time, so that a long run's judge does not
// look at all for each call.
type times struct {
	troubles []*trouble
	stood    []stillness
	mute     map[[2]int][]time.Duration
}

// around is with enough before and after for the aftermath of anything.
func (h *history) around(from, to time.Duration) *times {
	const more = time.Minute
	out := &times{mute: h.mute}
	for _, t := range h.troubles {
		if t.from < to+more && (t.to == forever || t.to > from-more) {
			out.troubles = append(out.troubles, t)
		}
	}
	for _, s := range h.stood {
		if s.from < to+more && s.to > from-more {
			out.stood = append(out.stood, s)
		}
	}
	return out
}

// silentTo are the masters that may have been silent to a redlockd, with why.
func (h *times) silentTo(redlockd int, from, to time.Duration) (masters []int, why []*trouble) {
	for _, t := range h.troubles {
		if !t.keeps(redlockd) || !t.shows(from, to) {
			continue
		}
		why = append(why, t)
		for _, m := range t.masters {
			if !slices.Contains(masters, m) {
				masters = append(masters, m)
			}
		}
	}
	return masters, why
}

// recently is how long before a call that nobody could decide its cause may have ended.
const recently = 3 * time.Second

// lately are the masters of silentTo that were silent in the last three seconds: by a fault, or
// in a quarantine of which the redlockd itself says that it lasts, in its INFO or, if says is
// true, in the answer. cut are those by faults alone.
func (h *times) lately(redlockd int, from, to time.Duration, says bool) (masters, cut []int, why []*trouble) {
	for _, t := range h.troubles {
		if !t.keeps(redlockd) || !t.shows(from, to) {
			continue
		}
		fresh, is := t.to == forever || from < t.to+recently, false
		for _, m := range t.masters {
			if !fresh && !(says && t.quarantine) && !h.saidMute(redlockd, m, from-recently, to) {
				continue
			}
			if is = true; !slices.Contains(masters, m) {
				masters = append(masters, m)
			}
			if fresh && !slices.Contains(cut, m) {
				cut = append(cut, m)
			}
		}
		if is {
			why = append(why, t)
		}
	}
	return masters, cut, why
}

// silence is why a redlockd says that it grants nothing: it stood still, or clocks stepped. It
// notices that as soon as it sees a quorum of the masters again, and then grants nothing for the
// greatest hold (M5), which the window has.
func (j *keyJudge) silence(c *call) (out []cause) {
	lasts := back + settles + j.window
	for _, t := range j.w.troubles {
		if (t.stands(c.redlockd) || t.quarantine) && t.from < c.got && (t.to == forever || c.sent < t.to+lasts) {
			out = append(out, cause{still, "and grants nothing since: " + t.String()})
		}
	}
	return out
}

// standing is what kept a redlockd from working at some time, the latest if it was several times,
// or nil.
func (h *times) standing(redlockd int, from, to time.Duration) (latest *trouble) {
	for _, t := range h.troubles {
		if t.stands(redlockd) && t.shows(from, to) && (latest == nil || t.to > latest.to) {
			latest = t
		}
	}
	return latest
}

// heard is by when a redlockd has read what a client sent and answered it or
// given it up: it is awake for as long as an answer may take (V2), or dead.
func (h *times) heard(redlockd int, sent time.Duration) time.Duration {
	const awake = stay + 500*time.Millisecond
	at := sent
	for again := true; again; {
		again = false
		for _, t := range h.troubles {
			if !t.stands(redlockd) || t.from >= at+awake || t.to <= at {
				continue
			}
			if t.killed {
				return max(at, t.from)
			}
			at, again = t.to, true
		}
		for _, s := range h.stood {
			if s.from < at+awake && s.to > at {
				at, again = s.to, true
			}
		}
	}
	return at + awake
}

// calmFrom is the first time at which a redlockd and its ways to all masters
// had been well for as long as what is owed takes to be carried out (M3), or
// forever.
func (h *times) calmFrom(redlockd int, from time.Duration) time.Duration {
	const owed = 1500 * time.Millisecond
	at := from
	for again := true; again; {
		again = false
		for _, t := range h.troubles {
			if t.from >= at+owed || t.to <= at || !t.keeps(redlockd) && !t.stands(redlockd) {
				continue
			}
			if t.to == forever || t.killed {
				return forever // who owed it is no more
			}
			at, again = t.to, true
		}
	}
	return at + owed
}

// wentBack is by how much clocks of masters went back in a time, at most.
func (h *times) wentBack(from, to time.Duration) (most time.Duration) {
	for _, t := range h.troubles {
		if t.back > 0 && t.from < to && t.to > from {
			most = max(most, t.back)
		}
	}
	return most
}
