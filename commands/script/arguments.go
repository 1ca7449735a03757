package script

import (
	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/commands/script/lua"
	"github.com/redlockd/redlockd/internal/resp"
)

// What a command does with its arguments.

// word is an argument that has to be known: a command's name, an option.
func (r *run) word(v value) string {
	if f, ok := v.(float64); ok {
		return lua.FormatNumber(f, 17)
	}
	s := r.text(v)
	r.Step(1 + len(s)/16)
	return s
}

// passed is a string that is handed on and not looked into.
func (r *run) passed(v value) value {
	switch v := v.(type) {
	case sealed:
		return v
	case float64:
		return lua.FormatNumber(v, 17)
	}
	return r.word(v)
}

// integerArg reads a number as Redis does: no sign but a minus, no leading
// zeros, no spaces.
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

// position is an integer that is looked into.
func (r *run) position(v value) (int64, string) {
	n, failure := r.integerArg(r.reveal(v))
	return n.add, failure
}
