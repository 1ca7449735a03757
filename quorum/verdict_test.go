package quorum

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// The verdict is checked against a slow twin that looks at the rule's text:
// a verdict is certain when no way in which the awaited votes may still come
// in leads to another one.

// settled is the verdict of ballots of which none is awaited, in the words of
// V4, V8, V10 and V11: required is the ballot of the required master, or nil.
func settled(kind Kind, ifPresent bool, ballots []ballot, q, least int, required *ballot, changing bool) Verdict {
	is := func(votes ...vote) bool { return required != nil && slices.Contains(votes, required.vote) }
	without := is(silent) // its word cannot be had
	may := required == nil || is(created, prolonged, longer, released)
	n := map[vote]int{}
	tokens := map[string]int{}
	for _, b := range ballots {
		if b.vote == longer {
			b.vote = prolonged
		}
		n[b.vote]++
		if b.vote == refused || b.vote == found {
			tokens[b.token]++
		}
	}
	most, met := 0, 0
	for _, k := range tokens {
		most, met = max(most, k), met+k
	}
	answered := len(ballots) - n[silent]
	no := Absent
	lacks := is(absent) && !changing
	if !lacks && (most >= q || most+n[silent] >= least) {
		no = Held
	}
	switch kind {
	case Acquire, AcquireOrExtend:
		switch {
		case n[created]+n[prolonged] >= q && may:
			return Won
		case without:
			return Undecided
		case most >= q && (required == nil || is(refused)):
			return Held
		case is(refused) && met == tokens[required.token] && answered >= q:
			return Held
		case answered < q:
			return Undecided
		default:
			return Split
		}
	case Extend, Expire:
		switch h := n[prolonged]; {
		case h >= q && may:
			return Won
		case without:
			return Undecided
		case is(refused):
			return Held
		case is(absent):
			return Absent
		case h+n[silent] >= least:
			return Undecided
		default:
			return no
		}
	case Release, Remove:
		switch h := n[released]; {
		case h >= q:
			return Won
		case is(released):
			return Won
		case without:
			return Undecided
		case h+n[silent] < least:
			return no
		case h >= 1 && answered >= q && met == 0:
			return Won
		default:
			return Undecided
		}
	case Store:
		switch h := n[prolonged]; {
		case h >= q && may:
			return Won
		case ifPresent && is(absent):
			return Absent
		case ifPresent && h+n[silent] < least && !without:
			return Absent
		default:
			return Undecided
		}
	default:
		switch {
		case most >= q && lacks:
			return Absent
		case most >= q:
			return Held
		case is(found):
			return Held
		case without:
			return Undecided
		case most+n[silent] < least:
			return Absent
		default:
			return Undecided
		}
	}
}

// possible are the votes that may come for an operation.
func possible(kind Kind) []ballot {
	no := []ballot{{vote: absent}, {vote: refused, token: "x"}, {vote: refused, token: "y"}, {vote: silent}}
	switch kind {
	case Acquire:
		return append(no[1:], ballot{vote: created})
	case AcquireOrExtend:
		return append(no[1:], ballot{vote: created}, ballot{vote: prolonged}, ballot{vote: longer})
	case Extend:
		return append(no, ballot{vote: prolonged}, ballot{vote: longer})
	case Expire, Store:
		return []ballot{{vote: absent}, {vote: prolonged}, {vote: silent}}
	case Release:
		return append(no, ballot{vote: released})
	case Remove:
		return []ballot{{vote: absent}, {vote: released}, {vote: silent}}
	default:
		return []ballot{{vote: absent}, {vote: found, token: "x"}, {vote: found, token: "y"}, {vote: silent}}
	}
}

// outcomes are all verdicts that the awaited votes may still lead to.
func outcomes(kind Kind, ifPresent bool, ballots []ballot, n needs, into map[Verdict]bool) {
	for i, b := range ballots {
		if b.vote == awaited {
			for _, p := range possible(kind) {
				ballots[i] = p
				outcomes(kind, ifPresent, ballots, n, into)
			}
			ballots[i] = b
			return
		}
	}
	var required *ballot
	if n.required >= 0 {
		required = &ballots[n.required]
	}
	into[settled(kind, ifPresent, ballots, n.quorum, cmp.Or(n.least, n.quorum), required, n.changing)] = true
}

func TestVerdictAgainstTwin(t *testing.T) {
	kinds := []Kind{Read, Acquire, AcquireOrExtend, Release, Extend, Remove, Expire, Store}
	for round := range 60000 {
		kind := kinds[round%len(kinds)]
		op := &Op{Kind: kind, IfPresent: round%3 == 0}
		n := 1 + rand.IntN(7)
		q := needs{quorum: majority(n), required: rand.IntN(2*n) - n, changing: rand.IntN(2) == 0}
		q.required = max(q.required, -1)
		if n%2 == 0 && round%2 == 0 {
			q.least = q.quorum - 1
		}
		ballots := make([]ballot, n)
		awaiting := 0
		for i := range ballots {
			if awaiting < 3 && rand.IntN(3) == 0 {
				awaiting++
				continue
			}
			ps := possible(kind)
			ballots[i] = ps[rand.IntN(len(ps))]
		}
		got, certain := verdictOf(op, ballots, q)
		all := map[Verdict]bool{}
		outcomes(kind, op.IfPresent, ballots, q, all)
		switch {
		case certain && (len(all) != 1 || !all[got]) && !early(kind, got, all, q):
			t.Fatalf("kind %d %v of %+v: certain %v, but possible are %v", kind, ballots, q, got, all)
		case !certain && awaiting == 0:
			t.Fatalf("kind %d %v of %+v: nothing is awaited and nothing certain", kind, ballots, q)
		case !certain && all[Won] && len(all) == 1 && kind != Remove && !(kind == Release && q.required >= 0):
			t.Fatalf("kind %d %v of %+v: won already, and still waiting", kind, ballots, q)
		}
	}
}

// early is where the awaited votes can still change the words, but not what
// the client is told: a split or too few answers, both NOQUORUM. And the
// required master's refusal is told as soon as a quorum has shown no other token.
func early(kind Kind, got Verdict, all map[Verdict]bool, n needs) bool {
	switch kind {
	case Acquire, AcquireOrExtend:
		if n.required >= 0 && got == Held {
			return !all[Won] && !all[Undecided]
		}
		return !all[Won] && !all[Held] && (got == Split || got == Undecided)
	default:
		return false
	}
}

func TestVerdicts(t *testing.T) {
	b := func(votes ...ballot) []ballot { return votes }
	x, y := ballot{vote: refused, token: "x"}, ballot{vote: refused, token: "y"}
	fx, dx := ballot{vote: found, token: "x"}, ballot{vote: found, token: "x", doubtful: true}
	yes, pro, rel := ballot{vote: created}, ballot{vote: prolonged}, ballot{vote: released}
	no, mute, wait := ballot{vote: absent}, ballot{vote: silent}, ballot{}
	for _, c := range []struct {
		name    string
		kind    Kind
		ballots []ballot
		want    Verdict
		certain bool
	}{
		{"V4 won at the third of five", Acquire, b(yes, yes, yes, wait, wait), Won, true},
		{"V4 still in reach", Acquire, b(yes, yes, wait, x, x), Undecided, false},
		{"V4 held by one token", Acquire, b(x, x, x, wait, wait), Held, true},
		{"V4 two tokens are no holder", Acquire, b(x, y, yes), Split, true},
		{"V4 held only with the silent is a split", Acquire, b(x, x, yes, mute, mute), Split, true},
		{"V4 too few answers", Acquire, b(x, x, mute, mute, mute), Undecided, true},
		{"V8 release of a bare majority, one master dead", Release, b(rel, rel, mute, no, no), Won, true},
		{"V8 release, nobody may have it", Release, b(no, no, no, mute, mute), Absent, true},
		{"V8 release, who cannot tell must not say no", Release, b(rel, mute, mute, mute, no), Undecided, true},
		{"V8 release of another's lock", Release, b(x, x, x, wait, wait), Held, true},
		{"V8 release of what may be another's lock", Release, b(no, no, x, wait, wait), Undecided, false},
		{"V8 release of what is another's lock, by the late ones", Release, b(no, no, x, x, x), Held, true},
		{"V8 extend of what may be another's lock", Extend, b(no, no, x, mute, mute), Held, true},
		{"V8 extend, two others have no lock", Extend, b(x, x, y, y, no), Absent, true},
		{"V8 extend, who cannot tell must not say no", Extend, b(pro, pro, mute, no, no), Undecided, true},
		{"V8 extend of a lost lock", Extend, b(pro, no, no, no, no), Absent, true},
		{"V10 read with one dead", Read, b(fx, fx, no, no, mute), Undecided, true},
		{"V10 absent even with the silent", Read, b(no, no, no, mute, mute), Absent, true},
		{"M4 read, another token in quarantine is no evidence", Read, b(fx, fx, no, no, ballot{vote: found, token: "y", doubtful: true}), Undecided, true},
		{"M4 nor while others are awaited", Read, b(ballot{vote: found, token: "y", doubtful: true}, fx, wait, no, no), Undecided, false},
		{"M4 read, only masters in quarantine have it", Read, b(dx, dx, no), Undecided, true},
		{"M4 nor may it be told before the others answer", Read, b(dx, dx, wait), Undecided, false},
		{"M4 read, another master has it, too", Read, b(dx, fx, wait), Held, true},
		{"V12 one master", Acquire, b(yes), Won, true},
		{"V12 two of two are needed", Acquire, b(yes, mute), Undecided, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, certain := verdictOf(&Op{Kind: c.kind}, c.ballots, needs{quorum: majority(len(c.ballots)), required: -1})
			if certain != c.certain || certain && got != c.want {
				t.Errorf("verdict %v, certain %v; want %v, %v", got, certain, c.want, c.certain)
			}
		})
	}
}

// V10, M4: a lock that was extended on a minority only, as far as is known, may
// live on the silent master and on the one in quarantine, which does not tell
// what it held before: nobody is told that it is over.
func TestV10LockThatMayLiveInQuarantine(t *testing.T) {
	q := &Quorum{cfg: DefaultConfig()}
	q.agreed = mark.NewAgreement(q.cfg.settings(), clock.Monotonic())
	spent := ballot{vote: found, token: "t", left: 10 * time.Millisecond, over: true}
	alive := ballot{vote: found, token: "t", left: 10 * time.Second}
	stray := ballot{vote: found, token: "u", left: 10 * time.Second, doubtful: true}
	for _, c := range []struct {
		name    string
		ballots []ballot
		want    bool
	}{
		{"in quarantine with another token", []ballot{stray, spent, alive, spent, {vote: silent}}, true},
		{"nobody else may have it", []ballot{{vote: absent}, spent, alive, spent, {vote: silent}}, false},
		{"used up everywhere", []ballot{stray, spent, spent, spent, {vote: silent}}, false},
	} {
		a := &attempt{call: &call{q: q}, ballots: c.ballots}
		votes := count(c.ballots, needs{quorum: 3, least: 3, required: -1})
		if got := a.mayLive(&votes); got != c.want {
			t.Errorf("%s: it may live: %v, want %v", c.name, got, c.want)
		}
	}
}
