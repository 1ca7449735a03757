package quorum

import (
	"math/rand/v2"
	"time"
)

// begin sends the operation to all masters, or to the first one alone. now is
// the time, or one a moment before it: everything is counted from there.
func (a *attempt) begin(now time.Duration) {
	limit := min(a.call.q.cfg.Timeout, a.call.arrived+a.call.q.cfg.stay()-now)
	if limit <= 0 {
		// A release that outstayed is carried out all the same (V7).
		limit = a.call.q.cfg.Timeout
	}
	a.others = a.call.db.keys.open(a)
	a.mu.Lock()
	a.pending = 1
	a.began = now
	a.call.q.deadlines.add(a, now+limit, now)
	for i := range a.ballots {
		if a.first >= 0 && i != a.first {
			a.ballots[i].vote = unasked
		}
	}
	which := ^uint32(0)
	if a.first >= 0 {
		which = 1 << a.first
	}
	a.asking = true
	a.mu.Unlock()
	a.ask(now, which)
}

// ask sends the operation to some masters, given as bits, and takes those that
// are silent at once for silent. asking is set already.
func (a *attempt) ask(now time.Duration, which uint32) {
	spread := 2 * rand.Int64N(int64(expirySpread/time.Millisecond)/2+1)
	var mute uint32
	for i, l := range a.masters.lanes {
		if which>>i&1 != 0 && !l.ask(a, i, spread, now) {
			mute |= 1 << i
		}
	}
	a.mu.Lock()
	a.asking = false
	for i := range a.ballots {
		if mute>>i&1 != 0 && a.ballots[i].vote == awaited {
			a.ballots[i].vote = silent
		}
	}
	a.decide(now)
}

// prepare makes the task for one master, and returns false where the time on
// its clock is not known well enough. Needs the lane's mu.
func (a *attempt) prepare(i int, l *lane, spread int64, now time.Duration) bool {
	t := &a.tasks[i]
	*t = task{kind: a.op.Kind, att: a, index: uint8(i), key: a.op.Key, token: a.op.Token}
	cfg := &a.call.q.cfg
	if a.op.Kind == Release {
		t.until = a.began + roundHold(cfg.hold(cfg.MaxTTL))
	}
	if a.op.TTL == 0 && a.op.Kind != transact {
		return true
	}
	latest, ok := l.latest(a.mark, now)
	t.expiry = a.nameOf(l, lockName{a.op.Key, a.op.Token}, evenExpiry(latest, a.hold, spread))
	for k := range a.op.steps {
		e := int64(0)
		if s := &a.op.steps[k]; s.hold > 0 {
			e = a.nameOf(l, lockName{s.key, s.change.Token}, evenExpiry(latest, s.hold, spread))
		}
		t.expiries = append(t.expiries, e)
	}
	t.deadline = latest + cfg.Timeout.Milliseconds()
	if l.embedded {
		// Its clock is driven by this process, and jumps when that stands still.
		t.deadline += time.Second.Milliseconds()
	}
	return ok
}

// nameOf makes an expiry the name of an attempt: one that no open attempt has,
// and that no rollback still owed to the master names. Needs the lane's mu.
func (a *attempt) nameOf(l *lane, n lockName, e int64) int64 {
	// No more are opened meanwhile: those on one key begin one after the other.
	for a.others && a.call.db.keys.taken(a, n, l, e) || l.owes(n.key, n.token, e) {
		e += 2
	}
	return e
}

// goesOut is asked right before a task is written: false drops it, since it
// is lost, or would come late. What is won without it still goes out, since
// a lock is the safer the more masters have it.
func (a *attempt) goesOut(i int, now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	late := now-a.began > a.call.q.cfg.Timeout
	if a.lost || late || a.over && a.op.Kind == Read {
		return false
	}
	a.sent |= 1 << i
	a.pending++
	return true
}
