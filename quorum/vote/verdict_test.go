package vote

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// VerdictOf is compared with settled, a slow version written after the text of the
// rules: a verdict must be certain just if no possible outcome of the awaited votes
// leads to another one.

// settled returns the verdict on ballots of which none is awaited, in the words of V4,
// V8, V10 and V11. required is the ballot of the required master, or nil.
func settled(kind Kind, ifPresent bool, ballots []Ballot, q, least int, required *Ballot, changing bool) Verdict {
	is := func(votes ...Vote) bool { return required != nil && slices.Contains(votes, required.Vote) }
	without := is(Silent) // its word is not known
	may := required == nil || is(Created, Prolonged, Longer, Released)
	n := map[Vote]int{}
	tokens := map[string]int{}
	for _, b := range ballots {
		if b.Vote == Longer {
			b.Vote = Prolonged
		}
		n[b.Vote]++
		if b.Vote == Refused || b.Vote == Found {
			tokens[b.Token]++
		}
	}
	most, met := 0, 0
	for _, k := range tokens {
		most, met = max(most, k), met+k
	}
	answered := len(ballots) - n[Silent]
	no := NoLock
	lacks := is(Absent) && !changing
	if !lacks && met+n[Silent] >= least {
		no = Held
	}
	switch kind {
	case Acquire, AcquireOrExtend:
		switch {
		case n[Created]+n[Prolonged] >= q && may:
			return Won
		case without:
			return Undecided
		case most >= q && (required == nil || is(Refused)):
			return Held
		case is(Refused) && met == tokens[required.Token] && answered >= q:
			return Held
		case answered < q:
			return Undecided
		default:
			return Split
		}
	case Extend, Expire:
		switch h := n[Prolonged]; {
		case h >= q && may:
			return Won
		case without:
			return Undecided
		case is(Refused) && !changing:
			return Held
		case is(Absent) && !changing:
			return NoLock
		case h+n[Silent] >= least, is(Prolonged, Longer):
			return Undecided
		default:
			return no
		}
	case Release, Remove:
		switch h := n[Released]; {
		case h >= q:
			return Won
		case is(Released):
			return Won
		case without:
			return Undecided
		case h+n[Silent] < least:
			return no
		case h >= 1 && answered >= q && met == 0:
			return Won
		default:
			return Undecided
		}
	case Store:
		switch h := n[Prolonged]; {
		case h >= q && may:
			return Won
		case ifPresent && is(Absent) && !changing:
			return NoLock
		case ifPresent && h+n[Silent] < least && !without && !is(Prolonged):
			return NoLock
		default:
			return Undecided
		}
	default:
		switch {
		case most >= q && lacks:
			return NoLock
		case most >= q && without:
			return Undecided
		case most >= q:
			return Held
		case is(Found) && !changing:
			return Held
		case without:
			return Undecided
		case met+n[Silent] < least:
			return NoLock
		default:
			return Undecided
		}
	}
}

// possible returns the votes that an operation may get.
func possible(kind Kind) []Ballot {
	no := []Ballot{{Vote: Absent}, {Vote: Refused, Token: "x"}, {Vote: Refused, Token: "y"}, {Vote: Silent}}
	switch kind {
	case Acquire:
		return append(no[1:], Ballot{Vote: Created})
	case AcquireOrExtend:
		return append(no[1:], Ballot{Vote: Created}, Ballot{Vote: Prolonged}, Ballot{Vote: Longer})
	case Extend:
		return append(no, Ballot{Vote: Prolonged}, Ballot{Vote: Longer})
	case Expire, Store:
		return []Ballot{{Vote: Absent}, {Vote: Prolonged}, {Vote: Silent}}
	case Release:
		return append(no, Ballot{Vote: Released})
	case Remove:
		return []Ballot{{Vote: Absent}, {Vote: Released}, {Vote: Silent}}
	default:
		return []Ballot{{Vote: Absent}, {Vote: Found, Token: "x"}, {Vote: Found, Token: "y"}, {Vote: Silent}}
	}
}

// outcomes collects all verdicts to which the awaited votes may still lead.
func outcomes(kind Kind, ifPresent bool, ballots []Ballot, n Needs, into map[Verdict]bool) {
	for i, b := range ballots {
		if b.Vote == Awaited {
			for _, p := range possible(kind) {
				ballots[i] = p
				outcomes(kind, ifPresent, ballots, n, into)
			}
			ballots[i] = b
			return
		}
	}
	var required *Ballot
	if n.Required >= 0 {
		required = &ballots[n.Required]
	}
	into[settled(kind, ifPresent, ballots, n.Quorum, cmp.Or(n.Least, n.Quorum), required, n.Changing)] = true
}

func TestVerdictAgainstTwin(t *testing.T) {
	kinds := []Kind{Read, Acquire, AcquireOrExtend, Release, Extend, Remove, Expire, Store}
	for round := range 60000 {
		kind := kinds[round%len(kinds)]
		asked := Question{Kind: kind, IfPresent: round%3 == 0}
		n := 1 + rand.IntN(7)
		q := Needs{Quorum: half(n), Required: rand.IntN(2*n) - n, Changing: rand.IntN(2) == 0}
		q.Required = max(q.Required, -1)
		if n%2 == 0 && round%2 == 0 {
			q.Least = q.Quorum - 1
		}
		ballots := make([]Ballot, n)
		awaiting := 0
		for i := range ballots {
			if awaiting < 3 && rand.IntN(3) == 0 {
				awaiting++
				continue
			}
			ps := possible(kind)
			ballots[i] = ps[rand.IntN(len(ps))]
		}
		got, certain := VerdictOf(asked, ballots, q)
		all := map[Verdict]bool{}
		outcomes(kind, asked.IfPresent, ballots, q, all)
		switch {
		case certain && (len(all) != 1 || !all[got]) && !early(kind, got, all, q):
			t.Fatalf("kind %d %v of %+v: certain %v, but possible are %v", kind, ballots, q, got, all)
		case !certain && awaiting == 0:
			t.Fatalf("kind %d %v of %+v: nothing is awaited and nothing certain", kind, ballots, q)
		case !certain && all[Won] && len(all) == 1 && kind != Remove && !(kind == Release && q.Required >= 0):
			t.Fatalf("kind %d %v of %+v: won already, and still waiting", kind, ballots, q)
		}
	}
}

// early reports whether a verdict may be certain although awaited votes can still
// change it: between Split and Undecided, which are both NOQUORUM for the client, and
// to Held once the required master refused and a quorum has shown no other token.
func early(kind Kind, got Verdict, all map[Verdict]bool, n Needs) bool {
	switch kind {
	case Acquire, AcquireOrExtend:
		if n.Required >= 0 && got == Held {
			return !all[Won] && !all[Undecided]
		}
		return !all[Won] && !all[Held] && (got == Split || got == Undecided)
	default:
		return false
	}
}

func TestVerdicts(t *testing.T) {
	b := func(votes ...Ballot) []Ballot { return votes }
	x, y := Ballot{Vote: Refused, Token: "x"}, Ballot{Vote: Refused, Token: "y"}
	fx, dx := Ballot{Vote: Found, Token: "x"}, Ballot{Vote: Found, Token: "x", Doubtful: true}
	yes, pro, rel := Ballot{Vote: Created}, Ballot{Vote: Prolonged}, Ballot{Vote: Released}
	no, mute, wait := Ballot{Vote: Absent}, Ballot{Vote: Silent}, Ballot{}
	for _, c := range []struct {
		name    string
		kind    Kind
		ballots []Ballot
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
		{"V8 release, nobody may have it", Release, b(no, no, no, mute, mute), NoLock, true},
		{"V8 release, who cannot tell must not say no", Release, b(rel, mute, mute, mute, no), Undecided, true},
		{"V8 release of another's lock", Release, b(x, x, x, wait, wait), Held, true},
		{"V8 release of what may be another's lock", Release, b(no, no, x, wait, wait), Undecided, false},
		{"V8 release of what is another's lock, by the late ones", Release, b(no, no, x, x, x), Held, true},
		{"V8 extend of what may be another's lock", Extend, b(no, no, x, mute, mute), Held, true},
		{"V8 extend, different tokens are no absence", Extend, b(x, x, y, y, no), Held, true},
		{"V8 extend, too few masters have any token", Extend, b(x, y, no, no, no), NoLock, true},
		{"V8 extend, who cannot tell must not say no", Extend, b(pro, pro, mute, no, no), Undecided, true},
		{"V8 extend of a lost lock", Extend, b(pro, no, no, no, no), NoLock, true},
		{"V10 read with one dead", Read, b(fx, fx, no, no, mute), Undecided, true},
		{"V10 different tokens are no absence", Read, b(fx, Ballot{Vote: Found, Token: "y"}, Ballot{Vote: Found, Token: "z"}), Undecided, true},
		{"V10 nor where one master has none", Read, b(fx, Ballot{Vote: Found, Token: "y"}, no), Undecided, true},
		{"V10 too few masters have any token", Read, b(fx, Ballot{Vote: Found, Token: "y"}, no, no, no), NoLock, true},
		{"V10 absent even with the silent", Read, b(no, no, no, mute, mute), NoLock, true},
		{"M4 read, another token in quarantine is no evidence", Read, b(fx, fx, no, no, Ballot{Vote: Found, Token: "y", Doubtful: true}), Undecided, true},
		{"M4 nor while others are awaited", Read, b(Ballot{Vote: Found, Token: "y", Doubtful: true}, fx, wait, no, no), Undecided, false},
		{"M4 read, only masters in quarantine have it", Read, b(dx, dx, no), Undecided, true},
		{"M4 nor may it be told before the others answer", Read, b(dx, dx, wait), Undecided, false},
		{"M4 read, another master has it, too", Read, b(dx, fx, mute), Held, true},
		{"V10 but a third one may have what the first forgot", Read, b(dx, fx, wait), Undecided, false},
		{"V10 or has it", Read, b(dx, fx, Ballot{Vote: Found, Token: "y"}), Undecided, true},
		{"V12 one master", Acquire, b(yes), Won, true},
		{"V12 two of two are needed", Acquire, b(yes, mute), Undecided, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, certain := VerdictOf(Question{Kind: c.kind}, c.ballots, Needs{Quorum: half(len(c.ballots)), Required: -1})
			if certain != c.certain || certain && got != c.want {
				t.Errorf("verdict %v, certain %v; want %v, %v", got, certain, c.want, c.certain)
			}
		})
	}
}

// TestV10SmallerMajority checks that a read does not go by the greater of two majorities while
// the list changes: y may be on the first two of a b d, by which it is held (M8, trace 22).
func TestV10SmallerMajority(t *testing.T) {
	x, y := Ballot{Vote: Found, Token: "x"}, Ballot{Vote: Found, Token: "y"}
	before := Ballot{Vote: Found, Token: "x", Doubtful: true}
	for least, want := range map[int]Verdict{0: Held, 2: Undecided} {
		n := Needs{Quorum: 3, Least: least, Required: -1}
		if v, certain := VerdictOf(Question{Kind: Read}, []Ballot{y, before, x, x}, n); v != want || !certain {
			t.Errorf("with a least majority of %d: verdict %v, certain %v; want %v", least, v, certain, want)
		}
	}
}

func half(n int) int { return n/2 + 1 }
