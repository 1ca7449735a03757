package lua

import (
	"fmt"
	"strings"
)

// Bounds of a Budget. They are far above the needs of a short script, and limit a hostile
// one to some tens of milliseconds and of megabytes.
const (
	maxSteps     = 200_000 // syntax tree nodes, and bytes of string work / 16
	maxBytes     = 8 << 20 // all that was ever allocated, freed or not
	maxCallDepth = 100     // nested calls of Lua functions
	maxNesting   = 150     // depth of the syntax tree
	maxLocals    = 200     // per block, as in Lua 5.1
	maxSource    = 32 << 10
)

// Budget is what remains of the bounds. Several runs may share one, one after the other.
type Budget struct{ steps, bytes int }

// NewBudget returns an unused budget.
func NewBudget() *Budget { return &Budget{steps: maxSteps, bytes: maxBytes} }

// Step pays for n steps.
func (b *Budget) Step(n int) {
	if b.steps -= n; b.steps < 0 {
		Refuse("does not end within %d steps", maxSteps)
	}
}

// Grow pays for n bytes. It is called before they are allocated, so that a run beyond its
// bounds allocates nothing more.
func (b *Budget) Grow(n int) {
	if n < 0 || n > b.bytes {
		Refuse("uses more than %d bytes of memory", maxBytes)
	}
	b.bytes -= n
	b.Step(1 + n/64)
}

// RefusedError names what a script did that is not allowed or not supported.
type RefusedError struct{ Did string }

func (e *RefusedError) Error() string { return e.Did }

// Refuse ends the run by a panic with a *RefusedError: the script is beyond its budget,
// or uses something that the interpreter or the host does not support.
func Refuse(format string, args ...any) {
	panic(&RefusedError{Did: OneLine(fmt.Sprintf(format, args...))})
}

// OneLine replaces line breaks and other control characters, and cuts a long text.
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
