// Package tail says whose a copy is. What redlockd stores on a master is the client's token
// and a Tail of fixed length behind it, all printable: which try filled the key, which one
// gave the copy to somebody last, and until when. Above package outbox there are tokens only.
//
// What has no tail is a bare token: a client stored it on the required master directly (V11).
package tail

import (
	"math/rand/v2"
	"strings"
	"time"
)

// A tail is Magic, the lock, the attempt, since, the end and the grace:
//
//	~rlLLLLLLLLAAAAAAAASSSSSSSSSEEEEEEEEEGGG
//
// IDs have 8 digits to the base 64, the times are numbers to the base 36, as Lua's tonumber
// reads them. Package scripts cuts values at the same places.
const (
	// Magic begins a tail. No client types it.
	Magic = "~rl"
	// Size is the length of a tail in bytes.
	Size = len(Magic) + 2*idSize + 2*timeSize + graceSize

	idSize    = 8
	timeSize  = 9
	graceSize = 3
)

// maxTime and maxGrace are the greatest numbers of their sizes: the year 5188, and 46 s.
const (
	maxTime  = 101559956668415
	maxGrace = 46655
)

// ID names one try of an attempt, at random: 48 bits, so that no two tries that meet on one
// key have the same. 0 is no ID.
type ID uint64

// NewID returns an ID that nobody has had.
func NewID() ID { return ID(rand.Uint64N(1<<48-1)) + 1 }

// digits are those of IDs and, the first 36 of them, of numbers.
const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"

// String returns the ID as it stands in a tail.
func (id ID) String() string {
	var b [idSize]byte
	return string(id.put(b[:0]))
}

func (id ID) put(to []byte) []byte {
	for shift := 6 * (idSize - 1); shift >= 0; shift -= 6 {
		to = append(to, digits[id>>shift&63])
	}
	return to
}

// values are those of the digits, -1 of all other bytes.
var values = func() (of [256]int8) {
	for i := range of {
		of[i] = int8(strings.IndexByte(digits, byte(i)))
	}
	return of
}()

// parse reads digits to this base; 0 if there are others.
func parse(s string, base int64) (n int64) {
	for i := range len(s) {
		digit := int64(values[s[i]])
		if digit < 0 || digit >= base {
			return 0
		}
		n = n*base + digit
	}
	return n
}

// Tail is what a copy says of itself. A bare token has the zero value.
type Tail struct {
	// Lock is the try that filled an absent key, or stored something else there: what only
	// prolongs a copy keeps it.
	Lock ID
	// Attempt is the last try that gave the copy to somebody. It equals Lock where that try
	// filled an absent key, until the first extend.
	Attempt ID
	// Since is the latest that the master's clock can have shown when the attempt began, in
	// milliseconds.
	Since int64
	// End is when the client's TTL ends, in the master's own milliseconds, if its reply
	// arrives at once: what a read tells of the TTL is counted to it. Grace is how much later
	// the TTL may end for a client whose reply leaves at the last moment.
	End   int64
	Grace time.Duration
}

// Over reports whether the client's TTL is over at this reading of the master's clock. A bare
// token has no TTL but its expiry.
func (t *Tail) Over(reading int64) bool {
	return !t.Bare() && reading > t.End+t.Grace.Milliseconds()
}

// Bare reports whether the copy is a bare token.
func (t *Tail) Bare() bool { return t.Lock == 0 }

// Rest returns all of the tail behind the lock, as the scripts take it.
func (t *Tail) Rest() string { return t.Of("")[len(Magic)+idSize:] }

// IDs returns the lock and the attempt as they stand in a tail.
func (t *Tail) IDs() string { return t.Of("")[len(Magic):][:2*idSize] }

// putNumber appends n with leading zeros.
func putNumber(to []byte, n int64, size int) []byte {
	var b [timeSize]byte
	for i := size - 1; i >= 0; i-- {
		b[i] = digits[n%36]
		n /= 36
	}
	return append(to, b[:size]...)
}

// Of returns what a master stores for a token.
func (t *Tail) Of(token string) string {
	var b [Size]byte
	return token + string(t.Append(b[:0]))
}

// Append appends the tail.
func (t *Tail) Append(to []byte) []byte {
	to = t.Attempt.put(t.Lock.put(append(to, Magic...)))
	to = putNumber(to, min(max(t.Since, 0), maxTime), timeSize)
	to = putNumber(to, min(max(t.End, 0), maxTime), timeSize)
	return putNumber(to, min(max(t.Grace.Milliseconds(), 0), maxGrace), graceSize)
}

// Stem returns the part of a value that tells its token: the scripts compare that.
func Stem(token string) string { return token + Magic }

// Token returns the token of what a master stores.
func Token(value string) string {
	if at := len(value) - Size; at >= 0 && value[at:at+len(Magic)] == Magic {
		return value[:at]
	}
	return value
}

// Split returns the token and the tail of what a master stores.
func Split(value string) (token string, t Tail) {
	token = Token(value)
	if len(token) == len(value) {
		return token, t
	}
	f := value[len(token)+len(Magic):]
	times := f[2*idSize:]
	return token, Tail{Lock: ID(parse(f[:idSize], 64)), Attempt: ID(parse(f[idSize:2*idSize], 64)),
		Since: parse(times[:timeSize], 36), End: parse(times[timeSize:2*timeSize], 36),
		Grace: time.Duration(parse(times[2*timeSize:], 36)) * time.Millisecond}
}
