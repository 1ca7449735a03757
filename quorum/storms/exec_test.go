package storms

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/quorum/fakeredis"
)

// The judge of EXEC: it acts only if nothing that was watched has changed, and is null only if
// something has.

// turn is a change of the token under a key that a client was answered to be made.
type turn struct {
	sent, got time.Duration
	token     string // "" if the lock was freed
	by        teller
}

// turned notes a change.
func (j *witness) turned(t *try, made turn) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.noteTurn(t, made)
}

// noteTurn is turned. The caller must hold mu.
func (j *witness) noteTurn(t *try, made turn) {
	if t.op.Kind == quorum.Read {
		return
	}
	if t.op.Kind != quorum.Release {
		made.token = t.op.TokenAfter()
	}
	j.turns[t.lock] = append(j.turns[t.lock], made)
	if list := j.turns[t.lock]; len(list) > 200 {
		j.turns[t.lock] = slices.Delete(list, 0, 100)
	}
}

// acted notes an EXEC that acted, and checks that nothing that its client had seen was changed
// before.
func (j *witness) acted(tries []*try, made turn, seen []*glance) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.count("EXEC that acted")
	if len(seen) > 1 {
		j.count("EXEC on several keys that acted")
	}
	for i, t := range tries {
		for _, other := range j.turns[t.lock] {
			if other.sent > seen[i].got && other.got < made.sent {
				j.unseen(t, made, seen[i], other)
			}
		}
		j.noteTurn(t, made)
	}
}

// unseen judges that an EXEC acted after another change. Two such are told in docs/safety.md:
// what was taken and freed again where there was no lock shows only through the same redlockd
// (S4), and what was freed may be freed once more by copies on a minority that the first
// release has missed (V8). The caller must hold mu.
func (j *witness) unseen(t *try, made turn, g *glance, other turn) {
	copies, _ := t.copies(g.token)
	switch elsewhere := other.by != made.by; {
	case elsewhere && g.token == "":
		j.count("excuse: a lock was taken and freed through another redlockd where there was none, and EXEC acts (S4)")
	case elsewhere && t.op.Kind == quorum.Release && other.token == "" && copies > 0 && (copies < t.largerMajority() || t.shape.required):
		j.count("excuse: EXEC frees what was freed through another redlockd, by copies that this has missed (V8)")
	default:
		j.fail("WATCH: %v, %v of EXEC, which has watched %q since %v at redlockd %d; it became %q at %v at redlockd %d, and EXEC acts", t.lock, t.op.Kind,
			g.token, g.got, t.node.number, other.token, other.got, other.by.node.number)
	}
}

// nulled checks that an EXEC that is null has a cause: a key that may have changed since its
// client began to watch it.
func (j *witness) nulled(tries []*try, seen []*glance) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, t := range tries {
		if why := t.whyNull(seen[i]); why != "" {
			j.count("excuse: EXEC is null, " + why)
			return
		}
	}
	for i, t := range tries {
		j.fail("NULL WITHOUT A CAUSE: %v, %v of EXEC at redlockd %d, which has watched %q since %v", t.lock, t.op.Kind, t.node.number, seen[i].token, seen[i].sent)
	}
}

// whyNull returns the cause for which an EXEC may find a key changed, or "". The caller must
// hold mu.
func (t *try) whyNull(g *glance) string {
	var l *lease
	if g.token != "" {
		l = t.leaseOf(t.lock, g.token)
	}
	for _, other := range append(slices.Clone(t.tries[t.lock]), t.past[t.lock]...) {
		_, limits := other.limit(l)
		// Who found nothing may have read behind a release that came after its WATCH, and who
		// found a lock behind the operation that took it, where the read had to be tried again.
		changes := limits || takes(&other.op) && (g.token == "" || other.op.TokenAfter() == g.token) ||
			g.token == "" && other.op.Kind == quorum.Release && other.sent <= g.got
		if other != t && (other.ended == 0 || other.ended >= g.sent) && changes {
			return "others changed it meanwhile"
		}
	}
	if g.token == "" {
		// A lock whose acquire was not decided may come later, and is freed by who has read it.
		if slices.ContainsFunc(t.turns[t.lock], func(made turn) bool { return made.got >= g.sent }) {
			return "there was a lock meanwhile"
		}
		for _, l := range t.leases[t.lock] {
			if l != t.to && l.token != "" && t.why(l) != "" {
				return "there may be a lock now"
			}
		}
		return ""
	}
	sure := l.sure
	if t.lease != nil {
		sure = t.hadSure // this EXEC has ended it itself
	}
	copies, _ := t.copies(g.token)
	switch {
	case sure <= t.Now()+t.fast(l):
		return "nobody certainly has it any more"
	case copies < t.largerMajority():
		return "no quorum has it any more"
	case t.shape.required && !t.requiredHad(g.token):
		return "the required master has it not any more"
	case t.lagging():
		return "a master has just become a replica of a server that lacks the lock"
	}
	return ""
}

// TestStormJudgeOfNulls checks that an EXEC that found nothing and is null is excused by a release
// between its WATCH and the answer to its read, and by one that freed a lock later.
func TestStormJudgeOfNulls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := calmStorm(t, 3, false)
		defer s.end()
		time.Sleep(30 * time.Second)
		lock := fakeredis.KeyName{Key: "k"}
		for _, tt := range []struct {
			name        string
			kind        quorum.Kind
			sent, ended time.Duration
			told        bool
			excused     bool
		}{
			{"released behind the watch", quorum.Release, 11 * time.Second, 11500 * time.Millisecond, true, true},
			{"under way", quorum.Release, 9 * time.Second, 0, false, true},
			{"released before the watch", quorum.Release, 9 * time.Second, 9500 * time.Millisecond, true, false},
			{"nothing to release when it was read", quorum.Release, 13 * time.Second, 14 * time.Second, false, false},
			{"released when it was read", quorum.Release, 13 * time.Second, 14 * time.Second, true, true},
			{"taken when it was read", quorum.Acquire, 13 * time.Second, 14 * time.Second, true, true},
		} {
			other := &try{witness: s.judge, lock: lock, lease: &lease{}, op: quorum.Op{Kind: tt.kind, Key: "k", Token: "B"}, sent: tt.sent, ended: tt.ended}
			s.judge.tries[lock] = []*try{other}
			if delete(s.judge.turns, lock); tt.told {
				s.judge.turns[lock] = []turn{{sent: tt.sent, got: tt.ended}}
			}
			it := &try{witness: s.judge, lock: lock, op: quorum.Op{Kind: quorum.Acquire, Key: "k", Token: "A"}, node: s.nodes[0]}
			if got := it.whyNull(&glance{sent: 10 * time.Second, got: 12 * time.Second}); (got != "") != tt.excused {
				t.Errorf("%s: %q", tt.name, got)
			}
		}
		delete(s.judge.tries, lock)
	})
}

// TestStormJudgeOfNullsOfALock checks that an EXEC that found a lock, which is there, and is null
// is excused by an operation that took it only if this may have ended after the WATCH.
func TestStormJudgeOfNullsOfALock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := calmStorm(t, 3, false)
		defer s.end()
		time.Sleep(30 * time.Second)
		lock := fakeredis.KeyName{Key: "k"}
		for _, f := range s.servers {
			f.Put(0, "k", fakeredis.Entry{Value: "A"})
		}
		s.judge.leaseOf(lock, "A").sure = time.Hour
		for _, tt := range []struct {
			name    string
			op      quorum.Op
			ended   time.Duration
			excused bool
		}{
			{"taken before the watch", quorum.Op{Kind: quorum.Acquire, Token: "A"}, 9 * time.Second, false},
			{"taken behind the watch", quorum.Op{Kind: quorum.Acquire, Token: "A"}, 11 * time.Second, true},
			{"became its token behind the watch", quorum.Op{Kind: quorum.Extend, Token: "B", Replace: true, NewToken: "A"}, 11 * time.Second, true},
			{"another one was refused", quorum.Op{Kind: quorum.Acquire, Token: "B"}, 11 * time.Second, false},
		} {
			tt.op.Key = "k"
			s.judge.tries[lock] = []*try{{witness: s.judge, lock: lock, lease: &lease{}, op: tt.op, sent: 8 * time.Second, ended: tt.ended}}
			it := &try{witness: s.judge, lock: lock, op: quorum.Op{Kind: quorum.Release, Key: "k", Token: "A"}, node: s.nodes[0]}
			if got := it.whyNull(&glance{token: "A", sent: 10 * time.Second, got: 12 * time.Second}); (got != "") != tt.excused {
				t.Errorf("%s: %q", tt.name, got)
			}
		}
		delete(s.judge.tries, lock)
	})
}
