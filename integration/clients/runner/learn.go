package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// meaning is what a script does to its keys in each state they may be in:
// none there, all equal to the token, likewise without a TTL, all other; and
// where it changes several alike, the second of them not there, or another's.
type meaning struct {
	keys                           int
	absent, equal, forever, differ string
	lacking, partly                string
}

// does is a meaning in one word.
func (m meaning) does() string {
	set, deleted := strings.Contains(m.absent, "set"), strings.Contains(m.equal, "deleted")
	longer := strings.Contains(m.equal, "TTL")
	switch {
	case set && strings.Contains(m.differ, "replaced"), strings.Contains(m.differ, "replaced"):
		return "overwrite"
	case set && longer:
		return "acquire or extend"
	case set:
		return "acquire"
	case deleted && strings.Contains(m.differ, "deleted"):
		return "remove"
	case deleted:
		return "release"
	case longer:
		return "extend"
	}
	return "read"
}

const (
	otherToken = "the token of somebody else"
	// learnTTL is what a key has left before a script runs, in milliseconds;
	// less than locks are extended to, because of PEXPIRE with GT.
	learnTTL = 25_000
	// slack is how far two times may be apart that are the same.
	slack = 5_000
)

// learn tries every word of the call as the token, and believes the one with
// which the script does something else than with another's token.
func learn(addr, text string, call scriptCall) (meaning, error) {
	c, err := dial(addr)
	if err != nil {
		return meaning{}, err
	}
	defer c.conn.Close()
	call.args = inTheFuture(call.args)
	m := meaning{keys: len(call.keys)}
	m.absent = c.try(text, call, 0)
	m.differ = c.tryLock(text, call, learnTTL, otherToken)
	m.equal, m.forever = m.differ, c.tryLock(text, call, 0, otherToken)
	for _, word := range append(slices.Clone(call.keys[1:]), call.args...) {
		if got := c.tryLock(text, call, learnTTL, word); got != m.differ && word != "" {
			m.equal, m.forever = got, c.tryLock(text, call, 0, word)
			if strings.Contains(m.absent+m.equal, "all ") {
				m.lacking = c.try(text, call, learnTTL, word, "")
				m.partly = c.try(text, call, learnTTL, word, otherToken)
			}
			break
		}
	}
	if m.lacking == "" && strings.Contains(m.absent, "all ") { // it asks for no token
		m.lacking, m.partly = c.try(text, call, learnTTL, otherToken, ""), m.differ
	}
	return m, c.err
}

// inTheFuture puts absolute times in milliseconds, which have passed since the
// call, a minute ahead again.
func inTheFuture(args []string) []string {
	now := time.Now().UnixMilli()
	args = slices.Clone(args)
	for i, arg := range args {
		if n, err := strconv.ParseInt(arg, 10, 64); err == nil && n > now-3_600_000 && n < now+3_600_000 {
			args[i] = strconv.FormatInt(now+60_000, 10)
		}
	}
	return args
}

// tryLock is try with the value for all keys, or for the first alone where another one is a
// list that the script fills.
func (w *wire) tryLock(text string, call scriptCall, ttl int, value string) string {
	got := w.try(text, call, ttl, value)
	if strings.Contains(got, "WRONGTYPE") {
		got = w.try(text, call, ttl, value, "")
	}
	return got
}

// try puts the keys into a state, runs the script and says what it answered
// and what it did to the keys. values are those of the keys in turn, the last
// one for all others too; none, or "", is a key that is not there.
func (w *wire) try(text string, call scriptCall, ttl int, values ...string) string {
	w.do("FLUSHALL")
	before := make([]string, len(call.keys))
	for i, key := range call.keys {
		if len(values) > 0 {
			before[i] = values[min(i, len(values)-1)]
		}
		switch {
		case before[i] == "":
		case ttl == 0:
			w.do("SET", key, before[i])
		default:
			w.do("SET", key, before[i], "PX", strconv.Itoa(ttl))
		}
	}
	words := append([]string{"EVAL", text, strconv.Itoa(len(call.keys))}, call.keys...)
	reply := plainWords(w.do(append(words, call.args...)...), call)
	effects := make([]string, len(call.keys))
	for i, key := range call.keys {
		effects[i] = effect(before[i], ttl, w.do("GET", key), w.do("PTTL", key), call.args)
	}
	return reply + together(effects)
}

// together is what was done to all keys: the same to all, or something to the
// first alone, as where other words than keys are given as such.
func together(effects []string) string {
	first, rest := effects[0], slices.Compact(slices.Clone(effects[1:]))
	switch {
	case len(rest) == 0 || (len(rest) == 1 && rest[0] == ""):
		return first
	case len(rest) == 1 && rest[0] == first:
		return strings.Replace(first, ", ", ", all ", 1)
	case strings.HasPrefix(rest[0], "-"): // no lock: a list that wakes somebody
		return first
	}
	return first + " (the others: " + strings.TrimPrefix(strings.Join(rest, "; "), ", ") + ")"
}

// effect is what became of one key.
func effect(value string, ttl int, after, left string, args []string) string {
	ms, _ := strconv.Atoi(strings.TrimPrefix(left, ":"))
	same := (ttl == 0 && ms < 0) || (ttl > 0 && ms > ttl-slack && ms <= ttl)
	switch {
	case strings.HasPrefix(after, "-"):
		return "-"
	case after == "$-1" && value == "":
		return ""
	case after == "$-1":
		return ", deleted"
	case value == "":
		return ", set, " + newTTL(0, ms, args)
	case after != "$"+strconv.Quote(value):
		return ", value replaced, " + newTTL(ttl, ms, args)
	case !same:
		return ", " + newTTL(ttl, ms, args)
	}
	return ""
}

// newTTL says how the TTL that a script gave comes from its arguments.
func newTTL(before, left int, args []string) string {
	if left < 0 {
		return "no TTL"
	}
	near := func(n int) bool { return left <= n && left > n-slack }
	for _, arg := range args {
		n, err := strconv.Atoi(arg)
		switch {
		case err != nil || n <= 0:
		case near(n):
			return "TTL in ms"
		case before > 0 && near(before+n):
			return "TTL added in ms"
		case near(n * 1000):
			return "TTL in s"
		case near(n - int(time.Now().UnixMilli())):
			return "TTL until a time in ms"
		}
	}
	return "other TTL"
}

// aTime is an integer reply that tells a time.
var aTime = regexp.MustCompile(`\b\d{4,}\b`)

// plainWords turns a reply into words without the client's own values.
func plainWords(reply string, call scriptCall) string {
	for _, word := range append(slices.Clone(call.args), call.keys...) {
		if len(word) > 8 {
			reply = strings.ReplaceAll(reply, strconv.Quote(word), "token")
		}
	}
	reply = strings.ReplaceAll(reply, strconv.Quote(otherToken), "its value")
	switch {
	case reply == "$-1":
		return "nil"
	case strings.HasPrefix(reply, "*"):
		var items []string
		for _, item := range strings.SplitAfter(reply, " ")[1:] {
			items = append(items, strings.TrimLeft(item, "$:"))
		}
		return "{" + aTime.ReplaceAllString(strings.ReplaceAll(strings.Join(items, ""), "-1 ", "nil "), "remaining ms") + "}"
	case strings.HasPrefix(reply, ":"):
		if n, err := strconv.Atoi(reply[1:]); err == nil && n > 1000 {
			return "remaining ms"
		}
		return reply[1:]
	case strings.HasPrefix(reply, "-"):
		return "error " + short(reply[1:], 60)
	default:
		return strings.TrimLeft(reply, "+$")
	}
}
