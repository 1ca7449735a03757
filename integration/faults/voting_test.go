package faults

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// lookedAt is how long after a fault a redlockd certainly has looked at a master again,
// if it says that the master votes.
const lookedAt = 3 * time.Second

// watchVoting asks a redlockd which of the masters that the bench began with vote for it,
// until the bench ends.
func (b *bench) watchVoting(n int, names []string) {
	c := rig.Direct(b.redlockds[n].addr, "")
	defer c.Close()
	for ; !b.ended(); time.Sleep(200 * time.Millisecond) {
		asked := b.h.now()
		text, err := c.Info(context.Background(), "redlockd").Result()
		if err != nil {
			continue
		}
		for m, name := range names {
			_, line, _ := strings.Cut(text, ":name="+name+",")
			line, _, _ = strings.Cut(line, "\r")
			switch {
			case strings.Contains(line, ",state=voting,"):
				b.h.votes(n, m, asked)
			case line != "":
				b.h.doesNotVote(n, m, b.h.now())
			}
		}
	}
}

// votes notes that a redlockd said at some time that a master votes.
func (h *history) votes(redlockd, master int, at time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.voting[[2]int{redlockd, master}] = append(h.voting[[2]int{redlockd, master}], at)
}

// doesNotVote notes that a redlockd said at some time that a master does not vote.
func (h *history) doesNotVote(redlockd, master int, at time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mute[[2]int{redlockd, master}] = append(h.mute[[2]int{redlockd, master}], at)
}

// saidMute reports whether a redlockd said in a time that a master does not vote.
func (w *times) saidMute(redlockd, master int, from, to time.Duration) bool {
	said := w.mute[[2]int{redlockd, master}]
	at, _ := slices.BinarySearch(said, from)
	return at < len(said) && said[at] <= to
}

// endOfQuarantine returns when all redlockd had said that the masters of a trouble that
// was over at t.to vote; forever if one did not.
func (h *history) endOfQuarantine(t *trouble, redlockds int) (over time.Duration) {
	for n := range redlockds {
		for _, m := range t.masters {
			said := h.voting[[2]int{n, m}]
			at, _ := slices.BinarySearch(said, t.to+lookedAt)
			if at == len(said) {
				return forever
			}
			over = max(over, said[at])
		}
	}
	return over
}
