package main

import (
	"bufio"
	"context"
	"crypto/sha1"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// scripts are the Lua texts that passed by, with one call of each.
type scripts struct {
	mu   sync.Mutex
	text map[string]string          // by sha1
	call map[string]scriptCall      // by sha1
	who  map[string]map[string]bool // by sha1: names of programs
}

type scriptCall struct{ keys, args []string }

func newScripts() *scripts {
	return &scripts{text: map[string]string{}, call: map[string]scriptCall{}, who: map[string]map[string]bool{}}
}

// add looks for scripts in what a program said to the plain Redis.
func (s *scripts) add(who string, all []said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range all {
		w := one.words
		if len(w) < 3 {
			continue
		}
		name := strings.ToUpper(w[0])
		if name == "SCRIPT" && strings.EqualFold(w[1], "LOAD") {
			s.text[sha(w[2])] = w[2]
			continue
		}
		id := w[1]
		switch name {
		case "EVAL":
			id = sha(w[1])
			s.text[id] = w[1]
		case "EVALSHA":
		default:
			continue
		}
		n, err := strconv.Atoi(w[2])
		if err != nil || n < 1 || n > len(w)-3 {
			continue
		}
		if before, seen := s.call[id]; !seen || n <= len(before.keys) {
			s.call[id] = scriptCall{w[3 : 3+n], w[3+n:]}
		}
		if s.who[id] == nil {
			s.who[id] = map[string]bool{}
		}
		s.who[id][who] = true
	}
}

func sha(text string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(text))) }

// meaning is what a script does to its keys in each state they may be in:
// none there, all equal to the token, likewise without a TTL, all other.
type meaning struct {
	keys                           int
	absent, equal, forever, differ string
}

// users are the scripts of one meaning.
type users struct {
	meaning
	shas []string
	who  []string
}

// learn runs every script in every state on a Redis of its own, and returns
// the meanings, those with most libraries first.
func (s *scripts) learn(ctx context.Context, addr string) []users {
	found := map[meaning]map[string]bool{}
	shas := map[meaning][]string{}
	for _, id := range slices.Sorted(maps.Keys(s.call)) {
		if s.text[id] == "" || ctx.Err() != nil {
			continue // sent by hash, and never loaded: a program asks for NOSCRIPT
		}
		m, err := learn(addr, s.text[id], s.call[id])
		if err != nil {
			continue
		}
		if found[m] == nil {
			found[m] = map[string]bool{}
		}
		maps.Copy(found[m], s.who[id])
		shas[m] = append(shas[m], id)
	}
	var out []users
	for m, who := range found {
		out = append(out, users{m, shas[m], slices.Sorted(maps.Keys(who))})
	}
	slices.SortFunc(out, func(a, b users) int {
		if d := len(b.who) - len(a.who); d != 0 {
			return d
		}
		return strings.Compare(a.shas[0], b.shas[0])
	})
	return out
}

const otherToken = "the token of somebody else"

// learn tries every word of the call as the token, and believes the one with
// which the script does something else than with another's token.
func learn(addr, text string, call scriptCall) (meaning, error) {
	c, err := dial(addr)
	if err != nil {
		return meaning{}, err
	}
	defer c.conn.Close()
	m := meaning{keys: len(call.keys)}
	m.absent = c.try(text, call, "", 0)
	m.differ = c.try(text, call, otherToken, 100_000)
	m.equal, m.forever = m.differ, c.try(text, call, otherToken, 0)
	for _, word := range append(slices.Clone(call.keys[1:]), call.args...) {
		if got := c.try(text, call, word, 100_000); got != m.differ && word != "" {
			m.equal, m.forever = got, c.try(text, call, word, 0)
			break
		}
	}
	return m, c.err
}

// wire is a connection that sends commands and reads replies as one line.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	err  error
}

func dial(addr string) (*wire, error) {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	return &wire{conn: conn, in: bufio.NewReader(conn)}, nil
}

func (w *wire) do(words ...string) string {
	if w.err != nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, w.err = w.conn.Write([]byte(b.String())); w.err != nil {
		return ""
	}
	var reply string
	reply, w.err = readReply(w.in)
	return reply
}

// try puts the keys into a state, runs the script and says what it answered
// and what it did to the first key.
func (w *wire) try(text string, call scriptCall, value string, ttl int) string {
	w.do("FLUSHALL")
	for _, key := range call.keys {
		switch {
		case value == "":
		case ttl == 0:
			w.do("SET", key, value)
		default:
			w.do("SET", key, value, "PX", strconv.Itoa(ttl))
		}
	}
	words := append([]string{"EVAL", text, strconv.Itoa(len(call.keys))}, call.keys...)
	reply := plainWords(w.do(append(words, call.args...)...), call)
	after, left := w.do("GET", call.keys[0]), w.do("PTTL", call.keys[0])
	return reply + effect(value, ttl, after, left)
}

func effect(value string, ttl int, after, left string) string {
	ms, _ := strconv.Atoi(strings.TrimPrefix(left, ":"))
	now := "other TTL"
	if ms < 0 {
		now = "no TTL"
	}
	same := (ttl == 0 && ms < 0) || (ttl > 0 && ms > ttl-1000 && ms <= ttl)
	switch {
	case after == "$-1" && value == "":
		return ""
	case after == "$-1":
		return ", deleted"
	case value == "":
		return ", set" + map[bool]string{true: " without TTL"}[ms < 0]
	case after != "$"+strconv.Quote(value):
		return ", value replaced, " + now
	case !same:
		return ", " + now
	}
	return ""
}

// plainWords turns a reply into words without the client's own values.
func plainWords(reply string, call scriptCall) string {
	for _, word := range append(slices.Clone(call.args), call.keys...) {
		if len(word) > 8 {
			reply = strings.ReplaceAll(reply, strconv.Quote(word), "token")
		}
	}
	switch {
	case reply == "$-1":
		return "nil"
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
