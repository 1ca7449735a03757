package quorum

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// The verdict is checked against a slow twin that looks at the rule's text:
// a verdict is certain when no way in which the awaited votes may still come
// in leads to another one.

// settled is the verdict of ballots of which none is awaited, in the words of
// V4, V8, V10 and V11: required is the ballot of the required master, or nil.
func settled(kind voteKind, ifPresent bool, ballots []ballot, q, least int, required *ballot, changing bool) voteVerdict {
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
	no := vAbsent
	lacks := is(absent) && !changing
	if !lacks && (most >= q || most+n[silent] >= least) {
		no = vHeld
	}
	switch kind {
	case kAcquire, kAcquireOrExtend:
		switch {
		case n[created]+n[prolonged] >= q && may:
			return vWon
		case without:
			return vUndecided
		case most >= q && (required == nil || is(refused)):
			return vHeld
		case is(refused) && met == tokens[required.token] && answered >= q:
			return vHeld
		case answered < q:
			return vUndecided
		default:
			return vSplit
		}
	case kExtend, kExpire:
		switch h := n[prolonged]; {
		case h >= q && may:
			return vWon
		case without:
			return vUndecided
		case is(refused):
			return vHeld
		case is(absent):
			return vAbsent
		case h+n[silent] >= least:
			return vUndecided
		default:
			return no
		}
	case kRelease, kRemove:
		switch h := n[released]; {
		case h >= q:
			return vWon
		case is(released):
			return vWon
		case without:
			return vUndecided
		case h+n[silent] < least:
			return no
		case h >= 1 && answered >= q && met == 0:
			return vWon
		default:
			return vUndecided
		}
	case kStore:
		switch h := n[prolonged]; {
		case h >= q && may:
			return vWon
		case ifPresent && is(absent):
			return vAbsent
		case ifPresent && h+n[silent] < least && !without:
			return vAbsent
		default:
			return vUndecided
		}
	default:
		switch {
		case most >= q && lacks:
			return vAbsent
		case most >= q:
			return vHeld
		case is(found):
			return vHeld
		case without:
			return vUndecided
		case most+n[silent] < least:
			return vAbsent
		default:
			return vUndecided
		}
	}
}

// possible are the votes that may come for an operation.
func possible(kind voteKind) []ballot {
	no := []ballot{{vote: absent}, {vote: refused, token: "x"}, {vote: refused, token: "y"}, {vote: silent}}
	switch kind {
	case kAcquire:
		return append(no[1:], ballot{vote: created})
	case kAcquireOrExtend:
		return append(no[1:], ballot{vote: created}, ballot{vote: prolonged}, ballot{vote: longer})
	case kExtend:
		return append(no, ballot{vote: prolonged}, ballot{vote: longer})
	case kExpire, kStore:
		return []ballot{{vote: absent}, {vote: prolonged}, {vote: silent}}
	case kRelease:
		return append(no, ballot{vote: released})
	case kRemove:
		return []ballot{{vote: absent}, {vote: released}, {vote: silent}}
	default:
		return []ballot{{vote: absent}, {vote: found, token: "x"}, {vote: found, token: "y"}, {vote: silent}}
	}
}

// outcomes are all verdicts that the awaited votes may still lead to.
func outcomes(kind voteKind, ifPresent bool, ballots []ballot, n needs, into map[voteVerdict]bool) {
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
	kinds := []voteKind{kRead, kAcquire, kAcquireOrExtend, kRelease, kExtend, kRemove, kExpire, kStore}
	for round := range 60000 {
		kind := kinds[round%len(kinds)]
		asked := question{kind: kind, ifPresent: round%3 == 0}
		n := 1 + rand.IntN(7)
		q := needs{quorum: half(n), required: rand.IntN(2*n) - n, changing: rand.IntN(2) == 0}
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
		got, certain := verdictOf(asked, ballots, q)
		all := map[voteVerdict]bool{}
		outcomes(kind, asked.ifPresent, ballots, q, all)
		switch {
		case certain && (len(all) != 1 || !all[got]) && !early(kind, got, all, q):
			t.Fatalf("kind %d %v of %+v: certain %v, but possible are %v", kind, ballots, q, got, all)
		case !certain && awaiting == 0:
			t.Fatalf("kind %d %v of %+v: nothing is awaited and nothing certain", kind, ballots, q)
		case !certain && all[vWon] && len(all) == 1 && kind != kRemove && !(kind == kRelease && q.required >= 0):
			t.Fatalf("kind %d %v of %+v: won already, and still waiting", kind, ballots, q)
		}
	}
}

// early is where the awaited votes can still change the words, but not what
// the client is told: a split or too few answers, both NOQUORUM. And the
// required master's refusal is told as soon as a quorum has shown no other token.
func early(kind voteKind, got voteVerdict, all map[voteVerdict]bool, n needs) bool {
	switch kind {
	case kAcquire, kAcquireOrExtend:
		if n.required >= 0 && got == vHeld {
			return !all[vWon] && !all[vUndecided]
		}
		return !all[vWon] && !all[vHeld] && (got == vSplit || got == vUndecided)
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
		kind    voteKind
		ballots []ballot
		want    voteVerdict
		certain bool
	}{
		{"V4 won at the third of five", kAcquire, b(yes, yes, yes, wait, wait), vWon, true},
		{"V4 still in reach", kAcquire, b(yes, yes, wait, x, x), vUndecided, false},
		{"V4 held by one token", kAcquire, b(x, x, x, wait, wait), vHeld, true},
		{"V4 two tokens are no holder", kAcquire, b(x, y, yes), vSplit, true},
		{"V4 held only with the silent is a split", kAcquire, b(x, x, yes, mute, mute), vSplit, true},
		{"V4 too few answers", kAcquire, b(x, x, mute, mute, mute), vUndecided, true},
		{"V8 release of a bare majority, one master dead", kRelease, b(rel, rel, mute, no, no), vWon, true},
		{"V8 release, nobody may have it", kRelease, b(no, no, no, mute, mute), vAbsent, true},
		{"V8 release, who cannot tell must not say no", kRelease, b(rel, mute, mute, mute, no), vUndecided, true},
		{"V8 release of another's lock", kRelease, b(x, x, x, wait, wait), vHeld, true},
		{"V8 release of what may be another's lock", kRelease, b(no, no, x, wait, wait), vUndecided, false},
		{"V8 release of what is another's lock, by the late ones", kRelease, b(no, no, x, x, x), vHeld, true},
		{"V8 extend of what may be another's lock", kExtend, b(no, no, x, mute, mute), vHeld, true},
		{"V8 extend, two others have no lock", kExtend, b(x, x, y, y, no), vAbsent, true},
		{"V8 extend, who cannot tell must not say no", kExtend, b(pro, pro, mute, no, no), vUndecided, true},
		{"V8 extend of a lost lock", kExtend, b(pro, no, no, no, no), vAbsent, true},
		{"V10 read with one dead", kRead, b(fx, fx, no, no, mute), vUndecided, true},
		{"V10 absent even with the silent", kRead, b(no, no, no, mute, mute), vAbsent, true},
		{"M4 read, another token in quarantine is no evidence", kRead, b(fx, fx, no, no, ballot{vote: found, token: "y", doubtful: true}), vUndecided, true},
		{"M4 nor while others are awaited", kRead, b(ballot{vote: found, token: "y", doubtful: true}, fx, wait, no, no), vUndecided, false},
		{"M4 read, only masters in quarantine have it", kRead, b(dx, dx, no), vUndecided, true},
		{"M4 nor may it be told before the others answer", kRead, b(dx, dx, wait), vUndecided, false},
		{"M4 read, another master has it, too", kRead, b(dx, fx, wait), vHeld, true},
		{"V12 one master", kAcquire, b(yes), vWon, true},
		{"V12 two of two are needed", kAcquire, b(yes, mute), vUndecided, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, certain := verdictOf(question{kind: c.kind}, c.ballots, needs{quorum: half(len(c.ballots)), required: -1})
			if certain != c.certain || certain && got != c.want {
				t.Errorf("verdict %v, certain %v; want %v, %v", got, certain, c.want, c.certain)
			}
		})
	}
}

func half(n int) int { return n/2 + 1 }
