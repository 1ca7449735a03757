package commands

import (
	"bytes"
	"slices"

	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// authorizedPlan makes a plan only if the rights allow it.
type authorizedPlan struct {
	in   *Interpreter
	name string
	keys []string
	// words are the arguments that the client has sent; it may act on the locks whose
	// token is among them as their holder.
	words [][]byte
	// watched are the locks that were read for WATCH, by the index of their key: the plan
	// changes nothing if they are not as the client read them.
	watched map[int]quorum.State
	choose  func([]quorum.State) plan
}

// clones returns words that are used after the masters have answered, when the read buffer
// holds other commands.
func clones(words [][]byte) [][]byte {
	out := make([][]byte, len(words))
	for i, word := range words {
		out[i] = bytes.Clone(word)
	}
	return out
}

// maxProbes bounds the words that are tried as tokens before the masters are asked.
const maxProbes = 4

// noPlanRight returns the error text if the rights forbid the plan in one of the states
// that a script is likely to tell apart, or "". Other states are checked by plan.
func (l *authorizedPlan) noPlanRight() string {
	if l.in.rights == nil {
		return ""
	}
	// The last words, because tokens come behind the keys.
	tokens := []string{strangeToken}
	for _, word := range l.words[max(0, len(l.words)-maxProbes):] {
		tokens = append(tokens, string(word), string(values.HashOf(values.Member{Field: string(word), Value: "1"})))
	}
	refused := l.inState(quorum.State{})
	for i := 0; i < len(tokens) && refused == ""; i++ {
		refused = l.inState(quorum.State{Found: true, Token: tokens[i], TTL: l.in.cfg.MaxTTL})
	}
	for i := 0; i < len(l.keys) && refused == ""; i++ {
		if !l.in.rights.Key(l.keys[i]) {
			refused = NoPermKey
		}
	}
	return refused
}

// inState returns the error text if the rights forbid the plan where all keys are in this
// state, except the watched ones.
func (l *authorizedPlan) inState(s quorum.State) string {
	states := make([]quorum.State, len(l.keys))
	for i := range states {
		states[i] = s
		if seen, ok := l.watched[i]; ok {
			states[i] = seen
		}
	}
	return l.refused(states, l.choose(states))
}

// strangeToken is a token that no client sends by chance.
const strangeToken = "\x00a token that nobody has named\x00"

// strangeHash is a hash of such a holder.
var strangeHash = string(values.HashOf(values.Member{Field: strangeToken, Value: "1"}))

// plan returns the chosen plan, or, if the rights forbid it, one that does nothing and
// answers the error.
func (l *authorizedPlan) plan(states []quorum.State) plan {
	p := l.choose(states)
	if l.in.rights == nil {
		return p
	}
	if refused := l.refused(states, p); refused != "" {
		return plan{reply: resp.Error(refused)}
	}
	return p
}

func (l *authorizedPlan) refused(states []quorum.State, p plan) string {
	needs := Operations(0)
	for _, change := range p.changes {
		i := slices.Index(l.keys, change.Key)
		_, seen := l.watched[i]
		needs |= changeNeeds(change, states[i], seen || l.namesHolder(states[i].Token, change))
	}
	// MayRemove allows everything that a plan can do.
	if !l.in.rights.May(needs) && !l.in.rights.May(MayRemove) {
		return NoPermCommand(l.name)
	}
	return l.in.refusedNotices(p.notices)
}

// namesHolder reports whether the client has sent the token that is found, or of a hash the fields
// that the change adds, changes or removes; one that only prolongs a hash is about all of them.
func (l *authorizedPlan) namesHolder(found string, change quorum.Change) bool {
	if !values.Hidden(found) {
		return l.names(found)
	}
	after := change.Token
	if change.Delete {
		after = ""
	}
	fields := values.Changed(found, after)
	return len(fields) > 0 && !slices.ContainsFunc(fields, func(f string) bool { return !l.names(f) })
}

// names reports whether the client has sent this token.
func (l *authorizedPlan) names(token string) bool {
	for _, word := range l.words {
		if bytes.Equal(word, []byte(token)) {
			return true
		}
	}
	return false
}

// changeNeeds returns the operation that a change of a lock in this state needs. named is
// whether the client has named the lock's token.
func changeNeeds(change quorum.Change, s quorum.State, named bool) Operations {
	switch {
	case !s.Found && change.Delete:
		return 0
	case !s.Found:
		return MayAcquire
	case !named:
		return MayRemove
	case change.Delete:
		return MayRelease
	}
	return MayExtend
}
