package faults

import (
	"context"
	"slices"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// A busy machine may give a process nothing for as long as a fault would. So
// the bench asks each of them itself, all the time, directly: what does not
// answer at once is a trouble that the judge knows of, like any other.

const (
	watchPace = 20 * time.Millisecond
	// atOnce is a third of what an attempt waits for.
	atOnce = timeout / 3
)

// watchMaster asks one master until the bench ends.
func (b *bench) watchMaster(at int, m *rig.Master) {
	b.watchers.Go(func() {
		b.watch(trouble{what: "no answer at once", redlockd: everyone, masters: []int{at}, late: forever},
			func() error { return m.Client.Ping(context.Background()).Err() })
	})
}

// watchRedlockd asks one redlockd.
func (b *bench) watchRedlockd(r *redlockd) {
	c := rig.Direct(r.addr, "")
	b.watchers.Go(func() {
		defer c.Close()
		b.watch(trouble{what: "no answer at once", redlockd: slices.Index(b.redlockds, r)},
			func() error { return c.Ping(context.Background()).Err() })
	})
}

func (b *bench) watch(t trouble, ping func() error) {
	for !b.ended() {
		asked := b.h.now()
		// Who is killed, and says nothing any more, is a trouble of its own.
		if err := ping(); err == nil && b.h.now()-asked > atOnce {
			b.h.was(t, asked)
		}
		time.Sleep(watchPace)
	}
}

// was notes a trouble that is over.
func (h *history) was(t trouble, from time.Duration) {
	noted := h.begin(t)
	h.mu.Lock()
	noted.from = from
	h.mu.Unlock()
	h.end(noted)
}
