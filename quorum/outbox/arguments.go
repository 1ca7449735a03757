package outbox

import (
	"strconv"
	"strings"

	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// arguments are those of a batch's plain tasks, one after the other: each is a part of the text,
// so a batch needs memory once.
type arguments struct{ text strings.Builder }

// expirySize is the length of an expiry in milliseconds, until the year 2286.
const expirySize = 13

// begin makes the memory. If the text grew, the parts that it had would keep the old memory alive.
func (a *arguments) begin(tasks []*Task) {
	n := 0
	for _, t := range tasks {
		switch {
		case t.plain() && t.Kind == vote.Release:
			n += len(t.Effects[0].Token) + len(tail.Magic)
		case t.plain():
			n += len(t.Effects[0].New) + tail.Size + expirySize
		}
	}
	a.text.Grow(n)
}

// end leaves the memory to the commands that have parts of it.
func (a *arguments) end() { a.text.Reset() }

// ofRelease returns the stem that a plain release compares.
func (a *arguments) ofRelease(t *Task) (stem string) {
	from := a.text.Len()
	a.text.WriteString(t.Effects[0].Token)
	a.text.WriteString(tail.Magic)
	return a.text.String()[from:]
}

// ofAcquire returns what a plain acquire stores, and its expiry.
func (a *arguments) ofAcquire(t *Task) (value, expiry string) {
	var b [tail.Size]byte
	from := a.text.Len()
	a.text.WriteString(t.Effects[0].New)
	a.text.Write(t.Copies[0].Tail.Append(b[:0]))
	to := a.text.Len()
	a.text.Write(strconv.AppendInt(b[:0], t.Copies[0].Expiry, 10))
	return a.text.String()[from:to], a.text.String()[to:]
}
