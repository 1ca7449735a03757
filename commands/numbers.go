package commands

import (
	"math"
	"time"
)

// parseInt reads an integer exactly as Redis does (string2ll): decimal, an
// optional minus, and nothing else: no plus, no spaces, no leading zeros, no
// "-0".
func parseInt(b []byte) (int64, bool) {
	const longest = len("-9223372036854775808")
	if len(b) == 0 || len(b) > longest {
		return 0, false
	}
	if len(b) == 1 && b[0] == '0' {
		return 0, true
	}
	negative := b[0] == '-'
	if negative {
		b = b[1:]
	}
	if len(b) == 0 || b[0] < '1' || b[0] > '9' {
		return 0, false
	}
	var n uint64
	for _, d := range b {
		if d < '0' || d > '9' || n > (math.MaxUint64-9)/10 {
			return 0, false
		}
		n = n*10 + uint64(d-'0')
	}
	switch {
	case negative && n <= -math.MinInt64:
		return -int64(n), true
	case !negative && n <= math.MaxInt64:
		return int64(n), true
	}
	return 0, false
}

// millis is n milliseconds, for an n that the rules on TTLs have let pass.
func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// seconds rounds a remaining time to seconds as TTL does.
func seconds(ms int64) int64 { return (ms + 500) / 1000 }

// wholeMillis cuts a remaining time to what an operation may ask for.
func wholeMillis(d time.Duration) time.Duration {
	return max(d.Truncate(time.Millisecond), time.Millisecond)
}

// is tells whether a word of a client is this one, given in lower case, in
// any case and without allocating.
func is(word []byte, lower string) bool {
	if len(word) != len(lower) {
		return false
	}
	for i, c := range word {
		if toLower(c) != lower[i] {
			return false
		}
	}
	return true
}

func toLower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
