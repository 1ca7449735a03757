package storms

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// call sends an operation to a redlockd; meant is what the client wants by it.
func (c *client) call(n *node, meant, op quorum.Op) hearing {
	return c.callAll(n, []quorum.Op{meant}, op)
}

// callAll is call for an operation that means several.
func (c *client) callAll(n *node, meant []quorum.Op, op quorum.Op) hearing {
	v := c.visits(n)
	for _, m := range meant {
		t := c.judge.begin(n, m)
		t.byRead = op.Kind != m.Kind
		v.tries = append(v.tries, t)
	}
	return v.carriesOut(op)
}

// visits begins a visit of a redlockd, for one operation.
func (c *client) visits(n *node) *visit {
	time.Sleep(time.Microsecond) // what this client was answered is over before this is sent
	return &visit{client: c, node: n, rng: rand.New(rand.NewPCG(c.rng.Uint64(), 0)), heard: make(chan hearing, 1)}
}

// carriesOut has the operation carried out, and returns what the client hears. A hasty client
// leaves before a slow answer.
func (v *visit) carriesOut(op quorum.Op) hearing {
	patience := time.Minute
	switch {
	case !has("hasty"):
	case v.hash != nil && v.chance(10): // what is counted then shows
		patience = some(v.client.rng, 0, 3*time.Millisecond)
	case v.chance(10):
		patience = some(v.client.rng, time.Millisecond, 400*time.Millisecond)
	}
	v.sent, v.meant = v.Now(), op
	if len(v.tries) > 0 {
		v.meant = v.tries[0].op
	}
	v.calls.Go(func() { v.serve(op) })
	select {
	case a := <-v.heard:
		return a
	case <-time.After(patience):
		v.caller.gone.Store(true)
		return hearing{}
	}
}

// visit is one operation at a redlockd, as its session serves it.
type visit struct {
	*client
	caller caller
	node   *node
	rng    *rand.Rand
	tries  []*try
	heard  chan hearing
	// meant is what the client wants, sent when it asked for that.
	meant quorum.Op
	sent  time.Duration
	// session is the life of the redlockd in which the client has watched a key; 0 if it need
	// not be the same one.
	session int
	// late reports whether the answer waited in its session, or for a master.
	late bool
	// opened is since when the redlockd has used the database.
	opened time.Duration
	// hash is an operation on a lock in a hash, or nil.
	hash *hashing
}

// serve carries the operation out and answers, unless the redlockd ends meanwhile.
func (v *visit) serve(op quorum.Op) {
	q, life := v.node.running()
	v.opened = v.node.opens(op.DB, life)
	if has("noquorum") {
		v.looksWhoVotes()
	}
	if q == nil || v.session != 0 && life != v.session {
		v.lost(true)
		return
	}
	out := make(chan *quorum.Outcome, 1)
	q.Do(&op, &v.caller, func(o *quorum.Outcome) { out <- o })
	o := <-out
	v.hash.ends(v, o, life)
	cfg, decided := v.node.config(), v.Now()
	if v.node.pass(v.rng, 25, cfg.Stay()) != life {
		v.lost(false)
		return
	}
	late := o.Late(o.Clock()) // also if it waited for a master that might still act (V6)
	if late && v.rng.IntN(4) > 0 && !v.renewed(o, life) {
		v.lost(false)
		return
	}
	if v.caller.gone.Load() {
		o.Undo()
		v.lost(true)
		return
	}
	v.late = late || v.Now() > decided
	left, err := o.Confirm(o.Clock())
	if err != nil {
		v.tellAll(hearing{verdict: quorum.Undecided, known: true}, err)
		return
	}
	if left > 0 && v.rng.IntN(5) == 0 {
		froze, _ := v.node.stillness()
		time.Sleep(time.Duration(v.rng.Int64N(int64(left) + 1)))
		if again, _ := v.node.stillness(); again != froze || v.node.life() != life {
			o.Undo() // the write fails
			v.lost(v.node.life() == life)
			return
		}
	}
	v.tellAll(v.answerOf(o), o.Err)
}

// renewed renews a late outcome as a session does, and then may wait a moment. It
// returns false if the redlockd has ended meanwhile.
func (v *visit) renewed(o *quorum.Outcome, life int) bool {
	done := make(chan struct{})
	o.Renew(&v.caller, func() { close(done) })
	<-done
	v.judge.noteRenewal(o.Late(o.Clock()))
	return v.node.pass(v.rng, 25, v.node.config().Timeout) == life
}

// pass sometimes waits a moment, and then for the end of a freeze. It returns the
// number of the redlockd's life.
func (n *node) pass(rng *rand.Rand, percent int, most time.Duration) int {
	if _, life := n.running(); rng.IntN(100) >= percent {
		return life
	}
	time.Sleep(time.Duration(rng.Int64N(int64(most) + 1)))
	_, life := n.running()
	return life
}

func (n *node) life() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lives
}

// answerOf returns the answer for the client. If the operation depended on a read and
// was not carried out, that is what was read.
func (v *visit) answerOf(o *quorum.Outcome) hearing {
	a := hearing{verdict: o.Verdict, state: o.State, known: true, done: o.Done, err: o.Err}
	meant := v.meant.Kind
	switch {
	case v.hash != nil:
		a.verdict = v.hash.verdict(o)
	case o.Verdict == quorum.Held && !o.State.Found && len(v.tries) == 1 && v.tries[0].tells:
		a.verdict = quorum.Undecided // no token is known to be in the way (package commands)
	case len(v.tries) > 1 && o.Verdict == quorum.Won && len(o.Changes) == 0:
		a.verdict = quorum.Changed
	case o.Done == quorum.Read && meant != quorum.Read && len(v.tries) < 2 && o.Err == nil:
		if a.verdict = quorum.Absent; o.State.Token != "" && !o.State.Lapsed {
			a.verdict = quorum.Held
		}
	}
	return a
}

// lost notes an answer that does not reach the client.
func (v *visit) lost(undone bool) {
	v.hash.judged(v, hearing{})
	for _, t := range v.tries {
		t.lost(undone)
	}
	op := v.meant
	v.tell("%d %q %v by %s at redlockd %d: nothing is heard", op.DB, op.Key, op.Kind, op.Token, v.node.number)
	v.heard <- hearing{}
}

// tellAll hands the answer to the client and to the judge.
func (v *visit) tellAll(a hearing, err error) {
	op := v.meant
	text := ""
	if err != nil {
		text = err.Error()
	}
	v.tell("%d %q %v by %s %s for %v at redlockd %d, asked at %.4f: %v %s %s", op.DB, op.Key, op.Kind, op.Token, op.NewToken, op.TTL, v.node.number, v.sent.Seconds(), a.verdict, a.state.Token, text)
	if a.known && a.open() {
		v.undecided(text)
	}
	v.hash.judged(v, a)
	for _, t := range v.tries {
		switch {
		case a.open() || a.verdict == quorum.Changed:
			t.lost(true)
		case v.hash != nil && v.caller.gone.Load(): // while the reply was written: its next turn may be told before
			t.lost(false)
		case t.op.Kind == quorum.Read:
			t.found(a.verdict, a.state)
		case a.verdict == quorum.Won:
			t.won()
		default:
			t.refused(a.verdict, a.state.Token)
		}
	}
	v.heard <- a
}

// list returns the list of masters that all redlockd are to have.
func (s *storm) list() []site {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.file)
}
