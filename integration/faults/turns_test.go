package faults

import (
	"fmt"
	"time"
)

// turn is a change of a token that a client was told to be made, with what it had seen under
// WATCH before, if it was by EXEC.
type turn struct {
	*call
	became string // the token, or "" if it was freed
	// asked is when the WATCH was sent, watched when what was seen was known; 0 if nothing was
	// watched.
	asked, watched time.Duration
	saw            string
	life           int64 // of the redlockd
	// spared is whether the EXEC left the key as it was.
	spared bool
}

func (h *history) turned(t *turn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turns[t.key] = append(h.turns[t.key], t)
	if t.watched > 0 {
		h.counts["EXEC that acted, keys"]++
	}
}

// null is an EXEC that was the null array, with what its client had seen.
type null struct {
	*call
	seen []*turn
}

func (h *history) nulled(e *call, seen []*turn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nulls = append(h.nulls, &null{e, seen})
	h.counts["EXEC that was null"]++
}

// checkTurns checks that no EXEC acted though the token had changed since its WATCH. Two changes
// through another redlockd do not show (docs/safety.md): what was free, taken and freed (S4), and
// a release, to one that frees the lock once more by a copy on a minority (V8).
func (h *history) checkTurns(key string) {
	for _, t := range h.turns[key] {
		if t.watched == 0 {
			continue
		}
		for _, o := range h.turns[key] {
			switch same := o.redlockd == t.redlockd && o.life == t.life; {
			case o.spared || o.sent <= t.watched || o.got >= t.sent:
			case !same && t.saw == "":
				h.counts["WATCH: a lock was taken and freed through another redlockd where there was none (S4)"]++
			case !same && t.kind == release && o.became == "" && h.missed(o, t):
				h.counts["WATCH: a lock was freed through two redlockd (V8)"]++
			default:
				h.violation("WATCH: %q was seen at %.3f, and EXEC acts:\n  %v\nthough it changed to %q:\n  %v", t.saw, t.watched.Seconds(), t.call, o.became, o.call)
			}
		}
	}
}

// missed reports whether masters were away from the redlockd that freed a lock first, and from the
// one that freed it once more.
func (h *history) missed(first, again *turn) bool {
	w := h.around(first.sent, again.got)
	left, _ := w.silentTo(first.redlockd, first.sent, again.got)
	silent, _ := w.silentTo(again.redlockd, again.sent, again.got)
	return len(left) > 0 && len(silent) > 0
}

// checkNulls checks that each EXEC that was null has a cause at one of its keys: where there was
// no lock, what refuses an acquire; where there was one, that nobody has it for certain any more.
func (b *bench) checkNulls() {
	judges := map[string]*keyJudge{}
	for _, n := range b.h.nulls {
		text, judged := "", false
		for _, t := range n.seen {
			if judges[t.key] == nil {
				judges[t.key] = b.newKeyJudge(bySent(b.h.keys[t.key]))
			}
			judged = judged || len(judges[t.key].changed(n.call, t)) > 0
			text += fmt.Sprintf("\n  %s, seen as %q at %.3f", t.key, t.saw, t.watched.Seconds())
		}
		if !judged {
			b.h.violation("NULL WITHOUT A CAUSE: %v, which has watched%s", n.call, text)
			b.h.tell(n.seen[0].key, n.sent-5*time.Second, n.got+time.Second)
		}
	}
}

// changed are the causes for which an EXEC may find a key changed since it was seen.
func (j *keyJudge) changed(e *call, t *turn) []cause {
	p := *e
	p.sent, p.key, p.answer, p.tells = t.asked, t.key, no, false
	if t.saw == "" {
		p.kind, p.token = acquire, t.token
		return j.refused(&p)
	}
	if p.kind, p.token = release, t.saw; j.denies(&p) {
		return nil
	}
	return []cause{{holder, "nobody has it for certain"}}
}
