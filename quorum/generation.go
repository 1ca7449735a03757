package quorum

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// generation is the state of the list of masters as the marks bear it (M8).
// A change goes through three phases under one number.
type generation struct {
	number int
	phase  phase
	// masters is the list, before the one that it replaces, see listName;
	// before is empty for the first one.
	masters, before string
}

type phase uint8

const (
	// announced: both lists count, and of the new one only masters on both
	// vote, so any two majorities meet.
	announced phase = iota + 1
	// closed: the old list counts no more.
	closed
	// final: all masters of the new list vote.
	final
)

func (p phase) String() string {
	switch p {
	case announced:
		return "announced"
	case closed:
		return "closed"
	default:
		return "final"
	}
}

// firstGeneration is that of a cluster whose list has never changed.
func firstGeneration(list string) generation {
	return generation{number: 1, phase: final, masters: list}
}

// less reports whether other is a later state.
func (g generation) less(other generation) bool {
	return g.number < other.number || g.number == other.number && g.phase < other.phase
}

// counts reports whether votes that were asked for under a list count.
func (g generation) counts(list string) bool {
	return g.masters == list || g.phase == announced && g.before == list
}

// lags reports whether a mark that bears g is to be raised to a later state: one
// of the same line of lists, or another change of the list before that has not
// come to count.
func (g generation) lags(to generation) bool {
	line := g.masters == to.masters || g.masters == to.before || g.phase == announced && g.before == to.before
	return g.less(to) && line
}

// joining reports whether a master is on the new list only and so does not vote
// yet.
func (g generation) joining(name string) bool {
	return g.phase != final && g.before != "" && !onList(g.before, name)
}

// old is the list whose majority decides about the phases.
func (g generation) old() string {
	if g.before == "" {
		return g.masters
	}
	return g.before
}

func nameHash(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:4])
}

// hashes are the masters of a list, without their flags.
func hashes(list string) []string { return strings.Split(strings.ReplaceAll(list, "!", ""), ",") }

// onList reports whether a master is on a list.
func onList(list, name string) bool { return slices.Contains(hashes(list), nameHash(name)) }

// sharedMasters is how many masters are on both lists.
func sharedMasters(a, b string) int {
	n := 0
	for _, h := range hashes(a) {
		if slices.Contains(hashes(b), h) {
			n++
		}
	}
	return n
}

// oneStep reports whether one change leads from one list to another: one master
// added, removed or replaced, or flags.
func oneStep(from, to string) bool {
	both := sharedMasters(from, to)
	return len(hashes(from))-both <= 1 && len(hashes(to))-both <= 1
}
