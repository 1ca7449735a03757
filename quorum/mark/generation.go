package mark

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Generation is the state of the list of masters as the marks record it (M8). A change
// goes through three phases under one number.
type Generation struct {
	Number int   `json:"n"`
	Phase  Phase `json:"phase"`
	// Masters is the list, Before the one that it replaces. Before is empty for the first
	// list.
	Masters string `json:"list"`
	Before  string `json:"before,omitempty"`
}

type Phase uint8

const (
	// Announced: both lists count, and on the new one only masters on both lists vote, so
	// any two majorities share a master.
	Announced Phase = iota + 1
	// Closed: the old list is void.
	Closed
	// Final: all masters of the new list vote.
	Final
)

func (p Phase) String() string {
	switch p {
	case Announced:
		return "announced"
	case Closed:
		return "closed"
	default:
		return "final"
	}
}

// FirstGeneration returns the generation of a cluster whose list has never changed.
func FirstGeneration(list string) Generation {
	return Generation{Number: 1, Phase: Final, Masters: list}
}

// Less reports whether other is a later state.
func (g Generation) Less(other Generation) bool {
	return g.Number < other.Number || g.Number == other.Number && g.Phase < other.Phase
}

// Counts reports whether votes asked for under a list count.
func (g Generation) Counts(list string) bool {
	return g.Masters == list || g.Phase == Announced && g.Before == list
}

// Lags reports whether a mark with generation g is to be raised to a later state: one
// whose list is g's own or replaces it, or, if g is only announced, another change from
// the same old list.
func (g Generation) Lags(to Generation) bool {
	line := g.Masters == to.Masters || g.Masters == to.Before || g.Phase == Announced && g.Before == to.Before
	return g.Less(to) && line
}

// Joining reports whether a master is on the new list only and so does not vote yet.
func (g Generation) Joining(name string) bool {
	return g.Phase != Final && g.Before != "" && !OnList(g.Before, name)
}

// Old returns the list whose majority decides on the phases.
func (g Generation) Old() string {
	if g.Before == "" {
		return g.Masters
	}
	return g.Before
}

func NameHash(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:4])
}

// Hashes returns the masters of a list, without their flags.
func Hashes(list string) []string { return strings.Split(strings.ReplaceAll(list, "!", ""), ",") }

// OnList reports whether a master is on a list.
func OnList(list, name string) bool { return slices.Contains(Hashes(list), NameHash(name)) }

// OneStep reports whether one change leads from one list to another: one master added,
// removed or replaced, or changed flags.
func OneStep(from, to string) bool {
	before, after, both := Hashes(from), Hashes(to), 0
	for _, h := range before {
		if slices.Contains(after, h) {
			both++
		}
	}
	return len(before)-both <= 1 && len(after)-both <= 1
}
