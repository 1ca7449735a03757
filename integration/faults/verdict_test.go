package faults

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// wantNothingLeft is P5 and P2: the greatest hold later nothing is left. A
// clock that went back a while ago makes its copies last that much longer, and so
// does one that is behind that of the master whose replica it was.
func (b *bench) wantNothingLeft() {
	time.Sleep(b.window)
	for _, m := range b.masters {
		var keys []string
		var err error
		more := m.copied
		if m.aheadFile != "" {
			more = max(more, greatestStep)
		}
		for end := time.Now().Add(more); ; time.Sleep(100 * time.Millisecond) {
			keys, err = m.Client.Keys(context.Background(), "*").Result()
			if err == nil && len(keys) == 1 && keys[0] == "redlockd:mark" {
				break
			}
			if time.Now().After(end) {
				b.tb.Errorf("when all is over master %s has %q, %v; want only redlockd's mark", m.name, keys, err)
				break
			}
		}
	}
}

// check reads the histories.
func (b *bench) check() {
	b.h.prolong(len(b.masters), len(b.redlockds))
	var wg sync.WaitGroup
	gate := make(chan struct{}, 2)
	b.table = newTable()
	for _, key := range slices.Sorted(maps.Keys(b.h.keys)) {
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			b.checkKey(key, bySent(b.h.keys[key]))
		})
	}
	for key := range b.h.strings {
		b.h.checkMembers(key)
	}
	wg.Wait()
	for key := range b.h.turns {
		b.h.checkTurns(key)
	}
	b.checkNulls()
	b.tb.Logf("%d histories; calls: %v", len(b.h.keys), b.h.counts)
	b.tb.Logf("%d times a client was a certain holder, %d of them on a bare majority of which one master was lost", b.certain.Load(), b.h.onBares())
	b.tb.Logf("%v", b.table)
	b.giveAccounts()
	if len(b.h.violations) > 0 || b.tb.Failed() {
		b.keepRun()
	}
	for i, key := range slices.Sorted(maps.Keys(b.h.accounts)) {
		if i < 3 {
			b.tb.Logf("%s:\n%v", key, b.h.accounts[key])
		}
	}
	for i, v := range b.h.violations {
		if i == 12 {
			b.tb.Errorf("... and %d violations more", len(b.h.violations)-i)
			break
		}
		b.tb.Errorf("SEED=%d: %s", b.seed, v)
	}
	for _, v := range b.h.violations[:min(3, len(b.h.violations))] {
		lines := strings.Split(v, "\n")
		b.tb.Logf("in short, SEED=%d: %s", b.seed, strings.Join(lines[:min(8, len(lines))], "\n")) // where a long output is cut
	}
}

// checkKey judges what was answered on one key: that nobody has it beside
// another (P1), that each answer has a cause (P4), and that all of them together
// are those of one lock.
func (b *bench) checkKey(key string, calls []*call) {
	for _, c := range calls {
		c.frozen = c.frozen || b.h.stoodStill(c.sent, c.got)
	}
	j := b.newKeyJudge(calls)
	j.violation = b.h.violation
	b.certain.Add(int64(len(j.spans)))
	if x, y, found := twoHolders(spansOf(calls, j.w, byLeaving)); found {
		j.violation("TWO HOLDERS of %s, who count from when their OK left:\n  %v\n  %v", key, x.by, y.by)
		b.h.tell(key, x.start-5*time.Second, y.start+time.Second)
	}
	if x, y, found := twoHolders(j.spans); found {
		j.violation("TWO HOLDERS of %s from %.3f to %.3f:\n  %v\n  %v", key, y.start.Seconds(),
			min(x.end, y.end).Seconds(), x.by, y.by)
		b.h.tell(key, y.start-5*time.Second, y.start+time.Second)
	}
	for _, c := range calls {
		if c.amiss != "" && j.w.standing(c.redlockd, c.sent, c.got) == nil && !c.frozen {
			j.violation("%s, though redlockd was well: %v", c.amiss, c)
			b.h.tell(key, c.sent-time.Second, c.got)
		}
		found, judged := j.causes(c)
		if !judged {
			continue
		}
		b.table.count(c, found)
		if len(found) == 0 {
			j.violation("WITHOUT A CAUSE: %v\nconsidered:\n%s", c, j.considered(c))
			b.h.tell(key, c.sent-5*time.Second, c.got+time.Second)
		}
	}
	if j.linearizable() != porcupine.Ok {
		j.violation("porcupine: %s is not one lock", key)
		b.h.tell(key, calls[0].sent, calls[len(calls)-1].got)
	}
}
