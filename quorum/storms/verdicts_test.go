package storms

import (
	"fmt"
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/vote"
)

// lost ends an operation that was not decided, or whose answer did not reach the
// client. undone reports whether the redlockd that has to roll it back lives on (P5).
func (t *try) lost(undone bool) {
	t.witness.mu.Lock()
	defer t.witness.mu.Unlock()
	t.over()
	t.count(fmt.Sprintf("%v undecided or unheard", t.op.Kind))
	if takes(&t.op) {
		t.to.may, t.to.doubt, t.to.freed = max(t.to.may, t.lasts()), true, 0
		t.to.kept = t.to.kept || !undone || t.op.Kind != quorum.Acquire
		t.replaces() // it may have been won too late
	}
	t.lived()
}

// replaces notes that the token of a lock may have been replaced. The caller must hold mu.
func (t *try) replaces() {
	if t.op.Replace {
		t.to.former = max(t.to.former, t.lease.may, t.lease.former)
	}
}

// lived notes that copies of a lease may be left if it was not certainly released. The
// caller must hold mu.
func (t *try) lived() {
	if t.op.Kind == quorum.Release && t.lease.freed == 0 {
		t.lease.kept = true
	}
}

// won ends an operation that was answered as done.
func (t *try) won() {
	t.witness.mu.Lock()
	defer t.witness.mu.Unlock()
	t.over()
	t.count(fmt.Sprintf("%v won", t.op.Kind))
	switch now := t.Now(); {
	case takes(&t.op):
		before := t.promises()
		t.holds()
		if t.to.until > t.Now() {
			t.alone(before)
		}
	case t.op.Kind == quorum.Release && t.outlived(t.lease):
		t.fail("OVER: %v, %s is told by redlockd %d that it was freed, and was told that it is over at %v", t.lock, t.op.Token, t.node.number, t.lease.ends)
	case t.op.Kind == quorum.Release && t.lease.closed <= t.sent:
		t.lease.freed, t.lease.late = now, t.mayArrive(t.lease)
	case t.op.Kind == quorum.Remove:
		for _, l := range t.leases[t.lock] {
			if l.closed <= t.sent && l.open == 0 {
				l.freed, l.late = now, t.mayArrive(l)
			}
		}
	}
}

// fast returns by how much the redlockd's clock may have run ahead, or behind, since
// the lease was last taken. The caller must hold mu.
func (t *try) fast(l *lease) time.Duration {
	return time.Duration(t.node.config().ClockDrift * float64(t.Now()-l.taken))
}

// outlived reports whether the lock's TTL is over, and nothing can have prolonged it (V15). The
// caller must hold mu.
func (t *try) outlived(l *lease) bool {
	// Clocks of redlockd and masters run differently, and stand still with one that is suspended.
	// A copy is over a timeout after the TTL, and by the round trip of a look later.
	slack := 10*time.Millisecond + t.widest() + t.fast(l) + t.node.clock.standstill()
	if t.steppedSince(l.taken) {
		return false // after a step of its clock no redlockd can tell
	}
	return t.sent > l.ends+slack && l.ends > 0 && !l.doubt && l.open == 0 && !l.count.leaves() && l.freed == 0 && !t.prolonging(l)
}

// steppedSince reports whether the clock of a master has stepped since a time.
func (t *try) steppedSince(since time.Duration) bool {
	t.node.Lock()
	defer t.node.Unlock()
	return slices.ContainsFunc(t.storm.servers, func(f *fakeredis.Server) bool { return f.Stepped > 0 && f.Stepped >= since })
}

// mayArrive reports whether an operation that another redlockd has sent to take the
// lock may reach masters after this one: a SET may until its expiry (V6). The caller
// must hold mu.
func (t *try) mayArrive(l *lease) bool {
	return l.may > t.sent && slices.ContainsFunc(l.from, func(n *node) bool { return n != t.node })
}

// promises returns what clients were promised before. The caller must hold mu.
func (t *try) promises() map[*lease]time.Duration {
	out := map[*lease]time.Duration{}
	for _, l := range t.leases[t.lock] {
		out[l] = l.until
	}
	return out
}

// alone checks P1: no other client was answered that it has the lock. The caller must
// hold mu.
func (t *try) alone(before map[*lease]time.Duration) {
	for l, until := range before {
		switch {
		case until <= t.Now() || t.op.Kind == quorum.Store:
		case l != t.lease:
			t.fail("TWO HOLDERS of %v: %s by %v at redlockd %d, and %s until %v", t.lock, t.to.token, t.op.Kind, t.node.number, l.token, until)
		case t.op.Kind == quorum.Acquire && t.to.untold:
			t.count("excuse: it was extended before the acquire was answered that took it")
		case t.op.Kind == quorum.Acquire:
			t.fail("TAKEN TWICE: %v by %s, at redlockd %d, who has it until %v", t.lock, l.token, t.node.number, until)
		}
	}
	t.to.untold = t.to.untold && t.op.Kind == quorum.Extend
}

// holds notes what the client was answered. The caller must hold mu.
func (t *try) holds() {
	l, now := t.to, t.Now()
	if t.op.Kind == quorum.Extend && t.had <= t.sent {
		l.untold = true
	}
	if l.until < now {
		l.gaps++
	}
	l.sure = t.sent + t.op.TTL
	l.until, l.ends, l.may = now+t.op.TTL, max(l.ends, now+t.op.TTL), max(l.may, t.lasts())
	if t.op.Kind == quorum.Store {
		l.until = t.sent + t.op.TTL // it is neither an acquire nor an extend, and promises no more
	}
	t.replaces()
	l.freed, l.kept, l.taken, l.told = 0, true, t.sent, now
	if froze, uncounted := t.node.stillness(); uncounted != t.uncounted && froze > t.froze {
		l.until = t.sent + t.op.TTL
		t.count("excuse: no clock of redlockd's counts all of the time before its OK, which is sure from its asking only")
	}
	for _, other := range append(slices.Clone(t.tries[t.lock]), t.past[t.lock]...) {
		if (other.ended == 0 || other.ended >= t.sent) && other != t && other.disturb(l) {
			t.count("excuse: others free, shorten or store over it while its holder is told")
		}
	}
}

// refused ends an operation that was answered with another holder, or with no such
// lock; token is the one in the way, if it was in the answer.
func (t *try) refused(v quorum.Verdict, token string) {
	token = holderIn(token)
	t.witness.mu.Lock()
	defer t.witness.mu.Unlock()
	t.over()
	t.count(fmt.Sprintf("%v %v", t.op.Kind, v))
	if takes(&t.op) { // its rollback is under way, or a minority was prolonged
		t.to.may, t.to.doubt, t.to.freed = max(t.to.may, t.lasts()), true, 0
		t.to.kept = t.to.kept || t.op.Kind != quorum.Acquire
	}
	t.lived()
	holder := t.lease != nil && t.had > t.Now()
	byClock := t.byRead || t.op.Kind == quorum.Release && v == quorum.Absent // V15
	if holder && byClock && t.hadSure <= t.Now() {
		holder = false
		t.count("excuse: its TTL is over counted from its asking, as one Redis counts")
	}
	switch {
	case !holder || v != quorum.Absent:
	case byClock && t.hadSure <= t.Now()+t.fast(t.lease), t.op.Kind == quorum.Extend && slices.Contains(t.lease.from, t.node) && t.had <= t.Now()+t.fast(t.lease):
		holder = false
		t.count("excuse: its TTL is over by a redlockd's clock, which runs fast")
	}
	switch {
	case t.op.Kind == quorum.Acquire, t.op.Kind == quorum.Expire, t.op.Kind == quorum.Remove, t.op.Kind == quorum.Store:
	case holder && !t.undisturbed(t.lease):
		t.count("excuse: others freed, shortened or stored over what its holder asks for")
	case holder && !t.misled(t.lease, v, token):
		t.fail("NO TO THE HOLDER: %v, %s is told %v %q by %v at redlockd %d, and has it until %v", t.lock, t.op.Token, v, token, t.op.Kind, t.node.number, t.had)
	}
	if v == quorum.Held {
		t.explain(token)
		if t.tells {
			t.count("told by SET NX GET")
			t.told(token)
		}
	}
}

// found ends a read with its answer.
func (t *try) found(v quorum.Verdict, st quorum.State) {
	st.Token = holderIn(st.Token)
	t.witness.mu.Lock()
	defer t.witness.mu.Unlock()
	t.over()
	t.count(fmt.Sprintf("%v %v", t.op.Kind, v))
	l := t.holder
	if l != nil && l.gaps != t.gaps {
		l = nil // its TTL was over for a while, and it was taken again
	}
	if v != quorum.Held && v != quorum.Absent {
		return
	}
	if l != nil && l.sure > t.Now() && l.sure <= t.Now()+t.fast(l) && v == quorum.Absent {
		t.count("excuse: its TTL is over by a redlockd's clock, which runs fast")
		l = nil
	}
	if l != nil && l.sure > t.Now() && t.undisturbed(l) && (v == quorum.Absent || st.Token != l.token) && !t.misled(l, v, st.Token) {
		t.fail("NOT FOUND: %v, a read at redlockd %d finds %v %q, and %s has it until %v", t.lock, t.node.number, v, st.Token, l.token, l.until)
		return
	}
	if v == quorum.Held {
		t.explain(st.Token)
		t.told(st.Token)
	}
}

// explain checks that some client may have had the lock since the operation was sent:
// the one with this token, if the answer had one. The caller must hold mu.
func (t *try) explain(token string) {
	best := ""
	for _, l := range t.leases[t.lock] {
		if token != "" && l.token != token {
			continue
		}
		if why := t.why(l); best == "" || why != "" && why < best {
			best = why
		}
	}
	if best == "" {
		t.fail("NOBODY: %v is refused to %s by %v at redlockd %d, by %q, and nobody may have it", t.lock, t.op.Token, t.op.Kind, t.node.number, token)
		return
	}
	t.count(fmt.Sprintf("excuse: %v refused, %s", t.op.Kind, best))
}

// why returns the reason for which a lease may be in the way, or nothing. The first
// letter ranks the reasons, the best first. The caller must hold mu.
func (t *try) why(l *lease) string {
	copies, strange := t.copies(l.token)
	switch {
	case l.has(t.sent):
		return "a: a client has it"
	case l.closed >= t.sent && l != t.lease || l.open > 0 || t.prolonging(l):
		return "b: another attempt was under way"
	case l.freed >= t.sent && l.freed > 0:
		return "c: it was freed meanwhile"
	case copies == 0:
		return ""
	case l.freed > 0 && !has("word") && t.shape.required:
		return "h: it was freed by the word of the required master alone"
	case l.freed > 0 && copies < t.largerMajority():
		return "f: it was freed, and silent masters may have what a minority has"
	case l.freed > 0 && l.may > t.sent && l.late:
		return "i: it was freed through another redlockd than took it, and was still on its way to masters"
	case l.freed == 0 && l.may > t.sent && l.doubt:
		return "e: what an attempt left that was not decided"
	case l.freed == 0 && l.may > t.sent:
		return "d: the padding after its TTL"
	case l.freed == 0 && l.former > t.sent && copies < t.largerMajority():
		return "j: a change of its token was repeated to a master that missed it, and kept the later expiry there"
	case strange:
		return "g: a master's clock went back, or its disk"
	default:
		return ""
	}
}

// largerMajority returns the majority of the list or of the one before, if that is more: a
// copy on a master that leaves counts for who still has the old one.
func (s *storm) largerMajority() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return vote.Majority(max(len(s.file), len(s.before)))
}

// prolonging reports whether a command without a token may be prolonging the lease. The
// caller must hold mu.
func (t *try) prolonging(l *lease) bool {
	for _, other := range t.tries[t.lock] {
		if other.op.Kind == quorum.Expire && l.may >= other.sent {
			return true
		}
	}
	return false
}

// copies returns on how many servers the token was since the operation was sent, and
// whether one of these may keep it longer than it should.
func (t *try) copies(token string) (n int, strange bool) { return t.copiesSince(token, t.sent) }

// copiesSince is copies for another time than that.
func (t *try) copiesSince(token string, since time.Duration) (n int, strange bool) {
	t.Lock()
	defer t.Unlock()
	for _, f := range t.servers {
		if had(f, t.lock, token, since) {
			n++
			strange = strange || f.Strange
		}
	}
	return n, strange
}
