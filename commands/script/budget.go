package script

import "fmt"

// Bounds of one Understand, or of one run of a PerCall meaning. They are far
// above what a lock script needs and keep a hostile one within some tens of
// milliseconds and of megabytes.
const (
	maxSteps     = 200_000 // syntax tree nodes, and bytes of string work / 16
	maxBytes     = 8 << 20 // all that was ever allocated, freed or not
	maxCallDepth = 100     // nested calls of Lua functions
	maxNesting   = 150     // depth of the syntax tree
	maxLocals    = 200     // per block, as in Lua 5.1
	maxSource    = 32 << 10
)

// budget is what is left of the bounds; all runs of one Understand share it.
type budget struct{ steps, bytes int }

func newBudget() *budget { return &budget{steps: maxSteps, bytes: maxBytes} }

func (b *budget) step(n int) {
	if b.steps -= n; b.steps < 0 {
		refuse("does not end within %d steps", maxSteps)
	}
}

// grow is called before n bytes are allocated, so that what is too much is
// never built.
func (b *budget) grow(n int) {
	if n < 0 || n > b.bytes {
		refuse("uses more than %d bytes of memory", maxBytes)
	}
	b.bytes -= n
	b.step(1 + n/64)
}

// refuse ends the run: the script does something that is no lock operation.
func refuse(format string, args ...any) {
	panic(&RefusedError{Did: oneLine(fmt.Sprintf(format, args...))})
}
