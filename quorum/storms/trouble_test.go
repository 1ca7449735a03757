package storms

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// recently is how long before an operation a cause of its NOQUORUM may have ended.
const recently = 3 * time.Second

// trouble is a fault, for as long as it lasts: of a way, of a server for all redlockd, of a
// redlockd itself, or of the whole list.
type trouble struct {
	node   *node
	server *fakeredis.Server
	from   time.Duration
	to     time.Duration
}

// troubled notes a fault that lasts until a time from now.
func (s *storm) troubled(n *node, f *fakeredis.Server, lasts time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.troubles = append(s.troubles, trouble{n, f, s.Now(), s.Now() + lasts})
	if len(s.troubles) > 500 {
		s.troubles = slices.DeleteFunc(s.troubles, func(t trouble) bool { return t.to < s.Now()-time.Minute })
	}
}

// troublesOf returns the servers that faults kept from a redlockd since a time, and whether it
// was itself disturbed, or the list.
func (s *storm) troublesOf(n *node, since time.Duration) (servers []*fakeredis.Server, itself bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.troubles {
		switch {
		case t.to < since || t.node != nil && t.node != n:
		case t.server == nil:
			itself = true
		default:
			servers = append(servers, t.server)
		}
	}
	return servers, itself
}

// undecided checks that a NOQUORUM has a cause that was there in the last three seconds.
func (v *visit) undecided(text string) {
	if !has("noquorum") {
		return
	}
	why := v.whyUndecided(text)
	v.judge.mu.Lock()
	defer v.judge.mu.Unlock()
	if why == "" {
		v.judge.fail("NOQUORUM WITHOUT A CAUSE: %d %q %v by %s at redlockd %d, asked at %v: %s", v.meant.DB, v.meant.Key, v.meant.Kind, v.meant.Token, v.node.number, v.sent, text)
		return
	}
	v.judge.count("excuse: NOQUORUM, " + why)
}

// whyUndecided returns the cause of a NOQUORUM, or "".
func (v *visit) whyUndecided(text string) string {
	faulty, itself := v.troublesOf(v.node, v.sent-recently)
	v.looksWhoVotes()
	idle := v.idleSince(v.sent - recently)
	if q, _ := v.node.running(); q == nil || v.listChanges() {
		itself = true
	}
	silent, required := 0, false
	list := v.list()
	v.Lock()
	for _, p := range list {
		if idle[p.master] || slices.Contains(faulty, p.leads()) {
			silent++
			required = required || v.shape.required && p.master == "a"
		}
	}
	v.Unlock()
	switch n := len(list); {
	case v.late && strings.Contains(text, "too late"):
		return "the answer waited in its session"
	case v.sent-v.opened < time.Second:
		return "the redlockd has just opened the database"
	case strings.Contains(text, "they are being told"):
		return "the marks are being told of a longer lock"
	case strings.Contains(text, "does not bear this TTL yet") && v.node.config().RetryBudget == 0:
		return "the marks are being told of a longer lock, and no time is left for the attempt"
	case strings.Contains(text, "grants nothing for") && v.mayBeSilent():
		return "redlockd grants nothing, as it says, for it may have missed a step of the clocks"
	case (strings.Contains(text, "not counted") || strings.Contains(text, "being looked at")) && v.mayBeSilent():
		return "redlockd begins new baselines, after it stood still or a clock stepped"
	case strings.Contains(text, "split") && v.node.config().RetryBudget == 0:
		return "a split, and no time to try again"
	case itself:
		return "redlockd stood still, ended, or changes its list"
	case silent > n-vote.Majority(n) || required:
		return "masters away"
	case strings.Contains(text, "must bear it first") && silent > 0:
		return "a longer lock waits for a master that is away"
	case silent > 0 && v.beside():
		return "a lock beside masters that are away"
	case v.shape.required && strings.Contains(text, "split") && v.beside():
		return "the others have a lock that the required master has not, since an extend was not decided"
	case strings.Contains(text, "split") && v.halved():
		return "half of the masters have what is left of a lock"
	case v.ranOut(text):
		return "the lock ran out between the read of a turn and its change"
	case v.overElsewhere(text):
		return "the lock ran out, and was not over on the required master yet"
	case v.changedByWord(text):
		return "only the required master carried out what no quorum can have"
	case v.crowded():
		return "others at once"
	}
	return ""
}

// mayBeSilent reports whether a clock has stepped, or the redlockd stood still, since the oldest
// lock that there may be was taken: for so long it grants nothing (M5). It notices that a little
// later, at a look.
func (v *visit) mayBeSilent() bool {
	since := v.sent - v.longestHold() - recently
	if v.node.stood(since) {
		return true
	}
	v.Lock()
	defer v.Unlock()
	return slices.ContainsFunc(v.servers, func(f *fakeredis.Server) bool { return f.Stepped > 0 && f.Stepped > since })
}

// longestHold returns the longest hold that any redlockd allows, as marks record it.
func (s *storm) longestHold() (hold time.Duration) {
	for _, cfg := range s.shape.settings {
		hold = max(hold, cluster.RoundHold(cfg.Hold(cfg.MaxTTL, s.widest())))
	}
	return hold
}

// opens returns since when a redlockd, in this life, has been asked for locks of a database.
func (n *node) opens(db, life int) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := [2]int{db, life}
	if _, ok := n.openedAt[key]; !ok {
		n.openedAt[key] = n.Now()
	}
	return n.openedAt[key]
}

// looksWhoVotes notes the masters that do not vote for the redlockd, as it says itself: in
// quarantine, which ends in time (recovers).
func (v *visit) looksWhoVotes() {
	q, _ := v.node.running()
	if q == nil {
		return
	}
	now := v.Now()
	for _, db := range slices.Compact([]int{0, v.meant.DB}) {
		d := q.Cluster().Opened(db)
		if d == nil {
			continue
		}
		for _, m := range d.Status() {
			if m.State != mark.Voting {
				v.node.mu.Lock()
				v.node.idle[m.Name] = now
				v.node.mu.Unlock()
			}
		}
	}
}

// idleSince returns the masters that were seen not to vote for any redlockd since a time: what
// one writes into a mark ends the votes that others ask for under the mark of before.
func (s *storm) idleSince(since time.Duration) map[string]bool {
	out := map[string]bool{}
	for _, n := range s.nodes {
		n.mu.Lock()
		for name, at := range n.idle {
			out[name] = out[name] || at >= since
		}
		n.mu.Unlock()
	}
	return out
}

// beside reports whether a lock may be on a bare majority, or copies of one on a few masters.
func (v *visit) beside() bool {
	lock := fakeredis.KeyName{DB: v.meant.DB, Key: v.meant.Key}
	v.judge.mu.Lock()
	defer v.judge.mu.Unlock()
	return lock.Key == membersKey || slices.ContainsFunc(v.judge.leases[lock], func(l *lease) bool {
		return l.open > 0 || max(l.until, l.ends, l.may, l.former, l.closed) > v.sent-recently
	})
}

// halved reports whether just so many masters have what may be left of a lock that the others are no
// majority: half of an even number, such as an extend has met that others found to be over (V15), or
// an undecided turn of the same holder, whose string has another count (C8).
func (v *visit) halved() bool {
	v.judge.mu.Lock()
	defer v.judge.mu.Unlock()
	n := len(v.list())
	return n%2 == 0 && slices.ContainsFunc(v.tries, func(t *try) bool {
		return slices.ContainsFunc(t.leases[t.lock], func(l *lease) bool {
			if l == t.lease {
				return v.hash != nil && l.doubt && l.may > t.sent && l.sure <= t.Now() && t.copiesKept(l.token) == n/2
			}
			copies, _ := t.copies(l.token)
			return copies == n/2 && l.sure <= t.Now() && t.why(l) != ""
		})
	})
}

// partly reports whether some masters agreed, and others lacked the lock.
func partly(text string) bool {
	return !strings.Contains(text, " 0 agreed") && strings.Contains(text, " without the key")
}

// ended reports whether what was sure of a lease has just ended.
func (v *visit) ended(l *lease, sure time.Duration) bool {
	t := v.tries[0]
	return sure > v.sent-recently && sure <= t.Now()+t.fast(l)
}

// ranOut reports whether the holder's TTL has just ended, so that the copies that a turn was decided
// by may have expired before it was carried out: what the next try finds, this one may have counted
// (P4).
func (v *visit) ranOut(text string) bool {
	v.judge.mu.Lock()
	defer v.judge.mu.Unlock()
	if v.hash == nil || text != "" && !partly(text) { // there is no text if there is no time to try again
		return false
	}
	return v.ended(v.tries[0].lease, v.tries[0].hadSure)
}

// overElsewhere reports whether a lock has just ended, so that by the required master's clock alone
// it was not over yet when a change was carried out there (V11, V15).
func (v *visit) overElsewhere(text string) bool {
	v.judge.mu.Lock()
	defer v.judge.mu.Unlock()
	if !strings.Contains(text, "done at the required master") || len(v.tries) == 0 {
		return false
	}
	t := v.tries[0]
	return slices.ContainsFunc(t.leases[t.lock], func(l *lease) bool { return v.ended(l, l.sure) })
}

// changedByWord reports whether, since the operation was asked for, only a minority had a token, with
// the required master, by whose word a read tells it: what that master did is no quorum's (V11), and
// what the next try finds, this one may have counted (P4).
func (v *visit) changedByWord(text string) bool {
	if !partly(text) || len(v.tries) == 0 {
		return false
	}
	t, tokens := v.tries[0], []string{v.meant.Token}
	if v.hash != nil {
		tokens = []string{v.hash.lock.Token}
	} else {
		v.judge.mu.Lock()
		for _, l := range t.leases[t.lock] {
			tokens = append(tokens, l.token)
		}
		v.judge.mu.Unlock()
	}
	least := v.leastMajority()
	return slices.ContainsFunc(tokens, func(token string) bool {
		copies, _ := t.copies(token)
		return copies < least && t.requiredHad(token)
	})
}

// crowded reports whether other clients ask for the same lock at the same time.
func (v *visit) crowded() bool {
	v.judge.mu.Lock()
	defer v.judge.mu.Unlock()
	own := func(t *try) bool { return slices.Contains(v.tries, t) }
	slack := v.node.config().Timeout
	locks := []fakeredis.KeyName{{DB: v.meant.DB, Key: v.meant.Key}}
	for _, t := range v.tries { // of a transaction
		locks = append(locks, t.lock)
	}
	return slices.ContainsFunc(locks, func(lock fakeredis.KeyName) bool {
		return lock.Key == membersKey || slices.ContainsFunc(v.judge.tries[lock], func(t *try) bool { return !own(t) }) ||
			slices.ContainsFunc(v.judge.past[lock], func(t *try) bool { return !own(t) && t.ended+slack > v.sent })
	})
}

// calmStorm is one redlockd over so many masters, the first of them required or none, without clients
// and faults, for tests of the judge. It ends by storm.end.
func calmStorm(t *testing.T, masters int, required bool) *storm {
	s := newStorm(t, 1)
	s.shape.masters, s.shape.nodes, s.shape.required, s.shape.rolling = masters, 1, required, false
	s.build()
	return s
}

// puts has only those masters have a key whose names, a letter each, are in on.
func (s *storm) puts(on, key, value string) {
	servers := s.present()
	s.Lock()
	defer s.Unlock()
	for _, f := range servers {
		if f.Del(0, key); strings.Contains(on, f.Name) {
			f.Put(0, key, fakeredis.Entry{Value: value})
		}
	}
}

// TestStormJudgeOfNoQuorum checks what excuses a NOQUORUM: too many masters with a fault in the
// last three seconds, and nothing that was before, nor too few of them. That a redlockd grants
// nothing, as it says, is excused for the longest hold after it stood still.
func TestStormJudgeOfNoQuorum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := calmStorm(t, 3, false)
		defer s.end()
		time.Sleep(30 * time.Second)
		why := func(text string) string {
			c := s.dropsIn(s.stream("judge"))
			v := c.visits(s.nodes[0])
			v.sent, v.meant = s.Now(), quorum.Op{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Second}
			return v.whyUndecided("NOQUORUM " + text)
		}
		if got := why(""); got != "" {
			t.Errorf("without a fault: %q", got)
		}
		const told = "a its mark does not bear this TTL yet"
		if got, noTime := why(told), s.nodes[0].config().RetryBudget == 0; (got != "") != noTime {
			t.Errorf("marks are told, no time %v: %q", noTime, got)
		}
		servers := s.present()
		if s.troubled(nil, servers[0], time.Second); why("") != "" {
			t.Errorf("one of three is away: %q", why(""))
		}
		if s.troubled(s.nodes[0], servers[1], time.Second); why("") != "masters away" {
			t.Errorf("two of three are away: %q", why(""))
		}
		if time.Sleep(3500 * time.Millisecond); why("") != "masters away" {
			t.Errorf("2.5 s after: %q", why(""))
		}
		if time.Sleep(time.Second); why("") != "" {
			t.Errorf("3.5 s after: %q", why(""))
		}
		const silent = "redlockd stood still: it grants nothing for 1s"
		if got := why(silent); got != "" {
			t.Errorf("it never stood still: %q", got)
		}
		s.nodes[0].freeze()
		time.Sleep(3 * time.Second)
		s.nodes[0].thaw(true)
		if time.Sleep(recently); !strings.Contains(why(silent), "grants nothing") {
			t.Errorf("it has just stood still: %q", why(silent))
		}
		if time.Sleep(s.longestHold() + time.Second); why(silent) != "" {
			t.Errorf("the longest hold is over: %q", why(silent))
		}
	})
}

// TestStormJudgeOfTurnsByWord checks that the NOQUORUM of a turn is excused where the required
// master and no quorum has what is left of the holder's lock, and only there.
func TestStormJudgeOfTurnsByWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := calmStorm(t, 4, true)
		defer s.end()
		time.Sleep(30 * time.Second)
		const some, none = "NOQUORUM 4 of 4 masters answered, 3 needed: 2 agreed, 0 refused, 2 without the key", "NOQUORUM 4 of 4 masters answered, 3 needed: 0 agreed, 0 refused, 4 without the key"
		for i, tt := range []struct {
			name    string
			on      string
			turns   int
			text    string
			excused bool
		}{
			{"on the required master", "a", 2, some, true},
			{"on it and another one", "ab", 2, some, true},
			{"on a quorum", "abc", 2, some, false},
			{"on others", "bc", 2, some, false},
			{"nobody agreed", "a", 2, none, false},
			{"counted too often", "a", mostTurns + 2, some, false},
		} {
			c := s.dropsIn(s.stream("judge"))
			lock := quorum.Op{Key: "h", Token: fmt.Sprint(i)}
			v := c.visits(s.nodes[0])
			v.hash, v.tries = &hashing{storm: s, lock: lock, step: +1}, []*try{s.judge.beginTurn(s.nodes[0], lock, +1)}
			v.sent, v.meant = s.Now(), v.tries[0].op
			s.puts(tt.on, "h", counted(lock.Token, tt.turns))
			if got := v.whyUndecided(tt.text); (got != "") != tt.excused {
				t.Errorf("%s: %q", tt.name, got)
			}
			v.tries[0].lost(true)
			time.Sleep(time.Second)
		}
	})
}

// TestStormJudgeOfTurnsAtTheEnd checks that the NOQUORUM of a turn, or of an extend that is done at the
// required master, is excused where the holder's TTL has just ended, and only there.
func TestStormJudgeOfTurnsAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := calmStorm(t, 3, false)
		defer s.end()
		time.Sleep(30 * time.Second)
		const some, none = "NOQUORUM 3 of 3 masters answered, 2 needed: 1 agreed, 0 refused, 2 without the key", "NOQUORUM 3 of 3 masters answered, 2 needed: 0 agreed, 0 refused, 3 without the key"
		const word = some + "; it is done at the required master, but no majority has the lock"
		for i, tt := range []struct {
			name    string
			ends    time.Duration // from now on
			text    string
			excused bool
		}{
			{"it has just ended", -10 * time.Millisecond, some, true},
			{"it lasts", time.Second, some, false},
			{"it ended long ago", -2 * recently, some, false},
			{"nobody agreed", -10 * time.Millisecond, none, false},
			{"it has just ended, and no try is left", -10 * time.Millisecond, "", true},
			{"it lasts, and no try is left", time.Second, "", false},
			{"an extend, and it has just ended", -10 * time.Millisecond, word, true},
			{"an extend, and it lasts", time.Second, word, false},
		} {
			v, lock := s.dropsIn(s.stream("judge")).visits(s.nodes[0]), quorum.Op{Key: fmt.Sprint("h", i), Token: "t"}
			s.judge.leaseOf(fakeredis.KeyName{Key: lock.Key}, lock.Token).sure = s.Now() + tt.ends
			v.hash, v.tries = &hashing{storm: s, lock: lock, step: +1}, []*try{s.judge.beginTurn(s.nodes[0], lock, +1)}
			if tt.text == word {
				v.hash = nil
			}
			v.sent, v.meant = s.Now(), v.tries[0].op
			if got := v.whyUndecided(tt.text); (got != "") != tt.excused {
				t.Errorf("%s: %q", tt.name, got)
			}
			v.tries[0].lost(true)
			time.Sleep(time.Second)
		}
	})
}

// TestStormJudgeOfHalves checks that a split is excused where half of the masters have what may be
// left of another's lock, and not where nobody may have it, or others have.
func TestStormJudgeOfHalves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStorm(t, 1)
		s.shape.masters, s.shape.nodes, s.shape.required, s.shape.rolling = 4, 1, false, false
		for i := range s.shape.settings {
			s.shape.settings[i].RetryBudget = 100 * time.Millisecond
		}
		defer s.end()
		s.build()
		time.Sleep(30 * time.Second)
		const split = "NOQUORUM 4 of 4 masters answered, 3 needed: 2 agreed, 2 refused; split: no token has a majority"
		for i, tt := range []struct {
			name    string
			on      string
			may     time.Duration // from now on
			text    string
			excused bool
		}{
			{"on half of them", "ab", time.Second, split, true},
			{"on one", "a", time.Second, split, false},
			{"on a quorum", "abc", time.Second, split, false},
			{"for longer than it may", "ab", -time.Second, split, false},
			{"no split", "ab", time.Second, "NOQUORUM", false},
		} {
			key, token := fmt.Sprint("k", i), fmt.Sprint(i)
			s.puts(tt.on, key, token)
			v := s.dropsIn(s.stream("judge")).visits(s.nodes[0])
			v.sent, v.meant = s.Now(), quorum.Op{Kind: quorum.Acquire, Key: key, Token: "t", TTL: time.Second}
			v.tries = []*try{s.judge.begin(s.nodes[0], v.meant)}
			l := s.judge.leaseOf(v.tries[0].lock, token)
			l.may, l.doubt = s.Now()+tt.may, true
			if got := v.whyUndecided(tt.text); (got != "") != tt.excused {
				t.Errorf("%s: %q", tt.name, got)
			}
		}
	})
}

// TestStormJudgeOfOwnHalves checks that a turn is excused where half of the masters have had what an
// undecided turn of the same holder has left, since before it was asked for.
func TestStormJudgeOfOwnHalves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := calmStorm(t, 4, false)
		defer s.end()
		for _, tt := range []struct {
			name    string
			on      string
			may     time.Duration // from now on
			before  bool
			excused bool
		}{
			{"on half of them", "ab", time.Second, true, true},
			{"on one", "a", time.Second, true, false},
			{"on a quorum", "abc", time.Second, true, false},
			{"for longer than it may", "ab", -time.Second, true, false},
			{"what it does itself", "ab", time.Second, false, false},
		} {
			lock, on := quorum.Op{Key: "h", Token: "A"}, tt.on
			if !tt.before {
				on = ""
			}
			s.puts(on, "h", counted("A", 2))
			time.Sleep(time.Millisecond)
			v := s.dropsIn(s.stream("judge")).visits(s.nodes[0])
			v.hash, v.tries = &hashing{storm: s, lock: lock, step: +1}, []*try{s.judge.beginTurn(s.nodes[0], lock, +1)}
			l := v.tries[0].lease
			if l.may, l.doubt = s.Now()+tt.may, true; !tt.before {
				time.Sleep(time.Millisecond)
				s.puts(tt.on, "h", counted("A", 2))
			}
			if got := v.halved(); got != tt.excused {
				t.Errorf("%s: %v", tt.name, got)
			}
			v.tries[0].lost(true)
		}
	})
}
