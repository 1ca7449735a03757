package script

import (
	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/commands/script/lua"
	"github.com/redlockd/redlockd/internal/resp"
)

// How commands read their arguments.

// word returns an argument whose text must be known: a command's name, an option.
func (r *run) word(v value) string {
	if f, ok := v.(float64); ok {
		return lua.FormatNumber(f, 17)
	}
	s := r.text(v)
	r.Step(1 + len(s)/16)
	return s
}

// passed returns a string that is passed on and may stay sealed.
func (r *run) passed(v value) value {
	switch v := v.(type) {
	case sealed:
		return v
	case float64:
		return lua.FormatNumber(v, 17)
	}
	return r.word(v)
}

// integerArg parses a number as Redis does: no sign but a minus, no leading zeros, no
// spaces.
func (r *run) integerArg(v value) (linear, string) {
	switch v := r.operand(v).(type) {
	case linear:
		return v, ""
	default:
		n, ok := resp.ParseInt(r.word(v))
		if !ok {
			return linear{}, grammar.ErrNotInteger
		}
		return fixedNumber(n), ""
	}
}

// position returns an integer whose value must be known.
func (r *run) position(v value) (int64, string) {
	n, failure := r.integerArg(r.reveal(v))
	return n.add, failure
}

// positions are the two of a command that is given a range.
func (r *run) positions(first, last value) (from, to int64, failure string) {
	if from, failure = r.position(first); failure == "" {
		to, failure = r.position(last)
	}
	return from, to, failure
}
