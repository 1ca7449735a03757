package lua

import (
	"fmt"
	"strings"
)

// Bounds of a Budget. They are far above what a short script needs, and keep a
// hostile one within some tens of milliseconds and of megabytes.
const (
	maxSteps     = 200_000 // syntax tree nodes, and bytes of string work / 16
	maxBytes     = 8 << 20 // all that was ever allocated, freed or not
	maxCallDepth = 100     // nested calls of Lua functions
	maxNesting   = 150     // depth of the syntax tree
	maxLocals    = 200     // per block, as in Lua 5.1
	maxSource    = 32 << 10
)

// Budget is what is left of the bounds. Several runs may share one, one after
// the other.
type Budget struct{ steps, bytes int }

// NewBudget returns a budget of which nothing is used.
func NewBudget() *Budget { return &Budget{steps: maxSteps, bytes: maxBytes} }

// Step pays for n steps.
func (b *Budget) Step(n int) {
	if b.steps -= n; b.steps < 0 {
		Refuse("does not end within %d steps", maxSteps)
	}
}

// Grow is called before n bytes are allocated, so that what is too much is
// never built.
func (b *Budget) Grow(n int) {
	if n < 0 || n > b.bytes {
		Refuse("uses more than %d bytes of memory", maxBytes)
	}
	b.bytes -= n
	b.Step(1 + n/64)
}

// RefusedError says what a script did that it is not allowed to.
type RefusedError struct{ Did string }

func (e *RefusedError) Error() string { return e.Did }

// Refuse ends the run by a panic with a *RefusedError: the script is beyond its
// budget, or does what the interpreter or the host does not have.
func Refuse(format string, args ...any) {
	panic(&RefusedError{Did: OneLine(fmt.Sprintf(format, args...))})
}

// OneLine keeps a text on one line, and short.
func OneLine(s string) string {
	if len(s) > 200 {
		s = s[:200] + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}
